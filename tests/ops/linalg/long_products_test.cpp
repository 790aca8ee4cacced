// Products whose results are few and whose terms are many: they are multiplied by parts, whose number depends on the extents alone.
#include <doctest/doctest.h>

#include <limits>

#include "runtime/hooks.hpp"
#include "sinter/linalg.hpp"
#include "sinter/random.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

ndarray noise(const shape_t& shape, dtype type, std::uint64_t seed) {
  const ndarray x = (random::default_rng(seed).random(shape) - 0.5).astype(type).to_device("cpu");
  eval(x);
  return x;
}

/// Beside sums of products in double.
void check(const ndarray& a, const ndarray& b) {
  const ndarray got = matmul(a, b);
  const dtype wide = is_complex(a.dtype()) ? complex128 : float64;
  const ndarray x = a.astype(wide), y = b.astype(wide);
  const ndarray expected = sum(x(_, newaxis, _) * y.T()(newaxis), 2),
                bound = sum(abs(x)(_, newaxis, _) * abs(y.T())(newaxis), 2);
  const double epsilon = itemsize(a.dtype()) == (is_complex(a.dtype()) ? 8 : 4) ? 1.2e-7 : 2.3e-16;
  CHECK(got.dtype() == a.dtype());
  // Parts are added one after the other, and so are the terms of each by blocks: far fewer than 64 roundings of any sum count.
  CHECK(max(abs(got.astype(wide) - expected) / (bound + 1e-300)).item<double>() <= 64 * epsilon);
}

}  // namespace

TEST_CASE("long products: matrices and vectors of every layout and dtype equal sums of products") {
  const device_guard on(device("cpu"));
  for (const dtype type : {float32, float64, complex64, complex128})
    for (const std::int64_t n : {4096, 20011}) {
      CAPTURE(name(type));
      CAPTURE(n);
      const ndarray x = noise({n, 12}, type, 1), y = noise({n, 5}, type, 2), v = noise({n, 1}, type, 3);
      check(x.T(), y);
      check(x.T().copy(), y.T().copy().T());
      check(x.T(), v);
      check(v.T(), x);
      check(v.T(), v);
      check(noise({2 * n, 24}, type, 4)(slice(_, _, 2), slice(3, 15)).T(), y);
      ndarray wide = zeros({12, 20}, {.dtype = type});
      wide(_, slice(7, 12)) = matmul(x.T(), y);
      CHECK(array_equal(wide(_, slice(7, 12)), matmul(x.T(), y)));
      CHECK(array_equal(wide(_, slice(_, 7)), zeros({12, 7})));
    }
  const ndarray x = noise({9001, 200}, float64, 5), square = matmul(x.T(), x);
  CHECK(array_equal(square, square.T()));
  check(x(_, slice(_, 140)).T(), x(_, slice(_, 140)));
}

TEST_CASE("long products: the bits do not depend on the number of threads; NaN spreads as in a plain loop") {
  const device_guard on(device("cpu"));
  const ndarray x = noise({50000, 30}, float32, 1), y = noise({50000}, float32, 2);
  runtime::set_thread_count(1);
  const ndarray square = matmul(x.T(), x(_, slice(_, 7))), moments = matmul(x.T(), y);
  eval(square, moments);
  for (const int threads : {2, 3, 7}) {
    runtime::set_thread_count(threads);
    CHECK(array_equal(matmul(x.T(), x(_, slice(_, 7))), square));
    CHECK(array_equal(matmul(x.T(), y), moments));
  }
  runtime::set_thread_count(0);
  ndarray z = x.copy();
  z(49999, 3) = std::numeric_limits<float>::quiet_NaN();
  const ndarray missing = isnan(matmul(z.T(), y));
  CHECK(sum(missing).item<int>() == 1);
  CHECK(missing(3).item<bool>());
}
