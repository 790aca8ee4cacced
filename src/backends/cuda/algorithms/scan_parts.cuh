// The kernels that scan.cu calls: one file per operation.
#pragma once
#include "backends/cuda/algorithms/device_algorithms.hpp"
#include "backends/cuda/algorithms/scan_plan.cuh"

namespace sinter::cuda::device {

enum class accumulator : unsigned char { u32, u64, f32, f64, c64, c128 };
struct scan_data;

cudaError_t scan_sums(const context& c, accumulator a, const scan_plan& p, const scan_data& d, void* scratch);
cudaError_t scan_products(const context& c, accumulator a, const scan_plan& p, const scan_data& d, void* scratch);
cudaError_t scan_greatest(const context& c, accumulator a, const scan_plan& p, const scan_data& d, void* scratch);
/// f32 and f64 only.
cudaError_t scan_log_sums(const context& c, accumulator a, const scan_plan& p, const scan_data& d, void* scratch);

}  // namespace sinter::cuda::device
