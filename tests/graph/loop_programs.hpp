// Loops as users write them, with several live values, each with and without an evaluation of every statement.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/hooks.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/limits.hpp"
#include "ops/base/access.hpp"
#include "runtime/backend.hpp"
#include "sinter/sinter.hpp"

namespace sinter::test::loops {

namespace sn = sinter;
using namespace sinter::idx;

inline runtime::backend& current_backend() { return sinter::runtime::get_backend(sinter::runtime::default_device()); }

/// Whether each statement is evaluated where it stands.
inline bool at_once = false;
template <class... A>
void statement(const A&... a) {
  if (at_once) sn::eval(a...);
}

/// Settings as they were.
struct settings_guard {
  cpu::tier tier = cpu::get_tier();
  graph::planner_limits limits = graph::limits();
  ~settings_guard() {
    cpu::set_tier(tier);
    graph::limits() = limits;
    at_once = false;
  }
};

inline ndarray uniform(const sn::random::draw_size& size, int seed) {
  sn::random::generator g(static_cast<std::uint64_t>(seed));
  ndarray x = g.random(size, {.dtype = sn::float32});
  sn::eval(x);
  return x;
}

/// Of an array in the tests that measure, and what the largest of a program needs at most.
inline constexpr std::int64_t elements = 20000;
inline constexpr std::size_t one_operand = 8 * elements;

using arrays = std::vector<ndarray>;
struct program {
  const char* name;
  arrays (*run)(int steps, std::int64_t n);
};

inline arrays mandelbrot(int steps, std::int64_t n) {
  const ndarray cr = uniform({n, 3}, 1) * 3 - 2, ci = uniform({n, 3}, 2) * 2 - 1;
  ndarray zr = sn::zeros({n, 3}, {.dtype = sn::float32}), zi = zr.copy(),
          count = sn::zeros({n, 3}, {.dtype = sn::int32});
  for (int k = 0; k < steps; ++k) {
    const ndarray inside = zr * zr + zi * zi < 4;
    statement(inside);
    const ndarray next = sn::where(inside, zr * zr - zi * zi + cr, zr);
    statement(next);
    zi = sn::where(inside, 2 * zr * zi + ci, zi);
    statement(zi);
    zr = next;
    count += inside;
    statement(count);
  }
  return {count, zr, zi};
}

inline arrays leapfrog(int steps, std::int64_t n) {
  ndarray x = uniform(n, 3), v = sn::zeros(n, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    v = v - 0.05f * x;
    statement(v);
    x = x + 0.1f * v;
    statement(x);
    v = v - 0.05f * x;
    statement(v);
  }
  return {x, v};
}

inline arrays adam(int steps, std::int64_t n) {
  ndarray w = uniform(n, 4), m = sn::zeros(n, {.dtype = sn::float32}), s = m.copy();
  for (int k = 1; k <= steps; ++k) {
    const ndarray g = 2 * (w - 0.5f);
    statement(g);
    m = 0.9f * m + 0.1f * g;
    statement(m);
    s = 0.999f * s + 0.001f * g * g;
    statement(s);
    w = w - 0.01f * (m / (1 - std::pow(0.9, k))) / (sn::sqrt(s / (1 - std::pow(0.999, k))) + 1e-8f);
    statement(w);
  }
  return {w, m, s};
}

inline arrays lorenz(int steps, std::int64_t n) {
  ndarray x = uniform(n, 5), y = uniform(n, 6), z = uniform(n, 7);
  for (int k = 0; k < steps; ++k) {
    const ndarray dx = 10 * (y - x), dy = x * (28 - z) - y, dz = x * y - 2.5f * z;
    statement(dx, dy, dz);
    x = x + 0.01f * dx;
    y = y + 0.01f * dy;
    z = z + 0.01f * dz;
    statement(x, y, z);
  }
  return {x, y, z};
}

inline arrays fibonacci(int steps, std::int64_t n) {
  ndarray a = sn::astype(uniform(n, 8) * 100, sn::int32), b = a + 1;
  for (int k = 0; k < steps; ++k) {
    ndarray next = (a + b) % 1000;
    statement(next);
    a = b;
    b = next;
  }
  return {a, b};
}

inline arrays collected(int steps, std::int64_t n) {
  ndarray x = uniform(n, 9);
  arrays all;
  for (int k = 0; k < steps; ++k) {
    x = sn::sin(x) + 0.1f;
    statement(x);
    all.push_back(x);
  }
  all.push_back(sn::stack(all));
  return all;
}

inline arrays shrinking(int steps, std::int64_t n) {
  ndarray u = uniform(n, 10);
  for (int k = 0; k < steps && u.size() > 2; ++k) {
    u = 0.5f * (u(slice(1, _)) + u(slice(_, -1)));
    statement(u);
  }
  return {u};
}

inline arrays life(int steps, std::int64_t n) {
  ndarray u = sn::astype(uniform({n / 16 + 3, 16}, 11) > 0.6f, sn::int32);
  for (int k = 0; k < steps; ++k) {
    ndarray neighbours = sn::zeros(u.shape(), {.dtype = sn::int32});
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        if (i || j) neighbours = neighbours + sn::roll(sn::roll(u, i, 0), j, 1);
    statement(neighbours);
    u = sn::astype((neighbours == 3) | ((u == 1) & (neighbours == 2)), sn::int32);
    statement(u);
  }
  return {u};
}

inline arrays read_each_step(int steps, std::int64_t n) {
  ndarray x = uniform(n, 12) + 1;
  double total = 0;
  for (int k = 0; k < steps; ++k) {
    x = x - (x * x * x - 2) / (3 * x * x);
    statement(x);
    if (k % 3 == 0) total += float(sn::max(sn::abs(x)));
  }
  return {x, sn::full(1, total)};
}

inline arrays statistics(int steps, std::int64_t n) {
  ndarray x = uniform(n, 13), mean = sn::zeros(n, {.dtype = sn::float32}), m2 = mean.copy();
  for (int k = 1; k <= steps; ++k) {
    x = x * 0.99f + 0.01f;
    statement(x);
    const ndarray d = x - mean;
    statement(d);
    mean += d / float(k);
    statement(mean);
    m2 += d * (x - mean);
    statement(m2);
  }
  return {mean, m2, sn::sum(x)};
}

inline arrays momentum(int steps, std::int64_t n) {
  ndarray w = uniform(n, 14), v = sn::zeros(n, {.dtype = sn::float32}), best = w.copy();
  const ndarray target = uniform(n, 15);
  for (int k = 0; k < steps; ++k) {
    const ndarray g = 2 * (w - target) + 0.1f * sn::sin(w);
    statement(g);
    v *= 0.9f;
    statement(v);
    v -= 0.05f * g;
    statement(v);
    w += v;
    statement(w);
    best = sn::minimum(best, sn::abs(w - target));
    statement(best);
  }
  return {w, v, best};
}

inline arrays power_iteration(int steps, std::int64_t n) {
  const std::int64_t side = std::max<std::int64_t>(4, std::int64_t(std::sqrt(double(n))));
  const ndarray a = uniform({side, side}, 16);
  ndarray x = sn::ones(side, {.dtype = sn::float32}), value = sn::zeros(1, {.dtype = sn::float32});
  for (int k = 0; k < steps; ++k) {
    const ndarray y = sn::sum(a * x, 1);
    statement(y);
    value = sn::sqrt(sn::sum(y * y, {.keepdims = true}));
    statement(value);
    x = y / value;
    statement(x);
  }
  return {x, value};
}

inline arrays bounded_life(int steps, std::int64_t n) {
  ndarray u = sn::astype(uniform({n / 32 + 4, 32}, 17) > 0.5f, sn::uint8);
  for (int k = 0; k < steps; ++k) {
    ndarray neighbours = sn::zeros(u.shape(), {.dtype = sn::uint8});
    neighbours(slice(1, _)) += u(slice(_, -1));
    statement(neighbours);
    neighbours(slice(_, -1)) += u(slice(1, _));
    statement(neighbours);
    neighbours(_, slice(1, _)) += u(_, slice(_, -1));
    statement(neighbours);
    neighbours(_, slice(_, -1)) += u(_, slice(1, _));
    statement(neighbours);
    u = sn::astype((neighbours == 2) | ((u == 1) & (neighbours == 3)), sn::uint8);
    statement(u);
  }
  return {u};
}

inline arrays smoothing(int steps, std::int64_t n) {
  ndarray u = uniform({n / 50 + 3, 50}, 18);
  for (int k = 0; k < steps; ++k) {
    ndarray w = u.copy();
    statement(w);
    w(slice(1, -1), slice(1, -1)) = 0.25f * (u(slice(2, _), slice(1, -1)) + u(slice(_, -2), slice(1, -1)) +
                                             u(slice(1, -1), slice(2, _)) + u(slice(1, -1), slice(_, -2)));
    statement(w);
    w(0) = w(1);
    statement(w);
    w(-1) = w(-2);
    statement(w);
    w(_, 0) = w(_, 1);
    statement(w);
    w(_, -1) = w(_, -2);
    statement(w);
    u = w;
  }
  return {u};
}

inline arrays extremes(int steps, std::int64_t n) {
  ndarray x = uniform(n, 19), low = x, high = x, sum = x, squares = x * x, above = sn::zeros(n, {.dtype = sn::int32});
  for (int k = 0; k < steps; ++k) {
    x = 3.7f * x * (1 - x);
    statement(x);
    low = sn::minimum(low, x);
    statement(low);
    high = sn::maximum(high, x);
    statement(high);
    sum = sum + x;
    statement(sum);
    squares = squares + x * x;
    statement(squares);
    above += x > 0.5f;
    statement(above);
  }
  return {x, low, high, sum, squares, above};
}

inline arrays newton(int steps, std::int64_t n) {
  const ndarray a = uniform(n, 20) + 0.5f;
  ndarray x = a, error = a;
  for (int k = 0; k < steps; ++k) {
    const ndarray next = 0.5f * (x + a / x);
    statement(next);
    error = sn::abs(next - x);
    statement(error);
    x = next;
  }
  return {x, error};
}

inline arrays averages(int steps, std::int64_t n) {
  ndarray signal = uniform(n, 21), fast = signal, slow = signal, crossings = sn::zeros(n, {.dtype = sn::int64});
  for (int k = 0; k < steps; ++k) {
    signal = sn::cos(3 * signal + 0.1f);
    statement(signal);
    const ndarray before = fast > slow;
    statement(before);
    fast = 0.8f * fast + 0.2f * signal;
    statement(fast);
    slow = 0.95f * slow + 0.05f * signal;
    statement(slow);
    crossings = crossings + (before != (fast > slow));
    statement(crossings);
  }
  return {fast, slow, crossings};
}

inline arrays random_walk(int steps, std::int64_t n) {
  sn::random::generator g(22);
  ndarray x = sn::zeros(n, {.dtype = sn::float32}), furthest = x.copy();
  for (int k = 0; k < steps; ++k) {
    const ndarray step = g.standard_normal(n, {.dtype = sn::float32});
    statement(step);
    x += 0.1f * step;
    statement(x);
    furthest = sn::maximum(furthest, sn::abs(x));
    statement(furthest);
  }
  return {x, furthest};
}

inline arrays filter(int steps, std::int64_t n) {
  const float taps[] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
  ndarray x = uniform(n, 23);
  for (int k = 0; k < steps && x.size() > 8; ++k) {
    const std::int64_t left = x.size() - 4;
    ndarray y = sn::zeros(left, {.dtype = sn::float32});
    for (int t = 0; t < 5; ++t) {
      y = y + taps[t] * x(slice(t, t + left));
      statement(y);
    }
    x = y;
  }
  return {x};
}

inline arrays softmax(int steps, std::int64_t n) {
  ndarray x = uniform({n / 64 + 1, 64}, 24);
  for (int k = 0; k < steps; ++k) {
    const ndarray e = sn::exp(x - sn::max(x, 1, {.keepdims = true}));
    statement(e);
    x = e / sn::sum(e, 1, {.keepdims = true});
    statement(x);
  }
  return {x};
}

inline const program programs[] = {{"momentum", momentum},
                                   {"power iteration", power_iteration},
                                   {"bounded life", bounded_life},
                                   {"smoothing", smoothing},
                                   {"extremes", extremes},
                                   {"newton", newton},
                                   {"averages", averages},
                                   {"random walk", random_walk},
                                   {"filter", filter},
                                   {"softmax", softmax},
                                   {"mandelbrot", mandelbrot},
                                   {"leapfrog", leapfrog},
                                   {"adam", adam},
                                   {"lorenz", lorenz},
                                   {"fibonacci", fibonacci},
                                   {"collected", collected},
                                   {"shrinking", shrinking},
                                   {"life", life},
                                   {"read each step", read_each_step},
                                   {"statistics", statistics}};

inline std::vector<std::vector<std::byte>> bits(const program& p, int steps, std::int64_t n, bool eager) {
  at_once = eager;
  const arrays results = p.run(steps, n);
  at_once = false;
  std::vector<graph::value> roots;
  for (const ndarray& x : results) roots.push_back(sn::ops::value_of(x));
  graph::flush(roots);
  std::vector<std::vector<std::byte>> all;
  for (const ndarray& x : results) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(x.nbytes()));
    graph::copy_to_host(*sn::ops::ndarray_access::ref(x), bytes.data());
    all.push_back(std::move(bytes));
  }
  return all;
}

}  // namespace sinter::test::loops
