// The kernels that sum weights by bin as functions of the host.
#pragma once
#include <cstdint>

namespace emulated {

struct bin_sum_kernels {
  /// The sizes that the parts follow from.
  void (*parts)(std::int64_t n, std::int64_t bin_count, std::int64_t& blocks, std::int64_t& per_warp, int& warps);
  void (*sum_parts)(const std::int64_t* bins, const double* weights, std::int64_t n, std::int64_t bin_count,
                    double* tables);
  void (*sum_tables)(const double* tables, std::int64_t blocks, std::int64_t bin_count, double* sums);
  int bins_of_block, threads_of_block;
};
extern const bin_sum_kernels bin_sums;

}  // namespace emulated
