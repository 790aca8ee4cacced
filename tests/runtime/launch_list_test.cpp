// Evaluations of several kernels, whose launches a device may put off until it has all of them: the order of work, and what a failure
// leaves.
#include <doctest/doctest.h>

#include <vector>

#include "graph/values/limits.hpp"
#include "sinter/sinter.hpp"
#include "support/simulated_gpu.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

using elements = std::vector<double>;

/// Four kernels: a write, two reductions, and what needs both.
struct several {
  ndarray x, before, result;

  several() {
    x = arange(60).astype(float64).reshape({6, 10});
    eval(x);
    x(slice(1, 3)) = x(slice(1, 3)) * 2 + 1;
    const ndarray rows = sum(x, 1), columns = max(x, 0);
    result = rows(_, newaxis) + columns - mean(x);
  }
  elements values() const { return result.to_vector<double>(); }
};

elements expected() {
  const device_guard on(device("cpu"));
  return several().values();
}

}  // namespace

TEST_CASE("launch lists: launches that are put off come before what follows them") {
  const elements right = expected();
  const device_guard on(sim::first());
  for (int k = 0; k < 4; ++k) CHECK(several().values() == right);
}

TEST_CASE("launch lists: where a launch fails, those before it have run, and the others run later") {
  const elements right = expected();
  const device_guard on(sim::first());
  bool failed = true;
  for (int fails = 0; failed; ++fails) {
    several s;
    graph::limits().fail_launch = fails;
    failed = false;
    try {
      eval(s.result);
    } catch (const memory_error&) {
      failed = true;
    }
    graph::limits().fail_launch = -1;
    CHECK(s.values() == right);
    REQUIRE(fails < 20);
  }
}

TEST_CASE("launch lists: where the list fails, nothing has run, and all of it runs later") {
  const elements right = expected();
  const device_guard on(sim::first());
  several s;
  sim::fail_list(1);
  CHECK_THROWS_AS(eval(s.result), device_error);
  CHECK(s.values() == right);
  CHECK(s.x.to_vector<double>()[10] == 21);  // written once
}
