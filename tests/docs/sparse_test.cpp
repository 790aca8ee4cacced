// The code of docs/sparse.md: every line of it is between the marks below, and does what the text says.
#include "sinter/sparse.hpp"

#include "support/docs_page.hpp"
#include "support/kernel_test.hpp"

namespace sn = sinter;

TEST_CASE("sparse docs: every piece of code on the page is part of this file") {
  sinter_test::check_page("sparse.md", "docs/sparse_test.cpp", 2);
}

TEST_CASE("sparse docs: the code works") {
  // clang-format off
  namespace sp = sn::sparse;
  sn::ndarray row = sn::array({0, 2, 2, 0}), col = sn::array({1, 0, 2, 1}), data = sn::array({1.0, 2.0, 3.0, 4.0});
  sp::sparse_array A = sp::csr_from_triplets(data, row, col, sn::shape_t{3, 3});   // entries of equal place add up
  sn::ndarray y = A.dot(sn::ones(3));                                              // (3,), dense
  sn::ndarray z = matmul(A.T(), y, {.alpha = 2, .beta = -1, .y = y});              // 2 A^T y - y, in one pass
  sp::sparse_array B = A + sp::identity(3), C = matmul(A, B);
  sp::sparse_array S = sp::vstack({A, sqrt(2 * B)});
  sn::ndarray x = sn::ones(3), q = 2 * A.dot(x) - 3 * y;
  sn::ndarray residual = y - A.dot(x);   // residual.data() or eval(residual) computes it
  // clang-format on
  CHECK(A.nnz() == 3);
  CHECK(sn::array_equal(y, sn::array({5.0, 0.0, 5.0})));
  CHECK(sn::array_equal(z, sn::array({15.0, 50.0, 25.0})));
  CHECK(sn::array_equal(C.toarray(), sn::matmul(A.toarray(), B.toarray())));
  CHECK(sn::array_equal(q, -y));
  CHECK(sn::array_equal(residual, sn::zeros(3)));
  CHECK(S.shape() == sn::shape_t{6, 3});
}
