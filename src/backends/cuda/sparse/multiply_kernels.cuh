// Kernels for products of sparse matrices in compressed rows. Includes nothing of CUDA, so that tests can run them thread
// by thread on the host.
//
// With a vector: a block takes a tile of entries, whatever rows they belong to, so that all blocks do the same work. It
// multiplies them into shared memory and adds up the parts of rows in it. A row is written by the tile that it ends in
// (an empty one: in the tile of the entry before); what a row has in earlier tiles is carried to a second kernel, which
// adds carries in order. So each sum is taken in an order that follows from the matrix alone, without atomics.
//
// With a matrix: some lanes take a row, each the columns of X that are its own.
#pragma once
#include "backends/cuda/sparse/sparse_job.hpp"

namespace sinter::cuda::device {

constexpr int csr_threads = 256, csr_each = 8, csr_tile = csr_threads * csr_each, csr_warps = csr_threads / 32;
constexpr unsigned csr_lanes = 0xffffffffu;

template <class T>
__device__ __forceinline__ T csr_product(T a, T b) {
  return a * b;
}
template <class T>
__device__ __forceinline__ T csr_sum(T a, T b) {
  return a + b;
}
template <class R>
__device__ __forceinline__ complex_pair<R> csr_product(complex_pair<R> a, complex_pair<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R>
__device__ __forceinline__ complex_pair<R> csr_sum(complex_pair<R> a, complex_pair<R> b) {
  return {a.re + b.re, a.im + b.im};
}
/// The value of the lane whose number differs in the bits of `step`.
template <class T>
__device__ __forceinline__ T csr_other(T v, int step) {
  return __shfl_xor_sync(csr_lanes, v, step);
}
template <class R>
__device__ __forceinline__ complex_pair<R> csr_other(complex_pair<R> v, int step) {
  return {__shfl_xor_sync(csr_lanes, v.re, step), __shfl_xor_sync(csr_lanes, v.im, step)};
}

template <class T, class I>
__device__ __forceinline__ T csr_scaled(const csr_job<T, I>& j, T sum, std::int64_t at) {
  if (j.scaled) sum = csr_product(j.alpha, sum);
  if (j.y) sum = csr_sum(sum, j.weighted ? csr_product(j.beta, j.y[at]) : j.y[at]);
  return sum;
}

/// How many rows end at or before an entry; by all lanes of a warp, which look at 32 places at a time.
template <class I>
__device__ __forceinline__ std::int64_t csr_rows_before(const I* indptr, std::int64_t rows, std::int64_t entry,
                                                        int lane) {
  std::int64_t low = 0, high = rows;
  while (low < high) {
    const std::int64_t step = (high - low + 31) / 32, at = low + (lane + 1) * step - 1;
    const bool later = at >= high || static_cast<std::int64_t>(indptr[at + 1]) > entry;
    const unsigned found = __ballot_sync(csr_lanes, later);
    const int first = found != 0 ? __ffs(static_cast<int>(found)) - 1 : 32;
    low += first * step;
    if (first == 32) break;
    if (low + step - 1 < high) high = low + step - 1;
  }
  return low < rows ? low : rows;
}

/// A tile of entries [first, last): the parts of rows [first_row, last_row), which end in it, and of the next row.
struct csr_segments {
  std::int64_t tile, first, last, first_row, last_row;
};
/// Where a row's part begins and ends in the tile.
template <class I>
__device__ __forceinline__ int csr_begin(const csr_segments& s, const I* indptr, std::int64_t row) {
  const std::int64_t at = indptr[row];
  return static_cast<int>((at > s.first ? at : s.first) - s.first);
}
template <class I>
__device__ __forceinline__ int csr_end(const csr_segments& s, const I* indptr, std::int64_t row) {
  return static_cast<int>((row < s.last_row ? static_cast<std::int64_t>(indptr[row + 1]) : s.last) - s.first);
}
template <class T, class I>
__device__ __forceinline__ void csr_store(const csr_segments& s, const csr_job<T, I>& j, const csr_tiles<T>& tiles,
                                          std::int64_t row, T sum) {
  if (row == s.last_row) {
    tiles.carries[s.tile] = sum;
  } else if (static_cast<std::int64_t>(j.indptr[row]) < s.first) {
    tiles.heads[s.tile] = sum;
    tiles.head_rows[s.tile] = row;
  } else {
    j.result[row] = csr_scaled(j, sum, row);
  }
}

template <class T, class I>
__global__ void __launch_bounds__(csr_threads) csr_times_vector(const csr_job<T, I> j, const csr_tiles<T> tiles) {
  __shared__ T products[csr_tile];
  __shared__ T warp_sums[csr_warps];
  __shared__ std::int64_t bounds[2];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const std::int64_t tile = blockIdx.x, first = tile * csr_tile;
  const std::int64_t last = first + csr_tile < j.entries ? first + csr_tile : j.entries;
  T value[csr_each];
  I column[csr_each];
#pragma unroll
  for (int k = 0; k < csr_each; ++k) {
    const std::int64_t at = first + k * csr_threads + thread;
    if (at < last) {
      value[k] = j.data[at];
      column[k] = j.x ? j.indices[at] : I(0);
    }
  }
  // The loads above are on their way meanwhile.
  if (warp < 2) {
    const bool none_before = warp == 0 && tile == 0;  // empty rows at the beginning are the first tile's
    const std::int64_t row = none_before ? 0 : csr_rows_before(j.indptr, j.rows, warp == 0 ? first : last, lane);
    if (lane == 0) bounds[warp] = row;
  }
#pragma unroll
  for (int k = 0; k < csr_each; ++k) {
    const int at = k * csr_threads + thread;
    if (first + at < last) products[at] = j.x ? csr_product(value[k], j.x[column[k]]) : value[k];
  }
  if (thread == 0) tiles.head_rows[tile] = -1;
  __syncthreads();

  const csr_segments segments{tile, first, last, bounds[0], bounds[1]};
  // The row after the last one that ends here: what it has in this tile is carried.
  const bool carried = segments.last_row < j.rows && static_cast<std::int64_t>(j.indptr[segments.last_row]) < last;
  const std::int64_t count = segments.last_row - segments.first_row + (carried ? 1 : 0);
  if (count <= csr_warps) {
    for (std::int64_t s = 0; s < count; ++s) {
      const std::int64_t row = segments.first_row + s;
      const int end = csr_end(segments, j.indptr, row);
      T sum{};
      for (int k = csr_begin(segments, j.indptr, row) + thread; k < end; k += csr_threads)
        sum = csr_sum(sum, products[k]);
      for (int step = 16; step > 0; step /= 2) sum = csr_sum(sum, csr_other(sum, step));
      if (lane == 0) warp_sums[warp] = sum;
      __syncthreads();
      if (thread == 0) {
        for (int w = 1; w < csr_warps; ++w) sum = csr_sum(sum, warp_sums[w]);
        csr_store(segments, j, tiles, row, sum);
      }
      __syncthreads();
    }
    return;
  }
  int lanes = 1;  // for a row
  while (lanes < 32 && 2 * lanes * count <= 2 * csr_threads) lanes *= 2;
  const int groups = csr_threads / lanes, group = thread / lanes, mine = thread % lanes;
  for (std::int64_t s = 0; s < count; s += groups) {
    const std::int64_t row = segments.first_row + s + group;
    const bool there = s + group < count;
    const int end = there ? csr_end(segments, j.indptr, row) : 0;
    T sum{};
    for (int k = (there ? csr_begin(segments, j.indptr, row) : 0) + mine; k < end; k += lanes)
      sum = csr_sum(sum, products[k]);
    for (int step = lanes / 2; step > 0; step /= 2) sum = csr_sum(sum, csr_other(sum, step));
    if (there && mine == 0) csr_store(segments, j, tiles, row, sum);
  }
}

/// The rows that lie in several tiles: carries in order, then the head.
template <class T, class I>
__global__ void __launch_bounds__(csr_threads)
    csr_join_tiles(const csr_job<T, I> j, const csr_tiles<T> tiles, std::int64_t count) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * csr_threads + threadIdx.x;
  if (tile >= count || tiles.head_rows[tile] < 0) return;
  const std::int64_t row = tiles.head_rows[tile];
  T sum{};
  for (std::int64_t t = static_cast<std::int64_t>(j.indptr[row]) / csr_tile; t < tile; ++t)
    sum = csr_sum(sum, tiles.carries[t]);
  j.result[row] = csr_scaled(j, csr_sum(sum, tiles.heads[tile]), row);
}

/// `lanes`, a power of two up to 32, take a row.
template <class T, class I>
__global__ void __launch_bounds__(csr_threads) csr_times_matrix(const csr_job<T, I> j, int lanes) {
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (csr_threads / lanes) + thread / lanes;
  if (row >= j.rows) return;
  const std::int64_t begin = j.indptr[row], end = j.indptr[row + 1],
                     step = static_cast<std::int64_t>(gridDim.y) * lanes;
  for (std::int64_t c = static_cast<std::int64_t>(blockIdx.y) * lanes + thread % lanes; c < j.width; c += step) {
    T sum{};
    for (std::int64_t k = begin; k < end; ++k)
      sum = csr_sum(sum, csr_product(j.data[k], j.x[static_cast<std::int64_t>(j.indices[k]) * j.width + c]));
    const std::int64_t at = row * j.width + c;
    j.result[at] = csr_scaled(j, sum, at);
  }
}

}  // namespace sinter::cuda::device
