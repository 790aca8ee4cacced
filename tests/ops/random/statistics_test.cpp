// Distributions, correlations and the independence of streams, by statistics with fixed seeds (statistics.hpp
// says what they detect).
#include "ops/random/statistics.hpp"

#include "ops/random/reference.hpp"

using namespace sinter;
using sinter::random::draw_kw;
using sinter::random::generator;
using statistics::sample;
using statistics::smallest_p;

namespace {

constexpr std::int64_t many = 1 << 20;

sample values(const ndarray& x) { return x.astype(float64).to_vector<double>(); }

struct distribution {
  const char* name;
  std::function<ndarray(generator&, dtype)> draw;
  std::function<double(double)> cdf;
  double mean, deviation, excess;  // the fourth moment about the mean over the square of the second one
};

const std::vector<distribution>& distributions() {
  static const std::vector<distribution> all{
      {"random", [](generator& g, dtype t) { return g.random(many, {.dtype = t}); },
       [](double x) { return std::clamp(x, 0.0, 1.0); }, 0.5, std::sqrt(1 / 12.0), 1.8},
      {"uniform", [](generator& g, dtype t) { return g.uniform(-2, 6, many, {.dtype = t}); },
       [](double x) { return std::clamp((x + 2) / 8, 0.0, 1.0); }, 2, std::sqrt(64 / 12.0), 1.8},
      {"standard_normal", [](generator& g, dtype t) { return g.standard_normal(many, {.dtype = t}); },
       statistics::normal_cdf, 0, 1, 3},
      {"normal", [](generator& g, dtype t) { return g.normal(3, 0.5, many, {.dtype = t}); },
       [](double x) { return statistics::normal_cdf((x - 3) / 0.5); }, 3, 0.5, 3},
      {"exponential", [](generator& g, dtype t) { return g.exponential(2.5, many, {.dtype = t}); },
       [](double x) { return -std::expm1(-x / 2.5); }, 2.5, 2.5, 9},
      {"laplace", [](generator& g, dtype t) { return g.laplace(1, 2, many, {.dtype = t}); },
       [](double x) {
         const double z = (x - 1) / 2;
         return z < 0 ? 0.5 * std::exp(z) : 1 - 0.5 * std::exp(-z);
       },
       1, 2 * std::sqrt(2.0), 6},
      {"lognormal", [](generator& g, dtype t) { return g.lognormal(0.2, 0.3, many, {.dtype = t}); },
       [](double x) { return statistics::normal_cdf((std::log(x) - 0.2) / 0.3); }, std::exp(0.2 + 0.045),
       std::exp(0.245) * std::sqrt(std::expm1(0.09)), 4.6449},
      {"gamma of 0.4", [](generator& g, dtype t) { return g.gamma(0.4, 1.5, many / 4, {.dtype = t}); },
       [](double x) { return statistics::gamma_cdf(0.4, x / 1.5); }, 0.6, 1.5 * std::sqrt(0.4), 18},
      {"gamma of 1", [](generator& g, dtype t) { return g.standard_gamma(1, many / 4, {.dtype = t}); },
       [](double x) { return -std::expm1(-x); }, 1, 1, 9},
      {"gamma of 12.5", [](generator& g, dtype t) { return g.standard_gamma(12.5, many / 4, {.dtype = t}); },
       [](double x) { return statistics::gamma_cdf(12.5, x); }, 12.5, std::sqrt(12.5), 3.48},
      {"beta of 0.3, 0.7", [](generator& g, dtype t) { return g.beta(0.3, 0.7, many / 4, {.dtype = t}); },
       [](double x) { return statistics::beta_cdf(0.3, 0.7, x); }, 0.3, std::sqrt(0.21 / 2), 1.63492063},
      {"beta of 5, 2", [](generator& g, dtype t) { return g.beta(5, 2, many / 4, {.dtype = t}); },
       [](double x) { return statistics::beta_cdf(5, 2, x); }, 5 / 7.0, std::sqrt(10 / (49 * 8.0)), 2.88},
  };
  return all;
}

/// Counts of a whole-numbered draw beside what its probabilities lead one to expect.
double counts_p(const sample& x, double first, double last, const std::function<double(double)>& probability) {
  sample counts(std::size_t(last - first) + 3), expected(counts.size());
  double inside = 0;
  for (double k = first; k <= last; ++k)
    inside += expected[std::size_t(k - first) + 1] = probability(k) * double(x.size());
  expected[0] = 0;
  expected.back() = std::max(0.0, double(x.size()) - inside);
  for (const double v : x)
    ++counts[v < first ? counts.size() - 1 : v > last ? counts.size() - 1 : std::size_t(v - first) + 1];
  return statistics::chi_square_p(counts, expected);
}
double poisson_probability(double mean, double k) { return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1)); }
double binomial_probability(double n, double p, double k) {
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(p) +
                  (n - k) * std::log1p(-p));
}

/// P that a table of pairs, 64 x 64 cells, is even.
double pairs_p(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b, int shift) {
  sample counts(64 * 64);
  for (std::size_t k = 0; k < a.size(); ++k) ++counts[(a[k] >> shift & 63) * 64 + (b[k] >> shift & 63)];
  return statistics::equal_counts_p(counts);
}

}  // namespace

TEST_CASE("random statistics: the statistics notice what they claim to") {
  generator g(1);
  const sample z = values(g.standard_normal(many));
  // 4.2 / sqrt(n) is the largest difference between these two distribution functions: 0.242 * 1.7%.
  CHECK(statistics::kolmogorov_p(z, [](double x) { return statistics::normal_cdf(x * 1.017); }) < smallest_p);
  CHECK(statistics::mean_p(z, 0.0065, 1) < smallest_p);
  CHECK(statistics::kolmogorov_p(z, statistics::normal_cdf) > smallest_p);
  sample dependent(z);
  for (std::size_t k = 1; k < z.size(); ++k) dependent[k] += 0.0065 * z[k - 1];
  CHECK(statistics::lag_p(dependent, 1) < smallest_p);
  sample counts(10, 1e5);
  counts[3] += 2500;
  CHECK(statistics::equal_counts_p(counts) < smallest_p);
  // Known values: P(chi squared > 18.307 | 10) = 0.05, P of 1.6276 / sqrt(n) = 0.01, medians.
  CHECK(statistics::chi_square_p(18.307, 10) == doctest::Approx(0.05).epsilon(1e-4));
  CHECK(statistics::gamma_cdf(2.5, 2.5) == doctest::Approx(0.58411981));
  CHECK(statistics::beta_cdf(0.3, 0.7, 0.5) == doctest::Approx(0.72757156));
  CHECK(statistics::beta_cdf(5, 2, 0.7) == doctest::Approx(0.420175));
}

TEST_CASE("random statistics: floats follow their distributions, in both dtypes") {
  for (const dtype type : {float64, float32})
    for (std::uint64_t seed : {1u, 2u}) {
      generator g(seed + (type == float32 ? 100 : 0));
      for (const distribution& d : distributions()) {
        CAPTURE(d.name);
        CAPTURE(seed);
        const sample x = values(d.draw(g, type));
        CHECK(statistics::kolmogorov_p(x, d.cdf) > smallest_p);
        CHECK(statistics::mean_p(x, d.mean, d.deviation) > smallest_p);
        sample squares;
        for (const double v : x) squares.push_back((v - d.mean) * (v - d.mean));
        const double variance = d.deviation * d.deviation;
        CHECK(statistics::mean_p(squares, variance, variance * std::sqrt(d.excess - 1)) > smallest_p);
      }
    }
}

TEST_CASE("random statistics: the tails of normal numbers are long enough") {
  generator g(3);
  const std::int64_t n = 1 << 24;
  const double beyond = 4.5, expected = statistics::two_sided(beyond) * double(n);
  const ndarray x = g.standard_normal(n, {.dtype = float32});
  const double found = double(sum(absolute(x) > beyond).item<std::int64_t>());
  CHECK(std::fabs(found - expected) < 4 * std::sqrt(expected));
  CHECK(max(x).item<double>() > 4.9);
  CHECK(min(x).item<double>() < -4.9);
}

TEST_CASE("random statistics: every place of a block, and every bit of a word, is as good as the others") {
  generator g(4);
  const auto w = random_test::words(g, many).to_vector<std::uint32_t>();
  for (int bit = 0; bit < 32; ++bit) {
    sample ones(4);
    for (std::size_t k = 0; k < w.size(); ++k) ones[k % 4] += w[k] >> bit & 1;
    for (const double n : ones) CHECK(statistics::two_sided((n - many / 8) / std::sqrt(many / 16.0)) > smallest_p);
  }
  const sample z = values(g.standard_normal(many, {.dtype = float32}));
  for (std::size_t place = 0; place < 4; ++place) {
    sample own;
    for (std::size_t k = place; k < z.size(); k += 4) own.push_back(z[k]);
    CHECK(statistics::kolmogorov_p(own, statistics::normal_cdf) > smallest_p);
  }
}

TEST_CASE("random statistics: neighbours are independent") {
  generator g(5);
  for (const dtype type : {float32, float64})
    for (const sample& x : {values(g.random(many, {.dtype = type})), values(g.standard_normal(many, {.dtype = type})),
                            values(g.standard_exponential(many, {.dtype = type})), values(g.gamma(1.5, 1, many / 4))}) {
      for (std::size_t lag = 1; lag <= 16; ++lag) CHECK(statistics::lag_p(x, lag) > smallest_p);
      sample size;
      for (const double v : x) size.push_back(std::fabs(v));
      for (std::size_t lag = 1; lag <= 4; ++lag) CHECK(statistics::lag_p(size, lag) > smallest_p);
    }
  const auto w = random_test::words(g, many + 8).to_vector<std::uint32_t>();
  const std::vector<std::uint32_t> first(w.begin(), w.begin() + many);
  for (int lag = 1; lag <= 8; ++lag)
    for (const int shift : {0, 13, 26})
      CHECK(pairs_p(first, std::vector<std::uint32_t>(w.begin() + lag, w.begin() + lag + many), shift) > smallest_p);
}

TEST_CASE("random statistics: spawned, jumped, and neighbouring seeds' streams are independent") {
  generator parent(6);
  std::vector<generator> streams = parent.spawn(6);
  streams.push_back(streams[0].spawn(1)[0]);
  for (int n : {1, 2}) streams.push_back(parent.jumped(std::uint32_t(n)));
  for (std::uint64_t seed : {6u, 7u, 8u}) streams.push_back(generator(seed));
  std::vector<sample> z;
  std::vector<std::vector<std::uint32_t>> w;
  for (generator& g : streams) {
    w.push_back(random_test::words(g, 1 << 18).to_vector<std::uint32_t>());
    z.push_back(values(g.standard_normal(1 << 18)));
  }
  for (std::size_t a = 0; a < z.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      CAPTURE(a);
      CAPTURE(b);
      CHECK(statistics::correlation_p(z[a].data(), z[b].data(), z[a].size()) > smallest_p);
      CHECK(pairs_p(w[a], w[b], 0) > smallest_p);
      CHECK(pairs_p(w[a], w[b], 26) > smallest_p);
      double equal = 0;
      for (std::size_t k = 0; k < w[a].size(); ++k) equal += w[a][k] == w[b][k];
      CHECK(equal < 3);
    }
}

TEST_CASE("random statistics: poisson and binomial numbers have their probabilities") {
  generator g(7);
  for (const double mean : {0.01, 0.7, 4.2, 9.99, 10.0, 37.5, 900.0}) {
    CAPTURE(mean);
    const double spread = 7 * std::sqrt(mean) + 10, first = std::max(0.0, std::floor(mean - spread));
    const sample x = values(g.poisson(mean, many / 4));
    CHECK(counts_p(x, first, mean + spread, [&](double k) { return poisson_probability(mean, k); }) > smallest_p);
    CHECK(statistics::mean_p(x, mean, std::sqrt(mean)) > smallest_p);
  }
  struct {
    std::int64_t n;
    double p;
  } const cases[] = {{1, 0.3},     {10, 0.5},  {30, 0.9},  {1000, 0.002},
                     {1000, 0.01}, {64, 0.25}, {500, 0.5}, {100000, 0.7}};
  for (const auto& c : cases) {
    CAPTURE(c.n);
    CAPTURE(c.p);
    const double n = double(c.n), mean = n * c.p, deviation = std::sqrt(n * c.p * (1 - c.p));
    const double first = std::max(0.0, std::floor(mean - 7 * deviation - 5)),
                 last = std::min(n, mean + 7 * deviation + 5);
    const sample x = values(g.binomial(c.n, c.p, many / 4));
    CHECK(counts_p(x, first, last, [&](double k) { return binomial_probability(n, c.p, k); }) > smallest_p);
    CHECK(statistics::mean_p(x, mean, deviation) > smallest_p);
  }
}

TEST_CASE("random statistics: large means and trials, where terms nearly cancel") {
  generator g(8);
  for (const double mean : {1e6, 1e10, 1e15}) {
    sample z = values(g.poisson(mean, many / 8));
    for (double& v : z) v = (v - mean) / std::sqrt(mean);
    CAPTURE(mean);
    CHECK(statistics::mean_p(z, 0, 1) > smallest_p);
    CHECK(statistics::kolmogorov_p(z, statistics::normal_cdf) > (mean < 1e9 ? 0 : smallest_p));
  }
  for (const std::int64_t n : {std::int64_t{10000000}, std::int64_t{10000000000}}) {
    const double p = 0.3, mean = double(n) * p, deviation = std::sqrt(mean * 0.7);
    sample z = values(g.binomial(n, p, many / 8));
    for (double& v : z) v = (v - mean) / deviation;
    CHECK(statistics::mean_p(z, 0, 1) > smallest_p);
    if (n > 1000000000) CHECK(statistics::kolmogorov_p(z, statistics::normal_cdf) > smallest_p);
  }
}
