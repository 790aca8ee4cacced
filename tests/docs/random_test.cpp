// The code of docs/random.md: every line of it is between the marks below, and does what the text says.

#include "support/docs_page.hpp"
#include "support/kernel_test.hpp"

namespace sn = sinter;

TEST_CASE("random docs: every piece of code on the page is part of this file") {
  sinter_test::check_page("random.md", "docs/random_test.cpp", 5);
}

TEST_CASE("random docs: the code works") {
  const sn::random::generator_state before = sn::random::get_state();
  // clang-format off
  sn::random::generator g(42);
  sn::ndarray z = g.standard_normal({1000, 3}, {.dtype = sn::float32});
  sn::ndarray u = g.uniform(-1, 1, 500);
  sn::ndarray k = g.integers(0, 6, 100, {.endpoint = true});   // 0 to 6
  sn::ndarray five = g.choice(1000, 5, {.replace = false});
  sn::random::seed(7);                                          // the module's own generator
  sn::ndarray noise = sn::random::normal(0, 0.1, z.shape());
  // clang-format on
  CHECK(z.dtype() == sn::float32);
  CHECK(sn::max(k).item<int>() == 6);
  CHECK(sn::min(u).item<double>() < -0.9);
  CHECK(five.size() == 5);
  CHECK(noise.shape() == z.shape());
  sn::random::set_state(before);
  // clang-format off
  sn::ndarray x = g.standard_normal(1000000) * 2.0 + 1.0;       // one kernel, one array
  sn::ndarray inside = sn::square(g.random(1000000)) + sn::square(g.random(1000000)) < 1.0;
  // clang-format on
  CHECK(sn::test::kernels_of(x) == 1);
  CHECK(sn::test::kernels_of(sn::mean(inside)) == 1);
  // clang-format off
  double pi = 4 * sn::mean(inside).item<double>();              // one kernel, no array at all
  // clang-format on
  CHECK(pi == doctest::Approx(3.14159).epsilon(0.003));
  // clang-format off
  sn::random::generator_state saved = g.state();
  sn::ndarray first = g.random(3);
  g.set_state(saved);
  sn::ndarray again = g.random(3);                              // the same three numbers
  std::vector<sn::random::generator> workers = g.spawn(4);      // streams of their own
  sn::random::generator far = g.jumped();                       // 2^64 blocks further
  // clang-format on
  CHECK(sn::array_equal(first, again));
  CHECK(workers.size() == 4);
  CHECK(far.state().subsequence == 1);
  // clang-format off
  sn::ndarray rates = sn::array({0.5, 5.0, 50.0});
  sn::ndarray counts = g.poisson(rates, {1000, 3});
  sn::ndarray c = sn::array({{2.0, 0.6}, {0.6, 1.0}});
  sn::ndarray points = g.multivariate_normal(sn::zeros(2), c, 1000);
  // clang-format on
  CHECK(counts.dtype() == sn::int64);
  CHECK(points.shape() == sn::shape_t{1000, 2});
}
