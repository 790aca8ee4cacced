// Layouts of matrix products: what BLAS can express, and batches with as few axes as possible.
#include "runtime/algorithms/products.hpp"

#include <utility>

namespace sinter::runtime {
namespace {

void drop_axis(product_layout& l, int k) {
  l.batch.erase(k);
  for (matrix_strides* m : {&l.a, &l.b, &l.c}) m->batch.erase(k);
}

bool continues(const matrix_strides& m, int k, std::int64_t next_extent) {
  return m.batch[k] == m.batch[k + 1] * next_extent;
}

void merge_axes(product_layout& l) {
  for (int k = l.batch.size() - 1; k >= 0; --k)
    if (l.batch[k] == 1) drop_axis(l, k);
  for (int k = l.batch.size() - 2; k >= 0; --k) {
    const std::int64_t next = l.batch[k + 1];
    if (!continues(l.a, k, next) || !continues(l.b, k, next) || !continues(l.c, k, next)) continue;
    l.batch[k + 1] *= l.batch[k];
    drop_axis(l, k);
  }
}

/// Whether batch axis k and the axis of `extent` elements and stride `stride` after it can become one axis of a matrix.
bool extends(const matrix_strides& m, int k, std::int64_t extent, std::int64_t stride) {
  return extent == 1 || m.batch[k] == extent * stride;
}

bool fold_into_rows(product_layout& l, int k) {
  if (l.b.batch[k] != 0 || !extends(l.a, k, l.rows, l.a.row) || !extends(l.c, k, l.rows, l.c.row)) return false;
  const std::int64_t a_row = l.rows == 1 ? l.a.batch[k] : l.a.row, c_row = l.rows == 1 ? l.c.batch[k] : l.c.row;
  const std::int64_t rows = l.rows * l.batch[k];
  if (!as_blas(rows, l.inner, a_row, l.a.column) || !as_blas(rows, l.columns, c_row, l.c.column)) return false;
  l.rows = rows;
  l.a.row = a_row;
  l.c.row = c_row;
  drop_axis(l, k);
  return true;
}

bool fold_into_columns(product_layout& l, int k) {
  if (l.a.batch[k] != 0 || !extends(l.b, k, l.columns, l.b.column) || !extends(l.c, k, l.columns, l.c.column))
    return false;
  const std::int64_t b_column = l.columns == 1 ? l.b.batch[k] : l.b.column;
  const std::int64_t c_column = l.columns == 1 ? l.c.batch[k] : l.c.column;
  const std::int64_t columns = l.columns * l.batch[k];
  if (!as_blas(l.inner, columns, l.b.row, b_column) || !as_blas(l.rows, columns, l.c.row, c_column)) return false;
  l.columns = columns;
  l.b.column = b_column;
  l.c.column = c_column;
  drop_axis(l, k);
  return true;
}

void swap_axes(product_layout& l, int i, int k) {
  std::swap(l.batch[i], l.batch[k]);
  for (matrix_strides* m : {&l.a, &l.b, &l.c}) std::swap(m->batch[i], m->batch[k]);
}

}  // namespace

bool products::multiply_with_epilogue(const product_layout&, const product_epilogue&, const void*, const void*, void*) {
  return false;
}

std::optional<blas_matrix> as_blas(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                                   std::int64_t column_stride) noexcept {
  if ((columns == 1 || column_stride == 1) && (rows == 1 || row_stride >= columns))
    return blas_matrix{true, rows == 1 ? columns : row_stride};
  if ((rows == 1 || row_stride == 1) && (columns == 1 || column_stride >= rows))
    return blas_matrix{false, columns == 1 ? rows : column_stride};
  return std::nullopt;
}

product_layout simplified(product_layout l) {
  merge_axes(l);
  // From the innermost batch axis outwards: folding one may make the next one fit.
  for (bool again = true; again;) {
    again = false;
    for (int k = l.batch.size() - 1; k >= 0 && !again; --k) again = fold_into_rows(l, k) || fold_into_columns(l, k);
  }
  for (int k = 0; k + 1 < l.batch.size(); ++k)
    if (l.batch[k] > l.batch[l.batch.size() - 1]) swap_axes(l, k, l.batch.size() - 1);
  return l;
}

}  // namespace sinter::runtime
