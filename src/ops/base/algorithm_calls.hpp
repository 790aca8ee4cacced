// Values as the device-wide algorithms need them: exclusively owned memory, rows along one axis, scratch from the pool.
// Everything here evaluates its arguments; nothing synchronises unless its comment says so.
#pragma once
#include <functional>

#include "ops/base/elementwise_values.hpp"
#include "runtime/algorithms/algorithms.hpp"

namespace sinter::ops {

using graph::unset_leaf;

/// Evaluates a value, whose elements are only read afterwards.
value evaluated(value v);
/// Addresses for a library's call. In a capture the host records such calls, and refuses all other work by address.
const void* readable_by_library(const value& leaf, std::int64_t element = 0);
void* writable_by_library(const value& leaf);
/// The elements in exclusively owned memory, to be overwritten. A pending expression is evaluated directly into it.
value own_memory(const value& v);

/// `rows` rows of `count` contiguous elements along one axis.
struct rows_of {
  value elements;  // of shape (the other axes, the axis)
  dims shape;      // of the array
  int axis = 0;
  std::int64_t rows = 1, count = 0;

  runtime::row_layout layout() const { return {elements->type, rows, count}; }
};
/// The rows of `v` along an axis; records a transposition if it is not the last one.
rows_of rows_along(const value& v, int axis);
/// An evaluated value in the rows' order of axes (whose last extent may differ) as an array in the original order of
/// axes: a view with transposed strides, no copy.
ndarray in_place_of(const rows_of& r, const value& leaf);

/// The rows, sorted, in exclusively owned memory. A pending expression is evaluated into it and sorted there.
value sorted_rows(const value& v, const runtime::row_layout& l, bool descending);
/// A vector, in other memory, whose runs [ends[k - 1], ends[k]) are sorted, in sort()'s order as a whole: merged, where the device
/// does that for less than a sort.
value merged_runs(const value& v, std::span<const std::int64_t> ends, bool descending);
/// The stable permutation that sorts each row of an evaluated value; int64, of the same shape.
value argsort_rows(const value& keys, const runtime::row_layout& l, bool descending);
/// The permutation that sorts evaluated uint64 keys of one axis, which were drawn at random: as argsort_rows(). Its elements behind
/// the first ones, as many as are needed, may be anything.
value random_order_of(const value& keys, std::int64_t first);
/// Whether the elements of a device's arrays are in the host's memory.
bool is_in_host_memory(runtime::device_id device);
/// There: a value that f(v's elements, its own) makes at once.
value made_at_once(const value& v, const dims& shape, dtype type, const std::function<void(const void*, void*)>& f);
/// There: the first `wanted` different ones of evaluated int64 numbers, none of which is negative, in their order; null if there
/// are not as many.
value first_different_of(const value& numbers, std::int64_t wanted);

/// Partitions and the first elements of an order, where the device does not rather sort (can_partition).
bool can_partition(const value& v, const runtime::row_layout& l);
/// The rows of an evaluated value, partitioned at `kth` (ascending, without repetition, not empty).
value partitioned_rows(const value& from, const runtime::row_layout& l, std::span<const std::int64_t> kth);
/// The positions that they have in their rows; int64.
value argpartitioned_rows(const value& keys, const runtime::row_layout& l, std::span<const std::int64_t> kth);
/// How many ranks ranked_elements() takes of such rows; callers sort where they want more.
std::int64_t most_ranks(const value& v, const runtime::row_layout& l);
/// The elements of the ranks `kth` (ascending, without repetition, not empty) of each row of an evaluated value: of its
/// shape with as many elements in the last place.
value ranked_elements(const value& from, const runtime::row_layout& l, std::span<const std::int64_t> kth);
/// Whether own_ranked_elements() takes such rows.
bool finds_own_ranks(const value& v, const runtime::row_layout& l);
/// The elements of the ranks of each row, evaluated int64 with as many ranks in the last place as the result has elements.
value own_ranked_elements(const value& from, const runtime::row_layout& l, const value& ranks);
/// The positions of the first k elements of each row in the order of argsort_rows: in this order where orders_first(),
/// else by position. int64, of the shape of `keys` with k in the last place; 0 < k < l.columns.
bool orders_first(const value& keys, const runtime::row_layout& l, std::int64_t k);
value first_of_rows(const value& keys, const runtime::row_layout& l, bool descending, std::int64_t k);

/// Whether the device of `v` repeats elements in memory (repeated).
bool repeats_pieces(const value& v);
/// `counts` (int64, of rank 1), evaluated, and their running totals.
struct repetitions {
  value ends;
  runtime::piece_total total;
};
repetitions counted_repetitions(const value& counts);
/// v with element k along an axis, which has as many as there are counts, repeated as often as its count says.
value repeated(const value& v, const repetitions& r, int axis);

/// Whether running products in a dtype, on the device of `v`, are 0 from a 0 on, whatever overflows, if all factors are finite.
bool keeps_zeros(dtype type, const value& v);
/// Inclusive scan of v, in v's dtype, along an axis; evaluated.
value scanned(runtime::scan_op op, const value& v, int axis);
/// The same into elements in C order of an array of the value's shape and dtype, if the value is in memory; else false, and nothing
/// has happened.
bool scanned_into(runtime::scan_op op, const value& v, int axis, const graph::array_view& to);

/// Whether the device, which is the host, adds elements of this type one after the other; not while work is captured.
bool adds_in_order(dtype type, runtime::device_id device);
/// to[at[i]] += v[i] for one i after the other; all are in memory, and the positions have been checked.
void add_in_order_to(const value& to, const value& at, const value& v);
/// Whether a capture of the device, which is the host, takes such additions.
bool records_additions(dtype type, runtime::device_id device);
/// The same in each launch of the capture in which `skip`, a bool that says whether a position is out of range, is false.
void record_add_in_order(const value& to, const value& at, const value& v, const value& skip);
/// Whether the device, which is the host, writes elements one after the other faster than by finding the last one for each
/// position; not while work is captured.
bool writes_in_order(runtime::device_id device);
/// to[at[i]] = v[i] for one i after the other, under the conditions of add_in_order_to.
void write_in_order_to(const value& to, const value& at, const value& v);

/// The number of occurrences of each of [0, count) among the `bins` (int32 or int64): int64; with `weights` (float32 or
/// float64, one per bin index, or null) the sums of the weights: float64. Other bin indices are ignored.
value binned(const value& bins, const value& weights, std::int64_t count);
/// The number of samples in each of some bins of equal width: int64. The samples have a dtype that
/// algorithms::histogram accepts.
value counted_in(const runtime::bin_range& bins, const value& samples);

}  // namespace sinter::ops
