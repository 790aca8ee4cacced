// Parsed subscripts of einsum: every axis of every operand has a label.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/dims.hpp"

namespace sinter::ops {

using core::dims;

/// A letter's code, or, for an axis of `...`, one of `ellipsis_label` and above, counted from the last axis.
using label = int;
inline constexpr label ellipsis_label = 128;
using label_list = std::vector<label>;

struct einsum_terms {
  std::vector<label_list> inputs;  // a label for each axis; labels may repeat
  label_list output;
  std::vector<std::int64_t> extents;  // by label; operands have this extent or 1

  std::int64_t extent(label l) const { return extents[static_cast<std::size_t>(l)]; }
};

/// Throws value_error for subscripts that are not well formed or do not fit the ranks, shape_error for extents.
einsum_terms parse_einsum(std::string_view subscripts, const std::vector<dims>& shapes);

/// "ij", with "..." for the axes of an ellipsis.
std::string text_of(const label_list& labels);
inline bool holds(const label_list& list, label l) {
  for (const label k : list)
    if (k == l) return true;
  return false;
}

}  // namespace sinter::ops
