// Kernels for products of sparse matrices in compressed rows with a matrix: some lanes take a row, each the columns of X that are
// its own. Includes nothing of CUDA, so that tests can run them thread by thread on the host.
#pragma once
#include "backends/cuda/sparse/csr_numbers.cuh"

namespace sinter::cuda::device {

constexpr int csr_matrix_threads = 256;

/// `lanes`, a power of two up to 32, take a row.
template <class T, class I>
__global__ void __launch_bounds__(csr_matrix_threads) csr_times_matrix(const csr_job<T, I> j, int lanes) {
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (csr_matrix_threads / lanes) + thread / lanes;
  if (row >= j.rows) return;
  const std::int64_t begin = j.indptr[row], end = j.indptr[row + 1],
                     step = static_cast<std::int64_t>(gridDim.y) * lanes;
  for (std::int64_t c = static_cast<std::int64_t>(blockIdx.y) * lanes + thread % lanes; c < j.width; c += step) {
    T sum{};
    for (std::int64_t k = begin; k < end; ++k)
      sum = csr_sum(sum, csr_product(j.data[k], j.x[static_cast<std::int64_t>(j.indices[k]) * j.width + c]));
    const std::int64_t at = row * j.width + c;
    j.result[at] = csr_scaled(j, sum, j.y ? j.y[at] : T{});
  }
}

}  // namespace sinter::cuda::device
