// Values as the device-wide algorithms take them: memory of their own, rows along one axis, scratch from the pool.
// Everything here evaluates its arguments; nothing synchronises unless it says so.
#pragma once
#include "ops/base/elementwise_values.hpp"
#include "runtime/algorithms/algorithms.hpp"

namespace sinter::ops {

/// Address of an element of an evaluated value, for work that is enqueued next: some that only reads the value, which
/// others may be reading on other streams meanwhile, or some that writes it.
const void* address_to_read(const value& leaf, std::int64_t element = 0);
void* address_to_write(const value& leaf, std::int64_t element = 0);
/// A leaf of elements that are not set.
value unset_leaf(const dims& shape, dtype type, runtime::device_id device);
/// Evaluates a value; its elements are only read.
value evaluated(value v);
/// The elements in memory that nobody else reads, to be overwritten. Pending expressions are evaluated straight into
/// it.
value own_memory(const value& v);

/// `count` elements along one axis, lying one behind the other, in each of `rows` rows.
struct rows_of {
  value elements;  // of shape (the other axes, the axis)
  dims shape;      // of the array
  int axis = 0;
  std::int64_t rows = 1, count = 0;

  runtime::row_layout layout() const { return {elements->type, rows, count}; }
};
/// The rows of `v` along an axis; records a transposition where it is not the last one.
rows_of rows_along(const value& v, int axis);
/// An evaluated value of the rows' order of axes (whose last extent may differ) as an array in the order of the array
/// that the rows came from: a view with transposed strides, no copy.
ndarray in_place_of(const rows_of& r, const value& leaf);

/// Sorts rows in memory that is the caller's own.
void sort_rows(const value& own, const runtime::row_layout& l, bool descending);
/// The stable permutation that sorts each row of an evaluated value; int64, of its shape.
value argsort_rows(const value& keys, const runtime::row_layout& l, bool descending);

/// Inclusive scan of v, in v's dtype, along an axis; evaluated.
value scanned(runtime::scan_op op, const value& v, int axis);

/// How often each of the numbers [0, count) is among the int64 `bins`: int64; with `weights` (float64, as many, or
/// null) their sums: float64. Other bins are left out.
value binned(const value& bins, const value& weights, std::int64_t count);
/// How many samples lie in each of some bins of equal width: int64. Samples of a dtype that algorithms::histogram takes.
value counted_in(const runtime::bin_range& bins, const value& samples);

}  // namespace sinter::ops
