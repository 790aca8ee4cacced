// src/ops/reduce: functions that combine or order elements along axes: reductions, scans, sorts, searches, sets,
// histograms.
//
// Shared by the histograms: samples, limits and edges of bins, the bin of each sample, counts.
#pragma once
#include <cmath>

#include "core/format_number.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "sinter/histogram.hpp"

namespace sinter::ops {

using core::rounded_to;

/// Limits of bins, and their dtype: extremes of inexact samples have the samples' dtype, in which NumPy then computes
/// as well; anything else is float64.
struct limits {
  double low = 0, high = 1;
  dtype type = dtype::f64;
};
/// Least and greatest element, which must be finite (value_error). Synchronises.
limits extremes_of(const ndarray& samples, const char* function);
/// The given limits, else the extremes; 0 and 1 for no samples. Equal limits are widened to a distance of 1.
/// Synchronises if none are given. value_error: they are decreasing or not finite.
limits limits_of(const ndarray& samples, const bin_limits& given, const char* function);
/// high - low, rounded.
inline double width_of(const limits& l) { return rounded_to(l.type, l.high - l.low); }

/// The flattened samples in a real dtype that binning supports: bools as uint8. dtype_error: complex numbers.
ndarray samples_of(const ndarray& x, const char* function);
/// weights must be undefined or have x's shape (shape_error) and device.
void check_weights(const ndarray& x, const ndarray& weights, const char* function);

/// Bins of equal width, and the dtype of their edges.
struct equal_bins {
  ops::limits limits;
  std::int64_t count = 1;
  dtype type = dtype::f64;

  /// numpy.linspace(low, high, count + 1, dtype=type); recorded.
  ndarray edges(const device& d) const;
};
/// value_error for more bins than an array can have elements, memory_error for more than fit in memory.
void require_bins(std::int64_t count, const device& d, const char* function);
/// The bins of numpy.histogram. value_error: less than one bin, or so many that edges coincide.
equal_bins equal_bins_of(const ndarray& samples, const limits& l, std::int64_t count, const char* function);
/// How many samples lie in each bin, int64.
ndarray counts_of(const ndarray& samples, const equal_bins& bins);
/// The bin of each sample, -1 outside of all bins; recorded.
ndarray bin_of(const ndarray& samples, const equal_bins& bins, const ndarray& edges);

/// Throws unless edges have one axis with at least one element (shape_error) and never decrease (value_error).
/// Synchronises.
void check_edges(const ndarray& edges, const char* function);
/// The bin of each sample between edges, the last bin closed on both sides; -1 outside of all bins; recorded.
ndarray bin_between(const ndarray& samples, const ndarray& edges);

/// int64 counts of the bins [0, n), or float64 (complex128) sums of weights per bin.
ndarray count_or_sum(const ndarray& bins, const ndarray& weights, std::int64_t n);

/// The number of bins that numpy.histogram chooses by the named rule. value_error: unknown rule. Synchronises.
std::int64_t count_by_rule(std::string_view rule, const ndarray& samples, const bin_limits& given, const limits& l,
                           const char* function);

}  // namespace sinter::ops
