// Factorisations, systems and functions of matrices that are computed on the host: properties over batches and dtypes, and
// what is refused.
#include <doctest/doctest.h>

#include <complex>

#include "sinter/sinter.hpp"

using namespace sinter;
using sinter::idx::_;

namespace {

ndarray noise(const shape_t& shape, dtype t, int seed) {
  random::generator g(seed);
  const ndarray re = g.standard_normal(shape);
  if (!is_complex(t)) return re.astype(t);
  return (re + g.standard_normal(shape) * std::complex<double>(0, 1)).astype(t);
}
double distance(const ndarray& a, const ndarray& b) {
  return a.size() == 0 ? 0 : max(absolute(a.astype(complex128) - b.astype(complex128))).item<double>();
}
double allowed(dtype t) { return t == float32 || t == complex64 ? 2e-5 : 1e-12; }
ndarray adjoint(const ndarray& x) { return conj(x.mT()); }

}  // namespace

TEST_CASE("factorisations on the host multiply to the matrix, over batches") {
  for (const dtype t : {float32, float64, complex64, complex128})
    for (const shape_t& shape : {shape_t{2, 3, 5, 5}, shape_t{4, 4}, shape_t{3, 0, 0}, shape_t{0, 2, 2}}) {
      CAPTURE(t);
      const ndarray x = noise(shape, t, 3), h = x + adjoint(x);
      for (const bool lower : {true, false}) {
        const auto [lu, d, perm] = linalg::ldl(h, {.lower = lower});
        CHECK(lu.dtype() == t);
        CHECK(perm.dtype() == int64);
        CHECK(distance(matmul(matmul(lu, d), adjoint(lu)), h) < 40 * allowed(t));
        const ndarray ordered = take_along_axis(lu, expand_dims(perm, -1), -2);
        CHECK(distance(lower ? triu(ordered, 1) : tril(ordered, -1), zeros({1})) == 0);
      }
      const auto [q, r, p] = linalg::qr_pivoted(x);
      CHECK(distance(matmul(q, r), take_along_axis(x, expand_dims(p, -2), -1)) < 20 * allowed(t));
      CHECK(distance(matmul(adjoint(q), q), eye(x.shape(-1))) < 20 * allowed(t));
      const auto [h2, tau] = linalg::qr(x, "raw");
      CHECK(distance(triu(h2.mT()), linalg::qr(x, "r").r) < 20 * allowed(t));
    }
}

TEST_CASE("roots and logarithms of matrices are inverses of squares and exponentials") {
  for (const dtype t : {float32, float64, complex64, complex128}) {
    const ndarray x = noise({3, 5, 5}, t, 8), wide = x.astype(is_complex(t)  ? t
                                                              : t == float32 ? complex64
                                                                             : complex128);
    CAPTURE(t);
    const ndarray root = linalg::sqrtm(x);
    CHECK(root.dtype() == wide.dtype());
    CHECK(distance(matmul(root, root), wide) < 100 * allowed(t));
    CHECK(distance(linalg::expm(linalg::logm(x)), wide) < 2000 * allowed(t));
  }
  // Hermitian ones, also with negative eigenvalues and with none, go another way.
  for (const dtype t : {float32, float64, complex64, complex128})
    for (const int n : {11, 12, 40}) {
      CAPTURE(t);
      CAPTURE(n);
      const ndarray x = noise({2, n, n}, t, 9), h = x + adjoint(x),
                    positive = matmul(x, adjoint(x)) / n + eye(n, {.dtype = t});
      const ndarray root = linalg::sqrtm(h);
      CHECK(root.dtype() == (t == float32 || t == complex64 ? complex64 : complex128));
      CHECK(distance(matmul(root, root), h) < 100 * allowed(t));
      CHECK(distance(linalg::expm(linalg::logm(positive)), positive) < 2000 * allowed(t));
      const ndarray other = positive.copy();
      other(1, 0, n - 1) += 1;  // one of the stack is not Hermitian
      CHECK(distance(matmul(linalg::sqrtm(other), linalg::sqrtm(other)), other) < 100 * allowed(t));
    }
  CHECK(distance(linalg::sqrtm(diag(arange(20))), diag(sqrt(arange(20)))) < 1e-13);
  CHECK(bool(all(isnan(linalg::logm(diag(arange(20)))))));
  CHECK(linalg::sqrtm(zeros({0, 0})).shape() == shape_t{0, 0});
  CHECK(bool(all(isnan(linalg::sqrtm(array({{0.0, 1.0}, {0.0, 0.0}}))))));
  CHECK(bool(all(isnan(linalg::logm(zeros({2, 2}))))));
  CHECK(distance(linalg::sqrtm(array({{-4.0}})), array({{std::complex<double>(0, 2)}})) < 1e-15);
  CHECK_THROWS_AS(linalg::sqrtm(full({2, 2}, NAN)), linalg_error);
  CHECK_THROWS_AS(linalg::logm(ones({2, 3})), linalg_error);
  CHECK_THROWS_AS(linalg::logm(ones({2, 2}, float16)), dtype_error);
}

TEST_CASE("stacks of systems of bands and of Toeplitz matrices broadcast, and b with one axis is one vector") {
  for (const dtype t : {float64, complex64}) {
    CAPTURE(t);
    const ndarray bands = noise({4, 3, 5}, t, 2), c = noise({4, 5}, t, 3), r = noise({5}, t, 4);
    bands(_, 1, _) = bands(_, 1, _) + 4;
    c(_, 0) = c(_, 0) + 4;
    const ndarray upper = stack({noise({4, 5}, t, 6) * 0.3, absolute(noise({4, 5}, t, 7)).astype(t) + 4}, 1);
    const auto dense = [](const ndarray& ab) {
      return diag(ab(1)) + diag(ab(0)(slice(1, 5)), 1) + diag(ab(2)(slice(0, 4)), -1);
    };
    const auto hermitian = [](const ndarray& ab) {
      const ndarray above = diag(ab(0)(slice(1, 5)), 1);
      return diag(ab(1)) + above + adjoint(above);
    };
    for (const shape_t& shape : {shape_t{5}, shape_t{5, 2}, shape_t{4, 5, 2}, shape_t{3, 1, 5, 2}}) {
      const ndarray b = noise(shape, t, 5);
      const ndarray x = linalg::solve_banded({1, 1}, bands, b), y = linalg::solve_toeplitz({c, r}, b);
      const ndarray z = linalg::solveh_banded(upper, b);
      const shape_t expected = shape.size() == 1   ? shape_t{4, 5}
                               : shape.size() == 4 ? shape_t{3, 4, 5, 2}
                                                   : shape_t{4, 5, 2};
      CHECK(x.shape() == expected);
      CHECK(y.shape() == expected);
      CHECK(z.shape() == expected);
      for (int k = 0; k < 4; ++k) {
        const auto part = [&](const ndarray& all) { return all.ndim() == 4 ? all(2, k) : all(k); };
        const ndarray side = shape.size() < 3 ? b : shape.size() == 3 ? b(k) : b(2, 0);
        CHECK(distance(matmul(dense(bands(k)), part(x)), side) < 20 * allowed(t));
        CHECK(distance(matmul(linalg::toeplitz(c(k), r), part(y)), side) < 20 * allowed(t));
        CHECK(distance(matmul(hermitian(upper(k)), part(z)), side) < 20 * allowed(t));
      }
    }
    CHECK(linalg::solve_banded({1, 1}, zeros({0, 3, 5}, t), noise({5}, t, 1)).shape() == shape_t{0, 5});
  }
}

TEST_CASE("systems of bands and of Toeplitz matrices are solved, and bad input is named") {
  const ndarray c = array({4.0, 1.0, 0.5, -1.0}), r = array({4.0, -2.0, 0.25, 1.0}), b = noise({4, 2}, float64, 1);
  CHECK(distance(matmul(linalg::toeplitz(c, r), linalg::solve_toeplitz({c, r}, b)), b) < 1e-13);
  const ndarray long_c = concatenate({array({3.0}), noise({600}, float64, 4) * 0.02});
  const ndarray y = noise({601}, float64, 5);
  CHECK(distance(matmul(linalg::toeplitz(long_c), linalg::solve_toeplitz(long_c, y)), y) < 1e-10);
  CHECK(linalg::solve_banded({1, 1}, ones({3, 0}), ones({0})).shape() == shape_t{0});
  CHECK(linalg::solve_toeplitz(ones({0}), ones({0, 3})).shape() == shape_t{0, 3});
  CHECK_THROWS_WITH_AS(linalg::solve_banded({1, 2}, ones({3, 4}), ones({4})),
                       "[solve_banded] {1, 2} diagonals are not in ab of shape (3, 4)", shape_error);
  CHECK_THROWS_AS(linalg::solve_banded({-1, 3}, ones({3, 4}), ones({4})), value_error);
  CHECK_THROWS_AS(linalg::solve_banded({1, 1}, ones({4}), ones({4})), shape_error);
  CHECK_THROWS_AS(linalg::solve_banded({1, 1}, ones({3, 4}), ones({4, 1, 1})), shape_error);
  CHECK_THROWS_AS(linalg::solve_banded({1, 1}, ones({3, 4}, float16), ones({4})), dtype_error);
  CHECK_THROWS_AS(linalg::solveh_banded(ones({0, 4}), ones({4})), shape_error);
  CHECK_THROWS_AS(linalg::solveh_banded(zeros({1, 4}), ones({4})), linalg_error);
  CHECK_THROWS_AS(linalg::solve_toeplitz(zeros({3}), ones({3})), linalg_error);
  CHECK_THROWS_WITH_AS(linalg::solve_banded({1, 1}, ones({2, 3, 4}), ones({3, 4, 1})),
                       "[solve_banded] stacks of shapes (2, 3, 4) and (3, 4, 1) do not broadcast", shape_error);
  CHECK_THROWS_AS(linalg::solve_toeplitz({ones({2, 3}), ones({5, 3})}, ones({3})), shape_error);
  CHECK_THROWS_AS(linalg::solve_banded({1, 1}, ones({3, 4}), ones({})), shape_error);
  CHECK_THROWS_AS(linalg::solve_toeplitz({ones({3}), ones({2})}, ones({3})), shape_error);
  CHECK_THROWS_AS(linalg::qr(ones({2, 2}), "economic"), value_error);
  CHECK_THROWS_AS(linalg::qr_pivoted(ones({2, 2}), "raw"), value_error);
  CHECK_THROWS_AS(linalg::ldl(ones({2, 3})), linalg_error);
}
