// Derivatives of draws whose making is a choice between numbers: rejections, one of two roots, the component of a mixture.
#include <cmath>
#include <numbers>

#include "ops/derivatives/check.hpp"
#include "sinter/random.hpp"
#include "sinter/vmap.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;
using random::generator;

/// The value x where an increasing function is p.
template <class F>
double place_of(const F& f, double p, double low, double high) {
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (low + high);
    (f(middle) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

/// The distribution function of angles of mean 0 at -pi < x < pi, up to its scale: by the trapezoidal rule, which is exact for
/// the whole circle, and Simpson's for a part.
double angles_below(double kappa, double x) {
  const auto density = [&](double t) { return std::exp(kappa * (std::cos(t) - 1)); };
  constexpr int n = 4000;
  double whole = 0, part = density(0) - density(x);
  for (int k = 0; k < n; ++k) whole += density(2 * std::numbers::pi * k / n) * 2 * std::numbers::pi / n;
  for (int k = 0; k < n; ++k) part += 4 * density(x * (k + 0.5) / n) + 2 * density(x * (k + 1) / n);
  return 0.5 + part * x / (6 * n) / whole;
}

double inverse_gaussian_below(double mean, double scale, double x) {
  const auto normal = [](double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); };
  const double r = std::sqrt(scale / x);
  return normal(r * (x / mean - 1)) + std::exp(2 * scale / mean) * normal(-r * (x / mean + 1));
}

}  // namespace

TEST_CASE("draws of vonmises move with the concentration at a fixed value of the distribution function") {
  for (const double kappa : {0.02, 0.7, 3.0, 40.0, 900.0}) {
    CAPTURE(kappa);
    const auto draws = [](const ndarray& k) { return generator(5).vonmises(0.0, k, {12}); };
    const ndarray at = array(kappa), one = ones({});
    const ndarray x = draws(at), slopes = jvp(draws, at, one).second;
    const ndarray curves = jvp([&](const ndarray& k) { return jvp(draws, k, one).second; }, at, one).second;
    const double h = 1e-3 * kappa;
    for (int k = 0; k < 12; ++k) {
      const double angle = x(k).item<double>(), p = angles_below(kappa, angle);
      CAPTURE(angle);
      const auto moved = [&](double to) {
        return place_of([&](double y) { return angles_below(to, y); }, p, -std::numbers::pi, std::numbers::pi);
      };
      const double up = moved(kappa + h), down = moved(kappa - h);
      CHECK(slopes(k).item<double>() == doctest::Approx((up - down) / (2 * h)).epsilon(1e-5));
      CHECK(curves(k).item<double>() * kappa * kappa ==
            doctest::Approx((up - 2 * angle + down) / (h * h) * kappa * kappa).epsilon(1e-3));
    }
  }
  // The uniform distribution, and one as narrow as a normal one.
  const ndarray ends = array({0.0, 1e8});
  const auto draws = [](const ndarray& k) { return generator(6).vonmises(0.0, k, {5, 2}); };
  const ndarray x = draws(ends), slopes = jvp(draws, ends, ones({2})).second;
  CHECK(allclose(slopes(idx::_, 0), -sin(x(idx::_, 0)), 1e-12));
  CHECK(allclose(slopes(idx::_, 1), -x(idx::_, 1) / 2e8, 1e-10, 0));
  const auto turned = [](const ndarray& mu) { return generator(6).vonmises(mu, 2.0, {5}); };
  CHECK(array_equal(jvp(turned, array(0.3), ones({})).second, ones({5})));
}

TEST_CASE("draws of wald move with both parameters at a fixed value of the distribution function") {
  const ndarray mean = array({0.3, 1.0, 4.0, 2.0}), scale = array({2.0, 0.1, 3.0, 50.0});
  const auto draws = [](const ndarray& m, const ndarray& l) { return generator(8).wald(m, l, {6, 4}); };
  const ndarray x = draws(mean, scale), one = ones({4}), none = zeros({4});
  const ndarray by_mean = jvp(draws, std::tuple(mean, scale), std::tuple(one, none)).second;
  const ndarray by_scale = jvp(draws, std::tuple(mean, scale), std::tuple(none, one)).second;
  for (int k = 0; k < 6; ++k)
    for (int j = 0; j < 4; ++j) {
      const double m = mean(j).item<double>(), l = scale(j).item<double>(), drawn = x(k, j).item<double>();
      const double p = inverse_gaussian_below(m, l, drawn), h = 1e-4;
      CAPTURE(m);
      CAPTURE(drawn);
      if (p > 1 - 1e-6) continue;
      const auto moved = [&](double to_m, double to_l) {
        return place_of([&](double y) { return inverse_gaussian_below(to_m, to_l, y); }, p, 0, 100 * drawn);
      };
      CHECK(by_mean(k, j).item<double>() ==
            doctest::Approx((moved(m * (1 + h), l) - moved(m * (1 - h), l)) / (2 * h * m)).epsilon(1e-5));
      CHECK(by_scale(k, j).item<double>() * l ==
            doctest::Approx((moved(m, l * (1 + h)) - moved(m, l * (1 - h))) / (2 * h)).epsilon(1e-5));
    }
}

TEST_CASE("gradients of expectations of noncentral draws by their parameters") {
  // The mean of x is df + nonc, that of x^2 2 (df + 2 nonc) + (df + nonc)^2.
  const double df = 3, nonc = 2.5;
  const auto moments = [](const ndarray& d, const ndarray& c) {
    const ndarray x = generator(9).noncentral_chisquare(d, c, {40000});
    return stack({ndarray(mean(x)), ndarray(mean(x * x))});
  };
  const ndarray by_df = jacobian([&](const ndarray& d) { return moments(d, array(nonc)); })(array(df));
  const ndarray by_nonc = jacobian([&](const ndarray& c) { return moments(array(df), c); })(array(nonc));
  CHECK(allclose(by_df, array({1.0, 2 + 2 * (df + nonc)}), 0.03));
  CHECK(allclose(by_nonc, array({1.0, 4 + 2 * (df + nonc)}), 0.03));
  const auto ratio = [](const ndarray& c) { return ndarray(mean(generator(9).noncentral_f(4.0, 30.0, c, {40000}))); };
  CHECK(grad(ratio)(array(2.0)).item<double>() == doctest::Approx(30.0 / (4 * 28)).epsilon(0.03));
}

TEST_CASE("derivatives leave draws as they are, within a vmap, too") {
  const ndarray k = numbers({4}, 0.5, 3), m = numbers({4}, 0.5, 3, 1);
  const auto draws = [](const ndarray& k, const ndarray& m) {
    generator g(11);
    return ndarray(g.vonmises(0, k, {3}) + g.wald(m, k, {3}) + g.noncentral_chisquare(k, m, {3}) +
                   g.gamma(m, k, {3}) * g.beta(k, m, {3}));
  };
  const auto total = [&](const ndarray& k, const ndarray& m) { return ndarray(sum(draws(k, m))); };
  const ndarray all = vmap(draws)(k, m), slopes = vmap(grad(total))(k, m);
  for (int j = 0; j < 4; ++j) {
    const example_scope of(j);
    CHECK(array_equal(value_and_grad(total)(k(j).copy(), m(j).copy()).first, sum(all(j))));
    CHECK(allclose(grad(total)(k(j).copy(), m(j).copy()), slopes(j), 1e-13));
  }
  CHECK(allclose(grad([&](const ndarray& k) { return ndarray(sum(vmap(draws)(k, m))); })(k), slopes, 1e-13));
  CHECK(min(absolute(slopes)).item<double>() > 1e-3);
}
