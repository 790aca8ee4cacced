// A kernel for products of a sparse matrix with a vector divided by its length. Includes nothing of CUDA, so that tests can run it
// thread by thread on the host.
//
// As many blocks as run at a time have x in their shared memory, and add up its squares as they bring it there, all in one order. A warp
// takes a row, a lane four entries that follow each other: of each 128 entries of the matrix, wherever rows begin, lane l has those
// from 4 l on, by loads of 16 bytes where memory lies at multiples of that, else one by one. x is gathered from shared memory,
// since these four are far from those of the next lane.
#pragma once
#include "backends/cuda/sparse/row_kernels.cuh"

namespace sinter::cuda::device {

/// Four elements, by loads of 16 bytes.
template <class V>
__device__ __forceinline__ void csr_load_four(V (&to)[4], const V* from) {
#if defined(__CUDA_ARCH__)
  unsigned word[sizeof(V)];
#pragma unroll
  for (int k = 0; k < static_cast<int>(sizeof(V)); k += 4)
    asm("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(word[k]), "=r"(word[k + 1]), "=r"(word[k + 2]), "=r"(word[k + 3])
        : "l"(reinterpret_cast<const unsigned*>(from) + k));
  memcpy(&to, word, sizeof to);
#else
  for (int i = 0; i < 4; ++i) to[i] = from[i];
#endif
}

/// What a lane has of the entries [begin, end). Aligned: fours of entries lie at multiples of 16 bytes.
template <bool Aligned, class T, class I>
__device__ __forceinline__ T csr_sum_of_fours(const csr_job<T, I>& j, const T* x, csr_position<I> begin,
                                              csr_position<I> end, int lane) {
  using P = csr_position<I>;
  T sum[4] = {};
  for (P k = begin - begin % 128 + static_cast<P>(4 * lane); k < end; k += 128) {
    T value[4];
    I column[4];
    const auto is_there = [&](int i) { return k + static_cast<P>(i) >= begin && k + static_cast<P>(i) < end; };
    if (Aligned && k + 4 <= static_cast<P>(j.entries)) {
      csr_load_four(value, j.data + k);
      csr_load_four(column, j.indices + k);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (is_there(i)) value[i] = j.data[k + static_cast<P>(i)], column[i] = j.indices[k + static_cast<P>(i)];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (is_there(i)) sum[i] = sum[i] + value[i] * x[column[i]];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// A x / |x| - (|x| / other) y of real numbers. The ends of a warp's next row are on their way while it adds up a row.
template <class T, class I, bool Aligned>
__global__ void __launch_bounds__(csr_normal_threads)
    csr_times_normal_vector(const csr_job<T, I> j, const csr_lengths l) {
  using P = csr_position<I>;
  __shared__ double squares[csr_normal_threads / 32];
  T* const x = csr_room<T>();
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  double mine = 0;
#pragma unroll 8
  for (std::int64_t k = thread; k < j.columns; k += csr_normal_threads) {
    const T v = j.x[k];
    x[k] = v;
    mine += static_cast<double>(v) * static_cast<double>(v);
  }
  mine = csr_sum_of_lanes<32>(mine);
  if (lane == 0) squares[thread / 32] = mine;
  __syncthreads();
  const double length = sqrt(csr_sum_of_lanes<32>(squares[lane])), other = *l.other;
  if (blockIdx.x == 0 && thread == 0) *l.length = length;
  const T alpha = length > 0 ? static_cast<T>(1 / length) : T(1);
  const T beta = length > 0 ? static_cast<T>(other > 0 ? -(length / other) : -length) : T(1);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * (csr_normal_threads / 32);
  std::int64_t row = static_cast<std::int64_t>(thread / 32) * gridDim.x + blockIdx.x;
  P begin = 0, end = 0;
  if (row < j.rows) begin = static_cast<P>(j.indptr[row]), end = static_cast<P>(j.indptr[row + 1]);
  while (row < j.rows) {
    const std::int64_t next = row + step;
    P next_begin = 0, next_end = 0;
    if (next < j.rows) next_begin = static_cast<P>(j.indptr[next]), next_end = static_cast<P>(j.indptr[next + 1]);
    const T sum = csr_sum_of_lanes<32>(csr_sum_of_fours<Aligned>(j, static_cast<const T*>(x), begin, end, lane));
    if (lane == 0) j.result[row] = alpha * sum + beta * j.y[row];
    row = next, begin = next_begin, end = next_end;
  }
}

}  // namespace sinter::cuda::device
