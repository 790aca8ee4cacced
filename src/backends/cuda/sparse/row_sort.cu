// Launches of the kernel that sorts rows.
#include "backends/cuda/algorithms/device_common.cuh"
#include "backends/cuda/sparse/device_sparse.hpp"
#include "backends/cuda/sparse/row_sort_kernels.cuh"

namespace sinter::cuda::device {
namespace {

template <class W, class I>
cudaError_t sort_words(const context& c, const row_sort_job& j) {
  const csr_entries<W, I> e{j.rows, j.entries, static_cast<const W*>(j.data), static_cast<const I*>(j.indptr)};
  constexpr i64 most = 0x7fffffff;  // blocks
  return launch(c, csr_sort_rows<W, I>, j.rows < most ? j.rows : most, csr_sort_threads, 0, e,
                static_cast<const I*>(j.indices), static_cast<I*>(j.new_indices), static_cast<W*>(j.new_data));
}

template <class I>
cudaError_t sort_entries(const context& c, const row_sort_job& j) {
  switch (j.bytes) {
    case 1: return sort_words<u8, I>(c, j);
    case 2: return sort_words<u16, I>(c, j);
    case 4: return sort_words<u32, I>(c, j);
    case 8: return sort_words<u64, I>(c, j);
    default: return sort_words<csr_wide_word, I>(c, j);
  }
}

}  // namespace

// A block for each row costs as much as sorting some entries by two transposes does.
bool can_sort_rows(std::int64_t rows, std::int64_t entries, std::int64_t longest) {
  return longest >= 0 && longest <= csr_sort_most && entries / 8 >= rows;
}

cudaError_t sort_rows(const context& c, const row_sort_job& j) {
  if (j.rows == 0 || j.entries == 0) return cudaSuccess;
  return j.wide ? sort_entries<i64>(c, j) : sort_entries<int>(c, j);
}

}  // namespace sinter::cuda::device
