// src/ops/linalg: products, contractions, factorisations and solvers.
//
// Building blocks of linear algebra: matrices in memory in LAPACK's layout, and checks of its `info`.
//
// Column-major memory is a leaf of shape (batch..., columns, rows): the matrices are its transpose, which is a view.
// Everything here evaluates its arguments; functions that wait for the device say so.
#pragma once
#include <initializer_list>
#include <string>

#include "ops/base/algorithm_calls.hpp"
#include "runtime/algorithms/solvers.hpp"

namespace sinter::ops {

/// The dtype that linear algebra computes in: integers and bools become float64. dtype_error: float16 and bfloat16.
dtype linalg_dtype(const char* function, std::initializer_list<const ndarray*> operands);

/// Matrices in the last two axes.
struct matrix_stack {
  dims batch;
  std::int64_t rows = 0, columns = 0;

  std::int64_t count() const noexcept { return core::element_count(batch); }
  bool empty() const noexcept { return rows == 0 || columns == 0 || count() == 0; }
  /// The leading extents followed by others.
  dims with(std::initializer_list<std::int64_t> last) const;
  runtime::matrix_batch layout(dtype type, const char* function) const {
    return {type, rows, columns, count(), function};
  }
};
/// Throws linalg_error below rank 2.
matrix_stack matrices_of(const ndarray& x, const char* function);
/// Throws linalg_error below rank 2, or if the matrices are not square.
matrix_stack square_matrices_of(const ndarray& x, const char* function);

/// Exclusively owned memory with the matrices of x in a dtype: by columns, shape (batch..., columns, rows), or by rows,
/// shape (batch..., rows, columns).
value owned_by_columns(const ndarray& x, dtype type, const char* function);
value owned_by_rows(const ndarray& x, dtype type, const char* function);
/// The matrices in column-major memory for reading only: x's own memory if it has that layout.
struct read_memory {
  value held;
  std::int64_t offset = 0;
  const void* address() const { return readable_by_library(held, offset); }
};
read_memory read_by_columns(const ndarray& x, dtype type, const char* function);
/// The matrices in column-major memory as an array.
ndarray by_columns(const value& memory);
/// An identity for each matrix of a batch, on the device of another array; a view.
ndarray identities(const ndarray& like, const matrix_stack& s, std::int64_t rows, std::int64_t columns, dtype type);

/// The diagonals of the last two axes of an array, `offset` above the main one, as its last axis; a read-only view.
ndarray diagonal_view(const ndarray& x, std::int64_t offset, std::int64_t first, std::int64_t second,
                      const char* function);

runtime::solvers& solvers_of(const value& v);
/// The address of pivots or `info`.
inline std::int32_t* integers_to_write(const value& v) { return static_cast<std::int32_t*>(writable_by_library(v)); }

/// LU factors in column-major memory, with LAPACK's pivots, which count from 1, and `info`. Matrices without elements are
/// left as they are.
struct lu_memory {
  value lu, pivots, info;
};
lu_memory factor_lu(const ndarray& x, const matrix_stack& s, dtype type, const char* function);

/// Starts a search for nonzero elements in a leaf of int32; work that is enqueued afterwards is not waited for.
std::unique_ptr<runtime::outcome> look_for_failures(const value& info);
/// Throws linalg_error with the text `what` and the first batch index whose element is nonzero. Waits.
void require_success(runtime::outcome& found, const value& info, const char* function, const std::string& what);
void require_success(const value& info, const char* function, const std::string& what);
/// The element for the matrix at `position` in the batch. Waits.
std::int32_t number_at(const value& info, std::int64_t position);
/// " at batch index (1, 2)"; empty for a single matrix.
std::string at_batch_index(std::int64_t position, const dims& batch);

/// The common leading shape; shape_error if the leading axes do not broadcast.
dims broadcast_batches(const dims& a, const dims& b, const char* function, const ndarray& x, const ndarray& y);
/// x with its leading axes broadcast; a view.
ndarray with_batch(const ndarray& x, const dims& batch, int last_axes);

}  // namespace sinter::ops
