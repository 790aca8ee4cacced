// Sorts the entries of each row by column, equal ones in their order, where no row is long. Includes nothing of CUDA, so that tests
// can run it thread by thread on the host.
//
// A block takes a row: an entry's place is the number of those that come before it, which its thread counts. Of the few entries
// of a row that takes less than the steps of a sort, each of which would wait for all threads.
#pragma once
#include "backends/cuda/sparse/transpose_kernels.cuh"

namespace sinter::cuda::device {

constexpr int csr_sort_threads = 128;
constexpr int csr_sort_most = 1024;  // entries of a row

template <class W, class I>
__global__ void __launch_bounds__(csr_sort_threads)
    csr_sort_rows(const csr_entries<W, I> e, const I* columns, I* new_columns, W* new_data) {
  __shared__ I known[csr_sort_most];
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t row = blockIdx.x; row < e.rows; row += gridDim.x) {
    const std::int64_t begin = e.indptr[row];
    const int count = static_cast<int>(static_cast<std::int64_t>(e.indptr[row + 1]) - begin);
    for (int k = thread; k < count; k += csr_sort_threads) known[k] = columns[begin + k];
    __syncthreads();
    for (int k = thread; k < count; k += csr_sort_threads) {
      const I own = known[k];
      int before = 0;
#pragma unroll 4
      for (int other = 0; other < count; ++other)
        before += known[other] < own || (known[other] == own && other < k) ? 1 : 0;
      new_columns[begin + before] = own;
      new_data[begin + before] = e.data[begin + k];
    }
    __syncthreads();  // all have read
  }
}

}  // namespace sinter::cuda::device
