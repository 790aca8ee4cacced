// Programs of data: readings, series, samples, tables, money.
#include <cmath>
#include <complex>
#include <numbers>

#include "golden/programs/programs.hpp"
#include "sinter/linalg.hpp"
#include "sinter/polynomial_fit.hpp"
#include "sinter/segments.hpp"

namespace sn = sinter;
using namespace sn::idx;

namespace sinter::test::programs {

using sn::ndarray;

ndarray draws(std::int64_t n, std::uint64_t seed) {
  auto k = sn::arange(1, n + 1, {.dtype = sn::uint64}) + seed * 1000003u;
  k = k * 0x9E3779B97F4A7C15u;
  k ^= k >> 32;
  k = k * 0xD6E8FEB86659FD93u;
  k ^= k >> 29;
  return (k >> 11).astype(sn::float64) / 0x1p53;
}

results cleaning() {
  auto x = 20 + 5 * sn::sin(sn::arange(60)(_, newaxis) / 7 + sn::arange(5)) + draws(300, 1).reshape(60, 5);
  x[draws(300, 2).reshape(60, 5) < 0.1] = NAN;
  x(slice(_, _, 17), 2) = 99;
  const auto missing = sn::isnan(x).sum(0);
  const auto middle = sn::nanmedian(x, 0, {.keepdims = true});
  const auto mad = sn::nanmedian(sn::abs(x - middle), 0);
  const auto bad = sn::abs(x - middle) > 4 * 1.4826 * mad;
  x[bad] = NAN;
  const auto ok = ~sn::isnan(x);
  const auto last = sn::cummax(sn::where(ok, sn::arange(60)(_, newaxis), 0), 0);
  const auto filled = sn::take_along_axis(x, last, 0);
  filled[sn::isnan(filled)] = sn::broadcast_to(middle, x.shape())[sn::isnan(filled)];
  const auto good = sn::flatnonzero(ok(_, 3));
  const auto line = sn::interp(sn::arange(60), good, x(good, 3));
  const auto both = sn::nanpercentile(x, {5, 95}, 0, {.method = "median_unbiased"});
  const auto low = both(0), high = both(1);
  const auto clipped = sn::clip(x, low, high);
  const auto span = sn::nanmax(x, 0) - sn::nanmin(x, 0);
  const auto coldest = sn::nanargmin(x, 0), warmest = sn::nanargmax(x(_, 1));
  const auto whole = x[~sn::isnan(x).any(1)];
  const auto [rounded, counts] = sn::unique_counts(sn::round(filled(_, 0)).astype(sn::int64));
  const auto [bins, edges] = sn::histogram(x[ok], 7, {.range = std::pair(14.0, 27.0), .density = true});
  const auto score = (filled - filled.mean(0)) / filled.std(0, {.ddof = 1});
  const auto total = sn::nansum(x, 1, {.initial = 1.0, .where = bad(_, slice(_, _, -1))});
  return {missing, middle, mad,  bad.sum(), filled, line, clipped, span, coldest, warmest, sn::array(whole.len()),
          rounded, counts, bins, edges,     score,  total};
}

results seasons() {
  const auto t = sn::arange(120);
  const auto x = 0.05 * t + 3 * sn::sin(2 * pi * t / 12) + draws(120, 4);
  const auto c = sn::cumsum(sn::insert(x, 0, 0));
  const auto moving = (c(slice(12, _)) - c(slice(-12))) / 12;
  const auto line = sn::polyfit(t, x, 1);
  const auto rest = x - sn::polyval(line, t);
  const auto season = rest.reshape(-1, 12).mean(0);
  const auto clean = rest - sn::tile(season, 10);
  const auto z = clean - clean.mean();
  const auto acf = sn::correlate(z, z, "full")(slice(119, _)) / sn::dot(z, z);
  const auto smooth = sn::empty_like(x);
  smooth(0) = x(0);
  for (int k = 1; k < 120; ++k) smooth(k) = 0.3 * x(k) + 0.7 * smooth(k - 1);
  const auto crossings = sn::where(sn::diff(sn::signbit(rest)))[0];
  const auto peaks = sn::flatnonzero((x(slice(1, -1)) > x(slice(-2))) & (x(slice(1, -1)) >= x(slice(2, _)))) + 1;
  const auto gaps = sn::diff(peaks, {.prepend = -1, .append = 120});
  const auto worst = sn::ptp(x.reshape(10, 12), 1);
  const auto highest = sn::argsort(-x)(slice(5));
  const auto index = sn::searchsorted(sn::sort(x), sn::array({0, 3, 6}), "right");
  const auto level = sn::digitize(x, sn::quantile(x, {0.25, 0.5, 0.75}));
  const auto power = sn::square(sn::abs(sn::fft::rfft(z * sn::hamming(120))));
  const ndarray period = 1 / sn::fft::rfftfreq(120)(slice(1, _))[power(slice(1, _)).argmax()];
  const auto growth = sn::expm1(sn::diff(sn::log1p(sn::abs(x))));
  const auto even = x(slice(_, _, 2)).sum() - x(slice(1, _, 2)).sum();
  const auto windowed = sn::sliding_window_view(x, 7).max(-1);
  return {moving,
          line(0),
          line(1),
          season,
          acf,
          smooth,
          crossings,
          peaks,
          gaps,
          worst,
          highest,
          index,
          level,
          power,
          period,
          growth,
          even,
          windowed,
          ndarray(sn::gradient(x, 0.5))(slice(5)),
          sn::trapezoid(x, {.dx = 0.5})};
}

results bootstrap() {
  const auto x = sn::round(sn::square(draws(50, 7)) * 10, 2);
  const auto index = (draws(50 * 200, 8) * 50).astype(sn::int64).reshape(200, 50);
  const auto means = x[index].mean(1);
  const auto interval = sn::percentile(means, {2.5, 97.5});
  std::vector<ndarray> each;
  for (const char* m :
       {"inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
        "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"})
    each.push_back(sn::quantile(x, {0.1, 0.33, 0.9}, {.method = m}));
  const auto quantiles = sn::stack(each);
  const auto jackknife = (x.sum() - x) / 49;
  const auto error = sn::sqrt(49.0 / 50 * sn::sum(sn::square(jackknife - jackknife.mean())));
  const auto group = sn::arange(50) < 20;
  const auto difference = x[group].mean() - x[~group].mean();
  const auto orders = sn::argsort(draws(50 * 100, 9).reshape(100, 50), 1);
  const ndarray shuffled = x[orders];
  const auto differences = shuffled(_, slice(20)).mean(1) - shuffled(_, slice(20, _)).mean(1);
  const auto p = sn::mean(sn::abs(differences) >= sn::abs(difference));
  const auto ranks = sn::empty({50}, sn::int64);
  ranks[sn::argsort(x)] = sn::arange(50);
  const ndarray spearman = sn::corrcoef(ranks, sn::arange(50))(0, 1);
  const auto weights = sn::linspace(1, 2, 50);
  const auto [weighted, total] = sn::average(x, {.weights = weights});
  const auto weighted_median = sn::quantile(x, 0.5, {.method = "inverted_cdf", .weights = weights});
  const auto skew = sn::mean(sn::power(x - x.mean(), 3)) / sn::power(x.std(), 3);
  const auto trimmed = sn::sort(x)(slice(5, -5)).mean();
  const auto covariance = sn::cov(x, sn::roll(x, 1), {.ddof = 0, .aweights = weights});
  const auto iqr = sn::diff(sn::percentile(x, {25, 75}))(0);
  return {x,
          means,
          interval,
          quantiles,
          error,
          difference,
          p,
          ranks,
          spearman,
          weighted,
          total,
          weighted_median,
          skew,
          trimmed,
          covariance,
          iqr,
          sn::partition(x, 10)(10),
          sn::median(means.reshape(10, 20), 1)};
}

results joint() {
  const auto x = draws(500, 10);
  const auto y = 0.6 * x + 0.4 * draws(500, 11);
  const auto [h, e2] = sn::histogram2d(x, y, {5, 8}, {.range = {{0.0, 1.0}, {0.0, 1.0}}});
  const auto ex = e2[0], ey = e2[1];
  const auto p = h / h.sum();
  const auto px = p.sum(1), py = p.sum(0);
  const auto outer = sn::outer(px, py);
  const auto ratio = sn::divide(p, outer, {.out = sn::ones_like(p), .where = (outer > 0) & (p > 0)});
  const auto information = sn::sum(p * sn::log(ratio));
  const auto cell = sn::unravel_index(h.argmax(), h.shape());
  const auto top = sn::argwhere(h > 20);
  const auto weighted = sn::histogram2d(x, y, 4, {.weights = x}).hist;
  const auto [cube, edges] = sn::histogramdd(sn::column_stack({x, y, x * y}), {2, 3, 2});
  const auto [density, e] = sn::histogram(y, "fd", {.density = true});
  const auto area = sn::sum(density * sn::diff(e));
  const auto where = sn::digitize(x, ex(slice(1, -1)));
  std::vector<ndarray> means, spread;
  for (int k = 0; k < 5; ++k) {
    means.push_back(y[where == k].mean());
    spread.push_back(y[where == k].std({.ddof = 1}));
  }
  const auto sums = sn::bincount(where, {.weights = y, .minlength = 6});
  const auto ranks = x.argsort().argsort();
  const auto copula = sn::histogram2d(ranks, y.argsort().argsort(), 3).hist;
  const auto covariance = sn::cov(sn::stack({x, y}));
  const auto chi2 = sn::sum(sn::square(h - 500 * outer) / sn::where(outer > 0, 500 * outer, 1));
  const auto cumulative = p.cumsum(0).cumsum(1);
  const auto quadrant = sn::select({(x > 0.5) & (y > 0.5), x > 0.5, y > 0.5}, {1, 2, 3}, 4);
  const auto counts = sn::bincount(quadrant)(slice(1, _));
  const auto inside = sn::stack({x > 0.2, x<0.8, y> 0.3}).all(0);
  return {h,        ex,         ey,     information,      sn::stack(cell),   top,  weighted, cube,
          edges[2], density,    area,   sn::stack(means), sn::stack(spread), sums, copula,   covariance,
          chi2,     cumulative, counts, inside.sum()};
}

results tables() {
  const auto key = (draws(40, 12) * 5).astype(sn::int32);
  const auto day = (draws(40, 13) * 7).astype(sn::int8);
  const auto amount = sn::round(draws(40, 14) * 100).astype(sn::float32);
  const auto order = sn::lexsort({amount, day, key});
  const ndarray k = key[order], a = amount[order];
  const auto starts = sn::flatnonzero(sn::r_({true, k(slice(1, _)) != k(slice(-1))}));
  const auto sums = sn::add_reduceat(a, starts);
  const auto largest = sn::maximum_reduceat(a, starts);
  const auto sizes = sn::diff(sn::append(starts, k.size()));
  const auto position = sn::arange(k.size()) - sn::repeat(starts, sizes);
  const auto running = sn::cumsum(a) - sn::repeat(sn::cumsum(a)[starts] - a[starts], sizes);
  const auto parts = sn::split(a, starts(slice(1, _)));
  std::vector<ndarray> medians;
  for (const auto& part : parts) medians.push_back(sn::median(part));
  const auto [rows, first, inverse, counts] = sn::unique(
      sn::column_stack({key, day}), {.return_index = true, .return_inverse = true, .return_counts = true, .axis = 0});
  const auto pivot = sn::zeros({5, 7}, sn::float32);
  sn::add_at(pivot(key, day), amount);
  const auto share = pivot / pivot.sum(1, {.keepdims = true});
  const auto wanted = sn::array({3, 1, 9});
  const auto found = sn::isin(wanted, key);
  const auto sorter = sn::argsort(key);
  const auto left = sn::searchsorted(key, wanted, {.sorter = sorter});
  const auto right = sn::searchsorted(key, wanted, "right", {.sorter = sorter});
  const auto [common, i, j] = sn::intersect1d(sn::unique(key), wanted, {.return_indices = true});
  auto best = sn::argpartition(amount, -3)(slice(-3, _));
  best = best[sn::argsort(-amount[best])];
  const auto ranked = sn::take_along_axis(pivot, sn::argsort(pivot, 1), 1);
  sn::put_along_axis(share, sn::argmax(share, 1, {.keepdims = true}), 0, 1);
  const auto either = sn::union1d(key, wanted);
  const auto only = sn::setdiff1d(sn::arange(8), key);
  const auto duplicated = sn::ones({40}, sn::bool_);
  duplicated[first] = false;
  auto table = sn::insert(pivot, 2, -1, 1)(_, slice(_, _, 2));
  table = sn::delete_(table, sn::list{0, 2}, 0);
  return {order,
          sums,
          largest,
          sizes,
          position,
          running,
          sn::stack(medians),
          rows,
          first,
          inverse,
          counts,
          pivot,
          found,
          left,
          right,
          common,
          i,
          j,
          best,
          ranked,
          share,
          either,
          only,
          duplicated,
          table,
          sn::resize(wanted, {7})};
}

results ledger() {
  const auto flows = sn::array({-1000, 300, 420, 680.0});
  const double rate = 0.05;
  const auto value = sn::sum(flows / sn::power(1 + rate, sn::arange(4)));
  const auto solutions = sn::roots(flows(slice(_, _, -1)));
  const auto real = solutions[sn::isreal(solutions)].real();
  const ndarray irr = (1 / real[real > 0] - 1)(0);
  const auto months = sn::arange(1, 25);
  const double monthly = rate / 12;
  const double payment = 10000 * monthly / (1 - std::pow(1 + monthly, -24));
  const auto balance =
      10000 * sn::power(1 + monthly, months) - payment * (sn::power(1 + monthly, months) - 1) / monthly;
  const auto interest = sn::concatenate({sn::array({10000}), balance(slice(-1))}) * monthly;
  const auto prices = 50 * sn::cumprod(1 + (draws(100, 15) - 0.48) / 20);
  const auto returns = prices(slice(1, _)) / prices(slice(-1)) - 1;
  const auto high = sn::cummax(prices);
  const auto drawdown = (prices - high) / high;
  const auto trough = drawdown.argmin();
  const auto start = prices(slice(trough.item<int>())).argmax();
  const auto windows = sn::sliding_window_view(returns, 10);
  const auto deviation = windows.std(-1, {.ddof = 1}) * std::sqrt(252);
  const auto downside = sn::sqrt(sn::mean(sn::square(sn::minimum(returns, 0))));
  const auto streak = sn::zeros({99}, sn::int64);
  for (int k = 0; k < 99; ++k) streak(k) = returns(k) > 0 ? (k ? streak(k - 1) + 1 : sn::array(1)) : sn::array(0);
  const auto rsi = 100 - 100 / (1 + sn::where(returns > 0, returns, 0)(slice(14)).sum() /
                                        -sn::where(returns < 0, returns, 0)(slice(14)).sum());
  const auto weekly = prices(slice(100)).reshape(-1, 5);
  const auto bars = sn::stack({weekly(_, 0), weekly.max(1), weekly.min(1), weekly(_, -1)}, 1);
  auto weights = sn::full({4}, 0.25);
  const auto assets = 1 + (draws(80, 16).reshape(20, 4) - 0.45) / 10;
  for (const auto& r : sn::unstack(assets)) {
    weights = weights * r;
    weights /= weights.sum();
  }
  const auto cents = sn::rint(prices(slice(6)) * 100).astype(sn::int64);
  const auto [euros, rest] = sn::divmod(cents, 100);
  const auto tax =
      sn::piecewise(flows, {flows < 0, (flows >= 0) & (flows < 500)},
                    {0, [](const ndarray& v) { return v * 0.1; }, [](const ndarray& v) { return v * 0.2 - 50; }});
  return {value,
          irr,
          sn::array(payment),
          balance,
          interest,
          returns,
          drawdown.min(),
          trough,
          start,
          deviation,
          downside,
          streak,
          rsi,
          bars,
          weights,
          euros,
          rest,
          tax,
          sn::exp(sn::log(prices(slice(5)))),
          sn::histogram_bin_edges(returns, 6)};
}

}  // namespace sinter::test::programs
