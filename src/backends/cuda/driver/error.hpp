// Failed CUDA calls become device_error; errors that poison the context are remembered.
#pragma once
#include <cuda_runtime_api.h>

namespace sinter::cuda {

/// Throws device_error with the call's name; after an error has poisoned the context, every later call throws, too.
void check(cudaError_t status, const char* call);
/// Throws if an earlier error has made the device unusable.
void check_usable();

}  // namespace sinter::cuda
