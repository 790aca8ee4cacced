// In which order the operands of einsum are contracted.
#pragma once
#include <string_view>
#include <vector>

#include "ops/linalg/einsum_terms.hpp"
#include "sinter/einsum.hpp"

namespace sinter::ops {

/// An operand with each of its labels once, or the product of several.
using term_list = std::vector<label_list>;

/// The labels of the product of two terms: those that other terms or the output have.
label_list labels_after(const label_list& a, const label_list& b, const term_list& others, const label_list& output);
/// The product of the extents.
double size_of(const label_list& labels, const einsum_terms& t);
/// Labels of either, each once.
label_list united(const label_list& a, const label_list& b);

/// The order that `optimize` asks for, or kw.path if it is given, checked. Steps of one or more operands each; behind the
/// last one a single term is left. value_error: an unknown word, a path that does not fit.
contraction_path order_of(const term_list& terms, const einsum_terms& t, const einsum_kw& kw);

}  // namespace sinter::ops
