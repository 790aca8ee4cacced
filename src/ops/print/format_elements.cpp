// Elements as text: a first pass over all elements finds the common width, as in numpy._core.arrayprint.
#include "ops/print/format_elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/format_number.hpp"

namespace sinter::ops {
namespace {

using core::number_format;
using core::trim;

template <class T>
T get(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// The common format of an array's floating-point elements, found as NumPy's FloatingFormat does.
class floating_format {
 public:
  floating_format(const std::vector<double>& data, dtype type, char sign, const print_options& options)
      : options_(options), sign_(sign) {
    format_.type = type;
    format_.plus = sign == '+';
    // An upper limit on the digits of any number; only fixed notation is padded with zeros.
    constexpr int most_digits = 1100;
    const bool fixed = options.floatmode == floatmode::fixed;
    format_.precision = options.floatmode == floatmode::unique ? -1
                        : fixed                                ? options.precision
                                                               : std::min(options.precision, most_digits);
    std::vector<double> finite;
    for (double x : data)
      if (std::isfinite(x)) finite.push_back(x);
    choose_exponent(finite);
    if (!finite.empty()) measure(finite);
    if (sign == ' ' && std::none_of(finite.begin(), finite.end(), [](double x) { return std::signbit(x); }))
      ++format_.pad_left;
    if (finite.size() != data.size()) widen(data);
  }

  std::string operator()(double x) const {
    if (std::isfinite(x)) return exponent_ ? scientific(x, format_) : positional(x, format_);
    const std::string sign = !std::isnan(x) && x < 0 ? "-" : format_.plus ? "+" : "";
    const std::string text = sign + (std::isnan(x) ? options_.nanstr : options_.infstr);
    const auto width = static_cast<std::size_t>(format_.pad_left + pad_right_ + 1);
    return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
  }

 private:
  const print_options& options_;
  char sign_;
  number_format format_;
  bool exponent_ = false;
  int pad_right_ = 0;

  void choose_exponent(const std::vector<double>& finite) {
    double most = 0, least = HUGE_VAL;
    for (double x : finite) {
      if (x == 0) continue;
      most = std::max(most, std::fabs(x));
      least = std::min(least, std::fabs(x));
    }
    if (most == 0) return;
    const dtype type = format_.type;
    exponent_ = most >= std::pow(10.0, std::min(8, core::decimal_precision(type))) ||
                (!options_.suppress &&
                 (least < core::rounded_to(type, 0.0001) || core::rounded_to(type, most / least) > 1000.0));
  }

  void measure(const std::vector<double>& finite) {
    const bool fixed = options_.floatmode == floatmode::fixed;
    if (fixed && !exponent_) {
      format_.unique = false;
      format_.trimming = trim::keep;
    }
    int left = 0, right = 0, power = 0;
    for (double x : finite) {
      const std::string text = exponent_ ? scientific(x, format_) : positional(x, format_);
      const std::size_t point = text.find('.'), e = std::min(text.find('e'), text.size());
      left = std::max(left, static_cast<int>(point));
      right = std::max(right, static_cast<int>(e - point) - 1);
      power = std::max(power, static_cast<int>(text.size() - e) - 2);
    }
    if (fixed) right = format_.precision;
    format_.pad_left = left;
    if (exponent_ || fixed || options_.floatmode == floatmode::maxprec_equal) {
      format_.trimming = trim::keep;
      format_.precision = format_.min_digits = right;
    }
    if (exponent_) {
      format_.exponent_digits = power;
      pad_right_ = power + 2 + right;
    } else {
      format_.pad_right = pad_right_ = right;
    }
  }

  /// Widens the format for "nan" and "inf".
  void widen(const std::vector<double>& data) {
    const bool signs = sign_ != '-' || std::find(data.begin(), data.end(), -HUGE_VAL) != data.end();
    const int offset = pad_right_ + 1;
    format_.pad_left = std::max({format_.pad_left, static_cast<int>(options_.nanstr.size()) - offset,
                                 static_cast<int>(options_.infstr.size()) + signs - offset});
  }
};

std::vector<std::string> format_floats(const std::byte* p, dtype type, std::size_t count, const print_options& o) {
  std::vector<double> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = real_element(p + i * itemsize(type), type);
  const floating_format format(data, type, o.sign, o);
  std::vector<std::string> words;
  for (double x : data) words.push_back(format(x));
  return words;
}

std::vector<std::string> format_complex(const std::byte* p, dtype type, std::size_t count, const print_options& o) {
  const dtype part = type == dtype::c64 ? dtype::f32 : dtype::f64;
  std::vector<double> real(count), imag(count);
  for (std::size_t i = 0; i < count; ++i) {
    real[i] = real_element(p + 2 * i * itemsize(part), part);
    imag[i] = real_element(p + (2 * i + 1) * itemsize(part), part);
  }
  const floating_format first(real, part, o.sign, o), second(imag, part, '+', o);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text = second(imag[i]);
    text.insert(text.find_last_not_of(' ') + 1, "j");  // before the padding
    words.push_back(first(real[i]) + text);
  }
  return words;
}

/// As in NumPy, the width is that of the largest or the smallest element.
std::vector<std::string> format_integers(const std::byte* p, dtype type, std::size_t count, char sign) {
  std::vector<std::string> words;
  bool negative = false;
  for (std::size_t i = 0; i < count; ++i) {
    words.push_back(integer_element(p + i * itemsize(type), type));
    negative |= words.back()[0] == '-';
  }
  const std::string plus = sign == '+' ? "+" : sign == ' ' && !negative ? " " : "";
  std::size_t width = 0;
  for (auto& w : words) {
    if (w[0] != '-') w.insert(0, plus);
    width = std::max(width, w.size());
  }
  for (auto& w : words) w.insert(0, width - w.size(), ' ');
  return words;
}

std::string complex_text(double real, double imag, dtype part) {
  if (real == 0 && !std::signbit(real)) return core::scalar_text(imag, part, trim::point_zeros, false) + "j";
  return "(" + core::scalar_text(real, part, trim::point_zeros, false) +
         core::scalar_text(imag, part, trim::point_zeros, true) + "j)";
}

}  // namespace

double real_element(const std::byte* p, dtype type) {
  switch (type) {
    case dtype::f16: return float(get<half>(p));
    case dtype::bf16: return float(get<bfloat>(p));
    case dtype::f32: return get<float>(p);
    default: return get<double>(p);
  }
}

std::string integer_element(const std::byte* p, dtype type) {
  switch (type) {
    case dtype::b1: return get<bool>(p) ? "1" : "0";
    case dtype::i8: return std::to_string(get<std::int8_t>(p));
    case dtype::i16: return std::to_string(get<std::int16_t>(p));
    case dtype::i32: return std::to_string(get<std::int32_t>(p));
    case dtype::i64: return std::to_string(get<std::int64_t>(p));
    case dtype::u8: return std::to_string(get<std::uint8_t>(p));
    case dtype::u16: return std::to_string(get<std::uint16_t>(p));
    case dtype::u32: return std::to_string(get<std::uint32_t>(p));
    default: return std::to_string(get<std::uint64_t>(p));
  }
}

std::vector<std::string> format_elements(const std::byte* elements, dtype type, std::size_t count, bool alone,
                                         const print_options& options) {
  if (is_complex(type)) return format_complex(elements, type, count, options);
  if (is_inexact(type)) return format_floats(elements, type, count, options);
  if (type != dtype::b1) return format_integers(elements, type, count, options.sign);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count; ++i)
    words.push_back(get<bool>(elements + i) ? (alone ? "True" : " True") : "False");
  return words;
}

std::string format_scalar(const std::byte* element, dtype type) {
  if (type == dtype::b1) return get<bool>(element) ? "True" : "False";
  if (is_complex(type)) {
    const dtype part = type == dtype::c64 ? dtype::f32 : dtype::f64;
    return complex_text(real_element(element, part), real_element(element + itemsize(part), part), part);
  }
  if (is_inexact(type)) return core::scalar_text(real_element(element, type), type, trim::one_zero, false);
  return integer_element(element, type);
}

}  // namespace sinter::ops
