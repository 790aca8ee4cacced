// The kernels that divide rows by rank: radix selection finds the key of a rank digit by digit, highest first; then
// elements before it, equal to it and behind it are written in three parts, or those of the first ranks alone, each part in
// the elements' order. Nothing depends on the order in which blocks run.
//
// Only headers of the host compiler are included, so that tests run these kernels without a GPU. A source of keys has a
// function key_at(source, index), a target put_at(target, place, index, key).
#pragma once
#include <cstdint>

namespace sinter::cuda::device {

inline constexpr int rank_threads = 512, rank_warps = rank_threads / 32;
inline constexpr int row_digits = 256;    // values of a digit of 8 bits, for rows that a block holds
inline constexpr int long_digits = 2048;  // of 11 bits, for longer ones
inline constexpr int long_digit_bits = 11;
inline constexpr int rank_rounds = 32;  // at most: a thread for each warp and round
inline constexpr int tile_rounds = 8;
inline constexpr int rank_tile = tile_rounds * rank_threads;

/// What is written: all elements, or, with a limit, the first `limit` ones alone.
struct rank_job {
  std::int64_t columns, rank;  // limit > 0: rank is limit - 1
  std::int64_t limit;
};

/// The key of a rank, and how many keys of the row are less and equal.
template <class U>
struct rank_key {
  U key;
  std::int64_t less, equal;
};

/// The place of an element before which there are so many elements less than and equal to the key; -1: none.
template <class U>
__device__ __forceinline__ std::int64_t place_by_rank(const rank_job& j, const rank_key<U>& at, U key,
                                                      std::int64_t index, std::int64_t less, std::int64_t equal) {
  if (j.limit > 0) {
    const std::int64_t room = j.limit - at.less, taken = equal < room ? equal : room;
    return key < at.key || (key == at.key && equal < room) ? less + taken : -1;
  }
  if (key < at.key) return less;
  return key == at.key ? at.less + equal : at.less + at.equal + (index - less - equal);
}

/// The sum of `mine` over the threads before this one. `sums`: shared memory, a number for each warp.
template <class T>
__device__ __forceinline__ T sum_before(T mine, T* sums) {
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  T sum = mine;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const T below = __shfl_up_sync(0xffffffffu, sum, step);
    if (lane >= step) sum += below;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  T before = sum - mine;
  for (int w = 0; w < warp; ++w) before += sums[w];
  return before;
}

/// Counts a digit of each active lane. Keys of one sign and magnitude share their highest digits, so the lanes with the
/// first one's digit are counted together.
__device__ __forceinline__ void count_digit(unsigned* counts, unsigned digit, bool active) {
  const unsigned lanes = __ballot_sync(0xffffffffu, active);
  if (lanes == 0) return;
  const int leader = __ffs(static_cast<int>(lanes)) - 1;
  const unsigned first = __shfl_sync(0xffffffffu, digit, leader);
  const unsigned same = __ballot_sync(0xffffffffu, active && digit == first);
  if (static_cast<int>(threadIdx.x % 32) == leader) atomicAdd(&counts[first], static_cast<unsigned>(__popc(same)));
  else if (active && digit != first) atomicAdd(&counts[digit], 1u);
}

// --- rows and tiles that a block holds in shared memory, a round of rank_threads elements after the other; each thread
// reads its own only

template <class U, class Source>
__device__ __forceinline__ void load_keys(const Source& from, std::int64_t first, std::int64_t columns, int rounds,
                                          U* keys) {
#pragma unroll 4
  for (int r = 0; r < rounds; ++r) {
    const int at = r * rank_threads + static_cast<int>(threadIdx.x);
    keys[at] = first + at < columns ? key_at(from, first + at) : static_cast<U>(~U{0});
  }
}

template <class U>
struct rank_memory {
  unsigned counts[row_digits], sums[rank_warps], digit, before, count;
  unsigned rounds[rank_rounds * rank_warps];
  U least[rank_threads];
};

/// The key of rank `rank` among those of the first `columns` that are at most `bound`.
template <class U>
__device__ __forceinline__ rank_key<U> find_rank(const U* keys, int columns, U bound, unsigned rank,
                                                 rank_memory<U>& memory) {
  const unsigned t = threadIdx.x;
  U found = 0, known = 0;
  unsigned left = rank, count = 0;
#pragma unroll 1
  for (int shift = 8 * static_cast<int>(sizeof(U)) - 8; shift >= 0; shift -= 8) {
    __syncthreads();  // the memory is in use until here
    if (t < row_digits) memory.counts[t] = 0;
    __syncthreads();
#pragma unroll 4
    for (int first = 0; first < columns; first += rank_threads) {
      const int at = first + static_cast<int>(t);
      const U key = at < columns ? keys[at] : U{0};
      count_digit(memory.counts, static_cast<unsigned>(key >> shift) & (row_digits - 1),
                  at < columns && key <= bound && (key & known) == found);
    }
    __syncthreads();
    const unsigned mine = t < row_digits ? memory.counts[t] : 0, before = sum_before(mine, memory.sums);
    if (before <= left && left < before + mine) {
      memory.digit = t;
      memory.before = before;
      memory.count = mine;
    }
    __syncthreads();
    found |= static_cast<U>(static_cast<U>(memory.digit) << shift);
    known |= static_cast<U>(static_cast<U>(row_digits - 1) << shift);
    left -= memory.before;
    count = memory.count;
  }
  return {found, rank - left, count};
}

/// A bound on the key of the rank: that of the same rank among the threads' least keys. Few other keys are within it.
template <class U>
__device__ __forceinline__ U bound_of_rank(const U* keys, const rank_job& j, rank_memory<U>& memory) {
  const int columns = static_cast<int>(j.columns), threads = columns < rank_threads ? columns : rank_threads;
  if (j.rank >= threads) return static_cast<U>(~U{0});
  U least = static_cast<U>(~U{0});
#pragma unroll 4
  for (int at = static_cast<int>(threadIdx.x); at < columns; at += rank_threads)
    if (keys[at] < least) least = keys[at];
  memory.least[threadIdx.x] = least;
  return find_rank(memory.least, threads, static_cast<U>(~U{0}), static_cast<unsigned>(j.rank), memory).key;
}

/// Writes the keys of `rounds` rounds, the first of which is element `first` of the row; `less` and `equal` count those
/// of the row before it. `counts`: shared memory, a number for each round and warp.
template <class U, class Target>
__device__ __forceinline__ void write_by_rank(const U* keys, int rounds, const rank_job& j, const rank_key<U>& at,
                                              std::int64_t first, std::int64_t less, std::int64_t equal,
                                              const Target& to, unsigned* counts, unsigned* sums) {
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  const unsigned below = (1u << (t % 32)) - 1u;
#pragma unroll 4
  for (int r = 0; r < rounds; ++r) {
    const bool inside = first + r * rank_threads + t < j.columns;
    const U key = keys[r * rank_threads + t];
    const unsigned smaller = __ballot_sync(0xffffffffu, inside && key < at.key);
    const unsigned same = __ballot_sync(0xffffffffu, inside && key == at.key);
    if (t % 32 == 0)
      counts[r * rank_warps + warp] = static_cast<unsigned>(__popc(smaller)) | static_cast<unsigned>(__popc(same))
                                                                                   << 16;
  }
  __syncthreads();
  const bool counted = t < rounds * rank_warps;
  const unsigned mine = counted ? counts[t] : 0, before = sum_before(mine, sums);
  if (counted) counts[t] = before;
  __syncthreads();
#pragma unroll 2
  for (int r = 0; r < rounds; ++r) {
    const std::int64_t index = first + r * rank_threads + t;
    const bool inside = index < j.columns;
    const U key = keys[r * rank_threads + t];
    const unsigned smaller = __ballot_sync(0xffffffffu, inside && key < at.key);
    const unsigned same = __ballot_sync(0xffffffffu, inside && key == at.key);
    const unsigned start = counts[r * rank_warps + warp];
    const std::int64_t place = place_by_rank(j, at, key, index, less + (start & 0xffffu) + __popc(smaller & below),
                                             equal + (start >> 16) + __popc(same & below));
    if (inside && place >= 0) put_at(to, place, index, key);
  }
}

/// A row per block, of at most rank_rounds * rank_threads elements. `keys`: shared memory for whole rounds.
/// row_at(x, row, j) is a source or target of one row.
template <class U, class Source, class Target>
__device__ __forceinline__ void divide_row(const Source& sources, const Target& targets, const rank_job& j, U* keys) {
  __shared__ rank_memory<U> memory;
  const int columns = static_cast<int>(j.columns), rounds = (columns + rank_threads - 1) / rank_threads;
  load_keys(row_at(sources, blockIdx.x, j), 0, j.columns, rounds, keys);
  const U bound = bound_of_rank(keys, j, memory);
  const rank_key<U> at = find_rank(keys, columns, bound, static_cast<unsigned>(j.rank), memory);
  write_by_rank(keys, rounds, j, at, 0, 0, 0, row_at(targets, blockIdx.x, j), memory.rounds, memory.sums);
}

// --- longer rows: several blocks count digits of a row, one chooses the digit, and so on; then tiles are counted, the
// counts summed, and the tiles written

template <class U>
struct rank_search {
  U found, known;
  std::int64_t left;
};
/// The digit of `bits` bits from `shift` on.
struct digit_place {
  int shift, bits;
};

__device__ __forceinline__ std::int64_t long_row(std::int64_t blocks_of_row) {
  return static_cast<std::int64_t>(blockIdx.x) / blocks_of_row;
}

/// counts[row][digit] += the row's keys with the known digits. `counts` has been cleared.
template <class U, class Source>
__global__ void __launch_bounds__(rank_threads)
    count_digits(const Source sources, const rank_job j, std::int64_t blocks_of_row, const digit_place d,
                 const rank_search<U>* searches, unsigned long long* counts) {
  __shared__ unsigned own[long_digits];
  const std::int64_t row = long_row(blocks_of_row), part = static_cast<std::int64_t>(blockIdx.x) % blocks_of_row;
  const Source from = row_at(sources, row, j);
  const rank_search<U> s = searches[row];
  for (int k = static_cast<int>(threadIdx.x); k < long_digits; k += rank_threads) own[k] = 0;
  __syncthreads();
  constexpr int ahead = 4;
  const std::int64_t step = blocks_of_row * rank_threads;
  for (std::int64_t base = part * rank_threads; base < j.columns; base += ahead * step) {
    U keys[ahead];  // all loads are issued before any is used
#pragma unroll
    for (int a = 0; a < ahead; ++a) {
      const std::int64_t index = base + a * step + threadIdx.x;
      keys[a] = index < j.columns ? key_at(from, index) : U{0};
    }
#pragma unroll
    for (int a = 0; a < ahead; ++a)
      count_digit(own, static_cast<unsigned>(keys[a] >> d.shift) & ((1u << d.bits) - 1u),
                  base + a * step + threadIdx.x < j.columns && (keys[a] & s.known) == s.found);
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < long_digits; k += rank_threads)
    if (own[k] != 0) atomicAdd(&counts[row * long_digits + k], static_cast<unsigned long long>(own[k]));
}

/// The digit in which the rank lies; clears the counts. A row per block.
template <class U>
__global__ void __launch_bounds__(rank_threads)
    choose_digit(const digit_place d, unsigned long long* counts, rank_search<U>* searches) {
  constexpr int own = long_digits / rank_threads;
  __shared__ unsigned long long sums[rank_warps];
  unsigned long long* const mine = counts + static_cast<std::int64_t>(blockIdx.x) * long_digits + threadIdx.x * own;
  const rank_search<U> s = searches[blockIdx.x];
  unsigned long long count[own], total = 0;
#pragma unroll
  for (int k = 0; k < own; ++k) {
    count[k] = mine[k];
    total += count[k];
    mine[k] = 0;
  }
  unsigned long long before = sum_before(total, sums);  // after its barrier nobody reads searches[]
  const auto left = static_cast<unsigned long long>(s.left);
  for (int k = 0; k < own; ++k) {
    if (before <= left && left < before + count[k]) {
      const U digit = static_cast<U>(threadIdx.x * own + k);
      const U mask = static_cast<U>((1u << d.bits) - 1u);
      searches[blockIdx.x] = {static_cast<U>(s.found | digit << d.shift), static_cast<U>(s.known | mask << d.shift),
                              static_cast<std::int64_t>(left - before)};
    }
    before += count[k];
  }
}

template <class U>
__global__ void start_searches(rank_search<U>* searches, std::int64_t rows, std::int64_t rank) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < rows) searches[row] = {U{0}, U{0}, rank};
}

/// ends[row][tile] = how many keys of the tile are less than the row's, and after these of all rows, how many equal it.
template <class U, class Source>
__global__ void __launch_bounds__(rank_threads)
    count_tiles(const Source sources, const rank_job j, std::int64_t rows, std::int64_t tiles,
                const rank_search<U>* searches, std::int64_t* ends) {
  __shared__ unsigned sums[rank_warps];
  const std::int64_t row = long_row(tiles), tile = static_cast<std::int64_t>(blockIdx.x) % tiles;
  const Source from = row_at(sources, row, j);
  const U at = searches[row].found;
  unsigned mine = 0;  // less, and equal from bit 16 on: at most 8 of either
#pragma unroll 4
  for (int r = 0; r < tile_rounds; ++r) {
    const std::int64_t index = tile * rank_tile + r * rank_threads + threadIdx.x;
    if (index >= j.columns) continue;
    const U key = key_at(from, index);
    mine += (key < at ? 1u : 0u) + (key == at ? 1u << 16 : 0u);
  }
  const unsigned total = sum_before(mine, sums) + mine;
  if (threadIdx.x == rank_threads - 1) {
    ends[row * tiles + tile] = total & 0xffffu;
    ends[(rows + row) * tiles + tile] = total >> 16;
  }
}

/// After running sums of each row of `ends`.
template <class U, class Source, class Target>
__global__ void __launch_bounds__(rank_threads)
    write_tiles(const Source sources, const Target targets, const rank_job j, std::int64_t rows, std::int64_t tiles,
                const rank_search<U>* searches, const std::int64_t* ends) {
  __shared__ U keys[rank_tile];
  __shared__ unsigned counts[tile_rounds * rank_warps], sums[rank_warps];
  const std::int64_t row = long_row(tiles), tile = static_cast<std::int64_t>(blockIdx.x) % tiles;
  const std::int64_t* const less = ends + row * tiles;
  const std::int64_t* const equal = ends + (rows + row) * tiles;
  const rank_key<U> at{searches[row].found, less[tiles - 1], equal[tiles - 1]};
  load_keys(row_at(sources, row, j), tile * rank_tile, j.columns, tile_rounds, keys);
  write_by_rank(keys, tile_rounds, j, at, tile * rank_tile, tile == 0 ? 0 : less[tile - 1],
                tile == 0 ? 0 : equal[tile - 1], row_at(targets, row, j), counts, sums);
}

}  // namespace sinter::cuda::device
