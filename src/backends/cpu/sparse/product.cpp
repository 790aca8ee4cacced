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

/// Which columns a row has met: those marked with its number.
struct met_columns {
  explicit met_columns(std::int64_t columns) : row(static_cast<std::size_t>(columns), -1) {}
  std::vector<std::int64_t> row;
};
template <class T, class I>
struct row_sums {
  explicit row_sums(std::int64_t columns)
      : met(static_cast<std::size_t>(columns), 0), sum(static_cast<std::size_t>(columns)) {}
  std::vector<char> met;
  std::vector<T> sum;
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
std::int64_t columns_of_row(const sparse_matrix& a, const sparse_matrix& b, std::int64_t r, met_columns& met) {
  const I *const ends = static_cast<const I*>(a.indptr), *const inner = static_cast<const I*>(a.indices);
  const I *const b_ends = static_cast<const I*>(b.indptr), *const columns = static_cast<const I*>(b.indices);
  std::int64_t count = 0;
  for (std::int64_t k = ends[r]; k < ends[r + 1]; ++k)
    for (std::int64_t m = b_ends[inner[k]]; m < b_ends[inner[k] + 1]; ++m) {
      std::int64_t& row = met.row[static_cast<std::size_t>(columns[m])];
      count += row != r;
      row = r;
    }
  return count;
}

template <class T, class I>
void fill_row(const sparse_matrix& a, const sparse_matrix& b, std::int64_t r, std::int64_t count, I* to, T* data,
              row_sums<T, I>& w) {
  const typed_rows<T, I> left(a), right(b);
  std::int64_t found = 0;
  for (std::int64_t k = left.indptr[r]; k < left.indptr[r + 1]; ++k) {
    const T v = left.data[k];
    const I row = left.indices[k];
    for (std::int64_t m = right.indptr[row]; m < right.indptr[row + 1]; ++m) {
      const auto column = static_cast<std::size_t>(right.indices[m]);
      const T product = v * right.data[m];
      if (w.met[column]) {
        w.sum[column] += product;
      } else {
        w.met[column] = 1;
        w.sum[column] = product;
        to[found++] = right.indices[m];
      }
    }
  }
  if (count > b.columns / 32) {
    found = 0;
    for (std::int64_t c = 0; found < count; ++c)
      if (w.met[static_cast<std::size_t>(c)]) to[found++] = static_cast<I>(c);
  } else {
    std::sort(to, to + count);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const auto column = static_cast<std::size_t>(to[k]);
    data[k] = w.sum[column];
    w.met[column] = 0;
  }
}

}  // namespace

std::int64_t cpu_sparse::count_product(const sparse_matrix& a, const sparse_matrix& b, std::int64_t* indptr) {
  with_index(a.index, [&](auto index) {
    using I = decltype(index);
    for_rows<I, met_columns>(
        a, b, [&](std::int64_t r, met_columns& met) { indptr[r + 1] = columns_of_row<I>(a, b, r, met); });
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
    for_rows<I, row_sums<T, I>>(a, b, [&](std::int64_t r, row_sums<T, I>& w) {
      fill_row<T, I>(a, b, r, indptr[r + 1] - indptr[r], static_cast<I*>(indices) + indptr[r],
                     static_cast<T*>(data) + indptr[r], w);
    });
  });
}

}  // namespace sinter::cpu
