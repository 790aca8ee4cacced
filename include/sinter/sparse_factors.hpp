// Factorisations of sparse matrices and direct solutions, with the names of scipy.sparse.linalg.
// Not part of sinter.hpp: `#include "sinter/sparse_linalg.hpp"`.
//
// They are computed on the host by SuperLU (Demmel, Eisenstat, Gilbert, Li, Liu, A Supernodal Approach to Sparse Partial
// Pivoting, 1999), as SciPy's: libsuperlu5 of Debian, opened on first use; device_error that names the package where it is missing.
// Arrays of a GPU are copied to the host for that, and the results back; spsolve alone is solved there where cuDSS 1 or, for one
// right-hand side, cuSOLVER can be opened, and by SuperLU where these do not tell whether A is singular, or leave a residual that
// rounding does not. All functions wait.
//
// dtypes: float32, float64, complex64, complex128; others count as float64. Matrices of other formats than csc are converted.
// shape_error: not square, or extents that do not fit; value_error: 2^31 entries or more, which SuperLU cannot count;
// linalg_error: a singular matrix.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"
#include "sinter/sparse_operator.hpp"

namespace sinter::inline v0 {
namespace sparse::linalg {

namespace detail {
struct factored;
}

struct splu_kw {
  kwonly _kw{};
  /// The order of the columns, chosen to keep the factors sparse: "NATURAL", "MMD_ATA", "MMD_AT_PLUS_A", "COLAMD"; value_error
  /// for another word.
  std::string_view permc_spec = "COLAMD";
  /// From 0 (the diagonal is the pivot wherever it is not 0) to 1 (partial pivoting): 1, with symmetric_mode 0.
  std::optional<double> diag_pivot_thresh{};
  bool symmetric_mode = false;  // A is nearly symmetric: pivots on the diagonal, MMD_AT_PLUS_A goes well with it
};
struct spilu_kw {
  kwonly _kw{};
  double drop_tol = 1e-4;   // from 0 to 1: what is smaller, relative to its column, is dropped
  double fill_factor = 10;  // at least 1: how many times the entries of A the factors may have
  std::string_view permc_spec = "COLAMD";
  std::optional<double> diag_pivot_thresh{};  // 0.1
};

/// Factors P_r A P_c = L U of a square matrix. A handle; copies share the factors.
class superlu {
 public:
  superlu() = default;
  bool defined() const noexcept { return factored_ != nullptr; }
  shape_t shape() const;
  sinter::dtype dtype() const;
  /// Entries that SuperLU stores for both factors.
  std::int64_t nnz() const;
  /// L with a diagonal of ones, and U, csc.
  sparse_array L() const;
  sparse_array U() const;
  /// int32 (n,): row i of A is row perm_r[i] of L U, column j of A column perm_c[j].
  ndarray perm_r() const;
  ndarray perm_c() const;
  /// x of A x = b (trans 'N'), A^T x = b ('T') or A^H x = b ('H'), b of (n,) or (n, k); of incomplete factors what they make of
  /// it. The dtype is that of A and b promoted. value_error for another letter.
  ndarray solve(const ndarray& b, char trans = 'N') const;

 private:
  friend superlu splu(const sparse_array&, const splu_kw&);
  friend superlu spilu(const sparse_array&, const spilu_kw&);
  std::shared_ptr<const detail::factored> factored_;
};

/// linalg_error: singular, with the column.
superlu splu(const sparse_array& A, const splu_kw& kw = {});
/// Incomplete factors, by threshold (Li and Shao, A Supernodal Approach to Incomplete LU Factorization with Partial Pivoting,
/// 2011): a preconditioner, `{.M = linear_operator(A.shape(), [=](const ndarray& x) { return ilu.solve(x); })}`.
superlu spilu(const sparse_array& A, const spilu_kw& kw = {});

struct spsolve_kw {
  kwonly _kw{};
  std::string_view permc_spec = "COLAMD";
};
/// x of A x = b, b of (n,) or (n, k).
ndarray spsolve(const sparse_array& A, const ndarray& b, const spsolve_kw& kw = {});
/// Sparse b and x, csc.
sparse_array spsolve(const sparse_array& A, const sparse_array& b, const spsolve_kw& kw = {});
/// A function that solves A x = b for each b, with A factored once.
std::function<ndarray(const ndarray&)> factorized(const sparse_array& A);

struct spsolve_triangular_kw {
  kwonly _kw{};
  bool lower = true;
  bool unit_diagonal = false;
};
/// x of A x = b with triangular A, of which the other triangle is not read; row by row. linalg_error: a zero on the diagonal, or
/// nothing there.
ndarray spsolve_triangular(const sparse_array& A, const ndarray& b, const spsolve_triangular_kw& kw = {});

/// The inverse, csc; in general it is dense.
sparse_array inv(const sparse_array& A);

}  // namespace sparse::linalg
}  // namespace sinter::inline v0
