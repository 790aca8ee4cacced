// The nearest neighbour by the two-kernel scheme of GPU workshops (kernels/two_kernel.cu).
#pragma once
#include "search.hpp"

namespace nearest_neighbor {

/// Needs a GPU, and 256 bytes of it for each row.
class two_kernel_search {
 public:
  explicit two_kernel_search(bool fast_math);
  /// p (M, 2), q (N, 2) on one GPU. Enqueues everything and returns.
  neighbours operator()(const ndarray& p, const ndarray& q) const;

 private:
  sn::raw_kernel blocks_, rows_;
};

}  // namespace nearest_neighbor
