// Partitions, and the first elements of an order. Short rows are sorted by the network. Of long ones two sampled keys, between which the wanted ranks lie almost certainly,
// divide a row in one pass; what lies between them, a twentieth of a long row, is selected from element by element.
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "backends/cpu/algorithms/sort_keys.hpp"
#include "backends/cpu/algorithms/sort_network.hpp"
#include "backends/cpu/algorithms/sort_rows.hpp"

namespace sinter::cpu {
namespace {

using runtime::row_layout;
using std::int64_t;

// Nanoseconds for an element.
constexpr double bracket_time = 0.5, move_time = 1.5, select_time = 1.5;
constexpr int64_t most_samples = 4096;
constexpr int64_t least_bracketed = 1024;  // shorter rows are selected from as a whole
constexpr int most_shares = 256;

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
  int place(Key k) const noexcept { return (k >= low) + (k > high); }
};

/// Keys between which the elements of ranks [first, last] lie, unless the sample misleads.
template <class Key, class KeyAt>
key_bracket<Key> sampled_bracket(int64_t n, int64_t first, int64_t last, const KeyAt& key_at) {
  const int64_t count = std::min(most_samples, n / 16), step = n / count;
  std::array<Key, most_samples> sample;
  for (int64_t i = 0; i < count; ++i) sample[static_cast<std::size_t>(i)] = key_at(i * step + step / 2);
  std::sort(sample.begin(), sample.begin() + count);
  const auto share = [&](int64_t rank) { return static_cast<double>(rank) / static_cast<double>(n); };
  const auto slack = static_cast<int64_t>(1.5 * std::sqrt(static_cast<double>(count))) + 1;  // three deviations
  const int64_t low = static_cast<int64_t>(share(first) * static_cast<double>(count)) - slack;
  const int64_t high = static_cast<int64_t>(share(last) * static_cast<double>(count)) + slack;
  return {low < 0 ? Key(0) : sample[static_cast<std::size_t>(low)],
          high >= count ? Key(~Key(0)) : sample[static_cast<std::size_t>(high)]};
}

/// The counts of a share's elements below and within the bracket, then where those of each place begin.
struct share_counts {
  int64_t begin[3];
};

/// One row. put(place, i) writes element i; `key_at` is its key, key(x) that of what has been written.
template <class Key, class Item, class KeyAt, class Put, class KeyOf>
void partition_row(int64_t n, std::span<const int64_t> kth, int threads, Item* to, const KeyAt& key_at, const Put& put,
                   const KeyOf& key) {
  if (n < least_bracketed) {
    for (int64_t i = 0; i < n; ++i) put(i, i);
    int64_t begin = 0;
    for (const int64_t k : kth) {
      select_rank(to + begin, to + k, to + n, key);
      begin = k + 1;
    }
    return;
  }
  int64_t begin = 0, end = n;
  bool are_equal = false;
  const shares parts(n, std::min(threads, most_shares / 4));
  std::array<share_counts, most_shares> counts;
  const auto bracket = sampled_bracket<Key>(n, kth.front(), kth.back(), key_at);
  const auto for_shares = [&](double time, const auto& f) {
    runtime::parallel_for(parts.count, time * static_cast<double>(n),
                          [&](int64_t p) { f(counts[static_cast<std::size_t>(p)], parts.begin(p), parts.end(p)); });
  };
  for_shares(bracket_time, [&](share_counts& mine, int64_t from, int64_t until) {
    int64_t below = 0, above = 0;
    for (int64_t i = from; i < until; ++i) {
      const Key k = key_at(i);
      below += k < bracket.low;
      above += k > bracket.high;
    }
    mine = {{below, until - from - below - above, above}};
  });
  int64_t place = 0, starts[3];
  for (int c = 0; c < 3; ++c) {
    starts[c] = place;
    for (int64_t p = 0; p < parts.count; ++p)
      place += std::exchange(counts[static_cast<std::size_t>(p)].begin[c], place);
  }
  if (starts[1] <= kth.front() && kth.back() < starts[2]) {
    begin = starts[1];
    end = starts[2];
    are_equal = bracket.low == bracket.high;
  }
  for_shares(move_time, [&](const share_counts& mine, int64_t from, int64_t until) {
    int64_t low = mine.begin[0], middle = mine.begin[1], high = mine.begin[2];
    for (int64_t i = from; i < until; ++i) {
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
  for (const int64_t k : kth) {
    select_rank(to + begin, to + k, to + end, key);
    begin = k + 1;
  }
}

template <class T>
void partition_elements(const T* from, int64_t n, ordering<T> order, std::span<const int64_t> kth, int threads, T* to) {
  if constexpr (has_network<T>) {
    if (suits_network(n)) {
      std::copy_n(from, n, to);
      if (sort_row_by_network(to, n, false, order.flipped != 0)) return;
    }
  }
  partition_row<typename ordering<T>::key>(
      n, kth, threads, to, [=](int64_t i) { return order(from[i]); },
      [=](int64_t place, int64_t i) { to[place] = from[i]; }, order);
}

template <class T>
void partition_positions(const T* keys, int64_t n, ordering<T> order, std::span<const int64_t> kth, int threads,
                         int64_t* to) {
  const auto key_at = [=](int64_t i) { return order(keys[i]); };
  partition_row<typename ordering<T>::key>(
      n, kth, threads, to, key_at, [=](int64_t place, int64_t i) { to[place] = i; }, key_at);
}

/// An element of a row in the order of a stable sort.
template <class Key>
struct ranked {
  Key key;
  int64_t position;
  friend bool operator<(const ranked& a, const ranked& b) noexcept {
    return a.key < b.key || (a.key == b.key && a.position < b.position);
  }
};

/// Up to as many first elements are sorted with their keys; more are sorted faster by argsort().
constexpr int64_t longest_ordered = 1024;

/// How many candidates for the first k elements are held before they are reduced to k.
int64_t candidates_of(int64_t k) noexcept { return 2 * k + 1024; }

/// The first k of the elements [begin, end), in any order, to `held`; returns how many there are.
template <class Key, class KeyAt>
int64_t keep_first(int64_t begin, int64_t end, int64_t k, ranked<Key>* held, const KeyAt& key_at) {
  const int64_t most = candidates_of(k);
  int64_t count = std::min(end - begin, most);
  for (int64_t i = 0; i < count; ++i) held[i] = {key_at(begin + i), begin + i};
  for (int64_t i = begin + count; i < end;) {
    select_rank(held, held + k - 1, held + count, std::identity());
    const Key bound = held[k - 1].key;  // a later element of this key comes after k others
    for (count = k; i < end && count < most; ++i) {
      held[count] = {key_at(i), i};
      count += held[count].key < bound;
    }
  }
  if (count <= k) return count;
  select_rank(held, held + k - 1, held + count, std::identity());
  return k;
}

/// Shares of a row from each of which its first elements are taken.
shares shares_of(const row_layout& l, int64_t k, int threads) {
  return shares(l.columns, std::min(threads, most_shares / 4), std::max<int64_t>(1 << 14, 4 * candidates_of(k)));
}

/// Bytes of candidates for a row.
std::size_t candidate_bytes(const row_layout& l, int64_t k) {
  const std::size_t record = itemsize(l.type) < 8 ? 16 : itemsize(l.type) == 8 ? 16 : 32;
  return static_cast<std::size_t>(candidates_of(k)) * record;
}

template <class T>
void select_row(const T* keys, const row_layout& l, ordering<T> order, int64_t k, int64_t* result, void* scratch,
                int threads) {
  using record = ranked<typename ordering<T>::key>;
  auto* const held = static_cast<record*>(scratch);
  const auto key_at = [=](int64_t i) { return order(keys[i]); };
  const shares parts = shares_of(l, k, threads);
  const int64_t apart = candidates_of(k);
  std::array<int64_t, most_shares> counts;
  runtime::parallel_for(parts.count, select_time * static_cast<double>(l.columns), [&](int64_t p) {
    counts[static_cast<std::size_t>(p)] = keep_first(parts.begin(p), parts.end(p), k, held + p * apart, key_at);
  });
  int64_t count = counts[0];
  for (int64_t p = 1; p < parts.count; ++p) {
    const auto more = counts[static_cast<std::size_t>(p)];
    std::copy_n(held + p * apart, more, held + count);
    count += more;
  }
  if (count > k) select_rank(held, held + k - 1, held + count, std::identity());
  if (k <= longest_ordered) std::sort(held, held + k);
  for (int64_t i = 0; i < k; ++i) result[i] = held[i].position;
  if (k > longest_ordered) std::sort(result, result + k);
}

}  // namespace

bool cpu_algorithms::can_partition(const row_layout& l) const { return l.columns > 1; }

std::size_t cpu_algorithms::partition_scratch(const row_layout&, int64_t, bool) { return 0; }

void cpu_algorithms::partition(const row_layout& l, std::span<const int64_t> kth, const void* from, void* to, void*) {
  with_sorted_type(l.type, [&]<class T>(T) {
    const ordering<T> order(l.type, false);
    for_each_row(l, nullptr, 0, [&](int64_t row, void*, int threads) {
      const int64_t first = row * l.columns;
      partition_elements(static_cast<const T*>(from) + first, l.columns, order, kth, threads,
                         static_cast<T*>(to) + first);
    });
  });
}

void cpu_algorithms::argpartition(const row_layout& l, std::span<const int64_t> kth, const void* keys, int64_t* to,
                                  void*) {
  with_sorted_type(l.type, [&]<class T>(T) {
    const ordering<T> order(l.type, false);
    for_each_row(l, nullptr, 0, [&](int64_t row, void*, int threads) {
      const int64_t first = row * l.columns;
      partition_positions(static_cast<const T*>(keys) + first, l.columns, order, kth, threads, to + first);
    });
  });
}

bool cpu_algorithms::orders_first(const row_layout&, int64_t k) const { return k <= longest_ordered; }

std::size_t cpu_algorithms::select_first_scratch(const row_layout& l, int64_t k) {
  const int64_t parts = std::max<int64_t>(row_slots(l), shares_of(l, k, runtime::thread_count()).count);
  return static_cast<std::size_t>(parts) * candidate_bytes(l, k);
}

void cpu_algorithms::select_first(const row_layout& l, bool descending, int64_t k, const void* keys, int64_t* result,
                                  void* scratch) {
  with_sorted_type(l.type, [&]<class T>(T) {
    const ordering<T> order(l.type, descending);
    for_each_row(l, scratch, candidate_bytes(l, k), [&](int64_t row, void* mine, int threads) {
      select_row(static_cast<const T*>(keys) + row * l.columns, l, order, k, result + row * k, mine, threads);
    });
  });
}

}  // namespace sinter::cpu
