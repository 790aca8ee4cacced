// Jacobians, which take the arrays of a basis all at once, beside a loop over them; within other derivatives; under vmap.
#include "ops/derivatives/check.hpp"
#include "sinter/loops.hpp"
#include "sinter/sparse.hpp"
#include "sinter/vmap.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;
using namespace sinter::idx;

using function = std::function<ndarray(const ndarray&)>;

/// One pass of forward mode for each element of x.
ndarray by_loop(const function& f, const ndarray& x) {
  std::vector<ndarray> columns;
  for (std::int64_t k = 0; k < x.size(); ++k) {
    const ndarray one = reshape(equal(arange(x.size()), k).astype(x.dtype()), x.shape());
    columns.push_back(jvp(f, x, one).second);
  }
  const ndarray all = moveaxis(stack(columns, 0), 0, -1);
  std::vector<std::int64_t> shape;
  for (std::int64_t a = 0; a + 1 < all.ndim(); ++a) shape.push_back(all.shape(a));
  for (const std::int64_t n : x.shape()) shape.push_back(n);
  return reshape(all, shape_t(std::span<const std::int64_t>(shape)));
}

void check(const char* name, const function& f, const ndarray& x) {
  INFO(std::string(name));
  const ndarray expected = by_loop(f, x), forward = jacfwd(f)(x), reverse = jacrev(f)(x);
  REQUIRE(forward.shape() == expected.shape());
  REQUIRE(reverse.shape() == expected.shape());
  CHECK(allclose(forward, expected, 1e-10, 1e-12));
  CHECK(allclose(reverse, expected, 1e-10, 1e-12));
  // Its own derivative, and that of each example.
  const auto total = [&](const ndarray& a) { return sum(jacrev(f)(a) * numbers(expected.shape(), -1, 1, 3)); };
  const auto total_forward = [&](const ndarray& a) { return sum(jacfwd(f)(a) * numbers(expected.shape(), -1, 1, 3)); };
  CHECK(allclose(grad(total)(x), grad(total_forward)(x), 1e-8, 1e-10));
}

}  // namespace

TEST_CASE("jacobians are those of a loop over the basis") {
  const ndarray x = numbers({3, 3}, 0.3, 1.6), v = numbers({5}), w = numbers({4, 5}, -1, 1, 9);
  check(
      "elementwise", [](const ndarray& a) { return sin(a) * a; }, x);
  check(
      "product with a vector", [&](const ndarray& a) { return tanh(matmul(w, a)); }, v);
  check(
      "vector by a product", [&](const ndarray& a) { return matmul(a * a, w.T()); }, v);
  check(
      "products", [](const ndarray& a) { return matmul(a, matmul(a.T(), a)); }, x);
  check(
      "reductions", [](const ndarray& a) { return prod(a, 1) + max(a, 0) + var(a, 1); }, x);
  check(
      "sort", [](const ndarray& a) { return square(sort(a, 1)); }, x);
  check(
      "scans", [](const ndarray& a) { return cumprod(a, 1) + cumsum(a, 0) * cummax(a, {.axis = 1}); }, x);
  check(
      "selection",
      [](const ndarray& a) {
        return square(a(array({2, 0, 2})));
      },
      x);
  check(
      "writes",
      [](const ndarray& a) {
        const ndarray y = a * a;
        y(1, _) = a(0) * a(2);
        add_at(y(array({0, 0})), a(slice(1, _)));
        return y;
      },
      x);
  check(
      "repeat by counts",
      [](const ndarray& a) {
        return square(repeat(a, array({2, 0, 1}), 0));
      },
      x);
  check(
      "where", [](const ndarray& a) { return where(a > 0.9, a * a, sin(a)); }, x);
  check(
      "pad", [](const ndarray& a) { return square(pad(a, 1)); }, x);
  check(
      "fft", [](const ndarray& a) { return square(absolute(fft::rfft(a))); }, x);
  check(
      "solve", [](const ndarray& a) { return linalg::solve(a + 3 * eye(3), a); }, x);
  check(
      "factors", [](const ndarray& a) { return linalg::cholesky(matmul(a, a.T()) + eye(3)); }, x);
  check(
      "determinant", [](const ndarray& a) { return linalg::det(a); }, x);
  check(
      "singular values", [](const ndarray& a) { return linalg::svdvals(a); }, x);
  check(
      "a number", [](const ndarray& a) { return a * a * a; }, array(1.5));
  check(
      "of one number", [](const ndarray& a) { return a * arange(1, 4).astype(float64); }, array(1.5));
  check(
      "constant", [](const ndarray& a) { return zeros_like(a); }, v);
  const sparse::sparse_array s = sparse::diags({array({-1.0}), array({2.5})}, {-1, 0}, shape_t{5, 5}).tocsr();
  check(
      "sparse product", [&](const ndarray& a) { return square(sparse::matmul(s, a)); }, v);
  check(
      "loop",
      [](const ndarray& a) {
        return fori_loop(
            0, 3, [&](const ndarray&, const ndarray& y) { return sin(y) * a; }, a);
      },
      v);
  const auto again = checkpoint([](const ndarray& a) { return exp(sin(a)); });
  check(
      "checkpoint", [&](const ndarray& a) { return again(a) * a; }, v);
  const auto own = custom_derivative(
      [](const ndarray& a) { return a * a * a; },
      {.vjp = [](const arrays& a, const arrays&, const arrays& g) { return arrays{3 * a[0] * a[0] * g[0]}; }});
  check(
      "derivatives of one's own", [&](const ndarray& a) { return own(a); }, v);
}

TEST_CASE("jacobians of complex functions, of several arrays, for each example") {
  const ndarray z = complex_numbers({3});
  const auto f = [](const ndarray& a) { return a * a * exp(a); };
  const ndarray j = jacobian(f, {.holomorphic = true})(z);
  CHECK(allclose(j, diag((2 * z + z * z) * exp(z)), 1e-10, 1e-12));
  const arrays both{numbers({2}), numbers({3}, 0.2, 1, 5)};
  const arrays parts = jacobian([](const arrays& a) { return outer(a[0], a[1]); })(both);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].shape() == shape_t{2, 3, 2});
  CHECK(parts[1].shape() == shape_t{2, 3, 3});
  CHECK(allclose(parts[0](0, _, 0), both[1]));
  CHECK(allclose(parts[1](_, 1, 1), both[0]));
  const auto cube = [](const ndarray& a) { return sum(a * a * a); };
  const ndarray x = numbers({4, 3}), each = vmap(hessian(cube))(x);
  for (int k = 0; k < 4; ++k) CHECK(allclose(each(k), 6 * diag(x(k))));
}

TEST_CASE("jacobians that are computed at once store no basis") {
  // 2000 x 2000 numbers are the result; a basis beside it would be as many again.
  const ndarray x = numbers({2000});
  eval(x);
  memory_pool pool;
  pool.trim();
  pool.reset_peak();
  const std::size_t before = pool.figures().used;
  const ndarray j = jacobian([](const ndarray& a) { return sin(a) * a; })(x);
  eval(j);
  synchronize();
  CHECK(pool.figures().peak - before < std::size_t{2000} * 2000 * 8 + (std::size_t{4} << 20));
}
