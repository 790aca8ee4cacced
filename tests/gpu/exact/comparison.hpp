// Kernels that compare two ways of computing for every float32, and what they report.
#pragma once
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "jit/cuda/emit.hpp"
#include "jit/cuda/nvrtc.hpp"

namespace gpu_test {

/// How many bit patterns are wrong, the first of them, and for how many `slow` was raised.
struct report {
  unsigned long long wrong, first, slow;
};

/// What such kernels' text begins with, after the prelude: COMPARE(name) makes one of `name::wrong(float, bool& slow)`. Where
/// `slow` is raised a kernel computes again by the library's function, so nothing is left to compare.
inline constexpr const char* comparing_text = R"(
struct report {
  unsigned long long wrong, first, slow;
};
__device__ __forceinline__ bool same(float a, float b) {
  return __float_as_uint(a) == __float_as_uint(b) || (a != a && b != b);
}

template <class F>
__device__ __forceinline__ void compare(report* r) {
  const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
  unsigned long long wrong = 0, first = ~0ull, slow_ones = 0;
  for (unsigned long long k = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; k < 1ull << 32; k += stride) {
    bool slow = false;
    const bool bad = F::wrong(__uint_as_float((unsigned)k), slow);
    if (slow) ++slow_ones;
    if (bad && !slow) {
      ++wrong;
      first = min(first, k);
    }
  }
  if (slow_ones) atomicAdd(&r->slow, slow_ones);
  if (!wrong) return;
  atomicAdd(&r->wrong, wrong);
  atomicMin(&r->first, first);
}
#define COMPARE(name) extern "C" __global__ void compare_##name(report* r) { compare<name>(r); }
)";
inline std::string comparing_source(const std::string& kernels) {
  return sinter::jit::cuda_prelude(std::vector<const sinter::jit::program*>{}) + comparing_text + kernels;
}

inline bool succeeded(cudaError_t status) {
  INFO("CUDA reports ", cudaGetErrorString(status));
  CHECK(status == cudaSuccess);
  return status == cudaSuccess;
}

/// One report on the device, and the module of the kernels compare_NAME.
struct comparison {
  cudaLibrary_t library = nullptr;
  report* on_device = nullptr;
  comparison() = default;
  comparison(const comparison&) = delete;
  comparison& operator=(const comparison&) = delete;
  ~comparison() {
    (void)cudaFree(on_device);
    if (library) (void)cudaLibraryUnload(library);
  }

  bool load(int device, const std::string& source) {
    int major = 0, minor = 0;
    if (!succeeded(cudaSetDevice(device)) ||
        !succeeded(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device)) ||
        !succeeded(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device)))
      return false;
    const sinter::jit::cubin binary = sinter::jit::compile_cuda(source, {.arch = 10 * major + minor});
    void* memory = nullptr;
    if (!succeeded(cudaLibraryLoadData(&library, binary.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0)) ||
        !succeeded(cudaMalloc(&memory, sizeof(report))))
      return false;
    on_device = static_cast<report*>(memory);
    return true;
  }

  bool run(const std::string& name, report& result) {
    result = {0, ~0ull, 0};
    cudaKernel_t kernel = nullptr;
    void* arguments[] = {&on_device};
    return succeeded(cudaLibraryGetKernel(&kernel, library, ("compare_" + name).c_str())) &&
           succeeded(cudaMemcpy(on_device, &result, sizeof result, cudaMemcpyHostToDevice)) &&
           succeeded(
               cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(4096), dim3(256), arguments, 0, nullptr)) &&
           succeeded(cudaMemcpy(&result, on_device, sizeof result, cudaMemcpyDeviceToHost));
  }
};

}  // namespace gpu_test
