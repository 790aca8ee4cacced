#include "golden/programs/sparse_programs.hpp"

#include <cmath>

#include "sinter/cluster.hpp"
#include "sinter/linalg.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_linalg.hpp"
#include "sinter/spatial.hpp"

namespace sn = sinter;
using namespace sn::idx;

namespace sinter::test::programs::sparse {
namespace {

using sn::ndarray;
namespace sp = sn::sparse;
namespace sl = sn::sparse::linalg;
using matrix = sp::sparse_array;

struct coordinates {
  ndarray i, j;
};
coordinates places(std::int64_t n, int rows, int columns, std::uint64_t seed) {
  return {(draws(n, seed) * rows).astype(sn::int64), (sn::square(draws(n, seed + 1)) * columns).astype(sn::int64)};
}

/// Two half circles that reach into each other.
ndarray moons(std::int64_t n, double noise, std::uint64_t seed) {
  const auto t = pi * draws(n / 2, seed);
  const auto upper = sn::stack({sn::cos(t), sn::sin(t)}, 1), lower = sn::stack({1 - sn::cos(t), 0.5 - sn::sin(t)}, 1);
  return sn::concatenate({upper, lower}) + noise * (draws(2 * n, seed + 1).reshape(n, 2) - 0.5);
}

/// Columns whose largest elements are positive.
ndarray signed_columns(const ndarray& v) { return v * sn::sign(v(sn::abs(v).argmax(0), sn::arange(v.shape(1)))); }

matrix on_diagonal(const ndarray& d) { return sp::diags({d}); }
double number(const ndarray& x) { return x.item<double>(); }

}  // namespace

results pagerank() {
  const int n = 150;
  const auto [i, j] = places(600, n, n, 1);
  matrix a = sp::coo_array(sn::ones(600), i, j, shape_t{n, n}).tocsr();
  a = a.with_data(sn::ones(a.nnz()));
  a.setdiag(0);
  a.eliminate_zeros();
  const auto out = a.sum(1);
  const matrix step = a.T().tocsr().multiply(sn::where(out > 0, 1 / sn::maximum(out, 1), 0)).tocsr();
  const auto dangling = out == 0;
  const auto iterate = [&](const ndarray& home) {
    ndarray rank = sn::full({n}, 1.0 / n);
    for (int k = 0; k < 60; ++k) rank = 0.85 * (step.dot(rank) + rank[dangling].sum() * home) + 0.15 * home;
    return rank;
  };
  const auto rank = iterate(sn::full({n}, 1.0 / n)), mine = iterate(sn::eye(n)(7));
  const auto change = sn::abs(0.85 * (step.dot(rank) + rank[dangling].sum() / n) + 0.15 / n - rank).max();
  const auto reach = (matmul(a, a) + a).astype(sn::bool_).sum(1);
  return {sn::array(a.nnz()), rank, sn::argsort(-rank)(slice(10)), mine, change < 1e-4, dangling.sum(), reach};
}

results propagation() {
  const auto x = moons(120, 0.2, 11);
  const auto [d, at] = sn::spatial::KDTree(x).query(x, 7);
  matrix w = sp::csr_array(sn::exp(-sn::square(sn::ravel(d(_, slice(1, _))) / 0.2)), sn::ravel(at(_, slice(1, _))),
                           sn::arange(0, 721, 6), shape_t{120, 120});
  w = w.maximum(w.T());
  const matrix walk = matmul(on_diagonal(1 / w.sum(1)), w);
  auto start = sn::zeros({120, 2});
  start(3, 0) = 1;
  start(77, 1) = 1;
  ndarray f = start;
  for (int k = 0; k < 100; ++k) f = 0.95 * walk.dot(f) + 0.05 * start;
  const matrix laplace = (on_diagonal(w.sum(1)) - w).tocsc();
  const auto known = sn::array({3, 77}), free = sn::setdiff1d(sn::arange(120), known);
  const matrix inner = laplace(free, free), edge = laplace(free, known);
  const auto h = sl::spsolve(inner, -edge.dot(sn::array({0.0, 1.0})));
  return {f, f.argmax(1), h, sn::array(w.nnz()), walk.max(1), (h > 0.5).sum()};
}

results poisson() {
  const int m = 20, n = 24;
  const auto line = [](int k) { return sp::diags({-sn::ones(k - 1), 2 * sn::ones(k), -sn::ones(k - 1)}, {-1, 0, 1}); };
  const matrix a = sp::kron(line(m), sp::eye(n)) + sp::kron(sp::eye(m), line(n));
  const ndarray f = sn::ravel(sn::sin(sn::arange(m)(_, newaxis) / 3) * sn::cos(sn::arange(n) / 4));
  const auto u = sl::spsolve(a.tocsc(), f);
  const sl::solution by_cg = sl::cg(a, f, {.rtol = 1e-13, .M = on_diagonal(1 / a.diagonal())});
  const sl::solution by_minres = sl::minres(a, f, {.rtol = 1e-14});
  ndarray x = sn::zeros(m * n);
  for (int k = 0; k < 30; ++k) x = x + 0.8 * (f - a.dot(x)) / a.diagonal();
  const matrix pair = sp::csr_array(sn::ones({1, 2}));
  const matrix coarse = matmul(sp::kron(sp::eye(m / 2), pair), sp::eye(m));
  const matrix r = sp::kron(coarse, sp::kron(sp::eye(n / 2), pair));
  const matrix small = matmul(matmul(r, a), r.T());
  const ndarray y = x + r.T().dot(sl::spsolve(small.tocsc(), r.dot(f - a.dot(x))));
  const auto energy = 0.5 * sn::dot(u, a.dot(u)) - sn::dot(u, f);
  return {u,
          by_cg.x,
          sn::array(by_cg.info),
          by_minres.x,
          x,
          small.diagonal(),
          y,
          energy,
          u.reshape(m, n)(0).sum(),
          sn::linalg::norm(f - a.dot(y))};
}

results embedding() {
  const auto x =
      sn::concatenate({draws(120, 21).reshape(60, 2), draws(120, 22).reshape(60, 2) + sn::array({1.05, 0.1})});
  const auto pairs = sn::spatial::KDTree(x).query_pairs(0.3);
  matrix a = sp::coo_array(sn::ones(pairs.len()), pairs(_, 0), pairs(_, 1), shape_t{120, 120}).tocsr();
  a = a + a.T();
  const auto degree = a.sum(1);
  const matrix scale = on_diagonal(1 / sn::sqrt(degree));
  const matrix laplace = sp::eye(120) - matmul(matmul(scale, a), scale);
  const ndarray begin = sn::ones(120) + 0.1 * draws(120, 23);
  const auto low = sl::eigsh(laplace, {.k = 4, .sigma = -0.1, .v0 = begin});
  const auto top = sl::eigsh(laplace, {.k = 2, .which = "LA", .v0 = begin, .return_eigenvectors = false});
  const auto v = signed_columns(low.eigenvectors);
  const auto side = sn::abs(sn::diff((v(_, 1) > 0).astype(sn::int64))).sum();
  const auto cut = a(sn::flatnonzero(v(_, 1) > 0), sn::flatnonzero(v(_, 1) <= 0)).sum();
  return {degree, low.eigenvalues, v, sn::sort(top.eigenvalues), side, cut, sn::array(pairs.len())};
}

results recommender() {
  const auto [i, j] = places(900, 80, 50, 31);
  const matrix r = sp::coo_array(1 + sn::floor(5 * draws(900, 33)), i, j, shape_t{80, 50}).tocsr();
  const auto count = r.count_nonzero(1);
  const auto mean = r.sum(1) / sn::maximum(count, 1);
  const matrix centred = r.with_data(r.data() - sn::repeat(mean, sn::diff(r.indptr())));
  const auto f = sl::svds(centred, {.k = 5, .v0 = sn::ones(50) + draws(50, 34)});
  const auto order = sn::argsort(-f.s);
  const auto s = f.s(order);
  const auto model = sn::matmul(f.u(_, order) * s, f.vh(order));
  const auto guess = model + mean(_, newaxis);
  const auto unseen = sn::where(r.toarray() != 0, -INFINITY, guess);
  const auto fit = sn::sqrt(sn::mean(sn::square(centred.data() - model(centred.row(), centred.col()))));
  const auto alike = matmul(centred, centred.T()).toarray();
  return {mean, s, guess, unseen.argmax(1), fit, alike(3), r.max(0), sp::norm(centred)};
}

results documents() {
  const auto [i, j] = places(1500, 60, 90, 41);
  const matrix counts = sp::coo_array(sn::ones(1500), i, j, shape_t{60, 90}).tocsr();
  const auto df = counts.count_nonzero(0);
  const auto idf = sn::log((1 + 60) / (1 + df)) + 1;
  matrix x = counts.multiply(idf);
  x = matmul(on_diagonal(1 / sp::norm(x, 1)), x);
  const auto alike = matmul(x, x.T()).toarray();
  const auto distance = sn::spatial::cdist(x.toarray(), x.toarray(), "cosine");
  const auto near = sn::argsort(distance, 1)(_, slice(1, 5));
  const auto group = x(near(0)).sum(0);
  const auto terms = sn::argsort(-group)(slice(6));
  const matrix rare = counts(_, df <= sn::quantile(df, 0.25));
  return {idf,         alike(0),   sn::take_along_axis(distance, near, 1), near, terms, sn::array(rare.nnz()),
          rare.sum(1), x.argmax(1)};
}

results groups() {
  const auto x = sn::concatenate({moons(200, 0.15, 51), 4 * draws(20, 53).reshape(10, 2) - sn::array({1.5, 2.0})});
  const auto dense = sn::cluster::dbscan(x, 0.2, {.min_samples = 5});
  const auto means = sn::cluster::kmeans(x, 2, {.centers = x(sn::array({0, 150})), .tol = 0});
  const auto both = sn::bincount(2 * (dense.labels + 1) + means.labels, {.minlength = 2 * (dense.n_clusters + 1)});
  const auto d = sn::spatial::cdist(x, x);
  const auto same = means.labels(_, newaxis) == means.labels;
  const auto inside = sn::where(same, d, 0).sum(1) / (same.sum(1) - 1);
  const auto outside = sn::where(~same, d, 0).sum(1) / (~same).sum(1);
  const auto silhouette = ((outside - inside) / sn::maximum(inside, outside)).mean();
  return {dense.labels, dense.core_sample_indices, means.cluster_centers,
          means.labels, sn::array(means.inertia),  both.reshape(-1, 2),
          silhouette};
}

results hierarchy() {
  const auto middle = sn::array({{0.0, 0.0, 0.0}, {1.5, 0.0, 0.0}, {0.0, 1.4, 1.0}, {2.0, 2.0, 2.0}, {3.0, 0.0, 1.0}});
  const auto x = draws(150, 61).reshape(50, 3) + sn::repeat(middle, 10, 0);
  const auto d = sn::spatial::pdist(x);
  results all{d};
  for (const char* method : {"single", "complete", "average", "ward"}) {
    const auto z = sn::cluster::linkage(d, {.method = method});
    const auto flat = sn::cluster::fcluster(z, 5, {.criterion = "maxclust"});
    const auto sizes = sn::bincount(flat, {.minlength = 6})(slice(1, _));
    const auto height = sn::cluster::fcluster(z, 0.7 * number(z(_, 2).max()), {.criterion = "distance"});
    for (const ndarray& result :
         {z(_, 2).copy(), z(_, 3).copy(), sizes.copy(), height, sn::cluster::inconsistent(z)(_, 3).copy()})
      all.push_back(result);
  }
  const auto city = sn::spatial::squareform(sn::spatial::pdist(x, "cityblock"));
  all.push_back(sn::argsort(city, 1)(_, slice(4)));
  const auto far = sn::cluster::linkage(x, {.method = "average", .metric = "chebyshev"});
  all.push_back(sn::cluster::fcluster(far, 4, {.criterion = "maxclust"}));
  return all;
}

results ridge() {
  const auto [i, j] = places(1200, 90, 60, 71);
  const matrix a = sp::coo_array(draws(1200, 73) - 0.3, i, j, shape_t{90, 60}).tocsr();
  const ndarray b = sn::sin(sn::arange(90));
  std::vector<ndarray> residuals, sizes, steps;
  ndarray x;
  for (const auto& each : sn::unstack(sn::geomspace(0.01, 10, 8))) {
    const double damp = number(each);
    const matrix stacked = sp::vstack({a, std::sqrt(damp) * sp::eye(60)});
    x = sl::lsmr(stacked, sn::concatenate({b, sn::zeros(60)}),
                 {.atol = 1e-14, .btol = 1e-14, .conlim = 0, .maxiter = 600})
            .x;
    residuals.push_back(sn::linalg::norm(a.dot(x) - b));
    sizes.push_back(sn::linalg::norm(x));
    const auto y = sl::spsolve((matmul(a.T(), a) + damp * sp::eye(60)).tocsc(), a.T().dot(b));
    steps.push_back(sn::abs(x - y).max() < 1e-8);
  }
  const auto residual = sn::stack(residuals), size = sn::stack(sizes);
  const auto bend = sn::diff(sn::log(residual)) / sn::diff(sn::log(size));
  const auto by_lsqr = sl::lsqr(a, b, {.damp = 0.5, .atol = 1e-14, .btol = 1e-14, .conlim = 0, .iter_lim = 600}).x;
  return {residual, size, sn::stack(steps), bend, by_lsqr, x};
}

results constraints() {
  const int n = 40, k = 6;
  const auto off = sn::full({n - 2}, -0.5);
  const matrix q = sp::diags({off, 3 + draws(n, 81), off}, {-2, 0, 2});
  const matrix c = sp::csr_array(sn::where(draws(k * n, 82).reshape(k, n) < 0.3, draws(k * n, 83).reshape(k, n), 0));
  const matrix system = sp::block_array({{q, c.T()}, {c, matrix()}}).tocsc();
  const ndarray right = sn::concatenate({sn::cos(sn::arange(n)), sn::ones(k)});
  const auto lu = sl::splu(system);
  const ndarray z = lu.solve(right), back = lu.solve(system.T().dot(z), 'T');
  const auto heat = sl::expm_multiply(-0.3 * q, sn::linspace(0, 1, n));
  const auto curve = sl::expm_multiply(-q, sn::ones(n), 0, 1, 5);
  const auto solved = sl::spsolve_triangular(sp::tril(q), right(slice(n)));
  const auto part = system(slice(5, 30, 3), slice(_, _, -2)).toarray();
  const auto dense = c.dot(sn::vander(sn::arange(n) / n, 3));
  const auto mixed = (q.multiply(number(dense(0, 0))) + sp::eye(n) > 2).sum();
  return {z,
          back,
          heat,
          curve,
          sn::array(sp::tril(q, 1).nnz()),
          solved,
          part,
          dense,
          mixed,
          sl::norm(system, {.ord = 1}),
          q(slice(3, 6)).sum(0),
          sn::array(sl::onenormest(q, {.t = 10}).est),
          sp::abs(c).max(1),
          c.argmax(1)};
}

}  // namespace sinter::test::programs::sparse
