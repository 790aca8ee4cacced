// The kernels that sum weights by bin as host functions.
#include "emulated/kernels/bin_sum.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/algorithms/bin_sum_kernels.cuh"

namespace emulated {
namespace {

namespace device = sinter::cuda::device;
using std::int64_t;

void parts(int64_t n, int64_t bin_count, int64_t& blocks, int64_t& per_warp, int& warps) {
  const device::bin_parts p = device::bin_parts_of(n, bin_count);
  blocks = p.blocks;
  per_warp = p.per_warp;
  warps = p.warps;
}
void sum_parts(const int64_t* bins, const double* weights, int64_t n, int64_t bin_count, double* tables) {
  static double own[device::bin_sum_bytes / 8];
  device::sum_part(bins, weights, n, bin_count, device::bin_parts_of(n, bin_count), own, tables);
}

}  // namespace

const bin_sum_kernels bin_sums{parts, sum_parts, device::sum_tables, device::table_bins,
                               device::table_bins* device::table_parts};

}  // namespace emulated
