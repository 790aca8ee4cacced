// Sums over axes of two arrays, as matrix products of views of them.
#pragma once
#include <vector>

#include "ops/linalg/product_calls.hpp"

namespace sinter::ops {

/// Which axes of x and y are one index: kept in the result (`batch_x`, `batch_y`) or summed over (`inner_x`,
/// `inner_y`). They pair up in order; paired extents are equal.
struct contraction {
  std::vector<int> batch_x, batch_y, inner_x, inner_y;
};

/// The result's axes: the batch axes in order, the other axes of x, the other axes of y. Axes are merged where strides
/// allow it; an operand that no view can express as matrices is copied once.
ndarray contract(const char* function, const ndarray& x, const ndarray& y, const contraction& c, dtype type,
                 const product_kw& kw);

/// Axis numbers as dims, for messages.
core::dims dims_of(const std::vector<int>& list);

}  // namespace sinter::ops
