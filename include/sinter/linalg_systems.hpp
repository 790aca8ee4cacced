// Systems of linear equations, inverses, determinants and functions of matrices, with the names of numpy.linalg and
// scipy.linalg. What linalg_factors.hpp says of batches, dtypes, errors, libraries and evaluation holds here.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "sinter/elementwise.hpp"
#include "sinter/keywords.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {
namespace linalg {

/// x of a x = b for square a (..., M, M); b is one vector (M,), or matrices (..., M, K); leading axes broadcast. Where
/// one a serves many b it is factored once. Waits. linalg_error: Singular matrix.
ndarray solve(const ndarray& a, const ndarray& b);
/// Waits. linalg_error: Singular matrix.
ndarray inv(const ndarray& x);

/// (...). Does not wait; singular matrices give 0.
ndarray det(const ndarray& x);
struct slogdet_result {
  ndarray sign, logabsdet;
};
/// det = sign * exp(logabsdet): the sign in x's dtype (of length 1 where complex), the logarithm real. Singular
/// matrices give 0 and -inf. Does not wait.
slogdet_result slogdet(const ndarray& x);

struct lu_solve_kw {
  kwonly _kw{};
  std::int64_t trans = 0;  // 0: a x = b, 1: a^T x = b, 2: a^H x = b; value_error otherwise
};
/// Solves with factors of lu_factor; b is one vector (M,), or matrices (..., M, K). Does not wait: where a is singular
/// the result holds infinities or NaN, and a pivot out of range is an index_error when it is read.
/// dtype_error: pivots that are no integers.
ndarray lu_solve(const lu_factors& a, const ndarray& b, const lu_solve_kw& kw = {});

struct solve_triangular_kw {
  kwonly _kw{};
  bool lower = false;
  std::int64_t trans = 0;  // 0: a x = b, 1: a^T x = b, 2: a^H x = b; value_error otherwise
  bool unit_diagonal = false;
};
/// Triangular a (..., M, M), of which the other triangle is not read; b is one vector (M,), or matrices (..., M, K). a
/// is read where it lies, without a copy, where its rows or columns are dense. Waits. linalg_error: a zero on the
/// diagonal.
ndarray solve_triangular(const ndarray& a, const ndarray& b, const solve_triangular_kw& kw = {});

/// Solves a x = b for a matrix of `l` diagonals below the main one and `u` above it, {l, u}, given as SciPy stores it: ab
/// (..., l + u + 1, M) with ab(u + i - j, j) = a(i, j); what lies outside the matrix is not read. b is one vector (M,) or matrices
/// (..., M, K); stacks broadcast. Gaussian elimination with row exchanges, on the host in double precision; waits. shape_error: other shapes; value_error: a negative
/// number of diagonals; linalg_error: Singular matrix.
ndarray solve_banded(std::pair<std::int64_t, std::int64_t> diagonals, const ndarray& ab, const ndarray& b);

struct solveh_banded_kw {
  kwonly _kw{};
  bool lower = false;  // ab(i - j, j) = a(i, j) with i >= j; else ab(u + i - j, j) = a(i, j) with i <= j
};
/// The same for Hermitian positive definite matrices, of which ab (..., u + 1, M) has one triangle, by a banded Cholesky
/// factorisation. linalg_error: not positive definite.
ndarray solveh_banded(const ndarray& ab, const ndarray& b, const solveh_banded_kw& kw = {});

/// Solves the system of toeplitz(c, r), or of toeplitz(c), by Levinson's recursion: O(M^2) operations, O(M) memory, for c and r
/// (..., M). b is one vector (M,) or matrices (..., M, K); stacks broadcast. On the host in double precision; waits. linalg_error: a leading part of the matrix is singular.
ndarray solve_toeplitz(const std::pair<ndarray, ndarray>& c_and_r, const ndarray& b);
ndarray solve_toeplitz(const ndarray& c, const ndarray& b);

/// The principal square root and logarithm of square matrices (..., M, M), always complex (real_if_close tells): SciPy's are real
/// where no imaginary part is left. By a Schur decomposition on the host in double precision; waits. NaN where there is none:
/// singular matrices may have no root, and have no logarithm. linalg_error: elements that are not finite, or no convergence.
ndarray sqrtm(const ndarray& x);
ndarray logm(const ndarray& x);

struct lstsq_kw {
  kwonly _kw{};
  /// Singular values up to rcond times the largest one count as 0; max(M, N) times the dtype's eps unless given, eps
  /// itself where negative.
  std::optional<double> rcond{};
};
/// residuals: sums of squares (K,), empty unless the rank is N and M > N; s: the singular values of a.
struct lstsq_result {
  ndarray x, residuals;
  std::int64_t rank = 0;
  ndarray s;
};
/// The x of least norm that makes the norm of b - a x least, by the singular value decomposition. a (M, N), b (M,) or
/// (M, K). Waits. linalg_error: other ranks, extents that do not fit, no convergence.
lstsq_result lstsq(const ndarray& a, const ndarray& b, const lstsq_kw& kw = {});

struct pinv_kw {
  kwonly _kw{};
  /// Singular values up to this times the largest one count as 0: a number, or one for each matrix. 1e-15 unless given,
  /// as in NumPy; rtol is its other name (value_error: both).
  optional_operand rcond{};
  optional_operand rtol{};
  bool hermitian = false;
};
/// Moore-Penrose inverse (..., N, M), by the singular value decomposition. Waits. Of matrices without elements the
/// dtype stays, as in NumPy.
ndarray pinv(const ndarray& x, const pinv_kw& kw = {});

struct tensorsolve_kw {
  kwonly _kw{};
  sinter::axes axes{};  // moved to the end of a first
};
/// x of tensordot(a, x, x.ndim()) = b; a has the shape of b, then that of x, with as many elements each. Waits.
ndarray tensorsolve(const ndarray& a, const ndarray& b, const tensorsolve_kw& kw = {});
/// The inverse of tensordot with a, whose first `ind` extents multiply to what the others do. Waits. value_error: ind
/// < 1.
ndarray tensorinv(const ndarray& a, std::int64_t ind = 2);

/// exp of square matrices by Pade approximants, scaling and squaring (Al-Mohy and Higham, A New Scaling and Squaring
/// Algorithm for the Matrix Exponential, 2009). Waits, to learn how often to square.
ndarray expm(const ndarray& x);

}  // namespace linalg
}  // namespace sinter::inline v0
