// Fourier transforms on a GPU.
#pragma once
#include <memory>

#include "runtime/algorithms/fourier.hpp"
#include "runtime/backend.hpp"

namespace sinter::cuda {

/// Transforms run on the calling thread's current stream of a device; work areas come from the backend's pool.
std::unique_ptr<runtime::fourier> make_fourier(runtime::backend& owner, int device);

}  // namespace sinter::cuda
