// astype: dtype, copy and device.
#include <doctest/doctest.h>

#include "sinter/sinter.hpp"

using namespace sinter;

TEST_CASE("astype copies unless told not to, and then only where something changes") {
  ndarray x = array({1.5, -2.5}, {.device = cpu});
  for (ndarray same : {x.astype(float64, {.copy = false}), x.astype(float64, false),
                       x.astype(float64, {.copy = false, .device = cpu}), astype(x, float64, {.copy = false})}) {
    same(0) = 7;
    CHECK(x(0).item<double>() == 7);
    x(0) = 1.5;
  }
  for (ndarray other :
       {x.astype(float64), x.astype(float64, {}), x.astype(float64, true), x.astype(float64, {.device = "cpu"}),
        astype(x, float64), x.astype(float32, {.copy = false}), x.astype(float32, false)}) {
    other(0) = 7;
    CHECK(x(0).item<double>() == 1.5);
  }
}

TEST_CASE("astype converts for a device") {
  const ndarray x = array({1.5, -2.5}, {.device = cpu}), i = astype(x, int32, {.device = cpu});
  CHECK(i.dtype() == int32);
  CHECK(i.device() == cpu);
  CHECK(i.to_vector<int>() == std::vector<int>{1, -2});
  CHECK_THROWS_AS(x.astype(int32, {.device = cuda(1000)}), device_error);
  CHECK_THROWS_AS(ndarray().astype(int32, {.device = cpu}), value_error);
}
