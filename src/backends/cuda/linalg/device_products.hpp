// Device code for products that no library offers: integers, which wrap around, and bools. As in device_algorithms.hpp
// nothing synchronises and nothing throws.
#pragma once
#include "backends/cuda/algorithms/device_algorithms.hpp"
#include "backends/cuda/linalg/product_digits.hpp"
#include "backends/cuda/linalg/product_shape.hpp"

namespace sinter::cuda::device {

/// No extent is 0; `type` is bool or an integer.
cudaError_t integer_product(const context& c, element type, const product_shape& s, const void* left, const void* right,
                            void* to);

/// The same element types. `to` and `sums` are aligned to 16 bytes.
cudaError_t split_digits(const context& c, element type, const split_job& s, const void* from, void* to);
cudaError_t join_digits(const context& c, element type, const join_job& s, const void* sums, void* to);

}  // namespace sinter::cuda::device
