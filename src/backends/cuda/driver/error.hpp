// Failed CUDA calls become device_error; errors that poison the context are remembered.
#pragma once
#include <cuda_runtime_api.h>

namespace sinter::cuda {

/// Throws device_error that names the call; once an error has poisoned the device, for every later call too.
void check(cudaError_t status, const char* call);
/// Throws where an earlier error has made the device unusable.
void check_usable();

}  // namespace sinter::cuda
