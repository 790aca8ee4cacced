// What each step of an einsum becomes.
#pragma once
#include "ops/linalg/einsum_order.hpp"

namespace sinter::ops {

/// The labels of two terms by what becomes of them in their product.
struct label_roles {
  label_list batch;    // of both, kept
  label_list inner;    // of both, summed over
  label_list rows;     // of the first only
  label_list columns;  // of the second only

  /// Whether a matrix product serves: free labels on both sides of a sum. Anything else is recorded.
  bool is_matrix_product() const { return !inner.empty() && !rows.empty() && !columns.empty(); }
};
label_roles roles_of(const label_list& a, const label_list& b, const label_list& after);

/// Labels that can be summed over before anything else: of one term only, and not of the output.
label_list summed_first(const term_list& terms, std::size_t which, const label_list& output);

/// The plan in words.
std::string describe_einsum(std::string_view subscripts, const einsum_terms& t, const term_list& given,
                            const contraction_path& path);

}  // namespace sinter::ops
