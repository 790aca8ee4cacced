// A node of a CUDA graph that sets the condition of another one. Plain C++17 for nvcc; nothing throws.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>

namespace sinter::cuda {

/// Adds a kernel to `graph`, after some of its nodes, that makes a condition true where *go_on, a bool on the device, is.
cudaError_t add_condition(cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t count,
                          cudaGraphConditionalHandle condition, const void* go_on, cudaGraphNode_t* node);

}  // namespace sinter::cuda
