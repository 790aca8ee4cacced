// The order in which the operands of einsum are contracted.
#pragma once
#include <algorithm>
#include <vector>

#include "ops/linalg/einsum_terms.hpp"
#include "sinter/einsum.hpp"

namespace sinter::ops {

/// For each operand or intermediate product its labels, each once.
using term_list = std::vector<label_list>;

/// The labels of the product of two terms: those that occur in other terms or in the output.
label_list labels_after(const label_list& a, const label_list& b, const term_list& others, const label_list& output);
/// The product of the extents.
double size_of(const label_list& labels, const einsum_terms& t);
/// The union of two label lists.
label_list united(const label_list& a, const label_list& b);
/// The labels that the other list does not hold.
label_list without(const label_list& all, const label_list& some);

/// Of terms whose labels are all different: one that has every label of them all; the number of terms if there is none.
std::size_t term_with_all_labels(const term_list& terms);
/// Whether three or more terms are one sum of products, over the elements of one of them, which it reads once. In pairs the others
/// would be contracted with it one by one.
bool one_sum_suffices(const term_list& terms);

/// Moves the operands of one step of a path out of the list of those that are left.
template <class T>
std::vector<T> take_out(std::vector<T>& left, std::vector<int> step) {
  std::sort(step.begin(), step.end());
  std::vector<T> taken;
  for (const int k : step) taken.push_back(std::move(left[static_cast<std::size_t>(k)]));
  for (auto k = step.rbegin(); k != step.rend(); ++k) left.erase(left.begin() + *k);
  return taken;
}

/// The order that `optimize` selects, or kw.path, validated, if it is given. Each step contracts one or more operands;
/// after the last step a single term remains. value_error: an unknown word, a path that does not fit.
contraction_path order_of(const term_list& terms, const einsum_terms& t, const einsum_kw& kw);

}  // namespace sinter::ops
