// The CUDA kernels that sum weights by bin, run thread by thread on the CPU: the order of the additions, written out.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/bin_sum.hpp"

namespace {

using emulated::bin_sums;
using std::int64_t;

struct inputs {
  std::vector<int64_t> bins;
  std::vector<double> weights;
};

/// `spread`: how many different bins; some are out of range.
inputs make(int64_t n, int64_t bin_count, int64_t spread) {
  std::mt19937_64 random(static_cast<unsigned>(n + bin_count));
  inputs in;
  for (int64_t k = 0; k < n; ++k) {
    const auto draw = static_cast<int64_t>(random() >> 2);
    in.bins.push_back(draw % 50 == 0 ? (draw % 100 == 0 ? -1 - draw % 7 : bin_count + draw % 9) : draw % spread);
    in.weights.push_back(std::ldexp(static_cast<double>(random() >> 11) - 0x1p52, static_cast<int>(draw % 90) - 90));
  }
  return in;
}

/// Parts in order, their sums by block, every sixteenth block, and these.
std::vector<double> expected(const inputs& in, int64_t bin_count) {
  const auto n = static_cast<int64_t>(in.bins.size());
  int64_t blocks = 0, per_warp = 0;
  int warps = 0;
  bin_sums.parts(n, bin_count, blocks, per_warp, warps);
  CHECK(blocks * warps * per_warp >= n);
  const auto width = static_cast<std::size_t>(bin_count);
  std::vector<double> sums(width);
  std::vector<std::vector<double>> of_part(16, std::vector<double>(width));
  for (int64_t b = 0; b < blocks; ++b) {
    std::vector<double> of_block(width);
    for (int w = 0; w < warps; ++w) {
      std::vector<double> own(width);
      const int64_t begin = (b * warps + w) * per_warp;
      for (int64_t k = begin; k < std::min(begin + per_warp, n); ++k) {
        const int64_t bin = in.bins[static_cast<std::size_t>(k)];
        if (bin >= 0 && bin < bin_count) own[static_cast<std::size_t>(bin)] += in.weights[static_cast<std::size_t>(k)];
      }
      for (std::size_t i = 0; i < width; ++i) of_block[i] = w == 0 ? own[i] : of_block[i] + own[i];
    }
    for (std::size_t i = 0; i < width; ++i) of_part[static_cast<std::size_t>(b % 16)][i] += of_block[i];
  }
  for (std::size_t i = 0; i < width; ++i) {
    sums[i] = of_part[0][i];
    for (std::size_t k = 1; k < 16; ++k) sums[i] += of_part[k][i];
  }
  return sums;
}

void check(int64_t n, int64_t bin_count, int64_t spread) {
  CAPTURE(n);
  CAPTURE(bin_count);
  CAPTURE(spread);
  const inputs in = make(n, bin_count, spread);
  int64_t blocks = 0, per_warp = 0;
  int warps = 0;
  bin_sums.parts(n, bin_count, blocks, per_warp, warps);
  std::vector<double> tables(static_cast<std::size_t>(blocks * bin_count), -1),
      sums(static_cast<std::size_t>(bin_count) + 1, -7);
  CHECK(cuda_emulator::launch({static_cast<unsigned>(blocks)}, {static_cast<unsigned>(32 * warps)}, [&] {
          bin_sums.sum_parts(in.bins.data(), in.weights.data(), n, bin_count, tables.data());
        }) == std::string());
  const auto groups = static_cast<unsigned>((bin_count + bin_sums.bins_of_block - 1) / bin_sums.bins_of_block);
  CHECK(cuda_emulator::launch({groups}, {static_cast<unsigned>(bin_sums.threads_of_block)}, [&] {
          bin_sums.sum_tables(tables.data(), blocks, bin_count, sums.data());
        }) == std::string());
  CHECK(sums.back() == -7);
  sums.pop_back();
  CHECK(sums == expected(in, bin_count));
}

}  // namespace

TEST_CASE("emulated kernels: sums of weights by bin have one order") {
  if (!cuda_emulator::available()) {
    MESSAGE("left out: the sanitizer does not follow changes of stack");
    return;
  }
  for (const int64_t n : {1, 31, 129, 5000, 40001})
    for (const int64_t bin_count : {1, 10, 33, 1000}) {
      check(n, bin_count, bin_count);
      check(n, bin_count, 1);
    }
  check(20000, 8192, 8192);
  check(70000, 2048, 3);
}
