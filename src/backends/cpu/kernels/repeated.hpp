// Launches that are run again and again as they are: what follows from operands, extents and code is worked out once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backends/cpu/kernels/kernels.hpp"
#include "runtime/stream.hpp"

namespace sinter::cpu {

using runtime::unchanged_memory;

class repeated_launch {
 public:
  virtual ~repeated_launch() = default;
  /// After some runs: what stays as it is may be copied to where it is read faster.
  virtual void settle(std::span<const unchanged_memory>) {}
  /// Does what run_elements or run_reduce do. One thread at a time.
  virtual void run(int* fault) = 0;
};

/// Elements up to which a launch may keep its memory; more take longer to compute than to give memory to. Of operations on
/// elements a block, of reductions what is joined.
inline constexpr std::int64_t few_lanes = 256, few_reduced = 1 << 14;
/// Bytes of the slabs of such memory, of a reduction and of a block of elements.
inline constexpr std::size_t kept_slab = 16 << 10, kept_elements = 2 << 10;

/// Null where the launch is shared out to several threads. `code` and `l` outlive the result. `keeps_memory`: between runs,
/// where it has few lanes; otherwise the memory is that of the thread.
std::unique_ptr<repeated_launch> repeated_elements(const runtime::prepared& code, const jit::launch& l,
                                                   bool keeps_memory);
/// The same for a reduction without a tail. `scratch`: reduce_scratch bytes.
std::unique_ptr<repeated_launch> repeated_reduction(const runtime::prepared& code, const jit::launch& l, void* scratch,
                                                    bool keeps_memory);

}  // namespace sinter::cpu
