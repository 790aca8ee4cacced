// Quotients by a number: compiled loops multiply by its reciprocal and correct, with the bits of the division.
#include <doctest/doctest.h>

#include <bit>
#include <complex>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "jit/cpu/compiled_kernels.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter_test::compiled_kernels;
using sinter_test::on_host;

namespace {

template <class T>
bool same(T a, T b) {
  using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return (a != a && b != b) || std::bit_cast<word>(a) == std::bit_cast<word>(b);
}

/// By the processor's division, whatever the compiler knows.
template <class T>
T quotient(T a, T b) {
  volatile T x = a, y = b;
  return x / y;
}

template <class T>
void check_all(const std::vector<T>& numbers, T by) {
  CAPTURE(by);
  const ndarray x = on_host(array(numbers)), y = on_host(array(std::vector<T>{by}));
  const std::vector<T> plain = (x / y).template to_vector<T>(), weak = (x / by).template to_vector<T>();
  const std::vector<T> among = (2 - (x / by) * 1).template to_vector<T>();  // of a longer kernel
  ndarray over = on_host(array(numbers));
  over /= by;
  const std::vector<T> there = over.template to_vector<T>();
  int wrong = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const T is = quotient(numbers[k], by);
    wrong += !same(plain[k], is) + !same(weak[k], is) + !same(there[k], is) + !same<T>(among[k], T(2) - is);
  }
  CHECK(wrong == 0);
}

template <class T>
void check_quotients() {
  using limits = std::numeric_limits<T>;
  std::mt19937_64 random(7);
  std::vector<T> plain, few;
  for (int k = 0; k < 3000; ++k)
    plain.push_back(static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * 1000));
  const T extremes[] = {limits::infinity(),       -limits::infinity(),   limits::quiet_NaN(), limits::max(),
                        limits::lowest(),         limits::min(),         -limits::min(),      limits::denorm_min(),
                        3 * limits::denorm_min(), limits::min() * T(1.5)};
  for (const T by : {T(3), T(255), T(10), T(0.1), T(7.3), T(1), T(2), T(-3), T(1e30), T(1e-30), limits::max(),
                     limits::min(), limits::denorm_min(), T(0), T(-0.0), limits::infinity(), limits::quiet_NaN()}) {
    check_all(plain, by);
    // Zeros of both signs, numbers that are divided without a rest and those beside them.
    std::vector<T> exact;
    for (int k = 0; k < 500; ++k) {
      const T whole = T(k - 250) * by;
      for (const T x : {whole, std::nextafter(whole, T(1e30)), std::nextafter(whole, T(-1e30)), k % 2 ? T(0) : T(-0.0)})
        exact.push_back(x);
    }
    check_all(exact, by);
    std::vector<T> zeros = plain;
    for (std::size_t k = 0; k < zeros.size(); k += 5) zeros[k] = k % 2 ? T(0) : T(-0.0);
    check_all(zeros, by);
    // One number for which the short form is none among many for which it is.
    for (const T x : extremes)
      for (const std::size_t at : {std::size_t{0}, std::size_t{1500}, plain.size() - 1}) {
        std::vector<T> some = plain;
        some[at] = x;
        check_all(some, by);
      }
    // Subnormal quotients, halfway between two.
    few.clear();
    for (int k = 0; k < 200; ++k) few.push_back(T(k) * limits::denorm_min() * T(k % 3 + 1));
    check_all(few, by);
  }
}

/// Numbers whose quotients by `by` are subnormal, most of them close to halfway between two, among others of all sizes.
template <class T>
std::vector<T> small_numbers(T by, std::mt19937_64& random) {
  using limits = std::numeric_limits<T>;
  std::vector<T> all;
  for (int k = 0; k < 8000; ++k) {
    const long double place = static_cast<long double>(random() >> (64 - 1 - random() % limits::digits)) + 0.5L;
    const T x = static_cast<T>(std::ldexp(place * by, limits::min_exponent - limits::digits));
    const T sign = k % 3 ? T(1) : T(-1);
    for (const T y : {x, std::nextafter(x, T(1)), std::nextafter(x, T(-1))}) all.push_back(sign * y);
    all.push_back(sign * std::ldexp(T(1) + T(random() % 1000) / 1024,
                                    static_cast<int>(random() % 200) + limits::min_exponent - limits::digits));
    if (k % 50 == 0)
      all.push_back(std::ldexp(sign, static_cast<int>(random() % (2 * limits::max_exponent)) - limits::max_exponent));
    if (k % 97 == 0)
      all.push_back(T(k % 2 ? 1 : -1) * limits::infinity()), all.push_back(limits::quiet_NaN()),
          all.push_back(sign * T(0));
  }
  return all;
}

template <class T>
void check_small_quotients() {
  std::mt19937_64 random(11);
  const T below_two = std::nextafter(T(2), T(0)), above_one = std::nextafter(T(1), T(2)),
          most = sizeof(T) == 4 ? T(0x1p40) : T(0x1p400);
  for (const T by : {T(1), T(3), T(0.75), T(1.1), T(123.456), T(1e-9), T(1e9), below_two, above_one, most, 1 / most,
                     2 * most, T(-3)}) {
    const std::vector<T> numbers = small_numbers(by, random);
    for (int turn = 0; turn < 2; ++turn) check_all(numbers, by);
  }
  // Rows, each with a number of its own.
  const std::int64_t rows = 40, length = 500;
  std::vector<T> all, by;
  for (std::int64_t r = 0; r < rows; ++r) {
    by.push_back(
        static_cast<T>(std::ldexp(1 + static_cast<double>(random() >> 11) * 0x1p-53, static_cast<int>(r) % 20 - 10)));
    const std::vector<T> row = small_numbers(by.back(), random);
    all.insert(all.end(), row.begin(), row.begin() + length);
  }
  const ndarray x = on_host(reshape(array(all), {rows, length})), y = on_host(reshape(array(by), {rows, 1}));
  for (int turn = 0; turn < 3; ++turn) {
    const std::vector<T> is = (x / y).template to_vector<T>();
    int wrong = 0;
    for (std::size_t k = 0; k < all.size(); ++k) wrong += !same(is[k], quotient(all[k], by[k / length]));
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("float32 quotients that are subnormal are those of the division, bit for bit") {
  const compiled_kernels compiled;
  check_small_quotients<float>();
}

TEST_CASE("float64 quotients that are subnormal are those of the division, bit for bit") {
  const compiled_kernels compiled;
  check_small_quotients<double>();
}

TEST_CASE("float32 quotients by a number are those of the division, bit for bit") {
  const compiled_kernels compiled;
  check_quotients<float>();
}

TEST_CASE("float32 quotients whose first approximation is rounded to another number are corrected") {
  const compiled_kernels compiled;
  std::vector<float> numbers;
  for (int k = 0; k < 1000; ++k) numbers.push_back(std::ldexp(0x1.76a2b2p+0f, k % 20 - 10));
  check_all(numbers, 0x1.3e21e6p+0f);
}

TEST_CASE("quotients that take the place of what is divided are those of the division where one number is special") {
  const compiled_kernels compiled;
  std::vector<double> numbers;
  for (int k = 0; k < 300000; ++k) numbers.push_back(k % 5000 == 77 ? 0x1p-1070 : 1 + k * 0.37);
  for (const double by : {3.0, 1000.0}) {
    ndarray x = on_host(array(numbers));
    x /= by;
    const std::vector<double> is = x.to_vector<double>();
    int wrong = 0;
    for (std::size_t k = 0; k < numbers.size(); ++k) wrong += !same(is[k], quotient(numbers[k], by));
    CHECK(wrong == 0);
  }
}

TEST_CASE("float64 quotients by a number are those of the division, bit for bit") {
  const compiled_kernels compiled;
  check_quotients<double>();
}

TEST_CASE(
    "quotients by numbers that a kernel computes, in rows, after sums and where indices are read have the division's "
    "bits") {
  const compiled_kernels compiled;
  const ndarray x = on_host(reshape(sin(arange(6000.0)), {20, 300})), index = on_host(arange(300) * 7 % 300);
  const ndarray by = on_host(array(std::vector<double>{5.7}));
  const auto one_by_one = [](const ndarray& a, double b) {
    std::vector<double> all = a.to_vector<double>();
    for (double& v : all) v = quotient(v, b);
    return reshape(array(all, {.device = "cpu"}), a.shape());
  };
  CHECK(array_equal(x / (by + 1.25), one_by_one(x, 6.95)));
  CHECK(array_equal(sum(x, 0) / 20, one_by_one(on_host(sum(x, 0)), 20)));
  CHECK(array_equal(sum(x / 3, 1), sum(one_by_one(x, 3), 1)));
  CHECK(array_equal(take(x, index, 1) / 1.7, one_by_one(on_host(take(x, index, 1)), 1.7)));
}

TEST_CASE("quotients and rests of all numbers of up to 16 bits without a sign by one number are exact") {
  const compiled_kernels compiled;
  for (const dtype t : {uint8, uint16}) {
    const int all = t == uint8 ? 256 : 65536;
    const ndarray x = on_host(arange(all).astype(t));
    std::vector<int> numbers{256, 257, 1000, 32767, 32768, 32769, 65534, 65535};
    for (int by = 0; by < 256; ++by)
      if (t == uint8 || by < 11 || by > 125) numbers.push_back(by);
    for (const int by : numbers) {
      if (by >= all) continue;
      CAPTURE(by);
      const ndarray d = on_host(full({1}, by).astype(t));
      const std::vector<std::int32_t> quotients = floor_divide(x, d).astype(int32).to_vector<std::int32_t>(),
                                      rests = (x % d).astype(int32).to_vector<std::int32_t>();
      int wrong = 0;
      for (int k = 0; k < all; ++k) {
        const auto at = static_cast<std::size_t>(k);
        wrong += quotients[at] != (by == 0 ? 0 : k / by) || rests[at] != (by == 0 ? 0 : k % by);
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE(
    "quotients of whole numbers by one number, in several loops of a kernel, compile and are those of each operation") {
  const auto rests = [](bool at_once, bool in_steps) {
    ndarray k = on_host(astype(arange(3000) * 7 % 1000, int32)), t = k % 5;
    const auto end = [&](ndarray& x) {
      if (at_once) eval(x);
    };
    if (in_steps) {  // becomes a loop, with what is before and behind it
      for (int step = 0; step < 60; ++step) {
        const ndarray next = where(k % 3 == 0, t, k + 1);
        t = where(t / 7 > 2.0, 0, t + 1) + k % 3;
        k = next;
        end(t), end(k);
      }
      return std::vector<ndarray>{k, t};
    }
    ndarray x = special::gammaln(astype(k % 3 + k / 3 + 1, float32));  // a call for each block
    end(x);
    ndarray y = special::gammaln(x * x + 1 + astype(k % 3, float32));
    end(y);
    return std::vector<ndarray>{astype(y, int32) % 3 + k % 3};
  };
  for (const bool in_steps : {false, true}) {
    CAPTURE(in_steps);
    std::vector<ndarray> stored = rests(true, in_steps), all;
    {
      const compiled_kernels compiled;
      all = rests(false, in_steps);
      if (all.size() == 2) eval(all[0], all[1]);
      else eval(all[0]);
    }
    for (std::size_t k = 0; k < all.size(); ++k) CHECK(array_equal(all[k], stored[k]));
  }
}

namespace {

/// Smith's quotient as the C source of NumPy has it.
template <class R>
std::complex<R> smith(std::complex<R> a, std::complex<R> b) {
  const R br = std::abs(b.real()), bi = std::abs(b.imag());
  volatile R ratio, scale, t, u;
  if (br >= bi) {
    if (br == 0 && bi == 0) return {quotient(a.real(), br), quotient(a.imag(), br)};
    ratio = b.imag() / b.real();
    t = b.imag() * ratio;
    scale = R(1) / (b.real() + t);
    t = a.imag() * ratio;
    u = a.real() * ratio;
    return {(a.real() + t) * scale, (a.imag() - u) * scale};
  }
  ratio = b.real() / b.imag();
  t = b.real() * ratio;
  scale = R(1) / (b.imag() + t);
  t = a.real() * ratio;
  u = a.imag() * ratio;
  return {(t + a.imag()) * scale, (u - a.real()) * scale};
}

template <class R>
void check_complex() {
  using limits = std::numeric_limits<R>;
  const R parts[] = {
      R(0), R(-0.0), R(1), R(-2.5), R(3e-7), limits::min(), limits::max(), limits::infinity(), limits::quiet_NaN()};
  std::vector<std::complex<R>> a, b;
  for (const R p : parts)
    for (const R q : parts)
      for (const R r : parts)
        for (const R s : parts) a.emplace_back(p, q), b.emplace_back(r, s);
  std::mt19937_64 random(3);
  const auto part = [&] { return static_cast<R>(static_cast<double>(random() >> 11) * 0x1p-52 - 1); };
  for (int k = 0; k < 4000; ++k) a.emplace_back(part(), part()), b.emplace_back(part(), part());
  const std::vector<std::complex<R>> is =
      on_host(on_host(array(a)) / on_host(array(b))).template to_vector<std::complex<R>>();
  int wrong = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const std::complex<R> should = smith(a[k], b[k]);
    wrong += !same(is[k].real(), should.real()) + !same(is[k].imag(), should.imag());
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("quotients of complex numbers are Smith's for all signs, zeros and infinities") {
  check_complex<float>();
  check_complex<double>();
}
