// Ten NumPy programs of different fields, line by line (make/golden_programs.py has the originals), and NumPy's values.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "golden/calls.hpp"

namespace sn = sinter;
using namespace sn::idx;

namespace {

using sn::ndarray;
using results = std::vector<ndarray>;
constexpr double pi = std::numbers::pi;

results spectrum() {
  const auto t = sn::linspace(0, 1, 256, {.endpoint = false});
  const auto x = sn::sin(2 * pi * 20 * t) + 0.5 * sn::cos(2 * pi * 47 * t) + 0.1 * t;
  const auto w = sn::hanning(x.size());
  const auto f = sn::fft::rfft(x * w);
  const auto freq = sn::fft::rfftfreq(x.size(), (t(1) - t(0)).item<double>());
  auto power = sn::square(sn::abs(f));
  power(slice(1, _)) *= 2;
  const auto peak = freq[sn::argmax(power)];
  const auto smooth = sn::convolve(x, sn::ones({5}) / 5, "same");
  auto g = sn::fft::fft(x);
  g.imag()[sn::abs(sn::fft::fftfreq(256, 1.0 / 256)) > 40] = 0;
  g.real()[sn::abs(sn::fft::fftfreq(256, 1.0 / 256)) > 40] = 0;
  const auto low = sn::fft::ifft(g).real();
  const auto phase = sn::unwrap(sn::angle(f(slice(15, 26))));
  const auto frames = sn::sliding_window_view(x, 64)(slice(_, _, 32));
  const auto energy = sn::square(frames).mean(1);
  const auto autocorrelation = sn::correlate(x, x, "full")(slice(x.size() - 1, _));
  const auto [m, e] = sn::frexp(energy);
  const auto again = sn::ldexp(m, e + 1);
  return {power, peak, smooth, low, phase, energy, autocorrelation(slice(50)), again};
}

results morphology() {
  const auto grid = sn::mgrid({{0, 24}, {0, 32}});
  const auto y = grid(0), x = grid(1);
  const auto image = sn::exp(-(sn::square(x - 12) + sn::square(y - 10)) / 40) +
                     0.8 * sn::exp(-(sn::square(x - 24) + sn::square(y - 16)) / 12);
  const auto mask = image > 0.4;
  const auto padded = sn::pad(mask, 1, "constant", {.constant_values = false});
  const auto windows = sn::sliding_window_view(padded, {3, 3});
  const auto eroded = windows.all(sn::axes{2, 3});
  const auto dilated = windows.any(sn::axes{2, 3});
  const auto outline = dilated & ~eroded;
  const auto both = sn::gradient(image);
  const auto slope = sn::hypot(both[1], both[0]);
  const auto where = sn::nonzero(outline);
  const auto &rows = where[0], &columns = where[1];
  auto distance =
      sn::sqrt(sn::square(y(ellipsis, newaxis) - rows) + sn::square(x(ellipsis, newaxis) - columns)).min(-1);
  distance[~mask] *= -1;
  const auto area = mask.sum();
  const auto centre = sn::stack({sn::average(y, {.weights = mask}), sn::average(x, {.weights = mask})});
  const auto packed = sn::packbits(mask, {.axis = 1});
  const auto counted = sn::bitwise_count(packed).sum(1);
  const auto filled = image.copy();
  sn::fill_diagonal(filled, 0);
  const auto corner = sn::rot90(filled)(slice(3), slice(4));
  const auto levels = sn::digitize(image, sn::array({0.1, 0.3, 0.6, 0.9}));
  const auto histogram = sn::bincount(levels.ravel(), {.minlength = 6});
  return {eroded, outline, slope, distance, area, centre, packed, counted, corner, histogram};
}

results portfolio() {
  const auto days = sn::arange(60);
  const auto prices =
      100 * sn::exp(sn::cumsum(
                0.01 * sn::sin(sn::outer(days, sn::array({0.3, 0.7, 1.1, 1.9})) + sn::array({0, 1, 2, 3})), 0));
  const auto returns = sn::diff(sn::log(prices), {.axis = 0});
  const auto cov = sn::cov(returns, {.rowvar = false});
  const auto corr = sn::corrcoef(returns.T());
  auto w = sn::linalg::solve(cov, sn::ones({4}));
  w /= w.sum();
  const auto portfolio_returns = sn::matmul(returns, w);
  const auto wealth = sn::cumprod(1 + portfolio_returns);
  const auto drawdown = (wealth / sn::cummax(wealth) - 1).min();
  const auto var95 = sn::percentile(portfolio_returns, 5);
  const auto shortfall = portfolio_returns[portfolio_returns <= var95].mean();
  const auto beta = cov(_, 0) / cov(0, 0);
  const auto gaps = returns.copy();
  gaps(slice(_, _, 7), 1) = NAN;
  gaps(3, _) = NAN;
  const auto sharpe = sn::nanmean(gaps, 0) / sn::nanstd(gaps, 0, {.ddof = 1});
  const auto middle = sn::nanmedian(gaps, 0);
  const auto tails = sn::nanquantile(gaps, {0.1, 0.9}, 0);
  const auto ranks = sn::argsort(sn::argsort(returns(-1)));
  const auto factor = sn::linalg::cholesky(cov);
  const auto excess = sn::zeros_like(returns);
  sn::subtract(returns, returns.mean(0), {.out = excess, .where = returns > 0});
  return {corr, w, wealth, drawdown, var95, shortfall, beta, sharpe, middle, tails, ranks, factor, excess};
}

results genetics() {
  const auto i = sn::arange(40 * 12).reshape(40, 12);
  auto genotypes = (i * i + 3 * i) % 7 % 3;
  genotypes = genotypes.astype(sn::int8);
  const auto population = sn::repeat(sn::array({0, 1}), {18, 22});
  std::vector<ndarray> each;
  for (int k = 0; k < 3; ++k) each.push_back((genotypes == k).sum(0));
  const auto counts = sn::stack(each);
  const auto p = (2 * counts(2) + counts(1)) / (2 * counts.sum(0));
  auto expected = sn::stack({sn::square(1 - p), 2 * p * (1 - p), sn::square(p)}) * genotypes.shape(0);
  auto chi2 = sn::zeros({12});
  sn::divide(sn::square(counts - expected), expected, {.out = expected, .where = expected > 0});
  chi2 += expected.sum(0);
  const auto by_population =
      sn::stack({genotypes[population == 0].mean(0) / 2, genotypes[population == 1].mean(0) / 2});
  const auto fst = sn::var(by_population, 0) / (p * (1 - p));
  const auto centred = genotypes - genotypes.mean(0);
  const auto linkage = sn::square(sn::corrcoef(centred, {.rowvar = false}));
  const auto upper = linkage(sn::triu_indices(12, 1));
  const auto minor = sn::minimum(p, 1 - p);
  const auto kept = sn::flatnonzero(minor > 0.2);
  const auto u = sn::unique(genotypes(_, 0), {.return_index = true, .return_inverse = true, .return_counts = true});
  const auto shared = (genotypes(_, newaxis, _) == genotypes(newaxis, _, _)).mean(2);
  const auto nearest = sn::argmax(shared - 2 * sn::eye(40), 1);
  return {counts, p, chi2, fst, upper, kept, u.values, u.index, u.inverse, u.counts, nearest};
}

results geodesy() {
  const auto lat = sn::deg2rad(sn::array({48.8566, -33.8688, 35.6762, 64.1466, 0.0}));
  const auto lon = sn::radians(sn::array({2.3522, 151.2093, 139.6503, -21.9426, -179.5}));
  const double a = 6378137.0, f = 1 / 298.257223563;
  const double e2 = f * (2 - f);
  const auto h = sn::array({35.0, 58.0, 40.0, 0.0, 1000.0});
  const auto n = a / sn::sqrt(1 - e2 * sn::square(sn::sin(lat)));
  const auto xyz = sn::column_stack({(n + h) * sn::cos(lat) * sn::cos(lon), (n + h) * sn::cos(lat) * sn::sin(lon),
                                     (n * (1 - e2) + h) * sn::sin(lat)});
  const auto p = sn::hypot(xyz(_, 0), xyz(_, 1));
  auto back = sn::arctan2(xyz(_, 2), p * (1 - e2));
  ndarray height;
  for (int k = 0; k < 6; ++k) {
    const auto n2 = a / sn::sqrt(1 - e2 * sn::square(sn::sin(back)));
    height = p / sn::cos(back) - n2;
    back = sn::arctan2(xyz(_, 2), p * (1 - e2 * n2 / (n2 + height)));
  }
  const auto dlat = lat(_, newaxis) - lat, dlon = lon(_, newaxis) - lon;
  const auto s =
      sn::square(sn::sin(dlat / 2)) + sn::cos(lat)(_, newaxis) * sn::cos(lat) * sn::square(sn::sin(dlon / 2));
  const auto circle = 2 * 6371.0088 * sn::arcsin(sn::sqrt(sn::clip(s, 0, 1)));
  sn::fill_diagonal(circle, INFINITY);
  const auto partner = circle.argmin(1);
  const double angle = pi / 6;
  const auto rotation =
      sn::array({{std::cos(angle), -std::sin(angle), 0}, {std::sin(angle), std::cos(angle), 0}, {0, 0, 1}});
  const auto turned = sn::matmul(xyz, rotation.T());
  const auto across = sn::cross(xyz, turned);
  const auto [minutes, degrees] = sn::modf(sn::abs(sn::rad2deg(lat)));
  const auto sign = sn::copysign(1, lat);
  const auto wrapped = sn::mod(sn::degrees(lon) + sn::array({350, 10, 30, -170, -1}) + 180, 360) - 180;
  return {xyz, back, height, circle, partner, turned, across / 1e12, degrees * sign, minutes * 60, wrapped};
}

results alignment() {
  const auto one = sn::array({0, 1, 2, 3, 0, 1, 1, 2, 3, 3, 0, 2, 1, 0, 3, 2}, {.dtype = sn::uint8});
  const auto two = sn::array({0, 1, 2, 2, 0, 1, 3, 3, 0, 2, 1, 0, 3}, {.dtype = sn::uint8});
  const auto score = sn::where(sn::eye(4, {.dtype = sn::bool_}), 2, -1);
  const auto pairs = score(one(_, newaxis), two(newaxis, _));
  const int gap = -2;
  const auto table = sn::zeros({one.size() + 1, two.size() + 1}, sn::int64);
  table(0) = gap * sn::arange(two.size() + 1);
  table(_, 0) = gap * sn::arange(one.size() + 1);
  const auto steps = gap * sn::arange(two.size() + 1);
  for (int i = 1; i <= one.size(); ++i) {
    const auto best = sn::maximum(table(i - 1, slice(-1)) + pairs(i - 1), table(i - 1, slice(1, _)) + gap);
    const auto row = sn::concatenate({table(i, slice(1)), best}) - steps;
    table(i) = sn::cummax(row, 0) + steps;
  }
  const auto kmers = sn::matmul(sn::sliding_window_view(one, 3), sn::array({16, 4, 1}));
  const auto counts = sn::bincount(kmers, {.minlength = 64}).reshape(4, 4, 4);
  const ndarray common = sn::intersect1d(kmers, sn::matmul(sn::sliding_window_view(two, 3), sn::array({16, 4, 1})));
  const auto hot = sn::eye(4)[one];
  const auto profile = hot.reshape(4, 4, 4).mean(0);
  const auto entropy = -sn::where(profile > 0, profile * sn::log2(sn::where(profile > 0, profile, 1)), 0).sum(1);
  const auto gc = ((one == 1) | (one == 2)).mean();
  const auto reverse = (3 - one)(slice(_, _, -1));
  const auto runs = sn::flatnonzero(sn::diff(one, {.prepend = 255}) != 0);
  const auto lengths = sn::diff(sn::append(runs, one.size()));
  const auto bits = sn::left_shift(one(slice(8)).astype(sn::uint16), 2 * sn::arange(8, {.dtype = sn::uint16})).sum();
  return {table, counts.sum(sn::axes{1, 2}), common, entropy, gc, reverse, lengths, bits};
}

results queues() {
  const auto k = sn::arange(50);
  const auto arrivals = sn::cumsum(1 + 0.8 * sn::sin(k * 1.3));
  const auto service = 0.9 + 0.5 * sn::cos(k * 0.7);
  const auto work = sn::cumsum(service);
  const auto start = sn::cummax(arrivals - sn::insert(work, 0, 0)(slice(-1))) + sn::insert(work, 0, 0)(slice(-1));
  const auto wait = start - arrivals;
  const auto leave = start + service;
  const auto times = sn::linspace(0, 60, 13);
  const auto present = sn::searchsorted(arrivals, times, "right") - sn::searchsorted(leave, times, "right");
  const auto mean_present = sn::trapezoid(present, times) / times(-1);
  const double rate = 2.0, served = 1.1;
  const int servers = 2, places = 9;
  const auto n = sn::arange(places);
  const auto up = sn::full({places - 1}, rate);
  const auto down = served * sn::minimum(n(slice(1, _)), servers);
  auto generator = sn::diag(up, 1) + sn::diag(down, -1);
  generator -= sn::diag(generator.sum(1));
  const auto system = sn::vstack({generator.T(), sn::ones({places})});
  const auto stationary = sn::linalg::lstsq(system, sn::append(sn::zeros({places}), 1)).x;
  const auto expected = sn::matmul(stationary, n);
  const auto step = sn::linalg::matrix_power(sn::eye(places) + generator / 8, 64);
  const auto [bins, edges] = sn::histogram(wait, 6, {.range = std::pair(0.0, 3.0)});
  const auto busy = sn::select({present == 0, present < 2}, {0, 1}, 2);
  const auto worst = sn::argpartition(wait, -3)(slice(-3, _));
  return {wait, leave, present, mean_present, stationary, expected, step, bins, edges, busy, sn::sort(worst)};
}

results heat() {
  const int n = 30;
  const double dx = 1.0 / 29, dt = 0.002;
  const auto x = sn::linspace(0, 1, n);
  auto u = sn::where((x > 0.3) & (x < 0.6), 1.0, 0.0);
  const double r = dt / (dx * dx);
  const auto a =
      sn::diag(sn::full({n}, 1 + 2 * r)) + sn::diag(sn::full({n - 1}, -r), 1) + sn::diag(sn::full({n - 1}, -r), -1);
  a(0, _) = 0;
  a(-1, _) = 0;
  a(0, 0) = 1;
  a(-1, -1) = 1;
  const auto history = sn::empty({11, n});
  history(0) = u;
  for (int k = 0; k < 10; ++k) {
    u = sn::linalg::solve(a, u);
    history(k + 1) = u;
  }
  const auto total = sn::trapezoid(history, x, {.axis = 1});
  const ndarray flux = -ndarray(sn::gradient(history(-1), dx));
  const auto coefficients = sn::polyfit(x, history(-1), 6);
  const auto fitted = sn::polyval(coefficients, x);
  const auto residual = sn::sqrt(sn::mean(sn::square(fitted - history(-1))));
  const auto at = sn::interp(sn::array({0.05, 0.33, 0.777}), x, history(-1));
  const auto modes = sn::arange(1, 6);
  const auto basis = sn::sin(pi * sn::outer(modes, x));
  const auto amplitude = 2 * sn::trapezoid(basis * history(0), x);
  const auto decayed = sn::matmul(amplitude * sn::exp(-sn::square(pi * modes) * 10 * dt), basis);
  const auto front = sn::ediff1d(history(-1), {.to_begin = 0});
  const auto where_half = sn::argwhere(sn::diff(sn::sign(history(-1) - 0.2)) != 0).ravel();
  const auto blocks = sn::block({{sn::eye(2), sn::zeros({2, 2})}, {a(slice(2), slice(2)), sn::ones({2, 2})}});
  return {history, total, flux, fitted, residual, at, amplitude, decayed, front, where_half, blocks};
}

results survey() {
  const auto k = sn::arange(80);
  const auto age = 18 + (k * 37) % 60;
  const auto region = (k * k) % 4;
  const auto answer = sn::clip(sn::round(3 + 1.5 * sn::sin(k * 0.9) + region * 0.3), 1, 5).astype(sn::int64);
  const auto cross = sn::zeros({4, 6}, sn::int64);
  sn::add_at(cross(region, answer), 1);
  const auto share = cross / cross.sum(1, {.keepdims = true});
  const auto weight = sn::choose(region, {1.0, 0.5, 2.0, 1.5});
  const ndarray mean = sn::average(answer, {.weights = weight});
  const ndarray spread = sn::sqrt(sn::average(sn::square(answer - mean), {.weights = weight}));
  const auto groups = sn::digitize(age, sn::array({30, 45, 60}));
  std::vector<ndarray> means;
  for (int g = 0; g < 4; ++g) means.push_back(answer[groups == g].mean());
  const auto by_group = sn::stack(means);
  auto z = sn::column_stack({age, answer, weight}).astype(sn::float64);
  z = (z - z.mean(0)) / z.std(0);
  const auto loadings = sn::linalg::svd(z, {.full_matrices = false}).s;
  const auto draws = (sn::outer(sn::arange(20) + 3, k) * 7 + 11) % 80;
  const auto bootstrap = sn::percentile(answer[draws].mean(1), {2.5, 50, 97.5});
  const auto order = sn::lexsort({age, answer});
  const auto deciles = sn::quantile(age, sn::linspace(0, 1, 11), {.method = "nearest"});
  const auto agree = sn::isin(answer, sn::array({4, 5})).reshape(8, 10).sum(1);
  const auto [table, edges] = sn::histogram2d(age, answer, {3, 5});
  const auto missing = sn::where(k % 9 == 0, NAN, answer);
  const auto filled = sn::nan_to_num(missing, sn::nanmedian(missing).item<double>());
  return {cross, share, mean, spread, by_group, loadings, bootstrap, order, deciles, agree, table, edges[0], filled};
}

results circuits() {
  using namespace std::complex_literals;
  const auto w = sn::geomspace(10, 1e5, 25);
  const double r = 50.0, l = 1e-3, c = 1e-6;
  const auto z = sn::empty({w.size()}, sn::complex128);
  z.real() = r;
  z.imag() = w * l - 1 / (w * c);
  const auto gain = sn::abs(r / z);
  const auto decibel = 20 * sn::log10(gain);
  const auto resonance = w[sn::argmin(sn::abs(z.imag()))];
  const auto poles = sn::roots(sn::array({l, r, 1 / c}));
  const auto g = sn::array({{3.0, -1, -1, 0}, {-1, 4, -1, -1}, {-1, -1, 5, -2}, {0, -1, -2, 4}});
  const auto volts = sn::linalg::solve(g, sn::array({1, 0, 0, 0}));
  const auto losses = 0.5 * sn::einsum("i,ij,j", volts, g, volts);
  const auto phase = sn::exp(-2.0i * pi * sn::arange(3) / 3);
  const auto transform = sn::vander(phase, 3, {.increasing = true}) / 3;
  const auto lines = sn::array({10.0 + 0i, 9.0 * std::exp(-2.0i), 11.0 * std::exp(2.2i)});
  const auto sequence = sn::matmul(transform.conj(), lines);
  const auto power = (lines * sn::conj(lines[sn::list{1, 2, 0}])).real();
  const auto bits = lines.view(sn::float64).reshape(3, 2);
  bits(_, 1) = 0;
  const auto wanted = sn::array({10, 22, 47});
  const auto nearest = wanted[sn::abs((gain(slice(_, _, 6)) * 40)(_, newaxis) - wanted).argmin(1)];
  const auto ladder = sn::linalg::multi_dot(
      {sn::array({{1, 2.0}, {0, 1}}), sn::array({{1, 0}, {0.5, 1}}), sn::array({{1, 3.0}, {0, 1}})});
  const auto by_columns = sn::asfortranarray(ladder).ravel({.order = 'K'});
  return {z, decibel, resonance, sn::sort(poles), volts, losses, sequence, power, lines, nearest, ladder, by_columns};
}

}  // namespace

TEST_CASE("whole NumPy programs, ported line by line, give NumPy's values") {
  sinter::test::call_table table;
  const auto add = [&](const char* name, results (*program)()) {
    table[name] = [program](const sinter::test::call&) { return program(); };
  };
  add("spectrum", &spectrum);
  add("morphology", &morphology);
  add("portfolio", &portfolio);
  add("genetics", &genetics);
  add("geodesy", &geodesy);
  add("alignment", &alignment);
  add("queues", &queues);
  add("heat", &heat);
  add("survey", &survey);
  add("circuits", &circuits);
  sinter::test::check_calls("programs.bin", table);
}
