// Matrices of a structure, bases of subspaces, systems by Cholesky factors.
#include <doctest/doctest.h>

#include "sinter/sinter.hpp"

using namespace sinter;

TEST_CASE("matrices of a structure are SciPy's") {
  const ndarray c = array({1, 2, 3}), r = array({9, 5, 6, 7});
  CHECK(array_equal(linalg::toeplitz(c, r), array({{1, 5, 6, 7}, {2, 1, 5, 6}, {3, 2, 1, 5}})));
  CHECK(array_equal(linalg::toeplitz(c), array({{1, 2, 3}, {2, 1, 2}, {3, 2, 1}})));
  const ndarray z = c * std::complex<double>(1, 1);
  CHECK(array_equal(linalg::toeplitz(z)(0), where(array({true, false, false}), z, conj(z))));
  CHECK(array_equal(linalg::hankel(c, r), array({{1, 2, 3, 5}, {2, 3, 5, 6}, {3, 5, 6, 7}})));
  CHECK(array_equal(linalg::hankel(c), array({{1, 2, 3}, {2, 3, 0}, {3, 0, 0}})));
  CHECK(array_equal(linalg::circulant(c), array({{1, 3, 2}, {2, 1, 3}, {3, 2, 1}})));
  const ndarray blocks = linalg::block_diag({array({{1, 2}}), array({3.5, 4}), array({{5}, {6}})});
  CHECK(array_equal(blocks, array({{1, 2, 0, 0, 0}, {0, 0, 3.5, 4, 0}, {0, 0, 0, 0, 5}, {0, 0, 0, 0, 6}})));
  CHECK(linalg::toeplitz(zeros({0})).shape() == shape_t{0, 0});
  CHECK(linalg::circulant(zeros({0})).shape() == shape_t{0, 0});
  CHECK(linalg::toeplitz(c(slice(idx::_, idx::_, -1)) * 2).shape() == shape_t{3, 3});
  CHECK_THROWS_AS(linalg::block_diag({zeros({1, 1, 1})}), shape_error);
}

TEST_CASE("null spaces and ranges are orthonormal and complete") {
  const ndarray x = array({{1.0, 2.0, 3.0}, {2.0, 4.0, 6.0}, {1.0, 0.0, 1.0}});
  const ndarray n = linalg::null_space(x), q = linalg::orth(x);
  CHECK(n.shape() == shape_t{3, 1});
  CHECK(q.shape() == shape_t{3, 2});
  CHECK(allclose(matmul(x, n), 0.0, 0, 1e-13));
  CHECK(allclose(matmul(q.T(), q), identity(2), 0, 1e-13));
  CHECK(allclose(matmul(q, matmul(q.T(), x)), x));
  CHECK(linalg::null_space(identity(3)).shape() == shape_t{3, 0});
  CHECK(linalg::null_space(x.astype(complex64)).dtype() == complex64);
  CHECK_THROWS_AS(linalg::orth(zeros({3})), linalg_error);
}

TEST_CASE("cho_solve solves with either factor") {
  const ndarray g = random::generator(1).normal(0, 1, {5, 5}), i = random::generator(2).normal(0, 1, {5, 5});
  const ndarray z = g + i * std::complex<double>(0, 1), a = matmul(z, conj(z).T()) + identity(5) * 5,
                b = g(idx::_, slice(2));
  for (const bool lower : {false, true})
    CHECK(allclose(matmul(a, linalg::cho_solve(linalg::cho_factor(a, {.lower = lower}), b.astype(complex128))), b));
  CHECK_THROWS_AS(linalg::cho_factor(-identity(3)), linalg_error);
}
