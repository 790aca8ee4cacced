// Numbers from text, parsed like NumPy's readers, independent of the locale.
#pragma once
#include <complex>
#include <cstdint>
#include <string_view>

namespace sinter::io {

// Blanks at both ends are ignored; false if the text is not a number. Values too large for a double are infinite,
// values too small are 0; integers that do not fit are rejected.
bool parse(std::string_view text, double& to) noexcept;
bool parse(std::string_view text, std::int64_t& to) noexcept;
bool parse(std::string_view text, std::uint64_t& to) noexcept;
/// "1", "2j", "1-2j", each optionally in parentheses.
bool parse(std::string_view text, std::complex<double>& to) noexcept;
/// true and false in any case, and integers.
bool parse(std::string_view text, bool& to) noexcept;

}  // namespace sinter::io
