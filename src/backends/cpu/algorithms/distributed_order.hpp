// The order of random keys: they are dealt to many parts by their highest bits, which are as likely as each other, so that a part
// fits the first-level cache and is sorted there. Keys that are not random are sorted too, in parts of differing lengths.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "backends/cpu/algorithms/radix_sort.hpp"
#include "backends/cpu/algorithms/vector_sort.hpp"

namespace sinter::cpu {

/// The permutation that sorts keys, equal ones by their positions. A record is 63 bits of what follows the part's bits in a key,
/// of which the lowest give way to the position, so that records are never negative.
class distributed_order {
 public:
  static bool takes(std::int64_t n) noexcept { return has_wide_vectors() && n >= 4096 && n <= std::int64_t{1} << 32; }

  distributed_order(const std::uint64_t* keys, std::int64_t n) noexcept
      : keys_(keys), n_(n), index_bits_(std::bit_width(static_cast<std::uint64_t>(n - 1))) {
    while (part_bits_ < most_part_bits && n_ >> part_bits_ > part_length) ++part_bits_;
  }

  /// `other` is as long as the result.
  void sort(std::int64_t* result, std::int64_t* other, int threads) const {
    const std::int64_t all = std::int64_t{1} << part_bits_;
    sort_parts(dealt(all, other, threads), all, result, other, threads);
  }

  /// The first `count` elements, and some that follow, if the keys are as random as they should be; else false.
  bool sort_first(std::int64_t count, std::int64_t* result, std::int64_t* other, int threads) const {
    const std::int64_t all = std::int64_t{1} << part_bits_;
    const double most = static_cast<double>(count) + 6 * std::sqrt(static_cast<double>(count)) + 64;
    const auto last = static_cast<std::int64_t>(std::ceil(most / static_cast<double>(n_) * static_cast<double>(all)));
    if (last >= all) return false;
    const std::vector<std::int64_t> begins = dealt(last + 1, other, threads);  // the last part is of all other keys
    if (begins[static_cast<std::size_t>(last)] < count) return false;
    sort_parts(begins, last, result, other, threads);
    return true;
  }

 private:
  static constexpr std::int64_t part_length = 1024;
  static constexpr int most_part_bits = 11;
  static constexpr double sort_time = 4;  // nanoseconds for a record

  /// Deals the records to parts, of which the last one takes what is left.
  std::vector<std::int64_t> dealt(std::int64_t parts, std::int64_t* to, int threads) const {
    return distribute(
        n_, parts, threads,
        [&](std::int64_t i) { return std::min(static_cast<std::int64_t>(keys_[i] >> (64 - part_bits_)), parts - 1); },
        [&](std::int64_t i, std::int64_t place) { to[place] = record(i); });
  }

  void sort_parts(const std::vector<std::int64_t>& begins, std::int64_t count, std::int64_t* result,
                  std::int64_t* other, int threads) const {
    const shares parts(count, threads, 1);
    runtime::parallel_for(parts.count, sort_time * static_cast<double>(n_), [&](std::int64_t p) {
      for (std::int64_t k = parts.begin(p); k < parts.end(p); ++k) {
        const std::int64_t begin = begins[static_cast<std::size_t>(k)], end = begins[static_cast<std::size_t>(k) + 1];
        if (begin == end) continue;
        vector_sort(other + begin, result + begin, end - begin, true);
        settle_equal(result + begin, end - begin);
      }
    });
  }

  std::int64_t record(std::int64_t i) const noexcept {
    const std::uint64_t rest = keys_[i] << part_bits_ >> 1 >> index_bits_ << index_bits_;
    return static_cast<std::int64_t>(rest | static_cast<std::uint64_t>(i));
  }
  /// Leaves the positions; those of records with equal bits of keys go by what these leave out.
  void settle_equal(std::int64_t* records, std::int64_t n) const {
    const std::int64_t index = (std::int64_t{1} << index_bits_) - 1;
    const auto less = [&](std::int64_t a, std::int64_t b) {
      const std::uint64_t x = keys_[a], y = keys_[b];
      return x < y || (x == y && a < b);
    };
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t bits = records[i] & ~index;
      std::int64_t end = i;
      for (; end < n && (records[end] & ~index) == bits; ++end) records[end] &= index;
      if (end - i > 1) std::sort(records + i, records + end, less);
      i = end;
    }
  }

  const std::uint64_t* keys_;
  std::int64_t n_;
  int index_bits_, part_bits_ = 1;
};

}  // namespace sinter::cpu
