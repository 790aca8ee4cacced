// Reductions by functions that have no name of their own in NumPy (np.bitwise_xor.reduce), and of segments between given
// places (np.add.reduceat). Not part of sinter.hpp.
//
// index_error: an axis out of range. dtype_error: dtypes that the function does not take.
#pragma once
#include <cstdint>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// Keywords of the reductions by functions.
struct fold_kw {
  kwonly _kw{};
  bool keepdims = false;
};
/// np.bitwise_and.reduce(x, axis) and its kin: along axis 0 unless another one is given, over all elements with `_`. Bools
/// stay bools, integers keep their dtype; an empty axis gives -1 (all bits), 0, 0. Neighbours are combined by halves, which
/// records.
ndarray bitwise_and_reduce(const ndarray& x, optional_axis axis = 0, const fold_kw& kw = {});
ndarray bitwise_or_reduce(const ndarray& x, optional_axis axis = 0, const fold_kw& kw = {});
ndarray bitwise_xor_reduce(const ndarray& x, optional_axis axis = 0, const fold_kw& kw = {});
/// Whether an odd number of elements is not zero; bools of any dtype.
ndarray logical_xor_reduce(const ndarray& x, optional_axis axis = 0, const fold_kw& kw = {});
/// The greatest common divisor (0 of nothing) and the least common multiple (value_error of nothing) of integers.
ndarray gcd_reduce(const ndarray& x, optional_axis axis = 0, const fold_kw& kw = {});
ndarray lcm_reduce(const ndarray& x, optional_axis axis = 0, const fold_kw& kw = {});

/// np.add.reduceat(x, indices, axis): element i of the result is the sum of x[indices[i]:indices[i + 1]] along the axis, the
/// last one to its end; where indices[i] >= indices[i + 1] it is x[indices[i]]. `indices` is a vector of integers, read at the
/// call. Integers and bools add in 64 bits, as NumPy's. Runs at the call. shape_error: indices that are no vector; dtype_error:
/// that are no integers; index_error: below 0, or not below the axis' extent.
ndarray add_reduceat(const ndarray& x, const ndarray& indices, std::int64_t axis = 0);
/// The largest and smallest elements; NaN wins. dtype_error for complex numbers.
ndarray maximum_reduceat(const ndarray& x, const ndarray& indices, std::int64_t axis = 0);
ndarray minimum_reduceat(const ndarray& x, const ndarray& indices, std::int64_t axis = 0);

/// split and array_split at an array of indices, which is read at the call. shape_error: indices that are no vector;
/// dtype_error: that are no integers.
std::vector<ndarray> split(const ndarray& x, const ndarray& indices, std::int64_t axis = 0);
std::vector<ndarray> array_split(const ndarray& x, const ndarray& indices, std::int64_t axis = 0);

}  // namespace sinter::inline v0
