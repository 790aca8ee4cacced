// Lanes of 16 bits that are shifted by a number, which generated code does by products.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "jit/cpu/compiled_kernels.hpp"

using namespace sinter;
using sinter_test::compiled_kernels;
using sinter_test::on_host;

TEST_CASE("all numbers of 16 bits by all counts") {
  const compiled_kernels compiled;
  for (const dtype t : {uint16, int16}) {
    CAPTURE(name(t));
    const ndarray x = on_host(arange(65536).astype(uint16).view(t));
    const std::vector<std::int32_t> in = x.astype(int32).to_vector<std::int32_t>();
    for (const int n : {0, 1, 2, 7, 8, 9, 14, 15, 16, 17, 31, 32, 255, 32767}) {
      CAPTURE(n);
      const ndarray by = on_host(full({1}, n).astype(t));
      const std::vector<std::int32_t> left = (x << by).astype(int32).to_vector<std::int32_t>(),
                                      right = (x >> by).astype(int32).to_vector<std::int32_t>();
      int wrong = 0;
      for (std::size_t k = 0; k < in.size(); ++k) {
        const std::uint16_t shifted = n < 16 ? static_cast<std::uint16_t>(static_cast<std::uint32_t>(in[k]) << n) : 0;
        const std::int32_t wanted = t == uint16 ? shifted : static_cast<std::int16_t>(shifted);
        wrong += left[k] != wanted || right[k] != (n < 16 ? in[k] >> n : in[k] < 0 ? -1 : 0);
      }
      CHECK(wrong == 0);
    }
  }
  const ndarray x = on_host(arange(20000).astype(uint16));
  CHECK(explain((x << 3) | (x >> 13), {.source = true}).find("sn_right_shift(") != std::string::npos);
}
