// Elements of a few ranks of rows, which are read only: those between two sampled keys are gathered and selected from.
// Short rows are sorted side by side instead, each in the lanes of its own.
#include <limits>
#include <type_traits>
#include <vector>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "backends/cpu/algorithms/rank_selection.hpp"

namespace sinter::cpu {
namespace {

using runtime::row_layout;
using std::int64_t;
using rank_list = std::span<const int64_t>;

constexpr int64_t least_gathered = 4096;  // shorter rows are partitioned in scratch memory
constexpr int most_gathers = 4;           // for rows with ranks further apart as well
constexpr double gather_time = 1.2;       // nanoseconds for an element

/// How many of `kth`, from the first, lie close enough to be selected from the same elements.
std::size_t neighbours_of(rank_list kth, int64_t n) {
  std::size_t count = 1;
  while (count < kth.size() && kth[count] - kth[0] <= n / 64) ++count;
  return count;
}

struct share_count {
  int64_t below, within;
};

/// Sums of what f(begin, end) counts in shares of [0, n).
template <class F>
share_count sum_of_shares(int64_t n, int threads, const F& f) {
  const shares parts(n, std::min(threads, most_shares / 4));
  std::array<share_count, most_shares> counts;
  runtime::parallel_for(parts.count, bracket_time * static_cast<double>(n),
                        [&](int64_t p) { counts[static_cast<std::size_t>(p)] = f(parts.begin(p), parts.end(p)); });
  share_count sum{0, 0};
  for (int64_t p = 0; p < parts.count; ++p) {
    sum.below += counts[static_cast<std::size_t>(p)].below;
    sum.within += counts[static_cast<std::size_t>(p)].within;
  }
  return sum;
}

template <class T, class Key>
T element_with(const T* from, int64_t n, ordering<T> order, Key key) {
  return *std::find_if(from, from + n, [&](const T& x) { return order(x) == key; });
}

/// The last element of the order.
template <class T>
T last_of(const T* from, int64_t n, ordering<T> order, int threads) {
  using Key = typename ordering<T>::key;
  const shares parts(n, std::min(threads, most_shares / 4));
  std::array<Key, most_shares> greatest;
  runtime::parallel_for(parts.count, bracket_time * static_cast<double>(n), [&](int64_t p) {
    Key most = 0;
    for (int64_t i = parts.begin(p); i < parts.end(p); ++i) most = std::max<Key>(most, order(from[i]));
    greatest[static_cast<std::size_t>(p)] = most;
  });
  return element_with(from, n, order, *std::max_element(greatest.begin(), greatest.begin() + parts.count));
}

/// Whether the elements of one key have the ranks `kth`.
template <class T, class Key>
bool are_of_key(const T* from, int64_t n, ordering<T> order, rank_list kth, int threads, Key key) {
  const share_count c = sum_of_shares(n, threads, [=](int64_t begin, int64_t end) {
    share_count mine{0, 0};
    for (int64_t i = begin; i < end; ++i) {
      const Key k = order(from[i]);
      mine.below += k < key;
      mine.within += k == key;
    }
    return mine;
  });
  return c.below <= kth.front() && kth.back() < c.below + c.within;
}

/// Of a row's shares, the elements with keys of `b` to `held`, in the row's order, if they have the ranks `kth`; returns
/// how many elements have lesser keys and how many these are, none if they do not have the ranks.
template <class T, class Key>
share_count gather(const T* from, int64_t n, ordering<T> order, rank_list kth, int threads, const key_bracket<Key>& b,
                   T* held) {
  const shares parts(n, std::min(threads, most_shares / 4));
  std::array<share_count, most_shares> counts;
  runtime::parallel_for(parts.count, gather_time * static_cast<double>(n), [&](int64_t p) {
    T* const mine = held + parts.begin(p);
    int64_t below = 0, within = 0;
    for (int64_t i = parts.begin(p); i < parts.end(p); ++i) {
      const T x = from[i];
      const Key k = order(x);
      mine[within] = x;
      below += k < b.low;
      within += static_cast<int64_t>(k >= b.low) & static_cast<int64_t>(k <= b.high);
    }
    counts[static_cast<std::size_t>(p)] = {below, within};
  });
  share_count sum{0, 0};
  for (int64_t p = 0; p < parts.count; ++p) {
    sum.below += counts[static_cast<std::size_t>(p)].below;
    sum.within += counts[static_cast<std::size_t>(p)].within;
  }
  if (sum.below > kth.front() || kth.back() >= sum.below + sum.within) return {0, 0};
  T* to = held;
  for (int64_t p = 0; p < parts.count; ++p) {
    const T* const mine = held + parts.begin(p);
    to = std::copy(mine, mine + counts[static_cast<std::size_t>(p)].within, to);
  }
  return sum;
}

/// The elements of neighbouring ranks.
template <class T, class Key>
void select_near(const T* from, int64_t n, ordering<T> order, rank_list kth, int threads, const key_sample<Key>& sample,
                 T* held, T* to) {
  if (kth.front() == n - 1) {
    *to = last_of(from, n, order, threads);
    return;
  }
  const key_bracket<Key> b = sample.bracket(kth.front(), kth.back());
  // Beyond the ends of the sample there may be other keys, but hardly many.
  const Key first = sample.keys[0], last = sample.keys[static_cast<std::size_t>(sample.count - 1)];
  const bool is_one = b.low == b.high || b.high == first || b.low == last;
  const Key only = b.low == last ? last : b.high;
  if (is_one && are_of_key(from, n, order, kth, threads, only)) {
    std::fill_n(to, kth.size(), element_with(from, n, order, only));
    return;
  }
  share_count found = gather(from, n, order, kth, threads, b, held);
  if (found.within == 0) {
    std::copy_n(from, n, held);
    found.within = n;
  }
  T* begin = held;
  for (const int64_t k : kth) {
    T* const at = held + (k - found.below);
    select_rank(begin, at, held + found.within, order);
    *to++ = *at;
    begin = at + 1;
  }
}

/// One row. `held`: n elements.
template <class T>
void find_in_row(const T* from, int64_t n, ordering<T> order, rank_list kth, int threads, T* held, T* to) {
  int gathers = 0;
  for (std::size_t k = 0; k < kth.size(); k += neighbours_of(kth.subspan(k), n)) ++gathers;
  if (n < least_gathered || gathers > most_gathers) {
    partition_elements(from, n, order, kth, threads, held);
    for (const int64_t k : kth) *to++ = held[k];
    return;
  }
  const key_sample<typename ordering<T>::key> sample(n, [=](int64_t i) { return order(from[i]); });
  for (std::size_t k = 0; k < kth.size();) {
    const std::size_t count = neighbours_of(kth.subspan(k), n);
    select_near(from, n, order, kth.subspan(k, count), threads, sample, held, to + k);
    k += count;
  }
}

/// Elements that are sorted side by side as integers: not halves, which have two zeros and NaN in two bytes, nor pairs.
template <class T>
inline constexpr bool has_planes = !is_complex_element<T> && !std::is_same_v<T, half> && !std::is_same_v<T, bfloat>;
bool suit_planes(const row_layout& l) {
  return l.columns <= most_side_by_side && l.rows >= rows_side_by_side<std::int32_t> && !is_complex(l.type) &&
         l.type != dtype::f16 && l.type != dtype::bf16;
}

/// As many rows as a plane has lanes.
template <class T>
class rows_in_planes {
  using key = std::conditional_t<sizeof(T) == 8, int64_t, std::int32_t>;

 public:
  static constexpr int lanes = rows_side_by_side<key>;

  rows_in_planes(const row_layout& l, rank_list kth)
      : order_(l.type, false), columns_(static_cast<int>(l.columns)), kth_(kth) {}

  void find(const T* from, T* to) const {
    alignas(64) key planes[most_side_by_side * lanes];
    for (int r = 0; r < lanes; ++r)
      for (int j = 0; j < columns_; ++j) planes[j * lanes + r] = key_of(from[r * columns_ + j]);
    if (!sort_columns(planes, columns_, flipped, infinity())) return find_one_by_one(from, to);
    for (int r = 0; r < lanes; ++r)
      for (const int64_t k : kth_) *to++ = element_of(planes[k * lanes + r]);
  }

 private:
  static constexpr bool is_small = sizeof(T) < sizeof(key), is_floating = std::is_floating_point_v<T>;
  static constexpr key flipped = is_small || is_floating ? key(0) : std::numeric_limits<key>::min();

  static constexpr key infinity() {
    if constexpr (is_floating) return std::bit_cast<key>(std::numeric_limits<T>::infinity());
    else return 0;
  }
  key key_of(T x) const {
    if constexpr (is_floating) return std::bit_cast<key>(x);
    else return static_cast<key>(order_(x));
  }
  T element_of(key k) const {
    if constexpr (is_floating) return std::bit_cast<T>(k);
    else return static_cast<T>(static_cast<T>(k) ^ order_.flipped);
  }
  void find_one_by_one(const T* from, T* to) const {
    T held[most_side_by_side];
    for (int r = 0; r < lanes; ++r)
      find_in_row(from + r * columns_, columns_, order_, kth_, 1, held, to + r * static_cast<int64_t>(kth_.size()));
  }

  ordering<T> order_;
  int columns_;
  rank_list kth_;
};

/// Whole groups of short rows; returns how many rows these are.
template <class T>
int64_t find_in_groups(const row_layout& l, rank_list kth, const T* from, T* to) {
  constexpr double element_time = 1;  // nanoseconds
  const rows_in_planes<T> rows(l, kth);
  const int64_t groups = l.rows / rows.lanes, count = static_cast<int64_t>(kth.size());
  const shares parts(groups, runtime::thread_count(), 1);
  runtime::parallel_for(parts.count, element_time * static_cast<double>(groups * rows.lanes * l.columns),
                        [&](int64_t p) {
                          for (int64_t g = parts.begin(p); g < parts.end(p); ++g)
                            rows.find(from + g * rows.lanes * l.columns, to + g * rows.lanes * count);
                        });
  return groups * rows.lanes;
}

constexpr int64_t longest_own = 1 << 16;  // longer rows are selected from where they are, by several threads

template <class T>
bool is_nan(const T& x) {
  return x != x;
}

/// One row: its numbers go to `numbers`, are partitioned into `held`, and the ranks are looked up there.
template <class T>
void find_own_in_row(const T* from, int64_t n, ordering<T> order, rank_list ranks, T* numbers, T* held, T* to) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T x = from[i];
    numbers[count] = x;
    count += !is_nan(x);
  }
  std::vector<int64_t> wanted;
  for (const int64_t k : ranks)
    if (k < count) wanted.push_back(k);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  if (!wanted.empty()) partition_elements(numbers, count, order, rank_list(wanted), 1, held);
  for (const int64_t k : ranks) *to++ = k < count ? held[k] : *std::find_if(from, from + n, is_nan<T>);
}

std::size_t held_bytes(const row_layout& l) { return static_cast<std::size_t>(l.columns) * itemsize(l.type); }

}  // namespace

bool cpu_algorithms::finds_own_ranks(const row_layout& l) const {
  return is_real_floating(l.type) && l.rows > 1 && l.columns < longest_own;
}

std::size_t cpu_algorithms::own_ranks_scratch(const row_layout& l) {
  return 2 * static_cast<std::size_t>(row_slots(l)) * held_bytes(l);
}

void cpu_algorithms::find_own_ranks(const row_layout& l, int64_t count, const int64_t* ranks, const void* from,
                                    void* to, void* scratch) {
  with_sorted_type(l.type, [&]<class T>(T) {
    const ordering<T> order(l.type, false);
    for_each_row(l, scratch, 2 * held_bytes(l), [&](int64_t row, void* mine, int) {
      auto* const numbers = static_cast<T*>(mine);
      find_own_in_row(static_cast<const T*>(from) + row * l.columns, l.columns, order,
                      rank_list(ranks + row * count, static_cast<std::size_t>(count)), numbers, numbers + l.columns,
                      static_cast<T*>(to) + row * count);
    });
  });
}

int64_t cpu_algorithms::most_ranks(const row_layout& l) const { return suit_planes(l) ? l.columns : l.columns / 8; }

std::size_t cpu_algorithms::find_ranks_scratch(const row_layout& l, int64_t) {
  return static_cast<std::size_t>(row_slots(l)) * held_bytes(l);
}

void cpu_algorithms::find_ranks(const row_layout& l, rank_list kth, const void* from, void* to, void* scratch) {
  with_sorted_type(l.type, [&]<class T>(T) {
    const auto count = static_cast<int64_t>(kth.size());
    const auto* const elements = static_cast<const T*>(from);
    T* const found = static_cast<T*>(to);
    int64_t done = 0;
    if constexpr (has_planes<T>)
      if (suit_planes(l)) done = find_in_groups(l, kth, elements, found);
    const ordering<T> order(l.type, false);
    for_each_row({l.type, l.rows - done, l.columns}, scratch, held_bytes(l), [&](int64_t row, void* mine, int threads) {
      find_in_row(elements + (done + row) * l.columns, l.columns, order, kth, threads, static_cast<T*>(mine),
                  found + (done + row) * count);
    });
  });
}

}  // namespace sinter::cpu
