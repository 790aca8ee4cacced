// The kernels of the autotune tests. Without a GPU every configuration of them is still compiled.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sinter/autotune.hpp"

namespace tune_test {

/// BLOCK threads, PER elements a thread. MISTAKE leaves the last element out, BROKEN does not compile.
inline constexpr const char* axpy = R"cu(
#ifdef BROKEN
#error BROKEN is defined
#endif
#ifndef MISTAKE
#define MISTAKE 0
#endif
extern "C" __global__ void axpy(float a, const float* __restrict__ x, float* y, int n) {
  const long long first = blockIdx.x * (long long)(BLOCK * PER) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < PER; ++k) {
    const long long i = first + k * BLOCK;
    if (i < n - MISTAKE) y[i] += a * x[i];
  }
}
)cu";

inline std::vector<sinter::configuration> axpy_space(std::int64_t n) {
  return sinter::cartesian({{"BLOCK", {64, 128, 256, 1024}}, {"PER", {1, 4}}}, [=](const sinter::macros& m) {
    const std::int64_t tile = m.integer("BLOCK") * m.integer("PER");
    return sinter::launch{.grid = (n + tile - 1) / tile, .block = m.integer("BLOCK")};
  });
}

/// One block adds up x, each thread a stride of it, then a tree: rounding depends on BLOCK.
inline constexpr const char* total = R"cu(
extern "C" __global__ void total(const float* x, float* out, int n) {
  __shared__ float part[BLOCK];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += BLOCK) sum += x[i];
  part[threadIdx.x] = sum;
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[0] = part[0];
}
)cu";

inline std::vector<sinter::configuration> total_space() {
  return sinter::cartesian({{"BLOCK", {32, 64, 256, 1024}}}, [](const sinter::macros& m) {
    return sinter::launch{.grid = 1, .block = m.integer("BLOCK")};
  });
}

/// Writes the same values ROUNDS times over: fewer rounds are faster.
inline constexpr const char* rounds = R"cu(
template <class T>
__global__ void rounds(sinter::strided<const T, 2> x, sinter::strided<T, 2> y) {
  const long long j = blockIdx.x * (long long)blockDim.x + threadIdx.x, i = blockIdx.y;
  if (i >= y.shape[0] || j >= y.shape[1]) return;
  for (int r = 0; r < ROUNDS; ++r) *(volatile T*)&y(i, j) = x(i, j) + T(1);
}
)cu";

inline std::vector<sinter::configuration> rounds_space(std::int64_t rows, std::int64_t columns) {
  return sinter::cartesian({{"ROUNDS", {256, 1, 16}}}, [=](const sinter::macros&) {
    return sinter::launch{.grid = {(columns + 127) / 128, rows}, .block = 128};
  });
}

/// "-DBLOCK=64", ...
inline std::vector<std::string> options_of(const sinter::configuration& c) {
  std::vector<std::string> options;
  for (const sinter::macro& m : c.macros) options.push_back("-D" + m.name + "=" + m.value.text());
  return options;
}

}  // namespace tune_test
