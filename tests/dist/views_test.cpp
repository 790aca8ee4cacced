// Slices, halos, reshapes and writes of arrays in parts.
#include <complex>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include "dist/meshes.hpp"
#include "support/message_of.hpp"

namespace {

using namespace sinter;
using random::generator;
namespace dist = sinter::dist;
using dist::shard;
using test::identical;
using test::mesh_of;
using test::mesh_sizes;

using program = std::function<ndarray(const ndarray&)>;

/// A program on one device, and on meshes along each axis of its argument.
void compare(const ndarray& x, const program& f, const std::string& what) {
  const ndarray want = f(x.copy());
  for (const std::int64_t n : mesh_sizes())
    for (std::int64_t a = 0; a < x.ndim(); ++a) {
      INFO(what, ", ", n, " parts of axis ", a);
      CHECK(identical(f(dist::shard(x, mesh_of({n}), {shard(a)})), want));
    }
  if (x.ndim() < 2) return;
  INFO(what, ", on a mesh of two axes");
  CHECK(identical(f(dist::shard(x, mesh_of({2, 3}), {shard(0), shard(1)})), want));
}

}  // namespace

TEST_CASE("slices of distributed arrays") {
  const ndarray x = generator(21).standard_normal({23, 14});
  compare(
      x, [](const ndarray& u) { return u["1:-1"] * 2; }, "inner rows");
  compare(
      x, [](const ndarray& u) { return u["3:17:4, ::3"] + 0; }, "steps");
  compare(
      x, [](const ndarray& u) { return u["::-1"] + u; }, "reversed rows");
  compare(
      x, [](const ndarray& u) { return u["::-2, 10:2:-3"] + 0; }, "reversed steps");
  compare(
      x, [](const ndarray& u) { return u(5) - u; }, "one row of all");
  compare(
      x, [](const ndarray& u) { return u["..., 3"] + 0; }, "one column");
  compare(
      x, [](const ndarray& u) { return u(-1, 2) + 0; }, "one element");
  compare(
      x, [](const ndarray& u) { return u.T() + 1; }, "transposed");
  compare(
      x, [](const ndarray& u) { return u["0:4, 0:4"] + u["0:4, 0:4"].T(); }, "a square and its transpose");
  compare(
      x, [](const ndarray& u) { return u["20:"] + 0; }, "rows of the last part");
  compare(
      x, [](const ndarray& u) { return u["7:7"] + 0; }, "no rows");
  compare(
      x, [](const ndarray& u) { return roll(u, 3, 0) + roll(u, -2, 1); }, "rolled");
  compare(
      x, [](const ndarray& u) { return u["None, ..."] * u["..., None, 0:1"].sum(axes{0}); }, "new axes");
}

TEST_CASE("complex parts of distributed arrays") {
  const ndarray x = generator(29).standard_normal({23, 14});
  compare(
      x,
      [](const ndarray& u) {
        ndarray z = u * std::complex<double>(1, 2);
        ndarray re = z.real(), im = imag(z);
        im["1:-1"] *= re["1:-1"];
        re(idx::_) = im["::-1"];
        z(3) = 1;
        return re - im;
      },
      "parts");
  compare(
      x,
      [](const ndarray& u) {
        ndarray z = u.astype(complex128);
        z["::2"].imag().T()(3) = 7;
        return z;
      },
      "parts of a slice");
}

TEST_CASE("stencils exchange edges only") {
  const ndarray x = generator(22).random({64, 48});
  const program step = [](const ndarray& u) {
    return u["1:-1, 1:-1"] +
           0.1 * (u[":-2, 1:-1"] + u["2:, 1:-1"] + u["1:-1, :-2"] + u["1:-1, 2:"] - 4 * u["1:-1, 1:-1"]);
  };
  compare(x, step, "five points");
  const ndarray s = dist::shard(x, mesh_of({4}), {shard(0)});
  const std::string plan = explain(step(s));
  CHECK(plan.find("halo exchange") != std::string::npos);
  CHECK(plan.find("all-gather") == std::string::npos);
  CHECK(plan.find("redistribution") == std::string::npos);
}

TEST_CASE("time steps written in place keep their parts") {
  const program run = [](const ndarray& start) {
    ndarray u = start;
    for (int k = 0; k < 9; ++k)
      u["1:-1, 1:-1"] = u["1:-1, 1:-1"] +
                        0.1 * (u[":-2, 1:-1"] + u["2:, 1:-1"] + u["1:-1, :-2"] + u["1:-1, 2:"] - 4 * u["1:-1, 1:-1"]);
    return u;
  };
  compare(generator(23).random({37, 20}), run, "steps of diffusion");
}

TEST_CASE("reshapes where parts stay together") {
  const ndarray x = generator(24).random({24, 6});
  const ndarray s = dist::shard(x, mesh_of({4}), {shard(0)});
  CHECK(identical(s.reshape({-1}) + 0, x.reshape({-1})));
  CHECK(identical(s.reshape({12, 12}) + 0, x.reshape({12, 12})));
  CHECK(identical(s.reshape({4, 6, 6}) + 0, x.reshape({4, 6, 6})));
  CHECK(identical(s.reshape({-1})["::5"] + 0, x.reshape({-1})["::5"]));
  CHECK(identical(s.reshape({24, 2, 3}).sum(axes{2}), x.reshape({24, 2, 3}).sum(axes{2})));
  CHECK(identical(s.reshape({7 - 3, 36}) * 2, x.reshape({4, 36}) * 2));
  const ndarray c = dist::shard(x, mesh_of({3}), {shard(1)});
  CHECK(identical(dist::redistribute(c, {shard(0)}).reshape({-1}) + 1, x.reshape({-1}) + 1));
  // Fewer rows than parts would leave devices without any.
  const ndarray two = generator(30).random({2, 90000}), low = dist::shard(two, mesh_of({3}), {shard(1)});
  sinter_test::refuses<device_error>([&] { eval(low.reshape({-1}) + 1); }, "[reshape]");
  sinter_test::refuses<device_error>([&] { eval(low.reshape({-1}) + 1); }, "{shard(1)}");
  CHECK(identical(low.reshape({2, 300, 300}).sum(axes{0}), two.reshape({2, 300, 300}).sum(axes{0})));
}

TEST_CASE("reshapes across parts move each element once, to the first of the joined axes") {
  const ndarray x = generator(29).random({24, 6, 10});
  for (const std::int64_t n : mesh_sizes())
    for (std::int64_t a : {0, 1, 2}) {
      const ndarray s = dist::shard(x, mesh_of({n}), {shard(a)});
      const ndarray row = s(3);
      CHECK(identical(s.reshape({-1}) + 1, x.reshape({-1}) + 1));
      CHECK(identical(s.reshape({24, 60}) + 1, x.reshape({24, 60}) + 1));
      CHECK(identical(s.reshape({144, 10})["20:"] + 1, x.reshape({144, 10})["20:"] + 1));
      if (n <= 4) CHECK(identical(row.reshape({-1}) * 2, ndarray(x(3)).reshape({-1}) * 2));
      CHECK(identical(s["4:20:3, 1:, 2:9"].reshape({-1, 7}) + 1, x["4:20:3, 1:, 2:9"].reshape({-1, 7}) + 1));
      CHECK(identical(s["::-1"].T().reshape({60, 24}) + 1, x["::-1"].T().reshape({60, 24}) + 1));
    }
  const dist::mesh grid = mesh_of({2, 3});
  for (const dist::placements& how : {dist::placements{shard(0), shard(1)}, {shard(1), shard(0)}, {shard(2), shard(1)}})
    CHECK(identical(dist::shard(x, grid, how).reshape({-1}) + 1, x.reshape({-1}) + 1));
  const ndarray s = dist::shard(x, mesh_of({4}), {shard(2)});
  CHECK(identical(s.reshape({-1})["::7"] + 1, x.reshape({-1})["::7"] + 1));
  // Few elements of an array of more than a megabyte.
  const ndarray large = dist::shard(generator(31).random({400, 400}), mesh_of({4}), {shard(1)});
  sinter_test::refuses<device_error>([&] { eval(large.reshape({-1})["::7"] + 1); }, "[reshape]");
  const std::string plan = explain(s.reshape({-1}) + 1);
  CHECK(plan.find("redistribution of (24, 6, 10) float64: 8640 bytes") != std::string::npos);
  CHECK(plan.find("all-gather") == std::string::npos);
  CHECK(dist::placements_of(s.reshape({-1}) + 1) == dist::placements{shard(0)});
}

TEST_CASE("diagonals stay where their elements are") {
  const ndarray x = generator(25).random({9, 9}), wide = generator(26).random({7, 23}),
                stack = generator(27).random({5, 8, 8});
  for (const std::int64_t n : mesh_sizes())
    for (const std::int64_t a : {0, 1}) {
      INFO(n, " positions, along axis ", a);
      const dist::mesh m = mesh_of({n});
      const ndarray s = dist::shard(x, m, {shard(a)}), w = dist::shard(wide, m, {shard(a)});
      CHECK(identical(s.diagonal() + 1, x.diagonal() + 1));
      for (const std::int64_t k : {-6, -1, 3, 16, 22}) CHECK(identical(diagonal(w, k) + 1, diagonal(wide, k) + 1));
      CHECK(identical(diagonal(w["::2, 1::3"]) + 1, diagonal(wide["::2, 1::3"]) + 1));
      CHECK(identical(diagonal(fliplr(w), 2) + 1, diagonal(fliplr(wide), 2) + 1));  // steps back
      CHECK(identical(trace(w), trace(wide)));
      const ndarray d = dist::shard(stack, m, {shard(a + 1)});
      CHECK(identical(diagonal(d, 1, 1, 2) + 1, diagonal(stack, 1, 1, 2) + 1));
      CHECK(identical(diagonal(d, 0, 0, 2) + 1, diagonal(stack, 0, 0, 2) + 1));
      const std::string plan = explain(s.diagonal() + 1);
      CHECK(plan.find("0 collectives, 0 bytes") != std::string::npos);
    }
  const dist::mesh grid = mesh_of({2, 3});
  for (const dist::placements& how :
       {dist::placements{shard(0), shard(1)}, {shard(1), shard(0)}, {shard(1), shard(1)}}) {
    const ndarray s = dist::shard(wide, grid, how);
    for (const std::int64_t k : {-5, 0, 12}) CHECK(identical(diagonal(s, k) + 1, diagonal(wide, k) + 1));
  }
  const ndarray both = dist::shard(wide, grid, {shard(0), shard(1)});
  CHECK(identical(diagonal(fliplr(both)) + 1, diagonal(fliplr(wide)) + 1));
  const ndarray large = dist::shard(generator(32).random({400, 400}), grid, {shard(0), shard(1)});
  sinter_test::refuses<device_error>([&] { eval(diagonal(fliplr(large)) + 1); }, "replicate()");
}

TEST_CASE("diagonals are written where they are") {
  const ndarray x = generator(28).random({9, 11}), line = generator(29).random({9});
  for (const std::int64_t n : mesh_sizes())
    for (const std::int64_t a : {0, 1}) {
      INFO(n, " positions, along axis ", a);
      const dist::mesh m = mesh_of({n});
      ndarray s = dist::shard(x, m, {shard(a)}), want = x.copy();
      fill_diagonal(s, 7.0);
      fill_diagonal(want, 7.0);
      CHECK(identical(s, want));
      fill_diagonal(s, dist::shard(line, m, {shard(0)}));
      fill_diagonal(want, line);
      CHECK(identical(s, want));
      // Back from the upper right corner.
      ndarray t = dist::shard(x, m, {shard(a)}), turned = x.copy();
      t.reshape({-1})["10:81:10"] = dist::shard(line["1:9"].copy(), m, {shard(0)});
      turned.reshape({-1})["10:81:10"] = line["1:9"];
      CHECK(identical(t, turned));
    }
  ndarray s = dist::shard(x, mesh_of({2, 3}), {shard(0), shard(1)}), want = x.copy();
  fill_diagonal(s, 7.0);
  fill_diagonal(want, 7.0);
  CHECK(identical(s, want));
  // Of one matrix of a stack, which only some of the devices have.
  for (const std::int64_t k : {0, 1, 2, 3}) {
    const ndarray stack = generator(30).random({4, 9, 9});
    ndarray t = dist::shard(stack, mesh_of({2, 3}), {shard(0), shard(2)}), filled = stack.copy();
    t.reshape({-1})(slice(81 * k, 81 * (k + 1), 10)) = dist::shard(line, mesh_of({2, 3}), {});
    filled.reshape({-1})(slice(81 * k, 81 * (k + 1), 10)) = line;
    CHECK(identical(t, filled));
  }
}

TEST_CASE("writes to parts of distributed arrays") {
  const ndarray x = generator(26).standard_normal({23, 14});
  compare(
      x, [](ndarray u) { return u["2:9"] = 1, u; }, "a number to rows");
  compare(
      x, [](ndarray u) { return u["::3, 1::4"] += 5, u; }, "steps");
  compare(
      x, [](ndarray u) { return u["::-1"] = u.copy(), u; }, "reversed");
  compare(
      x, [](ndarray u) { return u(3) = u(19) * 2, u; }, "a row to a row");
  compare(
      x, [](ndarray u) { return u["..., -1"] = u["..., 0"] + 1, u; }, "a column to a column");
  compare(
      x, [](ndarray u) { return u(22, 13) = 7, u(0, 0) = 8, u; }, "corners");
  compare(
      x, [](ndarray u) { return u["1:"] = u[":-1"], u; }, "shifted");
  compare(
      x,
      [](ndarray u) {
        ndarray v = zeros_like(u);
        v["1:-1"] = u["2:"] - u[":-2"];
        return v;
      },
      "into zeros");
  compare(
      x,
      [](ndarray u) {
        ndarray v = u.copy();
        u["4:6"] = 0;
        return v + u;
      },
      "a copy keeps its elements");
}

TEST_CASE("joined arrays") {
  const ndarray x = generator(27).standard_normal({10, 6});
  compare(
      x,
      [](const ndarray& u) {
        return concatenate({u, u * 2}, 0);
      },
      "concatenate rows");
  compare(
      x,
      [](const ndarray& u) {
        return concatenate({u, u["..., 0:2"]}, 1);
      },
      "concatenate columns");
  compare(
      x,
      [](const ndarray& u) {
        return stack({u, -u});
      },
      "stack");
  compare(
      x, [](const ndarray& u) { return repeat(u, 3, 0) + 0; }, "repeat");
  compare(
      x, [](const ndarray& u) { return flip(u, 0) + 0; }, "flip");
}

TEST_CASE("elements taken along whole axes") {
  const ndarray x = generator(28).standard_normal({23, 14});
  const ndarray i = array({3, 0, 13, -1, 3});
  const ndarray want = take(x, i, 1);
  for (const std::int64_t n : mesh_sizes()) {
    const dist::mesh m = mesh_of({n});
    const ndarray s = dist::shard(x, m, {shard(0)}), j = dist::shard(i, m, {});
    CHECK(identical(take(s, j, 1), want));
    CHECK(identical(take(dist::shard(x, m, {}), dist::shard(i, m, {shard(0)}), 0), take(x, i, 0)));
    CHECK(identical(take(dist::shard(x, m, {shard(1)}), j, 1), want));
    CHECK_THROWS_AS(take(s, dist::shard(array({14}), m, {}), 1).to_vector<double>(), index_error);
    CHECK_NOTHROW(synchronize("cpu"));  // all parts have told
  }
  // Along a sharded axis of more than a megabyte with indices for each row of its own, and too few rows to divide them.
  const ndarray large = dist::shard(zeros({150000, 2}).copy(), mesh_of({3}), {shard(0)});
  const ndarray of_each = dist::shard(zeros({5, 2}, {.dtype = int64}).copy(), mesh_of({3}), {});
  sinter_test::refuses<device_error>([&] { eval(take_along_axis(large, of_each, 0)); }, "[take]");
}

TEST_CASE("rolls send edges, and what is joined has even parts") {
  const ndarray x = generator(33).random({4000, 16});
  for (const std::int64_t n : {2, 3, 4}) {
    const ndarray s = dist::shard(x, mesh_of({n}), {shard(0)});
    for (const std::int64_t by : {-3, 1, 7}) {
      CHECK(identical(roll(s, by, axes{0}), roll(x, by, axes{0})));
      const std::string plan = explain(roll(s, by, axes{0}));
      // "2 collectives, 384 bytes": no more than the rows that cross an edge, each way.
      const auto at = plan.find(" collectives, ");
      REQUIRE(at != std::string::npos);
      CHECK(std::stoll(plan.substr(at + 14)) <= 2 * n * std::abs(by) * 128);
    }
    const ndarray t = dist::shard(x.T().copy(), mesh_of({n}), {shard(1)});
    CHECK(identical(roll(t, 1, axes{1}), roll(x.T().copy(), 1, axes{1})));
    CHECK(dist::placements_of(roll(t, 1, axes{1})) == dist::placements{shard(1)});
    const ndarray both = concatenate({s, s});
    CHECK(identical(both, concatenate({x, x})));
    for (const ndarray& part : dist::local(both)) CHECK(part.shape(0) <= (8000 + n - 1) / n);
  }
}
