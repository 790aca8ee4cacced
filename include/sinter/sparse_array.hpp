// Sparse matrices: the class, how arrays are made of parts, and products. Included by sparse.hpp.
// Not part of sinter.hpp.
//
// One class, `sparse_array`, in one of three formats; SciPy's names make it: `csr_array(...)`, `csc_array(...)`,
// `coo_array(...)`. It has two axes. As SciPy's sparse *arrays* (not its matrices): `*` multiplies element by element,
// and products are `matmul(A, x)`, `A.dot(x)` or `dot(A, x)`, as of dense arrays.
//
// A sparse_array is a value: copies share memory, and what is done to one of them (`A.setdiag(1)`, `A.sum_duplicates()`)
// does not show in the others. Its parts `data`, `indices`, `indptr` (`row`, `col`) are ordinary arrays of its device, held
// as they were when it was made: later writes to the arrays that were given, or to those that `A.data()` gives, change
// nothing here. `A.with_data(d)` is an array with other elements in the same places. Elementwise work (`2 * A`,
// `sqrt(A)`, `-A`, `A.astype(t)`) only records work on the data, so it fuses there and costs nothing until it is read.
//
// Elements: bool, integers, float32, float64, complex64, complex128 (float16 and bfloat16 become float32). Indices: int32,
// or int64 where an extent or the number of entries needs it, or where asked for. Entries of equal place add up; zeros
// may be stored (`nnz` counts them). `T()` is a view of the other format: nothing is moved.
//
// What waits: makers that take indices check them (one read); conversions that sort (coo to csr), sums of duplicates,
// elementwise operations on two sparse arrays and products of two sparse arrays have a size that depends on data. Products
// with dense operands wait for nothing: those of real floating-point numbers are enqueued when they are first used, and take
// scales and sums of the same statement with them (`2 * A.dot(x) - 3 * y`, `b - A.dot(x)`); others at the call.
//
// Results do not vary from run to run, nor with the number of threads. Errors: shape_error, dtype_error, index_error,
// value_error, device_error (operands on two devices) name the function, shapes and dtypes.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops {
struct sparse_access;
}

namespace sinter::inline v0 {
namespace sparse {

/// csr: the entries of each row one after the other; csc: of each column; coo: in any order, with both coordinates.
enum class format : std::uint8_t { csr, csc, coo };
/// "csr", "csc", "coo".
std::string_view name(format f) noexcept;

namespace detail {
struct sparse_state;
}

/// Keywords of makers. `dtype` converts, `device` moves (default: where the parts are, else the default device).
/// index_dtype: int32 or int64; value_error where int32 is too narrow.
struct array_kw {
  kwonly _kw{};
  std::optional<sinter::dtype> dtype{};
  std::optional<sinter::device> device{};
  std::optional<sinter::dtype> index_dtype{};
};

/// Keywords of products: alpha * (A x) + beta * y, in one pass over the result. `y` has the result's shape and is cast
/// to its dtype; without it beta plays no part. dtype_error: a number other than 1 with elements that are integers or
/// bools, or a complex one with real elements.
struct product_kw {
  kwonly _kw{};
  scalar alpha = 1;
  scalar beta = 1;
  optional_array y{};
};

/// Keywords of sums, means and powers: the dtype that elements are cast to first, and that of the result.
struct element_kw {
  kwonly _kw{};
  std::optional<sinter::dtype> dtype{};
};

/// A sparse matrix.
class sparse_array {
 public:
  /// No array at all; anything but assigning to it throws.
  sparse_array() = default;
  bool defined() const noexcept { return state_ != nullptr; }

  sparse::format format() const;
  int ndim() const { return 2; }
  shape_t shape() const;
  /// Extent of one axis; negative axes count from the end. Throws index_error.
  std::int64_t shape(std::int64_t axis) const;
  sinter::dtype dtype() const;
  sinter::dtype index_dtype() const;
  sinter::device device() const;
  /// Stored entries, zeros and duplicates among them.
  std::int64_t nnz() const;
  /// The same: SciPy's size.
  std::int64_t size() const { return nnz(); }
  /// Bytes of the parts.
  std::int64_t nbytes() const;

  /// The stored elements, (nnz,).
  ndarray data() const;
  /// csr: columns of the entries, csc: their rows; (nnz,). value_error: coo.
  ndarray indices() const;
  /// Row (column) k has the entries indptr[k] to indptr[k + 1] - 1. value_error: coo.
  ndarray indptr() const;
  /// The entries' rows and columns, (nnz,); of csr and csc the compressed one is computed.
  ndarray row() const;
  ndarray col() const;
  /// Other elements (of any dtype that sparse arrays have) in the same places. shape_error: not (nnz,).
  sparse_array with_data(const ndarray& data) const;

  // ---- formats. Conversions from csr and csc keep duplicates; those from coo add them up, as SciPy's.
  sparse_array tocsr() const;
  sparse_array tocsc() const;
  sparse_array tocoo() const;
  sparse_array asformat(sparse::format f) const;
  /// value_error for another name.
  sparse_array asformat(std::string_view f) const;
  /// A dense array; records or enqueues, does not wait.
  ndarray toarray() const;
  ndarray todense() const { return toarray(); }
  /// The transpose: csr of a csc with the same parts and the other way round. Moves nothing.
  sparse_array T() const;
  sparse_array transpose() const { return T(); }
  /// The elements in C order in another shape, one of whose extents may be -1; the format stays. shape_error: not two extents, or
  /// another number of places.
  sparse_array reshape(const shape_t& shape) const;
  /// More rows and columns without entries, or fewer, with those outside dropped. Of this array, not of copies of it; waits.
  void resize(const shape_t& shape) &;
  /// Entries of equal place are added up first where that may make a difference: of bools, and for casts that may lose
  /// something.
  sparse_array astype(sinter::dtype to) const;
  sparse_array conj() const;
  sparse_array conjugate() const { return conj(); }
  sparse_array real() const;
  sparse_array imag() const;
  /// An array with parts of its own.
  sparse_array copy() const;
  sparse_array to_device(const sinter::device& to) const;
  sparse_array to_host() const;

  // ---- order of the entries. Whether the entries of each row (column) ascend, and whether they do and no place is there
  // twice; of coo, in C order. Known where the library made the array, else looked up once (which waits).
  bool has_sorted_indices() const;
  bool has_canonical_format() const;
  // Of this array, not of copies of it.
  void sort_indices() &;
  sparse_array sorted_indices() const;
  /// Adds up entries of equal place; sorts.
  void sum_duplicates() &;
  /// Drops entries that are zero. Waits.
  void eliminate_zeros() &;

  // ---- elements
  /// Element (i, j) of shape (), entries of equal place added up; negative numbers count from the end. index_error.
  ndarray at(std::int64_t i, std::int64_t j) const;
  /// Elements at (i[k], j[k]) of index arrays that broadcast together, as SciPy's A[i, j] of two arrays; dense, in their
  /// shape. Waits to check them.
  ndarray at(const ndarray& i, const ndarray& j) const;
  /// Rows and columns: numbers, slices of any step, `_`, arrays or lists of indices, masks; always two axes, so that a number
  /// leaves an extent of 1. Two arrays select rows and columns of their own each (`A(rows, cols)` is SciPy's
  /// `A[np.ix_(rows, cols)]`). csr and csc stay what they are, coo gives csr. Waits for the size. index_error.
  sparse_array operator()(const index& rows, const index& columns) const;
  sparse_array operator()(const index& rows) const;
  /// The k-th diagonal, dense; empty where there is none.
  ndarray diagonal(std::int64_t k = 0) const;
  ndarray trace(std::int64_t k = 0) const;
  /// Writes a number, or one element for each place (or fewer: the first ones), to the k-th diagonal. Of this array, not
  /// of copies of it. shape_error: more than the diagonal has, or not of rank 1.
  void setdiag(const operand& values, std::int64_t k = 0) &;
  /// Coordinates of the entries that are not zero, in C order of csr; waits.
  std::vector<ndarray> nonzero() const;
  /// How many stored entries are not zero (after duplicates have been added up): of everything, or along an axis, int64.
  ndarray count_nonzero(optional_axis axis = std::nullopt) const;

  // ---- reductions: dense results; all elements take part, those not stored as zeros. An axis goes; without one the
  // result has shape (). dtypes as of the dense functions. sum and mean enqueue; the others wait where duplicates have
  // to be added up first.
  ndarray sum(optional_axis axis = std::nullopt, const element_kw& kw = {}) const;
  ndarray mean(optional_axis axis = std::nullopt, const element_kw& kw = {}) const;
  ndarray min(optional_axis axis = std::nullopt) const;
  ndarray max(optional_axis axis = std::nullopt) const;
  /// The same of the elements that are not NaN; NaN where there are no others.
  ndarray nanmin(optional_axis axis = std::nullopt) const;
  ndarray nanmax(optional_axis axis = std::nullopt) const;
  /// Index of the first smallest (largest) element, int64; without an axis of the flattened matrix. value_error: nothing
  /// to choose from.
  ndarray argmin(optional_axis axis = std::nullopt) const;
  ndarray argmax(optional_axis axis = std::nullopt) const;

  // ---- products
  ndarray dot(const ndarray& x, const product_kw& kw = {}) const;
  sparse_array dot(const sparse_array& b) const;

  // ---- elementwise
  /// The operators of two operands. A dense operand or a number broadcasts to the shape.
  sparse_array multiply(const operand& x) const;
  sparse_array multiply(const sparse_array& b) const;
  sparse_array maximum(const sparse_array& b) const;
  sparse_array minimum(const sparse_array& b) const;
  /// With a number: value_error where it is larger (smaller) than 0, since every place would be stored then.
  sparse_array maximum(const scalar& x) const;
  sparse_array minimum(const scalar& x) const;
  /// With a dense array, which broadcasts: dense.
  ndarray maximum(const ndarray& x) const;
  ndarray minimum(const ndarray& x) const;
  /// Each stored element to a power n that is positive (value_error otherwise: zeros would not stay zeros).
  sparse_array power(const scalar& n, const element_kw& kw = {}) const;

 private:
  friend struct ops::sparse_access;
  std::shared_ptr<const detail::sparse_state> state_;
};

// ---- makers

/// From a dense array of rank 2 (a vector is one row): its elements that are not zero. Waits. shape_error: other ranks.
sparse_array csr_array(const ndarray& dense, const array_kw& kw = {});
sparse_array csc_array(const ndarray& dense, const array_kw& kw = {});
sparse_array coo_array(const ndarray& dense, const array_kw& kw = {});
/// In this format.
sparse_array csr_array(const sparse_array& a, const array_kw& kw = {});
sparse_array csc_array(const sparse_array& a, const array_kw& kw = {});
sparse_array coo_array(const sparse_array& a, const array_kw& kw = {});
/// Without entries; float64 unless a dtype is given.
sparse_array csr_array(const shape_t& shape, const array_kw& kw = {});
sparse_array csc_array(const shape_t& shape, const array_kw& kw = {});
sparse_array coo_array(const shape_t& shape, const array_kw& kw = {});
/// Of parts, which are checked (waits): indptr, one number longer than there are rows (csc: columns), starts at 0 and
/// never decreases, indices lie in the other extent. data and indices, of one length, are cut where indptr ends before. Without a shape the
/// other extent is the largest index plus one. value_error, index_error, which say where; shape_error; dtype_error:
/// indices that are no integers.
sparse_array csr_array(const ndarray& data, const ndarray& indices, const ndarray& indptr,
                       const std::optional<shape_t>& shape = {}, const array_kw& kw = {});
sparse_array csc_array(const ndarray& data, const ndarray& indices, const ndarray& indptr,
                       const std::optional<shape_t>& shape = {}, const array_kw& kw = {});
/// Of triplets: data[k] at (row[k], col[k]). Entries of equal place stay, and count as their sum. Without a shape the
/// largest indices plus one.
sparse_array coo_array(const ndarray& data, const ndarray& row, const ndarray& col,
                       const std::optional<shape_t>& shape = {}, const array_kw& kw = {});
/// The same in compressed rows, entries of equal place added up.
sparse_array csr_from_triplets(const ndarray& data, const ndarray& row, const ndarray& col,
                               const std::optional<shape_t>& shape = {}, const array_kw& kw = {});
/// SciPy's diagonal format as input: data[k, j] is element (j - offsets[k], j). The result is csr, since no diagonal
/// format is kept; zeros are dropped. value_error: an offset that is there twice.
sparse_array dia_array(const ndarray& data, const ndarray& offsets, const shape_t& shape, const array_kw& kw = {});

// ---- products

/// alpha * (A x) + beta * y of a vector (columns,) or a matrix (columns, k); dense. Shapes are checked at the call; the work is
/// done at the first use where there are no keywords and the numbers are real floating-point ones. dtypes promote. csr: rows on several
/// threads, long ones by vector instructions; csc: the transposed product of the same parts, nothing is converted. Sums
/// are taken in an order that follows from the matrix alone. NaN and infinity spread from the entries only, as in SciPy.
ndarray matmul(const sparse_array& a, const ndarray& x, const product_kw& kw = {});
/// x A of a vector (rows,) or a matrix (k, rows).
ndarray matmul(const ndarray& x, const sparse_array& a, const product_kw& kw = {});
/// Sparse, csr (csc where both are), indices in no order, as SciPy leaves them, but always the same; waits for the size.
sparse_array matmul(const sparse_array& a, const sparse_array& b);
inline ndarray dot(const sparse_array& a, const ndarray& x, const product_kw& kw = {}) { return matmul(a, x, kw); }
inline ndarray dot(const ndarray& x, const sparse_array& a, const product_kw& kw = {}) { return matmul(x, a, kw); }
inline sparse_array dot(const sparse_array& a, const sparse_array& b) { return matmul(a, b); }

// ---- operators. With a number or a dense array (which broadcasts): the stored elements change, the places stay; `A / d`
// too, so that 0 / 0 of places not stored is not NaN. `A + d` of a dense array is dense. Two sparse arrays: `+`, `-`, `*`
// and comparisons, in csr (csc where both are), zeros dropped; shape_error: other shapes.
sparse_array operator+(const sparse_array& a);
sparse_array operator-(const sparse_array& a);
sparse_array operator*(const sparse_array& a, const operand& x);
sparse_array operator*(const operand& x, const sparse_array& a);
sparse_array operator/(const sparse_array& a, const operand& x);
sparse_array operator+(const sparse_array& a, const sparse_array& b);
sparse_array operator-(const sparse_array& a, const sparse_array& b);
sparse_array operator*(const sparse_array& a, const sparse_array& b);
ndarray operator+(const sparse_array& a, const ndarray& x);
ndarray operator+(const ndarray& x, const sparse_array& a);
ndarray operator-(const sparse_array& a, const ndarray& x);
ndarray operator-(const ndarray& x, const sparse_array& a);
/// bool, where the comparison of two zeros is false. With a number: value_error where 0 compares true, since every place
/// would be stored then.
sparse_array operator!=(const sparse_array& a, const sparse_array& b);
sparse_array operator<(const sparse_array& a, const sparse_array& b);
sparse_array operator>(const sparse_array& a, const sparse_array& b);
sparse_array operator==(const sparse_array& a, const scalar& x);
sparse_array operator!=(const sparse_array& a, const scalar& x);
sparse_array operator<(const sparse_array& a, const scalar& x);
sparse_array operator<=(const sparse_array& a, const scalar& x);
sparse_array operator>(const sparse_array& a, const scalar& x);
sparse_array operator>=(const sparse_array& a, const scalar& x);
/// What is true of two zeros, and all comparisons with a dense array (which broadcasts), are dense: bool of the shape.
ndarray operator==(const sparse_array& a, const sparse_array& b);
ndarray operator<=(const sparse_array& a, const sparse_array& b);
ndarray operator>=(const sparse_array& a, const sparse_array& b);
ndarray operator==(const sparse_array& a, const ndarray& x);
ndarray operator!=(const sparse_array& a, const ndarray& x);
ndarray operator<(const sparse_array& a, const ndarray& x);
ndarray operator<=(const sparse_array& a, const ndarray& x);
ndarray operator>(const sparse_array& a, const ndarray& x);
ndarray operator>=(const sparse_array& a, const ndarray& x);
ndarray operator==(const ndarray& x, const sparse_array& a);
ndarray operator!=(const ndarray& x, const sparse_array& a);
ndarray operator<(const ndarray& x, const sparse_array& a);
ndarray operator<=(const ndarray& x, const sparse_array& a);
ndarray operator>(const ndarray& x, const sparse_array& a);
ndarray operator>=(const ndarray& x, const sparse_array& a);

}  // namespace sparse

using sparse::dot;
using sparse::matmul;

}  // namespace sinter::inline v0
