// Rules of products, systems, factorisations, transforms and convolutions.
#include "ops/derivatives/check.hpp"
#include "sinter/sparse.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;

/// A well-conditioned matrix, or several.
ndarray regular(const shape_t& shape, int salt = 0) {
  return numbers(shape, -0.4, 0.4, salt) + 1.5 * eye(shape[shape.size() - 1]);
}
ndarray symmetric(const ndarray& x) { return 0.5 * (x + x.mT()); }

}  // namespace

TEST_CASE("derivatives of products") {
  const auto check = [](const char* name, const subject& f, const shape_t& a, const shape_t& b) {
    agrees_twice(name, f, {numbers(a), numbers(b, 0.2, 1, 5)});
    agrees(std::string(name) + ", complex", f, {complex_numbers(a), complex_numbers(b, 5)});
  };
  const subject product = [](const arrays& x) { return matmul(x[0], x[1]); };
  check("matmul", product, {3, 4}, {4, 5});
  check("vector", product, {4}, {4, 5});
  check("matrix and vector", product, {3, 4}, {4});
  check("dot", product, {4}, {4});
  check("stacks", product, {2, 1, 3, 4}, {5, 4, 2});
  check("empty", product, {3, 0}, {0, 2});
  check("tensordot", [](const arrays& x) { return tensordot(x[0], x[1], 1); }, {2, 3, 4}, {4, 3});
  check("einsum", [](const arrays& x) { return einsum("ijk,kl->jil", x[0], x[1]); }, {2, 3, 4}, {4, 5});
  check("outer", [](const arrays& x) { return outer(x[0], x[1]); }, {3}, {4});
  agrees("mixed dtypes", product, {complex_numbers({3, 4}), numbers({4, 2})});
  agrees("transposed operand", [](const arrays& x) { return matmul(x[0].T(), x[1]); },
         {numbers({4, 3}), numbers({4, 2})});
}

TEST_CASE("derivatives of systems and determinants") {
  for (const shape_t& shape : {shape_t{3, 3}, shape_t{2, 3, 3}}) {
    const ndarray a = regular(shape);
    agrees_twice("solve", [](const arrays& x) { return linalg::solve(x[0], x[1]); }, {a, numbers({3, 2})});
    agrees_twice("solve a vector", [](const arrays& x) { return linalg::solve(x[0], x[1]); }, {a, numbers({3})});
    agrees_twice("inv", [](const arrays& x) { return linalg::inv(x[0]); }, {a});
    agrees_twice("det", [](const arrays& x) { return linalg::det(x[0]); }, {a});
    agrees_twice("slogdet", [](const arrays& x) { return linalg::slogdet(x[0]).logabsdet; }, {a});
    agrees("cond", [](const arrays& x) { return linalg::cond(x[0], 1); }, {a});
  }
  const ndarray z = complex_numbers({3, 3}) + 2 * eye(3);
  agrees("complex solve", [](const arrays& x) { return linalg::solve(x[0], x[1]); }, {z, complex_numbers({3, 2}, 3)});
  agrees("complex det", [](const arrays& x) { return linalg::det(x[0]); }, {z});
  agrees("sign of a determinant", [](const arrays& x) { return linalg::slogdet(x[0]).sign; }, {z});
  for (const bool lower : {false, true})
    for (const std::int64_t trans : {0, 1, 2})
      for (const bool unit : {false, true})
        agrees("triangles",
               [&](const arrays& x) {
                 return linalg::solve_triangular(x[0], x[1], {.lower = lower, .trans = trans, .unit_diagonal = unit});
               },
               {z, complex_numbers({3, 2}, 9)});
}

TEST_CASE("the gradient of the determinant of a singular matrix") {
  const ndarray g = grad([](const ndarray& x) { return linalg::det(x); })(array({{1.0, 2.0}, {2.0, 4.0}}));
  CHECK(bool(all(isclose(g, array({{4.0, -2.0}, {-2.0, 1.0}})))));
}

TEST_CASE("derivatives of factorisations") {
  const ndarray a = numbers({3, 3});
  const auto definite = [](const ndarray& x) { return matmul(x, x.mT()) + 0.5 * eye(3); };
  for (const bool upper : {false, true})
    agrees_twice("cholesky", [&](const arrays& x) { return linalg::cholesky(definite(x[0]), {.upper = upper}); }, {a});
  agrees_twice("eigenvalues", [](const arrays& x) { return linalg::eigvalsh(symmetric(x[0])); }, {a});
  agrees_twice(
      "projector",
      [](const arrays& x) {
        const ndarray v = linalg::eigh(symmetric(x[0])).eigenvectors(idx::_, slice(0, 1));
        return matmul(v, v.mT());
      },
      {a}, 1e-4);
  agrees_twice("singular values", [](const arrays& x) { return linalg::svdvals(x[0]); }, {numbers({4, 3})});
  for (const shape_t& shape : {shape_t{3, 3}, shape_t{4, 2}, shape_t{2, 4}})
    agrees(
        "svd",
        [](const arrays& x) {
          const auto [u, s, vh] = linalg::svd(x[0], {.full_matrices = false});
          return matmul(u * square(s), vh);
        },
        {numbers(shape)}, 1e-5);
  agrees("qr", [](const arrays& x) { return linalg::qr(x[0]).r; }, {numbers({4, 3})});
  agrees("q", [](const arrays& x) { return linalg::qr(x[0]).q; }, {numbers({3, 3})});
  agrees("lu", [](const arrays& x) { return linalg::lu(x[0]).u; }, {regular({3, 3})});
  agrees("eig", [](const arrays& x) { return sum(square(linalg::eigvals(x[0]))); }, {a});
  agrees(
      "pinv", [](const arrays& x) { return linalg::pinv(x[0]); }, {numbers({4, 3})}, 1e-5);
  agrees(
      "lstsq", [](const arrays& x) { return linalg::lstsq(x[0], x[1]).x; }, {numbers({4, 3}), numbers({4})}, 1e-5);
  agrees("norms", [](const arrays& x) { return linalg::norm(x[0], 2); }, {numbers({4, 3})});
  agrees(
      "expm", [](const arrays& x) { return linalg::expm(x[0]); }, {a}, 1e-5);
}

TEST_CASE("derivatives of transforms") {
  const ndarray x = numbers({3, 6}), z = complex_numbers({3, 6});
  agrees("fft", [](const arrays& a) { return fft::fft(a[0]); }, {z});
  agrees("fft of real numbers", [](const arrays& a) { return fft::fft(a[0]); }, {x});
  agrees("ifft", [](const arrays& a) { return fft::ifft(a[0], {.n = 4}); }, {z});
  agrees("fft of axis 0", [](const arrays& a) { return fft::fft(a[0], {.n = 5, .axis = 0}); }, {z});
  agrees("fft2", [](const arrays& a) { return fft::fft2(a[0]); }, {z});
  agrees("rfft", [](const arrays& a) { return fft::rfft(a[0]); }, {x});
  agrees("rfft, odd", [](const arrays& a) { return fft::rfft(a[0], {.n = 5}); }, {x});
  agrees("rfft2", [](const arrays& a) { return fft::rfft2(a[0]); }, {x});
  agrees("irfft", [](const arrays& a) { return fft::irfft(a[0]); }, {z});
  agrees("irfft, odd", [](const arrays& a) { return fft::irfft(a[0], {.n = 9}); }, {z});
  agrees("irfft2", [](const arrays& a) { return fft::irfft2(a[0]); }, {z});
  agrees_twice("power spectrum", [](const arrays& a) { return square(absolute(fft::rfft(a[0]))); }, {x});
  agrees_twice("convolve", [](const arrays& a) { return convolve(a[0], a[1]); }, {numbers({7}), numbers({3})});
}

TEST_CASE("derivatives of sparse products") {
  const ndarray dense = array({{1.0, 0.0, 2.0}, {0.0, 3.0, 0.0}});
  const auto pattern = sparse::csr_array(dense);
  const ndarray columns = pattern.indices(), rows = pattern.indptr();
  for (const shape_t& shape : {shape_t{3}, shape_t{3, 2}})
    agrees_twice("sparse",
                 [&](const arrays& x) {
                   return square(sparse::matmul(sparse::csr_array(x[1], columns, rows, shape_t{2, 3}), x[0]));
                 },
                 {numbers(shape), numbers({3})});
  agrees("transposed", [&](const arrays& x) { return sparse::matmul(x[0], pattern, {.alpha = 3}); }, {numbers({4, 2})});
}

TEST_CASE("second derivatives of determinants of singular matrices") {
  const auto det = [](const ndarray& a) { return linalg::det(a); };
  // The product of the diagonal is the only term of these two derivatives.
  const ndarray h = hessian(det)(diag(array({2.0, 0.0, 5.0})));
  CHECK(h(0, 0, 1, 1).item<double>() == doctest::Approx(5));
  CHECK(h(1, 1, 2, 2).item<double>() == doctest::Approx(2));
  CHECK(h(0, 1, 1, 0).item<double>() == doctest::Approx(-5));
  CHECK(bool(all(equal(hessian(det)(zeros({3, 3})), 0))));
  CHECK(bool(all(equal(hessian(det)(zeros({2, 2})), hessian(det)(array({{3.0, 1.0}, {2.0, 7.0}})).round(12)))));
  CHECK(hessian(det)(array({{4.0}})).item<double>() == 0);
  const auto third = [&](const ndarray& a) { return hessian(det)(a)(0, 0, 1, 1); };
  CHECK(grad(third)(zeros({3, 3})).to_vector<double>() == std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0, 1});
  const ndarray large = zeros({17, 17});
  CHECK_THROWS_AS(hessian(det)(large), derivative_error);
  CHECK(bool(all(equal(grad(det)(large), 0))));
}
