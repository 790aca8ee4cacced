// The kernels that read a long row once before its ranks are searched for: a sample of the row has keys between which the
// ranks lie almost certainly. Keys between such two are packed, and searched alone; keys that equal one of the two are only
// counted, so that however often one key occurs, few are packed. Where a rank lies elsewhere, or more keys lie between
// than the memory takes, the search reads the row as if nothing had been done.
//
// Only headers of the host compiler are included, so that tests run these kernels without a GPU. Sources as in
// rank_kernels.cuh.
#pragma once
#include "backends/cuda/algorithms/ranks/rank_kernels.cuh"

namespace sinter::cuda::device {

inline constexpr int most_brackets = 4;
inline constexpr int sample_keys = 4096;

/// Ranks of the sample that bound those of a search, ascending; below 0 and from sample_keys on there is no bound.
struct bracket_job {
  int brackets;
  int low[most_brackets], high[most_brackets];
  int of_rank[ranks_at_once];  // the bracket of each rank of the search
};

/// The brackets of a search's ranks in the sample of a row: at least three deviations to either side. False where they are many or
/// wide.
inline bool bracket_ranks(const ranks_job& j, bracket_job& b) {
  constexpr int slack = 104, most_width = 2 * sample_keys / 9;
  int width = 0;
  b = {};
  for (int r = 0; r < j.ranks; ++r) {
    const int at = static_cast<int>(static_cast<double>(j.at[r]) / static_cast<double>(j.columns) * sample_keys);
    const int low = at - slack, high = at + slack + 1;
    if (b.brackets == 0 || low > b.high[b.brackets - 1]) {
      if (b.brackets == most_brackets) return false;
      b.low[b.brackets++] = low;
    } else {
      width -= b.high[b.brackets - 1] - low;
    }
    width += high - low;
    b.high[b.brackets - 1] = high;
    b.of_rank[r] = b.brackets - 1;
  }
  return width <= most_width;
}
/// The search for their keys.
inline ranks_job sample_job(const bracket_job& b, int digit_bits) {
  ranks_job sample{sample_keys, 0, digit_bits, 2 * b.brackets, {}};
  const auto within = [](int rank) { return rank < 0 ? 0 : rank < sample_keys ? rank : sample_keys - 1; };
  for (int k = 0; k < b.brackets; ++k) {
    sample.at[2 * k] = within(b.low[k]);
    sample.at[2 * k + 1] = within(b.high[k]);
  }
  return sample;
}

/// The bounds, and how many keys of a row are less than each and up to each.
template <class U>
struct rank_brackets {
  U low[most_brackets], high[most_brackets];
  unsigned long long counts[most_brackets][4];  // below low, up to low, below high, up to high
};

/// A key of each of sample_keys parts of a row, at another place in each, so that periods of the row do not show.
template <class Source>
struct sampled_keys {
  Source from;
  std::int64_t columns;
};
template <class Source>
__device__ __forceinline__ sampled_keys<Source> row_at(sampled_keys<Source> k, std::int64_t row, const ranks_job&) {
  ranks_job whole{};
  whole.columns = k.columns;
  k.from = row_at(k.from, row, whole);
  return k;
}
template <class Source>
__device__ __forceinline__ auto key_at(const sampled_keys<Source>& k, std::int64_t index) {
  const std::uint64_t place = static_cast<std::uint32_t>(static_cast<std::uint32_t>(index) * 2654435769u);
  const std::int64_t part = index * k.columns / sample_keys, length = k.columns / sample_keys;
  return key_at(k.from, part + static_cast<std::int64_t>(place * static_cast<std::uint64_t>(length) >> 32));
}

/// What is found in the sample: the bounds, two of each bracket.
template <class U>
struct bracket_bounds {
  rank_brackets<U>* rows;
  bracket_job job;
};
template <class U>
__device__ __forceinline__ void put_rank(const bracket_bounds<U>& to, std::int64_t row, int rank, U key) {
  const int b = rank / 2;
  rank_brackets<U>& at = to.rows[row];
  if (rank % 2 == 0) at.low[b] = to.job.low[b] < 0 ? U{0} : key;
  else at.high[b] = to.job.high[b] >= sample_keys ? static_cast<U>(~U{0}) : key;
  at.counts[b][rank % 2 * 2] = at.counts[b][rank % 2 * 2 + 1] = 0;
}

/// A row per block. `sample`: a job of the bounds' ranks in the sample. Shared memory as for find_ranks_of_row().
template <class U, class Source>
__device__ __forceinline__ void find_brackets_of_row(const Source& sources, std::int64_t columns,
                                                     const ranks_job& sample, const bracket_job& b, int key_bits,
                                                     rank_brackets<U>* brackets, U* keys, unsigned* counts) {
  find_ranks_of_row(sampled_keys<Source>{sources, columns}, bracket_bounds<U>{brackets, b}, sample, key_bits, keys,
                    counts);
}

/// A key beside the bounds of `brackets` brackets.
template <int brackets, class U>
__device__ __forceinline__ void count_key(U key, bool active, const U (&low)[brackets], const U (&high)[brackets],
                                          unsigned (&counts)[brackets][4], packing<U>& p) {
  bool is_between = false;
#pragma unroll
  for (int b = 0; b < brackets; ++b) {
    const bool up_to_low = key <= low[b], below_high = key < high[b];
    counts[b][0] += active && key < low[b] ? 1u : 0u;
    counts[b][1] += active && up_to_low ? 1u : 0u;
    counts[b][2] += active && below_high ? 1u : 0u;
    counts[b][3] += active && key <= high[b] ? 1u : 0u;
    is_between = is_between || (!up_to_low && below_high);
  }
  stage_key(p, key, active && is_between);
}

/// A part of a row per block: counts its keys, and packs those between two bounds.
template <int brackets, class U, class Source>
__device__ __forceinline__ void count_brackets(const Source& sources, const ranks_job& j, std::int64_t blocks_of_row,
                                               ranks_search<U>* searches, rank_brackets<U>* rows, U* packed) {
  __shared__ pack_memory<U> memory;
  __shared__ unsigned sums[brackets][4];
  constexpr int ahead = keys_ahead<U>;
  constexpr std::int64_t tile = ahead * rank_threads;
  const std::int64_t row = long_row(blocks_of_row), part = static_cast<std::int64_t>(blockIdx.x) % blocks_of_row;
  const Source from = row_at(sources, row, j);
  rank_brackets<U>& at = rows[row];
  U low[brackets], high[brackets];
  unsigned counts[brackets][4];
#pragma unroll
  for (int b = 0; b < brackets; ++b) {
    low[b] = at.low[b];
    high[b] = at.high[b];
#pragma unroll
    for (int k = 0; k < 4; ++k) counts[b][k] = 0;
  }
  if (threadIdx.x < brackets * 4) sums[threadIdx.x / 4][threadIdx.x % 4] = 0;
  __syncthreads();
  packing<U> p = packing_into(memory, packed + row * j.capacity, j.capacity, &searches[row].packed);
  std::int64_t base = part * tile;
  for (; base + tile <= j.columns; base += blocks_of_row * tile) {
    U keys[ahead];  // all loads are issued before any is used
#pragma unroll
    for (int a = 0; a < ahead; ++a) keys[a] = key_at(from, base + a * rank_threads + threadIdx.x);
#pragma unroll
    for (int a = 0; a < ahead; ++a) count_key(keys[a], true, low, high, counts, p);
    write_if_full(p);
  }
  if (base < j.columns)
    for (int a = 0; a < ahead; ++a) {
      const std::int64_t index = base + a * rank_threads + threadIdx.x;
      const bool active = index < j.columns;
      count_key(active ? key_at(from, index) : U{0}, active, low, high, counts, p);
    }
  write_staged(p);
#pragma unroll
  for (int b = 0; b < brackets; ++b)
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      unsigned sum = counts[b][k];
#pragma unroll
      for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
      if (threadIdx.x % 32 == 0) atomicAdd(&sums[b][k], sum);
    }
  __syncthreads();
  if (threadIdx.x < brackets * 4)
    atomicAdd(&at.counts[threadIdx.x / 4][threadIdx.x % 4],
              static_cast<unsigned long long>(sums[threadIdx.x / 4][threadIdx.x % 4]));
}

/// Whether all ranks lie in their brackets; then the search is for their ranks among the packed keys.
template <class U>
__device__ __forceinline__ bool search_packed(ranks_search<U>& s, const rank_brackets<U>& at, const ranks_job& j,
                                              const bracket_job& b) {
  if (s.packed > static_cast<unsigned long long>(j.capacity)) return false;
  std::int64_t before = 0, last = 0;  // packed keys of brackets before this one; the rank before this one
  int bracket = 0;
  for (int r = 0; r < j.ranks; ++r) {
    const auto between = [&](int k) {
      return at.low[k] < at.high[k] ? static_cast<std::int64_t>(at.counts[k][2] - at.counts[k][1]) : 0;
    };
    for (; bracket < b.of_rank[r]; ++bracket) before += between(bracket);
    const unsigned long long* const counts = at.counts[bracket];
    const auto rank = static_cast<unsigned long long>(j.at[r]);
    if (rank < counts[0] || rank >= counts[3]) return false;
    const bool is_low = rank < counts[1],
               is_between = !is_low && at.low[bracket] < at.high[bracket] && rank < counts[2];
    s.answered[r] = !is_between;
    s.answer[r] = is_low ? at.low[bracket] : at.high[bracket];
    if (is_between) last = before + static_cast<std::int64_t>(rank - counts[1]);
    s.left[r] = last;  // ranks stay ascending where nothing is searched for
  }
  return true;
}

template <class U>
__global__ void conclude_brackets(ranks_search<U>* searches, const rank_brackets<U>* rows, std::int64_t count,
                                  const ranks_job j, const bracket_job b) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= count) return;
  ranks_search<U>& s = searches[row];
  s.is_packed = search_packed(s, rows[row], j, b);
  if (!s.is_packed) start_ranks(s, j);
}

}  // namespace sinter::cuda::device
