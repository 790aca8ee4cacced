// Factorisations of matrices, with the names of numpy.linalg and scipy.linalg. Matrices are the last two axes; leading
// axes are a batch, which goes to the library's batched routine where it has one.
//
// They run at the call: the argument is evaluated into the memory that LAPACK works in (cuSOLVER on a GPU, OpenBLAS on
// the CPU, opened on first use: device_error that says what was tried where they are missing). Functions that say so
// wait for the device, to find out whether they succeeded; elementwise work on the results fuses as usual. Results that
// LAPACK stores by columns are transposed when they are read; lu_factor alone returns them as stored, as SciPy's does.
//
// dtypes: float32, float64, complex64 and complex128; integers and bools become float64; float16 and bfloat16 are a
// dtype_error. Rank below 2, a matrix that must be square and is not, and a factorisation that does not exist are a
// linalg_error, with the index of the first such matrix of a batch.
#pragma once
#include <concepts>
#include <string_view>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {
namespace linalg {

struct cholesky_kw {
  kwonly _kw{};
  bool upper = false;
};
/// L of x = L L^H, or with `upper` U of x = U^H U; the other triangle is 0. Only the lower (upper) triangle of x is
/// read. Waits. linalg_error: not positive definite.
ndarray cholesky(const ndarray& x, const cholesky_kw& kw = {});

struct qr_kw {
  kwonly _kw{};
  /// reduced: q (..., M, K), r (..., K, N) with K = min(M, N); complete: q (..., M, M), r (..., M, N); r: r (..., K, N)
  /// alone, q is undefined; raw: what LAPACK gives, transposed as NumPy's, the reflections as q (..., N, M) and their
  /// factors as r (..., K). value_error for another word.
  std::string_view mode = "reduced";
};
struct qr_result {
  ndarray q, r;
};
/// x = q r with orthonormal columns of q and r upper triangular. The signs of r's diagonal are LAPACK's. Does not wait.
qr_result qr(const ndarray& x, const qr_kw& kw = {});
template <std::convertible_to<std::string_view> S>
qr_result qr(const ndarray& x, const S& mode) {
  return qr(x, qr_kw{.mode = mode});
}

struct pivoted_qr_result {
  ndarray q, r, p;
};
/// With column pivoting, scipy.linalg's `pivoting=True`: column p[j] of x is column j of q r, and the diagonal of r descends in
/// size. p is (..., N) int64; modes as of qr, but not raw. Computed on the host in double precision; waits.
pivoted_qr_result qr_pivoted(const ndarray& x, const qr_kw& kw = {});
template <std::convertible_to<std::string_view> S>
pivoted_qr_result qr_pivoted(const ndarray& x, const S& mode) {
  return qr_pivoted(x, qr_kw{.mode = mode});
}

struct ldl_kw {
  kwonly _kw{};
  bool lower = true;      // which triangle of x is read, and the form of lu
  bool hermitian = true;  // of complex numbers: else symmetric
};
struct ldl_result {
  ndarray lu, d, perm;
};
/// x = lu d lu^H (of symmetric complex matrices lu d lu^T) with d of blocks of one and two on the diagonal; lu[perm] is
/// triangular with a diagonal of ones, perm (..., N) int64. Bunch and Kaufman's pivots, as LAPACK. Singular matrices have one,
/// too. Computed on the host in double precision; waits.
ldl_result ldl(const ndarray& x, const ldl_kw& kw = {});

struct svd_kw {
  kwonly _kw{};
  bool full_matrices = true;
  bool compute_uv = true;
  bool hermitian = false;  // x is Hermitian, which is not checked: its eigenvectors are taken
};
/// With compute_uv = false only s is defined.
struct svd_result {
  ndarray u, s, vh;
};
/// x = u diag(s) vh, s (..., K) real and descending, K = min(M, N). u is (..., M, M) and vh (..., N, N), or with
/// full_matrices = false (..., M, K) and (..., K, N). Waits. linalg_error: no convergence, or elements that are not
/// finite.
svd_result svd(const ndarray& x, const svd_kw& kw = {});
/// The singular values alone, descending. Waits.
ndarray svdvals(const ndarray& x);

struct eigh_kw {
  kwonly _kw{};
  char uplo = 'L';  // the triangle that is read; value_error unless L or U (or in lower case)
};
struct eigen_result {
  ndarray eigenvalues, eigenvectors;
};
/// Hermitian matrices: eigenvalues (..., M) real and ascending, eigenvectors the columns of (..., M, M), of length 1.
/// Of a complex diagonal only the real part counts. Waits. linalg_error: no convergence, or elements that are not
/// finite.
eigen_result eigh(const ndarray& x, const eigh_kw& kw = {});
/// Their eigenvalues alone. Waits.
ndarray eigvalsh(const ndarray& x, const eigh_kw& kw = {});
/// Any square matrices: eigenvalues (..., M) in no order and right eigenvectors, the columns of (..., M, M), of length
/// 1; always complex, as the array API has it (NumPy makes them real where no imaginary part is left). Waits.
/// linalg_error: no convergence, or elements that are not finite.
eigen_result eig(const ndarray& x);
/// Their eigenvalues alone. Waits.
ndarray eigvals(const ndarray& x);

struct lu_kw {
  kwonly _kw{};
  bool permute_l = false;  // p is undefined and l is p l
  bool p_indices = false;  // p is (..., M) int64 instead: x is l[p] u
};
struct lu_result {
  ndarray p, l, u;
};
/// x = p l u with partial pivoting: p a permutation (..., M, M), l (..., M, K) with a diagonal of ones, u (..., K, N),
/// K = min(M, N). Singular matrices have one, too. Waits.
lu_result lu(const ndarray& x, const lu_kw& kw = {});

/// l (without its diagonal) below the diagonal, u on and above it, and int32 pivots (..., K): row i changed places with
/// row piv[i], one after the other.
struct lu_factors {
  ndarray lu, piv;
};
/// What lu_solve takes, in one array. Does not wait, and singular matrices are no error.
lu_factors lu_factor(const ndarray& x);

}  // namespace linalg
}  // namespace sinter::inline v0
