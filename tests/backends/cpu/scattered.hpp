// Arrays for comparing kernels of the CPU with others of its own.
#pragma once
#include "sinter/sinter.hpp"

namespace sinter::test {

inline const device host("cpu");

/// Numbers in no order, with equal ones among them.
inline ndarray scattered(const shape_t& shape, dtype type) {
  std::int64_t n = 1;
  for (const auto e : shape) n *= e;
  const ndarray i = arange(n, {.dtype = int64, .device = host}) * 7919 % 1009;
  ndarray x = reshape((i - 300).astype(float64) / 7.0, shape).astype(type).copy();
  eval(x);
  return x;
}

/// Zeros by their signs.
inline bool same(const ndarray& a, const ndarray& b) {
  eval(a, b);  // each by its own kernels, instead of within the comparison
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  if (is_complex(a.dtype())) return same(real(a), real(b)) && same(imag(a), imag(b));
  const bool floats = a.dtype() == float16 || a.dtype() == float32 || a.dtype() == float64;
  const ndarray equal = floats ? ((a == b) & (signbit(a) == signbit(b))) | (isnan(a) & isnan(b)) : a == b;
  return all(equal).item<bool>();
}

}  // namespace sinter::test
