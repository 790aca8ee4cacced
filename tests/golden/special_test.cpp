// Special functions beside values of mpmath over their domains and SciPy's values at ends and poles.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <map>

#include "golden/batch.hpp"
#include "golden/golden.hpp"
#include "sinter/special.hpp"
#include "support/shard.hpp"

namespace {

using namespace sinter;
using namespace sinter::test;

ndarray call(const std::string& name, const std::vector<ndarray>& x) {
  using function = std::function<ndarray(const std::vector<ndarray>&)>;
#define UNARY(f) {#f, [](const std::vector<ndarray>& a) { return special::f(a[0]); }},
#define BINARY(f) {#f, [](const std::vector<ndarray>& a) { return special::f(a[0], a[1]); }},
  static const auto& functions = *new std::map<std::string, function>{
      SINTER_SPECIAL_UNARY(UNARY)
          SINTER_SPECIAL_BINARY(BINARY){"si", [](const std::vector<ndarray>& a) { return special::sici(a[0]).si; }},
      {"ci", [](const std::vector<ndarray>& a) { return special::sici(a[0]).ci; }}};
#undef UNARY
#undef BINARY
  const auto found = functions.find(name);
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
