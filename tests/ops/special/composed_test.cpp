// Special functions that are made of others, beside mpmath's values, and at their ends.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "sinter/sinter.hpp"
#include "sinter/special_more.hpp"

namespace {

using namespace sinter;
namespace sp = sinter::special;

struct known_value {
  const char* name;
  double parameter, argument, value;
};
const known_value known[] = {
#include "composed_cases.inl"
};

struct function_of_two {
  const char* name;
  ndarray (*call)(const ndarray& parameter, const ndarray& argument);
  double ulps;  // of the value, and of what it is made of
};
const function_of_two functions[] = {
    {"yn", [](const ndarray& n, const ndarray& x) { return sp::yn(n.astype(int64), x); }, 200},
    {"kn", [](const ndarray& n, const ndarray& x) { return sp::kn(n.astype(int64), x); }, 30},
    {"stdtr", [](const ndarray& v, const ndarray& t) { return sp::stdtr(v, t); }, 16},
    {"stdtrit", [](const ndarray& v, const ndarray& p) { return sp::stdtrit(v, p); }, 64},
    {"huber", [](const ndarray& d, const ndarray& r) { return sp::huber(d, r); }, 2},
    {"pseudo_huber", [](const ndarray& d, const ndarray& r) { return sp::pseudo_huber(d, r); }, 4},
    {"boxcox", [](const ndarray& l, const ndarray& x) { return sp::boxcox(x, l); }, 32},
    {"boxcox1p", [](const ndarray& l, const ndarray& x) { return sp::boxcox1p(x, l); }, 16},
    {"inv_boxcox", [](const ndarray& l, const ndarray& y) { return sp::inv_boxcox(y, l); }, 16},
    {"inv_boxcox1p", [](const ndarray& l, const ndarray& y) { return sp::inv_boxcox1p(y, l); }, 16},
    {"softplus", [](const ndarray&, const ndarray& x) { return sp::softplus(x); }, 4},
    {"exp10", [](const ndarray&, const ndarray& x) { return sp::exp10(x); }, 4},
};

/// The largest difference in units of machine epsilon of the value; of oscillating ones, of 1 / sqrt(x) where that is more.
double difference(const known_value& k, double got) {
  const double least = std::string(k.name) == "yn" ? 0.8 / std::sqrt(k.argument) : 1e-300;
  return std::abs(got - k.value) / (std::max(std::abs(k.value), least) * std::numeric_limits<double>::epsilon());
}

double at(const ndarray& a) { return a.item<double>(); }
ndarray one(double v) { return array({v}); }

}  // namespace

TEST_CASE("special functions made of others have mpmath's values") {
  std::size_t covered = 0;
  for (const function_of_two& f : functions) {
    CAPTURE(f.name);
    std::vector<double> parameters, arguments;
    std::vector<known_value> cases;
    for (const known_value& k : known)
      if (std::string(k.name) == f.name) cases.push_back(k);
    for (const known_value& k : cases) parameters.push_back(k.parameter), arguments.push_back(k.argument);
    covered += cases.size();
    const auto got = f.call(array(parameters), array(arguments)).to_vector<double>();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      CAPTURE(cases[i].parameter);
      CAPTURE(cases[i].argument);
      CAPTURE(got[i]);
      CHECK(difference(cases[i], got[i]) <= f.ulps);
    }
    // float32 stays float32, and has its accuracy.
    const ndarray narrow = f.call(array(parameters).astype(float32), array(arguments).astype(float32));
    CHECK(narrow.dtype() == float32);
  }
  for (const known_value& k : known)
    if (std::string(k.name) == "multigammaln") {
      ++covered;
      CHECK(difference(k, at(sp::multigammaln(one(k.argument), static_cast<std::int64_t>(k.parameter)))) < 16);
    }
  CHECK(covered == std::size(known));
}

TEST_CASE("Bessel functions of a number's order are those of arrays of orders") {
  const ndarray x = array({0.25, 1.0, 30.0, 0.0, -1.0, std::nan("")});
  for (const int n : {-5, -2, 0, 1, 2, 9}) {
    CAPTURE(n);
    CHECK(array_equal(sp::yn(n, x), sp::yn(array({n}), x), true));
    CHECK(array_equal(sp::kn(n, x), sp::kn(full({6}, n, int8), x), true));
  }
  CHECK(at(sp::yn(3, one(0))) == -INFINITY);
  CHECK(at(sp::yn(300, one(1))) == -INFINITY);
  CHECK(at(sp::kn(300, one(1))) == INFINITY);
  CHECK(at(sp::kn(2, one(0))) == INFINITY);
  CHECK(std::isnan(at(sp::kn(2, one(-1)))));
  CHECK(at(sp::kn(4, one(INFINITY))) == 0);
  CHECK(sp::yn(array({{1}, {2}}), x).shape() == shape_t{2, 6});
  CHECK(sp::yn(zeros({0}, int64), zeros({0})).size() == 0);
  CHECK_THROWS_AS(sp::yn(1001, x), value_error);
  CHECK_THROWS_AS(sp::kn(std::numeric_limits<std::int64_t>::min(), x), value_error);
  CHECK_THROWS_AS(sp::yn(array({2, 5000}), one(1)), value_error);
  CHECK_THROWS_AS(sp::kn(full({1}, std::numeric_limits<std::int64_t>::min(), int64), x), value_error);
  CHECK_THROWS_AS(sp::yn(1.5, x), dtype_error);
  CHECK_THROWS_AS(sp::yn(array({1.0}), x), dtype_error);
  CHECK_THROWS_AS(sp::yn(1, x.astype(complex128)), dtype_error);
}

TEST_CASE("special functions made of others at the ends of their domains") {
  CHECK(at(sp::stdtr(3, one(INFINITY))) == 1);
  CHECK(at(sp::stdtr(3, one(-INFINITY))) == 0);
  CHECK(at(sp::stdtr(INFINITY, one(1))) == doctest::Approx(0.8413447460685429).epsilon(1e-15));
  CHECK(std::isnan(at(sp::stdtr(0, one(1)))));
  CHECK(std::isnan(at(sp::stdtr(2, one(std::nan(""))))));
  CHECK(at(sp::stdtrit(3, one(0))) == -INFINITY);
  CHECK(at(sp::stdtrit(3, one(1))) == INFINITY);
  CHECK(at(sp::stdtrit(3, one(0.5))) == 0);
  CHECK(std::isnan(at(sp::stdtrit(3, one(1.5)))));
  CHECK(std::isnan(at(sp::stdtrit(-1, one(0.5)))));
  const ndarray p = linspace(0.05, 0.95, 7);
  CHECK(allclose(sp::gdtr(2.5, 3.0, sp::gdtrix(2.5, 3.0, p)), p, 1e-13));
  CHECK(allclose(sp::gdtr(sp::gdtria(p, 3.0, 4.0), 3.0, full({7}, 4.0)), p, 1e-13));
  CHECK(at(sp::huber(-1, one(2))) == INFINITY);
  CHECK(at(sp::pseudo_huber(-1, one(2))) == INFINITY);
  CHECK(at(sp::pseudo_huber(0, one(2))) == 0);
  CHECK(at(sp::boxcox(one(0), 2)) == -0.5);
  CHECK(at(sp::boxcox(one(0), -2)) == -INFINITY);
  CHECK(at(sp::boxcox(one(0), 0)) == -INFINITY);
  CHECK(std::isnan(at(sp::boxcox(one(-1), 2))));
  CHECK(at(sp::softplus(one(800))) == 800);
  CHECK(at(sp::softplus(one(-INFINITY))) == 0);
  CHECK(array_equal(sp::exp10(arange(5)), array({1.0, 10.0, 100.0, 1000.0, 10000.0})));
  CHECK(std::isnan(at(sp::multigammaln(one(1), 3))));
  CHECK_THROWS_AS(sp::multigammaln(one(1), 0), value_error);
  CHECK_THROWS_AS(sp::huber(std::complex<double>(1, 1), one(1)), dtype_error);
  CHECK_THROWS_AS(sp::boxcox(ones({3}), ones({2})), shape_error);
}
