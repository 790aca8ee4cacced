// Cumulative products.
#include "backends/cuda/algorithms/scan_kernels.cuh"
#include "backends/cuda/algorithms/scan_parts.cuh"

namespace sinter::cuda::device {

cudaError_t scan_products(const context& c, accumulator a, const scan_plan& p, const scan_data& d, void* scratch) {
  return run_scan_of<product_of>(a, c, p, d, scratch);
}

}  // namespace sinter::cuda::device
