// Programs whose steps name their parts, which C++ keeps until the end of the block, and that read what they compute through
// several slices: integrators with functions of the state, schemes over neighbours; each with and without an evaluation of
// every statement.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "graph/loop_programs.hpp"

namespace sinter::test::loops {

inline arrays butterflies(int steps, std::int64_t n) {  // Runge-Kutta of order four
  ndarray x = uniform(n, 301), y = uniform(n, 302), z = uniform(n, 303) + 20.0f;
  statement(z);
  const auto slope = [](const ndarray& x, const ndarray& y, const ndarray& z) {
    std::array<ndarray, 3> d{10.0f * (y - x), x * (28.0f - z) - y, x * y - 2.7f * z};
    statement(d[0], d[1], d[2]);
    return d;
  };
  for (int k = 0; k < steps; ++k) {
    const auto [a, b, c] = slope(x, y, z);
    const auto [d, e, f] = slope(x + 0.005f * a, y + 0.005f * b, z + 0.005f * c);
    const auto [g, h, i] = slope(x + 0.005f * d, y + 0.005f * e, z + 0.005f * f);
    const auto [p, q, r] = slope(x + 0.01f * g, y + 0.01f * h, z + 0.01f * i);
    x = x + 0.0017f * (a + 2.0f * d + 2.0f * g + p);
    statement(x);
    y = y + 0.0017f * (b + 2.0f * e + 2.0f * h + q);
    statement(y);
    z = z + 0.0017f * (c + 2.0f * f + 2.0f * i + r);
    statement(z);
  }
  return {x, y, z};
}

inline arrays double_pendulum(int steps, std::int64_t n) {  // velocity Verlet with named forces, kept energies
  ndarray a = uniform(n, 304), b = uniform(n, 305), u = 0.0f * a, v = 0.0f * b;
  statement(u, v);
  arrays energies;
  for (int k = 0; k < steps; ++k) {
    const ndarray away = a - b, fa = -sn::sin(a) - 0.3f * away, fb = -sn::sin(b) + 0.3f * away;
    statement(fa, fb);
    const ndarray hu = u + 0.05f * fa, hv = v + 0.05f * fb;
    statement(hu, hv);
    a = a + 0.1f * hu;
    statement(a);
    b = b + 0.1f * hv;
    statement(b);
    const ndarray later = a - b, ga = -sn::sin(a) - 0.3f * later, gb = -sn::sin(b) + 0.3f * later;
    statement(ga, gb);
    u = hu + 0.05f * ga;
    statement(u);
    v = hv + 0.05f * gb;
    statement(v);
    if (k % 16 == 15) {
      energies.push_back(sn::sum(u * u + v * v - sn::cos(a) - sn::cos(b)));
      statement(energies.back());
    }
  }
  energies.insert(energies.end(), {a, b, u, v});
  return energies;
}

inline arrays kept_slopes(int steps, std::int64_t n) {  // Adams-Bashforth: two older slopes live on
  ndarray x = uniform(n, 306);
  const auto slope = [](const ndarray& x) { return x * (1.0f - x) - 0.1f * x * x * x; };
  ndarray before = slope(x), last = slope(x + 0.01f);
  statement(before, last);
  for (int k = 0; k < steps; ++k) {
    const ndarray now = slope(x), half = 0.5f * x;
    statement(now, half);
    x = half + half + 0.01f * (1.9f * now - 1.3f * last + 0.4f * before);
    statement(x);
    before = last;
    last = now;
  }
  return {x, before, last};
}

inline arrays upwind(int steps, std::int64_t n) {  // signs and fluxes that neighbours share
  ndarray u = uniform(n, 307) - 0.5f;
  statement(u);
  for (int k = 0; k < steps; ++k) {
    const ndarray side = sn::sign(u);
    statement(side);
    const ndarray flux = 0.5f * u * u;
    statement(flux);
    const ndarray rise = flux(slice(1, _)) - flux(slice(_, -1));
    statement(rise);
    const ndarray turn = sn::where(side(slice(1, _)) != side(slice(_, -1)), 0.0f, rise);
    statement(turn);
    ndarray next = u.copy();
    next(slice(1, -1)) = u(slice(1, -1)) - 0.1f * (turn(slice(1, _)) + turn(slice(_, -1)));
    statement(next);
    u = next;
  }
  return {u};
}

inline arrays blurred_twice(int steps, std::int64_t n) {  // of stored values that are cheap and costly to compute again
  const auto side = std::max<std::int64_t>(8, std::int64_t(std::sqrt(double(n))));
  ndarray u = uniform({side, side}, 308);
  for (int k = 0; k < steps; ++k) {
    const ndarray bent = sn::exp(-u), low = sn::minimum(u, 0.9f);
    statement(bent, low);
    const ndarray across = low(_, slice(2, _)) + low(_, slice(1, -1)) + low(_, slice(_, -2));
    statement(across);
    const ndarray down = across(slice(2, _)) + across(slice(1, -1)) + across(slice(_, -2));
    statement(down);
    const ndarray edge = bent(slice(1, -1), slice(2, _)) - bent(slice(1, -1), slice(_, -2));
    statement(edge);
    u = sn::pad(0.1f * down + 0.05f * edge, 1);
    statement(u);
  }
  return {u};
}

inline arrays grouped(int steps, std::int64_t n) {  // groups of channels, as reshapes of what is computed
  ndarray x = uniform({4, 6, n / 24 + 1}, 309);
  const std::int64_t length = x.shape(2);
  const ndarray gain = uniform({6, 1}, 310) + 1.0f, bias = uniform({6, 1}, 311);
  for (int k = 0; k < steps; ++k) {
    const ndarray flat = sn::reshape(x, {4, 2, -1}), centre = sn::mean(flat, 2, {.keepdims = true});
    statement(centre);
    const ndarray away = flat - centre;
    statement(away);
    const ndarray spread = sn::mean(away * away, 2, {.keepdims = true});
    statement(spread);
    const ndarray normal = away / sn::sqrt(spread + 1e-5f);
    statement(normal);
    x = sn::reshape(normal, {4, 6, length}) * gain + bias;
    statement(x);
  }
  return {x};
}

inline const program scoped_programs[] = {{"butterflies", butterflies},     {"double pendulum", double_pendulum},
                                          {"kept slopes", kept_slopes},     {"upwind", upwind},
                                          {"blurred twice", blurred_twice}, {"grouped", grouped}};

}  // namespace sinter::test::loops
