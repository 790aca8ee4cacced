// finfo, iinfo and isdtype.
#include "sinter/dtype_info.hpp"

#include <cmath>
#include <limits>

#include "ops/base/errors.hpp"
#include "sinter/error.hpp"

namespace sinter::inline v0 {
namespace {

/// From the number of fraction bits and the exponent of the largest power of two.
finfo_t binary_format(dtype type, int bits, int fraction, int exponent) {
  const int lowest = 1 - exponent;
  return {bits,
          std::ldexp(1.0, -fraction),
          std::ldexp(2.0 - std::ldexp(1.0, -fraction), exponent),
          -std::ldexp(2.0 - std::ldexp(1.0, -fraction), exponent),
          std::ldexp(1.0, lowest),
          std::ldexp(1.0, lowest - fraction),
          type};
}

}  // namespace

finfo_t finfo(dtype type) {
  switch (type) {
    case dtype::f16: return binary_format(type, 16, 10, 15);
    case dtype::bf16: return binary_format(type, 16, 7, 127);
    case dtype::f32:
    case dtype::c64: return binary_format(dtype::f32, 32, 23, 127);
    case dtype::f64:
    case dtype::c128: return binary_format(dtype::f64, 64, 52, 1023);
    default: break;
  }
  ops::fail<dtype_error>("finfo", "dtype ", type, " is not a floating-point type");
}

iinfo_t iinfo(dtype type) {
  if (!is_integer(type)) ops::fail<dtype_error>("iinfo", "dtype ", type, " is not an integer type");
  const int bits = static_cast<int>(itemsize(type)) * 8;
  if (is_unsigned_integer(type)) return {bits, 0, std::numeric_limits<std::uint64_t>::max() >> (64 - bits), type};
  return {bits, std::numeric_limits<std::int64_t>::min() >> (64 - bits),
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) >> (64 - bits), type};
}

bool dtype_kind::contains(dtype type) const {
  if (type_) return type == *type_;
  if (kind_ == "bool") return is_bool(type);
  if (kind_ == "signed integer") return is_signed_integer(type);
  if (kind_ == "unsigned integer") return is_unsigned_integer(type);
  if (kind_ == "integral") return is_integer(type);
  if (kind_ == "real floating") return is_real_floating(type);
  if (kind_ == "complex floating") return is_complex(type);
  if (kind_ == "numeric") return !is_bool(type);
  ops::fail<value_error>("isdtype", "unknown kind '", kind_, "'");
}

bool isdtype(dtype type, std::initializer_list<dtype_kind> kinds) {
  bool found = false;
  for (const dtype_kind& kind : kinds) found = kind.contains(type) || found;
  return found;
}

}  // namespace sinter::inline v0
