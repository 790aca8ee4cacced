// Products of two sparse matrices, row by row: a row's sums are gathered in an array of all columns, of which each thread at
// work has one. Sums are taken in the order of the left row's entries.
#include <memory>
#include <mutex>

#include "backends/cpu/sparse/rows.hpp"
#include "backends/cpu/sparse/sparse.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using runtime::sparse_matrix;

/// About what a product of two entries takes, in nanoseconds.
constexpr double time_of_pair = 2;

/// Memory for as many threads as work at a time.
template <class W>
class workspaces {
 public:
  explicit workspaces(std::int64_t columns) : columns_(columns) {}
  std::unique_ptr<W> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto w = std::move(free_.back());
        free_.pop_back();
        return w;
      }
    }
    return std::make_unique<W>(columns_);
  }
  void put_back(std::unique_ptr<W> w) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(w));
  }

 private:
  std::int64_t columns_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<W>> free_;
};

/// The last row that has met each column, counted from 1.
template <class I>
struct met_columns {
  explicit met_columns(std::int64_t columns) : row(static_cast<std::size_t>(columns), 0) {}
  std::vector<I> row;
};
/// The same, and the sum that it has there.
template <class T, class I>
struct row_sums {
  struct cell {
    T sum;
    I row;
  };
  explicit row_sums(std::int64_t columns) : cells(static_cast<std::size_t>(columns), cell{T{}, 0}) {}
  std::vector<cell> cells;
};

/// Rows of a divided by the work that they are, which is about that of their entries.
template <class I, class W, class F>
void for_rows(const sparse_matrix& a, const sparse_matrix& b, F&& f) {
  const I* const indptr = static_cast<const I*>(a.indptr);
  const std::int64_t parts = std::min(std::min<std::int64_t>(parts_of(16 * a.entries, a.rows), 64), a.rows);
  if (parts == 0) return;
  const std::vector<std::int64_t> first = divided_rows(indptr, a.rows, parts);
  const double of_row = static_cast<double>(b.entries) / static_cast<double>(std::max<std::int64_t>(b.rows, 1));
  workspaces<W> memory(b.columns);
  runtime::parallel_for(parts, time_of_pair * static_cast<double>(a.entries) * (1 + of_row), [&](std::int64_t part) {
    std::unique_ptr<W> mine = memory.take();
    const auto at = static_cast<std::size_t>(part);
    for (std::int64_t r = first[at]; r < first[at + 1]; ++r) f(r, *mine);
    memory.put_back(std::move(mine));
  });
}

template <class I>
std::int64_t columns_of_row(const sparse_matrix& a, const sparse_matrix& b, std::int64_t r, met_columns<I>& met) {
  const I *const ends = static_cast<const I*>(a.indptr), *const inner = static_cast<const I*>(a.indices);
  const I *const b_ends = static_cast<const I*>(b.indptr), *const columns = static_cast<const I*>(b.indices);
  const I mark = static_cast<I>(r + 1);
  I* const rows = met.row.data();
  std::int64_t count = 0;
  for (I k = ends[r]; k < ends[r + 1]; ++k) {
    const I last = b_ends[inner[k] + 1];
    for (I m = b_ends[inner[k]]; m < last; ++m) {
      I& row = rows[columns[m]];
      count += row != mark;
      row = mark;
    }
  }
  return count;
}

template <class T, class I>
void fill_row(const typed_rows<T, I>& left, const typed_rows<T, I>& right, std::int64_t r, I* to, T* data,
              row_sums<T, I>& w) {
  const I mark = static_cast<I>(r + 1);
  auto* const cells = w.cells.data();
  I* found = to;
  for (I k = left.indptr[r]; k < left.indptr[r + 1]; ++k) {
    const T v = left.data[k];
    const I row = left.indices[k], last = right.indptr[row + 1];
    for (I m = right.indptr[row]; m < last; ++m) {
      auto& cell = cells[right.indices[m]];
      const T product = v * right.data[m];
      if (cell.row == mark) {
        cell.sum += product;
      } else {
        cell.row = mark;
        cell.sum = product;
        *found++ = right.indices[m];
      }
    }
  }
  for (; to < found; ++to) *data++ = cells[*to].sum;
}

}  // namespace

std::int64_t cpu_sparse::count_product(const sparse_matrix& a, const sparse_matrix& b, std::int64_t* indptr) {
  with_index(a.index, [&](auto index) {
    using I = decltype(index);
    for_rows<I, met_columns<I>>(
        a, b, [&](std::int64_t r, met_columns<I>& met) { indptr[r + 1] = columns_of_row<I>(a, b, r, met); });
  });
  indptr[0] = 0;
  for (std::int64_t r = 0; r < a.rows; ++r) indptr[r + 1] += indptr[r];
  return indptr[a.rows];
}

void cpu_sparse::fill_product(const sparse_matrix& a, const sparse_matrix& b, const std::int64_t* indptr, void* indices,
                              void* data) {
  with_types(a, [&](auto element, auto index) {
    using T = decltype(element);
    using I = decltype(index);
    const typed_rows<T, I> left(a), right(b);
    for_rows<I, row_sums<T, I>>(a, b, [&](std::int64_t r, row_sums<T, I>& w) {
      fill_row<T, I>(left, right, r, static_cast<I*>(indices) + indptr[r], static_cast<T*>(data) + indptr[r], w);
    });
  });
}

}  // namespace sinter::cpu
