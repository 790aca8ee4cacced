// Rules of scans: dtypes, axes, the initial element, NaN, errors.
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/error.hpp"
#include "sinter/scan.hpp"

namespace {

using namespace sinter;
using doubles = std::vector<double>;
constexpr double qnan = std::numeric_limits<double>::quiet_NaN();
doubles numbers(const ndarray& x) { return x.astype(float64).to_vector<double>(); }
ndarray grid() { return array({{1, 2, 3}, {4, 5, 6}}); }

}  // namespace

TEST_CASE("sums and products accumulate in the dtypes of sum") {
  for (dtype t : {bool_, int8, int32}) CHECK(cumsum(ones({2}, t)).dtype() == int64);
  for (dtype t : {uint8, uint64}) CHECK(cumulative_prod(ones({2}, t)).dtype() == uint64);
  for (dtype t : {float16, bfloat16, float32, complex64}) CHECK(cumsum(ones({2}, t)).dtype() == t);
  CHECK(numbers(cumsum(array({1.5, 1.7}), {.dtype = int8})) == doubles{1, 2});
  CHECK(numbers(cumsum(array({false, true, false}), {.dtype = bool_})) == doubles{0, 1, 1});
  CHECK(numbers(cumprod(array({true, false, true}), {.dtype = bool_})) == doubles{1, 0, 0});
}

TEST_CASE("16-bit floats are summed in float32") { CHECK(numbers(cumsum(ones({3000}, float16)))[2999] == 3000); }

TEST_CASE("without an axis cumsum flattens; cumulative_sum does so for one axis only") {
  CHECK(numbers(cumsum(grid())) == doubles{1, 3, 6, 10, 15, 21});
  CHECK(numbers(cumsum(grid(), 0)) == doubles{1, 2, 3, 5, 7, 9});
  CHECK(numbers(cumprod(grid(), -1)) == doubles{1, 2, 6, 4, 20, 120});
  CHECK_THROWS_AS(cumulative_sum(grid()), value_error);
  CHECK_THROWS_AS(cumsum(grid(), 2), index_error);
  CHECK(numbers(cumsum(array(3))) == doubles{3});
}

TEST_CASE("include_initial puts the identity before every row") {
  const ndarray s = cumulative_sum(grid(), 1, {.include_initial = true});
  CHECK(s.shape() == shape_t{2, 4});
  CHECK(numbers(s) == doubles{0, 1, 3, 6, 0, 4, 9, 15});
  CHECK(numbers(cumulative_prod(grid(), 0, {.include_initial = true})) == doubles{1, 1, 1, 1, 2, 3, 4, 10, 18});
  CHECK(numbers(cumulative_sum(zeros({0}), {.include_initial = true})) == doubles{0});
  CHECK_THROWS_AS(cumsum(grid(), {.include_initial = true}), value_error);
}

TEST_CASE("a pending argument keeps its value") {
  const ndarray x = array({1, 2, 3}), y = x * 2;
  CHECK(numbers(cumsum(y)) == doubles{2, 6, 12});
  CHECK(numbers(y) == doubles{2, 4, 6});
  CHECK(numbers(cumsum(x)) == doubles{1, 3, 6});
  CHECK(numbers(x) == doubles{1, 2, 3});
}

TEST_CASE("running extremes: NaN wins from its place, unless it is taken for the identity") {
  const ndarray x = array({1.0, 3.0, qnan, 2.0});
  const doubles most = numbers(cummax(x)), sum = numbers(nancumsum(x));
  CHECK(most[1] == 3);
  CHECK(std::isnan(most[2]));
  CHECK(std::isnan(most[3]));
  CHECK(sum == doubles{1, 4, 4, 6});
  CHECK(numbers(nancumprod(x)) == doubles{1, 3, 3, 6});
  CHECK(numbers(cummin(array({{3, 1}, {2, 4}}), 0)) == doubles{3, 1, 2, 1});
  CHECK(cummax(array({false, true, false})).dtype() == bool_);
  CHECK_THROWS_AS(cummin(x, {.dtype = float32}), value_error);
}

TEST_CASE("running extremes of complex numbers compare real parts, then imaginary parts; a NaN in either part wins") {
  using c = std::complex<double>;
  const ndarray x = array(std::vector<c>{{1, 2}, {1, 3}, {0, 9}, {1, 3}, {2, qnan}, {5, 0}, {qnan, 1}});
  const auto most = cummax(x).to_vector<c>(), least = cummin(x).to_vector<c>();
  CHECK(std::vector<c>(most.begin(), most.begin() + 4) == std::vector<c>{{1, 2}, {1, 3}, {1, 3}, {1, 3}});
  CHECK(std::vector<c>(least.begin(), least.begin() + 4) == std::vector<c>{{1, 2}, {1, 2}, {0, 9}, {0, 9}});
  for (std::size_t k = 4; k < 7; ++k) {
    CHECK(most[k].real() == 2);
    CHECK(std::isnan(most[k].imag()));
    CHECK(least[k].real() == 2);
  }
  CHECK(cummax(x).dtype() == complex128);
  CHECK(cummin(ones({2, 2}, complex64), 0).dtype() == complex64);
}

TEST_CASE("logcumsumexp does not overflow; integers become floating point") {
  const doubles r = numbers(logcumsumexp(array({1000.0, 1000.0, 1000.0})));
  CHECK(r[0] == 1000);
  CHECK(std::abs(r[2] - (1000 + std::log(3.0))) < 1e-12 * 1000);
  CHECK(logcumsumexp(ones({2}, int32)).dtype() == float64);
  CHECK(logcumsumexp(ones({2}, float32)).dtype() == float32);
  CHECK_THROWS_AS(logcumsumexp(ones({2}, complex64)), dtype_error);
}
