// matrix_check_kernel.cuh as host functions.
#include "emulated/kernels/matrix_check.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/linalg/matrix_check_kernel.cuh"

namespace emulated {
namespace device = sinter::cuda::device;

namespace {

device::number_matrices of(const numbers& m) { return {m.rows, m.columns, m.count, m.parts, m.triangle}; }

}  // namespace

void clear_small(const numbers& m, double* all, int* flags, int* exponents) {
  device::clear_small_kernel(of(m), all, flags, exponents);
}
void flag_columns(const numbers& m, const double* all, int* flags) { device::flag_columns_kernel(of(m), all, flags); }
void clear_columns(const numbers& m, double* all, const int* flags) { device::clear_columns_kernel(of(m), all, flags); }
void mark(const int* flags, long long count, int value, int* info) { device::mark_kernel(flags, count, value, info); }
void mark_and_scale(const int* flags, long long count, int value, int* info, const int* exponents, double* values,
                    int each) {
  device::mark_and_scale_kernel(flags, count, value, info, exponents, values, each);
}
void find_first(const int* numbers, long long count, long long* found) {
  device::find_first_kernel(numbers, count, found);
}

}  // namespace emulated
