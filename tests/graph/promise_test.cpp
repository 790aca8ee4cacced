// The planner's promise for programs of many kinds: what is recorded costs no more than statements that are evaluated where
// they stand, needs little more memory, and is planned in linear time.
#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "graph/meter.hpp"
#include "graph/programs/crowd_programs.hpp"
#include "graph/programs/field_programs.hpp"
#include "graph/programs/method_programs.hpp"
#include "graph/programs/model_programs.hpp"
#include "graph/programs/neighbour_programs.hpp"
#include "graph/programs/scoped_programs.hpp"
#include "graph/programs/state_programs.hpp"
#include "graph/programs/statistics_programs.hpp"
#include "graph/programs/window_programs.hpp"
#include "graph/science_programs.hpp"
#include "graph/programs/table_programs.hpp"
#include "graph/values/limits.hpp"
#include "ops/base/access.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::test::loops;
using sn::ndarray;

namespace {

std::vector<program> all_programs() {
  std::vector<program> all(std::begin(science), std::end(science));
  all.insert(all.end(), std::begin(table_programs), std::end(table_programs));
  all.insert(all.end(), std::begin(model_programs), std::end(model_programs));
  all.insert(all.end(), std::begin(statistics_programs), std::end(statistics_programs));
  all.insert(all.end(), std::begin(method_programs), std::end(method_programs));
  all.insert(all.end(), std::begin(scoped_programs), std::end(scoped_programs));
  all.insert(all.end(), std::begin(field_programs), std::end(field_programs));
  all.insert(all.end(), std::begin(state_programs), std::end(state_programs));
  all.insert(all.end(), std::begin(window_programs), std::end(window_programs));
  all.insert(all.end(), std::begin(crowd_programs), std::end(crowd_programs));
  all.insert(all.end(), std::begin(neighbour_programs), std::end(neighbour_programs));
  return all;
}

/// What holds more memory: details of wavelets wait for a whole round of statements. On a GPU, where launches count, kernels compute
/// several steps and hold the variables of all of them: two more are above the bound, by up to a quarter.
bool holds_more(const program& p) {
  if (p.run == wavelets) return true;
  const bool on_host = current_backend().host_addressable();
  return !on_host && (p.run == swarm || p.run == delayed);
}

void evaluate_together(const arrays& all) {
  std::vector<graph::value> roots;
  for (const ndarray& x : all) roots.push_back(sn::ops::value_of(x));
  graph::flush(roots);
}

/// Arrays that are evaluated together, made by about `operations` operations.
arrays fan(int operations) {
  const ndarray x = uniform(8, 1);
  arrays all;
  for (int k = 0; k < operations; ++k) all.push_back(x + float(k));
  return all;
}
arrays shared_parts(int operations) {
  const ndarray x = uniform(8, 2);
  arrays all;
  for (int k = 0; k < operations / 6; ++k) {
    const ndarray part = sn::exp(x + float(k));
    all.insert(all.end(), {part * 2.0f, sn::sum(part), part(slice(1, _)) + part(slice(_, -1))});
  }
  return all;
}
arrays of_many_shapes(int operations) {
  arrays all;
  for (int k = 0; k < operations / 2; ++k) all.push_back(sn::arange(0, 8 + k, 1, {.dtype = sn::float32}) * 2.0f);
  return all;
}
arrays sums(int operations) {
  const ndarray x = uniform(64, 3);
  arrays all;
  for (int k = 0; k < operations / 2; ++k) all.push_back(sn::sum(x * float(k)));
  return all;
}
arrays rungs(int operations) {
  ndarray x = uniform(8, 4), y = uniform(8, 5);
  arrays all;
  for (int k = 0; k < operations / 4; ++k) {
    const ndarray next = 0.1f * (x + y);
    y = 0.5f * x - y;
    x = next;
    all.push_back(x);
  }
  return all;
}

}  // namespace

TEST_CASE("promise: simulations, filters and fits have the bits of statements that are evaluated at once") {
  const settings_guard restore;
  cpu::set_tier(cpu::tier::interpreted);
  for (const program& p : all_programs()) {
    CAPTURE(std::string(p.name));
    for (const int steps : {1, 4, 33}) {
      CAPTURE(steps);
      CHECK(bits(p, steps, 400, false) == bits(p, steps, 400, true));
    }
  }
}

TEST_CASE("promise: simulations, filters and fits cost and hold no more than statements that are evaluated at once") {
  if (!test::meter::sees_launches()) return;
  const settings_guard restore;
  cpu::set_tier(cpu::tier::interpreted);
  for (const program& p : all_programs()) {
    CAPTURE(std::string(p.name));
    for (const int steps : {20, 60}) {
      CAPTURE(steps);
      test::spent spent[2];
      for (const bool eager : {false, true}) {
        const test::meter counted;
        bits(p, steps, elements, eager);
        spent[eager] = counted.now();
      }
      CHECK(spent[0].cost <= 1.1 * spent[1].cost);
      if (!holds_more(p)) CHECK(spent[0].peak <= spent[1].peak + spent[1].peak / 4 + one_operand);
    }
  }
}

namespace {

/// What an observer adds up to `sum`: lazily, and where each statement is evaluated.
struct observed {
  double lazy = 0, eager = 0;
};
observed observe(const program& p, cpu::launch_observer each, double& sum) {
  observed all;
  for (const bool eager : {false, true}) {
    sum = 0;
    const auto before = cpu::set_launch_observer(each);
    bits(p, 60, elements, eager);
    cpu::set_launch_observer(before);
    (eager ? all.eager : all.lazy) = sum;
  }
  return all;
}

}  // namespace

TEST_CASE("promise: chains of small arrays that are reduced in each step are not computed again from their beginning") {
  if (!current_backend().host_addressable()) return;
  const settings_guard restore;
  cpu::set_tier(cpu::tier::interpreted);
  static double operations;
  const auto count = [](const jit::launch& l) {
    operations += static_cast<double>(l.code->code.size()) * static_cast<double>(core::element_count(l.extents));
  };
  const observed all = observe({"exchanged means", exchanged_means}, +count, operations);
  // In the caches of a core such arrays move as fast as a few operations are computed.
  CHECK(all.lazy <= 1.6 * all.eager);
}

TEST_CASE("promise: a quotient of a small array that is summed and divided again is computed once") {
  if (!current_backend().host_addressable()) return;
  const settings_guard restore;
  cpu::set_tier(cpu::tier::interpreted);
  static double quotients;
  const auto count = [](const jit::launch& l) {
    for (const jit::instr& i : l.code->code)
      if (i.op == jit::opcode::divide) quotients += static_cast<double>(core::element_count(l.extents));
  };
  const observed all = observe({"balanced", balanced}, +count, quotients);
  CHECK(all.lazy <= 1.1 * all.eager);  // a division takes longer than what a core's own caches move
}

TEST_CASE("promise: the first temporary value of a step is not stored for arrays that the step before has left") {
  if (!current_backend().host_addressable()) return;
  const settings_guard restore;
  cpu::set_tier(cpu::tier::interpreted);
  const auto launches = [](bool eager) {
    const test::meter counted;
    bits({"recursive rows", recursive_rows}, 60, elements, eager);
    return counted.now().launches;
  };
  CHECK(launches(false) <= launches(true) / 3);
}

TEST_CASE("promise: independent chains that are evaluated together hold no more for each of them") {
  if (!current_backend().host_addressable()) return;  // the meter observes launches on the CPU
  const settings_guard restore;
  cpu::set_tier(cpu::tier::interpreted);
  const auto peak = [](int steps) {
    const test::meter counted;
    evaluate_together(pyramids(steps, elements));
    return counted.now().peak;
  };
  // A joined kernel runs after the operands of all its parts, for which the other parts' operands wait.
  CHECK(peak(20) <= 2 * peak(5));
}

TEST_CASE("promise: planning many arrays together grows linearly") {
  const settings_guard restore;
  cpu::set_tier(cpu::tier::interpreted);
  graph::limits().cached_plans = 0;
  for (const auto run : {fan, shared_parts, of_many_shapes, sums, rungs}) {
    const auto work = [&](int operations) {
      const graph::planning_counts start = graph::planning();  // long chains are evaluated while they are recorded
      const arrays all = run(operations);
      evaluate_together(all);
      return static_cast<double>(graph::planning().lowered - start.lowered + graph::planning().compared -
                                 start.compared);
    };
    const double some = work(2400), more = work(4800), most = work(9600);
    CHECK(more <= 2.4 * some);
    CHECK(most <= 2.4 * more);
  }
}
