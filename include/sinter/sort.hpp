// Sorting. These functions evaluate their arguments and enqueue the work at the call; none of them waits for it.
//
// The order is NumPy's: false before true, -0 equal to +0, NaN after every number; complex numbers by real part, then
// imaginary part, those with a NaN last. Descending order is the reverse of it, NaN first. Every sort is stable, also a
// descending one: equal elements keep their order. Expressions are computed straight into the memory that is sorted.
//
// An axis (the last one unless given) is counted from the end where it is negative; `_` flattens first, in C order.
// index_error: the axis is out of range, which any axis is for rank 0. Sorting along another axis than the last one
// transposes on the way in, and what reads the result transposes back: expressions fuse with that. Besides its result,
// a sort takes scratch memory of at most 1.2 times the input's bytes and 10 MiB; argsort takes the same and a 32-bit
// index for each element (64-bit for rows of 2^32 and more, where elements of one byte take 2.1 times their bytes).
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "sinter/take.hpp"

namespace sinter::inline v0 {

/// A sorted copy; dtype stays, shape too unless it is flattened.
ndarray sort(const ndarray& x, const sort_kw& kw = {});
inline ndarray sort(const ndarray& x, optional_axis axis, sort_kw kw = {}) {
  kw.axis = axis;
  return sort(x, kw);
}
/// The int64 indices along the axis that sort: take_along_axis(x, argsort(x)) is sort(x). Shape as of sort; an array of
/// rank 0 has the index 0.
ndarray argsort(const ndarray& x, const sort_kw& kw = {});
inline ndarray argsort(const ndarray& x, optional_axis axis, sort_kw kw = {}) {
  kw.axis = axis;
  return argsort(x, kw);
}
/// Sorted along the first axis.
inline ndarray msort(const ndarray& x) { return sort(x, 0); }

/// The int64 indices that sort by several keys, the last one first: keys[size - 2] decides where it has equal elements,
/// and so on. Keys have one shape (shape_error) and are sorted along one axis. value_error: no keys.
ndarray lexsort(const std::vector<ndarray>& keys, std::int64_t axis = -1);
inline ndarray lexsort(std::initializer_list<ndarray> keys,
                       std::int64_t axis = -1) {  // so that {key} is a list of one key
  return lexsort(std::vector<ndarray>(keys), axis);
}
/// The keys are the sub-arrays along the first axis: lexsort of a (k, n) array gives n indices.
ndarray lexsort(const ndarray& keys, std::int64_t axis = -1);
/// Sorted along the last axis, as complex numbers: complex64 of that and of integers of 8 and 16 bits, else complex128.
ndarray sort_complex(const ndarray& x);

/// Element `kth` is where it would be if the axis were sorted, those before it are not larger, those after it not
/// smaller. Negative kth count from the end; value_error out of range, unless x is empty. The order of the others is the
/// same in each run, but open otherwise, as in NumPy.
ndarray partition(const ndarray& x, std::int64_t kth, optional_axis axis = -1);
ndarray partition(const ndarray& x, const std::vector<std::int64_t>& kth, optional_axis axis = -1);
/// The int64 indices of partition.
ndarray argpartition(const ndarray& x, std::int64_t kth, optional_axis axis = -1);
ndarray argpartition(const ndarray& x, const std::vector<std::int64_t>& kth, optional_axis axis = -1);

struct topk_kw {
  kwonly _kw{};
  optional_axis axis = -1;
  bool largest = true;
};
struct topk_result {
  ndarray values, indices;
};
/// The k largest elements along the axis in descending order (NaN first), or the smallest in ascending order, and their
/// int64 indices; of equal elements those that come first. value_error: k is negative or above the extent.
topk_result topk(const ndarray& x, std::int64_t k, const topk_kw& kw = {});

}  // namespace sinter::inline v0
