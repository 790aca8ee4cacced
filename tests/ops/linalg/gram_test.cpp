// Products of a matrix and its own transpose: half of the work, and exactly symmetric.
#include <doctest/doctest.h>

#include <limits>

#include "sinter/linalg.hpp"
#include "sinter/random.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

ndarray numbers(const shape_t& shape, dtype type) {
  const ndarray x = (random::default_rng(3).random(shape) - 0.5).astype(type).to_device("cpu");
  eval(x);
  return x;
}

/// x x^T beside the product with a copy of the transpose.
void check(const ndarray& x) {
  const ndarray got = matmul(x, swapaxes(x, -1, -2)), other = swapaxes(x, -1, -2).copy();
  eval(other);
  const double inner = static_cast<double>(x.shape(x.ndim() - 1));
  const double epsilon = x.dtype() == float32 ? 1.2e-7 : 2.3e-16;
  // Two sums of n products in any order differ by n epsilon times the sum of their magnitudes at most; elements are at most a half.
  CHECK(max(abs(got - matmul(x, other))).item<double>() <= inner * epsilon * inner * 0.25);
  if (x.shape(-2) >= 128) CHECK(array_equal(got, swapaxes(got, -1, -2)));
}

}  // namespace

TEST_CASE("products with the own transpose: of all layouts and sizes, and stacks of them") {
  for (const dtype type : {float32, float64})
    for (const std::int64_t n : {16, 127, 128, 161, 256, 257, 600})
      for (const std::int64_t inner : {65, 300}) {
        CAPTURE(type);
        CAPTURE(n);
        CAPTURE(inner);
        const ndarray x = numbers({n, inner}, type);
        check(x);
        check(numbers({inner, n}, type).T());
        check(numbers({2 * n, inner + 3}, type)(slice(_, _, 2), slice(1, inner + 1)));
        if (n < 256) check(numbers({3, n, inner}, type));
      }
}

TEST_CASE("products with the own transpose: results in other layouts, and values that are no numbers") {
  const device_guard on(device("cpu"));
  const ndarray x = numbers({140, 90}, float64);
  ndarray wide = zeros({140, 200}, {.dtype = float64, .device = device("cpu")});
  wide(_, slice(5, 145)) = matmul(x, x.T());
  CHECK(array_equal(wide(_, slice(5, 145)), matmul(x, x.T())));
  CHECK(array_equal(wide(_, slice(_, 5)), zeros({140, 5})));
  ndarray y = x.copy();
  y(3, 4) = std::numeric_limits<double>::quiet_NaN();
  const ndarray missing = isnan(matmul(y, y.T()));
  CHECK(sum(missing).item<int>() == 279);
  CHECK(all(missing(3)).item<bool>());
  CHECK(all(missing(_, 3)).item<bool>());
  // What only looks like a transpose: other rows of the same array.
  const ndarray all_rows = numbers({280, 90}, float64), upper = all_rows(slice(_, 140)),
                lower = all_rows(slice(140, _));
  CHECK(allclose(matmul(upper, lower.T()), matmul(all_rows, all_rows.T())(slice(_, 140), slice(140, _))));
}
