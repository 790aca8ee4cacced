// src/backends/cuda/driver: the CUDA runtime and driver calls that the other folders share: errors, the current device,
// streams, graphs.
//
// Failed calls become device_error. The driver's functions, looked up through the runtime so that nothing links libcuda.
// The device of the calling thread.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

namespace sinter::cuda {

/// Throws device_error with the call's name; after an error has poisoned the context, every later call throws, too.
void check(cudaError_t status, const char* call);
/// Throws if an earlier error has made the device unusable.
void check_usable();

/// Makes a device current for the calling thread. Launches through the driver need this, since a thread that has never
/// set a device has no context.
void make_current(int device);

int device_attribute(cudaDeviceAttr a, int device);
/// 90 for compute capability 9.0.
int compute_capability(int device);

/// A driver function by name, in the version of a CUDA release; null if the driver is older.
void* find_driver_function(const char* name, unsigned version = 12000);
/// The same; throws device_error where there is none.
void* driver_function(const char* name);

/// As check(); the driver's error codes are the runtime's.
void check_driver(CUresult status, const char* call);

}  // namespace sinter::cuda
