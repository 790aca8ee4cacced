// Loops as users write them, with several live values, however long nothing is read: lazily recorded steps cost no more
// than steps that are evaluated where they stand, and have the same bits.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "graph/plan/planner.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/limits.hpp"
#include "ops/base/access.hpp"
#include "runtime/backend.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::idx;
using sn::ndarray;

namespace {

runtime::backend& current_backend() { return sinter::runtime::get_backend(sinter::runtime::default_device()); }

/// Whether each statement is evaluated where it stands.
bool at_once = false;
template <class... A>
void statement(const A&... a) {
  if (at_once) sn::eval(a...);
}

ndarray uniform(const sn::random::draw_size& size, int seed) {
  sn::random::generator g(static_cast<std::uint64_t>(seed));
  ndarray x = g.random(size, {.dtype = sn::float32});
  sn::eval(x);
  return x;
}

using arrays = std::vector<ndarray>;
struct program {
  const char* name;
  std::function<arrays(int steps, std::int64_t n)> run;
};

arrays mandelbrot(int steps, std::int64_t n) {
  const ndarray cr = uniform({n, 3}, 1) * 3 - 2, ci = uniform({n, 3}, 2) * 2 - 1;
  ndarray zr = sn::zeros({n, 3}, {.dtype = sn::float32}), zi = zr.copy(),
          count = sn::zeros({n, 3}, {.dtype = sn::int32});
  for (int k = 0; k < steps; ++k) {
    const ndarray inside = zr * zr + zi * zi < 4;
    statement(inside);
    const ndarray next = sn::where(inside, zr * zr - zi * zi + cr, zr);
    statement(next);
    zi = sn::where(inside, 2 * zr * zi + ci, zi);
    statement(zi);
    zr = next;
    count += inside;
    statement(count);
  }
  return {count, zr, zi};
}

arrays leapfrog(int steps, std::int64_t n) {
  ndarray x = uniform(n, 3), v = sn::zeros(n, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    v = v - 0.05f * x;
    statement(v);
    x = x + 0.1f * v;
    statement(x);
    v = v - 0.05f * x;
    statement(v);
  }
  return {x, v};
}

arrays adam(int steps, std::int64_t n) {
  ndarray w = uniform(n, 4), m = sn::zeros(n, {.dtype = sn::float32}), s = m.copy();
  for (int k = 1; k <= steps; ++k) {
    const ndarray g = 2 * (w - 0.5f);
    statement(g);
    m = 0.9f * m + 0.1f * g;
    statement(m);
    s = 0.999f * s + 0.001f * g * g;
    statement(s);
    w = w - 0.01f * (m / (1 - std::pow(0.9, k))) / (sn::sqrt(s / (1 - std::pow(0.999, k))) + 1e-8f);
    statement(w);
  }
  return {w, m, s};
}

arrays lorenz(int steps, std::int64_t n) {
  ndarray x = uniform(n, 5), y = uniform(n, 6), z = uniform(n, 7);
  for (int k = 0; k < steps; ++k) {
    const ndarray dx = 10 * (y - x), dy = x * (28 - z) - y, dz = x * y - 2.5f * z;
    statement(dx, dy, dz);
    x = x + 0.01f * dx;
    y = y + 0.01f * dy;
    z = z + 0.01f * dz;
    statement(x, y, z);
  }
  return {x, y, z};
}

arrays fibonacci(int steps, std::int64_t n) {
  ndarray a = sn::astype(uniform(n, 8) * 100, sn::int32), b = a + 1;
  for (int k = 0; k < steps; ++k) {
    ndarray next = (a + b) % 1000;
    statement(next);
    a = b;
    b = next;
  }
  return {a, b};
}

arrays collected(int steps, std::int64_t n) {
  ndarray x = uniform(n, 9);
  arrays all;
  for (int k = 0; k < steps; ++k) {
    x = sn::sin(x) + 0.1f;
    statement(x);
    all.push_back(x);
  }
  all.push_back(sn::stack(all));
  return all;
}

arrays shrinking(int steps, std::int64_t n) {
  ndarray u = uniform(n, 10);
  for (int k = 0; k < steps && u.size() > 2; ++k) {
    u = 0.5f * (u(slice(1, _)) + u(slice(_, -1)));
    statement(u);
  }
  return {u};
}

arrays life(int steps, std::int64_t n) {
  ndarray u = sn::astype(uniform({n / 16 + 3, 16}, 11) > 0.6f, sn::int32);
  for (int k = 0; k < steps; ++k) {
    ndarray neighbours = sn::zeros(u.shape(), {.dtype = sn::int32});
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        if (i || j) neighbours = neighbours + sn::roll(sn::roll(u, i, 0), j, 1);
    statement(neighbours);
    u = sn::astype((neighbours == 3) | ((u == 1) & (neighbours == 2)), sn::int32);
    statement(u);
  }
  return {u};
}

arrays read_each_step(int steps, std::int64_t n) {
  ndarray x = uniform(n, 12) + 1;
  double total = 0;
  for (int k = 0; k < steps; ++k) {
    x = x - (x * x * x - 2) / (3 * x * x);
    statement(x);
    if (k % 3 == 0) total += float(sn::max(sn::abs(x)));
  }
  return {x, sn::full(1, total)};
}

arrays statistics(int steps, std::int64_t n) {
  ndarray x = uniform(n, 13), mean = sn::zeros(n, {.dtype = sn::float32}), m2 = mean.copy();
  for (int k = 1; k <= steps; ++k) {
    x = x * 0.99f + 0.01f;
    statement(x);
    const ndarray d = x - mean;
    statement(d);
    mean += d / float(k);
    statement(mean);
    m2 += d * (x - mean);
    statement(m2);
  }
  return {mean, m2, sn::sum(x)};
}

const program programs[] = {{"mandelbrot", mandelbrot}, {"leapfrog", leapfrog},   {"adam", adam},
                            {"lorenz", lorenz},         {"fibonacci", fibonacci}, {"collected", collected},
                            {"shrinking", shrinking},   {"life", life},           {"read each step", read_each_step},
                            {"statistics", statistics}};

std::vector<std::vector<std::byte>> bits(const program& p, int steps, std::int64_t n, bool eager) {
  at_once = eager;
  const arrays results = p.run(steps, n);
  at_once = false;
  std::vector<graph::value> roots;
  for (const ndarray& x : results) roots.push_back(sn::ops::value_of(x));
  graph::flush(roots);
  std::vector<std::vector<std::byte>> all;
  for (const ndarray& x : results) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(x.nbytes()));
    graph::copy_to_host(*sn::ops::ndarray_access::ref(x), bytes.data());
    all.push_back(std::move(bytes));
  }
  return all;
}

struct planned {
  std::vector<graph::value> roots;
  graph::planner plan;
  explicit planned(const arrays& results) {
    for (const ndarray& x : results) roots.push_back(sn::ops::value_of(x));
    plan.plan(roots);
  }
  ~planned() { plan.clear(); }
};

std::string key(const graph::kernel_plan& k) {
  std::string bytes;
  k.code.append_key(bytes);
  return bytes;
}

struct tier_guard {
  cpu::tier before = cpu::get_tier();
  ~tier_guard() { cpu::set_tier(before); }
};

}  // namespace

TEST_CASE("loops: recorded steps have the bits of steps that are evaluated at once, however many there are") {
  const tier_guard restore;
  for (const auto tier : {cpu::tier::interpreted, cpu::tier::automatic}) {
    cpu::set_tier(tier);
    for (const program& p : programs) {
      CAPTURE(p.name);
      for (const int steps : {1, 2, 5, 13, 14, 40, 130}) {
        CAPTURE(steps);
        CHECK(bits(p, steps, 300, false) == bits(p, steps, 300, true));
      }
    }
  }
}

TEST_CASE("loops: compiled loops have the bits of interpreted ones") {
  const tier_guard restore;
  for (const program& p : {programs[0], programs[1], programs[3], programs[4]}) {
    CAPTURE(p.name);
    cpu::set_tier(cpu::tier::interpreted);
    const auto expected = bits(p, 37, 1000, false);
    cpu::set_tier(cpu::tier::compiled);
    CHECK(bits(p, 37, 1000, false) == expected);
    CHECK(bits(p, 38, 1000, false) == bits(p, 38, 1000, true));
  }
}

TEST_CASE("loops: steps that repeat are one kernel with a loop, the same for any number of them") {
  struct row {
    arrays (*run)(int, std::int64_t);
    int few, many;
  };
  for (const row& r : {row{mandelbrot, 12, 30}, row{leapfrog, 12, 30}, row{lorenz, 12, 30}, row{fibonacci, 40, 90}}) {
    const planned few(r.run(r.few, 100)), many(r.run(r.many, 100));
    REQUIRE(few.plan.kernels().size() == 1);
    REQUIRE(many.plan.kernels().size() == 1);
    const auto &a = few.plan.kernels()[0]->code, &b = many.plan.kernels()[0]->code;
    CHECK(a.loop.end != 0);
    CHECK(a.code.size() < 64);
    CHECK(key(*few.plan.kernels()[0]) == key(*many.plan.kernels()[0]));
    CHECK(b.code.size() == a.code.size());
  }
}

TEST_CASE("loops: there are no more kernels than where statements are evaluated at once, and memory is bounded") {
  for (const program& p : programs) {
    CAPTURE(p.name);
    std::uint64_t launches[2];
    std::size_t peaks[2];
    for (const bool eager : {false, true}) {
      sn::synchronize();
      const auto before = current_backend().statistics().launches;
      current_backend().reset_peak();
      const auto used = current_backend().memory().used;
      bits(p, 60, 20000, eager);
      launches[eager] = current_backend().statistics().launches - before;
      peaks[eager] = current_backend().memory().peak - used;
    }
    CHECK(launches[0] <= launches[1]);
    CHECK(peaks[0] <= 3 * peaks[1]);  // a plan keeps what it began with, and the values of two cuts
  }
}

TEST_CASE("loops: other live values of a long chain are evaluated with it, and none that it does not share") {
  const ndarray seed = uniform(100, 1);
  ndarray x = seed, y = seed + 1, other = seed * 2;
  const auto pending = [](const ndarray& a) { return !sn::ops::value_of(a)->is_leaf(); };
  for (int k = 0; k < graph::limits().depth / 4; ++k) {
    other = other * 0.5f + 1;
    x = x * 0.5f + y;
    y = y + x;
  }
  REQUIRE(pending(x));
  REQUIRE(pending(y));
  REQUIRE(pending(other));
  sn::eval(x);
  CHECK_FALSE(pending(y));
  CHECK(pending(other));
}

TEST_CASE("loops: planning grows linearly with the recorded steps, and is not repeated for equal ones") {
  const graph::planner_limits before = graph::limits();
  for (const program& p : programs) {
    INFO(std::string(p.name));
    const auto work = [&](int steps) {
      const graph::planning_counts start = graph::planning();
      bits(p, steps, 50, false);
      return static_cast<double>(graph::planning().lowered - start.lowered + graph::planning().compared -
                                 start.compared);
    };
    graph::limits().cached_plans = 0;
    const double some = work(80), more = work(160), most = work(320);
    CHECK(more <= 2.6 * some);
    CHECK(most <= 2.6 * more);
    graph::limits() = before;
    work(80);
    CHECK(work(80) <= 0.1 * some);
  }
}
