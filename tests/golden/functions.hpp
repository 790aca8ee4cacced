// The public functions by NumPy's names, for tests whose data refer to them.
#pragma once
#include <string_view>

#include "sinter/sinter.hpp"

namespace sinter::test {

using unary_function = ndarray (*)(const ndarray&);
using binary_function = ndarray (*)(const operand&, const operand&);
using reduction_function = ndarray (*)(const ndarray&, const axes&, bool keepdims, std::optional<dtype>, double ddof);

/// Null if there is no function of this name.
unary_function find_unary(std::string_view name);
binary_function find_binary(std::string_view name);
reduction_function find_reduction(std::string_view name);

}  // namespace sinter::test
