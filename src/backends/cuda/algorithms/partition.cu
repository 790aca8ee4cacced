// Partitions of rows, and the positions of the first elements of an order, by radix selection.
#include "backends/cuda/algorithms/partition_kernels.cuh"
#include "backends/cuda/algorithms/sort_keys.cuh"

namespace sinter::cuda::device {
namespace {

/// Keys of elements, in the order of positions where these are given.
template <class U>
struct element_keys {
  key_rule rule;
  bool exact;  // the target restores elements from the keys
  const void* base;
  const i64* positions;
};
template <class U>
__device__ __forceinline__ element_keys<U> row_at(element_keys<U> k, i64 row, const rank_job& j) {
  k.base = static_cast<const char*>(k.base) + row * j.columns * k.rule.bytes;
  if (k.positions) k.positions += row * j.columns;
  return k;
}
template <class U>
__device__ __forceinline__ U key_at(const element_keys<U>& k, i64 index) {
  const U bits = load_part<U>(k.base, k.positions ? k.positions[index] : index, k.rule.bytes);
  return k.exact ? exact_key(bits, k.rule) : tied_key(bits, k.rule);
}

/// Elements, or positions (those before this step, if any).
template <class U>
struct divided {
  key_rule rule;
  void* elements;
  i64* positions;
  const i64* before;
};
template <class U>
__device__ __forceinline__ divided<U> row_at(divided<U> d, i64 row, const rank_job& j) {
  if (d.elements) d.elements = static_cast<char*>(d.elements) + row * j.columns * d.rule.bytes;
  if (d.positions) d.positions += row * (j.limit > 0 ? j.limit : j.columns);
  if (d.before) d.before += row * j.columns;
  return d;
}
template <class U>
__device__ __forceinline__ void put_at(const divided<U>& d, i64 place, i64 index, U key) {
  if (d.elements) store_part(d.elements, place, d.rule.bytes, element_of(key, d.rule));
  else d.positions[place] = d.before ? d.before[index] : index;
}

template <class U>
__global__ void __launch_bounds__(rank_threads)
    divide_rows(const element_keys<U> from, const divided<U> to, const rank_job j) {
  extern __shared__ u64 shared[];
  divide_row(from, to, j, reinterpret_cast<U*>(shared));
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

template <class U>
cudaError_t divide_held(const context& c, const element_keys<U>& from, const divided<U>& to, const rank_job& j,
                        i64 rows) {
  const i64 shared = ceil_div(j.columns, rank_threads) * rank_threads * static_cast<i64>(sizeof(U));
  SINTER_TRY(
      cudaFuncSetAttribute(divide_rows<U>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  return launch(c, divide_rows<U>, rows, rank_threads, static_cast<std::size_t>(shared), from, to, j);
}

template <class U>
cudaError_t divide_long(const context& c, const element_keys<U>& from, const divided<U>& to, const rank_job& j,
                        i64 rows, const rank_layout& l) {
  auto* const searches = static_cast<rank_search<U>*>(l.searches);
  const i64 wanted = ceil_div(j.columns, 16 * rank_threads), most = ceil_div(i64{8} * c.multiprocessors, rows);
  const i64 blocks_of_row = wanted < most ? wanted : most;
  SINTER_TRY(launch(c, start_searches<U>, ceil_div(rows, 256), 256, 0, searches, rows, j.rank));
  SINTER_TRY(cudaMemsetAsync(l.counts, 0, static_cast<std::size_t>(rows) * long_digits * sizeof *l.counts, c.stream));
  for (int top = 8 * from.rule.bytes; top > 0;) {
    digit_place d{0, top < long_digit_bits ? top : long_digit_bits};
    top = d.shift = top - d.bits;
    SINTER_TRY(launch(c, count_digits<U, element_keys<U>>, rows * blocks_of_row, rank_threads, 0, from, j,
                      blocks_of_row, d, searches, l.counts));
    SINTER_TRY(launch(c, choose_digit<U>, rows, rank_threads, 0, d, l.counts, searches));
  }
  SINTER_TRY(launch(c, count_tiles<U, element_keys<U>>, rows * l.tiles, rank_threads, 0, from, j, rows, l.tiles,
                    searches, l.ends));
  SINTER_TRY(scan(c, l.sums(rows), l.ends, l.ends, l.sums_scratch));
  return launch(c, write_tiles<U, element_keys<U>, divided<U>>, rows * l.tiles, rank_threads, 0, from, to, j, rows,
                l.tiles, searches, l.ends);
}

template <class U>
cudaError_t divide(const context& c, const row_job& r, element_keys<U> from, divided<U> to, const rank_job& j,
                   const rank_layout& l) {
  constexpr i64 most_blocks = i64{1} << 30;
  const i64 batch = l.held ? most_blocks : l.rows, written = j.limit > 0 ? j.limit : j.columns;
  for (i64 row = 0; row < r.rows; row += batch) {
    const i64 rows = batch < r.rows - row ? batch : r.rows - row;
    if (!l.held) SINTER_TRY(divide_long(c, from, to, j, rows, l));
    else SINTER_TRY(divide_held(c, from, to, j, rows));
    from.base = static_cast<const char*>(from.base) + rows * j.columns * bytes_of(r.type);
    if (from.positions) from.positions += rows * j.columns;
    if (to.elements) to.elements = static_cast<char*>(to.elements) + rows * j.columns * bytes_of(r.type);
    if (to.positions) to.positions += rows * written;
    if (to.before) to.before += rows * j.columns;
  }
  return cudaSuccess;
}

/// One step for each rank: a step keeps the order within its parts, so that it leaves the ranks of earlier ones in
/// place. The steps alternate between the result and other memory, so that the last one writes the result.
template <class U>
cudaError_t partition_steps(const context& c, const row_job& j, const std::int64_t* kth, int count, const void* from,
                            void* elements, i64* positions, void* other, const rank_layout& l) {
  const key_rule rule = rule_of(j.type, false);
  const void* source = from;
  const i64* before = nullptr;
  for (int k = 0; k < count; ++k) {
    const bool to_result = (count - k) % 2 == 1;
    divided<U> to{rule, nullptr, nullptr, before};
    if (elements) to.elements = to_result ? elements : other;
    else to.positions = to_result ? positions : static_cast<i64*>(other);
    SINTER_TRY(divide<U>(c, j, {rule, elements != nullptr, source, before}, to, {j.columns, kth[k], 0}, l));
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
  if (bytes_of(j.type) == 8) return partition_steps<u64>(c, j, kth, count, from, elements, positions, other, l);
  return partition_steps<u32>(c, j, kth, count, from, elements, positions, other, l);
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

cudaError_t select_first(const context& c, const row_job& j, std::int64_t k, const void* keys, std::int64_t* result,
                         void* scratch) {
  bool held = false;
  SINTER_TRY(find_held(j, held));
  pieces p(scratch);
  const rank_layout l(j, held, p);
  const key_rule rule = rule_of(j.type, j.descending);
  const rank_job first{j.columns, k - 1, k};
  if (bytes_of(j.type) == 8)
    return divide<u64>(c, j, {rule, false, keys, nullptr}, {rule, nullptr, result, nullptr}, first, l);
  return divide<u32>(c, j, {rule, false, keys, nullptr}, {rule, nullptr, result, nullptr}, first, l);
}

}  // namespace sinter::cuda::device
