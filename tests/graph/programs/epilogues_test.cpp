// What is computed from sums: in the pass that makes them, which no other kernel repeats.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "graph/evaluated_work.hpp"
#include "graph/meter.hpp"
#include "graph/programs/joined_rows.hpp"
#include "graph/programs/state_programs.hpp"
#include "graph/run/kept_arrays.hpp"

using namespace sinter;
using namespace sinter::test::rows;

namespace {

ndarray matrix(std::int64_t rows, std::int64_t columns, int seed) {
  return sinter::test::loops::uniform({rows, columns}, seed);
}

int count_of(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

}  // namespace

TEST_CASE("epilogues: a product that is read with what is subtracted from it is stored once") {
  const ndarray a = matrix(40, 600, 1), w = matrix(40, 1, 2), y = matrix(1, 600, 3)(0);
  const recorder record = [&] {
    const ndarray r = sum(a * w, 0) - y;
    return std::vector<ndarray>{mean(abs(r)), sum(a * r, 1)};
  };
  CHECK(count_of(plan_of(record), "kernel ") == 3);
  check_bits(record);
}

TEST_CASE("epilogues: variables that follow from one sum are stored by its kernel") {
  const ndarray x = matrix(300, 40, 4), m = matrix(1, 40, 5)(0), v = matrix(1, 40, 6)(0), w = matrix(1, 40, 7)(0);
  const recorder record = [&] {
    const ndarray g = sum(x * x, 0), next_m = 0.9f * m + 0.1f * g, next_v = 0.99f * v + 0.01f * (g * g);
    return std::vector<ndarray>{next_m, next_v, w - 0.1f * next_m / (sqrt(next_v) + 1e-8f)};
  };
  CHECK(count_of(plan_of(record), "kernel ") == 1);
  check_bits(record);
}

TEST_CASE("epilogues: no later kernel repeats a sum") {
  const ndarray x = matrix(300, 40, 8);
  const recorder record = [&] {
    const ndarray g = mean(x * x, 0), scale = exp(-g) / sqrt(g + 1.0f), of_scaled = sum(exp(x * scale), 0);
    return std::vector<ndarray>{of_scaled + g};
  };
  CHECK(count_of(plan_of(record), "multiply r0, r0") == 1);
  check_bits(record);
}

TEST_CASE("epilogues: steps over residuals are the same kernels however many there are") {
  if (!test::meter::sees_launches()) return;
  static std::set<std::string> kernels;
  const auto note = [](const jit::launch& l) {
    kernels.insert(l.code->label() + " " + std::to_string(l.code->code.size()) + " " +
                   std::to_string(l.code->outputs.size()));
  };
  std::size_t count[2];
  for (const int steps : {30, 60}) {
    graph::release_kept_arrays(false);  // what is evaluated when depends on when variables of loops were looked at last
    kernels.clear();
    const auto before = cpu::set_launch_observer(+note);
    for (const ndarray& x : test::loops::adaptive_rates(steps, 4000)) eval(x);
    cpu::set_launch_observer(before);
    count[steps / 60] = kernels.size();
  }
  CHECK(count[1] == count[0]);
}

TEST_CASE("epilogues: sums that need a small value and what is cheap to compute from it are one kernel") {
  const ndarray t = matrix(1, 5000, 9)(0), y = matrix(1, 5000, 10)(0), start = matrix(1, 1, 11)(0);
  const recorder record = [&] {
    const ndarray rate = start - 0.1f * exp(start) / sqrt(sum(t * start)), e = exp(rate * t), back = -rate;
    return std::vector<ndarray>{sum(back * t * e), sum(e * y), sum(e * e)};
  };
  // The sum under the root, the rate, and three sums.
  CHECK(count_of(graph::describe(values_of(record()), false), "kernel ") <= 3);
  check_bits(record);
}

TEST_CASE("epilogues: each step of bodies that attract each other is one kernel, which stores all variables") {
  const ndarray start = matrix(70, 3, 12), moving = matrix(70, 3, 13);
  for (const int steps : {1, 2, 3, 6}) {
    CAPTURE(steps);
    const recorder record = [&] {
      ndarray p = start, v = moving;
      for (int k = 0; k < steps; ++k) {
        const ndarray d = p(idx::newaxis) - p(idx::_, idx::newaxis), r2 = sum(d * d, 2) + 0.01f;
        v = v + 0.01f * sum(d / (r2 * sqrt(r2))(idx::_, idx::_, idx::newaxis), 1);
        p = p + 0.01f * v;
      }
      return std::vector<ndarray>{p, v};
    };
    CHECK(count_of(plan_of(record), "kernel ") == steps);
    check_bits(record);
  }
}

TEST_CASE("epilogues: a total over steps reads what the step before it has stored") {
  const ndarray x = matrix(40, 500, 14), start = matrix(1, 500, 15)(0);
  for (const int steps : {2, 3, 5}) {
    CAPTURE(steps);
    const recorder record = [&] {
      ndarray w = start, total = start;
      for (int k = 0; k < steps; ++k) {
        const ndarray g = sum(x / sqrt(x * x + w * w), 0);
        total = total + g;
        w = w - 0.01f * total;
      }
      return std::vector<ndarray>{w, total};
    };
    const std::string plan = plan_of(record);
    CHECK(count_of(plan, "kernel ") == steps);
    CHECK(count_of(plan, "a pending reduction over the same value") == 0);
    check_bits(record);
  }
}
