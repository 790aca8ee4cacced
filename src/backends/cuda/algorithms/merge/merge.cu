// Merging sorted runs.
#include "backends/cuda/algorithms/device_common.cuh"
#include "backends/cuda/algorithms/merge/merge_kernels.cuh"
#include "backends/cuda/algorithms/sort_keys.cuh"

namespace sinter::cuda::device {
namespace {

/// Equal elements, both zeros and all NaNs among them, have one key.
template <class K>
struct key_of {
  key_rule rule;
  template <class U>
  __device__ K operator()(U bits) const {
    return tied_key<K>(bits, rule);
  }
};

i64 tiles_of(i64 n) { return ceil_div(n, merge_tile); }

template <class U, class K>
cudaError_t merge_as(const context& c, const key_of<K>& key, const void* from, i64 ones, i64 twos, void* to,
                     i64* splits) {
  const U* const all = static_cast<const U*>(from);
  const two_runs<U> runs{all, all + ones, ones, twos};
  const i64 tiles = tiles_of(ones + twos);
  SINTER_TRY(launch(c, find_splits<U, key_of<K>>, looping_blocks(c, tiles + 1, 128), 128, 0, runs, key, tiles, splits));
  return launch(c, merge_tiles<U, key_of<K>>, looping_blocks(c, tiles, 1), merge_threads, 0, runs, key, tiles, splits,
                static_cast<U*>(to));
}

}  // namespace

std::size_t merge_scratch(i64 elements) { return static_cast<std::size_t>(tiles_of(elements) + 1) * sizeof(i64); }

cudaError_t merge(const context& c, element type, bool descending, const void* from, i64 ones, i64 twos, void* to,
                  void* scratch) {
  if (ones + twos == 0) return cudaSuccess;
  const key_rule rule = rule_of(type, descending);
  i64* const splits = static_cast<i64*>(scratch);
  switch (bytes_of(type)) {
    case 1: return merge_as<u8>(c, key_of<u32>{rule}, from, ones, twos, to, splits);
    case 2: return merge_as<u16>(c, key_of<u32>{rule}, from, ones, twos, to, splits);
    case 4: return merge_as<u32>(c, key_of<u32>{rule}, from, ones, twos, to, splits);
    default: return merge_as<u64>(c, key_of<u64>{rule}, from, ones, twos, to, splits);
  }
}

}  // namespace sinter::cuda::device
