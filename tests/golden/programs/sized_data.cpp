// Programs of any size: series, samples, tables.
#include <cmath>
#include <numbers>

#include "golden/programs/sized.hpp"
#include "sinter/linalg.hpp"
#include "sinter/polynomial_fit.hpp"

namespace sn = sinter;
using namespace sn::idx;

namespace sinter::test::programs::sized {

using sn::ndarray;

results savgol(const ndarray& u) {
  const auto x = sn::cumsum(u - 0.5);
  const int half = 7, order = 3;
  const auto k = sn::arange(-half, half + 1);
  const auto a = sn::vander(k, order + 1, {.increasing = true});
  const auto c = sn::linalg::pinv(a);
  const auto y = sn::convolve(x, c(0, slice(_, _, -1)), "same");
  const auto d = sn::convolve(x, c(1, slice(_, _, -1)), "valid");
  const auto head = sn::polyfit(sn::arange(2 * half + 1), x(slice(2 * half + 1)), order);
  const auto tail = sn::polyfit(sn::arange(2 * half + 1), x(slice(-2 * half - 1, _)), order);
  y(slice(half)) = sn::polyval(head, sn::arange(half));
  y(slice(-half, _)) = sn::polyval(tail, sn::arange(half + 1, 2 * half + 1));
  const auto rest = x - y;
  const auto turns = sn::count_nonzero(sn::diff(sn::sign(d)));
  return {y, d, sn::sqrt(sn::mean(sn::square(rest))), turns, sn::abs(rest).argmax()};
}

results loess(const ndarray& u) {
  const auto x = sn::sort(u);
  const auto y = sn::sin(6 * x) + 0.3 * (u - 0.5);
  const auto at = sn::linspace(0.02, 0.98, 64);
  const auto k = x.len() / 4;
  const auto d = sn::abs(at(_, newaxis) - x);
  const auto h = sn::partition(d, k, 1)(_, slice(k, k + 1));
  const auto w = sn::power(sn::clip(1 - sn::power(d / h, 3), 0, _), 3);
  auto robust = sn::ones_like(x);
  ndarray fit, slope, mad;
  for (int step = 0; step < 2; ++step) {
    const auto v = w * robust;
    const auto s0 = v.sum(1), s1 = (v * x).sum(1), s2 = (v * x * x).sum(1);
    const auto t0 = sn::matmul(v, y), t1 = sn::matmul(v, x * y);
    slope = (s0 * t1 - s1 * t0) / (s0 * s2 - sn::square(s1));
    const auto level = (t0 - slope * s1) / s0;
    fit = level + slope * at;
    const auto rest = y - sn::interp(x, at, fit);
    mad = sn::median(sn::abs(rest));
    robust = sn::square(sn::clip(1 - sn::square(rest / (6 * mad)), 0, _));
  }
  return {fit, slope, mad, robust.sum()};
}

results survival(const ndarray& u) {
  const auto n = u.len() / 2;
  const auto life = sn::ceil(-200 * sn::log(1 - u(slice(n)))), leave = sn::ceil(400 * u(slice(n, 2 * n)));
  const auto time = sn::minimum(life, leave), event = life <= leave;
  const auto [t, index] = sn::unique_inverse(time);
  const auto died = sn::bincount(index, {.weights = event, .minlength = t.len()});
  const auto gone = sn::bincount(index, {.minlength = t.len()});
  const auto risk = n - sn::cumsum(gone) + gone;
  const auto curve = sn::cumprod(1 - died / risk);
  const auto green = sn::cumsum(sn::where(risk > died, died / (risk * (risk - died)), 0));
  const auto error = curve * sn::sqrt(green);
  const auto hazard = sn::cumsum(died / risk);
  const auto below = curve <= 0.5;
  const ndarray middle = sn::any(below) ? t[sn::argmax(below)] : sn::array(INFINITY);
  const auto area = sn::sum(sn::diff(t, {.prepend = 0}) * sn::concatenate({sn::array({1.0}), curve(slice(-1))}));
  const auto low = sn::clip(curve - 1.96 * error, 0, 1), high = sn::clip(curve + 1.96 * error, 0, 1);
  return {t, risk, curve, error, hazard, middle, area, low, high};
}

results principal(const ndarray& u) {
  auto x = u(slice(u.len() / 10 * 10)).reshape(-1, 10);
  x = sn::matmul(x, sn::triu(sn::ones({10, 10}))) + 0.1 * sn::square(x);
  const auto centred = x - x.mean(0);
  const auto cov = sn::matmul(centred.T(), centred) / (x.len() - 1);
  auto [values, vectors] = sn::linalg::eigh(cov);
  values = values(slice(_, _, -1));
  vectors = vectors(_, slice(_, _, -1));
  vectors = vectors * sn::sign(vectors(sn::abs(vectors).argmax(0), sn::arange(10)));
  const auto scores = sn::matmul(centred, vectors(_, slice(3)));
  const auto share = sn::cumsum(values) / values.sum();
  const auto back = sn::matmul(scores, vectors(_, slice(3)).T()) + x.mean(0);
  const auto lost = sn::square(x - back).sum(1);
  const auto white = sn::matmul(centred, vectors / sn::sqrt(values));
  const auto far = sn::sqrt(sn::square(white).sum(1));
  return {
      values, share, scores, lost.mean(), sn::sort(lost)(slice(-5, _)), far, sn::corrcoef(white, {.rowvar = false})};
}

results options(const ndarray& u) {
  const auto n = u.len() / 32;
  const auto a = u(slice(16 * n)).reshape(n, 16), b = u(slice(16 * n, 32 * n)).reshape(n, 16);
  const auto z = sn::sqrt(-2 * sn::log1p(-a)) * sn::cos(2 * pi * b);
  const double dt = 1.0 / 16, rate = 0.03, sigma = 0.25, s0 = 100, strike = 101;
  const auto paths = s0 * sn::exp(sn::cumsum((rate - sigma * sigma / 2) * dt + sigma * std::sqrt(dt) * z, 1));
  const auto mean = paths.mean(1), geometric = sn::exp(sn::log(paths).mean(1));
  const auto pay = std::exp(-rate) * sn::maximum(mean - strike, 0);
  const auto control = std::exp(-rate) * sn::maximum(geometric - strike, 0);
  const auto c = sn::cov(pay, control);
  const auto beta = c(0, 1) / c(1, 1);
  const auto better = pay - beta * (control - control.mean());
  const auto knocked = sn::where(paths.max(1) > 130, 0, sn::maximum(paths(_, -1) - strike, 0));
  const auto delta = std::exp(-rate) * sn::mean((mean > strike) * mean / s0);
  return {pay.mean(), pay.std({.ddof = 1}) / std::sqrt(n), better.std({.ddof = 1}), beta, knocked.mean(),
          delta,      sn::percentile(pay, {50, 90, 99})};
}

results running(const ndarray& u) {
  const auto x = sn::where(u > 0.98, 3 * u, u) + sn::arange(u.len()) / u.len();
  const int w = 50;
  const auto s = sn::cumsum(sn::insert(x, 0, 0)), q = sn::cumsum(sn::insert(x * x, 0, 0));
  const auto mean = (s(slice(w, _)) - s(slice(-w))) / w;
  const auto var = sn::maximum((q(slice(w, _)) - q(slice(-w))) / w - sn::square(mean), 0) * w / (w - 1);
  const auto z = (x(slice(w - 1, _)) - mean) / sn::sqrt(var);
  const auto flag = sn::abs(z) > 2;
  const auto edge = sn::diff(sn::concatenate({sn::array({0}), flag.astype(sn::int8), sn::array({0})}));
  const auto first = sn::flatnonzero(edge == 1), last = sn::flatnonzero(edge == -1);
  const auto length = last - first;
  return {z,
          flag.sum(),
          sn::bincount(length),
          first(slice(5)),
          sn::median(sn::abs(z)),
          sn::where(flag, x(slice(w - 1, _)), 0).sum()};
}

results lomb(const ndarray& u) {
  const auto n = u.len() / 2;
  const auto t = sn::sort(40 * u(slice(n)));
  auto y = sn::sin(2 * pi * 0.7 * t) + 0.5 * (u(slice(n, 2 * n)) - 0.5);
  y = y - y.mean();
  const auto f = sn::linspace(0.05, 2, 200);
  const auto w = 2 * pi * f(_, newaxis);
  const auto tau = sn::arctan2(sn::sin(2 * w * t).sum(1), sn::cos(2 * w * t).sum(1))(_, newaxis) / (2 * w);
  const auto c = sn::cos(w * (t - tau)), s = sn::sin(w * (t - tau));
  const auto power =
      (sn::square(sn::matmul(c, y)) / sn::square(c).sum(1) + sn::square(sn::matmul(s, y)) / sn::square(s).sum(1)) /
      (2 * y.var());
  const ndarray best = f[power.argmax()];
  const auto phase = t * best % 1;
  const auto bins = (10 * phase).astype(sn::int64);
  const auto folded = sn::bincount(bins, {.weights = y, .minlength = 10}) / sn::bincount(bins, {.minlength = 10});
  return {power, best, folded, phase(slice(10)), 1 - sn::power(1 - sn::exp(-power.max()), 200)};
}

results fits(const ndarray& u) {
  const int m = 64;
  auto y = u(slice(u.len() / m * m)).reshape(-1, m).T();
  const auto x = sn::linspace(-1, 1, m);
  y = y + sn::polyval(sn::array({0.5, -1, 0, 2}), x)(_, newaxis);
  const auto [one, cov] = sn::polyfit_cov(x, y(_, 0), 3);
  const auto every = sn::polyfit(x, y, 3);
  const auto fitted = sn::matmul(sn::vander(x, 4), every);
  const auto r2 = 1 - sn::square(y - fitted).sum(0) / sn::square(y - y.mean(0)).sum(0);
  const auto weight = sn::polyfit(x, y(_, 1), 2, {.w = 1 / (0.1 + sn::square(x))});
  const auto slope = sn::polyder(every(_, 0));
  const auto area = sn::polyval(sn::polyint(every(_, 0)), 1) - sn::polyval(sn::polyint(every(_, 0)), -1);
  const auto turning = sn::sort(sn::roots(slope).real());
  const auto errors = sn::sqrt(sn::diag(cov));
  return {one, errors, every, r2, weight, turning, area, r2.argmax(), sn::abs(y - fitted).max(0)};
}

results groups(const ndarray& u) {
  const auto n = u.len() / 2;
  const auto key = (sn::square(u(slice(n))) * 500).astype(sn::int64) * 17 + 3, x = 10 * u(slice(n, 2 * n));
  const auto found = sn::unique(key, {.return_inverse = true, .return_counts = true});
  const auto &names = found.values, &index = found.inverse, &counts = found.counts;
  const auto total = sn::bincount(index, {.weights = x});
  const auto mean = total / counts;
  const auto spread =
      sn::sqrt(sn::bincount(index, {.weights = sn::square(x - mean[index])}) / sn::maximum(counts - 1, 1));
  const auto least = sn::full({names.len()}, INFINITY), most = sn::full({names.len()}, -INFINITY);
  sn::scatter_min(least, index, x);
  sn::scatter_max(most, index, x);
  const auto order = sn::lexsort({x, index});
  const auto start = sn::cumsum(counts) - counts;
  auto rank = sn::empty({n}, sn::int64);
  rank[order] = sn::arange(n) - sn::repeat(start, counts);
  const auto middle = x[order][start + sn::floor_divide(counts, 2)];
  const auto share = x / total[index];
  const auto top = names[sn::argsort(-total)(slice(5))];
  return {names, counts, total, mean, spread, least, most, rank, middle, share.max(), top};
}

results logistic(const ndarray& u) {
  const auto n = u.len() / 7;
  const auto x = sn::column_stack({sn::ones({n}), u(slice(5 * n)).reshape(n, 5) - 0.5});
  ndarray p = 1 / (1 + sn::exp(-sn::matmul(x, sn::array({0.2, 1, -2, 0, 3, 0.5}))));
  const auto y = (u(slice(5 * n, 6 * n)) < p).astype(sn::float64);
  auto beta = sn::zeros({6});
  ndarray hessian;
  for (int step = 0; step < 6; ++step) {
    p = 1 / (1 + sn::exp(-sn::matmul(x, beta)));
    hessian = sn::matmul(x.T(), x * (p * (1 - p))(_, newaxis));
    beta = beta + sn::linalg::solve(hessian, sn::matmul(x.T(), y - p));
  }
  const auto error = sn::sqrt(sn::diag(sn::linalg::inv(hessian)));
  const auto loss = -sn::mean(y * sn::log(p) + (1 - y) * sn::log1p(-p));
  const auto order = sn::argsort(-p);
  const auto hits = sn::cumsum(y[order]) / y.sum();
  const auto alarms = sn::cumsum(1 - y[order]) / (n - y.sum());
  const auto area = sn::trapezoid(hits, alarms);
  const auto table = sn::bincount(2 * y.astype(sn::int64) + (p > 0.5), {.minlength = 4}).reshape(2, 2);
  return {beta, beta / error, loss, area, table, sn::quantile(p, {0.1, 0.9})};
}

}  // namespace sinter::test::programs::sized
