// product_kernel.cuh as host functions.
#include "emulated/cuda_emulator.hpp"
#include "emulated/kernels/integer_product.hpp"

#include "backends/cuda/linalg/product_kernel.cuh"

namespace emulated {

using namespace sinter::cuda::device;
static_assert(sinter::cuda::device::product_threads == emulated::product_threads &&
              sinter::cuda::device::product_tile == emulated::product_tile);

integer_product_function<std::uint8_t>*const product_u8 = integer_product_kernel<std::uint8_t, std::uint32_t, false>,
                                             *const product_bool =
                                                 integer_product_kernel<std::uint8_t, std::uint32_t, true>;
integer_product_function<std::uint32_t>* const product_u32 =
    integer_product_kernel<std::uint32_t, std::uint32_t, false>;
integer_product_function<std::uint64_t>* const product_u64 =
    integer_product_kernel<std::uint64_t, std::uint64_t, false>;

}  // namespace emulated
