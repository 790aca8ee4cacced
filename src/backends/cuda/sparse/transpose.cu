// Transposes: positions sorted by column in as many passes of eight bits as columns need (stable, so that rows ascend within
// columns), then one pass that gathers elements and finds rows.
#include "backends/cuda/algorithms/sort_parts.cuh"
#include "backends/cuda/sparse/device_sparse.hpp"
#include "backends/cuda/sparse/transpose_kernels.cuh"

namespace sinter::cuda::device {
namespace {

constexpr int threads = 256;

struct transpose_layout {
  position_buffers buffers{};
  std::size_t scratch = 0;
};
cudaError_t layout_of(const context& c, i64 entries, i64 columns, void* scratch, transpose_layout& l) {
  SINTER_TRY(bin_sort_temporary(c, entries, columns, l.buffers.temporary_bytes));
  pieces p(scratch);
  for (int k = 0; k < 2; ++k) l.buffers.keys[k] = p.take<u32>(entries);
  for (int k = 0; k < 2; ++k) l.buffers.positions[k] = p.take<u32>(entries);
  l.buffers.temporary = p.take<char>(static_cast<i64>(l.buffers.temporary_bytes));
  l.scratch = p.used();
  return cudaSuccess;
}

template <class I, class W>
cudaError_t place(const context& c, const transpose_job& j, const u32* positions) {
  const csr_entries<W, I> e{j.rows, j.entries, static_cast<const W*>(j.data), static_cast<const I*>(j.indptr)};
  return launch(c, csr_place<W, I>, looping_blocks(c, j.entries, threads), threads, 0, e, positions,
                static_cast<I*>(j.new_indices), static_cast<W*>(j.new_data));
}

template <class I>
cudaError_t transpose(const context& c, const transpose_job& j, const transpose_layout& l) {
  sorted_bins sorted;
  SINTER_TRY(sort_by_bin(c, j.indices, sizeof(I), j.entries, j.columns, nullptr, l.buffers, sorted));
  SINTER_TRY(launch(c, csr_column_starts<I>, looping_blocks(c, j.columns + 1, threads), threads, 0, sorted.bins,
                    j.entries, j.columns, static_cast<I*>(j.new_indptr)));
  switch (j.bytes) {
    case 1: return place<I, u8>(c, j, sorted.positions);
    case 2: return place<I, u16>(c, j, sorted.positions);
    case 4: return place<I, u32>(c, j, sorted.positions);
    case 8: return place<I, u64>(c, j, sorted.positions);
    default: return place<I, csr_wide_word>(c, j, sorted.positions);
  }
}

}  // namespace

bool can_transpose(std::int64_t entries, std::int64_t columns) {
  constexpr i64 most = 0xfffffffe;  // positions and columns are 32-bit words in the sort
  return entries <= most && columns <= most;
}

cudaError_t transpose_scratch(const context& c, std::int64_t entries, std::int64_t columns, std::size_t& bytes) {
  transpose_layout l;
  SINTER_TRY(layout_of(c, entries, columns, nullptr, l));
  bytes = l.scratch;
  return cudaSuccess;
}

cudaError_t transpose(const context& c, const transpose_job& j, void* scratch) {
  const std::size_t index_bytes = j.wide ? sizeof(i64) : sizeof(int);
  if (j.entries == 0)
    return cudaMemsetAsync(j.new_indptr, 0, static_cast<std::size_t>(j.columns + 1) * index_bytes, c.stream);
  transpose_layout l;
  SINTER_TRY(layout_of(c, j.entries, j.columns, scratch, l));
  return j.wide ? transpose<i64>(c, j, l) : transpose<int>(c, j, l);
}

}  // namespace sinter::cuda::device
