// A few eigenvalues or singular values of large matrices, with the names and parameters of scipy.sparse.linalg.
// Not part of sinter.hpp: `#include "sinter/sparse_linalg.hpp"`.
//
// A is anything that converts to a linear_operator. Vectors stay on A's device; projected problems, of a few dozen rows, are
// solved on the host by LAPACK (linalg_factors.hpp), which waits: of eigsh and svds once in eight steps and at each restart, of
// lobpcg in each step. dtypes as of the iterative solvers. linalg_error: elements that are not finite.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"
#include "sinter/sparse_operator.hpp"

namespace sinter::inline v0 {
namespace sparse::linalg {

struct eigsh_kw {
  kwonly _kw{};
  std::int64_t k = 6;  // from 1 to n - 1
  /// A x = w M x; Hermitian and positive definite (with sigma semidefinite, indefinite if mode is "buckling").
  linear_operator M{};
  /// Find those nearest to sigma: `which` then speaks of nu, which `mode` defines.
  std::optional<double> sigma{};
  /// "LM", "SM" largest and smallest in magnitude, "LA", "SA" algebraically, "BE" half from each end.
  std::string_view which = "LM";
  optional_array v0{};                    // where to start; a fixed vector
  std::optional<std::int64_t> ncv{};      // vectors kept; min(n, max(2 k + 1, 20))
  std::optional<std::int64_t> maxiter{};  // restarts; 10 n
  double tol = 0;                         // relative to the eigenvalue; 0: machine epsilon
  bool return_eigenvectors = true;
  linear_operator Minv{};   // M^-1, without sigma
  linear_operator OPinv{};  // (A - sigma M)^-1, with sigma
  /// With sigma: "normal" nu = 1 / (w - sigma), "cayley" (w + sigma) / (w - sigma), "buckling" w / (w - sigma), where A must
  /// be positive definite.
  std::string_view mode = "normal";
  /// Look for further copies of multiple eigenvalues once k have converged; ARPACK does not, which takes about half the products.
  bool all_copies = true;
};
/// `info`: how many of the k did not converge; 0 if all did. Without eigenvectors these are undefined.
struct eigsh_result {
  ndarray eigenvalues;   // (k,) real, ascending
  ndarray eigenvectors;  // (n, k), columns x of x^H M x = 1 (x^H A x = 1 if mode is "buckling")
  std::int64_t info = 0;
};
/// Eigenvalues of Hermitian A, or of A x = w M x, by thick-restart Lanczos (Wu and Simon, Thick-Restart Lanczos Method for Large
/// Symmetric Eigenvalue Problems, 2000) with full reorthogonalisation, in place of SciPy's ARPACK: the same subspaces, in the
/// inner product of M where there is one. Every copy of a multiple eigenvalue is found: what has converged is kept, and the
/// search begun once more from a vector orthogonal to it, until one finds nothing else, or has taken more than twice the
/// restarts of the first one. That takes further products with A, about as many for each copy as the first search; without
/// `all_copies` there is one search, as ARPACK's, which may miss copies. A pair has converged where its residual is at most tol |w|, or what rounding leaves,
/// ncv machine epsilons times the largest |w| seen. Where Minv or OPinv is needed and not given, sparse arrays are factored by
/// splu, dense ones by LU; systems of other operators are solved by gmres to 16 machine epsilons, and linalg_error says where
/// that does not converge. value_error: k, ncv, which or mode; Minv with sigma or without M; OPinv without sigma; sigma = 0 of
/// "cayley" and "buckling". linalg_error: x^H M x is negative.
eigsh_result eigsh(const linear_operator& A, const eigsh_kw& kw = {});
template <int_like K>
eigsh_result eigsh(const linear_operator& A, K k) {
  return eigsh(A, eigsh_kw{.k = extent(k).value});
}

struct svds_kw {
  kwonly _kw{};
  std::int64_t k = 6;             // from 1 to the lesser extent - 1
  std::string_view which = "LM";  // "LM" or "SM"
  optional_array v0{};            // of the lesser extent
  std::optional<std::int64_t> ncv{}, maxiter{};
  double tol = 0;
  bool return_singular_vectors = true;
  bool all_copies = true;  // of multiple singular values, as of eigsh
};
struct svds_result {
  ndarray u, s, vh;  // (m, k), (k,) ascending, (k, n)
  std::int64_t info = 0;
};
/// Singular values, by eigsh of A^H A or A A^H, whichever is smaller, and a singular value decomposition of what A makes of the
/// vectors found: those below the largest one times the root of the machine epsilon are inexact, as SciPy's.
svds_result svds(const linear_operator& A, const svds_kw& kw = {});
template <int_like K>
svds_result svds(const linear_operator& A, K k) {
  return svds(A, svds_kw{.k = extent(k).value});
}

struct lobpcg_kw {
  kwonly _kw{};
  linear_operator B{};                    // A x = w B x; positive definite
  linear_operator M{};                    // approximates the inverse of A
  optional_array Y{};                     // (n, j): x^H B Y = 0
  std::optional<double> tol{};            // of the norms of A x - w B x; n sqrt(machine epsilon)
  std::optional<std::int64_t> maxiter{};  // 20
  bool largest = true;
  /// Search directions are dropped where the residuals grow to 2^restartControl times the least ones.
  std::int64_t restartControl = 20;
};
/// Rows of the histories: one for each step up to the best one, and one after the last projection; none where eigh was called.
struct lobpcg_result {
  ndarray eigenvalues;   // (k,) real, largest (or smallest) first
  ndarray eigenvectors;  // (n, k), columns x of x^H B x = 1
  ndarray lambdaHistory;
  ndarray residualNormsHistory;  // its last row says how exact the result is
};
/// Eigenvalues from k approximate eigenvectors X (n, k), by the locally optimal block preconditioned conjugate gradients of
/// Knyazev (Toward the Optimal Preconditioned Eigensolver, SIAM J. Sci. Comput. 23, 2001): the best of the vectors, their
/// preconditioned residuals and the last step's directions. Columns whose residual is at most tol leave the search. Residuals and
/// directions are made orthogonal by the eigenvectors of their Gram matrix, without those that rounding has spoilt (SciPy: by
/// Cholesky factors, dropping all directions where there is none). Returns the step of least residuals, as SciPy does; where
/// n - j < 5 k, by eigh of the dense matrix. A step waits for its Gram matrices, of at most 3 k rows, which the host solves.
/// The dtype is that of X and A promoted. shape_error: X, Y or an operator of extents that do not fit; value_error: columns of X
/// or Y depend on each other, constraints where n - j < 5 k, a negative maxiter; linalg_error: what is not finite.
lobpcg_result lobpcg(const linear_operator& A, const ndarray& X, const lobpcg_kw& kw = {});

}  // namespace sparse::linalg
}  // namespace sinter::inline v0
