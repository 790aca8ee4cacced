// The kernels that merge two sorted runs as host functions for the emulator.
#pragma once
#include <cstdint>

namespace emulated {

inline constexpr int merging_threads = 256, merging_tile = 3840;
void find_splits(const float* from, std::int64_t ones, std::int64_t twos, std::int64_t tiles, std::int64_t* splits);
void merge_tiles(const float* from, std::int64_t ones, std::int64_t twos, std::int64_t tiles,
                 const std::int64_t* splits, float* to);

}  // namespace emulated
