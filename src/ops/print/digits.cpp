// Integers as digits of a base.
#include <algorithm>
#include <optional>

#include "ops/base/errors.hpp"
#include "sinter/print.hpp"

namespace sinter::inline v0 {
namespace {

constexpr std::int64_t most_digits = 1000;

/// Without a sign; "0" of 0.
std::string digits_of(std::uint64_t value, std::uint64_t base) {
  std::string text;
  do text.push_back("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[value % base]);
  while ((value /= base) != 0);
  std::reverse(text.begin(), text.end());
  return text;
}

std::uint64_t magnitude_of(std::int64_t n) {
  return n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
}

}  // namespace

std::string base_repr(std::int64_t number, std::int64_t base, std::int64_t padding) {
  if (base < 2 || base > 36) ops::fail<value_error>("base_repr", "bases are from 2 to 36, not ", base);
  if (padding < 0 || padding > most_digits) ops::fail<value_error>("base_repr", "a padding of ", padding, " digits");
  // As in NumPy a 0 is nothing but padding where there is any.
  const std::string digits =
      number == 0 && padding > 0 ? "" : digits_of(magnitude_of(number), static_cast<std::uint64_t>(base));
  return (number < 0 ? "-" : "") + std::string(static_cast<std::size_t>(padding), '0') + digits;
}

std::string binary_repr(std::int64_t number, std::optional<std::int64_t> width) {
  if (width && (*width < 0 || *width > most_digits))
    ops::fail<value_error>("binary_repr", "a width of ", *width, " digits");
  const auto filled = [&](const std::string& digits, char with) {
    const auto wanted = static_cast<std::size_t>(width.value_or(0));
    if (width && wanted < digits.size())
      ops::fail<value_error>("binary_repr", number, " needs ", digits.size(), " digits, more than ", wanted);
    return std::string(std::max(wanted, digits.size()) - digits.size(), with) + digits;
  };
  if (number >= 0)
    return number == 0 && width ? std::string(static_cast<std::size_t>(std::max<std::int64_t>(*width, 1)), '0')
                                : filled(digits_of(magnitude_of(number), 2), '0');
  if (!width) return "-" + digits_of(magnitude_of(number), 2);
  // The fewest digits of a two's complement: those of -1 - number, and a sign.
  const auto above = static_cast<std::uint64_t>(-1 - number);
  const std::size_t least = above == 0 ? 1 : digits_of(above, 2).size() + 1;
  std::string digits(least, '1');
  for (std::size_t i = 0; i < least && i < 64; ++i)
    digits[least - 1 - i] = (static_cast<std::uint64_t>(number) >> i & 1) != 0 ? '1' : '0';
  return filled(digits, '1');
}

}  // namespace sinter::inline v0
