// Sorting the elements of rows: the elements themselves are moved, by keys found on the way.
#include "backends/cpu/algorithms/algorithms.hpp"
#include "backends/cpu/algorithms/radix_sort.hpp"
#include "backends/cpu/algorithms/sort_rows.hpp"

namespace sinter::cpu {

std::size_t cpu_algorithms::sort_scratch(const runtime::row_layout& l) {
  return static_cast<std::size_t>(row_slots(l) * l.columns) * itemsize(l.type);
}

void cpu_algorithms::sort(const runtime::row_layout& l, bool descending, void* data, void* scratch) {
  if (l.rows == 0 || l.columns <= 1) return;
  with_sorted_type(l.type, [&]<class T>(T) {
    const radix_sorter<T, ordering<T>> sorter(ordering<T>(l.type, descending));
    for_each_row(l, scratch, static_cast<std::size_t>(l.columns) * sizeof(T),
                 [&](std::int64_t row, void* other, int threads) {
                   sorter.sort(static_cast<T*>(data) + row * l.columns, static_cast<T*>(other), l.columns, threads);
                 });
  });
}

}  // namespace sinter::cpu
