// Floating-point reductions on the GPU: their bits depend on the shape alone, not on layout, fusion or the run.
#ifdef SINTER_HAS_CUDA

#include <complex>
#include <string>
#include <vector>

#include "gpu/gpu.hpp"
#include "runtime/backend.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

struct reduced_shape {
  std::string what;
  std::vector<std::int64_t> shape;
  axes axis;
  bool central = false;  // also tested where each shape costs much
};
/// Shapes that reach every way of dealing a reduction to threads.
const reduced_shape shapes[] = {
    {"short rows", {20000, 7}, 1},
    {"rows, a warp each", {5000, 333}, 1, true},
    {"rows, a block each", {1500, 4100}, 1},
    {"long rows in two stages", {3, 700001}, 1, true},
    {"everything in two stages", {3000001}, axes{}, true},
    {"columns", {2000, 1024}, 0, true},
    {"odd columns", {777, 1003}, 0},
    {"few columns", {60000, 5}, 0},
    {"long columns in two stages", {60001, 256}, 0, true},
    {"outer and inner axis", {64, 65, 130}, axes{0, 2}, true},
    {"outer axes", {64, 65, 130}, axes{0, 1}},
    {"inner axes", {64, 65, 130}, axes{1, 2}},
    {"middle axis", {64, 300, 130}, 1},
};

/// The bits of all elements (NaN whatever its payload), so that one type serves all dtypes.
std::vector<std::uint64_t> bits(const ndarray& x) {
  std::vector<std::uint64_t> out;
  for (const ndarray& part : {real(x), imag(x)})
    for (double v : part.to_vector<double>()) out.push_back(v == v ? gpu_test::bits_of(v) : ~std::uint64_t{0});
  return out;
}

/// Sum, product, mean and variance, as one kernel where that is possible; their bits one after the other.
std::vector<std::uint64_t> reduce(const ndarray& x, const axes& axis) {
  const ndarray results[] = {sum(x, axis), prod(x, axis), mean(x, axis), var(x, axis)};
  eval(results[0], results[1], results[2], results[3]);
  std::vector<std::uint64_t> out;
  for (const ndarray& r : results)
    for (std::uint64_t b : bits(r)) out.push_back(b);
  return out;
}

/// Values near 1, so that products neither vanish nor overflow, a third of them negative, so that sums cancel.
ndarray data(const reduced_shape& s, dtype t, int seed) {
  std::int64_t count = 1;
  for (std::int64_t n : s.shape) count *= n;
  const ndarray k = arange(count);
  const ndarray even = 0.999 + 0.002 * remainder(static_cast<double>(seed) * 0.37 + k * 0.6180339887498949, 1.0);
  const ndarray a = reshape(where(k % 3 == 0, -even, even), s.shape);
  const ndarray x = is_complex(t) ? ((1.0 + std::complex<double>(0, 1e-4)) * a).astype(t) : a.astype(t);
  eval(x);
  return x;
}

/// The same elements, axes reversed in memory.
ndarray reversed_layout(const ndarray& x) {
  const ndarray other = x.T().copy();
  eval(other);
  return other.T();
}
/// The same elements, each row starting at an address that no vector is aligned to.
ndarray shifted_layout(const ndarray& x) {
  const shape_t shape = x.shape();
  std::vector<std::int64_t> wider(shape.begin(), shape.end());
  wider.back() += 3;
  const ndarray room = zeros(wider, {.dtype = x.dtype()}).copy();
  room(ellipsis, slice(1, -2)) = x;
  eval(room);
  return room(ellipsis, slice(1, -2));
}
/// The same elements, every second one of a wider array.
ndarray spaced_layout(const ndarray& x) {
  const shape_t shape = x.shape();
  std::vector<std::int64_t> wider(shape.begin(), shape.end());
  wider.back() *= 2;
  const ndarray room = zeros(wider, {.dtype = x.dtype()}).copy();
  room(ellipsis, slice(_, _, 2)) = x;
  eval(room);
  return room(ellipsis, slice(_, _, 2));
}

}  // namespace

TEST_CASE("gpu: a reduction of floats has the same bits in every layout and in every run") {
  if (gpu_test::no_gpu()) return;
  for (dtype t : {float32, float64, float16, complex64})
    for (const reduced_shape& s : shapes) {
      if (t != float32 && !s.central) continue;
      const ndarray x = data(s, t, 1);
      const ndarray layouts[] = {x, reversed_layout(x), shifted_layout(x), spaced_layout(x)};
      const std::string type(sinter::name(t));
      CAPTURE(type);
      CAPTURE(s.what);
      const auto expected = reduce(x, s.axis);
      for (int k = 0; k < 4; ++k) {
        CAPTURE(k);
        CHECK(gpu_test::first_difference(reduce(layouts[k], s.axis), expected) == -1);
      }
    }
}

TEST_CASE("gpu: a fused reduction has the bits of the same operations one by one") {
  if (gpu_test::no_gpu()) return;
  for (dtype t : {float32, float64, bfloat16})
    for (const reduced_shape& s : shapes) {
      if (t != float32 && !s.central) continue;
      const ndarray x = data(s, t, 2), y = data(s, t, 3);
      const std::string type(sinter::name(t));
      CAPTURE(type);
      CAPTURE(s.what);
      auto program = [&] { return reduce(sqrt(x * x) * y + 0.001 * sin(y), s.axis); };
      const auto fused = program();
      const gpu_test::unfused guard;
      CHECK(gpu_test::first_difference(program(), fused) == -1);
    }
}

TEST_CASE("gpu: elementwise kernels have the bits of the same operations one by one, in every layout") {
  if (gpu_test::no_gpu()) return;
  for (dtype t : {float32, float64, float16, bfloat16}) {
    const double far = t == float16 ? 60000 : 200000;  // float32: half of them beyond the quick sine
    const ndarray x = data({"", {301, 203}, 0}, t, 4);
    const ndarray y = reshape(array(gpu_test::uniform<double>(301 * 203, -far, far, 5), {.dtype = t}), {301, 203});
    auto program = [](const ndarray& a, const ndarray& b) {
      return sin(b) * cos(b) + square(sin(a)) / (exp(a) + 2) - hypot(a, b) * 1e-6 + absolute(cos(b * 0.001));
    };
    const std::string type(sinter::name(t));
    CAPTURE(type);
    const auto expected = bits(program(x, y));
    CHECK(gpu_test::first_difference(bits(program(reversed_layout(x), y)), expected) == -1);
    CHECK(gpu_test::first_difference(bits(program(reversed_layout(x), reversed_layout(y))), expected) == -1);
    CHECK(gpu_test::first_difference(bits(program(shifted_layout(x), spaced_layout(y))), expected) == -1);
    const gpu_test::unfused guard;
    CHECK(gpu_test::first_difference(bits(program(x, y)), expected) == -1);
  }
}

TEST_CASE(
    "gpu: rows that are masked by their positions stay on chip, with the bits of the same operations one by one") {
  if (gpu_test::no_gpu()) return;
  const reduce_kw rows{.axis = -1, .keepdims = true};
  for (const auto& size :
       {std::pair<std::int64_t, std::int64_t>{3000, 3000}, {1500, 4099}, {70000, 37}, {40000, 300}}) {
    const std::int64_t n = size.first, m = size.second;
    CAPTURE(n);
    CAPTURE(m);
    const ndarray x = data({"", {n, m}, 1}, float32, 7), i = arange(n), j = arange(m);
    const auto softmax = [&] {
      const ndarray y = where(i(_, newaxis) >= j, x, -1e30f), e = exp(y - max(y, rows));
      return e / sum(e, rows) + i(_, newaxis).astype(float32);
    };
    const auto launches = [] { return runtime::get_backend(runtime::default_device()).statistics().launches; };
    const auto before = launches();
    const ndarray joined = softmax();
    eval(joined);
    CHECK(launches() - before == 1);
    const auto fused = bits(joined);
    const gpu_test::unfused guard;
    CHECK(gpu_test::first_difference(bits(softmax()), fused) == -1);
  }
  // Over rows of two axes.
  const ndarray x = data({"", {400, 60, 50}, 1}, float32, 8), k = arange(50);
  const auto program = [&] {
    const ndarray y = where(k < arange(60)(_, newaxis), x, x * 0.5f);
    return y - mean(y, axes{1, 2}, {.keepdims = true}) + k.astype(float32);
  };
  const auto fused = bits(program());
  const gpu_test::unfused guard;
  CHECK(gpu_test::first_difference(bits(program()), fused) == -1);
}

TEST_CASE("gpu: shifts by any number have the host's bits, for every width") {
  if (gpu_test::no_gpu()) return;
  for (const dtype t : {int8, int16, int32, int64, uint8, uint16, uint32, uint64}) {
    const std::string type(sinter::name(t));
    CAPTURE(type);
    const ndarray x = ((arange(300, {.dtype = int64, .device = cpu}) - 150) * 7919 * 104729).astype(t)(_, newaxis);
    const ndarray by = (arange(200, {.dtype = int64, .device = cpu}) - 60).astype(t);
    eval(x, by);
    const ndarray there = x.to_device("cuda:0"), by_there = by.to_device("cuda:0");
    CHECK(array_equal(left_shift(there, by_there).to_device("cpu"), left_shift(x, by)));
    CHECK(array_equal(right_shift(there, by_there).to_device("cpu"), right_shift(x, by)));
    CHECK(array_equal((there << 3).to_device("cpu"), x << 3));
    CHECK(array_equal((there >> 70).to_device("cpu"), x >> 70));
  }
}

TEST_CASE("gpu: extremes over pairs have the bits of the same operations one by one") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = data({"", {5000, 3}, 1}, float32, 9), y = data({"", {4100, 3}, 1}, float32, 10);
  const auto program = [&] {
    const ndarray d = sum(absolute(x(_, newaxis) - y), 2);
    return min(d, 1) + argmin(d, 1).astype(float32);
  };
  const auto fused = bits(program());
  const gpu_test::unfused guard;
  CHECK(gpu_test::first_difference(bits(program()), fused) == -1);
}

TEST_CASE("gpu: reshapes of what is computed have the bits of the same operations one by one") {
  if (gpu_test::no_gpu()) return;
  const ndarray x = data({"", {32, 64, 300}, 1}, float32, 11), g = data({"", {64, 1}, 1}, float32, 12);
  const auto program = [&] {
    const ndarray r = reshape(x, {32, 8, -1}), d = r - mean(r, 2, {.keepdims = true});
    return repeat(repeat(reshape(d / sqrt(mean(d * d, 2, {.keepdims = true}) + 1e-5f), {32, 64, 300}) * g, 2, 1), 3, 2);
  };
  const auto fused = bits(program());
  const gpu_test::unfused guard;
  CHECK(gpu_test::first_difference(bits(program()), fused) == -1);
}

TEST_CASE("gpu: several reductions in one kernel have the bits of each alone") {
  if (gpu_test::no_gpu()) return;
  for (const reduced_shape& s : shapes) {
    CAPTURE(s.what);
    const ndarray x = data(s, float32, 6);
    const auto alone_sum = bits(sum(x * 2, s.axis)), alone_var = bits(var(x * 2, s.axis));
    const ndarray twice = x * 2, total = sum(twice, s.axis), spread = var(twice, s.axis), top = max(twice, s.axis);
    eval(total, spread, top);
    CHECK(gpu_test::first_difference(bits(total), alone_sum) == -1);
    CHECK(gpu_test::first_difference(bits(spread), alone_var) == -1);
  }
}

TEST_CASE("gpu: sums, means and variances of float32 are close to those in float64") {
  if (gpu_test::no_gpu()) return;
  for (const reduced_shape& s : shapes) {
    if (!s.central) continue;
    CAPTURE(s.what);
    const ndarray x = data(s, float32, 7), wide = x.astype(float64);
    // Relative to the sum of magnitudes: what any order of summation is measured against.
    const ndarray magnitude = sum(absolute(wide), s.axis);
    CHECK(max(absolute(sum(x, s.axis).astype(float64) - sum(wide, s.axis)) / magnitude).item<double>() < 2e-6);
    CHECK(max(absolute(mean(x, s.axis).astype(float64) - mean(wide, s.axis))).item<double>() < 2e-6);
    const ndarray spread = var(wide, s.axis);
    CHECK(max(absolute(var(x, s.axis).astype(float64) - spread) / spread).item<double>() < 1e-5);
    const ndarray near = x * 1e-3 + 1000.0;  // a mean that dwarfs the deviations
    const ndarray far_spread = var(near.astype(float64), s.axis);
    CHECK(max(absolute(var(near, s.axis).astype(float64) - far_spread)).item<double>() < 1e-7);
  }
}

TEST_CASE("gpu: steps in a loop of one kernel have the bits of steps that are launched one by one") {
  if (gpu_test::no_gpu()) return;
  const ndarray line = array(gpu_test::uniform<float>(3001, -1, 1, 31)),
                square = reshape(line(slice(0, 3000)), {50, 60});
  for (const ndarray& start : std::vector<ndarray>{line, line(slice(1, _, 2)), square.T()}) {
    const auto run = [&](bool at_once) {
      ndarray x = start * 1, y = start * 0.5, count = 0 * start;
      for (int k = 0; k < 23; ++k) {
        const ndarray next = x * x - y * y + start;
        y = 2 * x * y + 0.25;
        x = next;
        count = count + (x * x + y * y <= 4);
        if (at_once) eval(x, y, count);
      }
      eval(x, y, count);
      return std::vector{bits(x), bits(y), bits(count)};
    };
    CHECK(run(false) == run(true));
  }
}

#endif
