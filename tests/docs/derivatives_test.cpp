// The code of docs/derivatives.md: every line of it is in this file, and does what the page says.
#include <doctest/doctest.h>

#include "sinter/grad.hpp"
#include "sinter/sinter.hpp"
#include "support/docs_page.hpp"
#include "support/products_library.hpp"

namespace sn = sinter;

namespace {

// clang-format off
// Two layers.
struct network { sn::ndarray w1, b1, w2, b2; };
template <class Visit> void arrays_of(network& n, Visit visit) { visit(n.w1, n.b1, n.w2, n.b2); }
// clang-format on

}  // namespace

TEST_CASE("docs/derivatives.md: every block of code is in this file") {
  sinter_test::check_page("derivatives.md", "docs/derivatives_test.cpp", 2);
}

TEST_CASE("docs/derivatives.md: its code does what it says") {
  if (sn::test::no_products()) return;
  sn::random::generator g(1);
  network parameters{g.normal(0, 0.1, {784, 8}), sn::zeros(8), g.normal(0, 0.1, {8, 10}), sn::zeros(10)};
  const sn::ndarray x = g.random({16, 784}), y = sn::eye(16, 10);
  // clang-format off
auto loss = [](const network& n, const sn::ndarray& x, const sn::ndarray& y) {  // x (N, 784), y (N, 10)
  auto hidden = sn::maximum(sn::matmul(x, n.w1) + n.b1, 0);
  return -sn::mean(sn::sum(y * sn::special::log_softmax(sn::matmul(hidden, n.w2) + n.b2, 1), 1));
};
auto [value, slope] = sn::value_and_grad(loss)(parameters, x, y);  // slope is a network
parameters.w1 -= 0.1 * slope.w1;
  // clang-format on
  CHECK(slope.w2.shape() == sn::shape_t{8, 10});
  CHECK(double(loss(parameters, x, y)) < double(value));
}
