// Products of a row with a matrix and of a matrix with a column, which BLAS does without packing the matrix.
#include <doctest/doctest.h>

#include "ops/linalg/product_calls.hpp"
#include "sinter/sinter.hpp"

TEST_CASE("products with one row or one column: every layout and dtype") {
  using namespace sinter;
  using namespace sinter::idx;
  for (const dtype t : {float32, float64, complex64, complex128}) {
    const bool complex_type = t == complex64 || t == complex128;
    const auto numbers = [&](shape_t shape) {
      const ndarray re = random::normal(0, 1, shape), im = random::normal(0, 1, shape);
      return (complex_type ? re + scalar(std::complex<double>(0, 1)) * im : ndarray(re)).astype(t);
    };
    const auto check = [&](const ndarray& x, const ndarray& y) {
      const ndarray got = ops::multiply_matrices(x, y, t, {});
      const ndarray expected = sum(x.astype(complex128)(_, _, newaxis) * y.astype(complex128)(newaxis), 1);
      CHECK(got.shape() == expected.shape());
      CHECK(allclose(got.astype(complex128), expected, 0, t == float32 || t == complex64 ? 2e-4 : 1e-12));
    };
    for (const std::int64_t inner : {1, 7, 300})
      for (const std::int64_t n : {1, 5, 700}) {
        const ndarray row = numbers({1, inner}), m = numbers({inner, n}), column = numbers({n, 1});
        check(row, m);
        check(row, numbers({n, inner}).T());
        check(m, column);
        check(numbers({n, inner}).T(), column);
        check(numbers({1, 3 * inner})(_, slice(_, _, 3)), m(_, slice(_, _, -1)));
        check(m(slice(_, _, -1)), numbers({2 * n, 2})(slice(_, _, 2), slice(1)));
        check(row, numbers({inner, n + 3})(_, slice(3, _)));
      }
  }
}
