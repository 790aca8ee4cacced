// Metrics by name: what becomes of the points once, and the recorded expression of a distance.
#pragma once
#include <string>
#include <string_view>

#include "ops/base/promotion_args.hpp"
#include "sinter/spatial.hpp"

namespace sinter::ops {

/// The dtype that distances of points are computed in: float32, float64.
dtype distance_dtype(dtype t, const char* function);
/// Rows of real numbers (n, d) as that dtype; shape_error, dtype_error.
ndarray point_rows(const ndarray& x, dtype type, const char* what, const char* function);
/// The same of two sets, which have to fit, of their promoted dtype.
struct two_sets {
  ndarray a, b;
};
two_sets fitting_sets(const ndarray& a, const ndarray& b, const char* function);
/// What seuclidean and mahalanobis take of all points, where they are given nothing. value_error: no more points than dimensions.
ndarray variances_of(const two_sets& points);
ndarray inverse_covariance_of(const two_sets& points, const char* function);
/// value_error unless Minkowski's distance has this p.
void require_power(double p, const char* function);

class pair_metric {
 public:
  /// `a` and `b` are point_rows(). Throws what cdist does.
  pair_metric(std::string_view name, const spatial::metric_kw& kw, const two_sets& points, const char* function);
  /// Once for each set of points: all that concerns single vectors. Evaluated.
  ndarray prepared(const ndarray& x) const;
  /// Distances of prepared vectors, which lie along `axis` and broadcast otherwise; recorded.
  ndarray between(const ndarray& a, const ndarray& b, int axis) const;
  /// Of each of (m, d) to each of (n, d): (m, n).
  ndarray matrix(const ndarray& a, const ndarray& b) const;
  /// The second set as matrix_of_turned() takes it, (d, n), so that parts of its columns can be taken.
  ndarray turned(const ndarray& b) const;
  ndarray matrix_of_turned(const ndarray& a, const ndarray& columns) const;

  /// Of a Euclidean metric the one without the root.
  pair_metric squared() const;

  const std::string& name() const noexcept { return name_; }
  double exponent() const noexcept { return p_; }
  bool is_weighted() const noexcept { return w_.defined(); }
  /// (d,), evaluated; undefined: all alike. And their sum, or d.
  const ndarray& weights() const noexcept { return w_; }
  const ndarray& total() const noexcept { return total_; }

 private:
  ndarray along(const ndarray& w, int rank, int axis) const;
  ndarray weighted(const ndarray& terms, int axis) const;
  ndarray of_differences(const ndarray& a, const ndarray& b, int axis) const;
  ndarray of_truth(const ndarray& a, const ndarray& b, int axis) const;
  /// From how many (or how much weight) both have, the first one alone, the second one alone.
  ndarray of_counts(const ndarray& both, const ndarray& first, const ndarray& second) const;
  bool multiplies(const device& where) const;
  bool is(std::string_view name) const noexcept { return name_ == name; }

  std::string name_;
  double p_ = 2;
  ndarray w_;         // undefined: all alike
  ndarray total_;     // of the weights, or their number
  ndarray rotation_;  // mahalanobis: prepared vectors are products with it
};

}  // namespace sinter::ops
