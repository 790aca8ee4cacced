// Elements of given ranks. Short rows are sorted by the network. Of long ones two sampled keys, between which the wanted
// ranks lie almost certainly, divide a row; what lies between them, a twentieth of a long row, is selected from element by
// element.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "backends/cpu/algorithms/sort_keys.hpp"
#include "backends/cpu/algorithms/sort_network.hpp"
#include "backends/cpu/algorithms/sort_rows.hpp"

namespace sinter::cpu {

// Nanoseconds for an element.
inline constexpr double bracket_time = 0.5, move_time = 1.5;
inline constexpr std::int64_t most_samples = 4096;
inline constexpr std::int64_t least_bracketed = 1024;  // shorter rows are selected from as a whole
inline constexpr int most_shares = 256;

/// Sorts a few elements.
template <class Item, class Key>
void sort_few(Item* begin, Item* end, const Key& key) {
  for (Item* at = begin; at < end; ++at) {
    const Item x = *at;
    const auto k = key(x);
    Item* to = at;
    for (; to > begin && k < key(to[-1]); --to) *to = to[-1];
    *to = x;
  }
}

/// Moves the elements whose keys are less than `pivot` (or, with `equal_too`, not greater) to the front, without a branch
/// that depends on them; returns their end.
template <bool equal_too, class Item, class Key, class Pivot>
Item* divide(Item* begin, Item* end, const Key& key, const Pivot& pivot) {
  Item* to = begin;
  for (Item* at = begin; at < end; ++at) {
    const Item x = *at;
    const bool in_front = equal_too ? !(pivot < key(x)) : key(x) < pivot;
    *at = *to;
    *to = x;
    to += in_front;
  }
  return to;
}

/// As std::nth_element by keys.
template <class Item, class Key>
void select_rank(Item* begin, Item* at, Item* end, const Key& key) {
  constexpr std::ptrdiff_t few = 16;
  for (int left = 2 * std::bit_width(static_cast<std::uint64_t>(end - begin)); end - begin > few; --left) {
    if (left == 0)
      return std::nth_element(begin, at, end, [&](const Item& a, const Item& b) { return key(a) < key(b); });
    const std::ptrdiff_t step = (end - begin) / 8;
    std::array<Item, 7> sample;
    for (int k = 0; k < 7; ++k) sample[static_cast<std::size_t>(k)] = begin[(k + 1) * step];
    sort_few(sample.data(), sample.data() + 7, key);
    const auto pivot = key(sample[3]);
    Item* const middle = divide<false>(begin, end, key, pivot);
    if (at < middle) {
      end = middle;
      continue;
    }
    begin = divide<true>(middle, end, key, pivot);
    if (at < begin) return;
  }
  sort_few(begin, end, key);
}

/// Keys that enclose those of the wanted ranks.
template <class Key>
struct key_bracket {
  Key low, high;
};

/// Some keys of a row, sorted.
template <class Key>
struct key_sample {
  std::int64_t n, count;
  std::array<Key, most_samples> keys;

  template <class KeyAt>
  key_sample(std::int64_t n, const KeyAt& key_at) : n(n), count(std::min(most_samples, n / 16)) {
    const std::int64_t step = n / count;
    for (std::int64_t i = 0; i < count; ++i) keys[static_cast<std::size_t>(i)] = key_at(i * step + step / 2);
    std::sort(keys.begin(), keys.begin() + count);
  }
  /// Keys between which the elements of ranks [first, last] lie, unless the sample misleads.
  key_bracket<Key> bracket(std::int64_t first, std::int64_t last) const {
    const auto share = [&](std::int64_t rank) { return static_cast<double>(rank) / static_cast<double>(n); };
    const auto slack = static_cast<std::int64_t>(1.5 * std::sqrt(static_cast<double>(count))) + 1;  // three deviations
    const std::int64_t low = static_cast<std::int64_t>(share(first) * static_cast<double>(count)) - slack;
    const std::int64_t high = static_cast<std::int64_t>(share(last) * static_cast<double>(count)) + slack;
    return {low < 0 ? Key(0) : keys[static_cast<std::size_t>(low)],
            high >= count ? Key(~Key(0)) : keys[static_cast<std::size_t>(high)]};
  }
};

/// The counts of a share's elements below and within the bracket, then where those of each place begin.
struct share_counts {
  std::int64_t begin[3];
};

/// One row. put(place, i) writes element i; `key_at` is its key, key(x) that of what has been written.
template <class Key, class Item, class KeyAt, class Put, class KeyOf>
void partition_row(std::int64_t n, std::span<const std::int64_t> kth, int threads, Item* to, const KeyAt& key_at,
                   const Put& put, const KeyOf& key) {
  if (n < least_bracketed) {
    for (std::int64_t i = 0; i < n; ++i) put(i, i);
    std::int64_t begin = 0;
    for (const std::int64_t k : kth) {
      select_rank(to + begin, to + k, to + n, key);
      begin = k + 1;
    }
    return;
  }
  std::int64_t begin = 0, end = n;
  bool are_equal = false;
  const shares parts(n, std::min(threads, most_shares / 4));
  std::array<share_counts, most_shares> counts;
  const auto bracket = key_sample<Key>(n, key_at).bracket(kth.front(), kth.back());
  const auto for_shares = [&](double time, const auto& f) {
    runtime::parallel_for(parts.count, time * static_cast<double>(n), [&](std::int64_t p) {
      f(counts[static_cast<std::size_t>(p)], parts.begin(p), parts.end(p));
    });
  };
  for_shares(bracket_time, [&](share_counts& mine, std::int64_t from, std::int64_t until) {
    std::int64_t below = 0, above = 0;
    for (std::int64_t i = from; i < until; ++i) {
      const Key k = key_at(i);
      below += k < bracket.low;
      above += k > bracket.high;
    }
    mine = {{below, until - from - below - above, above}};
  });
  std::int64_t place = 0, starts[3];
  for (int c = 0; c < 3; ++c) {
    starts[c] = place;
    for (std::int64_t p = 0; p < parts.count; ++p)
      place += std::exchange(counts[static_cast<std::size_t>(p)].begin[c], place);
  }
  if (starts[1] <= kth.front() && kth.back() < starts[2]) {
    begin = starts[1];
    end = starts[2];
    are_equal = bracket.low == bracket.high;
  }
  for_shares(move_time, [&](const share_counts& mine, std::int64_t from, std::int64_t until) {
    std::int64_t low = mine.begin[0], middle = mine.begin[1], high = mine.begin[2];
    for (std::int64_t i = from; i < until; ++i) {
      const Key k = key_at(i);
      const bool is_above = k > bracket.high;
      if (k >= bracket.low && !is_above) [[unlikely]] {
        put(middle++, i);
        continue;
      }
      put(is_above ? high : low, i);
      high += is_above;
      low += !is_above;
    }
  });
  if (are_equal) return;
  for (const std::int64_t k : kth) {
    select_rank(to + begin, to + k, to + end, key);
    begin = k + 1;
  }
}

template <class T>
void partition_elements(const T* from, std::int64_t n, ordering<T> order, std::span<const std::int64_t> kth,
                        int threads, T* to) {
  if constexpr (has_network<T>) {
    if (n <= 1024 && suits_network(n)) {  // longer rows are divided sooner than they are sorted
      std::copy_n(from, n, to);
      if (sort_row_by_network(to, n, false, order.flipped != 0)) return;
    }
  }
  partition_row<typename ordering<T>::key>(
      n, kth, threads, to, [=](std::int64_t i) { return order(from[i]); },
      [=](std::int64_t place, std::int64_t i) { to[place] = from[i]; }, order);
}

}  // namespace sinter::cpu
