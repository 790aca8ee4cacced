// Scans of long rows, one pass over memory.
//
// A variant of the decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
// Look-back", 2016). A row is divided into tiles; the status of each, in global memory, holds its total. One block runs
// on each multiprocessor (a cooperative launch, so that all are resident) and takes every gridDim.x-th tile. It works
// ahead: while tile n is scanned and stored, tile n + 1 waits in shared memory for the total of all tiles before it,
// the total of tile n + 2 is stored and tile n + 3 is being copied. One warp stores totals, another one sums those of
// other blocks, so that the total before a tile is known when the tile is scanned.
//
// Floating-point results must be the same in every run, so totals are never joined in order of arrival: those of 32
// tiles by a tree, these sums sequentially, then the tiles of the last, incomplete group of 32.
#pragma once
#include <algorithm>

#include "backends/cuda/algorithms/scan_plan.cuh"
#include "backends/cuda/algorithms/scan_values.cuh"

namespace sinter::cuda::device {

// --- the status of tiles

/// Each 32-bit word is stored with its valid flag as one 64-bit word, so that no memory fence is needed.
__device__ __forceinline__ void store_word(u64* to, u32 word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(u64{1} << 32 | word) : "memory");
}
__device__ __forceinline__ u64 load_word(const u64* from) {
  u64 word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  return word;
}

/// Totals of tiles, in scratch memory that was set to 0: not valid.
template <class T>
class tile_status {
 public:
  static constexpr int words = value_words<T>::count;
  __device__ explicit tile_status(u64* at) : at_(at) {}
  __device__ void store(i64 k, const T& value) const {
    const value_words<T> w = words_of(value);
#pragma unroll
    for (int i = 0; i < words; ++i) store_word(at_ + k * words + i, w.at[i]);
  }
  struct reading {
    u64 at[words];
  };
  __device__ reading read(i64 k) const {
    reading r;
#pragma unroll
    for (int i = 0; i < words; ++i) r.at[i] = load_word(at_ + k * words + i);
    return r;
  }
  /// Waits for the words that were not valid yet when `r` was read.
  __device__ T wait(i64 k, reading r) const {
    value_words<T> w;
#pragma unroll
    for (int i = 0; i < words; ++i) {
      while (r.at[i] >> 32 == 0) r.at[i] = load_word(at_ + k * words + i);
      w.at[i] = static_cast<u32>(r.at[i]);
    }
    return value_of<T>(w);
  }

 private:
  u64* at_;
};

struct scan_tiles_job {
  scan_data data;
  i64 rows, count, tiles;  // tiles of a row
  u64* totals;             // the status of all tiles
};
struct tile_place {
  i64 row, tile;
};
__device__ __forceinline__ tile_place place_of(const scan_tiles_job& j, i64 index) {
  const i64 row = j.rows == 1 ? 0 : index / j.tiles;
  return {row, index - row * j.tiles};
}

/// The total of all tiles before one, for tiles in ascending order: one warp keeps the sum of the whole groups of 32
/// that it has passed.
template <class Op>
class look_back {
 public:
  using T = typename Op::type;

  /// The result is meaningless for a row's first tile.
  __device__ __forceinline__ T of(const scan_tiles_job& j, i64 index) {
    const tile_place place = place_of(j, index);
    const tile_status<T> totals(j.totals + (index - place.tile) * tile_status<T>::words);
    if (place.row != row_) row_ = place.row, group_ = 0;
    const int lane = threadIdx.x % 32, rest = static_cast<int>(place.tile % tile_group);
    const i64 last = place.tile / tile_group;
    // All first loads are issued before any wait, so that their latencies overlap.
    typename tile_status<T>::reading of_rest{};
    if (lane < rest) of_rest = totals.read(last * tile_group + lane);
    while (group_ < last) pass_groups(totals, last);
    T part{};
    if (lane < rest) part = totals.wait(last * tile_group + lane, of_rest);
    __syncwarp();
    if (rest == 0) return sum_;
    part = of_lane(join_lanes<Op>(part, lane), rest - 1, 32);
    return last > 0 ? Op::join(sum_, part) : part;
  }

 private:
  static constexpr int at_once = tile_status<T>::words == 1 ? 6 : tile_status<T>::words == 2 ? 4 : 2;

  __device__ __forceinline__ void pass_groups(const tile_status<T>& totals, i64 last) {
    const int lane = threadIdx.x % 32, groups = static_cast<int>(last - group_ < at_once ? last - group_ : at_once);
    typename tile_status<T>::reading r[at_once]{};
    T x[at_once]{};
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      if (i < groups) r[i] = totals.read((group_ + i) * tile_group + lane);
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      if (i < groups) x[i] = totals.wait((group_ + i) * tile_group + lane, r[i]);
    __syncwarp();
#pragma unroll
    for (int d = 1; d < 32; d *= 2)
#pragma unroll
      for (int i = 0; i < at_once; ++i) x[i] = Op::join(x[i], from_above(x[i], d));
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      if (i < groups) {
        const T total = of_lane(x[i], 0, 32);
        sum_ = group_ + i > 0 ? Op::join(sum_, total) : total;
      }
    group_ += groups;
  }

  T sum_{};  // of groups 0 to group_ - 1 of the row
  i64 row_ = -1, group_ = 0;
};

// --- tiles in shared memory

/// Copies 4, 8 or 16 bytes to shared memory; wait_copies() waits for all but the last `Left` commits.
template <int Bytes>
__device__ __forceinline__ void copy_async(void* to, const void* from) {
#if __CUDA_ARCH__ >= 800
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (Bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(Bytes) : "memory");
#else
  memcpy(to, from, Bytes);
#endif
}
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int Left>
__device__ __forceinline__ void wait_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
#endif
}

/// One thread's part of the tiles in shared memory. It copies what it will read itself, so that no barrier is needed.
template <class Op, int Warps, int K>
class staged_tiles {
 public:
  using T = typename Op::type;
  static constexpr int V = vector_length<T>;
  static constexpr i64 length = Warps * 32 * K * V;

  __device__ staged_tiles(const scan_tiles_job& j, uint4* memory)
      : job_(j), memory_(memory), own_((threadIdx.x / 32 * K * 32 + threadIdx.x % 32) * V) {}

  /// Starts to copy a tile, with zeros after the row's end.
  __device__ __forceinline__ void fetch(int stage, i64 index) {
    if (index < job_.rows * job_.tiles)
      with_stored_type<T>(job_.data.stored, [&](auto tag) {
        using S = decltype(tag);
        const tile_place place = place_of(job_, index);
        const i64 first = place.tile * length + own_;
        const S* const from = static_cast<const S*>(job_.data.from) + place.row * job_.count + first;
        S* const to = at<S>(stage);
        if (first + (K - 1) * 32 * V + V <= job_.count && is_aligned<S, V>(from)) {
#pragma unroll
          for (int k = 0; k < K; ++k) copy_async<sizeof(S) * V>(to + k * 32 * V, from + k * 32 * V);
        } else {
          for (int k = 0; k < K; ++k)
            for (int v = 0; v < V; ++v) {
              const int i = k * 32 * V + v;
              to[i] = first + i < job_.count ? from[i] : S{};
            }
        }
      });
    commit_copies();
  }
  __device__ __forceinline__ void take(int stage, T (&x)[K][V]) const {
    with_stored_type<T>(job_.data.stored, [&](auto tag) {
      using S = decltype(tag);
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const auto part = *reinterpret_cast<const element_vector<S, V>*>(at<S>(stage) + k * 32 * V);
#pragma unroll
        for (int v = 0; v < V; ++v) {
          x[k][v] = entered<Op>(widened(part.at[v]), job_.data.flip);
        }
      }
    });
  }
  /// The total of the warp's part of a tile, in lane 0.
  __device__ __forceinline__ T total(int stage) const {
    T x[K][V];
    take(stage, x);
#pragma unroll
    for (int k = 0; k < K; ++k)
#pragma unroll
      for (int v = 1; v < V; ++v) x[k][0] = Op::join(x[k][0], x[k][v]);
    if constexpr (Op::flips) {  // the first of two equal values wins
#pragma unroll
      for (int d = 1; d < 32; d *= 2)
#pragma unroll
        for (int k = 0; k < K; ++k) x[k][0] = Op::join(x[k][0], from_above(x[k][0], d));
    }
#pragma unroll
    for (int k = 1; k < K; ++k) x[0][0] = Op::join(x[0][0], x[k][0]);
    if constexpr (!Op::flips) {
#pragma unroll
      for (int d = 1; d < 32; d *= 2) x[0][0] = Op::join(x[0][0], from_above(x[0][0], d));
    }
    return x[0][0];
  }
  __device__ __forceinline__ void store(const T (&x)[K][V], i64 index) const {
    const tile_place place = place_of(job_, index);
    store_chunks<Op>(x, job_.data, place.row * job_.count, place.tile * length + own_, 32 * V, job_.count);
  }

 private:
  template <class S>
  __device__ __forceinline__ S* at(int stage) const {
    return reinterpret_cast<S*>(memory_ + stage * (Warps * 32 * K)) + own_;
  }

  const scan_tiles_job& job_;
  uint4* memory_;
  int own_;
};

// --- the kernel

/// A barrier at which some warps wait and others only arrive. All lanes of a warp come together.
__device__ __forceinline__ void arrive(int barrier, int threads) {
  __syncwarp();
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ __forceinline__ void wait_at(int barrier, int threads) {
  __syncwarp();
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// The data that the warps of a block exchange. Barriers come in pairs, for even and odd n.
template <class T, int Warps>
struct tile_exchange {
  static constexpr int scanners = Warps * 32;
  T totals[4][Warps];  // of the warps' parts of tile n, at n % 4
  T start[2];          // the total before tile n, at n % 2

  // The scanning warps have written the totals of tile n + 2; the warp that stores totals waits for that.
  __device__ static void have_totals(int n) { arrive(1 + n % 2, scanners + 32); }
  __device__ static void await_totals(int n) { wait_at(1 + n % 2, scanners + 32); }
  // They have read start[(n - 1) % 2]; the warp that writes it next waits for that.
  __device__ static void have_started(int n) { arrive(3 + n % 2, scanners + 32); }
  __device__ static void await_started(int n) { wait_at(3 + n % 2, scanners + 32); }
  // start[n % 2] is written, and the totals of tile n + 1 are stored; the scanning warps wait for both.
  __device__ static void have_start(int n) { arrive(5 + n % 2, scanners + 64); }
  __device__ static void await_start(int n) { wait_at(5 + n % 2, scanners + 64); }
};

template <class Op, int Warps, class T = typename Op::type>
__device__ __forceinline__ void store_totals(const scan_tiles_job& j, tile_exchange<T, Warps>& e) {
  const i64 all = j.rows * j.tiles, step = gridDim.x;
  const auto store = [&](i64 index, int n) {
    if (index >= all) return;
    T total = e.totals[n % 4][0];
#pragma unroll
    for (int w = 1; w < Warps; ++w) total = Op::join(total, e.totals[n % 4][w]);
    if (threadIdx.x % 32 == 0) tile_status<T>(j.totals).store(index, total);
  };
  store(blockIdx.x, 0);
  store(blockIdx.x + step, 1);
  int n = 0;
  for (i64 index = blockIdx.x; index < all; index += step, ++n) {
    e.have_start(n);
    e.await_totals(n);
    store(index + 2 * step, n + 2);
  }
}

template <class Op, int Warps, class T = typename Op::type>
__device__ __forceinline__ void find_starts(const scan_tiles_job& j, tile_exchange<T, Warps>& e) {
  const i64 all = j.rows * j.tiles, step = gridDim.x;
  look_back<Op> before;
  const auto find = [&](i64 index, int n) {
    if (index >= all) return;
    const T start = before.of(j, index);
    if (threadIdx.x % 32 == 0) e.start[n % 2] = start;
    __syncwarp();
    e.have_start(n);
  };
  find(blockIdx.x, 0);
  int n = 0;
  for (i64 index = blockIdx.x; index < all; index += step, ++n) {
    e.await_started(n);
    find(index + step, n + 1);
  }
}

template <class Op, int Warps, int K>
__device__ __forceinline__ void scan_tiles_body(const scan_tiles_job& j) {
  using T = typename Op::type;
  constexpr int V = vector_length<T>, S = tile_stages;
  extern __shared__ uint4 tile_memory[];
  __shared__ tile_exchange<T, Warps> e;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const i64 all = j.rows * j.tiles, step = gridDim.x;
  staged_tiles<Op, Warps, K> tiles(j, tile_memory);
  const auto find_total = [&](int n) {
    const T total = tiles.total(n % S);
    if (lane == 0) e.totals[n % 4][warp] = total;
    __syncwarp();
  };
  if (warp < Warps) {
#pragma unroll
    for (int s = 0; s < S; ++s) tiles.fetch(s, blockIdx.x + s * step);
    wait_copies<S - 2>();
    find_total(0);
    if (blockIdx.x + step < all) find_total(1);
  }
  __syncthreads();
  if (warp == Warps) return store_totals<Op>(j, e);
  if (warp > Warps) return find_starts<Op>(j, e);

  int n = 0;
  for (i64 index = blockIdx.x; index < all; index += step, ++n) {
    wait_copies<S - 3>();
    if (index + 2 * step < all) find_total(n + 2);
    e.have_totals(n);
    e.have_started(n);
    T x[K][V];
    tiles.take(n % S, x);
    tiles.fetch(n % S, index + S * step);
    e.await_start(n);
    T before = e.totals[n % 4][0];
#pragma unroll
    for (int w = 1; w < Warps; ++w)
      if (w < warp) before = Op::join(before, e.totals[n % 4][w]);
    const bool first = place_of(j, index).tile == 0;
    if (!first) before = warp > 0 ? Op::join(e.start[n % 2], before) : e.start[n % 2];
    scan_chunks_of<Op>(x, lane, 32, !first || warp > 0, before);
    tiles.store(x, index);
  }
}

/// The code for each architecture has the body of one shape only.
template <class Op, int Warps, int K>
__global__ void __launch_bounds__((Warps + 2) * 32, 1) scan_tiles(const scan_tiles_job j) {
#ifdef __CUDA_ARCH__
  constexpr tile_shape shape = tile_shape_of(__CUDA_ARCH__ / 10);
  if constexpr (shape.warps == Warps && shape.chunks == K) scan_tiles_body<Op, Warps, K>(j);
#endif
}

// --- the launch

template <class Op, int Warps, int K>
cudaError_t launch_tiles(const context& c, scan_tiles_job j) {
  constexpr tile_shape shape{Warps, K};
  constexpr int shared = tile_stages * shape.pieces() * 16;
  const auto kernel = scan_tiles<Op, Warps, K>;
  j.tiles = ceil_div(j.count, shape.length(sizeof(typename Op::type)));
  SINTER_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  const i64 blocks = std::min<i64>(j.rows * j.tiles, c.multiprocessors);
  void* arguments[] = {&j};
  return cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3((Warps + 2) * 32), arguments,
                                     shared, c.stream);
}

template <class Op>
cudaError_t run_scan_tiles(const context& c, const scan_plan& p, const scan_data& d, void* scratch) {
  cudaFuncAttributes code;
  SINTER_TRY(cudaFuncGetAttributes(&code, scan_tiles<Op, least_tile.warps, least_tile.chunks>));
  SINTER_TRY(cudaMemsetAsync(scratch, 0, scan_plan_scratch(p), c.stream));
  const scan_tiles_job j{d, p.outer, p.count, 0, static_cast<u64*>(scratch)};
  switch (tile_shape_of(code.ptxVersion).chunks) {
    case 7: return launch_tiles<Op, 16, 7>(c, j);
    case 6: return launch_tiles<Op, 8, 6>(c, j);
    default: return launch_tiles<Op, least_tile.warps, least_tile.chunks>(c, j);
  }
}

}  // namespace sinter::cuda::device
