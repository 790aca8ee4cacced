// Distances, trees, clusters: as SciPy and scikit-learn.
#include <doctest/doctest.h>

#include "golden/calls.hpp"
#include "ops/spatial/walks.hpp"
#include "sinter/cluster.hpp"
#include "sinter/creation.hpp"
#include "sinter/spatial.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;
using results = std::vector<ndarray>;

std::string first_word(const call& c) { return c.option.substr(0, c.option.find(' ')); }

results distances(const call& c, bool among_one) {
  const std::string metric = first_word(c);
  spatial::metric_kw kw;
  if (!c.n.empty()) kw.p = c.n[0];
  if (c.has(" weights")) kw.w = c.x.back();
  if (c.has(" VI")) kw.VI = c.x.back();
  else if (c.has(" V")) kw.V = c.x.back();
  return {among_one ? spatial::pdist(c.x.at(0), metric, kw) : spatial::cdist(c.x.at(0), c.x.at(1), metric, kw)};
}

results tree_query(const call& c) {
  const auto r =
      spatial::KDTree(c.x.at(0)).query(c.x.at(1), c.integer(0), {.p = c.n.at(1), .distance_upper_bound = c.n.at(2)});
  return {r.distances, r.indices};
}
results tree_ball(const call& c) {
  const auto r = spatial::KDTree(c.x.at(0)).query_ball_point(c.x.at(1), c.n.at(0), {.p = c.n.at(1)});
  return {r.indptr, r.indices};
}

results kmeans_of(const call& c) {
  cluster::kmeans_kw kw{.centers = c.x.at(1), .max_iter = c.integer(1)};
  if (c.has("weights")) kw.sample_weight = c.x.at(2);
  const auto r = cluster::kmeans(c.x.at(0), c.integer(0), kw);
  return {r.cluster_centers, r.labels, array(r.inertia), array(r.n_iter)};
}
results minibatch_kmeans_of(const call& c) {
  cluster::minibatch_kmeans_kw kw{.centers = c.x.at(1),
                                  .batch_size = c.integer(1),
                                  .max_iter = c.integer(2),
                                  .max_no_improvement = c.integer(3),
                                  .tol = c.n.at(4),
                                  .reassignment_ratio = 0,
                                  .random_state = 1};
  if (c.has("weights")) kw.sample_weight = c.x.at(2);
  const auto r = cluster::minibatch_kmeans(c.x.at(0), c.integer(0), kw);
  return {r.cluster_centers, r.labels, array(r.inertia), array(r.n_iter)};
}
results dbscan_of(const call& c) {
  const std::string metric = first_word(c);
  cluster::dbscan_kw kw{.min_samples = c.integer(1), .metric = metric};
  if (c.has(" weights")) kw.sample_weight = c.x.at(1);
  if (c.n.size() > 2) kw.p = c.n[2];
  const auto r = cluster::dbscan(c.x.at(0), c.n.at(0), kw);
  return {r.labels, r.core_sample_indices};
}
results linkage_of(const call& c) {
  const std::string method = first_word(c);
  return {cluster::linkage(c.x.at(0), {.method = method, .metric = c.has("cityblock") ? "cityblock" : "euclidean"})};
}

const call_table& functions() {
  static const call_table table = {
      {"cdist", [](const call& c) { return distances(c, false); }},
      {"pdist", [](const call& c) { return distances(c, true); }},
      {"squareform", [](const call& c) { return results{spatial::squareform(c.x.at(0))}; }},
      {"distance_matrix",
       [](const call& c) { return results{spatial::distance_matrix(c.x.at(0), c.x.at(1), c.n.at(0))}; }},
      {"KDTree.query", tree_query},
      {"KDTree.query_ball_point", tree_ball},
      {"KDTree.query_ball_count",
       [](const call& c) {
         return results{spatial::KDTree(c.x.at(0)).query_ball_count(c.x.at(1), c.n.at(0), {.p = c.n.at(1)})};
       }},
      {"KDTree.query_pairs",
       [](const call& c) { return results{spatial::KDTree(c.x.at(0)).query_pairs(c.n.at(0), {.p = c.n.at(1)})}; }},
      {"KDTree.count_neighbors",
       [](const call& c) {
         const spatial::KDTree here(c.x.at(0)), there(c.x.at(1));
         return results{here.count_neighbors(there, c.n.at(0), {.p = c.n.at(1)})};
       }},
      {"kmeans", kmeans_of},
      {"minibatch_kmeans", minibatch_kmeans_of},
      {"dbscan", dbscan_of},
      {"linkage", linkage_of},
      {"fcluster",
       [](const call& c) { return results{cluster::fcluster(c.x.at(0), c.n.at(0), {.criterion = c.option})}; }},
      {"fcluster of R",
       [](const call& c) { return results{cluster::fcluster(c.x.at(0), c.n.at(0), {.R = c.x.at(1)})}; }},
      {"inconsistent", [](const call& c) { return results{cluster::inconsistent(c.x.at(0), c.integer(0))}; }},
  };
  return table;
}

}  // namespace

TEST_CASE("distances, trees and clusters are those of SciPy and scikit-learn" * doctest::test_suite(sharded_suite)) {
  check_calls("spatial.bin", functions());
}
