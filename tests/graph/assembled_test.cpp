// Programs whose steps put arrays together from parts: concatenated, stacked and padded ones. Nothing is allocated when
// they are recorded.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"  // before sinter::cpu, which clang 14 asks for
#include "graph/loop_programs.hpp"
#include "graph/meter.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::test::loops;

namespace {

constexpr std::int64_t half_size = 1 << 13;

ndarray butterflies(int steps) {  // as in a Fourier transform
  ndarray x = uniform(2 * half_size, 91);
  for (int k = 0; k < steps; ++k) {
    const ndarray a = x(sn::slice(_, half_size)), b = 0.5f * x(sn::slice(half_size, _));
    statement(b);
    x = sn::concatenate({a + b, a - b});
    statement(x);
  }
  return x;
}

ndarray exchanges(int steps) {  // a sorting network
  ndarray x = sn::reshape(uniform(2 * half_size, 92), {half_size, 2});
  for (int k = 0; k < steps; ++k) {
    const ndarray low = sn::minimum(x(_, 0), x(_, 1)), high = sn::maximum(x(_, 0), x(_, 1));
    statement(low, high);
    x = sn::roll(sn::stack({low, high}, 1), 1);
    statement(x);
  }
  return x;
}

ndarray padded_steps(int steps) {
  ndarray u = uniform({128, 300}, 93);
  for (int k = 0; k < steps; ++k) {
    const ndarray p = sn::pad(u, 1, {.mode = "edge"});
    statement(p);
    u = 0.25f * (p["1:-1, :-2"] + p["1:-1, 2:"] + p[":-2, 1:-1"] + p["2:, 1:-1"]);
    statement(u);
  }
  return u;
}

ndarray counted_by_pads(int steps) {  // Life
  ndarray g = (uniform({64, 64}, 94) < 0.4f).astype(sn::uint8);
  statement(g);
  for (int k = 0; k < steps; ++k) {
    const ndarray p = sn::pad(g, 1);
    statement(p);
    ndarray c = sn::zeros({64, 64}, sn::uint8);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        if (i != 1 || j != 1) c += p(sn::slice(i, i + 64), sn::slice(j, j + 64));
        statement(c);
      }
    g = ((c == 3) | ((c == 2) & (g == 1))).astype(sn::uint8);
    statement(g);
  }
  return g;
}

ndarray many_parts(int steps) {  // more than a chain of writes has
  ndarray x = sn::reshape(uniform(40 * 400, 95), {40, 400});
  for (int k = 0; k < steps; ++k) {
    std::vector<ndarray> rows;
    for (int r = 0; r < 40; ++r) rows.push_back(x(39 - r) * 0.5f);
    x = sn::stack(rows);
    statement(x);
  }
  return x;
}

struct {
  const char* name;
  ndarray (*run)(int steps);
} const programs_of_parts[] = {{"butterflies", butterflies},
                               {"exchanges", exchanges},
                               {"padded steps", padded_steps},
                               {"counted by pads", counted_by_pads},
                               {"many parts", many_parts}};

struct measured {
  std::vector<float> result;
  std::size_t peak;
  double cost;
};

measured measure(ndarray (*run)(int), int steps, bool eager) {
  sn::synchronize();
  const test::meter counted;
  at_once = eager;
  const ndarray x = run(steps);
  at_once = false;
  sn::eval(x);
  const test::spent s = counted.now();
  return {sn::ravel(x).astype(sn::float32).tolist<float, 1>(), s.peak, s.cost};
}

}  // namespace

TEST_CASE("assembled arrays: chains of them need no more memory and work than single statements, for the same bits") {
  if (!current_backend().host_addressable()) return;  // the meter counts what the CPU runs
  for (const auto& p : programs_of_parts) {
    CAPTURE(std::string(p.name));
    for (const int steps : {3, 24}) {
      CAPTURE(steps);
      const measured lazy = measure(p.run, steps, false), eager = measure(p.run, steps, true);
      CHECK(lazy.result == eager.result);
      CHECK(lazy.peak <= eager.peak + eager.peak / 4 + one_operand);
      // Not kept by more parts than a chain of writes has, which are written by several kernels: a launch more for each step.
      CHECK(lazy.cost <= (p.run == many_parts ? 1.25 : 1.1) * eager.cost);
    }
  }
}

TEST_CASE("assembled arrays: recording one allocates nothing") {
  const ndarray x = uniform(1 << 16, 96), y = sn::reshape(x, {256, 256});
  sn::synchronize();
  const auto used = current_backend().memory().used;
  const ndarray joined = sn::concatenate({x, x}), stacked = sn::stack({x, x, x}), padded = sn::pad(y, 3);
  CHECK(current_backend().memory().used == used);
  sn::eval(joined, stacked, padded);
  CHECK(float(joined(1 << 16)) == float(x(0)));
  CHECK(float(stacked(2, 5)) == float(x(5)));
  CHECK(float(padded(3, 3)) == float(x(0)));
  CHECK(float(padded(0, 3)) == 0);
}
