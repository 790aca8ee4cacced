// Sorting long rows: CUB's radix sort for numbers, its merge sort for complex ones, counting for bytes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "backends/cuda/algorithms/sort_keys.cuh"
#include "backends/cuda/algorithms/sort_parts.cuh"

namespace sinter::cuda::device {
namespace {

constexpr int threads = 256;
using bytes_t = std::size_t;

// --- one row of numbers

template <class Key>
cudaError_t radix_sort(void* temporary, bytes_t& bytes, cub::DoubleBuffer<Key>& keys, i64 n, bool descending,
                       cudaStream_t s) {
  constexpr int bits = static_cast<int>(8 * sizeof(Key));
  return descending ? cub::DeviceRadixSort::SortKeysDescending(temporary, bytes, keys, n, 0, bits, s)
                    : cub::DeviceRadixSort::SortKeys(temporary, bytes, keys, n, 0, bits, s);
}

template <class Key>
cudaError_t radix_sort(void* temporary, bytes_t& bytes, const Key* from, Key* to, i64 n, bool descending,
                       cudaStream_t s) {
  constexpr int bits = static_cast<int>(8 * sizeof(Key));
  return descending ? cub::DeviceRadixSort::SortKeysDescending(temporary, bytes, from, to, n, 0, bits, s)
                    : cub::DeviceRadixSort::SortKeys(temporary, bytes, from, to, n, 0, bits, s);
}

/// Sorts a row of `from` into `to`, which may be `from`; a null `work` queries its bytes. CUB sorts between two buffers if
/// it may write both; if it must not write `from`, its own memory includes the second one.
template <class Key>
cudaError_t sort_numbers(const void* from, void* to, void* work, bytes_t& bytes, i64 n, bool descending,
                         cudaStream_t s) {
  const bytes_t row = static_cast<bytes_t>(n) * sizeof(Key), other = ceil_div(row, bytes_t{256}) * 256;
  Key* const keys = static_cast<Key*>(to);
  cub::DoubleBuffer<Key> both(keys, static_cast<Key*>(work));
  if (!work) {
    bytes_t in_place = 0, apart = 0;
    SINTER_TRY(radix_sort(nullptr, in_place, both, n, descending, s));
    SINTER_TRY(radix_sort<Key>(nullptr, apart, nullptr, nullptr, n, descending, s));
    bytes = other + in_place > apart ? other + in_place : apart;
    return cudaSuccess;
  }
  if (from != to) return radix_sort(work, bytes, static_cast<const Key*>(from), keys, n, descending, s);
  bytes_t rest = bytes - other;
  SINTER_TRY(radix_sort(static_cast<char*>(work) + other, rest, both, n, descending, s));
  return both.Current() == keys ? cudaSuccess : cudaMemcpyAsync(to, work, row, cudaMemcpyDeviceToDevice, s);
}

/// The parts of a complex number in memory.
template <class U>
struct alignas(2 * sizeof(U)) complex_bits {
  U real, imaginary;
};
template <class U>
struct complex_before {
  key_rule rule;
  __device__ bool operator()(const complex_bits<U>& a, const complex_bits<U>& b) const {
    const key_pair<U> x = tied_complex(a.real, a.imaginary, rule), y = tied_complex(b.real, b.imaginary, rule);
    return x.high < y.high || (x.high == y.high && x.low < y.low);
  }
};
template <class U>
cudaError_t sort_complex(const void* from, void* to, void* work, bytes_t& bytes, i64 n, const key_rule& rule,
                         cudaStream_t s) {
  const bytes_t row = static_cast<bytes_t>(n) * sizeof(complex_bits<U>);
  if (work && from != to) SINTER_TRY(cudaMemcpyAsync(to, from, row, cudaMemcpyDeviceToDevice, s));
  return cub::DeviceMergeSort::StableSortKeys(work, bytes, static_cast<complex_bits<U>*>(to), n,
                                              complex_before<U>{rule}, s);
}

/// Sorts one row; a null `work` queries its bytes, which include those of another row unless elements are complex.
cudaError_t sort_row(const row_job& j, const void* from, void* to, void* work, bytes_t& bytes, cudaStream_t s) {
  const i64 n = j.columns;
  const bool d = j.descending;
  switch (j.type) {
    case element::i16: return sort_numbers<std::int16_t>(from, to, work, bytes, n, d, s);
    case element::u16: return sort_numbers<u16>(from, to, work, bytes, n, d, s);
    case element::i32: return sort_numbers<std::int32_t>(from, to, work, bytes, n, d, s);
    case element::u32: return sort_numbers<u32>(from, to, work, bytes, n, d, s);
    case element::i64: return sort_numbers<i64>(from, to, work, bytes, n, d, s);
    case element::u64: return sort_numbers<u64>(from, to, work, bytes, n, d, s);
    case element::f16: return sort_numbers<__half>(from, to, work, bytes, n, d, s);
    case element::bf16: return sort_numbers<__nv_bfloat16>(from, to, work, bytes, n, d, s);
    case element::f32: return sort_numbers<float>(from, to, work, bytes, n, d, s);
    case element::f64: return sort_numbers<double>(from, to, work, bytes, n, d, s);
    case element::c64: return sort_complex<u32>(from, to, work, bytes, n, rule_of(j.type, d), s);
    case element::c128: return sort_complex<u64>(from, to, work, bytes, n, rule_of(j.type, d), s);
    default: return cudaErrorInvalidValue;
  }
}

// --- NaNs
//
// CUB sorts by bits, which puts negative NaNs at the wrong end: the beginning where ascending, the end where
// descending. They are few if any, so the row is checked afterwards and rotated only where necessary.

/// Whether the element at `at` of a sorted row is a NaN at the wrong end.
template <class U>
__device__ bool is_misplaced(const U* row, i64 at, const narrow_rule<U>& n) {
  return row[at] > (n.sign | n.infinity);
}

/// *rotation: by how many elements the row must be rotated to the left (ascending) or right (descending). One warp.
template <class U>
__global__ void count_misplaced(const U* row, i64 columns, const key_rule rule, i64* rotation) {
  const narrow_rule<U> n(rule);
  i64 low = 0, high = columns;  // misplaced ones are below `low` and none from `high` on, counted from their end
  while (low < high) {
    const i64 step = ceil_div(high - low, i64{32}), at = low + threadIdx.x * step;
    const int misplaced =
        __popc(__ballot_sync(all_lanes, at < high && is_misplaced(row, rule.descending ? columns - 1 - at : at, n)));
    const i64 next = low + misplaced * step;
    if (next < high) high = next;
    if (misplaced > 0) low += (misplaced - 1) * step + 1;
  }
  if (threadIdx.x == 0) *rotation = low;
}

template <class U>
__global__ void rotate_row(const U* row, U* other, i64 columns, bool descending, const i64* rotation) {
  const i64 by = *rotation;
  if (by == 0) return;
  const i64 shift = descending ? columns - by : by, step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < columns; k += step)
    other[k] = row[k + shift < columns ? k + shift : k + shift - columns];
}
template <class U>
__global__ void copy_rotated(U* row, const U* other, i64 columns, const i64* rotation) {
  if (*rotation == 0) return;
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < columns; k += step) row[k] = other[k];
}

template <class U>
cudaError_t place_nans_of(const context& c, const row_job& j, void* data, void* other, i64* rotation) {
  U* const row = static_cast<U*>(data);
  U* const copy = static_cast<U*>(other);
  const i64 blocks = looping_blocks(c, j.columns, 16 * threads);
  SINTER_TRY(launch(c, count_misplaced<U>, 1, 32, 0, row, j.columns, rule_of(j.type, j.descending), rotation));
  SINTER_TRY(launch(c, rotate_row<U>, blocks, threads, 0, row, copy, j.columns, j.descending, rotation));
  return launch(c, copy_rotated<U>, blocks, threads, 0, row, copy, j.columns, rotation);
}
cudaError_t place_nans(const context& c, const row_job& j, void* data, void* other, i64* rotation) {
  switch (bytes_of(j.type)) {
    case 2: return place_nans_of<u16>(c, j, data, other, rotation);
    case 4: return place_nans_of<u32>(c, j, data, other, rotation);
    default: return place_nans_of<u64>(c, j, data, other, rotation);
  }
}

// --- rows of bytes: counting sort

/// counts[row * 256 + key]; blocks of one row are consecutive along x.
__global__ void count_bytes(const u8* data, i64 columns, const key_rule rule, u64* counts) {
  __shared__ u32 own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  const u8* const row = data + blockIdx.y * columns;
  const i64 step = static_cast<i64>(gridDim.x) * threads;
  for (i64 k = static_cast<i64>(blockIdx.x) * threads + threadIdx.x; k < columns; k += step)
    atomicAdd(&own[exact_key<u32>(row[k], rule)], 1u);
  __syncthreads();
  if (own[threadIdx.x] != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(counts) + blockIdx.y * 256 + threadIdx.x, own[threadIdx.x]);
}
__global__ void write_bytes(u8* to, i64 columns, const key_rule rule, const u64* counts) {
  __shared__ i64 ends[256];
  ends[threadIdx.x] = static_cast<i64>(counts[blockIdx.y * 256 + threadIdx.x]);
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    const i64 left = static_cast<int>(threadIdx.x) >= d ? ends[threadIdx.x - d] : 0;
    __syncthreads();
    ends[threadIdx.x] += left;
    __syncthreads();
  }
  u8* const row = to + blockIdx.y * columns;
  const i64 step = static_cast<i64>(gridDim.x) * threads;
  for (i64 k = static_cast<i64>(blockIdx.x) * threads + threadIdx.x; k < columns; k += step) {
    u32 key = 0;  // the first key whose elements end after k
    for (u32 half = 128; half > 0; half /= 2)
      if (ends[key + half - 1] <= k) key += half;
    row[k] = static_cast<u8>(element_of<u32>(key, rule));
  }
}

constexpr i64 rows_of_bytes = 1024;  // counted per pass

cudaError_t sort_bytes(const context& c, const row_job& j, const u8* from, u8* to, u64* counts) {
  const key_rule rule = rule_of(j.type, j.descending);
  for (i64 row = 0; row < j.rows; row += rows_of_bytes) {
    const i64 rows = j.rows - row < rows_of_bytes ? j.rows - row : rows_of_bytes;
    const i64 at = row * j.columns;
    i64 blocks = ceil_div(looping_blocks(c, j.columns * rows, 64 * threads), rows);
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(rows));
    SINTER_TRY(cudaMemsetAsync(counts, 0, static_cast<bytes_t>(rows) * 256 * sizeof(u64), c.stream));
    SINTER_TRY(launch(c, count_bytes, grid, threads, 0, from + at, j.columns, rule, counts));
    SINTER_TRY(launch(c, write_bytes, grid, threads, 0, to + at, j.columns, rule, counts));
  }
  return cudaSuccess;
}

// --- many rows: positions are sorted for some rows at a time, then elements are fetched

template <class T>
__global__ void fetch(const T* from, const u32* positions, T* to, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < n; k += step) to[k] = from[positions[k]];
}

/// Rows of this length and more are sorted one by one.
constexpr i64 long_row = i64{1} << 20;
/// Scratch memory that rows sorted together may always take; the fixed rest takes less than 2 MiB.
constexpr double small_scratch = 8 << 20;

/// The number of rows for which scratch memory of 1.1 times the data's size suffices; 0 if rows are sorted one by one.
i64 rows_together(const row_job& j) {
  if (j.rows == 1 || j.columns >= long_row) return 0;
  const double bytes = bytes_of(j.type);
  const double each = 2.0 * carried_key_bytes(j.type) + 8 + (bytes == 16 ? 16 : 0);
  const double data = bytes * static_cast<double>(j.rows) * static_cast<double>(j.columns);
  const double most = 1.1 * data > small_scratch ? 1.1 * data : small_scratch;
  const double elements = most / each < 2147483648.0 ? most / each : 2147483648.0;
  const i64 rows = static_cast<i64>(elements) / j.columns;
  return rows < j.rows ? rows : j.rows;
}

struct batch_layout {
  position_buffers buffers{};
  void* fetched = nullptr;
  std::size_t scratch = 0;
};
cudaError_t batch_layout_of(const context& c, const row_job& batch, void* scratch, batch_layout& l) {
  const i64 n = batch.rows * batch.columns;
  const int key_bytes = carried_key_bytes(batch.type);
  SINTER_TRY(position_sort_temporary(c, batch, l.buffers.temporary_bytes));
  pieces p(scratch);
  char* const keys = p.take<char>(2 * n * key_bytes);
  l.buffers.keys[0] = keys;
  l.buffers.keys[1] = keys + n * key_bytes;
  // The keys are no longer needed when elements are fetched.
  l.fetched = bytes_of(batch.type) <= 2 * key_bytes ? keys : p.take<char>(n * bytes_of(batch.type));
  l.buffers.positions[0] = p.take<u32>(n);
  l.buffers.positions[1] = p.take<u32>(n);
  l.buffers.temporary = p.take<char>(static_cast<i64>(l.buffers.temporary_bytes));
  l.scratch = p.used();
  return cudaSuccess;
}

/// `fetched`: other memory, for elements that go where they come from.
template <class T>
cudaError_t fetch_into(const context& c, const void* from, const u32* positions, void* to, void* fetched, i64 n) {
  void* const target = from == to ? fetched : to;
  SINTER_TRY(launch(c, fetch<T>, looping_blocks(c, n, threads), threads, 0, static_cast<const T*>(from), positions,
                    static_cast<T*>(target), n));
  if (target == to) return cudaSuccess;
  return cudaMemcpyAsync(to, fetched, static_cast<bytes_t>(n) * sizeof(T), cudaMemcpyDeviceToDevice, c.stream);
}

cudaError_t sort_batches(const context& c, const row_job& j, i64 rows, const char* from, char* to, void* scratch) {
  row_job batch = j;
  batch.rows = rows;
  batch_layout l;
  SINTER_TRY(batch_layout_of(c, batch, scratch, l));
  for (i64 row = 0; row < j.rows; row += rows) {
    if (batch.rows > j.rows - row) batch.rows = j.rows - row;
    const i64 n = batch.rows * j.columns;
    const i64 at = row * j.columns * bytes_of(j.type);
    u32* sorted = nullptr;
    SINTER_TRY(sort_positions(c, {batch, from + at}, l.buffers, sorted));
    switch (bytes_of(j.type)) {
      case 2: SINTER_TRY(fetch_into<u16>(c, from + at, sorted, to + at, l.fetched, n)); break;
      case 4: SINTER_TRY(fetch_into<u32>(c, from + at, sorted, to + at, l.fetched, n)); break;
      case 8: SINTER_TRY(fetch_into<u64>(c, from + at, sorted, to + at, l.fetched, n)); break;
      default: SINTER_TRY(fetch_into<ulonglong2>(c, from + at, sorted, to + at, l.fetched, n)); break;
    }
  }
  return cudaSuccess;
}

// --- rows one by one

struct row_layout {
  void* work = nullptr;
  i64* rotation = nullptr;
  bytes_t work_bytes = 0, scratch = 0;
};
cudaError_t row_layout_of(const context& c, const row_job& j, void* scratch, row_layout& l) {
  SINTER_TRY(sort_row(j, nullptr, nullptr, nullptr, l.work_bytes, c.stream));
  pieces p(scratch);
  l.work = p.take<char>(static_cast<i64>(l.work_bytes));
  if (is_float(j.type)) l.rotation = p.take<i64>(1);
  l.scratch = p.used();
  return cudaSuccess;
}

cudaError_t sort_one_by_one(const context& c, const row_job& j, const char* from, char* to, void* scratch) {
  row_layout l;
  SINTER_TRY(row_layout_of(c, j, scratch, l));
  for (i64 row = 0; row < j.rows; ++row) {
    const i64 at = row * j.columns * bytes_of(j.type);
    SINTER_TRY(sort_row(j, from + at, to + at, l.work, l.work_bytes, c.stream));
    if (is_float(j.type)) SINTER_TRY(place_nans(c, j, to + at, l.work, l.rotation));
  }
  return cudaSuccess;
}

bool fits_blocks(const row_job& j) { return j.rows == 0 || j.columns <= longest_sorted_row(j.type); }

}  // namespace

cudaError_t sort_scratch(const context& c, const row_job& j, std::size_t& bytes) {
  bytes = 0;
  if (fits_blocks(j)) return cudaSuccess;
  if (bytes_of(j.type) == 1) {
    bytes = static_cast<bytes_t>(j.rows < rows_of_bytes ? j.rows : rows_of_bytes) * 256 * sizeof(u64);
    return cudaSuccess;
  }
  if (const i64 rows = rows_together(j); rows > 1) {
    row_job batch = j;
    batch.rows = rows;
    batch_layout l;
    SINTER_TRY(batch_layout_of(c, batch, nullptr, l));
    bytes = l.scratch;
    return cudaSuccess;
  }
  row_layout l;
  SINTER_TRY(row_layout_of(c, j, nullptr, l));
  bytes = l.scratch;
  return cudaSuccess;
}

cudaError_t sort(const context& c, const row_job& j, const void* from, void* to, void* scratch) {
  if (j.rows == 0 || j.columns == 0) return cudaSuccess;
  if (fits_blocks(j)) return sort_rows(c, j, from, to);
  const char* const elements = static_cast<const char*>(from);
  char* const sorted = static_cast<char*>(to);
  if (bytes_of(j.type) == 1)
    return sort_bytes(c, j, static_cast<const u8*>(from), static_cast<u8*>(to), static_cast<u64*>(scratch));
  const i64 rows = rows_together(j);
  return rows > 1 ? sort_batches(c, j, rows, elements, sorted, scratch)
                  : sort_one_by_one(c, j, elements, sorted, scratch);
}

}  // namespace sinter::cuda::device
