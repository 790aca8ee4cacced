#include "backends/cuda/driver/step_copies.hpp"

#include <cuda_runtime.h>

#include "backends/cuda/driver/step_copies_kernel.cuh"

namespace sinter::cuda {

cudaError_t add_step_copies(cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t after_count, step_state* state,
                            const step_tile* tiles, std::size_t count, bool ends_step, cudaGraphNode_t* node) {
  unsigned tile_count = static_cast<unsigned>(count);
  void* arguments[] = {&state, &tiles, &tile_count, &ends_step};
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void*>(device::copy_tiles);
  p.gridDim = dim3(tile_count ? tile_count : 1);
  p.blockDim = dim3(device::step_threads);
  p.kernelParams = arguments;
  return cudaGraphAddKernelNode(node, graph, after, after_count, &p);
}

}  // namespace sinter::cuda
