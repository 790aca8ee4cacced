// k-means by Lloyd's iteration.
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

ndarray cluster::kmeans_plusplus(const ndarray& x, int64_t n_clusters, std::optional<int64_t> random_state) {
  const centred_points p = centred(x, n_clusters, "kmeans_plusplus");
  random::generator rng = generator_of(random_state);
  return first_centers("k-means++", p.x, {}, n_clusters, rng, "kmeans_plusplus") + p.mean;
}

}  // namespace sinter::inline v0
