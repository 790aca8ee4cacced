// Reductions that leave NaN out: those of reduce.hpp over the elements that are not.
#include "sinter/nan_reduce.hpp"

#include <cmath>
#include <complex>

#include "ops/base/axis_set.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// The keywords with `where` less the elements that are NaN, which x has.
template <class Kw>
Kw over_numbers(const ndarray& x, Kw kw) {
  const ndarray numbers = logical_not(isnan(x));
  kw.where = kw.where ? logical_and(*kw.where, numbers) : numbers;
  return kw;
}

bool may_hold_nan(const ndarray& x, const char* function) { return is_inexact(view_of(x, function).type); }

/// Infinity, above or below everything of a dtype.
scalar infinity_of(dtype type, bool above) {
  const double end = above ? HUGE_VAL : -HUGE_VAL;
  return is_complex(type) ? scalar(std::complex<double>(end, end)) : scalar(end);
}

template <class Reduce>
ndarray extreme(const char* function, const Reduce& reduce, bool least, const ndarray& x, const reduce_kw& kw) {
  if (!may_hold_nan(x, function)) return reduce(x, kw);
  const graph::array_view& v = view_of(x, function);
  if (kw.initial || kw.where) return reduce(x, over_numbers(x, kw));
  if (find_axes(kw.axis, v.shape, function).elements == 0)
    fail<value_error>(function, "zero-size array with shape ", v.shape, " has no ", function);
  reduce_kw with = over_numbers(x, kw);
  with.initial = infinity_of(v.type, least);
  const ndarray found = any(*with.where, reduce_kw{.axis = kw.axis, .keepdims = kw.keepdims});
  // Of complex numbers, one of the NaN that are there: either part may be a number.
  if (is_complex(v.type)) return where(found, reduce(x, with), reduce(x, kw));
  return where(found, reduce(x, with), std::nan(""));
}

template <class Reduce>
ndarray position(const char* function, const Reduce& reduce, double instead, const ndarray& x, const reduce_kw& kw) {
  if (!may_hold_nan(x, function)) return reduce(x, kw);
  const ndarray none = isnan(x);
  const ndarray chosen = reduce(where(none, instead, x), kw);
  if (view_of(x, function).shape.empty() ? bool(none) : bool(any(all(none, reduce_kw{.axis = kw.axis}))))
    fail<value_error>(function, "all elements along the axis are NaN, in shape ", x.shape());
  return chosen;
}

}  // namespace

ndarray nansum(const ndarray& x, const reduce_kw& kw) {
  return sum(x, may_hold_nan(x, "nansum") ? over_numbers(x, kw) : kw);
}
ndarray nanprod(const ndarray& x, const reduce_kw& kw) {
  return prod(x, may_hold_nan(x, "nanprod") ? over_numbers(x, kw) : kw);
}
ndarray nanmin(const ndarray& x, const reduce_kw& kw) {
  return extreme(
      "nanmin", [](const ndarray& a, const reduce_kw& k) { return min(a, k); }, true, x, kw);
}
ndarray nanmax(const ndarray& x, const reduce_kw& kw) {
  return extreme(
      "nanmax", [](const ndarray& a, const reduce_kw& k) { return max(a, k); }, false, x, kw);
}
ndarray nanargmin(const ndarray& x, const reduce_kw& kw) {
  return position(
      "nanargmin", [](const ndarray& a, const reduce_kw& k) { return argmin(a, k); }, HUGE_VAL, x, kw);
}
ndarray nanargmax(const ndarray& x, const reduce_kw& kw) {
  return position(
      "nanargmax", [](const ndarray& a, const reduce_kw& k) { return argmax(a, k); }, -HUGE_VAL, x, kw);
}
ndarray nanmean(const ndarray& x, const reduce_kw& kw) {
  return mean(x, may_hold_nan(x, "nanmean") ? over_numbers(x, kw) : kw);
}

ndarray nanvar(const ndarray& x, const var_kw& kw) {
  if (!may_hold_nan(x, "nanvar")) return var(x, kw);
  const var_kw with = over_numbers(x, kw);
  const ndarray numbers =
      count_nonzero(broadcast_to(*with.where, x.shape()), reduce_kw{.axis = kw.axis, .keepdims = kw.keepdims});
  const double ddof = kw.ddof.value_or(kw.correction.value_or(0.0));
  return where(greater(numbers, ddof), var(x, with), std::nan(""));
}
ndarray nanstd(const ndarray& x, const var_kw& kw) { return sqrt(nanvar(x, kw)); }

}  // namespace sinter::inline v0
