// Device code for products of sparse matrices. As in device_algorithms.hpp nothing synchronises and nothing throws.
#pragma once
#include "backends/cuda/algorithms/device_algorithms.hpp"

namespace sinter::cuda::device {

/// As runtime::sparse_matrix and runtime::sparse_product, never transposed.
struct sparse_job {
  element type{};     // i64, f32, f64, c64, c128
  bool wide = false;  // int64 indices
  std::int64_t rows = 0, entries = 0, width = 1;
  const void* data = nullptr;
  const void* indices = nullptr;
  const void* indptr = nullptr;
  const void* x = nullptr;
  const void* y = nullptr;
  double alpha[2] = {1, 0}, beta[2] = {1, 0};
};

std::size_t sparse_multiply_scratch(const sparse_job& j);
cudaError_t sparse_multiply(const context& c, const sparse_job& j, void* result, void* scratch);

}  // namespace sinter::cuda::device
