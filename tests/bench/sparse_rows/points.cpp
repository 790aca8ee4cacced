// Rows of distances, neighbours and clusters.
#include <cmath>

#include "rows.hpp"

namespace sparse_rows {

void point_rows() {
  const char* metrics[] = {"euclidean",      "sqeuclidean", "cityblock",   "chebyshev",  "minkowski",
                           "cosine",         "correlation", "canberra",    "braycurtis", "hamming",
                           "jensenshannon",  "seuclidean",  "mahalanobis", "jaccard",    "dice",
                           "rogerstanimoto", "russellrao",  "sokalsneath", "yule"};
  for (auto [m_, d_] : {std::pair<std::int64_t, std::int64_t>{100, 8}, {1000, 3}, {1000, 32}}) {
    const std::int64_t m = m_, d = d_;
    ndarray x = numbers({m, d}, 1), y = numbers({m, d}, 2);
    std::string of = std::to_string(m) + "x" + std::to_string(d);
    ndarray xb = x > 0.5, yb = y > 0.5;
    sn::eval(xb, yb);
    for (auto me : metrics) {
      std::string s = me;
      bool boo = s == "jaccard" || s == "dice" || s == "rogerstanimoto" || s == "russellrao" || s == "sokalsneath" ||
                 s == "yule";
      spa::metric_kw kw;
      if (s == "minkowski") kw.p = 3;
      row("cdist " + of + " " + s, [&] { return spa::cdist(boo ? xb : x, boo ? yb : y, me, kw); });
      row("pdist " + of + " " + s, [&] { return spa::pdist(boo ? xb : x, me, kw); });
    }
    ndarray pd = spa::pdist(x), sq;
    sn::eval(pd);
    sq = spa::squareform(pd);
    sn::eval(sq);
    row("squareform " + of, [&] { return spa::squareform(pd); });
    row("squareform back " + of, [&] { return spa::squareform(sq); });
    row("distance_matrix " + of, [&] { return spa::distance_matrix(x, y); });
  }
  for (auto [m_, d_] : {std::pair<std::int64_t, std::int64_t>{1000, 2},
                        {1000, 3},
                        {1000, 8},
                        {20000, 2},
                        {20000, 3},
                        {20000, 8},
                        {200000, 2}}) {
    const std::int64_t m = m_, d = d_;
    ndarray x = numbers({m, d}, 1), q = numbers({std::min<std::int64_t>(m, 20000) / 4, d}, 2);
    std::string of = std::to_string(m) + "x" + std::to_string(d);
    row("KDTree " + of, [&] {
      spa::KDTree t(x);
      return 0;
    });
    spa::KDTree t(x);
    double r = d == 8 ? 0.25 : d == 3 ? std::cbrt(3.0 / double(m)) : std::sqrt(4.0 / double(m));
    row("query k1 " + of, [&] {
      auto r = t.query(q, 1);
      return std::vector<ndarray>{r.distances, r.indices};
    });
    row("query k10 " + of, [&] {
      auto r = t.query(q, 10);
      return std::vector<ndarray>{r.distances, r.indices};
    });
    ndarray q1 = q(slice(0, 1)).copy();
    sn::eval(q1);
    row("query one " + of, [&] {
      auto r = t.query(q1, 1);
      return std::vector<ndarray>{r.distances, r.indices};
    });
    row("ball " + of, [&] {
      auto b = t.query_ball_point(q, r);
      return std::vector<ndarray>{b.indptr, b.indices};
    });
    row("ball count " + of, [&] { return t.query_ball_count(q, r); });
    row("pairs " + of, [&] { return t.query_pairs(r); });
    row("count_neighbors " + of, [&] { return t.count_neighbors(t, r); });
    if (m <= 20000)
      row("knn brute " + of, [&] {
        auto r = spa::knn(q, x, 5);
        return std::vector<ndarray>{r.distances, r.indices};
      });
    if (m <= 20000)
      row("knn cosine " + of, [&] {
        auto r = spa::knn(q, x, 5, {.metric = "cosine"});
        return std::vector<ndarray>{r.distances, r.indices};
      });
    if (m <= 20000)
      row("knn manhattan " + of, [&] {
        auto r = spa::knn(q, x, 5, {.metric = "cityblock"});
        return std::vector<ndarray>{r.distances, r.indices};
      });
    if (m <= 20000)
      row("radius " + of, [&] {
        auto b = spa::radius_neighbors(q, x, r);
        return std::vector<ndarray>{b.indptr, b.indices, b.distances};
      });
    row("dbscan " + of, [&] { return cl::dbscan(x, r).labels; });
  }
  for (auto [m_, d_] : {std::pair<std::int64_t, std::int64_t>{1000, 64}, {20000, 64}}) {
    const std::int64_t m = m_, d = d_;
    ndarray x = numbers({m, d}, 1), q = numbers({1000, d}, 2), xf = x.astype(sn::float32), qf = q.astype(sn::float32);
    sn::eval(xf, qf);
    std::string of = std::to_string(m) + "x" + std::to_string(d);
    row("knn brute " + of, [&] {
      auto r = spa::knn(q, x, 5);
      return std::vector<ndarray>{r.distances, r.indices};
    });
    row("knn cosine " + of, [&] {
      auto r = spa::knn(q, x, 5, {.metric = "cosine"});
      return std::vector<ndarray>{r.distances, r.indices};
    });
    row("knn brute f32 " + of, [&] {
      auto r = spa::knn(qf, xf, 5);
      return std::vector<ndarray>{r.distances, r.indices};
    });
  }
}
void cluster_rows() {
  for (auto [m_, d_, k_] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t>{1000, 4, 8}, {32768, 16, 32}, {200000, 2, 16}}) {
    const std::int64_t m = m_, d = d_, k = k_;
    ndarray x = numbers({m, d}, 1);
    std::string of = std::to_string(m) + "x" + std::to_string(d) + " to " + std::to_string(k);
    ndarray c = x(slice(0, k)).copy(), xf = x.astype(sn::float32), cf = c.astype(sn::float32);
    sn::eval(c, xf, cf);
    row("kmeans 10 " + of, [&] { return cl::kmeans(x, k, {.centers = c, .max_iter = 10, .tol = 0}).labels; });
    row("kmeans 10 f32 " + of, [&] { return cl::kmeans(xf, k, {.centers = cf, .max_iter = 10, .tol = 0}).labels; });
    row("kmeans++ " + of, [&] { return cl::kmeans_plusplus(x, k, 1); });
    row("kmeans full " + of,
        [&] { return cl::kmeans(x, k, {.n_init = 2, .max_iter = 20, .tol = 0, .random_state = 1}).labels; });
    row("minibatch " + of, [&] {
      return cl::minibatch_kmeans(x, k, {.centers = c, .max_iter = 5, .max_no_improvement = 1000000, .random_state = 1})
          .labels;
    });
    auto km = cl::kmeans(x, k, {.centers = c, .max_iter = 2, .tol = 0});
    row("kmeans predict " + of, [&] { return km.predict(x); });
  }
  for (std::int64_t m : {100, 1000, 3000}) {
    ndarray x = numbers({m, 8}, 1), pd = spa::pdist(x);
    sn::eval(pd);
    std::string of = " " + std::to_string(m);
    for (const char* me : {"single", "complete", "average", "weighted", "ward"}) {
      row(std::string("linkage ") + me + of, [&] { return cl::linkage(x, {.method = me}); });
      row(std::string("linkage pd ") + me + of, [&] { return cl::linkage(pd, {.method = me}); });
    }
    ndarray z = cl::linkage(x, {.method = "average"});
    sn::eval(z);
    row("fcluster maxclust" + of, [&] { return cl::fcluster(z, 10, {.criterion = "maxclust"}); });
    row("fcluster distance" + of, [&] { return cl::fcluster(z, 0.3, {.criterion = "distance"}); });
    row("fcluster inconsistent" + of, [&] { return cl::fcluster(z, 1.0); });
    row("inconsistent" + of, [&] { return cl::inconsistent(z); });
    row("dbscan 8d" + of, [&] { return cl::dbscan(x, 0.4).labels; });
  }
}

}  // namespace sparse_rows
