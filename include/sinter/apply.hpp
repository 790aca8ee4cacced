// NumPy's functions that call a function with parts of an array: apply_along_axis, apply_over_axes. Not part of sinter.hpp.
#pragma once
#include <cstdint>

#include "sinter/vmap.hpp"

namespace sinter::inline v0 {

namespace detail {
/// The vectors along an axis as rows, (n, m); value_error where there are none.
ndarray rows_along(const ndarray& x, std::int64_t axis);
/// What a function gave for each of those rows, (n, ...), in the place of the axis of x.
ndarray in_place_of_axis(const ndarray& results, const ndarray& x, std::int64_t axis);
/// What a function gave for an axis of x, with the axis, should the function have taken it away; else value_error.
ndarray with_same_rank(const ndarray& result, const ndarray& x, std::int64_t axis);
}  // namespace detail

/// f of each vector along an axis of x. What f gives, a number or an array (r...), stands in the place of the axis: of x
/// (a, m, b) and axis 1 (a, r..., b). f is called once, for all vectors, as by vmap: its errors are those of vmap, a vmap_error
/// where it needs the elements of its vector. value_error: no vectors; index_error: axis out of range.
template <class F>
ndarray apply_along_axis(F f, std::int64_t axis, const ndarray& x) {
  return detail::in_place_of_axis(vmap(std::move(f))(detail::rows_along(x, axis)), x, axis);
}

/// f(x, axis), then f of the result and the next axis, and so on; f keeps the axis or reduces it. value_error: its result has
/// another rank.
template <class F>
ndarray apply_over_axes(F f, ndarray x, const axes& over) {
  for (const std::int64_t axis : over) x = detail::with_same_rank(f(x, axis), x, axis);
  return x;
}

}  // namespace sinter::inline v0
