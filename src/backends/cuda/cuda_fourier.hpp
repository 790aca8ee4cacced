// Fourier transforms on a GPU.
#pragma once
#include <cuda_runtime_api.h>

#include <memory>

#include "runtime/backend.hpp"
#include "runtime/fourier.hpp"

namespace sinter::cuda {

/// Transforms on a device's stream; work areas come from the backend's pool.
std::unique_ptr<runtime::fourier> make_fourier(runtime::backend& owner, int device, cudaStream_t stream);

}  // namespace sinter::cuda
