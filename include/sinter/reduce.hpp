// Reductions over one axis, several (`axes{0, 1}`) or all of them. They record and return at once: an expression, its
// reduction and what follows run as one kernel where they can. index_error: an axis out of range or given twice.
// keepdims leaves reduced axes with extent 1. Reducing everything gives an array of rank 0.
// Only sum, prod and mean take a dtype; sum, prod, min and max an initial value, which takes part as one more element (in
// the result's dtype); all but argmin, argmax and ptp take `where`, bools that broadcast to the operand (dtype_error and
// shape_error): elements where it is false take no part, and min and max need an initial value then. value_error for
// others. The mask fuses like the operand.
#pragma once
#include <optional>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// Sum. bool and signed integers are summed in int64, unsigned ones in uint64; `dtype` casts first. 0 of nothing.
ndarray sum(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray sum(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return sum(x, detail::with_axis("sum", axis, kw));
}
/// Product, in the dtypes of sum. 1 of nothing. Of finite factors, one of them 0, it is 0 whatever the others are.
ndarray prod(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray prod(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return prod(x, detail::with_axis("prod", axis, kw));
}

/// Smallest element; NaN wins; complex by real part, then imaginary part. value_error for the minimum of nothing.
ndarray min(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray min(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return min(x, detail::with_axis("min", axis, kw));
}
/// Largest element, as min.
ndarray max(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray max(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return max(x, detail::with_axis("max", axis, kw));
}
inline ndarray amin(const ndarray& x, const reduce_kw& kw = {}) { return min(x, kw); }
template <axis_like A>
ndarray amin(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return min(x, axis, kw);
}
inline ndarray amax(const ndarray& x, const reduce_kw& kw = {}) { return max(x, kw); }
template <axis_like A>
ndarray amax(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return max(x, axis, kw);
}
/// max - min; bools are refused.
ndarray ptp(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray ptp(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return ptp(x, detail::with_axis("ptp", axis, kw));
}

/// int64 index of the first smallest element (the first NaN, if there is one) along one axis; without an axis, of the
/// array flattened in C order. value_error if there is nothing to choose from.
ndarray argmin(const ndarray& x, const reduce_kw& kw = {});
template <int_like A>
ndarray argmin(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return argmin(x, detail::with_axis("argmin", axis, kw));
}
/// int64 index of the first largest element, as argmin.
ndarray argmax(const ndarray& x, const reduce_kw& kw = {});
template <int_like A>
ndarray argmax(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return argmax(x, detail::with_axis("argmax", axis, kw));
}

/// Whether any element is not zero (NaN is not); false of nothing.
ndarray any(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray any(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return any(x, detail::with_axis("any", axis, kw));
}
/// Whether no element is zero; true of nothing.
ndarray all(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray all(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return all(x, detail::with_axis("all", axis, kw));
}
/// How many elements are not zero, as int64.
ndarray count_nonzero(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray count_nonzero(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return count_nonzero(x, detail::with_axis("count_nonzero", axis, kw));
}

/// Arithmetic mean. bool and integers give float64; float16 is summed in float32. NaN of nothing.
ndarray mean(const ndarray& x, const reduce_kw& kw = {});
template <axis_like A>
ndarray mean(const ndarray& x, const A& axis, const reduce_kw& kw = {}) {
  return mean(x, detail::with_axis("mean", axis, kw));
}
/// Mean of |x - mean(x)|^2, about the mean in one pass; real dtype, float64 for integers. As NumPy, a divisor below 0
/// counts as 0: NaN, or infinity if the elements differ.
ndarray var(const ndarray& x, const var_kw& kw = {});
template <axis_like A>
ndarray var(const ndarray& x, const A& axis, const var_kw& kw = {}) {
  return var(x, detail::with_axis("var", axis, kw));
}
/// Square root of var.
ndarray std(const ndarray& x, const var_kw& kw = {});
template <axis_like A>
ndarray std(const ndarray& x, const A& axis, const var_kw& kw = {}) {
  return sinter::std(x, detail::with_axis("std", axis, kw));
}

}  // namespace sinter::inline v0
