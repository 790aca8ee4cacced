// Powers under fast_math: products and roots on a GPU, the function elsewhere.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sinter/sinter.hpp"
#include "support/simulated_gpu.hpp"

using namespace sinter;

namespace {

bool calls_power(const ndarray& x) { return explain(x).find("power") != std::string::npos; }

}  // namespace

TEST_CASE("power: under fast_math small multiples of one half are products on a GPU") {
  const std::vector<float> numbers{0.25F, 0.5F, 1, 3, 1e-3F, 7e3F};
  const ndarray there = array(numbers, {.device = cpu}), x = there.to_device(sim::first());
  eval(x, there);
  for (const double exponent : {-4.0, -2.5, -2.0, -1.5, -0.5, 1.0, 1.5, 2.5, 3.0, 4.0}) {
    CAPTURE(exponent);
    CHECK(calls_power(power(x, exponent)));
    const fast_math_guard guard;
    CHECK(calls_power(power(there, exponent)));
    const ndarray product = power(x, exponent);
    CHECK_FALSE(calls_power(product));
    const auto values = product.to_vector<float>();
    for (std::size_t k = 0; k < numbers.size(); ++k)
      CHECK(values[k] == doctest::Approx(std::pow(double(numbers[k]), exponent)).epsilon(1e-6));
  }
  const fast_math_guard guard;
  for (const double exponent : {0.0, 0.3, 4.5, -7.0, double(INFINITY), double(NAN)})
    CHECK(calls_power(power(x, exponent)));
  CHECK(calls_power(power(x.astype(float64), 1.5)));
  CHECK(calls_power(power(x.astype(float16), 1.5)));
  CHECK(calls_power(power(x, x)));
  CHECK_FALSE(calls_power(power(x, 2)));
}
