// DBSCAN: core points, a forest that joins them, labels in the order of the roots.
#include <cmath>

#include "ops/base/errors.hpp"
#include "ops/base/one_memory.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/cluster/means.hpp"
#include "ops/spatial/metrics.hpp"
#include "ops/spatial/tree.hpp"
#include "sinter/cluster.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"
#include "sinter/search.hpp"
#include "sinter/sparse_array.hpp"

namespace sinter::inline v0 {

using namespace ops;
using std::int64_t;

namespace {

constexpr int64_t most_clustered = (int64_t{1} << 31) - 1;

/// From the forest to the number of each core point's cluster; other points have any number.
struct numbered_clusters {
  ndarray labels;
  int64_t count;
};
numbered_clusters number_clusters(const ndarray& forest, const ndarray& core) {
  const ndarray own = arange(core.shape(0), {.device = core.device()});
  ndarray root = forest.astype(int64);
  // The forest's trees are flat but for what the last threads did.
  for (;;) {
    const ndarray above = take(root, root);
    const ndarray settled = all(above == root);
    eval(above, settled);
    root = above;
    if (static_cast<bool>(settled)) break;
  }
  const ndarray first = logical_and(root == own, core != 0);
  const ndarray numbers = cumulative_sum(first.astype(int64));
  return {take(numbers, root) - 1, numbers(-1).item<int64_t>()};
}

/// A border point takes the lowest label in reach; what has none is noise.
cluster::dbscan_result with_noise(const numbered_clusters& clusters, const ndarray& found, const ndarray& core) {
  return {where(found == clusters.count, -1, found), flatnonzero(core), clusters.count};
}

cluster::dbscan_result by_tree(const point_tree& t, const ndarray& points, double eps_squared, int64_t min_samples) {
  const tree_walks& walks = walks_for(points);
  const ndarray radii = full({t.count}, eps_squared, {.dtype = points.dtype(), .device = points.device()}).copy();
  eval(radii);
  const ndarray counts = walks.count(t, {}, {points, t.ids.astype(int64), radii}, min_samples);
  const ndarray core = (counts >= min_samples).astype(uint8);
  eval(core);
  const numbered_clusters clusters = number_clusters(walks.join(t, {}, eps_squared, core), core);
  eval(clusters.labels);
  return with_noise(clusters, walks.label(t, {}, eps_squared, core, clusters.labels, clusters.count), core);
}

cluster::dbscan_result by_tree_of(const ndarray& points, double eps_squared, int64_t min_samples) {
  return by_tree(make_tree(points), points, eps_squared, min_samples);
}

/// What the points within reach of each weigh; they are as many as there are, unless weights are given.
ndarray weights_in_reach(const spatial::neighbor_lists& near, const ndarray& weights) {
  if (!weights.defined()) return diff(near.indptr);
  const int64_t n = weights.shape(0);
  const ndarray ones_of = ones({near.indices.shape(0)}, {.dtype = weights.dtype(), .device = weights.device()});
  return matmul(sparse::csr_array(ones_of, near.indices, near.indptr, shape_t{n, n}), weights);
}

/// The lists of a matrix of distances.
spatial::neighbor_lists lists_of_distances(const ndarray& x, double eps) {
  const ndarray near = x <= eps;
  const ndarray ends = cumulative_sum(sum(near, 1), {.include_initial = true});
  return {ends, nonzero(near)[1], {}};
}

cluster::dbscan_result by_lists(const spatial::neighbor_lists& near, int64_t min_samples, const ndarray& weights) {
  const ndarray core = (weights_in_reach(near, weights) >= min_samples).astype(uint8);
  eval(core, near.indptr, near.indices);
  const tree_walks& walks = walks_for(core);
  const numbered_clusters clusters = number_clusters(walks.join_lists(near.indptr, near.indices, core), core);
  eval(clusters.labels);
  return with_noise(clusters, walks.label_lists(near.indptr, near.indices, core, clusters.labels, clusters.count),
                    core);
}

}  // namespace

cluster::dbscan_result cluster::dbscan(const ndarray& x, double eps, const dbscan_kw& kw) {
  const char* const function = "dbscan";
  if (!(eps > 0)) fail<value_error>(function, "eps = ", eps, " is not above 0");
  if (kw.min_samples < 1) fail<value_error>(function, "min_samples = ", kw.min_samples, " is not at least 1");
  if (is_in_parts(x, function)) {  // announced with a third result, the number of clusters
    const auto again = [=](std::span<const ndarray> a) {
      const dbscan_result r = dbscan(a[0], eps, kw);
      return results_of(r.labels, r.core_sample_indices,
                        full({}, r.n_clusters, {.dtype = int64, .device = a[0].device()}));
    };
    if (auto r = intercept("dbscan", {&x}, {}, again)) return {(*r)[0], (*r)[1], (*r)[2].item<int64_t>()};
  }
  const ndarray points = point_rows(x, distance_dtype(view_of(x, function).type, function), "points", function);
  const int64_t n = points.shape(0), d = points.shape(1);
  if (n > most_clustered) fail<shape_error>(function, n, " points are more than 2^31 - 1");
  eval(points);
  require_finite(points, "points", function);
  if (n == 0) {
    const ndarray none = zeros({0}, {.dtype = int64, .device = x.device()});
    return {none, none, 0};
  }
  const ndarray weights = finite_sample_weight(kw.sample_weight, points, float64, function);
  if (kw.metric == "precomputed") {
    if (d != n) fail<shape_error>(function, "a matrix of distances is square, not of shape ", points.shape());
    if (any(points < 0).item<bool>()) fail<value_error>(function, "there are distances below 0");
    return by_lists(lists_of_distances(points, eps), kw.min_samples, weights);
  }
  const auto lists = [&] {
    const auto near = spatial::radius_neighbors(points, points, eps, {.metric = kw.metric, .p = kw.p});
    return by_lists(near, kw.min_samples, weights);
  };
  if (weights.defined()) return lists();
  if (kw.metric == "haversine") {
    if (d != 2) fail<shape_error>(function, "the haversine metric takes 2 dimensions, not ", d);
    return by_tree_of(unit_vectors(points), chord_squared(eps), kw.min_samples);
  }
  if (kw.metric == "euclidean" && d >= 1 && d <= 3) return by_tree_of(points, sum_of(eps, {}), kw.min_samples);
  if (kw.metric == "euclidean" && d > 3 && d <= most_tree_dimensions && n >= least_of_wide_tree &&
      served_by_host(points)) {
    const ndarray rows = with_tree_columns(points);
    const point_tree t = make_tree(rows);
    if (share_of_leaves_within(t, {}, some_of(rows), sum_of(eps, {})) <= most_share_of_leaves)
      return by_tree(t, rows, sum_of(eps, {}), kw.min_samples);
  }
  return lists();
}

}  // namespace sinter::inline v0
