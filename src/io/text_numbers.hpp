// Numbers from text, as NumPy's readers understand them, whatever the locale says.
#pragma once
#include <complex>
#include <cstdint>
#include <string_view>

namespace sinter::io {

// Blanks at both ends do not count; false where the text is no number. What is too large for a double is infinite, what
// is too small zero; integers that do not fit are refused.
bool parse(std::string_view text, double& to) noexcept;
bool parse(std::string_view text, std::int64_t& to) noexcept;
bool parse(std::string_view text, std::uint64_t& to) noexcept;
/// "1", "2j", "1-2j", each also in parentheses.
bool parse(std::string_view text, std::complex<double>& to) noexcept;
/// true and false in any case, and integers.
bool parse(std::string_view text, bool& to) noexcept;

}  // namespace sinter::io
