// Arguments that programs rarely have: nothing, one number, bools, infinite parts. Values, dtypes and errors are NumPy 2's.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "sinter/segments.hpp"
#include "sinter/sinter.hpp"
#include "sinter/vmap.hpp"

namespace {

using namespace sinter;
using complex = std::complex<double>;

}  // namespace

TEST_CASE("edges: complex numbers are rounded part by part") {
  const double inf = INFINITY;
  const ndarray z = array(std::vector<complex>{{1.0045, -inf}, {-3, 2.0449}, {NAN, 1.005}, {2.5, -0.5}});
  const auto two = round(z, 2).to_vector<complex>();
  CHECK(two[0] == complex(1.0, -inf));
  CHECK(two[1] == complex(-3, 2.04));  // not -3.0000000000000004
  CHECK(std::isnan(two[2].real()));
  CHECK(two[2].imag() == doctest::Approx(1.0).epsilon(0.006));
  const auto tens = round(array(std::vector<complex>{{-inf, 16}, {25, -14}}), -1).to_vector<complex>();
  CHECK(tens[0] == complex(-inf, 20));
  CHECK(tens[1] == complex(20, -10));
  CHECK(round(z.astype(complex64), 1).dtype() == complex64);
  CHECK(round(array({true, false})).dtype() == float16);
  CHECK_THROWS_AS(round(array({true, false}), 1), dtype_error);
}

TEST_CASE("edges: the first two numbers of a range fit its dtype") {
  CHECK_THROWS_AS(arange(-2, 10, {.dtype = uint8}), dtype_error);
  CHECK_THROWS_AS(arange(250, 300, 10, {.dtype = uint8}), dtype_error);
  CHECK_THROWS_AS(arange(0, -3, -1, {.dtype = uint8}), dtype_error);
  CHECK(arange(-2, -5, {.dtype = uint8}).size() == 0);
  CHECK(arange(255, 256, {.dtype = uint8}).item<int>() == 255);
  CHECK(arange(300, {.dtype = uint8})(299).item<int>() == 43);  // further ones wrap around
  CHECK(array_equal(arange(-3, 3, 2, {.dtype = int8}), array({-3, -1, 1})));
}

TEST_CASE("edges: quantiles of nothing that skip NaN are NaN") {
  for (const dtype t : {float64, float32, int8, bool_}) {
    CAPTURE(name(t));
    const ndarray x = zeros({0, 3}, {.dtype = t});
    const dtype result = is_inexact(t) ? t : float64;
    for (const char* const method : {"linear", "inverted_cdf", "weibull"}) {
      const ndarray one = nanquantile(x, 0.5, 0, {.method = method});
      CHECK(one.dtype() == result);
      CHECK(one.shape() == shape_t{3});
      CHECK(bool(all(isnan(one))));
    }
    CHECK(bool(isnan(nanpercentile(x, 50))));
    CHECK(nanquantile(x, {0.1, 0.9}, 0, {.keepdims = true}).shape() == shape_t{2, 1, 3});
    CHECK(nanquantile(x, 0.5, 1).shape() == shape_t{0});
    CHECK_THROWS_AS(quantile(x, 0.5), value_error);
  }
}

TEST_CASE("edges: polynomials of no roots, and of float16") {
  CHECK(poly(zeros(0)).shape() == shape_t{});
  CHECK(poly(zeros(0)).item<double>() == 1);
  CHECK(poly(zeros(0, {.dtype = float32})).dtype() == float64);
  CHECK(poly(array({2.0, 3.0}, {.dtype = float16})).dtype() == float64);
  CHECK(poly(array({2.0, 3.0}, {.dtype = float32})).dtype() == float32);
}

TEST_CASE("edges: reductions of one number") {
  CHECK(bitwise_or_reduce(array(5)).item<int>() == 5);
  CHECK(bitwise_and_reduce(array(5), -1, {.keepdims = true}).shape() == shape_t{});
  CHECK(logical_xor_reduce(array(2.5)).item<bool>());
  CHECK(gcd_reduce(array(-7)).item<int>() == 7);
  CHECK(array_equal(gcd_reduce(array({{-7, 7, 8}})), array({7, 7, 8})));
  CHECK(lcm_reduce(array(-7)).item<int>() == -7);
  CHECK_THROWS_AS(gcd_reduce(array(7), 1), index_error);
  CHECK(array_equal(argsort(array(3.0)), array({0})));
  CHECK(vmap([](const ndarray& x) { return argsort(x); })(array({3.0, 1.0})).shape() == shape_t{2, 1});
}

TEST_CASE("edges: borders and phases of bools, elements of axes without any") {
  const ndarray bits = array({{true, false, true}});
  for (const char* const mode : {"reflect", "symmetric"}) {
    const ndarray wide = pad(bits, 2, mode, {.reflect_type = "odd"});
    CHECK(wide.dtype() == bool_);
    CHECK(wide.shape() == shape_t{5, 7});
  }
  CHECK(
      array_equal(pad(array({true, false}), 1, "reflect", {.reflect_type = "odd"}), array({true, true, false, true})));
  CHECK(unwrap(array({true, false}), {.period = 4}).dtype() == int64);
  const ndarray none = zeros({0, 0, 3});
  CHECK(take(none, array({5}), 0, {.mode = "clip"}).shape() == shape_t{1, 0, 3});
  CHECK(take(none, array({5}), 1).shape() == shape_t{0, 1, 3});
  CHECK_THROWS_AS(take(none, array({5}), 0), index_error);
  CHECK_THROWS_AS(take(zeros({0, 3}), array({5}), 0, {.mode = "clip"}), index_error);
}
