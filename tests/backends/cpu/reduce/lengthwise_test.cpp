// Columns whose elements lie in memory one after the other, as those of a transposed array do: read along them, with the bits
// of columns that do not.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sinter/random.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

ndarray numbers(const shape_t& shape, dtype type) {
  const ndarray x = ((random::default_rng(5).random(shape) - 0.4) * 300).astype(type).to_device("cpu");
  eval(x);
  return x;
}

bool is_lengthwise(const ndarray& x) { return explain(x).find("columns, lanes along them") != std::string::npos; }

/// A reduction over the first axis of x, whose memory goes along it, and of a copy in the usual order.
template <class F>
void compare(const ndarray& x, bool lengthwise, const F& reduced) {
  const ndarray copy = x.copy();
  eval(copy);
  const ndarray along = reduced(x), across = reduced(copy);
  CHECK(is_lengthwise(along) == lengthwise);
  CHECK_FALSE(is_lengthwise(across));
  CHECK(array_equal(along, across, true));
}

}  // namespace

TEST_CASE("lengthwise columns: results of every kind are those of other layouts, in one split and in several") {
  for (const dtype type : {float32, float64, int32, complex64, complex128})
    for (const shape_t& shape : {shape_t{40, 33}, shape_t{300, 1000}, shape_t{70, 5003}}) {
      CAPTURE(type);
      CAPTURE(shape[1]);
      const ndarray x = numbers(shape, type).T();
      const bool is_short = shape[1] < 2048;  // what is computed is computed by whole columns
      compare(x, is_short || type != int32, [](const ndarray& a) { return sum(a, 0); });  // of int32, in int64
      compare(x, !is_complex(type),
              [](const ndarray& a) { return max(a, 0); });  // signs of complex zeros have an order
      compare(x, true, [](const ndarray& a) { return argmin(a, 0); });
      compare(x, is_short, [](const ndarray& a) { return count_nonzero(a, {.axis = 0}); });
    }
}

TEST_CASE("lengthwise columns: what is computed on the way, several axes, several reductions in a kernel") {
  const ndarray x = numbers({60, 500}, float32).T(), w = numbers({500}, float32), each = numbers({60}, float32);
  compare(x, true, [&](const ndarray& a) { return sum(a * w(_, newaxis) + each, 0) * 2 + each; });
  compare(x, true, [](const ndarray& a) { return sum(exp(a / 200), 0) / sum(square(a), 0) + min(a, 0); });
  compare(numbers({50, 20, 30}, float64)(_, slice(_), slice(_)).transpose({1, 2, 0}), true, [](const ndarray& a) {
    return sum(a, {.axis = {0, 1}});
  });
  compare(numbers({64, 100}, float32)(slice(_, _, 2)).T(), true, [](const ndarray& a) { return mean(a, 0); });
}

TEST_CASE("lengthwise columns: not where the order would differ, or the elements do not lie so") {
  const ndarray x = numbers({300, 400}, float64).T();
  compare(x, false, [](const ndarray& a) { return var(a, 0); });
  compare(x(slice(_, _, 2)), false, [](const ndarray& a) { return sum(a, 0); });
  compare(x(_, slice(_, 20)), false, [](const ndarray& a) { return sum(a, 0); });  // few results have more lanes
  compare(numbers({300, 400}, float16).T(), false, [](const ndarray& a) { return sum(a, 0); });
  compare(numbers({50, 6000}, float32).T(), false, [](const ndarray& a) { return sum(a * a + 1, 0); });
  compare(x, false, [&](const ndarray& a) { return sum(a + numbers({400, 300}, float64), 0); });
}
