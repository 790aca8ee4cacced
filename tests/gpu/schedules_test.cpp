// Every legal schedule on a GPU: the same bits as the one that is chosen.
#ifdef SINTER_HAS_CUDA

#include <functional>
#include <string>
#include <vector>

#include "gpu/gpu.hpp"
#include "jit/cuda/schedule/choose.hpp"
#include "jit/hooks.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

struct forced_schedule {
  explicit forced_schedule(int number) { cuda::force_schedule(number); }
  ~forced_schedule() { cuda::force_schedule(-1); }
  forced_schedule(const forced_schedule&) = delete;
  forced_schedule& operator=(const forced_schedule&) = delete;
};

ndarray numbers(const shape_t& shape, dtype type, int factor) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  const ndarray k = arange(n) * factor % 1009;
  const ndarray x = reshape((k - 500) * where(k % 7 == 0, 1000.0, 0.37), shape).astype(type);
  eval(x);
  return x;
}

std::vector<std::uint64_t> bits(const ndarray& x) {
  std::vector<std::uint64_t> out;
  for (const double v : x.to_vector<double>()) out.push_back(v == v ? gpu_test::bits_of(v) : ~std::uint64_t{0});
  return out;
}

/// Evaluates an expression by all schedules that any of its launches has.
void check_all(const std::string& what, const std::function<ndarray()>& expression) {
  CAPTURE(what);
  const auto expected = bits(expression());
  cuda::most_schedules();
  int count = 1;
  for (int number = 0; number < count; ++number) {
    CAPTURE(number);
    const forced_schedule force(number);
    const auto got = bits(expression());
    const int legal = cuda::most_schedules();
    CHECK(legal > 1);  // of each evaluation: none takes what an earlier one was given
    count = std::max(count, legal);
    CHECK(gpu_test::first_difference(got, expected) == -1);
  }
}

}  // namespace

TEST_CASE("gpu: every legal schedule gives the bits of the chosen one") {
  if (gpu_test::no_gpu() || gpu_test::no_nvrtc()) return;
  for (const dtype type : {int32, float32, float64}) {
    CAPTURE(type);
    const ndarray m = numbers({700, 1030}, type, 7), narrow = numbers({3001, 24}, type, 3);
    check_all("X + X.T", [&] { return m(_, slice(0, 700)) + m(_, slice(330, 1030)).T(); });
    check_all("copy of X.T", [&] { return m.T().copy(); });
    check_all("sums of rows", [&] { return sum(m, {.axis = 1}); });
    check_all("sums of columns", [&] { return sum(m, {.axis = 0}); });
    check_all("sums of rows of X.T", [&] { return sum(m.T(), {.axis = 1}); });
    check_all("sums of columns of X.T", [&] { return sum(m.T(), {.axis = 0}); });
    check_all("sums of short rows of X.T", [&] { return sum(numbers({24, 3001}, type, 3).T(), {.axis = 1}); });
    check_all("sums of many rows of X.T", [&] { return sum(numbers({1501, 2064}, type, 3).T(), {.axis = 1}); });
    check_all("largest of columns", [&] { return max(m, {.axis = 0}); });
    check_all("sums of long rows of X.T", [&] { return sum(numbers({70001, 24}, type, 3).T(), {.axis = 1}); });
    check_all("variances of long columns of X.T", [&] { return var(numbers({24, 70001}, type, 3).T(), {.axis = 0}); });
    check_all("distances",
              [&] { return sum(square(narrow(slice(0, 300), newaxis, _) - narrow(slice(0, 400))), {.axis = -1}); });
    check_all("forces", [&] { return sum(m(0, slice(0, 900))(_, newaxis) - m(1), {.axis = 1}); });
    check_all("nearest", [&] { return argmin(abs(m(0, slice(0, 900))(_, newaxis) - m(1)), 1); });
  }
}

#endif
