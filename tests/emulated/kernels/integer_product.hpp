// The CUDA backend's kernel for products of integers as functions of the host.
#pragma once
#include <cstdint>

#include "backends/cuda/linalg/product_shape.hpp"

namespace emulated {

template <class T>
using integer_product_function = void(sinter::cuda::device::product_shape, const T*, const T*, T*);
extern integer_product_function<std::uint8_t>*const product_u8, *const product_bool;
extern integer_product_function<std::uint32_t>* const product_u32;
extern integer_product_function<std::uint64_t>* const product_u64;
inline constexpr unsigned product_threads = 256, product_tile = 64;

}  // namespace emulated
