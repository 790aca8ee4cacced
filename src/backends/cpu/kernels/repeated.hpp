// Launches that are run again and again as they are: what follows from operands, extents and code is worked out once.
#pragma once
#include <memory>

#include "backends/cpu/kernels/kernels.hpp"

namespace sinter::cpu {

class repeated_launch {
 public:
  virtual ~repeated_launch() = default;
  /// Does what run_elements or run_reduce do. One thread at a time.
  virtual void run(int* fault) = 0;
};

/// Null where the launch is shared out to several threads. `code` and `l` outlive the result.
std::unique_ptr<repeated_launch> repeated_elements(const runtime::prepared& code, const jit::launch& l);
/// The same for a reduction without a tail. `scratch`: reduce_scratch bytes.
std::unique_ptr<repeated_launch> repeated_reduction(const runtime::prepared& code, const jit::launch& l, void* scratch);

}  // namespace sinter::cpu
