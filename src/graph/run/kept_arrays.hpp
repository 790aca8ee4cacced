// Arrays in memory that only pending values keep: each of them much smaller than they are, or smaller than all of them together.
#pragma once
#include <atomic>

#include "graph/values/left_bytes.hpp"

namespace sinter::graph {

/// Evaluates the pending values for which alone arrays are still in memory that nobody else refers to: sums of what a loop has
/// replaced (`losses.push_back(mean(y))`), and averages of what it has (`mean = 0.9f * mean + 0.1f * y`), once they keep more than they
/// need themselves. Values over one array are evaluated together; those over arrays to which others refer,
/// or which larger pending values read too, stay pending. Does nothing within a flush, or while the thread records a capture. A
/// value that cannot be evaluated stays pending. `in_statement`: a value has just been recorded, which the next ones may read; what
/// belongs to it and has been recorded since the last look stays pending, too.
void release_kept_arrays(bool in_statement);

/// Whether values that are no smaller than their operands are listed for that: from when arrays have been left to pending values on.
inline std::atomic<bool>& lists_all_pending() noexcept {
  static constinit std::atomic<bool> all{false};
  return all;
}

/// The same, if enough has been left since the last time.
inline void release_kept_arrays_if_many(bool in_statement = false) {
  if (left_bytes().count.load(std::memory_order_relaxed) >= left_bytes().look_at.load(std::memory_order_relaxed))
      [[unlikely]]
    release_kept_arrays(in_statement);
}

}  // namespace sinter::graph
