// The CUDA backend's kernels around products of digits as functions of the host.
#pragma once
#include <cstdint>

#include "backends/cuda/linalg/product_digits.hpp"

namespace emulated {

template <class T>
struct digit_kernels {
  void (*split)(sinter::cuda::device::split_job, const T* from, std::uint32_t* digits);
  void (*join)(sinter::cuda::device::join_job, const std::int32_t* sums, T* to);
};
extern const digit_kernels<std::uint8_t> digits_u8, digits_bool;
extern const digit_kernels<std::uint16_t> digits_u16;
extern const digit_kernels<std::uint32_t> digits_u32;
extern const digit_kernels<std::uint64_t> digits_u64;
inline constexpr unsigned split_threads = 256, split_tile = 64, join_threads = 256, join_each = 4;

}  // namespace emulated
