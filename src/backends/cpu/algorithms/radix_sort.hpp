// Stable sorting of records by unsigned keys, on one thread or many: the engine of sort and argsort.
//
// Records are partitioned by the highest bits in which their keys differ, then each part is sorted on its own: long
// parts by the next bits and so on, parts with few bits left by these bits from the lowest up, short parts by counting
// smaller keys. Equal keys keep their order, so there is one right result, whatever the number of threads.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "backends/cpu/algorithms/shares.hpp"
#include "backends/cpu/algorithms/sort_keys.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {

/// Nanoseconds for reading and moving an element.
inline constexpr double pass_time = 1;

template <class K>
int bit_width(K x) noexcept {
  if constexpr (sizeof(K) == 16) {
    const auto high = static_cast<std::uint64_t>(x >> 64);
    return high ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(x));
  } else {
    return std::bit_width(x);
  }
}

/// Keys in [base, base + 2^bits).
template <class K>
struct key_range {
  K base{};
  int bits = 0;
};

/// The range of key_at(i) for i in [0, n), n > 0.
template <class K, class KeyAt>
key_range<K> find_key_range(std::int64_t n, int threads, const KeyAt& key_at) {
  const auto extremes = [&](std::int64_t begin, std::int64_t end) {
    K low = key_at(begin), high = low;
    for (std::int64_t i = begin + 1; i < end; ++i) {
      const K k = key_at(i);
      low = k < low ? k : low;
      high = k > high ? k : high;
    }
    return std::pair<K, K>(low, high);
  };
  const auto range = [](K low, K high) { return key_range<K>{low, bit_width(K(high - low))}; };
  const shares parts(n, threads);
  if (parts.count == 1) {
    const auto [low, high] = extremes(0, n);
    return range(low, high);
  }
  std::vector<std::pair<K, K>> found(static_cast<std::size_t>(parts.count));
  runtime::parallel_for(parts.count, pass_time * static_cast<double>(n), [&](std::int64_t p) {
    found[static_cast<std::size_t>(p)] = extremes(parts.begin(p), parts.end(p));
  });
  auto [low, high] = found[0];
  for (auto& f : found) low = std::min(low, f.first), high = std::max(high, f.second);
  return range(low, high);
}

/// Partitions [0, n) stably by digit_at(i) < digits: calls put(i, place) for all i, `place` being the new position of
/// i. Returns where each digit begins, and n.
template <class DigitAt, class Put>
std::vector<std::int64_t> distribute(std::int64_t n, std::int64_t digits, int threads, const DigitAt& digit_at,
                                     const Put& put) {
  const shares parts(n, threads);
  std::vector<std::int64_t> places(static_cast<std::size_t>(parts.count * digits));
  runtime::parallel_for(parts.count, pass_time * static_cast<double>(n), [&](std::int64_t p) {
    std::int64_t* count = places.data() + p * digits;
    for (std::int64_t i = parts.begin(p), end = parts.end(p); i < end; ++i) ++count[digit_at(i)];
  });
  std::vector<std::int64_t> begins(static_cast<std::size_t>(digits) + 1);
  std::int64_t sum = 0;
  for (std::int64_t d = 0; d < digits; ++d) {
    begins[static_cast<std::size_t>(d)] = sum;
    for (std::int64_t p = 0; p < parts.count; ++p) {
      auto& place = places[static_cast<std::size_t>(p * digits + d)];
      place = std::exchange(sum, sum + place);
    }
  }
  begins.back() = n;
  runtime::parallel_for(parts.count, pass_time * static_cast<double>(n), [&](std::int64_t p) {
    std::int64_t* place = places.data() + p * digits;
    for (std::int64_t i = parts.begin(p), end = parts.end(p); i < end; ++i) put(i, place[digit_at(i)]++);
  });
  return begins;
}

/// Leaves every part to the radix sort.
struct radix_steps {
  template <class Record>
  bool operator()(Record*, Record*, std::int64_t, bool) const noexcept {
    return false;
  }
};

/// Sorts records by order(record), an unsigned integer. `steps(data, other, n, to_other)` may sort parts of one thread, as
/// sort_part does, or return false.
template <class Record, class Order, class Steps = radix_steps>
class radix_sorter {
 public:
  using key = decltype(std::declval<Order>()(std::declval<Record>()));
  explicit radix_sorter(Order order, Steps steps = {}) : order_(order), steps_(steps) {}

  /// Up to this many are sorted without looking for the range of their keys.
  static constexpr std::int64_t short_part = 64;
  /// From this many on, threads work together.
  static constexpr std::int64_t parallel_part = 1 << 16;

  /// data[0, n) in place; `other` is as long.
  void sort(Record* data, Record* other, std::int64_t n, int threads) const {
    if (n <= 1) return;
    if (n <= short_part && sizeof(key) <= 4) return sort_short(data, data, n, {0, 8 * int(sizeof(key))});
    if ((threads == 1 || n < parallel_part) && steps_(data, other, n, false)) return;
    const auto key_at = [&](std::int64_t i) { return order_(data[i]); };
    sort(data, other, n, find_key_range<key>(n, threads, key_at), threads);
  }
  void sort(Record* data, Record* other, std::int64_t n, key_range<key> range, int threads) const {
    if (threads > 1 && n >= parallel_part) sort_together(data, other, n, range, false, threads);
    else sort_part(data, other, n, range, false);
  }

 private:
  static constexpr std::int64_t cached_part = 1 << 16;  // random writes to this many are cheap
  static constexpr int digit_bits = 8, most_passes = 5;

  unsigned digit(const Record& r, key base, int shift, unsigned mask) const noexcept {
    return static_cast<unsigned>(key(order_(r) - base) >> shift) & mask;
  }

  static void move(Record* to, const Record* from, std::int64_t n) {
    if (to != from) std::memcpy(static_cast<void*>(to), from, static_cast<std::size_t>(n) * sizeof(Record));
  }

  // In the functions below the records are in `data`; they end up in `other` if to_other, else in `data`, and the other
  // one is overwritten.

  void sort_part(Record* data, Record* other, std::int64_t n, key_range<key> range, bool to_other) const {
    if (n <= 1 || range.bits == 0) return move(to_other ? other : data, data, n);
    if (n <= short_part) return sort_short(data, to_other ? other : data, n, range);
    if (steps_(data, other, n, to_other)) return;
    const int passes = (range.bits + digit_bits - 1) / digit_bits;
    const int levels = (std::bit_width(static_cast<std::uint64_t>(n)) - 4 + digit_bits - 1) / digit_bits;
    // Measured: three passes cost as much as what follows the last level of partitioning.
    const bool few_bits = passes <= std::min(levels + (n > 2 * short_part ? 3 : 0), most_passes);
    if (few_bits && n <= cached_part) sort_from_lowest(data, other, n, range, to_other, passes);
    else sort_from_highest(data, other, n, range, to_other);
  }

  /// Up to short_part records; `to` may be `from`. The position of each is the number of smaller ones, which vector
  /// code counts over 32 bits of the keys; where keys are wider, insertion sorts the rest.
  void sort_short(const Record* from, Record* to, std::int64_t n, key_range<key> range) const {
    constexpr int lanes = 16;
    const int shift = range.bits > 32 ? range.bits - 32 : 0;
    std::int32_t part[short_part] = {}, smaller[short_part];
    for (std::int64_t i = 0; i < n; ++i) {
      const auto high = static_cast<std::uint32_t>(key(order_(from[i]) - range.base) >> shift);
      part[i] = static_cast<std::int32_t>(high ^ 0x80000000u);  // vectors compare signed numbers
    }
    for (std::int64_t first = 0; first < n; first += lanes) {
      std::int32_t count[lanes] = {};
      for (std::int64_t j = 0; j < n; ++j) {
        const std::int32_t one = part[j];
        for (int l = 0; l < lanes; ++l) count[l] += one < part[first + l];
      }
      for (int l = 0; l < lanes; ++l) smaller[first + l] = count[l];
    }
    Record sorted[short_part];
    std::uint8_t equal[short_part] = {};
    for (std::int64_t i = 0; i < n; ++i) sorted[smaller[i] + equal[smaller[i]]++] = from[i];
    if (shift > 0) insert(sorted, n);
    move(to, sorted, n);
  }

  /// Insertion sort, for records that are nearly sorted.
  void insert(Record* data, std::int64_t n) const {
    key before = order_(data[0]);
    for (std::int64_t i = 1; i < n; ++i) {
      const Record r = data[i];
      const key k = order_(r);
      if (k >= before) {
        before = k;
        continue;
      }
      std::int64_t at = i;
      do data[at] = data[at - 1];
      while (--at > 0 && order_(data[at - 1]) > k);
      data[at] = r;
    }
  }

  void sort_from_lowest(Record* data, Record* other, std::int64_t n, key_range<key> range, bool to_other,
                        int passes) const {
    std::uint32_t counts[most_passes][1 << digit_bits];
    const int width = (range.bits + passes - 1) / passes;
    const unsigned mask = (1u << width) - 1;
    for (int p = 0; p < passes; ++p) std::fill_n(counts[p], mask + 1, 0u);
    for (std::int64_t i = 0; i < n; ++i) {
      const key k = key(order_(data[i]) - range.base);
      for (int p = 0; p < passes; ++p) ++counts[p][static_cast<unsigned>(k >> (p * width)) & mask];
    }
    Record *from = data, *to = other;
    for (int p = 0; p < passes; ++p) {
      std::uint32_t* place = counts[p];
      std::uint32_t sum = 0;
      bool all_equal = false;
      for (unsigned d = 0; d <= mask; ++d) {
        all_equal |= place[d] == n;
        place[d] = std::exchange(sum, sum + place[d]);
      }
      if (all_equal) continue;
      for (std::int64_t i = 0; i < n; ++i) to[place[digit(from[i], range.base, p * width, mask)]++] = from[i];
      std::swap(from, to);
    }
    move(to_other ? other : data, from, n);
  }

  void sort_from_highest(Record* data, Record* other, std::int64_t n, key_range<key> range, bool to_other) const {
    std::int64_t ends[1 << digit_bits];
    const int wanted = std::bit_width(static_cast<std::uint64_t>(n)) - 4;  // leaves some ten records to a part
    const int width = std::min({range.bits, wanted, digit_bits}), shift = range.bits - width;
    const unsigned mask = (1u << width) - 1;
    const auto rest = [&](unsigned d) { return key_range<key>{key(range.base + key(key(d) << shift)), shift}; };
    std::fill_n(ends, mask + 1, std::int64_t{0});
    for (std::int64_t i = 0; i < n; ++i) ++ends[digit(data[i], range.base, shift, mask)];
    std::int64_t sum = 0;
    for (unsigned d = 0; d <= mask; ++d) {
      if (ends[d] == n) return sort_part(data, other, n, rest(d), to_other);
      ends[d] = std::exchange(sum, sum + ends[d]);
    }
    for (std::int64_t i = 0; i < n; ++i) other[ends[digit(data[i], range.base, shift, mask)]++] = data[i];
    std::int64_t begin = 0;
    for (unsigned d = 0; d <= mask; ++d) {
      sort_part(other + begin, data + begin, ends[d] - begin, rest(d), !to_other);
      begin = ends[d];
    }
  }

  /// As sort_part; all threads partition the records, then each sorts some parts.
  void sort_together(Record* data, Record* other, std::int64_t n, key_range<key> range, bool to_other,
                     int threads) const {
    if (range.bits == 0) return move_together(to_other ? other : data, data, n, threads);
    const int width = std::min(range.bits, 10), shift = range.bits - width;
    const unsigned mask = (1u << width) - 1;
    const auto begins = distribute(
        n, std::int64_t{mask} + 1, threads, [&](std::int64_t i) { return digit(data[i], range.base, shift, mask); },
        [&](std::int64_t i, std::int64_t place) { other[place] = data[i]; });
    const auto sort_digits = [&](std::int64_t d, auto&& sort) {
      const std::int64_t begin = begins[static_cast<std::size_t>(d)], end = begins[static_cast<std::size_t>(d) + 1];
      sort(other + begin, data + begin, end - begin, key_range<key>{key(range.base + key(key(d) << shift)), shift});
    };
    // A part too long for one thread's share is partitioned again by all.
    const std::int64_t longest = std::max(parallel_part, n / (8 * threads));
    runtime::parallel_for(mask + 1, 4 * pass_time * static_cast<double>(n), [&](std::int64_t d) {
      sort_digits(d, [&](Record* from, Record* to, std::int64_t m, key_range<key> rest) {
        if (m < longest) sort_part(from, to, m, rest, !to_other);
      });
    });
    for (std::int64_t d = 0; d <= mask; ++d)
      sort_digits(d, [&](Record* from, Record* to, std::int64_t m, key_range<key> rest) {
        if (m >= longest) sort_together(from, to, m, rest, !to_other, threads);
      });
  }

  static void move_together(Record* to, const Record* from, std::int64_t n, int threads) {
    const shares parts(n, threads);
    runtime::parallel_for(parts.count, pass_time * static_cast<double>(n), [&](std::int64_t p) {
      move(to + parts.begin(p), from + parts.begin(p), parts.end(p) - parts.begin(p));
    });
  }

  Order order_;
  Steps steps_;
};

}  // namespace sinter::cpu
