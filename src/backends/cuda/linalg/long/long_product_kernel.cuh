// Kernels for products of few rows and columns over a long inner extent, as of tall matrices with themselves: memory bounds them, and
// each element of both factors is read from it once. Includes nothing of CUDA, so that tests can run them thread by thread on the host.
#pragma once
#include <cstdint>

namespace sinter::cuda::device {

/// A warp computes a tile of results over every 32nd element of a part of the inner extent; the warps of a block have all tiles, or,
/// where these are few, groups of warps have other parts.
struct long_product_shape {
  std::int64_t rows, columns, inner;
  std::int64_t a_row, a_inner, b_inner, b_column;  // strides in elements
  int row_tiles, column_tiles, groups;
  std::int64_t chunk;   // inner elements of a block
  bool a_runs, b_runs;  // a tile's elements of the factor lie side by side, aligned to 16 bytes
};
constexpr int long_product_warps = 8, long_product_lanes = 32;

/// `count` of the N elements of a tile, and zeros.
template <int N, class T>
__device__ __forceinline__ void read_tile(T (&x)[N], const T* from, std::int64_t stride, std::int64_t count,
                                          bool runs) {
  constexpr int each = 16 / static_cast<int>(sizeof(T));
  struct alignas(16) pack {
    T of[each];
  };
  if (runs) {
#pragma unroll
    for (int i = 0; i < N; i += each) {
      const pack p = *reinterpret_cast<const pack*>(from + i);
#pragma unroll
      for (int l = 0; l < each; ++l) x[i + l] = p.of[l];
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] = i < count ? from[i * stride] : T(0);
}

/// The sum over the lanes of a warp, in every lane the same.
template <class T>
__device__ __forceinline__ T sum_of_lanes(T x) {
#pragma unroll
  for (int distance = long_product_lanes / 2; distance > 0; distance /= 2)
    x += __shfl_xor_sync(0xffffffffu, x, distance);
  return x;
}

/// partial[block][tile][M][N]: the products of a block's part. 32 threads for each tile and group.
template <class T, int M, int N>
__global__ void __launch_bounds__(long_product_warps* long_product_lanes)
    long_product_kernel(const long_product_shape s, const T* a, const T* b, T* partial) {
  __shared__ T of_warps[long_product_warps][M * N];
  const int lane = static_cast<int>(threadIdx.x) % long_product_lanes,
            warp = static_cast<int>(threadIdx.x) / long_product_lanes;
  const int tiles = s.row_tiles * s.column_tiles, tile = warp % tiles, group = warp / tiles;
  const std::int64_t row = tile / s.column_tiles * M, column = tile % s.column_tiles * N;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * s.chunk, step = long_product_lanes * s.groups;
  const std::int64_t end = begin + s.chunk < s.inner ? begin + s.chunk : s.inner;
  T sum[M][N] = {};
  for (std::int64_t k = begin + group * long_product_lanes + lane; k < end; k += step) {
    T x[M], y[N];
    read_tile(x, a + row * s.a_row + k * s.a_inner, s.a_row, s.rows - row, s.a_runs);
    read_tile(y, b + column * s.b_column + k * s.b_inner, s.b_column, s.columns - column, s.b_runs);
#pragma unroll
    for (int i = 0; i < M; ++i)
#pragma unroll
      for (int j = 0; j < N; ++j) sum[i][j] += x[i] * y[j];
  }
#pragma unroll
  for (int i = 0; i < M; ++i)
#pragma unroll
    for (int j = 0; j < N; ++j) {
      const T all = sum_of_lanes(sum[i][j]);
      if (lane == 0) of_warps[warp][i * N + j] = all;
    }
  __syncthreads();
  T* const to = partial + static_cast<std::int64_t>(blockIdx.x) * tiles * M * N;
  for (int e = static_cast<int>(threadIdx.x); e < tiles * M * N; e += static_cast<int>(blockDim.x)) {
    T all = of_warps[e / (M * N)][e % (M * N)];
    for (int g = 1; g < s.groups; ++g) all += of_warps[g * tiles + e / (M * N)][e % (M * N)];
    to[e] = all;
  }
}

/// c[row][column]: the sum of the blocks' products. A warp for each result, row by row.
template <class T, int M, int N>
__global__ void __launch_bounds__(long_product_warps* long_product_lanes)
    long_product_sums(const long_product_shape s, int blocks, const T* partial, T* c, std::int64_t c_row,
                      std::int64_t c_column) {
  const int lane = static_cast<int>(threadIdx.x) % long_product_lanes,
            warp = static_cast<int>(threadIdx.x) / long_product_lanes;
  const int result = static_cast<int>(blockIdx.x) * long_product_warps + warp;
  if (result >= s.rows * s.columns) return;
  const int row = result / static_cast<int>(s.columns), column = result % static_cast<int>(s.columns);
  const int size = s.row_tiles * s.column_tiles * M * N;
  const int at = ((row / M * s.column_tiles + column / N) * M + row % M) * N + column % N;
  T sum = 0;
  for (int k = lane; k < blocks; k += long_product_lanes) sum += partial[static_cast<std::int64_t>(k) * size + at];
  sum = sum_of_lanes(sum);
  if (lane == 0) c[row * c_row + column * c_column] = sum;
}

}  // namespace sinter::cuda::device
