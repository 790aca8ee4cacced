// Derivatives through loops over steps: both modes, twice, and beside vmap. JAX has no reverse mode for while_loop.
#include "ops/derivatives/check.hpp"
#include "sinter/loops.hpp"
#include "sinter/vmap.hpp"
#include "support/simulated_gpu.hpp"

namespace {

using namespace sinter;
using namespace derivative_check;

/// The root of a by Newton's steps, as many as it needs.
ndarray root(const ndarray& a) {
  return while_loop([&](const ndarray& x) { return max(absolute(x * x - a)) > 1e-13; },
                    [&](const ndarray& x) { return 0.5 * (x + a / x); }, ones(a.shape()));
}

}  // namespace

TEST_CASE("derivatives of while_loop in both modes") {
  const ndarray a = array({2.0, 9.0, 0.25});
  const auto sum_of_roots = [](const ndarray& x) { return sum(root(x)); };
  CHECK(allclose(grad(sum_of_roots)(a), 0.5 / sqrt(a), 1e-10));
  CHECK(allclose(jvp(root, a, ones({3})).second, 0.5 / sqrt(a), 1e-10));
  CHECK(allclose(jacrev(root)(a), diag(0.5 / sqrt(a)), 1e-10));
  CHECK(allclose(jacfwd(root)(a), diag(0.5 / sqrt(a)), 1e-10));
  CHECK(allclose(hessian(sum_of_roots)(a), diag(-0.25 / (a * sqrt(a))), 1e-8));
  // The number of steps depends on the argument: 2^k >= 100 / x.
  const auto doubled = [](const ndarray& x) {
    return while_loop([](const ndarray& y) { return y < 100; }, [](const ndarray& y) { return y * 2; }, x);
  };
  for (const double x : {1.0, 30.0, 200.0}) {
    const double steps = doubled(array(x)).item<double>() / x;
    CHECK(grad(doubled)(x).item<double>() == steps);
    CHECK(jvp(doubled, array(x), array(1.0)).second.item<double>() == steps);
  }
}

TEST_CASE("derivatives of loops whose steps are made of Jacobians are loops") {
  const auto lagrangian = [](const ndarray& q, const ndarray& v) { return sum(v * v * cos(q)) + sum(q * v) - sum(q); };
  int calls = 0;
  const auto end = [&](bool each, const ndarray& q0) {
    const auto step = [&](const ndarray&, const std::tuple<ndarray, ndarray>& s) {
      ++calls;
      const auto& [q, v] = s;
      const auto momentum = [&, at = q](const ndarray& u) {
        return grad([&](const ndarray& w) { return lagrangian(at, w); })(u);
      };
      const ndarray mass = jacobian(momentum)(v);
      const ndarray next =
          v - 0.01 * matmul(mass, grad([&, now = v](const ndarray& p) { return lagrangian(p, now); })(q));
      return std::tuple(ndarray(q + 0.01 * next), next);
    };
    return sum(std::get<0>(fori_loop(0, 20, step, std::tuple(q0, ones_like(q0)), {.call_each = each})));
  };
  const ndarray q0 = array({0.4, 1.1});
  const ndarray right = grad([&](const ndarray& q) { return end(true, q); })(q0);
  eval(right);
  calls = 0;
  const ndarray got = grad([&](const ndarray& q) { return end(false, q); })(q0);
  CHECK(allclose(got, right, 1e-12));
  if (zeros(1).device() == device(cpu)) CHECK(calls <= 3);
  // Where launches cost most, kernels are joined to others whose roots were recorded after them. (By the CPU: streams
  // of a simulated GPU cannot wait for those of a true one.)
  const ndarray there = grad([&](const ndarray& q) { return end(true, q); })(q0.to_device(cpu).to_device(sim::first()));
  CHECK(allclose(there.to_device(cpu), right.to_device(cpu), 1e-12));
}

TEST_CASE("derivatives of loops follow what a call in a step makes of arrays that the step reads") {
  // On a GPU products of many rows and few terms are announced, and recorded as sums over views of their operands.
  const auto end = [](bool each, const ndarray& rotation, const ndarray& points) {
    const auto step = [&](const ndarray&, const ndarray& p) {
      return ndarray(sin(matmul(matmul(p, rotation), rotation.T()) + p));
    };
    return sum(cos(fori_loop(0, 20, step, points, {.call_each = each})));
  };
  const ndarray rotation = numbers({3, 3}, -0.5, 0.5).to_device(cpu).to_device(sim::first());
  const ndarray points = numbers({2048, 3}, -1, 1).to_device(cpu).to_device(sim::first());
  const auto slope = [&](bool each) { return grad([&](const ndarray& r) { return end(each, r, points); })(rotation); };
  const ndarray right = slope(true);
  CHECK(double(max(absolute(right))) > 1e-3);
  CHECK(allclose(slope(false), right, 1e-11));
}

TEST_CASE("derivatives of functions with loops that depend on nothing that is followed") {
  const ndarray start = numbers({3}), x = numbers({3});
  const auto apart = [&](const ndarray& from) {
    return fori_loop(
        0, 20, [](const ndarray& i, const ndarray& p) { return ndarray(sin(p) + 0.1 * i); }, from);
  };
  const auto by_scan = [&](const ndarray& from) {
    return scan([](const ndarray& c, const ndarray& e) { return std::pair(ndarray(cos(c) + e), c); }, from,
                arange(20.0))
        .first;
  };
  const auto value = [&](const ndarray& y) { return sum(apart(start) * y) + sum(by_scan(start) * y); };
  const ndarray right = apart(start) + by_scan(start);
  CHECK(array_equal(grad(value)(x), right));
  CHECK(allclose(jvp(value, x, ones({3})).second, sum(right), 1e-14));
  CHECK(array_equal(grad([&](const ndarray&) { return sum(apart(start)); })(x), zeros({3})));
  CHECK(allclose(vmap(grad(value))(stack({x, x})), broadcast_to(right, {2, 3}), 1e-14));
  // The outer derivative follows the loop, the inner one does not; and the other way round.
  const ndarray outer =
      grad([&](const ndarray& z) { return sum(grad([&](const ndarray& y) { return sum(apart(z) * y); })(x)); })(start);
  CHECK(allclose(outer, grad([&](const ndarray& z) { return sum(apart(z)); })(start), 1e-14));
  CHECK(array_equal(
      grad([&](const ndarray&) { return sum(grad([&](const ndarray& y) { return sum(apart(y)); })(x)); })(x),
      zeros({3})));
}

TEST_CASE("derivatives of while_loop for each example") {
  const auto doubled = [](const ndarray& x) {
    return while_loop([](const ndarray& y) { return y < 100; }, [](const ndarray& y) { return y * 2; }, x);
  };
  const ndarray x = array({1.0, 30.0, 200.0});
  CHECK(vmap(grad(doubled))(x).to_vector<double>() == std::vector<double>{128, 4, 1});
  CHECK(grad([&](const ndarray& all) { return sum(vmap(doubled)(all)); })(x).to_vector<double>() ==
        std::vector<double>{128, 4, 1});
}

TEST_CASE("derivatives of scan and fori_loop") {
  const ndarray w = numbers({3, 3}, -0.5, 0.5), xs = numbers({4, 3});
  const subject recurrent = [](const arrays& a) {
    const auto [h, all] = scan(
        [&](const ndarray& h, const ndarray& x) {
          const ndarray next = tanh(matmul(a[0], h) + x);
          return std::pair(next, next * next);
        },
        zeros({3}), a[1]);
    return sum(all, 0) + h;
  };
  agrees_twice("scan", recurrent, {w, xs});
  const subject powers = [](const arrays& a) {
    return fori_loop(
        0, 5, [&](const ndarray& i, const ndarray& y) { return sin(y * a[0]) + i; }, a[0]);
  };
  agrees_twice("fori_loop", powers, {numbers({4})});
}
