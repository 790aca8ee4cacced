// The CUDA kernels of the examples compile where there is no GPU to run them.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "diffusion/steps.hpp"
#include "jit/cuda/compile_raw.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "relative_difference/forms.hpp"
#include "runtime/device_image.hpp"
#include "saxpy/forms.hpp"

namespace jit = sinter::jit;
namespace runtime = sinter::runtime;

TEST_CASE("examples: NVRTC compiles every kernel for sm_75 and sm_90, without warnings") {
  std::string why_not;
  if (!jit::nvrtc_available(&why_not)) {
    MESSAGE("left out: " << why_not);
    return;
  }
  struct text {
    std::string_view source;
    std::vector<std::string> options, kernels;
  };
  const text texts[] = {
      {diffusion::diffuse_cuda, diffusion::diffuse_options(), {"diffuse"}},
      {saxpy::saxpy_cuda, {}, {"saxpy", "saxpy_by_four", "saxpy_strided"}},
      {relative_difference::difference_cuda, {}, {"difference", "difference_by_four", "difference_strided"}}};
  for (const text& t : texts)
    for (const int arch : {75, 90}) {
      CAPTURE(t.kernels[0]);
      CAPTURE(arch);
      jit::raw_program program;
      program.source = t.source;
      program.options = t.options;
      program.arch = arch;
      const auto binary = jit::compile_raw(program);
      CHECK(binary.log.find("warning") == std::string::npos);
      const auto symbols = runtime::symbols_of(std::string_view(binary.bytes.data(), binary.bytes.size()));
      REQUIRE(symbols.has_value());
      auto kernels = symbols->kernels;
      std::sort(kernels.begin(), kernels.end());
      CHECK(kernels == t.kernels);
    }
}
