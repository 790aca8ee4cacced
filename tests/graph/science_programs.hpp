// Simulations, filters and fits as users write them, in the form of loop_programs.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graph/loop_programs.hpp"

namespace sinter::test::loops {

inline arrays red_black(int steps, std::int64_t n) {
  const std::int64_t rows = n / 64 * 2 + 4;
  const ndarray f = uniform({rows, 32}, 31);
  ndarray u = sn::zeros({rows, 32}, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k)
    for (const int odd : {0, 1})
      for (const int row : {1, 2}) {
        const int first = 1 + (row + odd) % 2;
        const slice r(row, -1, 2), up(row - 1, -2, 2), down(row + 1, _, 2);
        const slice c(first, -1, 2), left(first - 1, -2, 2), right(first + 1, _, 2);
        u(r, c) = 0.25f * (u(up, c) + u(down, c) + u(r, left) + u(r, right) - f(r, c));
        statement(u);
      }
  return {u};
}

inline arrays kalman(int steps, std::int64_t n) {
  ndarray x = uniform(n, 32), v = sn::zeros(n, {.dtype = sn::float32});
  ndarray p00 = sn::ones(n, {.dtype = sn::float32}), p01 = sn::zeros(n, {.dtype = sn::float32}), p11 = p00.copy();
  const ndarray measured = uniform({8, n}, 33);
  for (int k = 0; k < steps; ++k) {
    x = x + 0.1f * v;
    statement(x);
    p00 = p00 + 0.2f * p01 + 0.01f * p11 + 0.001f;
    statement(p00);
    p01 = p01 + 0.1f * p11;
    statement(p01);
    p11 = p11 + 0.001f;
    statement(p11);
    const ndarray s = p00 + 0.05f, gain = p00 / s, gain_v = p01 / s, residual = measured(k % 8) - x;
    statement(gain, gain_v, residual);
    x = x + gain * residual;
    statement(x);
    v = v + gain_v * residual;
    statement(v);
    p11 = p11 - gain_v * p01;
    statement(p11);
    p01 = (1 - gain) * p01;
    statement(p01);
    p00 = (1 - gain) * p00;
    statement(p00);
  }
  return {x, v, p00, p01, p11};
}

inline arrays lattice_boltzmann(int steps, std::int64_t n) {
  constexpr int cx[] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  constexpr float w[] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
  const sn::shape_t shape{n / 64 + 3, 16};
  std::vector<ndarray> f;
  for (int i = 0; i < 9; ++i) f.push_back(w[i] * (1 + 0.1f * uniform({n / 64 + 3, 16}, 40 + i)));
  for (int k = 0; k < steps; ++k) {
    for (int i = 1; i < 9; ++i) {
      f[static_cast<std::size_t>(i)] = sn::roll(sn::roll(f[static_cast<std::size_t>(i)], cx[i], 0), cy[i], 1);
      statement(f[static_cast<std::size_t>(i)]);
    }
    ndarray rho = sn::zeros(shape, {.dtype = sn::float32}), ux = rho, uy = rho;
    for (int i = 0; i < 9; ++i) {
      const ndarray& fi = f[static_cast<std::size_t>(i)];
      rho = rho + fi;
      statement(rho);
      ux = ux + float(cx[i]) * fi;
      statement(ux);
      uy = uy + float(cy[i]) * fi;
      statement(uy);
    }
    ux = ux / rho;
    statement(ux);
    uy = uy / rho;
    statement(uy);
    const ndarray square = 1.5f * (ux * ux + uy * uy);
    statement(square);
    for (int i = 0; i < 9; ++i) {
      ndarray& fi = f[static_cast<std::size_t>(i)];
      const ndarray along = 3 * (float(cx[i]) * ux + float(cy[i]) * uy);
      statement(along);
      fi = fi + 0.6f * (w[i] * rho * (1 + along + 0.5f * along * along - square) - fi);
      statement(fi);
    }
  }
  return f;
}

inline arrays particles(int steps, std::int64_t n) {  // smoothed particle hydrodynamics, all pairs
  const auto count = std::max<std::int64_t>(8, std::int64_t(std::sqrt(double(n) / 2)));
  ndarray x = uniform(count, 50), y = uniform(count, 51), vx = sn::zeros(count, {.dtype = sn::float32}), vy = vx.copy();
  for (int k = 0; k < steps; ++k) {
    const ndarray dx = x(_, newaxis) - x, dy = y(_, newaxis) - y;
    statement(dx, dy);
    const ndarray r2 = dx * dx + dy * dy;
    statement(r2);
    const ndarray near = sn::maximum(0.1f - r2, 0.f);
    statement(near);
    const ndarray density = sn::sum(near * near * near, 1);
    statement(density);
    const ndarray pressure = 0.1f * (density - 0.001f);
    statement(pressure);
    const ndarray push = (pressure(_, newaxis) + pressure) * near * near / (density + 0.01f);
    statement(push);
    vx = 0.99f * vx + 0.01f * sn::sum(push * dx, 1);
    statement(vx);
    vy = 0.99f * vy + 0.01f * sn::sum(push * dy, 1);
    statement(vy);
    x = x + 0.01f * vx;
    statement(x);
    y = y + 0.01f * vy;
    statement(y);
  }
  return {x, y, vx, vy};
}

inline arrays chebyshev(int steps, std::int64_t n) {  // a filter by polynomials of the Laplacian
  ndarray before = uniform(n, 52);
  const auto apply = [](const ndarray& v) { return 0.5f * (sn::roll(v, 1) + sn::roll(v, -1)) - 0.1f * v; };
  ndarray now = apply(before), result = before + 0.5f * now;
  statement(now, result);
  for (int k = 2; k < steps + 2; ++k) {
    const ndarray next = 2 * apply(now) - before;
    statement(next);
    result += (1.f / float(k * k)) * next;
    statement(result);
    before = now;
    now = next;
  }
  return {result};
}

inline arrays mixture(int steps, std::int64_t n) {  // expectation and maximisation
  constexpr std::int64_t parts = 8;
  const ndarray x = 10 * uniform({n / parts + 2, 1}, 53);
  ndarray mean = 10 * uniform(parts, 54), var = sn::ones(parts, {.dtype = sn::float32}), weight = var / float(parts);
  statement(mean, weight);
  for (int k = 0; k < steps; ++k) {
    const ndarray d = x - mean;
    statement(d);
    const ndarray p = weight * sn::exp(-0.5f * d * d / var) / sn::sqrt(var);
    statement(p);
    const ndarray r = p / (sn::sum(p, 1, {.keepdims = true}) + 1e-20f);
    statement(r);
    const ndarray total = sn::sum(r, 0) + 1e-6f;
    statement(total);
    mean = sn::sum(r * x, 0) / total;
    statement(mean);
    const ndarray e = x - mean;
    statement(e);
    var = sn::sum(r * e * e, 0) / total + 1e-3f;
    statement(var);
    weight = total / float(x.size());
    statement(weight);
  }
  return {mean, var, weight};
}

inline arrays pagerank(int steps, std::int64_t n) {
  const auto side = std::max<std::int64_t>(4, std::int64_t(std::sqrt(double(n))));
  ndarray links = sn::astype(uniform({side, side}, 55) > 0.8f, sn::float32);
  links = links / (sn::sum(links, 0) + 1);
  sn::eval(links);
  ndarray rank = sn::full(side, 1.f / float(side), {.dtype = sn::float32}), change = rank;
  for (int k = 0; k < steps; ++k) {
    const ndarray flow = sn::sum(links * rank, 1);
    statement(flow);
    const ndarray next = 0.85f * flow + (1 - 0.85f * sn::sum(flow)) / float(side);
    statement(next);
    change = sn::sum(sn::abs(next - rank));
    statement(change);
    rank = next;
  }
  return {rank, change};
}

inline arrays gated_cell(int steps, std::int64_t n) {  // an LSTM with diagonal weights, over a sequence
  const ndarray input = uniform({12, n}, 56), wi = uniform(n, 57), wf = uniform(n, 58), wo = uniform(n, 59);
  ndarray h = sn::zeros(n, {.dtype = sn::float32}), c = h.copy();
  const auto sigmoid = [](const ndarray& v) { return 1 / (1 + sn::exp(-v)); };
  for (int k = 0; k < steps; ++k) {
    const ndarray x = input(k % 12);
    const ndarray i = sigmoid(x + wi * h), f = sigmoid(wf * h - x), o = sigmoid(wo * x + h);
    statement(i, f, o);
    const ndarray g = sn::tanh(x - wi * h);
    statement(g);
    c = f * c + i * g;
    statement(c);
    h = o * sn::tanh(c);
    statement(h);
  }
  return {h, c};
}

inline arrays ising(int steps, std::int64_t n) {
  sn::random::generator g(60);
  const std::int64_t rows = n / 64 * 2 + 4;
  ndarray s = sn::where(uniform({rows, 32}, 61) < 0.5f, sn::astype(sn::ones({rows, 32}), sn::int8), -1);
  statement(s);
  const ndarray i = sn::arange(rows), j = sn::arange(32), black = (i(_, newaxis) + j) % 2 == 0;
  statement(black);
  for (int k = 0; k < steps; ++k)
    for (const bool even : {true, false}) {
      const ndarray around = sn::roll(s, 1, 0) + sn::roll(s, -1, 0) + sn::roll(s, 1, 1) + sn::roll(s, -1, 1);
      statement(around);
      const ndarray gain = sn::astype(2 * s * around, sn::float32);
      statement(gain);
      const ndarray flip = (g.random({rows, 32}, {.dtype = sn::float32}) < sn::exp(-0.44f * gain)) & (black == even);
      statement(flip);
      s = sn::where(flip, -s, s);
      statement(s);
    }
  return {s};
}

inline arrays dense_output(int steps, std::int64_t n) {  // Runge-Kutta; every state is kept
  ndarray x = uniform(n, 62), y = uniform(n, 63);
  arrays kept;
  const auto slope = [](const ndarray& a, const ndarray& b) { return (1 - a * a) * b - a; };
  for (int k = 0; k < steps; ++k) {
    const ndarray k1 = y, l1 = slope(x, y);
    statement(l1);
    const ndarray k2 = y + 0.05f * l1, l2 = slope(x + 0.05f * k1, k2);
    statement(k2, l2);
    const ndarray k3 = y + 0.05f * l2, l3 = slope(x + 0.05f * k2, k3);
    statement(k3, l3);
    const ndarray k4 = y + 0.1f * l3, l4 = slope(x + 0.1f * k3, k4);
    statement(k4, l4);
    const ndarray xn = x + (0.1f / 6) * (k1 + 2 * k2 + 2 * k3 + k4), yn = y + (0.1f / 6) * (l1 + 2 * l2 + 2 * l3 + l4);
    statement(xn, yn);
    kept.push_back(0.5f * (x + xn) + 0.0125f * (k1 - k4));
    statement(kept.back());
    x = xn;
    y = yn;
  }
  kept.push_back(x);
  return kept;
}

inline arrays clusters(int steps, std::int64_t n) {  // Lloyd's
  constexpr std::int64_t parts = 8;
  const ndarray x = uniform(n / parts + 2, 64), y = uniform(n / parts + 2, 65), number = sn::arange(parts);
  ndarray cx = uniform(parts, 66), cy = uniform(parts, 67), nearest;
  for (int k = 0; k < steps; ++k) {
    const ndarray d = sn::square(x(_, newaxis) - cx) + sn::square(y(_, newaxis) - cy);
    statement(d);
    nearest = sn::argmin(d, 1);
    statement(nearest);
    const ndarray mine = sn::astype(nearest(_, newaxis) == number, sn::float32);
    statement(mine);
    const ndarray count = sn::sum(mine, 0) + 1e-3f;
    statement(count);
    cx = sn::sum(mine * x(_, newaxis), 0) / count;
    statement(cx);
    cy = sn::sum(mine * y(_, newaxis), 0) / count;
    statement(cy);
  }
  return {cx, cy, nearest};
}

inline arrays conjugate_gradients(int steps, std::int64_t n) {
  ndarray r = uniform({n / 40 + 4, 40}, 68), p = r, x = sn::zeros({n / 40 + 4, 40}, {.dtype = sn::float32});
  ndarray rr = sn::sum(r * r);
  statement(x, rr);
  for (int k = 0; k < steps; ++k) {
    const ndarray ap = 4.1f * p - sn::roll(p, 1, 0) - sn::roll(p, -1, 0) - sn::roll(p, 1, 1) - sn::roll(p, -1, 1);
    statement(ap);
    const ndarray alpha = rr / (sn::sum(p * ap) + 1e-12f);
    statement(alpha);
    x = x + alpha * p;
    statement(x);
    r = r - alpha * ap;
    statement(r);
    const ndarray next = sn::sum(r * r);
    statement(next);
    p = r + next / (rr + 1e-12f) * p;
    statement(p);
    rr = next;
  }
  return {x, rr};
}

inline arrays waves(int steps, std::int64_t n) {  // Maxwell's equations on a staggered grid, written in place
  const std::int64_t rows = n / 40 + 4;
  ndarray ez = uniform({rows, 40}, 69), hx = sn::zeros({rows, 39}, {.dtype = sn::float32});
  ndarray hy = sn::zeros({rows - 1, 40}, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    hx -= 0.5f * (ez(_, slice(1, _)) - ez(_, slice(_, -1)));
    statement(hx);
    hy += 0.5f * (ez(slice(1, _)) - ez(slice(_, -1)));
    statement(hy);
    ez(slice(1, -1), slice(1, -1)) += 0.5f * (hy(slice(1, _), slice(1, -1)) - hy(slice(_, -1), slice(1, -1)) -
                                              hx(slice(1, -1), slice(1, _)) + hx(slice(1, -1), slice(_, -1)));
    statement(ez);
    ez(rows / 2, 20) = float(std::sin(0.1 * k));
    statement(ez);
  }
  return {ez, hx, hy};
}

inline arrays edge_diffusion(int steps, std::int64_t n) {  // Perona and Malik's
  ndarray u = uniform({n / 40 + 4, 40}, 70);
  for (int k = 0; k < steps; ++k) {
    ndarray change = sn::zeros(u.shape(), {.dtype = sn::float32});
    for (const int axis : {0, 1})
      for (const int by : {1, -1}) {
        const ndarray d = sn::roll(u, by, axis) - u;
        statement(d);
        change += sn::exp(-d * d * 25) * d;
        statement(change);
      }
    u = u + 0.2f * change;
    statement(u);
  }
  return {u};
}

inline arrays metropolis(int steps, std::int64_t n) {
  sn::random::generator g(71);
  ndarray x = sn::zeros(n, {.dtype = sn::float32}), sum = x.copy(), squares = x.copy();
  ndarray accepted = sn::zeros(n, {.dtype = sn::int32});
  for (int k = 0; k < steps; ++k) {
    const ndarray proposed = x + g.standard_normal(n, {.dtype = sn::float32});
    statement(proposed);
    const ndarray accept = g.random(n, {.dtype = sn::float32}) < sn::exp(0.5f * (x * x - proposed * proposed));
    statement(accept);
    x = sn::where(accept, proposed, x);
    statement(x);
    accepted += accept;
    statement(accepted);
    sum += x;
    statement(sum);
    squares += x * x;
    statement(squares);
  }
  return {sum, squares, accepted};
}

inline arrays logistic_fit(int steps, std::int64_t n) {
  const ndarray x = uniform({n / 16 + 2, 16}, 72);
  const ndarray label = sn::astype(sn::sum(x, 1) > 8, sn::float32);
  ndarray w = sn::zeros(16, {.dtype = sn::float32}), b = sn::zeros(1, {.dtype = sn::float32}), loss;
  statement(label);
  for (int k = 0; k < steps; ++k) {
    const ndarray p = 1 / (1 + sn::exp(-(sn::sum(x * w, 1) + b)));
    statement(p);
    const ndarray error = p - label;
    statement(error);
    loss = sn::mean(error * error);
    statement(loss);
    w = w - 0.5f * sn::mean(error(_, newaxis) * x, 0);
    statement(w);
    b = b - 0.5f * sn::mean(error, {.keepdims = true});
    statement(b);
  }
  return {w, b, loss};
}

inline arrays gray_scott(int steps, std::int64_t n) {
  ndarray u = 1 - 0.1f * uniform({n / 40 + 4, 40}, 73), v = 0.3f * uniform({n / 40 + 4, 40}, 74);
  statement(u, v);
  const auto laplacian = [](const ndarray& a) {
    return sn::roll(a, 1, 0) + sn::roll(a, -1, 0) + sn::roll(a, 1, 1) + sn::roll(a, -1, 1) - 4 * a;
  };
  for (int k = 0; k < steps; ++k) {
    const ndarray lu = laplacian(u), lv = laplacian(v);
    statement(lu, lv);
    const ndarray uvv = u * v * v;
    statement(uvv);
    u = u + 0.16f * lu - uvv + 0.035f * (1 - u);
    statement(u);
    v = v + 0.08f * lv + uvv - 0.1f * v;
    statement(v);
  }
  return {u, v};
}

inline arrays window(int steps, std::int64_t n) {  // the mean and the range of the last states
  ndarray x = uniform(n, 75), mean, range;
  std::vector<ndarray> last(5, x);
  for (int k = 0; k < steps; ++k) {
    x = sn::sin(2 * x + 0.3f);
    statement(x);
    last.erase(last.begin());
    last.push_back(x);
    ndarray low = last[0], high = last[0];
    mean = last[0];
    for (std::size_t j = 1; j < last.size(); ++j) {
      mean = mean + last[j];
      statement(mean);
      low = sn::minimum(low, last[j]);
      statement(low);
      high = sn::maximum(high, last[j]);
      statement(high);
    }
    range = high - low;
    statement(range);
  }
  return {mean, range};
}

inline arrays viterbi(int steps, std::int64_t n) {
  constexpr std::int64_t states = 8;
  const std::int64_t batch = n / 64 + 2;
  const ndarray step = uniform({states, states}, 76), seen = uniform({6, batch, states}, 77);
  ndarray score = uniform({batch, states}, 78);
  arrays from;
  for (int k = 0; k < steps; ++k) {
    const ndarray all = score(_, _, newaxis) + step;
    statement(all);
    from.push_back(sn::argmax(all, 1));
    statement(from.back());
    score = sn::max(all, 1) + seen(k % 6);
    statement(score);
  }
  from.push_back(score);
  return from;
}

inline arrays deconvolution(int steps, std::int64_t n) {  // Richardson and Lucy's
  const auto blur = [](const ndarray& a) { return 0.5f * a + 0.25f * (sn::roll(a, 1) + sn::roll(a, -1)); };
  const ndarray seen = uniform(n, 79) + 0.1f;
  statement(seen);
  ndarray u = sn::ones(n, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    const ndarray ratio = seen / blur(u);
    statement(ratio);
    u = u * blur(ratio);
    statement(u);
  }
  return {u};
}

inline arrays annealing(int steps, std::int64_t n) {  // reads the best value now and then
  ndarray x = 4 * uniform(n, 80) - 2, best = x, lowest = sn::abs(x);
  statement(x, lowest);
  float heat = 1;
  for (int k = 0; k < steps; ++k) {
    const ndarray moved = x + heat * sn::sin(37 * x + float(k));
    statement(moved);
    const ndarray energy = sn::abs(moved * moved - 2);
    statement(energy);
    const ndarray better = energy < lowest;
    statement(better);
    best = sn::where(better, moved, best);
    statement(best);
    lowest = sn::minimum(lowest, energy);
    statement(lowest);
    x = sn::where(better, moved, x);
    statement(x);
    heat *= 0.95f;
    if (k % 10 == 9 && float(sn::min(lowest)) < 0) break;
  }
  return {best, lowest};
}

inline arrays membrane(int steps, std::int64_t n) {  // the wave equation by position and velocity
  ndarray u = uniform({n / 40 + 4, 40}, 81), v = sn::zeros({n / 40 + 4, 40}, {.dtype = sn::float32});
  statement(v);
  for (int k = 0; k < steps; ++k) {
    const ndarray lap = sn::roll(u, 1, 0) + sn::roll(u, -1, 0) + sn::roll(u, 1, 1) + sn::roll(u, -1, 1) - 4 * u;
    v = v + 0.1f * lap;
    u = u + v;
    statement(v, u);
  }
  return {sn::sum(u * u)};
}

inline const program science[] = {{"membrane", membrane},
                                  {"red-black", red_black},
                                  {"kalman", kalman},
                                  {"lattice Boltzmann", lattice_boltzmann},
                                  {"particles", particles},
                                  {"chebyshev", chebyshev},
                                  {"mixture", mixture},
                                  {"pagerank", pagerank},
                                  {"gated cell", gated_cell},
                                  {"ising", ising},
                                  {"dense output", dense_output},
                                  {"clusters", clusters},
                                  {"conjugate gradients", conjugate_gradients},
                                  {"waves", waves},
                                  {"edge diffusion", edge_diffusion},
                                  {"metropolis", metropolis},
                                  {"logistic fit", logistic_fit},
                                  {"gray-scott", gray_scott},
                                  {"window", window},
                                  {"viterbi", viterbi},
                                  {"deconvolution", deconvolution},
                                  {"annealing", annealing}};

}  // namespace sinter::test::loops
