// searchsorted and digitize beside counting, for elements in any order: on the host elements in order are searched from the places
// of those before them, in short tables by comparisons with all, others by halves.
#include <doctest/doctest.h>

#include <cmath>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

/// How many elements of a table are below v, or not above it; NaN is above every number.
ndarray counted(const ndarray& table, const ndarray& v, bool right) {
  const auto below = [](const ndarray& x, const ndarray& y) { return (x < y) | (isnan(y) & ~isnan(x)); };
  const ndarray each = v(_, newaxis);
  return sum(right ? ~below(each, table) : below(table, each), 1);
}

void check(const ndarray& table, const ndarray& v) {
  CHECK(array_equal(searchsorted(table, v), counted(table, v, false)));
  CHECK(array_equal(searchsorted(table, v, "right"), counted(table, v, true)));
}

}  // namespace

TEST_CASE("searches of elements in order, against it, in runs, and in none") {
  random::generator g(6);
  for (const std::int64_t n : {1, 2, 7, 200, 3000}) {
    CAPTURE(n);
    const ndarray table = sort(round(g.random(n) * 50) / 50), v = round(g.random(2000) * 100) / 100, ordered = sort(v);
    check(table, v);
    check(table, ordered);
    check(table, ordered(slice(_, _, -1)));
    check(table, repeat(ordered, 3)(slice(2000)));
    // Up a little, far down, far up: each of them beside runs in order.
    check(table, concatenate({ordered(slice(40)), ordered(slice(20)), ordered(slice(1900, _)), ordered(slice(300))}));
    check(table, concatenate({ordered(slice(_, _, 90)), ordered(slice(_, _, 7)), table, table}));
    check(table.astype(float32), ordered.astype(float32));
  }
}

TEST_CASE("a table that is shorter than the last place, empty tables, NaN and infinities in order") {
  const ndarray long_one = arange(5000.0), short_one = array({1.0, 2.0});
  check(long_one, arange(4700, 5010) * 1.0);
  check(short_one, arange(0.0, 4.0, 0.125));
  check(long_one, arange(4700, 5010) * 1.0);
  CHECK(array_equal(searchsorted(zeros(0), arange(9.0)), zeros(9, int64)));
  const ndarray odd = array({-INFINITY, -1.0, 0.0, 0.0, 2.0, INFINITY, INFINITY, NAN, NAN});
  check(odd, concatenate({odd, odd, array({NAN, NAN, -INFINITY, 0.5, 1.0, 1.5, 2.0, 3.0, NAN})}));
  check(odd, linspace(-2, 3, 400));
  check(arange(1000), arange(-20, 1020, 3));
}

TEST_CASE("several tables searched by one kernel") {
  random::generator g(7);
  const ndarray first = sort(g.random(500)), second = sort(g.random(90)), third = first * 0.5;
  for (const ndarray& v : {sort(g.random(1500)), g.random(1500)}) {
    const ndarray all =
        searchsorted(first, v) * 1000000 + searchsorted(second, v, "right") * 1000 + searchsorted(third, v);
    CHECK(array_equal(all,
                      counted(first, v, false) * 1000000 + counted(second, v, true) * 1000 + counted(third, v, false)));
  }
}

TEST_CASE("tables about as long as short ones, searched by every dtype") {
  random::generator g(8);
  for (const std::int64_t n : {15, 16, 31, 32, 33, 34, 47, 64}) {
    CAPTURE(n);
    const ndarray table = sort(g.integers(0, 60, {n})), v = g.integers(0, 64, {700});
    for (const dtype type :
         {int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64}) {
      CAPTURE(name(type));
      check(table.astype(type), v.astype(type));
      check(table.astype(type), sort(v).astype(type));
    }
    check(sort(g.random(n) > 0.3), g.random(90) > 0.5);
  }
}

TEST_CASE("places of complex numbers") {
  random::generator g(9);
  for (const std::int64_t n : {20, 300}) {
    const auto numbers = [&](std::int64_t count) {
      return g.integers(0, 5, {count}) + g.integers(0, 9, {count}) * std::complex<double>(0, 1);
    };
    const ndarray table = sort(numbers(n));
    for (const ndarray& v : {numbers(600), sort(numbers(600))}) {
      // In order: real part, then imaginary part, both small whole numbers.
      const auto rank = [](const ndarray& z) { return z.real() * 16 + z.imag(); };
      check(rank(table), rank(v));
      CHECK(array_equal(searchsorted(table, v), counted(rank(table), rank(v), false)));
      CHECK(array_equal(searchsorted(table, v, "right"), counted(rank(table), rank(v), true)));
    }
  }
}

TEST_CASE("NaN among elements, at lanes of every kind") {
  random::generator g(10);
  for (const std::int64_t n : {9, 500}) {
    const ndarray table = concatenate({sort(g.random(n)), array({NAN, NAN, NAN})});
    for (const int every : {2, 17, 300}) {
      const ndarray v = g.random(1000), some = where(arange(1000) % every == 0, NAN, v);
      check(table, some);
      check(table, sort(some));
      check(sort(g.random(n)), some);
    }
  }
}

TEST_CASE("digitize: bins that rise and fall, of any number, closed on either side") {
  random::generator g(11);
  for (const std::int64_t n : {1, 5, 33, 400}) {
    CAPTURE(n);
    const ndarray rising = sort(round(g.random(n) * 40)), falling = rising(slice(_, _, -1));
    for (const ndarray& v : {round(g.random(900) * 44) - 2, sort(round(g.random(900) * 44))}) {
      const ndarray w = concatenate({v, array({NAN, INFINITY, -INFINITY})});
      CHECK(array_equal(digitize(w, rising), counted(rising, w, true)));
      CHECK(array_equal(digitize(w, rising, {.right = true}), counted(rising, w, false)));
      if (n == 1 || rising(0).item<double>() == rising(-1).item<double>()) continue;  // those rise
      CHECK(array_equal(digitize(w, falling), n - counted(rising, w, true)));
      CHECK(array_equal(digitize(w, falling, {.right = true}), n - counted(rising, w, false)));
    }
  }
}
