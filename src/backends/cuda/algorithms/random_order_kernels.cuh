// The kernels that order random 64-bit keys. Keys are sorted by a few of their highest bits, with their positions; what
// follows puts the few neighbours that agree in those bits in order.
//
// Only headers of the host compiler are included, so that tests run these kernels without a GPU.
#pragma once
#include <cstdint>

namespace sinter::cuda::device {

/// The upper halves of the keys, and their positions.
static __global__ void split_random_keys(const std::uint64_t* keys, unsigned* upper, unsigned* positions,
                                         std::int64_t n) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < n; k += step) {
    upper[k] = static_cast<unsigned>(keys[k] >> 32);
    positions[k] = static_cast<unsigned>(k);
  }
}

/// A key's upper half and its position; the lower half is read where it decides.
struct random_key {
  unsigned upper, position;
};
__device__ __forceinline__ bool comes_before(const random_key& a, const random_key& b, const std::uint64_t* keys) {
  if (a.upper != b.upper) return a.upper < b.upper;
  return static_cast<unsigned>(keys[a.position]) < static_cast<unsigned>(keys[b.position]);
}

/// result[place] = the position of the key of that place. `upper` is sorted by its bits from `shift` on, and equal ones by
/// position.
static __global__ void order_neighbours(const unsigned* upper, const unsigned* positions, const std::uint64_t* keys,
                                        std::int64_t* result, std::int64_t n, int shift) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < n; k += step) {
    const random_key own{upper[k], positions[k]};
    std::int64_t place = k;
    for (std::int64_t j = k - 1; j >= 0 && (upper[j] ^ own.upper) >> shift == 0; --j)
      if (comes_before(own, {upper[j], positions[j]}, keys)) --place;
    for (std::int64_t j = k + 1; j < n && (upper[j] ^ own.upper) >> shift == 0; ++j)
      if (comes_before({upper[j], positions[j]}, own, keys)) ++place;
    result[place] = own.position;
  }
}

}  // namespace sinter::cuda::device
