// The node between two steps of a loop in a CUDA graph: it copies what the next step takes and counts the steps. Plain C++17
// for nvcc; nothing throws.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>

#include "backends/cuda/driver/step_tiles.hpp"

namespace sinter::cuda {

using gpu::step_state;
using gpu::step_tile;

/// Adds a node to `graph`, after some of its nodes, that copies `count` tiles. `ends_step`: it is the last one of its step.
cudaError_t add_step_copies(cudaGraph_t graph, const cudaGraphNode_t* after, std::size_t after_count, step_state* state,
                            const step_tile* tiles, std::size_t count, bool ends_step, cudaGraphNode_t* node);

}  // namespace sinter::cuda
