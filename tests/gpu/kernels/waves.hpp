// An elementwise program with much code, so that its kernels have a baseline form on GPUs. No statement repeats another one:
// those that do are a loop of little code.
#pragma once
#include "sinter/sinter.hpp"

namespace sinter_test {

/// Thirty-two sines and cosines of a float32 array, added up so that rounding errors do not grow.
inline sinter::ndarray waves(const sinter::ndarray& x) {
  using sinter::cos, sinter::sin;
  sinter::ndarray r = sin(x) + cos(x * 2);
  r = r + cos(x - 3) * sin(x + 1.5F);
  r = r - sin(x / 3) / (3 + cos(4 - x));
  r = (r + cos(5 + x * 0.5F)) / 2 - sin(6 - x) * cos(x * 0.75F);
  r = r + (sin(x * 1.25F) - cos(x / 7)) / 2;
  r = r * 0.5F + cos(x + 8) / (2 + sin(x - 0.25F));
  r = r - cos(9 / (x * x + 1)) * sin(x + 10) + cos(x * 1.75F);
  r = sin(x - 11) * 2 - r + cos(12 + x / 2);
  r = r + cos(x / 4) * cos(x - 13) * 0.75F;
  r = r / 3 + sin(x + 14) * cos(x * 0.375F) - sin(15 - x);
  r = (cos(x + 16) + sin(x / 5)) * cos(x - 17) / 2 + r;
  r = cos(x * 0.625F - 18) / (2 - sin(x + 19) * sin(x / 9)) - r;
  return r + sin(x - 20) * sin(x * 1.5F) - cos(x - 21) / (3 + cos(22 - x / 2));
}

}  // namespace sinter_test
