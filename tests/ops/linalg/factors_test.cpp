// Factorisations by their residuals and the properties of their factors: every dtype, sizes around 32, rectangular,
// stacked, ill-conditioned, singular and empty matrices.
#include "support/linalg_checks.hpp"

using namespace sinter;
using namespace sinter::test;

namespace {

ndarray diagonal_matrix(const ndarray& s) { return expand_dims(s, -1) * eye(s.shape(-1), {.device = s.device()}); }

void check_cholesky(const ndarray& a, bool upper) {
  const dtype t = a.dtype();
  const ndarray f = linalg::cholesky(a, {.upper = upper});
  CHECK(f.dtype() == t);
  CHECK(f.shape() == a.shape());
  const ndarray w = wide(f);
  const ndarray product = upper ? matmul(adjoint(w), w) : matmul(w, adjoint(w));
  CHECK(ratio(product, a, norm_1(a), a.shape(-1), t) < allowed_ratio);
  CHECK(array_equal(f, upper ? triu(f) : tril(f)));
}

void check_qr(const ndarray& a, const std::string& mode) {
  const dtype t = a.dtype();
  const std::int64_t m = a.shape(-2), n = a.shape(-1), k = std::min(m, n), columns = mode == "complete" ? m : k;
  const auto [q, r] = linalg::qr(a, mode);
  CHECK(q.dtype() == t);
  CHECK(r.dtype() == t);
  CHECK(q.shape(-2) == m);
  CHECK(q.shape(-1) == columns);
  CHECK(r.shape(-2) == columns);
  CHECK(r.shape(-1) == n);
  CHECK(q.ndim() == a.ndim());
  CHECK(ratio(matmul(wide(q), wide(r)), a, norm_1(a), std::max(m, n), t) < allowed_ratio);
  CHECK(orthogonality(q, t) < allowed_ratio);
  CHECK(array_equal(r, triu(r)));
  const ndarray alone = linalg::qr(a, "r").r;
  CHECK(alone.shape(-2) == k);
  if (mode == "reduced") CHECK(ratio(alone, r, norm_1(a), std::max(m, n), t) < allowed_ratio);
}

void check_singular_values(const ndarray& s, dtype t, std::int64_t k) {
  CHECK(s.dtype() == real_type(t));
  CHECK(s.shape(-1) == k);
  CHECK(all(greater_equal(s, 0)).item<bool>());
  if (k > 1) CHECK(all(less_equal(diff(s), 0)).item<bool>());
}

void check_svd(const ndarray& a, bool full) {
  const dtype t = a.dtype();
  const std::int64_t m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
  const auto [u, s, vh] = linalg::svd(a, {.full_matrices = full});
  CHECK(u.dtype() == t);
  CHECK(vh.dtype() == t);
  CHECK(u.shape(-2) == m);
  CHECK(u.shape(-1) == (full ? m : k));
  CHECK(vh.shape(-2) == (full ? n : k));
  CHECK(vh.shape(-1) == n);
  check_singular_values(s, t, k);
  using namespace sinter::idx;
  const ndarray left = u(ellipsis, slice(0, k)), right = vh(ellipsis, slice(0, k), _);
  const ndarray product = matmul(matmul(wide(left), wide(diagonal_matrix(s))), wide(right));
  CHECK(ratio(product, a, norm_1(a), std::max(m, n), t) < allowed_ratio);
  CHECK(orthogonality(u, t) < allowed_ratio);
  CHECK(orthogonality(adjoint(vh), t) < allowed_ratio);
  const ndarray alone = linalg::svdvals(a);
  check_singular_values(alone, t, k);
  const double error = max(absolute(wide(alone) - wide(s))).item<double>();
  CHECK(error <= allowed_ratio * eps_of(t) * static_cast<double>(std::max(m, n)) * max(s).item<double>());
}

void check_eigh(const ndarray& a, char uplo) {
  const dtype t = a.dtype();
  const std::int64_t n = a.shape(-1);
  // The elements of the other triangle must not matter.
  const ndarray spoilt = uplo == 'L' ? tril(a) + triu(a * 0 + std::numeric_limits<double>::quiet_NaN(), 1)
                                     : triu(a) + tril(a * 0 + std::numeric_limits<double>::infinity(), -1);
  const auto [w, v] = linalg::eigh(n > 1 ? spoilt : a, {.uplo = uplo});
  CHECK(w.dtype() == real_type(t));
  CHECK(v.dtype() == t);
  CHECK(v.shape() == a.shape());
  if (n > 1) CHECK(all(greater_equal(diff(w), 0)).item<bool>());
  const ndarray left = matmul(wide(a), wide(v)), right = wide(v) * wide(expand_dims(w, -2));
  CHECK(ratio(left, right, norm_1(a), n, t) < allowed_ratio);
  CHECK(orthogonality(v, t) < allowed_ratio);
  const ndarray alone = linalg::eigvalsh(a, {.uplo = uplo});
  CHECK(alone.dtype() == real_type(t));
  CHECK(max(absolute(wide(alone) - wide(w))).item<double>() <=
        allowed_ratio * eps_of(t) * static_cast<double>(n) * norm_1(a));
}

void check_eig(const ndarray& a) {
  const dtype t = a.dtype();
  const std::int64_t n = a.shape(-1);
  const auto [w, v] = linalg::eig(a);
  CHECK(w.dtype() == complex_type(t));
  CHECK(v.dtype() == complex_type(t));
  CHECK(v.shape() == a.shape());
  CHECK(w.ndim() == a.ndim() - 1);
  const ndarray left = matmul(wide(a).astype(complex128), wide(v)), right = wide(v) * wide(expand_dims(w, -2));
  CHECK(ratio(left, right, norm_1(a), n, t) < allowed_ratio);
  const ndarray lengths = sqrt(sum(square(absolute(wide(v))), -2));
  CHECK(max(absolute(lengths - 1)).item<double>() < allowed_ratio * eps_of(t) * static_cast<double>(n));
  const ndarray alone = linalg::eigvals(a);
  CHECK(alone.dtype() == complex_type(t));
  // The sums of eigenvalues are traces.
  const ndarray trace = linalg::trace(wide(a));
  for (const ndarray& values : {w, alone}) {
    const double error = max(absolute(sum(wide(values), -1) - trace)).item<double>();
    CHECK(error <= allowed_ratio * eps_of(t) * static_cast<double>(n) * norm_1(a));
  }
}

void check_lu(const ndarray& a) {
  const dtype t = a.dtype();
  const std::int64_t m = a.shape(-2), n = a.shape(-1), k = std::min(m, n);
  const auto [p, l, u] = linalg::lu(a);
  CHECK(l.shape(-1) == k);
  CHECK(u.shape(-2) == k);
  CHECK(l.dtype() == t);
  CHECK(array_equal(l, tril(l)));
  CHECK(array_equal(u, triu(u)));
  CHECK(all(equal(linalg::diagonal(l), 1)).item<bool>());
  // Complex pivots are the largest by |re| + |im|.
  CHECK(max(absolute(l)).item<double>() <= (is_complex(t) ? std::sqrt(2.0) : 1.0) + 4 * eps_of(t));
  CHECK(all(equal(sum(real(p), -1), 1)).item<bool>());
  CHECK(all(equal(sum(real(p), -2), 1)).item<bool>());
  const double size = norm_1(a);
  CHECK(ratio(matmul(matmul(wide(p), wide(l)), wide(u)), a, size, std::max(m, n), t) < allowed_ratio);
  const linalg::lu_result permuted = linalg::lu(a, {.permute_l = true});
  CHECK(ratio(matmul(wide(permuted.l), wide(permuted.u)), a, size, std::max(m, n), t) < allowed_ratio);
  const linalg::lu_result indexed = linalg::lu(a, {.p_indices = true});
  CHECK(array_equal(take_along_axis(indexed.l, expand_dims(indexed.p, -1), -2), permuted.l));
}

}  // namespace

TEST_CASE("cholesky: L L^H and U^H U are the matrix, the other triangle is 0") {
  if (no_solvers()) return;
  for (const dtype t : solver_types)
    for (const shape_t& shape : square_shapes()) {
      CAPTURE(described(shape, t));
      const ndarray a = positive_definite(shape, t, 11);
      check_cholesky(a, false);
      check_cholesky(a, true);
    }
  check_cholesky(positive_definite({1000, 1000}, float64, 12), false);
}

TEST_CASE("cholesky reads one triangle only") {
  if (no_solvers()) return;
  for (const dtype t : solver_types) {
    const ndarray a = positive_definite({3, 20, 20}, t, 13);
    CHECK(array_equal(linalg::cholesky(tril(a)), linalg::cholesky(a)));
    CHECK(array_equal(linalg::cholesky(triu(a), {.upper = true}), linalg::cholesky(a, {.upper = true})));
  }
}

TEST_CASE("qr: orthonormal columns times a triangle is the matrix, in every mode") {
  if (no_solvers()) return;
  for (const dtype t : solver_types)
    for (const shape_t& shape : all_shapes()) {
      CAPTURE(described(shape, t));
      const ndarray a = normal(shape, t, 21);
      check_qr(a, "reduced");
      check_qr(a, "complete");
    }
  check_qr(normal({1000, 1000}, float64, 22), "reduced");
}

TEST_CASE("svd: unitary, descending, and the matrix again; full, reduced, values") {
  if (no_solvers()) return;
  for (const dtype t : solver_types)
    for (const shape_t& shape : all_shapes()) {
      CAPTURE(described(shape, t));
      const ndarray a = normal(shape, t, 31);
      check_svd(a, true);
      check_svd(a, false);
    }
  for (const dtype t : solver_types)
    for (const shape_t& shape : {shape_t{200, 150}, shape_t{150, 200}}) {
      CAPTURE(described(shape, t));
      check_svd(normal(shape, t, 32), false);
    }
  check_svd(normal({1000, 1000}, float64, 33), false);
}

TEST_CASE("eigh: orthonormal vectors, ascending values, from either triangle") {
  if (no_solvers()) return;
  for (const dtype t : solver_types)
    for (const shape_t& shape : square_shapes()) {
      CAPTURE(described(shape, t));
      const ndarray a = hermitian(shape, t, 41);
      check_eigh(a, 'L');
      check_eigh(a, 'U');
    }
  check_eigh(hermitian({1000, 1000}, float64, 42), 'L');
}

TEST_CASE("eig: A v = v w with vectors of length 1, real pairs and complex matrices") {
  if (no_solvers()) return;
  for (const dtype t : solver_types)
    for (const shape_t& shape : square_shapes()) {
      CAPTURE(described(shape, t));
      check_eig(normal(shape, t, 51));
    }
  check_eig(normal({200, 200}, float64, 52));
}

TEST_CASE("lu: P L U is the matrix, with multipliers up to 1") {
  if (no_solvers()) return;
  for (const dtype t : solver_types)
    for (const shape_t& shape : all_shapes()) {
      CAPTURE(described(shape, t));
      check_lu(normal(shape, t, 61));
    }
  check_lu(normal({1000, 1000}, float64, 62));
}

TEST_CASE("factorisations of ill-conditioned and singular matrices are as accurate as others") {
  if (no_solvers()) return;
  for (const dtype t : solver_types) {
    CAPTURE(described({}, t));
    const ndarray i = arange(12.0), hilbert = (1.0 / (expand_dims(i, 1) + i + 1)).astype(t);
    const ndarray x = normal({60, 4}, t, 71), y = normal({4, 50}, t, 72);
    const ndarray few = matmul(x, y);  // rank 4
    const ndarray graded = normal({40, 40}, t, 73) * power(10.0, -0.1 * arange(40.0)).astype(real_type(t));
    const ndarray none = zeros({9, 9}, t), equal_rows = ones({35, 35}, t),
                  wide_rank = matmul(normal({150, 3}, t, 74), normal({3, 150}, t, 75));
    for (const ndarray& a : {hilbert, few, graded, none, equal_rows, wide_rank}) {
      CAPTURE(to_string(a.shape()));
      check_qr(a, "reduced");
      check_svd(a, false);
      check_lu(a);
    }
    for (const ndarray& a : {hilbert, none, equal_rows}) {
      check_eigh(a, 'L');
      check_svd(stack({a, a}), true);
    }
    check_eig(hilbert);
    check_eig(equal_rows);
  }
}

TEST_CASE("real matrices with known complex eigenvalues") {
  if (no_solvers()) return;
  // Rotations by an angle, and a companion matrix of x^4 = 1.
  const double c = std::cos(0.3), s = std::sin(0.3);
  const auto w = linalg::eigvals(array({{c, -s}, {s, c}})).to_vector<std::complex<double>>();
  CHECK(std::abs(w[0].real() - c) < 1e-15);
  CHECK(std::abs(std::abs(w[0].imag()) - s) < 1e-15);
  CHECK(w[1] == std::conj(w[0]));
  const auto roots = linalg::eig(array({{0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}));
  CHECK(max(absolute(power(roots.eigenvalues, 4) - 1)).item<double>() < 1e-13);
  CHECK(roots.eigenvectors.dtype() == complex128);
}

TEST_CASE("views, broadcasts and pending expressions are factored like arrays, and stay as they are") {
  if (no_solvers()) return;
  using namespace sinter::idx;
  const ndarray base = normal({6, 20, 22}, float64, 81), before = base.copy();
  const ndarray a = base(slice(_, _, 2), slice(1, 18), slice(20, 3, -1)), b = base(0).T();
  check_qr(a, "reduced");
  check_svd(a, true);
  check_svd(b, false);
  check_lu(b);
  check_qr(base(1) * 2.0 + base(2), "complete");
  check_eigh(broadcast_to(hermitian({5, 5}, complex128, 82), {3, 5, 5}), 'U');
  const ndarray c = positive_definite({8, 8}, complex64, 83);
  check_cholesky(conj(c.mT()), true);
  CHECK(array_equal(base, before));
}
