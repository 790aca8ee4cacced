// Checks for matrices with elements that are not finite, and for the first of many factorisations that failed. It
// includes nothing, so that tests can run it without a GPU.
#pragma once

namespace sinter::cuda::device {

constexpr int check_threads = 256;
constexpr long long in_one_warp = 4096;  // numbers per matrix up to which one warp checks it

/// `count` column-major matrices of real numbers: a complex element counts as two.
struct number_matrices {
  long long rows, columns, count;  // of elements
  int parts;                       // numbers in an element
  int triangle;                    // 0: all of it, 1: on and below the diagonal, 2: on and above
};

__device__ inline bool belongs(const number_matrices& m, long long row, long long column) {
  return m.triangle == 0 || (m.triangle == 1 ? row >= column : row <= column);
}

/// False for infinities and NaN.
template <class R>
__device__ bool finite_number(R x) {
  return x - x == R{0};
}

/// The safe range of a matrix's largest number, as powers of two, in which neither squares nor their products with the
/// squared rounding error overflow or underflow.
template <class R>
constexpr int safe_exponent = sizeof(R) == 4 ? 30 : 300;

template <class R>
__device__ R warp_max(R v) {
  for (int distance = 16; distance > 0; distance /= 2) {
    const R other = __shfl_xor_sync(0xffffffffu, v, distance);
    if (other > v) v = other;
  }
  return v;
}

/// One warp per matrix: flags[k] is whether one of its elements is not finite, and such a matrix is set to zero. If
/// `exponents` is not null, a matrix whose largest number is outside of the safe range is divided by 2^exponents[k],
/// which brings that number to [1, 2); otherwise exponents[k] is 0. Elements outside of the triangle may then become 0
/// as well.
template <class R>
__global__ void clear_small_kernel(number_matrices m, R* all, int* flags, int* exponents) {
  const unsigned lane = threadIdx.x % 32, parts = static_cast<unsigned>(m.parts);
  const unsigned length = static_cast<unsigned>(m.rows) * parts, size = length * static_cast<unsigned>(m.columns);
  const long long warps = static_cast<long long>(gridDim.x) * (blockDim.x / 32);
  for (long long k = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32; k < m.count;
       k += warps) {
    R* const a = all + k * size;
    bool bad = false;
    R largest = R{0};
    for (unsigned i = lane; i < size; i += 32) {
      const R x = a[i], magnitude = x < R{0} ? -x : x;
      if (finite_number(x)) {
        if (magnitude > largest && belongs(m, i % length / parts, i / length)) largest = magnitude;
      } else if (belongs(m, i % length / parts, i / length)) {
        bad = true;
      } else if (exponents) {
        a[i] = R{0};  // outside of the triangle, never read
      }
    }
    const bool any = __ballot_sync(0xffffffffu, bad) != 0;
    if (lane == 0) flags[k] = any;
    if (any)
      for (unsigned i = lane; i < size; i += 32) a[i] = R{0};
    if (!exponents) continue;
    largest = warp_max(largest);
    int exponent = any || largest == R{0} ? 0 : ilogb(largest);
    if (exponent >= -safe_exponent<R> && exponent <= safe_exponent<R>) exponent = 0;
    if (lane == 0) exponents[k] = exponent;
    if (exponent != 0)
      for (unsigned i = lane; i < size; i += 32)
        a[i] = belongs(m, i % length / parts, i / length) ? ldexp(a[i], -exponent) : R{0};
  }
}

/// One warp per column of larger matrices. flags, initially 0, become 1 if an element is not finite.
template <class R>
__global__ void flag_columns_kernel(number_matrices m, const R* all, int* flags) {
  const long long lane = threadIdx.x % 32, length = m.rows * m.parts;
  const long long warps = static_cast<long long>(gridDim.x) * (blockDim.x / 32);
  for (long long w = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32; w < m.count * m.columns;
       w += warps) {
    const R* const a = all + w * length;
    bool bad = false;
    for (long long i = lane; i < length; i += 32)
      if (!finite_number(a[i]) && belongs(m, i / m.parts, w % m.columns)) bad = true;
    if (bad) flags[w / m.columns] = 1;
  }
}

/// Sets flagged matrices to zero.
template <class R>
__global__ void clear_columns_kernel(number_matrices m, R* all, const int* flags) {
  const long long lane = threadIdx.x % 32, length = m.rows * m.parts;
  const long long warps = static_cast<long long>(gridDim.x) * (blockDim.x / 32);
  for (long long w = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32; w < m.count * m.columns;
       w += warps)
    if (flags[w / m.columns] != 0)
      for (long long i = lane; i < length; i += 32) all[w * length + i] = R{0};
}

/// info[k] = value where flags[k] is nonzero.
static __global__ void mark_kernel(const int* flags, long long count, int value, int* info) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += step)
    if (flags[k] != 0) info[k] = value;
}
/// The same, and the `each` values of matrix k are multiplied by 2^exponents[k].
template <class R>
__global__ void mark_and_scale_kernel(const int* flags, long long count, int value, int* info, const int* exponents,
                                      R* values, int each) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += step) {
    if (flags[k] != 0) info[k] = value;
    if (exponents[k] != 0)
      for (int i = 0; i < each; ++i) values[k * each + i] = ldexp(values[k * each + i], exponents[k]);
  }
}

/// found[w]: the least k at which the w-th warp of the grid found a nonzero number; `count` if none.
static __global__ void find_first_kernel(const int* numbers, long long count, long long* found) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  long long least = count;
  for (long long k = thread; k < count; k += step)
    if (numbers[k] != 0 && k < least) least = k;
  for (int distance = 16; distance > 0; distance /= 2) {
    const long long other = __shfl_xor_sync(0xffffffffu, least, distance);
    if (other < least) least = other;
  }
  if (threadIdx.x % 32 == 0) found[thread / 32] = least;
}

}  // namespace sinter::cuda::device
