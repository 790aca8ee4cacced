// The elements of an array as strings of common width, as NumPy's element formatters produce them.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "sinter/print.hpp"

namespace sinter::ops {

/// `count` elements of dtype `type` in memory; `alone` for a 0-d array.
std::vector<std::string> format_elements(const std::byte* elements, dtype type, std::size_t count, bool alone,
                                         const print_options& options);
/// One element, as str() of a NumPy scalar.
std::string format_scalar(const std::byte* element, dtype type);
/// A real floating element, converted exactly.
double real_element(const std::byte* element, dtype type);
/// An integer in decimal; a bool as 0 or 1.
std::string integer_element(const std::byte* element, dtype type);

}  // namespace sinter::ops
