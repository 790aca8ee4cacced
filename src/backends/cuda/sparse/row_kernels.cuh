// Kernels for products of sparse matrices in compressed rows with a vector. Includes nothing of CUDA, so that tests can run
// them thread by thread on the host.
//
// Neighbouring lanes take a row: so many that each has a few entries, and a warp's loads cover what lies side by side. The
// k-th entry of the matrix belongs to lane k modulo their number, wherever its row begins: what a warp loads for a row begins
// at multiples of a cache line. A row that is much longer than others is added up by its whole warp. A giant, which would
// keep a warp too long, is divided into tiles of entries, of which blocks of another kernel have one each; a third kernel
// adds the sums of tiles in order. So each sum is taken in an order that follows from the matrix alone, without atomics.
//
// Where rows are long and x fits into shared memory it is gathered from there: banks take 32 places at random in three or four
// turns, the cache as many lines as they lie in.
#pragma once
#include <type_traits>

#include "backends/cuda/sparse/csr_numbers.cuh"

namespace sinter::cuda::device {

/// Of a block: small ones where a warp has a row, so that the next ones begin as soon as rows end.
template <int Lanes>
constexpr int csr_row_threads = Lanes == 32 ? 128 : 256;
constexpr int csr_resident_threads = 512, csr_normal_threads = 1024, csr_giant_threads = 128, csr_join_threads = 128;
constexpr int csr_patience = 64;      // entries for each lane of a row; if there are more, the warp takes it
constexpr int csr_giant = 8192;       // entries of a row; if there are more, it is divided
constexpr int csr_giant_tile = 4096;  // at most half of that: no giant lies inside of a tile

/// Numbers of entries, and some beyond.
template <class I>
using csr_position = std::conditional_t<sizeof(I) == 4, unsigned, std::int64_t>;

/// The shared memory that a launch asks for.
template <class T>
__device__ __forceinline__ T* csr_room() {
#if defined(__CUDACC__)
  extern __shared__ __align__(16) unsigned char csr_bytes[];
#else
  alignas(16) static unsigned char csr_bytes[1 << 18];
#endif
  return reinterpret_cast<T*>(csr_bytes);
}

/// What a lane has of the entries [begin, end), of which it loads Each at a time. Streamed: nothing reads them again.
template <int Lanes, int Each, bool Streamed, class T, class I>
__device__ __forceinline__ T csr_lane_sum(const csr_job<T, I>& j, const T* x, csr_position<I> begin,
                                          csr_position<I> end, int lane) {
  using P = csr_position<I>;
  T sum{};
  for (P k = begin - begin % Lanes + static_cast<P>(lane); k < end; k += Lanes * Each) {
    T value[Each];
    I column[Each];
#pragma unroll
    for (int i = 0; i < Each; ++i) {
      const P at = k + static_cast<P>(i * Lanes);
      if (at < begin || at >= end) continue;
      csr_load<Streamed>(value[i], j.data + at);
      if (x) csr_load<Streamed>(column[i], j.indices + at);
    }
#pragma unroll
    for (int i = 0; i < Each; ++i) {
      const P at = k + static_cast<P>(i * Lanes);
      if (at < begin || at >= end) continue;
      sum = csr_sum(sum, x ? csr_product(value[i], x[column[i]]) : value[i]);
    }
  }
  return sum;
}
template <int Lanes, class T>
__device__ __forceinline__ T csr_sum_of_lanes(T sum) {
#pragma unroll
  for (int step = Lanes / 2; step > 0; step /= 2) sum = csr_sum(sum, csr_other(sum, step));
  return sum;
}

/// Of a warp whose lanes have row `row` each, Lanes of them the same one. Giants are left out.
template <int Lanes, int Each, bool Streamed, class T, class I>
__device__ __forceinline__ void csr_take_rows(const csr_job<T, I>& j, const T* x, std::int64_t row, int lane) {
  using P = csr_position<I>;
  const bool there = row < j.rows;
  P begin = 0, end = 0;
  T added{};
  if (there) {
    begin = static_cast<P>(j.indptr[row]);
    end = static_cast<P>(j.indptr[row + 1]);
    if (j.y) added = j.y[row];
  }
  const bool giant = end - begin > csr_giant, helped = Lanes < 32 && !giant && end - begin > Lanes * csr_patience;
  T sum{};
  if (!giant && !helped) sum = csr_lane_sum<Lanes, Each, Streamed>(j, x, begin, end, lane % Lanes);
  sum = csr_sum_of_lanes<Lanes>(sum);
  if (Lanes < 32) {
    for (unsigned waiting = __ballot_sync(csr_lanes, helped && lane % Lanes == 0); waiting != 0;
         waiting &= waiting - 1) {
      const int from = __ffs(static_cast<int>(waiting)) - 1;
      const P first = __shfl_sync(csr_lanes, begin, from), last = __shfl_sync(csr_lanes, end, from);
      const T whole = csr_sum_of_lanes<32>(csr_lane_sum<32, Each, Streamed>(j, x, first, last, lane));
      if (lane == from) sum = whole;
    }
  }
  if (there && !giant && lane % Lanes == 0) j.result[row] = csr_scaled(j, sum, added);
}

/// Blocks of csr_row_threads threads, each with as many rows as it has groups of lanes.
template <class T, class I, int Lanes, int Each>
__global__ void __launch_bounds__(csr_row_threads<Lanes>) csr_times_vector(const csr_job<T, I> j) {
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (csr_row_threads<Lanes> / Lanes) + thread / Lanes;
  csr_take_rows<Lanes, Each, Lanes == 32>(j, j.x, row, thread % 32);
}

/// As many blocks as run at a time, with x, of j.columns elements, in their shared memory; a warp takes a row. Those that are left
/// when all warps have had as many are spread over all blocks.
template <class T, class I, int Each>
__global__ void __launch_bounds__(csr_resident_threads) csr_times_near_vector(const csr_job<T, I> j) {
  T* const x = csr_room<T>();
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll 8
  for (std::int64_t k = thread; k < j.columns; k += csr_resident_threads) x[k] = j.x[k];
  __syncthreads();
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * (csr_resident_threads / 32);
  for (std::int64_t row = static_cast<std::int64_t>(thread / 32) * gridDim.x + blockIdx.x; row < j.rows; row += step)
    csr_take_rows<32, Each, true>(j, static_cast<const T*>(x), row, thread % 32);
}

/// A block's part of entries [begin, end), known to all of its threads.
template <class T, class I>
__device__ __forceinline__ T csr_block_sum(const csr_job<T, I>& j, std::int64_t begin, std::int64_t end) {
  __shared__ T sums[csr_giant_threads / 32];
  using P = csr_position<I>;
  const int thread = static_cast<int>(threadIdx.x);
  const T mine = csr_sum_of_lanes<32>(
      csr_lane_sum<csr_giant_threads, 8, true>(j, j.x, static_cast<P>(begin), static_cast<P>(end), thread));
  __syncthreads();  // the sums of the part before have been read
  if (thread % 32 == 0) sums[thread / 32] = mine;
  __syncthreads();
  T sum = sums[0];
  for (int w = 1; w < csr_giant_threads / 32; ++w) sum = csr_sum(sum, sums[w]);
  return sum;
}

/// A block for each tile: what giants have in it.
template <class T, class I>
__global__ void __launch_bounds__(csr_giant_threads) csr_giant_rows(const csr_job<T, I> j, const csr_tiles<T> tiles) {
  __shared__ std::int64_t at[2];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t tile = blockIdx.x, first = tile * csr_giant_tile,
                     last = first + csr_giant_tile < j.entries ? first + csr_giant_tile : j.entries;
  if (thread < 64) {  // the rows of the first entry and of the last one
    const std::int64_t row = csr_rows_before(j.indptr, j.rows, j.entries, thread < 32 ? first : last - 1, thread % 32);
    if (thread % 32 == 0) at[thread / 32] = row;
  }
  __syncthreads();
  std::int64_t head = -1;
  for (int k = 0; k < 2; ++k) {
    const std::int64_t row = at[k];
    if (k == 1 && row == at[0]) break;
    const std::int64_t begin = j.indptr[row], end = j.indptr[row + 1];
    if (end - begin <= csr_giant) continue;
    const T sum = csr_block_sum(j, begin > first ? begin : first, end < last ? end : last);
    if (end <= last) head = row;
    if (thread == 0) (end <= last ? tiles.heads : tiles.carries)[tile] = sum;
  }
  if (thread == 0) tiles.head_rows[tile] = head;
}

/// Giants: the sums of their tiles in order, by a warp where one ends.
template <class T, class I>
__global__ void __launch_bounds__(csr_join_threads) csr_join_giants(const csr_job<T, I> j, const csr_tiles<T> tiles) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t tile =
      static_cast<std::int64_t>(blockIdx.x) * (csr_join_threads / 32) + static_cast<int>(threadIdx.x) / 32;
  if (tile >= tiles.count || tiles.head_rows[tile] < 0) return;
  const std::int64_t row = tiles.head_rows[tile];
  T sum{};
  for (std::int64_t t = static_cast<std::int64_t>(j.indptr[row]) / csr_giant_tile + lane; t < tile; t += 32)
    sum = csr_sum(sum, tiles.carries[t]);
  sum = csr_sum(csr_sum_of_lanes<32>(sum), tiles.heads[tile]);
  if (lane == 0) j.result[row] = csr_scaled(j, sum, j.y ? j.y[row] : T{});
}

}  // namespace sinter::cuda::device
