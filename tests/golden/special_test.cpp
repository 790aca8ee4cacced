// Special functions beside values of mpmath over their domains and SciPy's values at ends and poles.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <map>

#include "golden/batch.hpp"
#include "golden/golden.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/special.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

/// a[0] + i a[1], for finite numbers.
ndarray complex_of(const std::vector<ndarray>& a) {
  const dtype type = a[0].dtype() == float32 ? complex64 : complex128;
  return a[0].astype(type) + a[1].astype(type) * std::complex<double>(0, 1);
}

ndarray call(const std::string& name, const std::vector<ndarray>& x) {
  using function = std::function<ndarray(const std::vector<ndarray>&)>;
#define UNARY(f) {#f "1", [](const std::vector<ndarray>& a) { return special::f(a[0]); }},
#define BINARY(f) {#f "2", [](const std::vector<ndarray>& a) { return special::f(a[0], a[1]); }},
#define TERNARY(f) {#f "3", [](const std::vector<ndarray>& a) { return special::f(a[0], a[1], a[2]); }},
#define PARTS(f, n, ...)                                                                   \
  {#f ".re" #n, [](const std::vector<ndarray>& a) { return real(special::__VA_ARGS__); }}, \
      {#f ".im" #n, [](const std::vector<ndarray>& a) { return imag(special::__VA_ARGS__); }},
  static const auto& functions = *new std::map<std::string, function>{
      SINTER_SPECIAL_UNARY(UNARY) SINTER_SPECIAL_BINARY(BINARY) SINTER_SPECIAL_TERNARY(TERNARY)
          PARTS(loggamma, 2, loggamma(complex_of(a))) PARTS(lambertw, 3, lambertw(complex_of(a), a[2]))
              PARTS(sph_harm_y, 4, sph_harm_y(a[0], a[1], a[2], a[3])){
                  "si1", [](const std::vector<ndarray>& a) { return special::sici(a[0]).si; }},
      {"loggamma1", [](const std::vector<ndarray>& a) { return special::loggamma(a[0]); }},
      {"ci1", [](const std::vector<ndarray>& a) { return special::sici(a[0]).ci; }}};
#undef UNARY
#undef BINARY
#undef TERNARY
#undef PARTS
  const auto found = functions.find(name + std::to_string(x.size()));
  REQUIRE_MESSAGE(found != functions.end(), name);
  return found->second(x);
}

struct special_case {
  std::string function;
  double bound = 0;  // in units in the last place
  std::vector<host_array> args;
  host_array expected;
  std::vector<double> sizes;  // if not empty: the bound is one of epsilons of these
};

std::vector<special_case> read_cases() {
  golden_file f("special.bin");
  std::vector<special_case> cases(static_cast<std::size_t>(f.cases()));
  for (special_case& c : cases) {
    c.function = f.text();
    c.bound = f.f64();
    for (auto n = f.varint(); n > 0; --n) c.args.push_back(f.array());
    c.expected = f.array();
    if (f.u8()) c.sizes = upload(f.array()).to_vector<double>();
  }
  CHECK(f.at_end());
  return cases;
}

std::string far_from(const special_case& c, const host_array& got) {
  const bool wide = c.expected.type == dtype::f64;
  const auto values = upload(got).to_vector<double>(), exact = upload(c.expected).to_vector<double>();
  const auto x = upload(c.args[0]).to_vector<double>();
  const double unit = c.bound * (wide ? 0x1p-52 : 0x1p-23);
  for (std::size_t k = 0; k < exact.size(); ++k)
    if (!(std::abs(values[k] - exact[k]) <= unit * c.sizes[k]))
      return "at " + std::to_string(x[k]) + ": " + std::to_string(values[k]) + ", not " + std::to_string(exact[k]);
  return {};
}

}  // namespace

TEST_CASE("special functions are within their bounds of mpmath's values, and SciPy's at ends and poles" *
          doctest::test_suite(sharded_suite)) {
  const std::vector<special_case> data = read_cases();
  batch cases;
  for (std::size_t k = 0; k < data.size(); ++k) {
    if (!this_shard().takes(static_cast<int>(k / 8))) continue;
    const special_case& c = data[k];
    const std::string what = c.function + "(" + std::string(name(c.expected.type)) + ")";
    std::vector<ndarray> args;
    std::vector<const host_array*> inputs;
    for (const host_array& a : c.args) {
      args.push_back(upload(a));
      inputs.push_back(&a);
    }
    cases.add(
        what, [&c, args] { return call(c.function, args); },
        [&c, inputs, what](const host_array& got) {
          const policy bound{closeness::ulp, c.bound};
          const std::string why = c.sizes.empty() ? difference(got, c.expected, bound, inputs) : far_from(c, got);
          CHECK_MESSAGE(why.empty(), what, ": ", why);
        });
  }
}
