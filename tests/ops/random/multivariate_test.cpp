// Draws of several colours without replacement: margins, sums, what is refused.
#include <doctest/doctest.h>

#include "sinter/random_multivariate.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

TEST_CASE("multivariate hypergeometric draws add up, stay within the colours, and have their means and covariances") {
  random::generator g(41);
  const ndarray colors = array({16, 8, 4, 0, 2});
  const std::int64_t n = 12, draws = 40000;
  const ndarray x = random::multivariate_hypergeometric(g, colors, n, draws);
  REQUIRE(x.shape() == shape_t{draws, 5});
  CHECK(x.dtype() == int64);
  CHECK(bool(all(sum(x, 1) == n)));
  CHECK(bool(all((x >= 0) & (x <= colors))));
  const ndarray share = colors / 30.0, wanted = n * share;
  CHECK(bool(all(abs(mean(x, 0) - wanted) < 0.05)));
  const ndarray covariance = n * (30.0 - n) / 29 * (diag(share) - outer(share, share));
  CHECK(bool(all(abs(cov(x, {.rowvar = false}) - covariance) < 0.08)));
}

TEST_CASE("multivariate hypergeometric draws: ends, seeds, errors") {
  random::generator g(1);
  CHECK(array_equal(random::multivariate_hypergeometric(g, array({3, 4, 5}), 12), array({3, 4, 5})));
  CHECK(array_equal(random::multivariate_hypergeometric(g, array({3, 4, 5}), 0, {2}), zeros({2, 3}, int64)));
  CHECK(array_equal(random::multivariate_hypergeometric(g, array({9}), 4, 3), full({3, 1}, 4, int64)));
  CHECK(random::multivariate_hypergeometric(g, array({9, 2}), 4, {2, 0}).shape() == shape_t{2, 0, 2});
  CHECK(random::multivariate_hypergeometric(array({9, 2}), 4, 2, {.dtype = int32}).dtype() == int32);
  random::generator a(7), b(7);
  CHECK(array_equal(random::multivariate_hypergeometric(a, array({30, 40, 50}), 12, 5),
                    random::multivariate_hypergeometric(b, array({30, 40, 50}), 12, 5)));
  CHECK_THROWS_AS(random::multivariate_hypergeometric(g, array({3, 4}), 8), value_error);
  CHECK_THROWS_AS(random::multivariate_hypergeometric(g, array({3, 4}), -1), value_error);
  CHECK_THROWS_AS(random::multivariate_hypergeometric(g, array({3, -4}), 1), value_error);
  CHECK_THROWS_AS(random::multivariate_hypergeometric(g, array({600000000, 600000000}), 1), value_error);
  CHECK_THROWS_AS(random::multivariate_hypergeometric(g, array({3.0, 4.0}), 1), dtype_error);
  CHECK_THROWS_AS(random::multivariate_hypergeometric(g, array({{3, 4}}), 1), shape_error);
  CHECK_THROWS_AS(random::multivariate_hypergeometric(g, array({3, 4}), 1, 2, {.dtype = float32}), dtype_error);
}
