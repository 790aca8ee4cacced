// Iterative solvers of linear systems and least squares, with SciPy's parameters, defaults, stopping rules and return codes.
// Not part of sinter.hpp: `#include "sinter/sparse_linalg.hpp"`.
//
// A is anything that converts to a linear_operator: a dense or sparse array, functions. Vectors, and the numbers of an
// iteration (steps, norms, the test of convergence), stay on the device: a step enqueues its kernels and the host goes on to the
// next one. On a GPU the host looks whether the iteration has ended once in eight steps, at what the device found four steps
// before; what ended it (convergence, a breakdown) has frozen the result there, so that up to eleven more steps cost time and
// change nothing. On the CPU, where nothing runs behind the host's back, it looks at every step. Results, numbers of
// steps and codes are those of SciPy's rules.
//
// A callback sees each step's iterate as an array that has been enqueued (reading it waits), and makes the host look each step.
//
// dtypes: float32, float64, complex64, complex128, promoted from those of A and b; others count as float64. b is (n,) or (n,
// 1), the solution (n,). All functions wait. A solver that does not converge returns its code and the iterate it has got.
// shape_error: extents that do not fit, or A is not square; value_error: a negative atol; device_error: arrays on two
// devices.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"
#include "sinter/sparse_operator.hpp"

namespace sinter::inline v0 {
namespace sparse::linalg {

/// A solution and its code: 0 converged; positive the number of steps (of cycles: gmres) that were allowed and did not
/// suffice; negative a breakdown: -10 a product of two residuals vanished, -11 a denominator did.
struct solution {
  ndarray x;
  std::int64_t info = 0;
};

/// Keywords of cg, cgs, bicgstab. Converged: norm(b - A x) < max(rtol * norm(b), atol).
struct solver_kw {
  kwonly _kw{};
  optional_array x0{};  // where to start; 0
  double rtol = 1e-5;
  double atol = 0;
  std::optional<std::int64_t> maxiter{};  // 10 n
  linear_operator M{};                    // approximates the inverse of A
  std::function<void(const ndarray&)> callback{};
};

/// Conjugate gradients (Hestenes and Stiefel, 1952) for Hermitian positive definite A; M alike.
solution cg(const linear_operator& A, const ndarray& b, const solver_kw& kw = {});
/// Conjugate gradients squared (Sonneveld, 1989), for any A.
solution cgs(const linear_operator& A, const ndarray& b, const solver_kw& kw = {});
/// Stabilised biconjugate gradients (van der Vorst, 1992), for any A.
solution bicgstab(const linear_operator& A, const ndarray& b, const solver_kw& kw = {});

/// What gmres's callback gets: the iterate after each cycle (`x`), or at each step the residual's norm, after M, relative to
/// that of b (`pr_norm`); `legacy`, the default as in SciPy, is the latter with maxiter counting steps.
struct gmres_kw {
  kwonly _kw{};
  optional_array x0{};
  double rtol = 1e-5;
  double atol = 0;
  std::optional<std::int64_t> restart{};  // steps of a cycle, 20, at most n
  std::optional<std::int64_t> maxiter{};  // cycles, 10 n
  linear_operator M{};                    // on the left
  std::function<void(const ndarray&)> callback{};
  std::string_view callback_type = "legacy";  // value_error for another word
};
/// Generalised minimal residuals with restarts (Saad and Schultz, 1986), for any A. A cycle keeps restart + 1 vectors. The
/// Arnoldi vectors are made orthogonal by classical Gram-Schmidt twice, in two passes over them each (SciPy: modified
/// Gram-Schmidt, one by one), so that values differ from SciPy's by rounding. Plane rotations are the host's, from the small
/// matrix that it reads once in eight steps.
solution gmres(const linear_operator& A, const ndarray& b, const gmres_kw& kw = {});

struct minres_kw {
  kwonly _kw{};
  optional_array x0{};
  double rtol = 1e-5;
  double shift = 0;                       // (A - shift) x = b
  std::optional<std::int64_t> maxiter{};  // 5 n
  linear_operator M{};                    // positive definite
  std::function<void(const ndarray&)> callback{};
};
/// Minimal residuals (Paige and Saunders, 1975) for real symmetric A, indefinite or singular. value_error: M (with its first
/// use, or at a later step) or A is found not to be what it must. dtype_error: complex.
solution minres(const linear_operator& A, const ndarray& b, const minres_kw& kw = {});

/// What lsmr returns; `istop`: 0 x = 0 (or x0) is exact; 1 A x = b to atol and btol; 2 least squares to atol; 3 the condition
/// exceeds conlim; 4, 5, 6 the same as far as the dtype can tell; 7 maxiter.
struct lsmr_result {
  ndarray x;
  std::int64_t istop = 0, itn = 0;
  double normr = 0;   // norm(b - A x), with damp that of the stacked system
  double normar = 0;  // norm(A^H (b - A x) - damp^2 x)
  double norma = 0;   // estimate of the Frobenius norm of the stacked matrix
  double conda = 0;   // estimate of its condition number
  double normx = 0;
};
struct lsmr_kw {
  kwonly _kw{};
  double damp = 0;
  double atol = 1e-6;
  double btol = 1e-6;
  double conlim = 1e8;
  std::optional<std::int64_t> maxiter{};  // the lesser extent
  optional_array x0{};
};
/// min norm(b - A x)^2 + damp^2 norm(x)^2 of any A (m, n) by Golub and Kahan's bidiagonalisation (Fong and Saunders, LSMR: An
/// Iterative Algorithm for Sparse Least-Squares Problems, 2011). A needs rmatvec. b is (m,); x float64 or complex128.
lsmr_result lsmr(const linear_operator& A, const ndarray& b, const lsmr_kw& kw = {});

/// What lsqr returns; istop as of lsmr.
struct lsqr_result {
  ndarray x;
  std::int64_t istop = 0, itn = 0;
  double r1norm = 0;  // norm(b - A x)
  double r2norm = 0;  // sqrt(r1norm^2 + damp^2 norm(x - x0)^2)
  double anorm = 0;   // estimate of the Frobenius norm of the stacked matrix
  double acond = 0;
  double arnorm = 0;  // norm(A^H r - damp^2 (x - x0))
  double xnorm = 0;
  ndarray var;  // estimate of the diagonal of (A^H A + damp^2)^-1; zeros unless calc_var
};
struct lsqr_kw {
  kwonly _kw{};
  double damp = 0;
  double atol = 1e-6;
  double btol = 1e-6;
  double conlim = 1e8;
  std::optional<std::int64_t> iter_lim{};  // 2 n
  bool calc_var = false;
  optional_array x0{};
};
/// The same problem by LSQR (Paige and Saunders, 1982).
lsqr_result lsqr(const linear_operator& A, const ndarray& b, const lsqr_kw& kw = {});

}  // namespace sparse::linalg
}  // namespace sinter::inline v0
