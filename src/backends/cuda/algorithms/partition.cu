// Partitions of rows, and the positions of the first elements of an order, by radix selection.
#include "backends/cuda/algorithms/partition_kernels.cuh"
#include "backends/cuda/algorithms/sort_keys.cuh"
#include "backends/cuda/algorithms/sort_parts.cuh"

namespace sinter::cuda::device {
namespace {

template <class Bits>
using key_of = std::conditional_t<sizeof(Bits) == 8, u64, u32>;

/// Keys of elements, in the order of positions where these are given.
template <class Bits>
struct element_keys {
  key_rule rule;
  bool exact;  // the target restores elements from the keys
  const Bits* base;
  const i64* positions;
};
template <class Bits>
__device__ __forceinline__ element_keys<Bits> row_at(element_keys<Bits> k, i64 row, const rank_job& j) {
  k.base += row * j.columns;
  if (k.positions) k.positions += row * j.columns;
  return k;
}
template <class Bits>
__device__ __forceinline__ key_of<Bits> key_at(const element_keys<Bits>& k, i64 index) {
  const key_of<Bits> bits = k.base[k.positions ? k.positions[index] : index];
  return k.exact ? exact_key(bits, k.rule) : tied_key(bits, k.rule);
}

/// Elements, or positions (those before this step, if any).
template <class Bits>
struct divided {
  key_rule rule;
  Bits* elements;
  i64* positions;
  const i64* before;
};
template <class Bits>
__device__ __forceinline__ divided<Bits> row_at(divided<Bits> d, i64 row, const rank_job& j) {
  if (d.elements) d.elements += row * j.columns;
  if (d.positions) d.positions += row * (j.limit > 0 ? j.limit : j.columns);
  if (d.before) d.before += row * j.columns;
  return d;
}
template <class Bits>
__device__ __forceinline__ void put_at(const divided<Bits>& d, i64 place, i64 index, key_of<Bits> key) {
  if (d.elements) d.elements[place] = static_cast<Bits>(element_of(key, d.rule));
  else d.positions[place] = d.before ? d.before[index] : index;
}

template <class Bits>
__global__ void __launch_bounds__(rank_threads)
    divide_rows(const element_keys<Bits> from, const divided<Bits> to, const rank_job j) {
  extern __shared__ u64 shared[];
  divide_row(from, to, j, reinterpret_cast<key_of<Bits>*>(shared));
}

i64 held_bytes(const row_job& j) {
  return ceil_div(j.columns, rank_threads) * rank_threads * (bytes_of(j.type) == 8 ? 8 : 4);
}
/// Whether one block holds a row: at most 64 KiB, and what the device has beside the kernel's own variables.
cudaError_t find_held(const row_job& j, bool& held) {
  constexpr i64 most = 64 * 1024, own = 8 * 1024;
  int device = 0, bytes = 0;
  SINTER_TRY(cudaGetDevice(&device));
  SINTER_TRY(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  held = held_bytes(j) <= most && held_bytes(j) + own <= bytes;
  return cudaSuccess;
}

/// Rows of which one is shorter than its registers' sort.
constexpr i64 longest_rather_sorted = 1024;
constexpr i64 tiles_of_batch = i64{1} << 16;

/// Scratch memory for a batch of long rows; none for rows that are held.
struct rank_layout {
  bool held;
  i64 rows = 0, tiles = 0;
  void* searches = nullptr;
  unsigned long long* counts = nullptr;
  i64* ends = nullptr;
  void* sums_scratch = nullptr;

  rank_layout(const row_job& j, bool is_held, pieces& p) : held(is_held) {
    if (held) return;
    tiles = ceil_div(j.columns, rank_tile);
    const i64 most = tiles_of_batch / tiles;
    rows = j.rows < most ? j.rows : most < 1 ? 1 : most;
    searches = p.take<rank_search<u64>>(rows);
    counts = p.take<unsigned long long>(rows * long_digits);
    ends = p.take<i64>(2 * rows * tiles);
    sums_scratch = p.take<char>(static_cast<i64>(device::scan_scratch(sums(rows))));
  }
  scan_job sums(i64 of_rows) const { return {scan_kind::sum, element::i64, 2 * of_rows, tiles, 1}; }
};

template <class Bits>
cudaError_t divide_held(const context& c, const element_keys<Bits>& from, const divided<Bits>& to, const rank_job& j,
                        i64 rows) {
  const i64 shared = ceil_div(j.columns, rank_threads) * rank_threads * static_cast<i64>(sizeof(key_of<Bits>));
  SINTER_TRY(
      cudaFuncSetAttribute(divide_rows<Bits>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  return launch(c, divide_rows<Bits>, rows, rank_threads, static_cast<std::size_t>(shared), from, to, j);
}

template <class Bits>
cudaError_t divide_long(const context& c, const element_keys<Bits>& from, const divided<Bits>& to, const rank_job& j,
                        i64 rows, const rank_layout& l) {
  using U = key_of<Bits>;
  auto* const searches = static_cast<rank_search<U>*>(l.searches);
  const i64 wanted = ceil_div(j.columns, 16 * rank_threads), most = ceil_div(i64{4} * c.multiprocessors, rows);
  const i64 blocks_of_row = wanted < most ? wanted : most;
  SINTER_TRY(launch(c, start_searches<U>, ceil_div(rows, 256), 256, 0, searches, rows, j.rank));
  SINTER_TRY(cudaMemsetAsync(l.counts, 0, static_cast<std::size_t>(rows) * long_digits * sizeof *l.counts, c.stream));
  for (int top = 8 * from.rule.bytes; top > 0;) {
    digit_place d{0, top < long_digit_bits ? top : long_digit_bits};
    top = d.shift = top - d.bits;
    SINTER_TRY(launch(c, count_digits<U, element_keys<Bits>>, rows * blocks_of_row, rank_threads, 0, from, j,
                      blocks_of_row, d, searches, l.counts));
    SINTER_TRY(launch(c, choose_digit<U>, rows, rank_threads, 0, d, l.counts, searches));
  }
  SINTER_TRY(launch(c, count_tiles<U, element_keys<Bits>>, rows * l.tiles, rank_threads, 0, from, j, rows, l.tiles,
                    searches, l.ends));
  SINTER_TRY(scan(c, l.sums(rows), l.ends, l.ends, l.sums_scratch));
  return launch(c, write_tiles<U, element_keys<Bits>, divided<Bits>>, rows * l.tiles, rank_threads, 0, from, to, j,
                rows, l.tiles, searches, l.ends);
}

template <class Bits>
cudaError_t divide(const context& c, const row_job& r, element_keys<Bits> from, divided<Bits> to, const rank_job& j,
                   const rank_layout& l) {
  constexpr i64 most_blocks = i64{1} << 30;
  const i64 batch = l.held ? most_blocks : l.rows, written = j.limit > 0 ? j.limit : j.columns;
  for (i64 row = 0; row < r.rows; row += batch) {
    const i64 rows = batch < r.rows - row ? batch : r.rows - row;
    if (!l.held) SINTER_TRY(divide_long(c, from, to, j, rows, l));
    else SINTER_TRY(divide_held(c, from, to, j, rows));
    from.base += rows * j.columns;
    if (from.positions) from.positions += rows * j.columns;
    if (to.elements) to.elements += rows * j.columns;
    if (to.positions) to.positions += rows * written;
    if (to.before) to.before += rows * j.columns;
  }
  return cudaSuccess;
}

/// One step for each rank: a step keeps the order within its parts, so that it leaves the ranks of earlier ones in
/// place. The steps alternate between the result and other memory, so that the last one writes the result.
template <class Bits>
cudaError_t partition_steps(const context& c, const row_job& j, const std::int64_t* kth, int count, const void* from,
                            void* elements, i64* positions, void* other, const rank_layout& l) {
  const key_rule rule = rule_of(j.type, false);
  const Bits* source = static_cast<const Bits*>(from);
  const i64* before = nullptr;
  for (int k = 0; k < count; ++k) {
    const bool to_result = (count - k) % 2 == 1;
    divided<Bits> to{rule, nullptr, nullptr, before};
    if (elements) to.elements = static_cast<Bits*>(to_result ? elements : other);
    else to.positions = to_result ? positions : static_cast<i64*>(other);
    SINTER_TRY(divide<Bits>(c, j, {rule, elements != nullptr, source, before}, to, {j.columns, kth[k], 0}, l));
    if (elements) source = to.elements;
    else before = to.positions;
  }
  return cudaSuccess;
}

cudaError_t partition_into(const context& c, const row_job& j, const std::int64_t* kth, int count, const void* from,
                           void* elements, i64* positions, void* scratch) {
  bool held = false;
  SINTER_TRY(find_held(j, held));
  pieces p(scratch);
  const rank_layout l(j, held, p);
  void* const other = count > 1 ? p.take<char>(j.rows * j.columns * (elements ? bytes_of(j.type) : 8)) : nullptr;
  switch (bytes_of(j.type)) {
    case 2: return partition_steps<u16>(c, j, kth, count, from, elements, positions, other, l);
    case 4: return partition_steps<u32>(c, j, kth, count, from, elements, positions, other, l);
    default: return partition_steps<u64>(c, j, kth, count, from, elements, positions, other, l);
  }
}

}  // namespace

bool can_partition(const row_job& j) {
  return j.columns > longest_rather_sorted && !is_complex(j.type) && bytes_of(j.type) > 1;
}

cudaError_t partition_scratch(const row_job& j, std::int64_t kth_count, bool positions, std::size_t& bytes) {
  bool held = false;
  SINTER_TRY(find_held(j, held));
  pieces p(nullptr);
  const rank_layout l(j, held, p);
  if (kth_count > 1) p.take<char>(j.rows * j.columns * (positions ? 8 : bytes_of(j.type)));
  bytes = p.used();
  return cudaSuccess;
}

cudaError_t partition(const context& c, const row_job& j, const std::int64_t* kth, int count, const void* from,
                      void* to, void* scratch) {
  return partition_into(c, j, kth, count, from, to, nullptr, scratch);
}

cudaError_t argpartition(const context& c, const row_job& j, const std::int64_t* kth, int count, const void* keys,
                         std::int64_t* result, void* scratch) {
  return partition_into(c, j, kth, count, keys, nullptr, result, scratch);
}

cudaError_t select_first_by_rank(const context& c, const row_job& j, std::int64_t k, const void* keys,
                                 std::int64_t* result, void* scratch) {
  bool held = false;
  SINTER_TRY(find_held(j, held));
  pieces p(scratch);
  const rank_layout l(j, held, p);
  const key_rule rule = rule_of(j.type, j.descending);
  const rank_job first{j.columns, k - 1, k};
  const auto select = [&](auto* elements) {
    using bits = std::remove_pointer_t<decltype(elements)>;
    const auto* const from = static_cast<const bits*>(keys);
    return divide<bits>(c, j, {rule, false, from, nullptr}, {rule, nullptr, result, nullptr}, first, l);
  };
  switch (bytes_of(j.type)) {
    case 2: return select(static_cast<u16*>(nullptr));
    case 4: return select(static_cast<u32*>(nullptr));
    default: return select(static_cast<u64*>(nullptr));
  }
}

}  // namespace sinter::cuda::device
