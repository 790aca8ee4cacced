// Q from reflectors, for many small matrices.
#pragma once
#include "backends/cuda/linalg/pair.cuh"

namespace sinter::cuda::device {

template <class T>
__device__ T from_lane(T v, int distance) {
  return __shfl_xor_sync(0xffffffffu, v, distance);
}
template <class R>
__device__ pair<R> from_lane(pair<R> v, int distance) {
  return {__shfl_xor_sync(0xffffffffu, v.re, distance), __shfl_xor_sync(0xffffffffu, v.im, distance)};
}

/// The sum over a warp, identical in every lane.
template <class T>
__device__ T warp_sum(T v) {
  for (int distance = 16; distance > 0; distance /= 2) v = v + from_lane(v, distance);
  return v;
}

constexpr int q_threads = 256;

/// LAPACK's org2r, with a block per matrix and a warp per column: from the last reflector 1 - tau v v^H to the first,
/// each is applied to the columns after its column, which it then replaces by the column of the identity with the
/// reflector applied.
template <class T>
__global__ void form_q_kernel(long long rows, long long columns, long long reflectors, long long count, T* all,
                              const T* factors) {
  const long long lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const T zero = number_of(0, all), one = number_of(1, all);
  for (long long k = blockIdx.x; k < count; k += gridDim.x) {
    T* a = all + k * rows * columns;
    const T* tau = factors + k * reflectors;
    for (long long j = reflectors + warp; j < columns; j += warps)
      for (long long r = lane; r < rows; r += 32) a[j * rows + r] = r == j ? one : zero;
    __syncthreads();
    for (long long i = reflectors - 1; i >= 0; --i) {
      const T* v = a + i * rows;
      for (long long j = i + 1 + warp; j < columns; j += warps) {
        T* column = a + j * rows;
        T sum = lane == 0 ? column[i] : zero;
        for (long long r = i + 1 + lane; r < rows; r += 32) sum = sum + conjugate(v[r]) * column[r];
        sum = tau[i] * warp_sum(sum);
        if (lane == 0) column[i] = column[i] - sum;
        for (long long r = i + 1 + lane; r < rows; r += 32) column[r] = column[r] - v[r] * sum;
      }
      __syncthreads();
      for (long long r = threadIdx.x; r < rows; r += blockDim.x) {
        T& x = a[i * rows + r];
        x = r < i ? zero : r == i ? one - tau[i] : -(tau[i] * x);
      }
      __syncthreads();
    }
  }
}

}  // namespace sinter::cuda::device
