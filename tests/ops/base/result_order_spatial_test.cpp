// Results of neighbours, clusters and sparse matrices lie in C order.
#include "ops/base/result_order.hpp"
#include "sinter/cluster.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_linalg.hpp"
#include "sinter/spatial.hpp"
#include "ops/sparse_linalg/superlu.hpp"

using namespace sinter;
using namespace sinter::test::result_order;
using sinter::test::no_superlu;

namespace {

/// Twelve points in the plane, whose coordinates lie side by side.
ndarray points() { return reshape(arange(24) * 7 % 11 * 0.25, {2, 12}).T(); }
ndarray tree() { return cluster::linkage(points()); }
ndarray system_matrix() { return symmetric()(0) + 5.0 * eye(4); }
sparse::sparse_array matrix() { return sparse::csr_array(system_matrix()); }
ndarray sides() { return reshape(arange(8) * 0.25, {2, 4}).T(); }

}  // namespace

TEST_CASE("results lie in C order: distances, neighbours and clusters") {
  check_all({
      CALL(spatial::cdist(points(), points()(idx::slice(0, 5)))),
      CALL(spatial::pdist(points())),
      CALL(spatial::squareform(spatial::pdist(points()))),
      CALL(spatial::distance_matrix(points(), points())),
      CALLS(two_of(spatial::knn(points(), points(), 3))),
      CALLS(three_of(spatial::radius_neighbors(points(), points(), 1.0))),
      CALL(cluster::kmeans(points(), 3).cluster_centers),
      CALL(cluster::minibatch_kmeans(points(), 3).cluster_centers),
      CALL(cluster::kmeans_plusplus(points(), 3)),
      CALL(cluster::dbscan(points(), 0.6).labels),
      CALL(cluster::linkage(points())),
      CALL(cluster::fcluster(tree(), 1.0)),
      CALL(cluster::inconsistent(tree())),
  });
}

TEST_CASE("results lie in C order: sparse matrices and their solvers") {
  check_all({
      CALLS(three_of(sparse::find(matrix()))),
      CALL(matrix().toarray()),
      CALL(sparse::matmul(matrix(), sides())),
      CALL(sparse::linalg::cg(matrix(), sides()(idx::_, 0)).x),
      CALL(sparse::linalg::lsmr(matrix(), sides()(idx::_, 0)).x),
      CALL(sparse::linalg::lsqr(matrix(), sides()(idx::_, 0)).x),
      CALL(sparse::linalg::spsolve_triangular(matrix(), sides())),
      CALL(sparse::linalg::onenormest(matrix()).v),
      CALL(sparse::linalg::expm_multiply(matrix(), sides())),
      CALL(sparse::linalg::expm_multiply(matrix(), sides(), 0, 1, 3)),
      CALL(sparse::linalg::eigsh(matrix(), 2).eigenvectors),
      CALL(sparse::linalg::lobpcg(matrix(), sides()).eigenvectors),
      CALL(sparse::linalg::svds(matrix(), 2).u),
      CALL(sparse::linalg::svds(matrix(), 2).vh),
  });
}

TEST_CASE("results lie in C order: factorisations of sparse matrices") {
  if (no_superlu()) return;
  check_all({
      CALL(sparse::linalg::spsolve(matrix(), sides())),
      CALL(sparse::linalg::splu(matrix()).solve(sides())),
  });
}
