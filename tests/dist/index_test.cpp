// Lists of indices along sharded axes: rows that are taken, written and added to; sets and orders that are made of them.
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "dist/meshes.hpp"
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

/// More than goes to all devices unasked.
ndarray table() { return generator(71).standard_normal({60000, 3}); }

}  // namespace

TEST_CASE("rows of a large table are taken along its sharded axis") {
  const ndarray x = table(), k = generator(72).integers(-60000, 60000, {701}), few = array({59999, 0, -1, 17, 17});
  const ndarray many = generator(73).integers(0, 60000, {90000});
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    const ndarray s = dist::shard(x, m, {shard(0)});
    for (const dist::placements& how : {dist::placements{}, {shard(0)}}) {
      CHECK(identical(take(s, dist::shard(k, m, how), 0), take(x, k, 0)));
      CHECK(identical(s(dist::shard(k, m, how)) * 2, x(k) * 2));
      CHECK(identical(take(s, dist::shard(few, m, how), 0), take(x, few, 0)));
      CHECK(identical(take(s, dist::shard(many, m, how), 0) + 1, take(x, many, 0) + 1));
      CHECK(identical(take(s.T(), dist::shard(k, m, how), 1), take(x.T(), k, 1)));
      CHECK(identical(take(s * 2 + 1, dist::shard(k, m, how) % 50, 0), take(x * 2 + 1, k % 50, 0)));
    }
    CHECK(identical(take(s, dist::shard(k["0:0"].copy(), m, {shard(0)}), 0), take(x, k["0:0"], 0)));
    CHECK(identical(take(s["5:-7"], dist::shard(k % 40, m, {shard(0)}), 0), take(x["5:-7"], k % 40, 0)));
    const ndarray two = k["0:700"].reshape({35, 20});
    CHECK(identical(s(dist::shard(two, m, {shard(1)})) + 0, x(two) + 0));
  }
  const dist::mesh grid = mesh_of({2, 3});
  const ndarray wide = generator(74).random({4000, 40});
  const ndarray at = generator(75).integers(0, 4000, {913});
  for (const dist::placements& how :
       {dist::placements{shard(0), shard(1)}, {shard(1), shard(0)}, {shard(0), shard(0)}, {replicate(), shard(0)}})
    for (const dist::placements& list : {dist::placements{}, {shard(0)}, {replicate(), shard(0)}, {shard(0), shard(0)}})
      CHECK(identical(take(dist::shard(wide, grid, how), dist::shard(at, grid, list), 0), take(wide, at, 0)));
}

TEST_CASE("what a taken row costs is told, and is not the table") {
  const dist::mesh m = mesh_of({4});
  const ndarray s = dist::shard(table(), m, {shard(0)}), k = dist::shard(arange(100), m, {shard(0)});
  const std::string plan = explain(take(s, k, 0));
  CHECK(plan.find("rows by index of (100, 3) float64: 3200 bytes") != std::string::npos);
  CHECK(plan.find("all-gather") == std::string::npos);
  CHECK(dist::placements_of(take(s, k, 0)) == dist::placements{shard(0)});
}

TEST_CASE("indices out of range are found before anything moves") {
  const ndarray x = table();
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    for (const std::int64_t wrong :
         {std::int64_t{60000}, std::int64_t{-60001}, std::numeric_limits<std::int64_t>::max()}) {
      ndarray k = arange(90) * 3;
      k(70) = wrong;
      const ndarray s = dist::shard(x, m, {shard(0)}), bad = dist::shard(k, m, {shard(0)});
      sinter_test::refuses<index_error>(
          [&] { take(s, bad, 0).to_vector<double>(); },
          "index " + std::to_string(wrong) + " is out of range for axis 0 with extent 60000");
      ndarray u = s.copy();
      CHECK_THROWS_AS(u(bad) = 1.0, index_error);
      CHECK_THROWS_AS(add_at(u, bad, 1.0), index_error);
      const ndarray first = dist::shard(arange(90) * 600, m, {shard(0)});
      CHECK_THROWS_AS(u(first, bad) = 1.0, index_error);
      CHECK(identical(u, x));  // nothing has been written
    }
  }
}

TEST_CASE("elements of each row's own indices, along an axis that another one is divided for") {
  const ndarray x = generator(76).random({9, 20000}), k = generator(77).integers(0, 20000, {9, 11});
  for (const std::int64_t n : mesh_sizes())
    for (const dist::placements& how : {dist::placements{}, {shard(0)}, {shard(1)}}) {
      const dist::mesh m = mesh_of({n});
      CHECK(identical(take_along_axis(dist::shard(x, m, {shard(1)}), dist::shard(k, m, how), 1),
                      take_along_axis(x, k, 1)));
    }
}

TEST_CASE("writes and additions by lists of indices") {
  generator g(78);
  const ndarray x = g.standard_normal({500, 4}), rows = g.standard_normal({333, 4}), line = g.random({333});
  const ndarray k = g.integers(-500, 500, {333}), column = g.integers(0, 4, {333}), i = g.integers(0, 90, {333});
  const ndarray counts = zeros({90}, {.dtype = int64});
  using program = ndarray (*)(ndarray, const ndarray&, const ndarray&, const ndarray&, const ndarray&);
  const std::vector<program> programs{
      [](ndarray u, const ndarray& at, const ndarray&, const ndarray& r, const ndarray&) { return u(at) = r, u; },
      [](ndarray u, const ndarray& at, const ndarray&, const ndarray&, const ndarray&) { return u(at) = 7, u; },
      [](ndarray u, const ndarray& at, const ndarray&, const ndarray& r, const ndarray&) { return u(at) += r, u; },
      [](ndarray u, const ndarray& at, const ndarray&, const ndarray& r, const ndarray&) {
        return add_at(u, at, r, {.deterministic = true}), u;
      },
      [](ndarray u, const ndarray& at, const ndarray& c, const ndarray&, const ndarray& l) { return u(at, c) = l, u; },
      [](ndarray u, const ndarray& at, const ndarray& c, const ndarray&, const ndarray& l) {
        return add_at(u(at, c), l, {.deterministic = true}), u;
      },
      [](ndarray u, const ndarray&, const ndarray& c, const ndarray&, const ndarray&) {
        return u(slice(none_t{0}), ndarray(c(slice(0, 2)))) = 3, u;
      },
      [](ndarray u, const ndarray& at, const ndarray&, const ndarray&, const ndarray& l) {
        ndarray v = u.T().copy();
        v(slice(none_t{0}), at) = l;
        return v;
      },
      [](ndarray u, const ndarray& at, const ndarray&, const ndarray&, const ndarray& l) {
        return put(u, at * 3, l), u;
      }};
  for (std::size_t f = 0; f < programs.size(); ++f) {
    const ndarray want = programs[f](x.copy(), k, column, rows, line);
    for (const std::int64_t n : mesh_sizes()) {
      const dist::mesh m = mesh_of({n});
      for (const dist::placements& base : {dist::placements{shard(0)}, {shard(1)}, {}})
        for (const dist::placements& list : {dist::placements{shard(0)}, {}}) {
          INFO("program ", f, " on ", n, ", base ", base.empty() ? "everywhere" : dist::to_string(base[0]), ", list ",
               list.empty() ? "everywhere" : dist::to_string(list[0]));
          const auto put_there = [&](const ndarray& y) { return dist::shard(y, m, list); };
          const ndarray got =
              programs[f](dist::shard(x, m, base), put_there(k), put_there(column), put_there(rows), put_there(line));
          CHECK(identical(got, want));
        }
    }
  }
  const dist::mesh grid = mesh_of({2, 3});
  for (const dist::placements& base :
       {dist::placements{shard(0), shard(1)}, {shard(1), shard(0)}, {shard(0), shard(0)}})
    for (const dist::placements& list :
         {dist::placements{shard(0)}, {replicate(), shard(0)}, {shard(0), shard(0)}, {}}) {
      ndarray u = dist::shard(x, grid, base), v = x.copy();
      u(dist::shard(k, grid, list)) = dist::shard(rows, grid, list);
      v(k) = rows;
      CHECK(identical(u, v));
      const ndarray at = dist::shard(k, grid, list), c = dist::shard(column - 4, grid, {});
      u(at, c) = dist::shard(line, grid, list);
      v(k, column - 4) = line;
      CHECK(identical(u, v));
      add_at(u(at, c), 0.3, {.deterministic = true});
      add_at(v(k, column - 4), 0.3, {.deterministic = true});
      CHECK(identical(u, v));
      ndarray wide = dist::shard(x.reshape({10, 50, 4}), grid, base), tall = x.reshape({10, 50, 4}).copy();
      wide(at % 10, slice(none_t{0}), c) = dist::shard(rows, grid, list)["..., 0:1"];  // values beside the axis between
      tall(k % 10, slice(none_t{0}), column - 4) = rows["..., 0:1"];
      CHECK(identical(wide, tall));
    }
  // Counts in a table that is everywhere, of a list that is divided: the table is everywhere again.
  ndarray want = counts.copy();
  add_at(want, i, 1);
  ndarray got = dist::shard(counts, mesh_of({3}), {});
  add_at(got, dist::shard(i, mesh_of({3}), {shard(0)}), 1);
  CHECK(identical(got, want));
  CHECK(dist::placements_of(got) == dist::placements{replicate()});
}

TEST_CASE("the last one of several values for an element stays, and sums have the order of the list") {
  const ndarray k = generator(79).integers(0, 5, {2000}), v = generator(80).standard_normal({2000}) * 1e8;
  ndarray last = zeros({7}), total = zeros({7});
  last(k) = v;
  add_at(total, k, v, {.deterministic = true});
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    const ndarray at = dist::shard(k, m, {shard(0)}), values = dist::shard(v, m, {shard(0)});
    ndarray u = dist::shard(zeros({7}), m, {shard(0)}), t = dist::shard(zeros({7}), m, {shard(0)});
    u(at) = values;
    add_at(t, at, values, {.deterministic = true});
    CHECK(identical(u, last));
    CHECK(identical(t, total));
  }
}

TEST_CASE("sets of sharded arrays") {
  generator g(81);
  ndarray x = floor(g.standard_normal({997}) * 9);
  x["::50"] = std::numeric_limits<double>::quiet_NaN();
  x["7::90"] = -0.0;
  const ndarray k = g.integers(0, 30, {12, 40}), same_ones = ones({77}), none = zeros({0}), one = full({1}, 2.0);
  for (const ndarray& a : {x, x.astype(float32), k, k.astype(uint8), same_ones, none, one, x > 0})
    for (const std::int64_t n : mesh_sizes()) {
      INFO(to_string(a.shape()), " ", std::string(name(a.dtype())), " on ", n);
      const ndarray s = dist::shard(a, mesh_of({n}), {shard(0)});
      for (const bool equal_nan : {true, false}) {
        const unique_kw all{
            .return_index = true, .return_inverse = true, .return_counts = true, .equal_nan = equal_nan};
        const unique_result got = unique(s, all), want = unique(a, all);
        CHECK(identical(got.values, want.values));
        CHECK(identical(got.index, want.index));
        CHECK(identical(got.inverse, want.inverse));
        CHECK(identical(got.counts, want.counts));
      }
      CHECK(identical(unique_values(s), unique_values(a)));
      CHECK(identical(unique_counts(s).counts, unique_counts(a).counts));
    }
  const ndarray y = floor(g.standard_normal({801}) * 7);
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    const ndarray s = dist::shard(x, m, {shard(0)}), t = dist::shard(y, m, {shard(0)});
    CHECK(identical(intersect1d(s, t).values, intersect1d(x, y).values));
    CHECK(identical(union1d(s, t), union1d(x, y)));
    CHECK(identical(setdiff1d(s, t), setdiff1d(x, y)));
    CHECK(identical(setxor1d(s, t), setxor1d(x, y)));
    CHECK(identical(isin(s, t), isin(x, y)));
    CHECK(identical(unique_values(dist::shard(k, m, {shard(1)})), unique_values(k)));
  }
}

TEST_CASE("orders by several keys") {
  generator g(82);
  const ndarray a = g.integers(0, 9, {611}), b = floor(g.random({611}) * 5), c = g.integers(0, 3, {13, 47});
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    const ndarray s = dist::shard(a, m, {shard(0)}), t = dist::shard(b, m, {shard(0)});
    CHECK(identical(lexsort({s, t}), lexsort({a, b})));
    CHECK(identical(lexsort({t, s, t}), lexsort({b, a, b})));
    CHECK(identical(lexsort({s}), lexsort({a})));
    for (const std::int64_t by : {0, 1})
      for (const std::int64_t along : {0, 1}) {
        const ndarray u = dist::shard(c, m, {shard(by)});
        CHECK(identical(lexsort({u, -u}, along), lexsort({c, -c}, along)));
      }
  }
}
