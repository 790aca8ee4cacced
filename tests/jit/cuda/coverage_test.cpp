// The check of CUDA kernels on machines without a GPU sees what is launched, and detects a kernel that does not
// compile.
#include <doctest/doctest.h>

#include "support/cuda_coverage.hpp"

#ifdef SINTER_HAS_CUDA

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>

#include "backends/cpu/kernels/hooks.hpp"
#include "jit/cuda/launch.hpp"
#include "jit/cuda/nvrtc.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

std::vector<cuda_kernel>* seen = nullptr;
cpu::launch_observer observer_before = nullptr;

void observe(const jit::launch& l) {
  seen->push_back(kernel_of(l));
  if (observer_before) observer_before(l);
}

std::vector<cuda_kernel> kernels_of_a_chain() {
  std::vector<cuda_kernel> kernels;
  seen = &kernels;
  observer_before = cpu::set_launch_observer(observe);
  const ndarray x = arange(10.0).to_device("cpu");
  eval(sum(sqrt(x) * 3, {.axis = 0}), sqrt(x + 1) * 2);
  cpu::set_launch_observer(observer_before);
  return kernels;
}

}  // namespace

TEST_CASE("launches on the CPU name the CUDA kernels that they would be, and those compile") {
  std::string why_not;
  if (!jit::nvrtc_available(&why_not)) {
    MESSAGE("left out: " << why_not);
    return;
  }
  auto kernels = kernels_of_a_chain();
  CHECK(kernels.size() >= 2);
  const auto all = sample_of(kernels, SIZE_MAX, 0);
  CHECK(all.size() == kernels.size());
  std::ostringstream said;
  CHECK(compile_failures(all, 90, {&said, std::chrono::seconds(0)}).empty());
  const std::string whole = std::to_string(all.size()) + " of " + std::to_string(all.size()) + "\n";
  CHECK(said.str() == "compiling CUDA kernels for sm_90: " + whole);
  // One instruction reads a register that only a later one defines.
  auto& code = kernels.back().code->code;
  const auto reads = std::find_if(code.begin(), code.end() - 1, [](auto& i) { return jit::operand_count(i.op) > 0; });
  REQUIRE(reads < code.end() - 1);
  reads->a = static_cast<std::uint16_t>(code.size() - 1);
  const auto failures = compile_failures(all, 90);
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].find("is undefined") != std::string::npos);
}

TEST_CASE("a sample of the CUDA kernels depends on its seed and on nothing else, and in time reaches all") {
  const auto kernels = kernels_of_a_chain();
  REQUIRE(kernels.size() >= 2);
  std::set<const cuda_kernel*> reached;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    const auto chosen = sample_of(kernels, 1, seed);
    REQUIRE(chosen.size() == 1);
    CHECK(sample_of(kernels, 1, seed) == chosen);
    reached.insert(chosen[0]);
  }
  CHECK(reached.size() == kernels.size());
}

#endif
