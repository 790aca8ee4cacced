// Products of sparse matrices on a device, and how their entries are put in order.
//
// A matrix lies in compressed rows: row r has the entries indptr[r] to indptr[r + 1] - 1 of `indices` (columns) and `data`.
// Indices are int32 or int64, have been checked, and may repeat and be out of order. Addresses are memory of the backend.
// Products are enqueued like a launch and never synchronise; results follow from the arguments alone.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sinter/dtype.hpp"

namespace sinter::runtime {

struct sparse_matrix {
  dtype type{};              // of products: int64, float32, float64, complex64, complex128
  dtype index = dtype::i32;  // or int64
  std::int64_t rows = 0, columns = 0, entries = 0;
  const void* data = nullptr;
  const void* indices = nullptr;
  const void* indptr = nullptr;
  bool ascends = false;  // the entries of each row are known to ascend
  std::int64_t longest =
      -1;  // a bound of the entries of a row, if one is known: which kernels are enqueued, not the sums
};

/// alpha op(A) X + beta Y, with op(A) A or its transpose, X of `width` columns in C order. A null X is a column of ones
/// (sums of rows or columns; indices may be null for those of rows). Scales of int64 are 1. Y may be the result.
struct sparse_product {
  bool transposed = false;
  std::int64_t width = 1;
  std::complex<double> alpha = 1, beta = 1;
  const void* x = nullptr;
  const void* y = nullptr;  // null: nothing is added
};

/// A x / |x| - (|x| / other) y, and |x|, the 2-norm of a vector x; |x| y where `other` is 0, and y where x is. Numbers on the device.
struct normal_product {
  const void* x = nullptr;
  const void* y = nullptr;
  const double* other = nullptr;
  double* length = nullptr;
};

/// Entries with two coordinates, in any order. `bytes` of an element: 1, 2, 4, 8 or 16.
struct sparse_entries {
  dtype index = dtype::i32;
  std::int64_t count = 0;
  std::size_t bytes = 0;
  const void* data = nullptr;
  const void* major = nullptr;  // the coordinate to group by
  const void* minor = nullptr;  // null: entry k is in the row of `indptr` (of `rows` rows) that holds k
  const void* indptr = nullptr;
  std::int64_t rows = 0;
};

/// A x = b of a square matrix with int32 indices, whose rows ascend strictly, in a real or complex floating type, for right-hand sides
/// that lie one after the other. `small`: what is nothing beside the elements of the matrix.
struct sparse_system {
  sparse_matrix a;
  std::int64_t columns = 1;
  const void* b = nullptr;
  double small = 0;
};

/// Operations on the elements that two matrices have at a place.
enum class sparse_pairing : int { add, subtract, multiply, maximum, minimum, not_equal, less, greater };

/// What is wrong with the indices of a matrix: nothing where `where` is negative.
struct sparse_defect {
  std::int64_t where = -1, found = 0;
  bool in_indptr = false;
};

class sparse {
 public:
  virtual ~sparse() = default;

  /// Whether multiply() takes transposed products. If not, callers give the transpose.
  virtual bool multiplies_transposed() const { return false; }
  virtual std::size_t multiply_scratch(const sparse_matrix& a, const sparse_product& p) const = 0;
  virtual void multiply(const sparse_matrix& a, const sparse_product& p, void* result, void* scratch) = 0;

  /// Whether multiply_normal() takes a matrix. If not, callers compose it of a product and other operations.
  virtual bool multiplies_normal(const sparse_matrix&) const { return false; }
  virtual void multiply_normal(const sparse_matrix&, const normal_product&, void* /*result*/) {}

  /// Whether transpose() takes a matrix; if not, callers compose it of a sort and gathers. `bytes` of an element.
  virtual bool transposes(const sparse_matrix&) const { return false; }
  virtual std::size_t transpose_scratch(const sparse_matrix&, std::size_t /*bytes*/) const { return 0; }
  /// The matrix in compressed columns; entries of a column in the order of the rows. Enqueued.
  virtual void transpose(const sparse_matrix&, std::size_t /*bytes*/, void* /*indptr*/, void* /*indices*/,
                         void* /*data*/, void* /*scratch*/) {}

  /// Whether sort_copies() takes a matrix, by its extents and lengths of rows; if not, callers transpose twice.
  virtual bool sorts_copies(const sparse_matrix&) const { return false; }
  /// The entries of each row sorted by column, equal ones in their order, in other memory. `bytes` of an element. Enqueued.
  virtual void sort_copies(const sparse_matrix&, std::size_t /*bytes*/, void* /*indices*/, void* /*data*/) {}

  /// Whether solve() takes systems of such a matrix and so many right-hand sides; the matrix's addresses are not read.
  virtual bool solves(const sparse_matrix&, std::int64_t /*columns*/) const { return false; }
  /// Solves a system by a factorisation, and waits for it. False where the matrix is singular, or so near to it that the
  /// factorisation does not tell, or there is no memory for it: x means nothing then.
  virtual bool solve(const sparse_system&, void* /*x*/) { return false; }

  // The rest is done by backends whose memory the host addresses (arranges()); elsewhere callers compose it of sorts and
  // gathers. These functions run at once.

  virtual bool arranges() const { return false; }
  /// Entries grouped by their major coordinate (of `majors`), in their order otherwise: a matrix in compressed rows.
  virtual void group(const sparse_entries&, std::int64_t /*majors*/, void* /*indptr*/, void* /*indices*/,
                     void* /*data*/) {}
  /// Sorts the entries of each row by column, in place; equal ones keep their order. `bytes` of an element.
  virtual void sort_rows(const sparse_matrix&, std::size_t /*bytes*/, void* /*indices*/, void* /*data*/) {}
  /// The first index outside of the columns, or number of indptr that decreases.
  virtual sparse_defect find_defect(const sparse_matrix&) const { return {}; }
  /// 0: neither; 1: rows ascend; 2: rows ascend strictly.
  virtual int order(const sparse_matrix&) const { return 0; }
  /// Adds up neighbours of equal column in rows that ascend, in place; indptr of what is left, which is returned by its
  /// last number. The type is one of products.
  virtual std::int64_t join_equal(const sparse_matrix&, void* /*indices*/, void* /*data*/, void* /*indptr*/) {
    return 0;
  }
  /// Row k of the result is row rows[k] (checked) of the matrix: its entries from indptr[k] on. `bytes` of an element.
  virtual void copy_rows(const sparse_matrix&, std::size_t /*bytes*/, const std::int64_t* /*rows*/,
                         std::int64_t /*count*/, const std::int64_t* /*indptr*/, void* /*indices*/, void* /*data*/) {}
  /// indptr of what copy_rows() gives, which is returned by its last number.
  virtual std::int64_t count_copies(const sparse_matrix&, const std::int64_t* /*rows*/, std::int64_t /*count*/,
                                    std::int64_t* /*indptr*/) {
    return 0;
  }
  /// Diagonals, with offsets that ascend, of `bytes` each: diagonal d has its elements from starts[d] of `elements` on. Writes all parts.
  virtual void lay_diagonals(std::span<const std::int64_t> /*offsets*/, std::span<const std::int64_t> /*starts*/,
                             const void* /*elements*/, std::size_t /*bytes*/, const sparse_matrix& /*extents*/,
                             void* /*indptr*/, void* /*indices*/, void* /*data*/) {}
  /// The dense matrix, in C order, or its transpose; no place is there twice.
  virtual void spread(const sparse_matrix&, std::size_t /*bytes*/, bool /*transposed*/, void* /*result*/) {}
  /// A dense matrix x in C order (of as many rows and columns; transposed ones where `transposed`) with the entries added. Of a product's type.
  virtual void add_to_dense(const sparse_matrix&, bool /*transposed*/, const void* /*x*/, void* /*result*/) {}
  /// The elements at some places (row, column; checked) of a matrix whose rows ascend strictly, 0 where there is none.
  virtual void elements_at(const sparse_matrix&, std::size_t /*bytes*/, const std::int64_t* /*rows*/,
                           const std::int64_t* /*columns*/, std::int64_t /*count*/, void* /*result*/) {}
  /// The largest (smallest) entry of each row, or column where `transposed`, in the matrix's type, any real one; NaN
  /// wins; where there is none the type's lowest (highest) number. counts: how many entries.
  virtual void extremes(const sparse_matrix&, bool /*transposed*/, bool /*largest*/, void* /*result*/,
                        std::int64_t* /*counts*/) {}
  /// Product of two matrices of one dtype and index dtype, in two steps: indptr of the result (a.rows + 1), which is
  /// returned by its last number, then its entries, in no order within rows.
  virtual std::int64_t count_product(const sparse_matrix& /*a*/, const sparse_matrix& /*b*/, std::int64_t* /*indptr*/) {
    return 0;
  }
  virtual void fill_product(const sparse_matrix& /*a*/, const sparse_matrix& /*b*/, const std::int64_t* /*indptr*/,
                            void* /*indices*/, void* /*data*/) {}
  /// The places of either matrix (both strictly ascending), or of both where `common`: indptr and, in a second step,
  /// columns and for each place the element of a and of b (of `bytes_a`, `bytes_b`), zeros where there is none.
  virtual std::int64_t count_merged(const sparse_matrix& /*a*/, const sparse_matrix& /*b*/, bool /*common*/,
                                    std::int64_t* /*indptr*/) {
    return 0;
  }
  virtual void fill_merged(const sparse_matrix& /*a*/, const sparse_matrix& /*b*/, bool /*common*/,
                           const std::int64_t* /*indptr*/, void* /*indices*/, std::size_t /*bytes_a*/, void* /*of_a*/,
                           std::size_t /*bytes_b*/, void* /*of_b*/) {}
  /// Whether combine() takes elements of a dtype.
  virtual bool combines(sparse_pairing, dtype) const { return false; }
  /// One operation on two matrices of one dtype and index dtype (both strictly ascending) at the places of either, of products
  /// at those of both; results that are 0 are left out. `indices` and `data` (bools of comparisons) have room for the
  /// entries of both, of products for those of the matrix that has fewer. Returns how many there are.
  virtual std::int64_t combine(sparse_pairing, const sparse_matrix& /*a*/, const sparse_matrix& /*b*/, void* /*indptr*/,
                               void* /*indices*/, void* /*data*/) {
    return 0;
  }
  /// The entries whose byte of `mask` is 1; there is room for all. Returns how many there are. `bytes` of an element.
  virtual std::int64_t keep(const sparse_matrix&, std::size_t /*bytes*/, const std::uint8_t* /*mask*/, void* /*indptr*/,
                            void* /*indices*/, void* /*data*/) {
    return 0;
  }
  /// The entries in columns that have a place (in the index dtype; -1: none) with that for their column.
  virtual std::int64_t place(const sparse_matrix&, std::size_t /*bytes*/, const void* /*places*/, void* /*indptr*/,
                             void* /*indices*/, void* /*data*/) {
    return 0;
  }
  /// Matrices beside each other, of as many rows and one index dtype; columns of matrix k are moved by shifts[k].
  virtual void join_columns(std::span<const sparse_matrix>, std::span<const std::int64_t> /*shifts*/,
                            std::size_t /*bytes*/, void* /*indptr*/, void* /*indices*/, void* /*data*/) {}
  /// Whether coordinates ascend, and then the ends of `majors` groups of equal ones: indptr. Else indptr is overwritten.
  virtual bool ends_of_ascending(dtype /*index*/, const void* /*coordinates*/, std::int64_t /*count*/,
                                 std::int64_t /*majors*/, void* /*indptr*/) {
    return false;
  }
  /// Of a matrix of a product's type the sum of what each of `length` rows from `first` on has in column row + shift.
  virtual void diagonal(const sparse_matrix&, std::int64_t /*first*/, std::int64_t /*shift*/, std::int64_t /*length*/,
                        void* /*sums*/) {}
  /// Columns chosen, also several times: column c becomes places[starts[c]] to places[starts[c + 1] - 1]. indptr of the
  /// result, which is returned by its last number, and, in a second step, its entries in the order of the matrix.
  virtual std::int64_t count_chosen(const sparse_matrix&, const std::int64_t* /*starts*/, std::int64_t* /*indptr*/) {
    return 0;
  }
  virtual void fill_chosen(const sparse_matrix&, std::size_t /*bytes*/, const std::int64_t* /*starts*/,
                           const std::int64_t* /*places*/, const std::int64_t* /*indptr*/, void* /*indices*/,
                           void* /*data*/) {}
};

}  // namespace sinter::runtime
