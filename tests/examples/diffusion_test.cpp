// The diffusion example: its steps against plain float64 loops, what its borders keep, its field, its kernel's source.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "diffusion/check.hpp"
#include "diffusion/field.hpp"
#include "diffusion/steps.hpp"

using namespace diffusion;

namespace {

const border both_borders[] = {border::fixed, border::reflecting};

/// A separate field for each size, with the border in place.
ndarray start_of(std::int64_t n, border b) {
  const ndarray u = random_field(n, 100 + static_cast<std::uint64_t>(n));
  if (b == border::reflecting) reflect(u);
  return u;
}

ndarray by_slices(const ndarray& start, int steps, const scheme& s, bool step_by_step = true) {
  const ndarray u = start.copy();
  for (int k = 0; k < steps; ++k) {
    step_by_slices(u, s);
    if (step_by_step) sn::eval(u);
  }
  return u;
}

}  // namespace

TEST_CASE("diffusion: steps by slices agree with float64 loops within rounding") {
  for (const border b : both_borders)
    for (const std::int64_t n : {3, 4, 5, 17, 64, 131})
      for (const int steps : {1, 2, 30}) {
        const scheme s{.border = b};
        const ndarray start = start_of(n, b);
        const verdict v = compare_with_loops(start, by_slices(start, steps, s), steps, s);
        CAPTURE(n);
        CAPTURE(steps);
        CAPTURE(v.error);
        CHECK(v.holds());
      }
}

TEST_CASE("diffusion: results do not depend on when steps are evaluated") {
  for (const border b : both_borders) {
    const scheme s{.border = b};
    const ndarray start = start_of(40, b);
    const ndarray now = by_slices(start, 6, s), later = by_slices(start, 6, s, false);
    CHECK(sn::array_equal(now, later));
  }
}

TEST_CASE("diffusion: what the comparison with loops must notice") {
  const scheme s{.border = border::reflecting};
  const ndarray start = start_of(33, s.border), result = by_slices(start, 20, s);
  CHECK(compare_with_loops(start, result, 20, s).holds());
  CHECK_FALSE(compare_with_loops(start, result, 19, s).holds());
  CHECK_FALSE(compare_with_loops(start, result, 20, {.rate = 0.201, .border = s.border}).holds());
  CHECK_FALSE(compare_with_loops(start, result, 20, {.border = border::fixed}).holds());
  const ndarray spoilt = result.copy();
  spoilt(5, 7) += 1e-4;
  CHECK_FALSE(compare_with_loops(start, spoilt, 20, s).holds());
  spoilt(5, 7) = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(compare_with_loops(start, spoilt, 20, s).holds());
}

TEST_CASE("diffusion: a reflecting border keeps the sum, a fixed one at zero does not") {
  for (const std::int64_t n : {5, 50, 200}) {
    CAPTURE(n);
    const ndarray start = start_of(n, border::reflecting) + 1.0f;
    const scheme closed{.border = border::reflecting}, open{.border = border::fixed};
    CHECK(compare_sums(start, by_slices(start, 50, closed), 50, closed).holds());
    const ndarray cold = start.copy();
    cold["0"] = 0, cold["-1"] = 0;
    cold[":, 0"] = 0, cold[":, -1"] = 0;
    CHECK_FALSE(compare_sums(cold, by_slices(cold, 50, open), 50, open).holds());
  }
}

TEST_CASE("diffusion: a fixed border never changes, and a uniform field stays as it is") {
  const scheme fixed{.border = border::fixed}, reflecting{.border = border::reflecting};
  const ndarray before = start_of(37, border::fixed).copy(), after = by_slices(before, 25, fixed);
  CHECK_FALSE(sn::array_equal(before, after));
  before["1:-1, 1:-1"] = 0;
  after["1:-1, 1:-1"] = 0;
  CHECK(sn::array_equal(before, after));
  const ndarray flat = sn::full({20, 20}, 0.375, {.dtype = sn::float32});
  CHECK(sn::array_equal(by_slices(flat, 10, fixed), flat));
  CHECK(sn::array_equal(by_slices(flat, 10, reflecting), flat));
}

TEST_CASE("diffusion: the field is float32, of magnitude 1, rough, and the same for the same seed") {
  for (const std::int64_t n : {3, 4, 7, 100, 257}) {
    CAPTURE(n);
    const ndarray u = random_field(n, 5);
    CHECK(u.dtype() == sn::float32);
    CHECK(u.shape() == sn::shape_t{n, n});
    CHECK(sn::max(sn::absolute(u)).item<float>() == 1.0f);
    CHECK(sn::array_equal(u, random_field(n, 5)));
    CHECK_FALSE(sn::array_equal(u, random_field(n, 6)));
  }
  // Neighbours differ, yet far less than elements that are far from each other.
  const ndarray u = random_field(256, 9);
  const float near = sn::mean(sn::absolute(sn::diff(u))).item<float>();
  const float far = sn::mean(sn::absolute(u[":, 128:"] - u[":, :128"])).item<float>();
  CHECK(near > 0.01f);
  CHECK(far > 3 * near);
}

TEST_CASE("diffusion: the plain loops keep a mode of the grid, damped by its known factor") {
  // sin(pi i / (n-1)) sin(pi j / (n-1)) is an eigenvector for a border at zero.
  constexpr int n = 24, steps = 15;
  const scheme s{.border = border::fixed};
  const double pi = 3.14159265358979323846, angle = pi / (n - 1);
  std::vector<double> mode;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) mode.push_back(std::sin(angle * i) * std::sin(angle * j));
  const double factor = std::pow(1 - 8 * s.rate * std::pow(std::sin(angle / 2), 2), steps);
  const auto result = plain_steps(mode, n, steps, s);
  double worst = 0;
  for (std::size_t k = 0; k < mode.size(); ++k) worst = std::fmax(worst, std::fabs(result[k] - factor * mode[k]));
  CHECK(worst < 1e-13);
}
