// Division, square root and logarithm of generated kernels against the compiler's, for every float32, and for as
// many float64.
#ifdef SINTER_HAS_CUDA

#include <array>
#include <bit>
#include <string>

#include "emulated/quick_cases.hpp"
#include "gpu/exact/comparison.hpp"
#include "gpu/gpu.hpp"

namespace {

constexpr std::array names = {"reciprocal",      "root",          "logarithm",     "quotient",
                              "small_quotient",  "edge_quotient", "wide_quotient", "wide_edge_quotient",
                              "wide_reciprocal", "wide_root"};

std::string source() {
  std::string text = quick_cases;
  for (const std::string name : names) text += "COMPARE(" + name + ")\n";
  return gpu_test::comparing_source(text);
}

}  // namespace

TEST_CASE("gpu: the kernels that compare quick divisions compile") {
  if (gpu_test::no_nvrtc()) return;
  CHECK(sinter::jit::compile_cuda(source(), {.arch = 90}).bytes.size() > 0);
}

TEST_CASE(
    "gpu: quick division, roots and logarithms have the bits of the compiler's for every float32 and many float64") {
  if (gpu_test::no_gpu()) return;
  gpu_test::comparison c;
  if (!c.load(sinter::default_device().index, source())) return;
  for (const std::string name : names) {
    gpu_test::report r{};
    if (!c.run(name, r)) return;
    CAPTURE(name);
    CAPTURE(std::bit_cast<float>(static_cast<std::uint32_t>(r.first)));
    CAPTURE(r.first);
    CHECK(r.wrong == 0);
  }
}

#endif
