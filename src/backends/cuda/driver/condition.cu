// Linked with the device's part of the CUDA runtime (src/device_code.cmake), which has the function that sets a condition.
#include "backends/cuda/driver/condition.hpp"

#include <cuda_runtime.h>

namespace sinter::cuda {
namespace {

__global__ void set_condition(cudaGraphConditionalHandle condition, const bool* go_on) {
  cudaGraphSetConditional(condition, *go_on ? 1u : 0u);
}

}  // namespace

cudaError_t add_condition(cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count,
                          cudaGraphConditionalHandle condition, const void* go_on, cudaGraphNode_t* node) {
  void* arguments[] = {&condition, &go_on};
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void*>(set_condition);
  p.gridDim = dim3(1);
  p.blockDim = dim3(1);
  p.kernelParams = arguments;
  return cudaGraphAddKernelNode(node, graph, after, count, &p);
}

}  // namespace sinter::cuda
