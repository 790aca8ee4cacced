// Programs over fields, samples and labels as their textbooks write them: lattices, samplers, solvers, sweeps of minima
// and maxima; each with and without an evaluation of every statement.
#pragma once
#include <cstdint>

#include "graph/loop_programs.hpp"

namespace sinter::test::loops {

inline arrays lattice_gas(int steps, std::int64_t n) {  // lattice Boltzmann, three velocities
  ndarray f = uniform(n, 403) + 0.5f, g = uniform(n, 404) + 0.5f, h = uniform(n, 405) + 0.5f;
  statement(f, g, h);
  for (int k = 0; k < steps; ++k) {
    const ndarray mass = f + g + h, flow = (g - h) / mass;
    statement(mass, flow);
    const ndarray square = 1.5f * flow * flow;
    statement(square);
    f = f + 0.6f * (mass * 0.6666f * (1.0f - square) - f);
    statement(f);
    g = sn::roll(g + 0.6f * (mass * 0.1667f * (1.0f + 3.0f * flow + 3.0f * square - square) - g), 1);
    statement(g);
    h = sn::roll(h + 0.6f * (mass * 0.1667f * (1.0f - 3.0f * flow + 3.0f * square - square) - h), -1);
    statement(h);
  }
  return {f, g, h};
}

inline arrays robust_line(int steps, std::int64_t n) {  // reweighted least squares
  const ndarray x = uniform(n, 407), y = 2.0f * x + 0.3f * uniform(n, 408);
  statement(y);
  ndarray slope = sn::array({0.0f}), level = sn::array({0.0f});
  statement(slope, level);
  for (int k = 0; k < steps; ++k) {
    const ndarray residual = sn::abs(y - slope * x - level);
    statement(residual);
    const ndarray w = 1.0f / sn::maximum(residual, 0.01f);
    statement(w);
    const ndarray sw = sn::sum(w, 0, {.keepdims = true}), sx = sn::sum(w * x, 0, {.keepdims = true}),
                  sy = sn::sum(w * y, 0, {.keepdims = true});
    statement(sw, sx, sy);
    const ndarray sxx = sn::sum(w * x * x, 0, {.keepdims = true}), sxy = sn::sum(w * x * y, 0, {.keepdims = true});
    statement(sxx, sxy);
    slope = (sw * sxy - sx * sy) / (sw * sxx - sx * sx);
    statement(slope);
    level = (sy - slope * sx) / sw;
    statement(level);
  }
  return {slope, level};
}

inline arrays tempering(int steps, std::int64_t n) {  // the best so far, by masks
  sn::random::generator g(std::uint64_t{409});
  ndarray x = uniform(n, 410) * 6.0f - 3.0f;
  const auto cost = [](const ndarray& at) { return at * at + 2.0f * sn::sin(5.0f * at); };
  ndarray now = cost(x), best = x, least = now;
  statement(x, now);
  float heat = 2.0f;
  for (int k = 0; k < steps; ++k, heat *= 0.95f) {
    const ndarray other = x + 0.3f * (g.random(n, {.dtype = sn::float32}) - 0.5f);
    statement(other);
    const ndarray there = cost(other);
    statement(there);
    const ndarray taken = g.random(n, {.dtype = sn::float32}) < sn::exp((now - there) / heat);
    statement(taken);
    x = sn::where(taken, other, x);
    statement(x);
    now = sn::where(taken, there, now);
    statement(now);
    best = sn::where(now < least, x, best);
    statement(best);
    least = sn::minimum(now, least);
    statement(least);
  }
  return {best, least};
}

inline arrays escape_times(int steps, std::int64_t n) {  // a Julia set whose points stay where they left
  ndarray x = uniform(n, 411) * 3.0f - 1.5f, y = uniform(n, 412) * 2.0f - 1.0f, count = 0.0f * x;
  statement(x, y);
  statement(count);
  for (int k = 0; k < steps; ++k) {
    const ndarray inside = x * x + y * y < 4.0f;
    statement(inside);
    const ndarray u = x * x - y * y - 0.8f, v = 2.0f * x * y + 0.156f;
    statement(u, v);
    x = sn::where(inside, u, x);
    statement(x);
    y = sn::where(inside, v, y);
    statement(y);
    count = count + inside.astype(sn::float32);
    statement(count);
  }
  return {count};
}

inline arrays odd_even_sort(int steps, std::int64_t n) {  // neighbours in turn, by slices that are written
  ndarray x = uniform(2 * (n / 2), 413);
  for (int k = 0; k < steps; ++k) {
    const std::int64_t first = k % 2, last = x.size() - first;
    const ndarray low = sn::minimum(x(slice(first, last, 2)), x(slice(first + 1, last, 2)));
    const ndarray high = sn::maximum(x(slice(first, last, 2)), x(slice(first + 1, last, 2)));
    statement(low, high);
    x(slice(first, last, 2)) = low;
    statement(x);
    x(slice(first + 1, last, 2)) = high;
    statement(x);
  }
  return {x};
}

inline arrays value_iteration(int steps, std::int64_t n) {  // two actions, each with its successor and reward
  const ndarray left = sn::arange(n) * 7 % n, right = (sn::arange(n) * 3 + 1) % n;
  const ndarray a = uniform(n, 414), b = uniform(n, 415);
  statement(left, right);
  ndarray v = 0.0f * a;
  statement(v);
  arrays changes;
  for (int k = 0; k < steps; ++k) {
    const ndarray go = a + 0.9f * v(left), stay = b + 0.9f * v(right);
    statement(go, stay);
    const ndarray next = sn::maximum(go, stay);
    statement(next);
    changes.push_back(sn::max(sn::abs(next - v)));
    statement(changes.back());
    v = next;
  }
  changes.push_back(v);
  return changes;
}

inline arrays descent(int steps, std::int64_t n) {  // conjugate gradients of a chain of springs, by slices
  const ndarray b = uniform(n, 416);
  const auto times = [](const ndarray& p) {
    const ndarray zero = sn::zeros({1}, {.dtype = sn::float32});
    const ndarray wide = sn::concatenate({zero, p, zero});
    return 2.1f * p - wide(slice(2, _)) - wide(slice(_, -2));
  };
  ndarray x = 0.0f * b, r = b, p = b, rr = sn::sum(r * r);
  statement(x, rr);
  for (int k = 0; k < steps; ++k) {
    const ndarray q = times(p);
    statement(q);
    const ndarray alpha = rr / (sn::sum(p * q) + 1e-20f);
    statement(alpha);
    x = x + alpha * p;
    statement(x);
    r = r - alpha * q;
    statement(r);
    const ndarray now = sn::sum(r * r);
    statement(now);
    p = r + now / (rr + 1e-20f) * p;
    statement(p);
    rr = now;
  }
  return {x, rr};
}

inline arrays classes(int steps, std::int64_t n) {  // softmax regression of four classes on two features
  const std::int64_t rows = n / 4;
  const ndarray x = uniform({rows, 2}, 417), label = (uniform(rows, 418) * 4.0f).astype(sn::int32);
  const ndarray wanted = (label(_, newaxis) == sn::arange(4)).astype(sn::float32);
  statement(wanted);
  ndarray w = uniform({2, 4}, 419), b = uniform(4, 420);
  for (int k = 0; k < steps; ++k) {
    const ndarray score = x(_, slice(0, 1)) * w(0) + x(_, slice(1, 2)) * w(1) + b;
    statement(score);
    const ndarray e = sn::exp(score - sn::max(score, 1, {.keepdims = true}));
    statement(e);
    const ndarray off = e / sn::sum(e, 1, {.keepdims = true}) - wanted;
    statement(off);
    const ndarray gw = sn::sum(x(_, _, newaxis) * off(_, newaxis), 0) / float(rows), gb = sn::mean(off, 0);
    statement(gw, gb);
    w = w - 0.5f * gw;
    statement(w);
    b = b - 0.5f * gb;
    statement(b);
  }
  return {w, b};
}

inline arrays doubled_shifts(int steps, std::int64_t n) {  // sums of all before, by shifts of doubling length
  ndarray x = uniform(n, 421);
  for (int k = 0; k < steps; ++k) {
    const std::int64_t by = std::int64_t{1} << k % 8;
    const ndarray moved = sn::concatenate({sn::zeros({by}, {.dtype = sn::float32}), x(slice(_, -by))});
    statement(moved);
    x = 0.5f * (x + moved);
    statement(x);
  }
  return {x};
}

inline arrays messages(int steps, std::int64_t n) {  // beliefs of a chain of three states for each of many chains
  ndarray belief = uniform({n / 3, 3}, 422) + 0.1f;
  const ndarray move = sn::array({{0.8f, 0.1f, 0.1f}, {0.2f, 0.6f, 0.2f}, {0.1f, 0.3f, 0.6f}});
  const ndarray seen = uniform({3}, 423) + 0.2f;
  arrays evidence;
  for (int k = 0; k < steps; ++k) {
    const ndarray next = sn::sum(belief(_, _, newaxis) * move, 1);
    statement(next);
    const ndarray weighed = next * seen;
    statement(weighed);
    const ndarray all = sn::sum(weighed, 1, {.keepdims = true});
    statement(all);
    belief = weighed / all;
    statement(belief);
    if (k % 8 == 7) {
      evidence.push_back(sn::mean(sn::log(all)));
      statement(evidence.back());
    }
  }
  evidence.push_back(belief);
  return evidence;
}

inline const program field_programs[] = {{"lattice gas", lattice_gas},
                                         {"robust line", robust_line},
                                         {"tempering", tempering},
                                         {"escape times", escape_times},
                                         {"odd-even sort", odd_even_sort},
                                         {"value iteration", value_iteration},
                                         {"conjugate gradients of springs", descent},
                                         {"classes", classes},
                                         {"doubled shifts", doubled_shifts},
                                         {"messages", messages}};

}  // namespace sinter::test::loops
