// Whether the device under test can multiply matrices, which needs a library that may be missing.
#pragma once
#include <doctest/doctest.h>

#include "sinter/sinter.hpp"

namespace sinter::test {

/// Whether a case must be skipped since no BLAS library can be used; prints the reason.
inline bool no_products() {
  static const std::string why = [] {
    try {
      eval(matmul(ones({2, 2}), ones({2, 2})));
    } catch (const device_error& e) {
      return std::string(e.what());
    }
    return std::string();
  }();
  if (!why.empty()) MESSAGE("left out: " << why);
  return !why.empty();
}

/// Small whole numbers, evaluated: products of them are exact in every dtype that is used here.
inline ndarray whole(const shape_t& shape, dtype type, int seed = 0) {
  std::int64_t n = 1;
  for (auto e : shape) n *= e;
  ndarray x = reshape(((arange(n) * 7919 + seed * 31) % 7 - 3).astype(type), shape);
  eval(x);
  return x;
}

}  // namespace sinter::test
