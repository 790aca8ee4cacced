// The library's environment variables: each is declared, read and checked here. A value that is not allowed is reported
// on standard error, with what is used instead, in one line per variable and process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sinter::platform {

struct environment_variable {
  const char* name;
  const char* meaning;
  const char* allowed;                         // "a number from 1 to 1024"
  const char* otherwise;                       // what is used instead of any other value
  bool (*accepts)(std::string_view) noexcept;  // null: values are checked where they are used
};
std::span<const environment_variable> environment_variables() noexcept;

/// The value of a variable of the table; empty if it is not set, and, after a line on standard error, if it is not
/// allowed. Valid until the variable is changed.
std::string_view environment_text(const char* name) noexcept;
/// The same as a number.
std::optional<std::int64_t> environment_number(const char* name) noexcept;
/// False for 0, true for anything else; null if it is not set.
std::optional<bool> environment_switch(const char* name) noexcept;

/// SINTER_TIER: `low` for 0, `high` for 1, else `automatic`.
template <class Tier>
Tier environment_tier(Tier automatic, Tier low, Tier high) noexcept {
  const std::string_view text = environment_text("SINTER_TIER");
  return text == "0" ? low : text == "1" ? high : automatic;
}

/// "[sinter] NAME=value PROBLEM" on standard error, once for each variable of the table and process.
void warn_of_environment(const char* name, std::string_view problem) noexcept;
/// "[sinter] LINE" on standard error.
void warn(std::string_view line) noexcept;
/// The problem with a value: "is not 0, 1 or auto: auto is used".
std::string environment_problem(const environment_variable& v);
/// Warns of all values that are not allowed, whether or not they will be used.
void check_environment() noexcept;

/// Bytes in "8GiB", "500 MB", "1073741824", or "0.5" of `total`; SIZE_MAX for blanks; null if it is none of them.
std::optional<std::size_t> memory_amount(std::string_view text, std::size_t total) noexcept;

}  // namespace sinter::platform
