// Partitions, and the first elements of an order.
#include "backends/cpu/algorithms/algorithms.hpp"
#include "backends/cpu/algorithms/sort_network.hpp"
#include "backends/cpu/algorithms/rank_selection.hpp"

namespace sinter::cpu {
namespace {

using runtime::row_layout;
using std::int64_t;

constexpr double select_time = 1.5;  // nanoseconds for an element

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

/// How many candidates for the first k elements are held before they are reduced to k: few, so that the first elements soon give a
/// bound for the others.
int64_t candidates_of(int64_t k) noexcept { return 2 * k + 64; }

/// So few first elements are held in order, each new one put in its place: most elements come after them and cost a comparison.
constexpr int64_t few_first = 16;

/// The first k of the elements [begin, end) for k up to few_first, in order; returns how many there are.
template <class T>
int64_t keep_few(const T* keys, const ordering<T>& order, int64_t begin, int64_t end, int64_t k,
                 ranked<typename ordering<T>::key>* held) {
  using key = typename ordering<T>::key;
  const auto put = [&](key of, int64_t i, int64_t place) {
    for (; place > 0 && of < held[place - 1].key; --place) held[place] = held[place - 1];
    held[place] = {of, i};
  };
  const int64_t count = std::min(end - begin, k);
  for (int64_t i = 0; i < count; ++i) put(order(keys[begin + i]), begin + i, i);
  if (count < k) return count;
  key bound = held[k - 1].key;  // a later element of this key comes after k others
  for (int64_t i = begin + k; i < end; ++i) {
    const key of = order(keys[i]);
    if (!(of < bound)) [[likely]]
      continue;
    put(of, i, k - 1);
    bound = held[k - 1].key;
  }
  return k;
}

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
    counts[static_cast<std::size_t>(p)] = k <= few_first
                                              ? keep_few(keys, order, parts.begin(p), parts.end(p), k, held + p * apart)
                                              : keep_first(parts.begin(p), parts.end(p), k, held + p * apart, key_at);
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

/// Whether sorting takes less time: many short rows.
bool sorts_rows(const row_layout& l) {
  return l.rows >= 4 * rows_side_by_side<int64_t> && l.columns <= most_side_by_side && !is_complex(l.type);
}
/// The same of the elements themselves: of those that are sorted side by side.
bool sorts_elements(const row_layout& l) { return sorts_rows(l) && itemsize(l.type) >= 4; }

}  // namespace

bool cpu_algorithms::can_partition(const row_layout& l) const { return l.columns > 1; }

std::size_t cpu_algorithms::partition_scratch(const row_layout& l, int64_t, bool positions) {
  if (positions) return sorts_rows(l) ? argsort_scratch(l) : 0;
  return sorts_elements(l) ? sort_scratch(l) : 0;
}

void cpu_algorithms::partition(const row_layout& l, std::span<const int64_t> kth, const void* from, void* to,
                               void* scratch) {
  if (sorts_elements(l)) return sort(l, false, from, to, scratch);
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
                                  void* scratch) {
  if (sorts_rows(l)) return argsort(l, false, keys, to, scratch);
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
