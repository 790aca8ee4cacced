// Sorting a few hundred keys in vector registers: a bitonic network, whose comparisons do not depend on the keys. For rows
// that are too short for a radix sort's tables to pay.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/algorithms/sort_keys.hpp"

namespace sinter::cpu {

/// Keys that are sorted at once at most, and those of a vector of 64 bytes: n is a power of two between the two.
inline constexpr int most_network_keys = 4096;
template <class Key>
inline constexpr int network_lanes = static_cast<int>(64 / sizeof(Key));

/// Sorts n keys, ascending.
void sort_network(std::int32_t* keys, int n) noexcept;
void sort_network(std::int64_t* keys, int n) noexcept;

/// Rows that are sorted side by side, each in a lane of n planes of 64 bytes, by a network whose comparisons are those of
/// whole planes: rows of up to so many elements, for which there is always room.
inline constexpr int most_side_by_side = 256;
template <class Key>
inline constexpr int rows_side_by_side = network_lanes<Key>;

/// Sorts the elements in each lane: bits that are integers in their order after ^ flipped, or, where the bits of infinity
/// are not 0, those of floating-point numbers. False, and nothing is done, where a NaN or a -0 is among them.
bool sort_columns(std::int32_t* planes, int n, std::int32_t flipped, std::int32_t infinity) noexcept;
bool sort_columns(std::int64_t* planes, int n, std::int64_t flipped, std::int64_t infinity) noexcept;
/// planes[j]: the index of the j-th of the n keys in each lane, in order; of equal keys the lower index comes first.
void sort_indices(const std::int32_t* keys, std::int64_t* planes, int n) noexcept;

#define SINTER_NETWORK_DECLARE(isa)                                                      \
  namespace isa {                                                                        \
  void sort_network_32(int* keys, int n);                                                \
  void sort_network_64(long long* keys, int n);                                          \
  bool sort_columns_32(int* planes, int n, int flipped, int infinity);                   \
  bool sort_columns_64(long long* planes, int n, long long flipped, long long infinity); \
  void sort_indices_32(const int* keys, long long* planes, int n);                       \
  }
SINTER_NETWORK_DECLARE(baseline)
#if defined(__x86_64__)
SINTER_NETWORK_DECLARE(avx2)
SINTER_NETWORK_DECLARE(avx512)
#endif
#undef SINTER_NETWORK_DECLARE

/// Keys that the network takes for n elements: n, padded.
template <class Key>
int padded_network(std::int64_t n) noexcept {
  const auto whole = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(n)));
  return whole < network_lanes<Key> ? network_lanes<Key> : whole;
}

/// Elements that sort_row_by_network takes, and rows: not the shortest, which are sorted by counting.
template <class T>
inline constexpr bool has_network = (sizeof(T) == 4 || sizeof(T) == 8) && !is_complex_element<T>;
/// Vectors of 32 bytes and more take longer rows faster than a radix sort's passes do, shorter ones only up to 1024.
bool has_wide_vectors() noexcept;
inline bool suits_network(std::int64_t n) noexcept {
  return n > 16 && (n <= 1024 || (n <= most_network_keys && has_wide_vectors()));
}

template <class T>
using network_integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

/// The elements as signed integers in the order of their bits, which are those of the elements after the same again.
template <class T>
auto network_key(T x, bool descending, bool is_signed) noexcept {
  using bits = uint_of<sizeof(T)>;
  constexpr bits sign = bits(1) << (8 * sizeof(T) - 1);
  auto b = std::bit_cast<bits>(x);
  if constexpr (std::is_floating_point_v<T>) {
    if (b & sign) b ^= bits(~sign);
  } else if (!is_signed) {
    b ^= sign;
  }
  return static_cast<std::make_signed_t<bits>>(descending ? bits(~b) : b);
}
template <class T, class Key>
T from_network_key(Key k, bool descending, bool is_signed) noexcept {
  using bits = uint_of<sizeof(T)>;
  constexpr bits sign = bits(1) << (8 * sizeof(T) - 1);
  auto b = static_cast<bits>(k);
  if (descending) b = bits(~b);
  if constexpr (std::is_floating_point_v<T>) {
    if (b & sign) b ^= bits(~sign);
  } else if (!is_signed) {
    b ^= sign;
  }
  return std::bit_cast<T>(b);
}

/// Sorts records for as many of which as there are suits_network holds.
inline void sort_records_by_network(std::uint64_t* records, std::int64_t n) noexcept {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  alignas(64) std::int64_t keys[most_network_keys];
  for (std::int64_t i = 0; i < n; ++i) keys[i] = static_cast<std::int64_t>(records[i] ^ sign);
  const int whole = padded_network<std::int64_t>(n);
  for (std::int64_t i = n; i < whole; ++i) keys[i] = static_cast<std::int64_t>(~sign);
  sort_network(keys, whole);
  for (std::int64_t i = 0; i < n; ++i) records[i] = static_cast<std::uint64_t>(keys[i]) ^ sign;
}

/// Sorts a row for which suits_network holds. False where bits are not the order of the elements: a NaN or a -0 among them.
template <class T>
bool sort_row_by_network(T* data, std::int64_t n, bool descending, bool is_signed) noexcept {
  using key = network_integer<T>;
  alignas(64) key keys[most_network_keys];
  bool ordered = true;
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      using bits = uint_of<sizeof(T)>;
      ordered &= data[i] == data[i] && std::bit_cast<bits>(data[i]) != bits(1) << (8 * sizeof(T) - 1);
    }
    keys[i] = network_key(data[i], descending, is_signed);
  }
  if (!ordered) return false;
  const int whole = padded_network<key>(n);
  for (std::int64_t i = n; i < whole; ++i) keys[i] = static_cast<key>(~std::make_unsigned_t<key>(0) >> 1);
  sort_network(keys, whole);
  for (std::int64_t i = 0; i < n; ++i) data[i] = from_network_key<T>(keys[i], descending, is_signed);
  return true;
}

}  // namespace sinter::cpu
