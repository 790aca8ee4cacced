// Rules of matrix products and of systems of equations.
#include <complex>

#include "graph/values/example.hpp"
#include "ops/base/differentiating.hpp"
#include "ops/derivatives/opaque_rules.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/linalg.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::ops::derivatives {
namespace {

ndarray conjugate_of(const ndarray& x) { return is_complex(x.dtype()) ? conj(x) : x; }

// ---- products

ndarray product(const ndarray& x, const ndarray& y) { return x.shape(-1) == 1 ? x * y : matmul(x, y); }

std::vector<ndarray> matmul_forward(const opaque_case& c, std::span<const ndarray> t) {
  ndarray sum;
  if (t[0].defined()) sum = matmul(t[0], c.x[1]);
  if (t[1].defined()) sum = sum.defined() ? sum + matmul(c.x[0], t[1]) : matmul(c.x[0], t[1]);
  return {sum};
}
std::vector<ndarray> matmul_backward(const opaque_case& c, std::span<const ndarray> g) {
  std::vector<ndarray> out(2);
  // Of a matrix and a vector they are products of elements, which fuse.
  if (c.wanted[0]) out[0] = product(g[0], c.x[1].mT());
  if (c.wanted[1]) out[1] = product(c.x[0].mT(), g[0]);
  return out;
}

// ---- a x = b

/// Right sides and solutions as columns: vectors have one.
struct columns {
  bool vectors;
  ndarray of(const ndarray& x) const { return vectors ? expand_dims(x, -1) : x; }
  ndarray back(const ndarray& x) const { return vectors ? squeeze(x, axes{-1}) : x; }
};
columns columns_of(const opaque_case& c) { return {c.x[1].ndim() == 1}; }

std::vector<ndarray> solve_forward(const opaque_case& c, std::span<const ndarray> t) {
  const columns as = columns_of(c);
  ndarray side;
  if (t[1].defined()) side = as.of(t[1]);
  if (t[0].defined()) {
    const ndarray moved = matmul(t[0], as.of(c.y[0]));
    side = side.defined() ? side - moved : -moved;
  }
  return {as.back(linalg::solve(c.x[0], side))};
}
std::vector<ndarray> solve_backward(const opaque_case& c, std::span<const ndarray> g) {
  const columns as = columns_of(c);
  const ndarray of_b = linalg::solve(c.x[0].mT(), as.of(g[0]));
  std::vector<ndarray> out(2);
  if (c.wanted[0]) out[0] = -matmul(of_b, as.of(c.y[0]).mT());
  if (c.wanted[1]) out[1] = as.back(of_b);
  return out;
}

std::vector<ndarray> inverses_forward(const opaque_case& c, std::span<const ndarray> t) {
  return {-matmul(matmul(c.y[0], t[0]), c.y[0]), {}};
}
std::vector<ndarray> inverses_backward(const opaque_case& c, std::span<const ndarray> g) {
  if (!g[0].defined()) return {{}};
  return {-matmul(matmul(c.y[0].mT(), g[0]), c.y[0].mT())};
}

// ---- determinants

ndarray over_matrices(const ndarray& x) { return expand_dims(x, axes{-2, -1}); }

/// The matrix of cofactors by the recursion of Faddeev and LeVerrier: a polynomial of the elements, so its derivatives are right
/// where the matrix is singular. Its rounding errors grow with the size.
constexpr std::int64_t most_for_polynomial = 16;
ndarray polynomial_cofactors(const ndarray& x) {
  const std::int64_t n = x.shape(-1);
  const ndarray one = eye(n, {.dtype = x.dtype(), .device = x.device()});
  ndarray m = broadcast_to(one, x.shape());
  for (std::int64_t k = 1; k < n; ++k) {
    const ndarray product = matmul(x, m);
    m = product - over_matrices(linalg::trace(product) / static_cast<double>(k)) * one;
  }
  return (n % 2 == 0 ? -m : m).mT();
}

/// The matrix of cofactors. Of regular matrices det(x) inv(x)^T; where one is singular by singular values.
ndarray cofactors(const ndarray& x, const ndarray& det) {
  const bool may_look = !graph::is_example(value_of(det));  // not at one example of a vmap
  if (may_look && !bool(any(equal(det, 0)))) return over_matrices(det) * linalg::inv(x).mT();
  const std::int64_t n = x.shape(-1);
  if (is_differentiating()) {
    if (n <= most_for_polynomial) return polynomial_cofactors(x);
    if (may_look) throw rule_refusal{"of second order where a matrix of more than 16 rows is singular"};
  }
  const linalg::svd_result parts = linalg::svd(x, {.full_matrices = true});
  // Products of all singular values but one: rows without their own.
  const ndarray others = where(eye(n, {.dtype = bool_, .device = x.device()}), 1, expand_dims(parts.s, -2));
  const ndarray sides = linalg::det(parts.u) * linalg::det(parts.vh);
  const ndarray scaled = parts.u * expand_dims(prod(others, -1), -2);
  return over_matrices(sides) * matmul(conjugate_of(scaled), conjugate_of(parts.vh));
}

std::vector<ndarray> det_forward(const opaque_case& c, std::span<const ndarray> t) {
  return {sum(cofactors(c.x[0], c.y[0]) * t[0], axes{-2, -1})};
}
std::vector<ndarray> det_backward(const opaque_case& c, std::span<const ndarray> g) {
  return {over_matrices(g[0]) * cofactors(c.x[0], c.y[0])};
}

std::vector<ndarray> slogdet_forward(const opaque_case& c, std::span<const ndarray> t) {
  const ndarray s = sum(linalg::inv(c.x[0]).mT() * t[0], axes{-2, -1});
  if (!is_complex(s.dtype())) return {{}, s};
  return {c.y[0] * (std::complex<double>(0, 1) * imag(s)), real(s)};
}

// ---- triangles; numbers: trans, lower, unit_diagonal

ndarray triangle_solved(const opaque_case& c, const ndarray& b, std::int64_t trans) {
  return linalg::solve_triangular(c.x[0], b,
                                  {.lower = c.number(1) != 0, .trans = trans, .unit_diagonal = c.number(2) != 0});
}
/// The solution with the transpose of the matrix that was solved with.
ndarray transpose_solved(const opaque_case& c, const ndarray& b) {
  if (c.number(0) == 2) return conjugate_of(triangle_solved(c, conjugate_of(b), 0));
  return triangle_solved(c, b, 1 - c.number(0));
}
ndarray triangle_of(const opaque_case& c, const ndarray& x) {
  const bool unit = c.number(2) != 0;
  return c.number(1) != 0 ? tril(x, unit ? -1 : 0) : triu(x, unit ? 1 : 0);
}

std::vector<ndarray> triangular_forward(const opaque_case& c, std::span<const ndarray> t) {
  const columns as = columns_of(c);
  ndarray side;
  if (t[1].defined()) side = as.of(t[1]);
  if (t[0].defined()) {
    ndarray d = triangle_of(c, t[0]);
    if (c.number(0) != 0) d = d.mT();
    if (c.number(0) == 2) d = conjugate_of(d);
    const ndarray moved = matmul(d, as.of(c.y[0]));
    side = side.defined() ? side - moved : -moved;
  }
  return {as.back(triangle_solved(c, side, c.number(0)))};
}
std::vector<ndarray> triangular_backward(const opaque_case& c, std::span<const ndarray> g) {
  const columns as = columns_of(c);
  const ndarray of_b = transpose_solved(c, as.of(g[0])), x = as.of(c.y[0]);
  std::vector<ndarray> out(2);
  if (c.wanted[0]) {
    ndarray d = c.number(0) == 0 ? matmul(of_b, x.mT()) : matmul(x, of_b.mT());
    if (c.number(0) == 2) d = conjugate_of(d);
    out[0] = triangle_of(c, -d);
  }
  if (c.wanted[1]) out[1] = as.back(of_b);
  return out;
}

// ---- factors that are there: linear in the right side

std::vector<ndarray> lu_solve_forward(const opaque_case& c, std::span<const ndarray> t) {
  if (t[0].defined()) throw rule_refusal{"with respect to the factors; solve has one with respect to the matrix"};
  const ndarray all[] = {c.x[0], c.x[1], t[2]};
  return c.call.again(all);
}
std::vector<ndarray> lu_solve_backward(const opaque_case& c, std::span<const ndarray> g) {
  if (c.wanted[0]) throw rule_refusal{"with respect to the factors; solve has one with respect to the matrix"};
  const linalg::lu_factors factors{c.x[0], c.x[1]};
  const std::int64_t trans = c.number(0);
  if (trans == 2) return {{}, {}, conjugate_of(linalg::lu_solve(factors, conjugate_of(g[0])))};
  return {{}, {}, linalg::lu_solve(factors, g[0], {.trans = 1 - trans})};
}

}  // namespace

std::span<const opaque_rule> opaque_rules_of_systems() {
  static constexpr opaque_rule rules[] = {
      {"matmul", matmul_forward, matmul_backward},
      {"solve", solve_forward, solve_backward},
      {"inverses", inverses_forward, inverses_backward},
      {"det", det_forward, det_backward},
      {"slogdet", slogdet_forward, nullptr},
      {"solve_triangular", triangular_forward, triangular_backward},
      {"lu_solve", lu_solve_forward, lu_solve_backward},
  };
  return rules;
}

}  // namespace sinter::ops::derivatives
