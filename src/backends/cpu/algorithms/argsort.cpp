// The permutations that sort rows. 64-bit records of a prefix of the key and, in the low bits, the index are sorted, so
// that their two buffers fit into the result and the scratch memory. Records of one prefix are then sorted by what the
// prefix leaves out of the key, with the same engine. Short keys are distributed instead, digit by digit.
#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "backends/cpu/algorithms/distributed_order.hpp"
#include "backends/cpu/algorithms/radix_sort.hpp"
#include "backends/cpu/algorithms/sort_network.hpp"
#include "backends/cpu/algorithms/sort_rows.hpp"
#include "backends/cpu/algorithms/vector_sort.hpp"
#include "backends/cpu/kernels/transpose.hpp"

namespace sinter::cpu {
namespace {

using runtime::row_layout;

constexpr std::int64_t longest_short_row = 512;  // whose records may lie on the stack

/// Calls fn(begin, end) for the shares of [0, n).
template <class F>
void for_shares(std::int64_t n, int threads, const F& fn) {
  const shares parts(n, threads);
  runtime::parallel_for(parts.count, pass_time * static_cast<double>(n),
                        [&](std::int64_t p) { fn(parts.begin(p), parts.end(p)); });
}

struct record_order {
  int index_bits;
  std::uint64_t operator()(std::uint64_t record) const noexcept { return record >> index_bits; }
};

/// Sorts the indices of one row by its keys.
template <class T>
class index_sorter {
 public:
  index_sorter(const T* keys, std::int64_t n, ordering<T> order)
      : keys_(keys), n_(n), order_(order), index_bits_(std::bit_width(static_cast<std::uint64_t>(n - 1))) {}

  /// The result comes to lie in `result`, n > 1 integers; `other` is as long.
  void sort(std::int64_t* result, std::uint64_t* other, int threads) const {
    auto* records = reinterpret_cast<std::uint64_t*>(result);  // the unsigned type may alias the signed one
    const auto index_at = [](std::int64_t i) { return static_cast<std::uint64_t>(i); };
    sort(records, other, n_, {key(0), 8 * static_cast<int>(sizeof(key))}, threads, index_at);
    for_shares(n_, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) records[i] = index(records[i]);
    });
  }

 private:
  using key = typename ordering<T>::key;

  /// The lowest `bits` bits of key - base remain to be sorted by.
  key key_of(std::uint64_t index, const key_range<key>& left) const noexcept {
    const key kept = key(key(~key(0)) >> (8 * static_cast<int>(sizeof(key)) - left.bits));
    return key(order_(keys_[index]) - left.base) & kept;
  }
  std::uint64_t index(std::uint64_t record) const noexcept { return record & ((std::uint64_t{1} << index_bits_) - 1); }

  /// Makes records of index_at(i), which ascends, and sorts them.
  template <class IndexAt>
  void sort(std::uint64_t* records, std::uint64_t* other, std::int64_t n, key_range<key> left, int threads,
            const IndexAt& index_at) const {
    const auto key_at = [&](std::int64_t i) { return key_of(index_at(i), left); };
    const auto range = find_key_range<key>(n, threads, key_at);
    const int prefix_bits = std::min(range.bits, 64 - index_bits_), rest = range.bits - prefix_bits;
    for_shares(n, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto prefix = static_cast<std::uint64_t>(key(key_at(i) - range.base) >> rest);
        records[i] = prefix << index_bits_ | index_at(i);
      }
    });
    // Records are sorted by their indices too, which keeps equal prefixes in order.
    const vector_steps<std::uint64_t> steps{has_wide_vectors(), false, false};
    const radix_sorter<std::uint64_t, record_order, vector_steps<std::uint64_t>> sorter(record_order{index_bits_},
                                                                                        steps);
    if (suits_network(n)) sort_records_by_network(records, n);
    else sorter.sort(records, other, n, {0, prefix_bits}, threads);
    if (rest > 0) sort_runs(records, other, n, {key(left.base + range.base), rest}, threads);
  }

  /// Sorts each run of records of one prefix by what is left of the keys.
  void sort_runs(std::uint64_t* records, std::uint64_t* other, std::int64_t n, key_range<key> left, int threads) const {
    const auto prefix_less = [&](std::uint64_t a, std::uint64_t b) { return a >> index_bits_ < b >> index_bits_; };
    const shares parts(n, threads);
    std::vector<std::int64_t> bounds{0};  // shares of whole runs
    for (std::int64_t p = 0; p < parts.count; ++p) {
      const std::uint64_t* last = records + parts.end(p) - 1;
      bounds.push_back(std::upper_bound(last, static_cast<const std::uint64_t*>(records + n), *last, prefix_less) -
                       records);
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> long_runs;
    std::mutex mutex;
    runtime::parallel_for(parts.count, 2 * pass_time * static_cast<double>(n), [&](std::int64_t p) {
      // Records from `end` on are another share's, which changes them.
      const std::int64_t end = bounds[static_cast<std::size_t>(p) + 1];
      for (std::int64_t i = bounds[static_cast<std::size_t>(p)], j; i < end; i = j) {
        const std::uint64_t prefix = records[i] >> index_bits_;
        for (j = i + 1; j < end && records[j] >> index_bits_ == prefix;) ++j;
        if (j - i == 1) continue;
        if (j - i <= longest_insertion) {
          insert(records + i, j - i, left);
        } else if (threads > 1 && j - i >= radix_sorter<std::uint64_t, record_order>::parallel_part) {
          std::lock_guard lock(mutex);
          long_runs.emplace_back(i, j);
        } else {
          sort_run(records + i, other + i, j - i, left, 1);
        }
      }
    });
    for (auto [begin, end] : long_runs) sort_run(records + begin, other + begin, end - begin, left, threads);
  }
  static constexpr std::int64_t longest_insertion = 16;

  void sort_run(std::uint64_t* records, std::uint64_t* other, std::int64_t n, key_range<key> left, int threads) const {
    sort(records, other, n, left, threads, [&](std::int64_t i) { return index(records[i]); });
  }

  void insert(std::uint64_t* records, std::int64_t n, const key_range<key>& left) const {
    key keys[longest_insertion];
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t r = records[i];
      const key k = key_of(index(r), left);
      std::int64_t at = i;
      for (; at > 0 && keys[at - 1] > k; --at) {
        keys[at] = keys[at - 1];
        records[at] = records[at - 1];
      }
      keys[at] = k;
      records[at] = r;
    }
  }

  const T* keys_;
  std::int64_t n_;
  ordering<T> order_;
  int index_bits_;
};

template <class T>
void distribute_bytes(const T* keys, std::int64_t n, ordering<T> order, std::int64_t* result, int threads) {
  distribute(
      n, 256, threads, [&](std::int64_t i) { return order(keys[i]); },
      [&](std::int64_t i, std::int64_t place) { result[place] = i; });
}

/// 16-bit keys: by the low byte to `scratch`, n indices and n high bytes, then by the high byte.
template <class Index, class T>
void distribute_pairs(const T* keys, std::int64_t n, ordering<T> order, std::int64_t* result, void* scratch,
                      int threads) {
  auto* index = static_cast<Index*>(scratch);
  auto* high = reinterpret_cast<std::uint8_t*>(index + n);
  distribute(
      n, 256, threads, [&](std::int64_t i) { return order(keys[i]) & 255; },
      [&](std::int64_t i, std::int64_t place) {
        index[place] = static_cast<Index>(i);
        high[place] = static_cast<std::uint8_t>(order(keys[i]) >> 8);
      });
  distribute(
      n, 256, threads, [&](std::int64_t i) { return high[i]; },
      [&](std::int64_t i, std::int64_t place) { result[place] = static_cast<std::int64_t>(index[i]); });
}

bool fits_32_bits(std::int64_t columns) noexcept { return columns <= std::int64_t{1} << 32; }

/// Scratch bytes of a row.
std::size_t row_bytes(const row_layout& l) noexcept {
  const auto n = static_cast<std::size_t>(l.columns);
  const std::size_t size = itemsize(l.type);
  if (size >= 4) return 8 * n;
  if (size == 1 || l.columns <= longest_short_row) return 0;
  return ((fits_32_bits(l.columns) ? 5 : 9) * n + 7) / 8 * 8;
}

template <class T>
void sort_row(const T* keys, std::int64_t n, ordering<T> order, std::int64_t* result, void* scratch, int threads) {
  if constexpr (sizeof(T) >= 4) {
    index_sorter<T>(keys, n, order).sort(result, static_cast<std::uint64_t*>(scratch), threads);
  } else if (n <= longest_short_row) {
    std::uint64_t other[longest_short_row];
    index_sorter<T>(keys, n, order).sort(result, other, 1);
  } else if constexpr (sizeof(T) == 1) {
    distribute_bytes(keys, n, order, result, threads);
  } else if (fits_32_bits(n)) {
    distribute_pairs<std::uint32_t>(keys, n, order, result, scratch, threads);
  } else {
    distribute_pairs<std::uint64_t>(keys, n, order, result, scratch, threads);
  }
}

/// As many rows as are sorted side by side, of keys of at most 32 bits: of one of 16 and less the high bits are 0.
template <class T>
void sort_index_group(const T* keys, std::int64_t columns, ordering<T> order, std::int64_t* result) {
  constexpr int lanes = rows_side_by_side<std::int64_t>;
  const int n = static_cast<int>(columns);
  std::int32_t rows[lanes * most_side_by_side], key_planes[lanes * most_side_by_side];
  alignas(64) std::int64_t planes[lanes * most_side_by_side];
  for (int i = 0; i < lanes * n; ++i)
    rows[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(order(keys[i])) ^ 0x80000000u);
  transpose(key_planes, lanes, rows, n, n, lanes, sizeof(std::int32_t));
  sort_indices(key_planes, planes, n);
  transpose(result, n, planes, lanes, lanes, n, sizeof(std::int64_t));
}

/// Puts indices that ascend by the high bits of their keys in order by all of them.
template <class T>
void finish_row(const T* keys, std::int64_t n, ordering<T> order, std::int64_t* indices) {
  for (std::int64_t i = 1; i < n; ++i) {
    const std::int64_t index = indices[i];
    const auto key = order(keys[index]);
    std::int64_t at = i;
    for (; at > 0; --at) {
      const auto before = order(keys[indices[at - 1]]);
      if (before < key || (before == key && indices[at - 1] < index)) break;
      indices[at] = indices[at - 1];
    }
    indices[at] = index;
  }
}

/// The same of keys of 64 bits, in records of their highest bits that differ within the group and the index.
template <class T>
void sort_wide_index_group(const T* keys, std::int64_t columns, ordering<T> order, std::int64_t* result) {
  constexpr int lanes = rows_side_by_side<std::int64_t>;
  const int n = static_cast<int>(columns), index_bits = std::bit_width(static_cast<unsigned>(n - 1));
  std::uint64_t rows[lanes * most_side_by_side];
  alignas(64) std::int64_t planes[lanes * most_side_by_side];
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  for (int i = 0; i < lanes * n; ++i) {
    rows[i] = order(keys[i]);
    low = std::min(low, rows[i]);
    high = std::max(high, rows[i]);
  }
  const int left_out = std::max(0, static_cast<int>(std::bit_width(high - low)) - (64 - index_bits));
  for (int r = 0; r < lanes; ++r)
    for (int i = 0; i < n; ++i)
      rows[r * n + i] = ((rows[r * n + i] - low) >> left_out) << index_bits | static_cast<std::uint64_t>(i);
  transpose(planes, lanes, rows, n, n, lanes, sizeof(std::uint64_t));
  sort_columns(planes, n, std::numeric_limits<std::int64_t>::min(), 0);
  std::uint64_t equal = 0;
  for (int i = lanes; i < lanes * n && left_out > 0; ++i)
    equal |= (static_cast<std::uint64_t>(planes[i] ^ planes[i - lanes]) >> index_bits) == 0;
  for (int i = 0; i < lanes * n; ++i) planes[i] &= (std::int64_t{1} << index_bits) - 1;
  transpose(result, n, planes, lanes, lanes, n, sizeof(std::int64_t));
  for (int r = 0; r < lanes && equal; ++r) finish_row(keys + r * n, n, order, result + r * n);
}

/// Sorts whole groups of rows side by side; returns how many rows these are.
template <class T>
std::int64_t sort_index_groups(const row_layout& l, const T* keys, ordering<T> order, std::int64_t* result) {
  constexpr std::int64_t lanes = rows_side_by_side<std::int64_t>;
  constexpr double element_time = 2;  // nanoseconds
  const std::int64_t groups = l.rows / lanes, each = lanes * l.columns;
  const shares parts(groups, runtime::thread_count(), 1);
  runtime::parallel_for(parts.count, element_time * static_cast<double>(groups * each), [&](std::int64_t p) {
    for (std::int64_t g = parts.begin(p); g < parts.end(p); ++g)
      if constexpr (sizeof(T) == 8) sort_wide_index_group(keys + g * each, l.columns, order, result + g * each);
      else sort_index_group(keys + g * each, l.columns, order, result + g * each);
  });
  return groups * lanes;
}

}  // namespace

std::size_t cpu_algorithms::argsort_scratch(const row_layout& l) {
  return static_cast<std::size_t>(row_slots(l)) * row_bytes(l);
}

void cpu_algorithms::argsort(const row_layout& l, bool descending, const void* keys, std::int64_t* result,
                             void* scratch) {
  if (l.rows == 0 || l.columns == 0) return;
  if (l.columns == 1) return std::fill_n(result, l.rows, std::int64_t{0}), void();
  with_sorted_type(l.type, [&]<class T>(T) {
    const ordering<T> order(l.type, descending);
    std::int64_t done = 0;
    if constexpr (sizeof(T) <= 4 || has_network<T>)
      if (are_indices_sorted_together(l)) done = sort_index_groups(l, static_cast<const T*>(keys), order, result);
    const row_layout rest{l.type, l.rows - done, l.columns};
    for_each_row(rest, scratch, row_bytes(l), [&](std::int64_t row, void* mine, int threads) {
      const std::int64_t first = (done + row) * l.columns;
      sort_row(static_cast<const T*>(keys) + first, l.columns, order, result + first, mine, threads);
    });
  });
}

std::size_t cpu_algorithms::random_order_scratch(std::int64_t n) { return argsort_scratch({dtype::u64, 1, n}); }

void cpu_algorithms::random_order(std::int64_t n, const std::uint64_t* keys, std::int64_t* result, void* scratch) {
  if (distributed_order::takes(n))
    return distributed_order(keys, n).sort(result, static_cast<std::int64_t*>(scratch), runtime::thread_count());
  argsort({dtype::u64, 1, n}, false, keys, result, scratch);
}

void cpu_algorithms::random_order_first(std::int64_t n, std::int64_t count, const std::uint64_t* keys,
                                        std::int64_t* result, void* scratch) {
  const bool found =
      distributed_order::takes(n) && distributed_order(keys, n).sort_first(
                                         count, result, static_cast<std::int64_t*>(scratch), runtime::thread_count());
  if (!found) random_order(n, keys, result, scratch);
}

}  // namespace sinter::cpu
