// src/backends/cuda: a GPU as a device: kernels of programs, and the services of the subfolders. Independent of the
// graph.
//
// The CUDA backend: programs become CUDA C++ that NVRTC compiles for the device found at run time.
#pragma once
#include <memory>
#include <string>

#include "runtime/backend.hpp"

namespace sinter::runtime {

/// Backend of GPU `index`; throws device_error with the reason if it is not available.
std::unique_ptr<backend> make_cuda_backend(int index);
/// Pinned host memory for arrays of the CPU.
std::unique_ptr<memory_source> make_cuda_pinned_source();
/// The number of GPUs that the driver reports; 0 without a driver.
int cuda_device_count() noexcept;
/// Why cuda_device_count() is 0 ("no NVIDIA driver is installed"); empty where a GPU was found.
std::string cuda_unavailable_reason();

}  // namespace sinter::runtime
