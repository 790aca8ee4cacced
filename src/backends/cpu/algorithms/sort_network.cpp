// The networks of the instruction set that the machine has.
#include "backends/cpu/algorithms/sort_network.hpp"

#include "jit/cpu/interpreter/block_ops.hpp"

namespace sinter::cpu {

#if defined(__x86_64__)
#define SINTER_SORT_NETWORK(function, ...)                              \
  switch (jit::tier0::active_isa()) {                                   \
    case jit::tier0::isa::avx512: return avx512::function(__VA_ARGS__); \
    case jit::tier0::isa::avx2: return avx2::function(__VA_ARGS__);     \
    default: return baseline::function(__VA_ARGS__);                    \
  }
#else
#define SINTER_SORT_NETWORK(function, ...) return baseline::function(__VA_ARGS__);
#endif

namespace {
long long* as_long(std::int64_t* p) noexcept { return reinterpret_cast<long long*>(p); }
}  // namespace

bool has_wide_vectors() noexcept {
#if defined(__x86_64__)
  return jit::tier0::active_isa() != jit::tier0::isa::baseline;
#else
  return false;
#endif
}
void sort_network(std::int32_t* keys, int n) noexcept { SINTER_SORT_NETWORK(sort_network_32, keys, n) }
void sort_network(std::int64_t* keys, int n) noexcept { SINTER_SORT_NETWORK(sort_network_64, as_long(keys), n) }
bool sort_columns(std::int32_t* planes, int n, std::int32_t flipped, std::int32_t infinity) noexcept {
  SINTER_SORT_NETWORK(sort_columns_32, planes, n, flipped, infinity)
}
bool sort_columns(std::int64_t* planes, int n, std::int64_t flipped, std::int64_t infinity) noexcept {
  SINTER_SORT_NETWORK(sort_columns_64, as_long(planes), n, flipped, infinity)
}
void sort_indices(const std::int32_t* keys, std::int64_t* planes, int n) noexcept {
  SINTER_SORT_NETWORK(sort_indices_32, keys, as_long(planes), n)
}

#undef SINTER_SORT_NETWORK

}  // namespace sinter::cpu
