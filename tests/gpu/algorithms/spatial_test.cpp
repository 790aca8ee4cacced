// Neighbours and clusters on the GPU are those of the CPU: trees and labels bit for bit.
#ifdef SINTER_HAS_CUDA

#include <array>
#include <cmath>
#include <vector>

#include "gpu/gpu.hpp"
#include "ops/cluster/means.hpp"
#include "sinter/cluster.hpp"
#include "sinter/spatial.hpp"

using namespace sinter;
using namespace sinter::idx;
namespace sp = sinter::spatial;

namespace {

bool same(const ndarray& gpu, const ndarray& host) {
  const ndarray back = gpu.to_device(cpu);
  return back.shape() == host.shape() && back.dtype() == host.dtype() && static_cast<bool>(all(back == host));
}
bool near(const ndarray& gpu, const ndarray& host, double tolerance) {
  return gpu.shape() == host.shape() && static_cast<bool>(all(abs(gpu.to_device(cpu) - host) <= tolerance));
}

std::vector<ndarray> tree_answers(const ndarray& p, const ndarray& q, double norm) {
  const sp::KDTree t(p);
  const auto nearest = t.query(q, 12, {.p = norm});
  const auto ball = t.query_ball_point(q, 0.05, {.p = norm});
  return {nearest.distances,
          nearest.indices,
          ball.indptr,
          ball.indices,
          ball.distances,
          t.query_ball_count(q, 0.1, {.p = norm}),
          t.query_pairs(0.01, {.p = norm}),
          t.count_neighbors(t, 0.02, {.p = norm})};
}

}  // namespace

TEST_CASE("gpu: trees answer as on the CPU") {
  if (gpu_test::no_gpu()) return;
  random::generator g(1);
  for (const int d : {1, 2, 3})
    for (const double norm : {1.0, 2.0, HUGE_VAL}) {
      const dtype type = norm == 1.0 ? float64 : float32;
      const ndarray p = g.random({20000, d}, {.dtype = type, .device = cpu});
      const ndarray q = g.random({3000, d}, {.dtype = type, .device = cpu});
      eval(p, q);
      const auto host = tree_answers(p, q, norm);
      const auto gpu = tree_answers(p.to_device(default_device()), q.to_device(default_device()), norm);
      for (std::size_t k = 0; k < host.size(); ++k) {
        CAPTURE(d);
        CAPTURE(norm);
        CAPTURE(k);
        CHECK(same(gpu[k], host[k]));
      }
    }
}

TEST_CASE("gpu: knn by products and by tiles finds what the CPU finds") {
  if (gpu_test::no_gpu()) return;
  random::generator g(2);
  for (const char* metric : {"euclidean", "cosine", "inner_product", "cityblock"}) {
    CAPTURE(metric);
    const ndarray p = g.normal(0, 1, {30000, 20}, {.dtype = float32, .device = cpu});
    const ndarray q = g.normal(0, 1, {500, 20}, {.dtype = float32, .device = cpu});
    eval(p, q);
    const auto host = sp::knn(q, p, 10, {.metric = metric});
    const auto gpu = sp::knn(q.to_device(default_device()), p.to_device(default_device()), 10, {.metric = metric});
    CHECK(near(gpu.distances, host.distances, 1e-4));
    CHECK(mean(gpu.indices.to_device(cpu) == host.indices).item<double>() > 0.999);  // rounding may swap two
  }
}

TEST_CASE("gpu: clusters are those of the CPU") {
  if (gpu_test::no_gpu()) return;
  random::generator g(3);
  const ndarray x = g.random({50000, 2}, {.dtype = float64, .device = cpu});
  const ndarray wide = concatenate({x, x * 0.5}, 1)(slice(0, 4000)).copy();
  eval(x, wide);
  for (const double eps : {0.003, 0.006}) {
    const auto host = cluster::dbscan(x, eps, {.min_samples = 5});
    const auto gpu = cluster::dbscan(x.to_device(default_device()), eps, {.min_samples = 5});
    CHECK(same(gpu.labels, host.labels));
    CHECK(same(gpu.core_sample_indices, host.core_sample_indices));
  }
  CHECK(same(cluster::dbscan(wide.to_device(default_device()), 0.02).labels, cluster::dbscan(wide, 0.02).labels));
  const ndarray start = x(slice(0, 9)).copy();
  const auto host = cluster::kmeans(x, 9, {.centers = start, .max_iter = 20, .tol = 0});
  const ndarray there = x.to_device(default_device());
  const auto gpu = cluster::kmeans(there, 9, {.centers = start.to_device(default_device()), .max_iter = 20, .tol = 0});
  CHECK(gpu.n_iter == host.n_iter);
  CHECK(near(gpu.cluster_centers, host.cluster_centers, 1e-9));
  CHECK(std::abs(gpu.inertia / host.inertia - 1) < 1e-9);
}

TEST_CASE("gpu: steps of k-means of whole numbers are those of the CPU, bit for bit, in any number of dimensions") {
  if (gpu_test::no_gpu()) return;
  random::generator g(4);
  const device on = default_device();
  for (const dtype t : {float32, float64})
    for (const auto& [n, d, k] : std::vector<std::array<std::int64_t, 3>>{
             {1, 1, 1}, {777, 2, 12}, {5000, 5, 7}, {40000, 16, 64}, {9000, 31, 19}, {3000, 16, 400}, {700, 40, 9}}) {
      INFO(n, " points of ", d, " dimensions, ", k, " clusters");
      const ndarray x = g.integers(-2, 3, {n, d}, {.device = cpu}).astype(t),
                    c = g.integers(-2, 3, {k, d}, {.device = cpu}).astype(t),
                    w = g.integers(0, 3, n, {.device = cpu}).astype(t);
      eval(x, c, w);
      const auto there = ops::assign_points(x.to_device(on), w.to_device(on), c.to_device(on), {});
      const ndarray labels = argmin(sum(square(x(_, newaxis) - c), 2), 1);
      const auto host = ops::sums_of_clusters(x, w, labels, k);
      CHECK(same(there.labels, labels));
      CHECK(same(there.sums.sums, host.sums));
      CHECK(same(there.sums.weights, host.weights));
      CHECK(bool(ops::assign_points(x.to_device(on), w.to_device(on), c.to_device(on), there.labels).same));
      CHECK(same(ops::nearest_center(x.to_device(on), c.to_device(on)), labels));
    }
}

#endif
