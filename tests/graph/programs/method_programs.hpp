// Numerical methods as users write them: smoothers, grids of several levels, boosted trees, sampling; each with and without
// an evaluation of every statement.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graph/loop_programs.hpp"

namespace sinter::test::loops {

inline arrays kalman_smoother(int steps, std::int64_t n) {  // of local levels; back over all that was kept
  const std::int64_t width = n / 16 + 1;
  const ndarray seen = uniform({steps, width}, 201);
  ndarray mean = sn::zeros(width, {.dtype = sn::float32}), variance = mean + 1;
  statement(variance);
  std::vector<ndarray> means, variances;
  for (int k = 0; k < steps; ++k) {
    const ndarray expected = variance + 0.1f;
    statement(expected);
    const ndarray gain = expected / (expected + 0.5f);
    statement(gain);
    mean = mean + gain * (seen(k) - mean);
    statement(mean);
    variance = (1 - gain) * expected;
    statement(variance);
    means.push_back(mean);
    variances.push_back(variance);
  }
  ndarray total = sn::zeros(width, {.dtype = sn::float32});
  for (std::size_t k = means.size() - 1; k-- > 0;) {
    const ndarray gain = variances[k] / (variances[k] + 0.1f);
    statement(gain);
    mean = means[k] + gain * (mean - means[k]);
    statement(mean);
    variance = variances[k] + sn::square(gain) * (variance - variances[k] - 0.1f);
    statement(variance);
    total += mean / sn::sqrt(variance);
    statement(total);
  }
  return {mean, variance, total};
}

inline arrays empty_clusters(int steps,
                             std::int64_t n) {  // Lloyd's; a centre without points becomes the farthest point
  const std::int64_t points = n / 8 + 1;
  const ndarray x = uniform({points, 2}, 202);
  ndarray centres = x(slice(_, 8)) + 0, label;
  statement(centres);
  for (int k = 0; k < steps; ++k) {
    const ndarray away = sn::sum(sn::square(x(_, newaxis) - centres), 2);
    statement(away);
    label = sn::argmin(away, 1);
    statement(label);
    const ndarray member = label(_, newaxis) == sn::arange(8);
    statement(member);
    const ndarray count = sn::sum(member, 0);
    statement(count);
    const ndarray sums = sn::sum(sn::where(member(_, _, newaxis), x(_, newaxis), 0.f), 0);
    statement(sums);
    const ndarray farthest = sn::take(x, sn::argmax(sn::min(away, 1)), 0);
    statement(farthest);
    centres = sn::where(count(_, newaxis) > 0, sums / sn::maximum(count, 1)(_, newaxis), farthest).astype(sn::float32);
    statement(centres);
  }
  return {centres, label};
}

inline arrays alternating_directions(int steps, std::int64_t n) {  // implicit along rows, then along columns
  constexpr std::int64_t side = 8;
  ndarray u = uniform({side, side, n / 64 + 1}, 205);
  for (int k = 0; k < steps; ++k) {
    u = sn::swapaxes(u, 0, 1);
    std::vector<ndarray> upper, right;
    for (std::int64_t i = 0; i < side; ++i) {
      ndarray pivot = sn::full_like(u(i), 2.4f), rhs = 0.4f * u(i);
      if (i > 0) {
        pivot = 2.4f + upper.back();
        rhs = rhs + right.back();
      }
      statement(pivot, rhs);
      upper.push_back(-1 / pivot);
      statement(upper.back());
      right.push_back(rhs / pivot);
      statement(right.back());
    }
    std::vector<ndarray> solved(side);
    solved[side - 1] = right[side - 1];
    for (std::int64_t i = side - 1; i-- > 0;) {
      const auto at = static_cast<std::size_t>(i);
      solved[at] = right[at] - upper[at] * solved[at + 1];
      statement(solved[at]);
    }
    u = sn::stack(solved);
    statement(u);
  }
  return {u};
}

inline arrays pyramid(int steps, std::int64_t n) {  // levels of an image, their differences, and back with gains
  const auto side = std::max<std::int64_t>(2, std::int64_t(std::sqrt(double(n))) / 16) * 16;
  ndarray image = uniform({side, side}, 207);
  const auto smaller = [](const ndarray& x) {
    return 0.25f * (x["::2, ::2"] + x["1::2, ::2"] + x["::2, 1::2"] + x["1::2, 1::2"]);
  };
  const auto larger = [](const ndarray& x) { return sn::repeat(sn::repeat(x, 2, 0), 2, 1); };
  for (int k = 0; k < steps / 8 + 1; ++k) {
    std::vector<ndarray> details;
    ndarray level = image;
    for (int j = 0; j < 4; ++j) {
      const ndarray next = smaller(level);
      statement(next);
      details.push_back(level - larger(next));
      statement(details.back());
      level = next;
    }
    while (!details.empty()) {
      level = larger(level) + 0.95f * details.back();
      statement(level);
      details.pop_back();
    }
    image = level;
  }
  return {image};
}

inline arrays ewald(int steps, std::int64_t n) {  // the sum over waves, and forces of all wave vectors
  const std::int64_t particles = n / 32 + 1;
  ndarray x = uniform({3, particles}, 208), v = sn::zeros_like(x);
  const ndarray charge = sn::where(sn::arange(particles) % 2 == 0, 1.f, -1.f).astype(sn::float32);
  statement(charge);
  ndarray energy = sn::zeros(std::int64_t{1}, {.dtype = sn::float32});
  for (int k = 0; k < steps / 4 + 1; ++k) {
    ndarray force = sn::zeros_like(x);
    energy = sn::zeros(std::int64_t{1}, {.dtype = sn::float32});
    for (int w = 1; w <= 4; ++w) {
      const ndarray phase = 6.2831853f * float(w) * x;
      statement(phase);
      const ndarray c = charge * sn::cos(phase), s = charge * sn::sin(phase);
      statement(c, s);
      const ndarray real = sn::sum(c, 1, {.keepdims = true}), imaginary = sn::sum(s, 1, {.keepdims = true});
      statement(real, imaginary);
      const float weight = std::exp(-0.1f * float(w * w)) / float(w * w);
      energy = energy + weight * sn::sum(sn::square(real) + sn::square(imaginary));
      statement(energy);
      force = force + weight * float(w) * (s * real - c * imaginary);
      statement(force);
    }
    v = v + 1e-4f * force;
    statement(v);
    x = x + 0.1f * v;
    statement(x);
    x = x - sn::floor(x);
    statement(x);
  }
  return {x, energy};
}

inline arrays particle_filter(int steps, std::int64_t n) {  // weights, their effective number, and resampling
  const std::int64_t particles = n / 2 + 1;
  sn::random::generator g(209);
  ndarray x = uniform(particles, 210), weight = sn::full(particles, 1.f / float(particles), {.dtype = sn::float32});
  statement(weight);
  arrays kept;
  for (int k = 0; k < steps; ++k) {
    x = 0.9f * x + 0.1f * g.standard_normal(particles, {.dtype = sn::float32});
    statement(x);
    const ndarray miss = x - std::sin(0.1f * float(k));
    statement(miss);
    weight = weight * sn::exp(-2 * sn::square(miss));
    statement(weight);
    weight = weight / sn::sum(weight);
    statement(weight);
    kept.push_back(sn::sum(weight * x));
    statement(kept.back());
    kept.push_back(1 / sn::sum(sn::square(weight)));
    statement(kept.back());
    if (k % 5 != 4) continue;
    const ndarray at = sn::searchsorted(sn::cumsum(weight), uniform(particles, 211 + k));
    statement(at);
    x = sn::take(x, sn::minimum(at, particles - 1));
    statement(x);
    weight = sn::full(particles, 1.f / float(particles), {.dtype = sn::float32});
    statement(weight);
  }
  return {x, weight, kept.back()};
}

inline arrays hamiltonian(int steps, std::int64_t n) {  // Monte Carlo: many chains, four leaps, then acceptance
  sn::random::generator g(220);
  ndarray q = uniform({n / 8 + 1, 4}, 221), accepted = sn::zeros(n / 8 + 1, {.dtype = sn::int32});
  const auto slope = [](const ndarray& x) { return x + 0.3f * sn::sin(3 * x); };
  const auto energy = [](const ndarray& x, const ndarray& p) {
    return sn::sum(0.5f * sn::square(x) - 0.1f * sn::cos(3 * x) + 0.5f * sn::square(p), 1);
  };
  for (int k = 0; k < steps / 4 + 1; ++k) {
    const ndarray start = g.standard_normal({n / 8 + 1, 4}, {.dtype = sn::float32});
    statement(start);
    ndarray x = q, p = start;
    for (int leap = 0; leap < 4; ++leap) {
      p = p - 0.05f * slope(x);
      statement(p);
      x = x + 0.1f * p;
      statement(x);
      p = p - 0.05f * slope(x);
      statement(p);
    }
    const ndarray before = energy(q, start), after = energy(x, p);
    statement(before, after);
    const ndarray take = g.random(n / 8 + 1, {.dtype = sn::float32}) < sn::exp(before - after);
    statement(take);
    q = sn::where(take(_, newaxis), x, q);
    statement(q);
    accepted += take;
    statement(accepted);
  }
  return {q, accepted};
}

inline arrays factorised(int steps, std::int64_t n) {  // into factors without negative elements
  const auto side = std::max<std::int64_t>(8, std::int64_t(std::sqrt(double(n))));
  const ndarray v = uniform({side, side}, 223);
  ndarray w = uniform({side, 4}, 224), h = uniform({4, side}, 225);
  arrays errors;
  for (int k = 0; k < steps; ++k) {
    const ndarray wv = sn::matmul(w.T(), v), ww = sn::matmul(w.T(), w);
    statement(wv, ww);
    h = h * wv / (sn::matmul(ww, h) + 1e-6f);
    statement(h);
    w = w * sn::matmul(v, h.T()) / (sn::matmul(w, sn::matmul(h, h.T())) + 1e-6f);
    statement(w);
    errors.push_back(sn::sum(sn::square(v - sn::matmul(w, h))));
    statement(errors.back());
  }
  return {w, h, errors.back()};
}

inline arrays shock(int steps, std::int64_t n) {  // Burgers' equation by limited slopes
  ndarray u = sn::sin(6.2831853f * uniform(n, 226));
  statement(u);
  for (int k = 0; k < steps; ++k) {
    const ndarray ahead = sn::roll(u, -1) - u, behind = u - sn::roll(u, 1);
    statement(ahead, behind);
    const ndarray slope =
        sn::where(ahead * behind > 0, sn::where(sn::abs(ahead) < sn::abs(behind), ahead, behind), 0.f);
    statement(slope);
    const ndarray left = u + 0.5f * slope, right = sn::roll(u - 0.5f * slope, -1);
    statement(left, right);
    const ndarray speed = sn::maximum(sn::abs(left), sn::abs(right));
    statement(speed);
    const ndarray flux = 0.25f * (left * left + right * right) - 0.5f * speed * (right - left);
    statement(flux);
    u = u - 0.2f * (flux - sn::roll(flux, 1));
    statement(u);
  }
  return {u};
}

inline arrays exponentiated(int steps,
                            std::int64_t n) {  // a portfolio of rows by multiplied weights, and what it earns
  const std::int64_t days = n / 32 + 1;
  const ndarray returns = uniform({days, 32}, 227) - 0.48f;
  statement(returns);
  ndarray weight = sn::full(32, 1.f / 32, {.dtype = sn::float32}), earned;
  for (int k = 0; k < steps; ++k) {
    earned = sn::sum(returns * weight, 1);
    statement(earned);
    const ndarray mean = sn::mean(earned), spread = sn::std(earned);
    statement(mean, spread);
    const ndarray score = (earned - mean) / spread;
    statement(score);
    const ndarray slope = sn::mean(returns * (1 - 0.1f * score)(_, newaxis), 0);
    statement(slope);
    weight = weight * sn::exp(0.5f * slope);
    statement(weight);
    weight = weight / sn::sum(weight);
    statement(weight);
  }
  return {weight, earned};
}

inline arrays optical_flow(int steps, std::int64_t n) {  // Horn and Schunck's
  const auto side = std::max<std::int64_t>(8, std::int64_t(std::sqrt(double(n))));
  const ndarray first = uniform({side, side}, 228), then = sn::roll(first, 1, 1);
  statement(then);
  const ndarray ix = 0.5f * (sn::roll(first, -1, 1) - sn::roll(first, 1, 1)),
                iy = 0.5f * (sn::roll(first, -1, 0) - sn::roll(first, 1, 0)), it = then - first;
  statement(ix, iy, it);
  ndarray u = sn::zeros_like(first), v = sn::zeros_like(first);
  const auto smooth = [](const ndarray& x) {
    return 0.25f * (sn::roll(x, 1, 0) + sn::roll(x, -1, 0) + sn::roll(x, 1, 1) + sn::roll(x, -1, 1));
  };
  for (int k = 0; k < steps; ++k) {
    const ndarray mu = smooth(u), mv = smooth(v);
    statement(mu, mv);
    const ndarray t = (ix * mu + iy * mv + it) / (0.1f + ix * ix + iy * iy);
    statement(t);
    u = mu - ix * t;
    statement(u);
    v = mv - iy * t;
    statement(v);
  }
  return {u, v};
}

inline const program method_programs[] = {{"kalman smoother", kalman_smoother},
                                          {"empty clusters", empty_clusters},
                                          {"alternating directions", alternating_directions},
                                          {"pyramid", pyramid},
                                          {"ewald", ewald},
                                          {"particle filter", particle_filter},
                                          {"hamiltonian", hamiltonian},
                                          {"factorised", factorised},
                                          {"shock", shock},
                                          {"exponentiated", exponentiated},
                                          {"optical flow", optical_flow}};

}  // namespace sinter::test::loops
