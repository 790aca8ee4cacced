// Draws through tables: the numbers of a search, the probabilities of an alias table, rows of their own.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "ops/random/inverse_table.hpp"
#include "sinter/random_multivariate.hpp"
#include "sinter/sinter.hpp"
#include "sinter/vmap.hpp"

using namespace sinter;

namespace {

std::vector<double> cumulative(std::vector<double> p) {
  std::partial_sum(p.begin(), p.end(), p.begin());
  const double total = p.back();
  for (double& x : p) x /= total;
  return p;
}

/// Probabilities of very different sizes: the k-th is spread ** k, then shuffled by a fixed rule; some are 0.
std::vector<double> spread_probabilities(std::size_t n, double spread) {
  std::vector<double> p(n);
  for (std::size_t k = 0; k < n; ++k) p[k * 7 % n] = k % 5 == 4 ? 0 : std::pow(spread, static_cast<double>(k));
  return p;
}

/// Uniform numbers, and every cumulative probability below 1 with its neighbours.
ndarray edges_and_numbers(const std::vector<double>& sums, std::int64_t n) {
  std::vector<double> at{0.0, std::nextafter(1.0, 0.0)};
  for (const double x : sums)
    for (const double near : {std::nextafter(x, 0.0), x, std::nextafter(x, 2.0)})
      if (near >= 0 && near < 1) at.push_back(near);
  return concatenate({array(at), random::generator(3).random(n)});
}

}  // namespace

TEST_CASE("places among cumulative probabilities are those of a search, by a guide table and without") {
  for (const std::size_t n : {1, 2, 3, 10, 97, 1000})
    for (const double spread : {1.0, 0.9, 0.3}) {
      CAPTURE(n);
      CAPTURE(spread);
      const std::vector<double> sums = cumulative(spread_probabilities(n, spread));
      const ndarray u = edges_and_numbers(sums, 5000);
      CHECK(array_equal(ops::inverse_of(sums, u), searchsorted(array(sums), u, "right")));
      const ndarray few = array({0.0, 0.5});
      CHECK(array_equal(ops::inverse_of(sums, few), searchsorted(array(sums), few, "right")));
    }
}

TEST_CASE("the last probabilities may be 0, and such numbers are never chosen") {
  random::generator g(5);
  const ndarray p = array({0.0, 0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0});
  const ndarray x = g.choice(9, 20000, {.p = p});
  CHECK(bool(all((x == 1) | (x == 3))));
  CHECK(std::abs(mean(x == 1).item<double>() - 0.5) < 0.02);
}

TEST_CASE("an alias table gives every number its probability to the last bit of a uniform number") {
  for (const std::size_t n : {1, 2, 3, 5, 31, 900}) {
    CAPTURE(n);
    std::vector<double> p = spread_probabilities(n, 0.97);
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= total;
    // The middles of 2^20 equal parts: within a cell the number changes once, so counts are exact to one part in each of two cells.
    const std::int64_t parts = 1 << 20;
    const ndarray u = (arange(parts) + 0.5) / static_cast<double>(parts);
    const std::vector<double> share =
        (bincount(ops::by_alias(p, u), {.minlength = static_cast<std::int64_t>(n)}) / static_cast<double>(parts))
            .to_vector<double>();
    REQUIRE(share.size() == n);
    const double cells = static_cast<double>(std::bit_ceil(n));
    for (std::size_t k = 0; k < n; ++k) CHECK(std::abs(share[k] - p[k]) <= (cells + 2) * 0x1p-20);
    double apart = 0;
    for (std::size_t k = 0; k < n; ++k) apart += std::abs(share[k] - p[k]);
    CHECK(apart <= 2 * cells * 0x1p-20);
    for (std::size_t k = 0; k < n; ++k)
      if (p[k] == 0) CHECK(share[k] == 0);
  }
}

TEST_CASE("rows of cumulative probabilities are searched each by itself") {
  const std::int64_t width = 8;
  std::vector<double> table;
  for (int row = 0; row < 5; ++row) {
    std::vector<double> sums = cumulative(std::vector<double>(static_cast<std::size_t>(row + 4), row + 1.0));
    sums.resize(width, 1.0);
    table.insert(table.end(), sums.begin(), sums.end());
  }
  random::generator g(1);
  const ndarray row = g.integers(0, 5, 4000), u = g.random(4000), found = ops::inverse_of_rows(table, width, row, u);
  CHECK(array_equal(found, floor(u * (row + 4)).astype(int64)));
}

TEST_CASE("hypergeometric draws by table: ends, one number of samples for each element, wide tables, repeated seeds") {
  random::generator g(8);
  const ndarray sample = array({0, 1, 5, 11, 12});
  const ndarray x = g.hypergeometric(5, 7, sample, {4000, 5});
  CHECK(x.dtype() == int64);
  CHECK(bool(all((x >= maximum(sample - 7, 0)) & (x <= minimum(sample, 5)))));
  CHECK(bool(all(abs(mean(x, 0) - sample * 5 / 12.0) < 0.07)));
  const ndarray variance = sample * (5 / 12.0) * (7 / 12.0) * (12 - sample) / 11;
  CHECK(bool(all(abs(var(x, 0) - variance) < 0.09)));
  // About 2,500 likely counts have a table; 25,000 are drawn by rejection.
  for (const int good : {100000, 10000000}) {
    const ndarray many = g.hypergeometric(good, good, good / 2, 20000);
    const double spread = std::sqrt(good / 8.0 * 1.5 * good / (2.0 * good - 1));
    CHECK(std::abs(mean(many).item<double>() - good / 4.0) < 5 * spread / std::sqrt(20000.0));
    CHECK(std::abs(many.std().item<double>() / spread - 1) < 0.03);
  }
  CHECK(g.hypergeometric(3, 4, array(std::vector<std::int64_t>{})).shape() == shape_t{0});
  random::generator a(2), b(2);
  CHECK(array_equal(a.hypergeometric(30, 40, 20, {10, 10}).ravel(), b.hypergeometric(30, 40, 20, 100)));
  CHECK_THROWS_AS(g.hypergeometric(3, 4, array({2, 8})), value_error);
}

TEST_CASE("bytes are those of words, of any number, each as likely") {
  random::seed(11);
  const std::vector<std::uint8_t> long_one = random::bytes(40000);
  random::seed(11);
  const std::vector<std::uint8_t> short_one = random::bytes(13);
  CHECK(random::bytes(0).empty());
  REQUIRE(short_one.size() == 13);
  CHECK(std::equal(short_one.begin(), short_one.end(), long_one.begin()));
  const ndarray counts = bincount(array(long_one), {.minlength = 256});
  const double chi = sum(square(counts - 40000 / 256.0)).item<double>() / (40000 / 256.0);
  CHECK(special::chdtrc(255, array(chi)).item<double>() > 1e-6);
}

TEST_CASE("normal rows are the same whether their normal numbers are stored or not") {
  const ndarray mean = array({1.0, 2.0}), cov = array({{2.0, 0.3}, {0.3, 1.0}});
  random::generator a(4), b(4), c(4);
  const ndarray all = a.multivariate_normal(mean, cov, 50), one = b.multivariate_normal(mean, cov, {5, 10});
  CHECK(array_equal(all.reshape(5, 10, 2), one));
  CHECK(array_equal((c.multivariate_normal(mean, cov, 50) - mean)(7), all(7) - mean));
}

TEST_CASE("hypergeometric draws by table are drawn by each example of a mapped function") {
  random::generator g(9), again(9);
  const ndarray x = vmap([&](const ndarray& a) { return a + g.hypergeometric(7, 5, 3, a.shape()); })(zeros({6, 50}));
  REQUIRE(x.shape() == shape_t{6, 50});
  CHECK(bool(all((x >= 0) & (x <= 3))));
  const example_scope of(4);
  CHECK(array_equal(x(4), again.hypergeometric(7, 5, 3, 50)));
}
