// merge_kernels.cuh as host functions.
#include "emulated/kernels/merge.hpp"

#include "emulated/cuda_emulator.hpp"

#include "backends/cuda/algorithms/merge/merge_kernels.cuh"

namespace emulated {
namespace device = sinter::cuda::device;

static_assert(device::merge_threads == merging_threads && device::merge_tile == merging_tile);

namespace {

/// Both zeros have one key, NaN the last one.
struct key_of_float {
  unsigned operator()(float x) const {
    if (x != x) return ~0u;
    const unsigned bits = __float_as_uint(x + 0.0f);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
  }
};
device::two_runs<float> runs_of(const float* from, std::int64_t ones, std::int64_t twos) {
  return {from, from + ones, ones, twos};
}

}  // namespace

void find_splits(const float* from, std::int64_t ones, std::int64_t twos, std::int64_t tiles, std::int64_t* splits) {
  device::find_splits(runs_of(from, ones, twos), key_of_float(), tiles, splits);
}
void merge_tiles(const float* from, std::int64_t ones, std::int64_t twos, std::int64_t tiles,
                 const std::int64_t* splits, float* to) {
  device::merge_tiles(runs_of(from, ones, twos), key_of_float(), tiles, splits, to);
}

}  // namespace emulated
