// Kernels that put the entries of a matrix in compressed rows in the order of their columns, after a stable sort of positions by
// column. Includes nothing of CUDA, so that tests can run them thread by thread on the host.
#pragma once
#include "backends/cuda/sparse/sparse_job.hpp"

namespace sinter::cuda::device {

/// Entries of 1, 2, 4, 8 or 16 bytes as words of device code.
struct csr_wide_word {
  unsigned long long low, high;
};

/// Where each column's entries begin in the sorted columns: indptr of `columns` + 1 numbers.
template <class I>
__global__ void csr_column_starts(const std::uint32_t* sorted, std::int64_t entries, std::int64_t columns, I* indptr) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; c <= columns; c += step) {
    std::int64_t low = 0, high = entries;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (static_cast<std::int64_t>(sorted[middle]) < c) low = middle + 1;
      else high = middle;
    }
    indptr[c] = static_cast<I>(low);
  }
}

/// The row of an entry. The search begins where it would be if all rows had the same length, and goes away from there in steps
/// that double.
template <class I>
__device__ __forceinline__ std::int64_t csr_row_of(const I* indptr, std::int64_t rows, std::int64_t entries,
                                                   std::int64_t entry) {
  const double part = static_cast<double>(entry) / static_cast<double>(entries);
  std::int64_t low = static_cast<std::int64_t>(part * static_cast<double>(rows));
  low = low < rows ? low : rows - 1;
  std::int64_t high = low + 1;  // the row is in [low, high) once indptr[low] <= entry < indptr[high]
  for (std::int64_t step = 1; static_cast<std::int64_t>(indptr[low]) > entry; step *= 2) {
    high = low;
    low = low > step ? low - step : 0;
  }
  for (std::int64_t step = 1; static_cast<std::int64_t>(indptr[high]) <= entry; step *= 2) {
    low = high;
    high = high < rows - step ? high + step : rows;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (static_cast<std::int64_t>(indptr[middle]) <= entry) low = middle;
    else high = middle;
  }
  return low;
}

/// The entries at these positions: elements and rows.
template <class W, class I>
__global__ void csr_place(const csr_entries<W, I> e, const std::uint32_t* positions, I* rows, W* data) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < e.entries; k += step) {
    const std::int64_t at = positions[k];
    data[k] = e.data[at];
    rows[k] = static_cast<I>(csr_row_of(e.indptr, e.rows, e.entries, at));
  }
}

}  // namespace sinter::cuda::device
