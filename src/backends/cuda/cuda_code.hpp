// The kernels that a device holds: looked up by program and variant, compiled by NVRTC on a miss.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>

#include "backends/cuda/cuda_launch.hpp"
#include "jit/compile.hpp"

namespace sinter::cuda {

/// A loaded kernel; lives as long as the process.
struct kernel {
  jit::cuda_variant variant;
  CUfunction main = nullptr, second = nullptr;
};

class kernel_table {
 public:
  explicit kernel_table(int arch) : arch_(arch) {}
  /// results[i] is the kernel of launches[i]. Each miss becomes a module; they are compiled side by side.
  void find(std::span<const runtime::launch> launches, std::span<const kernel*> results);
  std::uint64_t compilations() const noexcept { return compilations_; }
  std::uint64_t disk_hits() const noexcept { return disk_hits_; }

 private:
  struct miss {
    std::string key;
    const jit::program* code;
    jit::cuda_variant variant;
    const kernel* found = nullptr;
  };
  struct string_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>()(s); }
  };
  const kernel* look_up(std::string_view key) const;
  void compile(std::vector<miss>& misses);
  const kernel* load(const miss& m, const jit::cubin& binary);

  int arch_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<kernel>, string_hash, std::equal_to<>> kernels_;
  std::atomic<std::uint64_t> compilations_{0}, disk_hits_{0};
};

/// The driver's launch, without the runtime's bookkeeping: a few tenths of a microsecond less for each kernel. The
/// entry points come from the runtime, so nothing links libcuda.
void launch_kernel(CUfunction f, const grid& g, void** arguments, cudaStream_t stream);

/// The whole translation unit for one launch.
std::string source_of(const jit::program& p, const jit::cuda_variant& v);

}  // namespace sinter::cuda
