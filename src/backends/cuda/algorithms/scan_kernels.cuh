// The scan kernels, one per distribution of a scan to threads, and their launches. Values are joined in an order that
// depends on the extents alone, never on timing.
#pragma once
#include "backends/cuda/algorithms/scan_parts.cuh"
#include "backends/cuda/algorithms/scan_plan.cuh"
#include "backends/cuda/algorithms/scan_tiles.cuh"
#include "backends/cuda/algorithms/scan_values.cuh"

namespace sinter::cuda::device {

// --- rows

struct scan_rows_job {
  scan_data data;
  i64 rows, count;
  int lanes;
};

template <class Op>
__global__ void __launch_bounds__(scan_threads) scan_rows(const scan_rows_job j) {
  using T = typename Op::type;
  constexpr int V = vector_length<T>, K = 4;
  const int lane = threadIdx.x % j.lanes, groups = scan_threads / j.lanes;
  const i64 row = static_cast<i64>(blockIdx.x) * groups + threadIdx.x / j.lanes;
  const i64 count = row < j.rows ? j.count : 0, begin = row * j.count;
  T carry{};
  if (j.count <= static_cast<i64>(j.lanes) * V) {
    T x[1][V];
    load_chunks<Op>(x, j.data, begin, lane * V, 0, count);
    scan_chunks_of<Op>(x, lane, j.lanes, false, carry);
    store_chunks<Op>(x, j.data, begin, lane * V, 0, count);
    return;
  }
  const int step = j.lanes * V;
  for (i64 base = 0; base < j.count; base += K * step) {
    T x[K][V];
    load_chunks<Op>(x, j.data, begin, base + lane * V, step, count);
    scan_chunks_of<Op>(x, lane, j.lanes, base > 0, carry);
    store_chunks<Op>(x, j.data, begin, base + lane * V, step, count);
  }
}

// --- columns

struct scan_columns_job {
  scan_data data;
  i64 columns, count, inner;  // columns: outer * inner
  i64 segments, length;
  void* totals;  // of a column's segments, contiguous
  bool only_totals;
};

/// A thread scans one segment of a column, eight elements at a time. With `only_totals` it stores the segment's total;
/// else `totals` holds the scan of the totals.
template <class Op>
__global__ void __launch_bounds__(scan_threads) scan_columns(const scan_columns_job j) {
  using T = typename Op::type;
  constexpr int ahead = 8;
  const i64 column = static_cast<i64>(blockIdx.x) * scan_threads + threadIdx.x, segment = blockIdx.y;
  if (column >= j.columns) return;
  const i64 outer = column / j.inner, base = outer * j.count * j.inner + (column - outer * j.inner);
  const i64 begin = segment * j.length, end = begin + j.length < j.count ? begin + j.length : j.count;
  T* const totals = static_cast<T*>(j.totals) + column * j.segments;
  bool any = segment > 0 && !j.only_totals;
  T carry = any ? totals[segment - 1] : T{};
  with_stored_type<T>(j.data.stored, [&](auto tag) {
    using S = decltype(tag);
    const S* const from = static_cast<const S*>(j.data.from) + base;
    S* const to = static_cast<S*>(j.data.to) + base;
    for (i64 i = begin; i < end; i += ahead) {
      T x[ahead];
#pragma unroll
      for (int k = 0; k < ahead; ++k) x[k] = i + k < end ? widened(from[(i + k) * j.inner]) : T{};
#pragma unroll
      for (int k = 0; k < ahead; ++k) {
        if (i + k >= end) break;
        const T value = entered<Op>(x[k], j.data.flip);
        carry = any ? Op::join(carry, value) : value;
        any = true;
        if (!j.only_totals) narrow(left<Op>(carry, j.data.flip), to[(i + k) * j.inner]);
      }
    }
  });
  if (j.only_totals) totals[segment] = carry;
}

// --- strips

/// Like columns, but with whole lines of `inner` elements in shared memory, so that reads and writes are coalesced even
/// for few columns: a thread scans a run of lines of one column.
template <class Op>
__global__ void __launch_bounds__(scan_threads) scan_strips(const scan_columns_job j) {
  using T = typename Op::type;
  constexpr int run = strip_run(sizeof(T));
  extern __shared__ uint4 strip_memory[];
  const int inner = static_cast<int>(j.inner), runs = scan_threads / inner, line_run = run * inner;
  T* const values = reinterpret_cast<T*>(strip_memory);        // padded by one after each run, against bank conflicts
  T* const ends = values + scan_threads * run + scan_threads;  // the runs' totals
  const i64 outer = blockIdx.x / j.segments, segment = blockIdx.x - outer * j.segments;
  const i64 line = segment * j.length, at = (outer * j.count + line) * j.inner;
  const int lines = static_cast<int>(j.count - line < j.length ? j.count - line : j.length), elements = lines * inner;
  const int t = threadIdx.x;
#pragma unroll 8
  for (int e = t; e < elements; e += scan_threads) values[e + e / line_run] = load_one<Op>(j.data, at + e);
  __syncthreads();

  const int mine = t / inner, column = t - mine * inner;
  const bool works = mine < runs && mine * run < lines;
  T* const own = values + mine * (line_run + 1) + column;
  const int length = lines - mine * run < run ? lines - mine * run : run;
  if (works) {
    T sum = own[0];
    for (int i = 1; i < length; ++i) own[i * inner] = sum = Op::join(sum, own[i * inner]);
    ends[t] = sum;
  }
  __syncthreads();
  for (int d = 1; d < runs; d *= 2) {
    const bool joins = works && mine >= d;
    T below{};
    if (joins) below = ends[t - d * inner];
    __syncthreads();
    if (joins) ends[t] = Op::join(below, ends[t]);
    __syncthreads();
  }

  T* const totals = static_cast<T*>(j.totals) + (outer * j.inner + column) * j.segments + segment;
  if (j.only_totals) {
    if (t < inner) *totals = ends[(lines - 1) / run * inner + t];
    return;
  }
  if (works && (segment > 0 || mine > 0)) {
    T before = segment > 0 ? totals[-1] : ends[t - inner];
    if (segment > 0 && mine > 0) before = Op::join(before, ends[t - inner]);
    for (int i = 0; i < length; ++i) own[i * inner] = Op::join(before, own[i * inner]);
  }
  __syncthreads();
#pragma unroll 8
  for (int e = t; e < elements; e += scan_threads) store_one<Op>(values[e + e / line_run], j.data, at + e);
}

// --- launches

template <class Op>
cudaError_t run_scan(const context& c, const scan_plan& p, const scan_data& d, void* scratch);

/// Columns or strips: for several segments their totals first, then the scan of the totals.
template <class Op>
cudaError_t run_scan_columns(const context& c, const scan_plan& p, const scan_data& d, void* scratch) {
  using T = typename Op::type;
  scan_columns_job j{d, p.outer * p.inner, p.count, p.inner, p.segments, p.length, scratch, p.segments > 1};
  const auto start = [&] {
    if (p.way == scan_way::strips)
      return launch(c, scan_strips<Op>, p.outer * p.segments, scan_threads,
                    sizeof(T) * (scan_threads * strip_run(sizeof(T)) + 2 * scan_threads), j);
    const dim3 grid(static_cast<unsigned>(ceil_div(j.columns, scan_threads)), static_cast<unsigned>(p.segments));
    return launch(c, scan_columns<Op>, grid, scan_threads, 0, j);
  };
  if (p.segments > 1) {
    SINTER_TRY(start());
    const std::size_t bytes = ceil_div(static_cast<std::size_t>(j.columns * p.segments) * sizeof(T), 256) * 256;
    const scan_plan totals = plan_totals(p);
    SINTER_TRY(run_scan<Op>(c, totals, {scratch, scratch, storage::own, 0}, static_cast<char*>(scratch) + bytes));
    j.only_totals = false;
  }
  return start();
}

template <class Op>
cudaError_t run_scan(const context& c, const scan_plan& p, const scan_data& d, void* scratch) {
  if (p.way == scan_way::tiles) return run_scan_tiles<Op>(c, p, d, scratch);
  if (p.way != scan_way::rows) return run_scan_columns<Op>(c, p, d, scratch);
  return launch(c, scan_rows<Op>, ceil_div(p.outer, scan_threads / p.lanes), scan_threads, 0,
                scan_rows_job{d, p.outer, p.count, p.lanes});
}

template <template <class> class Op>
cudaError_t run_scan_of(accumulator a, const context& c, const scan_plan& p, const scan_data& d, void* scratch) {
  switch (a) {
    case accumulator::u32: return run_scan<Op<u32>>(c, p, d, scratch);
    case accumulator::u64: return run_scan<Op<u64>>(c, p, d, scratch);
    case accumulator::f32: return run_scan<Op<float>>(c, p, d, scratch);
    case accumulator::f64: return run_scan<Op<double>>(c, p, d, scratch);
    case accumulator::c64: return run_scan<Op<complex_value<float>>>(c, p, d, scratch);
    case accumulator::c128: return run_scan<Op<complex_value<double>>>(c, p, d, scratch);
  }
  return cudaErrorInvalidValue;
}

}  // namespace sinter::cuda::device
