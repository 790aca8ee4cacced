// small_lu_kernel.cuh as host functions.
#include "emulated/kernels/small_lu.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/linalg/small_lu_kernel.cuh"

namespace emulated {
namespace device = sinter::cuda::device;

namespace {

template <class T>
void factor(int lanes, long long count, int order, T* all, int* pivots, int* info) {
  if (lanes == 4) device::small_lu_kernel<T, 4>(count, order, all, pivots, info);
  if (lanes == 8) device::small_lu_kernel<T, 8>(count, order, all, pivots, info);
  if (lanes == 16) device::small_lu_kernel<T, 16>(count, order, all, pivots, info);
}
template <class T>
void solve(int lanes, long long count, int order, long long columns, int form, const T* lu, const int* pivots, T* x) {
  const auto how = static_cast<device::small_form>(form);
  if (lanes == 4) device::small_solve_kernel<T, 4>(count, order, columns, how, lu, pivots, x);
  if (lanes == 8) device::small_solve_kernel<T, 8>(count, order, columns, how, lu, pivots, x);
  if (lanes == 16) device::small_solve_kernel<T, 16>(count, order, columns, how, lu, pivots, x);
}
using pair = device::pair<double>;

}  // namespace

void small_lu(int lanes, long long count, int order, float* all, int* pivots, int* info) {
  factor(lanes, count, order, all, pivots, info);
}
void small_lu(int lanes, long long count, int order, double* all, int* pivots, int* info) {
  factor(lanes, count, order, all, pivots, info);
}
void small_lu(int lanes, long long count, int order, std::complex<double>* all, int* pivots, int* info) {
  factor(lanes, count, order, reinterpret_cast<pair*>(all), pivots, info);
}
void small_solve(int lanes, long long count, int order, long long columns, int form, const float* lu, const int* pivots,
                 float* x) {
  solve(lanes, count, order, columns, form, lu, pivots, x);
}
void small_solve(int lanes, long long count, int order, long long columns, int form, const double* lu,
                 const int* pivots, double* x) {
  solve(lanes, count, order, columns, form, lu, pivots, x);
}
void small_solve(int lanes, long long count, int order, long long columns, int form, const std::complex<double>* lu,
                 const int* pivots, std::complex<double>* x) {
  solve(lanes, count, order, columns, form, reinterpret_cast<const pair*>(lu), pivots, reinterpret_cast<pair*>(x));
}

}  // namespace emulated
