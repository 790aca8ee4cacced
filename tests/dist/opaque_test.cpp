// Sorts, products, scans, transforms and counts of distributed arrays.
#include <complex>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "dist/meshes.hpp"
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

}  // namespace

TEST_CASE("sorts of distributed arrays have the bits of one device") {
  generator g(31);
  const ndarray x = g.standard_normal({1003});
  ndarray y = floor(g.random({517}) * 20);
  y(5) = std::numeric_limits<double>::quiet_NaN();
  y(400) = -std::numeric_limits<double>::infinity();
  const ndarray z = g.standard_normal({40, 30}), few = array({3, 1, 2});
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    CHECK(identical(sort(dist::shard(x, m, {shard(0)})), sort(x)));
    CHECK(identical(sort(dist::shard(y, m, {shard(0)})), sort(y)));
    CHECK(identical(sort(dist::shard(y.astype(int16), m, {shard(0)})), sort(y.astype(int16))));
    CHECK(identical(sort(dist::shard(few, m, {shard(0)})), sort(few)));
    for (std::int64_t a : {0, 1})
      for (std::int64_t b : {0, 1}) {
        const ndarray s = dist::shard(z, m, {shard(a)});
        CHECK(identical(sort(s, {.axis = b}), sort(z, {.axis = b})));
        CHECK(identical(argsort(s, {.axis = b}), argsort(z, {.axis = b})));
      }
    const ndarray s = sort(dist::shard(x, m, {shard(0)}));
    CHECK(dist::placements_of(s) == dist::placements{shard(0)});
  }
  const ndarray s = dist::shard(z, mesh_of({2}), {shard(1)});
  CHECK(identical(argsort(s, {.axis = std::nullopt}), argsort(z, {.axis = std::nullopt})));
  CHECK(identical(sort(dist::shard(z, mesh_of({2, 2}), {shard(0), shard(1)}), {.axis = std::nullopt}),
                  sort(z, {.axis = std::nullopt})));
  const ndarray flat = dist::shard(g.random({2, 90000}), mesh_of({3}), {shard(1)});  // fewer rows than parts
  sinter_test::refuses<device_error>([&] { argsort(flat, {.axis = std::nullopt}); }, "[argsort]");
  sinter_test::refuses<device_error>([&] { argsort(flat, {.axis = std::nullopt}); }, "{shard(0)}");
  CHECK(identical(argsort(dist::redistribute(s, {}), {.axis = std::nullopt}), argsort(z, {.axis = std::nullopt})));
}

TEST_CASE("equal elements, zeros of both signs and NaN keep their order in sorts of divided vectors") {
  generator g(38);
  ndarray few = floor(g.random({701}) * 4) - 1;
  few["::7"] = -0.0;
  few["3::11"] = std::numeric_limits<double>::quiet_NaN();
  few["5::50"] = std::numeric_limits<double>::infinity();
  const ndarray all_one = ones({50}), nothing = zeros({0}), one = full({1}, 3.0);
  const ndarray complex_one = few["0:100"] + few["100:200"] * std::complex<double>(0, 1);
  for (const ndarray& x : {few, few.astype(float32), few.astype(float16), g.integers(-3, 3, {333}),
                           g.integers(0, 255, {97}).astype(uint8), few > 0, all_one, nothing, one, complex_one})
    for (const std::int64_t n : mesh_sizes()) {
      INFO(to_string(x.shape()), " ", std::string(name(x.dtype())), " on ", n);
      const ndarray s = dist::shard(x, mesh_of({n}), {shard(0)});
      for (const bool down : {false, true}) {
        CHECK(identical(sort(s, {.descending = down}), sort(x, {.descending = down})));
        CHECK(identical(argsort(s, {.descending = down}), argsort(x, {.descending = down})));
        for (const std::int64_t k : {0, 1, 7, 40}) {
          if (k > x.size()) continue;
          const topk_result got = topk(s, k, {.largest = down}), want = topk(x, k, {.largest = down});
          CHECK(identical(got.values, want.values));
          CHECK(identical(got.indices, want.indices));
        }
      }
      CHECK(dist::placements_of(argsort(s)) == dist::placements{shard(0)});
    }
  CHECK_THROWS_AS(topk(dist::shard(few, mesh_of({2}), {shard(0)}), 702), value_error);
  CHECK_THROWS_AS(topk(dist::shard(few, mesh_of({2}), {shard(0)}), -1), value_error);
}

TEST_CASE("sorts on a mesh of two axes, of uneven parts, and of many elements of the first ones") {
  generator g(39);
  const ndarray x = g.standard_normal({90001});
  const dist::mesh m = mesh_of({2, 3});
  for (const dist::placements& how : {dist::placements{shard(0)}, {replicate(), shard(0)}, {shard(0), shard(0)}}) {
    const ndarray s = dist::shard(x, m, how);
    CHECK(identical(sort(s), sort(x)));
    CHECK(identical(argsort(s["7:-5"]), argsort(x["7:-5"])));
    const topk_result got = topk(s, 70000), want = topk(x, 70000);
    CHECK(identical(got.values, want.values));
    CHECK(identical(got.indices, want.indices));
    CHECK(identical(median(s), median(x)));
    CHECK(identical(quantile(s, {0.1, 0.99}), quantile(x, {0.1, 0.99})));
    CHECK(partition(s, 500)(500).item<double>() == sort(x)(500).item<double>());
  }
}

TEST_CASE("histograms and weighted counts of parts") {
  generator g(40);
  const ndarray x = g.standard_normal({1001}), w = g.standard_normal({1001}), k = g.integers(0, 9, {1001});
  const ndarray many = g.integers(0, 9, {100000}), long_w = g.standard_normal({100000});
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    CHECK(difference(bincount(dist::shard(many, m, {shard(0)}), {.weights = dist::shard(long_w, m, {shard(0)})}),
                     bincount(many, {.weights = long_w})) < 1e-9);
    const ndarray s = dist::shard(x, m, {shard(0)}), t = dist::shard(w, m, {shard(0)}),
                  c = dist::shard(k, m, {shard(0)});
    CHECK(identical(histogram(s, 12).hist, histogram(x, 12).hist));
    CHECK(identical(histogram(s, 12).bin_edges, histogram(x, 12).bin_edges));
    CHECK(identical(histogram(s, 12, {.weights = t}).hist, histogram(x, 12, {.weights = w}).hist));
    CHECK(identical(histogram(s, 5, {.range = {-1, 1}, .density = true}).hist,
                    histogram(x, 5, {.range = {-1, 1}, .density = true}).hist));
    CHECK(identical(histogram(s.astype(float16), 7).hist, histogram(x.astype(float16), 7).hist));
    CHECK(identical(bincount(c, {.weights = t}), bincount(k, {.weights = w})));
    CHECK(identical(bincount(c, {.weights = t.astype(float32)}), bincount(k, {.weights = w.astype(float32)})));
    CHECK(identical(bincount(dist::redistribute(c, {shard(0)}), {.weights = dist::redistribute(t, {})}),
                    bincount(k, {.weights = w})));
  }
}

TEST_CASE("products by rows, columns and parts of the inner axis") {
  generator g(32);
  const ndarray a = g.standard_normal({24, 18}), b = g.standard_normal({18, 20});
  const ndarray want = matmul(a, b);
  const std::vector<dist::placements> all{{shard(0)}, {shard(1)}, {replicate()}};
  for (const std::int64_t n : mesh_sizes())
    for (const dist::placements& left : all)
      for (const dist::placements& right : all) {
        const dist::mesh m = mesh_of({n});
        const ndarray c = matmul(dist::shard(a, m, left), dist::shard(b, m, right));
        CHECK(c.shape() == want.shape());
        CHECK(difference(c, want) < 1e-12);
      }
  const dist::mesh grid = mesh_of({2, 3});
  CHECK(difference(matmul(dist::shard(a, grid, {shard(0), replicate()}), dist::shard(b, grid, {replicate(), shard(1)})),
                   want) < 1e-12);
  const ndarray stack = g.standard_normal({6, 4, 18});
  CHECK(difference(matmul(dist::shard(stack, mesh_of({3}), {shard(0)}), dist::shard(b, mesh_of({3}), {})),
                   matmul(stack, b)) < 1e-12);
  const ndarray v = g.standard_normal({18});
  CHECK(difference(matmul(dist::shard(a, mesh_of({4}), {shard(0)}), dist::shard(v, mesh_of({4}), {shard(0)})),
                   matmul(a, v)) < 1e-12);
  CHECK(difference(einsum("ij,kj->ik", dist::shard(a, mesh_of({4}), {shard(0)}), dist::shard(a, mesh_of({4}), {})),
                   matmul(a, a.T())) < 1e-12);
}

TEST_CASE("running sums along whole and divided axes") {
  generator g(33);
  const ndarray x = g.integers(-5, 9, {37, 6}), y = g.standard_normal({37, 6});
  for (const std::int64_t n : mesh_sizes())
    for (std::int64_t a : {0, 1})
      for (std::int64_t b : {0, 1}) {
        const dist::mesh m = mesh_of({n});
        CHECK(identical(cumsum(dist::shard(x, m, {shard(a)}), b), cumsum(x, b)));
        CHECK(difference(cumsum(dist::shard(y, m, {shard(a)}), b), cumsum(y, b)) < 1e-12);
        CHECK(difference(cumprod(dist::shard(y, m, {shard(a)}), b), cumprod(y, b)) < 1e-9);
        CHECK(identical(cummax(dist::shard(y, m, {shard(a)}), b), cummax(y, b)));
        CHECK(difference(logcumsumexp(dist::shard(y, m, {shard(a)}), b), logcumsumexp(y, b)) < 1e-12);
      }
}

TEST_CASE("transforms along whole axes, and along divided ones after a redistribution") {
  generator g(34);
  const ndarray x = g.standard_normal({16, 12, 10});
  for (const std::int64_t n : mesh_sizes())
    for (std::int64_t a : {0, 1, 2}) {
      const ndarray s = dist::shard(x, mesh_of({n}), {shard(a)});
      CHECK(difference(fft::fft(s), fft::fft(x)) < 1e-12);
      CHECK(difference(fft::rfft(s, {.axis = 0}), fft::rfft(x, {.axis = 0})) < 1e-12);
    }
  const ndarray prime = dist::shard(zeros({200003}).copy(), mesh_of({2}), {shard(0)});
  sinter_test::refuses<device_error>([&] { fft::fft(prime); }, "[fft]");
  sinter_test::refuses<device_error>([&] { fft::fft(prime); }, "pad it");
}

TEST_CASE("transforms of vectors that are sharded along their only axis") {
  generator g(42);
  const ndarray few = g.standard_normal({1001}), x = g.standard_normal({360 * 500}),
                odd = g.standard_normal({201 * 901});
  const ndarray z = x + odd["0:180000"] * std::complex<double>(0, 1);
  const ndarray plane = g.standard_normal({48, 36}), half = z["0:90001"].copy();
  const auto near = [](const ndarray& got, const ndarray& want, double scale) {
    CHECK(got.dtype() == want.dtype());
    CHECK(got.shape() == want.shape());
    CHECK(difference(got, want) < 1e-12 * scale);
  };
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    const auto part = [&](const ndarray& y) { return dist::shard(y, m, {shard(0)}); };
    near(fft::fft(part(few)), fft::fft(few), 100);
    CHECK(dist::placements_of(fft::rfft(part(few))) == dist::placements{shard(0)});
    near(fft::fft(part(z)), fft::fft(z), 1000);
    near(fft::ifft(part(z)), fft::ifft(z), 1);
    near(fft::rfft(part(x)), fft::rfft(x), 1000);
    near(fft::rfft(part(odd)), fft::rfft(odd), 1000);
    near(fft::irfft(part(half)), fft::irfft(half), 1);
    near(fft::irfft(part(half), {.n = 180003}), fft::irfft(half, {.n = 180003}), 1);
    near(fft::ihfft(part(x)), fft::ihfft(x), 1);
    near(fft::hfft(part(half)), fft::hfft(half), 1000);
    near(fft::fft(part(z), {.norm = "ortho"}), fft::fft(z, {.norm = "ortho"}), 10);
    CHECK(difference(fft::fft(part(z.astype(complex64))), fft::fft(z.astype(complex64))) < 1e-2);
    CHECK(fft::fft(part(z.astype(complex64))).dtype() == complex64);
    CHECK(dist::placements_of(fft::fft(part(z))) == dist::placements{shard(0)});
    for (std::int64_t a : {0, 1}) {
      const ndarray s = dist::shard(plane, m, {shard(a)});
      near(fft::fft2(s), fft::fft2(plane), 100);
      near(fft::rfft2(s), fft::rfft2(plane), 100);
      near(fft::irfft2(fft::rfft2(s)), plane, 1);
      near(fft::ifft2(fft::fft2(s)), fft::ifft2(fft::fft2(plane)), 1);
    }
    near(fft::fftconvolve(part(few), part(few["0:31"].copy())), fft::fftconvolve(few, few["0:31"]), 100);
  }
}

TEST_CASE("nearest neighbours of sharded queries") {
  generator g(43);
  const ndarray points = g.standard_normal({400, 3}), queries = g.standard_normal({77, 3});
  const ndarray wide = g.standard_normal({300, 20}), asked = g.standard_normal({41, 20}), weight = g.random({3});
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    for (const dist::placements& how : {dist::placements{shard(0)}, {shard(1)}, {}})
      for (const dist::placements& where : {dist::placements{}, {shard(0)}}) {
        const auto got = spatial::knn(dist::shard(queries, m, how), dist::shard(points, m, where), 5);
        const auto want = spatial::knn(queries, points, 5);
        CHECK(identical(got.indices, want.indices));
        CHECK(identical(got.distances, want.distances));
      }
    const auto got = spatial::knn(dist::shard(asked, m, {shard(0)}), dist::shard(wide, m, {}), 7, {.metric = "cosine"});
    CHECK(identical(got.indices, spatial::knn(asked, wide, 7, {.metric = "cosine"}).indices));
    const auto near = spatial::knn(dist::shard(queries, m, {shard(0)}), dist::shard(points, m, {}), 2,
                                   {.metric = "euclidean", .w = dist::shard(weight, m, {}), .return_distance = false});
    CHECK(!near.distances.defined());
    CHECK(identical(near.indices, spatial::knn(queries, points, 2, {.metric = "euclidean", .w = weight}).indices));
    CHECK_THROWS_AS(spatial::knn(dist::shard(queries, m, {shard(0)}), dist::shard(points, m, {}), 401), value_error);
  }
  const dist::mesh m = mesh_of({2});
  const ndarray large = dist::shard(zeros({60000, 3}).copy(), m, {shard(0)});
  sinter_test::refuses<device_error>([&] { spatial::knn(dist::shard(queries, m, {shard(0)}), large, 5); }, "[knn]");
}

TEST_CASE("counts and places among edges") {
  generator g(35);
  const ndarray x = g.integers(0, 11, {501}), y = g.random({501}), edges = linspace(0, 1, 13);
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    CHECK(identical(bincount(dist::shard(x, m, {shard(0)})), bincount(x)));
    CHECK(identical(searchsorted(dist::shard(edges, m, {}), dist::shard(y, m, {shard(0)})), searchsorted(edges, y)));
  }
}

TEST_CASE("selections by masks") {
  generator g(37);
  const ndarray x = g.standard_normal({211}), y = g.standard_normal({23, 9});
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    const ndarray s = dist::shard(x, m, {shard(0)}), t = dist::shard(y, m, {shard(0)});
    CHECK(identical(s(s > 0.5) + 1, x(x > 0.5) + 1));
    CHECK(identical(s(s > 99) + 1, x(x > 99) + 1));
    CHECK(identical(nonzero(s > 0)[0], nonzero(x > 0)[0]));
    CHECK(identical(nonzero(t > 0)[1], nonzero(y > 0)[1]));
    CHECK(identical(t(t > 0).sum(), y(y > 0).sum()));
    ndarray u = dist::shard(y, m, {shard(1)}), v = y.copy();
    u(u < 0) = 0;
    v(v < 0) = 0;
    CHECK(identical(u, v));
    CHECK(identical(histogram(s, 12).hist, histogram(x, 12).hist));
  }
  for (const dist::placements& how :
       {dist::placements{shard(1)}, {shard(0), shard(1)}, {shard(1), shard(0)}, {replicate(), shard(1)}}) {
    const ndarray c = dist::shard(y, mesh_of({2, 2}), how);
    CHECK(identical(c(c > 0) + 1, y(y > 0) + 1));
    CHECK(identical(nonzero(c > 0)[1], nonzero(y > 0)[1]));
  }
}
