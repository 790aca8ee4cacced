// vmap beside a loop over the examples.
#pragma once
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sinter/sinter.hpp"
#include "sinter/vmap.hpp"
#include "support/message_of.hpp"

namespace vmap_test {

using namespace sinter;

/// Every bit, so that NaN and the sign of zero count.
inline bool same_bits(const ndarray& a, const ndarray& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  if (a.size() == 0) return true;
  const ndarray x = ravel(a).copy(), y = ravel(b).copy();
  if (a.dtype() == bool_) return bool(all(x == y));
  return bool(all(x.view(uint8) == y.view(uint8)));
}

/// Example k along an axis; a copy in C order.
inline ndarray example(const ndarray& x, std::int64_t axis, std::int64_t k) { return moveaxis(x, axis, 0)(k).copy(); }

/// f of each example of x, stacked in front.
template <class F>
ndarray in_turn(F f, const ndarray& x, std::int64_t axis = 0) {
  std::vector<ndarray> all;
  for (std::int64_t k = 0; k < x.shape(axis); ++k) all.push_back(f(example(x, axis, k)));
  return stack(all);
}
template <class F>
ndarray in_turn(F f, const ndarray& x, const ndarray& y) {
  std::vector<ndarray> all;
  for (std::int64_t k = 0; k < x.shape(0); ++k) all.push_back(f(example(x, 0, k), example(y, 0, k)));
  return stack(all);
}

template <class F>
void check_bits(F f, const ndarray& x, std::int64_t axis = 0) {
  const ndarray right = in_turn(f, x, axis), got = vmap(f, {.in_axes = axis})(x);
  CAPTURE(to_string(right.shape()));
  CAPTURE(to_string(got.shape()));
  CHECK(same_bits(got, right));
}
template <class F>
void check_bits(F f, const ndarray& x, const ndarray& y) {
  CHECK(same_bits(vmap(f)(x, y), in_turn(f, x, y)));
}
template <class F>
void check_near(F f, const ndarray& x, double tolerance = 1e-12) {
  const ndarray right = in_turn(f, x), got = vmap(f)(x);
  REQUIRE(got.shape() == right.shape());
  CHECK(got.dtype() == right.dtype());
  CHECK(allclose(got, right, tolerance, tolerance));
}

/// Numbers of different magnitudes.
inline ndarray numbers(const shape_t& shape, dtype type = float64, int seed = 1) {
  random::generator g(seed);
  const ndarray x = g.standard_normal(shape) * exp2(g.integers(-3, 4, shape).astype(float64));
  if (is_complex(type)) return (x + g.standard_normal(shape) * std::complex<double>(0, 1)).astype(type);
  if (is_bool(type)) return x > 0;
  if (is_integer(type)) return absolute(x * 20).astype(type);
  return x.astype(type);
}

}  // namespace vmap_test
