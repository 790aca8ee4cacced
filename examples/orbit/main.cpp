// Fits an orbit to noisy directions by Gauss-Newton steps: jacobian differentiates the residuals of all observations, through
// the solution of Kepler's equation.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <sinter/grad.hpp>
#include <stdexcept>

#include "common/program.hpp"
#include "orbit/model.hpp"

namespace {

using namespace orbit;

constexpr double arcsecond = std::numbers::pi / 648000;
// What is to be found: a body of the main belt. Days 0 to 500.
const std::vector<double> truth{2.7667, 0.0785, 0.1849, 1.4016, 1.2842, 0.9};
constexpr double span_of_days = 500;

struct options {
  std::int64_t observations = 200, noise = 1000, off = 5, seed = 2026;
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
    else if (word == "--observations") o.observations = parse_count(word, list.value_of(word), 8, 1'000'000);
    else if (word == "--noise") o.noise = parse_count(word, list.value_of(word), 1, 100'000);
    else if (word == "--off") o.off = parse_count(word, list.value_of(word), 0, 10);
    else if (word == "--seed") o.seed = parse_count(word, list.value_of(word), 0, 1'000'000'000'000);
    else if (word == "--device") o.device = list.value_of(word);
    else unknown_option(word);
  }
  return o;
}

constexpr const char* help =
    R"(Fits the six elements of an orbit to noisy directions, by Gauss-Newton steps with sn::jacobian.

  orbit [options]

  --observations N     directions over 500 days (200)
  --noise MAS          their standard deviation in thousandths of an arc second (1000)
  --off PERCENT        how far the start is from the truth, each element (5)
  --seed S             of the noise: whole number (2026)
  --device NAME        cpu, cuda or cuda:N; without it the first GPU, else the CPU
  --help               print this
)";

/// The Jacobian against central differences of the residuals, relative to the largest entry of each column.
void check_jacobian(const ndarray& elements, const ndarray& days, const ndarray& observed) {
  const auto of = [&](const ndarray& x) { return residuals(x, days, observed); };
  const ndarray j = sn::jacobian(of)(elements);
  double worst = 0;
  for (int k = 0; k < element_count; ++k) {
    const ndarray step = sn::equal(sn::arange(element_count), k) * 1e-6;
    const ndarray column = (of(elements + step) - of(elements - step)) / 2e-6;
    const ndarray off = sn::max(sn::absolute(column - j(sn::idx::_, k))) / sn::max(sn::absolute(column));
    worst = std::fmax(worst, off.item<double>());
  }
  examples::report({worst, 1e-7}, "Jacobian, largest difference from differences of the residuals");
}

/// Of an element from the truth; angles differ by at most half a circle.
double difference(std::size_t k, double found) {
  const double off = found - truth[k];
  return k < 2 ? off : std::remainder(off, 2 * std::numbers::pi);
}

void run(const options& o) {
  examples::use_device(o.device);
  const ndarray exact = sn::array(truth), days = sn::linspace(0, span_of_days, o.observations);
  const double noise = static_cast<double>(o.noise) * 1e-3 * arcsecond;
  const ndarray clean = directions(exact, days);
  const ndarray observed = clean + sn::random::default_rng(o.seed).normal(0, noise, clean.shape());
  sn::eval(observed);
  std::printf("%-12s %lld in %g days, noise of %g arc seconds\n", "observations",
              static_cast<long long>(o.observations), span_of_days, noise / arcsecond);
  const ndarray start = exact * (1 + static_cast<double>(o.off) / 100);
  check_jacobian(start, days, observed);

  fit_orbit(start, days, observed, 50);  // compiles
  const auto begin = std::chrono::steady_clock::now();
  const fit found = fit_orbit(start, days, observed, 50);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  for (std::size_t k = 0; k < found.residuals.size(); ++k)
    std::printf("%-12s %2zu  %.6e arc seconds\n", "residual", k, found.residuals[k] / arcsecond);
  std::printf("%-12s %.3f ms, %zu steps\n", "fit", time.count() * 1e3, found.residuals.size() - 1);
  if (!found.converged)
    throw std::runtime_error("no convergence in " + std::to_string(found.residuals.size()) + " steps");

  const auto elements = found.elements.to_vector<double>(), deviations = found.deviations.to_vector<double>();
  double worst = 0;
  for (std::size_t k = 0; k < element_count; ++k) {
    const double error = difference(k, elements[k]);
    worst = std::fmax(worst, std::fabs(error) / deviations[k]);
    std::printf("%-12s %.9f  error %+.2e, standard deviation %.2e\n", element_names[k], elements[k], error,
                deviations[k]);
  }
  examples::report({worst, 5}, "largest error of an element in standard deviations");
  // The residuals are the noise: the mean of 2 n squares, less six fitted elements, varies by 1 / sqrt(n) of itself.
  const double n = static_cast<double>(o.observations), size = found.residuals.back() / noise;
  examples::report({std::fabs(size * size * n / (n - 3) - 1) * std::sqrt(n), 5},
                   "mean square of the residuals, in standard deviations from that of the noise");
}

}  // namespace

int main(int count, char** words) { return examples::run_program("orbit", count, words, parse_options, help, run); }
