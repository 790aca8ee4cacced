// Neighbours by trees in every Minkowski norm, lists and clusters in four to sixteen dimensions, and square forms.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/hooks.hpp"
#include "sinter/cluster.hpp"
#include "sinter/sinter.hpp"
#include "sinter/spatial.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
namespace sp = sinter::spatial;

bool same(const ndarray& a, const ndarray& b) { return a.shape() == b.shape() && static_cast<bool>(all(a == b)); }

struct named_norm {
  const char* metric;
  std::optional<double> p;
};
const named_norm norms[] = {
    {"cityblock", {}}, {"chebyshev", {}}, {"minkowski", 3.0}, {"minkowski", 1.5}, {"euclidean", {}}};

/// Points near a curve, which a tree serves in any number of dimensions.
ndarray near_curve(random::generator& g, std::int64_t n, std::int64_t d, dtype type) {
  const ndarray t = g.random({n, 1}) * 20, phase = arange(d) * 0.7;
  const ndarray x = (sin(t + phase) * 10 + t + g.normal(0, 0.01, {n, d})).astype(type);
  eval(x);
  return x;
}

}  // namespace

TEST_CASE("knn and radius_neighbors in the norms that trees know find what all distances say") {
  random::generator g(11);
  for (const dtype type : {float64, float32})
    for (const std::int64_t d : {1, 2, 3, 6, 11})
      for (const named_norm& of : norms) {
        CAPTURE(of.metric);
        CAPTURE(d);
        const ndarray points = near_curve(g, 1500, d, type), queries = near_curve(g, 1100, d, type);
        const ndarray all_of = sp::cdist(queries, points, of.metric, {.p = of.p});
        eval(all_of);
        const double close = (type == float64 ? 1e-13 : 1e-5) * max(all_of).item<double>();
        const sp::knn_result found = sp::knn(queries, points, 4, {.metric = of.metric, .p = of.p});
        const topk_result wanted = topk(all_of, 4, {.largest = false});
        CHECK(max(abs(found.distances - wanted.values)).item<double>() <= close);
        CHECK(max(abs(take_along_axis(all_of, found.indices, 1) - found.distances)).item<double>() <= close);
        // No distance lies within rounding of the radius.
        const double radius = 0.37 + 0.1 * static_cast<double>(d);
        const bool sharp = !static_cast<bool>(any(abs(all_of - radius) <= close));
        if (!sharp) continue;
        const sp::neighbor_lists lists =
            sp::radius_neighbors(queries, points, radius, {.metric = of.metric, .p = of.p});
        const ndarray at = flatnonzero(all_of <= radius);
        CHECK(same(lists.indices, at % 1500));
        CHECK(same(diff(lists.indptr), sum(all_of <= radius, 1)));
        CHECK(max(abs(lists.distances - take(ravel(all_of), at)), {.initial = 0.0}).item<double>() <= close);
      }
}

TEST_CASE("knn in the norms that trees know takes the lower index of equal distances, and large numbers") {
  const ndarray i = arange(40), grid = stack({floor_divide(arange(1600), 40), arange(1600) % 40}, 1).astype(float64);
  for (const char* metric : {"cityblock", "chebyshev"}) {
    const ndarray all_of = sp::cdist(grid, grid, metric);
    const sp::knn_result found = sp::knn(grid, grid, 9, {.metric = metric});
    CHECK(same(found.indices, argsort(all_of, 1)(_, slice(9))));
    CHECK(same(found.distances, sort(all_of, 1)(_, slice(9))));
  }
  // Sums of powers that overflow: by tiles.
  const ndarray far = array({{0.0, 0.0}, {1e200, 0.0}, {0.0, 3e200}});
  const sp::knn_result found = sp::knn(far, far, 3, {.metric = "minkowski", .p = 1.0});
  CHECK(same(found.indices, array({{0, 1, 2}, {1, 0, 2}, {2, 0, 1}})));
  CHECK(found.distances(0, 2).item<double>() == 3e200);
  CHECK(std::isinf(sp::knn(far, far, 3, {.metric = "minkowski", .p = 3.0}).distances(0, 2).item<double>()));
}

TEST_CASE("dbscan in four to sixteen dimensions gives the same clusters by a tree as by lists") {
  random::generator g(12);
  for (const dtype type : {float64, float32})
    for (const std::int64_t d : {4, 7, 16}) {
      CAPTURE(d);
      const ndarray points = near_curve(g, 1600, d, type);
      for (const double eps : {0.05, 0.2, 1.0}) {
        const cluster::dbscan_result whole = cluster::dbscan(points, eps, {.min_samples = 4});
        // In more than sixteen dimensions there are lists.
        const ndarray padded = concatenate({points, zeros({1600, 17 - d}, type)}, 1);
        const cluster::dbscan_result lists = cluster::dbscan(padded, eps, {.min_samples = 4});
        CHECK(same(whole.labels, lists.labels));
        CHECK(same(whole.core_sample_indices, lists.core_sample_indices));
        CHECK(whole.n_clusters == lists.n_clusters);
      }
    }
}

TEST_CASE("pdist by loops gives cdist's distances: with weights, over blocks of rows, of numbers that are not finite") {
  random::generator g(14);
  const double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const dtype type : {float64, float32})
    for (const std::int64_t n : {2, 9, 257, 600})
      for (const std::int64_t d : {0, 1, 3, 33})
        for (const char* metric : {"euclidean", "sqeuclidean", "cityblock", "chebyshev", "canberra", "braycurtis",
                                   "hamming", "seuclidean"}) {
          if (d == 0 && std::string(metric) != "euclidean") continue;
          CAPTURE(metric);
          CAPTURE(n);
          CAPTURE(d);
          // Some coordinates are equal, some 0.
          const ndarray x = (rint(g.normal(0, 2, {n, d})) / 4).astype(type);
          eval(x);
          const bool weighted = d > 0 && std::string(metric) != "seuclidean";
          for (const bool with : {false, true}) {
            if (with && !weighted) continue;
            sp::metric_kw kw;
            if (with) kw.w = (arange(d) % 3).astype(type);  // 0 among them
            if (std::string(metric) == "seuclidean") kw.V = arange(d) + 1.0;
            const ndarray all_of = sp::cdist(x, x, metric, kw), found = sp::pdist(x, metric, kw);
            std::vector<ndarray> rows;
            for (std::int64_t i = 0; i + 1 < n; ++i) rows.push_back(all_of(i, slice(i + 1, n)));
            CHECK(found.dtype() == type);
            CHECK(allclose(
                found, concatenate(rows),
                {.rtol = type == float64 ? 1e-13 : 1e-5, .atol = type == float64 ? 1e-14 : 1e-6, .equal_nan = true}));
          }
        }
  for (const char* metric : {"euclidean", "cityblock", "chebyshev", "canberra", "braycurtis"}) {
    CAPTURE(metric);
    ndarray x = g.normal(0, 1, {40, 5});
    x(3, 2) = nan;
    x(7, 0) = infinite;
    x(9, 0) = infinite;
    x(11, 4) = -infinite;
    const ndarray all_of = sp::cdist(x, x, metric), found = sp::pdist(x, metric);
    std::int64_t k = 0;
    bool right = true;
    for (std::int64_t i = 0; i < 40; ++i)
      for (std::int64_t j = i + 1; j < 40; ++j, ++k) {
        const double a = found(k).item<double>(), b = all_of(i, j).item<double>();
        right = right && ((std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) < 1e-13);
      }
    CHECK(right);
  }
}

TEST_CASE("cdist of few dimensions computed at once gives what is recorded for it") {
  random::generator g(15);
  const double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const dtype type : {float64, float32})
    for (const std::int64_t d : {1, 3, 8})
      for (const char* metric :
           {"euclidean", "sqeuclidean", "cityblock", "chebyshev", "canberra", "braycurtis", "hamming", "cosine"})
        for (const bool finite : {true, false}) {
          CAPTURE(metric);
          CAPTURE(d);
          ndarray x = (rint(g.normal(0, 2, {37, d})) / 4).astype(type),
                  y = (rint(g.normal(0, 2, {261, d})) / 4).astype(type);
          if (!finite) x(3, 0) = infinite, y(4, d - 1) = nan, y(7, 0) = infinite, y(9, 0) = -infinite;
          eval(x, y);
          const ndarray w = (arange(d) % 3 + 1).astype(type);
          // Zeros beside them, to nine dimensions and more, have no weight: what is recorded.
          const ndarray wide_x = concatenate({x, zeros({37, 8}, type)}, 1),
                        wide_y = concatenate({y, zeros({261, 8}, type)}, 1);
          const ndarray wide_w = concatenate({w, zeros({8}, type)});
          const ndarray found = sp::cdist(x, y, metric, {.w = w}),
                        wanted = sp::cdist(wide_x, wide_y, metric, {.w = wide_w});
          CHECK(found.dtype() == type);
          CHECK(allclose(
              found, wanted,
              {.rtol = type == float64 ? 1e-13 : 1e-5, .atol = type == float64 ? 1e-14 : 1e-6, .equal_nan = true}));
        }
  CHECK(sp::cdist(zeros({0, 3}), zeros({4, 3})).shape() == shape_t{0, 4});
  CHECK(sp::cdist(zeros({4, 3}), zeros({0, 3})).shape() == shape_t{4, 0});
  CHECK(same(sp::distance_matrix(array({{0.0, 0.0}}), array({{3.0, 4.0}}), 1), array({{7.0}})));
}

TEST_CASE("square forms of every dtype and layout, there and back") {
  for (const dtype type : {float64, float32, int64, int32, int16, int8, bool_, complex64, complex128})
    for (const std::int64_t n : {2, 3, 31, 32, 33, 100}) {
      CAPTURE(name(type));
      CAPTURE(n);
      const std::int64_t pairs = n * (n - 1) / 2;
      const ndarray v = (arange(pairs) * 7 % 19 + 1).astype(type), m = sp::squareform(v);
      CHECK(m.dtype() == type);
      CHECK(same(m, m.T()));
      CHECK(same(m.diagonal(), zeros({n}, type)));
      std::int64_t k = 0;
      bool right = true;
      for (std::int64_t i = 0; i < std::min<std::int64_t>(n, 4); ++i) {
        right = right && same(m(i, slice(i + 1, _)), v(slice(k, k + n - 1 - i)));
        k += n - 1 - i;
      }
      CHECK(right);
      CHECK(same(sp::squareform(m), v));
      CHECK(same(sp::squareform(m.T()), v));
      CHECK(same(sp::squareform(repeat(v, 2)(slice(_, _, 2))), m));
      CHECK(same(sp::squareform(repeat(repeat(m, 2, 0), 2, 1)(slice(_, _, 2), slice(_, _, 2))), v));
      if (n < 3) continue;
      for (const auto& [i, j] : {std::pair<std::int64_t, std::int64_t>{0, n - 1}, {n - 1, n - 2}, {n / 2, 0}}) {
        ndarray wrong = m.copy();
        wrong(i, j) = zeros({}, type);
        CHECK_THROWS_AS(sp::squareform(wrong), value_error);
        CHECK(sp::squareform(wrong, {.checks = false}).size() == pairs);
      }
      ndarray on_diagonal = m.copy();
      on_diagonal(n - 1, n - 1) = ones({}, type);
      CHECK_THROWS_AS(sp::squareform(on_diagonal), value_error);
    }
  ndarray nan = zeros({40, 40});
  nan(3, 5) = std::numeric_limits<double>::quiet_NaN();
  nan(5, 3) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(sp::squareform(nan), value_error);
}

TEST_CASE("neighbours in all norms, square forms and starts of k-means have the same bits on any number of threads") {
  random::generator g(13);
  const ndarray points = near_curve(g, 1500, 5, float64);
  const auto all_of = [&] {
    const sp::knn_result near = sp::knn(points, points, 3, {.metric = "cityblock"});
    const ndarray v = sp::pdist(points(slice(200))), starts = cluster::kmeans_plusplus(points, 9, 5);
    const ndarray labels = cluster::dbscan(points, 0.2).labels;
    return std::vector<ndarray>{near.distances, near.indices, sp::squareform(v), starts, labels};
  };
  std::vector<ndarray> first;
  for (const int threads : {1, 2, 5}) {
    runtime::set_thread_count(threads);
    const auto now = all_of();
    if (first.empty()) first = now;
    for (std::size_t k = 0; k < now.size(); ++k) CHECK(same(now[k], first[k]));
  }
  runtime::set_thread_count(0);
}
