// Sorting the elements of rows: the elements themselves are moved, by keys found on the way.
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "backends/cpu/algorithms/radix_sort.hpp"
#include "backends/cpu/algorithms/shares.hpp"
#include "backends/cpu/algorithms/sort_network.hpp"
#include "backends/cpu/algorithms/sort_rows.hpp"
#include "backends/cpu/algorithms/vector_sort.hpp"
#include "backends/cpu/kernels/transpose.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

void copy_bytes(const void* from, void* to, std::int64_t bytes) {
  constexpr double copy_time = 0.1;  // nanoseconds for a byte
  const shares parts(bytes, runtime::thread_count(), 1 << 16);
  runtime::parallel_for(parts.count, copy_time * static_cast<double>(bytes), [&](std::int64_t p) {
    std::memcpy(static_cast<char*>(to) + parts.begin(p), static_cast<const char*>(from) + parts.begin(p),
                static_cast<std::size_t>(parts.end(p) - parts.begin(p)));
  });
}

/// Whether the order of elements is that of their bits: no NaN and no -0 among them.
template <class T>
bool are_ordered(const T* data, std::int64_t n, int threads) {
  if constexpr (std::is_floating_point_v<T>) {
    using bits = uint_of<sizeof(T)>;
    constexpr bits sign = bits(1) << (8 * sizeof(T) - 1),
                   infinity = std::bit_cast<bits>(std::numeric_limits<T>::infinity());
    std::atomic<bool> found{false};
    const shares parts(n, threads);
    runtime::parallel_for(parts.count, 0.3 * static_cast<double>(n), [&](std::int64_t p) {
      bits other = 0;
      for (std::int64_t i = parts.begin(p); i < parts.end(p); ++i) {
        const auto b = std::bit_cast<bits>(data[i]);
        other |= bits((b & ~sign) > infinity) | bits(b == sign);
      }
      if (other) found = true;
    });
    return !found;
  }
  return true;
}

/// Sorts rows of one layout.
template <class T>
class row_sorter {
 public:
  row_sorter(const runtime::row_layout& l, bool descending)
      : order_(l.type, descending), columns_(l.columns), descending_(descending), signed_(is_signed_integer(l.type)) {}

  void sort_row(T* row, T* other, int threads) const {
    if constexpr (has_network<T>)
      if (suits_network(columns_) && sort_row_by_network(row, columns_, descending_, signed_)) return;
    if constexpr (has_network<T>) {
      if (has_wide_vectors() && are_ordered(row, columns_, threads)) {
        const vector_steps<T> steps{true, descending_, signed_};
        return radix_sorter<T, ordering<T>, vector_steps<T>>(order_, steps).sort(row, other, columns_, threads);
      }
    }
    radix_sorter<T, ordering<T>>(order_).sort(row, other, columns_, threads);
  }

  /// As many rows as a plane has lanes, of at most most_side_by_side elements; `from` may be `rows`.
  void sort_group(const T* from, T* rows) const requires has_network<T> {
    using key = network_integer<T>;
    constexpr int lanes = rows_side_by_side<key>;
    const int n = static_cast<int>(columns_);
    alignas(64) key planes[most_side_by_side * lanes];
    transpose(planes, lanes, from, n, n, lanes, sizeof(T));
    constexpr key sign = std::numeric_limits<key>::min();
    const key first = std::is_floating_point_v<T> || signed_ ? key(0) : sign;
    key infinity = 0;
    if constexpr (std::is_floating_point_v<T>) infinity = std::bit_cast<key>(std::numeric_limits<T>::infinity());
    if (sort_columns(planes, n, descending_ ? ~first : first, infinity))
      return transpose(rows, n, planes, lanes, lanes, n, sizeof(T));
    if (from != rows) std::memcpy(rows, from, static_cast<std::size_t>(lanes * columns_) * sizeof(T));
    T other[most_side_by_side];
    for (int r = 0; r < lanes; ++r) sort_row(rows + r * columns_, other, 1);
  }

 private:
  ordering<T> order_;
  std::int64_t columns_;
  bool descending_, signed_;
};

/// Sorts whole groups of rows side by side; returns how many rows these are.
template <class T>
std::int64_t sort_groups(const row_sorter<T>& sorter, const T* from, T* elements, const runtime::row_layout& l) {
  constexpr std::int64_t lanes = rows_side_by_side<network_integer<T>>;
  constexpr double element_time = 1;  // nanoseconds
  const std::int64_t groups = l.rows / lanes;
  const shares parts(groups, runtime::thread_count(), 1);
  runtime::parallel_for(parts.count, element_time * static_cast<double>(groups * lanes * l.columns),
                        [&](std::int64_t p) {
                          for (std::int64_t g = parts.begin(p); g < parts.end(p); ++g)
                            sorter.sort_group(from + g * lanes * l.columns, elements + g * lanes * l.columns);
                        });
  return groups * lanes;
}

}  // namespace

std::size_t cpu_algorithms::sort_scratch(const runtime::row_layout& l) {
  return static_cast<std::size_t>(row_slots(l) * l.columns) * itemsize(l.type);
}

void cpu_algorithms::sort(const runtime::row_layout& l, bool descending, const void* from, void* to, void* scratch) {
  const auto copy = [&](std::int64_t done) {
    const std::int64_t row = l.columns * static_cast<std::int64_t>(itemsize(l.type)), begin = done * row;
    if (from != to)
      copy_bytes(static_cast<const char*>(from) + begin, static_cast<char*>(to) + begin, (l.rows - done) * row);
  };
  if (l.rows == 0 || l.columns <= 1) return copy(0);
  with_sorted_type(l.type, [&]<class T>(T) {
    const row_sorter<T> sorter(l, descending);
    T* const elements = static_cast<T*>(to);
    std::int64_t done = 0;
    if constexpr (has_network<T>)
      if (l.columns <= most_side_by_side) done = sort_groups(sorter, static_cast<const T*>(from), elements, l);
    copy(done);
    for_each_row({l.type, l.rows - done, l.columns}, scratch, static_cast<std::size_t>(l.columns) * sizeof(T),
                 [&](std::int64_t row, void* other, int threads) {
                   sorter.sort_row(elements + (done + row) * l.columns, static_cast<T*>(other), threads);
                 });
  });
}

}  // namespace sinter::cpu
