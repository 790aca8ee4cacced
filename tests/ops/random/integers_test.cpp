// Whole numbers from ranges: bounds, dtypes, evenness, errors.
#include <limits>

#include "ops/random/reference.hpp"
#include "ops/random/statistics.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter::random::generator;
using statistics::smallest_p;

namespace {

template <class T>
std::vector<T> elements(const ndarray& x) {
  CHECK(x.dtype() == dtype_of<T>);
  return x.to_vector<T>();
}

/// Draws of a small range of a dtype: within bounds, and each number as often as the others.
template <class T>
void check_range(std::int64_t low, std::int64_t high, bool endpoint) {
  generator g(std::uint64_t(sizeof(T)) * 100 + std::uint64_t(high));
  const ndarray x = g.integers(low, high, 1 << 17, {.dtype = dtype_of<T>, .endpoint = endpoint});
  statistics::sample counts(std::size_t(high - low) + (endpoint ? 1 : 0));
  for (const T v : elements<T>(x)) {
    REQUIRE(std::int64_t(v) >= low);
    REQUIRE(std::size_t(std::int64_t(v) - low) < counts.size());
    ++counts[std::size_t(std::int64_t(v) - low)];
  }
  CHECK(statistics::equal_counts_p(counts) > smallest_p);
}

}  // namespace

TEST_CASE("integers: within bounds and even, in every dtype") {
  check_range<std::int64_t>(0, 10, false);
  check_range<std::int64_t>(-3, 4, true);
  check_range<std::int32_t>(-1000, -990, false);
  check_range<std::int16_t>(-5, 250, false);
  check_range<std::int8_t>(-128, 127, true);
  check_range<std::uint8_t>(0, 255, true);
  check_range<std::uint16_t>(65000, 65535, true);
  check_range<std::uint32_t>(7, 8, true);
  check_range<std::uint64_t>(1, 4, false);
  check_range<bool>(0, 2, false);
}

TEST_CASE("integers: high alone counts from 0; one number is no choice") {
  generator g(1);
  CHECK(max(g.integers(5, _, 1000)).item<int>() == 4);
  CHECK(min(g.integers(5, std::nullopt, 1000)).item<int>() == 0);
  CHECK(g.integers(3).shape() == shape_t{});
  CHECK(g.integers(3, {}, {2, 3}).dtype() == int64);
  CHECK(elements<std::int64_t>(g.integers(-7, -6, 3)) == std::vector<std::int64_t>{-7, -7, -7});
  CHECK(elements<std::int64_t>(g.integers(0, 0, 2, {.endpoint = true})) == std::vector<std::int64_t>{0, 0});
  CHECK(elements<bool>(g.integers(1, 2, 2, {.dtype = bool_})) == std::vector<bool>{true, true});
  CHECK(g.integers(2.0, 5.0, 10).dtype() == int64);
}

TEST_CASE("integers: ranges that are no power of two are exactly even") {
  // Of 2^32 words a range of 3 * 2^30 numbers could use three quarters once and one twice: they are drawn again.
  for (const dtype type : {uint32, uint64}) {
    generator g(2);
    const std::uint64_t quarter = type == uint32 ? std::uint64_t{1} << 30 : std::uint64_t{1} << 62;
    const ndarray x = g.integers(0, 3 * quarter, 1 << 18, {.dtype = type});
    statistics::sample counts(12);
    for (const std::uint64_t v : x.astype(uint64).to_vector<std::uint64_t>()) {
      REQUIRE(v < 3 * quarter);
      ++counts[v / (quarter / 4)];
    }
    CHECK(statistics::equal_counts_p(counts) > smallest_p);
  }
  // Redrawn words come from the next subsequences 2^32 apart, at the element's place.
  const sn::random_stream s{2, 0, 0};
  generator g(2);
  const auto got = g.integers(0, std::uint64_t{3} << 30, 4096, {.dtype = uint32}).to_vector<std::uint32_t>();
  int again = 0;
  for (std::int64_t k = 0; k < 4096; ++k) {
    const std::uint32_t range = 3u << 30;
    std::uint64_t m = 0;
    unsigned attempt = 0;
    do m = std::uint64_t{sn::random_word(k, s, attempt++)} * range;
    while (std::uint32_t(m) < (0u - range) % range);
    again += attempt > 1;
    REQUIRE(got[std::size_t(k)] == m >> 32);
  }
  CHECK(again > 800);
}

TEST_CASE("integers: the whole range of each dtype") {
  generator g(3);
  const auto w = random_test::words(g, 8).to_vector<std::uint32_t>();
  g.seed(3);
  const auto all = elements<std::int32_t>(g.integers(INT32_MIN, INT32_MAX, 8, {.dtype = int32, .endpoint = true}));
  for (std::size_t k = 0; k < 8; ++k) CHECK(std::uint32_t(all[k]) == w[k] + 0x80000000u);
  g.seed(3);
  const auto wide = elements<std::int64_t>(g.integers(INT64_MIN, INT64_MAX, 4, {.endpoint = true}));
  for (std::size_t k = 0; k < 4; ++k)
    CHECK(std::uint64_t(wide[k]) == (std::uint64_t{w[2 * k + 1]} << 32 | w[2 * k]) + (std::uint64_t{1} << 63));
}

TEST_CASE("integers: bounds out of a dtype and empty ranges are refused") {
  generator g(4);
  CHECK_THROWS_WITH_AS(g.integers(0, 257, 3, {.dtype = uint8}), doctest::Contains("high is out of bounds for uint8"),
                       value_error);
  CHECK_THROWS_AS(g.integers(-1, 5, 3, {.dtype = uint64}), value_error);
  CHECK_THROWS_AS(g.integers(0, 3, 3, {.dtype = bool_}), value_error);
  CHECK_THROWS_AS(g.integers(-129, 0, 3, {.dtype = int8}), value_error);
  CHECK_THROWS_AS(g.integers(5, 5), value_error);
  CHECK_THROWS_AS(g.integers(0), value_error);
  CHECK_THROWS_AS(g.integers(5, 4, 3, {.endpoint = true}), value_error);
  CHECK_THROWS_AS(g.integers(0.5, 4), value_error);
  CHECK_THROWS_AS(g.integers(0, 4, 3, {.dtype = float32}), dtype_error);
  CHECK_THROWS_AS(g.integers(array({0.0, 1.0}), 4), dtype_error);
  CHECK_THROWS_AS(g.integers(array({0, 4}), 4), value_error);
  CHECK_THROWS_AS(g.integers(array({-1, 3}), 4, {}, {.dtype = uint8}), value_error);
  CHECK_THROWS_AS(g.integers(0, array({300}), {}, {.dtype = uint8}), value_error);
  CHECK_THROWS_AS(g.integers(0, array({1, 2, 3}), 2), shape_error);
  CHECK(g.integers(0, 256, 3, {.dtype = uint8}).dtype() == uint8);
}

TEST_CASE("integers: arrays of bounds broadcast, and each element has its own range") {
  generator g(5);
  const ndarray low = array({{-10}, {0}, {1000}}), width = array({1, 2, 7, 4000000000});
  for (const dtype type : {int64, uint64}) {
    const ndarray from = type == int64 ? low : absolute(low);
    const ndarray x = g.integers(from, from + width, {500, 3, 4}, {.dtype = type});
    CHECK(x.dtype() == type);
    CHECK(bool(all((x >= from.astype(type)) & (x < (from + width).astype(type)))));
    CHECK(bool(all(max(x, 0)(_, slice(0, 3)) == (from + width - 1)(_, slice(0, 3)).astype(type))));
  }
  const ndarray bytes = g.integers(array({0, 100}), array({255, 101}), {1000, 2}, {.dtype = uint8, .endpoint = true});
  CHECK(bool(all(bytes(_, 1) >= 100)));
  CHECK(bool(all(bytes(_, 1) <= 101)));
  CHECK(max(bytes(_, 0)).item<int>() > 250);
  CHECK(g.integers(0, full(3, std::uint64_t{1} << 63, {.dtype = uint64}), {}, {.dtype = uint64}).size() == 3);
}

TEST_CASE("poisson and binomial: edges, dtypes, arrays of parameters") {
  generator g(6);
  CHECK(elements<std::int64_t>(g.poisson(0.0, 3)) == std::vector<std::int64_t>{0, 0, 0});
  CHECK(g.poisson(3.0, 10, {.dtype = uint8}).dtype() == uint8);
  CHECK_THROWS_AS(g.poisson(3.0, 10, {.dtype = float32}), dtype_error);
  CHECK(elements<std::int64_t>(g.binomial(0, 0.5, 2)) == std::vector<std::int64_t>{0, 0});
  CHECK(elements<std::int64_t>(g.binomial(9, array({0.0, 1.0}))) == std::vector<std::int64_t>{0, 9});
  const ndarray n = array({1, 10, 100, 1000, 100000});
  const ndarray k = g.binomial(n, 0.35, {2000, 5});
  CHECK(bool(all((k >= 0) & (k <= n))));
  CHECK(bool(all(absolute(mean(k, 0) - 0.35 * n) < 5 * sqrt(n * 0.35 * 0.65 / 2000))));
  const ndarray lam = array({0.5, 5.0, 50.0, 5e5});
  CHECK(bool(all(absolute(mean(g.poisson(lam, {2000, 4}), 0) - lam) < 5 * sqrt(lam / 2000))));
}
