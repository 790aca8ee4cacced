// Loops of one example, mapped: one loop of all examples, beside a loop over the examples whose steps are called.
#include <tuple>
#include <utility>
#include <vector>

#include "ops/vmap/beside_loop.hpp"
#include "runtime/backend.hpp"
#include "sinter/grad.hpp"
#include "sinter/linalg.hpp"
#include "sinter/loops.hpp"

using namespace vmap_test;
using namespace sinter::idx;

namespace {

constexpr std::int64_t steps = 40;

bool on_host() { return zeros(1).device() == device(cpu); }

/// A filter whose coefficient is the example's; what it reads besides its arguments is followed.
ndarray filtered(const ndarray& a, const ndarray& x, bool call_each, int* calls = nullptr) {
  const auto step = [&](const ndarray& h, const ndarray& e) {
    if (calls) ++*calls;
    const ndarray next = a * h + sin(e);
    return std::pair(next, ndarray(next * next - e));
  };
  const auto [last, all] = scan(step, zeros({}), x, {.call_each = call_each});
  return concatenate({last.reshape({1}), all});
}

/// f(call_each, x) mapped, beside a loop over the examples with steps that are called.
template <class F>
void check_mapped(const F& f, const ndarray& x, double tolerance = 0) {
  const ndarray got = vmap([&](const ndarray& one) { return f(false, one); })(x);
  const ndarray right = in_turn([&](const ndarray& one) { return f(true, one); }, x);
  REQUIRE(got.shape() == right.shape());
  CHECK(got.dtype() == right.dtype());
  if (tolerance == 0) CHECK(same_bits(got, right));
  else CHECK(allclose(got, right, tolerance, tolerance));
}

}  // namespace

TEST_CASE("vmap of loops: one loop of all examples, whatever the number of steps") {
  const ndarray a = numbers({7}) * 0.1, x = numbers({steps});
  check_mapped([&](bool each, const ndarray& one) { return filtered(one, x, each); }, a);
  check_mapped([&](bool each, const ndarray& one) { return filtered(ndarray(x(3) * 0.2), one, each); },
               numbers({5, steps}));
  int calls = 0;
  const ndarray y = vmap([&](const ndarray& one) { return filtered(one, x, false, &calls); })(a);
  eval(y);
  CHECK(calls == 3);
  const auto launches = [] { return runtime::get_backend({}).statistics().launches; };
  const std::uint64_t before = launches();
  eval(vmap([&](const ndarray& one) { return filtered(one, x, false); })(a));
  if (on_host()) CHECK(launches() - before < 10);
}

TEST_CASE("vmap of loops: carries of which some depend on the example from the first step on, later, or never") {
  const ndarray elements = numbers({steps, 3});
  const auto f = [&](bool each, const ndarray& one) {
    using state = std::tuple<ndarray, ndarray, ndarray, ndarray>;
    const auto step = [&](const state& s, const ndarray& e) {
      const auto& [mine, later, never, count] = s;
      return std::pair(state(mine * 0.5 + e, later + mine, never * 1.25 - e, count + 1),
                       std::tuple(ndarray(never + 1), ndarray(where(count > 20, later, mine))));
    };
    const auto [last, all] = scan(step, state(one, zeros({3}), ones({3}), zeros({}, {.dtype = int64})), elements,
                                  {.reverse = true, .call_each = each});
    const auto& [mine, later, never, count] = last;
    return concatenate(
        {mine, later, never, count.astype(float64).reshape({1}), ravel(std::get<0>(all)), ravel(std::get<1>(all))});
  };
  check_mapped(f, numbers({4, 3}));
  check_mapped(f, numbers({1, 3}));
}

TEST_CASE("vmap of loops: numbers of steps, other axes, nested maps, no examples") {
  const ndarray x = numbers({6, 5});
  const auto loop = [](bool each, const ndarray& a, const ndarray& b) {
    return fori_loop(3, 3 + steps, [&](const ndarray& k, const ndarray& h) { return h * 0.9 + b * k.astype(float64); },
                     a, {.call_each = each});
  };
  const auto quick = [&](const ndarray& a, const ndarray& b) { return loop(false, a, b); };
  const auto slow = [&](const ndarray& a, const ndarray& b) { return loop(true, a, b); };
  const ndarray p = numbers({5}), q = numbers({6}, float64, 3);
  CHECK(same_bits(vmap(quick, {.in_axes = {1, std::nullopt}})(x, q), vmap(slow, {.in_axes = {1, std::nullopt}})(x, q)));
  CHECK(same_bits(vmap(quick, {.in_axes = {std::nullopt, 0}, .out_axes = 1})(p, q),
                  vmap(slow, {.in_axes = {std::nullopt, 0}, .out_axes = 1})(p, q)));
  const auto all_pairs = [](const auto& f) {
    const auto row = vmap(f, {.in_axes = {std::nullopt, 0}});
    return vmap(row, {.in_axes = {0, std::nullopt}});
  };
  CHECK(same_bits(all_pairs(quick)(p, q), all_pairs(slow)(p, q)));
  CHECK(vmap(quick, {.in_axes = {0, std::nullopt}})(zeros({0, 5}), p).shape() == shape_t{0, 5});
}

TEST_CASE("vmap of loops: steps with products, reductions, solvers and sorts") {
  const ndarray w = numbers({4, 4}) * 0.1, u = numbers({3, 4});
  check_mapped(
      [&](bool each, const ndarray& x) {
        const auto step = [&](const ndarray& h, const ndarray& e) {
          return std::pair(ndarray(tanh(matmul(h, w) + matmul(e, u))), ndarray(sum(h)));
        };
        const auto [last, all] = scan(step, zeros({4}), x, {.call_each = each});
        return concatenate({last, all});
      },
      numbers({5, 20, 3}), 1e-12);
  check_mapped(
      [&](bool each, const ndarray& m) {
        const ndarray s = matmul(m, m.T()) + 4 * eye(3);
        return fori_loop(0, 20, [&](const ndarray&, const ndarray& v) { return sort(linalg::solve(s, v)) + 0.5; },
                         ones({3}), {.call_each = each});
      },
      numbers({6, 3, 3}), 1e-12);
}

TEST_CASE("vmap of loops: derivatives are those of steps that are called") {
  const ndarray x = numbers({20}) * 0.3, a = numbers({5}) * 0.1;
  const auto value = [&](bool each) {
    return [&x, each](const ndarray& one) { return ndarray(sum(square(filtered(one, x, each)))); };
  };
  const auto of_all = [&](bool each) {
    return [value, each](const ndarray& all) { return ndarray(mean(vmap(value(each))(all))); };
  };
  CHECK(allclose(vmap(grad(value(false)))(a), vmap(grad(value(true)))(a), 1e-12, 1e-12));
  CHECK(allclose(grad(of_all(false))(a), grad(of_all(true))(a), 1e-12, 1e-12));
  CHECK(allclose(vmap(grad(grad(value(false))))(a), vmap(grad(grad(value(true))))(a), 1e-11, 1e-11));
  CHECK(allclose(hessian(of_all(false))(a), hessian(of_all(true))(a), 1e-11, 1e-11));
  const ndarray v = numbers({5}, float64, 4);
  CHECK(allclose(hvp(of_all(false), a, v), hvp(of_all(true), a, v), 1e-11, 1e-11));
  CHECK(double(max(absolute(grad(of_all(true))(a)))) > 1e-3);
}

TEST_CASE("vmap of loops: Jacobians and Hessians of loops take few launches") {
  const auto epidemic = [](bool each) {
    return [each](const ndarray& p) {
      using state = std::pair<ndarray, ndarray>;
      const auto step = [&](const state& s, const ndarray& seen) {
        const ndarray infected = p(0) * s.first * s.second, next = s.second + 0.1 * (infected - p(1) * s.second);
        return std::pair(state(s.first - 0.1 * infected, next), ndarray(square(next - seen)));
      };
      return ndarray(
          sum(scan(step, state(full({}, 0.99), full({}, 0.01)), linspace(0.0, 0.2, 30), {.call_each = each}).second));
    };
  };
  const ndarray p = array({0.8, 0.3});
  CHECK(allclose(hessian(epidemic(false))(p), hessian(epidemic(true))(p), 1e-11, 1e-11));
  CHECK(allclose(jacrev(grad(epidemic(false)))(p), hessian(epidemic(true))(p), 1e-11, 1e-11));
  const auto launches = [] { return runtime::get_backend({}).statistics().launches; };
  const std::uint64_t before = launches();
  eval(hessian(epidemic(false))(p));
  if (on_host()) CHECK(launches() - before < 60);
}

TEST_CASE("vmap of loops: weights that all examples share, and rows of their own") {
  const ndarray xs = numbers({3, 20, 2}) * 0.5;
  const auto loss = [&](bool each) {
    return [&xs, each](const ndarray& w) {
      const auto one = [&](const ndarray& x) {
        const auto step = [&](const ndarray& h, const ndarray& e) {
          const ndarray next = tanh(matmul(h, w) + concatenate({e, e}));
          return std::pair(next, ndarray(next(0) * e(1)));
        };
        const auto [last, all] = scan(step, zeros({4}), x, {.call_each = each});
        return ndarray(sum(last) + sum(all));
      };
      return ndarray(mean(vmap(one)(xs)));
    };
  };
  const ndarray w = numbers({4, 4}) * 0.2;
  CHECK(allclose(grad(loss(false))(w), grad(loss(true))(w), 1e-12, 1e-12));
  CHECK(allclose(jvp(loss(false), w, ones({4, 4})).second, jvp(loss(true), w, ones({4, 4})).second, 1e-12, 1e-12));
}

TEST_CASE("vmap of loops: steps that do something else are called") {
  const ndarray a = numbers({4});
  int calls = 0;
  std::vector<ndarray> kept;
  const auto keeps = [&](const ndarray& one) {
    return fori_loop(
        0, 20,
        [&](const ndarray&, const ndarray& h) {
          ++calls;
          kept.push_back(h);
          return h * 0.5 + one;
        },
        one);
  };
  eval(vmap(keeps)(a));
  CHECK(calls == 20);
  kept.clear();
  double number = 0;
  const auto changes = [&](const ndarray& one) {
    return fori_loop(
        0, 20, [&](const ndarray&, const ndarray& h) { return h * 0.5 + one * (number += 1); }, one);
  };
  const ndarray got = vmap(changes)(a);
  number = 0;
  CHECK(same_bits(got(2), changes(ndarray(a(2)))));
  // Each example draws numbers of its own.
  random::generator g(5), h(5);
  const auto draws = [](random::generator& from, bool each) {
    return [&from, each](const ndarray& one) {
      return fori_loop(0, 20, [&](const ndarray&, const ndarray& v) { return v * 0.5 + from.normal(0, 1, {}); }, one,
                       {.call_each = each});
    };
  };
  CHECK(same_bits(vmap(draws(g, false))(a), vmap(draws(h, true))(a)));
}

TEST_CASE("vmap of loops: a while_loop ends for each example by its own condition, and is called eleven times") {
  const ndarray a = arange(9.0) * 0.5 + 3.0;
  int calls = 0;
  const auto halved = [&](bool each, const ndarray& one) {  // towards the root, slowly
    return while_loop([&](const ndarray& r) { return absolute(r * r - one) > 1e-9; },
                      [&](const ndarray& r) {
                        ++calls;
                        return r * 0.9 + 0.1 * (r + one / r) * 0.5;
                      },
                      ones({}), {.call_each = each});
  };
  check_mapped(halved, a);
  calls = 0;
  eval(vmap([&](const ndarray& one) { return halved(false, one); })(a));
  if (on_host()) CHECK(calls == 11);
  else CHECK(calls > 50);
  // What an ended example would do next does not start it again, and numbers of steps differ.
  check_mapped(
      [](bool each, const ndarray& n) {
        using carry = std::pair<ndarray, ndarray>;
        return while_loop([&](const carry& c) { return c.first % 7 != n; },
                          [](const carry& c) { return carry(c.first + 1, c.second * 0.5 + c.first); },
                          carry(zeros({}, {.dtype = int64}), ones(2)), {.call_each = each})
            .second;
      },
      array({3, 0, 6, 1, 5}));
  // A condition of one element in an axis, that reads a part of a longer carry; products and reductions in the step.
  const ndarray w = numbers({3, 3}) * 0.1;
  check_mapped(
      [&](bool each, const ndarray& x) {
        return while_loop([](const ndarray& v) { return v(slice(0, 1)) < 40.0; },
                          [&](const ndarray& v) { return v + absolute(matmul(w, v)) + sum(x * x) + 0.3; }, x,
                          {.call_each = each});
      },
      numbers({6, 3}), 1e-12);
}

TEST_CASE(
    "vmap of loops: while_loops in nested maps, of no examples, and of those that end at once or never need a step") {
  const auto count = [](bool each, const ndarray& from, const ndarray& to) {
    return while_loop([&](const ndarray& c) { return c < to; }, [&](const ndarray& c) { return c * 1.25 + from; }, from,
                      {.call_each = each});
  };
  const auto all_pairs = [&](bool each) {
    const auto one = [=](const ndarray& a, const ndarray& b) { return count(each, a, b); };
    return vmap(vmap(one, {.in_axes = {std::nullopt, 0}}), {.in_axes = {0, std::nullopt}});
  };
  const ndarray from = array({0.5, 1.0, 8.0}), to = array({0.1, 1e4, 30.0, 1.0});
  const ndarray got = all_pairs(false)(from, to);
  CHECK(same_bits(got, all_pairs(true)(from, to)));
  CHECK(same_bits(got(1)(2), count(true, ndarray(from(1)), ndarray(to(2)))));
  CHECK(all_pairs(false)(zeros(0), to).shape() == shape_t{0, 4});
  CHECK(same_bits(all_pairs(false)(from, to * 0), broadcast_to(from(_, newaxis), {3, 4}).copy()));
}

TEST_CASE("vmap of loops: while_loops whose condition, carry and step depend on the examples of different maps") {
  using carry = std::pair<ndarray, ndarray>;
  const auto f = [](bool each, const ndarray& a, const ndarray& b, int which) {
    const ndarray limit = which == 0 ? a : which == 1 ? b : ndarray(a + b);
    const ndarray more = which == 2 ? a : b;
    return while_loop([&](const carry& c) { return c.first < limit * 20.0; },
                      [&](const carry& c) { return carry(c.first * 1.5 + 1.0, c.second * 0.5 + more * c.first); },
                      carry(zeros({}), zeros({2})), {.call_each = each})
        .second;
  };
  // Bounds that all examples share until the step has seen what is theirs.
  const auto bisected = [](bool each, const ndarray& a, const ndarray& b, int) {
    return while_loop([](const carry& c) { return c.second - c.first > 1e-9; },
                      [&](const carry& c) {
                        const ndarray middle = 0.5 * (c.first + c.second), low = middle * middle * b < a;
                        return carry(where(low, middle, c.first), where(low, c.second, middle));
                      },
                      carry(zeros({}), full({}, 16.0)), {.call_each = each})
        .first;
  };
  const ndarray a = array({1.0, 7.0, 3.0}), b = array({0.5, 4.0, 9.0, 2.0});
  const auto check = [&](const auto& g, int which) {
    CAPTURE(which);
    const auto one = [&](const ndarray& x, const ndarray& y) { return g(false, x, y, which); };
    const ndarray got = vmap(vmap(one, {.in_axes = {std::nullopt, 0}}), {.in_axes = {0, std::nullopt}})(a, b);
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 4; ++j) CHECK(same_bits(got(i)(j), g(true, ndarray(a(i)), ndarray(b(j)), which)));
  };
  for (const int which : {0, 1, 2}) check(f, which);
  check(bisected, 3);
}

TEST_CASE("vmap of loops: while_loops whose steps do something else are called, and derivatives follow called steps") {
  const ndarray a = numbers({4}) * 0.25 + 2.0;
  double number = 0;
  const auto changes = [&](const ndarray& one) {
    return while_loop([&](const ndarray& h) { return h < 50.0 * one; },
                      [&](const ndarray& h) { return h + one * (number += 1); }, one);
  };
  const ndarray got = vmap(changes)(a);
  number = 0;
  CHECK(same_bits(got(2), changes(ndarray(a(2)))));
  std::vector<ndarray> kept;
  const auto keeps = [&](const ndarray& one) {
    return while_loop([&](const ndarray& h) { return h < 20.0; },
                      [&](const ndarray& h) {
                        kept.push_back(h);
                        return h + one;
                      },
                      one);
  };
  eval(vmap(keeps)(a));
  CHECK(kept.size() > 5);
  const auto grows = [](const ndarray& one) {
    return while_loop([&](const ndarray& h) { return h < 20.0; }, [&](const ndarray& h) { return h * one; }, one);
  };
  const ndarray slopes = in_turn([&](const ndarray& one) { return grad(grows)(one); }, a);
  CHECK(allclose(vmap(grad(grows))(a), slopes, 1e-12, 0));
  CHECK(allclose(grad([&](const ndarray& x) { return ndarray(sum(vmap(grows)(x))); })(a), slopes, 1e-12, 0));
}
