// The lines of everyday.def through sinter: what programs do between the lines that have goals. As rows.cpp.
#include <array>
#include <complex>
#include <vector>

#include "lines.hpp"

namespace bench {
namespace {

using namespace sn::idx;
using std::int64_t;

recorded_line logsumexp0(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -5, 5);
  return [=] {
    const auto a = sn::max(x, 0);
    return results{sn::log(sn::sum(sn::exp(x - a), 0)) + a};
  };
}

recorded_line cosine(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -1, 1);
  return [=] {
    const auto y = x / sn::sqrt(sn::sum(x * x, 1, keep));
    return results{sn::matmul(y, y.T())};
  };
}

recorded_line crosses(const sizes& s) {
  const auto x = numbers({s.n, 3}, -1, 1), y = numbers({s.n, 3}, 1, 2);
  return [=] { return results{sn::cross(x, y)}; };
}

recorded_line sobel(const sizes& s) {
  const auto im = typed({s.n, s.n}, 0, 250, sn::uint8);
  return [=] {
    const auto f = im.astype(sn::float32);
    const auto gx = f[":-2, 2:"] + 2 * f["1:-1, 2:"] + f["2:, 2:"] - f[":-2, :-2"] - 2 * f["1:-1, :-2"] - f["2:, :-2"];
    const auto gy = f["2:, :-2"] + 2 * f["2:, 1:-1"] + f["2:, 2:"] - f[":-2, :-2"] - 2 * f[":-2, 1:-1"] - f[":-2, 2:"];
    return results{sn::sqrt(gx * gx + gy * gy)};
  };
}

recorded_line standard_images(const sizes& s) {
  const auto im = typed({s.n, s.m, s.k, 3}, 0, 250, sn::uint8);
  return [=] {
    const auto f = im.astype(sn::float32) / 255;
    const auto a = sn::mean(f, sn::axes{1, 2}, {.keepdims = true}), d = sn::std(f, sn::axes{1, 2}, {.keepdims = true});
    return results{(f - a) / (d + 1e-5)};
  };
}

recorded_line cross_entropy(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -3, 3);
  const auto j = evaluated((scattered({s.n}) * double(s.m)).astype(sn::int32));
  return [=] {
    const auto a = sn::max(x, 1, keep);
    const auto l = sn::log(sn::sum(sn::exp(x - a), 1)) + a(_, 0);
    return results{sn::mean(l - sn::take_along_axis(x, j(_, newaxis), 1)(_, 0))};
  };
}

recorded_line drawdown(const sizes& s) {
  const auto x = scattered({s.n, s.m});
  return [=] { return results{sn::max(sn::cummax(x, 1) - x, 1)}; };
}

recorded_line chamfer(const sizes& s) {
  const auto x = numbers({s.n, 3}, 0, 1), y = numbers({s.m, 3}, 0.5, 2);
  return [=] { return results{sn::min(sn::sum(sn::abs(x(_, newaxis) - y), 2), 1)}; };
}

recorded_line rbf(const sizes& s) {
  const auto x = numbers({s.n, 3}, 0, 1), y = numbers({s.m, 3}, 0.5, 2), w = numbers({s.m}, -1, 1);
  return [=] { return results{sn::sum(sn::exp(-sn::sum(sn::square(x(_, newaxis) - y), 2)) * w, 1)}; };
}

recorded_line group_means(const sizes& s) {
  const auto i = evaluated((scattered({s.n}) * 1000).astype(sn::int32)), w = numbers({s.n}, 0, 1);
  return [=] {
    return results{sn::bincount(i, {.weights = w, .minlength = 1000}) /
                   sn::maximum(sn::bincount(i, {.minlength = 1000}), 1)};
  };
}

recorded_line argsort_rows(const sizes& s) {
  const auto x = scattered({s.n, s.m});
  return [=] { return results{sn::argsort(x, 1)}; };
}

recorded_line median9(const sizes& s) {
  const auto x = scattered({s.n, s.n});
  const auto n = s.n;
  return [=] {
    std::vector<ndarray> all;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) all.push_back(x(slice(i, n - 2 + i), slice(j, n - 2 + j)));
    return results{sn::median(sn::stack(all), 0)};
  };
}

recorded_line sign_changes(const sizes& s) {
  const auto x = evaluated(scattered({s.n}) - 0.5);
  return [=] {
    const auto q = sn::sign(x);
    return results{sn::sum(q["1:"] != q[":-1"])};
  };
}

recorded_line gini(const sizes& s) {
  const auto x = numbers({s.n}, 0, 1);
  return [=] { return results{sn::mean(sn::abs(x(_, newaxis) - x))}; };
}

recorded_line spectrum(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -1, 1);
  return [=] {
    const auto f = sn::fft::rfft(x, {.axis = 1});
    return results{sn::real(f * sn::conj(f))};
  };
}

recorded_line horner(const sizes& s) {
  const auto x = numbers({s.n}, -1, 1);
  return [=] {
    ndarray p = 0.1 * x;
    for (int k = 0; k < 12; ++k) p = (p + (0.5 - 0.07 * k)) * x;
    return results{p};
  };
}

recorded_line batch_norm(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -1, 1), g = numbers({s.m}, 1, 2), b = numbers({s.m}, 0, 1);
  return [=] {
    const auto a = sn::mean(x, 0), v = sn::mean(sn::square(x - a), 0);
    return results{(x - a) / sn::sqrt(v + 1e-5) * g + b};
  };
}

recorded_line quantise(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -1, 1);
  return [=] {
    const auto q = sn::max(sn::abs(x), 1, keep) / 127;
    return results{sn::clip(sn::round(x / q), -128, 127).astype(sn::int8), q};
  };
}

recorded_line gelu(const sizes& s) {
  const auto x = typed({s.n, s.m}, -2, 2, sn::float16), b = typed({s.m}, 0, 1, sn::float16);
  return [=] {
    const auto y = x + b;
    return results{0.5 * y * (1 + sn::tanh(0.7978846 * (y + 0.044715 * y * y * y)))};
  };
}

recorded_line rotary(const sizes& s) {
  const auto x = typed({s.n, s.m, s.k}, -1, 1, sn::float16), c = typed({s.m, s.k / 2}, -1, 1, sn::float16),
             t = typed({s.m, s.k / 2}, 0, 1, sn::float16);
  const auto k = s.k;
  return [=] {
    const auto a = x(ellipsis, slice(0, k / 2)), b = x(ellipsis, slice(k / 2, k));
    return results{sn::concatenate({a * c - b * t, a * t + b * c}, -1)};
  };
}

recorded_line upsample(const sizes& s) {
  const auto x = numbers({s.n, s.n}, 0, 1);
  return [=] { return results{sn::repeat(sn::repeat(x, 2, 0), 2, 1)}; };
}

recorded_line max_pool(const sizes& s) {
  const auto x = numbers({s.n, s.n}, 0, 1);
  const auto n = s.n;
  return [=] { return results{sn::max(sn::reshape(x, {n / 2, 2, n / 2, 2}), sn::axes{1, 3})}; };
}

recorded_line box_mean(const sizes& s) {
  const auto x = numbers({s.n, s.n}, 0, 1);
  return [=] {
    const auto c = sn::cumsum(sn::cumsum(x, 0), 1);
    return results{(c["9:, 9:"] - c[":-9, 9:"] - c["9:, :-9"] + c[":-9, :-9"]) / 81};
  };
}

recorded_line correlations(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -1, 1);
  return [=] { return results{sn::corrcoef(x)}; };
}

recorded_line xorshift(const sizes& s) {
  const auto x0 = evaluated((scattered({s.n}) * 2e9).astype(sn::int32).view(sn::uint32));
  return [=] {
    ndarray x = x0;
    for (int k = 0; k < 8; ++k) {
      x = x ^ (x << 13);
      x = x ^ (x >> 17);
      x = x ^ (x << 5);
    }
    return results{x};
  };
}

recorded_line moving(const sizes& s) {
  const auto x = typed({s.n}, 0, 1, sn::float64);
  return [=] {
    const auto c = sn::cumsum(x);
    return results{(c["20:"] - c[":-20"]) / 20};
  };
}

recorded_line bags(const sizes& s) {
  const auto t = numbers({s.m, s.k}, 0, 1);
  const auto i = evaluated((scattered({s.n, 32}) * double(s.m)).astype(sn::int32));
  return [=] { return results{sn::sum(sn::take(t, i, 0), 1)}; };
}

recorded_line by_key(const sizes& s) {
  const auto q = scattered({s.n}), x = numbers({s.n}, 0, 1);
  return [=] { return results{x(sn::argsort(q))}; };
}

recorded_line logistic(const sizes& s) {
  const auto x = numbers({s.n, s.m}, -1, 1), y = evaluated((scattered({s.n}) < 0.5).astype(sn::float32)),
             w = numbers({s.m}, -1, 1);
  const auto n = s.n;
  return [=] {
    const auto p = 1 / (1 + sn::exp(-sn::matmul(x, w)));
    return results{w - 0.1 * sn::matmul(x.T(), p - y) / double(n)};
  };
}

recorded_line power(const sizes& s) {
  const auto a = numbers({s.n, s.n}, 0, 1), v0 = numbers({s.n}, 0, 1);
  return [=] {
    ndarray v = v0;
    for (int k = 0; k < 20; ++k) {
      v = sn::matmul(a, v);
      v = v / sn::sqrt(sn::sum(v * v));
    }
    return results{v};
  };
}

recorded_line newton(const sizes& s) {
  const auto z0 = evaluated(numbers({s.n, s.n}, -2, 2) + std::complex<float>(0, 1) * numbers({s.n, s.n}, -1, 2));
  return [=] {
    ndarray z = z0;
    for (int k = 0; k < 15; ++k) z = z - (z * z * z - 1) / (3 * z * z);
    return results{z};
  };
}

recorded_line lorenz(const sizes& s) {
  const auto x0 = numbers({s.n}, -1, 1), y0 = numbers({s.n}, 0, 2), z0 = numbers({s.n}, 20, 30);
  return [=] {
    ndarray x = x0, y = y0, z = z0;
    const auto f = [](const ndarray& x, const ndarray& y, const ndarray& z) {
      return std::array<ndarray, 3>{10 * (y - x), x * (28 - z) - y, x * y - 2.6666667 * z};
    };
    for (int k = 0; k < 10; ++k) {
      const auto [a, b, c] = f(x, y, z);
      const auto [d, e, g] = f(x + 0.005 * a, y + 0.005 * b, z + 0.005 * c);
      const auto [h, i, j] = f(x + 0.005 * d, y + 0.005 * e, z + 0.005 * g);
      const auto [p, q, r] = f(x + 0.01 * h, y + 0.01 * i, z + 0.01 * j);
      x = x + 0.0016666667 * (a + 2 * d + 2 * h + p);
      y = y + 0.0016666667 * (b + 2 * e + 2 * i + q);
      z = z + 0.0016666667 * (c + 2 * g + 2 * j + r);
    }
    return results{x, y, z};
  };
}

recorded_line softmax_mid(const sizes& s) {
  const auto x = numbers({s.n, s.m, s.k}, -1, 1);
  return [=] {
    const auto e = sn::exp(x - sn::max(x, 1, keep));
    return results{e / sn::sum(e, 1, keep)};
  };
}

recorded_line group_norm(const sizes& s) {
  const auto x = numbers({s.n, s.m, s.k}, -1, 1), g = numbers({s.m, 1}, 1, 2), b = numbers({s.m, 1}, 0, 1);
  const auto n = s.n, m = s.m, k = s.k;
  return [=] {
    const auto r = sn::reshape(x, {n, 8, -1});
    const auto a = sn::mean(r, 2, keep), d = r - a, v = sn::mean(d * d, 2, keep);
    return results{sn::reshape(d / sn::sqrt(v + 1e-5), {n, m, k}) * g + b};
  };
}

recorded_line mean_mid(const sizes& s) {
  const auto x = typed({s.n, s.m, s.k}, 0, 1, sn::float16);
  return [=] { return results{sn::mean(x, 1)}; };
}

recorded_line mirrored(const sizes& s) {
  const auto x = numbers({s.n, s.n}, 0, 1);
  return [=] {
    const auto d = x - x["::-1, ::-1"];
    return results{sn::sum(d * d)};
  };
}

recorded_line lower(const sizes& s) {
  const auto x = numbers({s.n, s.n}, -1, 1);
  const auto n = s.n;
  return [=] {
    const auto i = sn::arange(n);
    const auto y = sn::where(i(_, newaxis) >= i, x, -1e30), e = sn::exp(y - sn::max(y, 1, keep));
    return results{e / sn::sum(e, 1, keep)};
  };
}

recorded_line grid_sums(const sizes& s) {
  const auto x = scattered({s.n}), y = numbers({s.n}, 0, 0.999), w = numbers({s.n}, 0, 1);
  return [=] {
    const auto i = (x * 512).astype(sn::int32) * 512 + (y * 512).astype(sn::int32);
    return results{sn::bincount(i, {.weights = w, .minlength = 512 * 512})};
  };
}

recorded_line covariances(const sizes& s) {
  const auto x = numbers({s.n, s.m, s.k}, -1, 1);
  const auto m = s.m;
  return [=] {
    const auto d = x - sn::mean(x, 1, keep);
    return results{sn::matmul(sn::swapaxes(d, 1, 2), d) / double(m - 1)};
  };
}

recorded_line bilinear(const sizes& s) {
  const auto im = numbers({s.n, s.n}, 0, 1), u = evaluated(scattered({s.n, s.n}) * double(s.n - 2)),
             v = evaluated(numbers({s.n, s.n}, 0, 1) * double(s.n - 2));
  return [=] {
    const auto i = u.astype(sn::int32), j = v.astype(sn::int32), a = u - i, b = v - j;
    return results{
        ((im(i, j) * (1 - b) + im(i, j + 1) * b) * (1 - a) + (im(i + 1, j) * (1 - b) + im(i + 1, j + 1) * b) * a)
            .astype(sn::float32)};
  };
}

recorded_line ranks(const sizes& s) {
  const auto x = scattered({s.n});
  return [=] { return results{sn::argsort(sn::argsort(x))}; };
}

recorded_line entropy(const sizes& s) {
  const auto x = numbers({s.n, s.m}, 0, 1);
  return [=] {
    const auto p = x / sn::sum(x, 1, keep);
    return results{-sn::sum(sn::where(p > 0, p * sn::log(p), 0), 1)};
  };
}

recorded_line interleave(const sizes& s) {
  const auto x = numbers({s.n}, 0, 1), y = numbers({s.n}, 1, 2);
  return [=] { return results{sn::reshape(sn::stack({x, y}, 1), {-1})}; };
}

recorded_line stft(const sizes& s) {
  const auto x = numbers({s.n}, -1, 1), w = numbers({1024}, 0, 1);
  const auto n = s.n;
  return [=] {
    const auto i = sn::arange((n - 1024) / 256)(_, newaxis) * 256 + sn::arange(1024);
    return results{sn::abs(sn::fft::rfft(x(i) * w, {.axis = 1}))};
  };
}

#define SIZES(...) \
  sizes { __VA_ARGS__ }
#define LINE(function, name, gpu, cpu, small, gpu_goal, cpu_goal, inputs, numpy) \
  line{name, gpu, cpu, small, gpu_goal, cpu_goal, numpy, &function, false},

const std::vector<line> table = {
#include "everyday.def"
};

#undef SIZES
#undef LINE

}  // namespace

const std::vector<line>& everyday_lines() { return table; }

}  // namespace bench
