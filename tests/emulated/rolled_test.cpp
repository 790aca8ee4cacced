// Generated CUDA kernels of repeated steps, run thread by thread on the CPU: lanes that run a loop together must have the bits
// of lanes alone, and of the CPU's loop.
#include <doctest/doctest.h>

#include "emulated/recorded.hpp"

#ifdef SINTER_HAS_CUDA

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "jit/cuda/schedule/choose.hpp"
#include "jit/cuda/units.hpp"
#include "emulated/observing.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

using namespace emulated;

int loops_seen = 0;

/// As emulated::observe, of programs with a loop in every legal schedule and form.
void observe_loops(const jit::launch& recorded) {
  jit::launch plain;
  const jit::launch& l = cuda::lowered(recorded, plain);
  loops_seen += l.code->loop.end != 0;
  const std::vector<bytes> before = outputs_of(l);
  std::vector<bytes> first;
  for (const jit::cuda_variant& v : cuda::legal_schedules(l))
    for (const bool baseline : {false, true}) {
      if (baseline && !jit::cuda_has_baseline(*l.code, v)) continue;
      restore(l, before);
      run_emulated(l, baseline ? jit::cuda_baseline_of(v) : v);
      if (first.empty()) first = outputs_of(l);
      CHECK(outputs_of(l) == first);
    }
  seen->push_back({first, jit::cuda_shape::linear});
}

/// The CPU's elements, and the bytes that the emulated kernels leave, one of which has a loop.
template <class T>
std::pair<std::vector<T>, bytes> run_loop(const ndarray& x) {
  std::vector<seen_launch> launches;
  seen = &launches;
  loops_seen = 0;
  std::vector<T> expected;
  {
    const emulated::observing each(observe_loops);
    expected = x.to_vector<T>();
  }
  seen = nullptr;
  CHECK(loops_seen > 0);
  REQUIRE_FALSE(launches.empty());
  return {std::move(expected), launches.back().emulated.back()};
}

/// Whether all kernels of x have the CPU's bytes, and one of them has a loop.
template <class T>
void check_loop(const ndarray& x) {
  const auto [expected, raw] = run_loop<T>(x);
  REQUIRE(raw.size() == expected.size() * sizeof(T));
  CHECK(std::memcmp(raw.data(), expected.data(), raw.size()) == 0);
}

/// Integers from -20 to 20 over `part`.
ndarray pattern(const shape_t& shape, dtype type, double part = 16) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  const ndarray x = (arange(n) * 7919 % 41 - 20) / part;
  ndarray y = reshape(x.astype(type), shape).to_device("cpu");
  eval(y);
  return y;
}

ndarray mandelbrot(const ndarray& a, const ndarray& b, int steps) {
  ndarray x = 0 * a, y = 0 * a, t = 0 * a;
  for (int k = 0; k < steps; ++k) {
    const ndarray next = x * x - y * y + a;
    y = 2 * x * y + b;
    x = next;
    t = t + (x * x + y * y <= 4);
  }
  return t;
}

}  // namespace

TEST_CASE("emulated: lanes that run a loop together have the bits of the CPU") {
  if (no_emulation()) return;
  // Whole blocks of vectors and a rest; fewer elements than a vector; few runs and many.
  for (const std::int64_t n : {4099, 1024, 3}) {
    CAPTURE(n);
    const ndarray a = pattern({n}, float32), b = pattern({n}, float32, 31);
    for (const int steps : {7, 50}) check_loop<float>(mandelbrot(a, b, steps));
    check_loop<double>(mandelbrot(a.astype(float64), b.astype(float64), 30));
  }
  const ndarray rows = pattern({37, 1}, float32), columns = pattern({1, 52}, float32, 31),
                odd = pattern({1, 51}, float32, 31);
  eval(rows, columns, odd);
  check_loop<float>(mandelbrot(rows + columns * 0, columns + rows * 0, 20));
  check_loop<float>(mandelbrot(rows + odd * 0, odd + rows * 0, 20));
  check_loop<float>(
      mandelbrot(pattern({30, 50}, float32)(_, slice(1, 48)), pattern({30, 50}, float32, 9)(_, slice(2, 49)), 20));
}

TEST_CASE("emulated: lanes of a loop of small elements, of values of earlier steps, and of several results") {
  if (no_emulation()) return;
  // Sixteen lanes of bytes, in parts; wrapping sums.
  const ndarray bytes_of = pattern({5003}, uint8, 1);
  ndarray u = bytes_of, w = bytes_of + 1;
  for (int k = 0; k < 30; ++k) {
    u = (u * 3 + w) ^ bytes_of;
    w = w + (u & 7) - bytes_of;
  }
  check_loop<std::uint8_t>(u + w);
  // Values of two and three steps ago, read by the next one and after the last.
  const ndarray x = pattern({2051}, float32);
  const auto recurrence = [&](int from_last) {
    std::vector<ndarray> f{x, x * 0.5, x - 1};
    for (int k = 0; k < 40; ++k)
      f.push_back(f[f.size() - 1] * 0.5 + f[f.size() - 2] * 0.25 - f[f.size() - 3] * 0.125 + x);
    const std::size_t n = f.size();
    return from_last == 0 ? f[n - 1] : from_last == 1 ? f[n - 2] - x : f[n - 1] * f[n - 2] + f[n - 3];
  };
  for (const int from_last : {0, 1, 2}) {
    CAPTURE(from_last);
    check_loop<float>(recurrence(from_last));
  }
  // Results of the loop and of what is before it, in one kernel.
  const auto approach = [&] {
    const ndarray start = x * 3 + 1;
    ndarray v = start;
    for (int k = 0; k < 60; ++k) v = v * 0.75 + start / 4;
    return v + start;
  };
  check_loop<float>(approach());
}

TEST_CASE("emulated: sines in a loop of lanes together, of small and of huge arguments") {
  if (no_emulation()) return;
  for (const double scale : {1.0, 3e6}) {
    CAPTURE(scale);
    const ndarray start = pattern({3001}, float32) * scale;
    eval(start);
    ndarray x = start, v = start * 0;
    for (int k = 0; k < 20; ++k) {
      v = v - 0.01 * sin(x) + 0.02 * cos(x);
      x = x + 0.01 * v;
    }
    // The CPU's sine is another one: all forms of the kernel have the same bits, near the CPU's.
    const auto [expected, raw] = run_loop<float>(x);
    std::vector<float> got(expected.size());
    REQUIRE(raw.size() == got.size() * sizeof(float));
    std::memcpy(got.data(), raw.data(), raw.size());
    for (std::size_t k = 0; k < got.size(); ++k)
      CHECK(std::abs(got[k] - expected[k]) <= 1e-5 * (1 + std::abs(expected[k])));
  }
}

#endif
