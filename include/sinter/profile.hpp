// Named ranges on the time line of a profiler (Nsight Systems, Nsight Compute): what the host does when.
#pragma once
#include <string>

namespace sinter::inline v0 {

/// Whether ranges are recorded: the library was built with the CUDA toolkit (NVTX belongs to it) and a profiler is
/// attached, which it shows by NVTX_INJECTION64_PATH in the environment. SINTER_NVTX=0 switches ranges off, any other
/// value on. Looked up once; afterwards as cheap as reading a flag, so check it before building a name.
bool profiling() noexcept;

/// A range from here to the end of the scope, shown under `name` by an attached profiler; nothing without one. Ranges
/// nest, and each belongs to the thread that opened it and must end there. The library opens ranges of its own: around
/// each evaluation ("sinter: evaluate"), around each compilation, and around the launch of each kernel, named as the
/// kernel is ("sn_sub_square_sum"). They tell what the host spends its time on; the device may run the kernels later.
class [[nodiscard]] range {
 public:
  explicit range(const char* name) noexcept;
  explicit range(const std::string& name) noexcept : range(name.c_str()) {}
  ~range();
  range(const range&) = delete;
  range& operator=(const range&) = delete;

 private:
  [[maybe_unused]] bool open_;
};

}  // namespace sinter::inline v0
