// Validation of lists of axes given by users, and views along axes.
#pragma once
#include <vector>

#include "ops/base/promotion_args.hpp"
#include "sinter/keywords.hpp"

namespace sinter::ops {

/// The axes as non-negative numbers; index_error if one is out of range for `shape` or given twice.
std::vector<int> distinct_axes(const axes& wanted, const dims& shape, const char* function);
/// The same for a result of rank `rank` (expand_dims, stack).
std::vector<int> distinct_axes(const axes& wanted, int rank, const char* function);
/// The number of arrays that a function returns. A handle takes some hundred bytes, so a number far above any sensible
/// one is a memory_error before anything is allocated.
std::size_t list_length(std::int64_t count, const char* function);
/// A view of x's storage; strides and offset in elements of the storage.
ndarray view_as(const ndarray& x, dims shape, dims strides, std::int64_t offset);
/// A new C-contiguous array of x's elements if x is a view, since functions return C-contiguous results. Recorded, so
/// that the copy fuses with its readers.
ndarray in_c_order(const ndarray& x);
/// The range [first, last) along an axis; a view.
ndarray slice_of(const ndarray& x, int axis, std::int64_t first, std::int64_t last);
/// The value's elements in C order with another shape.
graph::value reshape_value(const graph::value& v, const dims& shape);
inline graph::value flattened(const graph::value& v) { return reshape_value(v, dims{v->size()}); }

}  // namespace sinter::ops
