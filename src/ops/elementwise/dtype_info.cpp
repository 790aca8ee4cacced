// finfo, iinfo and isdtype.
#include "sinter/dtype_info.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "ops/base/access.hpp"
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

dtype detail::common_type(std::span<const ndarray* const> arrays) {
  std::optional<dtype> common;
  for (const ndarray* x : arrays) {
    const dtype own = ops::view_of(*x, "common_type").type;
    if (is_bool(own)) ops::fail<dtype_error>("common_type", "bools of shape ", x->shape(), " have no common type");
    const dtype type = is_inexact(own) ? own : dtype::f64;
    common = common ? promote_types(*common, type) : type;
  }
  return *common;
}

namespace {

/// The first of dtypes, narrow ones first, that holds an integer.
template <class T, std::size_t N>
dtype first_to_hold(const dtype (&types)[N], T value) {
  for (const dtype t : types) {
    if (std::is_signed_v<T> ? std::cmp_greater_equal(value, iinfo(t).min) : std::cmp_less_equal(value, iinfo(t).max))
      return t;
  }
  return types[N - 1];
}

bool in_range_of(double v, dtype t) { return !std::isfinite(v) || std::abs(v) < (t == dtype::f16 ? 65000.0 : 3.4e38); }

}  // namespace

dtype min_scalar_type(const operand& x) {
  using enum dtype;
  scalar v = false;
  if (x.is_array()) {
    const ndarray& a = x.array();
    const graph::array_view& view = ops::view_of(a, "min_scalar_type");
    if (!view.shape.empty()) return view.type;
    if (is_bool(view.type)) return b1;
    if (is_unsigned_integer(view.type)) v = a.item<std::uint64_t>();
    else if (is_integer(view.type)) v = a.item<std::int64_t>();
    else if (is_complex(view.type)) v = a.item<std::complex<double>>();
    else v = a.item<double>();
  } else {
    v = x.number();
  }
  switch (v.kind()) {
    case scalar_kind::boolean: return b1;
    case scalar_kind::integer:
      return v.negative() ? first_to_hold({i8, i16, i32, i64}, v.as_int64())
                          : first_to_hold({u8, u16, u32, u64}, v.as_uint64());
    case scalar_kind::floating: return in_range_of(v.real(), f16) ? f16 : in_range_of(v.real(), f32) ? f32 : f64;
    case scalar_kind::complex: break;
  }
  // As NumPy, which takes complex128 where a part is not finite.
  const bool narrow = std::abs(v.real()) < 3.4e38 && std::abs(v.imag()) < 3.4e38;
  return narrow ? c64 : c128;
}

}  // namespace sinter::inline v0
