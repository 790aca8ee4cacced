// The permitted error of a result: units in the last place, moduli of complex numbers, absolute bounds. NaN equals NaN
// whatever its payload; a policy selects whether the two zeros differ.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sinter/dtype.hpp"

namespace sinter::test {

enum class closeness : std::uint8_t {
  exact,     // the same value
  ulp,       // at most `bound` representable numbers apart
  modulus,   // complex: |got - expected| <= bound * epsilon * |expected|; components one by one where not finite, an
             // infinity beside a NaN without its sign
  absolute,  // |got - expected| <= bound
  unit_ulp,  // |got - expected| <= bound * epsilon * max(1, |expected|)
};
struct policy {
  closeness kind = closeness::exact;
  double bound = 0;
  bool zero_sign_free = false;
};

/// Position of a float in the ordered list of its type's values; both zeros are 0.
inline std::int64_t ordinal(double v) noexcept {
  const auto bits = std::bit_cast<std::int64_t>(v);
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}
inline std::int64_t ordinal(float v) noexcept {
  const auto bits = std::bit_cast<std::int32_t>(v);
  return bits < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits : bits;
}
inline std::int64_t ordinal(half v) noexcept { return v.bits & 0x8000 ? -std::int64_t{v.bits & 0x7fff} : v.bits; }
inline std::int64_t ordinal(bfloat v) noexcept { return v.bits & 0x8000 ? -std::int64_t{v.bits & 0x7fff} : v.bits; }

template <class T>
inline constexpr double epsilon_of = std::numeric_limits<T>::epsilon();
template <>
inline constexpr double epsilon_of<half> = 0x1p-10;
template <>
inline constexpr double epsilon_of<bfloat> = 0x1p-7;

/// The number of representable values between a and b; huge if only one of them is finite. The difference is computed
/// before the conversion to double, which cannot represent float64's ordinals exactly.
template <class T>
double ulp_distance(T a, T b) noexcept {
  const std::int64_t x = ordinal(a), y = ordinal(b);
  const auto high = static_cast<std::uint64_t>(x > y ? x : y), low = static_cast<std::uint64_t>(x > y ? y : x);
  return static_cast<double>(high - low);
}

template <class T>
double widen(T v) noexcept {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat>) return static_cast<double>(static_cast<float>(v));
  else return static_cast<double>(v);
}

/// Real floating values.
template <class T>
bool close_real(T got, T expected, const policy& p) noexcept {
  const double g = widen(got), e = widen(expected);
  if (std::isnan(g) || std::isnan(e)) return std::isnan(g) && std::isnan(e);
  if (g == e) return g != 0 || p.zero_sign_free || std::signbit(g) == std::signbit(e);
  if (p.kind == closeness::exact) return false;
  if (p.kind == closeness::ulp) return ulp_distance(got, expected) <= p.bound;
  if (std::isinf(g) || std::isinf(e)) return false;
  if (p.kind == closeness::absolute) return std::abs(g - e) <= p.bound;
  const double scale = p.kind == closeness::unit_ulp ? std::max(1.0, std::abs(e)) : std::abs(e);
  return std::abs(g - e) <= p.bound * epsilon_of<T> * scale;
}

template <class T>
bool close_complex(std::complex<T> got, std::complex<T> expected, const policy& p) noexcept {
  if (p.kind == closeness::modulus && std::isinf(expected.real()) && std::isnan(expected.imag())) {
    return std::isinf(got.real()) && std::isnan(got.imag());
  }
  if (p.kind == closeness::modulus && std::isnan(expected.real()) && std::isinf(expected.imag())) {
    return std::isnan(got.real()) && std::isinf(got.imag());
  }
  const bool finite = std::isfinite(expected.real()) && std::isfinite(expected.imag());
  if (p.kind != closeness::modulus || !finite) {
    return close_real(got.real(), expected.real(), p) && close_real(got.imag(), expected.imag(), p);
  }
  const double re = double(got.real()) - double(expected.real()), im = double(got.imag()) - double(expected.imag());
  const double modulus = std::hypot(double(expected.real()), double(expected.imag()));
  // Below the normal range the spacing bounds the precision of any result.
  const double floor = double(std::numeric_limits<T>::denorm_min());
  return std::hypot(re, im) <= p.bound * (epsilon_of<T> * modulus + floor);
}

/// Whether the policy accepts `got` for `expected`.
template <class T>
bool close(const T& got, const T& expected, const policy& p) noexcept {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return close_complex(got, expected, p);
  } else if constexpr (std::is_integral_v<T>) {
    return got == expected;
  } else {
    return close_real(got, expected, p);
  }
}

}  // namespace sinter::test
