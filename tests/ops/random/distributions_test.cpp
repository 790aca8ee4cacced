// Distributions composed of other draws: Kolmogorov and Smirnov's test of the continuous ones, chi squared of the others
// (statistics.hpp says what they detect), arguments, and arrays of parameters.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "ops/random/statistics.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using sinter::random::generator;
using statistics::sample;
using statistics::smallest_p;

namespace {

constexpr std::int64_t many = 1 << 16;

sample values(const ndarray& x) { return x.astype(float64).to_vector<double>(); }

/// The sum over a Poisson mixture.
double mixture(double half, const std::function<double(double)>& part) {
  double sum = 0, weight = std::exp(-half);
  for (int j = 0; j < 200; ++j) {
    sum += weight * part(j);
    weight *= half / (j + 1);
  }
  return sum;
}

double vonmises_cdf(double mu, double kappa, double x) {
  const auto part = [&](double to) {
    double sum = 0;
    constexpr int n = 400;
    for (int k = 0; k < n; ++k) {
      const double at = -std::numbers::pi + (to + std::numbers::pi) * (k + 0.5) / n;
      sum += std::exp(kappa * (std::cos(at - mu) - 1)) * (to + std::numbers::pi) / n;
    }
    return sum;
  };
  return part(x) / part(std::numbers::pi);
}

struct continuous {
  const char* name;
  std::function<ndarray(generator&, const random::draw_kw&)> draw;
  std::function<double(double)> cdf;
};

const std::vector<continuous> continuous_ones{
    {"chisquare", [](generator& g, const random::draw_kw& kw) { return g.chisquare(3.5, many, kw); },
     [](double x) { return statistics::gamma_cdf(1.75, x / 2); }},
    {"noncentral_chisquare",
     [](generator& g, const random::draw_kw& kw) { return g.noncentral_chisquare(0.7, 3, many, kw); },
     [](double x) { return mixture(1.5, [&](double j) { return statistics::gamma_cdf(0.35 + j, x / 2); }); }},
    {"f", [](generator& g, const random::draw_kw& kw) { return g.f(3, 8, many, kw); },
     [](double x) { return statistics::beta_cdf(1.5, 4, 3 * x / (3 * x + 8)); }},
    {"noncentral_f", [](generator& g, const random::draw_kw& kw) { return g.noncentral_f(3, 8, 2, many, kw); },
     [](double x) {
       return mixture(1, [&](double j) { return statistics::beta_cdf(1.5 + j, 4, 3 * x / (3 * x + 8)); });
     }},
    {"gumbel", [](generator& g, const random::draw_kw& kw) { return g.gumbel(1, 2, many, kw); },
     [](double x) { return std::exp(-std::exp(-(x - 1) / 2)); }},
    {"logistic", [](generator& g, const random::draw_kw& kw) { return g.logistic(1, 2, many, kw); },
     [](double x) { return 1 / (1 + std::exp(-(x - 1) / 2)); }},
    {"pareto", [](generator& g, const random::draw_kw& kw) { return g.pareto(2.5, many, kw); },
     [](double x) { return 1 - std::pow(1 + x, -2.5); }},
    {"power", [](generator& g, const random::draw_kw& kw) { return g.power(2.5, many, kw); },
     [](double x) { return std::pow(x, 2.5); }},
    {"rayleigh", [](generator& g, const random::draw_kw& kw) { return g.rayleigh(2, many, kw); },
     [](double x) { return -std::expm1(-x * x / 8); }},
    {"standard_cauchy", [](generator& g, const random::draw_kw& kw) { return g.standard_cauchy(many, kw); },
     [](double x) { return 0.5 + std::atan(x) / std::numbers::pi; }},
    {"standard_t", [](generator& g, const random::draw_kw& kw) { return g.standard_t(4, many, kw); },
     [](double x) {
       const double tail = 0.5 * statistics::beta_cdf(2, 0.5, 4 / (4 + x * x));
       return x < 0 ? tail : 1 - tail;
     }},
    {"triangular", [](generator& g, const random::draw_kw& kw) { return g.triangular(-1, 0, 3, many, kw); },
     [](double x) { return x < 0 ? (x + 1) * (x + 1) / 4 : 1 - (3 - x) * (3 - x) / 12; }},
    {"vonmises", [](generator& g, const random::draw_kw& kw) { return g.vonmises(0.5, 2, many / 8, kw); },
     [](double x) { return vonmises_cdf(0.5, 2, x); }},
    {"wald", [](generator& g, const random::draw_kw& kw) { return g.wald(2, 3, many, kw); },
     [](double x) {
       const double root = std::sqrt(3 / x);
       return statistics::normal_cdf(root * (x / 2 - 1)) + std::exp(3.0) * statistics::normal_cdf(-root * (x / 2 + 1));
     }},
    {"weibull", [](generator& g, const random::draw_kw& kw) { return g.weibull(1.7, many, kw); },
     [](double x) { return -std::expm1(-std::pow(x, 1.7)); }},
};

/// P of the counts of 1, 2, ... (0, 1, ... from `first`) against probabilities; the last cell has what is beyond.
double counts_p(const ndarray& x, int first, const std::function<double(int)>& probability) {
  constexpr int cells = 40;
  sample counts(cells + 1), expected(cells + 1);
  double rest = 1;
  for (int k = 0; k < cells; ++k) {
    expected[static_cast<std::size_t>(k)] = probability(first + k) * static_cast<double>(x.size());
    rest -= probability(first + k);
  }
  expected[cells] = std::max(rest, 0.0) * static_cast<double>(x.size());
  for (const double v : values(x)) counts[static_cast<std::size_t>(std::clamp(v - first, 0.0, double(cells)))] += 1;
  return statistics::chi_square_p(counts, expected);
}

}  // namespace

TEST_CASE("composed draws of floats have their distributions") {
  for (const continuous& d : continuous_ones) {
    CAPTURE(d.name);
    generator g(99);
    CHECK(statistics::kolmogorov_p(values(d.draw(g, {})), d.cdf) > smallest_p);
    const ndarray narrow = d.draw(g, {.dtype = float32});
    CHECK(narrow.dtype() == float32);
    CHECK(statistics::kolmogorov_p(values(narrow), d.cdf) > smallest_p);
  }
}

TEST_CASE("composed draws of integers have their distributions") {
  generator g(7);
  CHECK(counts_p(g.geometric(0.3, many), 1, [](int k) { return 0.3 * std::pow(0.7, k - 1); }) > smallest_p);
  CHECK(counts_p(g.logseries(0.8, many), 1, [](int k) { return -std::pow(0.8, k) / k / std::log1p(-0.8); }) >
        smallest_p);
  CHECK(counts_p(g.negative_binomial(2.5, 0.4, many), 0, [](int k) {
          return std::exp(std::lgamma(k + 2.5) - std::lgamma(2.5) - std::lgamma(k + 1.0)) * std::pow(0.4, 2.5) *
                 std::pow(0.6, k);
        }) > smallest_p);
  double zeta = 0;
  for (int k = 200000; k > 0; --k) zeta += std::pow(k, -3.0);
  CHECK(counts_p(g.zipf(3, many), 1, [&](int k) { return std::pow(k, -3.0) / zeta; }) > smallest_p);
  // Near 1 the weight is spread evenly over all magnitudes up to the largest number.
  const double less_one = 1e-9, sum = -std::expm1(-less_one * std::log(9.2e18)) / less_one + 0.57721566490153286;
  CHECK(counts_p(g.zipf(1 + less_one, many), 1, [&](int k) { return std::pow(k, -1 - less_one) / sum; }) > smallest_p);
  CHECK(bool(all(greater_equal(g.zipf(std::nextafter(1.0, 2.0), many), 1))));
  CHECK(array_equal(g.geometric(1, 10), ones({10}, int64)));
  CHECK(array_equal(g.logseries(0, 10), ones({10}, int64)));
  CHECK(g.geometric(0.5, {2, 3}, {.dtype = int16}).dtype() == int16);
}

TEST_CASE("hypergeometric draws have their distribution, from samples of nothing to populations of a billion") {
  generator g(11);
  const auto log_choose = [](double n, double k) {
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  };
  const int cases[][3] = {{5, 6, 4}, {6, 5, 9}, {30, 3, 20}, {3, 40, 2}, {60, 70, 25}, {1, 1, 1}, {500, 9000, 60}};
  for (const auto& of : cases) {
    const int good = of[0], bad = of[1], sample = of[2];  // clang does not capture bindings
    CAPTURE(good);
    const auto probability = [&](int k) {
      if (k > good || k > sample || sample - k > bad) return 0.0;
      return std::exp(log_choose(good, k) + log_choose(bad, sample - k) - log_choose(good + bad, sample));
    };
    CHECK(counts_p(g.hypergeometric(good, bad, sample, many), 0, probability) > smallest_p);
  }
  const double n = 9e8, m = 4e8, k = 3e8, mean = k * n / (n + m);
  const ndarray large = g.hypergeometric(900000000, 400000000, 300000000, many);
  CHECK(statistics::mean_p(values(large), mean, std::sqrt(mean * (m / (n + m)) * (n + m - k) / (n + m - 1))) >
        smallest_p);
  CHECK(array_equal(g.hypergeometric(7, 3, 10, 20), full({20}, 7, int64)));
  CHECK(array_equal(g.hypergeometric(0, 0, 0, 20), zeros({20}, int64)));
  CHECK(array_equal(g.hypergeometric(0, 9, 4, 20), zeros({20}, int64)));
  CHECK(g.hypergeometric(array({4, 5}), 6, array({{1}, {2}})).shape() == shape_t{2, 2});
  CHECK(g.hypergeometric(4, 5, 6, 3, {.dtype = int16}).dtype() == int16);
  CHECK_THROWS_AS(g.hypergeometric(2, 3, 6, 3), value_error);
  CHECK_THROWS_AS(g.hypergeometric(array({2, -1}), 3, 1), value_error);
  CHECK_THROWS_AS(g.hypergeometric(1000000000, 3, 1), value_error);
  CHECK_THROWS_AS(g.hypergeometric(2.5, 3, 1), dtype_error);
}

TEST_CASE("rows of multinomial and dirichlet draws add up, and their parts are binomial and beta") {
  generator g(5);
  const ndarray p = array({0.2, 0.5, 0.3}), m = g.multinomial(20, p, many);
  CHECK(m.shape() == shape_t{many, 3});
  CHECK(bool(all(equal(sum(m, 1), 20))));
  CHECK(statistics::mean_p(values(m(idx::_, 2)), 6, std::sqrt(20 * 0.3 * 0.7)) > smallest_p);
  CHECK(g.multinomial(3, p).shape() == shape_t{3});
  const ndarray d = g.dirichlet(array({1.0, 2.0, 0.5}), many);
  CHECK(allclose(sum(d, 1), 1.0));
  CHECK(statistics::kolmogorov_p(values(d(idx::_, 1)), [](double x) { return statistics::beta_cdf(2, 1.5, x); }) >
        smallest_p);
}

TEST_CASE("multinomial draws of arrays of trials and of stacks of probabilities") {
  generator g(6);
  const ndarray p = array({{0.2, 0.5, 0.3}, {0.7, 0.0, 0.3}}), n = array({20, 6});
  const ndarray m = g.multinomial(n, p, {many, 2});
  CHECK(m.shape() == shape_t{many, 2, 3});
  CHECK(bool(all(equal(sum(m, 2), n))));
  CHECK(bool(all(equal(m(idx::_, 1, 1), 0))));
  CHECK(statistics::mean_p(values(m(idx::_, 0, 1)), 10, std::sqrt(20 * 0.5 * 0.5)) > smallest_p);
  CHECK(statistics::mean_p(values(m(idx::_, 1, 2)), 1.8, std::sqrt(6 * 0.3 * 0.7)) > smallest_p);
  CHECK(g.multinomial(n, p).shape() == shape_t{2, 3});
  CHECK(g.multinomial(n(idx::_, idx::newaxis), p).shape() == shape_t{2, 2, 3});
  CHECK(g.multinomial(4, p).shape() == shape_t{2, 3});
  CHECK(g.multinomial(n, array({1.0})).shape() == shape_t{2, 1});
  CHECK_THROWS_AS(g.multinomial(n, p, {3}), shape_error);
  CHECK_THROWS_AS(g.multinomial(n - 7, p), value_error);
  CHECK_THROWS_AS(g.multinomial(n, -p), value_error);
  CHECK_THROWS_AS(g.multinomial(n, p * 1.5), value_error);
  CHECK_THROWS_AS(g.multinomial(n.astype(float64), p), dtype_error);
}

TEST_CASE("parameters may be arrays, and are checked where they are numbers") {
  generator g(3);
  const ndarray rows = array({1.0, 5.0})(idx::_, idx::newaxis);
  for (const ndarray& x : {g.chisquare(rows, {2, 1000}), g.pareto(rows, {2, 1000}), g.wald(rows, 2, {2, 1000}),
                           g.triangular(0, rows, 9, {2, 1000}), g.vonmises(0, rows, {2, 1000})})
    CHECK(x.shape() == shape_t{2, 1000});
  CHECK(g.standard_t(rows).shape() == shape_t{2, 1});
  CHECK(random::weibull(2, 5).shape() == shape_t{5});
  CHECK(random::bytes(7).size() == 7);
  CHECK_THROWS_AS(g.chisquare(0, 3), value_error);
  CHECK_THROWS_AS(g.f(1, -1, 3), value_error);
  CHECK_THROWS_AS(g.triangular(2, 1, 3), value_error);
  CHECK_THROWS_AS(g.geometric(0, 3), value_error);
  CHECK_THROWS_AS(g.zipf(1, 3), value_error);
  CHECK_THROWS_AS(g.rayleigh(-1, 3), value_error);
  CHECK_THROWS_AS(g.multinomial(5, array({0.9, 0.9, 0.1})), value_error);
  CHECK_THROWS_AS(g.geometric(0.5, 3, {.dtype = float32}), dtype_error);
  CHECK_THROWS_AS(g.pareto(rows, {3, 4}), shape_error);
}
