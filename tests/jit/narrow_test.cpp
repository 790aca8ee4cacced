// Coordinates that are computed in 32 bits where they fit: values are those of 64 bits, whatever the extents and scalars.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

using number = std::int64_t;

number floor_mod(number a, number b) {
  if (b == 0) return 0;
  const number r = b == -1 ? 0 : a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
number floor_div(number a, number b) {
  if (b == 0) return 0;
  const number q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/// The elements of `x` beside those of the function of row and column.
void check(const char* what, const ndarray& x, const std::function<double(number, number)>& f) {
  INFO(what);
  const std::vector<double> got = x.astype(float64).to_vector<double>();
  const number height = x.shape(0), width = x.shape(1);
  number wrong = 0;
  for (number i = 0; i < height; ++i)
    for (number j = 0; j < width; ++j) wrong += got[static_cast<std::size_t>(i * width + j)] != f(i, j);
  CHECK(wrong == 0);
}

std::string text_of(const ndarray& x) { return explain(x); }

constexpr number height = 37, width = 300;

}  // namespace

TEST_CASE("narrow numbers: what is made of coordinates has the values of 64 bits") {
  const ndarray i = arange(height)(_, newaxis), j = arange(width);
  // Around the ends of 32 bits, of the ranges that plans know, and beyond them.
  for (const number k : std::vector<number>{0, 1, 2, 3, 7, 255, 256, 511, 512, 46340, 46341, 65535, 65536, (1 << 30),
                                            INT32_MAX, number{INT32_MAX} + 1, number{1} << 33, number{1} << 53})
    for (const number c : {k, -k}) {
      CAPTURE(c);
      check("sum", ((i + j + c) < 300).astype(float32), [=](number a, number b) { return a + b + c < 300; });
      check("difference", ((i - j) > c - 20).astype(float32), [=](number a, number b) { return a - b > c - 20; });
      check("product", (i * c < j * 40).astype(float32), [=](number a, number b) { return a * c < b * 40; });
      check("remainder", ((i * 9 + j) % c == 1).astype(int8),
            [=](number a, number b) { return floor_mod(a * 9 + b, c) == 1; });
      check("quotient", floor_divide(j - 150, c).astype(float32) + i.astype(float32),
            [=](number a, number b) { return double(float(floor_div(b - 150, c)) + float(a)); });
      check("selection", where((i + j) % 3 == 0, j - c, c + i).astype(float64),
            [=](number a, number b) { return double((a + b) % 3 == 0 ? b - c : c + a); });
    }
  check("squares", (square(i - 18) + square(j - 150) < 9000).astype(float32),
        [](number a, number b) { return (a - 18) * (a - 18) + (b - 150) * (b - 150) < 9000; });
  check("squares of squares", (square(square(j * 100)) > square(square(i * 811))).astype(float32),
        [](number a, number b) {
          const auto fourth = [](number x) {
            return static_cast<std::uint64_t>(x * x) * static_cast<std::uint64_t>(x * x);
          };
          return static_cast<number>(fourth(b * 100)) > static_cast<number>(fourth(a * 811));
        });
  check("bits", (((i ^ j) & 5) == 4).astype(float32), [](number a, number b) { return ((a ^ b) & 5) == 4; });
  check("extrema", (maximum(i, j) - minimum(i, j) - abs(i - j)).astype(float32), [](number, number) { return 0.0; });
  check("signs", sign(i - 5 - (j % 11)).astype(int16), [](number a, number b) {
    const number s = a - 5 - b % 11;
    return double((s > 0) - (s < 0));
  });
}

TEST_CASE("narrow numbers: narrower arrays beside coordinates, and results of 64 bits") {
  const ndarray j = arange(width), i = arange(height)(_, newaxis);
  for (const dtype type : {bool_, int8, uint8, int16, uint16, int32, uint32}) {
    CAPTURE(std::string(name(type)));
    ndarray label = (arange(height) * 7 % (is_bool(type) ? 2 : 100)).astype(type);
    eval(label);
    const std::vector<double> of = label.astype(float64).to_vector<double>();
    check("one-hot", (label(_, newaxis) == j).astype(float32),
          [&](number a, number b) { return of[static_cast<std::size_t>(a)] == double(b); });
    check("in 64 bits too", (label(_, newaxis) + j) * (label(_, newaxis) + j < 50), [&](number a, number b) {
      const double s = of[static_cast<std::size_t>(a)] + double(b);
      return s < 50 ? s : 0;
    });
  }
  // A coordinate as an index, as a number of 64 bits and in a comparison.
  ndarray table = arange(1000) * 3;
  eval(table);
  const ndarray at = i + j;
  check("index", where(at % 2 == 0, table.take(at), at), [](number a, number b) {
    const number s = a + b;
    return double(s % 2 ? s : 3 * s);
  });
  CHECK(sum(where((i + j) % 2 == 0, i * j, 0)).item<number>() == [] {
    number s = 0;
    for (number a = 0; a < height; ++a)
      for (number b = 0; b < width; ++b) s += (a + b) % 2 == 0 ? a * b : 0;
    return s;
  }());
  CHECK(argmax((i * 1000 - square(j - 77)).reshape({-1})).item<number>() == (height - 1) * width + 77);
}

TEST_CASE("narrow numbers: a plan is used again only with scalars of as many bits") {
  const ndarray i = arange(height)(_, newaxis), j = arange(width);
  for (int round = 0; round < 2; ++round)
    for (const number c : {number{5}, number{6}, number{100000000}, number{1} << 40, number{-3}, number{7}})
      check("the same line", ((i * c + j) % 8 == 3).astype(float32),
            [=](number a, number b) { return floor_mod(a * c + b, 8) == 3; });
}

TEST_CASE("narrow numbers: explain shows in what they are computed") {
  const ndarray i = arange(height)(_, newaxis), j = arange(width);
  CHECK(text_of(((i + j) % 2 == 0).astype(float32)).find("remainder") != std::string::npos);
  CHECK(text_of(((i + j) % 2 == 0).astype(float32)).find(": int32") != std::string::npos);
  // Too large, and nothing but a result of 64 bits.
  CHECK(text_of(((i + (number{1} << 40)) % 2 == 0).astype(float32)).find(": int32") == std::string::npos);
  CHECK(text_of(i + j).find(": int32") == std::string::npos);
}

TEST_CASE("narrow numbers: what reductions read") {
  const ndarray i = arange(height)(_, newaxis), j = arange(width);
  const auto agrees = [](const char* what, const ndarray& x, const std::function<number(number, number)>& f,
                         const std::function<number(number, number)>& join) {
    INFO(what);
    CHECK(x.dtype() == int64);
    const std::vector<number> got = x.to_vector<number>();
    number wrong = 0;
    for (number a = 0; a < height; ++a) {
      number e = f(a, 0);
      for (number b = 1; b < width; ++b) e = join(e, f(a, b));
      wrong += got[static_cast<std::size_t>(a)] != e;
    }
    CHECK(wrong == 0);
  };
  const auto add = [](number a, number b) { return a + b; };
  const auto larger = [](number a, number b) { return a > b ? a : b; };
  // Values within 16 bits, within 32, and beyond both; sums that leave 32 bits.
  for (const number c : std::vector<number>{1, 100, 109, 110, 32767, 65536, 7000000, number{1} << 24, number{1} << 31,
                                            number{1} << 40}) {
    CAPTURE(c);
    agrees(
        "products", sum((i + j) * c, 1), [=](number a, number b) { return (a + b) * c; }, add);
    agrees(
        "largest", max(j * c - i * 3, 1), [=](number a, number b) { return b * c - a * 3; }, larger);
    agrees(
        "bits", sum((i ^ j) & c, 1), [=](number a, number b) { return (a ^ b) & c; }, add);
    const ndarray both = (i ^ j) & c;
    ndarray sums = sum(both, 1), most = max(both, 1);
    eval(sums, most, both);
    CHECK(array_equal(sums, sum(both.copy(), 1)));
    CHECK(array_equal(most, max(both.copy(), 1)));
  }
}

TEST_CASE("narrow numbers: results that are made of narrower arrays and widened at last") {
  constexpr number n = 10007;
  for (const dtype t : {uint8, int8, uint16, int16, int32, bool_}) {
    CAPTURE(name(t));
    const ndarray x = (arange(n) * 7919 - 30000).astype(t).copy();
    eval(x);
    const std::vector<std::int64_t> in = x.astype(int64).to_vector<std::int64_t>();
    const ndarray w = x.astype(int64);
    const auto agrees = [&](const char* what, const ndarray& y, const std::function<number(number)>& f) {
      INFO(what);
      CHECK(y.dtype() == int64);
      const std::vector<std::int64_t> got = y.to_vector<std::int64_t>();
      number wrong = 0;
      for (std::size_t k = 0; k < got.size(); ++k) wrong += got[k] != f(in[k]);
      CHECK(wrong == 0);
    };
    for (const number c : std::vector<number>{1, 3, 255, 256, 32767, 32768, 65537, INT32_MAX, number{1} << 33}) {
      CAPTURE(c);
      agrees("polynomial", (w * w + w * c) * 3 - c, [=](number a) { return (a * a + a * c) * 3 - c; });
      agrees("digits", floor_divide(w + c, 7) * 100 + (w + c) % 7,
             [=](number a) { return floor_div(a + c, 7) * 100 + floor_mod(a + c, 7); });
      agrees("bits", ((w >> 2) & 1) + ((w >> 1) & 1) + ((w ^ c) & 1),
             [=](number a) { return ((a >> 2) & 1) + ((a >> 1) & 1) + ((a ^ c) & 1); });
      agrees("choice", where(w > c, w - c, w + c) * 2 + 1, [=](number a) { return (a > c ? a - c : a + c) * 2 + 1; });
    }
    // On the host; others have their own rules.
    if (x.device() == device("cpu") && itemsize(t) == 1)
      CHECK(text_of((w >> 2) + (w & 1) + (w ^ 3)).find(": int16") != std::string::npos);
  }
  const ndarray choice = where(arange(n).astype(uint8) > 9, 149, 138).astype(uint8);
  if (choice.device() == device("cpu")) CHECK(text_of(choice).find("select r") != std::string::npos);
}
