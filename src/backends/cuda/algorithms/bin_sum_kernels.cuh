// The kernels that sum weights by bin where a table of all bins fits into shared memory. Each warp adds its part of the
// elements, in their order, to a table of its own; then the warps' tables of a block, and then those of the blocks, are
// added in order. Parts follow from the sizes alone, so the order of the additions does.
//
// Only headers of the host compiler are included, so that tests run these kernels without a GPU.
#pragma once
#include <cstdint>

namespace sinter::cuda::device {

inline constexpr int bin_sum_bytes = 64 * 1024;  // of a block's tables, which every GPU has
inline constexpr int most_bin_warps = 8;
inline constexpr int bin_sum_ahead = 4;  // groups of 32 elements whose loads a warp has in flight
inline constexpr int table_bins = 32, table_parts = 16;

/// Equal parts of the elements: `blocks` of `warps` of `per_warp` elements.
struct bin_parts {
  std::int64_t blocks = 1, per_warp = 0;
  int warps = 1;
};
/// For bins of which a table fits; `n` > 0.
inline bin_parts bin_parts_of(std::int64_t n, std::int64_t bin_count) {
  constexpr std::int64_t most_blocks = 384, least_elements = 1024, group = 32 * bin_sum_ahead;
  bin_parts p;
  while (p.warps < most_bin_warps && 2 * p.warps * bin_count * 8 <= bin_sum_bytes) p.warps *= 2;
  // Tables are cleared and added up, so no more than elements pay for.
  const std::int64_t least = 4 * bin_count > least_elements * p.warps ? 4 * bin_count : least_elements * p.warps;
  p.blocks = n / least < 1 ? 1 : n / least < most_blocks ? n / least : most_blocks;
  const std::int64_t parts = p.blocks * p.warps;
  p.per_warp = ((n + parts - 1) / parts + group - 1) / group * group;
  return p;
}

/// The active lanes whose bins, numbers of `bits` bits, are equal to the lane's. Ballots find them in half the time that
/// the instruction for it takes.
__device__ __forceinline__ unsigned lanes_of_bin(unsigned bin, int bits, bool active) {
  unsigned same = __ballot_sync(0xffffffffu, active);
#pragma unroll 1
  for (int b = 0; b < bits; ++b) {
    const bool set = ((bin >> b) & 1u) != 0;
    const unsigned lanes = __ballot_sync(0xffffffffu, set);
    same &= set ? lanes : ~lanes;
  }
  return same;
}

/// Adds a weight to each active lane's bin. Lanes with equal bins take turns, in their order.
__device__ __forceinline__ void add_in_turns(double* table, unsigned bin, int bits, double weight, bool active) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned peers = lanes_of_bin(bin, bits, active);
  const int turn = __popc(peers & ((1u << lane) - 1u));
  for (int t = 0; __any_sync(0xffffffffu, active && turn >= t); ++t) {
    if (active && turn == t) table[bin] += weight;
    __syncwarp();
  }
}

/// tables[block][bin] = the sum over the block's elements. `own`: shared memory for a table of each warp.
template <class Bin, class Weight>
__device__ __forceinline__ void sum_part(const Bin* bins, const Weight* weights, std::int64_t n, std::int64_t bin_count,
                                         const bin_parts& p, double* own, double* tables) {
  const int warp = static_cast<int>(threadIdx.x / 32), threads = 32 * p.warps;
  int bits = 0;
  while (bin_count > std::int64_t{1} << bits) ++bits;
  for (std::int64_t k = threadIdx.x; k < bin_count * p.warps; k += threads) own[k] = 0;
  __syncthreads();
  const std::int64_t begin = (static_cast<std::int64_t>(blockIdx.x) * p.warps + warp) * p.per_warp;
  const std::int64_t end = begin + p.per_warp < n ? begin + p.per_warp : n;
  for (std::int64_t base = begin; base < end; base += 32 * bin_sum_ahead) {
    Bin bin[bin_sum_ahead];
    Weight weight[bin_sum_ahead];
#pragma unroll
    for (int a = 0; a < bin_sum_ahead; ++a) {
      const std::int64_t k = base + 32 * a + threadIdx.x % 32;
      bin[a] = k < end ? bins[k] : Bin{-1};
      weight[a] = k < end ? weights[k] : Weight{0};
    }
#pragma unroll
    for (int a = 0; a < bin_sum_ahead; ++a)
      add_in_turns(own + warp * bin_count, static_cast<unsigned>(bin[a]), bits, static_cast<double>(weight[a]),
                   bin[a] >= 0 && bin[a] < bin_count);
  }
  __syncthreads();
  double* const to = tables + static_cast<std::int64_t>(blockIdx.x) * bin_count;
  for (std::int64_t b = threadIdx.x; b < bin_count; b += threads) {
    double sum = own[b];
    for (int w = 1; w < p.warps; ++w) sum += own[w * bin_count + b];
    to[b] = sum;
  }
}

/// sums[bin] = the sum of the blocks' tables: of every sixteenth, then of these sums. A block has table_bins bins.
static __global__ void __launch_bounds__(table_bins* table_parts)
    sum_tables(const double* tables, std::int64_t blocks, std::int64_t bin_count, double* sums) {
  __shared__ double parts[table_parts][table_bins];
  const int column = static_cast<int>(threadIdx.x % table_bins), part = static_cast<int>(threadIdx.x / table_bins);
  const std::int64_t bin = static_cast<std::int64_t>(blockIdx.x) * table_bins + column;
  double sum = 0;
  if (bin < bin_count)
#pragma unroll 4
    for (std::int64_t k = part; k < blocks; k += table_parts) sum += tables[k * bin_count + bin];
  parts[part][column] = sum;
  __syncthreads();
  if (part != 0 || bin >= bin_count) return;
  for (int k = 1; k < table_parts; ++k) sum += parts[k][column];
  sums[bin] = sum;
}

}  // namespace sinter::cuda::device
