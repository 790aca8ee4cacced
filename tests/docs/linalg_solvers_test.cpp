// The code of docs/linalg_solvers.md: every line of it is in this file, and does what the page says.
#include "support/docs_page.hpp"
#include "support/linalg_checks.hpp"

namespace sn = sinter;
using sinter_test::packed;
using sinter_test::whole_file;

namespace {

using numbers = std::vector<double>;

bool near(const sn::ndarray& x, const sn::ndarray& y) { return sn::allclose(x, y, 1e-12, 1e-12); }

}  // namespace

TEST_CASE("the code of docs/linalg_solvers.md does what the page says") {
  if (sn::test::no_solvers()) return;
  const sinter_test::printed out;
  // clang-format off
  sn::ndarray a = sn::array({{4.0, 1.0}, {1.0, 3.0}}), b = sn::array({1.0, 2.0});
  sn::ndarray x = sn::linalg::solve(a, b);
  auto [q, r] = sn::linalg::qr(a);
  auto [u, s, vh] = sn::linalg::svd(a, {.full_matrices = false});
  auto [w, v] = sn::linalg::eigh(a);                          // Hermitian: ascending, orthonormal columns
  auto [values, vectors] = sn::linalg::eig(a);                // any square matrix: always complex
  sn::ndarray l = sn::linalg::cholesky(a), inverse = sn::linalg::inv(a);
  // clang-format on
  CHECK(near(x, sn::array({1.0 / 11, 7.0 / 11})));
  CHECK(near(sn::matmul(q, r), a));
  CHECK(near(sn::matmul(u * s, vh), a));
  CHECK(near(sn::matmul(a, v), v * w));
  CHECK(values.dtype() == sn::complex128);
  CHECK(near(sn::matmul(a.astype(sn::complex128), vectors), vectors * values));
  CHECK(near(sn::matmul(l, l.T()), a));
  CHECK(near(sn::matmul(a, inverse), sn::eye(2)));

  // clang-format off
  sn::ndarray stack = sn::ones({1000, 8, 8}) + 8.0 * sn::eye(8);
  sn::ndarray many = sn::linalg::solve(stack, sn::ones(8));   // (1000, 8)
  sn::ndarray one_for_all = sn::linalg::solve(a, sn::ones({50, 2, 3}));
  // clang-format on
  CHECK(near(many, sn::full({1000, 8}, 1.0 / 16)));
  CHECK(near(sn::matmul(a, one_for_all), sn::ones({50, 2, 3})));

  // clang-format off
  try {
    sn::linalg::inv(sn::stack({a, sn::ones({2, 2})}));
  } catch (const sn::linalg_error& e) {
    std::cout << e.what();                                    // [inv] Singular matrix at batch index (1,)
  }
  // clang-format on
  CHECK(out.text.str() == "[inv] Singular matrix at batch index (1,)");

  // clang-format off
  sn::linalg::lu_factors f = sn::linalg::lu_factor(a);        // {lu, piv}: once
  sn::ndarray first = sn::linalg::lu_solve(f, b), second = sn::linalg::lu_solve(f, x, {.trans = 1});
  auto [p, lower, upper] = sn::linalg::lu(a);                 // a = p lower upper
  sn::ndarray y = sn::linalg::solve_triangular(l, b, {.lower = true});
  auto [sign, logabsdet] = sn::linalg::slogdet(a);
  sn::ndarray determinants = sn::linalg::det(stack);
  sn::ndarray line = sn::array({{1.0, 0.0}, {1.0, 1.0}, {1.0, 2.0}}), heights = sn::array({1.0, 2.0, 4.0});
  auto [fit, residuals, rank, sizes] = sn::linalg::lstsq(line, heights);
  sn::ndarray pseudo = sn::linalg::pinv(sn::ones({3, 2}), {.rcond = 1e-10});
  // clang-format on
  CHECK(near(first, x));
  CHECK(near(sn::matmul(a.T(), second), x));
  CHECK(near(sn::matmul(p, sn::matmul(lower, upper)), a));
  CHECK(near(sn::matmul(l, y), b));
  CHECK(near(sign * sn::exp(logabsdet), sn::array(11.0)));
  CHECK(near(determinants / (16.0 * 2097152.0), sn::ones(1000)));
  CHECK(near(fit, sn::array({5.0 / 6, 1.5})));
  CHECK(near(residuals, sn::array({1.0 / 6})));
  CHECK(rank == 2);
  CHECK(sizes.shape(0) == 2);
  CHECK(near(pseudo, sn::full({2, 3}, 1.0 / 6)));

  // clang-format off
  sn::ndarray band = sn::array({{0.0, 1.0, 1.0}, {4.0, 4.0, 4.0}, {1.0, 1.0, 0.0}}), sides = sn::ones(3);
  sn::ndarray u1 = sn::linalg::solve_banded({1, 1}, band, sides);      // diagonals below and above
  sn::ndarray u2 = sn::linalg::solveh_banded(band(sn::slice(2)), sides);
  sn::ndarray u3 = sn::linalg::solve_toeplitz(sn::array({4.0, 1.0, 0.5}), sides);
  auto [lu, d, perm] = sn::linalg::ldl(a);                             // symmetric, not definite
  auto [pq, pr, columns] = sn::linalg::qr_pivoted(a);                  // a[:, columns] = pq pr
  sn::ndarray root = sn::linalg::sqrtm(a), logarithm = sn::linalg::logm(a);
  // clang-format on
  const sn::ndarray tridiagonal = sn::array({{4.0, 1.0, 0.0}, {1.0, 4.0, 1.0}, {0.0, 1.0, 4.0}});
  CHECK(near(sn::matmul(tridiagonal, u1), sides));
  CHECK(near(u2, u1));
  CHECK(near(sn::matmul(sn::linalg::toeplitz(sn::array({4.0, 1.0, 0.5})), u3), sides));
  CHECK(near(sn::matmul(sn::matmul(lu, d), lu.T()), a));
  CHECK(perm.shape() == sn::shape_t{2});
  CHECK(near(sn::matmul(pq, pr), sn::take(a, columns, 1)));
  CHECK(near(sn::matmul(root, root), a.astype(sn::complex128)));
  CHECK(near(sn::linalg::expm(logarithm), a.astype(sn::complex128)));

  // clang-format off
  sn::ndarray length = sn::linalg::norm(b), frobenius = sn::linalg::norm(a, "fro");
  sn::ndarray spectral = sn::linalg::norm(a, 2), worst = sn::linalg::cond(a);
  sn::ndarray rows = sn::linalg::norm(a, {.ord = 1, .axis = 1});
  sn::ndarray all = sn::linalg::vector_norm(stack, {.axis = {1, 2}});
  sn::ndarray sums = sn::linalg::matrix_norm(stack, {.ord = 1}), full = sn::linalg::matrix_rank(stack);
  sn::ndarray diagonals = sn::linalg::diagonal(stack), traces = sn::linalg::trace(stack);
  sn::ndarray normal = sn::linalg::cross(sn::array({1.0, 0.0, 0.0}), sn::array({0.0, 1.0, 0.0}));
  // clang-format on
  CHECK(near(length, sn::array(std::sqrt(5.0))));
  CHECK(near(frobenius, sn::array(std::sqrt(27.0))));
  CHECK(near(spectral, sn::max(s)));
  CHECK(rows.to_vector<double>() == numbers{5, 4});
  CHECK(near(all, sn::full({1000}, std::sqrt(8 * 81.0 + 56.0))));
  CHECK(near(sums, sn::full({1000}, 16.0)));
  CHECK(near(worst, sn::max(s) / sn::min(s)));
  CHECK(sn::array_equal(full, sn::full({1000}, 8)));
  CHECK(sn::array_equal(diagonals, sn::full({1000, 8}, 9.0)));
  CHECK(sn::array_equal(traces, sn::full({1000}, 72.0)));
  CHECK(normal.to_vector<double>() == numbers{0, 0, 1});
}

TEST_CASE("every line of code on docs/linalg_solvers.md is part of this file") {
  const std::string page = whole_file(SINTER_SOURCE_DIR "/docs/linalg_solvers.md");
  const std::string here = packed(whole_file(SINTER_SOURCE_DIR "/tests/docs/linalg_solvers_test.cpp"));
  int blocks = 0;
  for (std::size_t at = page.find("```cpp\n"); at != std::string::npos; at = page.find("```cpp\n", at)) {
    const std::size_t begin = at + 7, end = page.find("\n```", begin);
    CHECK_MESSAGE(here.find(packed(page.substr(begin, end - begin))) != std::string::npos,
                  page.substr(begin, end - begin));
    ++blocks;
    at = end;
  }
  CHECK(blocks == 6);
}
