// The kernel that finds the first k elements of each part of a row, in order, with one read. A block keeps a part's keys
// in registers. Of the threads' least keys (of several for each thread where k is greater) the one of rank k bounds the
// keys that are wanted, and hardly any other is within that bound, so those few are collected in shared memory and sorted
// by key and position. Where too many are within the bound, it is narrowed first. Nothing depends on the order in which
// threads run.
//
// Only headers of the host compiler are included, so that tests run these kernels without a GPU. A source of keys has a
// function key_at(source, index), a target put_at(target, place, index, key).
#pragma once
#include <cstdint>

namespace sinter::cuda::device {

inline constexpr int first_threads = 512, first_warps = first_threads / 32;
inline constexpr int most_candidates = 2048;        // that a block sorts
inline constexpr int most_first = 1024;             // k at most
inline constexpr int candidates_by_counting = 256;  // up to which a candidate's place is counted
inline constexpr int first_groups = 4;              // of a thread's keys

/// The first `k` of each of `parts` nearly equal parts of each row; each has more than k elements.
struct first_job {
  std::int64_t columns, parts;
  int k;
};
__device__ __forceinline__ std::int64_t begin_of_part(const first_job& j, std::int64_t part) {
  const std::int64_t each = j.columns / j.parts, longer = j.columns % j.parts;
  return part * each + (part < longer ? part : longer);
}

template <class U>
struct first_memory {
  U keys[most_candidates];
  unsigned indices[most_candidates];
  U least[first_warps], greatest[first_warps];
  unsigned counts[2], candidates;
};

/// Keys up to `key`, and of those that equal it the ones up to `index`.
template <class U>
struct first_bound {
  U key;
  unsigned index;
};
template <class U>
__device__ __forceinline__ bool is_within(const first_bound<U>& b, U key, unsigned index) {
  return key < b.key || (key == b.key && index <= b.index);
}

template <class U>
__device__ __forceinline__ void least_and_greatest(U& least, U& greatest, first_memory<U>& memory) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const U l = __shfl_xor_sync(0xffffffffu, least, step), g = __shfl_xor_sync(0xffffffffu, greatest, step);
    least = l < least ? l : least;
    greatest = g > greatest ? g : greatest;
  }
  if (threadIdx.x % 32 == 0) {
    memory.least[threadIdx.x / 32] = least;
    memory.greatest[threadIdx.x / 32] = greatest;
  }
  __syncthreads();
#pragma unroll
  for (int w = 0; w < first_warps; ++w) {
    least = memory.least[w] < least ? memory.least[w] : least;
    greatest = memory.greatest[w] > greatest ? memory.greatest[w] : greatest;
  }
}

/// The sum of `mine` over the block; step: how many sums there were before.
template <class U>
__device__ __forceinline__ unsigned block_count(unsigned mine, int step, first_memory<U>& memory) {
#pragma unroll
  for (int s = 16; s > 0; s /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, s);
  if (threadIdx.x % 32 == 0) atomicAdd(&memory.counts[step % 2], mine);
  __syncthreads();
  const unsigned count = memory.counts[step % 2];
  __syncthreads();
  if (threadIdx.x == 0) memory.counts[step % 2] = 0;
  return count;
}

/// A key of [low, high] up to which there are k numbers of the block or more, and no more than `few` where one is found:
/// count(key) says how many there are up to a key.
template <class U, class Count>
__device__ __forceinline__ U bisect(U low, U high, unsigned k, unsigned few, const Count& count) {
  while (low < high) {
    const U middle = low + (high - low) / 2;
    const unsigned up_to = count(middle);
    if (up_to >= k) high = middle;
    else low = middle + 1;
    if (up_to >= k && up_to <= few) break;
  }
  return high;
}

/// The bound from the least key of each thread: at least k threads have one within it.
template <class U>
__device__ __forceinline__ U bound_by_threads(U least, unsigned k, first_memory<U>& memory) {
  U low = least, high = least;
  least_and_greatest(low, high, memory);
  return bisect(low, high, k, k + k / 8,
                [&](U key) { return static_cast<unsigned>(__syncthreads_count(least <= key)); });
}

/// The bound from the least key of each group of a thread's keys.
template <class U, int held>
__device__ __forceinline__ U bound_by_groups(const U (&keys)[held], unsigned k, first_memory<U>& memory) {
  U least[first_groups];
#pragma unroll
  for (int g = 0; g < first_groups; ++g) {
    least[g] = keys[g];
#pragma unroll
    for (int r = g + first_groups; r < held; r += first_groups) least[g] = keys[r] < least[g] ? keys[r] : least[g];
  }
  U low = least[0], high = least[0];
#pragma unroll
  for (int g = 1; g < first_groups; ++g) {
    low = least[g] < low ? least[g] : low;
    high = least[g] > high ? least[g] : high;
  }
  least_and_greatest(low, high, memory);
  int step = 0;
  return bisect(low, high, k, k + k / 16, [&](U key) {
    unsigned mine = 0;
#pragma unroll
    for (int g = 0; g < first_groups; ++g) mine += least[g] <= key ? 1u : 0u;
    return block_count(mine, step++, memory);
  });
}

/// A bound within which are k keys or more, but no more than a block sorts: by key, then by position.
template <class U, int held>
__device__ __forceinline__ first_bound<U> narrow_bound(const U (&keys)[held], unsigned k, U high,
                                                       first_memory<U>& memory) {
  int step = 0;
  const auto count = [&](U key) {
    unsigned mine = 0;
#pragma unroll
    for (int r = 0; r < held; ++r) mine += keys[r] <= key ? 1u : 0u;
    return block_count(mine, step++, memory);
  };
  U low = memory.least[0];
  for (int w = 1; w < first_warps; ++w) low = memory.least[w] < low ? memory.least[w] : low;
  const U key = bisect(low, high, k, k + k / 8, count);
  if (count(key) <= most_candidates) return {key, ~0u};
  unsigned first = 0, last = held * first_threads - 1;
  while (first < last) {
    const unsigned middle = first + (last - first) / 2;
    const first_bound<U> bound{key, middle};
    unsigned mine = 0;
#pragma unroll
    for (int r = 0; r < held; ++r) mine += is_within(bound, keys[r], r * first_threads + threadIdx.x) ? 1u : 0u;
    if (block_count(mine, step++, memory) >= k) last = middle;
    else first = middle + 1;
  }
  return {key, last};
}

/// Collects what is within the bound and returns how many keys are.
template <class U, int held>
__device__ __forceinline__ unsigned collect(const U (&keys)[held], U least, const first_bound<U>& bound,
                                            first_memory<U>& memory) {
  if (threadIdx.x == 0) memory.candidates = 0;
  __syncthreads();
  if (least <= bound.key)
#pragma unroll
    for (int r = 0; r < held; ++r) {
      const unsigned index = r * first_threads + threadIdx.x;
      if (keys[r] > bound.key || !is_within(bound, keys[r], index)) continue;
      const unsigned at = atomicAdd(&memory.candidates, 1u);
      if (at >= most_candidates) break;
      memory.keys[at] = keys[r];
      memory.indices[at] = index;
    }
  __syncthreads();
  return memory.candidates;
}

template <class U>
__device__ __forceinline__ bool comes_first(U a, unsigned i, U b, unsigned j) {
  return a < b || (a == b && i < j);
}

/// Each candidate's place is the number of those before it: four threads count for one.
template <class U, class Target>
__device__ __forceinline__ void place_by_counting(unsigned candidates, const first_job& j, const Target& to,
                                                  std::int64_t begin, first_memory<U>& memory) {
  const unsigned part = threadIdx.x % 4;
  for (unsigned base = 0; base < candidates; base += first_threads / 4) {
    const unsigned own = base + threadIdx.x / 4;
    if (base + threadIdx.x / 32 * 8 >= candidates) break;  // the whole warp
    const U key = memory.keys[own < candidates ? own : 0];
    const unsigned index = memory.indices[own < candidates ? own : 0];
    unsigned place = 0;
#pragma unroll 4
    for (unsigned c = part; c < candidates; c += 4)
      place += comes_first(memory.keys[c], memory.indices[c], key, index) ? 1u : 0u;
    place += __shfl_xor_sync(0xffffffffu, place, 1);
    place += __shfl_xor_sync(0xffffffffu, place, 2);
    if (part == 0 && own < candidates && place < static_cast<unsigned>(j.k)) put_at(to, place, begin + index, key);
  }
}

/// Bitonic sort.
template <class U, class Target>
__device__ __forceinline__ void place_by_sorting(unsigned candidates, const first_job& j, const Target& to,
                                                 std::int64_t begin, first_memory<U>& memory) {
  unsigned size = 2 * candidates_by_counting;
  while (size < candidates) size *= 2;
  for (unsigned at = candidates + threadIdx.x; at < size; at += first_threads) {
    memory.keys[at] = static_cast<U>(~U{0});
    memory.indices[at] = ~0u;
  }
  for (unsigned run = 2; run <= size; run *= 2)
    for (unsigned apart = run / 2; apart > 0; apart /= 2) {
      __syncthreads();
      for (unsigned pair = threadIdx.x; pair < size / 2; pair += first_threads) {
        const unsigned a = 2 * pair - (pair & (apart - 1)), b = a + apart;
        const U x = memory.keys[a], y = memory.keys[b];
        const unsigned i = memory.indices[a], l = memory.indices[b];
        if (comes_first(y, l, x, i) == ((a & run) == 0)) {
          memory.keys[a] = y;
          memory.keys[b] = x;
          memory.indices[a] = l;
          memory.indices[b] = i;
        }
      }
    }
  __syncthreads();
  for (unsigned place = threadIdx.x; place < static_cast<unsigned>(j.k); place += first_threads)
    put_at(to, place, begin + memory.indices[place], memory.keys[place]);
}

/// The first k of a part of at most held * first_threads elements; `begin`: its first one in the row.
template <int held, class U, class Source, class Target>
__device__ __forceinline__ void first_of_part(const Source& from, const Target& to, const first_job& j,
                                              std::int64_t begin, std::int64_t end) {
  __shared__ first_memory<U> memory;
  const int length = static_cast<int>(end - begin);
  U keys[held];
  if (length == held * first_threads) {
#pragma unroll
    for (int r = 0; r < held; ++r)
      keys[r] = key_at(from, begin + r * first_threads + static_cast<std::int64_t>(threadIdx.x));
  } else {
#pragma unroll
    for (int r = 0; r < held; ++r) {  // loads without branches are issued together
      const int at = r * first_threads + static_cast<int>(threadIdx.x);
      const U key = key_at(from, begin + (at < length ? at : length - 1));
      keys[r] = at < length ? key : static_cast<U>(~U{0});
    }
  }
  if (threadIdx.x < 2) memory.counts[threadIdx.x] = 0;
  U least = keys[0];
#pragma unroll
  for (int r = 1; r < held; ++r) least = keys[r] < least ? keys[r] : least;
  const auto k = static_cast<unsigned>(j.k);
  const U high = 8 * k <= first_threads ? bound_by_threads(least, k, memory) : bound_by_groups(keys, k, memory);
  first_bound<U> bound{high, ~0u};
  if (collect(keys, least, bound, memory) > most_candidates) {
    bound = narrow_bound(keys, k, high, memory);
    collect(keys, least, bound, memory);
  }
  const unsigned candidates = memory.candidates;
  if (candidates <= candidates_by_counting) place_by_counting(candidates, j, to, begin, memory);
  else place_by_sorting(candidates, j, to, begin, memory);
}

}  // namespace sinter::cuda::device
