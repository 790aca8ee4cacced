// The CUDA backend's kernels for products over a long inner extent as functions of the host.
#pragma once
#include <cstdint>

namespace emulated {

/// Strides in elements; groups of warps for each tile of `tile` x `tile` results; `runs`: whether tiles of the factors are read as
/// vectors. Why a launch could not be completed; empty on success.
struct long_product_case {
  std::int64_t rows, columns, inner, a_row, a_inner, b_inner, b_column, c_row, c_column;
  int tile, groups, blocks;
  bool a_runs, b_runs;
};
const char* long_product(const long_product_case& s, const float* a, const float* b, float* c);
const char* long_product(const long_product_case& s, const double* a, const double* b, double* c);

}  // namespace emulated
