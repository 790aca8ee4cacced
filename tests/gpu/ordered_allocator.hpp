// CUDA's stream-ordered allocator as a source of arrays' memory. compute-sanitizer tracks in which stream's order such
// memory is given and taken back, so with it a use that is not in that order is found:
//
//   compute-sanitizer --tool memcheck --track-stream-ordered-races all tests/sinter_tests -tc="gpu: race checker*"
#pragma once
#include <cuda_runtime_api.h>

#include <atomic>
#include <new>
#include <string>

#include "gpu/gpu.hpp"

namespace gpu_test {

class ordered_allocator final : public sinter::allocator {
 public:
  std::atomic<int> live{0};
  void* allocate(std::size_t bytes, void* stream) override {
    void* p = nullptr;
    if (cudaMallocAsync(&p, bytes, static_cast<cudaStream_t>(stream)) != cudaSuccess) {
      (void)cudaGetLastError();
      throw std::bad_alloc();
    }
    ++live;
    return p;
  }
  void deallocate(void* p, std::size_t, void* stream) noexcept override {
    (void)cudaFreeAsync(p, static_cast<cudaStream_t>(stream));
    --live;
  }
  std::string name() const override { return "cudaMallocAsync"; }
};

/// Whether the GPU does not support this allocator; prints a message.
inline bool no_ordered_allocator() {
  int has = 0;
  const int gpu = sinter::default_device().index;
  if (cudaDeviceGetAttribute(&has, cudaDevAttrMemoryPoolsSupported, gpu) == cudaSuccess && has) return false;
  MESSAGE("left out: the GPU has no stream-ordered allocator");
  return true;
}

}  // namespace gpu_test
