// difference.cu as host functions.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/forms.hpp"
#include "emulated/kernels/strided.hpp"

#define difference difference_grid_stride
#include "examples/relative_difference/difference.cu"
#undef difference

namespace emulated {
namespace {

void strided(const float* x, long long x_step, const float* y, long long y_step, float* d, long long n) {
  difference_strided({x, {n}, {x_step}}, {y, {n}, {y_step}}, d);
}

}  // namespace

const difference_kernels difference{difference_grid_stride, difference_by_four, strided};

}  // namespace emulated
