// The examples that write one computation in many forms: every form that runs on the device against a plain loop.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/throughput.hpp"
#include "relative_difference/forms.hpp"
#include "saxpy/forms.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;
using sn::ndarray;

namespace {

bool runs_here(const examples::form& f) {
  const bool gpu = sn::default_device().kind == sn::device_kind::cuda;
  return f.where == examples::runs_on::any_device || (f.where == examples::runs_on::gpu_only) == gpu;
}

void check_forms(const examples::computation& c) {
  int left_out = 0;
  for (const auto& f : c.forms) {
    left_out += !runs_here(f);
    if (!runs_here(f)) continue;
    for (const std::size_t n : {1, 2, 3, 4, 5, 255, 1000, 4099}) {
      const auto x = examples::random_numbers(n, 3), y = examples::random_numbers(n, 4);
      const auto work = f.prepare(sn::array(x), sn::array(y));
      const auto verdict = examples::check(c, f, work(), x, y);
      CAPTURE(f.name);
      CAPTURE(n);
      CAPTURE(verdict.error);
      CHECK(verdict.holds());
      CHECK(examples::check(c, f, sn::full_like(work(), 0.1f), x, y).holds() == false);
    }
  }
  if (left_out > 0) MESSAGE(c.name << ": " << left_out << " forms left out, they run on another device");
}

}  // namespace

TEST_CASE("saxpy: every form agrees with a plain loop") { check_forms(saxpy::all_forms()); }

TEST_CASE("relative difference: every form agrees with a plain loop") { check_forms(relative_difference::all_forms()); }

TEST_CASE("forms: work repeats, and leaves its inputs alone") {
  const auto x = sn::array(examples::random_numbers(1000, 5)), y = sn::array(examples::random_numbers(1000, 6));
  const auto before_x = x.copy(), before_y = y.copy();
  for (const auto& c : {saxpy::all_forms(), relative_difference::all_forms()})
    for (const auto& f : c.forms) {
      if (!runs_here(f)) continue;
      CAPTURE(c.name);
      CAPTURE(f.name);
      const auto work = f.prepare(x, y);
      const ndarray first = work().copy(), second = work();
      const bool accumulates = c.name == "saxpy" && f.name == "in place";
      CHECK(sn::array_equal(second, accumulates ? first + saxpy::a * x : first));
      CHECK(sn::array_equal(x, before_x));
      CHECK(sn::array_equal(y, before_y));
    }
}

TEST_CASE("forms: an error of a few units in the last place is noticed, and so is a wrong size") {
  const auto x = examples::random_numbers(100, 7), y = examples::random_numbers(100, 8);
  for (const auto& c : {saxpy::all_forms(), relative_difference::all_forms()})
    for (const auto& f : c.forms) {
      if (!runs_here(f) || f.result == examples::gives::number) continue;
      CAPTURE(f.name);
      auto result = f.prepare(sn::array(x), sn::array(y))().to_vector<float>();
      const auto holds = [&] { return examples::check(c, f, sn::array(result), x, y).holds(); };
      CHECK(holds());
      const float right = result[42];
      result[42] += 8 * (std::nextafter(right, 10.0f) - right);
      CHECK_FALSE(holds());
      result[42] = std::numeric_limits<float>::quiet_NaN();
      CHECK_FALSE(holds());
      result[42] = right;
      result.push_back(right);
      CHECK_FALSE(holds());
    }
}
