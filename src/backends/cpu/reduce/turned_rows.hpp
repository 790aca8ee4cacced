// Products of one matrix with ever other vectors, in launches that are run again and again: a matrix that stays as it is is
// copied once so that the elements of a column lie side by side. Its rows are summed side by side then, in the order of
// rows.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "backends/cpu/kernels/repeated.hpp"
#include "backends/cpu/reduce/job.hpp"

namespace sinter::cpu {

class turned_rows {
 public:
  /// Null where the reduction is no such product, or its matrix does not lie in memory that stays as it is.
  static std::unique_ptr<turned_rows> make(const reduce_job& job, std::span<const unchanged_memory> unchanged);
  /// The finished sums of all rows, as a plane of accumulators.
  void* const* sums();

 private:
  turned_rows(const reduce_job& job, const row_pair& rows);
  void join_lanes();

  const reducer& reducer_;
  const lane_tree tree_;
  const int rows_, columns_;
  const std::size_t size_;
  const void* vector_;
  std::vector<char> matrix_, memory_;
  void* planes_[max_planes] = {};
};

}  // namespace sinter::cpu
