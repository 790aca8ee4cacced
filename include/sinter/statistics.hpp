// Order statistics, weighted means, covariances. Order statistics evaluate the elements, which are not changed, and
// enqueue a selection of the ranks that are needed (a partition, where the device does not rather sort) at the call; the
// interpolation between them records. Everything else records.
//
// index_error: an axis out of range or given twice. keepdims leaves reduced axes with extent 1. dtype_error: complex
// elements have quantiles as little as bools have (but for the methods that do not interpolate).
#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// Keywords of quantiles.
struct quantile_kw {
  kwonly _kw{};
  axes axis{};
  bool keepdims = false;
  /// linear, lower, higher, midpoint, nearest, inverted_cdf, averaged_inverted_cdf, closest_observation,
  /// interpolated_inverted_cdf, hazen, weibull, median_unbiased or normal_unbiased (value_error for another word).
  std::string_view method = "linear";
  /// Of the elements' shape, or one for each along the only axis; with the method inverted_cdf only. They are not negative,
  /// which is checked, as is that not all are 0.
  optional_array weights{};
};

/// The q-th quantiles, 0 <= q <= 1 (value_error; q of an array is read at the call, and its shape comes first in the
/// result's): the element, or the number between two elements, below which that part of the elements lies. NaN where there
/// is a NaN. float64 of integers (their dtype where the method does not interpolate); a number q keeps a float's dtype, an
/// array of float64 gives float64. value_error for quantiles of nothing.
ndarray quantile(const ndarray& x, const operand& q, const quantile_kw& kw = {});
ndarray quantile(const ndarray& x, std::initializer_list<double> q, const quantile_kw& kw = {});
template <axis_like A>
ndarray quantile(const ndarray& x, const operand& q, const A& axis, const quantile_kw& kw = {}) {
  return quantile(x, q, detail::with_axis("quantile", axis, kw));
}
template <axis_like A>
ndarray quantile(const ndarray& x, std::initializer_list<double> q, const A& axis, const quantile_kw& kw = {}) {
  return quantile(x, q, detail::with_axis("quantile", axis, kw));
}
/// The same of percents, 0 <= q <= 100.
ndarray percentile(const ndarray& x, const operand& q, const quantile_kw& kw = {});
ndarray percentile(const ndarray& x, std::initializer_list<double> q, const quantile_kw& kw = {});
template <axis_like A>
ndarray percentile(const ndarray& x, const operand& q, const A& axis, const quantile_kw& kw = {}) {
  return percentile(x, q, detail::with_axis("percentile", axis, kw));
}
template <axis_like A>
ndarray percentile(const ndarray& x, std::initializer_list<double> q, const A& axis, const quantile_kw& kw = {}) {
  return percentile(x, q, detail::with_axis("percentile", axis, kw));
}
/// The same of the elements that are not NaN; NaN where there is none. They sort, and with weights wait.
ndarray nanquantile(const ndarray& x, const operand& q, const quantile_kw& kw = {});
ndarray nanquantile(const ndarray& x, std::initializer_list<double> q, const quantile_kw& kw = {});
template <axis_like A>
ndarray nanquantile(const ndarray& x, const operand& q, const A& axis, const quantile_kw& kw = {}) {
  return nanquantile(x, q, detail::with_axis("nanquantile", axis, kw));
}
template <axis_like A>
ndarray nanquantile(const ndarray& x, std::initializer_list<double> q, const A& axis, const quantile_kw& kw = {}) {
  return nanquantile(x, q, detail::with_axis("nanquantile", axis, kw));
}
ndarray nanpercentile(const ndarray& x, const operand& q, const quantile_kw& kw = {});
ndarray nanpercentile(const ndarray& x, std::initializer_list<double> q, const quantile_kw& kw = {});
template <axis_like A>
ndarray nanpercentile(const ndarray& x, const operand& q, const A& axis, const quantile_kw& kw = {}) {
  return nanpercentile(x, q, detail::with_axis("nanpercentile", axis, kw));
}
template <axis_like A>
ndarray nanpercentile(const ndarray& x, std::initializer_list<double> q, const A& axis, const quantile_kw& kw = {}) {
  return nanpercentile(x, q, detail::with_axis("nanpercentile", axis, kw));
}

/// Keywords of medians.
struct median_kw {
  kwonly _kw{};
  axes axis{};
  bool keepdims = false;
};
/// The middle element, or the mean of the two in the middle, in the dtype of mean; NaN where there is a NaN, and of nothing.
ndarray median(const ndarray& x, const median_kw& kw = {});
template <axis_like A>
ndarray median(const ndarray& x, const A& axis, const median_kw& kw = {}) {
  return median(x, detail::with_axis("median", axis, kw));
}
/// The same of the elements that are not NaN; NaN where there is none. Sorts.
ndarray nanmedian(const ndarray& x, const median_kw& kw = {});
template <axis_like A>
ndarray nanmedian(const ndarray& x, const A& axis, const median_kw& kw = {}) {
  return nanmedian(x, detail::with_axis("nanmedian", axis, kw));
}

/// Keywords of average. The weights have x's shape, or are one for each element along the axes.
struct average_kw {
  kwonly _kw{};
  axes axis{};
  bool keepdims = false;
  optional_array weights{};
};
struct average_result {
  ndarray average;
  ndarray sum_of_weights;  // of the average's shape
  operator const ndarray&() const noexcept { return average; }
};
/// The weighted mean: sum(x * weights) / sum(weights), in the promoted dtype, float64 of integers. shape_error: other
/// weights. Where the weights add up to 0 the average is NaN or infinite; nothing waits to find out.
average_result average(const ndarray& x, const average_kw& kw = {});
template <axis_like A>
average_result average(const ndarray& x, const A& axis, const average_kw& kw = {}) {
  return average(x, detail::with_axis("average", axis, kw));
}

/// Keywords of cov.
struct cov_kw {
  kwonly _kw{};
  optional_array y{};  // further variables
  bool rowvar = true;  // whether a row is a variable
  bool bias = false;   // whether to divide by the number of observations, not by one less
  std::optional<std::int64_t> ddof{};
  optional_array fweights{};  // how often each observation occurs: integers
  optional_array aweights{};  // how much each observation counts
  std::optional<sinter::dtype> dtype{};
};
/// The matrix of covariances of variables, at least in float64; of one variable of rank 0. `x` and `y` have at most two
/// axes (shape_error). Weights are not checked for being negative; dtype_error: fweights that are not integers.
ndarray cov(const ndarray& x, const cov_kw& kw = {});
ndarray cov(const ndarray& x, const ndarray& y, const cov_kw& kw = {});

/// Keywords of corrcoef.
struct corrcoef_kw {
  kwonly _kw{};
  optional_array y{};
  bool rowvar = true;
  std::optional<sinter::dtype> dtype{};
};
/// The covariances divided by the standard deviations; both parts are clipped to [-1, 1].
ndarray corrcoef(const ndarray& x, const corrcoef_kw& kw = {});
ndarray corrcoef(const ndarray& x, const ndarray& y, const corrcoef_kw& kw = {});

}  // namespace sinter::inline v0
