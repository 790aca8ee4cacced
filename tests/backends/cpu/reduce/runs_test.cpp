// Reductions over the first and the last of three axes: the elements of a result are runs that lie apart, and its bits those of the
// same elements side by side, since the order of additions follows from the extents.
#include <doctest/doctest.h>

#include "runtime/hooks.hpp"
#include "sinter/random.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

ndarray noise(const shape_t& shape, dtype type) {
  const ndarray x = ((random::default_rng(7).random(shape) - 0.5) * 4).astype(type).to_device("cpu");
  eval(x);
  return x;
}

/// Elements (outer, results, run).
void check(const ndarray& x) {
  const ndarray side_by_side = reshape(permute_dims(x, {1, 0, 2}), {x.shape(1), x.shape(0) * x.shape(2)}).copy();
  eval(side_by_side);
  CHECK(array_equal(sum(x, axes{0, 2}), sum(side_by_side, 1)));
  CHECK(array_equal(prod(x, axes{0, 2}), prod(side_by_side, 1)));
  if (!is_complex(x.dtype())) CHECK(array_equal(max(x, axes{0, 2}), max(side_by_side, 1)));
  const ndarray squares = x * x, other = flip(x, 1).copy(), products = x * other;
  eval(squares, other, products);
  CHECK(array_equal(sum(x * x, axes{0, 2}), sum(squares, axes{0, 2})));
  CHECK(array_equal(sum(x * other, axes{0, 2}), sum(products, axes{0, 2})));
  const ndarray both = sum(x, axes{0, 2}) + min(real(x), axes{0, 2});  // one kernel
  CHECK(array_equal(both, sum(side_by_side, 1) + min(real(side_by_side), 1)));
}

}  // namespace

TEST_CASE("reductions of runs that lie apart: the bits of runs side by side, for runs of any length") {
  const device_guard on(device("cpu"));
  for (const dtype type : {float32, float64, complex64, complex128})
    for (const std::int64_t run : {2, 3, 4, 12, 28, 60, 64, 65, 100, 128, 256, 260, 784, 1024, 1100})
      for (const auto& [outer, results] : {std::pair{2, 5}, {17, 3}, {9, 40}, {70, 7}}) {
        if (run > 300 && results > 10) continue;
        CAPTURE(name(type));
        CAPTURE(run);
        CAPTURE(outer);
        CAPTURE(results);
        check(noise({outer, results, run}, type));
      }
  check(noise({3, 1100, 20}, float32));  // a run of lanes
  check(noise({40, 3, 5000}, float32));  // several splits, which begin within runs
  check(noise({300, 2, 1000}, float64));
  check(noise({66, 9, 132}, float32)(slice(_, _, -2), _, slice(3, 131)));
}

TEST_CASE("reductions of runs that lie apart: any number of threads gives the same bits") {
  const device_guard on(device("cpu"));
  const ndarray x = noise({40, 30, 784}, float32);
  runtime::set_thread_count(1);
  const ndarray expected = mean(x, axes{0, 2});
  eval(expected);
  for (const int threads : {2, 5}) {
    runtime::set_thread_count(threads);
    CHECK(array_equal(mean(x, axes{0, 2}), expected));
  }
  runtime::set_thread_count(0);
}
