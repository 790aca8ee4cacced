// The inverses of the incomplete beta function in float32 beside those in float64, whose text has more digits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sinter/creation.hpp"
#include "sinter/special.hpp"

namespace {

using namespace sinter;

constexpr int count = 4000;

struct shapes {
  std::vector<float> a, b, p;
};

/// Shapes of 10^low to 10^high, and probabilities that are uniform or, in the second half, down to 10^-30.
shapes draw(double low, double high) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> shape(low, high), chance(0, 1), tail(-30, -1e-4);
  shapes s;
  for (int k = 0; k < count; ++k) {
    s.a.push_back(static_cast<float>(std::pow(10, shape(engine))));
    s.b.push_back(static_cast<float>(std::pow(10, shape(engine))));
    s.p.push_back(static_cast<float>(k < count / 2 ? chance(engine) : std::pow(10, tail(engine))));
  }
  return s;
}

using function = ndarray (*)(const ndarray&, const ndarray&, const ndarray&);

/// The largest error in units of the last place of float32.
double worst_of(function f, const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& p) {
  const auto of = [&](dtype type) {
    return f(array(a).astype(type), array(b).astype(type), array(p).astype(type))
        .astype(dtype::f64)
        .to_vector<double>();
  };
  const std::vector<double> got = of(dtype::f32), exact = of(dtype::f64);
  double worst = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    const auto wanted = static_cast<float>(exact[k]);
    if (got[k] == wanted || (std::isnan(got[k]) && std::isnan(wanted))) continue;
    const double unit = std::nextafter(std::abs(wanted), std::numeric_limits<float>::infinity()) - std::abs(wanted);
    const double error = std::abs(got[k] - exact[k]) / unit;
    worst = std::isfinite(error) ? std::max(worst, error) : std::numeric_limits<double>::infinity();
  }
  return worst;
}

}  // namespace

TEST_CASE("float32's inverses of the incomplete beta function are those of float64 within 8 units in the last place") {
  struct range {
    double low, high;
  };
  for (const range r : {range{-12, -3}, {-3, 0}, {-1, 2}, {0, 4}, {-6, 6}, {2, 8}}) {
    const shapes s = draw(r.low, r.high);
    CAPTURE(r.low);
    CHECK(worst_of([](auto& a, auto& b, auto& p) { return special::betaincinv(a, b, p); }, s.a, s.b, s.p) <= 8);
    CHECK(worst_of([](auto& a, auto& b, auto& p) { return special::betainccinv(a, b, p); }, s.a, s.b, s.p) <= 8);
    CHECK(worst_of([](auto& a, auto& b, auto& p) { return special::fdtri(a, b, p); }, s.a, s.b, s.p) <= 8);
    std::vector<float> some, all;  // successes, trials
    for (std::size_t k = 0; k < s.a.size(); ++k) {
      some.push_back(std::floor(s.a[k]));
      all.push_back(some.back() + std::floor(s.b[k]) + 1);
    }
    CHECK(worst_of([](auto& k, auto& n, auto& p) { return special::bdtri(k, n, p); }, some, all, s.p) <= 8);
    CHECK(worst_of([](auto& k, auto& n, auto& p) { return special::nbdtri(k, n, p); }, some, all, s.p) <= 8);
  }
}
