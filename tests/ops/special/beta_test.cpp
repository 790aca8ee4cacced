// The incomplete beta functions of large parameters, and the distributions that are made of them.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/special.hpp"
#include "sinter/special_more.hpp"

namespace {

using namespace sinter;

struct beta_case {
  double a, b, x, p, q;
};
constexpr beta_case beta_cases[] = {
#include "ops/special/beta_cases.inl"
};
constexpr beta_case f_cases[] = {
#include "ops/special/f_cases.inl"
};

double beta_ulps(double got, double exact) {
  return std::abs(got - exact) / (std::nextafter(std::abs(exact), INFINITY) - std::abs(exact));
}
template <std::size_t N>
ndarray column(const beta_case (&cases)[N], double beta_case::*member) {
  std::vector<double> values;
  for (const beta_case& c : cases) values.push_back(c.*member);
  return array(values);
}

}  // namespace

TEST_CASE("special: the incomplete beta functions of large parameters are mpmath's, at the mean and in both tails") {
  const ndarray a = column(beta_cases, &beta_case::a), b = column(beta_cases, &beta_case::b);
  const ndarray x = column(beta_cases, &beta_case::x);
  const auto p = special::betainc(a, b, x).to_vector<double>(), q = special::betaincc(a, b, x).to_vector<double>();
  // The parameters are whole: at most a - 1 of a + b - 1 trials, at most b - 1 failures before success a
  const auto binomial = special::bdtr(a - 1, a + b - 1, x).to_vector<double>();
  const auto more = special::bdtrc(a - 1, a + b - 1, x).to_vector<double>();
  const auto failures = special::nbdtr(b - 1, a, x).to_vector<double>();
  const auto beyond = special::nbdtrc(b - 1, a, x).to_vector<double>();
  for (std::size_t k = 0; k < p.size(); ++k) {
    CAPTURE(beta_cases[k].a);
    CAPTURE(beta_cases[k].b);
    CAPTURE(beta_cases[k].x);
    CHECK(beta_ulps(p[k], beta_cases[k].p) <= 8);
    CHECK(beta_ulps(q[k], beta_cases[k].q) <= 8);
    CHECK(binomial[k] == q[k]);
    CHECK(more[k] == p[k]);
    CHECK(failures[k] == p[k]);
    CHECK(beyond[k] == q[k]);
  }
  // Each alone, where a block is of one kind.
  for (std::size_t k = 0; k < p.size(); k += 7) {
    const beta_case& c = beta_cases[k];
    CHECK(special::betainc(array(c.a), array(c.b), array(c.x)).item<double>() == p[k]);
  }
}

TEST_CASE("special: F distributions of many degrees of freedom are mpmath's") {
  const ndarray a = column(f_cases, &beta_case::a), b = column(f_cases, &beta_case::b),
                x = column(f_cases, &beta_case::x);
  const auto p = special::fdtr(a, b, x).to_vector<double>(), q = special::fdtrc(a, b, x).to_vector<double>();
  for (std::size_t k = 0; k < p.size(); ++k) {
    CAPTURE(f_cases[k].a);
    CAPTURE(f_cases[k].b);
    CAPTURE(f_cases[k].x);
    CHECK(beta_ulps(p[k], f_cases[k].p) <= 8);
    CHECK(beta_ulps(q[k], f_cases[k].q) <= 8);
  }
}

TEST_CASE("special: incomplete beta functions have values beside the mean up to the largest parameters") {
  const ndarray a = array({1e4, 1e7, 1e9, 1e12, 1e15, 1e20, 1e100, 1e200, 1e308});
  CHECK(allclose(special::betainc(a, a, 0.5), 0.5, 1e-15, 0.0));
  CHECK(allclose(special::betaincc(a, a, 0.5), 0.5, 1e-15, 0.0));
  CHECK(array_equal(special::betainc(a, a, 0.75), array({1.0, 1, 1, 1, 1, 1, 1, 1, 1})));
  CHECK(array_equal(special::betainc(a, a, 0.25), zeros({9})));
  // From one method to the other nothing jumps: values and differences of neighbours.
  for (const double size : {1024.0, 8192.0}) {
    const ndarray n = size + linspace(-0.5, 0.5, 101);
    for (const double x : {0.2, 0.25, 0.31}) {
      const ndarray v = special::betainc(n, 3 * n, x), w = special::betainc(n, 3 * n, x * (1 + 1e-14));
      const ndarray log_v = log(v), steps = log_v[{slice(1, 101)}] - log_v[{slice(0, 100)}];
      if (min(v).item<double>() > 0) CHECK(allclose(steps[{slice(1, 100)}], steps[{slice(0, 99)}], 1e-6, 4e-13));
      CHECK(all(w >= v * (1 - 1e-14)).item<bool>());
    }
  }
}

TEST_CASE("special: inverses of incomplete beta functions of large and of unlike parameters") {
  const ndarray p = array({1e-12, 0.01, 0.3, 0.5, 0.9});
  for (const double a : {0.5, 40.0, 3e3, 9e3, 1e6, 1e11, 1e15})
    for (const double b : {2.0, 7e2, 2e4, 1e9, 1e14, 1e19}) {
      CAPTURE(a);
      CAPTURE(b);
      // x is rounded: what that does to the probability, from both densities
      const ndarray x = special::betaincinv(a, b, p);
      const double size = 1e-12 + 4e-15 * (a > b ? a / std::sqrt(b) + std::sqrt(b) : std::sqrt(a));
      if (size < 1e-3) CHECK(allclose(special::betainc(a, b, x), p, size, 0.0));
      CHECK(allclose(special::betainccinv(b, a, p), 1 - x, 1e-13 + 1e-15 * a / b, 1e-15));
      // float32 by its shorter text: the same number, rounded
      const auto f = static_cast<float>(a), g = static_cast<float>(b);
      const ndarray p32 = p.astype(float32), exact = special::betaincinv(double(f), double(g), p32.astype(float64));
      const ndarray x32 = special::betaincinv(full({5}, f, {.dtype = float32}), full({5}, g, {.dtype = float32}), p32);
      CHECK(x32.dtype() == float32);
      CHECK(allclose(x32.astype(float64), exact, 2.4e-7, 1e-45));
    }
}

TEST_CASE("special: Student's distribution does not lose digits with its degrees of freedom") {
  // Far below 0 the lower tail is its own: by symmetry the upper one of -t, and that of F.
  for (const double df : {3.0, 100.0, 1e4, 1e8, 1e15}) {
    CAPTURE(df);
    const ndarray t = array({-0.25, -1.0, -2.0, -4.0, -6.0});
    CHECK(allclose(special::stdtr(df, t), special::fdtrc(1, df, t * t) / 2, 1e-15, 0.0));
    if (df == 1e15) CHECK(allclose(special::stdtr(df, t), special::ndtr(t), 1e-12, 0.0));
  }
  // mpmath's
  CHECK(beta_ulps(special::stdtr(100, array({-5.0})).item<double>(), 1.2250867067519002e-06) <= 16);
  CHECK(beta_ulps(special::stdtr(1e6, array({-5.0})).item<double>(), 2.8669989354453708e-07) <= 16);
}
