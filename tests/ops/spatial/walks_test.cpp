// Walks over trees as kernels from text do what the host's loops do, bit for bit; trees of unkind points.
#include <doctest/doctest.h>

#include "ops/spatial/walks.hpp"
#include "sinter/cluster.hpp"
#include "sinter/sinter.hpp"
#include "sinter/spatial.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
namespace sp = sinter::spatial;

bool equal(const ndarray& a, const ndarray& b) { return a.shape() == b.shape() && static_cast<bool>(all(a == b)); }

struct text_scope {
  text_scope() { ops::walk_by_text_for_tests(true); }
  ~text_scope() { ops::walk_by_text_for_tests(false); }
};

/// Everything that is asked of a tree, as a list of arrays.
std::vector<ndarray> answers(const ndarray& p, const ndarray& q, double norm) {
  const sp::KDTree t(p);
  const auto nearest = t.query(q, 6, {.p = norm});
  const auto some = t.query(q, 3, {.p = norm, .distance_upper_bound = 0.1});
  const auto ball = t.query_ball_point(q, 0.2, {.p = norm});
  return {nearest.distances,
          nearest.indices,
          some.distances,
          some.indices,
          ball.indptr,
          ball.indices,
          ball.distances,
          t.query_ball_count(q, 0.2, {.p = norm}),
          t.query_pairs(0.05, {.p = norm}),
          t.count_neighbors(t, 0.1, {.p = norm})};
}

}  // namespace

TEST_CASE("kernels from text walk trees as the host does") {
  const device_guard on(cpu);
  random::generator g(1);
  for (const int d : {1, 2, 3, 5})
    for (const double norm : {1.0, 2.0, 2.5, HUGE_VAL}) {
      // One norm in three dimensions for each dtype: each is a kernel to compile.
      if (d != 2 && norm != 2.0) continue;
      const dtype type = norm == 1.0 || d == 3 ? float32 : float64;
      const ndarray p = g.random({500, d}, {.dtype = type}), q = g.random({600, d}, {.dtype = type});
      eval(p, q);
      const auto wanted = answers(p, q, norm);
      const text_scope text;
      const auto found = answers(p, q, norm);
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        CAPTURE(d);
        CAPTURE(norm);
        CAPTURE(k);
        CHECK(equal(found[k], wanted[k]));
      }
    }
}

TEST_CASE("clusters by kernels and recorded steps are those of the host") {
  const device_guard on(cpu);
  random::generator g(2);
  const ndarray middle = g.normal(0, 3, {5, 2});
  const ndarray x = take(middle, g.integers(0, 5, 700), 0) + g.normal(0, 0.3, {700, 2});
  const ndarray wide = concatenate({x, x * 0.1, x + 1}, 1);
  eval(x, wide);
  const auto run = [&] {
    const auto a = cluster::dbscan(x, 0.15, {.min_samples = 4});
    const auto b = cluster::dbscan(wide, 0.3, {.min_samples = 4});
    const auto c = cluster::kmeans(x, 5, {.centers = x(slice(0, 5)), .tol = 0});
    return std::vector<ndarray>{a.labels, a.core_sample_indices, b.labels, b.core_sample_indices,
                                c.labels, array(c.n_iter)};
  };
  const auto wanted = run();
  const text_scope text;
  const auto found = run();
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    CAPTURE(k);
    CHECK(equal(found[k], wanted[k]));
  }
}

TEST_CASE("trees take points that coincide, lie far off, or are few") {
  random::generator g(3);
  const ndarray same = zeros({5000, 2}) + 0.25;
  const auto found = sp::KDTree(same).query(same(slice(0, 700)), 3);
  CHECK(bool(all(found.indices == array({0, 1, 2}))));
  CHECK(bool(all(found.distances == 0)));
  // One point far away leaves one cell of the curve to all others.
  ndarray p = g.random({900, 3}).copy();
  p(450) = 1e30;
  const ndarray squares = sum(square(p(_, newaxis) - p), 2);
  const auto nearest = sp::KDTree(p).query(p, 4);
  CHECK(equal(nearest.indices, topk(squares, 4, {.largest = false}).indices));
  const sp::KDTree none(zeros({0, 2}));
  const auto nothing = none.query(zeros({4, 2}), 2);
  CHECK(bool(all(isinf(nothing.distances))));
  CHECK(bool(all(nothing.indices == 0)));
  CHECK(none.query_pairs(1).shape() == shape_t({0, 2}));
  const sp::KDTree one(ones({1, 1}));
  CHECK(one.query(zeros({2, 3, 1})).indices.shape() == shape_t({2, 3}));
  CHECK(one.query(zeros({0, 1}), 2).indices.shape() == shape_t({0, 2}));
}

TEST_CASE("trees of four to sixteen dimensions find the distances of sums over coordinates, bit for bit") {
  random::generator g(5);
  const bool on_host = default_device() == cpu;
  for (const int d : {4, 5, 8, 11, 16})
    for (const dtype type : {float32, float64}) {
      const ndarray p = g.random({300, d}, {.dtype = type}), q = g.random({40, d}, {.dtype = type});
      eval(p, q);
      const sp::KDTree t(p);
      CHECK(t.m() == d);
      const struct {
        const char* metric;
        double p;
      } norms[] = {{"euclidean", 2}, {"cityblock", 1}, {"chebyshev", HUGE_VAL}};
      for (const auto& norm : norms) {
        CAPTURE(d);
        CAPTURE(norm.metric);
        const auto distances = [&](const ndarray& a, const ndarray& b) -> ndarray {
          const ndarray off = abs(a.T()(_, _, newaxis) - b.T()(_, newaxis));
          if (norm.p == 1) return sum(off, 0);
          return norm.p == 2 ? sqrt(sum(square(off), 0)) : max(off, {.axis = 0});
        };
        const ndarray all_of = distances(q, p), own = distances(p, p);
        // On a GPU cdist adds up along the points: three groups of coordinates in another order.
        if (on_host) CHECK(equal(all_of, sp::cdist(q, p, norm.metric)));
        const topk_result wanted = topk(all_of, 7, {.largest = false});
        const auto found = t.query(q, 7, {.p = norm.p});
        CHECK(equal(found.distances, wanted.values));
        CHECK(equal(found.indices, wanted.indices));
        const double radius = median(all_of).item<double>() * 0.8;
        CHECK(equal(t.query_ball_count(q, radius, {.p = norm.p}), sum(all_of <= radius, 1)));
        const auto ball = t.query_ball_point(q, radius, {.p = norm.p});
        CHECK(equal(ball.indices, nonzero(all_of <= radius)[1]));
        const auto near = nonzero(triu(own <= radius, 1));
        CHECK(equal(t.query_pairs(radius, {.p = norm.p}), stack({near[0], near[1]}, 1)));
      }
    }
  CHECK_THROWS_AS(sp::KDTree(ones({3, 17})), shape_error);
  CHECK_THROWS_WITH_AS(sp::KDTree(ones({3, 5})).query(ones({2, 8})),
                       "[KDTree.query] points of shape (2, 8) for a tree in 5 dimensions", shape_error);
}

TEST_CASE("knn of points near a curve in many dimensions finds what products of all points find") {
  random::generator g(6);
  for (const dtype type : {float32, float64}) {
    const ndarray at = g.random({2500, 1}, {.dtype = type});
    const ndarray smooth = sin(at * (arange(6, {.dtype = type}) + 1)), p = concatenate({smooth, rint(8 * smooth)}, 0);
    eval(p);
    for (const char* metric : {"euclidean", "sqeuclidean"}) {
      const auto found = sp::knn(p, p, 5, {.metric = metric});
      const topk_result wanted = topk(sp::cdist(p, p, metric), 5, {.largest = false});
      CHECK(equal(found.distances, wanted.values));
      CHECK(equal(found.indices, wanted.indices));
    }
  }
}

TEST_CASE("radii may be one for each query") {
  random::generator g(4);
  const ndarray p = g.random({300, 2}), q = g.random({20, 2}), r = g.random(20) / 3;
  eval(p, q, r);
  const ndarray near = sum(square(q(_, newaxis) - p), 2) <= square(r)(_, newaxis);
  const auto found = sp::KDTree(p).query_ball_point(q, r);
  CHECK(equal(found.indices, nonzero(near)[1]));
  CHECK(equal(sp::KDTree(p).query_ball_count(q, -r), zeros({20}, {.dtype = int64})));
}

TEST_CASE(
    "pairs of two trees, lists and nearest ones on the host are those of a matrix of distances, whatever the leaves "
    "hold") {
  const device_guard on(cpu);
  random::generator g(5);
  for (const int d : {1, 2, 6})
    for (const dtype type : {float32, float64})
      for (const double norm : {1.0, 2.0, 3.0, HUGE_VAL}) {
        if (type == float32 && norm != 2.0) continue;  // each is a kernel to compile
        CAPTURE(d);
        CAPTURE(norm);
        // Small whole numbers: many distances are equal, and equal to the radii.
        const ndarray p = floor(g.random({700, d}) * 5).astype(type),
                      q = floor(g.random({330, d}) * 7 - 1).astype(type);
        eval(p, q);
        const ndarray all = norm == 1.0   ? sp::cdist(p, q, "cityblock")
                            : norm == 2.0 ? sp::cdist(p, q)
                            : norm == 3.0 ? sp::cdist(p, q, "minkowski", {.p = 3})
                                          : sp::cdist(p, q, "chebyshev");
        for (const int leaf : {1, 8, 40, 1000}) {
          const sp::KDTree here(p, {.leafsize = leaf}), there(q, {.leafsize = 2 * leaf});
          const ndarray radii = array({-1.0, 0.0, 1.0, 2.0, 2.5, 4.0, 100.0});
          const ndarray counts = here.count_neighbors(there, radii, {.p = norm});
          for (std::int64_t k = 0; k < radii.size(); ++k) {
            if (norm == 3.0 && k > 0 && k + 1 < radii.size() && k != 4) continue;  // roots of powers round
            CHECK(counts(k).item<std::int64_t>() == count_nonzero(all <= radii(k)).item<std::int64_t>());
          }
          CHECK(here.count_neighbors(here, 2.5, {.p = norm}).item<std::int64_t>() ==
                700 + 2 * here.query_pairs(2.5, {.p = norm}).shape(0));
          const auto lists = here.query_ball_point(q, 2.5, {.p = norm});
          const ndarray near = all <= 2.5;
          CHECK(equal(diff(lists.indptr), sum(near, 0).astype(int64)));
          CHECK(equal(lists.indices, nonzero(near.T())[1]));
          CHECK(equal(here.query(q, 4, {.p = norm}).indices, sp::KDTree(p).query(q, 4, {.p = norm}).indices));
        }
      }
  const sp::KDTree none(zeros({0, 2})), one(zeros({1, 2})), other_type(zeros({3, 2}, float32));
  CHECK(none.count_neighbors(none, 1.0).item<std::int64_t>() == 0);
  CHECK(one.count_neighbors(none, HUGE_VAL).item<std::int64_t>() == 0);
  CHECK(none.count_neighbors(one, HUGE_VAL).item<std::int64_t>() == 0);
  CHECK(one.count_neighbors(one, 0.0).item<std::int64_t>() == 1);
  CHECK(one.count_neighbors(other_type, 0.0).item<std::int64_t>() == 3);
  CHECK_THROWS_AS((void)sp::KDTree(zeros({3, 2}), {.leafsize = 0}), value_error);
}

TEST_CASE("a distance between zeros of either sign is 0 without a sign") {
  const device_guard on(cpu);
  const ndarray p = array({{-0.0, 1.0}}), q = array({{0.0, 1.0}});
  const sp::KDTree t(p);
  for (const double norm : {1.0, HUGE_VAL}) {
    CHECK(!signbit(t.query(q, 1, {.p = norm}).distances).item<bool>());
    CHECK(t.count_neighbors(sp::KDTree(q), 0.0, {.p = norm}).item<std::int64_t>() == 1);
  }
}
