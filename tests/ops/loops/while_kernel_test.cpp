// while_loop as a kernel that evaluates its condition: the bits and the number of steps of those that are called.
#include <algorithm>
#include <vector>

#include "ops/vmap/beside_loop.hpp"
#include "runtime/backend.hpp"
#include "sinter/loops.hpp"

using namespace vmap_test;
using namespace sinter::idx;

namespace {

using many = std::vector<ndarray>;

bool on_host() { return zeros(1).device() == device(cpu); }
std::uint64_t launches() { return runtime::get_backend({}).statistics().launches; }

/// A loop beside one whose steps are called. `kernels`: of which it consists; 0: it is none. The first four steps are
/// called.
template <class Condition, class F>
many check_while(Condition condition, F f, many init, std::uint64_t kernels = 1) {
  for (ndarray& a : init) a = a.copy(), eval(a);
  int calls = 0;
  const auto counted = [&](const many& c) {
    ++calls;
    return f(c);
  };
  const std::uint64_t before = launches();
  const many a = while_loop(condition, counted, init);
  const std::uint64_t took = launches() - before;
  const int first = std::exchange(calls, 0);
  const many b = while_loop(condition, counted, init, {.call_each = true});
  if (on_host()) {
    CAPTURE(took);
    CAPTURE(calls);
    CHECK(first == std::min(calls, 5));
    // Four steps and five conditions that are called, then 256, 2048 and more steps of a launch.
    if (kernels > 0) CHECK(took <= 32 * kernels);
    else CHECK(took > 32);
  }
  REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    CAPTURE(k);
    CHECK(a[k].shape() == b[k].shape());
    CHECK(same_bits(a[k], b[k]));
  }
  return a;
}

const auto below = [](double limit) { return [limit](const many& c) { return c[0] < limit; }; };

}  // namespace

TEST_CASE("while kernels: the number of steps") {
  const auto step = [](const many& c) { return many{c[0] + 1, c[1] * 0.75 + c[0]}; };
  for (const int n :
       {3, 4, 5, 6, 9, 10, 11, 40, 259, 260, 261, 263, 264, 265, 266, 2307, 2308, 2309, 2311, 2312, 2313, 5000}) {
    CAPTURE(n);
    const many r = check_while(below(n), step, {zeros({}), ones({})});
    CHECK(double(r[0]) == n);
  }
}

TEST_CASE("while kernels: numbers and elements") {
  const auto step = [](const many& c) { return many{c[0] + 1, sin(c[1]) * 0.5 + c[0]}; };
  for (const std::int64_t n : {1, 5, 16, 255, 257, 20000}) {
    CAPTURE(n);
    check_while(below(100), step, {zeros({}), numbers({n})}, 2);
  }
  check_while(below(100), step, {zeros({}), numbers({20, 3}).T()}, 2);
  for (const dtype t : {float16, bfloat16, float32, int16, int64, uint8}) {
    CAPTURE(t);
    check_while([](const many& c) { return c[0](0) < 90; },
                [](const many& c) {
                  return many{c[0] + c[1], c[1]};
                },
                {zeros(3, {.dtype = t}), ones(3, {.dtype = t})}, 1);
  }
  // A condition of one element that has axes, on a place of an array.
  check_while([](const many& c) { return c[0](slice(1, 2)) < 90; }, [](const many& c) { return many{c[0] + 1}; },
              {numbers({2})});
  // What is carried is the condition.
  check_while([](const many& c) { return c[0]; },
              [](const many& c) {
                return many{c[1], c[2] < 70, c[2] + 1, c[3] * 0.5 + c[2]};
              },
              {full({}, true), full({}, true), zeros({}), numbers({50})}, 2);
}

TEST_CASE("while kernels: a short state") {
  // Euclid's norm of a vector of three, by short sums.
  check_while([](const many& c) { return sum(square(c[0])) > 1e-6; },
              [](const many& c) {
                return many{c[0] * 0.99, c[1] + sum(c[0])};
              },
              {numbers({3}) + 2, zeros({})}, 2);
  // The orders of NaN and of signed zeros in a condition.
  check_while([](const many& c) { return max(c[0]) < 60; }, [](const many& c) { return many{c[0] + 1}; },
              {array({0.0, -0.0, -5.0})});
  // Two arrays that change places.
  check_while([](const many& c) { return c[0] + c[1] < 1e6; },
              [](const many& c) {
                return many{c[1], c[0] * 1.125 + 1, c[2] + c[0]};
              },
              {zeros({}), ones({}), numbers({40})}, 2);
}

TEST_CASE("while kernels: what ends at once, and what is not one") {
  const auto step = [](const many& c) { return many{c[0] + 1}; };
  for (const int n : {0, 1, 6, 7, 8}) check_while(below(n), step, {zeros({})});
  // A condition on all elements of a long array.
  check_while([](const many& c) { return any(c[0] < 100); }, step, {numbers({50})}, 0);
  // Draws, in a step and in a condition, are called.
  random::generator g(3);
  const many r = while_loop([](const many& c) { return c[0] < 30; },
                            [&](const many& c) {
                              return many{c[0] + 1, c[1] + g.random({4})};
                            },
                            many{zeros({}), zeros(4)});
  random::generator h(3);
  ndarray right = zeros(4);
  for (int k = 0; k < 30; ++k) right = right + h.random({4});
  CHECK(same_bits(r[1], right));
}

TEST_CASE("while kernels: a second loop, with another limit and from another carry") {
  const auto step = [](const many& c) { return many{c[0] + 1, c[1] * 0.5 + c[0]}; };
  const many a = check_while(below(50), step, {zeros({}), numbers({30})}, 2);
  const ndarray kept = a[1].copy();
  check_while(below(700), step, a, 2);
  CHECK(same_bits(a[1], kept));
  // A limit that is an array from outside, which is written afterwards.
  ndarray limit = full({}, 90.0);
  const auto until = [&](const many& c) { return c[0] < limit; };
  const many b = check_while(until, step, {zeros({}), numbers({30})}, 2);
  limit += 10;
  const many c = check_while(until, step, {zeros({}), numbers({30})}, 2);
  CHECK(double(b[0]) == 90);
  CHECK(double(c[0]) == 100);
}
