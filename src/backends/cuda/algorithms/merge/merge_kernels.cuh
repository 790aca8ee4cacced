// The kernels that merge two sorted runs: the first one finds where each tile of the result begins in both runs, the second one
// merges the tiles, each in shared memory, a thread several elements.
//
// Only headers of the host compiler are included, so that tests run these kernels without a GPU. Elements are their bits; `key` is
// a function of them, and smaller keys come first.
#pragma once
#include <cstdint>

namespace sinter::cuda::device {

/// An odd number, so that the threads of a warp, each at its own elements, read and write different banks.
inline constexpr int merge_threads = 256, merge_each = 15, merge_tile = merge_threads * merge_each;

template <class U>
struct two_runs {
  const U *one, *two;
  std::int64_t ones, twos;
};

/// How many of the first `count` elements of the result are of the first run.
template <class U, class Index, class Key>
__device__ __forceinline__ Index ones_of(const U* one, Index ones, const U* two, Index twos, Index count,
                                         const Key& key) {
  Index low = count > twos ? count - twos : 0, high = count < ones ? count : ones;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (key(two[count - 1 - middle]) < key(one[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

/// splits[t], t in [0, tiles]: how many elements of the first run come before tile t.
template <class U, class Key>
__global__ void find_splits(two_runs<U> r, Key key, std::int64_t tiles, std::int64_t* splits) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x, all = r.ones + r.twos;
  for (std::int64_t t = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; t <= tiles; t += step) {
    const std::int64_t begin = t * merge_tile;
    splits[t] = ones_of(r.one, r.ones, r.two, r.twos, begin < all ? begin : all, key);
  }
}

template <class U, class Key>
__global__ void merge_tiles(two_runs<U> r, Key key, std::int64_t tiles, const std::int64_t* splits, U* to) {
  __shared__ U held[merge_tile];
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::int64_t begin = t * merge_tile, first = splits[t], rest = r.ones + r.twos - begin;
    const int n = rest < merge_tile ? static_cast<int>(rest) : merge_tile;
    const int ones = static_cast<int>(splits[t + 1] - first), twos = n - ones;
    const U *const one = r.one + first, *const two = r.two + (begin - first);
    U mine[merge_each];
#pragma unroll
    for (int k = 0; k < merge_each; ++k) {
      const int at = k * merge_threads + thread;
      if (at < n) mine[k] = at < ones ? one[at] : two[at - ones];
    }
#pragma unroll
    for (int k = 0; k < merge_each; ++k)
      if (k * merge_threads + thread < n) held[k * merge_threads + thread] = mine[k];
    __syncthreads();
    const int place = thread * merge_each < n ? thread * merge_each : n;
    int i = ones_of(held, ones, held + ones, twos, place, key), j = ones + place - i;
    U a = i < ones ? held[i] : U{}, b = j < n ? held[j] : U{};
    auto key_a = key(a), key_b = key(b);
#pragma unroll
    for (int k = 0; k < merge_each; ++k) {
      const bool second = j < n && (i >= ones || key_b < key_a);
      mine[k] = second ? b : a;
      if (second) {
        if (++j < n) key_b = key(b = held[j]);
      } else if (++i < ones) {
        key_a = key(a = held[i]);
      }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < merge_each; ++k)
      if (thread * merge_each + k < n) held[thread * merge_each + k] = mine[k];
    __syncthreads();
    for (int at = thread; at < n; at += merge_threads) to[begin + at] = held[at];
    __syncthreads();
  }
}

}  // namespace sinter::cuda::device
