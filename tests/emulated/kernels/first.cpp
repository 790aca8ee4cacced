// The kernels that find the first elements of rows, and that order random keys, as host functions.
#include "emulated/kernels/first.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/algorithms/first/first_kernels.cuh"
#include "backends/cuda/algorithms/random_order_kernels.cuh"

namespace sinter::cuda::device {
namespace {

template <class U>
struct row_keys {
  const U* base;
};
template <class U>
U key_at(const row_keys<U>& k, std::int64_t index) {
  return k.base[index];
}
struct row_positions {
  std::int64_t* base;
};
template <class U>
void put_at(const row_positions& to, unsigned place, std::int64_t index, U) {
  to.base[place] = index;
}

}  // namespace
}  // namespace sinter::cuda::device

namespace emulated {
namespace {

namespace device = sinter::cuda::device;
using std::int64_t;
static_assert(first_block == device::first_threads);

template <class U>
void first_of_parts(const U* keys, int64_t columns, int64_t parts, int k, int64_t* positions) {
  const device::first_job j{columns, parts, k};
  const int64_t block = blockIdx.x, row = block / parts, part = block % parts;
  device::first_of_part<first_held, U>(device::row_keys<U>{keys + row * columns},
                                       device::row_positions{positions + block * k}, j, device::begin_of_part(j, part),
                                       device::begin_of_part(j, part + 1));
}

}  // namespace

const first_kernels<std::uint32_t> first_of_words{first_of_parts<std::uint32_t>};
const first_kernels<std::uint64_t> first_of_long_words{first_of_parts<std::uint64_t>};
const random_order_kernels random_order{device::split_random_keys, device::order_neighbours};

}  // namespace emulated
