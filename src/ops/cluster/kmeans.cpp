// k-means, and its variant by mini-batches.
#include <algorithm>
#include <cmath>

#include "ops/cluster/means.hpp"
#include "ops/spatial/metrics.hpp"
#include "ops/spatial/tree.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/statistics.hpp"

namespace sinter::inline v0 {

using namespace ops;
using namespace idx;
using std::int64_t;

namespace {

ndarray checked_sample_weight(const ndarray& w, const ndarray& x, const char* function) {
  if (!w.defined()) return {};
  if (w.ndim() != 1 || w.shape(0) != x.shape(0))
    fail<shape_error>(function, "sample_weight of shape ", w.shape(), " for ", x.shape(0), " points");
  if (is_complex(w.dtype())) fail<dtype_error>(function, "sample_weight of dtype ", w.dtype());
  common_device(w, x, function);
  const ndarray out = w.astype(x.dtype(), false);
  require_finite(out, "sample_weight", function);
  if (static_cast<bool>(any(out < 0))) fail<value_error>(function, "sample_weight below 0");
  if (!static_cast<bool>(any(out > 0))) fail<value_error>(function, "sample_weight is 0 for all points");
  eval(out);
  return out;
}

/// Some of the points, without repetition, or all.
ndarray drawn_rows(const ndarray& x, int64_t count, random::generator& rng) {
  if (count >= x.shape(0)) return x;
  const ndarray rows = take(x, rng.choice(x.shape(0), count, {.replace = false, .device = x.device()}), 0);
  eval(rows);
  return rows;
}

cluster::kmeans_result uncentred(const lloyd_result& r, const centred_points& p, double inertia) {
  const ndarray centers = r.centers + p.mean;
  eval(centers, r.labels);
  return {centers, r.labels, inertia, r.n_iter};
}

}  // namespace

ndarray cluster::kmeans_result::predict(const ndarray& x) const {
  const two_sets sets = fitting_sets(x, cluster_centers, "kmeans_result.predict");
  require_finite(sets.a, "points", "kmeans_result.predict");
  const ndarray middle = mean(sets.b, 0);  // centred, as when they were found
  const ndarray points = sets.a - middle, centers = sets.b - middle;
  eval(points, centers);
  return nearest_center(points, centers);
}

cluster::kmeans_result cluster::kmeans(const ndarray& x, int64_t n_clusters, const kmeans_kw& kw) {
  const char* const function = "kmeans";
  if (kw.n_init < 1 || kw.max_iter < 1)
    fail<value_error>(function, "n_init = ", kw.n_init, " and max_iter = ", kw.max_iter, " have to be at least 1");
  if (!(kw.tol >= 0)) fail<value_error>(function, "tol = ", kw.tol, " is below 0");
  const centred_points p = centred(x, n_clusters, function);
  const ndarray weights = checked_sample_weight(kw.sample_weight, p.x, function);
  const lloyd_limits limits{kw.max_iter, kw.tol > 0 ? kw.tol * mean(var(p.x, {.axis = 0})).item<double>() : 0};
  random::generator rng = generator_of(kw.random_state);
  kmeans_result best;
  for (int64_t start = 0; start < (kw.centers.defined() ? 1 : kw.n_init); ++start) {
    const ndarray first = kw.centers.defined() ? given_centers(kw.centers, p, n_clusters, function)
                                               : first_centers(kw.init, p.x, weights, n_clusters, rng, function);
    eval(first);
    const lloyd_result found =
        served_by_host(p.x) ? lloyd_on_host(p.x, weights, first, limits) : lloyd_recorded(p.x, weights, first, limits);
    const double inertia = inertia_of(p.x, weights, found.centers, found.labels);
    if (start == 0 || inertia < best.inertia) best = uncentred(found, p, inertia);
  }
  return best;
}

cluster::kmeans_result cluster::minibatch_kmeans(const ndarray& x, int64_t n_clusters, const minibatch_kmeans_kw& kw) {
  const char* const function = "minibatch_kmeans";
  if (kw.batch_size < 1 || kw.max_iter < 1 || kw.max_no_improvement < 1)
    fail<value_error>(function, "batch_size = ", kw.batch_size, ", max_iter = ", kw.max_iter,
                      " and max_no_improvement = ", kw.max_no_improvement, " have to be at least 1");
  const centred_points p = centred(x, n_clusters, function);
  const int64_t n = p.x.shape(0), batch = std::min(kw.batch_size, n), steps = kw.max_iter * ((n + batch - 1) / batch);
  random::generator rng = generator_of(kw.random_state);
  ndarray centers = kw.centers.defined() ? given_centers(kw.centers, p, n_clusters, function)
                                         : first_centers(kw.init, drawn_rows(p.x, 3 * std::max(batch, n_clusters), rng),
                                                         {}, n_clusters, rng, function);
  const create_kw like{.dtype = float64, .device = p.x.device()};
  ndarray held = zeros({n_clusters}, {.dtype = p.x.dtype(), .device = p.x.device()});
  ndarray smoothed = full({}, HUGE_VAL, like), least = full({}, HUGE_VAL, like), worse = zeros({}, like);
  ndarray done = zeros({}, {.dtype = bool_, .device = p.x.device()}), taken = zeros({}, like);
  const double share = std::min(1.0, 2.0 * static_cast<double>(batch) / static_cast<double>(n + 1));
  for (int64_t step = 1; step <= steps; ++step) {
    const ndarray points = take(p.x, rng.integers(0, n, batch, {.device = p.x.device()}), 0);
    eval(points, centers);
    const ndarray labels = nearest_center(points, centers);
    eval(labels);
    const ndarray cost = sum(square(points - take(centers, labels, 0)), {.dtype = float64}) / batch;
    const cluster_sums sums = sums_of_clusters(points, {}, labels, n_clusters);
    const ndarray all = held + sums.weights;
    const ndarray next =
        where(sums.weights(_, newaxis) > 0, (centers * held(_, newaxis) + sums.sums) / all(_, newaxis), centers);
    taken = taken + logical_not(done).astype(float64);
    centers = where(done, centers, next);
    held = where(done, held, all);
    smoothed = where(isinf(smoothed), cost, smoothed * (1 - share) + cost * share);
    worse = where(smoothed < least, 0.0, worse + 1);
    least = minimum(least, smoothed);
    done = logical_or(done, worse >= static_cast<double>(kw.max_no_improvement));
    eval(centers, held, smoothed, least, worse, done, taken);
    if (step % 16 == 0 && static_cast<bool>(done)) break;
  }
  const lloyd_result found{centers, nearest_center(p.x, centers), static_cast<int64_t>(taken.item<double>())};
  return uncentred(found, p, inertia_of(p.x, {}, found.centers, found.labels));
}

ndarray cluster::kmeans_plusplus(const ndarray& x, int64_t n_clusters, std::optional<int64_t> random_state) {
  const centred_points p = centred(x, n_clusters, "kmeans_plusplus");
  random::generator rng = generator_of(random_state);
  return first_centers("k-means++", p.x, {}, n_clusters, rng, "kmeans_plusplus") + p.mean;
}

}  // namespace sinter::inline v0
