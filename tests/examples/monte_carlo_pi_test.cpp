// The example that estimates pi: one kernel, the same points stored, and what its checks must detect.
#include <doctest/doctest.h>

#include "monte_carlo_pi/estimate.hpp"
#include "support/kernel_test.hpp"

using namespace monte_carlo_pi;

TEST_CASE("monte_carlo_pi: counting is one kernel, and stored points are the same points") {
  generator g(3), same(3);
  const ndarray count = count_inside(g, 100000);
  CHECK(sn::test::kernels_of(count) == 1);
  CHECK(count.item<std::int64_t>() == count_stored(same, 100000).item<std::int64_t>());
  CHECK(distance_from_pi({count.item<std::int64_t>(), 100000}).holds());
}

TEST_CASE("monte_carlo_pi: the checks notice what they should") {
  const std::int64_t n = 1000000;
  const auto off_by = [&](double errors) {
    return estimate{static_cast<std::int64_t>((3.14159265358979 + errors * standard_error(n)) / 4 * double(n)), n};
  };
  CHECK(standard_error(n) == doctest::Approx(0.0016422));
  CHECK(distance_from_pi(off_by(4)).holds());
  CHECK_FALSE(distance_from_pi(off_by(5)).holds());
  CHECK_FALSE(distance_from_pi(off_by(-5)).holds());
  const auto streams = estimates(generator(1).spawn(64), 20000);
  CHECK(streams.size() == 64);
  CHECK(spread_of(streams).holds());
  CHECK_FALSE(spread_of(std::vector<estimate>(64, off_by(2))).holds());
  CHECK_FALSE(spread_of(std::vector<estimate>(64, off_by(0))).holds());
}
