// Programs of any size: signals, tests, special functions, codes.
#include <cmath>
#include <numbers>

#include "golden/programs/sized.hpp"
#include "sinter/polynomial_fit.hpp"
#include "sinter/segments.hpp"

namespace sn = sinter;
namespace sp = sinter::special;
using namespace sn::idx;

namespace sinter::test::programs::sized {

using sn::ndarray;

results coherence(const ndarray& u) {
  const auto n = u.len() / 2;
  const auto t = sn::arange(n);
  const auto common = sn::sin(0.37 * t) + sn::cumsum(u(slice(n)) - 0.5) / 8;
  const auto x = common + u(slice(n, 2 * n)), y = sn::roll(common, 3) + 0.5 * u(slice(n))(slice(_, _, -1));
  const int size = 64;
  const auto k = sn::arange(size) - (size - 1) / 2.0;
  auto segments = sn::stack({sn::sliding_window_view(x, {size})(slice(_, _, size / 2)),
                             sn::sliding_window_view(y, {size})(slice(_, _, size / 2))});
  segments = segments - segments.mean(-1, {.keepdims = true});
  const auto slope = sn::matmul(segments, k) / k.dot(k);
  const auto flat = (segments - slope(ellipsis, newaxis) * k) * sn::hanning(size);
  const auto f = sn::fft::rfft(flat, {.axis = -1});
  const auto power = sn::square(sn::abs(f)).mean(1);
  const auto cross = (f(0).conj() * f(1)).mean(0);
  const auto share = sn::square(sn::abs(cross)) / (power(0) * power(1));
  const auto phase = sn::unwrap(sn::angle(cross));
  const ndarray steps = sn::gradient(phase);
  const ndarray delay = sn::average(steps(slice(1, -1)), {.weights = share(slice(1, -1))});
  const auto decibels = 10 * sn::log10(power / power.max(1, {.keepdims = true}));
  return {share, phase, delay, decibels, share.argmax(), sn::percentile(share, {25, 75}, {.method = "hazen"})};
}

results lpc(const ndarray& u) {
  const auto n = u.len();
  const int order = 10;
  const auto t = sn::arange(n);
  auto x = sn::sin(0.2 * t) + 0.5 * sn::sin(0.9 * t) + 0.3 * (u - 0.5);
  x = sn::append(x(0), x(slice(1, _)) - 0.6 * x(slice(-1))) * sn::hamming(n);
  std::vector<ndarray> sums;
  for (int k = 0; k <= order; ++k) sums.push_back(x(slice(k, _)).dot(x(slice(n - k))));
  const auto r = sn::stack(sums);
  ndarray a = sn::array({1.0}), error = r(0);
  std::vector<ndarray> reflected;
  for (int k = 1; k <= order; ++k) {
    const auto c = -a.dot(r(slice(k, 0, -1))) / error;
    const auto longer = sn::append(a, 0);
    a = longer + c * longer(slice(_, _, -1));
    error = error * (1 - c * c);
    reflected.push_back(c);
  }
  const auto rest = sn::convolve(x, a)(slice(n));
  const auto envelope = error / sn::square(sn::abs(sn::fft::rfft(a, {.n = 256})));
  auto poles = sn::roots(a);
  poles = poles[poles.imag() > 0];
  const auto angles = sn::sort(sn::angle(poles));
  const auto middle = envelope(slice(1, -1));
  const auto peaks = sn::flatnonzero((middle > envelope(slice(-2))) & (middle > envelope(slice(2, _)))) + 1;
  return {a,
          sn::stack(reflected),
          rest,
          envelope,
          angles,
          peaks,
          sn::sqrt(sn::square(rest).mean()),
          sn::polyval(a, sn::array(0.5))};
}

results climate(const ndarray& u) {
  const auto years = u.len() / 60;
  const auto day = sn::arange(60);
  const auto parts = u(slice(60 * years)).reshape(years, 60);
  auto x = parts + sn::sin(2 * std::numbers::pi * day / 60) + 0.01 * sn::arange(years)(_, newaxis);
  x[parts < 0.08] = NAN;
  const auto normal = sn::nanmean(x, 0);
  const auto smooth = sn::convolve(sn::pad(normal, 5, {.mode = "wrap"}), sn::ones(11) / 11, {.mode = "valid"});
  const auto odd = x - smooth;
  const auto seen = sn::isfinite(odd);
  const auto annual = sn::nansum(odd, 1) / sn::maximum(seen.sum(1), 1);
  const auto [trend, covariance] = sn::polyfit_cov(sn::arange(years), annual, 1, {.w = sn::sqrt(seen.sum(1))});
  const auto series = odd.ravel();
  const auto known = sn::flatnonzero(sn::isfinite(series));
  const auto filled = sn::interp(sn::arange(series.size()), known, series[known]);
  const auto limits = sn::nanpercentile(odd, {10, 90}, 0);
  const auto low = limits(0), high = limits(1);
  const auto hot = sn::where(seen, odd > high, false);
  const auto edges = sn::diff(sn::concatenate({sn::array({0}), hot.ravel().astype(sn::int8), sn::array({0})}));
  const auto lengths = sn::flatnonzero(edges == -1) - sn::flatnonzero(edges == 1);
  const auto warmest = sn::nanargmax(odd, 1);
  return {normal,
          smooth,
          annual,
          trend,
          covariance,
          filled,
          low,
          high,
          sn::bincount(lengths),
          warmest,
          sn::nanstd(odd, 0, {.ddof = 1}),
          sn::nanmedian(odd),
          sn::nan_to_num(odd, {.nan = -9})};
}

results hypotheses(const ndarray& u) {
  const auto n = u.len() / 2;
  const auto x = sn::round(10 * sn::square(u(slice(n))), {.decimals = 1}), y = sn::round(9 * u(slice(n, 2 * n)), 1);
  const auto vx = x.var({.ddof = 1}) / n, vy = y.var({.ddof = 1}) / n;
  const auto t = (x.mean() - y.mean()) / sn::sqrt(vx + vy);
  const auto df = sn::square(vx + vy) * (n - 1) / (sn::square(vx) + sn::square(vy));
  const auto p_t = sp::betainc(df / 2, 0.5, df / (df + t * t));
  const auto both = sn::concatenate({x, y});
  const auto all = sn::unique(both, {.return_inverse = true, .return_counts = true});
  const auto& counts = all.counts;
  const auto rank = (sn::cumsum(counts) - (counts - 1) / 2)[all.inverse];
  const auto w = rank(slice(n)).sum() - n * (n + 1) / 2.0;
  const auto ties = (sn::power(counts, 3) - counts).sum() / (2 * n * (2 * n - 1));
  const auto z = (w - n * n / 2.0) / sn::sqrt(n * n / 12.0 * (2 * n + 1 - ties));
  const auto p_w = 2 * sp::ndtr(-sn::abs(z));
  const auto edges = sn::linspace(0, 10, 11);
  const auto table = sn::stack({sn::histogram(x, edges).hist, sn::histogram(y, edges).hist});
  const auto wanted = sn::outer(table.sum(1), table.sum(0)) / table.sum();
  const auto chi = (sn::square(table - wanted) / wanted).sum();
  const auto p_chi = sp::gammaincc(9 / 2.0, chi / 2);
  const auto ratio = x.var({.ddof = 1}) / y.var({.ddof = 1});
  const auto p_f = sp::fdtrc(n - 1, n - 1, ratio);
  const auto at = sn::sort(both);
  const auto apart =
      sn::abs(sn::searchsorted(sn::sort(x), at, "right") - sn::searchsorted(sn::sort(y), at, "right")) / n;
  const auto shown = sp::xlogy(table, table / wanted).sum() * 2;
  return {t, df, p_t, w, z, p_w, table, chi, p_chi, ratio, p_f, apart.max(), shown, all.values, rank};
}

results airy(const ndarray& u) {
  const auto n = u.len() / 3;
  const auto x = u(slice(n)), y = u(slice(n, 2 * n)), bright = u(slice(2 * n, 3 * n));
  const auto grid = sn::linspace(0, 1, 24);
  const auto r = 60 * sn::hypot(grid(_, newaxis, newaxis) - x, grid(newaxis, _, newaxis) - y);
  const auto safe = sn::where(r == 0, 1, r);
  const auto spot = sn::where(r == 0, 1.0, sn::square(2 * sp::j1(safe) / safe));
  const auto picture = sn::matmul(spot, bright);
  const auto v = sn::linspace(0, 20, 2 * n);
  const auto inside = 1 - sn::square(sp::j0(v)) - sn::square(sp::j1(v));
  const auto half = sn::interp(sn::array(0.5), inside, v);
  const auto window = sn::i0(8 * sn::sqrt(1 - sn::square(sn::linspace(-1, 1, 24)))) / sn::i0(sn::array(8.0));
  const auto far = sn::square(sn::abs(sn::fft::fftshift(sn::fft::fft2(picture * sn::outer(window, window)))));
  const auto strehl = std::exp(-std::pow(2 * std::numbers::pi * 0.05, 2)) * picture.max() / picture.sum();
  const auto blurred = sp::erf((bright - 0.5) * 3) + std::complex(0.0, 1.0) * sp::erfc(bright);
  return {picture, inside, half, sn::log1p(far), strehl, sn::unravel_index(picture.argmax(), picture.shape())[0],
          blurred};
}

results quadrature(const ndarray& u) {
  const auto k = sn::arange(1, 24);
  const auto beta = k / sn::sqrt(4.0 * k * k - 1);
  const auto [nodes, vectors] = sn::linalg::eigh(sn::diag(beta, {.k = 1}) + sn::diag(beta, {.k = -1}));
  const auto weights = 2 * sn::square(vectors(0));
  const auto a = 0.2 + 3 * u;
  const auto integrals = (weights * sn::exp(-a(_, newaxis) * sn::square(nodes + 1))).sum(1);
  const auto exact = sn::sqrt(std::numbers::pi / a) / 2 * sp::erf(2 * sn::sqrt(a));
  const int m = 20;
  const auto angle = std::numbers::pi * (sn::arange(m) + 0.5) / m;
  const auto f = sn::cos(3 * sn::cos(angle)) / (1.5 + sn::cos(angle));
  const auto c = 2.0 / m * sn::matmul(sn::cos(sn::outer(sn::arange(m), angle)), f);
  c(0) /= 2;
  const auto x = 2 * u - 1;
  auto b1 = sn::zeros_like(x), b2 = sn::zeros_like(x);
  for (int j = m - 1; j > 0; --j) {
    const auto next = c(j) + 2 * x * b1 - b2;
    b2 = b1;
    b1 = next;
  }
  const auto series = c(0) + x * b1 - b2;
  const auto wrong = sn::abs(series - sn::cos(3 * x) / (1.5 + x)).max();
  const auto legendre = sp::lpmv(0, 5, nodes);
  return {nodes,
          weights,
          integrals,
          sn::abs(integrals - exact).max() < 1e-9,
          c(slice(12)),
          series,
          wrong < 1e-7,
          legendre,
          sn::vander(nodes, 4).sum(0)};
}

results wavelet(const ndarray& u) {
  const auto n = u.len() / 8 * 8;
  const auto clean = sn::where(sn::floor_divide(sn::arange(n), 90) % 2 == 0, 1.0, -0.5);
  const auto x = clean + 0.6 * (u(slice(n)) - 0.5);
  const double s = std::sqrt(3.0);
  const auto low = sn::array({1 + s, 3 + s, 3 - s, 1 - s}) / (4 * std::sqrt(2.0));
  const auto high = low(slice(_, _, -1)) * sn::array({1, -1, 1, -1});
  std::vector<ndarray> details;
  ndarray rest = x;
  for (int level = 0; level < 3; ++level) {
    const auto w = sn::sliding_window_view(sn::pad(rest, {0, 2}, {.mode = "wrap"}), {4})(slice(_, _, 2));
    details.push_back(sn::matmul(w, high));
    rest = sn::matmul(w, low);
  }
  const auto spread = sn::median(sn::abs(details[0])) / 0.6745;
  const auto limit = spread * std::sqrt(2 * std::log(n));
  ndarray y = rest;
  for (int level = 2; level >= 0; --level) {
    const ndarray& d = details[level];
    const auto kept = sn::sign(d) * sn::maximum(sn::abs(d) - limit, 0);
    auto wide = sn::zeros({d.len(), 4});
    wide += y(_, newaxis) * low;
    wide += kept(_, newaxis) * high;
    y = sn::empty(2 * d.len());
    y(slice(0, _, 2)) = wide(_, 0) + sn::roll(wide(_, 2), 1);
    y(slice(1, _, 2)) = wide(_, 1) + sn::roll(wide(_, 3), 1);
  }
  std::vector<ndarray> sums;
  for (const ndarray& d : details) sums.push_back(sn::square(d).sum());
  const auto gain = sn::square(y - clean).mean() / sn::square(x - clean).mean();
  return {y, rest, details[0], details[1], details[2], limit, sn::stack(sums), gain};
}

results extremes(const ndarray& u) {
  const auto n = u.len();
  const auto uniform = (u + 0.5 / n) / (1 + 1.0 / n);
  const auto e = -sn::log1p(-uniform);
  const auto weibull = sn::power(e, 1 / 1.7), pareto = sn::expm1(e / 3);
  const auto cauchy = sn::tan(std::numbers::pi * (uniform - 0.5)), gumbel = 2 - 0.8 * sn::log(e);
  const auto triangle = sn::where(uniform < 0.3, sn::sqrt(0.3 * uniform), 1 - sn::sqrt(0.7 * (1 - uniform)));
  const auto gamma = sp::gammaincinv(2.5, uniform), normal = sp::ndtri(uniform);
  const auto beta = sp::betaincinv(2, 3.5, uniform);
  const auto counts = sn::searchsorted(sp::nbdtr(sn::arange(40), 3, 0.4), uniform);
  const auto block = sn::sort(gumbel(slice(n / 20 * 20)).reshape(-1, 20).max(1));
  auto scale = std::sqrt(6.0) * block.std({.ddof = 1}) / std::numbers::pi;
  for (int step = 0; step < 8; ++step) {
    const auto w = sn::exp(-(block - block.min()) / scale);
    const auto m0 = w.sum(), m1 = (block * w).sum(), m2 = (sn::square(block) * w).sum();
    const auto g = scale - block.mean() + m1 / m0;
    scale = scale - g / (1 + (m2 * m0 - sn::square(m1)) / sn::square(scale * m0));
  }
  const auto place = -scale * sn::log(sn::exp(-block / scale).mean());
  const auto level = place - scale * sn::log(-sn::log(1 - 1 / sn::array({2, 10, 50, 100})));
  const auto i = sn::arange(block.len());
  const auto l2 = 2 * (i / (block.len() - 1) * block).mean() - block.mean();
  const auto largest = sn::sort(pareto);
  const auto hill = sn::log(largest(slice(-(n / 10), _)) / largest(-(n / 10) - 1)).mean();
  return {weibull,
          pareto,
          cauchy,
          triangle,
          gamma,
          normal,
          beta,
          counts,
          scale,
          place,
          level,
          l2,
          hill,
          sn::corrcoef(sn::stack({weibull, gamma, normal})),
          sn::histogram(cauchy, 12, {.range = std::pair(-6, 6), .density = true}).hist};
}

results codes(const ndarray& u) {
  const auto n = u.len() / 4 * 4;
  const auto word = (16 * u(slice(n))).astype(sn::uint8);
  const auto gray = word ^ (word >> 1);
  const auto bits = sn::unpackbits(word(_, newaxis), {.axis = 1})(_, slice(4, _));
  const auto make =
      sn::array({{1, 1, 0, 1}, {1, 0, 1, 1}, {1, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}},
                {.dtype = sn::uint8});
  const auto sent = sn::matmul(bits, make.T()) & 1;
  const auto flip = (7 * (u(slice(n)) * 16 % 1)).astype(sn::int64);
  const auto got = sent.copy();
  got(sn::arange(n), flip) ^= 1;
  const auto check = ((sn::arange(1, 8)(_, newaxis) >> sn::arange(3)) & 1).astype(sn::uint8);
  const auto syndrome = sn::matmul(sn::matmul(got, check) & 1, sn::array({1, 2, 4}));
  const auto fixed = got.copy();
  const auto wrong = sn::flatnonzero(syndrome);
  fixed(wrong, syndrome[wrong] - 1) ^= 1;
  const auto data = sn::packbits(fixed(_, sn::list{2, 4, 5, 6}), {.axis = 1})(_, 0) >> 4;
  const auto key = sn::packbits(u(slice(n)).reshape(-1, 4) > 0.5, {.axis = 1, .bitorder = "little"})(_, 0);
  const auto apart = sn::bitwise_count(key(slice(60), newaxis) ^ key(newaxis, slice(60)));
  auto table = sn::arange(256, {.dtype = sn::uint32});
  for (int step = 0; step < 8; ++step) table = sn::where(table & 1, (table >> 1) ^ 0xEDB88320u, table >> 1);
  auto crc = sn::full(n / 4, 0xFFFFFFFFu, sn::uint32);
  for (const ndarray& column : sn::unstack(word.reshape(-1, 4).T())) crc = table[(crc ^ column) & 0xFF] ^ (crc >> 8);
  return {gray,
          sent,
          syndrome,
          sn::all(data == word),
          sn::array(sn::array_equal(fixed, sent)),
          apart,
          crc ^ 0xFFFFFFFFu,
          sn::bitwise_xor_reduce(crc),
          sn::bincount(sn::bitwise_count(gray))};
}

results hidden(const ndarray& u) {
  const int steps = 40;
  const auto n = u.len() / steps;
  const auto move = sn::array({{0.9, 0.08, 0.02}, {0.1, 0.8, 0.1}, {0.05, 0.15, 0.8}});
  const auto level = sn::array({0.2, 0.5, 0.8}), width = sn::array({0.1, 0.15, 0.1});
  const auto x = u(slice(steps * n)).reshape(steps, n);
  const auto light = sn::exp(-0.5 * sn::square((x(ellipsis, newaxis) - level) / width)) / width;
  auto alpha = sn::empty({steps, n, 3}), scale = sn::empty({steps, n});
  auto a = sn::full({n, 3}, 1 / 3.0);
  for (int t = 0; t < steps; ++t) {
    a = (t ? sn::matmul(a, move) : a) * light(t);
    scale(t) = a.sum(1);
    a = a / scale(t)(_, newaxis);
    alpha(t) = a;
  }
  auto beta = sn::ones({steps, n, 3});
  for (int t = steps - 2; t >= 0; --t)
    beta(t) = sn::matmul(light(t + 1) * beta(t + 1), move.T()) / scale(t + 1)(_, newaxis);
  auto gamma = alpha * beta;
  gamma = gamma / gamma.sum(-1, {.keepdims = true});
  ndarray best = sn::log(light(0) / 3);
  auto back = sn::empty({steps, n, 3}, sn::int64);
  for (int t = 1; t < steps; ++t) {
    const auto each = best(_, _, newaxis) + sn::log(move);
    back(t) = each.argmax(1);
    best = each.max(1) + sn::log(light(t));
  }
  auto path = sn::empty({steps, n}, sn::int64);
  path(-1) = best.argmax(1);
  for (int t = steps - 1; t > 0; --t)
    path(t - 1) = sn::take_along_axis(back(t), path(t)(_, newaxis), {.axis = 1})(_, 0);
  const auto mean = (gamma * x(ellipsis, newaxis)).sum(sn::axes{0, 1}) / gamma.sum(sn::axes{0, 1});
  return {sn::log(scale).sum(0), gamma(_, 0), path, best, mean, sn::bincount(path.ravel(), {.minlength = 3})};
}

}  // namespace sinter::test::programs::sized
