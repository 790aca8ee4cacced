// The lines of further.def through sinter. As rows.cpp.
#include <limits>
#include <vector>

#include "lines.hpp"
#include "sinter/linalg.hpp"

namespace bench {
namespace {

using namespace sn::idx;
using std::int64_t;

/// Integers below m.
ndarray labels(const ndarray& in_unit, int64_t m) { return evaluated((in_unit * double(m)).astype(sn::int32)); }

recorded_line vorticity(const sizes& s) {
  const auto u = numbers({s.n, s.n}, -1, 1), v = numbers({s.n, s.n}, 0, 1);
  return [=] {
    return results{0.5 * ((sn::roll(v, -1, 1) - sn::roll(v, 1, 1)) - (sn::roll(u, -1, 0) - sn::roll(u, 1, 0)))};
  };
}

recorded_line laplacian3(const sizes& s) {
  const auto x = numbers({s.n, s.n, s.n}, -1, 1);
  return [=] {
    const auto p = sn::pad(x, 1);
    return results{p["2:, 1:-1, 1:-1"] + p[":-2, 1:-1, 1:-1"] + p["1:-1, 2:, 1:-1"] + p["1:-1, :-2, 1:-1"] +
                   p["1:-1, 1:-1, 2:"] + p["1:-1, 1:-1, :-2"] - 6 * x};
  };
}

recorded_line running_max(const sizes& s) {
  const auto x = scattered({s.n});
  return [=] {
    return results{
        sn::maximum(sn::maximum(sn::maximum(x[":-4"], x["1:-3"]), sn::maximum(x["2:-2"], x["3:-1"])), x["4:"])};
  };
}

recorded_line one_hot(const sizes& s) {
  const auto i = labels(scattered({s.n}), s.m);
  const auto m = s.m;
  return [=] { return results{(i(_, newaxis) == sn::arange(m)).astype(sn::float32)}; };
}

recorded_line confusion(const sizes& s) {
  const auto i = evaluated((scattered({s.n}) * 19.9).astype(sn::int32)),
             j = evaluated(numbers({s.n}, 0, 19).astype(sn::int32));
  return [=] { return results{sn::bincount(i * 20 + j, {.minlength = 400}).reshape({20, 20})}; };
}

recorded_line accuracy(const sizes& s) {
  const auto x = scattered({s.n, s.m}), i = labels(numbers({s.n}, 0, 1), s.m);
  return [=] { return results{sn::mean((sn::argmax(x, 1) == i).astype(sn::float32))}; };
}

recorded_line tf_idf(const sizes& s) {
  const auto x = evaluated(sn::floor(numbers({s.n, s.m}, 0, 1.2) * 3));
  const auto n = s.n;
  return [=] {
    const auto f = x / (sn::sum(x, 1, keep) + 1), d = sn::sum((x > 0).astype(sn::float32), 0);
    return results{f * sn::log(n / (1 + d))};
  };
}

recorded_line moving_std(const sizes& s) {
  const auto x = typed({s.n}, 0, 1, sn::float64);
  return [=] {
    const auto a = sn::cumsum(x), b = sn::cumsum(x * x), m = (a["50:"] - a[":-50"]) / 50;
    return results{sn::sqrt(sn::maximum((b["50:"] - b[":-50"]) / 50 - m * m, 0))};
  };
}

recorded_line grey(const sizes& s) {
  const auto im = typed({s.n, s.m, 3}, 0, 250, sn::uint8);
  return [=] {
    const auto g = 0.299 * im(ellipsis, 0).astype(sn::float32) + 0.587 * im(ellipsis, 1).astype(sn::float32) +
                   0.114 * im(ellipsis, 2).astype(sn::float32);
    return results{((g > sn::mean(g)) * 255).astype(sn::uint8)};
  };
}

recorded_line saturation(const sizes& s) {
  const auto im = numbers({s.n, s.m, 3}, 0.1, 1);
  return [=] {
    const auto a = sn::max(im, 2);
    return results{(a - sn::min(im, 2)) / a};
  };
}

recorded_line blend(const sizes& s) {
  const auto x = numbers({s.n, s.m, 3}, 0, 1), y = numbers({s.n, s.m, 3}, 0.2, 1), a = numbers({s.n, s.m, 1}, 0, 1);
  return [=] { return results{a * x + (1 - a) * y}; };
}

recorded_line rotations(const sizes& s) {
  const auto r = numbers({s.n, 3, 3}, -1, 1), p = numbers({s.n, 3}, 0, 1);
  return [=] { return results{sn::einsum("nij,nj->ni", r, p)}; };
}

recorded_line quaternions(const sizes& s) {
  const auto p = numbers({s.n, 4}, -1, 1), q = numbers({s.n, 4}, 0, 1);
  return [=] {
    const ndarray a = p(_, 0), b = p(_, 1), c = p(_, 2), d = p(_, 3);
    const ndarray e = q(_, 0), f = q(_, 1), g = q(_, 2), h = q(_, 3);
    return results{sn::stack({a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
                              a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e},
                             1)};
  };
}

recorded_line track(const sizes& s) {
  const auto a = numbers({s.n}, -1, 1), o = numbers({s.n}, 0, 3);
  return [=] {
    const auto h = sn::square(sn::sin((a["1:"] - a[":-1"]) / 2)) +
                   sn::cos(a["1:"]) * sn::cos(a[":-1"]) * sn::square(sn::sin((o["1:"] - o[":-1"]) / 2));
    return results{sn::sum(2 * 6371 * sn::arcsin(sn::sqrt(h)))};
  };
}

recorded_line returns(const sizes& s) {
  const auto r = evaluated(scattered({s.n, s.m}) * 0.02 - 0.01);
  return [=] {
    const auto v = sn::cumprod(1 + r, 1);
    return results{sn::min(v / sn::cummax(v, 1) - 1, 1)};
  };
}

recorded_line rank_one(const sizes& s) {
  const auto x = numbers({s.n, s.n}, 0, 1), u = numbers({4, s.n}, -1, 1), v = numbers({4, s.n}, 0, 1);
  return [=] {
    ndarray a = x;
    for (int k = 0; k < 4; ++k) a = a + u(k)(_, newaxis) * v(k);
    return results{a};
  };
}

recorded_line upper(const sizes& s) {
  const auto x = numbers({s.n, s.n}, 0, 1);
  return [=] { return results{sn::sum(sn::triu(x, 1), 1)}; };
}

recorded_line integrals(const sizes& s) {
  const auto x = numbers({s.n, s.m}, 0, 1);
  return [=] { return results{sn::sum((x[":, 1:"] + x[":, :-1"]) / 2, 1) * 0.01}; };
}

recorded_line turns(const sizes& s) {
  const auto x = scattered({s.n});
  return [=] {
    const auto d = x["1:"] - x[":-1"];
    return results{sn::sum((d["1:"] * d[":-1"] < 0).astype(sn::int32))};
  };
}

recorded_line table_values(const sizes& s) {
  const auto x = evaluated(scattered({s.n}) * 1000), q = numbers({1000}, 0, 1);
  const auto p = evaluated(sn::arange(1000).astype(sn::float32));
  return [=] { return results{sn::interp(x, p, q).astype(sn::float32)}; };
}

recorded_line lowpass(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -1, 1);
  const auto m = s.m;
  return [=] {
    const auto f = sn::fft::rfft(x, {.axis = 1});
    const auto k = sn::arange(m / 2 + 1);
    return results{sn::fft::irfft(f * (k < 50), {.n = m, .axis = 1})};
  };
}

recorded_line taps(const sizes& s) {
  const auto x = numbers({s.n}, -1, 1), w = numbers({31}, 0, 1);
  return [=] { return results{sn::convolve(x, w, "same")}; };
}

recorded_line blur(const sizes& s) {
  const auto x = numbers({s.n, s.n}, 0, 1);
  return [=] {
    const auto y = (x[":, :-4"] + 4 * x[":, 1:-3"] + 6 * x[":, 2:-2"] + 4 * x[":, 3:-1"] + x[":, 4:"]) / 16;
    return results{(y[":-4"] + 4 * y["1:-3"] + 6 * y["2:-2"] + 4 * y["3:-1"] + y["4:"]) / 16};
  };
}

recorded_line softmax_gradient(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -3, 3), i = labels(scattered({s.n}), s.m);
  const auto n = s.n, m = s.m;
  return [=] {
    const auto e = sn::exp(x - sn::max(x, 1, keep));
    return results{(e / sn::sum(e, 1, keep) - (i(_, newaxis) == sn::arange(m))) / n};
  };
}

recorded_line two_layers(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -1, 1), a = numbers({s.m}, 0, 1), b = numbers({16}, 0, 1);
  const auto u = evaluated(numbers({s.m, s.m}, -1, 1) * 0.1), v = evaluated(numbers({s.m, 16}, -1, 1) * 0.1);
  return [=] { return results{sn::matmul(sn::maximum(sn::matmul(x, u) + a, 0), v) + b}; };
}

recorded_line nan_means(const sizes& s) {
  const auto y = scattered({s.n, s.m});
  const auto x = evaluated(sn::where(y < 0.1, std::numeric_limits<float>::quiet_NaN(), y).astype(sn::float32));
  return [=] { return results{sn::nanmean(x, 0)}; };
}

recorded_line julia(const sizes& s) {
  const auto x0 = numbers({s.n, s.n}, -1.5, 1.5), y0 = numbers({s.n, s.n}, -1, 1);
  return [=] {
    ndarray x = x0, y = y0, t = 0 * x0;
    for (int k = 0; k < 30; ++k) {
      const auto on = x * x + y * y < 4;
      const auto u = x * x - y * y - 0.8, v = 2 * x * y + 0.156;
      x = sn::where(on, u, x);
      y = sn::where(on, v, y);
      t = t + on;
    }
    return results{t};
  };
}

recorded_line hamming(const sizes& s) {
  const auto x = evaluated((scattered({s.n, s.m}) * 2e9).astype(sn::int32));
  const auto q = evaluated((scattered({s.m}) * 1.9e9).astype(sn::int32));
  return [=] { return results{sn::sum(sn::bitwise_count(x ^ q).astype(sn::int32), 1)}; };
}

recorded_line pieces(const sizes& s) {
  const auto x = numbers({s.n}, -3, 3);
  return [=] { return results{sn::select({x < -1, x < 1}, {-2 * x - 1, x * x}, x)}; };
}

recorded_line positive_mean(const sizes& s) {
  const auto x = evaluated(scattered({s.n}) - 0.5);
  return [=] { return results{sn::sum(sn::where(x > 0, x, 0)) / sn::sum((x > 0).astype(sn::float32))}; };
}

recorded_line surface(const sizes& s) {
  const auto x = numbers({s.n}, 0, 3), y = numbers({s.m}, 0, 3);
  return [=] {
    const auto grid = sn::meshgrid({x, y}, {.indexing = "ij"});
    const auto &a = grid[0], &b = grid[1];
    return results{sn::exp(-sn::square(a - 1) - sn::square(b - 2)) + 0.1 * sn::sin(3 * a) * sn::cos(3 * b)};
  };
}

recorded_line downsample(const sizes& s) {
  const auto x = numbers({s.n, s.n}, 0, 1);
  const auto n = s.n;
  return [=] { return results{sn::mean(x.reshape({n / 4, 4, n / 4, 4}), sn::axes{1, 3})}; };
}

recorded_line ridge(const sizes& s) {
  const auto x = evaluated(scattered({s.n, s.m}) - 0.5), y = numbers({s.n}, -1, 1);
  const auto m = s.m;
  return [=] {
    const auto eye = sn::eye(m, {.dtype = sn::float32});
    return results{sn::linalg::solve(sn::matmul(x.T(), x) + 0.1 * eye, sn::matmul(x.T(), y))};
  };
}

recorded_line gaussian(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -1, 1), r = numbers({s.m, s.m}, -0.1, 0.1), a = numbers({s.m}, 0, 1);
  const auto c = evaluated((sn::matmul(r, r.T()) + sn::eye(s.m)).astype(sn::float32));
  return [=] {
    const auto d = x - a;
    return results{-0.5 * sn::sum(d * sn::linalg::solve(c, d.T()).T(), 1) - 0.5 * sn::linalg::slogdet(c).logabsdet};
  };
}

recorded_line walks(const sizes& s) {
  const auto r = evaluated(scattered({s.n, s.m}) - 0.5);
  return [=] { return results{sn::max(sn::abs(sn::cumsum(r, 1)), 1)}; };
}

recorded_line top_classes(const sizes& s) {
  const auto x = scattered({s.n, s.m});
  return [=] { return results{sn::sort(x, {.axis = 1})(_, slice(_, -4, -1))}; };
}

recorded_line dedupe(const sizes& s) {
  const auto x = evaluated(sn::floor(numbers({s.n}, 0, 1) * 2).astype(sn::int32));
  return [=] { return results{sn::sum((x["1:"] != x[":-1"]).astype(sn::int32)) + 1, sn::max(x)}; };
}

recorded_line energies(const sizes& s) {
  const auto v = numbers({s.n, 3}, -1, 1), i = labels(scattered({s.n}), 8), w = numbers({8}, 1, 2);
  return [=] { return results{sn::bincount(i, {.weights = 0.5 * w(i) * sn::sum(v * v, 1), .minlength = 8})}; };
}

recorded_line attention_mask(const sizes& s) {
  const auto x = numbers({s.n, s.m, s.k}, -2, 2);
  const auto m = s.m, k = s.k;
  return [=] {
    const auto y = sn::where(sn::arange(m)(_, newaxis) >= sn::arange(k), x, -std::numeric_limits<float>::infinity());
    const auto e = sn::exp(y - sn::max(y, 2, keep));
    return results{e / sn::sum(e, 2, keep)};
  };
}

recorded_line advection(const sizes& s) {
  const auto u0 = numbers({s.n}, 0, 1), c = numbers({s.n}, 0.1, 0.5);
  return [=] {
    ndarray u = u0;
    for (int k = 0; k < 20; ++k) u = u - c * (u - sn::roll(u, 1));
    return results{u};
  };
}

#define SIZES(...) \
  sizes { __VA_ARGS__ }
#define LINE(function, name, gpu, cpu, small, gpu_goal, cpu_goal, inputs, numpy) \
  line{name, gpu, cpu, small, gpu_goal, cpu_goal, numpy, &function, false},

const std::vector<line> table = {
#include "further.def"
};

#undef SIZES
#undef LINE

}  // namespace

const std::vector<line>& further_lines() { return table; }

}  // namespace bench
