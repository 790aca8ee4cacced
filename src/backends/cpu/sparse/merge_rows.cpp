// The places of two matrices side by side: either's, or those of both.
#include "backends/cpu/sparse/rows.hpp"
#include "backends/cpu/sparse/sparse.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using runtime::sparse_matrix;

/// Calls f(column, entry of a or -1, entry of b or -1) for the places of a row in order.
template <class I, class F>
void merge_row(const sparse_matrix& a, const sparse_matrix& b, bool common, std::int64_t r, F&& f) {
  const I *const of_a = static_cast<const I*>(a.indices), *const of_b = static_cast<const I*>(b.indices);
  std::int64_t i = static_cast<const I*>(a.indptr)[r], j = static_cast<const I*>(b.indptr)[r];
  const std::int64_t end_a = static_cast<const I*>(a.indptr)[r + 1], end_b = static_cast<const I*>(b.indptr)[r + 1];
  while (i < end_a && j < end_b) {
    if (of_a[i] == of_b[j]) {
      f(of_a[i], i, j);
      ++i, ++j;
    } else if (of_a[i] < of_b[j]) {
      if (!common) f(of_a[i], i, -1);
      ++i;
    } else {
      if (!common) f(of_b[j], -1, j);
      ++j;
    }
  }
  if (common) return;
  for (; i < end_a; ++i) f(of_a[i], i, -1);
  for (; j < end_b; ++j) f(of_b[j], -1, j);
}

template <class F>
void for_blocks(const sparse_matrix& a, const sparse_matrix& b, F&& f) {
  constexpr std::int64_t block = 1024;
  const double time = 3.0 * static_cast<double>(a.entries + b.entries) + static_cast<double>(a.rows);
  runtime::parallel_for((a.rows + block - 1) / block, time, [&](std::int64_t part) {
    const std::int64_t end = std::min(a.rows, (part + 1) * block);
    for (std::int64_t r = part * block; r < end; ++r) f(r);
  });
}

}  // namespace

std::int64_t cpu_sparse::count_merged(const sparse_matrix& a, const sparse_matrix& b, bool common,
                                      std::int64_t* indptr) {
  with_index(a.index, [&](auto index) {
    for_blocks(a, b, [&](std::int64_t r) {
      std::int64_t count = 0;
      merge_row<decltype(index)>(a, b, common, r, [&](auto, std::int64_t, std::int64_t) { ++count; });
      indptr[r + 1] = count;
    });
  });
  indptr[0] = 0;
  for (std::int64_t r = 0; r < a.rows; ++r) indptr[r + 1] += indptr[r];
  return indptr[a.rows];
}

void cpu_sparse::fill_merged(const sparse_matrix& a, const sparse_matrix& b, bool common, const std::int64_t* indptr,
                             void* indices, std::size_t bytes_a, void* of_a, std::size_t bytes_b, void* of_b) {
  const auto fill = [&](auto index, auto of_one, auto of_other) {
    using I = decltype(index);
    using A = decltype(of_one);
    using B = decltype(of_other);
    for_blocks(a, b, [&](std::int64_t r) {
      std::int64_t at = indptr[r];
      merge_row<I>(a, b, common, r, [&](I column, std::int64_t i, std::int64_t j) {
        static_cast<I*>(indices)[at] = column;
        static_cast<A*>(of_a)[at] = i < 0 ? A{} : static_cast<const A*>(a.data)[i];
        static_cast<B*>(of_b)[at++] = j < 0 ? B{} : static_cast<const B*>(b.data)[j];
      });
    });
  };
  with_index(a.index, [&](auto index) {
    with_bytes(bytes_a, [&](auto one) { with_bytes(bytes_b, [&](auto other) { fill(index, one, other); }); });
  });
}

}  // namespace sinter::cpu
