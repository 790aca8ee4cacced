// Kernels for products of sparse matrices in compressed rows. Includes nothing of CUDA, so that tests can run them thread
// by thread on the host.
//
// With a vector: a block takes a tile of entries, whatever rows they belong to, so that all blocks do the same work. It
// multiplies them into shared memory and adds up the parts of rows in it. A row is written by the tile that it ends in
// (an empty one: in the tile of the entry before); what a row has in earlier tiles is carried to a second kernel, which
// adds carries in order. So each sum is taken in an order that follows from the matrix alone, without atomics.
// A block's time is that of loads that wait for each other, so there are few of them in a row: entries and the search for the
// tile's rows, then elements of x and the ends of rows. Entries, which are read once, leave the first cache to x.
//
// With a matrix: some lanes take a row, each the columns of X that are its own.
#pragma once
#include "backends/cuda/sparse/sparse_job.hpp"

namespace sinter::cuda::device {

/// How a block takes a tile: `each` entries a thread, which it loads `group` neighbours at a time.
template <int Threads, int Each, int Group>
struct csr_tiling {
  static constexpr int threads = Threads, each = Each, group = Group, tile = Threads * Each, warps = Threads / 32;
};
constexpr int csr_few = 8;  // rows of a tile that all threads add up together
constexpr int csr_join_threads = 128, csr_matrix_threads = 256;
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

/// How many rows end at or before an entry; by all lanes of a warp, which look at 32 places at a time: first at those where it
/// would be if all rows had the same length.
template <class I>
__device__ __forceinline__ std::int64_t csr_rows_before(const I* indptr, std::int64_t rows, std::int64_t entries,
                                                        std::int64_t entry, int lane) {
  std::int64_t low = 0, high = rows;
  const double part = entries > 0 ? static_cast<double>(entry) / static_cast<double>(entries) : 0;
  std::int64_t near = static_cast<std::int64_t>(part * static_cast<double>(rows)) - 16;
  near = near > rows - 32 ? rows - 32 : near;
  near = near < 0 ? 0 : near;
  for (std::int64_t from = near, step = 1; low < high; from = low, step = (high - low + 31) / 32) {
    const std::int64_t at = from + (lane + 1) * step - 1;
    const bool later = at >= high || static_cast<std::int64_t>(indptr[at + 1]) > entry;
    const unsigned found = __ballot_sync(csr_lanes, later);
    const int first = found != 0 ? __ffs(static_cast<int>(found)) - 1 : 32;
    if (first == 0 && from > low) {  // before the places that were looked at
      high = from;
      continue;
    }
    low = from + first * step;
    if (first < 32 && low + step - 1 < high) high = low + step - 1;
  }
  return low < rows ? low : rows;
}

/// A tile of entries [first, last): the parts of rows [first_row, last_row), which end in it, and of the next row.
struct csr_segments {
  std::int64_t tile, first, last, first_row, last_row;
};
/// Where a row's part begins and ends in the tile, and whether the row begins before it.
struct csr_part {
  int begin, end;
  bool before;
};
template <class I>
__device__ __forceinline__ csr_part csr_part_of(const csr_segments& s, const I* indptr, std::int64_t row) {
  const std::int64_t from = indptr[row], to = row < s.last_row ? static_cast<std::int64_t>(indptr[row + 1]) : s.last;
  return {static_cast<int>((from > s.first ? from : s.first) - s.first), static_cast<int>(to - s.first),
          from < s.first};
}
template <class T, class I>
__device__ __forceinline__ void csr_store(const csr_segments& s, const csr_job<T, I>& j, const csr_tiles<T>& tiles,
                                          std::int64_t row, bool before, T sum) {
  if (row == s.last_row) {
    tiles.carries[s.tile] = sum;
  } else if (before) {
    tiles.heads[s.tile] = sum;
    tiles.head_rows[s.tile] = row;
  } else {
    j.result[row] = csr_scaled(j, sum, row);
  }
}

/// N elements at an address that is a multiple of their size, which nothing will read again.
template <int N, class V>
__device__ __forceinline__ void csr_stream(V* to, const V* from) {
#if defined(__CUDA_ARCH__)
  static_assert(N * sizeof(V) == 16 || N * sizeof(V) == 8 || N * sizeof(V) == 4);
  unsigned word[N * sizeof(V) / 4];
  if constexpr (N * sizeof(V) == 16)
    asm("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
        : "l"(from));
  else if constexpr (N * sizeof(V) == 8)
    asm("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "l"(from));
  else asm("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(word[0]) : "l"(from));
  memcpy(to, word, sizeof word);
#else
  for (int i = 0; i < N; ++i) to[i] = from[i];
#endif
}
/// Where the k-th entry of a thread lies in its tile: of each threads * group the thread has `group` neighbours.
template <class P>
__device__ __forceinline__ int csr_slot(int k, int thread) {
  return (k / P::group * P::threads + thread) * P::group + k % P::group;
}
/// The thread's elements of a tile.
template <class P, class V>
__device__ __forceinline__ void csr_load(V (&to)[P::each], const V* from, int count, int thread, bool whole) {
  constexpr int n = P::group * sizeof(V) > 16 ? 16 / sizeof(V) : P::group;
  if (whole) {
#pragma unroll
    for (int k = 0; k < P::each; k += n) csr_stream<n>(to + k, from + csr_slot<P>(k, thread));
    return;
  }
#pragma unroll
  for (int k = 0; k < P::each; ++k) {
    const int at = csr_slot<P>(k, thread);
    if (at < count) to[k] = from[at];
  }
}

/// Blocks take tiles in turn. While one adds up the rows of a tile, the entries of its next one are on their way.
template <class T, class I, class P>
__global__ void __launch_bounds__(P::threads) csr_times_vector(const csr_job<T, I> j, const csr_tiles<T> tiles) {
  __shared__ T products[P::tile];
  __shared__ T warp_sums[csr_few][P::warps];
  __shared__ csr_part parts[csr_few];
  __shared__ std::int64_t bounds[2];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  T value[P::each];
  I column[P::each];
  const auto load = [&](std::int64_t first) {
    const int entries = static_cast<int>(j.entries - first < P::tile ? j.entries - first : P::tile);
    const bool whole = j.aligned && entries == P::tile;
    csr_load<P>(value, j.data + first, entries, thread, whole);
    if (j.x) csr_load<P>(column, j.indices + first, entries, thread, whole);
  };
  std::int64_t tile = blockIdx.x;
  if (tile < tiles.count) load(tile * P::tile);
  for (; tile < tiles.count; tile += gridDim.x) {
    const std::int64_t first = tile * P::tile, last = first + P::tile < j.entries ? first + P::tile : j.entries;
    const int entries = static_cast<int>(last - first);
    for (int end = warp; end < 2; end += P::warps) {
      const bool none_before = end == 0 && tile == 0;  // empty rows at the beginning are the first tile's
      const std::int64_t row =
          none_before ? 0 : csr_rows_before(j.indptr, j.rows, j.entries, end == 0 ? first : last, lane);
      if (lane == 0) bounds[end] = row;
    }
    if (thread == 0) tiles.head_rows[tile] = -1;
    __syncthreads();

    const csr_segments segments{tile, first, last, bounds[0], bounds[1]};
    // One more: what the next row has in this tile is carried.
    const std::int64_t count = segments.last_row - segments.first_row + (segments.last_row < j.rows ? 1 : 0);
    const bool few = count <= csr_few;
    int lanes = 1;  // for a row
    while (!few && lanes < 32 && 2 * lanes * count <= 2 * P::threads) lanes *= 2;
    const int groups = P::threads / lanes, mine = thread % lanes;
    std::int64_t s = thread / lanes;
    csr_part part{0, 0, false};
    if (s < count) part = csr_part_of(segments, j.indptr, segments.first_row + s);
    if (few && s < count) parts[s] = part;
#pragma unroll
    for (int k = 0; k < P::each; ++k) {
      const int at = csr_slot<P>(k, thread);
      if (at < entries) products[at] = j.x ? csr_product(value[k], j.x[column[k]]) : value[k];
    }
    if (tile + gridDim.x < tiles.count) load((tile + gridDim.x) * P::tile);
    __syncthreads();

    if (few) {
      for (int r = 0; r < count; ++r) {
        T sum{};
        for (int k = parts[r].begin + thread; k < parts[r].end; k += P::threads) sum = csr_sum(sum, products[k]);
        for (int step = 16; step > 0; step /= 2) sum = csr_sum(sum, csr_other(sum, step));
        if (lane == 0) warp_sums[r][warp] = sum;
      }
      __syncthreads();
      if (thread < count) {
        T sum = warp_sums[thread][0];
        for (int w = 1; w < P::warps; ++w) sum = csr_sum(sum, warp_sums[thread][w]);
        csr_store(segments, j, tiles, segments.first_row + thread, part.before, sum);
      }
      continue;
    }
    for (const std::int64_t end = (count + groups - 1) / groups * groups; s < end; s += groups) {
      T sum{};
      for (int k = part.begin + mine; k < part.end; k += lanes) sum = csr_sum(sum, products[k]);
      for (int step = lanes / 2; step > 0; step /= 2) sum = csr_sum(sum, csr_other(sum, step));
      if (s < count && mine == 0) csr_store(segments, j, tiles, segments.first_row + s, part.before, sum);
      part = {0, 0, false};
      if (s + groups < count) part = csr_part_of(segments, j.indptr, segments.first_row + s + groups);
    }
  }
}

/// The rows that lie in several tiles: carries in order, then the head.
template <class T, class I, class P>
__global__ void __launch_bounds__(csr_join_threads) csr_join_tiles(const csr_job<T, I> j, const csr_tiles<T> tiles) {
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * csr_join_threads + threadIdx.x;
  if (tile >= tiles.count || tiles.head_rows[tile] < 0) return;
  const std::int64_t row = tiles.head_rows[tile];
  T sum{};
  for (std::int64_t t = static_cast<std::int64_t>(j.indptr[row]) / P::tile; t < tile; ++t)
    sum = csr_sum(sum, tiles.carries[t]);
  j.result[row] = csr_scaled(j, csr_sum(sum, tiles.heads[tile]), row);
}

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
    j.result[at] = csr_scaled(j, sum, at);
  }
}

}  // namespace sinter::cuda::device
