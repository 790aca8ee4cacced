// What the planner decides and what versions guarantee: kernels counted, no unnecessary materialisation, writes
// that readers recorded before them never see.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "graph/plan/planner.hpp"
#include "graph/run/array.hpp"
#include "graph/values/limits.hpp"
#include "ops/base/access.hpp"
#include "runtime/backend.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sn::idx;
using sn::ndarray;

namespace {

sinter::runtime::backend& device() { return sinter::runtime::get_backend(sinter::runtime::default_device()); }

struct counting {
  std::uint64_t before = device().statistics().launches;
  std::uint64_t launches() const { return device().statistics().launches - before; }
};

struct peak {
  std::size_t before = device().memory().used;
  std::size_t used() const { return device().memory().used - before; }
};

ndarray ramp(std::int64_t n) { return sn::arange(0, n, 1, {.dtype = sn::float32}); }

std::vector<double> values(const ndarray& x) { return x.to_vector<double>(); }

struct restore_limits {
  sinter::graph::planner_limits saved = sinter::graph::limits();
  ~restore_limits() { sinter::graph::limits() = saved; }
};

}  // namespace

TEST_CASE("an elementwise chain over views and broadcasts is one kernel") {
  ndarray a = ramp(12), b = ramp(3);
  sn::eval(a, b);
  counting c;
  ndarray y = sn::reshape(a, {4, 3})["::-1, :"].T() * 2.0 + b(_, newaxis) - 1.0;
  sn::eval(y);
  CHECK(c.launches() == 1);
  CHECK(values(y) == std::vector<double>{17, 11, 5, -1, 20, 14, 8, 2, 23, 17, 11, 5});
}

TEST_CASE("a reduction fuses with its input and its elementwise tail") {
  ndarray x = ramp(1000), y = ramp(1000) * 2.0;
  sn::eval(x, y);
  counting c;
  ndarray d = sn::sqrt(sn::sum(sn::square(x - y))) * 3.0;
  sn::eval(d);
  CHECK(c.launches() == 1);
  CHECK(d.item<double>() == doctest::Approx(3 * std::sqrt(332833500.0)).epsilon(1e-5));
}

TEST_CASE("results over one space are one kernel, whatever was planned before") {
  ndarray x = ramp(8), y = ramp(8);
  sn::eval(x, y);
  for (int k = 0; k < 8; ++k) {
    ndarray all = sn::sum(x), other = sn::max(y + 1.0), columns = sn::sum(sn::reshape(x, {2, 4}), 0);
    if (k % 4 == 1) sn::eval(all);
    if (k % 4 == 2) sn::eval(all, columns);
    if (k % 4 == 3) sn::eval(all, other, columns);
    ndarray p = x * 2.0 + y, q = x * 2.0 - y;
    counting c;
    sn::eval(p, q);
    CHECK(c.launches() == 1);
  }
}

TEST_CASE("reductions over one value along the same axes are one pass, asked for together or one after the other") {
  ndarray x = sn::reshape(ramp(600), {20, 30}) * 1.5;
  ndarray t = sn::sin(x);
  ndarray low = sn::min(t, 1), at = sn::argmin(t, 1);
  counting c;
  sn::eval(low);
  CHECK(c.launches() == 1);
  sn::eval(at);
  CHECK(c.launches() == 1);
  auto l = values(low);
  auto rows = values(t);
  auto w = at.to_vector<std::int64_t>();
  for (int i = 0; i < 20; ++i)
    CHECK(rows[static_cast<std::size_t>(i * 30 + w[static_cast<std::size_t>(i)])] == l[static_cast<std::size_t>(i)]);
}

TEST_CASE("a reduction that is stored is not computed again by what else waits for another") {
  const ndarray a = sn::reshape(ramp(48), {6, 8}), p = ramp(8), r = ramp(6);
  sn::eval(a, p, r);
  const ndarray product = sn::sum(a * p, 1);
  SUBCASE("read after a sum over it") {
    const ndarray y = r - sn::sum(r * product) * product;
    const std::string plan = sn::explain(y), whole = "reads  (48,)";
    CHECK((plan.find("3 kernels") != std::string::npos || plan.find("rows on chip") != std::string::npos));
    CHECK(plan.find(whole) != std::string::npos);
    CHECK(plan.find(whole) == plan.rfind(whole));
    CHECK(values(y)[1] == 1 - 14420.0 * 364);
  }
  SUBCASE("computed along with what needs nothing else") {
    const ndarray y = product * 2.0f + r;
    counting c;
    sn::eval(product, y);
    CHECK(c.launches() == 1);
  }
}

TEST_CASE("argmin and the distance at that index never hold the M x N array") {
  const std::int64_t m = 3000, n = 2000;
  ndarray p = sn::sin(ramp(m)), q = sn::cos(ramp(n));
  sn::eval(p, q);
  peak memory;
  ndarray t = sn::sqrt(sn::square(p(_, newaxis) - q(newaxis, _)));
  ndarray i = sn::argmin(t, 1);
  sn::eval(i);
  ndarray d = sn::take_along_axis(t, i(_, newaxis), 1);
  sn::eval(d);
  CHECK(memory.used() < static_cast<std::size_t>(m * 64));
  ndarray low = sn::min(t, 1);
  CHECK(values(low) == values(d));
}

TEST_CASE("an expensive producer much smaller than its consumer is computed once") {
  ndarray a = ramp(64), b = ramp(64);
  sn::eval(a, b);
  ndarray y = sn::cos(a)(_, newaxis) * b(newaxis, _);
  std::string plan = sn::explain(y);
  CHECK(plan.find("computed once") != std::string::npos);
  CHECK(plan.find("2 kernels") != std::string::npos);
}

TEST_CASE("a stencil of a stencil does not cost more operations with every level") {
  // u = f(u[1:]) + g(u[:-1]) through distinct nodes: 2^30 operations if it were expanded.
  ndarray u = ramp(64);
  for (int level = 0; level < 30; ++level) u = sn::sin(u["1:"]) + sn::cos(u[":-1"]);
  counting c;
  sn::eval(u);
  CHECK(u.shape(0) == 34);
  CHECK(c.launches() <= 31);
}

TEST_CASE("readers recorded before a write keep the old version") {
  ndarray x = ramp(10);
  SUBCASE("x pending") {}
  SUBCASE("x in memory") { sn::eval(x); }
  ndarray before = x * 2.0;
  x(0) = 100;
  x["5:"] += 1;
  ndarray after = x * 2.0;
  CHECK(values(after) == std::vector<double>{200, 2, 4, 6, 8, 12, 14, 16, 18, 20});
  CHECK(values(before) == std::vector<double>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18});
}

TEST_CASE("every view of a storage sees a write through any of them") {
  ndarray x = ramp(6);
  SUBCASE("x pending") {}
  SUBCASE("x in memory") { sn::eval(x); }
  ndarray v = x(slice(1, 4)), w = sn::reshape(x, {2, 3});
  ndarray r = v * 2.0;
  v(1) = 50;
  w.T()(0, 1) = 60;
  CHECK(values(x) == std::vector<double>{0, 1, 50, 60, 4, 5});
  CHECK(values(w) == values(x));
  CHECK(values(v) == std::vector<double>{1, 50, 60});
  CHECK(values(r) == std::vector<double>{2, 4, 6});
}

TEST_CASE("the right-hand side is read before the target is written") {
  ndarray x = sn::reshape(ramp(9), {3, 3}), s = ramp(6), f = ramp(5);
  SUBCASE("pending") {}
  SUBCASE("in memory") { sn::eval(x, s, f); }
  x += x.T();
  s["1:"] = s[":-1"];
  f["::-1"] = f;
  CHECK(values(x) == std::vector<double>{0, 4, 8, 4, 8, 12, 8, 12, 16});
  CHECK(values(s) == std::vector<double>{0, 0, 1, 2, 3, 4});
  CHECK(values(f) == std::vector<double>{4, 3, 2, 1, 0});
}

TEST_CASE("a partial write runs in place when nothing else refers to the version") {
  ndarray x = sn::zeros({1 << 16}, {.dtype = sn::float32});
  sn::eval(x);
  peak memory;
  std::uint64_t allocations = device().statistics().allocations;
  for (int k = 0; k < 100; ++k) x(k) = k;
  sn::eval(x);
  CHECK(memory.used() == 0);
  CHECK(device().statistics().allocations - allocations <= 1);
  CHECK(float(x(99)) == 99);
}

TEST_CASE("a partial write that reads other elements of its target runs in place: rows, columns, residues") {
  ndarray u = sn::reshape(ramp(256 * 256), {256, 256});
  sn::eval(u);
  peak memory;
  u(0, _) = u(1, _);
  u(-1, _) = u(-2, _) + u(3, _);
  u(_, 0) = u(_, 1);
  u(_, -1) = u(_, -2);
  u(_, slice(2, 20, 2)) = u(_, slice(3, 21, 2)) * 2.0;
  u(slice(100, 110)) += u(slice(120, 110, -1));
  sn::eval(u);
  CHECK(memory.used() == 0);
  const auto at = [&](int i, int j) { return float(u(i, j)); };
  CHECK(at(0, 5) == 256 + 5);
  CHECK(at(255, 7) == 254 * 256 + 7 + 3 * 256 + 7);
  CHECK(at(9, 0) == 9 * 256 + 1);
  CHECK(at(9, 255) == 9 * 256 + 254);
  CHECK(at(9, 4) == 2 * (9 * 256 + 5));
  CHECK(at(101, 50) == 101 * 256 + 50 + 119 * 256 + 50);
}

TEST_CASE("a partial write that reads its target: every pair of short slices of a vector") {
  const int n = 9;
  const ndarray start = ramp(n);
  sn::eval(start);
  int wrong = 0, tried = 0;
  const auto inside = [&](int first, int step, int count) {
    const int last = first + step * (count - 1);
    return last >= 0 && last < n;
  };
  const auto part = [](int first, int step, int count) {
    const int stop = first + step * count;
    return stop < 0 ? slice(first, _, step) : slice(first, stop, step);
  };
  for (int count = 2; count <= 4; ++count)
    for (int to = 0; to < n; ++to)
      for (int from = 0; from < n; ++from)
        for (int to_step : {-3, -2, -1, 1, 2, 3})
          for (int from_step : {-2, -1, 1, 2, 3}) {
            if (!inside(to, to_step, count) || !inside(from, from_step, count)) continue;
            const ndarray x = start.copy();
            x(2) = 20;  // a version with a sole owner
            x(part(to, to_step, count)) = x(part(from, from_step, count)) + 1.0;
            std::vector<double> expected(n);
            for (int k = 0; k < n; ++k) expected[static_cast<std::size_t>(k)] = k == 2 ? 20 : k;
            const auto old = expected;
            for (int k = 0; k < count; ++k)
              expected[static_cast<std::size_t>(to + k * to_step)] =
                  old[static_cast<std::size_t>(from + k * from_step)] + 1;
            ++tried;
            wrong += values(x) != expected;
          }
  CHECK(tried > 1000);
  CHECK(wrong == 0);
}

TEST_CASE("boundary writes and a stencil: bounded kernels and memory over many steps, an old view held") {
  const int n = 64, steps = 50;
  ndarray u = sn::reshape(ramp(n * n), {n, n});
  sn::eval(u);
  std::vector<double> reference = values(u);
  ndarray held = u(3, _) * 1.0;
  counting c;
  peak memory;
  for (int s = 0; s < steps; ++s) {
    u(0, _) = 1;
    u(-1, _) = 2;
    u(_, 0) = 3;
    u(_, -1) = 4;
    u["1:-1, 1:-1"] = 0.25 * (u["2:, 1:-1"] + u[":-2, 1:-1"] + u["1:-1, 2:"] + u["1:-1, :-2"]);
    auto at = [&](int i, int j) -> double& { return reference[static_cast<std::size_t>(i * n + j)]; };
    for (int j = 0; j < n; ++j) at(0, j) = 1;
    for (int j = 0; j < n; ++j) at(n - 1, j) = 2;
    for (int i = 0; i < n; ++i) at(i, 0) = 3;
    for (int i = 0; i < n; ++i) at(i, n - 1) = 4;
    std::vector<double> old = reference;
    auto was = [&](int i, int j) { return static_cast<float>(old[static_cast<std::size_t>(i * n + j)]); };
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        at(i, j) = 0.25f * (was(i + 1, j) + was(i - 1, j) + was(i, j + 1) + was(i, j - 1));
  }
  sn::eval(u);
  CHECK(values(u) == reference);
  CHECK(c.launches() <= 6 * steps);
  CHECK(memory.used() <= 3u * n * n * 4);
  CHECK(values(held)[5] == 3 * n + 5);
}

TEST_CASE("a failed allocation leaves every pending value intact") {
  restore_limits restore;
  ndarray x = ramp(100);
  ndarray y = sn::sin(x), s = sn::sum(y);
  x(3) = 7;
  for (int k = 0; k < 2; ++k) {
    sinter::graph::limits().fail_allocation = 0;
    CHECK_THROWS_AS(sn::eval(s, x), sn::memory_error);
  }
  sinter::graph::limits().fail_allocation = -1;
  sn::eval(s, x);
  CHECK(float(x(3)) == 7);
  double expected = 0;
  for (int k = 0; k < 100; ++k) expected += std::sin(k);
  CHECK(s.item<double>() == doctest::Approx(expected).epsilon(1e-4));
}

TEST_CASE("the same bits with and without fusion, and with tiny kernels") {
  ndarray x = sn::sin(ramp(1000)), y = sn::cos(ramp(1000) * 0.5);
  sn::eval(x, y);
  auto compute = [&] {
    ndarray t = sn::exp(x) * y - sn::sqrt(sn::absolute(x * y)) / (2.0 + y);
    ndarray m = sn::reshape(t, {10, 100});
    ndarray z = m - sn::mean(m, 1)(_, newaxis);
    auto out = values(z);
    for (double v : values(sn::sum(z * z, 0))) out.push_back(v);
    return out;
  };
  auto fused = compute();
  restore_limits restore;
  sinter::graph::limits().fuse = false;
  CHECK(compute() == fused);
  sinter::graph::limits().fuse = true;
  sinter::graph::limits().instructions = 4;
  CHECK(compute() == fused);
  sinter::graph::limits().instructions = 192;
  sinter::graph::limits().depth = 2;
  CHECK(compute() == fused);
}

TEST_CASE("a value computed inside another kernel is stored when it is asked for again") {
  ndarray x = ramp(1000);
  sn::eval(x);
  ndarray t = sn::sin(x);
  ndarray a = t * 2.0, b = t + 1.0;
  sn::eval(a);
  std::string plan = sn::explain(b);
  CHECK(plan.find("still held") != std::string::npos);
  CHECK(values(b)[1] == doctest::Approx(1 + std::sin(1.0)));
}

TEST_CASE("long chains of operations and deep drops need no deep stack") {
  ndarray x = sn::ones({4}, {.dtype = sn::float32});
  for (int k = 0; k < 20000; ++k) x = x + 1.0;
  CHECK(values(x) == std::vector<double>(4, 20001.0));
  ndarray y = ramp(4);
  for (int k = 0; k < 20000; ++k) y(0) = k;
  CHECK(float(y(0)) == 19999);
}

TEST_CASE(
    "arrays are evaluated as they are made where their chains are as long as the limit; recording evaluates nothing") {
  restore_limits restore;
  sinter::graph::limits().depth = 4;
  const ndarray x = ramp(8).to_device("cpu");  // what is cheap depends on the device
  sn::eval(x);
  const ndarray a = sn::sin(x), b = sn::sin(sn::sin(a)), c = sn::cos(b), d = c * 2.0;
  const auto pending = [](const ndarray& y) { return sn::explain(y).find("in memory") == std::string::npos; };
  CHECK_FALSE(pending(d));
  CHECK_FALSE(pending(b));  // other live values of the chain are evaluated with it
  CHECK(pending(a));        // but for those that take little to compute
  ndarray e = sn::sqrt(d);
  CHECK(pending(e));
  e(slice(0, 4)) = (c + 1.0)(slice(0, 4));  // the sum is evaluated as it is made
  CHECK(pending(e));
  CHECK(values(e)[0] == 2.0);
  sinter::graph::value v = sinter::graph::record_scalar({}, sn::float64, {8}, sinter::runtime::default_device());
  v = sinter::graph::record_map(sinter::jit::opcode::sqrt, sn::float64, {8}, std::span(&v, 1));
  for (int k = 0; k < 10; ++k)
    v = sinter::graph::record_map(sinter::jit::opcode::sin, sn::float64, {8}, std::span(&v, 1));
  CHECK_FALSE(v->is_leaf());
  CHECK(v->depth == 11);
}

TEST_CASE("planning looks at a shared value once, however many ways lead there") {
  ndarray x = sn::ones(8, sn::float32);
  SUBCASE("operations only") {}
  SUBCASE("over a reduction") { x = sn::sqrt(sn::max(sn::ones({4, 8}, sn::float32), 0)); }
  for (int k = 0; k < 60; ++k) x = x * x;  // 2^60 ways
  CHECK(sn::explain(x).find("\n1 kernels") != std::string::npos);
  CHECK(values(x)[7] == 1);
}

TEST_CASE("planner: a pending field that is rolled several ways is computed once a step, not once for each way") {
  ndarray field = sn::arange(24 * 24, {.dtype = sn::int64}) % 5;
  field = sn::reshape(field, {24, 24});
  sn::eval(field);
  const auto step = [](const ndarray& x) {
    ndarray sum = x * x;
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j) sum = sum + sn::roll(x, {i, j}, sn::axes{0, 1}) * (i + 2 * j);
    return sum % 11;
  };
  ndarray pending = field, stored = field;
  for (int k = 0; k < 12; ++k) {
    pending = step(pending);
    stored = step(stored);
    sn::eval(stored);
  }
  const std::string plan = sn::explain(pending);
  CHECK(std::stoi(plan.substr(plan.rfind('\n', plan.size() - 2) + 1)) <= 2 * 12);
  CHECK(values(pending) == values(stored));
}

TEST_CASE("planner: what index arrays read more often than once is computed once, what few points need at the points") {
  const ndarray x = sn::arange(1000.0), i = sn::arange(1000) * 7 % 1000, j = sn::arange(1000) * 3 % 1000,
                few = sn::array({5, 7});
  sn::eval(x, i, j, few);
  const ndarray dear = sn::sqrt(sn::sin(x) + 2) * 3;
  CHECK(sn::explain(dear[i] - dear[j]).find("\n2 kernels") != std::string::npos);
  CHECK(sn::explain(dear[i] - dear).find("\n2 kernels") != std::string::npos);
  CHECK(sn::explain(dear[few] - dear[few + 1]).find("\n1 kernels") != std::string::npos);
  CHECK(sn::explain(dear[i] * 2).find("\n1 kernels") != std::string::npos);
  const ndarray table = sn::sqrt(sn::sin(x(sn::slice(0, 100))) + 2) * 3, cheap = x(sn::slice(0, 100)) * 3;
  CHECK(sn::explain(sn::mean(table[i % 100])).find("\n2 kernels") != std::string::npos);
  CHECK(sn::explain(sn::take(cheap, i % 100)).find("\n1 kernels") != std::string::npos);
  const ndarray stored = dear.copy();
  sn::eval(stored);
  CHECK(values(dear[i] - dear[j]) == values(stored[i] - stored[j]));
}

TEST_CASE("an index out of range is reported at the next synchronisation") {
  ndarray x = ramp(5);
  ndarray bad = sn::take(x, sn::array({0, 7}), 0);
  sn::eval(bad);
  CHECK_THROWS_AS(bad.to_vector<float>(), sn::index_error);
  CHECK(values(x) == std::vector<double>{0, 1, 2, 3, 4});
  CHECK(values(sn::take(x, sn::array({-1, 0}), 0)) == std::vector<double>{4, 0});
}

TEST_CASE("an exported address is written in place, and recorded reads keep what they saw") {
  if (!device().host_addressable()) {
    MESSAGE("left out: the host cannot write through an address of this device");
    return;
  }
  ndarray x = ramp(4);
  ndarray before = x * 2.0;
  float* p = x.data<float>();
  ndarray during = x + 1.0;
  p[0] = 40;
  ndarray after = x + 1.0;
  x(1) = 50;
  CHECK(p[1] == 50);
  CHECK(x.data<float>() == p);
  CHECK(values(before) == std::vector<double>{0, 2, 4, 6});
  CHECK(values(during) == std::vector<double>{1, 2, 3, 4});
  CHECK(values(after) == std::vector<double>{41, 2, 3, 4});
}

TEST_CASE("planner: two updates by one number are one kernel, also where one of them could have ended a reduction") {
  const ndarray m = sn::ones({64, 64}), p = sn::arange(64.0), x = sn::zeros(64), r = sn::ones(64);
  sn::eval(m, p, x, r);
  const ndarray product = sn::matmul(m, p);
  const ndarray step = 1.0 / sn::vdot(p, product);  // needs all of the product: r cannot be computed along with it
  x(_) += step * p;
  r(_) -= step * product;
  const std::string plan = sn::explain(x, r);
  CHECK((plan.find("\n3 kernels") != std::string::npos || plan.find("rows on chip") != std::string::npos));
  sn::eval(x, r);
  CHECK(sn::allclose(x, sn::arange(64.0) / (2016.0 * 2016.0)));
  CHECK(sn::allclose(r, sn::full(64, 1 - 1 / 2016.0)));
}

TEST_CASE("explain of several arrays is the plan that evaluates them together") {
  const ndarray x = sn::ones(48), in_memory = sn::ones(5);
  sn::eval(x, in_memory);
  const ndarray y = x + 1.0, z = x * 2.0;
  const std::string plan = sn::explain(y, z, in_memory, y);
  CHECK(plan.find("in memory: (5,) float64, nothing to run") != std::string::npos);
  CHECK(plan.find("\n1 kernels") != std::string::npos);
  counting c;
  sn::eval(y, z, in_memory, y);
  CHECK(c.launches() == 1);
  CHECK(sn::explain(y, z).find("kernels") == std::string::npos);
  CHECK_THROWS_AS(sn::explain(y, ndarray()), sn::value_error);
}

TEST_CASE("explain shows the plan of what a view is a view of, and says that") {
  const ndarray x = sn::ones({3, 4}, sn::float32) + 1;
  const ndarray row = x(1);
  CHECK(sn::explain(x).find("view") == std::string::npos);
  CHECK(sn::explain(row).find("the array is a view of that, with shape (4,)\n") != std::string::npos);
  CHECK(sn::explain(x["::-1"]).find("the array is a view of that, with shape (3, 4)\n") != std::string::npos);
  sn::eval(x);
  CHECK(sn::explain(row).find("in memory: (3, 4) float32, nothing to run\nthe array is a view") != std::string::npos);
}
