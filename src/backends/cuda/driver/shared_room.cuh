// How much shared memory a block may ask for.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

namespace sinter::cuda::device {

/// At most `wanted` bytes, as many as the current device has for a block beside `own` bytes that the kernel declares; 0 if that is
/// not known. The same number for each call on a device, since threads set it for a kernel side by side.
inline int shared_room(std::size_t wanted, std::size_t own = 0) {
  int device = 0, most = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  const int left = most - static_cast<int>(own);
  return left < static_cast<int>(wanted) ? (left > 0 ? left : 0) : static_cast<int>(wanted);
}

}  // namespace sinter::cuda::device
