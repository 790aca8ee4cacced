// The kernels of selections as host functions.
#include "emulated/kernels/select.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/algorithms/select_kernels.cuh"

namespace emulated {
namespace {

namespace device = sinter::cuda::device;

template <int ahead, class T>
void elements(const T* from, const unsigned* given, std::int64_t packed, const unsigned* made, const std::int64_t* ends,
              std::int64_t tiles, T* to) {
  device::select_tiles<ahead, const T*, T>(from, {given, made, packed}, ends, tiles, to);
}

void positions(const unsigned* given, std::int64_t packed, const unsigned* made, const std::int64_t* ends,
               std::int64_t tiles, std::int64_t* to) {
  device::select_tiles<8, device::positions, std::int64_t>({}, {given, made, packed}, ends, tiles, to);
}

}  // namespace

const selection_kernels selection{
    device::select_tile,       device::select_warps,       device::pack_flags, device::count_words,
    elements<8, std::uint8_t>, elements<4, std::uint64_t>, positions};

}  // namespace emulated
