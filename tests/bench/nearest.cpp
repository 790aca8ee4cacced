// Times the optimised nearest-neighbour kernels in many configurations on a GPU, for autotuning by hand.
//   sinter_bench_nearest [--sizes M N]... [--config rows block group unroll tile dpx splits]...
// Without --sizes 2^16 x 2^13 and 2^24 x 2^14; without --config a list around the default. For each configuration and
// size one line: milliseconds of the two kernels alone, of a whole search with its preparation when searches follow
// each other, and of one search that is waited for. The indices of all configurations must be the same.
#include <cstring>
#include <string>

#include "bench.hpp"
#include "nearest_neighbor/chord_search.hpp"
#include "nearest_neighbor/places.hpp"

namespace {

using namespace nearest_neighbor;

struct sizes {
  std::int64_t m, n;
};

ndarray points(std::int64_t n, std::uint64_t seed) { return sn::array(random_places(n, seed).radians.data(), {n, 2}); }

std::vector<chord_config> default_configs() {
  std::vector<chord_config> out = {{}};
  for (const int rows : {4, 6, 8, 10, 12, 16})
    for (const int block : {64, 128, 256})
      for (const int unroll : {2, 8}) out.push_back({.rows = rows, .block = block, .unroll = unroll});
  for (const int rows : {4, 8, 12}) {
    out.push_back({.rows = rows, .block = 128, .dpx = false});
    out.push_back({.rows = rows, .block = 128, .unroll = 2, .dpx = false});
    out.push_back({.rows = rows, .block = 128, .tile = 0});
    out.push_back({.rows = rows, .block = 128, .unroll = 1});
    out.push_back({.rows = rows, .block = 128, .unroll = 4});
    for (const int group : {16, 64, 128}) out.push_back({.rows = rows, .block = 128, .group = group, .unroll = 4});
  }
  for (const int tile : {512, 2048}) out.push_back({.tile = tile});
  for (const std::int64_t splits : {4, 6, 8, 16, 24, 33}) out.push_back({.splits = splits});
  return out;
}

/// Blocks that are at work at a time, which the number of parts is chosen for; of an H200 with 132 multiprocessors.
std::int64_t resident_blocks(const chord_config& c, int multiprocessors) {
  return static_cast<std::int64_t>(multiprocessors) * chord_search(c).search_kernel().occupancy(c.block);
}

void time_config(chord_config c, const ndarray& p, const ndarray& q, std::vector<std::int64_t>& wanted) {
  const std::int64_t m = p.shape(0), n = q.shape(0);
  c.resident = resident_blocks(c, 132);
  if (c.resident == 0) return;  // too many registers for a block of that size
  const chord_search search(c);
  const auto points = search.prepare(p, q);
  const double kernels = bench::steady_seconds([&] { search.find(points); });
  const double whole = bench::steady_seconds([&] { search(p, q); });
  std::vector<double> alone;
  for (int k = 0; k < 9; ++k)
    alone.push_back(bench::seconds_of([&] {
      search(p, q);
      sn::synchronize();
    }));
  const auto index = search(p, q).index.to_vector<std::int64_t>();
  if (wanted.empty()) wanted = index;
  const auto attributes = search.search_kernel().attributes();
  std::printf(
      "%9lld %6lld  rows %2d block %3d group %3d unroll %d tile %4d dpx %d splits %3lld regs %3d  kernels %9.4f ms  "
      "whole %9.4f "
      "ms  alone %9.4f ms  %s\n",
      static_cast<long long>(m), static_cast<long long>(n), c.rows, c.block, c.group, c.unroll, c.tile, c.dpx,
      static_cast<long long>(chord_splits(c, m, n)), attributes.registers, 1e3 * kernels, 1e3 * whole,
      1e3 * bench::median(alone), index == wanted ? "same" : "DIFFERENT");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  std::vector<sizes> all;
  std::vector<chord_config> configs;
  for (int k = 1; k < count; ++k) {
    const auto number = [&] { return k + 1 < count ? std::atoll(words[++k]) : 0; };
    if (std::strcmp(words[k], "--sizes") == 0) {
      const auto m = number(), n = number();
      all.push_back({m, n});
    } else if (std::strcmp(words[k], "--config") == 0) {
      chord_config c;
      c.rows = static_cast<int>(number()), c.block = static_cast<int>(number()), c.group = static_cast<int>(number());
      c.unroll = static_cast<int>(number()), c.tile = static_cast<int>(number()), c.dpx = number() != 0,
      c.splits = number();
      configs.push_back(c);
    } else {
      std::fprintf(stderr, "unknown option %s\n", words[k]);
      return 2;
    }
  }
  if (all.empty()) all = {{1 << 16, 1 << 13}, {1 << 24, 1 << 14}};
  if (configs.empty()) configs = default_configs();
  try {
    for (const auto& s : all) {
      const auto p = points(s.m, 1), q = points(s.n, 2);
      std::vector<std::int64_t> wanted;
      for (const auto& c : configs) time_config(c, p, q, wanted);
    }
  } catch (const sn::error& e) {
    std::fprintf(stderr, "sinter_bench_nearest: %s\n", e.what());
    return 1;
  }
}
