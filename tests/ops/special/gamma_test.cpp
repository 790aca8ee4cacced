// The incomplete gamma functions of large parameters.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/special.hpp"

namespace {

using namespace sinter;

struct gamma_case {
  double a, x, p, q;
};
constexpr gamma_case gamma_cases[] = {
#include "ops/special/gamma_cases.inl"
};

double ulps(double got, double exact) {
  return std::abs(got - exact) / (std::nextafter(std::abs(exact), INFINITY) - std::abs(exact));
}

}  // namespace

TEST_CASE("special: the incomplete gamma functions of large parameters are mpmath's, at the mean and in both tails") {
  std::vector<double> a, x;
  for (const gamma_case& c : gamma_cases) {
    a.push_back(c.a);
    x.push_back(c.x);
  }
  const auto p = special::gammainc(array(a), array(x)).to_vector<double>();
  const auto q = special::gammaincc(array(a), array(x)).to_vector<double>();
  const auto lower = special::chdtr(2 * array(a), 2 * array(x)).to_vector<double>();
  const auto upper = special::gdtrc(1.0, array(a), array(x)).to_vector<double>();
  for (std::size_t k = 0; k < a.size(); ++k) {
    CAPTURE(a[k]);
    CAPTURE(x[k]);
    CHECK(ulps(p[k], gamma_cases[k].p) <= 4);
    CHECK(ulps(q[k], gamma_cases[k].q) <= 4);
    CHECK(lower[k] == p[k]);
    CHECK(upper[k] == q[k]);
  }
  // Each alone, where a block is of one kind.
  for (std::size_t k = 0; k < a.size(); k += 5)
    CHECK(special::gammainc(array(a[k]), array(x[k])).item<double>() == p[k]);
}

TEST_CASE("special: inverses of distributions of large parameters") {
  for (const double a : {300.0, 9000.0, 1e6, 1e11, 1e15}) {
    CAPTURE(a);
    const ndarray p = array({1e-12, 0.01, 0.3, 0.5, 0.9}), x = special::gammaincinv(a, p);
    CHECK(allclose(special::gammainc(a, x), p, 1e-13 + 2e-15 * std::sqrt(a), 0.0));
    CHECK(allclose(special::gammaincc(a, special::gammainccinv(a, p)), p, 1e-13 + 2e-15 * std::sqrt(a), 0.0));
    // The median, to its second term
    CHECK(special::gammaincinv(a, array(0.5)).item<double>() == doctest::Approx(a - 1.0 / 3).epsilon(1e-3 / a));
  }
  // A rate whose product with x is rounded: the probability is that of the product itself.
  const double rate = 1.1, x = 1e12 / 1.1, product = rate * x, rest = std::fma(rate, x, -product);
  const double density = std::exp(-0.5 * std::pow((product - 1e12) / 1e6, 2)) / (1e6 * std::sqrt(2 * M_PI));
  const double at = special::gammainc(array(1e12), array(product)).item<double>();
  CHECK(special::gdtr(array(rate), array(1e12), array(x)).item<double>() ==
        doctest::Approx(at + rest * density).epsilon(1e-14));
}
