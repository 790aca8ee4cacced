// Sorting many rows of up to a few thousand elements: each is held in the registers of part of a warp, a warp, or a
// block.
#include "backends/cuda/algorithms/sort_keys.cuh"
#include "backends/cuda/algorithms/sort_network.cuh"
#include "backends/cuda/algorithms/sort_parts.cuh"

namespace sinter::cuda::device {
namespace {

struct rows_job {
  key_rule rule;
  i64 rows;
  int columns;
  int lanes;  // of a row's thread group, up to 32
  int warps;  // of a row's thread group
  const void* from;
  void* to;
};

/// A thread's position: its row, its number in the row's thread group, and the size of that group.
struct place {
  i64 row;
  int t, threads;
  u32 peers;  // lanes of the warp that belong to the group
};

__device__ __forceinline__ place place_of(const rows_job& j) {
  const int lane = threadIdx.x % 32;
  if (j.warps > 1) return {blockIdx.x, static_cast<int>(threadIdx.x), 32 * j.warps, all_lanes};
  const int groups = 32 / j.lanes, group = lane / j.lanes;
  const i64 warp = static_cast<i64>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  const u32 peers = j.lanes == 32 ? all_lanes : ((1u << j.lanes) - 1) << (group * j.lanes);
  return {warp * groups + group, lane % j.lanes, j.lanes, peers};
}

__device__ __forceinline__ void synchronize_group(const rows_job& j) {
  if (j.warps > 1) __syncthreads();
  else __syncwarp();
}

/// Words that a warp (or the block) exchanges between the threads that sorted them and those that store them: `own`
/// consecutive ones per thread. Their order in shared memory keeps both sides free of bank conflicts.
struct hand_over {
  u32* words;
  __device__ __forceinline__ u32& at(int k) const { return words[k ^ (k / 32 % 32)]; }
};

template <class U>
struct value_stage {
  static constexpr int planes = sizeof(U) / 4;
  hand_over plane[planes];
  __device__ value_stage(u32* words, int count) {
    for (int k = 0; k < planes; ++k) plane[k].words = words + k * count;
  }
  __device__ __forceinline__ void put(int at, U bits) const {
    plane[0].at(at) = static_cast<u32>(bits);
    if constexpr (planes == 2) plane[1].at(at) = static_cast<u32>(bits >> 32);
  }
  __device__ __forceinline__ U get(int at) const {
    if constexpr (planes == 2) return plane[0].at(at) | static_cast<u64>(plane[1].at(at)) << 32;
    else return plane[0].at(at);
  }
};

/// Zeros and NaNs, sorted by their bits, get the order back that they have in the row. Called by the lanes of one warp
/// of the group.
template <class U>
__device__ void restore_ties(const rows_job& j, const place& p, int first, const value_stage<U>& stage) {
  const int t = p.t, lanes = j.lanes;
  const narrow_rule<U> n(j.rule);
  const U minus = exact_key(n.sign, j.rule), plus = exact_key(U{0}, j.rule), infinity = exact_key(n.infinity, j.rule);
  const U zero_first = minus < plus ? minus : plus, nan_first = j.rule.descending ? U{0} : infinity + 1;
  const u32 before = p.peers & ((1u << (threadIdx.x % 32)) - 1);
  int zeros = 0, nans = 0;
  for (int base = 0; base < j.columns; base += lanes) {
    const bool inside = base + t < j.columns && p.row < j.rows;
    const U key = inside ? exact_key(load_part<U>(j.from, p.row * j.columns + base + t, j.rule.bytes), j.rule) : U{0};
    zeros += __popc(__ballot_sync(all_lanes, inside && key < zero_first) & p.peers);
    nans += __popc(__ballot_sync(all_lanes, inside && key < nan_first) & p.peers);
  }
  for (int base = 0; base < j.columns; base += lanes) {
    const bool inside = base + t < j.columns && p.row < j.rows;
    const U bits = inside ? load_part<U>(j.from, p.row * j.columns + base + t, j.rule.bytes) : n.sign - 1;
    const bool zero = inside && is_zero_part(bits, n), nan = inside && is_nan_part(bits, n);
    const u32 zero_lanes = __ballot_sync(all_lanes, zero) & p.peers,
              nan_lanes = __ballot_sync(all_lanes, nan) & p.peers;
    if (zero) stage.put(first + zeros + __popc(zero_lanes & before), bits);
    if (nan) stage.put(first + nans + __popc(nan_lanes & before), bits);
    zeros += __popc(zero_lanes);
    nans += __popc(nan_lanes);
  }
}

/// Sorts elements of up to 8 bytes that are not complex numbers; may be in place.
template <class U, int R>
__global__ void __launch_bounds__(512) sort_row_values(const rows_job j) {
  extern __shared__ u32 shared[];
  const place p = place_of(j);
  const narrow_rule<U> n(j.rule);
  plain_item<U> x[R];
  bool ties = false;
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = r * p.threads + p.t;
    x[r].key = ~U{0};
    if (i < j.columns && p.row < j.rows) {
      const U bits = load_part<U>(j.from, p.row * j.columns + i, j.rule.bytes);
      x[r].key = exact_key(bits, j.rule);
      ties = ties || (j.rule.kind == key_class::real && (bits == n.sign || is_nan_part(bits, n)));
    }
  }
  sort_group(x, p.t, j.lanes, j.warps, shared);

  // The groups of a warp use consecutive pieces of the warp's part of shared memory.
  const int threads = j.warps > 1 ? 32 * j.warps : 32, warp = threadIdx.x / 32;
  u32* const words = j.warps > 1 ? shared : shared + warp * 32 * R * value_stage<U>::planes;
  const value_stage<U> stage(words, threads * R);
  const int mine = j.warps > 1 ? threadIdx.x : threadIdx.x % 32, first = (mine - p.t) * R;
#pragma unroll
  for (int r = 0; r < R; ++r) stage.put(mine * R + r, element_of(x[r].key, j.rule));
  synchronize_group(j);
  const bool any_ties = j.warps > 1 ? __syncthreads_or(ties) != 0 : __any_sync(all_lanes, ties) != 0;
  if (any_ties) {
    if (j.warps == 1 || warp == 0) restore_ties(j, p, first, stage);
    synchronize_group(j);
  }
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = r * p.threads + p.t;
    if (i < j.columns && p.row < j.rows) store_part(j.to, p.row * j.columns + i, j.rule.bytes, stage.get(first + i));
  }
}

// Items with positions, of each kind of element.
__device__ __forceinline__ void load_item(plain_item<u64>& x, const rows_job& j, i64 at, int i) {
  x.key = static_cast<u64>(tied_key(load_part<u32>(j.from, at, j.rule.bytes), j.rule)) << 32 | static_cast<u32>(i);
}
__device__ __forceinline__ void load_item(tagged_item& x, const rows_job& j, i64 at, int i) {
  if (j.rule.kind == key_class::complex) {
    const u32* parts = static_cast<const u32*>(j.from) + 2 * at;
    const key_pair<u32> k = tied_complex(parts[0], parts[1], j.rule);
    x.key = static_cast<u64>(k.high) << 32 | k.low;
  } else {
    x.key = tied_key(static_cast<const u64*>(j.from)[at], j.rule);
  }
  x.index = static_cast<u32>(i);
}
__device__ __forceinline__ void load_item(tagged_pair_item& x, const rows_job& j, i64 at, int i) {
  const u64* parts = static_cast<const u64*>(j.from) + 2 * at;
  const key_pair<u64> k = tied_complex(parts[0], parts[1], j.rule);
  x = {k.high, k.low, static_cast<u32>(i)};
}
// Padding of a row: sorted after every element, since its position is greater.
__device__ __forceinline__ void fill_item(plain_item<u64>& x, int i) { x.key = ~u64{0} << 32 | static_cast<u32>(i); }
__device__ __forceinline__ void fill_item(tagged_item& x, int i) { x = {~u64{0}, static_cast<u32>(i)}; }
__device__ __forceinline__ void fill_item(tagged_pair_item& x, int i) { x = {~u64{0}, ~u64{0}, static_cast<u32>(i)}; }
__device__ __forceinline__ u32 index_of(const plain_item<u64>& x) { return static_cast<u32>(x.key); }
__device__ __forceinline__ u32 index_of(const tagged_item& x) { return x.index; }
__device__ __forceinline__ u32 index_of(const tagged_pair_item& x) { return x.index; }

/// The permutation that sorts each row, as i64; or (gather) the sorted elements themselves, possibly in place.
template <class Item, class Element, bool gather, int R>
__global__ void __launch_bounds__(512) sort_row_positions(const rows_job j) {
  extern __shared__ u32 shared[];
  const place p = place_of(j);
  Item x[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = r * p.threads + p.t;
    if (i < j.columns && p.row < j.rows) load_item(x[r], j, p.row * j.columns + i, i);
    else fill_item(x[r], i);
  }
  sort_group(x, p.t, j.lanes, j.warps, shared);

  const hand_over stage{j.warps > 1 ? shared : shared + threadIdx.x / 32 * (32 * R)};
  const int mine = j.warps > 1 ? threadIdx.x : threadIdx.x % 32, first = (mine - p.t) * R;
#pragma unroll
  for (int r = 0; r < R; ++r) stage.at(mine * R + r) = index_of(x[r]);
  synchronize_group(j);
  const i64 begin = p.row * j.columns;
  Element result[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = r * p.threads + p.t;
    if (i >= j.columns || p.row >= j.rows) continue;
    if constexpr (gather) result[r] = static_cast<const Element*>(j.from)[begin + stage.at(first + i)];
    else result[r] = stage.at(first + i);
  }
  if (gather) synchronize_group(j);
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int i = r * p.threads + p.t;
    if (i < j.columns && p.row < j.rows) static_cast<Element*>(j.to)[begin + i] = result[r];
  }
}

// --- launches

constexpr int block_warps = 4;  // for rows that need at most a warp each

/// Rows of up to `columns` elements with R items per thread and `words` of shared memory per thread.
template <int R>
cudaError_t start(const context& c, void (*kernel)(rows_job), rows_job j, int words_of_value, int words_of_item) {
  const i64 threads = power_of_two_from(ceil_div(j.columns, R));
  j.lanes = threads < 32 ? static_cast<int>(threads) : 32;
  j.warps = threads < 32 ? 1 : static_cast<int>(threads / 32);
  const int block = 32 * (j.warps > 1 ? j.warps : block_warps);
  const i64 rows_a_block = j.warps > 1 ? 1 : block_warps * (32 / j.lanes);
  const int words = j.warps > 1 && words_of_item > words_of_value ? words_of_item : words_of_value;
  const std::size_t shared = static_cast<std::size_t>(block) * R * words * 4;
  if (shared > 48 * 1024)
    SINTER_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  return launch(c, kernel, ceil_div(j.rows, rows_a_block), block, shared, j);
}

template <class U, int R>
cudaError_t start_values(const context& c, const rows_job& j) {
  return start<R>(c, sort_row_values<U, R>, j, sizeof(U) / 4, sizeof(U) / 4);
}
template <class Item, class Element, bool gather, int R>
cudaError_t start_positions(const context& c, const rows_job& j) {
  return start<R>(c, sort_row_positions<Item, Element, gather, R>, j, 1, Item::words);
}

rows_job job_of(const row_job& j, const void* from, void* to) {
  return {rule_of(j.type, j.descending), j.rows, static_cast<int>(j.columns), 1, 1, from, to};
}

}  // namespace

// At most 16 warps, and 64 KiB of shared memory, which every GPU has.
i64 longest_sorted_row(element type) {
  switch (bytes_of(type)) {
    case 16: return 8 * 32 * 8;
    case 8: return is_complex(type) ? 16 * 32 * 8 : 16 * 32 * 16;
    default: return 16 * 32 * 32;
  }
}
i64 longest_argsorted_row(element type) {
  switch (bytes_of(type)) {
    case 16: return 8 * 32 * 8;
    case 8: return 16 * 32 * 8;
    default: return 16 * 32 * 16;
  }
}

cudaError_t sort_rows(const context& c, const row_job& r, const void* from, void* to) {
  const rows_job j = job_of(r, from, to);
  if (r.type == element::c128) return start_positions<tagged_pair_item, ulonglong2, true, 8>(c, j);
  if (r.type == element::c64) return start_positions<tagged_item, u64, true, 8>(c, j);
  if (bytes_of(r.type) == 8) return r.columns <= 256 ? start_values<u64, 8>(c, j) : start_values<u64, 16>(c, j);
  return r.columns <= 256 ? start_values<u32, 8>(c, j) : start_values<u32, 32>(c, j);
}

cudaError_t argsort_rows(const context& c, const row_job& r, const void* keys, i64* result) {
  const rows_job j = job_of(r, keys, result);
  if (r.type == element::c128) return start_positions<tagged_pair_item, i64, false, 8>(c, j);
  if (bytes_of(r.type) == 8) return start_positions<tagged_item, i64, false, 8>(c, j);
  return r.columns <= 256 ? start_positions<plain_item<u64>, i64, false, 8>(c, j)
                          : start_positions<plain_item<u64>, i64, false, 16>(c, j);
}

}  // namespace sinter::cuda::device
