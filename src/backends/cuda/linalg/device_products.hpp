// Device code for products that no library offers: integers, which wrap around, and bools; and floating-point ones of few results,
// which libraries read at a fraction of memory's rate. As in device_algorithms.hpp
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

/// Bytes of scratch memory for a product of few rows and columns over a long inner extent; 0: long_product() is not for it.
std::size_t long_product_scratch(const context& c, element type, const product_shape& s);
/// Two launches.
cudaError_t long_product(const context& c, element type, const product_shape& s, const void* a, const void* b, void* to,
                         void* scratch);

}  // namespace sinter::cuda::device
