// The kernel for products of integers and bools: tiles of both factors in shared memory, 4 x 4 results per thread.
// Includes nothing of CUDA, so that tests can run it thread by thread on the host.
#pragma once
#include "backends/cuda/linalg/product_shape.hpp"

namespace sinter::cuda::device {

constexpr int product_tile = 64, product_depth = 16, product_threads = 256;
constexpr int product_lanes = 16;                           // threads along each side of a tile
constexpr int product_each = product_tile / product_lanes;  // results per thread along each side
constexpr int product_loads = product_tile * product_depth / product_threads;

/// T holds an element; A, unsigned, is wide enough for the sum modulo T's range. Logical: disjunctions of conjunctions,
/// of bytes 0 and 1.
template <class T, class A, bool Logical>
__global__ void __launch_bounds__(product_threads)
    integer_product_kernel(const product_shape s, const T* left, const T* right, T* to) {
  __shared__ A a_tile[product_depth][product_tile + 1];
  __shared__ A b_tile[product_depth][product_tile + 1];
  const int thread = static_cast<int>(threadIdx.x), across = thread % product_lanes, down = thread / product_lanes;
  // Chooses the order in which reads are coalesced.
  const bool a_along_inner = s.a.column == 1, b_along_inner = s.b.row == 1;
  const std::int64_t batches = s.batch[0] * s.batch[1], row_tiles = (s.rows + product_tile - 1) / product_tile;
  const std::int64_t column0 = static_cast<std::int64_t>(blockIdx.x) * product_tile;

  for (std::int64_t z = blockIdx.z; z < batches; z += gridDim.z) {
    const std::int64_t outer = z / s.batch[1], inner = z % s.batch[1];
    const T* const a = left + (outer * s.a.batch[0] + inner * s.a.batch[1]);
    const T* const b = right + (outer * s.b.batch[0] + inner * s.b.batch[1]);
    T* const c = to + (outer * s.c.batch[0] + inner * s.c.batch[1]);
    for (std::int64_t tile = blockIdx.y; tile < row_tiles; tile += gridDim.y) {
      const std::int64_t row0 = tile * product_tile;
      A sum[product_each][product_each] = {};
      for (std::int64_t k0 = 0; k0 < s.inner; k0 += product_depth) {
        for (int q = 0; q < product_loads; ++q) {
          const int e = thread + q * product_threads;
          const int ak = a_along_inner ? e % product_depth : e / product_tile;
          const int ar = a_along_inner ? e / product_depth : e % product_tile;
          const bool a_inside = row0 + ar < s.rows && k0 + ak < s.inner;
          a_tile[ak][ar] = a_inside ? static_cast<A>(a[(row0 + ar) * s.a.row + (k0 + ak) * s.a.column]) : A(0);
          const int bk = b_along_inner ? e % product_depth : e / product_tile;
          const int bc = b_along_inner ? e / product_depth : e % product_tile;
          const bool b_inside = column0 + bc < s.columns && k0 + bk < s.inner;
          b_tile[bk][bc] = b_inside ? static_cast<A>(b[(k0 + bk) * s.b.row + (column0 + bc) * s.b.column]) : A(0);
        }
        __syncthreads();
        for (int k = 0; k < product_depth; ++k) {
          A x[product_each], y[product_each];
          for (int i = 0; i < product_each; ++i) x[i] = a_tile[k][down + i * product_lanes];
          for (int i = 0; i < product_each; ++i) y[i] = b_tile[k][across + i * product_lanes];
          for (int i = 0; i < product_each; ++i)
            for (int l = 0; l < product_each; ++l) {
              if (Logical) sum[i][l] |= x[i] & y[l];
              else sum[i][l] += x[i] * y[l];
            }
        }
        __syncthreads();
      }
      for (int i = 0; i < product_each; ++i)
        for (int l = 0; l < product_each; ++l) {
          const std::int64_t r = row0 + down + i * product_lanes, k = column0 + across + l * product_lanes;
          if (r < s.rows && k < s.columns) c[r * s.c.row + k * s.c.column] = static_cast<T>(sum[i][l]);
        }
    }
  }
}

}  // namespace sinter::cuda::device
