// Factorisations of matrices and solvers that use them, by vendors' LAPACK libraries.
//
// Work is enqueued like a launch; nothing here waits for results, save where a library itself does. Addresses are
// memory of the backend, scratch memory comes from its pool. Matrices are stored by columns, one after the other,
// without gaps; they are float32, float64, complex64 or complex128, and no extent is 0. `info` has one number for each
// matrix: 0 where all went well, else what LAPACK's routine of that name says, or not_finite. device_error where a
// library that is needed cannot be opened.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "sinter/dtype.hpp"

namespace sinter::runtime {

/// `count` matrices of rows x columns.
struct matrix_batch {
  dtype type{};
  std::int64_t rows = 0, columns = 0, count = 1;
  const char* function = "linalg";  // for error messages

  std::int64_t smaller() const noexcept { return rows < columns ? rows : columns; }
};

/// A matrix itself, its transpose, or its conjugated transpose.
enum class matrix_form : std::uint8_t { plain, transposed, conjugated };

enum class svd_part : std::uint8_t { values, reduced, full };
/// What an SVD leaves for the right singular vectors: V (columns x k), or its conjugated transpose (k x columns).
enum class right_vectors : std::uint8_t { v, vh };

/// op(a) x = b for triangular matrices a (order x order), of which one triangle is read. Here b and x lie by rows
/// (order x columns), one matrix after the other.
struct triangular_system {
  dtype type{};
  std::int64_t order = 0, columns = 0, count = 1;
  bool lower = false, unit_diagonal = false;
  matrix_form form = matrix_form::plain;
  bool by_rows = true;                   // how a lies; conjugated complex ones must lie by rows
  std::int64_t leading = 0, stride = 0;  // of a: from one row (column) to the next, from one matrix to the next
  const char* function = "solve_triangular";
};

/// Of svd, eigh and eig, which may not come to an end with such matrices: an element (that would be read) is infinite
/// or NaN, and nothing was computed.
constexpr std::int32_t not_finite = std::numeric_limits<std::int32_t>::min();

/// The outcome of factorisations that may still be running.
class outcome {
 public:
  virtual ~outcome() = default;
  /// The index of the first number that is not 0; -1 if there is none. Waits for the work enqueued before.
  virtual std::int64_t first_failure() = 0;
  /// Calls `refuse`, which throws, with the first failure. Of captured work, in the launch that has it.
  virtual void require_none(const std::function<void(std::int64_t)>& refuse) {
    if (const std::int64_t first = first_failure(); first >= 0) refuse(first);
  }
};

class solvers {
 public:
  virtual ~solvers() = default;

  /// Says that a call follows, once its matrices are computed: the libraries that it takes and their handles are made ready
  /// meanwhile, in the background. What fails there is reported by the call.
  virtual void expect() {}

  /// Enqueues a search for failures among the numbers of `info`; work enqueued afterwards is not waited for.
  virtual std::unique_ptr<outcome> look_for_failures(const std::int32_t* info, std::int64_t count) = 0;

  /// a = P L U with partial pivoting, in place. pivots, from 1, min(rows, columns) a matrix: row i changed places with
  /// row pivots[i] - 1, one after the other.
  virtual void factor_lu(const matrix_batch& m, void* a, std::int32_t* pivots, std::int32_t* info) = 0;
  /// x = op(a)^-1 b for the matrices factored into lu (b.rows x b.rows, b.count of them), in place.
  virtual void solve_lu(const matrix_batch& b, matrix_form form, const void* lu, const std::int32_t* pivots,
                        void* x) = 0;
  virtual void solve_triangular(const triangular_system& s, const void* a, void* x) = 0;

  /// a = L L^H or U^H U from one triangle, in place; what the other triangle holds afterwards means nothing.
  virtual void factor_cholesky(const matrix_batch& m, bool upper, void* a, std::int32_t* info) = 0;

  /// a = Q R in place: R on and above the diagonal, reflectors below it, with min(rows, columns) factors tau a matrix.
  virtual void factor_qr(const matrix_batch& m, void* a, void* tau) = 0;
  /// The first q.columns (at most q.rows) columns of the product of `reflectors` (at most q.columns) reflectors, which
  /// a holds; in place.
  virtual void form_q(const matrix_batch& q, std::int64_t reflectors, void* a, const void* tau) = 0;

  /// Whether svd takes matrices with fewer rows than columns.
  virtual bool svd_takes_wide() const noexcept = 0;
  /// a = u diag(s) v^H, s (real) in descending order; a is destroyed. k = min(rows, columns): u is rows x k, v has k
  /// vectors, or all there are with `full`; null where only values are wanted.
  virtual right_vectors svd(const matrix_batch& m, svd_part part, void* a, void* s, void* u, void* v,
                            std::int32_t* info) = 0;

  /// Eigenvalues w (real, ascending) of Hermitian matrices, of which one triangle is read; a becomes the eigenvectors,
  /// or is destroyed. Unless `robust`, a faster method may be used, which does not converge for some matrices for which
  /// the robust one does.
  virtual void eigh(const matrix_batch& m, bool upper, bool vectors, bool robust, void* a, void* w,
                    std::int32_t* info) = 0;
  /// Eigenvalues w (complex) of matrices, and unless v is null right eigenvectors of length 1; a is destroyed.
  /// For real matrices v is real: where w[j], w[j + 1] are a conjugated pair, columns j and j + 1 are the real and the
  /// imaginary part of the first one's vector.
  virtual void eig(const matrix_batch& m, void* a, void* w, void* v, std::int32_t* info) = 0;
};

}  // namespace sinter::runtime
