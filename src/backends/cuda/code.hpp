// The kernels loaded on a device: looked up by program and variant, compiled by NVRTC on a miss.
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
#include <vector>

#include "jit/cuda/launch.hpp"
#include "jit/cuda/nvrtc.hpp"

namespace sinter::cuda {

/// A loaded kernel; lives as long as the process.
struct kernel {
  jit::cuda_variant variant;
  std::vector<jit::cuda_field> layout;  // of its parameters
  std::size_t parameter_bytes = 0;      // of the layout
  int unroll = 0;                       // jit::cuda_unroll(), which walks the program; 0: no shape of its kind
  unsigned shared_bytes = 0;            // dynamic shared memory of a block of `main`
  CUfunction main = nullptr, second = nullptr;
};

/// The forms of one program for operands of one layout: their results are bit-identical, and `best` is the fastest
/// loaded one.
struct kernel_forms {
  std::atomic<const kernel*> best{nullptr};
  std::unique_ptr<kernel> baseline, optimised;
  std::atomic<std::int64_t> work{0};   // additions of the baseline kernel's launches
  std::atomic<bool> improving{false};  // the optimised kernel is being compiled, or its compilation failed
};

class kernel_table {
 public:
  kernel_table(int device, int arch) : device_(device), arch_(arch) {}
  /// results[i] is the kernel of launches[i]. Each miss becomes a module; modules are compiled concurrently.
  void find(std::span<const jit::launch> launches, std::span<const kernel*> results);
  /// The kernel of a launch whose memo has the forms of before, if no better one has been loaded since.
  static bool is_best(const jit::launch& l, const kernel* code) noexcept;
  std::uint64_t compilations() const noexcept { return compilations_; }
  std::uint64_t disk_hits() const noexcept { return disk_hits_; }

 private:
  struct miss {
    std::string key;
    const jit::program* code;
    jit::cuda_variant variant;
    bool baseline = false;  // the baseline form suffices
    const kernel* found = nullptr;
  };
  struct string_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>()(s); }
  };
  kernel_forms* look_up(std::string_view key) const;
  const kernel* good_enough(kernel_forms& forms, const jit::launch& l);
  bool has_baseline(const jit::program& p, const jit::cuda_variant& v) const;
  const kernel* baseline_of(const kernel_forms& forms) const;
  void note_baseline(kernel_forms& forms, const jit::launch& l);
  void improve(kernel_forms& forms, const jit::program& code, const jit::cuda_variant& variant);
  void compile(std::vector<miss>& misses);
  std::unique_ptr<kernel> load(const jit::program& p, const jit::cuda_variant& v, const jit::cubin& binary);
  const kernel* keep(const std::string& key, std::unique_ptr<kernel> loaded);

  int device_, arch_;
  mutable std::shared_mutex mutex_;  // guards kernels_ and the ownership of their forms
  std::unordered_map<std::string, std::unique_ptr<kernel_forms>, string_hash, std::equal_to<>> kernels_;
  std::atomic<std::uint64_t> compilations_{0}, disk_hits_{0};
};

/// The driver's launch, without the runtime's bookkeeping: it saves a few tenths of a microsecond per kernel. The entry
/// points are looked up through the runtime, so nothing links libcuda.
void launch_kernel(CUfunction f, const grid& g, unsigned shared_bytes, void** arguments, cudaStream_t stream);

}  // namespace sinter::cuda
