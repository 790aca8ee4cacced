// How each step of an einsum is computed.
#pragma once
#include "ops/linalg/einsum_order.hpp"

namespace sinter::ops {

/// The labels of two terms by their role in the product.
struct label_roles {
  label_list batch;    // in both, kept
  label_list inner;    // in both, summed over
  label_list rows;     // in the first only
  label_list columns;  // in the second only

  /// Whether the step is a matrix product: free labels of both operands, and a sum. Any other step is recorded as a
  /// fused product or sum.
  bool is_matrix_product() const { return !inner.empty() && !rows.empty() && !columns.empty(); }
};
label_roles roles_of(const label_list& a, const label_list& b, const label_list& after);

/// Labels that can be summed over before any product: of one term only, and not in the output.
label_list summed_first(const term_list& terms, std::size_t which, const label_list& output);

/// A readable description of the plan.
std::string describe_einsum(std::string_view subscripts, const einsum_terms& t, const term_list& given,
                            const contraction_path& path);

}  // namespace sinter::ops
