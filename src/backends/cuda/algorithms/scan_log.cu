// Cumulative logarithms of sums of exponentials.
#include "backends/cuda/algorithms/scan_kernels.cuh"
#include "backends/cuda/algorithms/scan_parts.cuh"

namespace sinter::cuda::device {

cudaError_t scan_log_sums(const context& c, accumulator a, const scan_plan& p, const scan_data& d, void* scratch) {
  if (a == accumulator::f32) return run_scan<log_sum_of<float>>(c, p, d, scratch);
  if (a == accumulator::f64) return run_scan<log_sum_of<double>>(c, p, d, scratch);
  return cudaErrorInvalidValue;
}

}  // namespace sinter::cuda::device
