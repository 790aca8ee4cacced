// The kernels that divide rows by rank as functions of the host.
#pragma once
#include <cstdint>

namespace emulated {

template <class U>
struct partition_kernels {
  std::int64_t longest_held, tile;
  /// A row per block. Elements to `to`, their positions to `positions`; with a limit only the first ones.
  void (*divide_rows)(const U* keys, std::int64_t columns, std::int64_t rank, std::int64_t limit, U* to,
                      std::int64_t* positions);
  void (*start)(void* searches, std::int64_t rows, std::int64_t rank);
  void (*count_digits)(const U* keys, std::int64_t columns, std::int64_t blocks_of_row, int shift, int bits,
                       const void* searches, unsigned long long* counts);
  void (*choose_digit)(int shift, int bits, unsigned long long* counts, void* searches);
  void (*count_tiles)(const U* keys, std::int64_t columns, std::int64_t rows, std::int64_t tiles, const void* searches,
                      std::int64_t* ends);
  void (*write_tiles)(const U* keys, std::int64_t columns, std::int64_t rank, std::int64_t limit, std::int64_t rows,
                      std::int64_t tiles, const void* searches, const std::int64_t* ends, U* to,
                      std::int64_t* positions);
};
inline constexpr int partition_threads = 512, partition_digits = 2048, partition_digit_bits = 11;
extern const partition_kernels<std::uint32_t> partition_of_words;
extern const partition_kernels<std::uint64_t> partition_of_long_words;

}  // namespace emulated
