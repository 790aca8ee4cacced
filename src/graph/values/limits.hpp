// The planner's limits, and hooks with which tests shrink them or make a flush fail.
#pragma once
#include <cstddef>

namespace sinter::graph {

struct planner_limits {
  int depth = 256;         // pending nodes in a chain before an array is evaluated when it is made
  int update_chain = 12;   // pending writes to one storage before they run
  int instructions = 192;  // of one kernel
  int inputs = 28;         // buffers read by one kernel
  int outputs = 8;         // buffers written by one kernel
  int expensive = 4;       // weight from which a smaller producer is computed once instead of in each iteration
  int smaller = 4;         // how many times smaller it must be
  bool fuse = true;        // false: every operation is its own kernel (tests compare the two)
  std::size_t large_operand = std::size_t{16} << 20;  // bytes from which values pending over it are listed (relieve)
  int fail_allocation = -1;  // n: the n-th allocation of a flush from now on throws memory_error, once

  /// Depth from which values are evaluated together with the other live values of their chain.
  int long_chain() const noexcept { return depth / 4; }
};
inline planner_limits& limits() noexcept {
  static constinit planner_limits l;
  return l;
}

}  // namespace sinter::graph
