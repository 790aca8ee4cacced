// form_q_kernel.cuh as host functions.
#include "emulated/cuda_emulator.hpp"

#include <complex>

#include "backends/cuda/linalg/form_q_kernel.cuh"
#include "emulated/kernels/form_q.hpp"

namespace emulated {
namespace device = sinter::cuda::device;

void form_q(long long rows, long long columns, long long reflectors, long long count, double* a, const double* tau) {
  device::form_q_kernel<double>(rows, columns, reflectors, count, a, tau);
}
void form_q(long long rows, long long columns, long long reflectors, long long count, std::complex<float>* a,
            const std::complex<float>* tau) {
  using pair = device::pair<float>;
  device::form_q_kernel<pair>(rows, columns, reflectors, count, reinterpret_cast<pair*>(a),
                              reinterpret_cast<const pair*>(tau));
}

}  // namespace emulated
