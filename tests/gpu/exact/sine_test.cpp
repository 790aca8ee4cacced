// The sine and cosine of generated kernels against NVRTC's, for every float32.
#ifdef SINTER_HAS_CUDA

#include <array>
#include <bit>
#include <string>

#include "gpu/exact/comparison.hpp"
#include "gpu/gpu.hpp"

namespace jit = sinter::jit;

namespace {

/// Kernels that count the bit patterns for which two ways of computing differ. Where `slow` is raised a kernel computes
/// again through sinf, so nothing is left to compare; how often that happens is counted.
constexpr const char* comparing_kernels = R"(
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

std::string source() { return gpu_test::comparing_source(comparing_kernels); }

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
  gpu_test::comparison c;
  if (!c.load(sinter::default_device().index, source())) return;
  const unsigned long long beyond = 0x7f800000ull - std::bit_cast<std::uint32_t>(105615.0f) + 1;
  for (const std::string name : names) {
    gpu_test::report r{};
    if (!c.run(name, r)) return;
    CAPTURE(name);
    CAPTURE(std::bit_cast<float>(static_cast<std::uint32_t>(r.first)));
    CAPTURE(r.first);
    CHECK(r.wrong == 0);
    CHECK(r.slow == (name == "slow_both" ? 0 : 2 * beyond));
  }
}

#endif
