// The order of entries: grouped by one coordinate, sorted within rows, checked.
#include <atomic>
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/cpu/sparse/rows.hpp"
#include "backends/cpu/sparse/sparse.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using runtime::sparse_defect;
using runtime::sparse_entries;
using runtime::sparse_matrix;

/// About what it takes to move an entry, in nanoseconds.
constexpr double time_to_move = 4;

/// A stable counting sort. Each part of the entries counts its own, so that all know where to write.
template <class E, class I>
class grouping {
 public:
  grouping(const sparse_entries& e, std::int64_t majors, void* indptr, void* indices, void* data)
      : e_(e),
        majors_(majors),
        indptr_(static_cast<I*>(indptr)),
        indices_(static_cast<I*>(indices)),
        data_(static_cast<E*>(data)) {
    const std::int64_t most = std::max<std::int64_t>(1, e.count / (2 * majors + 1));
    parts_ = std::clamp<std::int64_t>(std::min<std::int64_t>(runtime::thread_count(), e.count / 32768), 1, most);
    if (!e.minor) rows_ = divided_rows(static_cast<const I*>(e.indptr), e.rows, parts_);
    counts_.assign(static_cast<std::size_t>(parts_ * majors_), 0);
  }
  void run() {
    const double time = time_to_move * static_cast<double>(e_.count);
    runtime::parallel_for(parts_, time / 2, [&](std::int64_t part) { count(part); });
    I total = 0;
    indptr_[0] = 0;
    for (std::int64_t m = 0; m < majors_; ++m) {
      for (std::int64_t part = 0; part < parts_; ++part)
        total += std::exchange(counts_[static_cast<std::size_t>(part * majors_ + m)], total);
      indptr_[m + 1] = total;
    }
    runtime::parallel_for(parts_, time, [&](std::int64_t part) { place(part); });
  }

 private:
  std::pair<std::int64_t, std::int64_t> entries_of(std::int64_t part) const {
    if (e_.minor) return {e_.count / parts_ * part, part + 1 == parts_ ? e_.count : e_.count / parts_ * (part + 1)};
    const I* const indptr = static_cast<const I*>(e_.indptr);
    const auto at = static_cast<std::size_t>(part);
    return {indptr[rows_[at]], indptr[rows_[at + 1]]};
  }
  I* next_of(std::int64_t part) { return counts_.data() + part * majors_; }
  void count(std::int64_t part) {
    I* const counts = next_of(part);
    const auto [first, last] = entries_of(part);
    const I* const major = static_cast<const I*>(e_.major);
    for (std::int64_t k = first; k < last; ++k) ++counts[major[k]];
  }
  void place(std::int64_t part) {
    I* const next = next_of(part);
    const I *const major = static_cast<const I*>(e_.major), *const minor = static_cast<const I*>(e_.minor);
    const E* const from = static_cast<const E*>(e_.data);
    const auto put = [&](std::int64_t k, I other) {
      const I to = next[major[k]]++;
      indices_[to] = other;
      data_[to] = from[k];
    };
    if (minor) {
      const auto [first, last] = entries_of(part);
      for (std::int64_t k = first; k < last; ++k) put(k, minor[k]);
      return;
    }
    const I* const indptr = static_cast<const I*>(e_.indptr);
    const auto at = static_cast<std::size_t>(part);
    for (std::int64_t r = rows_[at]; r < rows_[at + 1]; ++r)
      for (std::int64_t k = indptr[r]; k < indptr[r + 1]; ++k) put(k, static_cast<I>(r));
  }

  const sparse_entries& e_;
  std::int64_t majors_, parts_ = 1;
  I *indptr_, *indices_;
  E* data_;
  std::vector<std::int64_t> rows_;
  std::vector<I> counts_;  // of each part and major coordinate; then where its next entry goes
};

/// A column and a position in one number where both have 32 bits.
struct packed_key {
  std::uint64_t bits;
  packed_key() = default;
  packed_key(std::int32_t column, std::int64_t at)
      : bits(static_cast<std::uint64_t>(column) << 32 | static_cast<std::uint64_t>(at)) {}
  std::int32_t column() const { return static_cast<std::int32_t>(bits >> 32); }
  std::size_t at() const { return static_cast<std::uint32_t>(bits); }
  friend bool operator<(packed_key a, packed_key b) { return a.bits < b.bits; }
};
struct wide_key {
  std::int64_t first, second;
  wide_key() = default;
  wide_key(std::int64_t column, std::int64_t at) : first(column), second(at) {}
  std::int64_t column() const { return first; }
  std::size_t at() const { return static_cast<std::size_t>(second); }
  friend bool operator<(wide_key a, wide_key b) { return a.first != b.first ? a.first < b.first : a.second < b.second; }
};
template <class I>
using key_of = std::conditional_t<sizeof(I) == 4, packed_key, wide_key>;

/// Sorts one row; `order` and `moved` are memory that rows share.
template <class E, class I>
void sort_row(I* columns, E* data, std::int64_t count, std::vector<key_of<I>>& order, std::vector<E>& moved) {
  if (std::is_sorted(columns, columns + count)) return;
  if (count <= 24) {
    for (std::int64_t k = 1; k < count; ++k) {
      const I column = columns[k];
      const E value = data[k];
      std::int64_t at = k;
      for (; at > 0 && columns[at - 1] > column; --at) columns[at] = columns[at - 1], data[at] = data[at - 1];
      columns[at] = column, data[at] = value;
    }
    return;
  }
  order.resize(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) order[static_cast<std::size_t>(k)] = {columns[k], k};
  std::sort(order.begin(), order.end());  // by column, then position, which keeps equal ones in order
  moved.assign(data, data + count);
  for (std::int64_t k = 0; k < count; ++k) {
    columns[k] = order[static_cast<std::size_t>(k)].column();
    data[k] = moved[order[static_cast<std::size_t>(k)].at()];
  }
}

/// Calls f(part, first row, last row) for rows of about as many entries.
template <class I, class F>
void for_parts(const I* indptr, std::int64_t rows, std::int64_t entries, double time_of_entry, F&& f) {
  const std::int64_t parts = std::min(parts_of(entries, rows), rows);
  if (parts == 0) return;
  const std::vector<std::int64_t> first = divided_rows(indptr, rows, parts);
  runtime::parallel_for(parts, time_of_entry * static_cast<double>(entries + rows), [&](std::int64_t part) {
    const auto at = static_cast<std::size_t>(part);
    f(part, first[at], first[at + 1]);
  });
}

/// The first number of indptr that is less than the one before it; -1: none.
template <class I>
std::int64_t first_decrease(const I* indptr, std::int64_t rows) {
  constexpr std::int64_t block = 4096;  // is compared without an end in between, by vector instructions
  for (std::int64_t from = 0; from < rows; from += block) {
    const std::int64_t end = std::min(rows, from + block);
    I decreases = 0;
    for (std::int64_t r = from; r < end; ++r) decreases |= static_cast<I>(indptr[r + 1] < indptr[r]);
    if (decreases == 0) continue;
    std::int64_t r = from;
    while (indptr[r + 1] >= indptr[r]) ++r;
    return r + 1;
  }
  return -1;
}

/// Whether all numbers are from 0 to columns - 1.
template <class I>
bool are_below(const I* indices, std::int64_t count, I columns) {
  // A number below 0 or above the last one sets the first bit. Several numbers at a time, since steps of one vector wait for each other.
  using U = std::make_unsigned_t<I>;
  constexpr std::int64_t lanes = 32;
  U wrong[lanes] = {};
  const auto last = static_cast<U>(columns - 1);
  std::int64_t k = 0;
  for (; k + lanes <= count; k += lanes)
    for (std::int64_t j = 0; j < lanes; ++j)
      wrong[j] |= static_cast<U>(indices[k + j]) | (last - static_cast<U>(indices[k + j]));
  for (; k < count; ++k) wrong[0] |= static_cast<U>(indices[k]) | (last - static_cast<U>(indices[k]));
  U any = 0;
  for (const U w : wrong) any |= w;
  return any >> (8 * sizeof(I) - 1) == 0;
}

template <class I>
sparse_defect defect_of(const sparse_matrix& a) {
  const I *const indptr = static_cast<const I*>(a.indptr), *const indices = static_cast<const I*>(a.indices);
  if (const std::int64_t at = first_decrease(indptr, a.rows); at >= 0) return {at, indptr[at], true};
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max(), block = 1 << 16;
  std::atomic<std::int64_t> first{none};
  runtime::parallel_for((a.entries + block - 1) / block, 0.5 * static_cast<double>(a.entries), [&](std::int64_t b) {
    const std::int64_t end = std::min(a.entries, (b + 1) * block);
    if (are_below(indices + b * block, end - b * block, static_cast<I>(a.columns))) return;
    std::int64_t at = b * block;
    while (indices[at] >= 0 && indices[at] < a.columns) ++at;
    std::int64_t before = first.load();
    while (at < before && !first.compare_exchange_weak(before, at)) {
    }
  });
  if (first == none) return {};
  return {first, indices[first.load()], false};
}

}  // namespace

void cpu_sparse::group(const sparse_entries& e, std::int64_t majors, void* indptr, void* indices, void* data) {
  with_index(e.index, [&](auto index) {
    with_bytes(e.bytes, [&](auto element) {
      grouping<decltype(element), decltype(index)>(e, majors, indptr, indices, data).run();
    });
  });
}

void cpu_sparse::sort_rows(const sparse_matrix& a, std::size_t bytes, void* indices, void* data) {
  with_index(a.index, [&](auto index) {
    using I = decltype(index);
    with_bytes(bytes, [&](auto element) {
      using E = decltype(element);
      const I* const indptr = static_cast<const I*>(a.indptr);
      for_parts(indptr, a.rows, a.entries, 30, [&](std::int64_t, std::int64_t first, std::int64_t last) {
        std::vector<key_of<I>> order;
        std::vector<E> moved;
        for (std::int64_t r = first; r < last; ++r)
          sort_row(static_cast<I*>(indices) + indptr[r], static_cast<E*>(data) + indptr[r], indptr[r + 1] - indptr[r],
                   order, moved);
      });
    });
  });
}

sparse_defect cpu_sparse::find_defect(const sparse_matrix& a) const {
  sparse_defect found;
  with_index(a.index, [&](auto index) { found = defect_of<decltype(index)>(a); });
  return found;
}

int cpu_sparse::order(const sparse_matrix& a) const {
  std::atomic<int> least{2};
  with_index(a.index, [&](auto index) {
    using I = decltype(index);
    const I *const indptr = static_cast<const I*>(a.indptr), *const indices = static_cast<const I*>(a.indices);
    for_parts(indptr, a.rows, a.entries, 0.7, [&](std::int64_t, std::int64_t first, std::int64_t last) {
      int order = 2;
      for (std::int64_t r = first; r < last && order > 0; ++r)
        for (std::int64_t k = indptr[r] + 1; k < indptr[r + 1]; ++k)
          if (indices[k] <= indices[k - 1]) order = std::min(order, indices[k] == indices[k - 1] ? 1 : 0);
      int before = least.load();
      while (order < before && !least.compare_exchange_weak(before, order)) {
      }
    });
  });
  return least;
}

}  // namespace sinter::cpu
