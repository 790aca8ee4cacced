// What the device code offers for factorisations beyond the libraries. As in device_algorithms.hpp nothing synchronises and
// nothing throws.
#pragma once
#include "backends/cuda/device_algorithms.hpp"

namespace sinter::cuda::device {

/// table[i] = first + i * stride bytes: batched routines take tables of addresses.
cudaError_t address_table(const context& c, void* first, std::int64_t stride, std::int64_t count, void** table);

/// `count` matrices of rows x columns by columns, one behind the other, whose first `reflectors` columns hold reflectors:
/// the first columns of their product take their place. tau: `reflectors` factors a matrix. f32, f64, c64 or c128.
struct q_shape {
  element type{};
  std::int64_t rows = 0, columns = 0, reflectors = 0, count = 0;
};
cudaError_t form_q(const context& c, const q_shape& s, void* a, const void* tau);

}  // namespace sinter::cuda::device
