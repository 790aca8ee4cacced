// Elementwise functions with a place for the result, as NumPy's `out=`: `power(x, 2, {.out = x})` is `x **= 2`.
//
// `out` has a shape that the result broadcasts to (shape_error otherwise); it keeps its dtype, to which
// casting::same_kind must allow the result's (dtype_error naming both). It may overlap the operands, all of which are
// read first. device_error: it is on another device; value_error: it is read-only, or its elements overlap one another.
// The function returns it. The write records and fuses as that of `out(_) = f(x)` does.
#pragma once
#include "sinter/elementwise.hpp"

namespace sinter {
inline namespace v0 {

/// The keyword.
struct out_kw {
  kwonly _kw{};
  std::optional<ndarray> out{};
};

namespace detail {
/// The result as the caller wants it: written to kw.out, or as it is.
ndarray into(const ndarray& result, const out_kw& kw, const char* function);
}  // namespace detail

inline ndarray add(const operand& x, const operand& y, const out_kw& kw) { return detail::into(add(x, y), kw, "add"); }
inline ndarray subtract(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(subtract(x, y), kw, "subtract");
}
inline ndarray multiply(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(multiply(x, y), kw, "multiply");
}
inline ndarray divide(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(divide(x, y), kw, "divide");
}
inline ndarray floor_divide(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(floor_divide(x, y), kw, "floor_divide");
}
inline ndarray remainder(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(remainder(x, y), kw, "remainder");
}
inline ndarray fmod(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(fmod(x, y), kw, "fmod");
}
inline ndarray power(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(power(x, y), kw, "power");
}
inline ndarray float_power(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(float_power(x, y), kw, "float_power");
}
inline ndarray logaddexp(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(logaddexp(x, y), kw, "logaddexp");
}
inline ndarray arctan2(const operand& y, const operand& x, const out_kw& kw) {
  return detail::into(arctan2(y, x), kw, "arctan2");
}
inline ndarray hypot(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(hypot(x, y), kw, "hypot");
}
inline ndarray heaviside(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(heaviside(x, y), kw, "heaviside");
}
inline ndarray copysign(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(copysign(x, y), kw, "copysign");
}
inline ndarray nextafter(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(nextafter(x, y), kw, "nextafter");
}
inline ndarray equal(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(equal(x, y), kw, "equal");
}
inline ndarray not_equal(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(not_equal(x, y), kw, "not_equal");
}
inline ndarray less(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(less(x, y), kw, "less");
}
inline ndarray less_equal(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(less_equal(x, y), kw, "less_equal");
}
inline ndarray greater(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(greater(x, y), kw, "greater");
}
inline ndarray greater_equal(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(greater_equal(x, y), kw, "greater_equal");
}
inline ndarray maximum(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(maximum(x, y), kw, "maximum");
}
inline ndarray minimum(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(minimum(x, y), kw, "minimum");
}
inline ndarray fmax(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(fmax(x, y), kw, "fmax");
}
inline ndarray fmin(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(fmin(x, y), kw, "fmin");
}
inline ndarray logical_and(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(logical_and(x, y), kw, "logical_and");
}
inline ndarray logical_or(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(logical_or(x, y), kw, "logical_or");
}
inline ndarray logical_xor(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(logical_xor(x, y), kw, "logical_xor");
}
inline ndarray bitwise_and(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(bitwise_and(x, y), kw, "bitwise_and");
}
inline ndarray bitwise_or(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(bitwise_or(x, y), kw, "bitwise_or");
}
inline ndarray bitwise_xor(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(bitwise_xor(x, y), kw, "bitwise_xor");
}
inline ndarray left_shift(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(left_shift(x, y), kw, "left_shift");
}
inline ndarray right_shift(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(right_shift(x, y), kw, "right_shift");
}

inline ndarray negative(const ndarray& x, const out_kw& kw) { return detail::into(negative(x), kw, "negative"); }
inline ndarray positive(const ndarray& x, const out_kw& kw) { return detail::into(positive(x), kw, "positive"); }
inline ndarray absolute(const ndarray& x, const out_kw& kw) { return detail::into(absolute(x), kw, "absolute"); }
inline ndarray fabs(const ndarray& x, const out_kw& kw) { return detail::into(fabs(x), kw, "fabs"); }
inline ndarray sign(const ndarray& x, const out_kw& kw) { return detail::into(sign(x), kw, "sign"); }
inline ndarray square(const ndarray& x, const out_kw& kw) { return detail::into(square(x), kw, "square"); }
inline ndarray reciprocal(const ndarray& x, const out_kw& kw) { return detail::into(reciprocal(x), kw, "reciprocal"); }
inline ndarray floor(const ndarray& x, const out_kw& kw) { return detail::into(floor(x), kw, "floor"); }
inline ndarray ceil(const ndarray& x, const out_kw& kw) { return detail::into(ceil(x), kw, "ceil"); }
inline ndarray trunc(const ndarray& x, const out_kw& kw) { return detail::into(trunc(x), kw, "trunc"); }
inline ndarray rint(const ndarray& x, const out_kw& kw) { return detail::into(rint(x), kw, "rint"); }
inline ndarray sqrt(const ndarray& x, const out_kw& kw) { return detail::into(sqrt(x), kw, "sqrt"); }
inline ndarray cbrt(const ndarray& x, const out_kw& kw) { return detail::into(cbrt(x), kw, "cbrt"); }
inline ndarray exp(const ndarray& x, const out_kw& kw) { return detail::into(exp(x), kw, "exp"); }
inline ndarray exp2(const ndarray& x, const out_kw& kw) { return detail::into(exp2(x), kw, "exp2"); }
inline ndarray expm1(const ndarray& x, const out_kw& kw) { return detail::into(expm1(x), kw, "expm1"); }
inline ndarray log(const ndarray& x, const out_kw& kw) { return detail::into(log(x), kw, "log"); }
inline ndarray log2(const ndarray& x, const out_kw& kw) { return detail::into(log2(x), kw, "log2"); }
inline ndarray log10(const ndarray& x, const out_kw& kw) { return detail::into(log10(x), kw, "log10"); }
inline ndarray log1p(const ndarray& x, const out_kw& kw) { return detail::into(log1p(x), kw, "log1p"); }
inline ndarray sin(const ndarray& x, const out_kw& kw) { return detail::into(sin(x), kw, "sin"); }
inline ndarray cos(const ndarray& x, const out_kw& kw) { return detail::into(cos(x), kw, "cos"); }
inline ndarray tan(const ndarray& x, const out_kw& kw) { return detail::into(tan(x), kw, "tan"); }
inline ndarray arcsin(const ndarray& x, const out_kw& kw) { return detail::into(arcsin(x), kw, "arcsin"); }
inline ndarray arccos(const ndarray& x, const out_kw& kw) { return detail::into(arccos(x), kw, "arccos"); }
inline ndarray arctan(const ndarray& x, const out_kw& kw) { return detail::into(arctan(x), kw, "arctan"); }
inline ndarray sinh(const ndarray& x, const out_kw& kw) { return detail::into(sinh(x), kw, "sinh"); }
inline ndarray cosh(const ndarray& x, const out_kw& kw) { return detail::into(cosh(x), kw, "cosh"); }
inline ndarray tanh(const ndarray& x, const out_kw& kw) { return detail::into(tanh(x), kw, "tanh"); }
inline ndarray arcsinh(const ndarray& x, const out_kw& kw) { return detail::into(arcsinh(x), kw, "arcsinh"); }
inline ndarray arccosh(const ndarray& x, const out_kw& kw) { return detail::into(arccosh(x), kw, "arccosh"); }
inline ndarray arctanh(const ndarray& x, const out_kw& kw) { return detail::into(arctanh(x), kw, "arctanh"); }
inline ndarray deg2rad(const ndarray& x, const out_kw& kw) { return detail::into(deg2rad(x), kw, "deg2rad"); }
inline ndarray rad2deg(const ndarray& x, const out_kw& kw) { return detail::into(rad2deg(x), kw, "rad2deg"); }
inline ndarray conj(const ndarray& x, const out_kw& kw) { return detail::into(conj(x), kw, "conj"); }
inline ndarray isnan(const ndarray& x, const out_kw& kw) { return detail::into(isnan(x), kw, "isnan"); }
inline ndarray isinf(const ndarray& x, const out_kw& kw) { return detail::into(isinf(x), kw, "isinf"); }
inline ndarray isfinite(const ndarray& x, const out_kw& kw) { return detail::into(isfinite(x), kw, "isfinite"); }
inline ndarray signbit(const ndarray& x, const out_kw& kw) { return detail::into(signbit(x), kw, "signbit"); }
inline ndarray logical_not(const ndarray& x, const out_kw& kw) {
  return detail::into(logical_not(x), kw, "logical_not");
}
inline ndarray invert(const ndarray& x, const out_kw& kw) { return detail::into(invert(x), kw, "invert"); }
inline ndarray round(const ndarray& x, std::int64_t decimals, const out_kw& kw) {
  return detail::into(round(x, decimals), kw, "round");
}
inline ndarray clip(const ndarray& x, const optional_operand& low, const optional_operand& high, const out_kw& kw) {
  return detail::into(clip(x, low, high), kw, "clip");
}

// The array API's and NumPy's other spellings.

inline ndarray atan2(const operand& y, const operand& x, const out_kw& kw) {
  return detail::into(arctan2(y, x), kw, "arctan2");
}
inline ndarray pow(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(power(x, y), kw, "power");
}
inline ndarray mod(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(remainder(x, y), kw, "remainder");
}
inline ndarray true_divide(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(divide(x, y), kw, "divide");
}
inline ndarray bitwise_left_shift(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(left_shift(x, y), kw, "left_shift");
}
inline ndarray bitwise_right_shift(const operand& x, const operand& y, const out_kw& kw) {
  return detail::into(right_shift(x, y), kw, "right_shift");
}
inline ndarray abs(const ndarray& x, const out_kw& kw) { return detail::into(absolute(x), kw, "absolute"); }
inline ndarray acos(const ndarray& x, const out_kw& kw) { return detail::into(arccos(x), kw, "arccos"); }
inline ndarray acosh(const ndarray& x, const out_kw& kw) { return detail::into(arccosh(x), kw, "arccosh"); }
inline ndarray asin(const ndarray& x, const out_kw& kw) { return detail::into(arcsin(x), kw, "arcsin"); }
inline ndarray asinh(const ndarray& x, const out_kw& kw) { return detail::into(arcsinh(x), kw, "arcsinh"); }
inline ndarray atan(const ndarray& x, const out_kw& kw) { return detail::into(arctan(x), kw, "arctan"); }
inline ndarray atanh(const ndarray& x, const out_kw& kw) { return detail::into(arctanh(x), kw, "arctanh"); }
inline ndarray conjugate(const ndarray& x, const out_kw& kw) { return detail::into(conj(x), kw, "conj"); }
inline ndarray fix(const ndarray& x, const out_kw& kw) { return detail::into(trunc(x), kw, "trunc"); }
inline ndarray radians(const ndarray& x, const out_kw& kw) { return detail::into(deg2rad(x), kw, "deg2rad"); }
inline ndarray degrees(const ndarray& x, const out_kw& kw) { return detail::into(rad2deg(x), kw, "rad2deg"); }
inline ndarray bitwise_not(const ndarray& x, const out_kw& kw) { return detail::into(invert(x), kw, "invert"); }
inline ndarray bitwise_invert(const ndarray& x, const out_kw& kw) { return detail::into(invert(x), kw, "invert"); }
inline ndarray around(const ndarray& x, std::int64_t decimals, const out_kw& kw) { return round(x, decimals, kw); }

}  // namespace v0
}  // namespace sinter
