// Parser for the C++ types of kernel parameters.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ops/raw/signature.hpp"

namespace sinter::ops {

/// Names, numbers, "::" and single characters; blanks separate.
using tokens = std::vector<std::string_view>;
tokens tokens_of(std::string_view text);
/// In the usual notation: "const float* __restrict__ x".
std::string rendered(const tokens& t);
/// Splits at commas outside of brackets.
std::vector<tokens> split_at_commas(const tokens& t);
/// One parameter; it may have a name if it comes from a declaration.
raw_parameter parameter_of(tokens t, bool may_have_name);

}  // namespace sinter::ops
