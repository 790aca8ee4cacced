// Floating-point numbers as text in the format of NumPy's format_float_positional and format_float_scientific: the
// shortest digits that identify the value in its dtype, rounded to a precision.
#pragma once
#include <string>

#include "sinter/dtype.hpp"

namespace sinter::core {

enum class trim : std::uint8_t {
  keep,         // zeros up to min_digits
  point,        // "1."
  one_zero,     // "1.0"
  point_zeros,  // "1"
};

struct number_format {
  dtype type = dtype::f64;  // digits distinguish neighbours of this type: f16, bf16, f32 or f64
  int precision = -1;       // maximum number of digits after the point; -1: all
  bool unique = true;       // false: exactly `precision` digits of the exact value (positional only)
  int min_digits = 0;       // minimum number of digits after the point (trim::keep)
  trim trimming = trim::point;
  bool plus = false;        // "+1." for values without a minus sign
  int pad_left = 0;         // minimum width before the point, sign included
  int pad_right = 0;        // positional: minimum width after the point
  int exponent_digits = 2;  // scientific: minimum number
};

/// Finite numbers only.
std::string positional(double x, const number_format& f);
std::string scientific(double x, const number_format& f);

/// `x` rounded to a real floating dtype.
double rounded_to(dtype type, double x) noexcept;
/// NumPy's str() of a scalar of dtype `type`: "1.5", "1e+20", "nan". With trim::point_zeros "1" for 1.0.
std::string scalar_text(double x, dtype type, trim trimming, bool plus);
/// The number of decimal digits that a dtype always represents (finfo.precision).
int decimal_precision(dtype type) noexcept;

}  // namespace sinter::core
