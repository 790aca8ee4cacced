// Columns of computed elements that are reduced by whole groups have the bits of columns that are read from memory.
#include <doctest/doctest.h>

#include "backends/cpu/kernels/hooks.hpp"
#include "sinter/sinter.hpp"

namespace {

using namespace sinter;
using namespace sinter::idx;

struct in_tier {
  cpu::tier before = cpu::get_tier();
  explicit in_tier(cpu::tier t) { cpu::set_tier(t); }
  ~in_tier() { cpu::set_tier(before); }
};

bool same_bits(const ndarray& a, const ndarray& b) {
  const dtype bits = a.dtype() == float32 ? uint32 : uint64;
  return a.dtype() == b.dtype() && a.shape() == b.shape() && all(a.view(bits) == b.view(bits)).item<bool>();
}

/// Of a product of a value for each step, another for each column, and both: computed as they are reduced, and from memory.
void check_extents(std::int64_t steps, std::int64_t columns, dtype t) {
  const ndarray x = random::normal(0, 1, {steps, columns}).astype(t), y = random::normal(0, 1, {columns}).astype(t),
                each = random::normal(1, 1, {steps, 1}).astype(t);
  eval(x, y, each);
  const auto terms = [&] { return abs((x - each) * y) + x; };
  const ndarray stored = terms().copy(), factors = (1 + stored / 64).copy(), halves = (stored / 2).copy();
  eval(stored, factors, halves);
  CAPTURE(steps);
  CAPTURE(columns);
  CHECK(same_bits(sum(terms(), 0), sum(stored, 0)));
  CHECK(same_bits(prod(1 + terms() / 64, 0), prod(factors, 0)));
  const ndarray first = sum(terms(), 0), second = sum(terms() / 2, 0);  // of one kernel
  eval(first, second);
  CHECK(same_bits(first, sum(stored, 0)));
  CHECK(same_bits(second, sum(halves, 0)));
}

}  // namespace

TEST_CASE("columns of computed elements are joined by groups, with the bits of stored ones") {
  for (const cpu::tier tier : {cpu::tier::interpreted, cpu::tier::compiled}) {
    const in_tier guard(tier);
    for (const dtype t : {float32, float64})
      for (const std::int64_t columns : {1, 33, 700, 1024, 2600})
        for (const std::int64_t steps : {1, 3, 4, 7, 32, 301}) check_extents(steps, columns, t);
  }
}

TEST_CASE("columns by groups: several reduced axes, other layouts, NaN and what has no groups") {
  for (const cpu::tier tier : {cpu::tier::interpreted, cpu::tier::compiled}) {
    const in_tier guard(tier);
    const ndarray x = random::normal(0, 1, {6, 9, 5, 520}), y = random::normal(0, 1, {520});
    x(2, 3, 1, 7) = NAN;
    eval(x, y);
    const auto terms = [&] { return square(x - y); };
    const ndarray stored = terms().copy();
    eval(stored);
    const auto check = [&](const ndarray& computed, const ndarray& read) { CHECK(array_equal(computed, read, true)); };
    check(sum(terms(), {.axis = {0, 1}}), sum(stored, {.axis = {0, 1}}));
    check(sum(terms(), 1), sum(stored, 1));
    check(sum(terms(), {.axis = {0, 2}}), sum(stored, {.axis = {0, 2}}));
    check(sum(terms()(slice(_, _, -1), _, _, slice(_, _, 2)), 1),
          sum(stored(slice(_, _, -1), _, _, slice(_, _, 2)), 1));
    check(max(terms(), 1), max(stored, 1));
    const ndarray late = arange(9)(_, newaxis, newaxis) > 4;  // needs coordinates
    const ndarray masked = where(late, stored, 0).copy();
    check(sum(where(late, terms(), 0), 1), sum(masked, 1));
    const ndarray whole = floor(10 * x(slice(3, _))).astype(int32);
    check(sum(whole * 2, 1), 2 * sum(whole, 1));
  }
}
