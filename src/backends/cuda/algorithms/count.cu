// Counting: elements of each bin, histograms, and sums of weights by bin.
#include <type_traits>

#include "backends/cuda/algorithms/bin_sum_kernels.cuh"
#include "backends/cuda/algorithms/count_kernels.cuh"
#include "backends/cuda/algorithms/device_common.cuh"
#include "backends/cuda/algorithms/sort_parts.cuh"
#include "runtime/algorithms/equal_bins.hpp"

namespace sinter::cuda::device {
namespace {

constexpr int threads = count_threads;

// What is counted, and the bin of each sample, or -1.
template <class T>
struct given_bins {
  using sample = T;
  using number = std::make_unsigned_t<T>;
  using distance = int;
  const T* samples;
  i64 bin_count;
  __device__ __forceinline__ i64 bin(T b) const { return b >= 0 && b < bin_count ? b : -1; }
  __device__ __forceinline__ distance near(T b, number& at) const {
    at = static_cast<number>(b);
    return 0;
  }
  __device__ __forceinline__ bool is_clear(distance) const { return true; }
};
template <class T>
struct sampled_bins {
  using sample = T;
  using number = typename backends::equal_bins<T>::number_type;
  using distance = typename backends::equal_bins<T>::edge_type;
  const T* samples;
  backends::equal_bins<T> bins;
  __device__ __forceinline__ i64 bin(T x) const { return bins.bin(x); }
  __device__ __forceinline__ distance near(T x, number& at) const { return bins.near(x, at); }
  __device__ __forceinline__ bool is_clear(distance d) const { return bins.is_clear(d); }
};

/// Counts in shared memory.
template <class Bins>
__global__ void __launch_bounds__(threads)
    count_shared(const Bins bins, i64 n, i64 head, int bin_count, int copies, unsigned long long* counts) {
  __shared__ u32 own[shared_counters];
  for (int k = threadIdx.x; k < (bin_count + 1) * copies; k += threads) own[k] = 0;
  __syncthreads();
  const shared_counts mine{own + (threadIdx.x & (copies - 1)), static_cast<u32>(bin_count), static_cast<u32>(copies)};
  count_samples(bins, n, head, mine);
  __syncthreads();
  for (int k = threadIdx.x; k < bin_count; k += threads) {
    u32 sum = 0;
    for (int i = 0; i < copies; ++i) sum += own[k * copies + ((k + i) & (copies - 1))];
    if (sum != 0) atomicAdd(&counts[k], static_cast<unsigned long long>(sum));
  }
}

/// Counts in device memory. If all lanes of a warp have the same bin, one of them adds for all.
template <class Bins>
__global__ void __launch_bounds__(threads) count_global(const Bins bins, i64 n, unsigned long long* counts) {
  const i64 step = static_cast<i64>(gridDim.x) * threads;
  for (i64 base = static_cast<i64>(blockIdx.x) * threads; base < n; base += step) {
    const i64 k = base + threadIdx.x;
    const i64 b = k < n ? bins.bin(bins.samples[k]) : -1;
    const i64 first = __shfl_sync(all_lanes, b, 0);
    if (__all_sync(all_lanes, b == first)) {
      if (threadIdx.x % 32 == 0 && b >= 0) atomicAdd(&counts[b], 32ull);
    } else if (b >= 0) {
      atomicAdd(&counts[b], 1ull);
    }
  }
}

template <class Bins>
cudaError_t count(const context& c, const Bins& bins, i64 n, i64 bin_count, i64* counts) {
  if (bin_count == 0) return cudaSuccess;
  SINTER_TRY(cudaMemsetAsync(counts, 0, static_cast<std::size_t>(bin_count) * sizeof(i64), c.stream));
  if (n == 0) return cudaSuccess;
  auto* const to = reinterpret_cast<unsigned long long*>(counts);
  if (bin_count > most_shared_bins)
    return launch(c, count_global<Bins>, looping_blocks(c, n, 4 * threads), threads, 0, bins, n, to);
  int copies = 32;
  while (copies * bin_count > most_shared_bins) copies /= 2;
  // Blocks clear and merge their counters, so no more are launched than keep the device busy. A block's counters have 32
  // bits, which bounds the number of its samples.
  const i64 resident = static_cast<i64>(c.multiprocessors) * 2, least = ceil_div(n, i64{1} << 31);
  i64 blocks = ceil_div(n, 16 * threads);
  if (blocks > resident) blocks = resident;
  if (blocks < least) blocks = least;
  // Packs of 16 bytes begin where the address is a multiple of that.
  constexpr i64 size = sizeof(typename Bins::sample);
  const i64 to_next = static_cast<i64>(-reinterpret_cast<std::uintptr_t>(bins.samples) % 16) / size;
  return launch(c, count_shared<Bins>, blocks, threads, 0, bins, n, to_next < n ? to_next : n,
                static_cast<int>(bin_count), copies, to);
}

template <class T>
cudaError_t count_in_bins(const context& c, const void* samples, i64 n, const bin_job& j, i64* counts) {
  const sampled_bins<T> bins{static_cast<const T*>(samples), backends::equal_bins<T>(j.low, j.high, j.count, j.narrow)};
  return count(c, bins, n, j.count, counts);
}

// --- sums of weights by bin: few bins, of which a table fits into shared memory

bool has_table(i64 bin_count) { return bin_count * 8 <= bin_sum_bytes; }

template <class Bin, class Weight>
__global__ void __launch_bounds__(32 * most_bin_warps)
    sum_parts(const Bin* bins, const Weight* weights, i64 n, i64 bin_count, const bin_parts p, double* tables) {
  extern __shared__ double own[];
  sum_part(bins, weights, n, bin_count, p, own, tables);
}

template <class Bin, class Weight>
cudaError_t sum_by_tables(const context& c, const Bin* bins, const Weight* weights, i64 n, i64 bin_count, double* sums,
                          double* tables) {
  void (*const kernel)(const Bin*, const Weight*, i64, i64, bin_parts, double*) = sum_parts<Bin, Weight>;
  const bin_parts p = bin_parts_of(n, bin_count);
  const i64 shared = p.warps * bin_count * 8;
  SINTER_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  SINTER_TRY(launch(c, kernel, p.blocks, 32 * p.warps, static_cast<std::size_t>(shared), bins, weights, n, bin_count, p,
                    tables));
  return launch(c, sum_tables, ceil_div(bin_count, table_bins), table_bins * table_parts, 0, tables, p.blocks,
                bin_count, sums);
}

// --- sums of weights by bin: many bins
//
// Positions are sorted by bin, so a bin's weights are contiguous. With sums of 32 neighbours, of 32 such sums, and so
// on, every bin needs only a few loads of a warp, whatever its size, and the order of additions depends on the bins
// alone.

constexpr int fan = 32;
constexpr int most_levels = 7;
constexpr i64 bins_at_once = i64{1} << 26;  // samples that are sorted together; later ones are added to their sums

struct sum_levels {
  const double* level[most_levels];
};

__device__ __forceinline__ double warp_sum(double x) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(all_lanes, x, d);
  return x;
}

/// Entries in the order of their bins.
template <class Bin, class Weight>
struct entries_by_bin {
  sorted_bins sorted;
  const Bin* bins;
  const Weight* weights;

  __device__ i64 bin(i64 k) const {
    return sorted.bins ? static_cast<i64>(sorted.bins[k]) : static_cast<i64>(bins[sorted.positions[k]]);
  }
  __device__ double weight(i64 k) const {
    if (sizeof(Weight) == 4 && sorted.weights) return static_cast<double>(__uint_as_float(sorted.weights[k]));
    return static_cast<double>(weights[sorted.positions[k]]);
  }
};

/// Weights in the order of their bins, and the begin and end of each bin; bins out of range are dropped.
template <class Bin, class Weight>
__global__ void gather_weights(const entries_by_bin<Bin, Weight> e, i64 n, i64 bin_count, double* sorted, u32* begins,
                               u32* ends) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < n; k += step) {
    const i64 b = e.bin(k);
    sorted[k] = e.weight(k);
    if (b < 0 || b >= bin_count) continue;
    if (k == 0 || e.bin(k - 1) != b) begins[b] = static_cast<u32>(k);
    if (k == n - 1 || e.bin(k + 1) != b) ends[b] = static_cast<u32>(k + 1);
  }
}

/// above[k] = the sum of below[32k] to below[32k + 31]; an incomplete last group is dropped.
__global__ void sum_fans(const double* below, double* above, i64 n) {
  const i64 warps = static_cast<i64>(gridDim.x) * blockDim.x / 32;
  for (i64 k = (static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; k < n; k += warps) {
    const double sum = warp_sum(below[k * fan + threadIdx.x % 32]);
    if (threadIdx.x % 32 == 0) above[k] = sum;
  }
}

/// A warp sums the range of each bin: level by level, the values at both ends that do not fill a whole sum of the next
/// level.
__global__ void sum_ranges(const sum_levels levels, const u32* begins, const u32* ends, i64 bin_count, bool add,
                           double* sums) {
  const i64 warps = static_cast<i64>(gridDim.x) * blockDim.x / 32;
  const u32 lane = threadIdx.x % 32;
  for (i64 b = (static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; b < bin_count; b += warps) {
    u32 low = begins[b], high = ends[b];
    double left = 0, right = 0;
    for (int k = 0; low < high; ++k) {
      const double* const level = levels.level[k];
      const u32 inner_low = ceil_div(low, fan), inner_high = high / fan;
      if (inner_low >= inner_high) {  // no whole sum: at most 62 values
        double x = low + lane < high ? level[low + lane] : 0;
        if (low + 32 + lane < high) x += level[low + 32 + lane];
        left += warp_sum(x);
        break;
      }
      left += warp_sum(low + lane < inner_low * fan ? level[low + lane] : 0);
      right = warp_sum(inner_high * fan + lane < high ? level[inner_high * fan + lane] : 0) + right;
      low = inner_low;
      high = inner_high;
    }
    if (lane == 0) sums[b] = (add ? sums[b] : 0) + (left + right);
  }
}

struct sum_layout {
  position_buffers buffers{};
  u32 *begins = nullptr, *ends = nullptr;
  double* level[most_levels] = {};
  std::size_t scratch = 0;
};
cudaError_t sum_layout_of(const context& c, i64 n, i64 bin_count, void* scratch, sum_layout& l) {
  SINTER_TRY(bin_sort_temporary(c, n, bin_count, l.buffers.temporary_bytes));
  pieces p(scratch);
  for (int k = 0; k < 2; ++k) l.buffers.keys[k] = p.take<u32>(n);
  for (int k = 0; k < 2; ++k) l.buffers.positions[k] = p.take<u32>(n);
  l.buffers.temporary = p.take<char>(static_cast<i64>(l.buffers.temporary_bytes));
  l.begins = p.take<u32>(bin_count);
  l.ends = p.take<u32>(bin_count);
  i64 length = n;
  for (int k = 0; k < most_levels; ++k, length /= fan) l.level[k] = p.take<double>(length);
  l.scratch = p.used();
  return cudaSuccess;
}

template <class Bin, class Weight>
cudaError_t add_bins(const context& c, const Bin* bins, const Weight* weights, i64 n, i64 bin_count, bool add,
                     double* sums, const sum_layout& l) {
  const std::size_t bytes = static_cast<std::size_t>(bin_count) * sizeof(u32);
  SINTER_TRY(cudaMemsetAsync(l.begins, 0, bytes, c.stream));
  SINTER_TRY(cudaMemsetAsync(l.ends, 0, bytes, c.stream));
  entries_by_bin<Bin, Weight> e{{}, bins, weights};
  const bool carries = std::is_same_v<Weight, float>;
  SINTER_TRY(sort_by_bin(c, bins, sizeof(Bin), n, bin_count, carries ? reinterpret_cast<const u32*>(weights) : nullptr,
                         l.buffers, e.sorted));
  SINTER_TRY(launch(c, gather_weights<Bin, Weight>, looping_blocks(c, n, threads), threads, 0, e, n, bin_count,
                    l.level[0], l.begins, l.ends));
  sum_levels levels{};
  i64 length = n;
  for (int k = 0; k < most_levels; ++k) {
    levels.level[k] = l.level[k];
    length /= fan;
    if (length > 0 && k + 1 < most_levels)
      SINTER_TRY(
          launch(c, sum_fans, looping_blocks(c, length * 32, threads), threads, 0, l.level[k], l.level[k + 1], length));
  }
  return launch(c, sum_ranges, looping_blocks(c, bin_count * 32, threads), threads, 0, levels, l.begins, l.ends,
                bin_count, add, sums);
}

template <class Bin, class Weight>
cudaError_t sum_entries(const context& c, const bin_entries& e, i64 bin_count, double* sums, void* scratch) {
  const Bin* const bins = static_cast<const Bin*>(e.bins);
  const Weight* const weights = static_cast<const Weight*>(e.weights);
  if (has_table(bin_count))
    return sum_by_tables(c, bins, weights, e.count, bin_count, sums, static_cast<double*>(scratch));
  sum_layout l;
  SINTER_TRY(sum_layout_of(c, e.count < bins_at_once ? e.count : bins_at_once, bin_count, scratch, l));
  for (i64 from = 0; from < e.count; from += bins_at_once) {
    const i64 some = e.count - from < bins_at_once ? e.count - from : bins_at_once;
    SINTER_TRY(add_bins(c, bins + from, weights + from, some, bin_count, from > 0, sums, l));
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t count_bins(const context& c, const bin_entries& e, std::int64_t bin_count, std::int64_t* counts) {
  if (e.bin_type == element::i32)
    return count(c, given_bins<std::int32_t>{static_cast<const std::int32_t*>(e.bins), bin_count}, e.count, bin_count,
                 counts);
  return count(c, given_bins<i64>{static_cast<const i64*>(e.bins), bin_count}, e.count, bin_count, counts);
}

cudaError_t histogram(const context& c, element type, const void* samples, std::int64_t n, const bin_job& bins,
                      std::int64_t* counts) {
  switch (type) {
    case element::i32: return count_in_bins<std::int32_t>(c, samples, n, bins, counts);
    case element::i64: return count_in_bins<i64>(c, samples, n, bins, counts);
    case element::u8: return count_in_bins<u8>(c, samples, n, bins, counts);
    case element::u16: return count_in_bins<u16>(c, samples, n, bins, counts);
    case element::f32: return count_in_bins<float>(c, samples, n, bins, counts);
    case element::f64: return count_in_bins<double>(c, samples, n, bins, counts);
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t sum_bins_scratch(const context& c, std::int64_t n, std::int64_t bin_count, std::size_t& bytes) {
  bytes = 0;
  if (n == 0 || bin_count == 0) return cudaSuccess;
  if (has_table(bin_count)) {
    bytes = static_cast<std::size_t>(bin_parts_of(n, bin_count).blocks * bin_count) * sizeof(double);
    return cudaSuccess;
  }
  sum_layout l;
  SINTER_TRY(sum_layout_of(c, n < bins_at_once ? n : bins_at_once, bin_count, nullptr, l));
  bytes = l.scratch;
  return cudaSuccess;
}

cudaError_t sum_bins(const context& c, const bin_entries& e, std::int64_t bin_count, double* sums, void* scratch) {
  if (bin_count == 0) return cudaSuccess;
  if (e.count == 0) return cudaMemsetAsync(sums, 0, static_cast<std::size_t>(bin_count) * sizeof(double), c.stream);
  const bool narrow = e.bin_type == element::i32, single = e.weight_type == element::f32;
  if (narrow && single) return sum_entries<std::int32_t, float>(c, e, bin_count, sums, scratch);
  if (narrow) return sum_entries<std::int32_t, double>(c, e, bin_count, sums, scratch);
  if (single) return sum_entries<i64, float>(c, e, bin_count, sums, scratch);
  return sum_entries<i64, double>(c, e, bin_count, sums, scratch);
}

}  // namespace sinter::cuda::device
