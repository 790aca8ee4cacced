// Loops that take several elements at a time give what one element after the other gives: division by one number, the
// modulus, rows of every width, rolls, conversions of float16.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "backends/cpu/addition_order.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/subscript.hpp"
#include "sinter/take.hpp"

namespace {

using namespace sinter;
using std::int64_t;

template <class T>
ndarray vector_of(const std::vector<T>& v) {
  return array(v, {.device = device("cpu")});
}

/// Dividends and divisors at the ends and in the middle of a type, and random ones.
template <class T>
std::vector<T> interesting(int random, unsigned seed) {
  using limits = std::numeric_limits<T>;
  std::vector<T> all;
  for (int k = 0; k < 40; ++k)
    for (const T base : {T(0), limits::min(), limits::max(), T(limits::max() / 2), T(limits::max() / 3)})
      all.push_back(T(static_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(k - 20)));
  for (int bit = 0; bit < limits::digits; ++bit)
    for (const int near : {-1, 0, 1}) all.push_back(T((T(1) << bit) + T(near)));
  std::mt19937_64 r(seed);
  for (int k = 0; k < random; ++k) all.push_back(T(r() >> (r() % 64)));
  return all;
}

template <class T>
struct divided {
  T quotient, remainder, rest;
};
template <class T>
divided<T> divide(T a, T b) {
  using wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  if (b == 0) return {0, 0, 0};
  const wide x = a, y = b, q = x / y, m = x % y;
  const bool down = m != 0 && (m < 0) != (y < 0);
  return {T(q - (down ? 1 : 0)), T(down ? m + y : m), T(m)};
}

template <class T>
void check_division(int random) {
  const std::vector<T> dividends = interesting<T>(random, 1);
  const ndarray x = vector_of(dividends);
  int64_t wrong = 0;
  for (const T d : interesting<T>(random / 50, 2)) {
    const ndarray by = full({x.size()}, d, {.dtype = x.dtype(), .device = x.device()});
    const auto q = floor_divide(x, by).template to_vector<T>(), m = remainder(x, by).template to_vector<T>(),
               f = fmod(x, by).template to_vector<T>();
    for (std::size_t k = 0; k < dividends.size(); ++k) {
      const divided<T> right = divide(dividends[k], d);
      wrong += q[k] != right.quotient || m[k] != right.remainder || f[k] != right.rest;
    }
  }
  CHECK(wrong == 0);
}

/// The sum of one of `rows` rows in the order of additions.
template <class T>
T row_sum(const T* x, int n, int rows) {
  return *order_test::joined(std::vector<T>(x, x + n), jit::row_order(rows, n), [](T a, T b) { return a + b; });
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
void check_rows(int width) {
  const int rows = 77;
  std::mt19937 r(static_cast<unsigned>(width));
  std::normal_distribution<double> draw;
  std::vector<T> data(static_cast<std::size_t>(rows * width)), sums;
  for (T& v : data) v = static_cast<T>(draw(r) * std::pow(10.0, draw(r)));
  for (int k = 0; k < rows; ++k) sums.push_back(row_sum(data.data() + k * width, width, rows));
  const ndarray x = reshape(vector_of(data), {rows, width});
  const ndarray twice = repeat(x, 2, 1), strided = twice(slice(idx::_, idx::_), slice(0, idx::_, 2));
  const ndarray apart = concatenate({x, x}, 1)(slice(idx::_, idx::_), slice(0, width));
  CHECK(same_bits(sum(x, 1).to_vector<T>(), sums));
  CHECK(same_bits(sum(strided, 1).to_vector<T>(), sums));
  CHECK(same_bits(sum(apart, 1).to_vector<T>(), sums));
  CHECK(same_bits(sum(x * 1, 1).to_vector<T>(), sums));
  std::vector<T> most;
  std::vector<int64_t> place;
  for (int k = 0; k < rows; ++k) {
    const T* row = data.data() + k * width;
    const T* best = std::max_element(row, row + width);
    most.push_back(*best);
    place.push_back(best - row);
  }
  CHECK(same_bits(max(x, 1).to_vector<T>(), most));
  CHECK(same_bits(max(strided, 1).to_vector<T>(), most));
  CHECK(same_bits(argmax(x, 1).to_vector<int64_t>(), place));
  CHECK(same_bits(argmax(strided, 1).to_vector<int64_t>(), place));
  CHECK(same_bits(argmin(-x, 1).to_vector<int64_t>(), place));
  CHECK(same_bits(var(x, 1).to_vector<T>(), var(strided, 1).to_vector<T>()));
  CHECK(any(x == max(x), 1).to_vector<bool>() == any(strided == max(x), 1).to_vector<bool>());
}

}  // namespace

TEST_CASE("division by one number is exact for every dividend") {
  check_division<std::int8_t>(400);
  check_division<std::uint8_t>(400);
  check_division<std::int16_t>(2000);
  check_division<std::uint16_t>(2000);
  check_division<std::int32_t>(2000);
  check_division<std::uint32_t>(2000);
  check_division<std::int64_t>(2000);
  check_division<std::uint64_t>(2000);
}

TEST_CASE("division of bytes by every byte") {
  std::vector<std::int8_t> all;
  for (int k = -128; k < 128; ++k) all.push_back(static_cast<std::int8_t>(k));
  const ndarray x = vector_of(all);
  int wrong = 0;
  for (int d = -128; d < 128; ++d) {
    const ndarray by = full({256}, d, {.dtype = int8, .device = x.device()});
    const auto q = floor_divide(x, by).to_vector<std::int8_t>(), m = remainder(x, by).to_vector<std::int8_t>();
    for (std::size_t k = 0; k < 256; ++k) {
      const auto right = divide(all[k], static_cast<std::int8_t>(d));
      wrong += q[k] != right.quotient || m[k] != right.remainder;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the modulus of complex numbers is within an ulp of the C library's") {
  std::mt19937_64 r(3);
  std::vector<double> parts{0, -0.0, 1, 3, 4, 5e-324, 1e-310, 1e-200, 1e200, 1e308, 1.7e308, HUGE_VAL, -HUGE_VAL, NAN};
  for (int k = 0; k < 200; ++k) {
    const double sign = r() % 2 ? 1 : -1;
    parts.push_back(sign *
                    std::ldexp(1 + static_cast<double>(r() >> 12) * 0x1p-52, static_cast<int>(r() % 2100) - 1060));
    parts.push_back(sign * std::ldexp(1 + static_cast<double>(r() >> 12) * 0x1p-52, static_cast<int>(r() % 60) - 30));
  }
  std::vector<std::complex<double>> z;
  for (const double re : parts)
    for (const double im : parts) z.emplace_back(re, im);
  const auto size = absolute(vector_of(z)).to_vector<double>();
  int64_t wrong = 0;
  for (std::size_t k = 0; k < z.size(); ++k) {
    const double right = std::hypot(z[k].real(), z[k].imag()), mine = size[k];
    const bool fits = std::isnan(right) ? std::isnan(mine)
                                        : mine == right || mine == std::nextafter(right, 0.0) ||
                                              mine == std::nextafter(right, HUGE_VAL);
    wrong += !fits;
  }
  CHECK(wrong == 0);
  const auto exact = absolute(array({std::complex<double>(3, 4), std::complex<double>(-5, 12)})).to_vector<double>();
  CHECK(exact == std::vector<double>{5, 13});
}

TEST_CASE("rows of every width: sums in the order of additions, extremes and their places, in every layout") {
  for (int width = 1; width <= 140; ++width) {
    INFO("width " << width);
    check_rows<double>(width);
    check_rows<float>(width);
  }
  for (const int width : {200, 255, 256, 257, 300, 640, 2048}) {
    INFO("width " << width);
    check_rows<double>(width);
    check_rows<float>(width);
  }
}

TEST_CASE("places of NaN, zeros, infinities and bytes in rows") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const int width : {9, 20, 64, 65, 130, 700}) {
    INFO("width " << width);
    const auto w = static_cast<std::size_t>(width);
    std::vector<double> rows(5 * w, -inf);
    rows[w + w - 1] = nan;                                       // row 1
    rows[2 * w + w / 2] = nan, rows[2 * w + w - 1] = inf;        // row 2
    for (std::size_t k = 3 * w; k < 4 * w; ++k) rows[k] = -0.0;  // row 3
    rows[4 * w - 1] = 0.0;
    for (std::size_t k = 4 * w; k < 5 * w; ++k) rows[k] = inf;  // row 4
    const ndarray x = reshape(vector_of(rows), {5, width});
    CHECK(argmax(x, 1).to_vector<int64_t>() == std::vector<int64_t>{0, width - 1, width / 2, 0, 0});
    CHECK(argmin(x, 1).to_vector<int64_t>() == std::vector<int64_t>{0, width - 1, width / 2, 0, 0});
    CHECK(argmax(x.astype(float16), 1).to_vector<int64_t>() == argmax(x, 1).to_vector<int64_t>());
    const ndarray flags = equal(x, inf);
    CHECK(argmax(flags, 1).to_vector<int64_t>() == std::vector<int64_t>{0, 0, width - 1, 0, 0});
    CHECK(argmin(flags, 1).to_vector<int64_t>() == std::vector<int64_t>{0, 0, 0, 0, 0});
    CHECK(max(flags.astype(int8), 1).to_vector<std::int8_t>() == std::vector<std::int8_t>{0, 0, 1, 0, 1});
  }
}

TEST_CASE("rolls are the elements that they name, alone and in expressions, for every dtype") {
  for (const dtype t : {bool_, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128}) {
    INFO("dtype " << name(t));
    const ndarray x = reshape(arange(60 * 70) % 101, {60, 70}).astype(t);
    const auto numbers = [](const ndarray& a) { return a.astype(complex128).to_vector<std::complex<double>>(); };
    const auto picked = [&](int64_t down, int64_t right) {
      const ndarray rows = remainder(arange(60) - down, 60), columns = remainder(arange(70) - right, 70);
      return take(take(x, rows, 0).copy(), columns, 1).copy();
    };
    CHECK(numbers(roll(x, 1, 0)) == numbers(picked(1, 0)));
    CHECK(numbers(roll(x, -3, 1)) == numbers(picked(0, -3)));
    CHECK(numbers(roll(x, {59, 69}, axes{0, 1})) == numbers(picked(59, 69)));
    CHECK(numbers(roll(x, 71)) == numbers(reshape(roll(ravel(x).copy(), 71, 0), {60, 70})));
    if (t == bool_) continue;
    const ndarray sum4 = roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1);
    CHECK(numbers(sum4) == numbers(picked(1, 0) + picked(-1, 0) + picked(0, 1) + picked(0, -1)));
    // A part of a roll, a roll of a part, and one that is written into what it is read from.
    CHECK(numbers(roll(x, 7, 1)(slice(2, 50), slice(3, 60))) == numbers(picked(0, 7)(slice(2, 50), slice(3, 60))));
    ndarray y = x.copy();
    y(slice(0, 30)) = roll(y, 5, 0)(slice(0, 30));
    CHECK(numbers(y(slice(0, 30))) == numbers(picked(5, 0)(slice(0, 30))));
    CHECK(numbers(y(slice(30, 60))) == numbers(x(slice(30, 60))));
  }
}

TEST_CASE("every float16 becomes the float32 that it is, and float32 rounds to the nearest float16") {
  std::vector<float> values;
  std::mt19937 r(5);
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const int exponent = static_cast<int>(bits >> 10);
    const float f =
        std::ldexp(static_cast<float>(bits & 1023) + (exponent ? 1024.0f : 0.0f), std::max(exponent, 1) - 25);
    values.push_back(f);
    values.push_back(-f);
  }
  const ndarray x = vector_of(values);
  CHECK(same_bits(x.astype(float16).copy().astype(float32).to_vector<float>(), values));
  // Halfway between two neighbours: to the even one.
  std::vector<float> between, nearest;
  for (std::size_t k = 0; k + 2 < values.size(); k += 2) {
    between.push_back((values[k] + values[k + 2]) / 2);
    nearest.push_back(k / 2 % 2 == 0 ? values[k] : values[k + 2]);
  }
  CHECK(same_bits(vector_of(between).astype(float16).copy().astype(float32).to_vector<float>(), nearest));
  CHECK(vector_of(std::vector<float>{65519.0f, 65520.0f, -1e30f}).astype(float16).astype(float32).to_vector<float>() ==
        std::vector<float>{65504.0f, HUGE_VALF, -HUGE_VALF});
}

TEST_CASE("long blocks, rows that repeat, and reading beyond a block give what short ones give") {
  for (const int64_t n : {511, 512, 4095, 8191, 8193, 20011}) {
    const ndarray x = arange(n).astype(int32), expected = arange(n) * 3 + 1;
    for (int k = 0; k < 3; ++k) CHECK(all(equal((x * 3 + 1).astype(int64), expected)).item<bool>());
  }
  for (const int64_t width : {1, 2, 3, 5, 7, 16, 50, 100, 127}) {
    const ndarray x = reshape(arange(333 * width), {333, width}).copy(), row = arange(width).copy();
    const ndarray whole = (x + row).copy(), sums = sum(x * row, 1).copy();
    const auto v = whole.to_vector<int64_t>();
    int64_t wrong = 0;
    for (std::size_t k = 0; k < v.size(); ++k) wrong += v[k] != int64_t(k) + int64_t(k) % width;
    CHECK(wrong == 0);
    int64_t last = 0;
    for (int64_t c = 0; c < width; ++c) last += (332 * width + c) * c;
    CHECK(sums(332).item<int64_t>() == last);
  }
}
