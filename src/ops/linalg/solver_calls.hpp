// src/ops/linalg: products, contractions, factorisations and what is solved with them.
//
// What the functions of linear algebra compose: matrices in memory as LAPACK takes them, and what its `info` says.
//
// Memory that LAPACK reads by columns is a leaf of shape (batch..., columns, rows): the matrices are its transpose,
// which is a view. Everything here evaluates its arguments; what waits for the device says so.
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
/// linalg_error below rank 2.
matrix_stack matrices_of(const ndarray& x, const char* function);
/// linalg_error below rank 2, or where they are not square.
matrix_stack square_matrices_of(const ndarray& x, const char* function);

/// Memory of the caller's own with the matrices of x in a dtype: by columns, shape (batch..., columns, rows), or by
/// rows, shape (batch..., rows, columns).
value owned_by_columns(const ndarray& x, dtype type, const char* function);
value owned_by_rows(const ndarray& x, dtype type, const char* function);
/// The matrices by columns in memory that is only read: x's own where it lies so.
struct read_memory {
  value held;
  std::int64_t offset = 0;
  const void* address() const { return address_to_read(held, offset); }
};
read_memory read_by_columns(const ndarray& x, dtype type, const char* function);
/// The matrices in memory by columns as an array.
ndarray by_columns(const value& memory);

/// The diagonals of the last two axes of an array, `offset` above the main one, as its last axis; a read-only view.
ndarray diagonal_view(const ndarray& x, std::int64_t offset, std::int64_t first, std::int64_t second,
                      const char* function);

runtime::solvers& solvers_of(const value& v);

/// Begins to look for numbers that are not 0 in a leaf of int32; what is enqueued afterwards is not waited for.
std::unique_ptr<runtime::outcome> look_for_failures(const value& info);
/// Throws linalg_error that says `what`, with the first index of the batch whose number is not 0. Waits.
void require_success(runtime::outcome& found, const value& info, const char* function, const std::string& what);
void require_success(const value& info, const char* function, const std::string& what);
/// The number of a matrix, `position` in the batch. Waits.
std::int32_t number_at(const value& info, std::int64_t position);
/// " at batch index (1, 2)"; nothing for a single matrix.
std::string at_batch_index(std::int64_t position, const dims& batch);

/// Where leading axes do not broadcast: shape_error.
dims broadcast_batches(const dims& a, const dims& b, const char* function, const ndarray& x, const ndarray& y);
/// x with its leading axes broadcast; a view.
ndarray with_batch(const ndarray& x, const dims& batch, int last_axes);

}  // namespace sinter::ops
