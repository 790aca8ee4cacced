// Derivatives of mapped functions, and maps of derivatives.
#include "ops/vmap/beside_loop.hpp"
#include "sinter/grad.hpp"
#include "sinter/loops.hpp"
#include "support/linalg_checks.hpp"
#include "support/products_library.hpp"

using namespace vmap_test;
using namespace sinter::test;
using sinter::idx::_;

namespace {

bool near(const ndarray& a, const ndarray& b, double tolerance = 1e-10) {
  return a.shape() == b.shape() && allclose(a, b, tolerance, tolerance);
}

struct network {
  ndarray w1, b1, w2;
};
template <class Visit>
void arrays_of(network& n, Visit visit) {
  visit(n.w1, n.b1, n.w2);
}
ndarray loss(const network& n, const ndarray& x, const ndarray& y) {
  const ndarray h = tanh(matmul(n.w1, x) + n.b1);
  return sum(square(matmul(n.w2, h) - y));
}

}  // namespace

TEST_CASE("vmap of grad: elementwise and reductions have the bits of a loop") {
  const ndarray x = numbers({6, 5});
  const auto f = [](const ndarray& a) { return sum(sin(a) * a * a(0)) / sum(square(a)); };
  check_bits(grad(f), x);
  check_bits(grad([](const ndarray& a) { return max(a) + min(a * a); }), x);
  check_bits(grad([](const ndarray& a) { return sum(a["1:"] * a(slice(0, 4))) + a(2); }), x);
  check_bits(grad([&](const ndarray& a) { return sum(grad(f)(a)); }), x);
}

TEST_CASE("vmap of grad: gradients of each example of a network") {
  if (no_products()) return;
  const network n{numbers({7, 4}) * 0.2, numbers({7}) * 0.1, numbers({3, 7}) * 0.2};
  const ndarray x = numbers({9, 4}), y = numbers({9, 3}, float64, 2);
  const network each = vmap(grad(loss), {.in_axes = {std::nullopt, 0, 0}})(n, x, y);
  REQUIRE(each.w1.shape() == shape_t{9, 7, 4});
  for (int k = 0; k < 9; ++k) {
    const network one = grad(loss)(n, x(k).copy(), y(k).copy());
    CHECK(near(each.w1(k), one.w1));
    CHECK(near(each.b1(k), one.b1));
    CHECK(near(each.w2(k), one.w2));
  }
  // The gradient of the mean over mapped examples is their mean.
  const auto total = [&](const network& m) { return mean(vmap(loss, {.in_axes = {std::nullopt, 0, 0}})(m, x, y)); };
  const network all = grad(total)(n);
  CHECK(near(all.w1, mean(each.w1, 0)));
  CHECK(near(all.b1, mean(each.b1, 0)));
  CHECK(near(all.w2, mean(each.w2, 0)));
}

TEST_CASE("vmap of grad: opaque functions") {
  if (no_products() || no_solvers()) return;
  const ndarray x = numbers({5, 6}), a = numbers({5, 3, 3}) + 10 * eye(3), b = numbers({5, 3});
  check_near(grad([](const ndarray& v) { return sum(sort(v) * arange(6)); }), x, 1e-10);
  check_near(grad([](const ndarray& v) { return sum(square(cumsum(v))); }), x, 1e-10);
  check_near(grad([](const ndarray& v) { return median(v) + sum(cumprod(v)); }), x, 1e-10);
  check_near(grad([](const ndarray& v) { return sum(absolute(fft::rfft(v))); }), x, 1e-10);
  check_near(grad([](const ndarray& v) { return sum(v(array({1, 1, 4})) * v(0)); }), x, 1e-10);
  check_near(grad([](const ndarray& v) { return sum(roll(v, 2) * v); }), x, 1e-10);
  check_near(grad([](const ndarray& m) { return linalg::det(m); }), a, 1e-8);
  check_near(grad([](const ndarray& m) { return sum(linalg::inv(m)); }), a, 1e-8);
  const auto solved = [](const ndarray& m, const ndarray& v) { return sum(square(linalg::solve(m, v))); };
  CHECK(near(vmap(grad(solved))(a, b), in_turn(grad(solved), a, b), 1e-8));
  const auto total = [&](const ndarray& m) { return sum(vmap(solved)(m, b)); };
  CHECK(near(grad(total)(a), in_turn(grad(solved), a, b), 1e-8));
}

TEST_CASE("vmap: of jacobians, hessians and forward derivatives") {
  const ndarray x = numbers({4, 3});
  const auto f = [](const ndarray& a) { return stack({sin(a(0)) * a(1), a(2) * a(0), exp(a(1) * 0.1)}); };
  check_near([&](const ndarray& a) { return jacobian(f)(a); }, x, 1e-12);
  check_near([&](const ndarray& a) { return hessian([&](const ndarray& v) { return sum(f(v)); })(a); }, x, 1e-12);
  check_near([&](const ndarray& a) { return jvp(f, a, ones(3)).second; }, x, 1e-12);
}

TEST_CASE("vmap: derivatives of the user's own") {
  const ndarray x = numbers({4, 3}), c = numbers({3});
  // The derivative is marked: twice the right one.
  const auto f = [&](const ndarray& a) {
    const auto square_of = custom_derivative(
        [](const ndarray& v) { return v * v; },
        {.vjp = [](const auto& v, const auto&, const auto& g) { return std::vector<ndarray>{g[0] * v[0] * 4.0}; }});
    return sum(square_of(a));
  };
  check_near(f, x);
  CHECK(near(vmap(grad(f))(x), x * 4.0));
  CHECK(near(grad([&](const ndarray& a) { return sum(vmap(f)(a)); })(x), x * 4.0));
  CHECK(near(grad([&](const ndarray& a) { return sum(vmap([&](const ndarray& e) { return f(a) * e(0); })(x)); })(c),
             c * 4.0 * sum(x(_, 0))));
  check_near(grad(checkpoint([](const ndarray& v) { return sum(sin(v) * v); })), x);
}

TEST_CASE("grad of vmap: what is stopped stays constant for all examples") {
  const ndarray x = numbers({5}), w = array(1.5);
  const auto stopped = [](const ndarray& a) {
    return ndarray(sum(vmap([](const ndarray& e) { return stop_gradient(e) * e; })(a)));
  };
  CHECK(same_bits(grad(stopped)(x), x));
  const auto with_weight = [&](const ndarray& v) {
    return ndarray(sum(vmap([&](const ndarray& e) { return stop_gradient(sin(e * v)) * v; })(x)));
  };
  CHECK(near(grad(with_weight)(w), sum(sin(x * w))));
  CHECK(near(jvp(with_weight, w, ones({})).second, sum(sin(x * w))));
  // Nested maps, second derivatives, and steps of loops.
  const ndarray y = numbers({3, 4});
  const auto nested = [](const ndarray& a) {
    const auto one = [](const ndarray& e) { return stop_gradient(e * e) * e * e; };
    return ndarray(sum(vmap([&](const ndarray& row) { return vmap(one)(row); })(a)));
  };
  CHECK(near(grad(nested)(y), 2 * y * y * y));
  CHECK(near(grad([&](const ndarray& a) { return ndarray(sum(grad(nested)(a))); })(y), 2 * y * y));
  for (const bool each : {false, true}) {
    const auto loop = [&](const ndarray& v) {
      const auto one = [&](const ndarray& e) {
        return fori_loop(0, 20, [&](const ndarray&, const ndarray& h) { return stop_gradient(tanh(h * v)) + e * v; }, e,
                         {.call_each = each});
      };
      return ndarray(sum(vmap(one)(x)));
    };
    CHECK(near(grad(loop)(w), sum(x)));
  }
}

TEST_CASE("loops: derivatives") {
  const ndarray x = numbers({5});
  const auto by_hand = [](const ndarray& a) {
    ndarray v = a;
    for (int k = 0; k < 7; ++k) v = sin(v) * a;
    return sum(v);
  };
  const auto by_loop = [](const ndarray& a) {
    return sum(fori_loop(
        0, 7, [&](const ndarray&, const ndarray& v) { return sin(v) * a; }, a));
  };
  CHECK(near(grad(by_loop)(x), grad(by_hand)(x)));
  const auto scanned = [](const ndarray& a) {
    const auto [last, all] = scan(
        [](const ndarray& c, const ndarray& e) {
          const ndarray next = sin(c) * e;
          return std::pair(next, next * next);
        },
        ones({}), a);
    return last + sum(all);
  };
  const auto written = [](const ndarray& a) {
    ndarray c = ones({}), total = zeros({});
    for (int k = 0; k < 5; ++k) {
      c = sin(c) * a(k);
      total = total + c * c;
    }
    return c + total;
  };
  CHECK(near(grad(scanned)(x), grad(written)(x)));
  CHECK(near(jvp(scanned, x, ones(5)).second, sum(grad(written)(x))));
  check_near(grad(scanned), numbers({3, 5}), 1e-10);
  // A loop whose number of steps depends on data.
  const auto root = [](const ndarray& a) {
    return while_loop([&](const ndarray& r) { return any(absolute(r * r - a) > 1e-14 * a); },
                      [&](const ndarray& r) { return (r + a / r) * 0.5; }, ones(3));
  };
  const ndarray p = array({2.0, 3.0, 7.0});
  CHECK(near(jvp(root, p, ones(3)).second, 0.5 / sqrt(p), 1e-6));
  CHECK(near(grad([&](const ndarray& a) { return sum(root(a)); })(p), 0.5 / sqrt(p), 1e-6));
}
