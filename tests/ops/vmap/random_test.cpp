// Draws within vmap: each example has numbers of its own, those of example_scope.
#include "ops/vmap/beside_loop.hpp"
#include "sinter/random_multivariate.hpp"

using namespace vmap_test;

namespace {

/// f(g, x) of each example, the generator beginning in one state.
template <class F>
void check_draws(F f, std::int64_t count = 5) {
  const ndarray x = numbers({count, 3});
  random::generator g(7);
  const ndarray got = vmap([&](const ndarray& a) { return f(g, a); })(x);
  std::vector<ndarray> all;
  for (std::int64_t k = 0; k < count; ++k) {
    const example_scope of(k);
    random::generator same(7);
    all.push_back(f(same, x(k).copy()));
  }
  CHECK(same_bits(got, stack(all)));
  for (std::int64_t k = 1; k < count; ++k) CHECK(!same_bits(all[0], all[static_cast<std::size_t>(k)]));
}

}  // namespace

TEST_CASE("vmap: draws have the bits of a loop over examples' scopes") {
  using random::generator;
  check_draws([](generator& g, const ndarray&) { return g.random(4); });
  check_draws([](generator& g, const ndarray&) { return g.random(7, {.dtype = float32}); });
  check_draws([](generator& g, const ndarray&) { return g.standard_normal({3, 5}); });
  check_draws([](generator& g, const ndarray& a) { return a + g.normal(0, 1, 3); });
  check_draws([](generator& g, const ndarray& a) { return g.normal(a, absolute(a)); });
  check_draws([](generator& g, const ndarray&) { return g.integers(0, 1000, 5); });
  check_draws([](generator& g, const ndarray&) { return g.laplace(0, 1, 5); });
  check_draws([](generator& g, const ndarray& a) { return g.gamma(absolute(a) + 1); });
  check_draws([](generator& g, const ndarray& a) { return g.poisson(absolute(a) * 50, {2, 3}); });
  check_draws([](generator& g, const ndarray&) { return g.random(); });
  check_draws([](generator& g, const ndarray&) { return g.permutation(20); });
  check_draws([](generator& g, const ndarray& a) { return g.random(5) + g.random(5) * a(0); });
  // Draws that are refused and made again: what follows begins where it does for one example.
  check_draws([](generator& g, const ndarray& a) { return g.vonmises(a, absolute(a) * 3) + g.random(3); });
  check_draws([](generator& g, const ndarray&) { return g.zipf(1.3, 50) + g.integers(0, 9, 50); });
  check_draws([](generator& g, const ndarray& a) {
    const ndarray good = floor(absolute(a) * 40).astype(int64) + 5;
    return g.hypergeometric(good, 30, 11) + g.integers(0, 9, 3);
  });
  check_draws([](generator& g, const ndarray& a) {
    return g.hypergeometric(30, 40, floor(minimum(absolute(a), 1) * 40).astype(int64)) + g.integers(0, 9, 3);
  });
  check_draws([](generator& g, const ndarray&) {
    return random::multivariate_hypergeometric(g, array({9, 12, 7, 4}), 11) + g.integers(0, 9, 4);
  });
  check_draws([](generator& g, const ndarray&) { return g.multinomial(20, array({0.2, 0.3, 0.5}), 4); });
  check_draws([](generator& g, const ndarray& a) { return g.multinomial(20, absolute(a) / sum(absolute(a)), 4); });
  check_draws([](generator& g, const ndarray& a) {
    return g.multinomial(floor(absolute(a) * 9).astype(int64), array({0.2, 0.3, 0.5}));
  });
}

TEST_CASE("vmap: draws without arguments, of nested maps, and of parameters that are the same for all") {
  random::generator g(3);
  const ndarray c = array({1.0, 2.0, 3.0});
  const ndarray x = vmap([&] { return g.normal(c, 1); }, {.axis_size = 1000})();
  REQUIRE(x.shape() == shape_t{1000, 3});
  CHECK(allclose(mean(x, 0), c, 0, 0.2));
  const ndarray u = vmap([&] { return vmap([&] { return g.random(3); }, {.axis_size = 30})(); }, {.axis_size = 20})();
  REQUIRE(u.shape() == shape_t{20, 30, 3});
  CHECK(unique_values(u).size() == 1800);
  const ndarray v = vmap([&] { return g.random(3); }, {.axis_size = 30})();
  CHECK(!bool(any(isin(ravel(u), ravel(v)))));
}

TEST_CASE("vmap: example_scope refuses negative numbers") {
  sinter_test::refuses<value_error>([] { example_scope of(-1); }, "[example_scope]");
}

TEST_CASE("vmap: multivariate_hypergeometric of colours that each example has of its own") {
  random::generator g(11);
  const ndarray colors = array({{9, 12, 7, 4}, {0, 3, 20, 1}, {5, 0, 0, 6}, {40, 1, 1, 0}});
  const auto draw = [&](const ndarray& c) { return random::multivariate_hypergeometric(g, c, 11, {3000}); };
  const ndarray x = vmap(draw)(colors);
  REQUIRE(x.shape() == shape_t{4, 3000, 4});
  CHECK(x.dtype() == int64);
  CHECK(bool(all(equal(sum(x, -1), 11))));
  CHECK(bool(all(greater_equal(x, 0))));
  CHECK(bool(all(less_equal(x, expand_dims(colors, 1)))));
  const ndarray share = colors / sum(colors, {.axis = 1, .keepdims = true});
  CHECK(allclose(mean(x, 1), 11 * share, 0, 0.15));
  // Examples and nested maps draw numbers of their own; all colours in one place of another axis; narrow counts.
  const ndarray same = vmap(draw)(tile(colors(0), {2, 1}));
  CHECK(!same_bits(same(0).copy(), same(1).copy()));
  const auto few = [&](const ndarray& c) { return random::multivariate_hypergeometric(g, c, 2, {}, {.dtype = int16}); };
  const ndarray narrow = vmap(few, {.in_axes = 1, .out_axes = 1})(colors.T().astype(uint8));
  CHECK(narrow.dtype() == int16);
  CHECK(narrow.shape() == shape_t{4, 4});
  CHECK(vmap(vmap(few))(stack({colors, colors})).shape() == shape_t{2, 4, 4});
  sinter_test::refuses<value_error>([&] { vmap(draw)(array({{9, 3}, {9, 1}})); }, "11 draws of fewer");
  sinter_test::refuses<value_error>([&] { vmap(draw)(array({{9, 3}, {19, -1}})); }, "fewer than none");
}
