// Functions of each element. They record and return at once; operands broadcast against each other, dtypes promote as
// in NumPy 2, C++ numbers are weak. shape_error: shapes do not broadcast. dtype_error: the function does not take the
// dtype, or an integer does not fit it. device_error: arrays of different devices.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>

#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

// Arithmetic. Integers wrap around.

/// x + y; of bools, logical or.
ndarray add(const operand& x, const operand& y);
/// x - y; bools are refused.
ndarray subtract(const operand& x, const operand& y);
/// x * y; of bools, logical and.
ndarray multiply(const operand& x, const operand& y);
/// x / y; integers give float64.
ndarray divide(const operand& x, const operand& y);
/// Largest integer value not above x / y; bools give int8, integer division by zero gives 0, complex is refused.
ndarray floor_divide(const operand& x, const operand& y);
/// x - y * floor(x / y), with the sign of y; bools give int8, complex is refused.
ndarray remainder(const operand& x, const operand& y);
/// C's remainder, with the sign of x; bools give int8, complex is refused.
ndarray fmod(const operand& x, const operand& y);
/// x to the power y; bools give int8. An integer to a negative integer power throws value_error, at the next
/// synchronisation where y is an array. The numbers 2, 0.5 and -1 give square, sqrt and reciprocal.
ndarray power(const operand& x, const operand& y);
/// x to the power y in float64 or complex128.
ndarray float_power(const operand& x, const operand& y);
/// -x; bools are refused.
ndarray negative(const ndarray& x);
/// x; bools are refused.
ndarray positive(const ndarray& x);
/// |x|; complex gives the real magnitude.
ndarray absolute(const ndarray& x);
/// |x| in floating point; complex is refused.
ndarray fabs(const ndarray& x);
/// -1, 0 or 1; complex x / |x|, 0 of 0; NaN stays; bools are refused.
ndarray sign(const ndarray& x);
/// x * x; bools give int8.
ndarray square(const ndarray& x);
/// 1 / x in x's dtype; bools give int8.
ndarray reciprocal(const ndarray& x);

// Rounding. Dtypes stay.

/// Largest integer value not above x; integers as they are; complex is refused.
ndarray floor(const ndarray& x);
/// Smallest integer value not below x; integers as they are; complex is refused.
ndarray ceil(const ndarray& x);
/// Integer part; integers as they are; complex is refused.
ndarray trunc(const ndarray& x);
/// Nearest integer value, ties to even; integers become floating point, as in NumPy.
ndarray rint(const ndarray& x);
/// Rounded to `decimals` digits after the point, ties to even; integers keep their dtype.
ndarray round(const ndarray& x, std::int64_t decimals = 0);

// Functions of floating-point numbers. Integers are converted to the smallest of float16, float32 and float64 that
// holds their dtype. Complex where the mathematical function has a principal value, else dtype_error.

ndarray sqrt(const ndarray& x);
/// Cube root; real.
ndarray cbrt(const ndarray& x);
ndarray exp(const ndarray& x);
ndarray exp2(const ndarray& x);
/// exp(x) - 1, accurate near 0.
ndarray expm1(const ndarray& x);
ndarray log(const ndarray& x);
ndarray log2(const ndarray& x);
ndarray log10(const ndarray& x);
/// log(1 + x), accurate near 0.
ndarray log1p(const ndarray& x);
/// log(exp(x) + exp(y)) without overflow; real.
ndarray logaddexp(const operand& x, const operand& y);
/// log2(2**x + 2**y) without overflow; real.
ndarray logaddexp2(const operand& x, const operand& y);
/// sin(pi x) / (pi x), 1 at 0; integers give float64.
ndarray sinc(const ndarray& x);
ndarray sin(const ndarray& x);
ndarray cos(const ndarray& x);
ndarray tan(const ndarray& x);
ndarray arcsin(const ndarray& x);
ndarray arccos(const ndarray& x);
ndarray arctan(const ndarray& x);
/// Angle of the point (x, y), in [-pi, pi]; real.
ndarray arctan2(const operand& y, const operand& x);
ndarray sinh(const ndarray& x);
ndarray cosh(const ndarray& x);
ndarray tanh(const ndarray& x);
ndarray arcsinh(const ndarray& x);
ndarray arccosh(const ndarray& x);
ndarray arctanh(const ndarray& x);
/// sqrt(x*x + y*y) without overflow; real.
ndarray hypot(const operand& x, const operand& y);
/// x * pi / 180; real.
ndarray deg2rad(const ndarray& x);
/// x * 180 / pi; real.
ndarray rad2deg(const ndarray& x);
/// 0, y or 1 for x below, at or above 0; NaN stays; real.
ndarray heaviside(const operand& x, const operand& y);
/// |x| with the sign bit of y; real.
ndarray copysign(const operand& x, const operand& y);
/// The next number after x towards y; real.
ndarray nextafter(const operand& x, const operand& y);

/// x * 2**n, rounded once; real. n are integers (dtype_error).
ndarray ldexp(const operand& x, const operand& n);
/// Greatest common divisor, not negative; of integers (dtype_error). gcd(0, 0) is 0.
ndarray gcd(const operand& x, const operand& y);
/// Least common multiple, not negative; of integers (dtype_error). 0 if one of them is.
ndarray lcm(const operand& x, const operand& y);

/// floor_divide and remainder.
struct divmod_result {
  ndarray quotient, remainder;
};
divmod_result divmod(const operand& x, const operand& y);
/// The part behind the point, with x's sign, and the integer before it; real.
struct modf_result {
  ndarray fractional, integral;
};
modf_result modf(const ndarray& x);
/// x = mantissa * 2**exponent with 0.5 <= |mantissa| < 1, or x itself and 0; real. Exponents are int32.
struct frexp_result {
  ndarray mantissa, exponent;
};
frexp_result frexp(const ndarray& x);

/// Complex conjugate; real numbers as they are (bools give int8, as in NumPy).
ndarray conj(const ndarray& x);
/// Real parts: a view of complex x, which shares its memory and can be written, `real(x) = e`, `real(x)(0) += 1`; real x itself.
/// Read, they are computed within the kernel that needs them. Of an array that nothing else refers to, as of `real(x * y)`,
/// they are a new array.
ndarray real(const ndarray& x);
/// Imaginary parts, a view likewise; read-only zeros of x's dtype for real x (a write is a dtype_error).
ndarray imag(const ndarray& x);
inline ndarray real(ndarray&& x) { return std::move(x).real(); }
inline ndarray imag(ndarray&& x) { return std::move(x).imag(); }
inline subarray real(ndarray& x) { return x.real(); }
inline subarray imag(ndarray& x) { return x.imag(); }
inline subarray real(const subarray& x) { return x.real(); }
inline subarray imag(const subarray& x) { return x.imag(); }
/// Angle of a complex number, in radians or degrees; real dtype.
ndarray angle(const ndarray& x, bool deg = false);

// Comparisons give bool. They compare values: int64 with uint64 exactly, and numbers outside the array's dtype as what
// they are. Complex numbers are ordered by real part, then imaginary part.

ndarray equal(const operand& x, const operand& y);
ndarray not_equal(const operand& x, const operand& y);
ndarray less(const operand& x, const operand& y);
ndarray less_equal(const operand& x, const operand& y);
ndarray greater(const operand& x, const operand& y);
ndarray greater_equal(const operand& x, const operand& y);

/// The larger; NaN wins.
ndarray maximum(const operand& x, const operand& y);
/// The smaller; NaN wins.
ndarray minimum(const operand& x, const operand& y);
/// The larger; NaN loses.
ndarray fmax(const operand& x, const operand& y);
/// The smaller; NaN loses.
ndarray fmin(const operand& x, const operand& y);
/// minimum(maximum(x, low), high); either bound may be absent.
ndarray clip(const ndarray& x, const optional_operand& low, const optional_operand& high = {});
/// x where the condition is not zero, else y; x and y promote.
ndarray where(const operand& condition, const operand& x, const operand& y);

// Predicates give bool.

ndarray isnan(const ndarray& x);
ndarray isinf(const ndarray& x);
ndarray isfinite(const ndarray& x);
/// Whether the sign bit is set; complex is refused.
ndarray signbit(const ndarray& x);
/// Whether x is +infinity or -infinity; complex is refused.
ndarray isposinf(const ndarray& x);
ndarray isneginf(const ndarray& x);
/// Whether the imaginary part is 0, or is not.
ndarray isreal(const ndarray& x);
ndarray iscomplex(const ndarray& x);
/// |x - y| <= atol + rtol * |y|, or equal.
ndarray isclose(const operand& x, const operand& y, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
/// Whether isclose holds everywhere. Synchronises.
bool allclose(const operand& x, const operand& y, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
/// Whether the shapes are the same and all elements equal. Synchronises.
bool array_equal(const ndarray& x, const ndarray& y, bool equal_nan = false);
/// Whether the shapes broadcast and all elements are equal. Synchronises.
bool array_equiv(const ndarray& x, const ndarray& y);

/// NaN and the infinities replaced: by 0 and the dtype's extremes unless said otherwise.
ndarray nan_to_num(const ndarray& x, double nan = 0.0, std::optional<double> posinf = {},
                   std::optional<double> neginf = {});

// Logic: anything but zero is true; the result is bool.

ndarray logical_and(const operand& x, const operand& y);
ndarray logical_or(const operand& x, const operand& y);
ndarray logical_xor(const operand& x, const operand& y);
ndarray logical_not(const ndarray& x);

// Bits: of integers and bools; floating point is refused. Shifts by the width or more give 0 (-1 for negative >>).

ndarray bitwise_and(const operand& x, const operand& y);
ndarray bitwise_or(const operand& x, const operand& y);
ndarray bitwise_xor(const operand& x, const operand& y);
/// Every bit flipped; of bools, logical not.
ndarray invert(const ndarray& x);
/// How many bits of |x| are set, as uint8.
ndarray bitwise_count(const ndarray& x);
/// Bools give int8.
ndarray left_shift(const operand& x, const operand& y);
/// Arithmetic: keeps the sign. Bools give int8.
ndarray right_shift(const operand& x, const operand& y);

// The array API's and NumPy's other spellings.

inline ndarray abs(const ndarray& x) { return absolute(x); }
inline ndarray acos(const ndarray& x) { return arccos(x); }
inline ndarray acosh(const ndarray& x) { return arccosh(x); }
inline ndarray asin(const ndarray& x) { return arcsin(x); }
inline ndarray asinh(const ndarray& x) { return arcsinh(x); }
inline ndarray atan(const ndarray& x) { return arctan(x); }
inline ndarray atanh(const ndarray& x) { return arctanh(x); }
inline ndarray atan2(const operand& y, const operand& x) { return arctan2(y, x); }
inline ndarray pow(const operand& x, const operand& y) { return power(x, y); }
inline ndarray mod(const operand& x, const operand& y) { return remainder(x, y); }
inline ndarray true_divide(const operand& x, const operand& y) { return divide(x, y); }
inline ndarray conjugate(const ndarray& x) { return conj(x); }
inline ndarray around(const ndarray& x, std::int64_t decimals = 0) { return round(x, decimals); }
inline ndarray fix(const ndarray& x) { return trunc(x); }
inline ndarray radians(const ndarray& x) { return deg2rad(x); }
inline ndarray degrees(const ndarray& x) { return rad2deg(x); }
inline ndarray bitwise_not(const ndarray& x) { return invert(x); }
inline ndarray bitwise_invert(const ndarray& x) { return invert(x); }
inline ndarray bitwise_left_shift(const operand& x, const operand& y) { return left_shift(x, y); }
inline ndarray bitwise_right_shift(const operand& x, const operand& y) { return right_shift(x, y); }

}  // namespace sinter::inline v0

// The functions above that are called with arrays alone, by the number of their operands: their forms with `out=`
// (elementwise_out.hpp) and what tests all of them are made from these lists.
// clang-format off
#define SINTER_UNARY_FUNCTIONS(F) \
  F(negative) F(positive) F(absolute) F(fabs) F(sign) F(square) F(reciprocal) F(floor) F(ceil) F(trunc) F(rint) F(sqrt) \
  F(cbrt) F(exp) F(exp2) F(expm1) F(log) F(log2) F(log10) F(log1p) F(sin) F(cos) F(tan) F(arcsin) F(arccos) F(arctan) \
  F(sinh) F(cosh) F(tanh) F(arcsinh) F(arccosh) F(arctanh) F(deg2rad) F(rad2deg) F(conj) F(isnan) F(isinf) F(isfinite) \
  F(signbit) F(isposinf) F(isneginf) F(isreal) F(iscomplex) F(sinc) F(logical_not) F(invert) F(bitwise_count)
#define SINTER_BINARY_FUNCTIONS(F) \
  F(add) F(subtract) F(multiply) F(divide) F(floor_divide) F(remainder) F(fmod) F(power) F(float_power) F(logaddexp) \
  F(logaddexp2) F(gcd) F(lcm) \
  F(arctan2) F(hypot) F(heaviside) F(copysign) F(nextafter) F(equal) F(not_equal) F(less) F(less_equal) F(greater) \
  F(greater_equal) F(maximum) F(minimum) F(fmax) F(fmin) F(logical_and) F(logical_or) F(logical_xor) F(bitwise_and) \
  F(bitwise_or) F(bitwise_xor) F(left_shift) F(right_shift)
/// F(spelling, function)
#define SINTER_UNARY_SPELLINGS(F) \
  F(abs, absolute) F(acos, arccos) F(acosh, arccosh) F(asin, arcsin) F(asinh, arcsinh) F(atan, arctan) \
  F(atanh, arctanh) F(conjugate, conj) F(fix, trunc) F(radians, deg2rad) F(degrees, rad2deg) F(bitwise_not, invert) \
  F(bitwise_invert, invert)
#define SINTER_BINARY_SPELLINGS(F) \
  F(atan2, arctan2) F(pow, power) F(mod, remainder) F(true_divide, divide) F(bitwise_left_shift, left_shift) \
  F(bitwise_right_shift, right_shift)
// clang-format on
