// Arrays in memory that only pending values keep, each of which is much smaller than they are.
#pragma once
#include "graph/values/left_bytes.hpp"

namespace sinter::graph {

/// Evaluates the pending values for which alone arrays are still in memory that nobody else refers to: sums of what a loop has
/// replaced (`losses.push_back(mean(y))`). Values over one array are evaluated together; those over arrays to which others refer,
/// or which larger pending values read too, stay pending. Does nothing within a flush, or while the thread records a capture. A
/// value that cannot be evaluated stays pending.
void release_kept_arrays();

/// The same, if enough has been left since the last time.
inline void release_kept_arrays_if_many() {
  if (left_bytes().count.load(std::memory_order_relaxed) >= left_bytes().look_at.load(std::memory_order_relaxed))
      [[unlikely]]
    release_kept_arrays();
}

}  // namespace sinter::graph
