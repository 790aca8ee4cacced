// Rules of reductions: dtypes, axes, keepdims, empty arrays, errors.
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/reduce.hpp"

namespace {

using namespace sinter;

constexpr double inf = std::numeric_limits<double>::infinity(), qnan = std::numeric_limits<double>::quiet_NaN();
using numbers_t = std::vector<double>;
numbers_t numbers(const ndarray& x) { return x.astype(float64).to_vector<double>(); }
ndarray of(dtype type, std::initializer_list<list_node> l) { return array(l, {.dtype = type}); }
const ndarray& grid() {
  static const ndarray x = array({{3, 1, 2}, {6, 5, 4}});
  return x;
}

}  // namespace

TEST_CASE("sums and products of integers accumulate in 64 bits of the same signedness") {
  for (dtype t : {bool_, int8, int16, int32, int64}) CHECK(sum(ones({2}, t)).dtype() == int64);
  for (dtype t : {uint8, uint16, uint32, uint64}) CHECK(prod(ones({2}, t)).dtype() == uint64);
  for (dtype t : {float16, bfloat16, float32, float64, complex64}) CHECK(sum(ones({2}, t)).dtype() == t);
  CHECK(sum(of(int8, {127, 127})).item<int>() == 254);
  CHECK(sum(of(bool_, {true, true})).item<int>() == 2);
}

TEST_CASE("dtype casts before the reduction") {
  CHECK(sum(array({1.5, 1.7}), {.dtype = int8}).item<int>() == 2);
  CHECK(sum(array({300}), {.dtype = int8}).item<int>() == 44);
  CHECK(sum(of(bool_, {true, true}), {.dtype = bool_}).item<int>() == 1);
  CHECK(prod(array({2, 0}), {.dtype = bool_}).item<int>() == 0);
  CHECK(sum(ones({2, 3}, int8), {.dtype = float16}).dtype() == float16);
}

TEST_CASE("axes are one number, a list, or all; negative ones count from the end") {
  CHECK(numbers(sum(grid())) == numbers_t{21});
  CHECK(numbers(sum(grid(), 0)) == numbers_t{9, 6, 6});
  CHECK(numbers(sum(grid(), -1)) == numbers_t{6, 15});
  CHECK(numbers(sum(grid(), axes{0, 1})) == numbers_t{21});
  CHECK(numbers(sum(grid(), {.axis = 1})) == numbers_t{6, 15});
  CHECK(numbers(max(grid(), 1)) == numbers_t{3, 6});
  CHECK(numbers(prod(grid(), 1)) == numbers_t{6, 120});
}

TEST_CASE("keepdims leaves extent 1") {
  CHECK(sum(grid(), 1, {.keepdims = true}).shape() == shape_t{2, 1});
  CHECK(sum(grid(), {.keepdims = true}).shape() == shape_t{1, 1});
  CHECK(argmin(grid(), {.keepdims = true}).shape() == shape_t{1, 1});
  CHECK(argmin(grid(), 0, {.keepdims = true}).shape() == shape_t{1, 3});
  CHECK(std::as_const(grid()).shape() == shape_t{2, 3});
}

TEST_CASE("an empty list of axes reduces nothing") {
  CHECK(sum(grid(), axes{}).shape() == shape_t{});
  const axes none(std::vector<int>{});
  CHECK(numbers(sum(grid(), none)) == numbers(grid()));
  CHECK(numbers(max(grid(), none)) == numbers(grid()));
  CHECK(any(grid(), none).dtype() == bool_);
  CHECK(numbers(var(array({1.0, 2.0}), none)) == numbers_t{0, 0});
  CHECK(count_nonzero(grid(), none).dtype() == int64);
}

TEST_CASE("an axis out of range or given twice is an index_error") {
  CHECK_THROWS_AS(sum(grid(), 2), index_error);
  CHECK_THROWS_AS(sum(grid(), -3), index_error);
  CHECK_THROWS_AS(sum(grid(), axes{0, 0}), index_error);
  CHECK_THROWS_AS(sum(grid(), axes{1, -1}), index_error);
  CHECK_THROWS_AS(sum(array(3.0), 1), index_error);
  CHECK_THROWS_AS(sum(grid(), 1, {.axis = 0}), value_error);
  CHECK_THROWS_AS(min(grid(), {.dtype = int8}), value_error);
}

TEST_CASE("rank 0 arrays reduce to themselves, along axis 0 and -1 too") {
  CHECK(sum(array(3.0)).item<double>() == 3);
  CHECK(sum(array(3.0), 0).item<double>() == 3);
  CHECK(argmin(array(3.0)).item<int>() == 0);
  CHECK(argmax(array(3.0), -1).dtype() == int64);
  CHECK(mean(array(3)).item<double>() == 3);
  CHECK(sum(array(true)).dtype() == int64);
}

TEST_CASE("argmin and argmax give the first best, or the first NaN, as int64") {
  CHECK(argmin(grid()).item<int>() == 1);
  CHECK(argmin(grid(), 1).dtype() == int64);
  CHECK(numbers(argmin(grid(), 1)) == numbers_t{1, 2});
  CHECK(argmax(array({1.0, qnan, 5.0, qnan})).item<int>() == 1);
  CHECK(argmin(array({2, 1, 1})).item<int>() == 1);
  CHECK(argmin(of(bool_, {true, false, false})).item<int>() == 1);
  CHECK_THROWS_AS(argmin(grid(), {.axis = {0, 1}}), value_error);
}

TEST_CASE("extremes of nothing are a value_error, of no results they are not") {
  CHECK_THROWS_AS(min(zeros({0, 3})), value_error);
  CHECK_THROWS_AS(max(zeros({0, 3}), 0), value_error);
  CHECK_THROWS_AS(argmin(zeros({0, 3}), 0), value_error);
  CHECK_THROWS_AS(argmax(zeros({0})), value_error);
  CHECK(min(zeros({0, 3}), 1).shape() == shape_t{0});
  CHECK(argmin(zeros({0, 3}), 1).shape() == shape_t{0});
}

TEST_CASE("sums, products and logic of nothing are their identities, means are NaN") {
  CHECK(numbers(sum(zeros({0, 2}), 0)) == numbers_t{0, 0});
  CHECK(numbers(prod(zeros({0, 2}), 0)) == numbers_t{1, 1});
  CHECK(all(zeros({0})).item<bool>());
  CHECK_FALSE(any(zeros({0})).item<bool>());
  CHECK(count_nonzero(zeros({0})).item<int>() == 0);
  CHECK(std::isnan(mean(zeros({0})).item<double>()));
  CHECK(std::isnan(var(zeros({0})).item<double>()));
}

TEST_CASE("minimum and maximum propagate NaN and order complex numbers by parts") {
  CHECK(std::isnan(min(array({1.0, qnan, 0.0})).item<double>()));
  CHECK(max(array({-inf, -1.0})).item<double>() == -1);
  CHECK(min(of(bool_, {true, false})).dtype() == bool_);
  CHECK_FALSE(min(of(bool_, {true, false})).item<bool>());
  CHECK(max(of(bool_, {true, false})).item<bool>());
  using z = std::complex<double>;
  CHECK(min(array(std::vector<z>{{1, 1}, {1, -2}, {2, -9}})).item<z>() == z(1, -2));
  CHECK(argmax(array(std::vector<z>{{1, 1}, {2, -2}, {2, -9}})).item<int>() == 1);
  CHECK(std::isnan(max(array(std::vector<z>{{1, 1}, {qnan, 0}})).item<z>().real()));
}

TEST_CASE("any, all and count_nonzero take every dtype; NaN is not zero") {
  CHECK(any(array({0.0, qnan})).item<bool>());
  CHECK_FALSE(all(array({0.0, qnan})).item<bool>());
  CHECK(count_nonzero(array({qnan, 0.0, 2.0})).item<int>() == 2);
  CHECK(count_nonzero(array(std::vector<std::complex<float>>{{0, 1}, {0, 0}})).item<int>() == 1);
  CHECK(numbers(all(grid() > 1, 0)) == numbers_t{1, 0, 1});
}

TEST_CASE("mean and var of integers are float64, of 16-bit floats they accumulate in float32") {
  CHECK(mean(grid()).dtype() == float64);
  CHECK(var(grid()).dtype() == float64);
  CHECK(mean(ones({3}, float16)).dtype() == float16);
  CHECK(mean(of(float16, {60000, 60000})).item<float>() == 60000);
  CHECK(mean(array({1, 2, 4}), {.dtype = int32}).item<int>() == 2);
  CHECK(mean(array({1, 2, 4}), {.dtype = float32}).dtype() == float32);
}

TEST_CASE("var and std divide by n - ddof, also called correction") {
  const ndarray x = array({1.0, 2.0, 4.0});
  CHECK(var(x).item<double>() == doctest::Approx(14.0 / 9));
  CHECK(var(x, {.ddof = 1}).item<double>() == doctest::Approx(7.0 / 3));
  CHECK(sinter::std(x, {.correction = 1}).item<double>() == doctest::Approx(std::sqrt(7.0 / 3)));
  CHECK(std::isnan(var(array({1.0}), {.ddof = 1}).item<double>()));
  CHECK(std::isinf(var(array({1.0, 2.0}), {.ddof = 3}).item<double>()));
  CHECK(numbers(var(grid(), 1, {.keepdims = true})).size() == 2);
  CHECK_THROWS_AS(var(x, {.ddof = 1, .correction = 1}), value_error);
  CHECK_THROWS_AS(var(x, {.dtype = int32}), dtype_error);
  const ndarray z = array(std::vector<std::complex<float>>{{1, 1}, {-1, -1}});
  CHECK(var(z).dtype() == float32);
  CHECK(var(z).item<float>() == 2);
}

TEST_CASE("ptp is max - min, and refuses bools") {
  CHECK(numbers(ptp(grid(), 1)) == numbers_t{2, 2});
  CHECK(ptp(of(int8, {-128, 127})).item<int>() == -1);
  CHECK_THROWS_AS(ptp(of(bool_, {true})), dtype_error);
}

TEST_CASE("reductions of pending, strided and broadcast expressions") {
  const ndarray x = arange(12).astype(float64), m = array({{0, 1, 2}, {3, 4, 5}});
  CHECK(sum(x(slice(idx::_, idx::_, -2)) * 2).item<double>() == 72);
  CHECK(numbers(sum(m.T(), 0)) == numbers_t{3, 12});
  CHECK(numbers(max(m(idx::_, idx::newaxis) - m(idx::newaxis), 2)) == numbers_t{0, -3, 3, 0});
  const ndarray e = exp(x - max(x));
  CHECK(sum(e / sum(e)).item<double>() == doctest::Approx(1));
}
