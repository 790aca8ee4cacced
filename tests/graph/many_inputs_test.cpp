// One kernel that reads more parts of a few arrays than a word has bits.
#include <doctest/doctest.h>

#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

TEST_CASE("a kernel of more than 64 inputs: single elements first, then vectors, and the other way round") {
  const std::int64_t n = 700;
  const ndarray x = (arange(n + 200) * 37 % 101).copy(), y = (arange(200) * 11 % 29).copy();
  eval(x, y);
  const std::vector<std::int64_t> xs = x.to_vector<std::int64_t>(), ys = y.to_vector<std::int64_t>();
  for (const int each : {20, 40, 45}) {
    const auto parts = [&](bool single_first) {
      ndarray out;
      for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < each; ++k) {
          const bool single = (pass == 0) == single_first;
          const ndarray term = single ? ndarray(y(slice(3 * k, 3 * k + 1))) : ndarray(x(slice(2 * k, 2 * k + n)));
          out = out.defined() ? out * 3 % 65537 + term : term + zeros({n}, int64);
        }
      return out;
    };
    for (const bool single_first : {true, false}) {
      CAPTURE(each);
      CAPTURE(single_first);
      const std::vector<std::int64_t> found = parts(single_first).to_vector<std::int64_t>();
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t want = 0;
        for (int pass = 0; pass < 2; ++pass)
          for (int k = 0; k < each; ++k) {
            const bool single = (pass == 0) == single_first;
            const std::int64_t term = single ? ys[std::size_t(3 * k)] : xs[std::size_t(2 * k + i)];
            want = pass == 0 && k == 0 ? term : want * 3 % 65537 + term;
          }
        wrong += found[std::size_t(i)] != want;
      }
      CHECK(wrong == 0);
    }
  }
}
