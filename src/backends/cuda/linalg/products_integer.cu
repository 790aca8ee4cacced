// Launches of the kernel for products of integers and bools: the kernel instance and the number of blocks.
#include "backends/cuda/algorithms/device_common.cuh"
#include "backends/cuda/linalg/device_products.hpp"
#include "backends/cuda/linalg/product_kernel.cuh"

namespace sinter::cuda::device {
namespace {

template <class T, class A, bool Logical>
cudaError_t run(const context& c, const product_shape& s, const void* left, const void* right, void* to) {
  constexpr i64 most = 65535;  // blocks along y and z
  const i64 columns = ceil_div(s.columns, product_tile), rows = ceil_div(s.rows, product_tile);
  const i64 batches = s.batch[0] * s.batch[1];
  const dim3 blocks(static_cast<unsigned>(columns), static_cast<unsigned>(rows < most ? rows : most),
                    static_cast<unsigned>(batches < most ? batches : most));
  return launch(c, integer_product_kernel<T, A, Logical>, blocks, product_threads, 0, s, static_cast<const T*>(left),
                static_cast<const T*>(right), static_cast<T*>(to));
}

}  // namespace

// The result's bits do not depend on the sign extension, so signed and unsigned elements share their kernels.
cudaError_t integer_product(const context& c, element type, const product_shape& s, const void* left, const void* right,
                            void* to) {
  if (type == element::b1) return run<u8, u32, true>(c, s, left, right, to);
  switch (bytes_of(type)) {
    case 1: return run<u8, u32, false>(c, s, left, right, to);
    case 2: return run<u16, u32, false>(c, s, left, right, to);
    case 4: return run<u32, u32, false>(c, s, left, right, to);
    default: return run<u64, u64, false>(c, s, left, right, to);
  }
}

}  // namespace sinter::cuda::device
