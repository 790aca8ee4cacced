// Shapes: views of the same elements where strides can express them, recorded copies elsewhere.
// index_error: an axis out of range or given twice; shape_error: shapes that do not fit.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "sinter/elementwise.hpp"
#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"
#include "sinter/take.hpp"

namespace sinter::inline v0 {

/// The elements in C order under another shape; one extent may be -1. A view where strides allow it, else a copy.
ndarray reshape(const ndarray& x, const shape_t& shape, const reshape_kw& kw = {});
/// One axis; a view where strides allow it.
ndarray ravel(const ndarray& x, const order_kw& kw = {});
/// One axis; always a new array.
ndarray flatten(const ndarray& x, const order_kw& kw = {});
/// The array if its first axis is the fastest in memory, else a copy that lies so: for libraries that read matrices by columns.
ndarray asfortranarray(const ndarray& x);
/// Whether the first axis is the fastest in memory, and the last one is not.
bool isfortran(const ndarray& x);

/// Axes reversed, or permuted: axis k of the result is axis axes[k] of x. A view.
ndarray transpose(const ndarray& x, const permutation_kw& kw = {});
template <axis_like A = axes>
ndarray transpose(const ndarray& x, const A& permutation) {
  return transpose(x, permutation_kw{.axes = axes(permutation)});
}
ndarray permute_dims(const ndarray& x, const permutation_kw& kw);
template <axis_like A = axes>
ndarray permute_dims(const ndarray& x, const A& permutation) {
  return permute_dims(x, permutation_kw{.axes = axes(permutation)});
}
/// The last two axes swapped; a view.
ndarray matrix_transpose(const ndarray& x);
/// Axes moved to new places, the others in their order; a view.
ndarray moveaxis(const ndarray& x, const axes& source, const axes& destination);
/// Two axes exchanged; a view.
ndarray swapaxes(const ndarray& x, std::int64_t first, std::int64_t second);
/// Axes of extent 1 inserted at places counted in the result; a view.
ndarray expand_dims(const ndarray& x, const some_axes_kw& kw);
template <axis_like A = axes>
ndarray expand_dims(const ndarray& x, const A& axis) {
  return expand_dims(x, some_axes_kw{.axis = axes(axis)});
}
/// Axes of extent 1 dropped: all, or those named (shape_error if one is longer); a view.
ndarray squeeze(const ndarray& x, const some_axes_kw& kw = {});
template <axis_like A = axes>
ndarray squeeze(const ndarray& x, const A& axis) {
  return squeeze(x, some_axes_kw{.axis = axes(axis)});
}

/// The array repeated along axes of extent 1 and new leading axes; a read-only view: writing to it throws value_error.
ndarray broadcast_to(const ndarray& x, const shape_t& shape);
/// The shape that all of them broadcast to; (5,) of 5, () of none.
shape_t broadcast_shapes(std::initializer_list<shape_t> shapes);
template <std::convertible_to<shape_t>... S>
  requires(sizeof...(S) > 0)
shape_t broadcast_shapes(const S&... shapes) {
  return broadcast_shapes(std::initializer_list<shape_t>{shape_t(shapes)...});
}
/// All of them broadcast to their common shape; views.
std::vector<ndarray> broadcast_arrays(const std::vector<ndarray>& arrays);
template <std::derived_from<ndarray>... A>
  requires(sizeof...(A) > 0)
std::vector<ndarray> broadcast_arrays(const A&... arrays) {
  return broadcast_arrays(std::vector<ndarray>{ndarray(arrays)...});
}

/// At least 1, 2 or 3 axes, placed as NumPy places them; views.
ndarray atleast_1d(const ndarray& x);
ndarray atleast_2d(const ndarray& x);
ndarray atleast_3d(const ndarray& x);

/// Order reversed along all axes, or those named; a view.
ndarray flip(const ndarray& x, const some_axes_kw& kw = {});
template <axis_like A = axes>
ndarray flip(const ndarray& x, const A& axis) {
  return flip(x, some_axes_kw{.axis = axes(axis)});
}
/// Axis 1 reversed; a view.
ndarray fliplr(const ndarray& x);
/// Axis 0 reversed; a view.
ndarray flipud(const ndarray& x);
/// Rotated k times by 90 degrees from the first of two axes towards the second; a view.
ndarray rot90(const ndarray& x, std::int64_t k = 1, const axes& plane = axes{0, 1});

/// Shifted towards larger indices, cyclically; without an axis, as one flattened axis. A recorded value.
ndarray roll(const ndarray& x, std::int64_t shift);
ndarray roll(const ndarray& x, std::int64_t shift, const some_axes_kw& kw);
template <axis_like A = axes>
ndarray roll(const ndarray& x, std::int64_t shift, const A& axis) {
  return roll(x, shift, some_axes_kw{.axis = axes(axis)});
}
/// Shifts and axes pair up; an axis named twice is shifted by the sum.
ndarray roll(const ndarray& x, const std::vector<std::int64_t>& shifts, const some_axes_kw& kw);
template <axis_like A = axes>
ndarray roll(const ndarray& x, const std::vector<std::int64_t>& shifts, const A& axis) {
  return roll(x, shifts, some_axes_kw{.axis = axes(axis)});
}

/// Joined along an axis that exists; `_` for the axis flattens first. dtypes promote. A new array.
ndarray concatenate(const std::vector<ndarray>& arrays, optional_axis axis = 0);
inline ndarray concat(const std::vector<ndarray>& arrays, optional_axis axis = 0) { return concatenate(arrays, axis); }
/// Joined along a new axis, placed in the result; equal shapes.
ndarray stack(const std::vector<ndarray>& arrays, std::int64_t axis = 0);
/// Joined along axis 0 after atleast_2d.
ndarray vstack(const std::vector<ndarray>& arrays);
/// Joined along axis 1, vectors along axis 0.
ndarray hstack(const std::vector<ndarray>& arrays);
/// Joined along axis 2 after atleast_3d.
ndarray dstack(const std::vector<ndarray>& arrays);
/// Joined along axis 1; vectors become columns.
ndarray column_stack(const std::vector<ndarray>& arrays);

/// The whole array repeated along each axis. A recorded value.
ndarray tile(const ndarray& x, const shape_t& repetitions);
/// Each element repeated along an axis; without one, of the flattened array. A recorded value.
ndarray repeat(const ndarray& x, std::int64_t repeats, optional_axis axis = std::nullopt);
/// Element k along the axis repeated counts[k] times: one count for each, or one for all. `counts` are integers or bools
/// of rank 0 or 1. The sum is the extent of the result, so this synchronises. dtype_error: counts that int64 does not
/// hold safely; shape_error: another number of counts; value_error: a negative one.
ndarray repeat(const ndarray& x, const ndarray& counts, optional_axis axis = std::nullopt);
ndarray repeat(const ndarray& x, const std::vector<std::int64_t>& counts, optional_axis axis = std::nullopt);
inline ndarray repeat(const ndarray& x, std::initializer_list<std::int64_t> counts, optional_axis axis = std::nullopt) {
  return repeat(x, std::vector<std::int64_t>(counts), axis);
}

/// The slices along an axis, which they lose; views.
std::vector<ndarray> unstack(const ndarray& x, std::int64_t axis = 0);
/// Equal parts along an axis (value_error if it does not divide); views.
std::vector<ndarray> split(const ndarray& x, std::int64_t sections, std::int64_t axis = 0);
/// Parts that end before each of the indices; views.
std::vector<ndarray> split(const ndarray& x, const std::vector<std::int64_t>& indices, std::int64_t axis = 0);
inline std::vector<ndarray> split(const ndarray& x, std::initializer_list<std::int64_t> indices,
                                  std::int64_t axis = 0) {
  return split(x, std::vector<std::int64_t>(indices), axis);
}
/// Parts (memory_error for more than 2^24) along an axis, the first ones longer by one where it does not divide; views.
std::vector<ndarray> array_split(const ndarray& x, std::int64_t sections, std::int64_t axis = 0);
inline std::vector<ndarray> array_split(const ndarray& x, const std::vector<std::int64_t>& indices,
                                        std::int64_t axis = 0) {
  return split(x, indices, axis);
}
inline std::vector<ndarray> array_split(const ndarray& x, std::initializer_list<std::int64_t> indices,
                                        std::int64_t axis = 0) {
  return split(x, indices, axis);
}

/// split along axis 0 (vsplit, of rank 2 at least), axis 1 (hsplit; axis 0 of vectors) and axis 2 (dsplit, of rank 3 at least).
std::vector<ndarray> vsplit(const ndarray& x, std::int64_t sections);
std::vector<ndarray> vsplit(const ndarray& x, const std::vector<std::int64_t>& indices);
inline std::vector<ndarray> vsplit(const ndarray& x, std::initializer_list<std::int64_t> indices) {
  return vsplit(x, std::vector<std::int64_t>(indices));
}
std::vector<ndarray> hsplit(const ndarray& x, std::int64_t sections);
std::vector<ndarray> hsplit(const ndarray& x, const std::vector<std::int64_t>& indices);
inline std::vector<ndarray> hsplit(const ndarray& x, std::initializer_list<std::int64_t> indices) {
  return hsplit(x, std::vector<std::int64_t>(indices));
}
std::vector<ndarray> dsplit(const ndarray& x, std::int64_t sections);
std::vector<ndarray> dsplit(const ndarray& x, const std::vector<std::int64_t>& indices);
inline std::vector<ndarray> dsplit(const ndarray& x, std::initializer_list<std::int64_t> indices) {
  return dsplit(x, std::vector<std::int64_t>(indices));
}
/// One axis moved before another one (counted in x; its rank: behind all); a view. moveaxis says it better.
ndarray rollaxis(const ndarray& x, std::int64_t axis, std::int64_t start = 0);

/// Keywords of diff.
struct diff_kw {
  kwonly _kw{};
  std::int64_t n = 1;
  std::int64_t axis = -1;
  optional_operand prepend{};
  optional_operand append{};
};
/// n-th difference of neighbours along an axis: x[1:] - x[:-1]; of bools, not_equal. Empty where n is the extent or more.
ndarray diff(const ndarray& x, const diff_kw& kw = {});
inline ndarray diff(const ndarray& x, std::int64_t n, std::int64_t axis = -1) {
  return diff(x, {.n = n, .axis = axis});
}

}  // namespace sinter::inline v0
