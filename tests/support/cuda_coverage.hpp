// For machines without a GPU: the CUDA kernels that the launches of a test program would need are still generated, and
// compiled by NVRTC, so that a broken generator cannot pass.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace sinter::jit {
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

/// Whether this process collects kernels: SINTER_TEST_CUDA_COVERAGE is 1, or it is not set and there is the toolkit but
/// no GPU.
bool covers_cuda();
/// Observes the launches of the CPU backend from now on.
void collect_cuda_kernels();
/// The kernels collected since, each once.
std::vector<cuda_kernel> collected_cuda_kernels();
/// The kernel of one launch.
cuda_kernel kernel_of(const jit::launch& l);

/// At most `most` of the kernels, grouped by compiler options. The choice depends on the seed and on the kernels
/// themselves, not on their order.
std::vector<const cuda_kernel*> sample_of(const std::vector<cuda_kernel>& kernels, std::size_t most,
                                          std::uint64_t seed);

/// Where a long compilation reports its progress.
struct coverage_progress {
  std::ostream* out = nullptr;
  std::chrono::steady_clock::duration every = std::chrono::seconds(10);
};
/// Compiles the kernels for sm_<arch>, several per module on all cores. Returns one text per kernel that does not
/// compile.
std::vector<std::string> compile_failures(const std::vector<const cuda_kernel*>& kernels, int arch,
                                          const coverage_progress& progress = {});

/// Compiles the collected kernels, or a sample of them, for sm_90 and sm_75 and prints progress, failures and counts,
/// one case per architecture, in the format of doctest. Returns the number of failed cases. SINTER_TEST_CUDA_SEED
/// reproduces a sample. Where SINTER_TEST_CUDA_SOURCES names a file, kernels of all legal schedules are collected, in both
/// widths of indices, and their text is written there in the order of their names instead: a change of the generator that
/// is to change nothing leaves the file as it is (tests/scripts/cuda_sources.py compares two).
int report_cuda_coverage(std::ostream& out);

}  // namespace sinter::test
