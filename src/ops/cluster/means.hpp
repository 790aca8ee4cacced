// The parts of k-means that all variants share. Points and centers are of one dtype, float32 or float64, and evaluated; points are
// centred, so that products lose little.
#pragma once
#include <optional>
#include <string_view>

#include "sinter/cluster.hpp"
#include "sinter/random.hpp"

namespace sinter::ops {

struct centred_points {
  ndarray x, mean;  // (n, d), (d,)
};
/// Checks, converts and centres points.
centred_points centred(const ndarray& x, std::int64_t n_clusters, const char* function);
/// Weights (n,) of the points x as `type`; undefined where none are given. shape_error, dtype_error: complex; value_error: not finite.
ndarray finite_sample_weight(const ndarray& w, const ndarray& x, dtype type, const char* function);
/// The same in the dtype of the points, evaluated; undefined where none are given. value_error: negative ones, or none above 0.
ndarray checked_sample_weight(const ndarray& w, const ndarray& x, const char* function);
random::generator generator_of(std::optional<std::int64_t> seed);

/// `weights` (n,) may be undefined.
ndarray first_centers(std::string_view init, const ndarray& x, const ndarray& weights, std::int64_t k,
                      random::generator& rng, const char* function);
/// Given centers for points centred at `mean`.
ndarray given_centers(const ndarray& centers, const centred_points& p, std::int64_t k, const char* function);

/// int64 (n,), recorded: the nearest center, of equal ones the first.
ndarray nearest_center(const ndarray& x, const ndarray& centers);
/// The same by a kernel of the device for it; undefined where there is none.
ndarray labels_by_kernel(const ndarray& x, const ndarray& centers);
/// Weight times squared distance to the centers that the labels name, added up; waits.
double inertia_of(const ndarray& x, const ndarray& weights, const ndarray& centers, const ndarray& labels);
/// Sums of points and of weights of each cluster, recorded, in the dtype of the points.
struct cluster_sums {
  ndarray sums, weights;  // (k, d), (k,)
};
cluster_sums sums_of_clusters(const ndarray& x, const ndarray& weights, const ndarray& labels, std::int64_t k);
/// Both at once, and whether the labels are those of `before`: a bool of shape (), undefined where that is. Labels are evaluated; the
/// rest is where the device has a kernel for it.
struct assigned_points {
  ndarray labels;
  cluster_sums sums;
  ndarray same;
};
assigned_points assign_points(const ndarray& x, const ndarray& weights, const ndarray& centers, const ndarray& before);

struct lloyd_limits {
  std::int64_t max_iter;
  double shift;  // of squared movements
};
struct lloyd_result {
  ndarray centers, labels;
  std::int64_t n_iter;
};
/// The result for points before they were centred.
cluster::kmeans_result uncentred(const lloyd_result& r, const centred_points& p, double inertia);
/// Lloyd's iteration by loops of the host, and by recorded steps of any device.
lloyd_result lloyd_on_host(const ndarray& x, const ndarray& weights, const ndarray& centers, const lloyd_limits& l);
lloyd_result lloyd_recorded(const ndarray& x, const ndarray& weights, const ndarray& centers, const lloyd_limits& l);

}  // namespace sinter::ops
