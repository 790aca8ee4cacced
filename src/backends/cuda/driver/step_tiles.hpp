// What a GPU copies between two steps of a loop, and how far the loop has come. Plain C++17.
#pragma once
#include <cstdint>

namespace sinter::gpu {

/// What one block copies. In memory of the device.
struct step_tile {
  char* to;
  const char* from;
  std::int64_t to_stride, from_stride;  // bytes that the places move on with each step
  std::uint32_t bytes;
  std::uint16_t unit;      // 1, 2, 4, 8 or 16 bytes, of which all of the above are multiples
  std::uint16_t is_taken;  // by the next step: not after the last one
};

/// How far a loop has come. In memory of the device.
struct step_state {
  std::int64_t step, steps;  // steps: -1 for as long as *again is true
  std::int64_t* number;      // null: nobody counts
  const bool* again;
  unsigned finished;  // blocks of the running kernel
  bool goes_on;       // whether there is another step; what comes after the last one copies nothing
};

}  // namespace sinter::gpu
