// saxpy.cu as host functions.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/forms.hpp"
#include "emulated/kernels/strided.hpp"

#define saxpy saxpy_grid_stride
#include "examples/saxpy/saxpy.cu"
#undef saxpy

namespace emulated {
namespace {

void strided(float a, const float* x, long long x_step, const float* y, long long y_step, float* z, long long n) {
  saxpy_strided(a, {x, {n}, {x_step}}, {y, {n}, {y_step}}, z);
}

}  // namespace

const saxpy_kernels saxpy{saxpy_grid_stride, saxpy_by_four, strided};

}  // namespace emulated
