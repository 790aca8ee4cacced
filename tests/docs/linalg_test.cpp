// The code of docs/linalg.md: every line of it is in this file, and does what the page says.
#include <doctest/doctest.h>

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "support/docs_page.hpp"
#include "support/products_library.hpp"

namespace sn = sinter;
using sinter_test::packed;
using sinter_test::whole_file;

namespace {

std::vector<double> numbers(const sn::ndarray& x) { return x.to_vector<double>(); }
using row = std::vector<double>;

/// What f writes to std::cout.
template <class F>
std::string output_of(F&& f) {
  std::ostringstream text;
  std::streambuf* const before = std::cout.rdbuf(text.rdbuf());
  f();
  std::cout.rdbuf(before);
  return text.str();
}

}  // namespace

TEST_CASE("the code of docs/linalg.md does what the page says") {
  if (sinter::test::no_products()) return;
  sn::ndarray a = sn::array({{1.0, 2.0}, {3.0, 4.0}}), x = sn::array({1.0, 0.5});
  sn::ndarray b = sn::matmul(a, a.T());                    // NumPy's a @ a.T
  sn::ndarray y = sn::matmul(a, x);                        // a vector is a column here, a row on the left
  sn::ndarray stack = sn::matmul(sn::ones({5, 2, 2}), a);  // leading axes broadcast
  sn::ndarray sums = sn::tensordot(stack, a, sn::axes{1, 2}, sn::axes{0, 1});
  sn::ndarray grid = sn::outer(x, x), whole = sn::kron(a, a);
  sn::ndarray length = sn::sqrt(sn::vdot(x, x)), rows = sn::vecdot(a, a);
  sn::ndarray chain = sn::linalg::multi_dot({x, a, b, x});  // in the order of fewest multiplications
  sn::ndarray cube = sn::linalg::matrix_power(a, 3);
  CHECK(numbers(b) == row{5, 11, 11, 25});
  CHECK(numbers(y) == row{2, 5});
  CHECK(numbers(stack) == row{4, 6, 4, 6, 4, 6, 4, 6, 4, 6, 4, 6, 4, 6, 4, 6, 4, 6, 4, 6});
  CHECK(numbers(sums) == row(5, 4 + 12 + 12 + 24));
  CHECK(numbers(grid) == row{1, 0.5, 0.5, 0.25});
  CHECK(whole.shape() == sn::shape_t{4, 4});
  CHECK(length.item<double>() * length.item<double>() == doctest::Approx(1.25));
  CHECK(numbers(rows) == row{5, 25});
  CHECK(chain.item<double>() == 2.5 * (5 + 5.5) + 4 * (11 + 12.5));
  CHECK(numbers(cube) == row{37, 54, 81, 118});

  sn::ndarray r = x - sn::matmul(a, x);  // one kernel, when somebody needs r
  CHECK(numbers(r) == row{-1, -4.5});

  sn::ndarray quick = sn::matmul(a.astype(sn::float32), a.astype(sn::float32), {.tf32 = true});
  CHECK(quick.dtype() == sn::float32);
  CHECK(numbers(quick) == row{7, 10, 15, 22});

  sn::ndarray to = sn::zeros({4, 2});
  sn::matmul(a, a, {.out = to["1:3"]});
  CHECK(numbers(to) == row{0, 0, 7, 10, 15, 22, 0, 0});

  sn::ndarray trace = sn::einsum("ii", a);
  sn::ndarray diagonal = sn::einsum("ii->i", a);  // a view
  sn::ndarray product = sn::einsum("...ij,jk->...ik", stack, a);
  sn::ndarray weights = sn::einsum("ij,jk->k", a, b);  // sums over i first: one pass over each matrix
  sn::ndarray energy = sn::einsum("i,ij,j", x, a, x, {.optimize = "optimal"});
  sn::ndarray layer = sn::matmul(stack, a, {.scale = 0.5, .bias = x, .activation = sn::activation::relu});
  CHECK(layer.shape() == sn::shape_t{5, 2, 2});
  CHECK(layer(0, 0, 0).item<double>() == 0.5 * 22 + 1);

  const std::string plan = output_of([&] { std::cout << sn::einsum_path("ij,jk,kl->il", {a, b, a}); });
  CHECK(trace.item<double>() == 5);
  CHECK(numbers(diagonal) == row{1, 4});
  CHECK(product.shape() == sn::shape_t{5, 2, 2});
  CHECK(numbers(weights) == row{4 * 5 + 6 * 11, 4 * 11 + 6 * 25});
  CHECK(energy.item<double>() == 2 + 0.5 * 5);
  const std::string page = whole_file(SINTER_SOURCE_DIR "/docs/linalg.md");
  CHECK_MESSAGE(page.find(plan) != std::string::npos, plan);
}

TEST_CASE("all code of docs/linalg.md is in this file") {
  const std::string here = packed(whole_file(SINTER_SOURCE_DIR "/tests/docs/linalg_test.cpp"));
  std::istringstream page(whole_file(SINTER_SOURCE_DIR "/docs/linalg.md"));
  int lines = 0;
  bool code = false;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("```", 0) == 0) {
      code = line == "```cpp";
      continue;
    }
    if (!code) continue;
    CHECK_MESSAGE(here.find(packed(line)) != std::string::npos, line);
    ++lines;
  }
  CHECK(lines > 15);
}
