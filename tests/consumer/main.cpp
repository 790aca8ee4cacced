// A program of another project: the array is made, evaluated and read back.
#include <iostream>

#include <sinter/sinter.hpp>

namespace sn = sinter;

int main() {
  const auto x = sn::arange(10, {.dtype = sn::float32});
  const auto total = sn::sum(2 * x + 1).item<float>();
  std::cout << total << '\n';
  return total == 100.0f ? 0 : 1;
}
