// eigsh of pairs of matrices and lobpcg: operators without a matrix, larger systems, breakdowns, what is refused. Values of small
// systems are compared with SciPy's in golden_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "ops/sparse_linalg/superlu.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
namespace sl = sinter::sparse::linalg;

double length(const ndarray& x) { return linalg::norm(ravel(x)).item<double>(); }
double pi() { return std::acos(-1.0); }

/// -1, 2, -1 around the diagonal, whose eigenvalues are 2 - 2 cos(k pi / (n + 1)).
sparse::sparse_array second_differences(std::int64_t n) {
  return sparse::diags({array({-1.0}), array({2.0}), array({-1.0})}, {-1, 0, 1}, shape_t{n, n}).tocsr();
}
/// The masses of linear elements, 1 4 1 / 6.
sparse::sparse_array masses(std::int64_t n) {
  return sparse::diags({array({1.0 / 6}), array({2.0 / 3}), array({1.0 / 6})}, {-1, 0, 1}, shape_t{n, n}).tocsr();
}
ndarray smallest(std::int64_t n, std::int64_t k) {
  return 2 - 2 * cos(pi() / static_cast<double>(n + 1) * (arange(k, {.dtype = float64}) + 1));
}
ndarray some_columns(std::int64_t n, std::int64_t k) {
  const ndarray t = arange(n * k, {.dtype = float64});
  return sin(t * t * 0.37 + 1).reshape(n, k);
}
/// The operator of a matrix without the matrix.
sl::linear_operator hidden(const sparse::sparse_array& a) {
  return sl::linear_operator(a.shape(), [a](const ndarray& x) { return sparse::matmul(a, x); },
                             {.matmat = [a](const ndarray& x) { return sparse::matmul(a, x); }, .dtype = a.dtype()});
}
double left_of(const sparse::sparse_array& a, const sparse::sparse_array& m, const sl::eigsh_result& r) {
  const ndarray& v = r.eigenvectors;
  return length(sparse::matmul(a, v) - sparse::matmul(m, v) * r.eigenvalues) / length(sparse::matmul(m, v));
}

}  // namespace

TEST_CASE("eigsh of a pair: elements of a string, by restarts, of operators and of functions") {
  if (test::no_superlu()) return;
  const std::int64_t n = 300;
  const auto a = second_differences(n), m = masses(n);
  const ndarray s = smallest(n, 4), expected = 6 * s / (6 - s);  // m = 1 - a / 6
  const auto near = sl::eigsh(a, {.k = 4, .M = m, .sigma = 0.0});
  CHECK(near.info == 0);
  CHECK(allclose(near.eigenvalues, expected, 1e-10, 0));
  CHECK(left_of(a, m, near) < 1e-12);
  CHECK(length(matmul(near.eigenvectors.T(), sparse::matmul(m, near.eigenvectors)) - eye(4)) < 1e-10);
  const auto far = sl::eigsh(a, {.k = 3, .M = m}),
             by_inverse = sl::eigsh(a, {.k = 3, .M = hidden(m), .Minv = sl::inv(m)});
  CHECK(far.info == 0);
  CHECK(left_of(a, m, far) < 1e-10);
  CHECK(allclose(far.eigenvalues, by_inverse.eigenvalues, 1e-10, 0));
  // Without a matrix, systems are solved by gmres.
  const auto little = second_differences(12), little_m = masses(12);
  const auto unseen = sl::eigsh(hidden(little), {.k = 3, .M = hidden(little_m), .sigma = 0.5}),
             seen = sl::eigsh(little, {.k = 3, .M = little_m, .sigma = 0.5});
  CHECK(allclose(unseen.eigenvalues, seen.eigenvalues, 1e-10, 0));
  CHECK(left_of(little, little_m, unseen) < 1e-9);
}

TEST_CASE("eigsh of a pair in float32 and complex numbers") {
  if (test::no_superlu()) return;
  const std::int64_t n = 60;
  const auto a = second_differences(n), m = masses(n);
  const auto single = sl::eigsh(a.astype(float32), {.k = 3, .M = m.astype(float32), .sigma = 0.1, .tol = 1e-5});
  CHECK(single.eigenvalues.dtype() == float32);
  CHECK(single.eigenvectors.dtype() == float32);
  CHECK(allclose(single.eigenvalues, sl::eigsh(a, {.k = 3, .M = m, .sigma = 0.1}).eigenvalues, 1e-4));
  // Turned by phases both matrices are complex and the eigenvalues those of before.
  const ndarray phases = exp(std::complex<double>(0, 1) * arange(n, {.dtype = float64}));
  const ndarray za = a.toarray() * phases * conj(phases)(_, newaxis),
                zm = m.toarray() * phases * conj(phases)(_, newaxis);
  const auto turned = sl::eigsh(za, {.k = 3, .M = zm, .sigma = 0.1});
  CHECK(turned.eigenvectors.dtype() == complex128);
  CHECK(allclose(turned.eigenvalues, sl::eigsh(a, {.k = 3, .M = m, .sigma = 0.1}).eigenvalues, 1e-9));
}

TEST_CASE("eigsh of a pair: M of few ranks, M that is not positive") {
  if (test::no_superlu()) return;
  const std::int64_t n = 40;
  const auto a = second_differences(n);
  ndarray d = zeros({n}, {.dtype = float64});
  d(slice(0, 5)) = arange(5, {.dtype = float64}) + 1;
  const auto m = sparse::diags({d}, {0}).tocsr();
  const auto r = sl::eigsh(a, {.k = 3, .M = m, .sigma = 0.0});  // five finite eigenvalues, and 20 vectors asked for
  CHECK(r.info == 0);
  CHECK(left_of(a, m, r) < 1e-10);
  CHECK_THROWS_AS(sl::eigsh(a, {.k = 6, .M = m, .sigma = 0.0}), linalg_error);
  CHECK_THROWS_AS(sl::eigsh(a, {.k = 2, .M = -1.0 * masses(n)}), linalg_error);
  ndarray mixed = ones({n}, {.dtype = float64});
  mixed(slice(0, 20)) = -1.0;
  CHECK_THROWS_AS(sl::eigsh(a, {.k = 2, .M = sparse::diags({mixed}, {0}).tocsr()}), linalg_error);
}

TEST_CASE("eigsh of a pair refuses what does not fit") {
  const auto a = second_differences(10), m = masses(10);
  CHECK_THROWS_WITH_AS(sl::eigsh(a, {.k = 2, .M = masses(9)}), "[eigsh] A of shape (10, 10) and M of shape (9, 9)",
                       shape_error);
  CHECK_THROWS_AS(sl::eigsh(a, {.k = 2, .sigma = 0.5, .OPinv = masses(9)}), shape_error);
  CHECK_THROWS_AS(sl::eigsh(a, {.k = 2, .M = m, .sigma = 0.5, .Minv = m}), value_error);
  CHECK_THROWS_AS(sl::eigsh(a, {.k = 2, .Minv = m}), value_error);
  CHECK_THROWS_AS(sl::eigsh(a, {.k = 2, .OPinv = m}), value_error);
  CHECK_THROWS_AS(sl::eigsh(a, {.k = 2, .sigma = 0.5, .mode = "shift"}), value_error);
  CHECK_THROWS_AS(sl::eigsh(a, {.k = 2, .sigma = 0.0, .mode = "cayley"}), value_error);
  CHECK_THROWS_AS(sl::eigsh(a, {.k = 2, .M = hidden(sparse::csr_array(shape_t{10, 10}))}),
                  linalg_error);  // gmres fails
}

namespace {

/// The 5-point Laplacian of a square of `side` squared points, whose eigenvalues off the diagonal of modes are double.
sparse::sparse_array square_laplacian(std::int64_t side) {
  const auto one = sparse::identity(side), d = second_differences(side);
  return (sparse::kron(one, d) + sparse::kron(d, one)).tocsr();
}
/// That of a cube, with triple and sixfold ones.
sparse::sparse_array cube_laplacian(std::int64_t side) {
  return (sparse::kron(square_laplacian(side), sparse::identity(side)) +
          sparse::kron(sparse::identity(side * side), second_differences(side)))
      .tocsr();
}
/// The k of ascending eigenvalues that `which` means.
ndarray wanted_of(const ndarray& all, std::int64_t k, const std::string& which) {
  if (which == "SA") return all(slice(k));
  if (which == "BE") return concatenate({all(slice(k / 2)), all(slice(-(k - k / 2), _))});
  return all(slice(-k, _));
}
double farthest(const ndarray& a, const ndarray& b) { return max(absolute(a - b)).item<double>(); }

}  // namespace

TEST_CASE("eigsh finds every copy of a double or triple eigenvalue, whatever the tolerance") {
  const struct {
    const char* name;
    sparse::sparse_array a;
  } matrices[] = {{"square", square_laplacian(12)},
                  {"cube", cube_laplacian(6)},
                  {"threefold", sparse::diags({floor(arange(210, {.dtype = float64}) / 3)}, {0}).tocsr()}};
  for (const auto& m : matrices) {
    const ndarray all = linalg::eigvalsh(m.a.toarray());
    const double size = absolute(all(-1)).item<double>();
    for (const std::int64_t k : {2, 3, 6, 9})
      for (const double tol : {0.0, 1e-6, 1e-3})
        for (const char* which : {"LM", "SA", "BE"}) {
          CAPTURE(m.name);
          CAPTURE(k);
          CAPTURE(tol);
          CAPTURE(which);
          const auto r = sl::eigsh(m.a, {.k = k, .which = which, .tol = tol});
          CHECK(r.info == 0);
          CHECK(farthest(r.eigenvalues, wanted_of(all, k, which)) < std::max(1e-12, tol / 100) * size);
          CHECK(length(matmul(r.eigenvectors.T(), r.eigenvectors) - eye(k)) < 1e-11);
        }
  }
}

TEST_CASE(
    "eigsh finds copies near a number, of pairs, of complex matrices, and from a start that has no part of them") {
  const auto a = square_laplacian(12);
  const ndarray all = linalg::eigvalsh(a.toarray());
  // Constant vectors have only modes that are even in both directions.
  for (const double tol : {0.0, 1e-4}) {
    const auto even = sl::eigsh(a, {.k = 5, .which = "SA", .v0 = ones({144}), .tol = tol});
    CHECK(farthest(even.eigenvalues, all(slice(5))) < 1e-7);
  }
  const ndarray phases = exp(std::complex<double>(0, 1) * arange(144, {.dtype = float64}));
  const ndarray z = a.toarray() * phases * conj(phases)(_, newaxis);
  const auto turned = sl::eigsh(z, {.k = 6, .which = "LA", .tol = 1e-6});
  CHECK(farthest(turned.eigenvalues, all(slice(-6, _))) < 1e-10);
  if (test::no_superlu()) return;
  for (const double tol : {0.0, 1e-6, 1e-3}) {
    CAPTURE(tol);
    const auto near = sl::eigsh(a, {.k = 6, .sigma = 0.0, .tol = tol});
    CHECK(farthest(near.eigenvalues, all(slice(6))) < 1e-5);
    const auto halves = sl::eigsh(a, {.k = 6, .M = 0.5 * sparse::identity(144), .sigma = 0.0, .tol = tol});
    CHECK(farthest(halves.eigenvalues, 2 * all(slice(6))) < 1e-5);
  }
}

TEST_CASE("eigsh ends where rounding lets residuals become no less") {
  const auto a = square_laplacian(30);
  std::int64_t products = 0;
  const sl::linear_operator counted(a.shape(), [&](const ndarray& x) { return ++products, sparse::matmul(a, x); },
                                    {.dtype = float64});
  // Relative to eigenvalues a thousandth of the largest one, machine epsilon is below what rounding leaves.
  const auto r = sl::eigsh(counted, {.k = 9, .which = "SA"});
  CHECK(r.info == 0);
  CHECK(products < 3000);
  const ndarray s = smallest(30, 30);
  CHECK(farthest(r.eigenvalues, sort(ravel(s + s(_, newaxis)))(slice(9))) < 1e-12);
}

TEST_CASE("svds finds both copies of double singular values") {
  const ndarray b = some_columns(40, 25);
  const ndarray twice = kron(eye(2), b), s = linalg::svdvals(b);
  for (const double tol : {0.0, 1e-5}) {
    const auto r = sl::svds(twice, {.k = 6, .tol = tol});
    CHECK(r.info == 0);
    CHECK(farthest(r.s, sort(concatenate({s(slice(3)), s(slice(3))}))) < 1e-8);
    CHECK(length(matmul(twice, r.vh.T()) - r.u * r.s) < 1e-8);
    CHECK(length(matmul(twice.T(), r.u) - r.vh.T() * r.s) < std::max(1e-6, 10 * tol));
  }
}

TEST_CASE("lobpcg: a preconditioner saves steps, and constraints give the eigenvalues that follow") {
  if (test::no_superlu()) return;
  const std::int64_t n = 400;
  const auto a = second_differences(n) + sparse::diags({arange(n, {.dtype = float64}) * 0.01}, {0}).tocsr();
  const ndarray x = some_columns(n, 4);
  const auto plain = sl::lobpcg(a, x, {.tol = 1e-6, .maxiter = 400, .largest = false});
  const auto solver = sl::factorized(a.tocsc());
  const sl::linear_operator inverse({n, n}, solver, {.matmat = solver, .dtype = float64});
  const auto helped = sl::lobpcg(a, x, {.M = inverse, .tol = 1e-6, .maxiter = 400, .largest = false});
  CHECK(max(plain.residualNormsHistory(-1)).item<double>() < 1.01e-6);
  CHECK(max(helped.residualNormsHistory(-1)).item<double>() < 1.01e-6);
  CHECK(helped.lambdaHistory.shape(0) * 2 < plain.lambdaHistory.shape(0));
  const ndarray expected = linalg::eigvalsh(a.toarray());
  CHECK(allclose(plain.eigenvalues, expected(slice(4)), 1e-9));
  CHECK(allclose(helped.eigenvalues, expected(slice(4)), 1e-9));
  const auto next =
      sl::lobpcg(hidden(a), x(_, slice(2)), {.Y = helped.eigenvectors, .tol = 1e-5, .maxiter = 400, .largest = false});
  CHECK(allclose(next.eigenvalues, expected(slice(4, 6)), 1e-7));
  CHECK(length(matmul(next.eigenvectors.T(), helped.eigenvectors)) < 1e-10);
}

TEST_CASE("lobpcg goes on to what rounding allows") {
  const std::int64_t n = 100;
  const auto a = second_differences(n) + sparse::diags({arange(n, {.dtype = float64}) * 0.1}, {0}).tocsr();
  // No step reaches 1e-30: the search must not lose what it has found.
  const auto r = sl::lobpcg(a, some_columns(n, 3), {.tol = 1e-30, .maxiter = 300});
  CHECK(allclose(r.eigenvalues, flip(linalg::eigvalsh(a.toarray())(slice(-3, _))), 1e-14));
  CHECK(max(r.residualNormsHistory(-1)).item<double>() < 1e-12);
  // X of eigenvectors: ends at once.
  const auto again = sl::lobpcg(a, r.eigenvectors, {.tol = 1e-8});
  CHECK(again.lambdaHistory.shape(0) == 2);
}

TEST_CASE("lobpcg takes and refuses") {
  const std::int64_t n = 40;
  const auto a = second_differences(n);
  const ndarray x = some_columns(n, 2);
  CHECK(sl::lobpcg(a, x.astype(float32)).eigenvectors.dtype() == float64);  // a is
  CHECK(sl::lobpcg(a.astype(float32), x.astype(float32)).eigenvectors.dtype() == float32);
  CHECK(sl::lobpcg(a, x, {.maxiter = 0}).lambdaHistory.shape(0) >= 2);
  const ndarray before = x.copy();
  sl::lobpcg(a, x);
  CHECK(array_equal(x, before));
  CHECK_THROWS_WITH_AS(sl::lobpcg(a, ones({n})), "[lobpcg] A of shape (40, 40) and X of shape (40,)", shape_error);
  CHECK_THROWS_AS(sl::lobpcg(a, ones({n + 1, 2})), shape_error);
  CHECK_THROWS_AS(sl::lobpcg(ones({3, 4}), ones({3, 1})), shape_error);
  CHECK_THROWS_AS(sl::lobpcg(a, x, {.B = masses(7)}), shape_error);
  CHECK_THROWS_AS(sl::lobpcg(a, x, {.Y = ones({n})}), shape_error);
  CHECK_THROWS_AS(sl::lobpcg(a, x, {.Y = ones({n, 2})}), value_error);
  CHECK_THROWS_AS(sl::lobpcg(a, ones({n, 2})), value_error);
  CHECK_THROWS_AS(sl::lobpcg(a, x, {.maxiter = -1}), value_error);
  CHECK_THROWS_AS(sl::lobpcg(a, some_columns(n, 10), {.Y = x}), value_error);
  CHECK_THROWS_AS(sl::lobpcg(a, x, {.B = -1.0 * masses(n)}), value_error);
  CHECK_THROWS_AS(sl::lobpcg(a * std::nan(""), x), linalg_error);
  CHECK_THROWS_AS(sl::lobpcg(a, ndarray()), value_error);
}

TEST_CASE("eigsh and svds without all copies search once") {
  const std::int64_t side = 12, n = side * side;
  const sparse::sparse_array line = second_differences(side), a = sparse::kronsum(line, line).tocsr();
  const ndarray one = 2 - 2 * cos(pi() / static_cast<double>(side + 1) * (arange(side, {.dtype = float64}) + 1));
  const ndarray all = sort(ravel(one(_, newaxis) + one));
  int products = 0;
  const sl::linear_operator counted(
      {n, n}, [&](const ndarray& x) { return ++products, sparse::matmul(a, x); },
      {.rmatvec = [&](const ndarray& x) { return ++products, sparse::matmul(a, x); }, .dtype = float64});
  const auto found = sl::eigsh(counted, {.k = 4});
  const int searched = products;
  CHECK(allclose(found.eigenvalues, all(slice(n - 4, _)), 1e-10, 0));
  products = 0;
  const auto once = sl::eigsh(counted, {.k = 4, .all_copies = false});
  CHECK(products < searched);
  CHECK(once.info == 0);
  // Each is an eigenvalue, with its vector, if not one of the four largest.
  for (std::int64_t k = 0; k < 4; ++k) CHECK(min(abs(all - once.eigenvalues(k))).item<double>() < 1e-10);
  CHECK(length(sparse::matmul(a, once.eigenvectors) - once.eigenvectors * once.eigenvalues) < 1e-9);
  CHECK(once.eigenvalues(-1).item<double>() == doctest::Approx(all(-1).item<double>()).epsilon(1e-12));
  products = 0;
  const auto values = sl::svds(counted, {.k = 3});
  const int of_svds = products;
  products = 0;
  const auto few = sl::svds(counted, {.k = 3, .all_copies = false});
  CHECK(products < of_svds);
  CHECK(few.s(-1).item<double>() == doctest::Approx(values.s(-1).item<double>()).epsilon(1e-12));
}
