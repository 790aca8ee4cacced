// Parameters of distributions beside SciPy's, and put back into the distributions.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "sinter/sinter.hpp"
#include "sinter/special_more.hpp"
#include "sinter/special_parameters.hpp"

namespace {

using namespace sinter;
namespace sp = sinter::special;

struct parameter_case {
  const char* name;
  double x[3];
  double value;
};
const parameter_case cases[] = {
#include "parameter_cases.inl"
};

using three = ndarray (*)(const ndarray&, const ndarray&, const ndarray&);
struct distribution_parameter {
  const char* name;
  three parameter;
  double digits;   // SciPy's own tolerance where it iterates
  three put_back;  // less the probability, the parameter in the place of the probability's argument: 0
};
#define OF3(f) [](const ndarray& a, const ndarray& b, const ndarray& c) { return sp::f(a, b, c); }
#define OF2(f) [](const ndarray& a, const ndarray& b, const ndarray&) { return sp::f(a, b); }
const distribution_parameter parameters[] = {
    {"bdtrik", OF3(bdtrik), 1e-9,
     [](const ndarray& n, const ndarray& p, const ndarray& k) { return sp::betaincc(k + 1, n - k, p); }},
    {"bdtrin", OF3(bdtrin), 1e-9, nullptr},
    {"nbdtrik", OF3(nbdtrik), 1e-9,
     [](const ndarray& n, const ndarray& p, const ndarray& k) { return sp::betainc(n, k + 1, p); }},
    {"nbdtrin", OF3(nbdtrin), 1e-9, nullptr},
    {"pdtrik", OF2(pdtrik), 1e-13, nullptr},
    {"chdtriv", OF2(chdtriv), 1e-13, nullptr},
    {"gdtrib", OF3(gdtrib), 1e-13, nullptr},
    {"btdtria", OF3(btdtria), 1e-13, nullptr},
    {"btdtrib", OF3(btdtrib), 1e-13, nullptr},
    {"stdtridf", OF2(stdtridf), 1e-11, nullptr},
    {"nrdtrimn", OF3(nrdtrimn), 1e-14, nullptr},
    {"nrdtrisd", OF3(nrdtrisd), 1e-14, nullptr},
    {"tklmbda", OF2(tklmbda), 1e-9, nullptr},
    {"kolmogorov", [](const ndarray& a, const ndarray&, const ndarray&) { return sp::kolmogorov(a); }, 2e-15, nullptr},
};

ndarray one(double v) { return array({v}); }
double at(const ndarray& a) { return a.item<double>(); }

}  // namespace

TEST_CASE("parameters of distributions are SciPy's") {
  std::size_t covered = 0;
  for (const distribution_parameter& d : parameters) {
    CAPTURE(d.name);
    std::vector<double> x[3], wanted;
    for (const parameter_case& c : cases) {
      if (std::string(c.name) != d.name) continue;
      for (int i = 0; i < 3; ++i) x[i].push_back(c.x[i]);
      wanted.push_back(c.value);
    }
    REQUIRE(!wanted.empty());
    covered += wanted.size();
    const ndarray a = array(x[0]), b = array(x[1]), c = array(x[2]), got = d.parameter(a, b, c);
    const std::vector<double> values = got.to_vector<double>();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      CAPTURE(x[0][i]);
      CAPTURE(x[1][i]);
      CAPTURE(values[i]);
      // The square of kolmogorov's argument is rounded before its exponential is taken.
      const double grown = std::string(d.name) == "kolmogorov" ? std::max(1.0, 2 * x[0][i] * x[0][i]) : 1;
      CHECK(std::abs(values[i] - wanted[i]) <= d.digits * std::min(grown, 1e4) * std::max(std::abs(wanted[i]), 1e-290));
    }
    if (d.put_back) CHECK(allclose(d.put_back(b, c, got), a, 1e-14, 0));
    const ndarray narrow = d.parameter(a.astype(float32), b.astype(float32), c.astype(float32));
    CHECK(narrow.dtype() == float32);
    CHECK(allclose(narrow, got, 1e-4, 1e-30));
    CHECK_THROWS_AS(d.parameter(a.astype(complex128), b, c), dtype_error);
  }
  CHECK(covered == std::size(cases));
}

TEST_CASE("parameters of distributions at their ends") {
  CHECK(at(sp::bdtrik(0.5, one(0), 0.5)) == 0);
  CHECK(at(sp::bdtrik(1e-9, one(10), 0.5)) < 1e-9);  // below the probability of no success
  CHECK(std::isnan(at(sp::bdtrik(one(1.5), 10, 0.5))));
  CHECK(std::isnan(at(sp::pdtrik(one(-0.1), 3))));
  CHECK(std::isnan(at(sp::chdtriv(one(0.5), -1))));
  CHECK(std::isnan(at(sp::gdtrib(1, one(NAN), 3))));
  CHECK(std::isnan(at(sp::nrdtrimn(one(0.3), -1, 2))));
  CHECK(at(sp::tklmbda(one(3), 0.5)) == 1);
  CHECK(at(sp::tklmbda(one(-2), 0.5)) == 0);
  CHECK(std::abs(at(sp::tklmbda(one(0), 0)) - 0.5) < 1e-15);
  CHECK(std::isnan(at(sp::kolmogorov(one(NAN)))));
  const ndarray table = sp::btdtria(array({{0.2}, {0.7}}), array({1.0, 2.0, 3.0}), 0.4);
  CHECK(table.shape() == shape_t{2, 3});
  CHECK(allclose(sp::betainc(table, array({1.0, 2.0, 3.0}), 0.4), array({{0.2}, {0.7}}), 1e-13, 0));
  CHECK(sp::pdtrik(zeros({0}), 3).shape() == shape_t{0});
  CHECK_THROWS_AS(sp::pdtrik(ones({2}), ones({3})), shape_error);
}
