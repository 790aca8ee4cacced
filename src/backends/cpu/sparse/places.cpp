// Elements by their places: some of a matrix, all of them in a dense one.
#include "backends/cpu/sparse/rows.hpp"
#include "backends/cpu/sparse/sparse.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using runtime::sparse_matrix;

/// Where the columns [from, end), which ascend strictly, have one; `end` where they do not.
template <class I>
const I* find_column(const I* from, const I* end, I column) {
  if (end - from > 32) {
    const I* const found = std::lower_bound(from, end, column);
    return found != end && *found == column ? found : end;
  }
  while (from < end && *from != column) ++from;  // short rows are looked through faster
  return from;
}

/// fn(first, last) for blocks of some size.
template <class F>
void for_blocks(std::int64_t count, std::int64_t block, double nanoseconds, F&& fn) {
  runtime::parallel_for((count + block - 1) / block, nanoseconds,
                        [&](std::int64_t b) { fn(b * block, std::min(count, (b + 1) * block)); });
}

template <class E, class I>
void spread_rows(const sparse_matrix& a, E* result) {
  const typed_rows<E, I> m(a);
  const double time = 0.2 * static_cast<double>(a.rows) * static_cast<double>(a.columns);
  for_blocks(a.rows, 16, time, [&](std::int64_t first, std::int64_t last) {
    std::fill(result + first * a.columns, result + last * a.columns, E{});
    for (std::int64_t r = first; r < last; ++r)
      for (I k = m.indptr[r]; k < m.indptr[r + 1]; ++k) result[r * a.columns + m.indices[k]] = m.data[k];
  });
}
/// The transpose: threads clear rows of it, then take rows of the matrix, which are its columns.
template <class E, class I>
void spread_columns(const sparse_matrix& a, E* result) {
  const typed_rows<E, I> m(a);
  const double time = 0.2 * static_cast<double>(a.rows) * static_cast<double>(a.columns);
  for_blocks(a.columns, 16, time, [&](std::int64_t first, std::int64_t last) {
    std::fill(result + first * a.rows, result + last * a.rows, E{});
  });
  for_blocks(a.rows, 256, 3.0 * static_cast<double>(a.entries), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r)
      for (I k = m.indptr[r]; k < m.indptr[r + 1]; ++k) result[m.indices[k] * a.rows + r] = m.data[k];
  });
}

/// x with the entries added, by rows of x.
template <class T, class I>
void add_rows(const sparse_matrix& a, const T* x, T* result) {
  const typed_rows<T, I> m(a);
  const double time = 0.4 * static_cast<double>(a.rows) * static_cast<double>(a.columns);
  for_blocks(a.rows, 16, time, [&](std::int64_t first, std::int64_t last) {
    std::copy(x + first * a.columns, x + last * a.columns, result + first * a.columns);
    for (std::int64_t r = first; r < last; ++r)
      for (I k = m.indptr[r]; k < m.indptr[r + 1]; ++k) result[r * a.columns + m.indices[k]] += m.data[k];
  });
}
/// The same with the transpose: each of its columns is a row of the matrix.
template <class T, class I>
void add_columns(const sparse_matrix& a, const T* x, T* result) {
  const typed_rows<T, I> m(a);
  const double time = 0.4 * static_cast<double>(a.rows) * static_cast<double>(a.columns);
  for_blocks(a.columns, 16, time, [&](std::int64_t first, std::int64_t last) {
    std::copy(x + first * a.rows, x + last * a.rows, result + first * a.rows);
  });
  for_blocks(a.rows, 256, 3.0 * static_cast<double>(a.entries), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r)
      for (I k = m.indptr[r]; k < m.indptr[r + 1]; ++k) result[m.indices[k] * a.rows + r] += m.data[k];
  });
}

/// A diagonal's rows, and where its element of row r is: elements[r].
template <class E>
struct laid_diagonal {
  std::int64_t offset, first, last;
  const E* elements;
};
template <class E, class I>
void write_diagonals(const std::vector<laid_diagonal<E>>& all, std::int64_t rows, I* indptr, I* indices, E* data) {
  std::int64_t at = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    indptr[r] = static_cast<I>(at);
    for (const laid_diagonal<E>& d : all) {
      if (r < d.first || r >= d.last) continue;
      indices[at] = static_cast<I>(r + d.offset);
      data[at++] = d.elements[r];
    }
  }
  indptr[rows] = static_cast<I>(at);
}

}  // namespace

void cpu_sparse::lay_diagonals(std::span<const std::int64_t> offsets, std::span<const std::int64_t> starts,
                               const void* elements, std::size_t bytes, const sparse_matrix& extents, void* indptr,
                               void* indices, void* data) {
  with_index(extents.index, [&](auto index) {
    using I = decltype(index);
    with_bytes(bytes, [&](auto element) {
      using E = decltype(element);
      std::vector<laid_diagonal<E>> all;
      for (std::size_t d = 0; d < offsets.size(); ++d) {
        const std::int64_t first = std::max<std::int64_t>(0, -offsets[d]);
        const std::int64_t last = std::max(first, std::min(extents.rows, extents.columns - offsets[d]));
        all.push_back({offsets[d], first, last, static_cast<const E*>(elements) + starts[d] - first});
      }
      write_diagonals<E, I>(all, extents.rows, static_cast<I*>(indptr), static_cast<I*>(indices),
                            static_cast<E*>(data));
    });
  });
}

void cpu_sparse::spread(const sparse_matrix& a, std::size_t bytes, bool transposed, void* result) {
  with_index(a.index, [&](auto index) {
    using I = decltype(index);
    with_bytes(bytes, [&](auto element) {
      using E = decltype(element);
      if (transposed) spread_columns<E, I>(a, static_cast<E*>(result));
      else spread_rows<E, I>(a, static_cast<E*>(result));
    });
  });
}

void cpu_sparse::add_to_dense(const sparse_matrix& a, bool transposed, const void* x, void* result) {
  with_types(a, [&](auto element, auto index) {
    using T = decltype(element);
    using I = decltype(index);
    if (transposed) add_columns<T, I>(a, static_cast<const T*>(x), static_cast<T*>(result));
    else add_rows<T, I>(a, static_cast<const T*>(x), static_cast<T*>(result));
  });
}

void cpu_sparse::elements_at(const sparse_matrix& a, std::size_t bytes, const std::int64_t* rows,
                             const std::int64_t* columns, std::int64_t count, void* result) {
  with_index(a.index, [&](auto index) {
    using I = decltype(index);
    with_bytes(bytes, [&](auto element) {
      using E = decltype(element);
      const typed_rows<E, I> m(a);
      E* const found = static_cast<E*>(result);
      for_blocks(count, 512, 15.0 * static_cast<double>(count), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t k = first; k < last; ++k) {
          const I* const end = m.indices + m.indptr[rows[k] + 1];
          const I* const at = find_column(m.indices + m.indptr[rows[k]], end, static_cast<I>(columns[k]));
          found[k] = at == end ? E{} : m.data[at - m.indices];
        }
      });
    });
  });
}

std::int64_t cpu_sparse::count_copies(const sparse_matrix& a, const std::int64_t* rows, std::int64_t count,
                                      std::int64_t* indptr) {
  indptr[0] = 0;
  with_index(a.index, [&](auto index) {
    const auto* const ends = static_cast<const decltype(index)*>(a.indptr);
    for (std::int64_t k = 0; k < count; ++k) indptr[k + 1] = indptr[k] + (ends[rows[k] + 1] - ends[rows[k]]);
  });
  return indptr[count];
}

}  // namespace sinter::cpu
