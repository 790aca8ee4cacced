// Black-Scholes prices and five greeks: the price of one option is a function of five numbers, its derivatives are grad's, and
// vmap has them for all options. Checked against the closed forms.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <sinter/grad.hpp>
#include <sinter/sinter.hpp>
#include <sinter/vmap.hpp>
#include <vector>

#include "common/program.hpp"

namespace {

namespace sn = sinter;
using sn::ndarray;

struct options {
  std::int64_t count = 200'000, seed = 2026;
  std::string device;
  bool help = false;
};

options parse_options(int count, const char* const* words) {
  using namespace examples;
  options o;
  word_list list(count, words);
  while (!list.done()) {
    const auto word = list.take();
    if (word == "--help" || word == "-h") o.help = true;
    else if (word == "--options") o.count = parse_count(word, list.value_of(word), 1, 100'000'000);
    else if (word == "--seed") o.seed = parse_count(word, list.value_of(word), 0, 1'000'000'000'000);
    else if (word == "--device") o.device = list.value_of(word);
    else unknown_option(word);
  }
  return o;
}

constexpr const char* help =
    R"(Prices of European calls by Black and Scholes, and five sensitivities of each by grad and vmap.

  greeks [options]

  --options N          random options (200000)
  --seed S             whole number (2026)
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --help               print this
)";

/// The value of one call: the price of the share, volatility, years left, rate of interest, strike.
ndarray price(const ndarray& s, const ndarray& sigma, const ndarray& t, const ndarray& r, const ndarray& k) {
  const ndarray spread = sigma * sn::sqrt(t);
  const ndarray d1 = (sn::log(s / k) + (r + 0.5 * sn::square(sigma)) * t) / spread;
  return s * sn::special::ndtr(d1) - k * sn::exp(-r * t) * sn::special::ndtr(d1 - spread);
}

struct market {
  ndarray s, sigma, t, r, k;
};
market random_market(const options& o) {
  auto g = sn::random::default_rng(o.seed);
  const auto between = [&](double low, double high) { return g.uniform(low, high, {o.count}); };
  market m{between(50, 150), between(0.1, 0.6), between(0.1, 2), between(0, 0.08), between(50, 150)};
  sn::eval(m.s, m.sigma, m.t, m.r, m.k);
  return m;
}

constexpr const char* names[] = {"price", "delta", "vega", "theta", "rho", "gamma"};

std::vector<ndarray> by_derivatives(const market& m) {
  const auto first = sn::vmap(sn::value_and_grad(price, sn::argnums<0, 1, 2, 3>));
  const auto second = sn::vmap(sn::grad(sn::grad(price)));
  auto [value, slopes] = first(m.s, m.sigma, m.t, m.r, m.k);
  auto [delta, vega, of_time, rho] = slopes;
  std::vector<ndarray> all{value, delta, vega, -of_time, rho, second(m.s, m.sigma, m.t, m.r, m.k)};
  sn::eval(all[0], all[1], all[2], all[3], all[4], all[5]);
  return all;
}

/// The textbook's formulas for one option, on the host.
struct closed_forms {
  double of[6];

  closed_forms(double s, double sigma, double t, double r, double k) {
    const double root = std::sqrt(t), d1 = (std::log(s / k) + (r + sigma * sigma / 2) * t) / (sigma * root);
    const double d2 = d1 - sigma * root, discounted = k * std::exp(-r * t);
    const auto below = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
    const double density = std::exp(-d1 * d1 / 2) / std::sqrt(2 * std::numbers::pi);
    of[0] = s * below(d1) - discounted * below(d2);
    of[1] = below(d1);
    of[2] = s * density * root;
    of[3] = -s * density * sigma / (2 * root) - r * discounted * below(d2);
    of[4] = discounted * t * below(d2);
    of[5] = density / (s * sigma * root);
  }
};

void check(const market& m, const std::vector<ndarray>& found) {
  const auto s = m.s.to_vector<double>(), sigma = m.sigma.to_vector<double>(), t = m.t.to_vector<double>(),
             r = m.r.to_vector<double>(), k = m.k.to_vector<double>();
  for (std::size_t j = 0; j < found.size(); ++j) {
    const auto values = found[j].to_vector<double>();
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double exact = closed_forms(s[i], sigma[i], t[i], r[i], k[i]).of[j], error = std::fabs(values[i] - exact);
      worst = error <= worst ? worst : error;  // NaN counts
      largest = std::fmax(largest, std::fabs(exact));
    }
    examples::report({worst, 1e-12 * largest}, std::string(names[j]) + ", largest difference from the closed form");
  }
}

void run(const options& o) {
  examples::use_device(o.device);
  std::printf("%-12s %lld, seed %lld\n", "options", static_cast<long long>(o.count), static_cast<long long>(o.seed));
  const market m = random_market(o);
  by_derivatives(m);  // compiles
  sn::synchronize();
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<ndarray> found = by_derivatives(m);
  sn::synchronize();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  std::printf("%-12s %.3f ms, %.1f ns an option\n", "six of each", time.count() * 1e3,
              time.count() / static_cast<double>(o.count) * 1e9);
  for (std::size_t j = 0; j < found.size(); ++j)
    std::printf("%-12s %.9g on average\n", names[j], sn::mean(found[j]).item<double>());
  check(m, found);
}

}  // namespace

int main(int count, char** words) { return examples::run_program("greeks", count, words, parse_options, help, run); }
