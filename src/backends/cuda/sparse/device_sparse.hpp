// Device code for products of sparse matrices and their transposes. As in device_algorithms.hpp nothing synchronises and nothing throws.
#pragma once
#include "backends/cuda/algorithms/device_algorithms.hpp"

namespace sinter::cuda::device {

/// As runtime::sparse_matrix and runtime::sparse_product, never transposed.
struct sparse_job {
  element type{};     // i64, f32, f64, c64, c128
  bool wide = false;  // int64 indices
  std::int64_t rows = 0, columns = 0, entries = 0, width = 1;
  std::int64_t longest = -1;  // a bound of the entries of a row, if one is known
  const void* data = nullptr;
  const void* indices = nullptr;
  const void* indptr = nullptr;
  const void* x = nullptr;
  const void* y = nullptr;
  double alpha[2] = {1, 0}, beta[2] = {1, 0};
};

std::size_t sparse_multiply_scratch(const sparse_job& j);
cudaError_t sparse_multiply(const context& c, const sparse_job& j, void* result, void* scratch);

/// x, y and scales as in runtime::normal_product; the scales of the job have no part in it.
bool can_multiply_normal(const sparse_job& j);
cudaError_t sparse_multiply_normal(const context& c, const sparse_job& j, const double* other, double* length,
                                   void* result);

/// Entries of compressed rows in the order of their columns, those of a column in the order they had.
struct transpose_job {
  bool wide = false;  // int64 indices
  int bytes = 0;      // of an element: 1, 2, 4, 8 or 16
  std::int64_t rows = 0, columns = 0, entries = 0;
  const void* data = nullptr;
  const void* indices = nullptr;
  const void* indptr = nullptr;
  void* new_data = nullptr;
  void* new_indices = nullptr;  // rows
  void* new_indptr = nullptr;   // columns + 1
};
bool can_transpose(std::int64_t entries, std::int64_t columns);
cudaError_t transpose_scratch(const context& c, std::int64_t entries, std::int64_t columns, std::size_t& bytes);
cudaError_t transpose(const context& c, const transpose_job& j, void* scratch);

/// The entries of each row in the order of their columns, equal ones in their own.
struct row_sort_job {
  bool wide = false;  // int64 indices
  int bytes = 0;      // of an element: 1, 2, 4, 8 or 16
  std::int64_t rows = 0, entries = 0;
  const void* data = nullptr;
  const void* indices = nullptr;
  const void* indptr = nullptr;
  void* new_data = nullptr;
  void* new_indices = nullptr;
};
/// Whether there is a kernel for these rows, and worth while; `longest` as in sparse_job.
bool can_sort_rows(std::int64_t rows, std::int64_t entries, std::int64_t longest);
cudaError_t sort_rows(const context& c, const row_sort_job& j);

}  // namespace sinter::cuda::device
