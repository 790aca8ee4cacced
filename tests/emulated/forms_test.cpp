// The CUDA kernels of saxpy, relative_difference and diffusion, run thread by thread on the CPU.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/blocks.hpp"
#include "diffusion/check.hpp"
#include "diffusion/field.hpp"
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/forms.hpp"
#include "relative_difference/forms.hpp"
#include "saxpy/forms.hpp"

namespace {

using cuda_emulator::launch;

bool no_emulation() {
  if (cuda_emulator::available()) return false;
  MESSAGE("left out: the sanitizer does not follow changes of stack");
  return true;
}

unsigned blocks_of(std::int64_t size, std::int64_t count) {
  return static_cast<unsigned>(examples::blocks_of(size, count));
}

/// Elements with room after them that must not change, at addresses like those of new arrays.
struct vector {
  explicit vector(std::size_t n) : memory(n / 4 + 2, float4{-7, -7, -7, -7}), size(n) {}
  explicit vector(const std::vector<float>& from) : vector(from.size()) { std::copy(from.begin(), from.end(), data()); }
  float* data() { return reinterpret_cast<float*>(memory.data()); }
  std::vector<float> elements() {
    CHECK(data()[size] == -7);
    return std::vector<float>(data(), data() + size);
  }
  std::vector<float4> memory;
  std::size_t size;
};

std::vector<float> with_gaps(const std::vector<float>& x) {
  std::vector<float> wide;
  for (const float v : x) wide.insert(wide.end(), {v, -1e30f});
  return wide;
}

/// Runs `kernel` on 64 threads a block for the result z of every size, and compares it with the loop's.
template <class Kernel>
void check(const examples::computation& c, int elements_per_thread, Kernel&& kernel) {
  for (const std::size_t n : {1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 1000}) {
    const auto x = examples::random_numbers(n, 1), y = examples::random_numbers(n, 2);
    vector from_x(x), from_y(y), to(n);
    const auto wide_x = with_gaps(x), wide_y = with_gaps(y);
    const auto size = static_cast<long long>(n);
    CAPTURE(n);
    CHECK(launch({blocks_of(64 * elements_per_thread, size)}, {64}, [&] {
            kernel(from_x.data(), from_y.data(), wide_x.data(), wide_y.data(), to.data(), size);
          }) == std::string());
    CHECK(examples::check(c, c.forms[1], sinter::array(to.elements()), x, y).holds());
  }
}

}  // namespace

TEST_CASE("emulated kernels: saxpy") {
  if (no_emulation()) return;
  const auto& k = emulated::saxpy;
  const auto c = saxpy::all_forms();
  using in = const float*;
  check(c, 1, [&](in x, in y, in, in, float* z, long long n) { k.grid_stride(saxpy::a, x, y, z, n); });
  check(c, 3, [&](in x, in y, in, in, float* z, long long n) { k.grid_stride(saxpy::a, x, y, z, n); });
  check(c, 4, [&](in x, in y, in, in, float* z, long long n) { k.by_four(saxpy::a, x, y, z, n); });
  check(c, 1, [&](in, in, in x, in y, float* z, long long n) { k.strided(saxpy::a, x, 2, y, 2, z, n); });
}

TEST_CASE("emulated kernels: relative difference") {
  if (no_emulation()) return;
  const auto& k = emulated::difference;
  const auto c = relative_difference::all_forms();
  using in = const float*;
  check(c, 1, [&](in x, in y, in, in, float* d, long long n) { k.grid_stride(x, y, d, n); });
  check(c, 3, [&](in x, in y, in, in, float* d, long long n) { k.grid_stride(x, y, d, n); });
  check(c, 4, [&](in x, in y, in, in, float* d, long long n) { k.by_four(x, y, d, n); });
  check(c, 1, [&](in, in, in x, in y, float* d, long long n) { k.strided(x, 2, y, 2, d, n); });
}

TEST_CASE("emulated kernels: diffusion has the bits of the slices, for every remainder of the tiles") {
  if (no_emulation()) return;
  using namespace diffusion;
  const auto same_steps = [](const emulated::diffuse_kernel& k, std::int64_t n, border b) {
    const scheme s{.border = b};
    const ndarray u = random_field(n, 21);
    if (b == border::reflecting) reflect(u);
    auto now = u.to_vector<float>(), next = std::vector<float>(now.size(), 1e30f);
    const unsigned blocks = blocks_of(k.side, n), side = static_cast<unsigned>(k.side);
    for (int step = 0; step < 3; ++step) {
      CHECK(launch({blocks, blocks}, {side, side / static_cast<unsigned>(k.rows)}, [&] {
              k.step(now.data(), next.data(), static_cast<int>(n), static_cast<float>(s.rate), b == border::reflecting);
            }) == std::string());
      std::swap(now, next);
      step_by_slices(u, s);
      CHECK(now == u.to_vector<float>());
    }
  };
  for (const border b : {border::fixed, border::reflecting}) {
    for (std::int64_t n = 3; n <= 34; ++n) {
      CAPTURE(n);
      same_steps(emulated::diffuse_8, n, b);
    }
    for (const std::int64_t n : {3, 32, 33, 34, 65, 97}) {
      CAPTURE(n);
      same_steps(emulated::diffuse_32, n, b);
    }
  }
}
