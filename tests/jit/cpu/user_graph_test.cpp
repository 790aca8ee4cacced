// Users' functions recorded in the graph and evaluated on the CPU: broadcasting, views, effects, reductions, mistakes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "backends/cpu/kernels/hooks.hpp"
#include "graph/values/record.hpp"
#include "jit/cpu/compile_host.hpp"
#include "runtime/backend.hpp"
#include "runtime/hooks.hpp"
#include "runtime/parallel.hpp"
#include "sinter/error.hpp"
#include "support/users/functions.hpp"

using namespace user_test;
using jit::opcode;

namespace {

constexpr dtype f32 = dtype::f32, f64 = dtype::f64, i64 = dtype::i64;
constexpr runtime::device_id host{};

bool left_out() {
  if (!jit::host_compiler::find().path.empty()) return false;
  MESSAGE("left out: " << jit::host_compiler::find().reason);
  return true;
}

/// Restores the tier and the number of threads.
struct settings {
  ~settings() {
    sinter::cpu::set_tier(sinter::cpu::tier::automatic);
    runtime::set_thread_count(0);
  }
};

std::vector<float> ramp(std::int64_t n, float first = 0) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = first + static_cast<float>(k);
  return x;
}
value ramp_value(const dims& shape, float first = 0) {
  return stored(ramp(core::element_count(shape), first), shape, host);
}

graph::view_ref zeros(const dims& shape) {
  const std::vector<float> none(static_cast<std::size_t>(core::element_count(shape)));
  return graph::from_host(none.data(), shape, f32, host);
}

/// Calls check() for every tier and number of threads.
template <class F>
void in_every_way(F check) {
  settings restore;
  for (auto tier : {sinter::cpu::tier::interpreted, sinter::cpu::tier::automatic, sinter::cpu::tier::compiled})
    for (int threads : {1, 3}) {
      sinter::cpu::set_tier(tier);
      runtime::set_thread_count(threads);
      CAPTURE(static_cast<int>(tier));
      CAPTURE(threads);
      check();
    }
}

const extras pairs{
    .preamble =
        "struct pair { float v; long long i; };\n"
        "__device__ pair lesser(pair a, pair b) { return b.v < a.v || (b.v == a.v && b.i < a.i) ? b : a; }"};
value least_pairs(const value& x, const std::vector<int>& kept) {
  const auto* map =
      function("make_pair", {par("x", f32), par("i", i64)}, {opaque("p", "pair")}, "p = pair{x, i};", pairs);
  const auto* least = reduction("lesser", opaque("", "pair"), "lesser(a, b)", "pair{1e30f, 1ll << 60}", pairs);
  return reduce(least, call(map, x->shape, {x, position(x->shape, host)}), kept);
}

}  // namespace

TEST_CASE("cpu: a call over broadcast, transposed, strided and pending operands is what a loop computes") {
  if (left_out()) return;
  const auto* f = function("mix", {par("x", f32), par("y", f32), par("s", f64), par("i", i64)},
                           {par("z", f64), par("k", i64)}, "z = x - 10.0 * y + s; k = i * 2 + (x > y);");
  for (const auto& extents : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 5}, {7, 300}, {300, 7}, {40, 129}}) {
    const auto rows = extents.first, columns = extents.second;
    CAPTURE(rows);
    CAPTURE(columns);
    in_every_way([&] {
      value x = plus(graph::record_view(ramp_value({columns, rows}), {rows, columns}, {1, rows}, 0), 0.5);
      value y = graph::record_view(ramp_value({2 * columns}, -3), {1, columns}, {0, 2}, 1);
      value s = number(0.25, f64, dims{}, host), i = position({rows, columns}, host);
      value z = call(f, {rows, columns}, {x, y, s, i}, 0), k = call(f, {rows, columns}, {x, y, s, i}, 1);
      const auto doubled = elements<double>(add(z, z));
      const auto keys = elements<std::int64_t>(k);
      bool right = true;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
          const auto at = static_cast<std::size_t>(r * columns + c);
          const float u = static_cast<float>(c * rows + r) + 0.5f, v = static_cast<float>(2 * c + 1) - 3;
          right = right && doubled[at] == 2 * (u - 10.0 * v + 0.25) &&
                  keys[at] == static_cast<std::int64_t>(at) * 2 + (u > v);
        }
      CHECK(right);
    });
  }
}

TEST_CASE("cpu: a pending raw operand is computed once, before the kernel that reads it anywhere") {
  if (left_out()) return;
  const auto* f = function("around", {raw("t", f32, 2), par("i", i64)}, {par("z", f32)},
                           "const long long n = t.shape(1), r = i / n, c = i % n;\n"
                           "z = t(r, (c + 1) % n) + t(r, (c + n - 1) % n) - t[i];");
  in_every_way([&] {
    value t = times(graph::record_view(ramp_value({9, 50}), {50, 9}, {1, 50}, 0), 2);
    const auto z = elements<float>(plus(call(f, {50, 9}, {t, position({50, 9}, host)}), 1));
    auto at = [](std::int64_t r, std::int64_t c) { return 2 * static_cast<float>(c * 50 + r); };
    bool right = true;
    for (std::int64_t r = 0; r < 50; ++r)
      for (std::int64_t c = 0; c < 9; ++c)
        right =
            right && z[static_cast<std::size_t>(r * 9 + c)] == at(r, (c + 1) % 9) + at(r, (c + 8) % 9) - at(r, c) + 1;
    CHECK(right);
  });
}

TEST_CASE("cpu: run_call writes what it is given, keeps old versions for others, and stays lazy afterwards") {
  if (left_out()) return;
  const auto* f = function("scatter", {par("x", f32), par("i", i64)}, {raw("y", f32), par("z", f32)},
                           "y[y.size() - 1 - i] = x; z = -x;");
  in_every_way([&] {
    auto y = zeros({500}), z = zeros({500});
    value old = plus(graph::read(*y), 7);  // pending: reads y as it is now
    value x = times(ramp_value({500}), 3);
    run(f, {500}, {x, position({500}, host)}, {y, z});
    const auto written = elements<float>(*y), other = elements<float>(plus(graph::read(*z), 1)),
               before = elements<float>(old);
    bool right = true;
    for (std::size_t k = 0; k < 500; ++k)
      right = right && written[499 - k] == 3 * static_cast<float>(k) && other[k] == 1 - 3 * static_cast<float>(k) &&
              before[k] == 7;
    CHECK(right);
    CHECK_FALSE(y->store->pinned());
  });
}

TEST_CASE("cpu: run_call into a view with gaps, and of a function with text around its loop") {
  if (left_out()) return;
  const auto* f =
      function("totals", {par("x", f32), par("n", i64)}, {raw("sum", f64), par("z", f32)}, "total += x; z = x / n;",
               {.loop_prep = "double total = 0;\nconst long long size = sum.size() + n;",
                .after_loop = "sn::atomic_add(sum, 0, total); sn::atomic_max(sum, 1, size);"});
  in_every_way([&] {
    const std::vector<double> none(8);
    auto whole = graph::from_host(none.data(), {8}, f64, host);
    auto every_third = graph::make_view(*whole, {3}, {3}, 1);
    auto z = zeros({20, 30});
    auto transposed = graph::make_view(*z, {30, 20}, {1, 30}, 0);
    run(f, {30, 20}, {ramp_value({30, 20}), number(600, i64, dims{}, host)}, {every_third, transposed});
    const auto sums = elements<double>(*whole);
    CHECK(sums == std::vector<double>{0, 600.0 * 599 / 2, 0, 0, 603, 0, 0, 0});
    const auto out = elements<float>(*z);
    bool right = true;
    for (std::size_t r = 0; r < 30; ++r)
      for (std::size_t c = 0; c < 20; ++c) right = right && out[c * 30 + r] == static_cast<float>(r * 20 + c) / 600;
    CHECK(right);
  });
}

TEST_CASE("cpu: a user's reduction over any axes, its results finished and read by more operations") {
  if (left_out()) return;
  const auto* total = reduction("total", par("", f64), "a + b", "0");
  const dims shape{6, 50, 7, 11};
  std::vector<double> data(static_cast<std::size_t>(core::element_count(shape)));
  for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<double>(k % 1009);  // exact sums
  const value x = stored(data, shape, host);
  for (int kept_axes = 0; kept_axes < 15; ++kept_axes) {
    CAPTURE(kept_axes);
    std::vector<int> kept;
    for (int a = 0; a < 4; ++a)
      if (kept_axes >> a & 1) kept.push_back(a);
    const value mine = reduce(total, plus(x, 1), kept), theirs = reduce(jit::reduce_op::sum, plus(x, 1), kept);
    in_every_way([&] { CHECK(elements<double>(times(mine, 2)) == elements<double>(times(theirs, 2))); });
  }
}

TEST_CASE("cpu: pairs of values and positions, reduced and taken apart in one kernel") {
  if (left_out()) return;
  const auto* index = function("index_of", {opaque("p", "pair")}, {par("k", i64)}, "k = p.i;", pairs);
  const auto* lowest = function("value_of", {opaque("p", "pair")}, {par("v", f32)}, "v = p.v;", pairs);
  for (const auto& extents :
       {std::pair<std::int64_t, std::int64_t>{1, 9}, {300, 5}, {5, 3000}, {1, 100000}, {77, 77}}) {
    const auto rows = extents.first, columns = extents.second;
    CAPTURE(rows);
    CAPTURE(columns);
    std::vector<float> data(static_cast<std::size_t>(rows * columns));
    for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<float>((k * 2654435761u) % 5003);
    const value x = stored(data, {rows, columns}, host);
    std::vector<std::int64_t> expected_at(static_cast<std::size_t>(rows));
    std::vector<float> expected(expected_at.size());
    for (std::size_t r = 0; r < expected.size(); ++r) {
      const auto first = data.begin() + static_cast<std::ptrdiff_t>(r) * columns;
      expected_at[r] = std::min_element(first, first + columns) - data.begin();
      expected[r] = data[static_cast<std::size_t>(expected_at[r])];
    }
    in_every_way([&, rows = rows] {
      value r = least_pairs(x, {0});
      auto k = graph::make_array(call(index, {rows}, {r})), v = graph::make_array(call(lowest, {rows}, {r}));
      const auto launches = runtime::get_backend(host).statistics().launches;
      const graph::view_ref both[] = {k, v};
      graph::evaluate(both);
      CHECK(runtime::get_backend(host).statistics().launches == launches + 1);
      CHECK(elements<std::int64_t>(*k) == expected_at);
      CHECK(elements<float>(*v) == expected);
    });
  }
}

TEST_CASE("cpu: a reduction of nothing is the identity, finished") {
  if (left_out()) return;
  const auto* lowest = function("value_of", {opaque("p", "pair")}, {par("v", f32)}, "v = p.v;", pairs);
  value r = least_pairs(ramp_value({4, 0}), {0});
  CHECK(elements<float>(call(lowest, {4}, {r})) == std::vector<float>(4, 1e30f));
  const auto* product = reduction("product", par("", f32), "a * b", "1");
  CHECK(elements<float>(reduce(product, ramp_value({0}))) == std::vector<float>{1});
}

TEST_CASE("cpu: a text that does not compile leaves what is pending as it was, and other values can be had") {
  if (left_out()) return;
  const auto* f = function("broken_text", {par("x", f32)}, {par("z", f32)}, "z = x +;\n");
  value x = plus(ramp_value({100}), 1);
  auto good = graph::make_array(times(x, 2)), bad = graph::make_array(call(f, {100}, {times(x, 2)}));
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::string message;
    try {
      const graph::view_ref both[] = {good, bad};
      graph::evaluate(both);
    } catch (const sinter::compile_error& e) {
      message = e.what();
    }
    CAPTURE(message);
    CHECK(message.rfind("[broken_text] ", 0) == 0);
    CHECK(message.find("1  z = x +;") != std::string::npos);
  }
  CHECK(elements<float>(*good)[9] == 20);
}

TEST_CASE("cpu: threads evaluate values of one user's function at once") {
  if (left_out()) return;
  const auto* f =
      function("cubes", {par("x", f64)}, {par("z", f64)}, "double y = x; for (int k = 0; k < 2; ++k) y *= x; z = y;");
  const auto* total = reduction("cube_total", par("", f64), "b + a", "0");
  std::vector<int> right(6);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&, t] {
      std::vector<double> data(1000);
      for (std::size_t k = 0; k < data.size(); ++k) data[k] = static_cast<double>(k % (t + 2));
      double expected = 0;
      for (double v : data) expected += v * v * v;
      value x = stored(data, host);
      right[t] = elements<double>(reduce(total, call(f, {1000}, {x})))[0] == expected;
    });
  for (auto& t : threads) t.join();
  for (int ok : right) CHECK(ok);
}
