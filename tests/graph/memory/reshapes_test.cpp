// What is not stored: reshapes of pending values, whose kernels go over a space with finer axes, and values that are cheap to
// compute for each of the slices that read them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "graph/meter.hpp"
#include "graph/programs/scoped_programs.hpp"
#include "graph/values/limits.hpp"
#include "sinter/sinter.hpp"

namespace sn = sinter;
using namespace sinter;
using namespace sinter::idx;

namespace {

using extents = std::vector<std::int64_t>;

const device host("cpu");

struct restore_limits {
  graph::planner_limits saved = graph::limits();
  ~restore_limits() { graph::limits() = saved; }
};

ndarray numbers(const shape_t& shape, int seed) {
  ndarray x = random::generator(static_cast<std::uint64_t>(seed)).random(shape, {.dtype = float32, .device = host});
  eval(x);
  return x;
}

/// What an expression takes, and whether its bits are those of kernels of one operation each.
template <class F>
test::spent spent_on(F expression) {
  ndarray fused = expression();
  test::spent spent;
  {
    const test::meter counted{runtime::device_id{}};
    eval(fused);
    spent = counted.now();
  }
  const restore_limits restore;
  graph::limits().fuse = false;
  ndarray apart = expression();
  eval(apart);
  graph::limits() = restore.saved;
  CHECK(array_equal(fused, apart, true));
  return spent;
}

}  // namespace

TEST_CASE("a reshape of what is computed over other axes is one kernel") {
  const ndarray x = numbers({6, 32, 40}, 1), g = numbers({32, 1}, 2), rows = numbers({6, 4, 1}, 3);
  // Groups of channels: axes are merged, then split in another place.
  CHECK(spent_on([&] {
          const ndarray flat = reshape(x, {6, 4, 320});
          return reshape((flat - rows) / (rows + 1.0f), {6, 32, 40}) * g + 1.0f;
        }).launches == 1);
  // Back and forth, and a slice of the result.
  CHECK(spent_on([&] {
          return reshape(reshape(x + g, {6 * 32, 40}) * 2.0f, {6, 4, 8, 40}) + numbers({8, 1}, 4);
        }).launches == 1);
  CHECK(spent_on([&] { return reshape(x * g, {3, 64, 40})(slice(1, _), slice(_, _, 2)) + 1.0f; }).launches == 1);
  // A value that is repeated along two axes: what lies between is not stored, unless the runs would be short.
  const ndarray image = numbers({30, 50, 16}, 5);
  const test::spent repeated = spent_on([&] { return repeat(repeat(image, 2, 0), 3, 1); });
  CHECK(repeated.launches == 1);
  CHECK(repeated.peak <= 5 * 6 * 30 * 50 * 16);  // the memory pool rounds up; what lies between would take a third more
  spent_on([&] { return repeat(repeat(image(_, _, 0), 2, 0), 2, 1); });
}

TEST_CASE("reshapes of pending values of any shapes have the elements of evaluated ones") {
  std::mt19937 random(7);
  const extents primes{2, 2, 3, 5, 2, 7};
  const auto grouped = [&] {  // the same elements, over axes that are products of neighbours
    extents shape;
    for (const std::int64_t p : primes)
      if (shape.empty() || random() % 2 != 0) shape.push_back(p);
      else shape.back() *= p;
    return shape;
  };
  const auto any_order = [&] {
    extents order = primes;
    std::shuffle(order.begin(), order.end(), random);
    extents shape;
    for (const std::int64_t p : order)
      if (shape.empty() || random() % 2 != 0) shape.push_back(p);
      else shape.back() *= p;
    return shape;
  };
  for (int k = 0; k < 300; ++k) {
    CAPTURE(k);
    std::vector<extents> shapes;
    for (int j = 0; j < 4; ++j) shapes.push_back(k % 3 == 0 ? any_order() : grouped());
    const ndarray x = numbers(shape_t(shapes[0]), k);
    std::vector<ndarray> others;
    for (const extents& shape : shapes) {
      extents part = shape;
      for (auto& e : part)
        if (random() % 2 != 0) e = 1;
      others.push_back(numbers(shape_t(part), 1000 + k));
    }
    const bool flips = random() % 2 != 0;
    spent_on([&] {
      ndarray y = x + others[0];
      for (std::size_t j = 1; j < shapes.size(); ++j) {
        y = reshape(y, shape_t(shapes[j])) * others[j];
        if (j == 2 && flips) y = flip(y, 0) - 1.0f;
      }
      return y;
    });
  }
}

TEST_CASE("what costs less than to store is computed for each slice that reads it; what costs more is stored") {
  const ndarray x = numbers({100000}, 8) - 0.5f;
  eval(x);
  const std::size_t bytes = 4 * 100000;
  const test::spent changes = spent_on([&] {
    const ndarray s = sign(x);
    return sum(s(slice(1, _)) != s(slice(_, -1)));
  });
  CHECK(changes.launches == 1);
  CHECK(changes.peak < bytes);
  const test::spent costly = spent_on([&] {
    const ndarray s = exp(sin(x) * 3.0f);
    return s(slice(2, _)) + s(slice(1, -1)) + s(slice(_, -2));
  });
  CHECK(costly.launches == 2);
  // Stencils of stencils: each level would multiply the operations.
  const ndarray field = numbers({200, 300}, 9);
  test::spent of[2];
  for (int levels : {8, 16})
    of[levels / 16] = spent_on([&] {
      ndarray u = field;
      for (int k = 0; k < levels; ++k)
        u = 0.25f * (u(slice(2, _), slice(1, -1)) + u(slice(_, -2), slice(1, -1)) + u(slice(1, -1), slice(2, _)) +
                     u(slice(1, -1), slice(_, -2)));
      return u;
    });
  CHECK(of[1].cost <= 2.2 * of[0].cost);
}

TEST_CASE("steps of many operations are rolled as those of few, and what a block has names for is not stored") {
  if (!test::loops::current_backend().host_addressable()) return;  // the meter observes launches on the CPU
  const test::loops::settings_guard restore;
  cpu::set_tier(cpu::tier::interpreted);
  const auto steps = [](int count) {  // of Runge-Kutta: 71 operations on three variables, recorded over 16 names
    const test::meter counted{runtime::device_id{}};
    const test::loops::arrays all = test::loops::butterflies(count, 20000);
    eval(all[0], all[1], all[2]);
    return counted.now();
  };
  const test::spent some = steps(20), more = steps(60);
  constexpr std::size_t array_bytes = 4 * 20000;
  CHECK(some.launches <= 10);  // four of them draw the numbers
  CHECK(more.launches <= 20);
  CHECK(more.peak <= 8 * array_bytes);
  CHECK(more.cost <= 3 * some.cost);
}

TEST_CASE(
    "reductions of blocks have the bits of reductions by rows: sums, extremes with NaN and zeros of both signs, "
    "truths") {
  const ndarray x = numbers({12, 2, 30, 3, 5}, 11) - 0.5f;
  const ndarray odd = where(x > 0.45f, NAN, where(absolute(x) < 0.1f, copysign(0.0f, x), x));
  eval(x, odd);
  for (const ndarray& a : {x, odd, (x * 100.0f).astype(int8), x.astype(float16), x > 0.2f}) {
    const std::string type(sinter::name(a.dtype()));
    CAPTURE(type);
    CHECK(spent_on([&] { return sum(a, axes{1, 3}); }).launches == 1);
    CHECK(explain(max(a, axes{1, 3})).find("[elementwise]") != std::string::npos);
    spent_on([&] { return max(a, axes{1, 3}); });
    spent_on([&] { return min(a, axes{1, 3}).astype(float64) + 1.0; });
    spent_on([&] { return prod(a, axes{1, 3}) * mean(a, axes{1, 3}); });
    spent_on([&] { return any(a > sum(a) * 0, axes{1, 3}); });
  }
  const ndarray most = max(odd, axes{1, 3}), low = min(odd, axes{1, 3});
  // One after the other, as a loop takes them; a greatest zero is +0, a least one -0.
  const std::vector<float> values = transpose(odd, {0, 2, 4, 1, 3}).copy().to_vector<float>(),
                           high = most.to_vector<float>(), least = low.to_vector<float>();
  int wrong = 0;
  for (std::size_t k = 0; k < high.size(); ++k) {
    float a = values[6 * k], b = a;
    for (std::size_t j = 1; j < 6; ++j) {
      const float v = values[6 * k + j];
      if (std::isnan(v) || v > a || (v == a && !std::signbit(v))) a = std::isnan(a) ? a : v;
      if (std::isnan(v) || v < b || (v == b && std::signbit(v))) b = std::isnan(b) ? b : v;
    }
    const auto same = [](float p, float q) {
      return std::isnan(p) ? std::isnan(q) : p == q && std::signbit(p) == std::signbit(q);
    };
    wrong += !same(high[k], a) + !same(least[k], b);
  }
  CHECK(wrong == 0);
}
