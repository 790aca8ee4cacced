// Linear operators: each way to make one against the dense matrix, and what is refused.
#include <doctest/doctest.h>

#include <complex>

#include "sinter/sinter.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_linalg.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;
namespace sl = sinter::sparse::linalg;
using complex_number = std::complex<double>;

ndarray numbers(const shape_t& shape, double step) {
  std::int64_t count = 1;
  for (const auto n : shape) count *= n;
  return reshape(sin(arange(count, {.dtype = float64}) * step + 1), shape);
}
ndarray complex_matrix(const shape_t& shape) {
  return numbers(shape, 0.7) + complex_number(0, 1) * numbers(shape, 1.3);
}

void check_same(const sl::linear_operator& a, const ndarray& m) {
  CHECK(a.shape() == m.shape());
  const ndarray x = complex_matrix({m.shape(1)}), y = complex_matrix({m.shape(0)});
  const ndarray xs = complex_matrix({m.shape(1), 3}), ys = complex_matrix({m.shape(0), 2});
  CHECK(allclose(a.matvec(x), matmul(m, x)));
  CHECK(allclose(a.rmatvec(y), matmul(conj(m.T()), y)));
  CHECK(allclose(a.matmat(xs), matmul(m, xs)));
  CHECK(allclose(a.rmatmat(ys), matmul(conj(m.T()), ys)));
  CHECK(allclose(a(x), matmul(m, x)));
  CHECK(a.matvec(reshape(x, {-1, 1})).shape() == shape_t{m.shape(0), 1});
}

}  // namespace

TEST_CASE("linear operators of arrays, their adjoints and transposes") {
  for (const ndarray& m : {numbers({4, 6}, 0.3), complex_matrix({5, 3})}) {
    for (const sl::linear_operator& a : {sl::linear_operator(m), sl::linear_operator(sparse::csr_array(m)),
                                         sl::linear_operator(sparse::csc_array(m))}) {
      check_same(a, m);
      check_same(a.H(), conj(m.T()));
      check_same(a.T(), m.T());
      check_same(a.T().H(), conj(m));
    }
  }
}

TEST_CASE("linear operators: sums, products, multiples, powers") {
  const ndarray m = complex_matrix({4, 4}), n = numbers({4, 4}, 0.9);
  const sl::linear_operator a = m, b = sparse::csr_array(n);
  check_same(a + b, m + n);
  check_same(a - b, m - n);
  check_same(-a, -m);
  check_same(a * b, matmul(m, n));
  check_same(complex_number(2, 1) * a, complex_number(2, 1) * m);
  check_same(b * 3, 3 * n);
  check_same(a.power(3), matmul(m, matmul(m, m)));
  check_same(a.power(0), eye(4));
  check_same((a * b).H(), conj(matmul(m, n).T()));
  check_same(sl::identity_operator({4, 4}), eye(4));
  check_same(sl::identity_operator({3, 5}), eye(3, 5));
  check_same(sl::identity_operator({5, 3}), eye(5, 3));
  const ndarray d = complex_matrix({5});
  check_same(sl::diagonal_operator(d), diag(d));
  CHECK((a + b).dtype() == complex128);
  CHECK((b * 3).dtype() == float64);
}

TEST_CASE("linear operators of functions") {
  const ndarray m = complex_matrix({3, 4});
  const sl::linear_operator a({3, 4}, [m](const ndarray& x) { return matmul(m, x); },
                              {.rmatvec = [m](const ndarray& x) { return matmul(conj(m.T()), x); }});
  check_same(a, m);
  CHECK(a.dtype() == complex128);
  const sl::linear_operator forward({3, 4}, [](const ndarray& x) { return 2 * x(slice(3)); });
  CHECK(forward.dtype() == float64);
  CHECK_THROWS_AS(forward.rmatvec(ones({3})), value_error);
  CHECK_THROWS_AS(forward.H().matvec(ones({3})), value_error);
  const sl::linear_operator wrong({3, 4}, [](const ndarray& x) { return x; }, {.dtype = float64});
  CHECK_THROWS_WITH_AS(wrong.matvec(ones({4})), "[matvec] an operator of shape (3, 4) gave (4,) for (4,)", shape_error);
}

TEST_CASE("linear operators refuse shapes that do not fit") {
  const sl::linear_operator a = numbers({3, 4}, 0.3), none;
  CHECK_THROWS_WITH_AS(a.matvec(ones({3})), "[matvec] an operator of shape (3, 4) cannot be applied to shape (3,)",
                       shape_error);
  CHECK_THROWS_AS(a.rmatvec(ones({4})), shape_error);
  CHECK_THROWS_AS(a.matmat(ones({4})), shape_error);
  CHECK_THROWS_AS(a.matvec(ones({4, 2})), shape_error);
  CHECK_THROWS_AS(a + a.T(), shape_error);
  CHECK_THROWS_AS(a * a, shape_error);
  CHECK_THROWS_AS(a.power(2), value_error);
  CHECK_THROWS_AS(sl::linear_operator(ones({3})), shape_error);
  CHECK_THROWS_AS(sl::linear_operator{ndarray()}, value_error);
  CHECK_THROWS_AS(sl::linear_operator({3, 4}, sl::array_map()), value_error);
  CHECK_THROWS_AS(sl::linear_operator({3}, [](const ndarray& x) { return x; }), shape_error);
  CHECK_THROWS_AS(none.shape(), value_error);
  CHECK_THROWS_AS(a.matvec(ndarray()), value_error);
}
