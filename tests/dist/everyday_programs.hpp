// More programs as a user would write them: statistics, images, systems of equations, neighbours, loops and derivatives, on rows, columns and
// blocks.
#pragma once
#include <utility>
#include <vector>

#include "dist/user_programs.hpp"
#include "sinter/cluster.hpp"
#include "sinter/fft.hpp"
#include "sinter/grad.hpp"
#include "sinter/loops.hpp"
#include "sinter/sparse.hpp"
#include "sinter/spatial.hpp"
#include "sinter/special.hpp"
#include "sinter/vmap.hpp"

namespace sinter::test {

/// Results of several shapes, and of several meshes, as one vector of one device.
inline ndarray in_a_row(const std::vector<ndarray>& all) {
  std::vector<ndarray> rows;
  for (const ndarray& x : all) rows.push_back(ravel(dist::is_distributed(x) ? dist::gather(x) : x).astype(float64));
  return concatenate(rows);
}

inline ndarray attention(const places& p) {
  random::generator g(301);
  const ndarray q = p.rows(g.standard_normal({5, 11, 8})), k = p.rows(g.standard_normal({5, 11, 8}));
  return matmul(special::softmax(matmul(q, swapaxes(k, 1, 2)) / 8, axes{-1}), k);
}

inline ndarray normalised(const places& p) {
  const ndarray x = random::generator(302).standard_normal({40, 33}, {.dtype = float32});
  std::vector<ndarray> all;
  for (const ndarray& y : {p.rows(x), p.columns(x), p.blocks(x)}) {
    const ndarray d = y - mean(y, {.axis = -1, .keepdims = true});
    all.push_back(d / sqrt(mean(d * d, {.axis = -1, .keepdims = true}) + 1e-5F));
    all.push_back((y - mean(y, 0)) / (max(y, 0) - min(y, 0)));
    all.push_back(special::softmax(y, axes{1}));
  }
  return in_a_row(all);
}

inline ndarray low_frequencies(const places& p) {
  const ndarray f = fft::fft2(p.blocks(random::generator(303).standard_normal({32, 24})));
  const ndarray small = p.blocks(expand_dims(abs(fft::fftfreq(32)), 1) + abs(fft::fftfreq(24)) < 0.4);
  return in_a_row({fft::ifft2(where(small, f, 0)).real(), abs(fft::fftshift(f))});
}

inline ndarray thresholds(const places& p) {
  const ndarray x = random::generator(304).standard_normal({41, 19});
  std::vector<ndarray> all;
  for (ndarray y : {p.rows(x.copy()), p.columns(x.copy()), p.blocks(x.copy())}) {
    all.push_back(y(y > 0.5));
    all.push_back(argwhere(y > 1.5));
    y(y < -1) *= 2;
    all.push_back(y);
    all.push_back(sum(y(y < 0)));
  }
  return in_a_row(all);
}

inline ndarray diagonals(const places& p) {
  const ndarray x = random::generator(305).random({23, 20}), stack = random::generator(306).random({4, 9, 9});
  std::vector<ndarray> all;
  for (ndarray y : {p.rows(x.copy()), p.columns(x.copy()), p.blocks(x.copy())}) {
    for (const std::int64_t k : {-22, -3, 0, 5, 19}) all.push_back(diagonal(y, k));
    all.push_back(trace(y));
    fill_diagonal(y, 3.0);
    all.push_back(y);
  }
  for (const ndarray& y : {p.rows(x), p.columns(x)}) all.push_back(diagonal(fliplr(y), -1));
  for (const ndarray& y : {p.rows(stack), p.columns(stack), p.blocks(stack)}) {
    all.push_back(diagonal(y, 1, 1, 2));
    all.push_back(diagonal(y, 0, 0, 2));
    all.push_back(einsum("kii->ki", y));
  }
  return in_a_row(all);
}

inline ndarray orders_of_blocks(const places& p) {
  const ndarray x = p.blocks(random::generator(307).random({30, 17}));
  return in_a_row({sort(x, {.axis = 0}), argsort(x, {.axis = 1}), take_along_axis(x, argsort(x, {.axis = 0}), 0),
                   quantile(x, {0.1, 0.5}, {.axis = 1}), median(x), topk(x, 3, {.axis = 1}).values,
                   cumsum(x > 0.5, {.axis = 0}), sort(x, {.axis = std::nullopt})});
}

inline ndarray systems(const places& p) {
  random::generator g(308);
  const ndarray a = p.rows(g.random({7, 5, 5}) + 5 * eye(5)), b = p.rows(g.random({7, 5, 3})),
                one = p.all(g.random({6, 6}) + 6 * eye(6));
  const ndarray v = p.all(g.random({5})), sides = p.columns(g.random({6, 13}));
  const ndarray s = matmul(a, swapaxes(a, 1, 2));
  return in_a_row({linalg::solve(a, b), linalg::solve(a, v), linalg::solve(one, sides), linalg::inv(a), linalg::det(a),
                   linalg::cholesky(s), linalg::eigvalsh(s), linalg::svdvals(p.columns(g.random({4, 6, 3}))),
                   linalg::lu_solve(linalg::lu_factor(a), b),
                   linalg::solve_triangular(linalg::cholesky(s), b, {.lower = true})});
}

inline ndarray least_squares(const places& p) {
  random::generator g(309);
  const ndarray x = p.rows(g.random({90, 5})), y = p.rows(g.random({90}));
  return in_a_row({linalg::solve(matmul(x.T(), x), matmul(x.T(), y)), linalg::lstsq(x, y).x,
                   polyfit(p.rows(g.random({50})), p.rows(g.random({50})), 2)});
}

inline ndarray neighbours(const places& p) {
  random::generator g(310);
  const ndarray q = p.rows(g.random({61, 3})), x = p.rows(g.random({90, 3})), plane = p.blocks(g.random({90, 2}));
  std::vector<ndarray> all;
  for (const double r : {1e-9, 0.3}) {
    const auto near = spatial::radius_neighbors(q, x, r);
    all.insert(all.end(), {near.indptr, near.indices, near.distances});
  }
  for (const char* metric : {"seuclidean", "mahalanobis", "cityblock"}) {
    const auto near = spatial::radius_neighbors(q, x, 0.5, {.metric = metric});
    all.insert(all.end(),
               {near.indptr, near.indices, near.distances, spatial::knn(q, x, 4, {.metric = metric}).indices});
  }
  const auto groups = cluster::dbscan(plane, 0.1);
  all.insert(all.end(),
             {groups.labels, groups.core_sample_indices, full({}, groups.n_clusters, {.device = q.device()})});
  return in_a_row(all);
}

inline ndarray sparse_products(const places& p) {
  random::generator g(311);
  ndarray d = g.random({30, 20});
  d(d < 0.8) = 0.0;
  const sparse::sparse_array a = sparse::csr_array(p.rows(d)), k = sparse::csr_array(p.all((d * 9).astype(int64)));
  const ndarray x = p.columns(g.random({20, 12})), v = p.rows(g.random({20}));
  return in_a_row({matmul(a, x), matmul(a, v), matmul(k, p.rows(arange(20)))});
}

inline ndarray loops_and_walks(const places& p) {
  random::generator g(312);
  const ndarray xs = p.columns(g.random({20, 8})), start = p.rows(g.random({24, 6}));
  const auto [last, all] = sinter::scan(
      [](const ndarray& h, const ndarray& x) {
        const ndarray next = 0.9 * h + x;
        return std::pair(next, next);
      },
      p.all(zeros({8})), xs);
  const ndarray heat = fori_loop(
      0, 6,
      [](const ndarray&, ndarray u) {
        u["1:-1"] = 0.5 * (u[":-2"] + u["2:"]);
        return u;
      },
      start);
  const ndarray walk = cumsum(p.rows(g.integers(0, 2, {300}) * 2 - 1));
  return in_a_row({last, all, heat, walk, argmax(abs(walk) >= 5)});
}

inline ndarray gradients(const places& p) {
  random::generator g(313);
  const ndarray x = p.rows(g.standard_normal({60, 5})), y = p.rows((g.random({60}) > 0.5).astype(float64)),
                w = p.all(g.random({5}));
  const auto loss = [=](const ndarray& v) { return mean(log1p(exp((1 - 2 * y) * matmul(x, v)))); };
  const auto wave = checkpoint([](const ndarray& v) { return sin(v) * 2; });
  return in_a_row({grad(loss)(w),
                   grad([&](const ndarray& v) { return sum(wave(v) * v) + sum(special::softmax(v, axes{1})); })(x),
                   wave(x), vmap([](const ndarray& r) { return sort(r) * sum(r); })(x)});
}

inline ndarray draws(const places& p) {
  random::generator g(314);
  const ndarray rate = p.rows(g.random({60}) * 4), table = p.blocks(g.random({12, 9}));
  return in_a_row({g.poisson(rate), g.normal(rate, 2), g.poisson(table * 3), g.choice(p.rows(arange(60)), {10}),
                   g.permutation(table)});
}

inline const std::vector<user_program>& everyday_programs() {
  static const std::vector<user_program> all{{"attention", attention, 1e-12},
                                             {"normalised rows and columns", normalised, 0},
                                             {"low frequencies", low_frequencies, 1e-10},
                                             {"thresholds", thresholds, 1e-12},
                                             {"diagonals", diagonals, 0},
                                             {"orders of blocks", orders_of_blocks, 0},
                                             {"systems", systems, 1e-9},
                                             {"least squares", least_squares, 1e-8},
                                             {"neighbours", neighbours, 1e-12},
                                             {"sparse products", sparse_products, 1e-12},
                                             {"loops and walks", loops_and_walks, 0},
                                             {"gradients", gradients, 1e-12},
                                             {"draws", draws, 0}};
  return all;
}

}  // namespace sinter::test
