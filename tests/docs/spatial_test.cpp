// The code of docs/spatial.md: every line of it is between the marks below, and does what the text says.

#include "sinter/cluster.hpp"
#include "sinter/spatial.hpp"
#include "support/docs_page.hpp"
#include "support/kernel_test.hpp"

namespace sn = sinter;
using namespace sn::idx;

TEST_CASE("spatial docs: every piece of code on the page is part of this file") {
  sinter_test::check_page("spatial.md", "docs/spatial_test.cpp", 4);
}

TEST_CASE("spatial docs: the code works") {
  // clang-format off
  sn::ndarray x = sn::random::normal(0, 1, {500, 16}), y = sn::random::normal(0, 1, {300, 16});
  sn::ndarray d = sn::spatial::cdist(x, y);                                  // (500, 300), Euclidean, recorded
  sn::ndarray city = sn::spatial::cdist(x, y, "cityblock", {.w = sn::arange(16)});
  sn::ndarray all = sn::spatial::squareform(sn::spatial::pdist(y, "cosine"));   // (300, 300)
  sn::ndarray nearest = sn::min(sn::spatial::cdist(x, y, "chebyshev"), 1);   // on a GPU one kernel: no matrix is stored
  // clang-format on
  CHECK(d.shape() == sn::shape_t({500, 300}));
  CHECK(city.shape() == d.shape());
  CHECK(all.shape() == sn::shape_t({300, 300}));
  CHECK(nearest.shape() == sn::shape_t(500));
  // clang-format off
  sn::spatial::knn_result found = sn::spatial::knn(x, y, 5);                          // of each of x the 5 nearest of y
  sn::spatial::knn_result like = sn::spatial::knn(x, y, 5, {.metric = "inner_product"});
  sn::spatial::knn_result own = sn::spatial::knn(x, y, 5, {.text = "z = fabs(x(0) - y(0)) + fabs(x(1) - y(1));"});
  sn::spatial::neighbor_lists near = sn::spatial::radius_neighbors(x, y, 4.0);
  sn::ndarray of_third = near.indices(sn::slice(near.indptr(3).item<int>(), near.indptr(4).item<int>()));
  // clang-format on
  CHECK(sn::allclose(found.distances, sn::sort(d, 1)(_, sn::slice(0, 5))));
  CHECK(sn::allclose(like.distances, sn::sort(-sn::matmul(x, y.T()), 1)(_, sn::slice(0, 5))));
  CHECK(own.indices.shape() == sn::shape_t({500, 5}));
  CHECK(sn::array_equal(of_third, sn::flatnonzero(d(3) <= 4.0)));
  // clang-format off
  sn::ndarray points = sn::random::uniform(0, 1, {10000, 2});
  sn::spatial::KDTree tree(points);
  sn::spatial::knn_result three = tree.query(sn::array({0.5, 0.5}), 3);         // distances and indices, (3,)
  sn::ndarray counts = tree.query_ball_count(points, 0.01);                     // (10000,)
  sn::ndarray pairs = tree.query_pairs(0.005, {.p = 1});                        // rows i < j
  // clang-format on
  CHECK(three.distances.shape() == sn::shape_t(3));
  CHECK(counts.shape() == sn::shape_t(10000));
  CHECK(bool(sn::all(counts >= 1)));
  CHECK(bool(sn::all(sn::sum(sn::abs(points(pairs(_, 0)) - points(pairs(_, 1))), 1) <= 0.005)));
  // clang-format off
  sn::cluster::kmeans_result means = sn::cluster::kmeans(x, 8, {.n_init = 3, .random_state = 1});
  sn::ndarray labels = means.predict(y);
  sn::cluster::dbscan_result dense = sn::cluster::dbscan(points, 0.02, {.min_samples = 5});
  sn::ndarray tree_of = sn::cluster::linkage(y, {.method = "ward"});
  sn::ndarray flat = sn::cluster::fcluster(tree_of, 4, {.criterion = "maxclust"});
  // clang-format on
  CHECK(labels.shape() == sn::shape_t(300));
  CHECK(dense.n_clusters >= 1);
  CHECK(sn::max(flat).item<int>() == 4);
}
