// Extents and strides of a product, as the kernel for integers needs them. Plain C++17.
#pragma once
#include <cstdint>

namespace sinter::cuda::device {

struct product_strides {
  std::int64_t row = 0, column = 0;
  std::int64_t batch[2] = {0, 0};
};
/// c (rows, columns) = a (rows, inner) b (inner, columns) for each point of two batch axes. Strides in elements, of any
/// sign and size.
struct product_shape {
  std::int64_t rows = 0, columns = 0, inner = 0;
  std::int64_t batch[2] = {1, 1};
  product_strides a, b, c;
};

}  // namespace sinter::cuda::device
