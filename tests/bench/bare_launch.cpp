// The driver's time for one launch, measured as the host rows are: the same kernel, back to back, without a wait.
#include "bench.hpp"

#ifdef SINTER_HAS_CUDA
#include <cuda_runtime_api.h>

#include <stdexcept>

#include "jit/cuda/nvrtc.hpp"
#endif

namespace bench {

#ifdef SINTER_HAS_CUDA
namespace {

void require(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(std::string("bare launch: ") + cudaGetErrorString(status));
}

}  // namespace

double bare_launch_seconds() {
  constexpr int calls = 2000, rounds = 11;
  int major = 0, minor = 0;
  require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  require(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  const auto binary = sinter::jit::compile_cuda(
      "extern \"C\" __global__ void add(const float* x, const float* y, float* z) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  z[i] = x[i] + y[i];\n}\n",
      {.arch = 10 * major + minor});
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  require(cudaLibraryLoadData(&library, binary.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  require(cudaLibraryGetKernel(&kernel, library, "add"));
  void* memory = nullptr;
  require(cudaMalloc(&memory, 3 * 1024 * sizeof(float)));
  float* x = static_cast<float*>(memory);
  float *y = x + 1024, *z = y + 1024;
  void* arguments[] = {&x, &y, &z};
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    require(cudaDeviceSynchronize());
    seconds.push_back(
        seconds_of([&] {
          for (int k = 0; k < calls; ++k)
            require(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(4), dim3(256), arguments, 0, nullptr));
        }) /
        calls);
  }
  require(cudaDeviceSynchronize());
  require(cudaFree(memory));
  return median(seconds);
}
#else
double bare_launch_seconds() { return 0; }
#endif

}  // namespace bench
