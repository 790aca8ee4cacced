// Distributing rows to threads, for sort and argsort, and rows that are sorted side by side.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/algorithms/shares.hpp"
#include "backends/cpu/algorithms/sort_network.hpp"
#include "runtime/algorithms/algorithms.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {

/// Rows that may be sorted at a time, each with scratch memory of its own.
inline std::int64_t row_slots(const runtime::row_layout& l) noexcept { return std::min<std::int64_t>(l.rows, 512); }

/// Calls sort_row(row, scratch, threads) for every row, either several rows at a time on one thread each or one after
/// the other on all threads. `row_bytes` is a row's part of the scratch memory, that of row_slots(l) such parts.
template <class SortRow>
void for_each_row(const runtime::row_layout& l, void* scratch, std::size_t row_bytes, const SortRow& sort_row) {
  constexpr std::int64_t long_row = 1 << 16;
  const int threads = runtime::thread_count();
  if (l.columns >= long_row && l.rows < 4 * std::int64_t{threads}) {
    for (std::int64_t r = 0; r < l.rows; ++r) sort_row(r, scratch, threads);
    return;
  }
  const std::int64_t slots = row_slots(l);
  const double time = 8 * static_cast<double>(l.rows) * static_cast<double>(l.columns);  // nanoseconds
  runtime::parallel_for(slots, time, [&](std::int64_t s) {
    void* mine = static_cast<char*>(scratch) + static_cast<std::size_t>(s) * row_bytes;
    for (std::int64_t r = l.rows * s / slots; r < l.rows * (s + 1) / slots; ++r) sort_row(r, mine, 1);
  });
}

/// Columns of rows whose indices are sorted side by side.
inline constexpr int most_wide_together = most_side_by_side;
inline bool are_indices_sorted_together(const runtime::row_layout& l) noexcept {
  return !is_complex(l.type) && l.columns <= (itemsize(l.type) == 8 ? most_wide_together : most_side_by_side);
}

}  // namespace sinter::cpu
