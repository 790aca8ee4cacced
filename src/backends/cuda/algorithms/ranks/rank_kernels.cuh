// The kernels that find the elements of a few ranks of rows: radix selection of all of them at once, digit by digit,
// highest first. Ranks whose keys share the digits found so far are a group, which counts the next digit of its keys. As
// soon as the keys of all groups are few, a pass packs them while it counts, and later passes read these alone. What a
// pass found stays on the device. Nothing depends on the order in which blocks run but the packed keys' order, which
// only counts pass over.
//
// Only headers of the host compiler are included, so that tests run these kernels without a GPU. A source of keys has a
// function key_at(source, index) and row_at(source, row, job), a target put_rank(target, row, rank, key).
#pragma once
#include <cstdint>

#include "backends/cuda/algorithms/partition_kernels.cuh"

namespace sinter::cuda::device {

inline constexpr int ranks_at_once = 8;

/// Ascending ranks of each row.
struct ranks_job {
  std::int64_t columns;
  std::int64_t capacity;  // how many keys of a row the packed memory takes
  int digit_bits;         // at most long_digit_bits
  int ranks;              // at most ranks_at_once
  std::int64_t at[ranks_at_once];
};

/// What is known of a row's ranks.
template <class U>
struct ranks_search {
  U known;                 // the bits that are known
  U found[ranks_at_once];  // these bits of each group, ascending
  int groups;
  int group[ranks_at_once];          // of each rank
  std::int64_t left[ranks_at_once];  // each rank among the keys of its group
  bool packs, is_packed;             // the next pass packs the keys; an earlier one has
  bool answered[ranks_at_once];      // whose keys are known without a search
  U answer[ranks_at_once];
  unsigned long long packed;  // how many keys have been packed
};

template <class U>
__device__ __forceinline__ void start_ranks(ranks_search<U>& s, const ranks_job& j) {
  s.known = 0;
  s.groups = 1;
  s.packs = s.is_packed = false;
  s.packed = 0;
  for (int r = 0; r < ranks_at_once; ++r) {
    s.found[r] = 0;
    s.group[r] = 0;
    s.answered[r] = false;
    s.left[r] = r < j.ranks ? j.at[r] : 0;
  }
}

template <class U>
__device__ __forceinline__ U key_of_rank(const ranks_search<U>& s, int rank) {
  return s.answered[rank] ? s.answer[rank] : s.found[s.group[rank]];
}

/// Keys that a thread loads before it counts any.
template <class U>
inline constexpr int keys_ahead = 32 / static_cast<int>(sizeof(U));

/// Keys of each warp that are to be packed, and how many: the same number in all lanes.
template <class U>
struct pack_memory {
  U keys[rank_warps][2 * 32 * keys_ahead<U>];
};
template <class U>
struct packing {
  U* own;  // the warp's part of the memory
  U* to;
  std::int64_t capacity;
  unsigned long long* total;
  unsigned count;
};
template <class U>
__device__ __forceinline__ packing<U> packing_into(pack_memory<U>& memory, U* to, std::int64_t capacity,
                                                   unsigned long long* total) {
  return {memory.keys[threadIdx.x / 32], to, capacity, total, 0};
}

/// Appends each active lane's key to the warp's.
template <class U>
__device__ __forceinline__ void stage_key(packing<U>& p, U key, bool active) {
  const unsigned lanes = __ballot_sync(0xffffffffu, active);
  if (active) p.own[p.count + static_cast<unsigned>(__popc(lanes & ((1u << (threadIdx.x % 32)) - 1u)))] = key;
  p.count += static_cast<unsigned>(__popc(lanes));
}

/// Appends the warp's keys to the row's, as far as these have room; the total counts them all.
template <class U>
__device__ __forceinline__ void write_staged(packing<U>& p) {
  __syncwarp();
  unsigned long long start = 0;
  if (threadIdx.x % 32 == 0) start = atomicAdd(p.total, static_cast<unsigned long long>(p.count));
  start = __shfl_sync(0xffffffffu, start, 0);
  if (start + p.count <= static_cast<unsigned long long>(p.capacity))
    for (unsigned k = threadIdx.x % 32; k < p.count; k += 32) p.to[start + k] = p.own[k];
  p.count = 0;
  __syncwarp();
}
/// The same, unless there is room for the keys that a warp loads at once.
template <class U>
__device__ __forceinline__ void write_if_full(packing<U>& p) {
  if (p.count > 32 * keys_ahead<U>) write_staged(p);
}

/// counts[group][digit] += keys of each group, of the elements that are part `part` of `parts`. Not grouped: all keys are
/// of one group.
template <bool packs, bool grouped, class U, class Source>
__device__ __forceinline__ void count_groups(const Source& from, std::int64_t n, std::int64_t part, std::int64_t parts,
                                             const digit_place& d, const ranks_search<U>& s, unsigned* counts,
                                             packing<U> p) {
  constexpr int ahead = keys_ahead<U>;
  const U known = s.known;
  const int groups = s.groups;
  U found[ranks_at_once];
#pragma unroll
  for (int g = 0; g < ranks_at_once; ++g) found[g] = s.found[g];
  for (std::int64_t base = part * ahead * rank_threads; base < n; base += parts * ahead * rank_threads) {
    U keys[ahead];  // all loads are issued before any is used
#pragma unroll
    for (int a = 0; a < ahead; ++a) {
      const std::int64_t index = base + a * rank_threads + threadIdx.x;
      keys[a] = index < n ? key_at(from, index) : U{0};
    }
#pragma unroll
    for (int a = 0; a < ahead; ++a) {
      int group = grouped ? -1 : 0;
      if constexpr (grouped)
#pragma unroll
        for (int g = 0; g < ranks_at_once; ++g)
          if (g < groups && (keys[a] & known) == found[g]) group = g;
      const bool active = group >= 0 && base + a * rank_threads + threadIdx.x < n;
      const unsigned digit = static_cast<unsigned>(keys[a] >> d.shift) & ((1u << d.bits) - 1u);
      count_digit(counts, static_cast<unsigned>(group) << d.bits | digit, active);
      if constexpr (packs) stage_key(p, keys[a], active);
    }
    if constexpr (packs) write_if_full(p);
  }
  if constexpr (packs) write_staged(p);
}
template <class U, class Source>
__device__ __forceinline__ void count_keys(const Source& from, std::int64_t n, std::int64_t part, std::int64_t parts,
                                           const digit_place& d, const ranks_search<U>& s, unsigned* counts) {
  if (s.known == 0) count_groups<false, false>(from, n, part, parts, d, s, counts, packing<U>{});
  else count_groups<false, true>(from, n, part, parts, d, s, counts, packing<U>{});
}

/// The digit of each rank, and how many keys of its group have lesser ones and this one.
template <class U>
struct choice_memory {
  unsigned long long sums[rank_warps], before[ranks_at_once], count[ranks_at_once];
  U found[ranks_at_once];
};

/// Goes on to the next digit. `s` is memory that all threads of the block see.
template <class U, class Count>
__device__ __forceinline__ void choose_digits(const Count* counts, const digit_place& d, const ranks_job& j,
                                              ranks_search<U>& s, choice_memory<U>& memory) {
  constexpr int own = long_digits / rank_threads;
  const int first = static_cast<int>(threadIdx.x) * own;
  for (int r = 0; r < j.ranks; ++r) {
    const Count* const mine = counts + (static_cast<std::int64_t>(s.group[r]) << d.bits) + first;
    unsigned long long count[own], total = 0;
#pragma unroll
    for (int k = 0; k < own; ++k) {
      count[k] = first + k < 1 << d.bits ? mine[k] : 0;
      total += count[k];
    }
    __syncthreads();  // the sums are in use until here
    unsigned long long before = sum_before(total, memory.sums);
    const auto left = static_cast<unsigned long long>(s.left[r]);
#pragma unroll
    for (int k = 0; k < own; ++k) {
      if (before <= left && left < before + count[k]) {
        memory.before[r] = before;
        memory.count[r] = count[k];
        memory.found[r] = static_cast<U>(s.found[s.group[r]] | static_cast<U>(static_cast<U>(first + k) << d.shift));
      }
      before += count[k];
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    int groups = 0;
    unsigned long long candidates = 0;
    for (int r = 0; r < j.ranks; ++r) {
      if (r == 0 || memory.found[r] != memory.found[r - 1]) {
        s.found[groups++] = memory.found[r];
        candidates += memory.count[r];
      }
      s.group[r] = groups - 1;
      s.left[r] -= static_cast<std::int64_t>(memory.before[r]);
    }
    s.groups = groups;
    s.known = static_cast<U>(s.known | static_cast<U>(static_cast<U>((1u << d.bits) - 1u) << d.shift));
    s.is_packed = s.is_packed || s.packs;
    // Only where a pass follows the one that packs.
    s.packs = !s.is_packed && d.shift > j.digit_bits && candidates <= static_cast<unsigned long long>(j.capacity);
  }
  __syncthreads();
}

/// The digit below those that end at bit `top`.
__device__ __forceinline__ digit_place digit_below(int top, int digit_bits) {
  const int bits = top < digit_bits ? top : digit_bits;
  return {top - bits, bits};
}

/// Keys that have been loaded.
template <class U>
struct loaded_keys {
  const U* keys;
};
template <class U>
__device__ __forceinline__ U key_at(const loaded_keys<U>& k, std::int64_t index) {
  return k.keys[index];
}

/// A row per block, whose keys it holds. `key_bits`: of a key. Shared memory: `keys` for whole rounds, and
/// j.ranks << j.digit_bits counts.
template <class U, class Source, class Target>
__device__ __forceinline__ void find_ranks_of_row(const Source& sources, const Target& to, const ranks_job& j,
                                                  int key_bits, U* keys, unsigned* counts) {
  __shared__ ranks_search<U> search;
  __shared__ choice_memory<U> memory;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) start_ranks(search, j);
  load_keys(row_at(sources, blockIdx.x, j), 0, j.columns,
            static_cast<int>((j.columns + rank_threads - 1) / rank_threads), keys);
  __syncthreads();
  for (int top = key_bits; top > 0;) {
    const digit_place d = digit_below(top, j.digit_bits);
    top = d.shift;
    for (int k = t; k < search.groups << d.bits; k += rank_threads) counts[k] = 0;
    __syncthreads();
    count_keys(loaded_keys<U>{keys}, j.columns, 0, 1, d, search, counts);
    __syncthreads();
    choose_digits(counts, d, j, search, memory);
  }
  if (t < j.ranks) put_rank(to, blockIdx.x, t, key_of_rank(search, t));
}

// --- longer rows: several blocks count digits of a row, one chooses them, and so on

template <class U>
__global__ void start_rank_searches(ranks_search<U>* searches, std::int64_t rows, const ranks_job j) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < rows) start_ranks(searches[row], j);
}

/// A part of a row per block: counts[row][group][digit] += its keys. `counts` has been cleared. `own`: shared memory of
/// j.ranks << d.bits counts.
template <class U, class Source>
__device__ __forceinline__ void count_rank_digits(const Source& sources, const ranks_job& j, std::int64_t blocks_of_row,
                                                  const digit_place& d, ranks_search<U>* searches, U* packed,
                                                  unsigned long long* counts, unsigned* own) {
  __shared__ pack_memory<U> memory;
  const std::int64_t row = long_row(blocks_of_row), part = static_cast<std::int64_t>(blockIdx.x) % blocks_of_row;
  ranks_search<U>& s = searches[row];
  U* const kept = packed + row * j.capacity;
  const int used = s.groups << d.bits;
  for (int k = static_cast<int>(threadIdx.x); k < used; k += rank_threads) own[k] = 0;
  __syncthreads();
  if (s.is_packed) {
    count_keys(loaded_keys<U>{kept}, static_cast<std::int64_t>(s.packed), part, blocks_of_row, d, s, own);
  } else if (s.packs) {
    count_groups<true, true>(row_at(sources, row, j), j.columns, part, blocks_of_row, d, s, own,
                             packing_into(memory, kept, j.capacity, &s.packed));
  } else {
    count_keys(row_at(sources, row, j), j.columns, part, blocks_of_row, d, s, own);
  }
  __syncthreads();
  unsigned long long* const sums = counts + row * (static_cast<std::int64_t>(j.ranks) << j.digit_bits);
  for (int k = static_cast<int>(threadIdx.x); k < used; k += rank_threads)
    if (own[k] != 0) atomicAdd(&sums[k], static_cast<unsigned long long>(own[k]));
}

/// Chooses the digits of each row, and clears its counts; with a target writes the keys, which are complete. A row per
/// block.
template <class U, class Target>
__global__ void __launch_bounds__(rank_threads)
    choose_rank_digits(const ranks_job j, const digit_place d, unsigned long long* counts, ranks_search<U>* searches,
                       const Target to) {
  __shared__ choice_memory<U> memory;
  ranks_search<U>& s = searches[blockIdx.x];
  const std::int64_t most = static_cast<std::int64_t>(j.ranks) << j.digit_bits;
  unsigned long long* const sums = counts + static_cast<std::int64_t>(blockIdx.x) * most;
  const int used = s.groups << d.bits;
  choose_digits(sums, d, j, s, memory);
  for (int k = static_cast<int>(threadIdx.x); k < used; k += rank_threads) sums[k] = 0;
  if (d.shift == 0 && static_cast<int>(threadIdx.x) < j.ranks)
    put_rank(to, blockIdx.x, static_cast<int>(threadIdx.x), key_of_rank(s, static_cast<int>(threadIdx.x)));
}

}  // namespace sinter::cuda::device
