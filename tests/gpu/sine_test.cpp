// The sine and cosine of generated kernels against NVRTC's, for every float32.
#ifdef SINTER_HAS_CUDA

#include <cuda_runtime_api.h>

#include <array>
#include <bit>
#include <string>

#include "gpu/gpu.hpp"
#include "jit/cuda/emit.hpp"
#include "jit/cuda/nvrtc.hpp"

namespace jit = sinter::jit;

namespace {

struct report {
  unsigned long long wrong, first, slow;
};

/// Kernels that count the bit patterns for which two ways of computing differ. Where `slow` is raised a kernel computes
/// again through sinf, so nothing is left to compare; how often that happens is counted.
constexpr const char* comparing_kernels = R"(
struct report {
  unsigned long long wrong, first, slow;
};
__device__ __forceinline__ bool same(float a, float b) {
  return __float_as_uint(a) == __float_as_uint(b) || (a != a && b != b);
}
__device__ __forceinline__ bool same_magnitude(float a, float b) { return same(fabsf(a), fabsf(b)); }

struct sine {
  static __device__ bool wrong(float x, bool& slow) { return !same(sn::quick_sin(x, slow, false), sinf(x)); }
};
struct cosine {
  static __device__ bool wrong(float x, bool& slow) { return !same(sn::quick_cos(x, slow, false), cosf(x)); }
};
struct both {
  static __device__ bool wrong(float x, bool& slow) {
    float s, c;
    sn::quick_sincos(x, s, c, slow, false);
    return !same(s, sinf(x)) || !same(c, cosf(x));
  }
};
struct signless_sine {
  static __device__ bool wrong(float x, bool& slow) {
    return !same_magnitude(sn::quick_sin(x, slow, true), sinf(x));
  }
};
struct signless_cosine {
  static __device__ bool wrong(float x, bool& slow) {
    return !same_magnitude(sn::quick_cos(x, slow, true), cosf(x));
  }
};
struct signless_both {
  static __device__ bool wrong(float x, bool& slow) {
    float s, c;
    sn::quick_sincos(x, s, c, slow, true);
    return !same_magnitude(s, sinf(x)) || !same_magnitude(c, cosf(x));
  }
};
struct slow_both {
  static __device__ bool wrong(float x, bool&) {
    return !same(sn::any_sine(x, false), sinf(x)) || !same(sn::any_sine(x, true), cosf(x));
  }
};

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
COMPARE(sine)
COMPARE(cosine)
COMPARE(both)
COMPARE(signless_sine)
COMPARE(signless_cosine)
COMPARE(signless_both)
COMPARE(slow_both)
)";

constexpr std::array names = {"sine",          "cosine",   "both", "signless_sine", "signless_cosine",
                              "signless_both", "slow_both"};

std::string source() { return jit::cuda_prelude(std::vector<const jit::program*>{}) + comparing_kernels; }

bool succeeded(cudaError_t status) {
  INFO("CUDA reports ", cudaGetErrorString(status));
  CHECK(status == cudaSuccess);
  return status == cudaSuccess;
}

/// One report on the device, and the module with the kernels.
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

  bool load(int device) {
    int major = 0, minor = 0;
    if (!succeeded(cudaSetDevice(device)) ||
        !succeeded(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device)) ||
        !succeeded(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device)))
      return false;
    const jit::cubin binary = jit::compile_cuda(source(), {.arch = 10 * major + minor});
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

}  // namespace

TEST_CASE("gpu: the kernels that compare sines compile") {
  std::string why_not;
  if (!jit::nvrtc_available(&why_not)) {
    MESSAGE("left out: " << why_not);
    return;
  }
  CHECK(jit::compile_cuda(source(), {.arch = 90}).bytes.size() > 0);
}

TEST_CASE("gpu: quick sine and cosine have the bits of sinf and cosf for every float32") {
  if (gpu_test::no_gpu()) return;
  comparison c;
  if (!c.load(sinter::default_device().index)) return;
  const unsigned long long beyond = 0x7f800000ull - std::bit_cast<std::uint32_t>(105615.0f) + 1;
  for (const std::string name : names) {
    report r{};
    if (!c.run(name, r)) return;
    CAPTURE(name);
    CAPTURE(std::bit_cast<float>(static_cast<std::uint32_t>(r.first)));
    CAPTURE(r.first);
    CHECK(r.wrong == 0);
    CHECK(r.slow == (name == "slow_both" ? 0 : 2 * beyond));
  }
}

#endif
