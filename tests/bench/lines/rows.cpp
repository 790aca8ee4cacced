// The lines of lines.def through sinter, as a user writes them, on inputs that are there already.
#include "lines.hpp"

namespace bench {
namespace {

using namespace sn::idx;
using std::int64_t;

// ---- rows that are reduced and read again

recorded_line softmax(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -1, 1);
  return [=] {
    const auto e = sn::exp(x - sn::max(x, 1, keep));
    return results{e / sn::sum(e, 1, keep)};
  };
}

recorded_line layer_norm(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -1, 1), g = numbers({s.m}, 1, 2), b = numbers({s.m}, 0, 1);
  return [=] {
    const auto d = x - sn::mean(x, 1, keep);
    return results{d / sn::sqrt(sn::mean(d * d, 1, keep) + 1e-5) * g + b};
  };
}

recorded_line attention(const sizes& s) {
  const auto q = typed({s.n, s.m, s.k}, -1, 1, sn::float16), a = typed({s.n, s.m, s.k}, 0, 1, sn::float16);
  const ndarray v = q + a;
  sn::eval(v);
  return [=] {
    const auto t = sn::matmul(q, sn::swapaxes(a, 1, 2)) * 0.125;
    const auto e = sn::exp(t - sn::max(t, 2, keep));
    return results{sn::matmul(e / sn::sum(e, 2, keep), v)};
  };
}

// ---- transposed access

recorded_line add_transpose(const sizes& s) {
  const auto x = numbers({s.n, s.n}, 0, 1);
  return [=] { return results{x + x.T()}; };
}

recorded_line copy_transpose(const sizes& s) {
  const auto x = numbers({s.n, s.n}, 0, 1);
  return [=] { return results{x.T().copy()}; };
}

// ---- reductions over broadcast operands

recorded_line distances(const sizes& s) {
  const auto x = numbers({s.n, s.k}, 0, 1), y = numbers({s.m, s.k}, 1, 2);
  return [=] { return results{sn::sum(sn::square(x(_, newaxis) - y), 2)}; };
}

recorded_line forces_on(const sizes& s, bool fast) {
  const auto x = numbers({s.n}, 0, 1), y = numbers({s.n}, 1, 3), z = numbers({s.n}, 2, 5), w = numbers({s.n}, 1, 2);
  return [=] {
    const sn::fast_math_guard guard(fast);
    const auto dx = x - x(_, newaxis), dy = y - y(_, newaxis), dz = z - z(_, newaxis);
    const auto r = dx * dx + dy * dy + dz * dz + 1e-3, f = w / (r * sn::sqrt(r));
    return results{sn::sum(dx * f, 1), sn::sum(dy * f, 1), sn::sum(dz * f, 1)};
  };
}
recorded_line forces(const sizes& s) { return forces_on(s, false); }
recorded_line fast_forces(const sizes& s) { return forces_on(s, true); }

recorded_line fast_search(const sizes& s) {
  const auto p = numbers({s.n, 2}, -1, 1), q = numbers({s.m, 2}, -1.2, 1.1);
  return [=] {
    const sn::fast_math_guard guard;
    const auto u = p(_, newaxis, 0);
    const auto h = sn::square(sn::sin((q(_, 0) - u) / 2)) +
                   sn::cos(u) * sn::cos(q(_, 0)) * sn::square(sn::sin((q(_, 1) - p(_, newaxis, 1)) / 2));
    const auto d = sn::arcsin(sn::sqrt(sn::clip(h, _, 1)));
    const auto i = sn::argmin(d, 1);
    return results{sn::take_along_axis(d, i(_, newaxis), 1)(_, 0)};
  };
}

recorded_line k_means(const sizes& s) {
  const auto x = numbers({s.n, s.m}, 0, 1), c = numbers({s.k, s.m}, 0, 1);
  return [=] {
    const auto i = sn::argmin(sn::sum(sn::square(x(_, newaxis) - c), 2), 1);
    const auto on = (i(_, newaxis) == sn::arange(c.len())).astype(sn::float32);
    return results{sn::matmul(on.T(), x) / (sn::sum(on, 0) + 1e-6)(_, newaxis)};
  };
}

// ---- steps that are recorded, and read at the end

recorded_line mandelbrot(const sizes& s) {
  const ndarray a = sn::linspace(-2, 1, s.n, {.dtype = sn::float32})(_, newaxis) + numbers({s.n}, 0, 1e-3);
  const auto b = numbers({s.n, s.n}, -1, 1);
  sn::eval(a);
  return [=] {
    ndarray x = 0 * a, y = 0 * a, t = 0 * a;
    for (int k = 0; k < 50; ++k) {
      const ndarray next = x * x - y * y + a;
      y = 2 * x * y + b;
      x = next;
      t = t + (x * x + y * y <= 4);
    }
    return results{t};
  };
}

recorded_line life(const sizes& s) {
  const ndarray start = (scattered({s.n, s.n}) < 0.3).astype(sn::uint8);
  sn::eval(start);
  return [=] {
    ndarray g = start;
    for (int k = 0; k < 14; ++k) {
      ndarray c = sn::zeros({}, sn::uint8);
      for (int i : {-1, 0, 1})
        for (int j : {-1, 0, 1})
          if (i || j) c = c + sn::roll(g, {i, j}, sn::axes{0, 1});
      g = (c == 3) | (g & (c == 2));
    }
    return results{g};
  };
}

recorded_line adam(const sizes& s) {
  const auto start = numbers({s.n}, 0, 1), g = numbers({s.n}, -1, 1);
  const ndarray none_yet = 0 * start;
  sn::eval(none_yet);
  return [=] {
    ndarray p = start, u = none_yet, v = none_yet;
    for (int k = 0; k < 10; ++k) {
      u = 0.9 * u + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      p = p - 0.001 * u / (sn::sqrt(v) + 1e-8);
    }
    return results{p, u, v};
  };
}

recorded_line leapfrog(const sizes& s) {
  const auto x0 = numbers({s.n}, 0, 1), v0 = numbers({s.n}, -1, 1);
  return [=] {
    ndarray x = x0, v = v0;
    for (int k = 0; k < 20; ++k) {
      v = v - 0.01 * sn::sin(x);
      x = x + 0.01 * v;
    }
    return results{x, v};
  };
}

recorded_line shrinking(const sizes& s) {
  const auto start = numbers({s.n, s.n}, 0, 1);
  return [=] {
    ndarray v = start;
    for (int k = 0; k < 20; ++k) v = (v["2:, 1:-1"] + v[":-2, 1:-1"] + v["1:-1, 2:"] + v["1:-1, :-2"]) / 4;
    return results{v};
  };
}

recorded_line shared_part(const sizes& s) {
  const auto x = numbers({s.n}, 0, 1);
  return [=] {
    const auto z = sn::sin(sn::cos(x) * 3);
    return results{sn::exp(z), sn::exp(-z)};
  };
}

// ---- chains, and operands that are not contiguous

recorded_line black_scholes(const sizes& of) {
  const auto s = numbers({of.n}, 10, 50), x = numbers({of.n}, 15, 40), t = numbers({of.n}, 1, 2);
  return [=] {
    const auto r = 0.3 * sn::sqrt(t), a = (sn::log(s / x) + 0.065 * t) / r, b = a - r, e = x * sn::exp(-0.02 * t);
    const auto p = 1 / (1 + sn::exp(-1.5976 * a - 0.0706 * a * a * a));
    const auto q = 1 / (1 + sn::exp(-1.5976 * b - 0.0706 * b * b * b));
    const auto c = s * p - e * q;
    return results{c, c - s + e};
  };
}

recorded_line half_chain(const sizes& s) {
  const auto x = typed({s.n}, 0, 1, sn::float16), y = typed({s.n}, 1, 2, sn::float16);
  return [=] { return results{x * y + x}; };
}

recorded_line every_other(const sizes& s) {
  const auto x = numbers({s.n}, 0, 1), y = numbers({s.n}, 1, 2);
  return [=] { return results{x["::2"] + y["::2"]}; };
}

recorded_line shifted(const sizes& s) {
  const auto x = numbers({s.n}, 0, 1);
  return [=] { return results{x["1:"] - x[":-1"]}; };
}

recorded_line inner_slices(const sizes& s) {
  const auto x = numbers({s.n, s.n, s.n}, 0, 1);
  return
      [=] { return results{x["1:-1, 1:-1, 1:-1"] + x[":-2, 1:-1, 1:-1"] + x["1:-1, 2:, 1:-1"] + x["1:-1, 1:-1, 2:"]}; };
}

recorded_line roll_of(const sizes& s, sn::dtype type) {
  const auto x = typed({s.n, s.n}, 0, 250, type);
  return [=] { return results{sn::roll(x, {1, 1}, sn::axes{0, 1})}; };
}
recorded_line roll_uint8(const sizes& s) { return roll_of(s, sn::uint8); }
recorded_line roll_float16(const sizes& s) { return roll_of(s, sn::float16); }
recorded_line roll_float32(const sizes& s) { return roll_of(s, sn::float32); }
recorded_line roll_complex128(const sizes& s) { return roll_of(s, sn::complex128); }

recorded_line magnitudes(const sizes& s) {
  const ndarray z = numbers({s.n}, 0, 1) + std::complex<double>(0, 1) * typed({s.n}, 1, 2, sn::float64);
  sn::eval(z);
  return [=] { return results{sn::abs(z)}; };
}

recorded_line divide_int64(const sizes& s) {
  const auto i = typed({s.n}, 0, 1e6, sn::int64);
  return [=] { return results{sn::floor_divide(i, 7), i % 7}; };
}

// ---- reductions of rows, and products

recorded_line sum_rows(const sizes& s) {
  const auto x = numbers({s.n, s.m}, 0, 1);
  return [=] { return results{sn::sum(x, 1)}; };
}

recorded_line argmax_rows(const sizes& s) {
  const auto x = scattered({s.n, s.m});
  return [=] { return results{sn::argmax(x, 1)}; };
}

recorded_line matrix_vector(const sizes& s) {
  const auto a = typed({s.n, s.m}, 0, 1, sn::float64), v = typed({s.m}, 0, 1, sn::float64);
  return [=] { return results{sn::matmul(a, v)}; };
}

// ---- selections, sorting, counting

recorded_line masked_copy(const sizes& s) {
  const auto x = numbers({s.n}, 0, 1), y = numbers({s.n}, 1, 2);
  const ndarray on = x > 0.5;
  sn::eval(on);
  return [=] {
    y[on] = x[on];
    return results{y};
  };
}

recorded_line largest(const sizes& s) {
  const auto x = scattered({s.n, s.m});
  return [=] { return results{sn::topk(x, 64).values}; };
}

recorded_line partition(const sizes& s) {
  const auto x = scattered({s.n});
  return [=] { return results{sn::partition(x, x.len() / 2)}; };
}

recorded_line sort(const sizes& s) {
  const auto x = scattered({s.n});
  return [=] { return results{sn::sort(x)}; };
}

recorded_line weighted_bincount(const sizes& s) {
  const ndarray i = (scattered({s.n}) * 1000).astype(sn::int32), w = numbers({s.n}, 0, 1);
  sn::eval(i);
  return [=] { return results{sn::bincount(i, {.weights = w})}; };
}

recorded_line histogram(const sizes& s) {
  const auto x = scattered({s.n});
  return [=] { return results{sn::histogram(x, 256, {.range = std::pair(0.0, 1.0)}).hist}; };
}

recorded_line permutation(const sizes& s) {
  sn::random::generator rng(1);
  return [=, n = s.n]() mutable { return results{rng.permutation(n)}; };
}

recorded_line is_in(const sizes& s) {
  const ndarray i = (scattered({s.n}) * 5000).astype(sn::int64), j = i["0:1000"].copy();
  sn::eval(i, j);
  return [=] { return results{sn::isin(i, j)}; };
}

recorded_line search_sorted(const sizes& s) {
  const ndarray a = sn::sort(scattered({5000})), v = scattered({s.n}) * 1.1;
  sn::eval(a, v);
  return [=] { return results{sn::searchsorted(a, v)}; };
}

// ---- factorisations

ndarray mixed_numbers(const sn::shape_t& shape) {
  const ndarray a = sn::sin(1e6 * typed(shape, 0, 1, sn::float64));
  sn::eval(a);
  return a;
}

recorded_line least_squares(const sizes& s) {
  const auto a = mixed_numbers({s.n, s.m}), b = typed({s.n}, 0, 1, sn::float64);
  return [=] { return results{sn::linalg::lstsq(a, b).x}; };
}

recorded_line eigen(const sizes& s) {
  const auto half = mixed_numbers({s.n, s.n});
  const ndarray a = half + half.T();
  sn::eval(a);
  return [=] {
    const auto found = sn::linalg::eigh(a);
    return results{found.eigenvalues, found.eigenvectors};
  };
}

// ---- what the host takes

recorded_line add(const sizes& s) {
  const auto x = numbers({s.n}, 0, 1), y = numbers({s.n}, 1, 2);
  return [=] { return results{x + y}; };
}

recorded_line ten_operations(const sizes& s) {
  const auto x = numbers({s.n}, 0, 1), y = numbers({s.n}, 1, 2);
  return [=] { return results{((((((((x + y) * x - y) * y + x) * x) - y) * y) + x) / y)}; };
}

recorded_line five_points(const sizes& s) {
  const auto u = numbers({s.n, s.n}, 0, 1), v = numbers({s.n, s.n}, 0, 1);
  return [=] {
    v["1:-1, 1:-1"] =
        u["1:-1, 1:-1"] + 0.2 * (u[":-2, 1:-1"] + u["2:, 1:-1"] + u["1:-1, :-2"] + u["1:-1, 2:"] - 4 * u["1:-1, 1:-1"]);
    v(0) = v(1);
    v(-1) = v(-2);
    v(_, 0) = v(_, 1);
    v(_, -1) = v(_, -2);
    return results{v};
  };
}

#define SIZES(...) \
  sizes { __VA_ARGS__ }
#define LINE(function, name, gpu, cpu, small, gpu_goal, cpu_goal, inputs, numpy) \
  line{name, gpu, cpu, small, gpu_goal, cpu_goal, numpy, &function, false},
#define HOST_LINE(function, name, gpu, cpu, small, gpu_goal, cpu_goal, inputs, numpy) \
  line{name, gpu, cpu, small, gpu_goal, cpu_goal, numpy, &function, true},

const std::vector<line> table = {
#include "lines.def"
};

#undef SIZES
#undef LINE
#undef HOST_LINE

}  // namespace

const std::vector<line>& lines() { return table; }

ndarray typed(const sn::shape_t& shape, double low, double high, sn::dtype type) {
  auto x = numbers(shape, low, high).astype(type);
  sn::eval(x);
  return x;
}

ndarray scattered(const sn::shape_t& shape) {
  std::int64_t n = 1;
  for (auto e : shape) n *= e;
  const auto i = sn::arange(n, {.dtype = sn::int64}) * 742938285 % 2147483647;
  auto x = sn::reshape(i.astype(sn::float32) * (1.0 / 2147483647.0), shape);
  sn::eval(x);
  return x;
}

void eval_together(const results& list) {
  switch (list.size()) {
    case 1: return sn::eval(list[0]);
    case 2: return sn::eval(list[0], list[1]);
    case 3: return sn::eval(list[0], list[1], list[2]);
    default: return sn::eval(list.at(0), list.at(1), list.at(2), list.at(3));
  }
}

}  // namespace bench
