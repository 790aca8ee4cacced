// apply_along_axis and apply_over_axes: shapes and values as NumPy's, errors.
#include <doctest/doctest.h>

#include "sinter/apply.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

TEST_CASE("a function of vectors along each axis") {
  const ndarray x = sin(arange(60.0)).reshape(3, 4, 5);
  const auto spread = [](const ndarray& v) { return v.max() - v.min(); };
  const auto ends = [](const ndarray& v) { return stack({v(0), v(-1)}); };
  const auto products = [](const ndarray& v) { return outer(v, v(slice(2))); };
  for (int axis = -3; axis < 3; ++axis) {
    CAPTURE(axis);
    CHECK(array_equal(apply_along_axis(spread, axis, x), x.max(axis) - x.min(axis)));
    const ndarray two = apply_along_axis(ends, axis, x);
    CHECK(array_equal(two, take(x, array({0, -1}), axis)));
  }
  const ndarray p = apply_along_axis(products, 1, x);
  REQUIRE(p.shape() == shape_t{3, 4, 2, 5});
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) CHECK(array_equal(p(i, _, _, j), outer(x(i, _, j), x(i, slice(2), j))));
  CHECK(array_equal(apply_along_axis([](const ndarray& v) { return sort(v); }, 0, x), sort(x, 0)));
}

TEST_CASE("a function of the one vector there is, of lengths of one, and of other dtypes") {
  const ndarray v = array({3, 1, 2});
  const auto total = [](const ndarray& a) { return a.sum(); };
  CHECK(apply_along_axis(total, 0, v).shape() == shape_t{});
  CHECK(apply_along_axis(total, 0, v).item<int>() == 6);
  CHECK(array_equal(apply_along_axis([](const ndarray& a) { return a * 2; }, 0, v), array({6, 2, 4})));
  CHECK(array_equal(apply_along_axis(total, 1, ones({2, 1, 3})), ones({2, 3})));
  CHECK(apply_along_axis([](const ndarray& a) { return (a > 1).any(); }, 0, v).dtype() == bool_);
  CHECK(array_equal(apply_along_axis(total, 1, ones({2, 0})), zeros(2)));
}

TEST_CASE("what apply_along_axis refuses") {
  const auto total = [](const ndarray& a) { return a.sum(); };
  CHECK_THROWS_AS(apply_along_axis(total, 2, ones({2, 3})), index_error);
  CHECK_THROWS_AS(apply_along_axis(total, 0, ones({})), index_error);
  CHECK_THROWS_AS(apply_along_axis(total, 0, ones({2, 0})), value_error);
  CHECK_THROWS_AS(apply_along_axis([](const ndarray& a) { return array(a.sum().item<double>()); }, 0, ones({2, 3})),
                  vmap_error);
}

TEST_CASE("a function over several axes, one after the other") {
  const ndarray x = arange(24.0).reshape(2, 3, 4);
  const auto reduce = [](const ndarray& a, std::int64_t axis) { return sum(a, axis); };
  CHECK(array_equal(apply_over_axes(reduce, x, axes{0, 2}), sum(x, axes{0, 2}, {.keepdims = true})));
  CHECK(array_equal(apply_over_axes(reduce, x, axes{-1}), sum(x, -1, {.keepdims = true})));
  CHECK(array_equal(apply_over_axes([](const ndarray& a, std::int64_t axis) { return cumsum(a, axis); }, x, axes{0, 1}),
                    cumsum(cumsum(x, 0), 1)));
  CHECK_THROWS_AS(apply_over_axes([](const ndarray& a, std::int64_t) { return a.sum(); }, x, axes{0}), value_error);
  CHECK_THROWS_AS(apply_over_axes(reduce, x, axes{3}), index_error);
}
