// digit_kernels.cuh as host functions.
#include "emulated/kernels/digit_kernels.hpp"
#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/linalg/digit_kernels.cuh"

namespace emulated {
namespace {

namespace device = sinter::cuda::device;
static_assert(device::split_threads == split_threads && device::split_tile == split_tile &&
              device::join_threads == join_threads && device::join_each == join_each);

template <class T, bool Logical>
void join(device::join_job s, const std::int32_t* sums, T* to) {
  device::join_kernel<T, Logical>(s, reinterpret_cast<const device::join_values<std::int32_t>*>(sums), to);
}
template <class T, bool Logical>
constexpr digit_kernels<T> kernels{device::split_kernel<T, Logical>, join<T, Logical>};

}  // namespace

const digit_kernels<std::uint8_t> digits_u8 = kernels<std::uint8_t, false>, digits_bool = kernels<std::uint8_t, true>;
const digit_kernels<std::uint16_t> digits_u16 = kernels<std::uint16_t, false>;
const digit_kernels<std::uint32_t> digits_u32 = kernels<std::uint32_t, false>;
const digit_kernels<std::uint64_t> digits_u64 = kernels<std::uint64_t, false>;

}  // namespace emulated
