// Lists of axes as users give them, checked.
#pragma once
#include <span>
#include <vector>

#include "ops/base/promotion_args.hpp"
#include "sinter/keywords.hpp"

namespace sinter::ops {

/// Counted from the front; index_error if one is out of range for `shape` or named twice.
std::vector<int> distinct_axes(const axes& wanted, const dims& shape, const char* function);
/// The same in a result of rank `rank` (expand_dims, stack).
std::vector<int> distinct_axes(const axes& wanted, int rank, const char* function);
/// How many arrays a function is to return: a handle is some hundred bytes, so a number far above what anybody means is
/// a memory_error before any is made.
std::size_t list_length(std::int64_t count, const char* function);
/// A view of the same storage as x; strides and offset in elements of the storage.
ndarray view_as(const ndarray& x, dims shape, dims strides, std::int64_t offset);
/// A new array of x's elements where x is a view: what functions return has C-contiguous strides. Recorded, so that the
/// copy fuses with what reads it.
ndarray in_c_order(const ndarray& x);
/// [first, last) along an axis; a view.
ndarray slice_of(const ndarray& x, int axis, std::int64_t first, std::int64_t last);
/// The value's elements in C order under another shape.
graph::value reshape_value(const graph::value& v, const dims& shape);

}  // namespace sinter::ops
