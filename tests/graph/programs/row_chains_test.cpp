// Chains of steps each of which needs statistics of the rows before it, sums by halves down to one number, and rolls of rolls: what is
// recorded has the bits of steps that are evaluated at once, and costs no more.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "backends/cpu/kernels/hooks.hpp"
#include "graph/loop_programs.hpp"
#include "graph/meter.hpp"
#include "graph/values/limits.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test::loops;
using sn::ndarray;

namespace {

const sn::reduce_kw along{.axis = 1, .keepdims = true};

arrays softmax_chain(int steps, std::int64_t n) {
  ndarray u = uniform({n / 20, 20}, 501);
  for (int k = 0; k < steps; ++k) {
    const ndarray e = sn::exp(u - sn::max(u, along));
    statement(e);
    u = e / sn::sum(e, along) * 3.0f;
    statement(u);
  }
  return {u};
}

arrays normalised_steps(int steps, std::int64_t n) {
  ndarray u = uniform({n / 20, 20}, 502);
  for (int k = 0; k < steps; ++k) {
    u = sn::tanh(u);
    statement(u);
    u = u / sn::sqrt(sn::sum(u * u, along));
    statement(u);
  }
  return {u};
}

constexpr program chains[] = {{"softmax", softmax_chain}, {"normalised", normalised_steps}};

/// Rows are joined however few they are.
struct staging {
  settings_guard restore;
  explicit staging(std::int64_t bytes) {
    cpu::set_tier(cpu::tier::interpreted);
    cpu::set_least_staged(bytes);
  }
  ~staging() { cpu::set_least_staged(-1); }
};

ndarray halves(ndarray u, bool eager) {
  for (std::int64_t k = u.shape(0) / 2; k >= 1; k /= 2) {
    u = u(slice(0, k)) + u(slice(k, 2 * k));
    if (eager) sn::eval(u);
  }
  return u;
}

}  // namespace

TEST_CASE("chains over rows: the bits of steps that are evaluated at once, joined and not, whatever is passed on") {
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-1}}) {
    const staging rows(bytes);
    for (const program& p : chains)
      for (const int steps : {1, 3, 4, 5, 9, 17, 40}) {
        CAPTURE(std::string(p.name));
        CAPTURE(steps);
        CHECK(bits(p, steps, 2000, false) == bits(p, steps, 2000, true));
      }
  }
}

TEST_CASE("chains over rows: four softmaxes of a matrix that is joined") {
  // Their exponentials lie one after the other in memory of the result.
  const staging rows(-1);
  const program wide{"", [](int steps, std::int64_t n) { return softmax_chain(steps, n); }};
  CHECK(bits(wide, 4, 160000, false) == bits(wide, 4, 160000, true));
}

TEST_CASE("chains over rows: no step is computed again for each later one") {
  if (!current_backend().host_addressable()) return;  // the meter observes launches on the CPU
  const staging rows(0);
  for (const program& p : chains) {
    CAPTURE(std::string(p.name));
    test::spent spent[2];
    for (const bool eager : {false, true}) {
      const test::meter counted;
      bits(p, 40, elements, eager);
      spent[eager] = counted.now();
    }
    CHECK(spent[0].cost <= 1.1 * spent[1].cost);
  }
}

TEST_CASE("sums by halves down to one number are stored on the way, not written out") {
  const settings_guard restore;
  const ndarray x = uniform(1 << 15, 503);
  const std::uint64_t before = graph::planning().lowered;
  const ndarray lazy = halves(x, false);
  sn::eval(lazy);
  CHECK(graph::planning().lowered - before < 5000);
  CHECK(sn::all(lazy == halves(x, true)).item<bool>());
}

TEST_CASE("rolls of rolls are read in place") {
  const settings_guard restore;
  const ndarray x = sn::reshape(uniform(60 * 100, 504), {60, 100}), y = uniform(6000, 505);
  const auto check = [](const ndarray& from, const std::vector<std::pair<std::int64_t, int>>& shifts) {
    ndarray fused = from, stored = from;
    for (const auto& [by, axis] : shifts) {
      fused = sn::roll(fused, by, axis);
      stored = sn::roll(stored, by, axis).copy();
      sn::eval(stored);
    }
    fused = fused + 1.0f;
    if (current_backend().host_addressable()) CHECK(sn::explain(fused).find("by index") == std::string::npos);
    CHECK(sn::all(fused == stored + 1.0f).item<bool>());
  };
  for (const std::int64_t a : {1, -1, 3, 2999, 5999, -5999})
    for (const std::int64_t b : {1, -2, 3001, 5999}) {
      check(y, {{a, 0}, {b, 0}});
      check(y, {{a, 0}, {b, 0}, {a, 0}, {b, 0}});
    }
  check(x, {{1, 0}, {-1, 1}, {1, 0}, {-1, 1}});
  check(x, {{59, 0}, {99, 1}, {59, 0}, {99, 1}, {-3, 0}});
  check(sn::flip(x, 1), {{7, 1}, {8, 1}});
  const ndarray turned = sn::roll(sn::flip(sn::roll(y, 5), 0), 3) + 1.0f,
                copied = sn::flip(sn::roll(y, 5).copy(), 0).copy();
  CHECK(sn::all(turned == sn::roll(copied, 3) + 1.0f).item<bool>());
}
