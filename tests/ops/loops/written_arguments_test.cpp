// Steps that write to what they are given: neither the caller's arrays nor what other steps have given changes, however the
// steps are run.
#include <vector>

#include "ops/vmap/beside_loop.hpp"
#include "sinter/loops.hpp"

using namespace vmap_test;
using namespace sinter::idx;

TEST_CASE("loops: what a step writes to its arguments is not written to the caller's arrays") {
  for (const int width : {7, 50000}) {  // small steps are captured on the CPU, large ones are called
    for (const bool each : {false, true}) {
      CAPTURE(width);
      CAPTURE(each);
      const ndarray x = numbers({20, width}), start = ones(width), other = zeros(width);
      const ndarray kept = x.copy(), sums = cumsum(x, 0) + 1;
      const auto add = [](ndarray c, ndarray e) {
        c += e;
        e *= 2.0;
        return std::pair(c, std::vector<ndarray>{c, e});
      };
      for (int run = 0; run < 2; ++run) {
        const auto [last, all] = scan(add, start, x, {.call_each = each});
        CHECK(allclose(last, sums(19), 1e-12, 1e-12));
        CHECK(allclose(all[0], sums, 1e-12, 1e-12));
        CHECK(same_bits(all[1], kept * 2.0));
        CHECK(same_bits(start, ones(width)));
        CHECK(same_bits(x, kept));
      }
      const auto of_views = scan(add, numbers({width, 2}).T()(0), kept(_, slice(_, _, -1)), {.call_each = each});
      CHECK(allclose(of_views.first, numbers({width, 2}).T()(0) + sum(kept, 0)(slice(_, _, -1)), 1e-12, 1e-12));
      CHECK(same_bits(x, kept));

      const ndarray counted = fori_loop(0, 30,
                                        [](ndarray i, ndarray c) {
                                          c += i;
                                          i += 5;
                                          return c;
                                        },
                                        start, {.call_each = each});
      CHECK(same_bits(counted, full({width}, 436.0)));
      CHECK(same_bits(start, ones(width)));
      const auto grown = while_loop([](const std::pair<ndarray, ndarray>& c) { return c.second(0) < 30.0; },
                                    [](std::pair<ndarray, ndarray> c) {
                                      c.first *= 2.0;
                                      c.second += 1.0;
                                      return c;
                                    },
                                    std::pair(start, other), {.call_each = each});
      CHECK(same_bits(grown.first, full({width}, 1073741824.0)));
      CHECK(same_bits(start, ones(width)));
      CHECK(same_bits(other, zeros(width)));
    }
  }
  const ndarray start = ones(3);
  int n = 0;
  const ndarray last = while_loop([&](const ndarray&) { return ++n < 5; },
                                  [](ndarray c) {
                                    c += 1.0;
                                    return c;
                                  },
                                  start);
  CHECK(same_bits(last, full({3}, 5.0)));
  CHECK(same_bits(start, ones(3)));
}

TEST_CASE("loops: an array that each step gives again has its value of then") {
  const ndarray x = numbers({20, 3});
  for (const bool each : {false, true}) {
    CAPTURE(each);
    ndarray buffer = zeros(3);
    const auto [last, all] = scan(
        [&](const ndarray& c, const ndarray& e) {
          buffer() = c + e;
          return std::pair(buffer, buffer);
        },
        zeros(3), x, {.call_each = each});
    CHECK(allclose(all, cumsum(x, 0), 1e-12, 1e-12));
    CHECK(same_bits(all(19), last));
    CHECK(same_bits(buffer, last));
    // Two arrays of the carry that are one.
    const auto twice = fori_loop(0, 20,
                                 [](const ndarray&, std::pair<ndarray, ndarray> c) {
                                   c.first += 1.0;
                                   return c;
                                 },
                                 std::pair(buffer, buffer), {.call_each = each});
    CHECK(same_bits(twice.second, last));
    CHECK(same_bits(buffer, last));
    // A carry whose address is known.
    ndarray known = ones(3);
    (void)known.data<double>();
    const auto add = [](const ndarray&, ndarray c) {
      c += 1.0;
      return c;
    };
    CHECK(same_bits(fori_loop(0, 20, add, known, {.call_each = each}), full({3}, 21.0)));
    CHECK(same_bits(known, ones(3)));
  }
}
