// Sorting the elements of rows: the elements themselves are moved, by keys found on the way.
#include <cstring>

#include "backends/cpu/algorithms/algorithms.hpp"
#include "backends/cpu/algorithms/radix_sort.hpp"
#include "backends/cpu/algorithms/shares.hpp"
#include "backends/cpu/algorithms/sort_network.hpp"
#include "backends/cpu/algorithms/sort_rows.hpp"
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

}  // namespace

std::size_t cpu_algorithms::sort_scratch(const runtime::row_layout& l) {
  return static_cast<std::size_t>(row_slots(l) * l.columns) * itemsize(l.type);
}

void cpu_algorithms::sort(const runtime::row_layout& l, bool descending, const void* from, void* to, void* scratch) {
  if (from != to) copy_bytes(from, to, l.rows * l.columns * static_cast<std::int64_t>(itemsize(l.type)));
  if (l.rows == 0 || l.columns <= 1) return;
  with_sorted_type(l.type, [&]<class T>(T) {
    const radix_sorter<T, ordering<T>> sorter(ordering<T>(l.type, descending));
    for_each_row(l, scratch, static_cast<std::size_t>(l.columns) * sizeof(T),
                 [&](std::int64_t row, void* other, int threads) {
                   T* const elements = static_cast<T*>(to) + row * l.columns;
                   if constexpr (has_network<T>)
                     if (suits_network(l.columns) &&
                         sort_row_by_network(elements, l.columns, descending, is_signed_integer(l.type)))
                       return;
                   sorter.sort(elements, static_cast<T*>(other), l.columns, threads);
                 });
  });
}

}  // namespace sinter::cpu
