// A sorting network over registers: a thread group (lanes of a warp, or whole warps of a block) sorts R items per
// thread. Merges compare mirrored halves first, so that every comparison puts the smaller item first. Items must not
// tie, except for bit-identical ones.
#pragma once
#include "backends/cuda/algorithms/device_common.cuh"

namespace sinter::cuda::device {

/// A key alone.
template <class U>
struct plain_item {
  static constexpr int words = sizeof(U) / 4;
  U key;
  __device__ __forceinline__ u32 word(int k) const { return static_cast<u32>(static_cast<u64>(key) >> (32 * k)); }
  __device__ __forceinline__ static plain_item from_words(const u32* w) {
    if constexpr (words == 1) return {w[0]};
    else return {static_cast<U>(w[0] | static_cast<u64>(w[1]) << 32)};
  }
  __device__ __forceinline__ bool before(const plain_item& other) const { return key < other.key; }
};

/// A key of 64 bits and a position, which breaks ties.
struct tagged_item {
  static constexpr int words = 3;
  u64 key;
  u32 index;
  __device__ __forceinline__ u32 word(int k) const { return k == 2 ? index : static_cast<u32>(key >> (32 * k)); }
  __device__ __forceinline__ static tagged_item from_words(const u32* w) {
    return {w[0] | static_cast<u64>(w[1]) << 32, w[2]};
  }
  __device__ __forceinline__ bool before(const tagged_item& other) const {
    return key < other.key || (key == other.key && index < other.index);
  }
};

/// A key of 128 bits and a position.
struct tagged_pair_item {
  static constexpr int words = 5;
  u64 high, low;
  u32 index;
  __device__ __forceinline__ u32 word(int k) const {
    return k == 4 ? index : static_cast<u32>((k < 2 ? low : high) >> (32 * (k & 1)));
  }
  __device__ __forceinline__ static tagged_pair_item from_words(const u32* w) {
    return {w[2] | static_cast<u64>(w[3]) << 32, w[0] | static_cast<u64>(w[1]) << 32, w[4]};
  }
  __device__ __forceinline__ bool before(const tagged_pair_item& other) const {
    if (high != other.high) return high < other.high;
    return low < other.low || (low == other.low && index < other.index);
  }
};

template <class Item>
__device__ __forceinline__ void put_in_order(Item& a, Item& b) {
  const bool swap = b.before(a);
  const Item first = swap ? b : a;
  b = swap ? a : b;
  a = first;
}
__device__ __forceinline__ void put_in_order(plain_item<u32>& a, plain_item<u32>& b) {
  const u32 first = min(a.key, b.key);
  b.key = max(a.key, b.key);
  a.key = first;
}

template <class Item>
__device__ __forceinline__ Item keep(const Item& mine, const Item& other, bool smaller) {
  return other.before(mine) == smaller ? other : mine;
}
__device__ __forceinline__ plain_item<u32> keep(const plain_item<u32>& mine, const plain_item<u32>& other,
                                                bool smaller) {
  return {smaller ? min(mine.key, other.key) : max(mine.key, other.key)};
}

template <class Item>
__device__ __forceinline__ Item from_lane(const Item& x, int mask) {
  u32 w[Item::words];
#pragma unroll
  for (int k = 0; k < Item::words; ++k) w[k] = __shfl_xor_sync(all_lanes, x.word(k), mask);
  return Item::from_words(w);
}

/// Sorts the items of one thread.
template <int R, class Item>
__device__ __forceinline__ void sort_own(Item (&x)[R]) {
#pragma unroll
  for (int size = 2; size <= R; size *= 2) {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if ((r ^ (size - 1)) > r) put_in_order(x[r], x[r ^ (size - 1)]);
#pragma unroll
    for (int step = size / 4; step > 0; step /= 2) {
#pragma unroll
      for (int r = 0; r < R; ++r)
        if ((r ^ step) > r) put_in_order(x[r], x[r ^ step]);
    }
  }
}

/// The steps of a merge that stay within a thread.
template <int R, class Item>
__device__ __forceinline__ void merge_own(Item (&x)[R]) {
#pragma unroll
  for (int step = R / 2; step > 0; step /= 2) {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if ((r ^ step) > r) put_in_order(x[r], x[r ^ step]);
  }
}

/// One step between lanes: with the same items of lane ^ mask, or its items in reverse.
template <int R, class Item>
__device__ __forceinline__ void step_lanes(Item (&x)[R], int mask, bool smaller) {
#pragma unroll
  for (int r = 0; r < R; ++r) x[r] = keep(x[r], from_lane(x[r], mask), smaller);
}
template <int R, class Item>
__device__ __forceinline__ void mirror_lanes(Item (&x)[R], int mask, bool smaller) {
#pragma unroll
  for (int r = 0; r < R / 2; ++r) {
    const Item a = from_lane(x[R - 1 - r], mask), b = from_lane(x[r], mask);
    x[r] = keep(x[r], a, smaller);
    x[R - 1 - r] = keep(x[R - 1 - r], b, smaller);
  }
}

/// The same between warps of a block, through shared memory: R * Item::words words a thread.
template <int R, class Item>
__device__ __forceinline__ void step_warps(Item (&x)[R], int mask, bool smaller, bool mirrored, u32* shared) {
  const int t = threadIdx.x, threads = blockDim.x;
#pragma unroll
  for (int r = 0; r < R; ++r)
#pragma unroll
    for (int k = 0; k < Item::words; ++k) shared[(k * R + r) * threads + t] = x[r].word(k);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < R; ++r) {
    u32 w[Item::words];
    const int from = mirrored ? R - 1 - r : r;
#pragma unroll
    for (int k = 0; k < Item::words; ++k) w[k] = shared[(k * R + from) * threads + (t ^ mask)];
    x[r] = keep(x[r], Item::from_words(w), smaller);
  }
  __syncthreads();
}

/// Sorts the items of a thread group of `lanes` lanes (a power of two up to 32) or, if `warps` is more than 1, of a
/// whole block of that many warps (a power of two). t: the thread's number in the group. Item t * R + r ends up in
/// x[r].
template <int R, class Item>
__device__ __forceinline__ void sort_group(Item (&x)[R], int t, int lanes, int warps, u32* shared) {
  sort_own(x);
  for (int size = 2; size <= lanes; size *= 2) {
    mirror_lanes(x, size - 1, (t & (size / 2)) == 0);
    for (int step = size / 4; step > 0; step /= 2) step_lanes(x, step, (t & step) == 0);
    merge_own(x);
  }
  for (int size = 64; size <= 32 * warps; size *= 2) {
    step_warps(x, size - 1, (t & (size / 2)) == 0, true, shared);
    for (int step = size / 4; step > 0; step /= 2) {
      if (step >= 32) step_warps(x, step, (t & step) == 0, false, shared);
      else step_lanes(x, step, (t & step) == 0);
    }
    merge_own(x);
  }
}

}  // namespace sinter::cuda::device
