// knn and radius_neighbors beside the sorting of all distances; what they refuse.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "sinter/sinter.hpp"
#include "sinter/spatial.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
namespace sp = sinter::spatial;

bool equal(const ndarray& a, const ndarray& b) { return a.shape() == b.shape() && static_cast<bool>(all(a == b)); }
bool close(const ndarray& a, const ndarray& b, double tolerance) {
  return a.shape() == b.shape() && static_cast<bool>(all(abs(a - b) <= tolerance));
}
ndarray random_points(random::generator& g, std::int64_t n, std::int64_t d, dtype type) {
  const ndarray x = g.normal(0, 1, {n, d}, {.dtype = type});
  eval(x);
  return x;
}

/// The neighbours' distances are the k smallest of all, and each index is at its distance, once.
void check_neighbors(const sp::knn_result& found, const ndarray& all_distances, std::int64_t k, double tolerance) {
  CHECK(found.indices.dtype() == int64);
  const topk_result wanted = topk(all_distances, k, {.largest = false});
  CHECK(close(found.distances, wanted.values, tolerance));
  CHECK(close(take_along_axis(all_distances, found.indices, 1), found.distances, tolerance));
  const ndarray sorted = sort(found.indices, 1);
  if (k > 1) CHECK(bool(all(sorted(_, slice(1, k)) > sorted(_, slice(0, k - 1)))));
  if (k > 1) CHECK(bool(all(found.distances(_, slice(1, k)) >= found.distances(_, slice(0, k - 1)))));
}

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

TEST_CASE("knn finds what sorting all distances finds, in every metric") {
  random::generator g(5);
  for (const dtype type : {float32, float64})
    for (const std::int64_t d : {2, 3, 5, 33}) {
      const ndarray q = random_points(g, 37, d, type), p = random_points(g, 400, d, type);
      for (const char* metric :
           {"euclidean", "sqeuclidean", "cosine", "correlation", "cityblock", "chebyshev", "canberra", "braycurtis"}) {
        CAPTURE(metric);
        CAPTURE(d);
        const ndarray all_of = sp::cdist(q, p, metric);
        eval(all_of);
        const double tolerance = (type == float32 ? 1e-5 : 1e-13) * max(abs(all_of)).item<double>();
        for (const std::int64_t k : {1, 10, 400})
          check_neighbors(sp::knn(q, p, k, {.metric = metric}), all_of, k, tolerance);
      }
      const ndarray products = -matmul(q, p.T());
      check_neighbors(sp::knn(q, p, 12, {.metric = "inner_product"}), products, 12, type == float32 ? 1e-4 : 1e-12);
    }
}

TEST_CASE("knn takes the lower index of equal distances") {
  random::generator g(6);
  for (const std::int64_t d : {1, 2, 3, 4, 9}) {
    CAPTURE(d);
    // Small whole numbers: many points coincide, all arithmetic is exact.
    const ndarray q = g.integers(0, 3, {50, d}).astype(float32), p = g.integers(0, 3, {700, d}).astype(float32);
    const ndarray squares = sum(square(q(_, newaxis) - p), 2);
    const topk_result wanted = topk(squares, 20, {.largest = false});
    const auto found = sp::knn(q, p, 20, {.metric = "sqeuclidean"});
    CHECK(equal(found.indices, wanted.indices));
    CHECK(equal(found.distances, wanted.values));
    CHECK(equal(sp::knn(q, p, 20, {.metric = "cityblock"}).indices,
                topk(sum(abs(q(_, newaxis) - p), 2), 20, {.largest = false}).indices));
  }
}

TEST_CASE("knn measures by differences where products lose the neighbours") {
  // Points a thousandth apart, a long way off, and one so far that rounding of products is larger than all their distances.
  random::generator g(7);
  const ndarray near = 500 + g.random({300, 6}, {.dtype = float32}) / 1000;
  const ndarray p = concatenate({near, full({1, 6}, 1e6, {.dtype = float32})}, 0), q = near(slice(0, 40)).copy();
  eval(p, q);
  const ndarray squares = sum(square(q.astype(float64)(_, newaxis) - p.astype(float64)), 2);
  const topk_result wanted = topk(squares, 5, {.largest = false});
  const auto found = sp::knn(q, p, 5);
  CHECK(close(found.distances.astype(float64), sqrt(wanted.values), 1e-6));
  CHECK(equal(found.indices(_, 0), arange(40)));
}

TEST_CASE("knn of points in narrow clusters, which float32 scores do not tell apart") {
  random::generator g(17);
  const ndarray centres = g.random({40, 24}, {.dtype = float32});
  const ndarray p = take(centres, g.integers(0, 40, 3000), 0) + 1e-3 * g.normal(0, 1, {3000, 24}, {.dtype = float32});
  const ndarray points = p.astype(float32);
  eval(points);
  const ndarray exactly = sum(square(points(slice(0, 200)).astype(float64)(_, newaxis) - points.astype(float64)), 2);
  const auto found = sp::knn(points(slice(0, 200)), points, 15, {.metric = "sqeuclidean"});
  check_neighbors(found, exactly.astype(float32), 15, 1e-10);
}

TEST_CASE("knn of whole numbers: equal distances by the thousand, exact up to where float32 counts") {
  random::generator g(18);
  for (const auto& kind : {std::pair(1, 40), std::pair(300, 8), std::pair(511, 7), std::pair(3000, 6)}) {
    const int largest = kind.first, d = kind.second;
    CAPTURE(largest);
    const ndarray q = g.integers(-largest, largest + 1, {60, d}).astype(float32),
                  p = concatenate({g.integers(-largest, largest + 1, {2500, d}).astype(float32), q, q, q}, 0);
    eval(q, p);
    const ndarray squares = sum(square(q(_, newaxis).astype(float64) - p.astype(float64)), 2);
    const topk_result wanted = topk(squares, 12, {.largest = false});
    const auto found = sp::knn(q, p, 12, {.metric = "sqeuclidean"});
    if (largest < 3000) CHECK(equal(found.indices, wanted.indices));
    CHECK(close(found.distances.astype(float64), wanted.values, largest < 3000 ? 0 : 30));
    const ndarray products = -matmul(q.astype(float64), p.astype(float64).T());
    const auto inner = sp::knn(q, p, 12, {.metric = "inner_product"});
    const topk_result like = topk(products, 12, {.largest = false});
    if (largest < 3000) CHECK(equal(inner.indices, like.indices));
    CHECK(close(inner.distances.astype(float64), like.values, largest < 3000 ? 0 : 30));
  }
}

TEST_CASE("knn goes over tiles") {
  random::generator g(8);
  // More points than a tile has columns, and more queries than rows fit beside them.
  const ndarray q = random_points(g, 600, 4, float32), p = random_points(g, 20000, 4, float32);
  for (const char* metric : {"euclidean", "chebyshev"}) {
    const auto found = sp::knn(q, p, 3, {.metric = metric});
    const topk_result wanted = topk(sp::cdist(q(slice(0, 50)), p, metric), 3, {.largest = false});
    CHECK(close(found.distances(slice(0, 50)), wanted.values, 1e-5));
    const topk_result last = topk(sp::cdist(q(slice(580, 600)), p, metric), 3, {.largest = false});
    CHECK(close(found.distances(slice(580, 600)), last.values, 1e-5));
    CHECK(equal(found.indices(slice(580, 600)), last.indices));
  }
}

TEST_CASE("knn takes texts, weights, half precision, and 1024 neighbours") {
  random::generator g(9);
  const ndarray q = random_points(g, 9, 5, float32), p = random_points(g, 1500, 5, float32);
  const auto text = sp::knn(q, p, 4, {.text = "T s = 0; for (int j = 0; j < d; ++j) s += fabs(x(j) - y(j)); z = s;"});
  check_neighbors(text, sp::cdist(q, p, "cityblock"), 4, 1e-5);
  const ndarray w = array({1.0, 0.0, 2.0, 0.5, 3.0});
  check_neighbors(sp::knn(q, p, 4, {.metric = "euclidean", .w = w}), sp::cdist(q, p, "euclidean", {.w = w}), 4, 1e-5);
  check_neighbors(sp::knn(q, p, 4, {.metric = "minkowski", .p = 3}), sp::cdist(q, p, "minkowski", {.p = 3}), 4, 1e-5);
  check_neighbors(sp::knn(q, p, 1024), sp::cdist(q, p), 1024, 1e-5);
  const ndarray half = p.astype(float16), half_queries = q.astype(float16);
  const auto of_half = sp::knn(half_queries, half, 3);
  CHECK(of_half.distances.dtype() == float32);
  check_neighbors(of_half, sp::cdist(half_queries.astype(float32), half.astype(float32)), 3, 1e-5);
  CHECK_FALSE(sp::knn(q, p, 3, {.return_distance = false}).distances.defined());
  CHECK(sp::knn(q(slice(0, 0)), p, 3).indices.shape() == shape_t({0, 3}));
}

TEST_CASE("knn puts distances that are NaN last") {
  for (const std::int64_t d : {2, 5}) {
    ndarray p = arange(6).astype(float32)(_, newaxis) + zeros({6, d}, {.dtype = float32});
    p = p.copy();
    p(2) = NAN;
    eval(p);
    const auto found = sp::knn(zeros({1, d}, {.dtype = float32}), p, 6);
    CHECK(equal(found.indices, array({{0, 1, 3, 4, 5, 2}})));
    CHECK(std::isnan(found.distances(0, 5).item<double>()));
  }
}

TEST_CASE("knn orders distances that overflow by index") {
  const ndarray p = array({{1e30, 0.0}, {0.0, 0.0}, {-1e30, 0.0}}, {.dtype = float32});
  const auto found = sp::knn(zeros({1, 2}, {.dtype = float32}), p, 3);
  CHECK(equal(found.indices, array({{1, 0, 2}})));
  CHECK(bool(all(isinf(found.distances(_, slice(1, 3))))));
}

TEST_CASE("radius_neighbors lists what is near, in CSR form") {
  random::generator g(10);
  for (const std::int64_t d : {1, 2, 3, 6})
    for (const char* metric : {"euclidean", "sqeuclidean", "cityblock"}) {
      CAPTURE(metric);
      CAPTURE(d);
      const ndarray q = random_points(g, 41, d, float64), p = random_points(g, 300, d, float64);
      const ndarray distances = sp::cdist(q, p, metric), near = distances <= 1.0;
      const auto found = sp::radius_neighbors(q, p, 1.0, {.metric = metric});
      CHECK(equal(diff(found.indptr), sum(near, 1)));
      CHECK(equal(found.indices, nonzero(near)[1]));
      CHECK(close(found.distances, distances[near], 1e-12));
    }
  const auto none = sp::radius_neighbors(zeros({3, 5}), zeros({0, 5}), 1.0);
  CHECK(equal(none.indptr, zeros({4}, {.dtype = int64})));
  CHECK(none.indices.size() == 0);
}

TEST_CASE("haversine neighbours are those on the sphere") {
  random::generator g(11);
  const auto places = [&](std::int64_t n) {
    const ndarray x = stack({arcsin(g.uniform(-1, 1, n)), g.uniform(-M_PI, M_PI, n)}, 1);
    eval(x);
    return x;
  };
  const ndarray q = places(60), p = places(800);
  const ndarray distances = sp::cdist(q, p, "haversine");
  check_neighbors(sp::knn(q, p, 7, {.metric = "haversine"}), distances, 7, 1e-12);
  const auto near = sp::radius_neighbors(q, p, 0.2, {.metric = "haversine"});
  CHECK(equal(near.indices, nonzero(distances <= 0.2)[1]));
  // A metre apart, in float32 angles.
  const ndarray pair = array({{0.5, 1.0}, {0.5 + 0x1p-22, 1.0}}, {.dtype = float32});
  const double apart = sp::knn(pair, pair, 2, {.metric = "haversine"}).distances(0, 1).item<double>();
  CHECK(std::abs(apart - 0x1p-22) < 1e-12);
}

TEST_CASE("distances and neighbours refuse what does not fit") {
  const ndarray a = zeros({4, 3}), b = zeros({5, 2});
  CHECK(said_by([&] { sp::cdist(a, b); }) == "[cdist] points of shapes (4, 3) and (5, 2) have other dimensions");
  CHECK(said_by([&] { sp::cdist(a, a, "far"); }) == "[cdist] no metric \"far\"");
  CHECK(said_by([&] { sp::cdist(a, a, "euclidean", {.p = 3}); }) == "[cdist] the metric \"euclidean\" takes no p");
  CHECK(said_by([&] { sp::cdist(a, a, "haversine"); }).find("2 dimensions, not 3") != std::string::npos);
  CHECK_THROWS_AS(sp::cdist(a.astype(complex128), a), dtype_error);
  CHECK_THROWS_AS(sp::cdist(a, a, "euclidean", {.w = ones({4})}), shape_error);
  CHECK_THROWS_AS(sp::cdist(a, a, "minkowski", {.p = 0}), value_error);
  CHECK_THROWS_AS(sp::distance_matrix(a, a, 0.5), value_error);
  CHECK(said_by([&] { sp::knn(a, a, 5); }) == "[knn] k = 5 neighbours of 4 points; k may be 1 to 4");
  CHECK_THROWS_AS(sp::knn(a, a, 0), value_error);
  CHECK_THROWS_AS(sp::knn(zeros({1, 3}), zeros({2000, 3}), 1025), value_error);
  CHECK_THROWS_AS(sp::knn(a, a, 1, {.metric = "inner_product", .p = 2}), value_error);
  CHECK_THROWS_AS(sp::knn(a, a, 1, {.metric = "cosine", .text = "z = 0;"}), value_error);
  CHECK_THROWS_AS(sp::radius_neighbors(a, a, NAN), value_error);
  CHECK(sp::radius_neighbors(a, a, -1).indices.size() == 0);
  CHECK_THROWS_AS(sp::KDTree(zeros({3, 17})), shape_error);
  CHECK_THROWS_AS(sp::KDTree(zeros({3})), shape_error);
  CHECK_THROWS_AS(sp::KDTree(full({3, 2}, NAN)), value_error);
  CHECK_THROWS_AS(sp::KDTree(a).query(b), shape_error);
  CHECK_THROWS_AS(sp::KDTree(a).query(a, 1, {.p = 0.5}), value_error);
  CHECK(said_by([&] { sp::KDTree(a).query_ball_point(a, ones({3})); }) ==
        "[KDTree.query_ball_point] radii of shape (3,) for points of shape (4,)");
}

TEST_CASE("distances of truth values by counts are those of their definitions, element by element") {
  for (const dtype t : {float32, float64}) {
    const ndarray a = (random::uniform(0, 1, {37, 45}) > 0.6).astype(t),
                  b = (random::uniform(0, 1, {29, 45}) > 0.3).astype(t);
    a(3) = 0;
    b(4) = 0;
    b(5) = a(6);
    const ndarray x = a(_, newaxis), y = b(newaxis);
    const auto count = [](const ndarray& both) { return sum(both, 2).astype(float64); };
    const ndarray tt = count(x * y), tf = count(x * (1 - y)), ft = count((1 - x) * y), ff = count((1 - x) * (1 - y)),
                  other = tf + ft;
    const auto check = [&](const char* metric, const ndarray& expected) {
      CAPTURE(metric);
      const ndarray d = spatial::cdist(a, b, metric), among = spatial::pdist(concatenate({a, b}), metric);
      CHECK(d.dtype() == t);
      CHECK(allclose(d, expected, 1e-6, 0, true));
      CHECK(array_equal(spatial::squareform(among)(slice(37), slice(37, _)), d, true));
      const ndarray ones_are_weights = spatial::cdist(a, b, metric, {.w = ones(45)});
      CHECK(array_equal(ones_are_weights, d, true));
    };
    check("jaccard", where(other == 0, 0, other / (tt + other)));
    check("dice", other / (2 * tt + other));
    check("russellrao", (45 - tt) / 45);
    check("sokalsneath", 2 * other / (tt + 2 * other));
    check("rogerstanimoto", 2 * other / (tt + ff + 2 * other));
    check("yule", where(tf * ft == 0, 0, 2 * tf * ft / (tt * ff + tf * ft)));
  }
}
