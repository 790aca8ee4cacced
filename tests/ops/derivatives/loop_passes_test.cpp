// Derivatives of loops: how often they compute what, and what they keep.
#include <cstdint>
#include <vector>

#include "graph/values/limits.hpp"
#include "ops/derivatives/check.hpp"
#include "runtime/backend.hpp"
#include "sinter/graph.hpp"
#include "sinter/loops.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;
using namespace sinter::idx;
using many = std::vector<ndarray>;

bool on_host() { return zeros(1).device() == device(cpu); }
std::uint64_t launches() { return runtime::get_backend({}).statistics().launches; }

/// Launches of f.
template <class F>
std::uint64_t launches_of(const F& f) {
  const std::uint64_t before = launches();
  f();
  return launches() - before;
}

/// The gradient of `f(call_each, x)` beside that where steps are called.
template <class F>
void check_gradient(const F& f, const ndarray& x) {
  const auto of = [&](bool call_each) { return [&f, call_each](const ndarray& a) { return f(call_each, a); }; };
  const ndarray mine = grad(of(false))(x), right = grad(of(true))(x);
  CHECK(allclose(mine, right, 1e-12, 1e-12));
  CHECK(double(max(absolute(right))) > 0);
}

/// Predators and prey, by the classical Runge-Kutta method; parts of the state become an array again in each step.
ndarray orbit(bool call_each, const ndarray& p) {
  const auto slope = [&](const ndarray& y) {
    return stack({p(0) * y(0) - p(1) * y(0) * y(1), -p(2) * y(1) + p(3) * y(0) * y(1)});
  };
  const auto step = [&](const ndarray& y, none_t) {
    const double h = 0.05;
    const ndarray a = slope(y), b = slope(y + h / 2 * a), c = slope(y + h / 2 * b), d = slope(y + h * c);
    const ndarray next = y + h / 6 * (a + 2 * b + 2 * c + d);
    return std::pair(next, next);
  };
  const auto r = scan(step, array({1.0, 0.5}), _, {.length = 60, .call_each = call_each});
  return mean(square(r.second)) + sum(r.first);
}

}  // namespace

TEST_CASE("derivatives of loops: the pass back of a small state is a kernel, whatever the number of steps") {
  const ndarray p = array({1.1, 0.4, 0.4, 0.1});
  check_gradient(orbit, p);
  if (!on_host()) return;
  const auto both = [&] {
    const auto [y, g] = value_and_grad([](const ndarray& a) { return orbit(false, a); })(p);
    eval(y, g);
  };
  CHECK(launches_of(both) < 30);  // and not one of the 60 steps
}

TEST_CASE("derivatives of loops: the carries that a call keeps have derivatives themselves") {
  // Numbers, whole numbers and bools in the carry, of which the second derivative needs all.
  const auto f = [](bool call_each, const ndarray& x) {
    using state = std::tuple<ndarray, ndarray, ndarray>;
    const auto [last, all] = scan(
        [&](const state& s, const ndarray& e) {
          const auto& [c, n, up] = s;
          const ndarray next = where(up, sin(c * x), c * 0.9 + x * e) + 0.01 * n.astype(float64);
          return std::pair(state(next, n + 1, logical_not(up)), next * c);
        },
        state(x, zeros({}, {.dtype = int64}), full({}, true)), linspace(0.1, 0.8, 24), {.call_each = call_each});
    return sum(std::get<0>(last)) + sum(all * all);
  };
  const ndarray x = numbers({3}, 0.3, 0.8);
  check_gradient(f, x);
  const auto loop = [&](const ndarray& a) { return f(false, a); };
  const auto called = [&](const ndarray& a) { return f(true, a); };
  CHECK(allclose(hessian(loop)(x), hessian(called)(x), 1e-11, 1e-11));
  const ndarray v = numbers({3}, -1, 1, 4);
  const auto twice = [&](const auto& g) { return grad([&](const ndarray& a) { return sum(grad(g)(a) * v); })(x); };
  CHECK(allclose(twice(loop), twice(called), 1e-11, 1e-11));
  CHECK(allclose(twice(loop), hvp(called, x, v), 1e-11, 1e-11));
}

TEST_CASE("derivatives of loops: rows of a table are added to in steps that are run again") {
  const ndarray tokens = reshape(arange(40 * 8) * 7 % 11, {40, 8}), w = numbers({4, 4}, -0.4, 0.4);
  int calls = 0;
  const auto f = [&](bool call_each, const ndarray& table) {
    const auto [h, y] = scan(
        [&](const ndarray& h, const ndarray& at) {
          ++calls;
          const ndarray next = tanh(matmul(h, w) + table(at));
          return std::pair(next, ndarray(sum(take_along_axis(next, at(_, newaxis) % 4, 1))));
        },
        zeros({8, 4}), tokens, {.call_each = call_each});
    return sum(square(h)) + sum(y);
  };
  check_gradient(f, numbers({11, 4}, -0.5, 0.5));
  CHECK(calls == 40 + (on_host() ? 3 : 40));
  if (!on_host()) return;
  const ndarray bad = where(arange(40)(_, newaxis) == 30, 11, tokens);
  const auto outside = [&](const ndarray& table) {
    return sum(
        scan([&](const ndarray& h, const ndarray& at) { return std::pair(h * 0.5 + table(at), _); }, zeros({8, 4}), bad)
            .first);
  };
  const auto read = [&] { return double(grad(outside)(numbers({11, 4}))(0, 0)); };
  CHECK_THROWS_AS(read(), index_error);
}

TEST_CASE("derivatives of loops: kernels of passes serve other arrays, numbers and lengths, and no other steps") {
  const auto f = [](bool each, double factor, const ndarray& x, const ndarray& w, const ndarray& table) {
    const auto step = [&](const ndarray& h, const ndarray& e) {
      const ndarray next = h * w + factor * e + table(1);
      return std::pair(next, ndarray(next * table));
    };
    const auto [last, all] = scan(step, zeros({}), x, {.call_each = each});
    return ndarray(last * last + sum(all * all));
  };
  for (const double factor : {0.5, 0.5, 2.0})
    for (const std::int64_t n : {20, 33}) {
      const ndarray x = numbers({n}, -1, 1, static_cast<int>(n)),
                    table = numbers({3}, 0.1, 0.9, static_cast<int>(n) + 1);
      const ndarray w = numbers({}, 0.2, 0.8, static_cast<int>(10 * factor) + static_cast<int>(n));
      const auto of = [&](bool each) {
        return [&, each](const ndarray& a, const ndarray& b) { return f(each, factor, a, b, table); };
      };
      const auto mine = grad(of(false), argnums<0, 1>)(x, w), right = grad(of(true), argnums<0, 1>)(x, w);
      CHECK(allclose(std::get<0>(mine), std::get<0>(right), 1e-12, 1e-12));
      CHECK(allclose(std::get<1>(mine), std::get<1>(right), 1e-12, 1e-12));
    }
}

TEST_CASE("derivatives of loops: captured steps of later calls have the plans of earlier ones") {
  if (!on_host()) return;
  const ndarray w = numbers({16, 16}, -0.3, 0.3), x = numbers({20, 16});
  const auto f = [&](const ndarray& m) {
    return sum(scan([&](const ndarray& h, const ndarray& e) { return std::pair(tanh(matmul(h, m) + e * mean(h)), _); },
                    zeros(16), x)
                   .first);
  };
  const auto plans = [&] {
    const std::uint64_t before = graph::planning().made;
    eval(grad(f)(w));
    return graph::planning().made - before;
  };
  CHECK(plans() > 0);
  plans();
  CHECK(plans() == 0);
}

TEST_CASE("capture: the host adds by position, one after the other, in each launch") {
  if (!on_host()) return;
  ndarray y = zeros(4), at = array(std::vector<std::int64_t>{1, 1, 1, 3, 1, -2, 1}),
          v = array({1.0, 1e17, 1.0, 3.0, -1e17, 1.0, 5.0});
  eval(y, at, v);
  const launch_graph g = capture([&] { add_at(y, at, v, {.deterministic = true}); });
  const ndarray right = zeros(4);
  for (int k = 0; k < 3; ++k) {
    g.launch();
    add_at(right, at, v, {.deterministic = true});
    CHECK(array_equal(y, right));
    at(0) = k;  // read as it is at the launch
    v(1) = 1e17 + 1000 * k;
  }
  CHECK(double(y(1)) != 0);
  at(2) = 4;
  g.launch();
  CHECK_THROWS_AS((void)double(y(1)), index_error);
}
