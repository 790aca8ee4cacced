// What is computed once in a loop of captured steps.
#include "backends/cpu/constant_steps.hpp"

#include <doctest/doctest.h>

#include "backends/cpu/stream.hpp"
#include "ops/vmap/beside_loop.hpp"
#include "sinter/grad.hpp"
#include "sinter/loops.hpp"

using namespace vmap_test;
using namespace sinter::idx;

namespace {

using places = std::vector<std::size_t>;

char memory[100];
cpu::step_memory step(std::vector<int> reads, std::vector<int> writes, bool known = true) {
  cpu::step_memory m;
  for (const int k : reads) m.reads.push_back({memory + 10 * k, 10});
  for (const int k : writes) m.writes.push_back({memory + 10 * k, 10});
  m.knows_reads = known;
  m.knows_writes = true;
  return m;
}
places repeated(const std::vector<cpu::step_memory>& steps, int changing = 0) {
  const runtime::unchanged_memory changes[] = {{memory + 10 * changing, 10}};
  return cpu::steps_to_repeat(steps, changes);
}

}  // namespace

TEST_CASE("constant steps: what follows from what changes is done again") {
  CHECK(repeated({step({0}, {2}), step({2}, {3}), step({1}, {4})}) == places{0, 1});
  CHECK(repeated({step({1}, {2}), step({2}, {3}), step({0, 3}, {4})}) == places{2});
  CHECK(repeated({step({1}, {2}, false), step({2}, {3}), step({1}, {4})}) == places{0, 1});
}

TEST_CASE("constant steps: memory that several steps write, and memory that is read before it is written") {
  // Memory 2 is given to another value after it has been read.
  CHECK(repeated({step({1}, {2}), step({2, 0}, {3}), step({0}, {2})}) == places{0, 1, 2});
  CHECK(repeated({step({2}, {3}), step({1}, {2})}) == places{0});
  CHECK(repeated({step({1}, {1})}) == places{0});
  CHECK(repeated({step({1}, {0})}) == places{0});
  cpu::step_memory unknown;
  CHECK(repeated({step({1}, {2}), unknown}) == places{0, 1});
}

TEST_CASE("constant steps: loops have the bits of steps that are called, and fewer launches") {
  if (!(zeros(1).device() == device("cpu"))) return;
  const ndarray a = numbers({40, 6}), w = numbers({6});
  const auto logistic = [&](const ndarray& v) { return ndarray(sum(log1p(exp(sum(a * v, 1))))); };
  const auto solve = [&](bool each, const ndarray& at) {
    using state = std::tuple<ndarray, ndarray>;
    const auto step = [&](const ndarray&, const state& s) {
      const auto& [x, r] = s;
      const ndarray p = hvp(logistic, at, r);
      return state(x + 0.01 * r, r - 0.01 * p);
    };
    return std::get<0>(fori_loop(0, 40, step, state(zeros({6}), at * 0.5), {.call_each = each}));
  };
  for (int round = 0; round < 3; ++round) {
    const ndarray at = w * (1 + round);
    const ndarray right = solve(true, at);
    const std::uint64_t before = cpu::repeated_launches();
    const ndarray got = solve(false, at);
    CHECK(same_bits(got, right));
    const std::uint64_t launches = cpu::repeated_launches() - before;
    CAPTURE(launches);
    CHECK(launches > 0);
    CHECK(launches <= 37 * 8);
  }
}
