// Differences of neighbours beside those of slices, on every device: devices compute them in different ways.
#include <doctest/doctest.h>

#include <complex>
#include <limits>

#include "sinter/sinter.hpp"
#include "support/kernel_test.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

ndarray by_slices(const ndarray& x, double d, int axis) {
  const ndarray f = moveaxis(x, axis, 0);
  const auto n = f.shape(0);
  const ndarray first = (f(slice(1, 2)) - f(slice(0, 1))) / d, last = (f(slice(n - 1, n)) - f(slice(n - 2, n - 1))) / d;
  return moveaxis(concatenate({first, (f(slice(2, n)) - f(slice(0, n - 2))) / (2 * d), last}, 0), 0, axis);
}

ndarray samples(const shape_t& shape, dtype type) {
  std::int64_t n = 1;
  for (const auto e : shape) n *= e;
  const ndarray x = (arange(n) * 7919 % 1009).astype(float64) / 7 - 60;
  const ndarray typed = is_complex(type) ? x.astype(type) * std::complex<double>(1, 2) : x.astype(type);
  return typed.astype(type).reshape(shape).copy();
}

}  // namespace

TEST_CASE("gradient: differences of neighbours are those of slices, along every axis, from two samples on") {
  for (const dtype type : {float16, float32, float64, complex64})
    for (const shape_t& shape : {shape_t{2}, {3}, {200}, {2, 7}, {5, 2, 3}, {40, 33}})
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        for (const double d : {1.0, 0.3, -2.0}) {
          CAPTURE(name(type));
          CAPTURE(axis);
          CAPTURE(d);
          const ndarray x = samples(shape, type), got = gradient(x, d, {.axis = static_cast<int>(axis)});
          CHECK(got.dtype() == type);
          CHECK(array_equal(got, by_slices(x, d, static_cast<int>(axis))));
        }
}

TEST_CASE("gradient: what is not finite reaches neighbours alone, not the other edge") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::int64_t at : {0, 1, 4, 7, 8}) {
    const ndarray x = arange(9).astype(float64).copy();
    x(at) = inf;
    const ndarray got = gradient(x);
    CHECK(array_equal(got, by_slices(x, 1.0, 0), true));
    CHECK(sum(isfinite(got)).item<std::int64_t>() >= 6);
  }
  CHECK_THROWS_AS(gradient(arange(1).astype(float64)), shape_error);
}

TEST_CASE("gradient: on a GPU both axes and what is made of them are one kernel") {
  const ndarray x = samples({60, 50}, float32);
  if (x.device().kind != device_kind::cuda) return;
  eval(x);
  const auto slopes = gradient(x);
  CHECK(test::kernels_of(sqrt(square(slopes[0]) + square(slopes[1]))) == 1);
}
