// Programs whose state goes round between reductions, sorts and arrays that grow, of which few elements are read, or that is
// updated by colours; each with and without an evaluation of every statement.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graph/loop_programs.hpp"

namespace sinter::test::loops {

inline arrays exchanged_means(int steps, std::int64_t n) {  // two fields that change each other
  ndarray a = sn::astype(uniform(n, 401), sn::float64), b = sn::astype(uniform(n, 402), sn::float64);
  statement(a, b);
  for (int k = 0; k < steps; ++k) {
    a = a - 0.1 * sn::mean(b);
    statement(a);
    b = b + 0.1 * sn::mean(a);
    statement(b);
  }
  return {a, b};
}

inline arrays growing_tail(int steps, std::int64_t n) {  // pieces that are appended
  ndarray all = uniform(n, 403);
  for (int k = 0; k < steps; ++k) {
    all = sn::concatenate({all, all(slice(-100, _)) * 1.01f});
    statement(all);
  }
  return {all};
}

inline arrays sorted_each_step(int steps, std::int64_t n) {
  ndarray x = uniform(n, 404), least = sn::zeros(1, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    const ndarray y = sn::sort(x);
    statement(y);
    least = least + sn::sum(y(slice(0, 10)));
    statement(least);
    x = 0.5f * sn::sin(37.0f * x) + 0.25f * y;
    statement(x);
  }
  return {x, least};
}

inline arrays few_of_each_step(int steps, std::int64_t n) {  // some elements of what a loop replaces
  ndarray x = uniform(n, 405);
  const ndarray places = sn::astype(uniform(16, 406) * float(n), sn::int64);
  statement(places);
  arrays seen;
  for (int k = 0; k < steps; ++k) {
    x = sn::cumsum(x) / float(n);
    statement(x);
    seen.push_back(sn::take(x, places) + x(slice(16)));
    statement(seen.back());
  }
  return seen;
}

inline arrays two_colours(int steps, std::int64_t n) {
  const std::int64_t side = std::max<std::int64_t>(8, std::int64_t(std::sqrt(double(n))));
  ndarray u = uniform({side, side}, 407);
  const ndarray f = uniform({side, side}, 408), at = sn::arange(side);
  const ndarray odd = (at(_, newaxis) + at) % 2 == 1, even = ~odd;
  statement(odd, even);
  for (int k = 0; k < steps; ++k) {
    for (const ndarray& colour : {odd, even}) {
      const ndarray around = sn::roll(u, 1, 0) + sn::roll(u, -1, 0) + sn::roll(u, 1, 1) + sn::roll(u, -1, 1);
      statement(around);
      u = sn::where(colour, 0.25f * (around - 0.01f * f), u);
      statement(u);
    }
  }
  return {u};
}

inline arrays tempered(int steps, std::int64_t n) {
  sn::random::generator g(409);
  const auto energy = [](const ndarray& x) { return x * x - 10.0f * sn::cos(6.28f * x); };
  ndarray x = uniform(n, 410), now = energy(x), best = now;
  statement(now);
  for (int k = 0; k < steps; ++k) {
    const ndarray y = x + 0.3f * (g.random(n, {.dtype = sn::float32}) - 0.5f), then = energy(y);
    statement(y, then);
    const ndarray taken = (then < now) | (g.random(n, {.dtype = sn::float32}) < sn::exp((now - then) * float(k + 1)));
    statement(taken);
    x = sn::where(taken, y, x);
    statement(x);
    now = sn::where(taken, then, now);
    statement(now);
    best = sn::minimum(best, now);
    statement(best);
  }
  return {x, best};
}

inline arrays swarm(int steps, std::int64_t n) {
  sn::random::generator g(411);
  ndarray x = uniform({n / 8, 8}, 412) * 4 - 2, v = sn::zeros_like(x), own = x, value = sn::sum(x * x, 1);
  statement(x, value);
  for (int k = 0; k < steps; ++k) {
    const ndarray lead = own(sn::argmin(value));
    statement(lead);
    v = 0.7f * v + g.random(x.shape(), {.dtype = sn::float32}) * (own - x) +
        g.random(x.shape(), {.dtype = sn::float32}) * (lead - x);
    statement(v);
    x = x + v;
    statement(x);
    const ndarray f = sn::sum(x * x, 1), better = f < value;
    statement(f, better);
    own = sn::where(better(_, newaxis), x, own);
    statement(own);
    value = sn::where(better, f, value);
    statement(value);
  }
  return {own, value};
}

inline arrays delayed(int steps, std::int64_t n) {  // a queue of the last eight
  std::vector<ndarray> last;
  ndarray x = uniform(n, 413), total = sn::zeros(n, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    x = sn::cos(x) + 0.1f;
    statement(x);
    last.push_back(x);
    total = total + x;
    statement(total);
    if (last.size() > 8) {
      total = total - last.front();
      statement(total);
      last.erase(last.begin());
    }
    x = 0.9f * x + 0.1f * total / float(last.size());
    statement(x);
  }
  return {x, total};
}

inline arrays adaptive_rates(int steps, std::int64_t n) {  // losses and all variables follow from residuals
  const ndarray a = uniform({n / 16, 16}, 414), y = uniform(n / 16, 415);
  ndarray w = sn::zeros(16, {.dtype = sn::float32}), squares = w.copy();
  arrays out;
  for (int k = 0; k < steps; ++k) {
    const ndarray r = sn::matmul(a, w) - y;
    statement(r);
    const ndarray g = sn::matmul(a.T(), r) / float(n / 16);
    statement(g);
    squares = squares + g * g;
    statement(squares);
    w = w - 0.1f * g / sn::sqrt(squares + 1e-6f);
    statement(w);
    out.push_back(sn::mean(sn::abs(r)));
    statement(out.back());
  }
  out.push_back(w);
  return out;
}

inline const program state_programs[] = {{"exchanged means", exchanged_means},
                                         {"growing tail", growing_tail},
                                         {"sorted each step", sorted_each_step},
                                         {"few of each step", few_of_each_step},
                                         {"two colours", two_colours},
                                         {"tempered", tempered},
                                         {"swarm", swarm},
                                         {"delayed", delayed},
                                         {"adaptive rates", adaptive_rates}};

}  // namespace sinter::test::loops
