// Running sums, products, extremes along an axis. These functions evaluate their argument and enqueue the work at the
// call; none of them waits for it. A pending expression is computed straight into the result's memory, where it is then
// scanned. The same input gives the same bits from run to run, whatever the number of threads.
//
// Without an axis the array is flattened in C order, as by NumPy. index_error: the axis is out of range.
#pragma once
#include <optional>

#include "sinter/take.hpp"

namespace sinter::inline v0 {

/// Running sum in the dtypes of sum: bool and signed integers give int64, unsigned ones uint64; float16 and bfloat16
/// are summed in float32. `dtype` casts first. include_initial puts a 0 first: the axis grows by one, and diff gives
/// x back. value_error: no axis is given for more than one.
ndarray cumulative_sum(const ndarray& x, const scan_kw& kw = {});
inline ndarray cumulative_sum(const ndarray& x, optional_axis axis, scan_kw kw = {}) {
  kw.axis = axis;
  return cumulative_sum(x, kw);
}
/// Running product, as cumulative_sum; include_initial puts a 1 first. From a 0 on it stays 0 while factors are
/// finite.
ndarray cumulative_prod(const ndarray& x, const scan_kw& kw = {});
inline ndarray cumulative_prod(const ndarray& x, optional_axis axis, scan_kw kw = {}) {
  kw.axis = axis;
  return cumulative_prod(x, kw);
}

/// NumPy's names: without an axis the array is flattened. value_error for include_initial.
ndarray cumsum(const ndarray& x, const scan_kw& kw = {});
inline ndarray cumsum(const ndarray& x, optional_axis axis, scan_kw kw = {}) {
  kw.axis = axis;
  return cumsum(x, kw);
}
ndarray cumprod(const ndarray& x, const scan_kw& kw = {});
inline ndarray cumprod(const ndarray& x, optional_axis axis, scan_kw kw = {}) {
  kw.axis = axis;
  return cumprod(x, kw);
}
/// The same with NaN taken for 0 (nancumsum) or 1 (nancumprod).
ndarray nancumsum(const ndarray& x, const scan_kw& kw = {});
inline ndarray nancumsum(const ndarray& x, optional_axis axis, scan_kw kw = {}) {
  kw.axis = axis;
  return nancumsum(x, kw);
}
ndarray nancumprod(const ndarray& x, const scan_kw& kw = {});
inline ndarray nancumprod(const ndarray& x, optional_axis axis, scan_kw kw = {}) {
  kw.axis = axis;
  return nancumprod(x, kw);
}

/// The largest element so far (NumPy's maximum.accumulate): NaN wins from its position on, also one in a part of a
/// complex number, and stays the first one met; complex numbers are compared by real part, then imaginary part; of
/// equal elements, -0 and +0 say, the first one stays. dtype stays. value_error: a dtype is given.
ndarray cummax(const ndarray& x, const scan_kw& kw = {});
inline ndarray cummax(const ndarray& x, optional_axis axis, scan_kw kw = {}) {
  kw.axis = axis;
  return cummax(x, kw);
}
/// The smallest element so far, as cummax.
ndarray cummin(const ndarray& x, const scan_kw& kw = {});
inline ndarray cummin(const ndarray& x, optional_axis axis, scan_kw kw = {}) {
  kw.axis = axis;
  return cummin(x, kw);
}
/// log(cumsum(exp(x))) without overflow (NumPy's logaddexp.accumulate). Real: integers are converted as by log;
/// dtype_error for complex numbers. `dtype`, which must be real floating, casts first.
ndarray logcumsumexp(const ndarray& x, const scan_kw& kw = {});
inline ndarray logcumsumexp(const ndarray& x, optional_axis axis, scan_kw kw = {}) {
  kw.axis = axis;
  return logcumsumexp(x, kw);
}

}  // namespace sinter::inline v0
