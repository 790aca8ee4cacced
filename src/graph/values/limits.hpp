// The planner's limits, and hooks with which tests shrink them or make a flush fail.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sinter::graph {

struct planner_limits {
  int depth = 256;         // pending nodes in a chain before an array is evaluated when it is made
  int update_chain = 16;   // pending writes to one storage before they run
  int instructions = 192;  // of one kernel
  int inputs = 28;         // buffers read by one kernel
  int outputs = 8;         // buffers written by one kernel
  int parts = 16;          // regions of one array written by one kernel
  int expensive = 4;       // weight from which a smaller producer is computed once instead of in each iteration
  int smaller = 4;         // how many times smaller it must be
  bool fuse = true;        // false: every operation is its own kernel (tests compare the two)
  bool apart = true;       // false: few elements are reduced by kernels of reductions (tests look at such launches)
  std::size_t large_operand = std::size_t{16} << 20;  // bytes from which values pending over it are listed (relieve)
  int fail_allocation = -1;             // n: the n-th allocation of a flush from now on throws memory_error, once
  std::size_t cached_plans = 512;       // plans that are kept for graphs like theirs (plan_cache); 0: none
  std::size_t cached_bytes = 16 << 20;  // of these plans, about
  bool verify_cached = false;           // a plan that is used again is also made anew, and must be the same
  int fail_launch = -1;  // n: the n-th launch of a flush from now on likewise, after those before it have run

  /// Depth from which values are evaluated together with the other live values of their chain.
  int long_chain() const noexcept { return depth / 4; }
};
inline planner_limits& limits() noexcept {
  static constinit planner_limits l;
  return l;
}

/// What planning has done since the process began: tests bound it. Under the flush lock.
struct planning_counts {
  std::uint64_t made = 0, reused = 0;  // plans
  std::uint64_t lowered = 0;           // visits of nodes while kernels are built, those that are discarded included
  std::uint64_t compared = 0;          // pairs of kernels that might be joined
};
inline planning_counts& planning() noexcept {
  static constinit planning_counts c;
  return c;
}

}  // namespace sinter::graph
