// Many small matrices: tables of their addresses, and Q from reflectors, for which no library has a batched routine.
#include "backends/cuda/device_common.cuh"
#include "backends/cuda/device_solvers.hpp"
#include "backends/cuda/form_q_kernel.cuh"

namespace sinter::cuda::device {
namespace {

__global__ void address_table_kernel(char* first, i64 stride, i64 count, void** table) {
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<i64>(gridDim.x) * blockDim.x)
    table[i] = first + i * stride;
}

template <class T>
cudaError_t run_form_q(const context& c, const q_shape& s, void* a, const void* tau) {
  constexpr i64 most = i64{1} << 20;
  return launch(c, form_q_kernel<T>, s.count < most ? s.count : most, q_threads, 0, s.rows, s.columns, s.reflectors,
                s.count, static_cast<T*>(a), static_cast<const T*>(tau));
}

}  // namespace

cudaError_t address_table(const context& c, void* first, i64 stride, i64 count, void** table) {
  return launch(c, address_table_kernel, looping_blocks(c, count, 256), 256, 0, static_cast<char*>(first), stride, count,
                table);
}

cudaError_t form_q(const context& c, const q_shape& s, void* a, const void* tau) {
  switch (s.type) {
    case element::f32: return run_form_q<float>(c, s, a, tau);
    case element::f64: return run_form_q<double>(c, s, a, tau);
    case element::c64: return run_form_q<pair<float>>(c, s, a, tau);
    default: return run_form_q<pair<double>>(c, s, a, tau);
  }
}

}  // namespace sinter::cuda::device
