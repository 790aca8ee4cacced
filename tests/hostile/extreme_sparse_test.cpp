// Extremes of integers in sparse arrays and their solvers, neighbours and clusters.
#include "hostile/extreme_integers.hpp"
#include "ops/sparse_linalg/superlu.hpp"
#include "sinter/cluster.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_linalg.hpp"
#include "sinter/spatial.hpp"

using namespace hostile;

namespace {

namespace sp = sn::sparse;
namespace sl = sn::sparse::linalg;
using sn::shape_t;

ndarray numbers() { return sn::array({1.0, 2.0, 3.0}); }
ndarray some(int64_t k) { return sn::array({int64_t{0}, k, int64_t{1}}); }
sp::sparse_array matrix() {
  return sp::diags({sn::array({-1.0}), sn::array({2.5}), sn::array({-1.0})}, {-1, 0, 1}, shape_t{12, 12}).tocsr();
}
sp::sparse_array set(int64_t k) {
  sp::sparse_array a = matrix();
  a.setdiag(1, k);
  return a;
}
ndarray right() { return sn::ones({12}); }
ndarray points() { return sn::reshape(sn::sin(sn::arange(60, {.dtype = sn::float64})), {20, 3}); }
ndarray tree() { return sn::cluster::linkage(points(), {.method = "average"}); }
ndarray block() { return sn::reshape(sn::sin(sn::arange(24, {.dtype = sn::float64})), {12, 2}); }

}  // namespace

TEST_CASE("extreme integers: sparse arrays") {
  check_extremes({
      {"csr_array",
       [](int64_t k) {
         return sp::csr_array(shape_t{k, 3}).nnz();
       }},
      {"csr_array columns",
       [](int64_t k) {
         return sp::csr_array(shape_t{3, k}).data();
       }},
      {"csr_array shape of parts",
       [](int64_t k) {
         return sp::csr_array(numbers(), sn::array({0, 1, 2}), sn::array({0, 1, 3}), shape_t{2, k}).data();
       }},
      {"csr_array indices",
       [](int64_t k) {
         return sp::csr_array(numbers(), some(k), sn::array({0, 1, 3}), shape_t{2, 9}).toarray();
       }},
      {"csr_array indptr",
       [](int64_t k) {
         return sp::csr_array(numbers(), some(2), sn::array({int64_t{0}, k, int64_t{3}})).data();
       }},
      {"csc_array",
       [](int64_t k) {
         return sp::csc_array(shape_t{3, k}).data();
       }},
      {"csc_array indices",
       [](int64_t k) {
         return sp::csc_array(numbers(), some(k), sn::array({0, 1, 3})).data();
       }},
      {"coo_array",
       [](int64_t k) {
         return sp::coo_array(numbers(), some(0), some(1), shape_t{k, 2}).data();
       }},
      {"coo_array indices", [](int64_t k) { return sp::coo_array(numbers(), some(k), some(1)).data(); }},
      {"csr_from_triplets",
       [](int64_t k) {
         return sp::csr_from_triplets(numbers(), some(0), some(1), shape_t{2, k}).data();
       }},
      {"dia_array",
       [](int64_t k) {
         return sp::dia_array(sn::ones({1, 3}), sn::array({k}), shape_t{3, 3}).data();
       }},
      {"dia_array shape",
       [](int64_t k) {
         return sp::dia_array(sn::ones({1, 3}), sn::array({0}), shape_t{3, k}).data();
       }},
      {"diags", [](int64_t k) { return sp::diags({numbers()}, {k}).data(); }},
      {"diags_array", [](int64_t k) { return sp::diags_array({numbers()}, {k}).data(); }},
      {"eye_array", [](int64_t k) { return sp::eye_array(3, 3, k).data(); }},
      {"eye_array columns", [](int64_t k) { return sp::eye_array(3, k).data(); }},
      {"kronsum", [](int64_t k) { return sp::kronsum(sp::eye_array(2, 2, k), sp::eye(2)).data(); }},
      {"matrix_power of sparse", [](int64_t k) { return sp::linalg::matrix_power(sp::eye(3, 3, 1), k).data(); }},
      {"diags shape",
       [](int64_t k) {
         return sp::diags({numbers()}, {0}, shape_t{3, k}).data();
       }},
      {"spdiags",
       [](int64_t k) {
         return sp::spdiags(sn::ones({1, 3}), {k}, 3, 3).data();
       }},
      {"spdiags rows",
       [](int64_t k) {
         return sp::spdiags(sn::ones({1, 3}), {0}, k, 3).data();
       }},
      {"setdiag", [](int64_t k) { return set(k).data(); }},
      {"at", [](int64_t k) { return matrix().at(k, 0); }},
      {"at column", [](int64_t k) { return matrix().at(0, k); }},
      {"random_array",
       [](int64_t k) {
         return sp::random_array({k, 3}, 0.5).data();
       }},
      {"random_array columns",
       [](int64_t k) {
         return sp::random_array({3, k}, 1e-12).data();
       }},
  });
}

TEST_CASE("extreme integers: solvers of sparse systems") {
  if (sn::test::no_superlu()) return;
  check_extremes({
      {"solver_kw.maxiter", [](int64_t k) { return sl::cg(matrix(), right(), {.maxiter = k}).x; }},
      {"gmres_kw.maxiter", [](int64_t k) { return sl::gmres(matrix(), right(), {.maxiter = k}).x; }},
      {"gmres_kw.restart", [](int64_t k) { return sl::gmres(matrix(), right(), {.restart = k}).x; }},
      {"minres_kw.maxiter", [](int64_t k) { return sl::minres(matrix(), right(), {.maxiter = k}).x; }},
      {"lsmr_kw.maxiter", [](int64_t k) { return sl::lsmr(matrix(), right(), {.maxiter = k}).x; }},
      {"lsqr_kw.iter_lim", [](int64_t k) { return sl::lsqr(matrix(), right(), {.iter_lim = k}).x; }},
      {"eigsh_kw.k", [](int64_t k) { return sl::eigsh(matrix(), {.k = k}).eigenvalues; }},
      {"eigsh_kw.ncv", [](int64_t k) { return sl::eigsh(matrix(), {.k = 2, .ncv = k}).eigenvalues; }},
      {"eigsh_kw.maxiter", [](int64_t k) { return sl::eigsh(matrix(), {.k = 2, .maxiter = k}).eigenvalues; }},
      {"svds_kw.k", [](int64_t k) { return sl::svds(matrix(), k).s; }},
      {"lobpcg_kw.maxiter",
       [](int64_t k) { return sl::lobpcg(matrix(), block(), {.tol = 1e-6, .maxiter = k}).eigenvalues; }},
      {"lobpcg_kw.restartControl",
       [](int64_t k) { return sl::lobpcg(matrix(), block(), {.tol = 1e-9, .restartControl = k}).eigenvalues; }},
      {"onenormest_kw.t", [](int64_t k) { return sl::onenormest(matrix(), {.t = k}).v; }},
      {"onenormest_kw.itmax", [](int64_t k) { return sl::onenormest(matrix(), {.itmax = k}).v; }},
  });
}

TEST_CASE("extreme integers: neighbours and clusters") {
  namespace cl = sn::cluster;
  const sn::spatial::KDTree index(points());
  check_extremes({
      {"knn", [](int64_t k) { return sn::spatial::knn(points(), points(), k).indices; }},
      {"query", [&](int64_t k) { return index.query(points(), k).indices; }},
      {"kdtree_kw.leafsize",
       [](int64_t k) { return sn::spatial::KDTree(points(), {.leafsize = k}).query(points()).indices; }},
      {"kmeans", [](int64_t k) { return cl::kmeans(points(), k).labels; }},
      {"kmeans_kw.max_iter", [](int64_t k) { return cl::kmeans(points(), 3, {.max_iter = k}).labels; }},
      {"kmeans_kw.random_state", [](int64_t k) { return cl::kmeans(points(), 3, {.random_state = k}).labels; }},
      {"kmeans_plusplus", [](int64_t k) { return cl::kmeans_plusplus(points(), k); }},
      {"kmeans_plusplus seed", [](int64_t k) { return cl::kmeans_plusplus(points(), 2, k); }},
      {"minibatch_kmeans", [](int64_t k) { return cl::minibatch_kmeans(points(), k).labels; }},
      {"minibatch_kmeans_kw.batch_size",
       [](int64_t k) { return cl::minibatch_kmeans(points(), 3, {.batch_size = k}).labels; }},
      {"minibatch_kmeans_kw.init_size",
       [](int64_t k) { return cl::minibatch_kmeans(points(), 3, {.init_size = k}).labels; }},
      {"minibatch_kmeans_kw.max_iter",
       [](int64_t k) { return cl::minibatch_kmeans(points(), 3, {.max_iter = k}).labels; }},
      {"minibatch_kmeans_kw.max_no_improvement",
       [](int64_t k) { return cl::minibatch_kmeans(points(), 3, {.max_no_improvement = k}).labels; }},
      {"minibatch_kmeans_kw.random_state",
       [](int64_t k) { return cl::minibatch_kmeans(points(), 3, {.random_state = k}).labels; }},
      {"dbscan_kw.min_samples", [](int64_t k) { return cl::dbscan(points(), 0.5, {.min_samples = k}).labels; }},
      {"inconsistent", [](int64_t k) { return cl::inconsistent(tree(), k); }},
      {"fcluster_kw.depth", [](int64_t k) { return cl::fcluster(tree(), 0.8, {.depth = k}); }},
  });
}
