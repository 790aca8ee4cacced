// The kernels before and after products of digits: they split elements into digits and join sums of products into
// elements. Includes nothing of CUDA, so that tests can run them thread by thread on the host.
#pragma once
#include <type_traits>

#include "backends/cuda/linalg/product_digits.hpp"

namespace sinter::cuda::device {

constexpr int split_tile = 64, split_threads = 256;
constexpr int split_loads = split_tile * split_tile / split_threads;
constexpr int split_rows = split_threads / split_tile;  // of a tile, read by a block at a time
constexpr int join_threads = 256, join_each = 4;        // columns per thread

/// The bytes of the result, lowest first, are the digits of x: adding 128 to each propagates the carry of digits that
/// wrap.
template <class T>
__device__ __forceinline__ T with_digits(T x) {
  constexpr T halves = static_cast<T>(0x8080808080808080ull);
  return static_cast<T>(static_cast<T>(x + halves) ^ halves);
}

/// The offset of a matrix in a stack, of which there are fewer than 2^32, since each has separate elements in the
/// result.
__device__ __forceinline__ std::int64_t matrix_offset(const product_strides& m, std::int64_t matrix,
                                                      std::int64_t last_batch) {
  const auto which = static_cast<std::uint32_t>(matrix), last = static_cast<std::uint32_t>(last_batch);
  return which / last * m.batch[0] + which % last * m.batch[1];
}

/// One block per tile: along x the tiles of the inner axis, along y those of the lines, along z the matrices. T is
/// unsigned.
template <class T, bool Logical>
__global__ void __launch_bounds__(split_threads) split_kernel(const split_job s, const T* from, std::uint32_t* to) {
  __shared__ T tile[split_tile][split_tile + 1];
  constexpr int planes = static_cast<int>(sizeof(T)), groups = split_tile / 4;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t k0 = static_cast<std::int64_t>(blockIdx.x) * split_tile;
  const std::int64_t line0 = static_cast<std::int64_t>(blockIdx.y) * split_tile;
  // Chooses the order in which reads are coalesced.
  const bool along_inner = s.from.column == 1;
  const int across = thread % split_tile, down = thread / split_tile;
  const std::int64_t line_first = line0 + (along_inner ? down : across), k_first = k0 + (along_inner ? across : down);
  const std::int64_t step = split_rows * (along_inner ? s.from.row : s.from.column);
  const T* const x = from + (matrix_offset(s.from, s.first + blockIdx.z, s.last_batch) + line_first * s.from.row +
                             k_first * s.from.column);
#pragma unroll
  for (int q = 0; q < split_loads; ++q) {
    const int line_more = along_inner ? q * split_rows : 0, k_more = along_inner ? 0 : q * split_rows;
    T value = 0;
    if (line_first + line_more < s.lines && k_first + k_more < s.inner) value = x[q * step];
    tile[line_first - line0 + line_more][k_first - k0 + k_more] =
        Logical ? static_cast<T>(value != 0) : with_digits(value);
  }
  __syncthreads();
  std::uint32_t* const digits = to + blockIdx.z * (s.padded_lines * planes * s.padded_inner / 4);
#pragma unroll
  for (int q = 0; q < split_loads / 4; ++q) {
    const int e = thread + q * split_threads, group = e % groups, line = e / groups;
    if (line0 + line >= s.padded_lines || k0 + group * 4 >= s.padded_inner) continue;
    T v[4];
    for (int i = 0; i < 4; ++i) v[i] = tile[line][group * 4 + i];
    std::uint32_t* const at = digits + ((line0 + line) * planes * s.padded_inner + k0) / 4 + group;
    for (int digit = 0; digit < planes; ++digit) {
      std::uint32_t four = 0;
      for (int i = 0; i < 4; ++i) four |= static_cast<std::uint32_t>(v[i] >> (8 * digit) & 255) << (8 * i);
      at[(s.reversed ? planes - 1 - digit : digit) * (s.padded_inner / 4)] = four;
    }
  }
}

template <class T>
struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) join_values {
  T v[join_each];
};

/// Four neighbouring columns per thread, threads along consecutive rows; along y the matrices.
template <class T, bool Logical>
__global__ void __launch_bounds__(join_threads)
    join_kernel(const join_job s, const join_values<std::int32_t>* sums, T* to) {
  using wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr int planes = static_cast<int>(sizeof(T));
  const auto across = static_cast<std::uint32_t>(s.padded_columns / join_each);
  const std::uint32_t index = blockIdx.x * join_threads + threadIdx.x;  // below the square of digit_limits::side
  const std::int64_t row = index / across, column = index % across * join_each;
  if (row >= s.rows || column >= s.columns) return;
  const std::int64_t each = s.padded_rows * across;
  wide total[join_each] = {};
#pragma unroll
  for (int sum = 0; sum < planes; ++sum) {
    const join_values<std::int32_t> part = sums[(sum * s.matrices + blockIdx.y) * each + index];
    for (int i = 0; i < join_each; ++i) total[i] += static_cast<wide>(part.v[i]) << (8 * sum);
  }
  T* const at = to + (matrix_offset(s.to, s.first + blockIdx.y, s.last_batch) + row * s.to.row + column * s.to.column);
  join_values<T> result;
  for (int i = 0; i < join_each; ++i) result.v[i] = static_cast<T>(Logical ? total[i] != 0 : total[i]);
  if (s.add)
    for (int i = 0; i < join_each && column + i < s.columns; ++i) {
      const T before = at[i * s.to.column];
      result.v[i] = static_cast<T>(Logical ? before | result.v[i] : before + result.v[i]);
    }
  if (s.to.column == 1 && column + join_each <= s.columns &&
      reinterpret_cast<std::uintptr_t>(at) % alignof(join_values<T>) == 0) {
    *reinterpret_cast<join_values<T>*>(at) = result;
    return;
  }
  for (int i = 0; i < join_each && column + i < s.columns; ++i) at[i * s.to.column] = result.v[i];
}

}  // namespace sinter::cuda::device
