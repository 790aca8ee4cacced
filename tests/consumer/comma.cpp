// Must not compile in C++20: x[1, 2] would mean x[2].
#include <sinter/sinter.hpp>

int main() {
  const auto x = sinter::zeros({3, 4});
  return x[1, 2].ndim();
}
