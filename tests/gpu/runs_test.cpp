// What a GPU reads and writes as runs (jit/cuda/schedule/legal_runs.cpp), and rows of few elements that are operations on elements: the
// bits of the CPU.
#ifdef SINTER_HAS_CUDA

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/gpu.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

ndarray numbers(const shape_t& shape, dtype type, int factor, const device& on) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  const ndarray k = arange(n, {.device = on}) * factor % 251;
  const ndarray x = (is_complex(type) ? k - std::complex<double>(0, 0.5) * k : k * 0.5).astype(type).reshape(shape);
  eval(x);
  return x;
}

using line = std::function<ndarray(const device& on)>;

/// Evaluates it on both devices.
void check(const std::string& what, const line& of) {
  CAPTURE(what);
  const ndarray there = of(device("cuda:0")), here = of(device("cpu"));
  CHECK(array_equal(there.to_device("cpu"), here, {.equal_nan = true}));
}

}  // namespace

TEST_CASE("gpu: runs of shifted slices, channels and reads that wrap have the bits of the CPU") {
  if (gpu_test::no_gpu() || gpu_test::no_nvrtc()) return;
  for (const dtype type : {uint8, float16, float32, float64, complex64}) {
    CAPTURE(type);
    const auto with = [&](const shape_t& shape, int factor) {
      return [=](const device& on) { return numbers(shape, type, factor, on); };
    };
    for (const std::int64_t n : {100003, 131072}) {
      const auto of = with({n}, 7), other = with({n}, 11);
      check("five", [&](const device& on) {
        const ndarray x = of(on);
        return x["4:"] + x[":-4"] * x["1:-3"] - x["2:-2"] + x["3:-1"];
      });
      check("unaligned", [&](const device& on) { return of(on)["3:"] + other(on)["3:"]; });
      check("within", [&](const device& on) {
        const ndarray x = of(on);
        ndarray y = other(on);
        y["1:-1"] = x[":-2"] + x["2:"];
        return y;
      });
      check("rolled", [&](const device& on) {
        const ndarray x = of(on);
        return roll(x, 1) + roll(x, -1) * x + roll(x, 1000);
      });
      check("every third", [&](const device& on) {
        const ndarray x = of(on);
        return x["::3"] * 2 + x["::3"];
      });
    }
    check("five points", [&](const device& on) {
      const ndarray x = with({300, 1032}, 3)(on);
      ndarray y = with({300, 1032}, 5)(on);
      y["1:-1, 1:-1"] = x["1:-1, 1:-1"] * 2 + x[":-2, 1:-1"] + x["2:, 1:-1"] + x["1:-1, :-2"] + x["1:-1, 2:"];
      return y;
    });
    check("seven points, rolled", [&](const device& on) {
      const ndarray x = with({40, 50, 256}, 3)(on);
      return roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1) + roll(x, 1, 2) + roll(x, -1, 2);
    });
    check("channels", [&](const device& on) {
      const ndarray x = with({50000, 3}, 3)(on);
      return x(_, 0) + x(_, 1) * x(_, 2);
    });
    check("between each other", [&](const device& on) {
      const ndarray q = with({50000, 4}, 3)(on);
      return stack({q(_, 0) + q(_, 3), q(_, 1) * 2, q(_, 2) - q(_, 0), q(_, 3) + 1}, 1);
    });
    check("values of rows", [&](const device& on) {
      const ndarray x = with({300, 1024}, 3)(on), row = with({300, 1}, 5)(on), column = with({1024}, 7)(on);
      return (x - row) * column + row;
    });
  }
}

TEST_CASE("gpu: rolls by equal distances, and then the same rolls by others, have the bits of the CPU") {
  if (gpu_test::no_gpu() || gpu_test::no_nvrtc()) return;
  // A plan that recurs has its kernel, and other distances. Small arrays are read without runs.
  for (const shape_t& shape : {shape_t{40, 50}, shape_t{60, 1}, shape_t{300, 301}}) {
    CAPTURE(shape[0]);
    for (const int axis : {0, 1})
      for (const auto& [a, b] : {std::pair{3, 3}, {3, 3}, {3, 7}, {7, 3}, {0, 5}, {5, 0}, {4, 4}, {-4, 4}})
        check("rolls by " + std::to_string(a) + " and " + std::to_string(b), [&, a = a, b = b](const device& on) {
          const ndarray x = numbers(shape, float32, 7, on), y = numbers(shape, float32, 11, on);
          return roll(x, a, axis) + 2 * roll(y, b, axis);
        });
  }
}

TEST_CASE("gpu: short rows beside what repeats, and products of few terms, have the bits of the CPU") {
  if (gpu_test::no_gpu() || gpu_test::no_nvrtc()) return;
  for (const dtype type : {uint8, float16, float32, float64, complex64}) {
    CAPTURE(type);
    for (const shape_t& shape : {shape_t{50001, 3}, shape_t{8, 10000, 3}, shape_t{333, 335}, shape_t{4, 96, 1001}})
      check("flat", [&](const device& on) {
        const ndarray x = numbers(shape, type, 7, on), c = numbers({shape[shape.size() - 1]}, type, 5, on);
        return (x - c) * x(_, slice(_, 1)) + c;
      });
    check("bytes within", [&](const device& on) {
      const ndarray x = numbers({300, 1024}, type, 3, on);
      return x[":-2, :-2"] + x["2:, 2:"] + x["1:-1, 1:-1"];
    });
  }
  for (const dtype type : {float32, float64})
    for (const std::int64_t terms : {1, 2, 3, 4, 6, 8})
      for (const std::int64_t columns : {2, 3, 4})
        check("a product of few terms", [&](const device& on) {
          return matmul(numbers({5003, terms}, type, 7, on), numbers({terms, columns}, type, 3, on)) +
                 matmul(numbers({5003, terms, 1}, type, 7, on).reshape({5003, 1, terms}),
                        numbers({5003, terms, columns}, type, 3, on))(_, 0);
        });
}

TEST_CASE("gpu: reductions in runs, and of few elements, have the bits of the CPU") {
  if (gpu_test::no_gpu() || gpu_test::no_nvrtc()) return;
  for (const dtype type : {int32, float32, float64}) {
    CAPTURE(type);
    for (const std::int64_t n : {100003, 131072}) {
      check("a product of neighbours", [&](const device& on) {
        const ndarray x = numbers({n}, type, 7, on);
        return sum(x["1:"] * x[":-1"] + x["1:"]);
      });
      check("differences of rows", [&](const device& on) {
        const ndarray x = numbers({40, n / 16 * 16 / 8}, type, 7, on);
        return sum(square(x[":, 1:"] - x[":, :-1"]), {.axis = 1});
      });
      check("a mean of channels", [&](const device& on) {
        const ndarray x = numbers({n, 3}, type, 7, on);
        return sum(x(_, 0) * 3 + x(_, 1) * 6 + x(_, 2));
      });
    }
    for (const std::int64_t few : {2, 3, 4, 5})
      check("few", [&](const device& on) {
        const ndarray x = numbers({30011, few}, type, 7, on);
        return sum(x * x, {.axis = 1}) + max(x, {.axis = 1}) - min(x, {.axis = 1});
      });
  }
}

#endif
