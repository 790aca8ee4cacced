// The network of the instruction set that the machine has.
#include "backends/cpu/algorithms/sort_network.hpp"

#include "jit/cpu/interpreter/block_ops.hpp"

namespace sinter::cpu {

#if defined(__x86_64__)
#define SINTER_SORT_NETWORK(function, T)                                                  \
  switch (jit::tier0::active_isa()) {                                                     \
    case jit::tier0::isa::avx512: return avx512::function(reinterpret_cast<T*>(keys), n); \
    case jit::tier0::isa::avx2: return avx2::function(reinterpret_cast<T*>(keys), n);     \
    default: return baseline::function(reinterpret_cast<T*>(keys), n);                    \
  }
#else
#define SINTER_SORT_NETWORK(function, T) return baseline::function(reinterpret_cast<T*>(keys), n);
#endif

void sort_network(std::int32_t* keys, int n) noexcept { SINTER_SORT_NETWORK(sort_network_32, int) }
void sort_network(std::int64_t* keys, int n) noexcept { SINTER_SORT_NETWORK(sort_network_64, long long) }

#undef SINTER_SORT_NETWORK

}  // namespace sinter::cpu
