// step_copies_kernel.cuh as a host function.
#include "emulated/kernels/step_copies.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/driver/step_copies_kernel.cuh"

namespace emulated {
namespace device = sinter::cuda::device;

static_assert(device::step_threads == step_threads);

void copy_tiles(sinter::gpu::step_state* state, const sinter::gpu::step_tile* tiles, unsigned count, bool ends_step) {
  device::copy_tiles(state, tiles, count, ends_step);
}

}  // namespace emulated
