// C++ identifiers in text.
#pragma once
#include <algorithm>
#include <string_view>

namespace sinter::core {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool starts_identifier(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool continues_identifier(char c) noexcept { return starts_identifier(c) || is_digit(c); }
/// Compiler-generated names may contain dollar signs as well.
constexpr bool continues_symbol(char c) noexcept { return continues_identifier(c) || c == '$'; }

constexpr bool is_identifier(std::string_view text) noexcept {
  return !text.empty() && starts_identifier(text[0]) && std::all_of(text.begin(), text.end(), continues_identifier);
}

}  // namespace sinter::core
