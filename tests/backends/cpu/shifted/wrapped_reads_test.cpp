// Reductions over rolled operands, which are read in place up to where their indices wrap, give the bits of reductions
// over copies.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backends/cpu/scattered.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;

namespace {

/// Both evaluated from the same lines: rolls that are fused, and rolls that were copied before.
void check_rolled(const ndarray& x, const std::vector<std::int64_t>& shifts, const std::vector<int>& along) {
  const auto rolled = [&](bool copied) {
    ndarray y = x;
    for (std::size_t k = 0; k < shifts.size(); ++k) y = roll(y, shifts[k], along[k]);
    if (copied) eval(y);
    return y;
  };
  const std::string type(name(x.dtype())), shape = to_string(x.shape());
  CAPTURE(type);
  CAPTURE(shape);
  const auto same = [&](auto reduce) {
    const ndarray fused = reduce(rolled(false)), plain = reduce(rolled(true));
    CHECK(test::same(fused, plain));
  };
  same([&](const ndarray& y) { return sum(x * y - y); });
  same([&](const ndarray& y) { return sum(y); });
  same([&](const ndarray& y) { return sum(x * y); });
  same([&](const ndarray& y) { return prod(y * y); });
  for (int axis = 0; axis < x.ndim(); ++axis) {
    CAPTURE(axis);
    same([&](const ndarray& y) { return sum(x + y * 2, axis); });
    same([&](const ndarray& y) { return sum(y, axis); });
    same([&](const ndarray& y) { return sum(x * y, axis); });
    same([&](const ndarray& y) { return var(y - x, axis) + 1; });
    same([&](const ndarray& y) { return any(y != x, axis); });
    if (!is_complex(x.dtype())) same([&](const ndarray& y) { return argmin(y - x, axis); });
  }
}

}  // namespace

TEST_CASE("reductions over rolled operands have the bits of reductions over copies") {
  for (const dtype t : {float16, float32, float64, complex64, int8, int64}) {
    check_rolled(test::scattered({5000}, t), {17}, {0});
    check_rolled(test::scattered({5000}, t), {-1}, {0});
    check_rolled(test::scattered({40, 300}, t), {1, -3}, {0, 1});
    check_rolled(test::scattered({300, 40}, t), {299, 39}, {0, 1});
    check_rolled(test::scattered({33, 1025}, t), {600}, {1});
    check_rolled(test::scattered({600, 1, 130}, t), {5, 129}, {0, 2});
    check_rolled(test::scattered({4, 3, 500}, t), {1, 1, 250}, {0, 1, 2});
    check_rolled(test::scattered({2100, 7}, t), {1000}, {0});
  }
}

TEST_CASE("reductions over rolled, transposed, reversed and strided operands have the bits of those over copies") {
  const ndarray x = test::scattered({300, 400}, float32);
  check_rolled(x.T(), {7, -2}, {0, 1});
  check_rolled(x(_, slice(_, _, -1)), {7, -2}, {0, 1});
  check_rolled(x(slice(_, _, 2), slice(_, _, 3)), {7, -2}, {0, 1});
  check_rolled(broadcast_to(x(0), {300, 400}), {7, -2}, {0, 1});
  check_rolled(flip(roll(x, 3, 1), 1), {5}, {1});
}

TEST_CASE("explain says of reductions how rolled operands are read") {
  const ndarray x = test::scattered({300, 400}, float32);
  const std::string plan = explain(sum(x * roll(x, 1, 0) + roll(x, -1, 1)));
  CHECK(plan.find("in place, from elsewhere where its index wraps") != std::string::npos);
  CHECK(plan.find("by index") == std::string::npos);
}

TEST_CASE("values of rolled operands with short rows are stored before several axes are reduced") {
  const ndarray x = test::scattered({3000, 40}, float32);
  const auto value = [&] { return x * roll(x, 1, 0) + roll(x, -1, 1); };
  CHECK(explain(sum(value())).find("packed") != std::string::npos);
  CHECK(explain(sum(value(), 1)).find("packed") == std::string::npos);
}
