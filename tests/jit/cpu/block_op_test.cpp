// Block operations: special values, wrap-around, conversions, half types, complex branch cuts.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "jit/cpu/block.hpp"

// The complex functions that CUDA kernels get, compiled for the host.
#define SN_GENERIC_COMPLEX
#include "jit/prelude/base.h"
#include "jit/prelude/float.h"
#include "jit/prelude/half.h"
#include "jit/prelude/convert.h"
#include "jit/prelude/complex.h"
#include "jit/prelude/complex_math.h"

using namespace sinter;
using namespace sinter::jit;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr double inf_d = std::numeric_limits<double>::infinity();

/// One lane through a block operation.
template <class R, class A>
R apply(opcode op, dtype type, dtype arg, A a, A b = {}, int* fault = nullptr) {
  alignas(64) A x[lane_multiple], y[lane_multiple];
  alignas(64) R r[lane_multiple];
  for (int l = 0; l < lane_multiple; ++l) x[l] = a, y[l] = b;
  int none = 0;
  block_op f = find_block_op(op, type, arg);
  REQUIRE(static_cast<bool>(f));
  f(r, x, y, nullptr, lane_multiple, fault ? fault : &none);
  return r[5];
}
template <class T>
T apply(opcode op, T a, T b = {}) {
  return apply<T, T>(op, dtype_of<T>, dtype_of<T>, a, b);
}
template <class T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

}  // namespace

TEST_CASE("integers wrap around, also for the lowest value") {
  CHECK(apply<std::int8_t>(opcode::add, 127, 1) == -128);
  CHECK(apply<std::uint16_t>(opcode::multiply, 65535, 65535) == 1);
  CHECK(apply<std::int32_t>(opcode::multiply, 65536, 65536) == 0);
  CHECK(apply<std::int64_t>(opcode::negative, INT64_MIN) == INT64_MIN);
  CHECK(apply<std::int16_t>(opcode::absolute, -32768) == -32768);
  CHECK(apply<std::uint32_t>(opcode::subtract, 0, 1) == 4294967295u);
  CHECK(apply<std::uint8_t>(opcode::negative, 1) == 255);
  CHECK(apply<std::int32_t>(opcode::square, 1 << 16) == 0);
}

TEST_CASE("integer division rounds down, by zero gives 0, lowest by -1 wraps") {
  CHECK(apply<std::int32_t>(opcode::floor_divide, -7, 2) == -4);
  CHECK(apply<std::int32_t>(opcode::remainder, -7, 2) == 1);
  CHECK(apply<std::int32_t>(opcode::remainder, 7, -2) == -1);
  CHECK(apply<std::int32_t>(opcode::fmod, -7, 2) == -1);
  for (auto op : {opcode::floor_divide, opcode::remainder, opcode::fmod}) {
    CHECK(apply<std::int8_t>(op, 5, 0) == 0);
    CHECK(apply<std::int64_t>(op, -5, 0) == 0);
    CHECK(apply<std::uint32_t>(op, 5, 0) == 0);
  }
  CHECK(apply<std::int32_t>(opcode::floor_divide, INT32_MIN, -1) == INT32_MIN);
  CHECK(apply<std::int64_t>(opcode::remainder, INT64_MIN, -1) == 0);
  CHECK(apply<std::int8_t>(opcode::floor_divide, -128, -1) == -128);
  CHECK(apply<std::int32_t>(opcode::reciprocal, 0) == INT32_MIN);
  CHECK(apply<std::int8_t>(opcode::reciprocal, 0) == 0);
  CHECK(apply<std::uint8_t>(opcode::reciprocal, 255) == 0);
  CHECK(apply<std::int16_t>(opcode::reciprocal, -1) == -1);
}

TEST_CASE("bytes are shifted by every count as wider numbers are") {
  int wrong = 0;
  for (int x = 0; x < 256; ++x)
    for (const int by : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 127, 128, 255}) {
      const auto u = static_cast<std::uint8_t>(x), n = static_cast<std::uint8_t>(by);
      const auto i = static_cast<std::int8_t>(x), m = static_cast<std::int8_t>(by);
      const bool inside = by < 8;
      wrong += apply<std::uint8_t>(opcode::left_shift, u, n) != (inside ? (x << by & 255) : 0);
      wrong += apply<std::uint8_t>(opcode::right_shift, u, n) != (inside ? x >> by : 0);
      wrong += apply<std::int8_t>(opcode::left_shift, i, m) != static_cast<std::int8_t>(inside ? x << by : 0);
      wrong += apply<std::int8_t>(opcode::right_shift, i, m) != static_cast<std::int8_t>(i >> (inside ? by : 7));
    }
  CHECK(wrong == 0);
}

TEST_CASE("shifts by the width or more, or by negative counts, give 0 or the sign") {
  CHECK(apply<std::int8_t>(opcode::left_shift, 1, 7) == -128);
  CHECK(apply<std::int8_t>(opcode::left_shift, 1, 8) == 0);
  CHECK(apply<std::int8_t>(opcode::left_shift, 1, -1) == 0);
  CHECK(apply<std::int32_t>(opcode::right_shift, -5, 32) == -1);
  CHECK(apply<std::int32_t>(opcode::right_shift, -5, -1) == -1);
  CHECK(apply<std::int32_t>(opcode::right_shift, 5, 64) == 0);
  CHECK(apply<std::int64_t>(opcode::right_shift, -5, 1) == -3);
  CHECK(apply<std::uint64_t>(opcode::left_shift, 1, 63) == std::uint64_t(1) << 63);
  CHECK(apply<std::uint64_t>(opcode::right_shift, ~std::uint64_t(0), 64) == 0);
}

TEST_CASE("integer power wraps; a negative exponent raises the fault and gives 0") {
  CHECK(apply<std::int8_t>(opcode::power, 3, 5) == static_cast<std::int8_t>(243));
  CHECK(apply<std::uint64_t>(opcode::power, 3, 41) == 18026252303461234787u);
  CHECK(apply<std::int32_t>(opcode::power, 0, 0) == 1);
  CHECK(apply<std::int64_t>(opcode::power, -2, 63) == INT64_MIN);
  int fault = 0;
  CHECK(apply<int, int>(opcode::power, int32, int32, 7, -1, &fault) == 0);
  CHECK(fault == 2);
}

TEST_CASE("bool: + is or, * is and, extremes likewise; - and negative do not exist") {
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      CHECK(apply<bool>(opcode::add, a, b) == (a || b));
      CHECK(apply<bool>(opcode::multiply, a, b) == (a && b));
      CHECK(apply<bool>(opcode::maximum, a, b) == (a || b));
      CHECK(apply<bool>(opcode::bitwise_xor, a, b) == (a != b));
      CHECK(apply<bool>(opcode::less, a, b) == (!a && b));
    }
  CHECK(apply<bool>(opcode::bitwise_not, true) == false);
  CHECK_FALSE(static_cast<bool>(find_block_op(opcode::subtract, bool_, bool_)));
  CHECK_FALSE(static_cast<bool>(find_block_op(opcode::negative, bool_, bool_)));
  CHECK_FALSE(static_cast<bool>(find_block_op(opcode::less, float32, float32)));
  CHECK_FALSE(static_cast<bool>(find_block_op(opcode::sin, int32, int32)));
}

TEST_CASE("maximum and minimum propagate NaN, fmax and fmin ignore it") {
  CHECK(std::isnan(apply(opcode::maximum, nan_value, 1.0f)));
  CHECK(std::isnan(apply(opcode::maximum, 1.0f, nan_value)));
  CHECK(std::isnan(apply(opcode::minimum, 1.0, double(nan_value))));
  CHECK(apply(opcode::fmax, nan_value, 1.0f) == 1.0f);
  CHECK(apply(opcode::fmin, 1.0f, nan_value) == 1.0f);
  CHECK(apply(opcode::maximum, -inf, 1.0f) == 1.0f);
}

TEST_CASE("floor_divide and remainder of floats follow npy_divmod") {
  CHECK(apply(opcode::floor_divide, -7.0, 2.0) == -4.0);
  CHECK(apply(opcode::remainder, -7.0, 2.0) == 1.0);
  CHECK(apply(opcode::remainder, 5.0f, -3.0f) == -1.0f);
  CHECK(same(apply(opcode::remainder, 6.0f, -3.0f), -0.0f));
  CHECK(same(apply(opcode::floor_divide, -0.0f, 3.0f), -0.0f));
  CHECK(apply(opcode::floor_divide, 1.0f, 0.0f) == inf);
  CHECK(std::isnan(apply(opcode::remainder, 1.0f, 0.0f)));
  CHECK(std::isnan(apply(opcode::floor_divide, inf, 1.0f)));
  CHECK(apply(opcode::floor_divide, 1.0, inf_d) == 0.0);
  CHECK(apply(opcode::floor_divide, -1.0, inf_d) == -1.0);
  CHECK(apply(opcode::remainder, -1.0, inf_d) == inf_d);
  CHECK(apply(opcode::floor_divide, 1.0, 0.1) == 9.0);
}

TEST_CASE("special values of rounding, sign, logaddexp, nextafter") {
  CHECK(apply(opcode::rint, 2.5f) == 2.0f);
  CHECK(apply(opcode::rint, -3.5) == -4.0);
  CHECK(same(apply(opcode::rint, -0.4), -0.0));
  CHECK(same(apply(opcode::ceil, -0.5f), -0.0f));
  CHECK(same(apply(opcode::sign, -0.0f), 0.0f));
  CHECK(std::isnan(apply(opcode::sign, nan_value)));
  CHECK(apply(opcode::logaddexp, inf, inf) == inf);
  CHECK(apply(opcode::logaddexp, -inf, -inf) == -inf);
  CHECK(apply(opcode::logaddexp, inf, -inf) == inf);
  CHECK(std::isnan(apply(opcode::logaddexp, nan_value, 1.0f)));
  CHECK(apply(opcode::logaddexp, 0.0, 0.0) == doctest::Approx(std::log(2.0)));
  CHECK(apply(opcode::nextafter, 0.0f, -1.0f) == -std::numeric_limits<float>::denorm_min());
  CHECK(apply<bool>(opcode::signbit, bool_, float32, -0.0f));
}

TEST_CASE("exact results stay exact: roots of cubes, powers, logarithms of powers") {
  for (int k = 1; k < 60; ++k) {
    double cube = double(k) * k * k;
    CHECK(apply(opcode::cbrt, cube) == k);
    CHECK(apply(opcode::cbrt, float(cube)) == float(k));
    CHECK(apply(opcode::power, double(k), 3.0) == cube);
    CHECK(apply(opcode::log2, std::ldexp(1.0, k)) == k);
    CHECK(apply(opcode::exp2, float(k)) == std::ldexp(1.0f, k));
  }
  for (int k = 0; k <= 10; ++k) CHECK(apply(opcode::log10, float(std::pow(10.0, k))) == float(k));
  for (int k = 0; k <= 22; ++k) CHECK(apply(opcode::log10, std::pow(10.0, k)) == k);
}

TEST_CASE("conversion of float to integer is defined out of range, as NumPy on x86-64 gives it") {
  auto to = [](auto sample, double x) {
    using T = decltype(sample);
    T a = apply<T, double>(opcode::cast, dtype_of<T>, float64, x);
    T b = apply<T, float>(opcode::cast, dtype_of<T>, float32, float(x));
    if (double(float(x)) == x || std::isnan(x)) CHECK(a == b);
    T c = sn::cast<T>(x);
    CHECK(a == c);
    return a;
  };
  for (double x : {double(nan_value), inf_d, -inf_d, 1e30, -1e30, 3e9, -3e9}) {
    CHECK(to(int{}, x) == INT32_MIN);
    CHECK(to(short{}, x) == 0);
    CHECK(to((unsigned char){}, x) == 0);
  }
  CHECK(to(short{}, 70000.5) == 4464);
  CHECK(to((signed char){}, -300.7) == -44);
  CHECK(to((unsigned char){}, -1.0) == 255);
  CHECK(to((unsigned short){}, -300.7) == 65236);
  CHECK(to(0u, -1.0) == 4294967295u);
  CHECK(to(0u, 3e9) == 3000000000u);
  CHECK(to(0u, 1e10) == 1410065408u);
  CHECK(to(0u, inf_d) == 0);
  CHECK(to(0ll, 9.3e18) == INT64_MIN);
  CHECK(to(0ll, 3e9) == 3000000000ll);
  CHECK(to(0ull, 1.8e19) == 18000000000000000000ull);
  CHECK(to(0ull, -1.0) == 18446744073709551615ull);
  CHECK(to(0ull, double(nan_value)) == 9223372036854775808ull);
  CHECK(to(0ull, inf_d) == 0);
  CHECK(to(0, -2147483648.0) == INT32_MIN);
  CHECK(to(0, -2147483648.9) == INT32_MIN);
  CHECK(to(0, 2147483647.9) == INT32_MAX);
  CHECK(apply<bool, float>(opcode::cast, bool_, float32, nan_value));
  CHECK_FALSE(apply<bool, float>(opcode::cast, bool_, float32, -0.0f));
  CHECK(apply<bool, std::complex<float>>(opcode::cast, bool_, complex64, {0, 1}));
  CHECK(apply<int, std::complex<double>>(opcode::cast, int32, complex128, {-2.5, 9}) == -2);
  CHECK(apply<float, std::int32_t>(opcode::cast, float32, int32, 16777217) == 16777216.0f);
  CHECK(apply<std::int8_t, std::int32_t>(opcode::cast, int8, int32, 300) == 44);
}

TEST_CASE("float16 and bfloat16: every value widens, narrows and rounds to itself; its neighbours are its own") {
  std::vector<std::uint16_t> bits(65536), back(65536);
  std::vector<float> wide(65536);
  for (bool brain : {false, true}) {
    for (int k = 0; k < 65536; ++k) bits[std::size_t(k)] = std::uint16_t(k);
    (brain ? widen_bf16 : widen_f16)(wide.data(), bits.data(), 65536);
    (brain ? narrow_bf16 : narrow_f16)(back.data(), wide.data(), 65536);
    int wrong = 0, exponent_bits = brain ? 8 : 5, fraction_bits = 15 - exponent_bits;
    for (int k = 0; k < 65536; ++k) {
      int sign = k >> 15, e = (k >> fraction_bits) & ((1 << exponent_bits) - 1), m = k & ((1 << fraction_bits) - 1);
      int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
      float x = wide[std::size_t(k)];
      float r = brain ? sn::round_bf16(x) : sn::round_f16(x);
      if (e == top && m) {
        wrong += !std::isnan(x) || !std::isnan(r) || (back[std::size_t(k)] & 0x7fff) <= top << fraction_bits;
        continue;
      }
      double v = e == top ? inf_d : std::ldexp(e ? m + (1 << fraction_bits) : m, (e ? e : 1) - bias - fraction_bits);
      wrong += !same(double(x), sign ? -v : v) || back[std::size_t(k)] != k || !same(r, x);
      if (e == top || sign) continue;
      float up = apply<float>(opcode::nextafter, brain ? bfloat16 : float16, brain ? bfloat16 : float16, x, inf);
      wrong += up != wide[std::size_t(k + 1)];
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("rounding to the half types is to nearest, ties to even, from float and from double") {
  for (bool brain : {false, true}) {
    auto value = [&](int k) {
      std::uint16_t b = std::uint16_t(k);
      float x;
      (brain ? widen_bf16 : widen_f16)(&x, &b, 1);
      return double(x);
    };
    dtype t = brain ? bfloat16 : float16;
    int wrong = 0, last = brain ? 0x7f7f : 0x7bff;
    for (int k = 0; k < last; k += brain ? 7 : 3) {
      double low = value(k), high = value(k + 1), middle = (low + high) / 2;
      double even = k % 2 ? high : low;
      double just_above = std::nextafter(middle, inf_d), just_below = std::nextafter(middle, 0.0);
      wrong += apply<float, double>(opcode::cast, t, float64, middle) != even;
      wrong += apply<float, double>(opcode::cast, t, float64, -just_above) != -high;
      wrong += apply<float, double>(opcode::cast, t, float64, just_below) != low;
      wrong += apply<float, float>(opcode::cast, t, float32, float(middle)) != (float(middle) == middle ? even : low);
      if (!brain) wrong += apply<float, float>(opcode::cast, t, float32, std::nextafterf(float(middle), inf)) != high;
      std::uint16_t stored;
      float m = float(middle);
      (brain ? narrow_bf16 : narrow_f16)(&stored, &m, 1);
      if (m == middle) wrong += stored != (k % 2 ? k + 1 : k);
    }
    CHECK(wrong == 0);
  }
  CHECK(apply<float, float>(opcode::cast, float16, float32, 65519.99f) == 65504.0f);
  CHECK(apply<float, float>(opcode::cast, float16, float32, 65520.0f) == inf);
  CHECK(apply<float, double>(opcode::cast, float16, float64, -65520.0) == -inf);
  CHECK(apply<float, double>(opcode::cast, bfloat16, float64, 1e300) == inf);
  CHECK(std::isnan(apply<float, double>(opcode::cast, float16, float64, double(nan_value))));
  CHECK(same(apply<float, double>(opcode::cast, float16, float64, -1e-300), -0.0f));
  CHECK(apply<float>(opcode::add, float16, float16, 2048.0f, 1.0f) == 2048.0f);
  CHECK(apply<float>(opcode::multiply, bfloat16, bfloat16, 257.0f - 1.0f, 1.0078125f) == 258.0f);
  CHECK(apply<float>(opcode::nextafter, float16, float16, 0.0f, -1.0f) == -0x1p-24f);
}

TEST_CASE("complex arithmetic and order are NumPy's") {
  using c = std::complex<double>;
  CHECK(apply(opcode::divide, c(1, 2), c(3, -4)).imag() == doctest::Approx(0.4));
  c by_zero = apply(opcode::divide, c(1, 0), c(0, 0));
  CHECK(by_zero.real() == inf_d);
  CHECK(std::isnan(by_zero.imag()));
  CHECK(apply<bool>(opcode::less, bool_, complex128, c(1, 2), c(1, 3)));
  CHECK_FALSE(apply<bool>(opcode::less, bool_, complex128, c(1, double(nan_value)), c(2, 0)));
  CHECK(std::isnan(apply(opcode::maximum, c(1, double(nan_value)), c(2, 0)).imag()));
  CHECK(apply(opcode::fmax, c(1, double(nan_value)), c(2, 0)) == c(2, 0));
  CHECK(apply<double>(opcode::absolute, float64, complex128, c(3e300, 4e300)) == doctest::Approx(5e300));
  CHECK(apply<double>(opcode::absolute, float64, complex128, c(double(nan_value), -inf_d)) == inf_d);
  CHECK(apply(opcode::sign, c(3, 4)) == c(0.6, 0.8));
  CHECK(apply(opcode::power, c(0, 0), c(0, 0)) == c(1, 0));
  CHECK(apply(opcode::power, c(0, 1), c(2, 0)) == c(-1, 0));
  CHECK(std::isnan(apply(opcode::power, c(0, 0), c(-1, 0)).real()));
}

TEST_CASE("branch cuts tell signed zeros apart") {
  using c = std::complex<double>;
  CHECK(apply(opcode::sqrt, c(-4, 0.0)) == c(0, 2));
  CHECK(apply(opcode::sqrt, c(-4, -0.0)) == c(0, -2));
  CHECK(apply(opcode::log, c(-1, -0.0)).imag() == -apply(opcode::log, c(-1, 0.0)).imag());
  CHECK(apply(opcode::arcsin, c(2, 0.0)).imag() > 0);
  CHECK(apply(opcode::arcsin, c(2, -0.0)).imag() < 0);
  CHECK(apply(opcode::arccos, c(2, 0.0)).imag() < 0);
  CHECK(apply(opcode::arccosh, c(0.5, -0.0)).imag() < 0);
  CHECK(apply(opcode::arctan, c(0.0, 2)).real() > 0);
  CHECK(apply(opcode::arctan, c(-0.0, 2)).real() < 0);
  CHECK(apply(opcode::arctanh, c(2, -0.0)).imag() < 0);
}

namespace {

template <class R>
double distance(R got, R want, R scale) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : inf_d;
  if (got == want) return 0;
  if (std::isinf(got) || std::isinf(want)) return inf_d;
  R unit = std::max(std::abs(scale) * std::numeric_limits<R>::epsilon(), std::numeric_limits<R>::denorm_min());
  return double(std::abs(got - want) / unit);
}

/// The text for CUDA against the C library: the error relative to the modulus, and the special values.
template <class R>
void compare_complex(const char* name, sn::cx<R> (*f)(sn::cx<R>), opcode op, double bound) {
  using c = std::complex<R>;
  constexpr R big = std::numeric_limits<R>::infinity(), none = std::numeric_limits<R>::quiet_NaN();
  std::vector<R> parts = {0, R(-0.0), 1, -1, R(0.5), -2, R(1e-3), R(-3e-5), big, -big, none, R(50), R(-20), R(1e12)};
  std::mt19937 random(7);
  std::vector<c> z;
  for (R x : parts)
    for (R y : parts) z.push_back({x, y});
  for (int k = 0; k < 2000; ++k) {
    std::uniform_real_distribution<R> u(-3, 3);
    z.push_back({u(random), u(random)});
  }
  for (c v : z) {
    c want = apply(op, v);
    sn::cx<R> got = f(sn::cx<R>{v.real(), v.imag()});
    INFO(std::string(name) << " of " << double(v.real()) << ", " << double(v.imag()) << ": " << double(got.re) << ", "
                           << double(got.im) << " for " << double(want.real()) << ", " << double(want.imag()));
    R scale = std::isfinite(want.real()) && std::isfinite(want.imag()) ? std::hypot(want.real(), want.imag()) : R(1);
    bool zeros = true;
    if (std::isfinite(v.real()) && std::isfinite(v.imag())) {
      CHECK(distance(got.re, want.real(), scale) <= bound);
      CHECK(distance(got.im, want.imag(), scale) <= bound);
      if (want.real() != 0) zeros = std::signbit(got.re) == std::signbit(want.real());
      if (want.imag() != 0) zeros = zeros && std::signbit(got.im) == std::signbit(want.imag());
    } else {
      // C99 leaves the sign of some zeros and infinities open: the kinds must agree.
      CHECK(std::isnan(got.re) == std::isnan(want.real()));
      CHECK(std::isnan(got.im) == std::isnan(want.imag()));
      CHECK(std::isinf(got.re) == std::isinf(want.real()));
      CHECK(std::isinf(got.im) == std::isinf(want.imag()));
    }
    CHECK(zeros);
  }
}

}  // namespace

TEST_CASE("the complex functions written for CUDA agree with the C library") {
#define COMPARE(op, bound)                                                \
  compare_complex<float>(                                                 \
      #op, [](sn::cx<float> z) { return sn::op(z); }, opcode::op, bound); \
  compare_complex<double>(                                                \
      #op, [](sn::cx<double> z) { return sn::op(z); }, opcode::op, bound);
  COMPARE(sqrt, 4)
  COMPARE(exp, 4)
  COMPARE(log, 4)
  COMPARE(sin, 6)
  COMPARE(cos, 6)
  COMPARE(tan, 8)
  COMPARE(sinh, 6)
  COMPARE(cosh, 6)
  COMPARE(tanh, 8)
  COMPARE(arcsin, 6)
  COMPARE(arccos, 6)
  COMPARE(arctan, 8)
  COMPARE(arcsinh, 6)
  COMPARE(arccosh, 6)
  COMPARE(arctanh, 8)
#undef COMPARE
}
