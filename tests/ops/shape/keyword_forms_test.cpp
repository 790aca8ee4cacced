// Options given by name are those given by place; series between arrays.
#include <doctest/doctest.h>

#include <cmath>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

bool same(const std::vector<ndarray>& x, const std::vector<ndarray>& y) {
  if (x.size() != y.size()) return false;
  for (std::size_t k = 0; k < x.size(); ++k)
    if (!array_equal(x[k], y[k])) return false;
  return true;
}

}  // namespace

TEST_CASE("comparisons, replacements and rounding with keywords") {
  const ndarray x = array({1.0, NAN, INFINITY, -INFINITY, 1.004}), y = array({1.004, NAN, 3.0, -INFINITY, 1.0});
  CHECK(array_equal(isclose(x, y, {.rtol = 1e-2}), array({true, false, false, true, true})));
  CHECK(array_equal(isclose(x, y, {.atol = 0.01, .equal_nan = true}), array({true, true, false, true, true})));
  CHECK(array_equal(isclose(x, y, {.equal_nan = true}), array({false, true, false, true, false})));
  CHECK(allclose(x(slice(1)), 1.05, {.atol = 0.1}));
  CHECK_FALSE(allclose(x(slice(1)), 1.05, {.rtol = 1e-3}));
  CHECK(array_equal(x, x.copy(), {.equal_nan = true}));
  CHECK_FALSE(array_equal(x, x.copy(), {.equal_nan = false}));
  CHECK(array_equal(nan_to_num(x, {.nan = 7, .neginf = -2})(slice(1, 4)), array({7.0, 1.7976931348623157e308, -2.0})));
  CHECK(array_equal(nan_to_num(x, {.posinf = 5})(slice(1, 3)), array({0.0, 5.0})));
  CHECK(angle(array(std::complex(0.0, 1.0)), {.deg = true}).item<double>() == doctest::Approx(90));
  CHECK(array_equal(round(array({1.26, 2.34}), {.decimals = 1}), array({1.3, 2.3})));
  CHECK(array_equal(around(array({126, 234}), {.decimals = -1}), array({130, 230})));
  const ndarray z = array({std::complex(1.0, 1e-14)});
  CHECK(real_if_close(z, {.tol = 1000}).dtype() == float64);
  CHECK(real_if_close(z, {.tol = 10}).dtype() == complex128);
}

TEST_CASE("axes by name") {
  const ndarray x = arange(6).reshape(2, 3), y = x + 6, i = array({{2, 0}, {1, 1}});
  CHECK(array_equal(stack({x, y}, {.axis = -1}), stack({x, y}, -1)));
  CHECK(array_equal(concatenate({x, y}, {.axis = 1}), concatenate({x, y}, 1)));
  CHECK(array_equal(concat({x, y}, {.axis = _}), arange(12)));
  CHECK(same(unstack(x, {.axis = 1}), unstack(x, 1)));
  CHECK(same(split(x, 3, {.axis = 1}), split(x, 3, 1)));
  CHECK(same(split(x, {1, 2}, {.axis = 1}), split(x, {1, 2}, 1)));
  CHECK(same(array_split(x, 2, {.axis = 1}), array_split(x, 2, 1)));
  CHECK(same(array_split(x, {1, 2}, {.axis = 1}), split(x, {1, 2}, 1)));
  CHECK(array_equal(repeat(x, 2, {.axis = 1}), repeat(x, 2, 1)));
  CHECK(array_equal(repeat(x, {1, 0, 2}, {.axis = 1}), repeat(x, {1, 0, 2}, 1)));
  CHECK(array_equal(repeat(x, array({2, 1}), {.axis = 0}), repeat(x, array({2, 1}), 0)));
  CHECK(array_equal(append(x, y, {.axis = 1}), append(x, y, 1)));
  CHECK(array_equal(insert(x, 1, 9, {.axis = 1}), insert(x, 1, 9, 1)));
  CHECK(array_equal(delete_(x, 1, {.axis = 1}), delete_(x, 1, 1)));
  CHECK(array_equal(take(x, array({2, 0}), {.axis = 1}), take(x, array({2, 0}), 1)));
  CHECK(array_equal(take(x, 7, {.axis = 1, .mode = "wrap"}), take(x, 7, 1, {.mode = "wrap"})));
  CHECK(array_equal(take_along_axis(x, i, {.axis = 1}), take_along_axis(x, i, 1)));
  CHECK(array_equal(partition(-x, 1, {.axis = 0}), partition(-x, 1, 0)));
  CHECK(argpartition(x, 1, {.axis = _}).shape() == shape_t{6});
  CHECK(array_equal(rot90(x, {.k = 3}), rot90(x, 3)));
  CHECK(array_equal(rot90(arange(8).reshape(2, 2, 2), {.axes = {1, 2}}),
                    rot90(arange(8).reshape(2, 2, 2), 1, axes{1, 2})));
  CHECK(array_equal(trim_zeros(array({0, 1, 0}), {.trim = "b"}), array({0, 1})));
}

TEST_CASE("diagonals, filters and polynomials by name") {
  const ndarray x = arange(1, 5), m = arange(9).reshape(3, 3);
  CHECK(array_equal(diag(x, {.k = -1}), diag(x, -1)));
  CHECK(array_equal(diagflat(x, {.k = 2}), diagflat(x, 2)));
  CHECK(array_equal(tril(m, {.k = -1}), tril(m, -1)));
  CHECK(array_equal(triu(m, {.k = 1}), triu(m, 1)));
  CHECK(array_equal(convolve(x, array({1, 1}), {.mode = "valid"}), convolve(x, array({1, 1}), "valid")));
  CHECK(array_equal(correlate(x, array({1, 2}), {.mode = "same"}), correlate(x, array({1, 2}), "same")));
  CHECK(array_equal(correlate(x, array({1, 2}), convolve_kw{}.mode), correlate(x, array({1, 2}), {.mode = "full"})));
  CHECK(array_equal(polyder(x, {.m = 2}), polyder(x, 2)));
  CHECK(array_equal(polyint(x, {.m = 2, .k = 3}), polyint(x, 2, 3)));
}

TEST_CASE("series between arrays, as NumPy's") {
  const ndarray a = array({0.0, 10.0}), b = array({1.0, 10.0});
  CHECK(array_equal(linspace(a, b, 5), array({{0.0, 10.0}, {0.25, 10.0}, {0.5, 10.0}, {0.75, 10.0}, {1.0, 10.0}})));
  CHECK(array_equal(linspace(a, b, 5, {.axis = 1}), linspace(a, b, 5).T()));
  CHECK(array_equal(linspace(a, b, 4, {.endpoint = false}), linspace(a, b, 5)(slice(4))));
  CHECK(array_equal(linspace(a, 2, 3), array({{0.0, 10.0}, {1.0, 6.0}, {2.0, 2.0}})));
  CHECK(array_equal(linspace(1, b, 3)(_, 0), ones(3)));
  CHECK(array_equal(linspace(array({{1}, {2}}), array({4, 5}), 2),
                    array({{{1.0, 1.0}, {2.0, 2.0}}, {{4.0, 5.0}, {4.0, 5.0}}})));
  CHECK(array_equal(linspace(array({0, -1}), array({5, 4}), 4, {.dtype = int32}),
                    array({{0, -1}, {1, 0}, {3, 2}, {5, 4}}, {.dtype = int32})));
  random::generator g(3);
  const ndarray from = g.normal(0, 3, 40), to = g.normal(0, 3, 40);
  for (const int n : {2, 7, 50}) {
    const ndarray all = linspace(from, to, n), open = linspace(from, to, n, {.endpoint = false});
    CHECK(array_equal(all(-1), to));
    for (int k = 0; k < 40; ++k) {
      CHECK(array_equal(all(_, k), linspace(from(k).item<double>(), to(k).item<double>(), n)));
      CHECK(array_equal(open(_, k), linspace(from(k).item<double>(), to(k).item<double>(), n, {.endpoint = false})));
    }
  }
  CHECK(linspace(a, b, 1).shape() == shape_t{1, 2});
  CHECK(array_equal(linspace(a, b, 1)(0), a));
  CHECK(linspace(a, b, 0).shape() == shape_t{0, 2});
  CHECK(linspace(array({1.0f}), 2, 3).dtype() == float64);
  CHECK(array_equal(linspace(array({std::complex(0.0, 2.0)}), 1, 3)(1), array({std::complex(0.5, 1.0)})));
  CHECK(array_equal(linspace(array({0.0}), 5e-324, 3)(1), array({0.0})));
  CHECK_THROWS_AS(linspace(a, b, -1), value_error);
  CHECK_THROWS_AS(linspace(a, b, 3, {.axis = 2}), index_error);
  CHECK_THROWS_AS(linspace(a, array({1.0, 2.0, 3.0}), 3), shape_error);
  CHECK_THROWS_AS(linspace(array({std::complex(0.0, 2.0)}), 1, 3, {.dtype = float32}), dtype_error);
}
