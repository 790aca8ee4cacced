// The kernels that find the elements of a few ranks as functions of the host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emulated {

/// Ascending ranks of rows.
struct rank_request {
  std::int64_t rows, columns;
  std::vector<std::int64_t> ranks;
  int digit_bits;
  std::int64_t capacity = 0;  // of packed keys of a row
};

template <class U>
struct rank_kernels {
  std::int64_t longest_held;
  /// A row per block; `to` has all ranks of a row one after the other.
  void (*find_held)(const U* keys, const rank_request& r, int key_bits, U* to);
  std::size_t search_bytes;
  void (*start)(void* searches, const rank_request& r);
  void (*count)(const U* keys, const rank_request& r, std::int64_t blocks_of_row, int shift, int bits, void* searches,
                U* packed, unsigned long long* counts);
  void (*choose)(const rank_request& r, int shift, int bits, unsigned long long* counts, void* searches, U* to);
  /// After start(): what count_brackets() packs, and whether the ranks were found in brackets, of each row. `brackets` as
  /// many as bracket_bytes a row. False where there are no brackets for the ranks.
  bool (*find_brackets)(const U* keys, const rank_request& r, int key_bits, void* brackets);
  void (*count_brackets)(const U* keys, const rank_request& r, std::int64_t blocks_of_row, void* searches,
                         void* brackets, U* packed);
  void (*conclude)(void* searches, const void* brackets, const rank_request& r);
  std::size_t bracket_bytes;
  bool (*is_packed)(const void* searches, std::int64_t row);
  /// How many keys of a row have been packed.
  std::int64_t (*packed)(const void* searches, std::int64_t row);
};
inline constexpr int rank_threads = 512, ranks_at_once = 8;
extern const rank_kernels<std::uint32_t> ranks_of_words;
extern const rank_kernels<std::uint64_t> ranks_of_long_words;

}  // namespace emulated
