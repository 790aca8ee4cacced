// Captured work that is launched again and again over other elements: small kernels keep what has been worked out for them
// on the CPU, but no elements.
#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "ops/vmap/beside_loop.hpp"
#include "sinter/graph.hpp"

using namespace vmap_test;
using namespace sinter::idx;

namespace {

using step_function = std::function<ndarray(const ndarray&)>;

/// On a GPU each case is a kernel that must be compiled, and a launch does what every launch does.
bool on_host() { return zeros(1).device() == device("cpu"); }
template <class T>
std::vector<T> some(std::vector<T> all) {
  if (!on_host()) all.resize(1);
  return all;
}

/// Launches of one capture beside evaluations, over elements that change.
void check_launches(const step_function& f, const shape_t& shape, dtype type, bool tiers = false) {
  CAPTURE(to_string(shape));
  CAPTURE(static_cast<int>(type));
  ndarray x = numbers(shape, type, 100);
  ndarray y = f(x).copy();
  const launch_graph g = capture([&] { y() = f(x); });
  const auto before = cpu::get_tier();
  for (int run = 0; run < (tiers ? 12 : 5); ++run) {  // what is hot is compiled after eight launches
    CAPTURE(run);
    if (tiers && run == 3) cpu::set_tier(cpu::tier::compiled);
    x() = numbers(shape, type, run);
    g.launch();
    CHECK(same_bits(y, f(x.copy())));
  }
  cpu::set_tier(before);
}

}  // namespace

TEST_CASE("repeated launches: elementwise kernels of few and of many elements") {
  const std::vector<step_function> all{
      [](const ndarray& x) { return x * 2 + x; },
      [](const ndarray& x) { return x; },
      [](const ndarray& x) { return where(x > 1, x, -x); },
      [](const ndarray& x) { return x + arange(x.shape(-1)); },
      [](const ndarray& x) { return x(ellipsis, slice(_, _, -1)) - x; },
      [](const ndarray& x) { return (x > 0).astype(float32) * 3; },
  };
  for (const step_function& f : all)
    for (const dtype t : some<dtype>({float64, float32, float16, bfloat16, int32, int8}))
      for (const std::int64_t n : some<std::int64_t>({7, 1, 16, 100, 128, 129, 300})) check_launches(f, {n}, t);
  check_launches(all[0], {5}, complex64);
  check_launches(all[4], {16}, complex128);
}

TEST_CASE("repeated launches: operands that are broadcast, transposed and wrapped") {
  for (const dtype t : some<dtype>({float64, float16, int16})) {
    check_launches([](const ndarray& x) { return x(_, newaxis) * x; }, {9}, t);
    check_launches([](const ndarray& x) { return x(_, slice(0, 1)) + x(slice(0, 1)); }, {8, 12}, t);
    check_launches([](const ndarray& x) { return x.T() + x; }, {10, 10}, t);
    check_launches([](const ndarray& x) { return x.T() + x; }, {40, 40}, t);
    check_launches([](const ndarray& x) { return roll(x, 3) - x; }, {50}, t);
    check_launches([](const ndarray& x) { return x + x(0); }, {33}, t);
    check_launches([](const ndarray& x) { return x(0) * x(1) + x(2); }, {3}, t);
    check_launches(
        [](const ndarray& x) {
          ndarray y = zeros({20}, {.dtype = x.dtype()});
          y(slice(1, 20, 2)) = x * x;
          y(slice(0, 10)) = x;
          return y;
        },
        {10}, t);
    check_launches(
        [](const ndarray& x) {
          return concatenate(std::vector<ndarray>{x, x * 2, x(slice(0, 3))});
        },
        {10}, t);
  }
}

TEST_CASE("repeated launches: reductions") {
  for (const dtype t : some<dtype>({float64, float32, float16, int32})) {
    for (const shape_t& s : some<shape_t>({{3, 5}, {1, 1}, {1, 100}, {16, 8}, {100, 1}, {30, 70}})) {
      check_launches([](const ndarray& x) { return sum(x, 0); }, s, t);
      check_launches([](const ndarray& x) { return sum(x * x, 1) + 1; }, s, t);
      check_launches([](const ndarray& x) { return max(x, 0) - min(x); }, s, t);
      check_launches([](const ndarray& x) { return argmax(x, 1); }, s, t);
      check_launches([](const ndarray& x) { return sum(x.T() + x(0, 0), 0); }, s, t);
      check_launches([](const ndarray& x) { return x / (absolute(sum(x)) + 1); }, s, t);
    }
  }
}

TEST_CASE("repeated launches: code that is compiled between two launches") {
  for (const std::int64_t n : {1, 16, 50, 300, 3000}) {
    check_launches([](const ndarray& x) { return sin(x) * 0.125 + square(x); }, {n}, float64, true);
    check_launches([](const ndarray& x) { return x(0) - x * 5; }, {n}, float32, true);
    check_launches([](const ndarray& x) { return sum(x * 0.3) + x; }, {n}, float64, true);
  }
}

TEST_CASE("repeated launches: several blocks, each with memory of its own") {
  const std::vector<step_function> all{
      [](const ndarray& x) { return pad(x(slice(1, -1), slice(1, -1)) * 2.0, 1) + x; },
      [](const ndarray& x) { return x + x(0) * x(_, slice(0, 1)); },
      [](const ndarray& x) { return roll(x, 3, 1) - x(slice(_, _, -1)) + arange(x.shape(1)); },
      [](const ndarray& x) { return where(x > 1, x, exp(-x) + x(1, 1)); },
      [](const ndarray& x) { return ndarray(x.T()) * 2; },
      [](const ndarray& x) { return sum(pad(x, 2), 1) + max(x); },
  };
  for (const step_function& f : all)
    for (const shape_t& shape : some<shape_t>({{24, 24}, {17, 31}, {3, 300}, {40, 100}, {2, 2000}, {70, 70}})) {
      check_launches(f, shape, float64);
      check_launches(f, shape, float32, on_host());
      if (on_host()) check_launches(f, shape, float16);
    }
}
