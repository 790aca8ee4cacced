// Programs of any size: resampling, gaps, spectra, splines, filters, likelihoods, terrain, bits, beliefs.
#include <cmath>
#include <limits>
#include <numbers>

#include "golden/programs/sized.hpp"
#include "sinter/segments.hpp"

namespace sn = sinter;
namespace sp = sinter::special;
using namespace sn::idx;

namespace sinter::test::programs::sized {

using sn::ndarray;
using std::numbers::pi;

results bootstrap(const ndarray& u) {
  const auto n = u.len() / 3;
  const auto x = -sn::log1p(-u(slice(n)));
  const auto at = (u(slice(n, 3 * n)).reshape(2, n) * n).astype(sn::int64);
  std::vector<ndarray> drawn;
  for (int k = 0; k < 20; ++k) drawn.push_back(x[sn::roll(at, k, {.axis = 1})(k % 2)] * (1 + 0.01 * k));
  const auto rounds = sn::stack(drawn);
  const auto mean = rounds.mean(1, {.keepdims = true});
  const auto spread = sn::std(rounds, 1, {.ddof = 1, .mean = mean});
  const auto middle = sn::median(rounds, 1);
  const auto total = x.sum();
  const auto without = (total - x) / (n - 1);
  const auto influence = (n - 1) * (without.mean() - without);
  const auto error = sn::sqrt(sn::var(influence, {.mean = sn::zeros({1})}) / n);
  return {mean(_, 0),
          spread,
          middle,
          sn::percentile(middle, {2.5, 97.5}, {.method = "median_unbiased"}),
          error,
          sn::cov(mean(_, 0), middle),
          sn::argsort(influence)(slice(5))};
}

results skill(const ndarray& u) {
  const auto days = u.len() / 48;
  const auto x = u(slice(48 * days)).reshape(2, days, 24);
  const auto hour = sn::sin(2 * pi * sn::arange(24) / 24);
  ndarray seen = x(0) + hour;
  const ndarray said = 0.7 * x(1) + 0.3 * x(0) + 1.1 * hour;
  seen = sn::where(x(1) < 0.1, NAN, seen);
  said[sn::isnan(seen)] = NAN;
  const auto both = sn::isfinite(seen);
  const auto bias = sn::nanmean(said - seen, 0);
  const auto of_seen = sn::nanmean(seen, 0, {.keepdims = true}), of_said = sn::nanmean(said, 0, {.keepdims = true});
  const auto width = sn::nanstd(seen, 0, {.mean = of_seen}) * sn::nanstd(said, 0, {.mean = of_said});
  const auto r = sn::nanmean((seen - of_seen) * (said - of_said), 0) / width;
  const auto rmse = sn::sqrt(sn::nanmean(sn::square(said - seen), 0));
  const auto worst = sn::nanargmax(sn::abs(said - seen), 0);
  const auto run = sn::nancumsum(sn::nan_to_num(said - seen), 0)(-1);
  const auto ranks = sn::nanquantile(seen, {0.1, 0.5, 0.9}, 0);
  return {bias,
          r,
          rmse,
          worst,
          run,
          ranks,
          both.sum(1),
          sn::count_nonzero(both),
          sn::nanmax(said) - sn::nanmin(said),
          sn::nan_to_num(sn::mean(seen, 1, {.where = both}))};
}

results cepstrum(const ndarray& u) {
  const auto n = u.len() / 2;
  const auto t = sn::arange(n);
  auto x = sn::sign(sn::sin(0.31 * t)) + 0.2 * (u(slice(n)) - 0.5);
  const int size = 128, hop = 64;
  x = sn::pad(x, {size / 2, size / 2}, {.mode = "reflect", .reflect_type = "odd"});
  const auto count = 1 + (x.len() - size) / hop;
  const auto frames =
      sn::as_strided(x, {.shape = sn::shape_t{count, size}, .strides = std::vector<std::int64_t>{8 * hop, 8}}) *
      sn::blackman(size);
  const auto spectrum = sn::empty({count, size / 2 + 1}, sn::complex128);
  sn::fft::rfft(frames, {.axis = 1, .out = spectrum});
  const auto loud = sn::log(sn::abs(spectrum) + 1e-9);
  const auto c = sn::fft::irfft(loud, {.axis = 1});
  const auto k = sn::arange(size);
  const auto lifter = sn::where(k < 12, 1 + 6 * sn::sin(pi * k / 12), 0);
  const ndarray smooth = sn::fft::rfft(c * lifter, {.axis = 1}).real();
  const auto pitch = 12 + c(_, slice(12, size / 2)).argmax(1);
  const auto phase = sn::unwrap(sn::angle(spectrum(_, slice(4, 9))), {.axis = 0});
  return {loud.mean(0), c(_, slice(20)), smooth(slice(_, _, 3)), pitch, phase(-1) - phase(0), sn::ptp(smooth, 1)};
}

results pieces(const ndarray& u) {
  const auto n = u.len() / 8;
  const auto y = sn::cumsum(u(slice(n)) - 0.5);
  const double h = 1.0;
  const auto a = 4 * sn::eye(n - 2) + sn::eye(n - 2, {.k = 1}) + sn::eye(n - 2, {.k = -1});
  const auto second = sn::pad(sn::linalg::solve(a, 6 * sn::diff(y, {.n = 2}) / (h * h)), 1);
  const auto cubic = sn::diff(second) / 6;
  const auto square = second(slice(-1)) / 2;
  const auto slope = sn::diff(y) - (2 * second(slice(-1)) + second(slice(1, _))) / 6;
  const auto c = sn::stack({cubic, square, slope, y(slice(-1))});
  const auto at = u(slice(n, _)) * (n - 1);
  const auto k = sn::clip(sn::floor(at).astype(sn::int64), 0, n - 2);
  const auto f = at - k;
  const auto dc = sn::stack({3 * cubic, 2 * square, slope});
  const auto value = sn::polyval(c(_, k), f), derivative = sn::polyval(dc(_, k), f);
  const auto area = sn::append(0, sn::cumsum(cubic / 4 + square / 3 + slope / 2 + y(slice(-1))));
  const auto p = sn::polyint(c(_, 0), {.k = 2.0});
  const auto roots = sn::sort(sn::real(sn::roots(sn::polyder(sn::poly(sn::array({0.5, -1.5, 2.0}))))));
  const auto [q, r] = sn::polydiv(p, sn::array({1.0, -0.5}));
  return {value,
          derivative,
          area,
          sn::abs(second).argmax(),
          p,
          roots,
          q,
          r,
          sn::interp(at(slice(50)), sn::arange(n), y),
          sn::polymul(p, q)};
}

results filters(const ndarray& u) {
  const auto n = u.len();
  const auto t = sn::arange(n);
  const auto x = sn::sin(0.05 * t) + 0.4 * sn::sin(1.9 * t) + 0.1 * (u - 0.5);
  const int taps = 41;
  const double cut = 0.2;
  const auto k = sn::arange(taps) - taps / 2;
  auto h = 2 * cut * sn::sinc(2 * cut * k) * sn::kaiser(taps, 6.5);
  h /= h.sum();
  const auto low = sn::convolve(sn::pad(x, taps / 2, {.mode = "edge"}), h, {.mode = "valid"});
  const auto high = x - low;
  const auto gain = 20 * sn::log10(sn::abs(sn::fft::rfft(h, {.n = 256})) + 1e-12);
  const auto shifted = sn::roll(h, -(taps / 2));
  const ndarray slope = sn::gradient(sn::unwrap(sn::angle(sn::fft::rfft(shifted + 0 * h, {.n = 64}))));
  const auto group = -slope;
  const auto windows = sn::stack({sn::bartlett(taps), sn::hamming(taps), sn::hanning(taps), sn::blackman(taps)});
  const auto leak =
      sn::square(sn::abs(sn::fft::rfft(windows, {.n = 512, .axis = 1}))).max(1) / sn::square(windows).sum(1);
  const auto envelope = sn::cummax(sn::abs(high)(slice(200)));
  return {h,
          low(slice(_, _, 4)),
          high(slice(5, 25)),
          gain,
          group(slice(8)),
          leak,
          envelope,
          sn::trapezoid(low, {.dx = 0.1}),
          sn::correlate(x(slice(64)), h(slice(9)), "same")};
}

results likelihood(const ndarray& u) {
  const auto n = u.len() / 2;
  const auto first = u(slice(n)), other = u(slice(n, 2 * n));
  const auto x = -sn::log1p(-first) - sn::log1p(-other);
  const auto s = sn::log(x.mean()) - sn::log(x).mean();
  ndarray k = (3 - s + sn::sqrt(sn::square(s - 3) + 24 * s)) / (12 * s);
  for (int i = 0; i < 5; ++i) k = k - (sn::log(k) - sp::digamma(k) - s) / (1 / k - sp::polygamma(1, k));
  const auto theta = x.mean() / k;
  const auto logs = ((k - 1) * sn::log(x) - x / theta - sp::gammaln(k) - k * sn::log(theta)).sum();
  const auto edges = sp::gammaincinv(k, sn::linspace(0, 1, 11)(slice(1, -1))) * theta;
  const auto counts = sn::bincount(sn::digitize(x, edges), {.minlength = 10});
  const auto chi = (sn::square(counts - n / 10.0) / (n / 10.0)).sum();
  const auto z = sp::ndtri(other * 0.998 + 0.001);
  const auto y = sn::where(first < 0.4, z, 4 + z / 2);
  auto mean = sn::array({0.5, 3.0}), width = sn::ones({2}), share = sn::full({2}, 0.5);
  ndarray each;
  for (int i = 0; i < 10; ++i) {
    each = sn::log(share) - sn::log(width) - 0.5 * sn::square((y(_, newaxis) - mean) / width);
    const auto r = sn::exp(each - sp::logsumexp(each, 1, {.keepdims = true}));
    const auto total = r.sum(0);
    mean = (r * y(_, newaxis)).sum(0) / total;
    width = sn::sqrt((r * sn::square(y(_, newaxis) - mean)).sum(0) / total);
    share = total / n;
  }
  return {k,
          theta,
          logs,
          edges,
          counts,
          sp::chdtrc(7, chi),
          mean,
          width,
          share,
          sp::softmax(each, 1)(slice(9)),
          sp::logsumexp_with_sign(each(slice(20)), {.axis = 1, .b = sn::array({1.0, -1.0})}).sign};
}

results flows(const ndarray& u) {
  const auto years = u.len() / 60;
  const auto t = sn::arange(60 * years);
  const auto part = u(slice(60 * years));
  const auto flow = sn::exp(sn::sin(2 * pi * t / 60) + sp::ndtri(0.98 * part + 0.01) / 3);
  const auto gap = sn::roll(part, 7) < 0.05;
  const auto good = ~gap;
  const auto filled = sn::interp(t, t[good], flow[good]);
  const auto table = sn::empty({3, 60 * years});
  sn::cumsum(filled, {.out = table(0)});
  sn::cumsum(sn::where(gap, 0, 1), {.out = table(1)});
  table(2) = sn::ediff1d(filled, {.to_begin = 0.0});
  const auto chance = (sn::arange(1, t.len() + 1) - 0.44) / (t.len() + 0.12);
  const auto curve = sn::interp(sn::array({0.1, 0.5, 0.9, 0.95}), chance, sn::sort(filled)(slice(_, _, -1)));
  const auto dry = filled < sn::quantile(filled, 0.25);
  const auto none = sn::array({false});
  const auto edge = sn::flatnonzero(sn::diff(sn::concatenate({none, dry, none}).astype(sn::int8)));
  const auto length = edge(slice(1, _, 2)) - edge(slice(_, _, 2));
  const auto missing = sn::append(sn::where(dry, curve(2) - filled, 0), 0);
  const auto deficit = sn::add_reduceat(missing, edge)(slice(_, _, 2));
  const auto annual = filled.reshape(years, 60);
  const auto rank = annual.max(1).argsort().argsort();
  const auto months = sn::stack(sn::array_split(annual, 12, {.axis = 1})).mean(2);
  const auto [hist, bins] = sn::histogram(sn::log(filled), 8, {.range = std::pair(-2.0, 2.0)});
  return {table(_, slice(_, _, 50)),
          curve,
          length,
          deficit,
          rank,
          months,
          hist,
          bins,
          sn::average(months, 0, {.weights = sn::arange(1, 13)}),
          sn::histogram_bin_edges(filled, "sturges")};
}

results terrain(const ndarray& u) {
  const auto n = static_cast<std::int64_t>(std::sqrt(u.len() / 4)) * 2;
  ndarray z = u(slice(n * n)).reshape(n, n);
  for (int i = 0; i < 3; ++i) {
    const auto p = sn::pad(z, 1, {.mode = "symmetric"});
    z = (p(slice(-2), slice(1, -1)) + p(slice(2, _), slice(1, -1)) + p(slice(1, -1), slice(-2)) +
         p(slice(1, -1), slice(2, _)) + 4 * z) /
        8;
  }
  const ndarray gx = sn::gradient(z, {.axis = 1}), gy = sn::gradient(z, {.axis = 0});
  const auto shade = sn::clip(sn::cos(sn::arctan(sn::hypot(gx, gy) * 8)) + 0.3 * sn::sin(sn::arctan2(gy, gx)), 0, _);
  const auto grid = sn::meshgrid({sn::arange(n), sn::arange(n)}, {.indexing = "ij", .sparse = true});
  const auto ring = sn::where(sn::abs(grid[0] - grid[1]) % 5 == 0, z, 0).sum(1);
  const auto p = sn::pad(z, 1, {.mode = "constant", .constant_values = INFINITY});
  std::vector<ndarray> shifted;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      if (i != 0 || j != 0) shifted.push_back(p(slice(1 + i, n + 1 + i), slice(1 + j, n + 1 + j)));
  const auto around = sn::stack(shifted);
  const auto sinks = sn::argwhere(z < around.min(0));
  const auto way = around.argmin(0);
  const auto top = sn::unravel_index(sn::argsort(z, _)(slice(-6, _)), z.shape(), {.order = 'C'});
  const auto flat =
      sn::ravel_multi_index({top[0] + 3, top[1] - 2}, z.shape(), {.order = 'F', .modes = {"wrap", "clip"}});
  const auto blocks = z.reshape(n / 2, 2, n / 2, 2).mean(sn::axes{1, 3});
  const auto turned = sn::rot90(sn::flip(blocks, {.axis = {0, 1}}));
  return {shade(slice(_, _, 5)),
          ring,
          sinks,
          sn::bincount(way.ravel(), {.minlength = 8}),
          top[0],
          top[1],
          flat,
          turned(slice(_, _, 4)),
          sn::trace(z),
          sn::tril(blocks, {.k = -2}).sum(0),
          z.T().ravel({.order = 'F'})(slice(9))};
}

results registers(const ndarray& u) {
  const auto n = u.len() / 8 * 8;
  const auto bits = u(slice(n)) < 0.4;
  const auto packed = sn::packbits(bits, {.bitorder = "little"});
  const auto words = packed(slice(packed.len() / 8 * 8)).view(sn::uint64);
  ndarray mixed = words ^ (words << 13);
  mixed ^= mixed >> 7;
  mixed ^= mixed << 17;
  const auto back = sn::unpackbits(packed, {.count = n - 3, .bitorder = "little"});
  const auto ones = sn::bitwise_count(mixed);
  const auto [top, low] = sn::divmod(sn::arange(1, 200), 7);
  const auto divisor = sn::gcd(sn::arange(1, 200), 36);
  const auto [mantissa, exponent] = sn::frexp(u(slice(50)) * 1000);
  const auto again = sn::ldexp(mantissa, exponent);
  const auto [fraction, whole] = sn::modf(u(slice(20)) * 9);
  const auto parity =
      packed.len() % 5 == 0 ? sn::bitwise_xor_reduce(packed.reshape(-1, 5), 1) : sn::bitwise_xor_reduce(packed);
  const auto square = sn::lcm(top + 1, low + 1);
  const auto order = sn::lexsort({ones, (mixed >> 60).astype(sn::int64)});
  return {packed(slice(40)),
          mixed,
          back.sum(),
          ones,
          top + low,
          divisor,
          exponent,
          again,
          fraction,
          whole,
          parity,
          square(slice(30)),
          order,
          sn::left_shift(sn::arange(9), 2),
          sn::invert(packed(slice(5)))};
}

results beliefs(const ndarray& u) {
  const auto n = u.len() / 40;
  const auto trials = u(slice(40 * n)).reshape(n, 40) < sn::linspace(0.1, 0.9, n)(_, newaxis);
  const auto wins = trials.sum(1);
  const auto a = 1.0 + wins, b = 1.0 + 40 - wins;
  const auto low = sp::betaincinv(a, b, 0.05), high = sp::betaincinv(a, b, 0.95);
  const auto inside = sp::betainc(a, b, high) - sp::betainc(a, b, low);
  const auto strength = sn::geomspace(sn::full({n}, 0.1), 10.0 + wins, 9, {.axis = -1});
  const auto evidence =
      sp::betaln(strength + wins(_, newaxis), strength + (40 - wins)(_, newaxis)) - sp::betaln(strength, strength);
  const auto best = strength(sn::arange(n), evidence.argmax(1));
  auto weight = sn::exp(evidence - evidence.max(1, {.keepdims = true}));
  weight = weight / sn::trapezoid(weight, strength, {.axis = 1})(_, newaxis);
  const auto mean = a / (a + b);
  const auto away = sp::kl_div(mean, mean.mean()) + sp::kl_div(1 - mean, 1 - mean.mean());
  const auto surprise = sp::entr(mean) + sp::entr(1 - mean);
  const auto tail = sp::bdtrc(wins - 1, 40, 0.5);
  const auto q =
      sn::minimum(1, sn::cummin((sn::sort(tail) * n / sn::arange(1, n + 1))(slice(_, _, -1)))(slice(_, _, -1)));
  const auto steps =
      sn::logspace(-1, sn::array({0, 1, 2}), 4, {.base = sn::array({2.0, 10.0, std::numbers::e}), .axis = 1});
  return {low,
          high,
          inside,
          best,
          weight(slice(_, _, 3)),
          away,
          surprise,
          q,
          steps,
          sp::expit(sp::logit(mean)),
          sp::xlogy(wins, mean).sum()};
}

}  // namespace sinter::test::programs::sized
