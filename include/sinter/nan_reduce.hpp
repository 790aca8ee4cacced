// Reductions that leave NaN out. They are those of reduce.hpp with `where`: they record, and the test of each element is
// part of the kernel that reduces. Complex numbers are NaN where a part is. Dtypes, axes, keywords and errors as there;
// integers and bools hold no NaN.
#pragma once
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

/// Sum, NaN taken for 0.
ndarray nansum(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray nansum(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return nansum(x, detail::with_axis("nansum", axis, kw));
}
/// Product, NaN taken for 1.
ndarray nanprod(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray nanprod(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return nanprod(x, detail::with_axis("nanprod", axis, kw));
}
/// Smallest element that is not NaN; NaN where there is none. value_error for the minimum of nothing.
ndarray nanmin(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray nanmin(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return nanmin(x, detail::with_axis("nanmin", axis, kw));
}
/// Largest element that is not NaN, as nanmin.
ndarray nanmax(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray nanmax(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return nanmax(x, detail::with_axis("nanmax", axis, kw));
}
/// int64 index of the smallest element that is not NaN, as argmin. value_error where all are NaN, for which elements of
/// inexact dtypes are evaluated and waited for. As in NumPy, a NaN counts as infinity where infinity is the smallest.
ndarray nanargmin(const ndarray& x, const reduce_kw& kw = {});
template <int_like A>
ndarray nanargmin(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return nanargmin(x, detail::with_axis("nanargmin", axis, kw));
}
/// int64 index of the largest element that is not NaN, as nanargmin.
ndarray nanargmax(const ndarray& x, const reduce_kw& kw = {});
template <int_like A>
ndarray nanargmax(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return nanargmax(x, detail::with_axis("nanargmax", axis, kw));
}
/// Mean of the elements that are not NaN; NaN where there is none.
ndarray nanmean(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray nanmean(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return nanmean(x, detail::with_axis("nanmean", axis, kw));
}
/// Variance of the elements that are not NaN, about their mean; NaN where their number less ddof is not above 0.
ndarray nanvar(const ndarray& x, const var_kw& kw = {});
template <axis_like A>
ndarray nanvar(const ndarray& x, const A& axis, const var_kw& kw = {}) {
  return nanvar(x, detail::with_axis("nanvar", axis, kw));
}
/// Square root of nanvar.
ndarray nanstd(const ndarray& x, const var_kw& kw = {});
template <axis_like A>
ndarray nanstd(const ndarray& x, const A& axis, const var_kw& kw = {}) {
  return nanstd(x, detail::with_axis("nanstd", axis, kw));
}

}  // namespace sinter::inline v0
