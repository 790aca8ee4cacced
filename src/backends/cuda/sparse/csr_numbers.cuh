// What the kernels for sparse matrices share: numbers of their dtypes, loads, the search for a row.
#pragma once
#include <type_traits>

#include "backends/cuda/sparse/sparse_job.hpp"

namespace sinter::cuda::device {

constexpr unsigned csr_lanes = 0xffffffffu;

template <class T>
__device__ __forceinline__ T csr_product(T a, T b) {
  return a * b;
}
template <class T>
__device__ __forceinline__ T csr_sum(T a, T b) {
  return a + b;
}
template <class R>
__device__ __forceinline__ complex_pair<R> csr_product(complex_pair<R> a, complex_pair<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R>
__device__ __forceinline__ complex_pair<R> csr_sum(complex_pair<R> a, complex_pair<R> b) {
  return {a.re + b.re, a.im + b.im};
}
/// The value of the lane whose number differs in the bits of `step`.
template <class T>
__device__ __forceinline__ T csr_other(T v, int step) {
  return __shfl_xor_sync(csr_lanes, v, step);
}
template <class R>
__device__ __forceinline__ complex_pair<R> csr_other(complex_pair<R> v, int step) {
  return {__shfl_xor_sync(csr_lanes, v.re, step), __shfl_xor_sync(csr_lanes, v.im, step)};
}

/// `added` is the element of y.
template <class T, class I>
__device__ __forceinline__ T csr_scaled(const csr_job<T, I>& j, T sum, T added) {
  if (j.scaled) sum = csr_product(j.alpha, sum);
  if (j.y) sum = csr_sum(sum, j.weighted ? csr_product(j.beta, added) : added);
  return sum;
}

/// An element; a streamed one leaves the first cache to others. Complex numbers need not lie at multiples of their size.
template <bool Streamed, class V>
__device__ __forceinline__ void csr_load(V& to, const V* from) {
#if defined(__CUDA_ARCH__)
  if constexpr (Streamed && std::is_arithmetic_v<V>) {
    static_assert(sizeof(V) == 8 || sizeof(V) == 4);
    unsigned word[sizeof(V) / 4];
    if constexpr (sizeof(V) == 8)
      asm("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "l"(from));
    else asm("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(word[0]) : "l"(from));
    memcpy(&to, word, sizeof word);
    return;
  }
#endif
  to = *from;
}

/// How many rows end at or before an entry; by all lanes of a warp, which look at 32 places at a time: first at those where it
/// would be if all rows had the same length.
template <class I>
__device__ __forceinline__ std::int64_t csr_rows_before(const I* indptr, std::int64_t rows, std::int64_t entries,
                                                        std::int64_t entry, int lane) {
  std::int64_t low = 0, high = rows;
  const double part = entries > 0 ? static_cast<double>(entry) / static_cast<double>(entries) : 0;
  std::int64_t near = static_cast<std::int64_t>(part * static_cast<double>(rows)) - 16;
  near = near > rows - 32 ? rows - 32 : near;
  near = near < 0 ? 0 : near;
  for (std::int64_t from = near, step = 1; low < high; from = low, step = (high - low + 31) / 32) {
    const std::int64_t at = from + (lane + 1) * step - 1;
    const bool later = at >= high || static_cast<std::int64_t>(indptr[at + 1]) > entry;
    const unsigned found = __ballot_sync(csr_lanes, later);
    const int first = found != 0 ? __ffs(static_cast<int>(found)) - 1 : 32;
    if (first == 0 && from > low) {  // before the places that were looked at
      high = from;
      continue;
    }
    low = from + first * step;
    if (first < 32 && low + step - 1 < high) high = low + step - 1;
  }
  return low < rows ? low : rows;
}

}  // namespace sinter::cuda::device
