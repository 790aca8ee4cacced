// Clusters whose numbers depend on the library's own random numbers; what clusters refuse.
#include <doctest/doctest.h>

#include "ops/cluster/means.hpp"
#include "support/simulated_gpu.hpp"
#include "support/simulated_libraries.hpp"

#include <cmath>
#include <string>

#include "sinter/cluster.hpp"
#include "sinter/sinter.hpp"
#include "sinter/spatial.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;

bool equal(const ndarray& a, const ndarray& b) { return a.shape() == b.shape() && static_cast<bool>(all(a == b)); }

/// Groups of points that nothing can mistake, and which group each is of.
struct groups {
  ndarray x, of;
};
groups apart(random::generator& g, std::int64_t n, std::int64_t k, std::int64_t d) {
  const ndarray of = concatenate({arange(k), g.integers(0, k, n - k)}, 0);
  const ndarray x = of(_, newaxis) * 100.0 + g.normal(0, 1, {n, d});
  eval(of, x);
  return {x, of};
}
/// Two points have one label where they are of one group, and only there.
bool same_partition(const ndarray& a, const ndarray& b) {
  return static_cast<bool>(all((a(_, newaxis) == a) == (b(_, newaxis) == b)));
}

/// While it lives, whether simulated GPUs have a kernel for steps of k-means.
class kernels_of_steps {
 public:
  explicit kernels_of_steps(bool on) { sim::assigns_points = on; }
  ~kernels_of_steps() { sim::assigns_points = true; }
  kernels_of_steps(const kernels_of_steps&) = delete;
  kernels_of_steps& operator=(const kernels_of_steps&) = delete;
};

template <class F>
std::string said_by(const F& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("k-means finds groups from its own starts") {
  random::generator g(1);
  const groups p = apart(g, 600, 7, 3);
  for (const dtype type : {float32, float64}) {
    const ndarray x = p.x.astype(type);
    const auto found = cluster::kmeans(x, 7, {.n_init = 3, .random_state = 5});
    CHECK(same_partition(found.labels, p.of));
    CHECK(found.cluster_centers.dtype() == type);
    CHECK(equal(found.predict(x), found.labels));
    const ndarray squares = sum(square(x - take(found.cluster_centers, found.labels, 0)), {.dtype = float64});
    CHECK(std::abs(found.inertia / squares.item<double>() - 1) < 1e-4);
    const auto again = cluster::kmeans(x, 7, {.n_init = 3, .random_state = 5});
    CHECK(equal(again.cluster_centers, found.cluster_centers));
  }
  const auto batches = cluster::minibatch_kmeans(p.x, 7, {.batch_size = 100, .random_state = 3});
  CHECK(same_partition(batches.labels, p.of));
  const auto drawn = cluster::kmeans(p.x, 7, {.init = "random", .n_init = 20, .random_state = 2});
  CHECK(drawn.inertia < 3.2 * 600);
  const ndarray start = cluster::kmeans_plusplus(p.x, 7, 11);
  // Each is a point, each of another group.
  CHECK(bool(all(any(all(abs(start(_, newaxis) - p.x) < 1e-9, 2), 1))));
  CHECK(unique_values(rint(start(_, 0) / 100)).size() == 7);
}

TEST_CASE("k-means by mini-batches: weights, starts, small centers, the end by movement") {
  random::generator g(5);
  const ndarray x = concatenate({g.normal(0, 0.1, {3000, 2}), g.normal(0, 0.1, {60, 2}) + 50});
  // Points of weight 0 play no part.
  const ndarray weights = concatenate({ones(3000), zeros(60)});
  const auto light = cluster::minibatch_kmeans(x, 1, {.batch_size = 256, .sample_weight = weights, .random_state = 1});
  CHECK(bool(all(abs(light.cluster_centers) < 0.05)));
  CHECK(light.inertia < 3000 * 0.03);
  // A center that no point is near to moves to the batch, unless the ratio is 0.
  const ndarray start = array({{0.0, 0.0}, {50.0, 50.0}, {900.0, 900.0}});
  const auto moved = cluster::minibatch_kmeans(x, 3, {.centers = start, .batch_size = 256, .random_state = 1});
  CHECK(bool(all(moved.cluster_centers < 60)));
  const auto kept = cluster::minibatch_kmeans(
      x, 3, {.centers = start, .batch_size = 256, .reassignment_ratio = 0, .random_state = 1});
  CHECK(bool(all(kept.cluster_centers(2) == 900)));
  CHECK(kept.inertia > moved.inertia);
  // Movements of at most this end it at the first batch that counts.
  const auto ended = cluster::minibatch_kmeans(x, 2, {.batch_size = 256, .tol = 1e9, .random_state = 1});
  CHECK(ended.n_iter == 2);
  const auto longer = cluster::minibatch_kmeans(x, 2, {.batch_size = 256, .tol = 1e-12, .random_state = 1});
  CHECK(longer.n_iter > 2);
  // Of sixty starts by chance one has a center in each of four groups, which one in eleven has.
  const groups four = apart(g, 2000, 4, 2);
  const auto best = cluster::minibatch_kmeans(
      four.x, 4, {.init = "random", .batch_size = 256, .n_init = 60, .init_size = 500, .random_state = 7});
  CHECK(same_partition(best.labels, four.of));
}

TEST_CASE("k-means of float32 points a long way off keeps their digits") {
  random::generator g(2);
  const ndarray x = (g.normal(0, 1, {500, 2}) + 20 * g.integers(0, 3, {500, 1}) + 30000).astype(float32);
  eval(x);
  const auto found = cluster::kmeans(x, 3, {.n_init = 5, .random_state = 1});
  CHECK(found.inertia < 500 * 2.6);
}

TEST_CASE("k-means: labels of any number of dimensions are those of comparing all centers, of equal ones the first") {
  random::generator g(8);
  for (const dtype t : {float32, float64})
    for (const std::int64_t d : {1, 2, 3, 4, 5}) {
      // Whole numbers, of which many are as near to several centers, over blocks of points and a rest.
      const ndarray x = g.integers(-3, 4, {1000 + d, d}).astype(t), c = g.integers(-3, 4, {19, d}).astype(t);
      const ndarray squares = sum(square(x(_, newaxis) - c), 2);
      CHECK(array_equal(ops::nearest_center(x, c), argmin(squares, 1)));
      CHECK(array_equal(ops::nearest_center(x(slice(3)), c(slice(1))), zeros(3, {.dtype = int64})));
    }
}

TEST_CASE("k-means of weights, of one cluster, and of as many clusters as points") {
  const ndarray x = array({{0.0}, {1.0}, {5.0}});
  const auto weighted = cluster::kmeans(x, 1, {.sample_weight = array({1.0, 3.0, 0.0})});
  CHECK(std::abs(weighted.cluster_centers.item<double>() - 0.75) < 1e-12);
  const auto all_of_them = cluster::kmeans(x, 3, {.random_state = 4});
  CHECK(all_of_them.inertia < 1e-20);
}

TEST_CASE("DBSCAN labels what comparing all distances labels") {
  random::generator g(3);
  for (const std::int64_t d : {1, 2, 3}) {
    const ndarray x = g.random({3000, d}).copy();
    const double eps = d == 1 ? 0.0003 : d == 2 ? 0.015 : 0.06;
    const auto found = cluster::dbscan(x, eps, {.min_samples = 4});
    const auto lists = spatial::radius_neighbors(x, x, eps);
    // The same by lists in seventeen dimensions, which are no tree's.
    const auto beside = cluster::dbscan(concatenate({x, zeros({3000, 17 - d})}, 1), eps, {.min_samples = 4});
    CHECK(equal(found.labels, beside.labels));
    CHECK(equal(found.core_sample_indices, flatnonzero(diff(lists.indptr) >= 4)));
    CHECK(found.n_clusters == max(found.labels).item<std::int64_t>() + 1);
    CHECK(found.n_clusters > 3);
    CHECK(bool(any(found.labels == -1)));
  }
  CHECK(cluster::dbscan(zeros({0, 2})).labels.shape() == shape_t({0}));
}

TEST_CASE("clusters refuse what does not fit") {
  const ndarray x = zeros({4, 2});
  CHECK(said_by([&] { cluster::kmeans(x, 5); }) == "[kmeans] 5 clusters of 4 points");
  CHECK_THROWS_AS(cluster::kmeans(x, 0), value_error);
  CHECK_THROWS_AS(cluster::kmeans(x, 2, {.init = "best"}), value_error);
  CHECK_THROWS_AS(cluster::kmeans(x, 2, {.centers = zeros({3, 2})}), shape_error);
  CHECK_THROWS_AS(cluster::kmeans(x, 2, {.n_init = 0}), value_error);
  CHECK_THROWS_AS(cluster::kmeans(x, 2, {.sample_weight = ones({3})}), shape_error);
  CHECK_THROWS_AS(cluster::kmeans(x, 2, {.sample_weight = -ones({4})}), value_error);
  CHECK_THROWS_AS(cluster::kmeans(full({4, 2}, INFINITY), 2), value_error);
  CHECK_THROWS_AS(cluster::kmeans(zeros({4}), 2), shape_error);
  CHECK_THROWS_AS(cluster::minibatch_kmeans(x, 2, {.batch_size = 0}), value_error);
  CHECK_THROWS_AS(cluster::minibatch_kmeans(x, 2, {.n_init = 0}), value_error);
  CHECK_THROWS_AS(cluster::minibatch_kmeans(x, 2, {.init_size = 0}), value_error);
  CHECK_THROWS_AS(cluster::minibatch_kmeans(x, 2, {.tol = -1}), value_error);
  CHECK_THROWS_AS(cluster::minibatch_kmeans(x, 2, {.reassignment_ratio = -1}), value_error);
  CHECK_THROWS_AS(cluster::minibatch_kmeans(x, 2, {.sample_weight = ones({3})}), shape_error);
  CHECK(said_by([&] { cluster::dbscan(x, 0); }) == "[dbscan] eps = 0.000000 is not above 0");
  CHECK_THROWS_AS(cluster::dbscan(x, 1, {.min_samples = 0}), value_error);
  CHECK_THROWS_AS(cluster::dbscan(zeros({4, 3}), 1, {.metric = "haversine"}), shape_error);
  CHECK_THROWS_AS(cluster::dbscan(x, 1, {.metric = "far"}), value_error);
  CHECK_THROWS_AS(cluster::dbscan(array({{0.0, -1.0}, {1.0, 0.0}}), 1, {.metric = "precomputed"}), value_error);
  CHECK_THROWS_AS(cluster::linkage(zeros({2, 2, 2})), shape_error);
  CHECK_THROWS_AS(cluster::fcluster(zeros({3, 4}), 1), value_error);
  CHECK_THROWS_AS(cluster::inconsistent(zeros({3, 3})), shape_error);
}

TEST_CASE("fcluster by values that are given for merges, as SciPy's") {
  const ndarray x = reshape(array({0, 0.5, 0.7, 3, 3.1, 5, 9, 9.2, 9.3, 14}), {10, 1});
  const ndarray z = cluster::linkage(x, {.method = "average"}), ranks = arange(9.0);
  const double half = 0.7071067811865475;
  const ndarray unlike = array({0, 0, 0, half, half, half, 0.9999999999999999, 0.7071067811865476, 1.1023464362249646});
  const auto labels = [&](double t, const char* criterion, const ndarray& values) {
    return cluster::fcluster(z, t, {.criterion = criterion, .monocrit = values});
  };
  const ndarray four = array({1, 1, 1, 2, 2, 2, 3, 3, 3, 4}), two = array({1, 1, 1, 1, 1, 1, 2, 2, 2, 2});
  CHECK(array_equal(labels(5, "monocrit", ranks), four));
  CHECK(array_equal(labels(7.5, "monocrit", ranks), two));
  CHECK(array_equal(labels(0.8, "monocrit", unlike), array({1, 1, 1, 2, 2, 2, 3, 3, 3, 3})));
  CHECK(array_equal(labels(4, "maxclust_monocrit", ranks), four));
  CHECK(array_equal(labels(3, "maxclust_monocrit", unlike), two));
  CHECK(array_equal(labels(10, "maxclust_monocrit", unlike), arange(1, 11)));
  CHECK(said_by([&] { cluster::fcluster(z, 1, {.criterion = "monocrit"}); }) ==
        "[fcluster] the criterion \"monocrit\" needs values: monocrit");
  CHECK_THROWS_AS(cluster::fcluster(z, 0.5, {.criterion = "maxclust"}), value_error);
  CHECK_THROWS_AS(labels(1, "distance", ranks), value_error);
  CHECK_THROWS_AS(labels(1, "monocrit", zeros({3})), shape_error);
}

TEST_CASE("k-means: sums of clusters on a device, by batches of rows and a rest, are those of the host") {
  const std::int64_t n = 17 * 1024 + 333, k = 5;
  const ndarray i = arange(n, {.dtype = int64, .device = cpu});
  const ndarray x = stack({i % 7 - 3, i % 11, i % 5 - 2}, 1).astype(float64), labels = (i * i) % k,
                weights = (i % 3).astype(float64);
  const device gpu = sim::first();
  for (const bool weighted : {false, true}) {
    const ndarray none, w = weighted ? weights : none;
    const auto host = ops::sums_of_clusters(x, w, labels, k);
    const auto there =
        ops::sums_of_clusters(x.to_device(gpu), weighted ? w.to_device(gpu) : none, labels.to_device(gpu), k);
    CHECK(array_equal(there.sums.to_host(), host.sums));
    CHECK(array_equal(there.weights.to_host(), host.weights));
    ndarray expected = zeros({k, 3}, {.dtype = float64, .device = cpu});
    add_at(expected(labels), weighted ? x * w(_, newaxis) : x);
    CHECK(array_equal(host.sums, expected));
  }
}

TEST_CASE("k-means: recorded steps are those of the host, empty clusters and weights included") {
  random::generator g(7);
  for (const std::int64_t k : {2, 5, 9})
    for (const bool weighted : {false, true})
      for (const int far : {0, 1, 3})
        for (const std::int64_t most : {1, 7, 8, 9, 100}) {
          INFO(k, " clusters, ", far, " of them far off, ", most, " steps at most", weighted ? ", weights" : "");
          const ndarray x = (g.normal(0, 1, {150, 2}) + 3 * g.integers(0, 4, {150, 1})).to_device("cpu");
          ndarray first = x(slice(0, k)).copy();
          for (int c = 0; c < std::min<int>(far, static_cast<int>(k)); ++c) first(c) = 900.0 + 7 * c;
          const ndarray w = weighted ? g.integers(1, 4, 150).astype(float64).to_device("cpu") : ndarray();
          eval(x, first);
          const ops::lloyd_limits limits{most, 1e-9};
          const auto host = ops::lloyd_on_host(x, w, first, limits);
          for (const device& where : {cpu, sim::first()}) {
            for (const bool by_kernel : {true, false}) {
              const kernels_of_steps with(by_kernel);
              const auto steps = ops::lloyd_recorded(x.to_device(where), weighted ? w.to_device(where) : w,
                                                     first.to_device(where), limits);
              CHECK(steps.n_iter == host.n_iter);
              CHECK(array_equal(steps.labels.to_host(), host.labels));
              CHECK(allclose(steps.centers.to_host(), host.centers, 1e-12));
            }
          }
        }
}

TEST_CASE("k-means by a device's kernel: labels, sums and what has changed are those of other operations") {
  const device_guard on(device("cpu"));  // from where a simulated GPU can read
  random::generator g(9);
  const device gpu = sim::first();
  for (const dtype t : {float32, float64})
    for (const bool weighted : {false, true}) {
      const ndarray x = g.integers(-3, 4, {700, 3}).astype(t).to_device(gpu),
                    c = g.integers(-3, 4, {11, 3}).astype(t).to_device(gpu), none;
      const ndarray w = weighted ? g.integers(0, 3, 700).astype(t).to_device(gpu) : none;
      eval(x, c);
      const auto there = ops::assign_points(x, w, c, {});
      CHECK_FALSE(there.same.defined());
      CHECK(there.sums.sums.dtype() == t);
      const auto again = ops::assign_points(x, w, c, there.labels);
      CHECK(bool(again.same));
      const kernels_of_steps without(false);
      const auto composed = ops::assign_points(x, w, c, there.labels);
      CHECK(array_equal(there.labels.to_host(), composed.labels.to_host()));
      CHECK(array_equal(there.sums.sums.to_host(), composed.sums.sums.to_host()));
      CHECK(array_equal(there.sums.weights.to_host(), composed.sums.weights.to_host()));
      CHECK(bool(composed.same));
    }
  // A view, whose elements lie apart, and mini-batches.
  const groups p = apart(g, 600, 5, 3);
  const ndarray wide = concatenate({p.x, p.x}, 1).to_device(gpu);
  const auto found = cluster::kmeans(wide(_, slice(1, 4)), 5, {.n_init = 3, .random_state = 5});
  CHECK(same_partition(found.labels.to_host(), p.of.to_host()));
  CHECK(equal(found.predict(wide(_, slice(1, 4))).to_host(), found.labels.to_host()));
  const auto batches =
      cluster::minibatch_kmeans(p.x.to_device(gpu), 5, {.batch_size = 100, .n_init = 3, .random_state = 3});
  CHECK(same_partition(batches.labels.to_host(), p.of.to_host()));
}
