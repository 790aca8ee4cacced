// Conversion of launch scalars.
#include "jit/program/scalar.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace sinter::jit {
namespace {

/// Rounds to odd: the last bit of the float marks lost bits, so that a second rounding, to fewer bits, gives the
/// correctly rounded result (Boldo and Melquiond, "When double rounding is odd", 2005).
float round_to_odd(double x) noexcept {
  auto f = static_cast<float>(x);
  if (f == x || !std::isfinite(f) || !std::isfinite(x)) return f;
  if (std::abs(static_cast<double>(f)) > std::abs(x)) f = std::nextafter(f, 0.0f);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(f) | 1u);
}

float round_half(dtype t, double x) noexcept {
  const float f = round_to_odd(x);
  return t == dtype::f16 ? static_cast<float>(half(f)) : static_cast<float>(bfloat(f));
}

std::uint64_t integer_of(const scalar& s) noexcept {
  if (is_bool(s.type)) return s.b ? 1 : 0;
  if (is_integer(s.type)) return s.u;
  const double x = s.f[0];
  if (x >= -0x1p63 && x < 0x1p63) return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  return x >= 0x1p63 && x < 0x1p64 ? static_cast<std::uint64_t>(x) : std::uint64_t{1} << 63;
}

}  // namespace

double real_of(const scalar& s) noexcept {
  if (is_bool(s.type)) return s.b ? 1 : 0;
  if (is_signed_integer(s.type)) return static_cast<double>(s.i);
  if (is_unsigned_integer(s.type)) return static_cast<double>(s.u);
  return s.f[0];
}

void write_register(void* to, dtype t, const scalar& s) noexcept {
  if (is_bool(t)) {
    *static_cast<unsigned char*>(to) = is_integer(s.type) ? s.u != 0 : real_of(s) != 0;
  } else if (is_integer(t)) {
    const std::uint64_t v = integer_of(s);  // little endian: the low bytes come first
    std::memcpy(to, &v, itemsize(t));
  } else if (t == dtype::f16 || t == dtype::bf16) {
    const float f = round_half(t, real_of(s));
    std::memcpy(to, &f, sizeof f);
  } else if (t == dtype::f64 || t == dtype::c128) {
    const double v[2] = {real_of(s), is_complex(s.type) ? s.f[1] : 0};
    std::memcpy(to, v, itemsize(t));
  } else {
    const float v[2] = {static_cast<float>(real_of(s)), is_complex(s.type) ? static_cast<float>(s.f[1]) : 0};
    std::memcpy(to, v, itemsize(t));
  }
}

}  // namespace sinter::jit
