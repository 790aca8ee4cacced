// What tests of functions of the library's own share: whether there are any, and results of block operations.
#pragma once
#include <cstddef>
#include <cstring>
#include <vector>

#include "jit/cpu/block.hpp"
#include "jit/cpu/interpreter/block_ops.hpp"

namespace sinter_test {

/// Whether the processor has the fused multiply-adds that they need; else the block operations call the C library.
inline bool has_own_functions() {
#if SINTER_TIER0_X86
  return sinter::jit::tier0::active_isa() != sinter::jit::tier0::isa::baseline && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

/// The results of a block operation on one operand, or on two, in calls of so many lanes.
template <class T>
std::vector<T> computed(sinter::jit::block_op op, const std::vector<T>& x, int lanes = sinter::jit::lane_multiple,
                        const std::vector<T>* y = nullptr) {
  std::vector<T> r(x.size());
  int fault = 0;
  for (std::size_t l = 0; l < x.size(); l += static_cast<std::size_t>(lanes))
    op(r.data() + l, x.data() + l, y ? y->data() + l : nullptr, nullptr, lanes, &fault);
  return r;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace sinter_test
