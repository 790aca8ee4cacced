// LU factors of many matrices of at most 16 rows, and systems with them: a lane for each row, which it keeps in registers, and
// several matrices a warp. Columns lie one after the other, as everywhere in these solvers.
#pragma once
#include "backends/cuda/linalg/pair.cuh"

namespace sinter::cuda::device {

/// LAPACK's measure of a pivot; NaN counts as the largest, so that all lanes agree.
template <class R>
__device__ R pivot_size(R x) {
  const R size = x < R{0} ? -x : x;
  return size == size ? size : R{1} / R{0};
}
template <class R>
__device__ R pivot_size(pair<R> x) {
  return pivot_size(pivot_size(x.re) + pivot_size(x.im));
}

template <class R>
__device__ bool is_zero(R x) {
  return x == R{0};
}
template <class R>
__device__ bool is_zero(pair<R> x) {
  return x.re == R{0} && x.im == R{0};
}

template <class R>
__device__ R quotient(R a, R b) {
  return a / b;
}
/// Smith's: no square of a part is formed. By choices, not by branches: the code is in a kernel many times.
template <class R>
__device__ pair<R> quotient(pair<R> a, pair<R> b) {
  const bool swapped = pivot_size(b.re) < pivot_size(b.im);
  const R large = swapped ? b.im : b.re, small = swapped ? b.re : b.im, r = small / large, d = large + small * r;
  const R first = swapped ? a.im : a.re, second = swapped ? -a.re : a.im;
  return {(first + (swapped ? a.re : a.im) * r) / d, (second - (swapped ? -a.im : a.re) * r) / d};
}

template <class T>
__device__ T of_lane(T v, int lane) {
  return __shfl_sync(0xffffffffu, v, lane);
}
template <class R>
__device__ pair<R> of_lane(pair<R> v, int lane) {
  return {__shfl_sync(0xffffffffu, v.re, lane), __shfl_sync(0xffffffffu, v.im, lane)};
}

/// The lanes of a matrix: `row` of this one among the N that begin at `first`. The matrices of a warp follow each other, so the
/// warp's lanes end together.
template <int N>
struct row_lanes {
  int lane = static_cast<int>(threadIdx.x % 32), row = lane % N, first = lane - row;
  long long matrix = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / N;
};
/// From one matrix of a lane to the next one.
template <int N>
__device__ long long step_of(row_lanes<N>) {
  return static_cast<long long>(gridDim.x) * blockDim.x / N;
}
/// The end of the loop over matrices: with the lanes of a warp that have none.
template <int N>
__device__ long long end_of(row_lanes<N>, long long count) {
  constexpr int per_warp = 32 / N;
  return (count + per_warp - 1) / per_warp * per_warp;
}

/// LAPACK's getrf. Rows stay where they are: `at` says which row of the result a lane has.
template <class T, int N>
__global__ void small_lu_kernel(long long count, int order, T* all, int* pivots, int* info) {
  const row_lanes<N> l;
  for (long long k = l.matrix; k < end_of(l, count); k += step_of(l)) {
    const bool mine = k < count && l.row < order;
    T* const a = all + k * order * order;
    T x[N];
#pragma unroll
    for (int j = 0; j < N; ++j) x[j] = mine && j < order ? a[j * order + l.row] : number_of(0, all);
    int at = l.row, pivot = 0, failed = 0;
#pragma unroll
    for (int p = 0; p < N; ++p) {
      if (p >= order) break;
      auto best = pivot_size(x[p]);
      if (at < p || l.row >= order) best = -1;
      int best_at = at, from = l.lane;
#pragma unroll
      for (int distance = N / 2; distance > 0; distance /= 2) {
        const auto other = __shfl_xor_sync(0xffffffffu, best, distance);
        const int other_at = __shfl_xor_sync(0xffffffffu, best_at, distance),
                  other_from = __shfl_xor_sync(0xffffffffu, from, distance);
        if (other > best || (other == best && other_at < best_at)) {
          best = other;
          best_at = other_at;
          from = other_from;
        }
      }
      if (l.row == p) pivot = best_at + 1;
      if (at == p) at = best_at;
      else if (l.lane == from) at = p;
      const T divisor = of_lane(x[p], from);
      const bool singular = is_zero(divisor);
      if (singular && failed == 0) failed = p + 1;
      const bool below = at > p;
      if (below && !singular) x[p] = quotient(x[p], divisor);
#pragma unroll
      for (int j = p + 1; j < N; ++j) {
        const T above = of_lane(x[j], from);
        if (below) x[j] = x[j] - x[p] * above;
      }
    }
    if (!mine) continue;  // no lane of a warp leaves the loop before another
#pragma unroll
    for (int j = 0; j < N; ++j)
      if (j < order) a[j * order + at] = x[j];
    pivots[k * order + l.row] = pivot;
    if (l.row == 0) info[k] = failed;
  }
}

/// How the matrix is applied: itself, its transpose, its conjugated transpose.
enum class small_form : int { plain, transposed, conjugated };

/// LAPACK's getrs: `columns` right sides of each matrix, in place. A lane keeps a row of the factors, or a column where they are
/// transposed, and an element of the right side.
template <class T, int N>
__global__ void small_solve_kernel(long long count, int order, long long columns, small_form form, const T* lu,
                                   const int* pivots, T* sides) {
  const row_lanes<N> l;
  const bool plain = form == small_form::plain;
  for (long long k = l.matrix; k < end_of(l, count); k += step_of(l)) {
    const bool mine = k < count && l.row < order;
    const T* const a = lu + k * order * order;
    T x[N];
#pragma unroll
    for (int j = 0; j < N; ++j) {
      x[j] = mine && j < order ? a[plain ? j * order + l.row : l.row * order + j] : number_of(0, sides);
      if (form == small_form::conjugated) x[j] = conjugate(x[j]);
    }
    const int exchanged = mine ? pivots[k * order + l.row] - 1 : l.row;
    int from = l.row;  // row `row` of the permuted right side is row `from` of it
    for (int p = 0; p < order; ++p) {
      const int other = of_lane(exchanged, l.first + p);
      const int one = of_lane(from, l.first + p), two = of_lane(from, l.first + other);
      if (l.row == p) from = two;
      else if (l.row == other) from = one;
    }
    for (long long c = 0; c < columns; ++c) {
      T* const side = sides + (k * columns + c) * order;
      T b = mine ? side[plain ? from : l.row] : number_of(0, sides);
#pragma unroll
      for (int p = 0; p < N; ++p) {
        if (p >= order) break;
        if (!plain && l.row == p) b = quotient(b, x[p]);
        const T known = of_lane(b, l.first + p);
        if (l.row > p) b = b - x[p] * known;
      }
#pragma unroll
      for (int p = N - 1; p >= 0; --p) {
        if (p >= order) continue;
        if (plain && l.row == p) b = quotient(b, x[p]);
        const T known = of_lane(b, l.first + p);
        if (l.row < p) b = b - x[p] * known;
      }
      if (mine) side[plain ? l.row : from] = b;
    }
  }
}

}  // namespace sinter::cuda::device
