// std::from_chars, extended by the forms that only NumPy accepts.
#include "io/text_numbers.hpp"

#include <charconv>
#include <cmath>

#include "io/text_rows.hpp"

namespace sinter::io {
namespace {

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if ((a[k] >= 'A' && a[k] <= 'Z' ? a[k] - 'A' + 'a' : a[k]) != b[k]) return false;
  return true;
}

/// Removes a sign; from_chars does not accept a plus.
bool take_sign(std::string_view& text) noexcept {
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return false;
  const bool minus = text[0] == '-';
  text.remove_prefix(1);
  return minus;
}

/// The double nearest to an unsigned number that is out of range: the position of its first digit decides whether it is
/// infinity or 0.
double out_of_range(std::string_view digits) noexcept {
  const std::size_t e = digits.find_first_of("eE");
  const std::string_view mantissa = digits.substr(0, e);
  std::size_t first = 0;
  while (first < mantissa.size() && (mantissa[first] == '0' || mantissa[first] == '.')) ++first;
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const auto place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  std::int64_t exponent = 0;
  if (e != std::string_view::npos) {
    std::string_view text = digits.substr(e + 1);
    const bool minus = take_sign(text);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error == std::errc::result_out_of_range) exponent = INT64_MAX / 2;
    if (minus) exponent = -exponent;
  }
  return place + exponent > 0 ? HUGE_VAL : 0.0;
}

/// Parses a number at the beginning of the text, its sign included, and removes it from the text.
bool take_number(std::string_view& text, double& to) noexcept {
  const bool minus = take_sign(text);
  if (text.empty() || text[0] == '-' || text[0] == '+') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  if (error == std::errc::invalid_argument) return false;
  const auto length = static_cast<std::size_t>(end - text.data());
  const std::string_view taken = text.substr(0, length);
  if (taken.find('(') != std::string_view::npos) return false;  // nan(...)
  if (error == std::errc::result_out_of_range) to = out_of_range(taken);
  if (minus) to = -to;
  text.remove_prefix(length);
  return true;
}

template <class T>
bool parse_integer(std::string_view text, T& to) noexcept {
  text = trimmed(text);
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text[0] == '-') return false;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool parse(std::string_view text, double& to) noexcept {
  text = trimmed(text);
  return take_number(text, to) && text.empty();
}

bool parse(std::string_view text, std::int64_t& to) noexcept { return parse_integer(text, to); }
bool parse(std::string_view text, std::uint64_t& to) noexcept { return parse_integer(text, to); }

bool parse(std::string_view text, bool& to) noexcept {
  text = trimmed(text);
  if (equal_ignoring_case(text, "true") || equal_ignoring_case(text, "false")) {
    to = text.size() == 4;
    return true;
  }
  std::int64_t n = 0;
  if (!parse_integer(text, n)) return false;
  to = n != 0;
  return true;
}

bool parse(std::string_view text, std::complex<double>& to) noexcept {
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')') text = trimmed(text.substr(1, text.size() - 2));
  double first = 0, second = 0;
  if (!take_number(text, first)) return false;
  if (text == "j") {
    to = {0, first};
    return true;
  }
  if (text.empty()) {
    to = {first, 0};
    return true;
  }
  if ((text[0] != '+' && text[0] != '-') || !take_number(text, second) || text != "j") return false;
  to = {first, second};
  return true;
}

}  // namespace sinter::io
