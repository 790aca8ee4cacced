// Cumulative sums.
#include "backends/cuda/scan_kernels.cuh"
#include "backends/cuda/scan_parts.cuh"

namespace sinter::cuda::device {

cudaError_t scan_sums(const context& c, accumulator a, const scan_plan& p, const scan_data& d, void* scratch) {
  switch (a) {
    case accumulator::u32: return run_scan<sum_of<u32>>(c, p, d, scratch);
    case accumulator::u64: return run_scan<sum_of<u64>>(c, p, d, scratch);
    case accumulator::f32: return run_scan<sum_of<float>>(c, p, d, scratch);
    case accumulator::f64: return run_scan<sum_of<double>>(c, p, d, scratch);
    case accumulator::c64: return run_scan<sum_of<complex_value<float>>>(c, p, d, scratch);
    case accumulator::c128: return run_scan<sum_of<complex_value<double>>>(c, p, d, scratch);
  }
  return cudaErrorInvalidValue;
}

}  // namespace sinter::cuda::device
