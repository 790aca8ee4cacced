// float16 and bfloat16 on the host: exact widening, narrowing to nearest with ties to even.
#include <bit>
#include <cstdint>

#include "sinter/dtype.hpp"

namespace sinter::inline v0 {
namespace {

/// Drops the low `shift` bits of `v`, rounding to nearest even.
std::uint32_t round_shift(std::uint32_t v, int shift) noexcept {
  const std::uint32_t kept = v >> shift;
  const std::uint32_t rest = v & ((1u << shift) - 1);
  const std::uint32_t middle = 1u << (shift - 1);
  return kept + (rest > middle || (rest == middle && (kept & 1)));
}

}  // namespace

half::half(float value) noexcept {
  const auto x = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((x >> 16) & 0x8000u);
  const std::uint32_t magnitude = x & 0x7fffffffu;
  std::uint32_t result;
  if (magnitude > 0x7f800000u) {
    // The payload's high bits are kept; the quiet bit keeps a NaN from becoming infinity.
    result = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {
    result = 0x7c00u;  // 65520 and above round to infinity
  } else if (magnitude >= 0x38800000u) {
    result = round_shift(magnitude - 0x38000000u, 13);
  } else if (magnitude >= 0x33000000u) {
    const int exponent = static_cast<int>(magnitude >> 23);
    result = round_shift((magnitude & 0x7fffffu) | 0x800000u, 126 - exponent);
  } else {
    result = 0;
  }
  bits = static_cast<std::uint16_t>(sign | result);
}

half::operator float() const noexcept {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1fu) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float tiny = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -tiny : tiny;
}

bfloat::bfloat(float value) noexcept {
  const auto x = std::bit_cast<std::uint32_t>(value);
  if ((x & 0x7fffffffu) > 0x7f800000u) {
    bits = static_cast<std::uint16_t>((x >> 16) | 0x40u);
  } else {
    bits = static_cast<std::uint16_t>(round_shift(x >> 1, 15));
  }
}

bfloat::operator float() const noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace sinter::inline v0
