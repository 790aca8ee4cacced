// src/backends/cuda/driver: calls of the CUDA runtime and driver that all others need: errors, the current device,
// streams, graphs.
//
// The driver's functions, looked up through the runtime so that nothing links libcuda, and the device of the calling
// thread.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

namespace sinter::cuda {

/// Makes a device current for the calling thread. A thread that has never set one has no context, which launches
/// through the driver need.
void make_current(int device);

/// A function of the driver by name, as of a CUDA version; null where the driver is older.
void* find_driver_function(const char* name, unsigned version = 12000);
/// The same; throws device_error where there is none.
void* driver_function(const char* name);

/// As check(); the driver's error codes are the runtime's.
void check_driver(CUresult status, const char* call);

}  // namespace sinter::cuda
