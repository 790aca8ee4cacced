// Reductions over the axis along which parts have been joined (`stack`, `concatenate`): one kernel that stores nothing of the joined
// array's size, with the values that it has where it is stored.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "backends/cpu/kernels_of.hpp"
#include "graph/values/limits.hpp"
#include "sinter/sinter.hpp"

using namespace sinter;
using namespace sinter::idx;
using sinter::test::kernels_of;

namespace {

const device host("cpu");

ndarray in_memory(const ndarray& x) {
  ndarray y = x.copy();
  eval(y);
  return y;
}
ndarray floats(std::int64_t n, int seed) {
  const ndarray k = arange(n, {.dtype = int64, .device = host}), x = (k * (37 + seed) % 101 - 50).astype(float32) / 7;
  const ndarray nan = full({}, NAN, {.dtype = float32, .device = host});
  return in_memory(where(k % (53 + seed) == 7, nan, where(k % 31 == 3, -0.0f, where(k % 29 == 5, 0.0f, x))));
}

bool writes_parts(const ndarray& x) { return explain(x).find("partial write") != std::string::npos; }

/// The dtype and bits that the joined array in memory leads to, by both tiers.
void check(const char* what, const std::vector<ndarray>& parts,
           const std::function<ndarray(std::vector<ndarray>)>& join, const std::function<ndarray(ndarray)>& reduce,
           bool is_seen = true) {
  INFO(what);
  const auto line = [&] {
    std::vector<ndarray> computed;
    for (std::size_t k = 0; k < parts.size(); ++k) computed.push_back(parts[k] * (k % 2 == 0 ? 2 : -1));
    return join(computed);
  };
  CHECK(writes_parts(reduce(line())) == !is_seen);
  ndarray expected;
  {
    const kernels_of tier(cpu::tier::interpreted);
    ndarray all = line();
    eval(all);
    expected = reduce(all);
    eval(expected);
  }
  for (const cpu::tier t : {cpu::tier::interpreted, cpu::tier::compiled}) {
    const kernels_of tier(t);
    ndarray x = reduce(line());
    eval(x);
    CHECK(x.dtype() == expected.dtype());
    CHECK(array_equal(x, expected, is_inexact(x.dtype())));
    if (is_real_floating(x.dtype())) CHECK(array_equal(signbit(x), signbit(expected)));
  }
}

}  // namespace

TEST_CASE("a reduction of stacked arrays reads them where they are") {
  for (const std::int64_t n : {40, 9001}) {
    CAPTURE(n);
    std::vector<ndarray> f, i, d;
    for (int k = 0; k < 8; ++k) {
      f.push_back(floats(n, k));
      i.push_back(in_memory((floats(n, k) * 3).astype(int16)));
      d.push_back(in_memory(floats(n, k).astype(float64)));
    }
    f[3] = f[1], i[3] = in_memory(-i[1]);  // equal elements in several parts
    const auto first = [](const std::vector<ndarray>& x, std::size_t k) {
      return std::vector<ndarray>(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(k));
    };
    const auto stacked = [](std::vector<ndarray> x) { return stack(x); };
    const auto at_the_end = [](std::vector<ndarray> x) { return stack(x, -1); };
    check("sum", first(f, 7), stacked, [](ndarray x) { return sum(x, 0); });
    check("mean", f, stacked, [](ndarray x) { return mean(x, 0); });
    check("max", f, stacked, [](ndarray x) { return max(x, 0); });
    check("min along the last axis", first(f, 5), at_the_end, [](ndarray x) { return min(x, -1); });
    check("argmax", f, stacked, [](ndarray x) { return argmax(x, 0); });
    check("argmin", first(f, 3), stacked, [](ndarray x) { return argmin(x, 0); });
    check("argmin of float64", d, stacked, [](ndarray x) { return argmin(x, 0); });
    check("argmax of int16", i, stacked, [](ndarray x) { return argmax(x, 0); });
    check("argmax along the last axis", i, at_the_end, [](ndarray x) { return argmax(x, -1); });
    check("sum of int16", i, stacked, [](ndarray x) { return sum(x, 0); });
    check("any", first(f, 4), stacked, [](ndarray x) { return any(x > 1, 0); });
    check("weighted", first(f, 3), stacked, [](ndarray x) {
      const ndarray w = array(std::vector<float>{.5f, .25f, .125f}).to_device(host);
      return sum(x * w(_, newaxis), 0);
    });
    check("extrema and their places", first(f, 6), stacked,
          [](ndarray x) { return where(max(x, 0) > 1, left_shift(1, argmax(x, 0)), 0); });
    check(
        "of nine",
        [&] {
          auto more = f;
          more.push_back(f[0]);
          return more;
        }(),
        stacked, [](ndarray x) { return sum(x, 0); }, false);
    check(
        "over the other axis", first(f, 4), stacked, [](ndarray x) { return sum(x, 1); }, false);
  }
}

TEST_CASE("a reduction of concatenated and of written parts has the values that were written last") {
  const ndarray a = in_memory(floats(6000, 1).reshape({2, 3000})), b = in_memory(floats(9000, 2).reshape({3, 3000}));
  check(
      "pieces of several rows", {a, b}, [](std::vector<ndarray> x) { return concatenate(x, 0); },
      [](ndarray x) { return sum(x, 0); });
  check(
      "their columns", {a, b},
      [](std::vector<ndarray> x) {
        return concatenate({x[0].T(), x[1].T()}, 1);
      },
      [](ndarray x) { return max(x, 1); });
  const auto written = [](std::vector<ndarray> x) {
    ndarray all = empty({4, 3000}, {.dtype = float32, .device = host});
    all(slice(0, 2)) = x[0];
    all(slice(2, 4)) = x[1](slice(0, 2));
    all(1) = x[1](2);
    return all;
  };
  check("a part over another one", {a, b}, written, [](ndarray x) { return sum(x, 0); });
  check(
      "a part of a row", {a, b},
      [&](std::vector<ndarray> x) {
        ndarray all = written(x);
        all(3, slice(0, 100)) = 7;
        return all;
      },
      [](ndarray x) { return sum(x, 0); }, false);
}

TEST_CASE("a stack that is needed itself, or changes later, is what it is elsewhere") {
  const ndarray x = floats(9001, 1), y = floats(9001, 2);
  const auto parts = [&] { return stack({x + 1, y * 2, x - y}); };
  ndarray expected = parts();
  eval(expected);
  const ndarray best = in_memory(max(expected, 0));
  ndarray s = parts(), m = max(s, 0);
  eval(m, s);
  CHECK(array_equal(m, best, true));
  CHECK(array_equal(s, expected, true));
  ndarray t = parts();
  const ndarray before = max(t, 0), centred = t - before;
  t(1) = 1e6f;
  CHECK(array_equal(before, best, true));
  CHECK(array_equal(centred, expected - best, true));
  CHECK(array_equal(max(t, 0),
                    where(isnan(x + 1) | isnan(x - y), NAN, full({9001}, 1e6f, {.dtype = float32, .device = host})),
                    true));
  ndarray state = x;
  for (int step = 0; step < 5; ++step) state = max(stack({state * 0.5f, y, state - 1}), 0);
  ndarray other = x;
  for (int step = 0; step < 5; ++step) {
    other = maximum(maximum(other * 0.5f, y), other - 1);
    eval(other);
  }
  CHECK(array_equal(state, other, true));
  const ndarray at = in_memory((arange(6000, {.dtype = int64, .device = host}) * 7) % 9001);
  CHECK_FALSE(writes_parts(take(max(parts(), 0), at)));
  CHECK(array_equal(take(max(parts(), 0), at), take(best, at), true));
}
