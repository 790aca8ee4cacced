// Sums that are still to be made: partial() placements, what keeps them, and what makes them.
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "dist/meshes.hpp"
#include "support/message_of.hpp"

namespace {

using namespace sinter;
using random::generator;
namespace dist = sinter::dist;
using dist::partial;
using dist::replicate;
using dist::shard;
using test::identical;
using test::mesh_of;
using test::mesh_sizes;

std::int64_t count_in(const std::string& text, const std::string& what) {
  std::int64_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// Bytes between devices that a plan says.
std::int64_t bytes_in(const std::string& plan) {
  const std::size_t at = plan.find(" collectives, ");
  return std::stoll(plan.substr(at + 14));
}

}  // namespace

TEST_CASE("a partial array is the sum of its terms") {
  const ndarray x = arange(12).reshape({4, 3}).astype(float64);
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    std::vector<ndarray> terms;
    for (std::int64_t k = 0; k < n; ++k) terms.push_back(x * static_cast<double>(k + 1));
    const ndarray s = dist::from_local(terms, {4, 3}, m, {partial()});
    CHECK(dist::placements_of(s) == dist::placements{partial()});
    CHECK(identical(s, x * (static_cast<double>(n * (n + 1)) / 2)));
    for (const dist::placements& how : {dist::placements{}, {shard(0)}, {shard(1)}}) {
      const ndarray made = dist::redistribute(s, how);
      CHECK(dist::placements_of(made) == (how.empty() ? dist::placements{replicate()} : how));
      CHECK(identical(made, s));
    }
    CHECK(identical(dist::local(s)[0], x));
    CHECK(identical(s * 2 + 1, x * static_cast<double>(n * (n + 1)) + 1));
    CHECK(identical(sum(s), sum(x * (static_cast<double>(n * (n + 1)) / 2))));
    CHECK(identical(dist::redistribute(s, {partial()}), s));
  }
}

/// The same bits, but for those of NaNs, which an addition may change.
static bool same_but_nan(const ndarray& s, const ndarray& y) {
  if (!is_inexact(y.dtype())) return identical(s, y);
  return identical(isnan(s), isnan(y)) && identical(where(isnan(s), 0, s), where(isnan(y), 0, y));
}

TEST_CASE("what is not a sum becomes one term beside nothing, with its bits") {
  ndarray x = generator(3).standard_normal({7, 5});
  x(0, 0) = -0.0;
  x(1, 1) = std::numeric_limits<double>::infinity();
  x(2, 2) = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    for (const dtype t : std::vector<dtype>{float64, float32, float16, bfloat16, complex128, int16}) {
      const ndarray y = is_inexact(t) ? x.astype(t) : arange(35).reshape({7, 5}).astype(t);
      for (const ndarray& s :
           {dist::shard(y, m, {partial()}), dist::redistribute(dist::shard(y, m, {shard(0)}), {partial()})}) {
        CHECK(s.dtype() == y.dtype());
        CHECK(dist::placements_of(s) == dist::placements{partial()});
        CHECK(same_but_nan(s, y));
        CHECK(same_but_nan(dist::redistribute(s, {shard(1)}), y));
      }
    }
    CHECK(identical(dist::zeros({6}, m, {partial()}) + 1, ones({6})));
    CHECK(identical(dist::arange(9, m, {partial()}), arange(9)));
    CHECK(identical(dist::full({3}, 2.5, m, {partial()}), full({3}, 2.5)));
  }
}

TEST_CASE("sums along sharded axes stay partial where that is asked for, and have the bits of one device") {
  generator g(4);
  const std::vector<ndarray> all{g.standard_normal({30000}),   g.standard_normal({3001, 50}),
                                 g.standard_normal({6000, 3}), g.standard_normal({30000, 2}).astype(float16),
                                 g.integers(-9, 9, {70, 6}),   g.integers(-9, 9, {1001}),
                                 g.standard_normal({40, 6}),   g.standard_normal({20000, 1}),
                                 g.integers(0, 2, {50, 4}) > 0};
  for (const ndarray& x : all) {
    const ndarray want = sum(x, {.axis = 0}), average = mean(x, {.axis = 0});
    for (const std::int64_t n : mesh_sizes()) {
      INFO(to_string(x.shape()), " ", std::string(name(x.dtype())), " on ", n);
      const dist::mesh m = mesh_of({n});
      const ndarray s = dist::shard(x, m, {shard(0)});
      const ndarray kept = dist::redistribute(sum(s, {.axis = 0}), {partial()});
      CHECK(dist::placements_of(kept) == dist::placements{partial()});
      CHECK(identical(kept, want));
      CHECK(identical(kept + 1, want + 1));
      CHECK(identical(dist::redistribute(kept, {}), want));
      if (want.ndim() > 0) {
        CHECK(identical(dist::redistribute(kept, {shard(0)}), want));
        const ndarray scattered = dist::redistribute(sum(s, {.axis = 0}), {shard(0)});
        CHECK(dist::placements_of(scattered) == dist::placements{shard(0)});
        CHECK(identical(scattered, want));
        CHECK(identical(dist::redistribute(mean(s, {.axis = 0}), {shard(0)}), average));
      }
      CHECK(identical(dist::redistribute(mean(s, {.axis = 0}), {partial()}), average));
      CHECK(identical(dist::redistribute(sum(s, {.axis = 0}), {}), want));
    }
  }
}

TEST_CASE("a sum that is redistributed is evaluated in these parts") {
  const ndarray x = generator(5).standard_normal({3001, 64});
  const ndarray s = dist::shard(x, mesh_of({4}), {shard(0)}), total = sum(s, {.axis = 0});
  const ndarray part = dist::redistribute(total, {shard(0)});
  CHECK(dist::placements_of(total) == dist::placements{shard(0)});
  CHECK(identical(total, sum(x, {.axis = 0})));
  CHECK(identical(part, total));
}

TEST_CASE("a plan says what makes a sum, and how many bytes that moves") {
  const dist::mesh m = mesh_of({4});
  const ndarray x = dist::shard(generator(6).standard_normal({4096, 64}), m, {shard(0)});
  const std::string all = explain(sum(x, {.axis = 0}) / 3);
  CHECK(count_in(all, "all-reduce of ") == 1);
  // Beside an array that is sharded along the same axis of the mesh each device needs its block of the sum only.
  const ndarray y = dist::shard(generator(7).standard_normal({4, 64}), m, {shard(1)});
  const std::string some = explain(y + sum(x, {.axis = 0}) / 3);
  CHECK(count_in(some, "reduce-scatter of ") == 1);
  CHECK(count_in(some, "all-reduce of ") == 0);
  CHECK(bytes_in(some) * 4 == bytes_in(all));
  CHECK(identical(y + sum(x, {.axis = 0}) / 3, dist::gather(y) + sum(dist::gather(x), {.axis = 0}) / 3));
  const std::string text = dist::visualize(dist::redistribute(sum(x, {.axis = 0}), {partial()}));
  CHECK(text.find("{partial()}") != std::string::npos);
  CHECK(text.find("terms of the sum") != std::string::npos);
}

TEST_CASE("linear work on sums of integers keeps them partial, other work makes them") {
  generator g(8);
  const ndarray x = g.integers(-1000, 1000, {99, 5}), y = g.integers(-1000, 1000, {99, 5});
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    const ndarray s = dist::shard(x, m, {shard(0)}), t = dist::shard(y, m, {shard(0)});
    const auto f = [](const ndarray& a, const ndarray& b) { return 3 * sum(a, {.axis = 0}) - (-sum(b, {.axis = 0})); };
    if (n > 1) CHECK(count_in(explain(f(s, t)), "all-reduce of ") == 1);
    CHECK(identical(f(s, t), f(x, y)));
    CHECK(identical(dist::redistribute(f(s, t), {partial()}), f(x, y)));
    CHECK(identical(sum(s, {.axis = 0}) * sum(t, {.axis = 0}) + 1, sum(x, {.axis = 0}) * sum(y, {.axis = 0}) + 1));
    CHECK(identical(sum(s, {.axis = 0}) + 1, sum(x, {.axis = 0}) + 1));
    CHECK(identical(sum(s, {.axis = 0}) + t, sum(x, {.axis = 0}) + y));
    CHECK(identical(sum(s.astype(int8), {.axis = 0, .dtype = int8}) * 7,
                    sum(x.astype(int8), {.axis = 0, .dtype = int8}) * 7));
  }
}

TEST_CASE("partial along one axis of a mesh of two") {
  const dist::mesh m = mesh_of({2, 3});
  const ndarray x = generator(9).standard_normal({5000, 12}), k = generator(9).integers(0, 99, {50, 12});
  for (const ndarray& one : {x, k}) {
    const ndarray s = dist::shard(one, m, {shard(1), shard(0)}), want = sum(one, {.axis = 0});
    const ndarray kept = dist::redistribute(sum(s, {.axis = 0}), {shard(0), partial()});
    CHECK(dist::placements_of(kept) == dist::placements{shard(0), partial()});
    CHECK(identical(kept, want));
    CHECK(identical(dist::redistribute(kept, {replicate(), shard(0)}), want));
    CHECK(identical(dist::redistribute(kept, {partial(), partial()}), want));
    CHECK(identical(dist::redistribute(kept, {partial(), shard(0)}), want));
    const ndarray both = dist::shard(one, m, {shard(0), shard(0)});
    CHECK(identical(dist::redistribute(sum(both, {.axis = 0}), {partial(), partial()}), want));
    CHECK(
        identical(sum(dist::redistribute(dist::shard(one, m, {shard(0), shard(1)}), {partial(), shard(0)})), sum(one)));
  }
}

TEST_CASE("functions that run at once make the sum first") {
  const ndarray x = generator(10).standard_normal({3000, 8});
  const ndarray s = dist::redistribute(sum(dist::shard(x, mesh_of({3}), {shard(0)}), {.axis = 0}), {partial()});
  const ndarray want = sum(x, {.axis = 0});
  CHECK(identical(sort(s), sort(want)));
  CHECK(identical(s["2:5"], want["2:5"]));
  CHECK(identical(cumsum(s), cumsum(want)));
  ndarray u = s.copy(), v = want.copy();
  u["1:3"] = 7;
  v["1:3"] = 7;
  CHECK(identical(u, v));
  CHECK(s(3).item<double>() == want(3).item<double>());
}

TEST_CASE("partial placements refuse what has no sums, and parts that do not fit") {
  const dist::mesh m = mesh_of({2});
  CHECK_THROWS_AS(dist::shard(arange(4) > 1, m, {partial()}), dtype_error);
  CHECK_THROWS_AS(dist::redistribute(dist::shard(arange(4) > 1, m, {}), {partial()}), dtype_error);
  CHECK_THROWS_AS(dist::zeros({4}, m, {partial()}, {.dtype = bool_}), dtype_error);
  CHECK_THROWS_AS(dist::from_local({ones({4})}, {4}, m, {partial()}), value_error);
  CHECK_THROWS_AS(dist::from_local({ones({4}), ones({3})}, {4}, m, {partial()}), shape_error);
  CHECK_THROWS_AS(dist::from_local({ones({4}), arange(4)}, {4}, m, {partial()}), dtype_error);
  CHECK_THROWS_AS(dist::from_local({ones({3}), ones({1})}, {4}, m, {shard(0)}), shape_error);
  CHECK(identical(dist::from_local({ones({2}), zeros({2})}, {4}, m, {shard(0)}), concatenate({ones({2}), zeros({2})})));
  CHECK(dist::to_string(partial()) == "partial()");
}
