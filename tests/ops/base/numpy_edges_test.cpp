// Edges at which results are NumPy's: nothing selected, nothing to order, rank 0, zeros in products, numbers that an
// array's dtype does not hold. Expected values are those of NumPy 2.4.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sn::idx;
using sn::ndarray;
using sn::shape_t;
using longs = std::vector<std::int64_t>;
using doubles = std::vector<double>;

namespace {

ndarray no(const shape_t& shape) { return sn::zeros(shape, sn::bool_); }
ndarray z(const shape_t& shape) { return sn::zeros(shape); }
constexpr std::uint64_t operator""_u(unsigned long long n) { return n; }

}  // namespace

TEST_CASE("zeros, ones, empty and full take a dtype in its place") {
  CHECK(sn::zeros({2}, sn::int8).dtype() == sn::int8);
  CHECK(sn::ones({2}, sn::complex64).dtype() == sn::complex64);
  CHECK(sn::empty({2}, sn::bool_).dtype() == sn::bool_);
  const ndarray x = sn::full({2, 3}, 7.9, sn::int32);
  CHECK(x.dtype() == sn::int32);
  CHECK(x.to_vector<std::int64_t>() == longs(6, 7));
  CHECK(sn::full({2}, sn::array({1, 2}), sn::float32).to_vector<double>() == doubles{1, 2});
}

TEST_CASE("masks with an extent of 0 select nothing along any axis") {
  CHECK(z({0, 1})[no({0, 0})].shape() == shape_t{0});
  CHECK(z({2, 3})[no({0})].shape() == shape_t{0, 3});
  CHECK(z({2, 3})[no({2, 0})].shape() == shape_t{0});
  CHECK(z({2, 3})[no({0, 3})].shape() == shape_t{0});
  CHECK(z({2, 3})(_, no({0})).shape() == shape_t{2, 0});
  CHECK(z({2, 3, 4})(_, no({0, 4})).shape() == shape_t{2, 0});
  CHECK_THROWS_AS(z({2, 3})[no({0, 4})], sn::index_error);
  CHECK_THROWS_AS(z({2, 3})[no({3, 0})], sn::index_error);
  CHECK_THROWS_AS(z({2, 3})[no({1})], sn::index_error);
  const ndarray x = sn::arange(6).copy();
  x[no({0})] = 7;
  CHECK(x.to_vector<std::int64_t>() == longs{0, 1, 2, 3, 4, 5});
  CHECK((x + 0)[no({0})].size() == 0);
}

TEST_CASE("an index out of range is an error where nothing is selected for another reason") {
  const ndarray nine = sn::array({9});
  const auto read = [](const ndarray& x) { sn::eval(x); };
  CHECK_THROWS_AS(read(z({1, 4})(sn::slice(1, _), nine)), sn::index_error);
  CHECK_THROWS_AS(read(z({0, 4})(_, nine)), sn::index_error);
  CHECK_THROWS_AS(read(z({0, 4})(_, nine - 14)), sn::index_error);
  CHECK_THROWS_AS(read(z({3, 0})[nine]), sn::index_error);
  CHECK_THROWS_AS(read(z({0, 4})[nine]), sn::index_error);
  CHECK_THROWS_AS(z({1, 4})(sn::slice(1, _), sn::list{9}), sn::index_error);
  CHECK_THROWS_AS(sn::take(z({3, 0}), nine, 0), sn::index_error);
  CHECK_THROWS_WITH_AS(read(z({1, 4})(sn::slice(1, _), nine)),
                       "[index] index 9 is out of range for axis 1 with extent 4", sn::index_error);
  CHECK(z({3, 4})(sn::zeros({0}, sn::int64), nine).shape() == shape_t{0});  // the indices themselves are none
  CHECK(z({1, 4})(sn::slice(1, _), sn::array({-4, 3})).shape() == shape_t{0, 2});
  CHECK(sn::take(z({0, 3}), nine, 1).shape() == shape_t{0, 1});
  const ndarray x = z({1, 4}).copy();
  CHECK_THROWS_AS(x(sn::slice(1, _), nine) = 1, sn::index_error);
  sn::synchronize();
}

TEST_CASE("products of finite factors with a zero are zero, whatever parts of them overflow") {
  for (const auto type : {sn::float64, sn::float32, sn::float16, sn::bfloat16})
    for (const std::int64_t n : {4, 40, 1000, 70000})
      for (const std::int64_t at : {std::int64_t{0}, n / 3}) {
        INFO(sn::name(type) << ", " << n << " factors, zero at " << at);
        const ndarray x = sn::full({n}, 5.0, {.dtype = type}).copy();
        x(at) = 0;
        CHECK(sn::prod(x).item<double>() == 0);
        const ndarray running = sn::cumprod(x);
        CHECK(bool(sn::all(running(sn::slice(at, _)) == 0)));
        if (at == 0) CHECK(!bool(sn::any(sn::signbit(running))));
        for (const std::int64_t columns : {3, 200}) {
          if (n * columns > 300000) continue;
          const ndarray down = sn::cumprod(x.reshape({n, 1}) * sn::ones({1, columns}, type), 0);
          CHECK(bool(sn::all(down(sn::slice(at, _)) == 0)));
        }
        x(n - 1) = -5;
        CHECK(std::signbit(sn::prod(x).item<double>()));
        CHECK(std::signbit(sn::cumprod(x)(-1).item<double>()));
        x(n / 2) = std::numeric_limits<double>::infinity();
        CHECK(std::isnan(sn::prod(x).item<double>()));  // which is the product of 0 and infinity
        CHECK(std::isnan(sn::cumprod(x)(-1).item<double>()));
      }
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(sn::cumprod(sn::array({0., -1e300, 1e300, 5.})).to_vector<double>() == doubles{0, 0, 0, 0});
  CHECK(sn::cumprod(sn::array({1e300, -1e300, 3., 0., 5.})).to_vector<double>() == doubles{1e300, -inf, -inf, 0, 0});
  CHECK(sn::cumprod(sn::array({1e300, 1e300, inf, -1.})).to_vector<double>() == doubles{1e300, inf, inf, -inf});
  for (const std::int64_t n : {10, 5000, 200000}) {
    const ndarray late = sn::full({n}, 1e200).copy();
    late(n - 1) = inf;
    CHECK(sn::cumprod(late)(-1).item<double>() == inf);
    late(n / 2) = 0;
    CHECK(std::isnan(sn::cumprod(late)(-1).item<double>()));
    CHECK(sn::cumprod(late)(-2).item<double>() == 0);
    // Whatever bits a NaN has, it stays one.
    late(0) = std::bit_cast<double>(std::uint64_t{0x7ff800000005ca1e});
    CHECK(std::isnan(sn::cumprod(late)(0).item<double>()));
    CHECK(std::isnan(sn::cumprod(late)(-2).item<double>()));
  }
  CHECK(sn::prod(sn::array({1e300, 1e300})).item<double>() == inf);
  CHECK(sn::prod(sn::array({inf, 2.})).item<double>() == inf);
  const ndarray rows = sn::array({{0., 1e300, 1e300}, {2., 3., 4.}, {inf, 0., 1.}});
  const doubles by_row = sn::prod(rows, 1).to_vector<double>();
  CHECK(by_row[0] == 0);
  CHECK(by_row[1] == 24);
  CHECK(std::isnan(by_row[2]));
  CHECK(sn::prod(rows, 1, {.keepdims = true}).shape() == shape_t{3, 1});
}

TEST_CASE("complex products with a zero are zero") {
  using c = std::complex<double>;
  for (const std::int64_t n : {4, 1000}) {
    const ndarray x = sn::full({n}, c(1e300, 1e300)).copy();
    CHECK(!bool(sn::isfinite(sn::prod(x))));
    x(0) = 0;
    CHECK(sn::prod(x).item<c>() == c(0, 0));
    CHECK(bool(sn::all(sn::cumprod(x) == 0)));
    x(1) = c(0, std::numeric_limits<double>::infinity());
    CHECK(bool(sn::isnan(sn::prod(x))));
  }
}

TEST_CASE("nothing to order, and rank 0") {
  for (const std::int64_t kth : {-1, 0, 1, 5}) {
    CHECK(sn::partition(z({0}), kth).shape() == shape_t{0});
    CHECK(sn::partition(z({0, 3}), kth).shape() == shape_t{0, 3});
    CHECK(sn::argpartition(z({3, 0}), kth).shape() == shape_t{3, 0});
  }
  CHECK_THROWS_AS(sn::partition(z({2, 3}), 5), sn::value_error);
  const ndarray five = sn::array(5);
  CHECK(sn::squeeze(five, 0).shape() == shape_t{});
  CHECK(sn::squeeze(five, -1).shape() == shape_t{});
  CHECK_THROWS_AS(sn::squeeze(five, 1), sn::index_error);
  CHECK_THROWS_AS(sn::squeeze(five, sn::axes{0, -1}), sn::index_error);
  CHECK(sn::repeat(five, 3, 0).to_vector<std::int64_t>() == longs{5, 5, 5});
  CHECK(sn::repeat(five, 3, -1).to_vector<std::int64_t>() == longs{5, 5, 5});
  CHECK_THROWS_AS(sn::repeat(five, 3, 1), sn::index_error);
  CHECK(sn::diff(five, 0).shape() == shape_t{});
  CHECK_THROWS_AS(sn::diff(five), sn::shape_error);
  CHECK(sn::diff(sn::arange(4), 10).shape() == shape_t{0});
}

TEST_CASE("choose: a number that is no choice's is a value error") {
  const ndarray a = sn::array({1}), b = sn::array({2});
  CHECK_THROWS_AS(sn::choose(sn::array({5}), {a, b}), sn::value_error);
  CHECK_THROWS_AS(sn::choose(sn::array({-1}), {a, b}), sn::value_error);
  CHECK_THROWS_AS(sn::choose(sn::array({1}), {a}), sn::value_error);
  CHECK(sn::choose(sn::zeros({0}, sn::int64), {a, b}).shape() == shape_t{0});
  CHECK(sn::choose(sn::array({5, -1}), {a, b}, {.mode = "clip"}).to_vector<std::int64_t>() == longs{2, 1});
  CHECK(sn::choose(sn::array({5, -2}), {a, b}, {.mode = "wrap"}).to_vector<std::int64_t>() == longs{2, 1});
}

TEST_CASE("isin and searchsorted take numbers for what they are") {
  const ndarray bytes = sn::array({1, 2, 44}).astype(sn::uint8);
  const auto among = [](const ndarray& x, auto number) { return bool(sn::any(sn::isin(x, number))); };
  CHECK(!among(bytes, 300));  // 44 modulo 256
  CHECK(!among(bytes, -1));
  CHECK(among(bytes, 44));
  CHECK(bool(sn::all(sn::isin(bytes, 300, {.invert = true}))));
  CHECK(sn::isin(300, bytes).shape() == shape_t{});
  CHECK(!bool(sn::isin(300, bytes)));
  CHECK(!among(sn::array({std::numeric_limits<std::int64_t>::max()}), 9223372036854775808_u));
  CHECK(!among(sn::array({true, false}), 2));
  CHECK(!among(sn::array({16777216.0}).astype(sn::float32), 16777217));
  CHECK(!among(sn::array({0.1}).astype(sn::float32), 0.1));
  CHECK(among(sn::array({0.5}).astype(sn::float32), 0.5));

  const auto place = [](const ndarray& a, auto number) {
    return sn::searchsorted(a, number).template item<std::int64_t>();
  };
  CHECK(place(bytes, 300) == 3);
  CHECK(place(bytes, -1) == 0);
  CHECK(place(bytes, 1.5) == 1);
  CHECK(place(bytes.astype(sn::uint64), -1) == 0);
  CHECK(place(bytes.astype(sn::int64), 9223372036854775808_u) == 3);
  CHECK(place(sn::array({1., 2., 3.}).astype(sn::float16), 70000) == 3);
  CHECK(place(sn::array({1., double(INFINITY)}).astype(sn::float32), 1e300) == 1);
  CHECK(place(sn::array({16777216., 16777218.}).astype(sn::float32), 16777217) == 1);
  CHECK(sn::searchsorted(sn::array({0.1}).astype(sn::float32), 0.1, "right").item<std::int64_t>() == 0);
}

TEST_CASE("arange beyond int64") {
  constexpr std::uint64_t big = 9223372036854775808_u;
  CHECK(sn::arange(big, big + 4).dtype() == sn::float64);
  CHECK(sn::arange(big, big + 4, {.dtype = sn::uint64}).to_vector<std::uint64_t>() ==
        std::vector<std::uint64_t>{big, big + 1, big + 2, big + 3});
  CHECK(sn::arange(-1, big, std::uint64_t{1} << 62).to_vector<double>() == doubles{-1, 0x1p62, 0x1p63});
  CHECK(sn::arange(0x1p63, 0x1p63 + 8192, 2048.0, {.dtype = sn::uint64}).to_vector<std::uint64_t>() ==
        std::vector<std::uint64_t>{big, big + 2048, big + 4096, big + 6144});
  CHECK(sn::arange(5).dtype() == sn::int64);
}

TEST_CASE("linear algebra of nothing") {
  CHECK(sn::linalg::cond(z({0, 2, 2})).shape() == shape_t{0});
  CHECK(sn::linalg::cond(z({0, 2, 2}), 1).shape() == shape_t{0});
  CHECK(sn::linalg::cond(sn::zeros({0, 2, 2}, sn::float32)).dtype() == sn::float32);
  CHECK_THROWS_AS(sn::linalg::cond(z({0, 0})), sn::linalg_error);
  CHECK_THROWS_AS(sn::linalg::cond(z({0, 0, 0})), sn::linalg_error);
  CHECK_THROWS_AS(sn::linalg::cond(z({2, 0, 0}), 1), sn::linalg_error);
  const auto inverse = [](const shape_t& shape, sn::dtype type) { return sn::linalg::pinv(sn::zeros(shape, type)); };
  CHECK(inverse({0, 3}, sn::int64).shape() == shape_t{3, 0});
  CHECK(inverse({0, 3}, sn::int64).dtype() == sn::int64);
  CHECK(inverse({2, 0, 3}, sn::bool_).dtype() == sn::bool_);
  CHECK(inverse({0, 2, 3}, sn::int64).dtype() == sn::float64);
  CHECK(inverse({0, 3}, sn::float32).dtype() == sn::float32);
}
