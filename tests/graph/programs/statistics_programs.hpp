// Fields, fits, filters and samples with statistics of each step, as users write them; each with and without an evaluation of
// every statement.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "graph/programs/model_programs.hpp"

namespace sinter::test::loops {

inline std::int64_t side(std::int64_t n) { return static_cast<std::int64_t>(std::sqrt(static_cast<double>(n))); }

inline arrays staggered_fields(int steps, std::int64_t n) {
  const std::int64_t m = side(n);
  ndarray ez = sn::zeros({m, m}, {.dtype = sn::float32}), hx = sn::zeros({m, m - 1}, {.dtype = sn::float32}),
          hy = sn::zeros({m - 1, m}, {.dtype = sn::float32});
  const ndarray eps = 1 + uniform({m, m}, 3);
  statement(eps);
  for (int k = 0; k < steps; ++k) {
    hx -= 0.5f * (ez(_, slice(1, _)) - ez(_, slice(_, -1)));
    statement(hx);
    hy += 0.5f * (ez(slice(1, _), _) - ez(slice(_, -1), _));
    statement(hy);
    ez(slice(1, -1), slice(1, -1)) += 0.5f / eps(slice(1, -1), slice(1, -1)) *
                                      (hy(slice(1, _), slice(1, -1)) - hy(slice(_, -1), slice(1, -1)) -
                                       hx(slice(1, -1), slice(1, _)) + hx(slice(1, -1), slice(_, -1)));
    statement(ez);
    ez(m / 2, m / 2) = std::sin(0.1f * k);
    statement(ez);
  }
  return {ez, hx, hy};
}

inline arrays k_means(int steps, std::int64_t n) {
  const ndarray x = normal({n / 8, 2}, 4);
  ndarray c = x(slice(0, 5)).copy();
  ndarray label;
  for (int k = 0; k < steps; ++k) {
    const ndarray d = sn::sum(sn::square(x(_, newaxis) - c), 2);
    statement(d);
    label = sn::argmin(d, 1);
    statement(label);
    const ndarray on = (label(_, newaxis) == sn::arange(5)).astype(sn::float32);
    statement(on);
    const ndarray count = sn::sum(on, 0);
    statement(count);
    const ndarray total = sn::sum(on(_, _, newaxis) * x(_, newaxis), 0);
    statement(total);
    c = sn::where(count(_, newaxis) > 0, total / sn::maximum(count, 1.0f)(_, newaxis), c);
    statement(c);
  }
  return {c, label};
}

inline arrays boosted_stumps(int steps, std::int64_t n) {
  const std::int64_t m = n / 8;
  const ndarray x = uniform({m, 4}, 6), y = sn::sin(6 * x(_, 0)) + 0.1f * normal(m, 7);
  statement(y);
  ndarray f = sn::zeros(m, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    const ndarray r = y - f;
    statement(r);
    const ndarray left = (x(_, k % 4) < 0.1f + 0.8f * ((k * 37 % 100) / 100.0f)).astype(sn::float32);
    statement(left);
    const ndarray a = sn::sum(r * left) / sn::maximum(sn::sum(left), 1.0f),
                  b = sn::sum(r * (1 - left)) / sn::maximum(sn::sum(1 - left), 1.0f);
    statement(a);
    statement(b);
    f = f + 0.3f * (a * left + b * (1 - left));
    statement(f);
  }
  return {f, sn::mean(sn::square(y - f))};
}

inline arrays smoother(int steps, std::int64_t n) {  // Rauch-Tung-Striebel of many series
  const std::int64_t m = n / 4;
  ndarray x = sn::zeros(m, {.dtype = sn::float32}), p = sn::ones(m, {.dtype = sn::float32});
  std::vector<ndarray> xs, ps, xp, pp;
  for (int k = 0; k < steps; ++k) {
    const ndarray z = normal(m, 10 + k);
    const ndarray pred = p + 0.1f;
    statement(pred);
    const ndarray gain = pred / (pred + 0.5f);
    statement(gain);
    xp.push_back(x);
    pp.push_back(pred);
    x = x + gain * (z - x);
    statement(x);
    p = (1 - gain) * pred;
    statement(p);
    xs.push_back(x);
    ps.push_back(p);
  }
  for (int k = steps - 2; k >= 0; --k) {
    const ndarray c = ps[k] / pp[k + 1];
    statement(c);
    xs[k] = xs[k] + c * (xs[k + 1] - xp[k + 1]);
    statement(xs[k]);
  }
  return xs;
}

inline arrays split_directions(int steps, std::int64_t n) {
  const std::int64_t m = side(n);
  ndarray u = uniform({m, m}, 11);
  for (int k = 0; k < steps; ++k) {
    const ndarray v = u + 0.1f * (sn::roll(u, 1, axes{0}) + sn::roll(u, -1, axes{0}) - 2 * u);
    statement(v);
    u = v + 0.1f * (sn::roll(v, 1, axes{1}) + sn::roll(v, -1, axes{1}) - 2 * v);
    statement(u);
    if (k % 5 == 4) {
      u = u - sn::mean(u);
      statement(u);
      u = u / sn::sqrt(sn::mean(sn::square(u)));
      statement(u);
    }
  }
  return {u};
}

inline arrays cholesky_columns(int steps, std::int64_t n) {
  const std::int64_t m = 40, b = n / 1600 + 2;
  ndarray a = uniform({b, m, m}, 14);
  a = sn::sum(a(_, _, newaxis) * a(_, newaxis), 3) + 5 * sn::eye(m).astype(sn::float32);
  sn::eval(a);
  for (int k = 0; k < std::min<int>(steps, 39); ++k) {
    const ndarray d = sn::sqrt(a(_, k, k));
    statement(d);
    a(_, slice(k, _), k) /= d(_, newaxis);
    statement(a);
    const ndarray c = a(_, slice(k + 1, _), k);
    statement(c);
    a(_, slice(k + 1, _), slice(k + 1, _)) -= c(_, _, newaxis) * c(_, newaxis);
    statement(a);
  }
  return {sn::tril(a)};
}

inline arrays watched_life(int steps, std::int64_t n) {
  const std::int64_t m = side(n);
  ndarray g = (uniform({m, m}, 15) < 0.4f).astype(sn::int8);
  arrays out;
  for (int k = 0; k < steps; ++k) {
    ndarray c = sn::zeros_like(g);
    for (int i : {-1, 0, 1})
      for (int j : {-1, 0, 1})
        if (i || j) {
          c = c + sn::roll(sn::roll(g, i, axes{0}), j, axes{1});
          statement(c);
        }
    g = ((c == 3) | ((g == 1) & (c == 2))).astype(sn::int8);
    statement(g);
    out.push_back(sn::sum(g, {.dtype = sn::int64}));
    statement(out.back());
    out.push_back(sn::max(c));
    statement(out.back());
  }
  out.push_back(g);
  return out;
}

inline arrays particles_by_kernels(int steps, std::int64_t) {
  const std::int64_t m = 120;
  ndarray x = normal({m, 2}, 16);
  for (int k = 0; k < steps; ++k) {
    const ndarray d = x(_, newaxis) - x;
    statement(d);
    const ndarray r = sn::sum(sn::square(d), 2);
    statement(r);
    const ndarray h = sn::mean(r) / 4;
    statement(h);
    const ndarray w = sn::exp(-r / h);
    statement(w);
    const ndarray grad = sn::sum(w(_, _, newaxis) * (-x(newaxis)), 1) / float(m);
    statement(grad);
    const ndarray push = sn::sum(w(_, _, newaxis) * d, 1) * 2 / h / float(m);
    statement(push);
    x = x + 0.1f * (grad + push);
    statement(x);
  }
  return {x};
}

inline arrays quantile_fit(int steps, std::int64_t n) {
  const ndarray x = normal(n, 17), y = 2 * x + normal(n, 18);
  statement(y);
  ndarray w = sn::zeros({}, {.dtype = sn::float32}), b = sn::zeros({}, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    const ndarray r = y - (w * x + b);
    statement(r);
    const ndarray g = sn::where(r > 0, -0.9f, 0.1f);
    statement(g);
    w = w - 0.1f * sn::mean(g * x);
    statement(w);
    b = b - 0.1f * sn::mean(g);
    statement(b);
  }
  return {w, b};
}

inline arrays structure_factors(int steps, std::int64_t n) {
  const std::int64_t m = n / 16;
  const ndarray p = uniform({m, 3}, 19), q = normal(m, 20);
  ndarray e = sn::zeros({}, {.dtype = sn::float32});
  for (int k = 1; k <= steps; ++k) {
    const ndarray phase = 6.2831853f * (float(k % 3) * p(_, 0) + float(k % 5) * p(_, 1) + float(k % 7) * p(_, 2));
    statement(phase);
    const ndarray c = sn::sum(q * sn::cos(phase)), s = sn::sum(q * sn::sin(phase));
    statement(c);
    statement(s);
    e = e + (c * c + s * s) * std::exp(-0.01f * k);
    statement(e);
  }
  return {e};
}

inline arrays covariance_iteration(int steps, std::int64_t n) {
  const ndarray x = normal({n / 32, 32}, 21);
  ndarray v = sn::ones(32, {.dtype = sn::float32});
  const ndarray c = x - sn::mean(x, 0);
  statement(c);
  for (int k = 0; k < steps; ++k) {
    const ndarray u = sn::matmul(c, v);
    statement(u);
    v = sn::matmul(c.T(), u);
    statement(v);
    v = v / sn::sqrt(sn::sum(sn::square(v)));
    statement(v);
  }
  return {v, sn::sum(sn::square(sn::matmul(c, v)))};
}

inline arrays moving_windows(int steps, std::int64_t n) {
  const ndarray x = normal(n, 22);
  arrays out;
  ndarray s = sn::cumulative_sum(x), s2 = sn::cumulative_sum(x * x);
  statement(s);
  statement(s2);
  for (int w = 2; w < 2 + steps; ++w) {
    const ndarray m = (s(slice(w, _)) - s(slice(_, -w))) / float(w);
    statement(m);
    const ndarray v = (s2(slice(w, _)) - s2(slice(_, -w))) / float(w) - m * m;
    statement(v);
    const ndarray z = (x(slice(w, _)) - m) / sn::sqrt(sn::maximum(v, 1e-3f));
    statement(z);
    out.push_back(sn::max(sn::abs(z)));
    statement(out.back());
  }
  return out;
}

inline arrays unrolled_network(int steps, std::int64_t n) {
  const std::int64_t b = n / 64;
  const ndarray w = normal({16, 16}, 23) * 0.2f;
  statement(w);
  std::vector<ndarray> hs{sn::zeros({b, 16}, {.dtype = sn::float32})};
  for (int k = 0; k < steps; ++k) {
    const ndarray x = normal({b, 16}, 100 + k);
    hs.push_back(sn::tanh(sn::matmul(hs.back(), w) + x));
    statement(hs.back());
  }
  ndarray g = 2 * hs.back() / float(b), gw = sn::zeros({16, 16}, {.dtype = sn::float32});
  statement(g);
  for (int k = steps; k > 0; --k) {
    const ndarray d = g * (1 - sn::square(hs[k]));
    statement(d);
    gw = gw + sn::matmul(hs[k - 1].T(), d);
    statement(gw);
    g = sn::matmul(d, w.T());
    statement(g);
  }
  return {gw, g};
}

inline arrays bodies_with_energy(int steps, std::int64_t) {
  const std::int64_t m = 100;
  ndarray p = normal({3, m}, 24), v = sn::zeros({3, m}, {.dtype = sn::float32});
  ndarray e;
  for (int k = 0; k < steps; ++k) {
    const ndarray d = p(_, newaxis, _) - p(_, _, newaxis);
    statement(d);
    const ndarray r2 = sn::sum(sn::square(d), 0) + 0.1f;
    statement(r2);
    const ndarray inv = 1 / (r2 * sn::sqrt(r2));
    statement(inv);
    v = v + 0.01f * sn::sum(d * inv, 2);
    statement(v);
    p = p + 0.01f * v;
    statement(p);
    e = 0.5f * sn::sum(sn::square(v)) - 0.5f * sn::sum(1 / sn::sqrt(r2));
    statement(e);
  }
  return {p, v, e};
}

inline arrays entropy_rows(int steps, std::int64_t n) {
  ndarray x = normal({n / 50, 50}, 25);
  arrays out;
  for (int k = 0; k < steps; ++k) {
    const ndarray p = sn::exp(x - sn::max(x, 1, {.keepdims = true}));
    statement(p);
    const ndarray q = p / sn::sum(p, 1, {.keepdims = true});
    statement(q);
    const ndarray h = -sn::sum(q * sn::log(q + 1e-9f), 1);
    statement(h);
    out.push_back(sn::mean(h));
    statement(out.back());
    x = x * (1 + 0.01f * h(_, newaxis));
    statement(x);
  }
  out.push_back(x);
  return out;
}

inline arrays equalised(int steps, std::int64_t n) {
  ndarray x = uniform(n, 26);
  arrays out;
  for (int k = 0; k < steps; ++k) {
    const ndarray i = (x * 255).astype(sn::int32);
    statement(i);
    const ndarray h = sn::bincount(i, {.minlength = 256});
    statement(h);
    const ndarray c = sn::cumulative_sum(h).astype(sn::float32) / float(n);
    statement(c);
    x = 0.9f * sn::take(c, i) + 0.1f * x;
    statement(x);
  }
  return {x};
}

inline arrays multigrid(int steps, std::int64_t) {
  const std::int64_t m = 128;
  ndarray u = sn::zeros({m + 1, m + 1}, {.dtype = sn::float32});
  const ndarray f = uniform({m + 1, m + 1}, 27);
  auto smooth = [](ndarray u, const ndarray& f, float h2) {
    u(slice(1, -1), slice(1, -1)) =
        0.2f * u(slice(1, -1), slice(1, -1)) +
        0.2f * (u(slice(_, -2), slice(1, -1)) + u(slice(2, _), slice(1, -1)) + u(slice(1, -1), slice(_, -2)) +
                u(slice(1, -1), slice(2, _)) + h2 * f(slice(1, -1), slice(1, -1)));
    statement(u);
    return u;
  };
  for (int k = 0; k < steps; ++k) {
    u = smooth(u, f, 1);
    ndarray r = sn::zeros_like(u);
    r(slice(1, -1), slice(1, -1)) = f(slice(1, -1), slice(1, -1)) + u(slice(_, -2), slice(1, -1)) +
                                    u(slice(2, _), slice(1, -1)) + u(slice(1, -1), slice(_, -2)) +
                                    u(slice(1, -1), slice(2, _)) - 4 * u(slice(1, -1), slice(1, -1));
    statement(r);
    const ndarray rc = r(slice(_, _, 2), slice(_, _, 2)).copy();
    statement(rc);
    ndarray c = sn::zeros_like(rc);
    for (int j = 0; j < 3; ++j) c = smooth(c, rc, 4);
    ndarray e = sn::zeros_like(u);
    e(slice(_, _, 2), slice(_, _, 2)) = c;
    statement(e);
    e(slice(1, _, 2), slice(_, _, 2)) = 0.5f * (c(slice(_, -1)) + c(slice(1, _)));
    statement(e);
    e(_, slice(1, _, 2)) = 0.5f * (e(_, slice(0, -1, 2)) + e(_, slice(2, _, 2)));
    statement(e);
    u = smooth(u + e, f, 1);
  }
  return {u};
}

inline arrays losses_of_products(int steps, std::int64_t n) {
  const ndarray a = normal({n / 32, 32}, 28), y = normal(n / 32, 29);
  ndarray w = sn::zeros(32, {.dtype = sn::float32});
  arrays out;
  for (int k = 0; k < steps; ++k) {
    const ndarray r = sn::matmul(a, w) - y;
    statement(r);
    out.push_back(sn::mean(sn::square(r)));
    statement(out.back());
    w = w - 2e-4f * sn::matmul(a.T(), r);
    statement(w);
  }
  out.push_back(w);
  return out;
}

/// A pyramid of details for each step, which depends on no other step.
inline arrays pyramids(int steps, std::int64_t n) {
  constexpr std::int64_t m = 64;
  const ndarray x = uniform({n / (m * m) + 2, m, m}, 12);
  arrays out;
  for (int k = 0; k < steps; ++k) {
    ndarray level = x + float(k), total = sn::sum(level);
    for (int l = 0; l < 3; ++l) {
      const ndarray down = 0.25f * (sn::roll(level, 1, axes{1}) + 2 * level + sn::roll(level, -1, axes{1}));
      const ndarray blur = 0.25f * (sn::roll(down, 1, axes{2}) + 2 * down + sn::roll(down, -1, axes{2}));
      total = total + sn::sum(sn::abs(level - blur));
      level = blur(_, slice(_, _, 2), slice(_, _, 2));
    }
    out.push_back(total);
  }
  return out;
}

inline const program statistics_programs[] = {{"staggered fields", staggered_fields},
                                              {"k means", k_means},
                                              {"boosted stumps", boosted_stumps},
                                              {"smoother", smoother},
                                              {"split directions", split_directions},
                                              {"cholesky columns", cholesky_columns},
                                              {"watched life", watched_life},
                                              {"particles by kernels", particles_by_kernels},
                                              {"quantile fit", quantile_fit},
                                              {"structure factors", structure_factors},
                                              {"covariance iteration", covariance_iteration},
                                              {"moving windows", moving_windows},
                                              {"unrolled network", unrolled_network},
                                              {"bodies with energy", bodies_with_energy},
                                              {"entropy rows", entropy_rows},
                                              {"equalised", equalised},
                                              {"multigrid", multigrid},
                                              {"losses of products", losses_of_products}};

}  // namespace sinter::test::loops
