// The kernels of a step of k-means: the nearest center of each point, and the sums of the points of each cluster, in one pass over
// the points. Includes nothing of CUDA, so that tests can run them thread by thread on the host.
//
// Warps take 32 or 64 points at a time through shared memory. First a lane has a point or two in registers and goes through the
// centers, which lie in shared memory, then a lane has a column and adds the points one after the other to the warp's own table of
// sums. The tables of a block, and then those of the blocks, are added in order, in float64. How points are divided follows from
// the sizes alone, so the order of the additions does.
//
// Cost: a point takes two operations for each number of a center, and six for each column of 32. What was done before, a product of
// the points with ones where a point is in a cluster, takes two operations for each of the numbers of all centers as well, and
// reads the ones. So the kernel is worth while wherever its tables leave a block two warps.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace sinter::cuda::device {

inline constexpr int means_most_dimensions = 32, means_most_warps = 8, means_least_warps = 2;
inline constexpr std::size_t means_shared_bytes = 96 * 1024;  // of a block; an H200 has room for two of them
inline constexpr int means_bins = 32, means_parts = 16;       // of a block that adds up tables
constexpr unsigned means_lanes = 0xffffffffu;

/// Numbers of a point in registers, the rest of them zeros.
inline int means_width(std::int64_t dimensions) {
  return dimensions <= 4 ? 4 : dimensions <= 8 ? 8 : dimensions <= 16 ? 16 : 32;
}
/// Points of a lane, by the bytes of its registers for one.
template <int Bytes>
constexpr int means_each = Bytes <= 128 ? 2 : 1;

/// n points (n, d) and k centers (k, d), and where the results go.
template <class T>
struct means_job {
  std::int64_t n = 0, per_warp = 0;
  int d = 0, k = 0;
  const T* x = nullptr;
  const T* centers = nullptr;
  const T* weights = nullptr;            // null: ones
  const std::int64_t* before = nullptr;  // null: labels are compared with nothing
  std::int64_t* labels = nullptr;
  double* tables =
      nullptr;  // of each block: (k, d + 1), sums and weights, and whether labels have changed; null: labels alone
};

struct means_plan {
  int width = 0, warps = 0;  // warps: 0 if a block has no room
  std::int64_t blocks = 0, per_warp = 0;
  std::size_t shared = 0;
};
inline means_plan means_plan_of(std::int64_t n, std::int64_t d, std::int64_t k, std::size_t bytes, bool sums) {
  means_plan p;
  if (n < 1 || d < 1 || d > means_most_dimensions || k < 1 || k > static_cast<std::int64_t>(means_shared_bytes))
    return p;
  p.width = means_width(d);
  const std::int64_t group = static_cast<std::size_t>(p.width) * bytes <= 128 ? 64 : 32;  // of means_each
  const auto room = [&](int warps) {
    return static_cast<std::size_t>(k * p.width + warps * (group * (p.width + 1) + (sums ? k * (d + 1) : 0))) * bytes;
  };
  for (p.warps = means_most_warps; p.warps >= means_least_warps && room(p.warps) > means_shared_bytes;) p.warps /= 2;
  if (p.warps < means_least_warps) {
    p.warps = 0;
    return p;
  }
  p.shared = room(p.warps);
  // Few blocks, where their tables are large.
  const std::int64_t most_blocks = k * (d + 1) <= 4096 ? 1024 : 512, at_once = group * p.warps;
  const std::int64_t rounds = (n + most_blocks * at_once - 1) / (most_blocks * at_once);
  p.per_warp = rounds * group;
  p.blocks = (n + p.per_warp * p.warps - 1) / (p.per_warp * p.warps);
  return p;
}

/// The shared memory that a launch asks for.
template <class T>
__device__ __forceinline__ T* means_room() {
#if defined(__CUDACC__)
  extern __shared__ __align__(16) unsigned char means_bytes[];
#else
  alignas(16) static unsigned char means_bytes[means_shared_bytes];
#endif
  return reinterpret_cast<T*>(means_bytes);
}

__device__ __forceinline__ float means_add_square(float off, float sum) { return __fmaf_rn(off, off, sum); }
__device__ __forceinline__ double means_add_square(double off, double sum) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(off, off, sum);
#else
  return std::fma(off, off, sum);
#endif
}

/// Brings `count` points of d numbers to rows of Width + 1.
template <class T, int Width>
__device__ __forceinline__ void means_stage(const T* from, int count, int d, int lane, T* points) {
  int row = lane / d, column = lane % d;
  const int rows = 32 / d, rest = 32 % d;
#pragma unroll 8
  for (int e = lane; e < count * d; e += 32) {
    points[row * (Width + 1) + column] = from[e];
    row += rows;
    column += rest;
    if (column >= d) {
      column -= d;
      ++row;
    }
  }
}

/// The nearest centers of the points lane, lane + 32, ...; of equal ones the first.
template <class T, int Width, int Each>
__device__ __forceinline__ void means_nearest(const T* points, const T* centers, int k, int lane,
                                              int (&nearest)[Each]) {
  T point[Each][Width], least[Each];
#pragma unroll
  for (int e = 0; e < Each; ++e) {
#pragma unroll
    for (int a = 0; a < Width; ++a) point[e][a] = points[(lane + 32 * e) * (Width + 1) + a];
    least[e] = static_cast<T>(INFINITY);
    nearest[e] = 0;
  }
  for (int c = 0; c < k; ++c) {
    T sum[Each] = {};
#pragma unroll
    for (int a = 0; a < Width; ++a) {
      const T of = centers[c * Width + a];
#pragma unroll
      for (int e = 0; e < Each; ++e) sum[e] = means_add_square(point[e][a] - of, sum[e]);
    }
#pragma unroll
    for (int e = 0; e < Each; ++e) {
      const bool nearer = sum[e] < least[e];
      least[e] = nearer ? sum[e] : least[e];
      nearest[e] = nearer ? c : nearest[e];
    }
  }
}

/// Adds 32 points, of which there are `count`, to the rows of a table that their lanes name. A lane has the same columns of all
/// rows each time.
template <class T, int Width>
__device__ __forceinline__ void means_add(const T* points, int count, int d, int lane, int nearest, T weight,
                                          T* table) {
  constexpr int ahead = 4;  // points whose numbers a lane loads before it adds them
  for (int first = 0; first <= d; first += 32) {
    const int column = first + lane;
    const bool there = column <= d;
    for (int p = 0; p < count; p += ahead) {
      int to[ahead];
      T value[ahead];
#pragma unroll
      for (int i = 0; i < ahead; ++i) {
        to[i] = __shfl_sync(means_lanes, nearest, p + i) * (d + 1) + column;
        const T of_point = __shfl_sync(means_lanes, weight, p + i);
        value[i] = there && column < d ? of_point * points[(p + i) * (Width + 1) + column] : of_point;
      }
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (there && p + i < count) table[to[i]] += value[i];
    }
  }
}

/// labels, and where Sums the block's table.
template <class T, int Width, bool Sums>
__global__ void __launch_bounds__(32 * means_most_warps) means_step(const means_job<T> j) {
  constexpr int each = means_each<Width*static_cast<int>(sizeof(T))>, group = 32 * each;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x), warps = threads / 32;
  const int lane = thread % 32, warp = thread / 32, size = j.k * (j.d + 1);
  T* const centers = means_room<T>();
  T* const all_points = centers + j.k * Width;
  T* const points = all_points + warp * group * (Width + 1);
  T* const tables = all_points + warps * group * (Width + 1);
  for (int e = thread; e < j.k * Width; e += threads)
    centers[e] = e % Width < j.d ? j.centers[e / Width * j.d + e % Width] : T(0);
  for (int e = thread; e < warps * group * (Width + 1); e += threads) all_points[e] = 0;
  if (Sums)
    for (int e = thread; e < warps * size; e += threads) tables[e] = 0;
  __syncthreads();
  const std::int64_t begin = (static_cast<std::int64_t>(blockIdx.x) * warps + warp) * j.per_warp;
  const std::int64_t end = begin + j.per_warp < j.n ? begin + j.per_warp : j.n;
  bool differs = false;
  for (std::int64_t base = begin; base < end; base += group) {
    const int count = static_cast<int>(end - base < group ? end - base : group);
    means_stage<T, Width>(j.x + base * j.d, count, j.d, lane, points);
    __syncwarp();
    int nearest[each];
    means_nearest<T, Width, each>(points, centers, j.k, lane, nearest);
#pragma unroll
    for (int e = 0; e < each; ++e) {
      const bool there = lane + 32 * e < count;
      const std::int64_t at = base + lane + 32 * e;
      if (there) j.labels[at] = nearest[e];
      if (!Sums) continue;
      if (there && j.before) differs = differs || j.before[at] != nearest[e];
      const T weight = there && j.weights ? j.weights[at] : T(1);
      const int some = count - 32 * e < 32 ? count - 32 * e : 32;
      means_add<T, Width>(points + 32 * e * (Width + 1), some, j.d, lane, nearest[e], weight, tables + warp * size);
    }
    __syncwarp();  // all have read the points
  }
  if (!Sums) return;
  const int changed = __syncthreads_count(differs);
  double* const to = j.tables + static_cast<std::int64_t>(blockIdx.x) * (size + 1);
  for (int e = thread; e < size; e += threads) {
    double sum = tables[e];
    for (int w = 1; w < warps; ++w) sum += static_cast<double>(tables[w * size + e]);
    to[e] = sum;
  }
  if (thread == 0) to[size] = changed;
}

/// The sums of the blocks' tables: of every sixteenth, then of these sums. A block has means_bins columns of the tables.
template <class T>
__global__ void __launch_bounds__(means_bins* means_parts)
    means_join(const means_job<T> j, std::int64_t blocks, T* sums, T* totals, bool* same) {
  __shared__ double parts[means_parts][means_bins];
  const int column = static_cast<int>(threadIdx.x % means_bins), part = static_cast<int>(threadIdx.x / means_bins);
  const int entries = j.k * (j.d + 1) + 1, entry = static_cast<int>(blockIdx.x) * means_bins + column;
  double sum = 0;
  if (entry < entries)
#pragma unroll 8
    for (std::int64_t b = part; b < blocks; b += means_parts) sum += j.tables[b * entries + entry];
  parts[part][column] = sum;
  __syncthreads();
  if (part != 0 || entry >= entries) return;
  for (int p = 1; p < means_parts; ++p) sum += parts[p][column];
  const int cluster = entry / (j.d + 1), of = entry % (j.d + 1);
  if (entry == entries - 1) *same = j.before != nullptr && sum == 0;
  else if (of == j.d) totals[cluster] = static_cast<T>(sum);
  else sums[cluster * j.d + of] = static_cast<T>(sum);
}

}  // namespace sinter::cuda::device
