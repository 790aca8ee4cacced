// Launches of the kernels that split factors into digits and join sums: the kernel instance and the number of blocks.
#include "backends/cuda/algorithms/device_common.cuh"
#include "backends/cuda/linalg/device_products.hpp"
#include "backends/cuda/linalg/digit_kernels.cuh"

namespace sinter::cuda::device {
namespace {

template <class T, bool Logical>
cudaError_t split(const context& c, const split_job& s, const void* from, void* to) {
  const dim3 blocks(static_cast<unsigned>(ceil_div(s.padded_inner, split_tile)),
                    static_cast<unsigned>(ceil_div(s.padded_lines, split_tile)), static_cast<unsigned>(s.matrices));
  return launch(c, split_kernel<T, Logical>, blocks, split_threads, 0, s, static_cast<const T*>(from),
                static_cast<u32*>(to));
}

template <class T, bool Logical>
cudaError_t join(const context& c, const join_job& s, const void* sums, void* to) {
  const i64 quads = s.rows * (s.padded_columns / join_each);
  const dim3 blocks(static_cast<unsigned>(ceil_div(quads, join_threads)), static_cast<unsigned>(s.matrices));
  return launch(c, join_kernel<T, Logical>, blocks, join_threads, 0, s,
                static_cast<const join_values<std::int32_t>*>(sums), static_cast<T*>(to));
}

}  // namespace

cudaError_t split_digits(const context& c, element type, const split_job& s, const void* from, void* to) {
  if (type == element::b1) return split<u8, true>(c, s, from, to);
  switch (bytes_of(type)) {
    case 1: return split<u8, false>(c, s, from, to);
    case 2: return split<u16, false>(c, s, from, to);
    case 4: return split<u32, false>(c, s, from, to);
    default: return split<u64, false>(c, s, from, to);
  }
}

cudaError_t join_digits(const context& c, element type, const join_job& s, const void* sums, void* to) {
  if (type == element::b1) return join<u8, true>(c, s, sums, to);
  switch (bytes_of(type)) {
    case 1: return join<u8, false>(c, s, sums, to);
    case 2: return join<u16, false>(c, s, sums, to);
    case 4: return join<u32, false>(c, s, sums, to);
    default: return join<u64, false>(c, s, sums, to);
  }
}

}  // namespace sinter::cuda::device
