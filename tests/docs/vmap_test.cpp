// The code of docs/vmap.md: every line of it is between the marks below, and does what the text says.
// clang-format off
#include "sinter/loops.hpp"
#include "sinter/vmap.hpp"
// clang-format on

#include "support/docs_page.hpp"
#include "support/kernel_test.hpp"
#include "support/products_library.hpp"

namespace sn = sinter;

namespace {

// clang-format off
struct layer {
  sn::ndarray weights, bias;
};
template <class Visit> void arrays_of(layer& l, Visit visit) { visit(l.weights); visit(l.bias); }
const auto apply = [](const layer& l, const sn::ndarray& x) { return sn::tanh(sn::matmul(l.weights, x) + l.bias); };
// clang-format on

}  // namespace

TEST_CASE("vmap docs: every piece of code on the page is part of this file") {
  sinter_test::check_page("vmap.md", "docs/vmap_test.cpp", 6);
}

TEST_CASE("vmap docs: the code works") {
  if (sn::test::no_products()) return;
  const sn::ndarray p = sn::random::normal(0, 1, {1000, 3}), q = sn::random::normal(0, 1, {1000, 3}), x = p,
                    w = sn::random::normal(0, 0.1, {3, 3});
  // clang-format off
  const auto distance = [](const sn::ndarray& a, const sn::ndarray& b) { return sn::sqrt(sn::sum(sn::square(a - b))); };
  sn::ndarray one = distance(p(0), q(0));                                        // (3,), (3,): ()
  sn::ndarray pairs = sn::vmap(distance)(p, q);                                  // (1000, 3), (1000, 3): (1000,)
  sn::ndarray to_one = sn::vmap(distance, {.in_axes = {0, std::nullopt}})(p, q(0));
  const auto row = sn::vmap(distance, {.in_axes = {std::nullopt, 0}});
  sn::ndarray all = sn::vmap(row, {.in_axes = {0, std::nullopt}})(p, q);         // (1000, 1000)
  // clang-format on
  const sn::ndarray by_hand = sn::sqrt(sn::sum(sn::square(sn::expand_dims(p, 1) - q), 2));
  CHECK(sn::test::kernels_of(all) == sn::test::kernels_of(by_hand));
  CHECK(sn::array_equal(all, by_hand));
  CHECK(all.shape() == sn::shape_t{1000, 1000});
  CHECK(sn::array_equal(pairs(0), one));
  CHECK(sn::array_equal(to_one(0), one));
  CHECK(sn::array_equal(sn::diagonal(all), pairs));

  const layer l{w, sn::ones(3)}, layers{sn::stack({w, w * 2}), sn::ones({2, 3})};
  // clang-format off
  sn::ndarray y = sn::vmap(apply, {.in_axes = {std::nullopt, 0}})(l, x);         // one product of matrices
  sn::ndarray ensemble = sn::vmap(apply, {.in_axes = {{0, 0}, std::nullopt}})(layers, x(0));
  // clang-format on
  CHECK(sn::allclose(y(7), apply(l, x(7))));
  CHECK(ensemble.shape() == sn::shape_t{2, 3});
  CHECK(sn::allclose(ensemble(0), y(0)));

  // clang-format off
  sn::random::generator g(1);
  const auto noisy = [&](const sn::ndarray& a) { return a + g.normal(0, 0.1, a.shape()); };
  sn::ndarray samples = sn::vmap(noisy)(p);
  // clang-format on
  CHECK(sn::std(samples - p).item<double>() == doctest::Approx(0.1).epsilon(0.1));

  // clang-format off
  const auto [h, states] = sn::scan([&](const sn::ndarray& h, const sn::ndarray& x) {
    const sn::ndarray next = sn::tanh(sn::matmul(w, h) + x);
    return std::pair(next, next);
  }, sn::zeros(3), p);                                                           // states: (1000, 3)

  sn::ndarray power = sn::fori_loop(0, 10, [&](const sn::ndarray& i, const sn::ndarray& v) { return v * 2.0 + i; }, sn::ones(3));

  const auto root = [](const sn::ndarray& a) {
    return sn::while_loop([&](const sn::ndarray& r) { return sn::absolute(r * r - a) > 1e-12 * a; },
                          [&](const sn::ndarray& r) { return (r + a / r) * 0.5; }, sn::ones({}));
  };
  sn::ndarray roots = sn::vmap(root)(sn::arange(1.0, 101.0));
  // clang-format on
  CHECK(states.shape() == sn::shape_t{1000, 3});
  CHECK(sn::array_equal(states(999), h));
  CHECK(power(0).item<double>() == 2037);
  CHECK(sn::allclose(roots, sn::sqrt(sn::arange(1.0, 101.0)), 1e-11, 0));
}
