// Rules of linear algebra beside its values: dtypes, errors and where they point, results as views, what is read, what
// stays, what is left to later.
#include <doctest/doctest.h>

#include <functional>
#include <thread>

#include "support/linalg_checks.hpp"

using namespace sinter;
using namespace sinter::idx;
using namespace sinter::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan_value = std::numeric_limits<double>::quiet_NaN();

template <class E>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "nothing was thrown";
}

bool holds(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  MESSAGE(text);
  return false;
}

/// Made by each case: an array in static storage would open the default device before main.
ndarray two() { return array({{2.0, 1.0}, {1.0, 3.0}}); }

}  // namespace

TEST_CASE("linalg: integers and bools compute in float64, float32 stays, mixtures promote") {
  if (no_solvers()) return;
  const ndarray integers = array({{2, 1}, {1, 3}});
  CHECK(linalg::inv(integers).dtype() == float64);
  CHECK(linalg::inv(integers.astype(uint8)).dtype() == float64);
  CHECK(linalg::det(array({{true, false}, {true, true}})).dtype() == float64);
  CHECK(linalg::qr(two().astype(float32)).q.dtype() == float32);
  CHECK(linalg::svdvals(two().astype(complex64)).dtype() == float32);
  CHECK(linalg::solve(two().astype(float32), two().astype(complex128)).dtype() == complex128);
  CHECK(linalg::solve(two().astype(float32), integers).dtype() == float64);
  CHECK(linalg::eig(two().astype(float32)).eigenvectors.dtype() == complex64);
  CHECK(linalg::slogdet(two().astype(complex64)).logabsdet.dtype() == float32);
  CHECK(linalg::matrix_rank(two().astype(float32)).dtype() == int64);
  CHECK(linalg::lu_factor(two()).piv.dtype() == int32);
  CHECK(linalg::expm(integers).dtype() == float64);
}

TEST_CASE("linalg: half types are refused, save by norms that need no factorisation") {
  if (no_solvers()) return;
  for (const dtype t : {float16, bfloat16}) {
    const ndarray x = two().astype(t);
    CHECK(
        holds(message_of<dtype_error>([&] { linalg::solve(x, two()); }), "[solve] arrays of " + std::string(name(t))));
    CHECK_THROWS_AS(linalg::qr(x), dtype_error);
    CHECK_THROWS_AS(linalg::svd(x), dtype_error);
    CHECK_THROWS_AS(linalg::det(x), dtype_error);
    CHECK_THROWS_AS(linalg::expm(x), dtype_error);
    CHECK_THROWS_AS(linalg::norm(x, 2), dtype_error);
    CHECK(linalg::norm(x).dtype() == t);
    CHECK(linalg::norm(x, "fro").dtype() == t);
    CHECK(linalg::trace(x).item<float>() == 5);
  }
  // Squares of half numbers do not overflow in between.
  CHECK(linalg::norm(array({300.0, 400.0}).astype(float16)).item<float>() == 500);
}

TEST_CASE("linalg: a singular or indefinite matrix throws linalg_error with its batch index") {
  if (no_solvers()) return;
  const ndarray singular = ones({2, 2});
  CHECK(holds(message_of<linalg_error>([&] { linalg::solve(singular, ones(2)); }), "[solve] Singular matrix"));
  CHECK(message_of<linalg_error>([&] { linalg::inv(singular); }) == "[inv] Singular matrix");
  ndarray stacked = broadcast_to(two(), {3, 4, 2, 2}).copy();
  stacked(1, 2) = singular;
  stacked(2, 3) = singular;
  CHECK(message_of<linalg_error>([&] { linalg::inv(stacked); }) == "[inv] Singular matrix at batch index (1, 2)");
  CHECK(holds(message_of<linalg_error>([&] { linalg::solve(stacked, ones({4, 2, 1})); }), "at batch index (1, 2)"));
  CHECK(holds(message_of<linalg_error>([&] { linalg::solve(stacked(1), ones(2)); }), "at batch index (2,)"));
  CHECK(message_of<linalg_error>([&] { linalg::cholesky(-two()); }) == "[cholesky] Matrix is not positive definite");
  CHECK(holds(message_of<linalg_error>([&] { linalg::cholesky(stacked - 1.0); }),
              "[cholesky] Matrix is not positive definite at batch index (1, 2)"));
  const ndarray triangle = array({{1.0, 2.0}, {0.0, 0.0}});
  CHECK(message_of<linalg_error>([&] { linalg::solve_triangular(triangle, ones(2)); }) ==
        "[solve_triangular] singular matrix: resolution failed at diagonal 1");
  CHECK(holds(message_of<linalg_error>([&] {
                linalg::solve_triangular(stack({two(), triangle}), ones(2));
              }),
              "at diagonal 1 at batch index (1,)"));
  CHECK(array_equal(linalg::solve_triangular(triangle, ones(2), {.unit_diagonal = true}), array({-1.0, 1.0})));
}

TEST_CASE("linalg: determinants of singular matrices are 0, and do not throw") {
  if (no_solvers()) return;
  for (const dtype t : solver_types) {
    const ndarray x = stack({ones({3, 3}), 2.0 * eye(3), zeros({3, 3})}).astype(t);
    const auto [sign, logabsdet] = linalg::slogdet(x);
    CHECK(array_equal(sign, array({0, 1, 0}).astype(t)));
    CHECK(logabsdet(0).item<double>() == -infinity);
    CHECK(std::abs(logabsdet(1).item<double>() - 3 * std::log(2.0)) < 10 * eps_of(t));
    CHECK(array_equal(equal(linalg::det(x), 0), array({true, false, true})));
  }
  // Neither factors nor their product overflow.
  const double tiny = linalg::det(eye(4) * array({1e200, 1e200, 1e-200, 1e-200})).item<double>();
  CHECK(std::abs(tiny - 1) < 1e-12);
}

TEST_CASE("linalg: elements that are not finite") {
  if (no_solvers()) return;
  for (const double bad : {nan_value, infinity, -infinity}) {
    ndarray x = broadcast_to(two(), {2, 2, 2}).copy();
    x(1, 1, 0) = bad;
    CHECK(holds(message_of<linalg_error>([&] { linalg::svd(x); }), "[svd] SVD did not converge at batch index (1,)"));
    CHECK(holds(message_of<linalg_error>([&] { linalg::svdvals(x(1)); }), "[svdvals] SVD did not converge"));
    CHECK(holds(message_of<linalg_error>([&] { linalg::eigh(x); }), "[eigh] Eigenvalues did not converge"));
    CHECK(holds(message_of<linalg_error>([&] { linalg::eig(x); }), "[eig] Array must not contain infs or NaNs"));
    CHECK(all(isfinite(linalg::eigvalsh(x, {.uplo = 'U'}))).item<bool>());  // it is in the other triangle
    CHECK(all(equal(isfinite(linalg::det(x)), array({true, false}))).item<bool>());
    const ndarray exponential = linalg::expm(x);
    CHECK(all(isfinite(exponential(0))).item<bool>());
    CHECK(all(isnan(exponential(1))).item<bool>());
  }
  CHECK(std::isnan(linalg::cond(array({{nan_value, 1.0}, {1.0, 2.0}}), 1).item<double>()));
}

TEST_CASE("linalg: ranks and extents that do not fit are NumPy's errors") {
  if (no_solvers()) return;
  const ndarray vector = ones(3), wide_matrix = ones({2, 3});
  CHECK(message_of<linalg_error>([&] { linalg::inv(vector); }) ==
        "[inv] 1-dimensional array given. Array must be at least two-dimensional");
  CHECK(message_of<linalg_error>([&] { linalg::det(wide_matrix); }) ==
        "[det] Last 2 dimensions of the array must be square, not (2, 3)");
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { linalg::solve(wide_matrix, vector); }, [&] { linalg::cholesky(wide_matrix); },
           [&] { linalg::eigh(wide_matrix); }, [&] { linalg::eig(wide_matrix); }, [&] { linalg::expm(wide_matrix); },
           [&] { linalg::cond(wide_matrix, 1); }, [&] { linalg::solve_triangular(wide_matrix, vector); },
           [&] { linalg::qr(vector); }, [&] { linalg::svd(vector); }, [&] { linalg::lu(vector); },
           [&] { linalg::pinv(vector); }, [&] { linalg::slogdet(vector); },
           [&] {
             linalg::lstsq(ones({2, 2, 2}), ones(2));
           },
           [&] {
             linalg::lstsq(ones({2, 2}), ones(3));
           },
           [&] {
             linalg::lstsq(ones({2, 2}), ones({2, 2, 2}));
           },
           [&] {
             linalg::cond(zeros({0, 3}));
           },
           [&] {
             linalg::tensorsolve(ones({2, 3}), ones(2));
           },
           [&] {
             linalg::tensorinv(ones({2, 3}), 1);
           }})
    CHECK_THROWS_AS(call(), linalg_error);
  CHECK(holds(message_of<shape_error>([&] { linalg::solve(two(), vector); }),
              "[solve] input operand 1 has a mismatch in its core dimension 0, with gufunc signature (m,m),(m)->(m) "
              "(size 3 is different from 2)"));
  CHECK(holds(message_of<shape_error>([&] {
                linalg::solve(ones({2, 3, 3}), ones({4, 3, 1}));
              }),
              "[solve] leading axes could not be broadcast together: shapes (2, 3, 3) and (4, 3, 1)"));
  CHECK_THROWS_AS(linalg::solve(two(), array(1.0)), shape_error);
  CHECK_THROWS_AS(linalg::lu_solve({two(), ones({3}, int32)}, ones(2)), shape_error);
  CHECK_THROWS_AS(linalg::tensorinv(ones({2, 3}), 0), value_error);
  CHECK(holds(message_of<value_error>([&] { linalg::qr(two(), "full"); }), "[qr] Unrecognized mode 'full'"));
  CHECK_THROWS_AS(linalg::eigh(two(), {.uplo = 'X'}), value_error);
  CHECK_THROWS_AS(linalg::solve_triangular(two(), ones(2), {.trans = 3}), value_error);
  CHECK_THROWS_AS(linalg::pinv(two(), {.rcond = 1e-3, .rtol = 1e-3}), value_error);
  CHECK_THROWS_AS(linalg::matrix_rank(two(), {.tol = 1e-3, .rtol = 1e-3}), value_error);
  CHECK_THROWS_AS(linalg::cross(ones(2), ones(2)), value_error);
  CHECK_THROWS_AS(linalg::trace(vector), value_error);
  CHECK_THROWS_AS(diagonal(two(), 0, 1, 1), value_error);
  CHECK_THROWS_AS(linalg::norm(ones({2, 2, 2}), "fro"), value_error);
  CHECK(message_of<value_error>([&] { linalg::norm(two(), 3); }) == "[norm] Invalid norm order 3 for matrices");
  CHECK_THROWS_AS(linalg::norm(two(), "least"), value_error);
  CHECK_THROWS_AS(linalg::norm(vector, "fro"), value_error);
  CHECK_THROWS_AS(linalg::norm(two(), {.ord = 1, .axis = axes{0, -2}}), value_error);
  CHECK_THROWS_AS(linalg::norm(two(), {.axis = 5}), index_error);
  CHECK_THROWS_AS(linalg::vector_norm(two(), {.ord = "nuc"}), value_error);
  CHECK_THROWS_AS(linalg::norm(zeros({2, 0}), -1), value_error);
  CHECK_THROWS_AS(linalg::inv(ndarray()), value_error);
}

TEST_CASE("linalg: matrices without elements have factors of the right shapes") {
  if (no_solvers()) return;
  const auto shape_of = [](const ndarray& x) { return to_string(x.shape()); };
  const auto [u, s, vh] = linalg::svd(zeros({2, 0, 3}));
  CHECK(shape_of(u) == "(2, 0, 0)");
  CHECK(shape_of(s) == "(2, 0)");
  CHECK(array_equal(vh, broadcast_to(eye(3), {2, 3, 3})));
  CHECK(shape_of(linalg::svd(zeros({0, 4, 3}), {.full_matrices = false}).u) == "(0, 4, 3)");
  CHECK(array_equal(linalg::svd(zeros({3, 0})).u, eye(3)));
  const auto reduced = linalg::qr(zeros({3, 0}));
  CHECK(shape_of(reduced.q) == "(3, 0)");
  CHECK(shape_of(reduced.r) == "(0, 0)");
  const auto complete = linalg::qr(zeros({3, 0}), "complete");
  CHECK(array_equal(complete.q, eye(3)));
  CHECK(shape_of(complete.r) == "(3, 0)");
  CHECK(shape_of(linalg::qr(zeros({0, 3})).r) == "(0, 3)");
  CHECK(shape_of(linalg::qr(zeros({0, 4, 3})).q) == "(0, 4, 3)");
  CHECK(shape_of(linalg::eigh(zeros({3, 0, 0})).eigenvectors) == "(3, 0, 0)");
  CHECK(linalg::eig(zeros({0, 0})).eigenvalues.dtype() == complex128);
  CHECK(linalg::det(zeros({0, 0})).item<double>() == 1);
  CHECK(array_equal(linalg::slogdet(zeros({2, 0, 0})).sign, ones(2)));
  CHECK(shape_of(linalg::inv(zeros({4, 0, 0}))) == "(4, 0, 0)");
  CHECK(shape_of(linalg::solve(eye(3), zeros({3, 0}))) == "(3, 0)");
  CHECK(shape_of(linalg::solve(zeros({0, 3, 3}), zeros({3}))) == "(0, 3)");
  CHECK(shape_of(linalg::cholesky(zeros({0, 0}))) == "(0, 0)");
  CHECK(shape_of(linalg::pinv(zeros({2, 0, 3}))) == "(2, 3, 0)");
  CHECK(linalg::matrix_rank(zeros({0, 3})).item<int>() == 0);
  CHECK(linalg::norm(zeros({0, 3}), 2).item<double>() == 0);
  CHECK(linalg::norm(zeros({0}), infinity).item<double>() == 0);
  const auto [l_p, l_l, l_u] = linalg::lu(zeros({3, 0}));
  CHECK(array_equal(l_p, eye(3)));
  CHECK(shape_of(l_l) == "(3, 0)");
  CHECK(shape_of(l_u) == "(0, 0)");
  const auto solution = linalg::lstsq(zeros({0, 3}), zeros({0, 2}));
  CHECK(array_equal(solution.x, zeros({3, 2})));
  CHECK(solution.rank == 0);
  CHECK(shape_of(linalg::lstsq(zeros({3, 0}), ones({3, 2})).residuals) == "(2,)");
}

TEST_CASE("linalg: results of the shapes of NumPy's vectors, and what was asked for alone") {
  if (no_solvers()) return;
  CHECK(to_string(linalg::solve(broadcast_to(two(), {5, 2, 2}), ones(2)).shape()) == "(5, 2)");
  CHECK(to_string(linalg::solve(two(), ones({5, 2, 3})).shape()) == "(5, 2, 3)");
  CHECK(to_string(linalg::solve(broadcast_to(two(), {4, 1, 2, 2}), ones({5, 2, 3})).shape()) == "(4, 5, 2, 3)");
  CHECK_FALSE(linalg::qr(two(), "r").q.defined());
  CHECK_FALSE(linalg::svd(two(), {.compute_uv = false}).u.defined());
  CHECK_FALSE(linalg::lu(two(), {.permute_l = true}).p.defined());
  const auto [x, residuals, rank, s] = linalg::lstsq(ones({4, 2}), array({1.0, 2.0, 3.0, 4.0}));
  CHECK(to_string(x.shape()) == "(2,)");
  CHECK(rank == 1);
  CHECK(residuals.size() == 0);                         // it has not full rank
  CHECK(std::abs(x(0).item<double>() - 1.25) < 1e-14);  // of the solutions the one of least norm
  CHECK(linalg::lstsq(ones({4, 2}), ones(4), {.rcond = -1}).s.shape(0) == 2);
}

TEST_CASE("linalg: Hermitian matrices by their eigenvectors") {
  if (no_solvers()) return;
  for (const dtype t : solver_types) {
    CAPTURE(described({}, t));
    const ndarray a = hermitian({3, 12, 12}, t, 5);  // eigenvalues of both signs
    const auto [u, s, vh] = linalg::svd(a, {.hermitian = true});
    CHECK(ratio(matmul(wide(u) * wide(expand_dims(s, -2)), wide(vh)), a, norm_1(a), 12, t) < allowed_ratio);
    CHECK(orthogonality(u, t) < allowed_ratio);
    CHECK(orthogonality(adjoint(vh), t) < allowed_ratio);
    const ndarray values = linalg::svd(a, {.compute_uv = false, .hermitian = true}).s;
    CHECK(max(absolute(wide(values) - wide(linalg::svdvals(a)))).item<double>() <
          allowed_ratio * 12 * eps_of(t) * norm_1(a));
    const ndarray inverse = linalg::pinv(a, {.hermitian = true});
    CHECK(ratio(matmul(wide(a), wide(inverse)), eye(12), norm_1(a) * norm_1(inverse), 12, t) < allowed_ratio);
    CHECK(array_equal(linalg::matrix_rank(a, {.hermitian = true}), full(3, 12)));
  }
}

TEST_CASE("linalg: ranks and pseudo-inverses by thresholds, one for all or one for each matrix") {
  if (no_solvers()) return;
  const ndarray x = eye(4) * array({1.0, 1e-2, 1e-4, 1e-6}), both = stack({x, x});
  CHECK(linalg::matrix_rank(x).item<int>() == 4);
  CHECK(linalg::matrix_rank(x, {.rtol = 1e-3}).item<int>() == 2);
  CHECK(linalg::matrix_rank(x * 100.0, {.tol = 1e-3}).item<int>() == 3);
  CHECK(array_equal(linalg::matrix_rank(both, {.rtol = array({1e-5, 1e-1})}), array({3, 1})));
  CHECK(array_equal(linalg::matrix_rank(both, {.tol = array({1e-5, 1e-1})}), array({3, 1})));
  const ndarray inverse = linalg::pinv(both, {.rcond = array({1e-5, 1e-1})});
  CHECK(allclose(linalg::diagonal(inverse), array({{1.0, 1e2, 1e4, 0.0}, {1.0, 0.0, 0.0, 0.0}})));
  CHECK(array_equal(linalg::pinv(both, {.rtol = array({1e-5, 1e-1})}), inverse));
  CHECK(linalg::matrix_rank(zeros({3, 3})).item<int>() == 0);
  CHECK(linalg::matrix_rank(array({0.0, 2.0})).item<int>() == 1);
  CHECK(linalg::matrix_rank(zeros(5)).item<int>() == 0);
}

TEST_CASE("linalg: condition numbers of singular matrices are infinite") {
  if (no_solvers()) return;
  const ndarray x = stack({eye(2), ones({2, 2}), zeros({2, 2})});
  for (const linalg::norm_order& p : {linalg::norm_order(1), linalg::norm_order(-1), linalg::norm_order(infinity),
                                      linalg::norm_order(-infinity), linalg::norm_order("fro")})
    CHECK(array_equal(isinf(linalg::cond(x, p)), array({false, true, true})));
  CHECK(linalg::cond(x)(1).item<double>() > 1e15);
  CHECK(linalg::cond(x)(2).item<double>() == infinity);
}

TEST_CASE("linalg: arguments stay as they are, also where they are what is computed in") {
  if (no_solvers()) return;
  const ndarray a = positive_definite({3, 6, 6}, float64, 7), b = normal({3, 6, 2}, float64, 8);
  const ndarray a_before = a.copy(), b_before = b.copy();
  linalg::solve(a, b);
  linalg::solve_triangular(a, b);
  linalg::lu_solve(linalg::lu_factor(a), b);
  linalg::inv(a);
  linalg::cholesky(a);
  linalg::qr(a);
  linalg::svd(a);
  linalg::eigh(a);
  linalg::eig(a);
  linalg::expm(a);
  CHECK(array_equal(a, a_before));
  CHECK(array_equal(b, b_before));
  const linalg::lu_factors f = linalg::lu_factor(a);
  const ndarray lu_before = f.lu.copy();
  linalg::lu_solve(f, b);
  CHECK(array_equal(f.lu, lu_before));
}

TEST_CASE("linalg: results may be written, and belong to the caller") {
  if (no_solvers()) return;
  ndarray x = linalg::inv(two());
  const ndarray before = x.copy();
  x += 1.0;
  CHECK(array_equal(x, before + 1.0));
  auto [q, r] = linalg::qr(two());
  const ndarray product = matmul(q, r);
  q(0) = 7.0;
  CHECK(all(equal(q(0), 7.0)).item<bool>());
  CHECK(allclose(product, two()));
  CHECK_THROWS_AS(linalg::diagonal(x)() = 1.0, value_error);
}

TEST_CASE("linalg: triangular matrices are read in any dense layout, and only one triangle of them") {
  if (no_solvers()) return;
  for (const dtype t : solver_types) {
    const ndarray base = normal({2, 9, 20}, t, 9) + 4.0 * eye(9, {.columns = 20});
    const ndarray by_rows = base(_, _, slice(0, 9)), by_columns = by_rows.copy().mT();
    const ndarray stepped = base(_, _, slice(0, 18, 2)), shared = broadcast_to(by_rows(0), {2, 9, 9});
    const ndarray b = normal({2, 9, 3}, t, 10);
    for (const ndarray& a : {by_rows, by_columns, stepped, shared, by_rows * 2.0})
      for (const bool lower : {false, true})
        for (const int trans : {0, 1, 2}) {
          CAPTURE(described(a.shape(), t));
          CAPTURE(lower);
          CAPTURE(trans);
          const ndarray triangle = wide(lower ? tril(a) : triu(a));
          const ndarray op = trans == 0 ? triangle : trans == 1 ? triangle.mT() : adjoint(triangle);
          const ndarray x = linalg::solve_triangular(a, b, {.lower = lower, .trans = trans});
          CHECK(ratio(matmul(op, wide(x)), b, norm_1(op) * norm_1(x), 9, t) < allowed_ratio);
          const ndarray v = linalg::solve_triangular(a, b(0, _, 0), {.lower = lower, .trans = trans});
          CHECK(ratio(matmul(op, expand_dims(wide(v), -1)), expand_dims(broadcast_to(b(0, _, 0), {2, 9}), -1),
                      norm_1(op) * norm_1(expand_dims(v, -1)), 9, t) < allowed_ratio);
        }
    ndarray spoilt = by_rows.copy();
    spoilt(_, 0, 8) = nan_value;
    CHECK(all(isfinite(linalg::solve_triangular(spoilt, b, {.lower = true}))).item<bool>());
  }
}

TEST_CASE("linalg: solve by residuals; one matrix for many right sides and the other way round") {
  if (no_solvers()) return;
  for (const dtype t : solver_types)
    for (const shape_t& shape : square_shapes()) {
      CAPTURE(described(shape, t));
      const ndarray a = normal(shape, t, 15);
      const std::int64_t n = shape[shape.size() - 1];
      for (const std::int64_t columns : {1, 5}) {
        std::vector<std::int64_t> sides(shape.begin(), shape.end());
        sides.back() = columns;
        const ndarray b = normal(shape_t(sides), t, 16), x = linalg::solve(a, b);
        CHECK(ratio(matmul(wide(a), wide(x)), b, norm_1(a) * norm_1(x), n, t) < allowed_ratio);
      }
      const ndarray inverse = linalg::inv(a);
      CHECK(ratio(matmul(wide(a), wide(inverse)), eye(n), norm_1(a) * norm_1(inverse), n, t) < allowed_ratio);
    }
  const ndarray a = normal({1000, 1000}, float64, 17), b = normal({1000, 10}, float64, 18), x = linalg::solve(a, b);
  CHECK(ratio(matmul(a, x), b, norm_1(a) * norm_1(x), 1000, float64) < allowed_ratio);
  const ndarray many = normal({3, 4, 20, 2}, float64, 19), one = normal({1, 1, 20, 20}, float64, 20);
  const ndarray shared = linalg::solve(one, many), repeated = linalg::solve(broadcast_to(one, {3, 4, 20, 20}), many);
  CHECK(ratio(matmul(one, shared), many, norm_1(one) * norm_1(shared), 20, float64) < allowed_ratio);
  CHECK(allclose(shared, repeated, 1e-9, 1e-9));
  const ndarray few = normal({4, 20, 20}, float64, 21), side = normal({3, 1, 20, 1}, float64, 22);
  CHECK(ratio(matmul(few, linalg::solve(few, side)), broadcast_to(side, {3, 4, 20, 1}), norm_1(few) * 20, 20, float64) <
        allowed_ratio);
  const ndarray hilbert = 1.0 / (expand_dims(arange(10.0), 1) + arange(10.0) + 1), y = linalg::solve(hilbert, ones(10));
  CHECK(ratio(matmul(hilbert, expand_dims(y, 1)), ones({10, 1}), norm_1(hilbert) * norm_1(expand_dims(y, 1)), 10,
              float64) < allowed_ratio);
}

TEST_CASE("linalg: pivots of lu_factor from 0, factors for other right sides") {
  if (no_solvers()) return;
  const linalg::lu_factors f = linalg::lu_factor(array({{0.0, 1.0}, {2.0, 3.0}}));
  CHECK(array_equal(f.piv, array({1, 1}).astype(int32)));
  CHECK(array_equal(f.lu, array({{2.0, 3.0}, {0.0, 1.0}})));
  CHECK(array_equal(linalg::lu_solve(f, array({1.0, 5.0})), array({1.0, 1.0})));
  const ndarray a = normal({3, 7, 7}, complex128, 23), b = normal({3, 7, 2}, complex128, 24);
  const ndarray x = linalg::lu_solve(linalg::lu_factor(a), b, {.trans = 2});
  CHECK(ratio(matmul(adjoint(a), x), b, norm_1(a) * norm_1(x), 7, complex128) < allowed_ratio);
  // Pivots of other integers are read like those of lu_factor; wrong ones never reach LAPACK, which would use them.
  CHECK(array_equal(linalg::lu_solve({f.lu, f.piv.astype(int64)}, array({1.0, 5.0})), array({1.0, 1.0})));
  for (const int wrong : {2, -3, 1 << 30})
    CHECK_THROWS_AS(linalg::lu_solve({f.lu, array({0, wrong})}, ones(2)).to_vector<double>(), index_error);
  CHECK_THROWS_AS(linalg::lu_solve({f.lu, array({0.0, 1.0})}, ones(2)), dtype_error);
  CHECK_THROWS_AS(linalg::lu_solve({f.lu, array({0})}, ones(2)), shape_error);
  // Factors that were changed lie in other memory, and are read as they are.
  const linalg::lu_factors g = linalg::lu_factor(two()), doubled{g.lu * array({{2.0, 2.0}, {1.0, 2.0}}), g.piv};
  CHECK(allclose(matmul(2.0 * two(), linalg::lu_solve(doubled, ones(2))), ones(2)));
}

TEST_CASE("linalg: traces, diagonals, cross products of views and pending expressions") {
  const ndarray x = reshape(arange(24), {2, 3, 4});
  CHECK(array_equal(diagonal(x), array({{0, 16}, {1, 17}, {2, 18}, {3, 19}}).astype(int64)));
  CHECK(array_equal(diagonal(x, 1, 1, 2), array({{1, 6, 11}, {13, 18, 23}})));
  CHECK(array_equal(linalg::diagonal(x, {.offset = -1}), array({{4, 9}, {16, 21}})));
  CHECK(array_equal(trace(x), array({16, 18, 20, 22})));
  CHECK(array_equal(trace(x, {.offset = 1, .axis1 = 1, .axis2 = -1}), array({18, 54})));
  CHECK(array_equal(linalg::trace(x), array({15, 51})));
  CHECK(linalg::trace(x.astype(int8)).dtype() == int64);
  CHECK(linalg::trace(x, {.dtype = float32}).dtype() == float32);
  CHECK(linalg::trace(zeros({0, 3})).item<double>() == 0);
  CHECK(array_equal(linalg::diagonal(x.mT()(_, slice(_, _, -1))), array({{3, 6, 9}, {15, 18, 21}})));
  CHECK(array_equal(linalg::diagonal(x * 2), 2 * linalg::diagonal(x)));
  CHECK(array_equal(cross(array({1, 0, 0}), array({{0, 1, 0}, {0, 0, 1}})), array({{0, 0, 1}, {0, -1, 0}})));
}

TEST_CASE("linalg: several threads factor at once") {
  if (no_solvers()) return;
  std::vector<ndarray> a, x(4);
  for (unsigned k = 0; k < 4; ++k) a.push_back(normal({50, 50}, float64, 100 + k));
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int i = 0; i < 5; ++i) {
        x[k] = linalg::inv(a[k]);
        eval(linalg::qr(a[k]).q, linalg::svdvals(a[k]));
      }
    });
  for (std::thread& t : threads) t.join();
  for (std::size_t k = 0; k < 4; ++k)
    CHECK(ratio(matmul(a[k], x[k]), eye(50), norm_1(a[k]) * norm_1(x[k]), 50, float64) < allowed_ratio);
}

TEST_CASE("linalg: negative powers of matrices are those of the inverse") {
  if (no_solvers()) return;
  const ndarray x = positive_definite({3, 4, 4}, float64, 31) * 0.1, inverse = linalg::inv(x);
  CHECK(allclose(linalg::matrix_power(x, -1), inverse));
  CHECK(allclose(linalg::matrix_power(x, -2), matmul(inverse, inverse)));
  CHECK(allclose(linalg::matrix_power(x, -5),
                 matmul(linalg::matrix_power(inverse, 3), linalg::matrix_power(inverse, 2))));
  CHECK_THROWS_AS(linalg::matrix_power(ones({2, 2}), -1), linalg_error);
}
