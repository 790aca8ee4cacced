// Products with dense vectors and matrices. A result's sums are taken in an order that follows from the matrix alone: of A
// along each row, of its transpose in the order of rows within a fixed number of parts, whose sums are added in order.
#include <cstring>

#include "backends/cpu/sparse/rows.hpp"
#include "backends/cpu/sparse/sparse.hpp"
#include "runtime/parallel.hpp"

namespace sinter::cpu {
namespace {

using runtime::sparse_matrix;
using runtime::sparse_product;

/// About what an entry takes, in nanoseconds.
constexpr double time_of_entry = 1.0;

/// Sum of a row's products; four sums side by side where the row is long.
template <class T, class I>
T dot_of_row(const T* data, const I* columns, std::int64_t count, const T* x) {
  T sum{};
  std::int64_t k = 0;
  if (count >= 8) {
    T a{}, b{}, c{}, d{};
    for (; k + 4 <= count; k += 4) {
      a += data[k] * x[columns[k]];
      b += data[k + 1] * x[columns[k + 1]];
      c += data[k + 2] * x[columns[k + 2]];
      d += data[k + 3] * x[columns[k + 3]];
    }
    sum = (a + b) + (c + d);
  }
  for (; k < count; ++k) sum += data[k] * x[columns[k]];
  return sum;
}
template <class T>
T sum_of_row(const T* data, std::int64_t count) {
  T sum{};
  std::int64_t k = 0;
  if (count >= 8) {
    T a{}, b{}, c{}, d{};
    for (; k + 4 <= count; k += 4) a += data[k], b += data[k + 1], c += data[k + 2], d += data[k + 3];
    sum = (a + b) + (c + d);
  }
  for (; k < count; ++k) sum += data[k];
  return sum;
}

template <class T>
struct scaling {
  T alpha, beta;
  bool scaled, added, plain;
  const T* y;
  explicit scaling(const sparse_product& p)
      : alpha(element_of<T>(p.alpha)),
        beta(element_of<T>(p.beta)),
        scaled(p.alpha != 1.0),
        added(p.y != nullptr),
        plain(p.beta == 1.0),
        y(static_cast<const T*>(p.y)) {}
  T operator()(T sum, std::int64_t at) const {
    if (scaled) sum = alpha * sum;
    if (added) sum = sum + (plain ? y[at] : beta * y[at]);
    return sum;
  }
};

/// A times a vector, or sums of rows.
template <class T, class I>
void times_vector(const typed_rows<T, I>& a, const sparse_product& p, T* result, std::int64_t first,
                  std::int64_t last) {
  const scaling<T> scale(p);
  const T* const x = static_cast<const T*>(p.x);
  for (std::int64_t r = first; r < last; ++r) {
    const auto from = static_cast<std::int64_t>(a.indptr[r]), count = static_cast<std::int64_t>(a.indptr[r + 1]) - from;
    const T sum = x ? dot_of_row(a.data + from, a.indices + from, count, x) : sum_of_row(a.data + from, count);
    result[r] = scale(sum, r);
  }
}

/// A times a matrix: the sums of a block of columns are kept in registers.
template <class T, class I, int Block>
void times_block(const typed_rows<T, I>& a, const T* x, std::int64_t width, std::int64_t row, T* sums) {
  T sum[Block] = {};
  const auto end = static_cast<std::int64_t>(a.indptr[row + 1]);
  for (auto k = static_cast<std::int64_t>(a.indptr[row]); k < end; ++k) {
    const T v = a.data[k];
    const T* const from = x + static_cast<std::int64_t>(a.indices[k]) * width;
    for (int j = 0; j < Block; ++j) sum[j] += v * from[j];
  }
  for (int j = 0; j < Block; ++j) sums[j] = sum[j];
}
template <class T, class I>
void times_matrix(const typed_rows<T, I>& a, const sparse_product& p, T* result, std::int64_t first,
                  std::int64_t last) {
  const scaling<T> scale(p);
  const T* const x = static_cast<const T*>(p.x);
  T sums[16];
  for (std::int64_t r = first; r < last; ++r) {
    std::int64_t j = 0;
    const auto store = [&](int n) {
      for (int i = 0; i < n; ++i) result[r * p.width + j + i] = scale(sums[i], r * p.width + j + i);
      j += n;
    };
    while (p.width - j >= 16) times_block<T, I, 16>(a, x + j, p.width, r, sums), store(16);
    if (p.width - j >= 8) times_block<T, I, 8>(a, x + j, p.width, r, sums), store(8);
    if (p.width - j >= 4) times_block<T, I, 4>(a, x + j, p.width, r, sums), store(4);
    if (p.width - j >= 2) times_block<T, I, 2>(a, x + j, p.width, r, sums), store(2);
    if (p.width - j >= 1) times_block<T, I, 1>(a, x + j, p.width, r, sums), store(1);
  }
}

/// In how many parts the rows are for a transposed product: each has sums of its own, so there must be many more entries
/// than columns.
std::int64_t transposed_parts(const sparse_matrix& a) {
  return std::clamp<std::int64_t>(a.entries / (3 * a.columns + 4096), 1, 8);
}

/// Adds the products of some rows to sums of all columns.
template <class T, class I>
void scatter_rows(const typed_rows<T, I>& a, const sparse_product& p, std::int64_t first, std::int64_t last, T* sums) {
  const T* const x = static_cast<const T*>(p.x);
  const std::int64_t width = p.width;
  for (std::int64_t r = first; r < last; ++r) {
    const auto end = static_cast<std::int64_t>(a.indptr[r + 1]);
    auto k = static_cast<std::int64_t>(a.indptr[r]);
    if (!x) {
      for (; k < end; ++k) sums[a.indices[k]] += a.data[k];
    } else if (width == 1) {
      const T of_row = x[r];
      for (; k < end; ++k) sums[a.indices[k]] += a.data[k] * of_row;
    } else {
      const T* const of_row = x + r * width;
      for (; k < end; ++k) {
        const T v = a.data[k];
        T* const to = sums + static_cast<std::int64_t>(a.indices[k]) * width;
        for (std::int64_t j = 0; j < width; ++j) to[j] += v * of_row[j];
      }
    }
  }
}

template <class T, class I>
void times_transposed(const sparse_matrix& m, const sparse_product& p, T* result, T* scratch) {
  const typed_rows<T, I> a(m);
  const scaling<T> scale(p);
  const std::int64_t parts = transposed_parts(m), size = a.columns * p.width;
  const std::vector<std::int64_t> rows = divided_rows(a.indptr, a.rows, parts);
  const double time = time_of_entry * static_cast<double>(m.entries) * static_cast<double>(p.width);
  runtime::parallel_for(parts, 2 * time, [&](std::int64_t part) {
    T* const sums = scratch + part * size;
    std::fill(sums, sums + size, T{});
    scatter_rows(a, p, rows[static_cast<std::size_t>(part)], rows[static_cast<std::size_t>(part + 1)], sums);
  });
  const std::int64_t block = 16384, blocks = (size + block - 1) / block;
  runtime::parallel_for(blocks, static_cast<double>(size * parts) * 0.5, [&](std::int64_t b) {
    const std::int64_t end = std::min(size, (b + 1) * block);
    for (std::int64_t i = b * block; i < end; ++i) {
      T sum = scratch[i];
      for (std::int64_t part = 1; part < parts; ++part) sum += scratch[part * size + i];
      result[i] = scale(sum, i);
    }
  });
}

template <class T, class I>
void times_rows(const sparse_matrix& m, const sparse_product& p, T* result) {
  const typed_rows<T, I> a(m);
  const std::int64_t parts = std::min(parts_of(m.entries * std::min<std::int64_t>(p.width, 64), m.rows), m.rows);
  if (parts == 0) return;
  const std::vector<std::int64_t> rows = divided_rows(a.indptr, a.rows, parts);
  const double time = time_of_entry * static_cast<double>(m.entries + m.rows) * static_cast<double>(p.width);
  runtime::parallel_for(parts, time, [&](std::int64_t part) {
    const std::int64_t first = rows[static_cast<std::size_t>(part)], last = rows[static_cast<std::size_t>(part + 1)];
    if (p.width == 1) times_vector(a, p, result, first, last);
    else times_matrix(a, p, result, first, last);
  });
}

}  // namespace

std::size_t cpu_sparse::multiply_scratch(const sparse_matrix& a, const sparse_product& p) const {
  if (!p.transposed) return 0;
  return static_cast<std::size_t>(transposed_parts(a) * a.columns * p.width) * itemsize(a.type);
}

void cpu_sparse::multiply(const sparse_matrix& a, const sparse_product& p, void* result, void* scratch) {
  with_types(a, [&](auto element, auto index) {
    using T = decltype(element);
    using I = decltype(index);
    if (p.transposed) times_transposed<T, I>(a, p, static_cast<T*>(result), static_cast<T*>(scratch));
    else times_rows<T, I>(a, p, static_cast<T*>(result));
  });
}

}  // namespace sinter::cpu
