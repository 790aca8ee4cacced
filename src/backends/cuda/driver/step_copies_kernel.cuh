// The kernel between two steps of a loop: it copies what the next step takes, and its last block counts the steps.
//
// Only headers of the host compiler are included, so that tests run it without a GPU.
#pragma once
#include <cstdint>

#include "backends/cuda/driver/step_tiles.hpp"

namespace sinter::cuda {

using gpu::step_state;
using gpu::step_tile;

namespace device {

inline constexpr int step_threads = 256;

struct alignas(16) sixteen_bytes {
  std::uint32_t words[4];
};

template <class T>
__device__ __forceinline__ void copy_units(char* to, const char* from, std::uint32_t bytes) {
  for (std::uint32_t k = threadIdx.x; k < bytes / sizeof(T); k += step_threads)
    reinterpret_cast<T*>(to)[k] = reinterpret_cast<const T*>(from)[k];
}

__device__ __forceinline__ void copy_tile(const step_tile& t, std::int64_t step) {
  char* const to = t.to + step * t.to_stride;
  const char* const from = t.from + step * t.from_stride;
  switch (t.unit) {
    case 16: return copy_units<sixteen_bytes>(to, from, t.bytes);
    case 8: return copy_units<std::uint64_t>(to, from, t.bytes);
    case 4: return copy_units<std::uint32_t>(to, from, t.bytes);
    case 2: return copy_units<std::uint16_t>(to, from, t.bytes);
    default: return copy_units<std::uint8_t>(to, from, t.bytes);
  }
}

/// A block for each tile, at least one. `ends_step`: it is the last kernel of its step. (static: the emulator has its own.)
static __global__ void __launch_bounds__(step_threads)
    copy_tiles(step_state* state, const step_tile* tiles, unsigned count, bool ends_step) {
  if (!state->goes_on) return;
  const std::int64_t step = state->step;
  const bool is_last = state->steps < 0 ? !*state->again : step + 1 == state->steps;
  if (blockIdx.x < count && !(tiles[blockIdx.x].is_taken && is_last)) copy_tile(tiles[blockIdx.x], step);
  if (!ends_step) return;
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(&state->finished, 1u) + 1 != gridDim.x) return;
  // All blocks have read the state.
  state->step = step + 1;
  state->goes_on = !is_last;
  if (state->number && !is_last) *state->number = *state->number + 1;
  state->finished = 0;
}

}  // namespace device
}  // namespace sinter::cuda
