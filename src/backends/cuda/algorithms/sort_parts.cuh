// Functions shared by the sorts and selections.
#pragma once
#include "backends/cuda/algorithms/device_common.cuh"

namespace sinter::cuda::device {

/// Rows that one block can hold.
i64 longest_sorted_row(element type);
i64 longest_argsorted_row(element type);
/// For columns up to longest_sorted_row().
cudaError_t sort_rows(const context& c, const row_job& j, const void* from, void* to);
cudaError_t argsort_rows(const context& c, const row_job& j, const void* keys, i64* result);

/// Whole rows sorted by their keys, carrying 32-bit positions: the result is the positions (below 2^32 in all rows
/// together) in the order of rows and keys.
struct position_sort {
  row_job job;
  const void* keys = nullptr;
};
/// Bytes of a key that such a sort carries: 2 or 4.
int carried_key_bytes(element type);
/// The buffers: two for keys, two for positions, and CUB's.
struct position_buffers {
  void* keys[2];
  u32* positions[2];
  void* temporary;
  std::size_t temporary_bytes;
};
cudaError_t position_sort_temporary(const context& c, const row_job& j, std::size_t& bytes);
/// *sorted: which of the buffers has the positions.
cudaError_t sort_positions(const context& c, const position_sort& s, const position_buffers& b, u32*& sorted);

/// What is sorted by bin: the bins, and the weights or the positions that they had. Null: what is not there.
struct sorted_bins {
  const u32 *bins = nullptr, *weights = nullptr, *positions = nullptr;
};
/// Sorts positions 0 to n - 1 by bins[position], numbers of 4 or 8 bytes; bins outside [0, bin_count) go last, as bin_count. n is below
/// 2^32. Where bins have up to 32 bits, they are given too, and `weights`, 4 bytes each, if not null, are carried in place of
/// positions: what is read by position lies anywhere in memory.
cudaError_t bin_sort_temporary(const context& c, i64 n, i64 bin_count, std::size_t& bytes);
cudaError_t sort_by_bin(const context& c, const void* bins, int bytes_of_bin, i64 n, i64 bin_count, const u32* weights,
                        const position_buffers& b, sorted_bins& sorted);

/// The positions of the first k of each row, ascending. Scratch memory as for a partition of positions at one rank.
cudaError_t select_first_by_rank(const context& c, const row_job& j, i64 k, const void* keys, i64* result,
                                 void* scratch);

}  // namespace sinter::cuda::device
