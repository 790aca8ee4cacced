// Factorisations and systems on meshes, functions of which every device does all, and axes that are divided further.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "dist/meshes.hpp"
#include "sinter/cluster.hpp"
#include "sinter/grad.hpp"
#include "sinter/sparse.hpp"
#include "sinter/spatial.hpp"
#include "support/message_of.hpp"

namespace {

using namespace sinter;
using random::generator;
namespace dist = sinter::dist;
using dist::replicate;
using dist::shard;
using test::identical;
using test::mesh_of;
using test::mesh_sizes;

double difference(const ndarray& x, const ndarray& y) { return max(abs(dist::gather(x) - y)).item<double>(); }

std::string plan_of(const ndarray& x) { return explain(x + 1); }

}  // namespace

TEST_CASE("stacks of matrices are factored where they are") {
  generator g(61);
  const ndarray a = g.standard_normal({7, 2, 5, 5}) + 6 * eye(5), tall = g.standard_normal({7, 2, 6, 3});
  const ndarray s = matmul(a, swapaxes(a, -1, -2));
  for (const std::int64_t n : mesh_sizes())
    for (const std::int64_t axis : {0, 1, 2, 3}) {
      INFO(n, " positions, along axis ", axis);
      const auto in_parts = [&](const ndarray& x) { return dist::shard(x, mesh_of({n}), {shard(axis)}); };
      const ndarray l = linalg::cholesky(in_parts(s));
      CHECK(identical(l, linalg::cholesky(s)));
      const dist::placements where = dist::placements_of(l);
      CHECK(where == dist::placements{shard(axis == 1 ? 1 : 0)});
      CHECK(identical(linalg::qr(in_parts(tall)).r, linalg::qr(tall).r));
      CHECK(identical(linalg::qr(in_parts(tall), "complete").q, linalg::qr(tall, "complete").q));
      CHECK(identical(linalg::lu_factor(in_parts(a)).piv, linalg::lu_factor(a).piv));
      CHECK(difference(linalg::slogdet(in_parts(a)).logabsdet, linalg::slogdet(a).logabsdet) < 1e-12);
      CHECK(identical(linalg::eigvalsh(in_parts(s)), linalg::eigvalsh(s)));
      CHECK(identical(linalg::svd(in_parts(tall), {.full_matrices = false}).u,
                      linalg::svd(tall, {.full_matrices = false}).u));
      CHECK(difference(linalg::pinv(in_parts(tall)), linalg::pinv(tall)) < 1e-12);
    }
  const ndarray none = dist::shard(zeros({0, 4, 4}), mesh_of({3}), {shard(0)});
  CHECK(linalg::cholesky(none).shape() == shape_t{0, 4, 4});
}

TEST_CASE("matrices on a mesh of two axes divide their stack further") {
  generator g(62);
  const ndarray a = g.standard_normal({9, 5, 5}) + 6 * eye(5);
  for (const dist::placements& how :
       {dist::placements{shard(0), shard(1)}, {shard(1), shard(2)}, {shard(2), shard(0)}, {replicate(), shard(1)}}) {
    const ndarray d = linalg::inv(dist::shard(a, mesh_of({2, 3}), how));
    CHECK(difference(d, linalg::inv(a)) < 1e-12);
    CHECK(dist::placements_of(d)[1] == shard(0));
  }
}

TEST_CASE("systems are solved by matrices of a stack and by columns") {
  generator g(63);
  const ndarray a = g.standard_normal({8, 5, 5}) + 6 * eye(5), one = g.standard_normal({5, 5}) + 6 * eye(5);
  const ndarray b = g.standard_normal({8, 5, 3}), v = g.standard_normal({5}), sides = g.standard_normal({5, 17});
  const auto lu = linalg::lu_factor(one);
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    const auto on = [&](const ndarray& x, const dist::placements& how) { return dist::shard(x, m, how); };
    for (const dist::placements& left : {dist::placements{shard(0)}, {shard(2)}, {}})
      for (const dist::placements& right : {dist::placements{shard(0)}, {shard(1)}, {shard(2)}, {}}) {
        CHECK(difference(linalg::solve(on(a, left), on(b, right)), linalg::solve(a, b)) < 1e-12);
        CHECK(difference(linalg::solve_triangular(on(a, left), on(b, right)), linalg::solve_triangular(a, b)) < 1e-9);
      }
    CHECK(difference(linalg::solve(on(a, {shard(0)}), on(v, {shard(0)})), linalg::solve(a, v)) < 1e-12);
    CHECK(difference(linalg::solve(on(one, {}), on(b, {shard(0)})), linalg::solve(one, b)) < 1e-12);
    const ndarray x = linalg::solve(on(one, {shard(0)}), on(sides, {shard(1)}));
    CHECK(difference(x, linalg::solve(one, sides)) < 1e-12);
    CHECK(dist::placements_of(x) == dist::placements{shard(1)});
    const linalg::lu_factors f{on(lu.lu, {}), on(lu.piv, {shard(0)})};
    CHECK(difference(linalg::lu_solve(f, on(sides, {shard(1)})), linalg::lu_solve(lu, sides)) < 1e-12);
    CHECK(difference(linalg::solve(on(one, {shard(1)}), on(v, {shard(0)})), linalg::solve(one, v)) < 1e-12);
  }
}

TEST_CASE("what does not fit, is singular or too large says so on parts") {
  generator g(64);
  const dist::mesh m = mesh_of({4});
  ndarray a = g.standard_normal({9, 5, 5});
  a(7) = 0.0;
  const ndarray s = dist::shard(a, m, {shard(0)});
  CHECK_THROWS_AS(linalg::solve(s, dist::shard(ones({9, 5, 1}), m, {shard(0)})), linalg_error);
  sinter_test::refuses<linalg_error>([&] { linalg::cholesky(s); }, "in the part [");
  CHECK(identical(linalg::det(s) == 0, linalg::det(a) == 0));
  CHECK_THROWS_AS(linalg::solve(s, dist::shard(ones({9, 4, 1}), m, {shard(0)})), shape_error);
  CHECK_THROWS_AS(linalg::solve(s, dist::shard(ones({8, 5, 1}), m, {shard(0)})), shape_error);
  CHECK_THROWS_AS(linalg::cholesky(dist::shard(ones({9}), m, {shard(0)})), linalg_error);
  CHECK_THROWS_AS(linalg::inv(dist::shard(ones({9, 4, 5}), m, {shard(0)})), linalg_error);
  CHECK_THROWS_AS(linalg::cholesky(dist::shard(ones({4, 5, 5}).astype(float16), m, {shard(0)})), dtype_error);
  const ndarray large = dist::shard(eye(400), m, {shard(0)});
  sinter_test::refuses<device_error>([&] { linalg::cholesky(large); }, "[cholesky]");
  sinter_test::refuses<device_error>([&] { linalg::cholesky(large); }, "replicate()");
  sinter_test::refuses<device_error>(
      [&] {
        linalg::solve(large, dist::shard(ones({400, 8}), m, {shard(1)}));
      },
      "[solve]");
  CHECK(identical(linalg::cholesky(dist::redistribute(large, {})), eye(400)));
}

TEST_CASE("reductions and orders whose axis is divided on a mesh of two axes divide the others further") {
  const ndarray x = generator(65).standard_normal({90, 4000}), y = generator(66).random({40, 30, 6});
  const dist::mesh m = mesh_of({2, 3});
  for (const dist::placements& how : {dist::placements{shard(0), shard(1)}, {shard(1), shard(0)}}) {
    const ndarray s = dist::shard(x, m, how), t = dist::shard(y, m, how);
    const auto softmax = [](const ndarray& v) {
      const ndarray e = exp(v - max(v, {.axis = 1, .keepdims = true}));
      return e / sum(e, {.axis = 1, .keepdims = true});
    };
    CHECK(identical(softmax(s), softmax(x)));
    CHECK(identical(sinter::std(s, {.axis = 1}), sinter::std(x, {.axis = 1})));
    CHECK(identical(sort(s, {.axis = 1}), sort(x, {.axis = 1})));
    CHECK(identical(argsort(s, {.axis = 0}), argsort(x, {.axis = 0})));
    CHECK(identical(sum(t, {.axis = axes{0, 1}}), sum(y, {.axis = axes{0, 1}})));
    CHECK(identical(median(t, {.axis = 1}), median(y, {.axis = 1})));
    // Each device sends what it has of rows that others sum, and nothing is gathered.
    const std::string plan = plan_of(sum(exp(s), {.axis = 1}));
    CHECK(plan.find("redistribution of (90, 4000) float64") != std::string::npos);
    CHECK(plan.find("all-gather of (90, 4000)") == std::string::npos);
  }
}

TEST_CASE("functions that run on one device do so everywhere where operands are small") {
  generator g(67);
  const ndarray points = g.random({90, 2}), queries = g.random({61, 2});
  const auto groups = cluster::dbscan(points, 0.1);
  const auto near = spatial::radius_neighbors(queries, points, 0.2);
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    for (const dist::placements& how : {dist::placements{shard(0)}, {shard(1)}, {}}) {
      const auto found = cluster::dbscan(dist::shard(points, m, how), 0.1);
      CHECK(identical(found.labels, groups.labels));
      CHECK(identical(found.core_sample_indices, groups.core_sample_indices));
      CHECK(found.n_clusters == groups.n_clusters);
      for (const dist::placements& where : {dist::placements{shard(0)}, {}}) {
        const auto lists = spatial::radius_neighbors(dist::shard(queries, m, how), dist::shard(points, m, where), 0.2);
        CHECK(identical(lists.indptr, near.indptr));
        CHECK(identical(lists.indices, near.indices));
        CHECK(identical(lists.distances, near.distances));
        if (n > 1 && how == dist::placements{shard(0)}) CHECK(dist::placements_of(lists.indices) == how);
      }
    }
    const auto few = spatial::radius_neighbors(dist::shard(queries, m, {shard(0)}), dist::shard(points, m, {}), 0.2,
                                               {.return_distance = false});
    CHECK(!few.distances.defined());
    CHECK(identical(few.indices, near.indices));
  }
  const dist::mesh m = mesh_of({2});
  const ndarray large = dist::shard(zeros({70000, 2}).copy(), m, {shard(0)});
  sinter_test::refuses<device_error>([&] { cluster::dbscan(large, 0.1); }, "[dbscan]");
  sinter_test::refuses<device_error>([&] { spatial::radius_neighbors(large, large, 0.1); }, "[radius_neighbors]");
  sinter_test::refuses<device_error>([&] { spatial::KDTree tree(large); }, "[KDTree]");
  CHECK_THROWS_AS(spatial::radius_neighbors(large, dist::shard(points["0:9, 0:1"].copy(), m, {}), 0.1), shape_error);
}

TEST_CASE("metrics that follow from all points are those of all points on parts") {
  generator g(68);
  const ndarray points = g.random({90, 3}), queries = g.random({61, 3}) * arange(1, 4);
  for (const char* metric : {"seuclidean", "mahalanobis"})
    for (const std::int64_t n : mesh_sizes()) {
      const dist::mesh m = mesh_of({n});
      const auto got =
          spatial::knn(dist::shard(queries, m, {shard(0)}), dist::shard(points, m, {}), 4, {.metric = metric});
      const auto want = spatial::knn(queries, points, 4, {.metric = metric});
      CHECK(identical(got.indices, want.indices));
      CHECK(difference(got.distances, want.distances) < 1e-12);
    }
}

TEST_CASE("sparse matrices that every device has multiply columns where they are") {
  generator g(69);
  ndarray dense = g.random({30, 20});
  dense(dense < 0.8) = 0.0;
  const ndarray x = g.random({20, 12}), v = g.random({20});
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    for (const dist::placements& how : {dist::placements{shard(0)}, {shard(1)}, {}}) {
      const auto a = sparse::csr_array(dist::shard(dense, m, how)), c = sparse::csc_array(dist::shard(dense, m, how));
      CHECK(difference(matmul(a, dist::shard(x, m, {shard(1)})), matmul(dense, x)) < 1e-12);
      CHECK(difference(matmul(c, dist::shard(v, m, {shard(0)})), matmul(dense, v)) < 1e-12);
      CHECK(dist::placements_of(matmul(a, dist::shard(x, m, {shard(1)}))) == dist::placements{shard(1)});
    }
  }
}

TEST_CASE("functions with derivatives of their own run on parts") {
  const ndarray x = generator(70).standard_normal({61, 5});
  const auto wave = checkpoint([](const ndarray& v) { return sin(v) * 2; });
  const auto soft = custom_derivative(
      [](const ndarray& v) { return log1p(exp(v)); },
      {.vjp = [](const std::vector<ndarray>& v, const std::vector<ndarray>&, const std::vector<ndarray>& d) {
        return std::vector<ndarray>{d[0] / (1 + exp(-v[0]))};
      }});
  for (const std::int64_t n : mesh_sizes()) {
    const ndarray s = dist::shard(x, mesh_of({n}), {shard(0)});
    CHECK(identical(wave(s), sin(x) * 2));
    CHECK(dist::placements_of(wave(s)) == dist::placements{shard(0)});
    CHECK(identical(soft(s), log1p(exp(x))));
    CHECK(identical(grad([&](const ndarray& v) { return sum(wave(v)); })(s), 2 * cos(x)));
    CHECK(identical(grad([&](const ndarray& v) { return sum(soft(v)); })(s), 1 / (1 + exp(-x))));
  }
}

TEST_CASE("draws with divided parameters have the numbers of one device") {
  const ndarray rate = generator(71).random({61}) * 4;
  for (const std::int64_t n : mesh_sizes()) {
    const ndarray s = dist::shard(rate, mesh_of({n}), {shard(0)});
    CHECK(identical(generator(72).poisson(s), generator(72).poisson(rate)));
    CHECK(identical(generator(72).gamma(s + 1), generator(72).gamma(rate + 1)));
  }
  const ndarray large = dist::shard(ones({200000}), mesh_of({2}), {shard(0)});
  sinter_test::refuses<device_error>([&] { eval(generator(72).poisson(large)); }, "[random]");
}

TEST_CASE("softmax and layer norm of whole rows have the kernels of one device") {
  const ndarray x = generator(73).standard_normal({512, 3000}, {.dtype = float32});
  eval(x);
  const auto softmax = [](const ndarray& v) {
    const ndarray e = exp(v - max(v, {.axis = 1, .keepdims = true}));
    return e / sum(e, {.axis = 1, .keepdims = true});
  };
  const auto norm = [](const ndarray& v) {
    const ndarray d = v - mean(v, {.axis = 1, .keepdims = true});
    return d / sqrt(mean(d * d, {.axis = 1, .keepdims = true}) + 1e-5F);
  };
  for (const std::int64_t n : {2, 4}) {
    const ndarray s = dist::shard(x, mesh_of({n}), {shard(0)}), part = dist::local(s)[0];
    const auto kernels = [&](const ndarray& y) {
      const std::string plan = explain(y);
      return plan.substr(plan.find("as those of the others:\n") + 24);
    };
    CHECK(kernels(softmax(s)) == explain(softmax(part)));
    CHECK(kernels(norm(s)) == explain(norm(part)));
  }
}
