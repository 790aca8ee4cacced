// The kernels that find the first elements of rows, and that order random keys, as functions of the host.
#pragma once
#include <cstdint>

namespace emulated {

inline constexpr int first_block = 512, first_held = 8;

template <class U>
struct first_kernels {
  /// A part of a row per block.
  void (*first_of_parts)(const U* keys, std::int64_t columns, std::int64_t parts, int k, std::int64_t* positions);
};
extern const first_kernels<std::uint32_t> first_of_words;
extern const first_kernels<std::uint64_t> first_of_long_words;

struct random_order_kernels {
  void (*split)(const std::uint64_t* keys, unsigned* upper, unsigned* positions, std::int64_t n);
  void (*order_neighbours)(const unsigned* upper, const unsigned* positions, const std::uint64_t* keys,
                           std::int64_t* result, std::int64_t n, int shift);
};
extern const random_order_kernels random_order;

}  // namespace emulated
