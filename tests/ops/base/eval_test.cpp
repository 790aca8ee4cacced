// eval and explain of arrays in a list and in structures.
#include "sinter/eval.hpp"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "sinter/array_tree.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;

namespace {

struct layer {
  ndarray weights, bias;
};
template <class Visit>
void arrays_of(layer& l, Visit visit) {
  visit(l.weights);
  visit(l.bias);
}

}  // namespace

TEST_CASE("eval takes lists of arrays, which are one kernel where several arguments are") {
  const ndarray x = arange(1000) * 0.5;
  eval(x);
  const std::vector<ndarray> both{exp(x), exp(-x)};
  CHECK(explain(both) == explain(both[0], both[1]));
  eval(both);
  const std::string nothing = explain(x);
  CHECK(explain(both[0]) == nothing);
  CHECK(explain(both[1]) == nothing);
  CHECK(both[1](2).item<double>() == doctest::Approx(0.36787944117144233));
  eval(std::vector<ndarray>{});
  CHECK_THROWS_AS(eval(std::vector<ndarray>{x, ndarray()}), value_error);
}

TEST_CASE("eval takes structures of arrays, together with arrays") {
  const ndarray x = arange(10) * 0.5;
  eval(x);
  const std::string nothing = explain(x);
  const layer l{x + 1, x + 2};
  const std::tuple<ndarray, std::map<int, ndarray>, double, std::optional<ndarray>> more{x + 3, {{1, x + 4}}, 5.0, {}};
  const ndarray sum = l.weights + l.bias;
  eval(sum, l, more);
  for (const ndarray& y : {sum, l.weights, l.bias, std::get<0>(more), std::get<1>(more).at(1)})
    CHECK(explain(y) == nothing);
  CHECK(l.bias(4).item<double>() == 4);
  const std::vector<layer> layers{{x * 2, x * 3}};
  eval(layers);
  CHECK(explain(layers[0].bias) == nothing);
}
