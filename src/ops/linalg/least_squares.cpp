// Functions based on singular values: least squares, pseudo-inverses, ranks, condition numbers.
#include <cmath>
#include <limits>

#include "ops/base/of_examples.hpp"
#include "ops/base/type_rules.hpp"
#include "ops/linalg/parts.hpp"
#include "ops/linalg/solver_calls.hpp"
#include "sinter/creation.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/linalg_norms.hpp"
#include "sinter/linalg_systems.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;
using std::int64_t;

namespace {

double eps_of(dtype t) {
  return t == dtype::f32 || t == dtype::c64 ? std::numeric_limits<float>::epsilon()
                                            : std::numeric_limits<double>::epsilon();
}

/// A number, or one number per matrix of a batch, with an axis for the singular values.
ndarray threshold(const operand& given, const ndarray& s) {
  if (given.is_array()) return expand_dims(given.array(), -1);
  return full({}, given, {.dtype = s.dtype(), .device = s.device()});
}

ndarray largest(const ndarray& s) { return max(s, -1, {.keepdims = true}); }

ndarray empty_like_inverse(const ndarray& x, const matrix_stack& s, dtype type) {
  return zeros_beside(x, s.with({s.columns, s.rows}), type);
}

[[noreturn]] void not_two_dimensional(int rank) {
  fail<linalg_error>("lstsq", rank, "-dimensional array given. Array must be two-dimensional");
}

/// The right sides as matrices.
ndarray columns_of(const ndarray& b, int64_t rows) {
  const dims& shape = view_of(b, "lstsq").shape;
  if (shape.size() != 1 && shape.size() != 2) not_two_dimensional(shape.size());
  if (shape[0] != rows)
    fail<linalg_error>("lstsq", "Incompatible dimensions: a has ", rows, " rows, b has shape ", shape);
  return shape.size() == 1 ? expand_dims(b, 1) : b;
}

ndarray squares(const ndarray& x) { return is_complex(x.dtype()) ? square(real(x)) + square(imag(x)) : square(x); }

/// 1 / s where s is above a limit, else 0.
ndarray inverted(const ndarray& s, const ndarray& limit) {
  const ndarray keep = greater(s, limit);
  return where(keep, reciprocal(where(keep, s, 1)), 0);
}

struct small_system {
  ndarray matrix, sides;
  ndarray rest;  // of the right sides: what no solution reaches
};

/// A system with many more rows than columns has the solutions of R x = Q^H b. Both are parts of the triangle of (a | b),
/// so that Q is never formed.
small_system triangle_of(const ndarray& a, const ndarray& b) {
  const int64_t n = a.shape(1);
  const ndarray r = linalg::qr(concatenate({a, b}, 1), {.mode = "r"}).r;
  return {r(slice(0, n), slice(0, n)), r(slice(0, n), slice(n, n + b.shape(1))),
          r(slice(n, r.shape(0)), slice(n, n + b.shape(1)))};
}

}  // namespace

linalg::lstsq_result linalg::lstsq(const ndarray& a, const ndarray& b, const lstsq_kw& kw) {
  const int rank = view_of(a, "lstsq").shape.size();
  if (rank != 2) not_two_dimensional(rank);
  const dtype type = linalg_dtype("lstsq", {&a, &b});
  const auto again = [kw](std::span<const ndarray> o) {
    const lstsq_result r = lstsq(o[0], o[1], kw);
    return results_of(r.x, r.residuals, array(r.rank, {.device = r.x.device()}), r.s);
  };
  if (auto r = intercept_mapped("lstsq", {&a, &b}, again))
    return {(*r)[0], (*r)[1], std::min(a.shape(0), a.shape(1)), (*r)[3]};
  const int64_t m = a.shape(0), n = a.shape(1);
  const ndarray sides = columns_of(b, m).astype(type, false), matrix = a.astype(type, false);
  const double cut = kw.rcond ? *kw.rcond : static_cast<double>(std::max(m, n)) * eps_of(type);

  lstsq_result r;
  const bool tall = n != 0 && m >= 2 * (n + sides.shape(1));
  const small_system least = tall ? triangle_of(matrix, sides) : small_system{matrix, sides, {}};
  const svd_result parts = svd(least.matrix, {.full_matrices = false});
  r.s = parts.s;
  ndarray x = zeros({n, sides.shape(1)}, {.dtype = type, .device = a.device()});
  if (m != 0 && n != 0) {
    const ndarray limit = largest(r.s) * (cut < 0 ? eps_of(type) : cut);
    const ndarray scaled =
        expand_dims(inverted(r.s, limit), 1) * matmul(conjugated(matrix_transpose(parts.u)), least.sides);
    x = matmul(conjugated(matrix_transpose(parts.vh)), scaled);
    r.rank = count_nonzero(greater(r.s, limit)).item<int64_t>();
  }
  if (r.rank == n && m > n) r.residuals = sum(squares(tall ? least.rest : sides - matmul(matrix, x)), 0);
  else r.residuals = zeros({0}, {.dtype = ops::real_of(type), .device = a.device()});
  r.x = b.ndim() == 1 ? reshape(x, {n}) : x;
  return r;
}

ndarray linalg::pinv(const ndarray& x, const pinv_kw& kw) {
  if (kw.rcond && kw.rtol) throw value_error("[pinv] rcond and rtol are two names of one argument; give one of them");
  const matrix_stack s = matrices_of(x, "pinv");
  const dtype type = linalg_dtype("pinv", {&x});
  // As NumPy: the dtype is kept for matrices without elements.
  if (s.rows == 0 || s.columns == 0) return empty_like_inverse(x, s, x.dtype());
  if (s.empty()) return empty_like_inverse(x, s, type);
  const svd_result parts = svd(conjugated(x), {.full_matrices = false, .hermitian = kw.hermitian});
  const optional_operand& given = kw.rtol ? kw.rtol : kw.rcond;
  const ndarray limit = (given ? threshold(*given, parts.s) : threshold(1e-15, parts.s)) * largest(parts.s);
  const ndarray inverse = expand_dims(inverted(parts.s, limit), -1) * matrix_transpose(parts.u);
  return matmul(matrix_transpose(parts.vh), inverse);
}

ndarray linalg::matrix_rank(const ndarray& x, const matrix_rank_kw& kw) {
  if (kw.tol && kw.rtol) throw value_error("[matrix_rank] tol and rtol cannot both be given");
  const dims shape = view_of(x, "matrix_rank").shape;
  if (shape.size() < 2) return any(not_equal(x, 0)).astype(int64);
  const matrix_stack m = matrices_of(x, "matrix_rank");
  linalg_dtype("matrix_rank", {&x});
  if (m.empty()) return zeros_beside(x, m.batch, int64);
  const ndarray s = kw.hermitian ? svd(x, {.compute_uv = false, .hermitian = true}).s : svdvals(x);
  if (kw.tol) return count_nonzero(greater(s, threshold(*kw.tol, s)), -1);
  const double usual = static_cast<double>(std::max(m.rows, m.columns)) * eps_of(s.dtype());
  return count_nonzero(greater(s, (kw.rtol ? threshold(*kw.rtol, s) : threshold(usual, s)) * largest(s)), -1);
}

// The norms 1, -1, the infinities and "fro" need the inverse; if there is none, the product of the norms is NaN, which
// becomes infinity unless the matrix itself contains a NaN.
ndarray linalg::cond(const ndarray& x, const norm_order& p) {
  const matrix_stack m = matrices_of(x, "cond");
  if (m.rows == 0 || m.columns == 0)
    fail<linalg_error>("cond", "cond is not defined on empty arrays, such as one of shape ", view_of(x, "cond").shape);
  const bool spectral = (!p.is_number() && !p.is_name()) || (p.is_number() && std::fabs(p.number()) == 2);
  if (!spectral) square_matrices_of(x, "cond");
  if (m.empty()) return zeros_beside(x, m.batch, real_of(linalg_dtype("cond", {&x})));
  ndarray r;
  if (spectral) {
    const ndarray s = svdvals(x), least = s(sinter::idx::ellipsis, -1), most = s(sinter::idx::ellipsis, 0);
    r = p.is_number() && p.number() < 0 ? least / most : most / least;
  } else {
    const matrix_norm_kw order{.ord = p};
    const ndarray norm_of_x = matrix_norm(x.astype(linalg_dtype("cond", {&x}), false), order);
    const inverses inverse = inverses_of(x, "cond");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    r = norm_of_x * where(equal(wrap(inverse.info), 0), matrix_norm(inverse.x, order), nan);
  }
  const ndarray unknown = any(isnan(x), axes{-2, -1});
  return where(logical_and(isnan(r), logical_not(unknown)), std::numeric_limits<double>::infinity(), r);
}

}  // namespace sinter::inline v0
