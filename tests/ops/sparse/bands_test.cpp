// Transposed products of large bands, whose parts add to one array of sums.
#include "sinter/sparse.hpp"
#include "support/kernel_test.hpp"

TEST_CASE("sparse products: of the transposes of large bands") {
  using namespace sinter;
  const std::int64_t n = 70000;
  const auto numbers = [](const shape_t& s) { return random::normal(0, 1, s); };
  for (const std::int64_t far : {2, 300, 20000}) {
    const sparse::sparse_array a =
        sparse::diags({numbers({n - far}), numbers({n}), numbers({n - 1}), numbers({n - far})}, {-far, 0, 1, far});
    const sparse::sparse_array turned = a.T().tocsr();
    for (const std::int64_t width : {0, 3, 16}) {
      const shape_t shape = width ? shape_t{n, width} : shape_t{n};
      const ndarray x = numbers(shape), y = numbers(shape), expected = turned.dot(x);
      CHECK(allclose(a.T().dot(x), expected, 1e-12, 1e-12));
      CHECK(allclose(matmul(a.T(), x, {.alpha = 2, .beta = -3, .y = y}), 2 * expected - 3 * y, 1e-12, 1e-12));
      const ndarray again = a.T().dot(x);
      CHECK(all(again == a.T().dot(x)).item<bool>());
    }
  }
}
