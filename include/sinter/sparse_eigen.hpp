// A few eigenvalues or singular values of large matrices, with the names and parameters of scipy.sparse.linalg.
// Not part of sinter.hpp: `#include "sinter/sparse_linalg.hpp"`.
//
// A is anything that converts to a linear_operator. Vectors stay on A's device; projected problems, of a few dozen rows, are
// solved on the host by LAPACK (linalg_factors.hpp), which waits: once in eight steps, and at each restart. dtypes as of the
// iterative solvers. linalg_error: elements that are not finite.
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
  /// Find those nearest to sigma: `which` then speaks of 1 / (eigenvalue - sigma).
  std::optional<double> sigma{};
  /// "LM", "SM" largest and smallest in magnitude, "LA", "SA" algebraically, "BE" half from each end.
  std::string_view which = "LM";
  optional_array v0{};                    // where to start; a fixed vector
  std::optional<std::int64_t> ncv{};      // vectors kept; min(n, max(2 k + 1, 20))
  std::optional<std::int64_t> maxiter{};  // restarts; 10 n
  double tol = 0;                         // relative to the eigenvalue; 0: machine epsilon
  bool return_eigenvectors = true;
  linear_operator OPinv{};  // (A - sigma)^-1; else by splu of sparse A, by LU of dense A
};
/// `info`: how many of the k did not converge; 0 if all did. Without eigenvectors these are undefined.
struct eigsh_result {
  ndarray eigenvalues;   // (k,) real, ascending
  ndarray eigenvectors;  // (n, k), columns of length 1
  std::int64_t info = 0;
};
/// Eigenvalues of Hermitian A by thick-restart Lanczos (Wu and Simon, Thick-Restart Lanczos Method for Large Symmetric Eigenvalue
/// Problems, 2000) with full reorthogonalisation, in place of SciPy's ARPACK: the same subspaces. value_error: k, ncv or which;
/// sigma of an operator that is no array, without OPinv.
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

}  // namespace sparse::linalg
}  // namespace sinter::inline v0
