// Where there is no GPU: the CUDA kernels that the launches of a test program would need are still generated, and
// compiled by NVRTC, so that a broken generator cannot pass.
#pragma once
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace sinter::runtime {
struct launch;
}
namespace sinter::jit {
struct program;
struct cuda_variant;
}  // namespace sinter::jit

namespace sinter::test {

struct cuda_kernel {
  std::unique_ptr<jit::program> code;
  std::unique_ptr<jit::cuda_variant> variant;
};

/// Whether this process is to collect kernels: SINTER_TEST_CUDA_COVERAGE is 1, or is not set and there is the toolkit
/// but no GPU.
bool covers_cuda();
/// Observes the launches of the CPU backend from now on.
void collect_cuda_kernels();
/// What was collected since, each kernel once.
std::vector<cuda_kernel> collected_cuda_kernels();
/// The kernel of one launch.
cuda_kernel kernel_of(const runtime::launch& l);

/// Compiles the kernels for sm_<arch>, many to a module on all cores. One text for each kernel that does not compile.
std::vector<std::string> compile_failures(const std::vector<cuda_kernel>& kernels, int arch);

/// Compiles what was collected, or a sample of it, for sm_90 and sm_75 and writes failures and counts, one case for each
/// architecture, the way doctest does. The number of failed cases.
int report_cuda_coverage(std::ostream& out);

}  // namespace sinter::test
