// The axes of a reduction: which are reduced, which remain, and how keepdims restores them.
#pragma once
#include <array>

#include "ops/base/promotion_args.hpp"
#include "sinter/keywords.hpp"

namespace sinter::ops {

/// The axes of one reduction of one shape.
struct axis_set {
  std::array<bool, core::max_rank> reduced{};
  int count = 0;              // of reduced axes
  std::int64_t elements = 1;  // per result
  std::int64_t results = 1;
  dims kept_shape;  // the result's shape with keepdims
};

/// Throws index_error for an axis that is out of range or given twice.
axis_set find_axes(const axes& wanted, const dims& shape, const char* function);
/// The reduced value with extent 1 for each reduced axis if `keepdims`.
graph::value restore_axes(const graph::value& v, const axis_set& s, bool keepdims);

}  // namespace sinter::ops
