// The code of docs/compile.md: every line of it is between the marks below, and does what the text says.
#include <tuple>
#include <utility>

#include "sinter/compile.hpp"
#include "sinter/grad.hpp"
#include "sinter/sinter.hpp"
#include "support/docs_page.hpp"

namespace sn = sinter;

TEST_CASE("compile docs: every piece of code on the page is part of this file") {
  sinter_test::check_page("compile.md", "docs/compile_test.cpp", 1);
}

TEST_CASE("compile docs: the code works") {
  const sn::ndarray x = sn::reshape(sn::sin(sn::arange(60.0)), {20, 3}), right = sn::array({0.3, -0.5, 0.8}),
                    y = sn::tanh(sn::sum(x * right, 1));
  sn::ndarray w = sn::zeros(3), value;
  // clang-format off
  const auto loss = [](const sn::ndarray& w, const sn::ndarray& x, const sn::ndarray& y) {
    return sn::mean(sn::square(sn::tanh(sn::sum(x * w, 1)) - y));
  };
  const auto step = sn::compile([&](const sn::ndarray& w, const sn::ndarray& x, const sn::ndarray& y, const sn::ndarray& rate) {
    const auto [value, slope] = sn::value_and_grad(loss)(w, x, y);
    return std::pair(value, sn::ndarray(w - rate * slope));
  });
  for (int k = 0; k < 100; ++k) std::tie(value, w) = step(w, x, y, 0.1);
  // clang-format on
  CHECK(value.item<double>() < 0.03);
  CHECK(step.size() == 1);
  sn::ndarray other = sn::zeros(3);
  for (int k = 0; k < 100; ++k) {
    other = other - 0.1 * sn::grad(loss)(other, x, y);
    sn::eval(other);
  }
  CHECK(sn::allclose(w, other, 1e-12));
}
