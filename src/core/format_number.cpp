// Digits come from std::to_chars, which is exact; the shortest digits for 16-bit types are found by trial.
#include "core/format_number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace sinter::core {
namespace {

constexpr int most_digits = 767;  // maximum number of significant digits of a double

/// 0.d1d2d3... * 10^point
struct decimal {
  std::string digits;
  int point = 1;
};

decimal from_scientific(const char* first, const char* last) {
  decimal d;
  const char* p = first;
  for (; p != last && *p != 'e'; ++p)
    if (*p != '.') d.digits += *p;
  d.point = p == last ? 1 : std::atoi(p + 1) + 1;
  return d;
}

/// Exactly `digits` significant digits of the exact value, ties to even.
decimal rounded_digits(double x, int digits) {
  std::string text(static_cast<std::size_t>(digits) + 16, '\0');
  const auto end =
      std::to_chars(text.data(), text.data() + text.size() - 1, x, std::chars_format::scientific, digits - 1).ptr;
  *end = '\0';
  return from_scientific(text.data(), end);
}

decimal shortest_digits(double x, dtype type) {
  char text[64];
  char* end = text;
  if (type == dtype::f64) {
    end = std::to_chars(text, text + sizeof text - 1, x, std::chars_format::scientific).ptr;
  } else if (type == dtype::f32) {
    end = std::to_chars(text, text + sizeof text - 1, static_cast<float>(x), std::chars_format::scientific).ptr;
  } else {
    for (int n = 1;; ++n) {
      decimal d = rounded_digits(x, n);
      const std::string back = "0." + d.digits + "e" + std::to_string(d.point);
      if (n > 12 || rounded_to(type, std::strtod(back.c_str(), nullptr)) == x) return d;
    }
  }
  *end = '\0';
  return from_scientific(text, end);
}

void strip_zeros(decimal& d) {
  while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
}

/// The shortest digits, at most `digits` of them; for 0 or fewer the result is 0 or the power of ten that the value
/// rounds up to.
decimal cut_digits(double x, dtype type, int digits) {
  decimal d = shortest_digits(x, type);
  if (static_cast<int>(d.digits.size()) > digits) {
    if (digits >= 1) {
      d = rounded_digits(x, digits);
    } else {
      // The shortest digits of a value near the midpoint may be those of the midpoint, so the exact digits decide.
      decimal exact = d.digits == "5" ? rounded_digits(x, most_digits) : d;
      strip_zeros(exact);
      const bool up = digits == 0 && exact.digits > "5";
      d = {up ? "1" : "0", up ? d.point + 1 : 1};
    }
  }
  strip_zeros(d);
  return d;
}

std::string sign_of(double x, const number_format& f) { return std::signbit(x) ? "-" : f.plus ? "+" : ""; }

/// The text after the integer part: the point, the digits, zeros as trimming requires.
std::string fraction_text(std::string fraction, const number_format& f) {
  if (f.trimming == trim::keep && static_cast<int>(fraction.size()) < f.min_digits)
    fraction.append(static_cast<std::size_t>(f.min_digits) - fraction.size(), '0');
  if (fraction.empty()) {
    if (f.trimming == trim::point_zeros) return "";
    if (f.trimming == trim::one_zero) return ".0";
  }
  return "." + fraction;
}

/// Digits before the point and after it.
struct places {
  std::string whole, fraction;
};

/// Exactly `digits` digits after the point, ties to even.
places exact_places(double magnitude, int digits) {
  std::string text(static_cast<std::size_t>(digits) + 320, '\0');
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), magnitude, std::chars_format::fixed, digits).ptr;
  text.resize(static_cast<std::size_t>(end - text.data()));
  const std::size_t point = text.find('.');
  return {text.substr(0, point), point == std::string::npos ? "" : text.substr(point + 1)};
}

places unique_places(double magnitude, const number_format& f) {
  decimal d = shortest_digits(magnitude, f.type);
  if (f.precision >= 0) d = cut_digits(magnitude, f.type, d.point + f.precision);
  if (d.digits == "0") return {"0", ""};
  if (d.point <= 0) return {"0", std::string(static_cast<std::size_t>(-d.point), '0') + d.digits};
  const int n = static_cast<int>(d.digits.size());
  places p{d.digits.substr(0, static_cast<std::size_t>(std::min(n, d.point))), ""};
  p.whole.append(static_cast<std::size_t>(std::max(0, d.point - n)), '0');
  if (n > d.point) p.fraction = d.digits.substr(static_cast<std::size_t>(d.point));
  return p;
}

std::string padded(std::string whole, int width) {
  if (static_cast<int>(whole.size()) < width) whole.insert(0, static_cast<std::size_t>(width) - whole.size(), ' ');
  return whole;
}

}  // namespace

double rounded_to(dtype type, double x) noexcept {
  switch (type) {
    case dtype::f16: return float(half(static_cast<float>(x)));
    case dtype::bf16: return float(bfloat(static_cast<float>(x)));
    case dtype::f32: return static_cast<float>(x);
    default: return x;
  }
}

int decimal_precision(dtype type) noexcept {
  return type == dtype::f16 ? 3 : type == dtype::bf16 ? 2 : type == dtype::f32 ? 6 : 15;
}

std::string positional(double x, const number_format& f) {
  const double magnitude = std::fabs(x);
  places p{"0", ""};
  if (!f.unique) {
    p = exact_places(magnitude, f.precision);
  } else if (magnitude != 0) {
    p = unique_places(magnitude, f);
    // Digits that pad to the minimum are those of the exact value, not zeros.
    if (static_cast<int>(p.fraction.size()) < f.min_digits) p = exact_places(magnitude, f.min_digits);
  }
  const std::string fraction = fraction_text(p.fraction, f);
  std::string text = padded(sign_of(x, f) + p.whole, f.pad_left) + fraction;
  const int short_of = f.pad_right + 1 - static_cast<int>(fraction.size());
  if (f.pad_right > 0 && short_of > 0) text.append(static_cast<std::size_t>(short_of), ' ');
  return text;
}

std::string scientific(double x, const number_format& f) {
  decimal d{"0", 1};
  const double magnitude = std::fabs(x);
  if (magnitude != 0) {
    d = f.precision >= 0 ? cut_digits(magnitude, f.type, f.precision + 1) : shortest_digits(magnitude, f.type);
    // Digits that pad to the minimum are those of the exact value, not zeros.
    if (static_cast<int>(d.digits.size()) <= f.min_digits) d = rounded_digits(magnitude, f.min_digits + 1);
  }
  std::string text = padded(sign_of(x, f) + d.digits[0], f.pad_left) + fraction_text(d.digits.substr(1), f);
  const int exponent = d.point - 1;
  std::string power = std::to_string(std::abs(exponent));
  if (static_cast<int>(power.size()) < f.exponent_digits)
    power.insert(0, static_cast<std::size_t>(f.exponent_digits) - power.size(), '0');
  return text + (exponent < 0 ? "e-" : "e+") + power;
}

std::string scalar_text(double x, dtype type, trim trimming, bool plus) {
  const std::string sign = std::signbit(x) ? "-" : plus ? "+" : "";
  if (std::isnan(x)) return plus ? "+nan" : "nan";
  if (std::isinf(x)) return sign + "inf";
  number_format f;
  f.type = type;
  f.plus = plus;
  const double magnitude = std::fabs(x);
  const double most = std::pow(10.0, type == dtype::f64 ? 16 : decimal_precision(type));
  if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < most)) {
    f.trimming = trimming;
    return positional(x, f);
  }
  f.trimming = trim::point_zeros;
  return scientific(x, f);
}

}  // namespace sinter::core
