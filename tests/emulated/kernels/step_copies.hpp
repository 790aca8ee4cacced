// The kernel between two steps of a loop as a host function for the emulator.
#pragma once
#include "backends/cuda/driver/step_tiles.hpp"

namespace emulated {

inline constexpr int step_threads = 256;
void copy_tiles(sinter::gpu::step_state* state, const sinter::gpu::step_tile* tiles, unsigned count, bool ends_step);

}  // namespace emulated
