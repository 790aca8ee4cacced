// Launches of the kernels for products over a long inner extent: when they pay, tiles, and the number of blocks.
#include "backends/cuda/algorithms/device_common.cuh"
#include "backends/cuda/linalg/device_products.hpp"
#include "backends/cuda/linalg/long/long_product_kernel.cuh"

namespace sinter::cuda::device {
namespace {

constexpr int most_tiles = 4;              // with more, each of which reads the factors, libraries are faster
constexpr i64 least_inner = i64{1} << 15;  // libraries split shorter ones well

/// The side of tiles: as many sums as a thread has registers for.
int tile_of(element type, const product_shape& s) {
  return type == element::f32 && (s.rows > 4 || s.columns > 4) ? 8 : 4;
}

/// For tiles of n x n.
i64 blocks_of(const context& c, const product_shape& s, i64 n) {
  constexpr i64 least = 512;  // inner elements of a block
  const i64 most = static_cast<i64>(c.multiprocessors) * (n > 4 ? 2 : 4), wanted = ceil_div(s.inner, least);
  return wanted < most ? wanted : most;
}

/// Whether tiles of n elements, and the rows of inner extents, begin at multiples of 16 bytes.
template <class T>
bool lies_in_runs(const T* at, i64 stride, i64 inner, i64 count, int n) {
  return stride == 1 && count % n == 0 && inner * static_cast<i64>(sizeof(T)) % 16 == 0 &&
         reinterpret_cast<std::uintptr_t>(at) % 16 == 0;
}

template <class T, int N>
cudaError_t run(const context& c, const product_shape& s, const T* a, const T* b, T* to, T* partial) {
  long_product_shape l{s.rows, s.columns, s.inner, s.a.row, s.a.column, s.b.row, s.b.column, 0, 0, 1, 0, false, false};
  l.row_tiles = static_cast<int>(ceil_div(s.rows, N));
  l.column_tiles = static_cast<int>(ceil_div(s.columns, N));
  const int tiles = l.row_tiles * l.column_tiles;
  l.groups = long_product_warps / tiles;
  const i64 blocks = blocks_of(c, s, N);
  l.chunk = ceil_div(ceil_div(s.inner, blocks), long_product_lanes) * long_product_lanes;
  l.a_runs = lies_in_runs(a, s.a.row, s.a.column, s.rows, N);
  l.b_runs = lies_in_runs(b, s.b.column, s.b.row, s.columns, N);
  SINTER_TRY(
      launch(c, long_product_kernel<T, N, N>, blocks, tiles * l.groups * long_product_lanes, 0, l, a, b, partial));
  return launch(c, long_product_sums<T, N, N>, ceil_div(s.rows * s.columns, i64{long_product_warps}),
                long_product_warps * long_product_lanes, 0, l, static_cast<int>(blocks), partial, to, s.c.row,
                s.c.column);
}

}  // namespace

std::size_t long_product_scratch(const context& c, element type, const product_shape& s) {
  if ((type != element::f32 && type != element::f64) || s.inner < least_inner || s.batch[0] * s.batch[1] != 1) return 0;
  const i64 n = tile_of(type, s), tiles = ceil_div(s.rows, n) * ceil_div(s.columns, n);
  if (tiles > most_tiles) return 0;
  return static_cast<std::size_t>(blocks_of(c, s, n) * tiles * n * n) * static_cast<std::size_t>(bytes_of(type));
}

cudaError_t long_product(const context& c, element type, const product_shape& s, const void* a, const void* b, void* to,
                         void* scratch) {
  if (type == element::f64)
    return run<double, 4>(c, s, static_cast<const double*>(a), static_cast<const double*>(b), static_cast<double*>(to),
                          static_cast<double*>(scratch));
  const auto go = tile_of(type, s) == 4 ? run<float, 4> : run<float, 8>;
  return go(c, s, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(to),
            static_cast<float*>(scratch));
}

}  // namespace sinter::cuda::device
