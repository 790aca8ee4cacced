// Models, images and samples as users write them: shared costly parts, reductions that are broadcast back, values that are
// read early or late, mixed dtypes; each with and without an evaluation of every statement.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

#include "graph/loop_programs.hpp"

namespace sinter::test::loops {

inline ndarray normal(const sn::random::draw_size& size, int seed) {
  sn::random::generator g(static_cast<std::uint64_t>(seed));
  ndarray x = g.standard_normal(size, {.dtype = sn::float32});
  sn::eval(x);
  return x;
}

inline arrays softmax_regression(int steps, std::int64_t n) {
  constexpr std::int64_t features = 8, classes = 5;
  const std::int64_t samples = n / features + 2;
  const ndarray x = normal({samples, features}, 130), label = sn::arange(samples) % classes;
  const ndarray onehot = (label(_, newaxis) == sn::arange(classes)).astype(sn::float32);
  ndarray w = sn::zeros({features, classes}, {.dtype = sn::float32}), b = sn::zeros(classes, {.dtype = sn::float32}),
          loss;
  statement(onehot);
  for (int k = 0; k < steps; ++k) {
    const ndarray z = sn::matmul(x, w) + b;
    statement(z);
    const ndarray e = sn::exp(z - sn::max(z, 1, {.keepdims = true}));
    statement(e);
    const ndarray p = e / sn::sum(e, 1, {.keepdims = true});
    statement(p);
    loss = -sn::mean(sn::log(sn::sum(p * onehot, 1)));
    statement(loss);
    const ndarray d = (p - onehot) / float(samples);
    statement(d);
    w = w - 0.5f * sn::matmul(x.T(), d);
    statement(w);
    b = b - 0.5f * sn::sum(d, 0);
    statement(b);
  }
  return {w, b, loss};
}

inline arrays softmax_by_sums(int steps, std::int64_t n) {  // the same without products of matrices
  constexpr std::int64_t features = 6, classes = 10;
  const std::int64_t samples = n / classes + 2;
  const ndarray x = normal({samples, features}, 131);
  const ndarray onehot = ((sn::arange(samples) % classes)(_, newaxis) == sn::arange(classes)).astype(sn::float32);
  ndarray w = sn::zeros({features, classes}, {.dtype = sn::float32}), loss;
  statement(onehot);
  for (int k = 0; k < steps; ++k) {
    const ndarray z = sn::sum(x(_, _, newaxis) * w, 1);
    statement(z);
    const ndarray e = sn::exp(z - sn::max(z, 1, {.keepdims = true}));
    statement(e);
    const ndarray p = e / sn::sum(e, 1, {.keepdims = true});
    statement(p);
    loss = -sn::mean(sn::sum(onehot * sn::log(p + 1e-9f), 1));
    statement(loss);
    const ndarray d = p - onehot;
    statement(d);
    w = w - 0.5f * sn::mean(x(_, _, newaxis) * d(_, newaxis, _), 0);
    statement(w);
  }
  return {w, loss};
}

inline arrays batch_norms(int steps, std::int64_t n) {  // layers forwards, then backwards over what was kept
  const std::int64_t rows = n / 16 + 2;
  ndarray x = normal({rows, 16}, 132);
  const ndarray gain = uniform(16, 133) + 0.5f, shift = uniform(16, 134) - 0.5f;
  statement(gain, shift);
  std::vector<ndarray> kept, scale;
  const int layers = std::min(steps, 12);
  for (int k = 0; k < layers; ++k) {
    const ndarray mean = sn::mean(x, 0), var = sn::var(x, 0);
    statement(mean, var);
    const ndarray inv = 1 / sn::sqrt(var + 1e-5f);
    statement(inv);
    const ndarray hat = (x - mean) * inv;
    statement(hat);
    kept.push_back(hat);
    scale.push_back(inv);
    x = sn::maximum(gain * hat + shift, 0.f) + 0.1f * x;
    statement(x);
  }
  ndarray g = x / float(rows), dgain = sn::zeros(16, {.dtype = sn::float32}), dshift = dgain.copy();
  statement(g);
  for (int k = layers; k-- > 0;) {
    const ndarray hat = kept[std::size_t(k)];
    const ndarray through = sn::where(gain * hat + shift > 0, g, 0.f);
    statement(through);
    dgain += sn::sum(through * hat, 0);
    statement(dgain);
    dshift += sn::sum(through, 0);
    statement(dshift);
    const ndarray dh = through * gain;
    statement(dh);
    g = 0.1f * g + scale[std::size_t(k)] * (dh - sn::mean(dh, 0) - hat * sn::mean(dh * hat, 0));
    statement(g);
  }
  return {g, dgain, dshift};
}

inline arrays attention(int steps, std::int64_t n) {
  const std::int64_t length = std::max<std::int64_t>(4, std::int64_t(std::sqrt(double(n) / 4)));
  ndarray q = normal({length, 4}, 135);
  for (int k = 0; k < steps; ++k) {
    const ndarray score = 0.5f * sn::sum(q(_, newaxis, _) * q, -1);
    statement(score);
    const ndarray e = sn::exp(score - sn::max(score, 1, {.keepdims = true}));
    statement(e);
    const ndarray p = e / sn::sum(e, 1, {.keepdims = true});
    statement(p);
    const ndarray mixed = sn::sum(p(_, _, newaxis) * q, 1);
    statement(mixed);
    q = q + 0.5f * mixed;
    statement(q);
    q = q / sn::sqrt(sn::mean(q * q, 1, {.keepdims = true}) + 1e-5f);
    statement(q);
  }
  return {q};
}

inline arrays standardised(int steps, std::int64_t n) {  // correlations of columns, whitened by deflation
  const std::int64_t rows = n / 12 + 2;
  ndarray x = normal({rows, 12}, 136) + 3;
  statement(x);
  arrays found;
  for (int k = 0; k < std::min(steps, 12); ++k) {
    const ndarray centred = x - sn::mean(x, 0);
    statement(centred);
    const ndarray z = centred / (sn::std(centred, 0) + 1e-3f);
    statement(z);
    const ndarray lead = z(_, k % 12);
    const ndarray corr = sn::mean(z * lead(_, newaxis), 0);
    statement(corr);
    found.push_back(corr);
    x = z - 0.5f * lead(_, newaxis) * corr;
    statement(x);
  }
  return found;
}

inline arrays gram_schmidt(int steps, std::int64_t n) {
  std::vector<ndarray> basis;
  const int count = std::min(steps, 14);
  for (int k = 0; k < count; ++k) {
    ndarray v = normal(n, 140 + k);
    for (const ndarray& b : basis) {
      const ndarray dot = sn::sum(v * b);
      statement(dot);
      v = v - dot * b;
      statement(v);
    }
    v = v / sn::sqrt(sn::sum(v * v));
    statement(v);
    basis.push_back(v);
  }
  return {basis.back(), basis[basis.size() / 2]};
}

inline arrays antithetic(int steps, std::int64_t n) {  // two paths of one draw, and a control
  sn::random::generator g(155);
  ndarray up = sn::ones(n, {.dtype = sn::float32}), down = up.copy(), control = sn::zeros(n, {.dtype = sn::float32});
  arrays means;
  for (int k = 0; k < steps; ++k) {
    const ndarray z = g.standard_normal(n, {.dtype = sn::float32});
    statement(z);
    up *= sn::exp(0.1f * z - 0.005f);
    statement(up);
    down *= sn::exp(-0.1f * z - 0.005f);
    statement(down);
    control += z;
    statement(control);
    if (k % 5 == 4) {
      means.push_back(sn::mean(0.5f * (sn::maximum(up - 1, 0.f) + sn::maximum(down - 1, 0.f))));
      statement(means.back());
    }
  }
  means.push_back(sn::mean(control * up));
  return means;
}

inline arrays bootstrap(int steps, std::int64_t n) {
  sn::random::generator g(156);
  const ndarray x = uniform(n, 157), y = x * x + 0.1f * uniform(n, 158);
  statement(y);
  arrays all;
  for (int k = 0; k < steps; ++k) {
    const ndarray pick = g.integers(0, n, n);
    statement(pick);
    const ndarray a = sn::take(x, pick), b = sn::take(y, pick);
    statement(a, b);
    const ndarray da = a - sn::mean(a), db = b - sn::mean(b);
    statement(da, db);
    all.push_back(sn::sum(da * db) / sn::sum(da * da));
    statement(all.back());
  }
  return {sn::stack(all)};
}

inline arrays hidden_states(int steps, std::int64_t n) {  // forwards in logarithms, all states kept, then backwards
  constexpr std::int64_t states = 6;
  const std::int64_t batch = n / 36 + 2;
  const ndarray change = sn::log(uniform({states, states}, 159) + 0.1f), seen = uniform({8, batch, states}, 160);
  statement(change);
  std::vector<ndarray> alpha{seen(0)};
  for (int k = 1; k <= steps; ++k) {
    const ndarray a = alpha.back()(_, _, newaxis) + change;
    statement(a);
    const ndarray m = sn::max(a, 1);
    statement(m);
    alpha.push_back(m + sn::log(sn::sum(sn::exp(a - m(_, newaxis, _)), 1)) + seen(k % 8));
    statement(alpha.back());
  }
  ndarray total = sn::zeros(states, {.dtype = sn::float32});
  for (const ndarray& a : alpha) {
    total += sn::mean(sn::exp(a - sn::max(a, 1, {.keepdims = true})), 0);
    statement(total);
  }
  return {total, alpha.back()};
}

inline arrays sinkhorn(int steps, std::int64_t n) {
  const auto side = std::max<std::int64_t>(4, std::int64_t(std::sqrt(double(n))));
  const ndarray x = uniform(side, 161), y = uniform(side, 162);
  const ndarray kernel = sn::exp(-10 * sn::square(x(_, newaxis) - y));
  statement(kernel);
  ndarray u = sn::ones(side, {.dtype = sn::float32}), v = u.copy();
  for (int k = 0; k < steps; ++k) {
    u = 1 / sn::sum(kernel * v, 1);
    statement(u);
    v = 1 / sn::sum(kernel * u(_, newaxis), 0);
    statement(v);
  }
  const ndarray plan = u(_, newaxis) * kernel * v;
  statement(plan);
  return {sn::sum(plan, 0), sn::sum(plan * sn::abs(x(_, newaxis) - y))};
}

inline arrays shared_parts_of_terms(int steps, std::int64_t n) {  // costly, read by sums and by arrays of its size
  ndarray x = uniform(n, 163), total = sn::zeros(1, {.dtype = sn::float32}), last;
  for (int k = 0; k < steps; ++k) {
    const ndarray e = sn::exp(-x * x);
    statement(e);
    total = total + sn::sum(e) + sn::max(e);
    statement(total);
    last = e * sn::sqrt(x + 1);
    statement(last);
    x = 0.5f * (x + e);
    statement(x);
  }
  return {x, total, last};
}

inline arrays images(int steps, std::int64_t n) {  // bytes to numbers and back
  ndarray picture = (uniform({n / 120 + 2, 40, 3}, 164) * 255).astype(sn::uint8);
  statement(picture);
  for (int k = 0; k < steps; ++k) {
    const ndarray linear = sn::power(picture.astype(sn::float32) / 255, 2.2f);
    statement(linear);
    const ndarray grey = 0.2f * linear(_, _, 0) + 0.7f * linear(_, _, 1) + 0.1f * linear(_, _, 2);
    statement(grey);
    const ndarray mixed = 0.9f * linear + 0.1f * grey(_, _, newaxis);
    statement(mixed);
    const ndarray stretched = mixed / sn::maximum(sn::max(mixed), 1e-3f);
    statement(stretched);
    picture = sn::clip(sn::power(stretched, 1 / 2.2f) * 255 + 0.5f, 0.f, 255.f).astype(sn::uint8);
    statement(picture);
  }
  return {picture};
}

inline arrays box_filters(int steps, std::int64_t n) {  // a guided filter by sums of shifts
  const std::int64_t rows = n / 50 + 6;
  ndarray guide = uniform({rows, 50}, 165), p = uniform({rows, 50}, 166);
  const auto box = [](const ndarray& a) {
    const ndarray across = (a + sn::roll(a, 1, 1) + sn::roll(a, -1, 1)) / 3;
    statement(across);
    const ndarray both = (across + sn::roll(across, 1, 0) + sn::roll(across, -1, 0)) / 3;
    statement(both);
    return both;
  };
  for (int k = 0; k < steps; ++k) {
    const ndarray mi = box(guide), mp = box(p), ii = box(guide * guide), ip = box(guide * p);
    const ndarray a = (ip - mi * mp) / (ii - mi * mi + 0.01f);
    statement(a);
    const ndarray b = mp - a * mi;
    statement(b);
    p = box(a) * guide + box(b);
    statement(p);
    guide = 0.9f * guide + 0.1f * p;
    statement(guide);
  }
  return {p};
}

inline arrays julia(int steps, std::int64_t n) {
  ndarray z = (2 * uniform(n / 2 + 1, 167) - 1) + std::complex<float>(0, 1) * (2 * uniform(n / 2 + 1, 168) - 1);
  ndarray left = sn::zeros(n / 2 + 1, {.dtype = sn::uint16});
  statement(z);
  for (int k = 0; k < steps; ++k) {
    const ndarray inside = sn::abs(z) < 2;
    statement(inside);
    z = sn::where(inside, z * z + std::complex<float>(-0.4f, 0.6f), z);
    statement(z);
    left += inside;
    statement(left);
  }
  return {left, sn::abs(z)};
}

inline arrays many_terms(int steps, std::int64_t n) {  // a sum of more arrays than a kernel reads
  std::vector<ndarray> parts;
  for (int k = 0; k < 40; ++k) parts.push_back(uniform(n / 8 + 1, 170 + k));
  ndarray weight = sn::ones(40, {.dtype = sn::float32}), x;
  for (int k = 0; k < std::min(steps, 12); ++k) {
    x = sn::zeros(n / 8 + 1, {.dtype = sn::float32});
    for (std::size_t j = 0; j < parts.size(); ++j) {
      x = x + weight(std::int64_t(j)) * parts[j];
      statement(x);
    }
    std::vector<ndarray> dots;
    for (const ndarray& p : parts) {
      dots.push_back(sn::mean(p * x));
      statement(dots.back());
    }
    weight = sn::stack(dots);
    weight = weight / sn::sum(weight);
    statement(weight);
  }
  return {x, weight};
}

inline arrays horner(int steps, std::int64_t n) {  // a constant of its own each step, and the derivative
  const ndarray x = 2 * uniform(n, 211) - 1;
  statement(x);
  ndarray p = sn::zeros(n, {.dtype = sn::float32}), dp = p.copy();
  for (int k = 0; k < steps; ++k) {
    dp = dp * x + p;
    statement(dp);
    p = p * x + float(1.0 / (k + 1));
    statement(p);
  }
  return {p, dp};
}

inline arrays options(int steps, std::int64_t n) {  // prices and what they depend on, all from the same parts
  ndarray spot = uniform(n, 212) + 0.5f, price, delta, gamma, vega;
  const ndarray vol = 0.1f + 0.3f * uniform(n, 213);
  statement(spot, vol);
  for (int k = 0; k < steps; ++k) {
    const float time = 1.f + 0.01f * float(k);
    const ndarray width = vol * std::sqrt(time);
    statement(width);
    const ndarray d1 = sn::log(spot) / width + 0.5f * width;
    statement(d1);
    const ndarray density = sn::exp(-0.5f * d1 * d1) * float(std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    statement(density);
    delta = 1 / (1 + sn::exp(-1.702f * d1));
    statement(delta);
    price = spot * delta - 1 / (1 + sn::exp(-1.702f * (d1 - width)));
    statement(price);
    gamma = density / (spot * width);
    statement(gamma);
    vega = spot * density * std::sqrt(time);
    statement(vega);
    spot = spot + 0.01f * price;
    statement(spot);
  }
  return {price, delta, gamma, vega};
}

inline arrays embedded_pairs(int steps, std::int64_t n) {  // Runge-Kutta of five slopes with an error, read each step
  ndarray x = uniform(n, 214), v = uniform(n, 215);
  float h = 0.05f;
  for (int k = 0; k < steps; ++k) {
    const auto slope = [](const ndarray& a, const ndarray& b) { return -sn::sin(a) - 0.1f * b; };
    std::vector<ndarray> kx{v}, kv{slope(x, v)};
    statement(kv[0]);
    for (const float c : {0.25f, 0.375f, 0.5f, 1.f}) {
      const ndarray xs = x + c * h * kx.back(), vs = v + c * h * kv.back();
      statement(xs, vs);
      kx.push_back(vs);
      kv.push_back(slope(xs, vs));
      statement(kv.back());
    }
    const ndarray error = sn::abs(h * (kx[0] - 2 * kx[2] + kx[4]));
    statement(error);
    const float worst = float(sn::max(error));
    const ndarray xn = x + h / 6 * (kx[0] + 4 * kx[3] + kx[4]);
    statement(xn);
    v = v + h / 6 * (kv[0] + 4 * kv[3] + kv[4]);
    statement(v);
    x = xn;
    h = worst > 0.01f ? 0.04f : 0.05f;
  }
  return {x, v};
}

inline arrays watched_points(int steps, std::int64_t n) {  // an element read each step
  ndarray x = uniform(n, 216), y = uniform(n, 217);
  double seen = 0;
  for (int k = 0; k < steps; ++k) {
    const ndarray next = x + 0.05f * sn::cos(y);
    statement(next);
    y = y + 0.05f * sn::sin(x);
    statement(y);
    x = next;
    if (k % 4 == 0) seen += float(x(k % 7));
  }
  return {x, y, sn::full(1, seen)};
}

inline arrays read_late(int steps, std::int64_t n) {  // derived values, of which some are read at the end
  ndarray x = uniform(n, 218);
  std::vector<ndarray> energy, phase;
  for (int k = 0; k < steps; ++k) {
    x = 3.9f * x * (1 - x);
    statement(x);
    energy.push_back(sn::exp(x) * x);
    statement(energy.back());
    phase.push_back(sn::arctan2(x, 1 - x));
    statement(phase.back());
  }
  arrays all;
  for (int k = 0; k < steps; k += 3) all.push_back(sn::sum(energy[std::size_t(k)] * phase[std::size_t(k)]));
  all.push_back(energy.back());
  return all;
}

inline arrays reflected_walk(int steps, std::int64_t n) {
  sn::random::generator g(219);
  ndarray x = sn::zeros(n, {.dtype = sn::float32}), hits = sn::zeros(n, {.dtype = sn::int32}), work = x.copy();
  for (int k = 0; k < steps; ++k) {
    const ndarray step = 0.3f * g.standard_normal(n, {.dtype = sn::float32});
    statement(step);
    const ndarray moved = x + step;
    statement(moved);
    const ndarray out = sn::abs(moved) > 1;
    statement(out);
    x = sn::where(out, sn::copysign(2.f, moved) - moved, moved);
    statement(x);
    hits += out;
    statement(hits);
    work += step * step;
    statement(work);
  }
  return {x, hits, work};
}

inline arrays three_body(int steps, std::int64_t n) {  // pairs along a short axis, in many copies
  const std::int64_t copies = n / 27 + 2;
  ndarray x = normal({copies, 3, 3}, 222), v = 0.1f * normal({copies, 3, 3}, 223);
  statement(v);
  for (int k = 0; k < steps; ++k) {
    const ndarray d = x(_, newaxis) - x(_, _, newaxis);
    statement(d);
    const ndarray r2 = sn::sum(d * d, -1) + 0.1f;
    statement(r2);
    const ndarray pull = sn::sum(d / (r2 * sn::sqrt(r2))(_, _, _, newaxis), 2);
    statement(pull);
    v = v + 0.01f * pull;
    statement(v);
    x = x + 0.01f * v;
    statement(x);
  }
  return {x, 0.5f * sn::sum(v * v, {.axis = {1, 2}})};
}

inline const program model_programs[] = {{"softmax regression", softmax_regression},
                                         {"softmax by sums", softmax_by_sums},
                                         {"batch norms", batch_norms},
                                         {"attention", attention},
                                         {"standardised", standardised},
                                         {"Gram-Schmidt", gram_schmidt},
                                         {"antithetic", antithetic},
                                         {"bootstrap", bootstrap},
                                         {"hidden states", hidden_states},
                                         {"Sinkhorn", sinkhorn},
                                         {"shared parts", shared_parts_of_terms},
                                         {"images", images},
                                         {"box filters", box_filters},
                                         {"julia", julia},
                                         {"many terms", many_terms},
                                         {"Horner", horner},
                                         {"options", options},
                                         {"embedded pairs", embedded_pairs},
                                         {"watched points", watched_points},
                                         {"read late", read_late},
                                         {"reflected walk", reflected_walk},
                                         {"three bodies", three_body}};

}  // namespace sinter::test::loops
