// The CUDA kernels that merge sorted runs, run thread by thread on the CPU, against std::merge, which is stable.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/merge.hpp"

namespace {

bool before(float a, float b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

/// values: how many different ones there are.
std::vector<float> sorted_run(std::int64_t n, int values, std::mt19937& random) {
  std::vector<float> run(static_cast<std::size_t>(n));
  for (float& x : run) {
    const int k = static_cast<int>(random() % static_cast<unsigned>(values));
    x = k == 0 ? -0.0f : k == 1 ? 0.0f : k == 2 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(k) - 40;
  }
  std::stable_sort(run.begin(), run.end(), before);
  return run;
}

}  // namespace

TEST_CASE("merged runs: elements in order, equal ones as they follow each other, whatever the lengths") {
  if (!cuda_emulator::available()) {
    MESSAGE("left out: the sanitizer does not follow changes of stack");
    return;
  }
  std::mt19937 random(5);
  const std::int64_t tile = emulated::merging_tile;
  struct lengths {
    std::int64_t ones, twos;
  };
  for (const lengths& l :
       {lengths{1, 1}, {1, 4000}, {3839, 2}, {3000, 840}, {5, tile}, {2 * tile, 2 * tile}, {1234, 9999}})
    for (const int values : {3, 100}) {
      const std::int64_t ones = l.ones, twos = l.twos;
      CAPTURE(ones);
      CAPTURE(twos);
      CAPTURE(values);
      const std::vector<float> one = sorted_run(ones, values, random), two = sorted_run(twos, values, random);
      std::vector<float> from = one, expected, to(static_cast<std::size_t>(ones + twos), -7.0f);
      from.insert(from.end(), two.begin(), two.end());
      std::merge(one.begin(), one.end(), two.begin(), two.end(), std::back_inserter(expected), before);
      const std::int64_t tiles = (ones + twos + tile - 1) / tile;
      std::vector<std::int64_t> splits(static_cast<std::size_t>(tiles) + 1, -1);
      CHECK(cuda_emulator::launch({1}, {32}, [&] {
              emulated::find_splits(from.data(), ones, twos, tiles, splits.data());
            }) == std::string());
      CHECK(splits.back() == ones);
      // Fewer blocks than tiles: they go on to the next ones.
      CHECK(cuda_emulator::launch({2}, {emulated::merging_threads}, [&] {
              emulated::merge_tiles(from.data(), ones, twos, tiles, splits.data(), to.data());
            }) == std::string());
      CHECK(std::memcmp(to.data(), expected.data(), to.size() * sizeof(float)) == 0);
    }
}
