// Sums of exponentials along axes: compositions of elementwise functions and reductions, which fuse.
#include <limits>

#include "ops/base/differentiating.hpp"
#include "ops/base/errors.hpp"
#include "ops/special/special_values.hpp"
#include "sinter/creation.hpp"
#include "sinter/grad.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/special.hpp"

namespace sinter::inline v0::special {
namespace {

/// x as float32 or float64 where it is neither that nor a 16-bit float; complex numbers and axes out of range are refused.
ndarray checked(const char* function, const ndarray& x, const axes& axis) {
  const graph::array_view& v = ops::view_of(x, function);
  if (is_complex(v.type)) ops::fail<dtype_error>(function, v.type, " of shape ", v.shape, " is not supported");
  for (const std::int64_t a : axis) ops::normalize_axis(a, v.shape, function);
  return is_real_floating(v.type) ? x : x.astype(dtype::f64);
}
reduce_kw kept(const axes& axis) { return {.axis = axis, .keepdims = true}; }

/// The largest element along the axes, 0 where that is infinite: what to subtract so that exponentials do not overflow.
ndarray offset_of(const ndarray& largest) { return where(isfinite(largest), largest, 0.0); }

/// The maximum, which results do not depend on: a constant for derivatives.
ndarray largest_of(const ndarray& a, const axes& axis) {
  const ndarray m = max(a, kept(axis));
  return ops::is_differentiating() ? stop_gradient(m) : m;
}

}  // namespace

ndarray logsumexp(const ndarray& x, const logsumexp_kw& kw) {
  ndarray a = checked("logsumexp", x, kw.axis);
  ndarray result;
  if (kw.b) {
    const ndarray b = *kw.b;
    a = where(b == 0, -std::numeric_limits<double>::infinity(), a);
    const ndarray m = a.size() == 0 ? zeros({}) : offset_of(largest_of(a, kw.axis));
    result = log(sum(b * exp(a - m), kept(kw.axis))) + m;
  } else if (a.size() == 0) {
    result = log(sum(exp(a), kept(kw.axis)));
  } else {
    // The largest elements apart: log(n + s) = log(n) + log(1 + s / n) keeps a small s.
    const ndarray m = largest_of(a, kw.axis);
    const ndarray largest = a == m;
    ndarray n, s;
    if (ops::is_differentiating()) {
      // n as a sum of exponentials, which has their slopes; infinite ones have none.
      const ndarray e = exp(where(logical_and(largest, isinf(m)), 0.0, a - offset_of(m)));
      n = sum(where(largest, e, 0.0), kept(kw.axis));
      s = sum(where(largest, 0.0, e), kept(kw.axis));
    } else {
      n = sum(largest, kept(kw.axis)).astype(a.dtype());
      s = sum(where(largest, 0.0, exp(a - offset_of(m))), kept(kw.axis));
    }
    result = where(isnan(m), m, log1p(s / n) + log(n) + m);
  }
  return kw.keepdims ? result : squeeze(result, kw.axis.given() ? kw.axis : axes());
}

logsumexp_sign_result logsumexp_with_sign(const ndarray& x, const logsumexp_kw& kw) {
  if (!kw.b) {
    const ndarray total = logsumexp(x, kw);
    // Of nothing the sum is 0.
    return {total, where(isnan(total), total,
                         where(isneginf(total), 0.0, ones({}, {.dtype = total.dtype(), .device = x.device()})))};
  }
  ndarray a = checked("logsumexp_with_sign", x, kw.axis);
  const ndarray b = *kw.b;
  a = where(b == 0, -std::numeric_limits<double>::infinity(), a);
  const ndarray m =
      a.size() == 0 ? zeros({}, {.dtype = a.dtype(), .device = a.device()}) : offset_of(largest_of(a, kw.axis));
  const ndarray total = sum(b * exp(a - m), kept(kw.axis));
  const ndarray size = log(abs(total)) + m, direction = sign(total);
  if (kw.keepdims) return {size, direction};
  const axes dropped = kw.axis.given() ? kw.axis : axes();
  return {squeeze(size, dropped), squeeze(direction, dropped)};
}

ndarray softmax(const ndarray& x, const axes& axis) {
  const ndarray a = checked("softmax", x, axis);
  if (a.size() == 0) return a.copy();
  const ndarray e = exp(a - largest_of(a, axis)), total = sum(e, kept(axis));
  // One quotient for all; a sum is at least 1. 16-bit floats would round it once more.
  return itemsize(a.dtype()) < 4 ? e / total : e * (1 / total);
}

ndarray log_softmax(const ndarray& x, const axes& axis) {
  const ndarray a = checked("log_softmax", x, axis);
  if (a.size() == 0) return a.copy();
  const ndarray d = a - offset_of(largest_of(a, axis));
  return d - log(sum(exp(d), kept(axis)));
}

}  // namespace sinter::inline v0::special
