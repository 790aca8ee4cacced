// Rules of factorisations: tangents, of which the backward rules are the transposes. Matrices that are taken as Hermitian
// are so with their tangents: (t + t^H) / 2, as in JAX. Equal eigenvalues or singular values have no derivatives of
// vectors: infinity or NaN.
#include "ops/base/type_rules.hpp"
#include "ops/derivatives/opaque_rules.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/linalg.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::ops::derivatives {
namespace {

ndarray adjoint(const ndarray& x) { return is_complex(x.dtype()) ? conj(x.mT()) : x.mT(); }
ndarray hermitian_part(const ndarray& t) { return 0.5 * (t + adjoint(t)); }
ndarray real_of_array(const ndarray& x) { return is_complex(x.dtype()) ? real(x).copy() : x; }
ndarray diagonal_of(const ndarray& x) { return linalg::diagonal(x); }
ndarray unit(std::int64_t n, const ndarray& like) {
  return eye(n, {.dtype = real_of(like.dtype()), .device = like.device()});
}
ndarray row_of(const ndarray& x) { return expand_dims(x, -2); }
ndarray column_of(const ndarray& x) { return expand_dims(x, -1); }

/// x l^-1 and x l^-H for triangular l.
ndarray times_inverse(const ndarray& x, const ndarray& l, bool lower) {
  return linalg::solve_triangular(l, x.mT(), {.lower = lower, .trans = 1}).mT();
}
ndarray times_adjoint_inverse(const ndarray& x, const ndarray& l) {
  return adjoint(linalg::solve_triangular(l, adjoint(x), {.lower = true}));
}

std::vector<ndarray> cholesky_forward(const opaque_case& c, std::span<const ndarray> t) {
  const bool upper = c.number(0) != 0;
  const ndarray l = upper ? adjoint(c.y[0]) : c.y[0];
  const ndarray inner = times_adjoint_inverse(
      linalg::solve_triangular(l, hermitian_part(t[0]).astype(l.dtype(), false), {.lower = true}), l);
  const ndarray half = tril(inner) * (1 - 0.5 * unit(l.shape(-1), l));
  const ndarray d = matmul(l, half);
  return {upper ? adjoint(d) : d};
}

std::vector<ndarray> cholesky_backward(const opaque_case& c, std::span<const ndarray> g) {
  const bool upper = c.number(0) != 0;
  const ndarray l = upper ? adjoint(c.y[0]) : c.y[0];
  const ndarray half = tril(matmul(l.mT(), upper ? adjoint(g[0]) : g[0])) * (1 - 0.5 * unit(l.shape(-1), l));
  const ndarray left = linalg::solve_triangular(l, half, {.lower = true, .trans = 1});
  return {hermitian_part(linalg::solve_triangular(l, left.mT(), {.lower = true, .trans = 2}).mT())};
}

// Only of full column rank: reduced, or r alone.
std::vector<ndarray> qr_forward(const opaque_case& c, std::span<const ndarray> t) {
  const std::int64_t rows = c.x[0].shape(-2), n = c.x[0].shape(-1);
  const bool square_enough = rows >= n, complete = c.call.text == "complete" && rows != n;
  if (c.call.text == "raw" || complete) throw rule_refusal{"of modes complete and raw"};
  if (!square_enough) throw rule_refusal{"of matrices with more columns than rows"};
  const ndarray& r = c.y[1];
  const ndarray q = c.y[0].defined() ? c.y[0] : times_inverse(c.x[0].astype(r.dtype(), false), r, false);
  const ndarray scaled = times_inverse(t[0].astype(r.dtype(), false), r, false), inner = matmul(adjoint(q), scaled);
  const ndarray lower = tril(inner, -1);
  ndarray turn = lower - adjoint(lower);
  if (is_complex(turn.dtype())) turn = turn + unit(n, r) * (inner - real_of_array(inner));
  const ndarray dr = matmul(inner - turn, r);
  if (!c.y[0].defined()) return {{}, dr};
  return {matmul(q, turn - inner) + scaled, dr};
}

/// Of square matrices, with the permutation as a matrix.
std::vector<ndarray> lu_forward(const opaque_case& c, std::span<const ndarray> t) {
  if (c.number(0) != 0 || c.number(1) != 0) throw rule_refusal{"with permute_l or p_indices"};
  if (c.x[0].shape(-1) != c.x[0].shape(-2)) throw rule_refusal{"of matrices that are not square"};
  const ndarray &l = c.y[1], &u = c.y[2];
  const ndarray moved = matmul(c.y[0].mT(), t[0].astype(l.dtype(), false));
  const ndarray inner =
      times_inverse(linalg::solve_triangular(l, moved, {.lower = true, .unit_diagonal = true}), u, false);
  return {{}, matmul(l, tril(inner, -1)), matmul(triu(inner), u)};
}

std::vector<ndarray> eigh_forward(const opaque_case& c, std::span<const ndarray> t) {
  const bool vectors = c.y[1].defined();
  const linalg::eigen_result both =
      vectors ? linalg::eigen_result{c.y[0], c.y[1]} : linalg::eigh(c.x[0], {.uplo = c.number(0) != 0 ? 'U' : 'L'});
  const ndarray &w = both.eigenvalues, &v = both.eigenvectors;
  const ndarray inner = matmul(matmul(adjoint(v), hermitian_part(t[0]).astype(v.dtype(), false)), v);
  const ndarray dw = real_of_array(diagonal_of(inner));
  if (!vectors) return {dw, {}};
  const ndarray one = unit(w.shape(-1), w);
  const ndarray gaps = reciprocal(one + row_of(w) - column_of(w)) - one;
  return {dw, matmul(v, gaps * inner)};
}

std::vector<ndarray> eig_forward(const opaque_case& c, std::span<const ndarray> t) {
  const ndarray v = c.y[1].defined() ? c.y[1] : linalg::eig(c.x[0]).eigenvectors;
  const ndarray inner = linalg::solve(v, matmul(t[0].astype(v.dtype(), false), v));
  return {diagonal_of(inner), {}};
}
std::vector<ndarray> eig_backward(const opaque_case& c, std::span<const ndarray> g) {
  if (g.size() > 1 && g[1].defined())
    throw rule_refusal{"of eigenvectors of matrices that are not Hermitian, as in JAX"};
  const ndarray v = c.y[1].defined() ? c.y[1] : linalg::eig(c.x[0]).eigenvectors;
  return {matmul(linalg::solve(v.mT(), column_of(g[0]) * v.mT()), unit(v.shape(-1), v).astype(v.dtype()))};
}

/// Jamieson and others as in JAX: u, s, v^H of the reduced form.
std::vector<ndarray> svd_forward(const opaque_case& c, std::span<const ndarray> t) {
  const bool vectors = c.y[0].defined();
  const std::int64_t m = c.x[0].shape(-2), n = c.x[0].shape(-1);
  if (c.number(0) == 2 && m != n) throw rule_refusal{"with full_matrices of matrices that are not square"};
  const linalg::svd_result parts =
      vectors ? linalg::svd_result{c.y[0], c.y[1], c.y[2]} : linalg::svd(c.x[0], {.full_matrices = false});
  const ndarray &u = parts.u, &s = parts.s, v = adjoint(parts.vh), d = t[0].astype(u.dtype(), false);
  const ndarray inner = matmul(matmul(adjoint(u), d), v);
  const ndarray ds = real_of_array(diagonal_of(inner));
  if (!vectors) return {{}, ds, {}};
  const ndarray one = unit(s.shape(-1), s), row = row_of(s), column = column_of(s);
  const ndarray gaps = reciprocal((row + column) * (row - column) + one) - one;
  const ndarray right = row * inner, left = column * inner;
  const ndarray zero = equal(s, 0).astype(s.dtype()), inverse = reciprocal(s + zero) - zero;
  const ndarray along = 0.5 * (inner - adjoint(inner)) * (one * row_of(inverse));
  ndarray du = matmul(u, gaps * (right + adjoint(right)) + along);
  ndarray dv = matmul(v, gaps * (left + adjoint(left)));
  if (m > n) {
    const ndarray dav = matmul(d, v);
    du = du + (dav - matmul(u, matmul(adjoint(u), dav))) / row;
  }
  if (n > m) {
    const ndarray dau = matmul(adjoint(d), u);
    dv = dv + (dau - matmul(v, matmul(adjoint(v), dau))) / row;
  }
  return {du, ds, adjoint(dv)};
}

}  // namespace

std::span<const opaque_rule> opaque_rules_of_factors() {
  static constexpr opaque_rule rules[] = {
      {"cholesky", cholesky_forward, cholesky_backward},
      {"qr", qr_forward, nullptr},
      {"lu", lu_forward, nullptr},
      {"lu_factor", nullptr, nullptr, "of factors in one matrix; lu and solve have one"},
      {"eigh", eigh_forward, nullptr},
      {"eig", eig_forward, eig_backward},
      {"svd", svd_forward, nullptr},
  };
  return rules;
}

}  // namespace sinter::ops::derivatives
