// Distributions composed of other draws.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <vector>

#include "core/shape.hpp"
#include "ops/base/at_call.hpp"
#include "ops/base/axes.hpp"
#include "ops/random/draw.hpp"
#include "ops/random/inverse_table.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/special.hpp"
#include "sinter/take.hpp"

namespace sinter::inline v0::random {

using namespace ops;

namespace {

/// A draw: its shape and device, checked, and the dtype of its result.
struct wanted {
  wanted(const char* function, const draw_size& size, const draw_kw& kw, operands parameters)
      : space(draw_space_of(size, kw.device, parameters, function)),
        shape(to_shape(space.shape)),
        type(kw.dtype.value_or(float64)),
        real{.dtype = draw_dtype(kw.dtype, function), .device = to_public(space.device)} {}

  draw_space space;
  draw_size shape;
  dtype type;
  draw_kw real;  // of the draws that it is composed of

  ndarray result(const ndarray& x) const { return broadcast_to_shape(x).astype(type, false); }
  ndarray broadcast_to_shape(const ndarray& x) const {
    return wrap(broadcast_value(value_of(x, "random"), space.shape));
  }
};

/// The same for integers, which are composed of float64 draws.
struct whole {
  whole(const char* function, const draw_size& size, const draw_kw& kw, operands parameters)
      : of(function, size, draw_kw{.device = kw.device}, parameters), type(kw.dtype.value_or(int64)) {
    if (!is_integer(type)) fail<dtype_error>(function, "draws integers, not ", type);
  }
  wanted of;
  dtype type;

  ndarray result(const ndarray& x) const { return of.broadcast_to_shape(x.astype(int64, false)).astype(type, false); }
};

bool is_positive(double x) { return x > 0; }
bool is_not_negative(double x) { return x >= 0; }

ndarray array_of(const operand& x, const wanted& w) {
  return x.is_array() ? x.array() : full({}, x, {.dtype = float64, .device = to_public(w.space.device)});
}

}  // namespace

ndarray generator::chisquare(const operand& df, const draw_size& size, const draw_kw& kw) {
  check_number(df, "chisquare", "df must be above 0", is_positive);
  const wanted w("chisquare", size, kw, {&df});
  return w.result(standard_gamma(multiply(0.5, df), w.shape, w.real) * 2);
}

ndarray generator::noncentral_chisquare(const operand& df, const operand& nonc, const draw_size& size,
                                        const draw_kw& kw) {
  check_number(df, "noncentral_chisquare", "df must be above 0", is_positive);
  check_number(nonc, "noncentral_chisquare", "nonc must not be negative", is_not_negative);
  const wanted w("noncentral_chisquare", size, kw, {&df, &nonc});
  // A mixture of central ones.
  const ndarray pairs = poisson(multiply(0.5, nonc), w.shape, {.device = w.real.device});
  return w.result(standard_gamma(multiply(0.5, df) + pairs, w.shape, w.real) * 2);
}

ndarray generator::f(const operand& dfnum, const operand& dfden, const draw_size& size, const draw_kw& kw) {
  check_number(dfnum, "f", "dfnum must be above 0", is_positive);
  check_number(dfden, "f", "dfden must be above 0", is_positive);
  const wanted w("f", size, kw, {&dfnum, &dfden});
  const ndarray first = chisquare(dfnum, w.shape, w.real), second = chisquare(dfden, w.shape, w.real);
  return w.result(divide(divide(first, dfnum), divide(second, dfden)));
}

ndarray generator::noncentral_f(const operand& dfnum, const operand& dfden, const operand& nonc, const draw_size& size,
                                const draw_kw& kw) {
  check_number(dfden, "noncentral_f", "dfden must be above 0", is_positive);
  const wanted w("noncentral_f", size, kw, {&dfnum, &dfden, &nonc});
  const ndarray first = noncentral_chisquare(dfnum, nonc, w.shape, w.real), second = chisquare(dfden, w.shape, w.real);
  return w.result(divide(divide(first, dfnum), divide(second, dfden)));
}

ndarray generator::gumbel(const operand& loc, const operand& scale, const draw_size& size, const draw_kw& kw) {
  check_number(scale, "gumbel", "scale must not be negative", is_not_negative);
  const wanted w("gumbel", size, kw, {&loc, &scale});
  return w.result(subtract(loc, multiply(scale, log(standard_exponential(w.shape, w.real)))));
}

ndarray generator::logistic(const operand& loc, const operand& scale, const draw_size& size, const draw_kw& kw) {
  check_number(scale, "logistic", "scale must not be negative", is_not_negative);
  const wanted w("logistic", size, kw, {&loc, &scale});
  // log(u / (1 - u)) is log(exp(e) - 1) of an exponential draw, which has no end where u is rounded to 0.
  return w.result(add(loc, multiply(scale, log(expm1(standard_exponential(w.shape, w.real))))));
}

ndarray generator::pareto(const operand& a, const draw_size& size, const draw_kw& kw) {
  check_number(a, "pareto", "a must be above 0", is_positive);
  const wanted w("pareto", size, kw, {&a});
  return w.result(expm1(divide(standard_exponential(w.shape, w.real), a)));
}

ndarray generator::power(const operand& a, const draw_size& size, const draw_kw& kw) {
  check_number(a, "power", "a must be above 0", is_positive);
  const wanted w("power", size, kw, {&a});
  return w.result(sinter::power(-expm1(-standard_exponential(w.shape, w.real)), divide(1.0, a)));
}

ndarray generator::rayleigh(const operand& scale, const draw_size& size, const draw_kw& kw) {
  check_number(scale, "rayleigh", "scale must not be negative", is_not_negative);
  const wanted w("rayleigh", size, kw, {&scale});
  return w.result(multiply(scale, sqrt(2 * standard_exponential(w.shape, w.real))));
}

ndarray generator::standard_cauchy(const draw_size& size, const draw_kw& kw) {
  const wanted w("standard_cauchy", size, kw, {});
  const ndarray first = standard_normal(w.shape, w.real);
  return w.result(first / standard_normal(w.shape, w.real));
}

ndarray generator::standard_t(const operand& df, const draw_size& size, const draw_kw& kw) {
  check_number(df, "standard_t", "df must be above 0", is_positive);
  const wanted w("standard_t", size, kw, {&df});
  const ndarray half = array_of(multiply(0.5, df), w), normal_part = standard_normal(w.shape, w.real);
  return w.result(normal_part * sqrt(half / standard_gamma(half, w.shape, w.real)));
}

ndarray generator::triangular(const operand& left, const operand& mode, const operand& right, const draw_size& size,
                              const draw_kw& kw) {
  if (!left.is_array() && !mode.is_array() && !right.is_array()) {
    const double l = left.number().real(), m = mode.number().real(), r = right.number().real();
    if (!(l <= m && m <= r && l < r))
      fail<value_error>("triangular", "needs left <= mode <= right and left < right, not ", l, ", ", m, ", ", r);
  }
  const wanted w("triangular", size, kw, {&left, &mode, &right});
  const ndarray u = random(w.shape, w.real), l = array_of(left, w), m = array_of(mode, w), r = array_of(right, w);
  const ndarray base = r - l, below = m - l, above = r - m;
  return w.result(where(less_equal(u, below / base), l + sqrt(u * base * below), r - sqrt((1 - u) * base * above)));
}

ndarray generator::wald(const operand& mean, const operand& scale, const draw_size& size, const draw_kw& kw) {
  check_number(mean, "wald", "mean must be above 0", is_positive);
  check_number(scale, "wald", "scale must be above 0", is_positive);
  const wanted w("wald", size, kw, {&mean, &scale});
  const ndarray m = array_of(mean, w), lambda = array_of(scale, w);
  const ndarray n = standard_normal(w.shape, {.device = w.real.device}), u = random(w.shape, {.device = w.real.device});
  const ndarray y = m * n * n, d = 1 + sqrt(1 + 4 * lambda / y);
  const ndarray x = where(equal(y, 0), m, m * (1 - 2 / d));
  return w.result(where(less_equal(u, m / (m + x)), x, m * m / x));
}

ndarray generator::weibull(const operand& a, const draw_size& size, const draw_kw& kw) {
  check_number(a, "weibull", "a must not be negative", is_not_negative);
  const wanted w("weibull", size, kw, {&a});
  const ndarray e = standard_exponential(w.shape, w.real);
  if (!a.is_array() && a.number().real() == 0) return w.result(zeros_like(e));
  return w.result(sinter::power(e, divide(1.0, a)));
}

namespace {

/// size + (n,).
draw_size with_rows(const draw_size& size, std::int64_t n) {
  dims shape = size.given() ? to_dims(size.shape()) : dims();
  shape.push_back(n);
  return draw_size(to_shape(shape));
}

}  // namespace

ndarray generator::dirichlet(const ndarray& alpha, const draw_size& size, const draw_kw& kw) {
  if (view_of(alpha, "dirichlet").shape.size() != 1)
    fail<shape_error>("dirichlet", "alpha is a vector, not of shape ", alpha.shape());
  const operand of(alpha);
  const wanted w("dirichlet", with_rows(size, alpha.shape(0)), kw, {&of});
  const ndarray g = standard_gamma(alpha, w.shape, w.real);
  return w.result(g / sum(g, -1, {.keepdims = true}));
}

ndarray generator::geometric(const operand& p, const draw_size& size, const draw_kw& kw) {
  check_number(p, "geometric", "p must be in (0, 1]", [](double x) { return x > 0 && x <= 1; });
  const whole w("geometric", size, kw, {&p});
  const ndarray trials = ceil(-standard_exponential(w.of.shape, w.of.real) / log1p(-array_of(p, w.of)));
  return w.result(clip(trials, 1, 9.2e18));
}

ndarray generator::logseries(const operand& p, const draw_size& size, const draw_kw& kw) {
  check_number(p, "logseries", "p must be in [0, 1)", [](double x) { return x >= 0 && x < 1; });
  const whole w("logseries", size, kw, {&p});
  // Kemp: given q = 1 - (1 - p)**u the number is geometric.
  const ndarray u = random(w.of.shape, w.of.real), q = -expm1(u * log1p(-array_of(p, w.of)));
  const ndarray x = 1 + floor(-standard_exponential(w.of.shape, w.of.real) / log(q));
  return w.result(clip(where(equal(q, 0), 1, x), 1, 9.2e18));
}

ndarray generator::negative_binomial(const operand& n, const operand& p, const draw_size& size, const draw_kw& kw) {
  check_number(n, "negative_binomial", "n must be above 0", is_positive);
  check_number(p, "negative_binomial", "p must be in (0, 1]", [](double x) { return x > 0 && x <= 1; });
  const whole w("negative_binomial", size, kw, {&n, &p});
  const ndarray probability = array_of(p, w.of);
  const ndarray lambda = standard_gamma(n, w.of.shape, w.of.real) * ((1 - probability) / probability);
  return w.result(poisson(lambda, w.of.shape, {.device = w.of.real.device}));
}

namespace {

/// Draws again what has not been accepted: `round` gives candidates and which of them are good. Of later rounds only the
/// elements that are left are computed: draws are read by index, at places that give the bits of a whole round. Each round
/// is stored: else the next one would draw it again, and a draw larger than the memory would be looked through before it is
/// refused.
template <class Round>
ndarray until_accepted(const Round& round) {
  auto [out, good] = round();
  eval(out, good);
  if (!may_look_at(value_of(good))) {
    while (!bool(all(good))) {
      const auto [again, fits] = round();
      out = where(good, out, again);
      good = logical_or(good, fits);
      eval(out, good);
    }
    return out;
  }
  const shape_t shape = out.shape();
  out = ravel(out);
  for (ndarray left = flatnonzero(logical_not(good)); left.size() > 0;) {
    const auto [again, fits] = round();
    const ndarray values = take(ravel(again), left), refused = logical_not(take(ravel(fits), left));
    eval(values, refused);
    out[left] = values;
    left = left[refused];
    eval(out, left);
  }
  return reshape(out, shape);
}

struct candidates {
  ndarray values, good;
};

}  // namespace

ndarray generator::vonmises(const operand& mu, const operand& kappa, const draw_size& size, const draw_kw& kw) {
  check_number(kappa, "vonmises", "kappa must not be negative", is_not_negative);
  const wanted w("vonmises", size, kw, {&mu, &kappa});
  const draw_kw wide{.device = w.real.device};
  const double pi = std::numbers::pi;
  // Of almost no or an infinite concentration the angle is uniform or 0.
  const ndarray k = array_of(kappa, w), some = logical_and(greater(k, 1e-8), less(k, 1e6)), used = where(some, k, 1.0);
  const ndarray tau = 1 + sqrt(1 + 4 * used * used), rho = (tau - sqrt(2 * tau)) / (2 * used);
  const ndarray s = (1 + rho * rho) / (2 * rho);
  const ndarray angle = until_accepted([&] {
    const ndarray z = cos(pi * random(w.shape, wide)), f = (1 + s * z) / (s + z), c = used * (s - f);
    const ndarray v = random(w.shape, wide);
    const ndarray good = logical_or(greater(c * (2 - c), v), greater_equal(log(c / v) + 1 - c, 0));
    const ndarray sign = where(less(random(w.shape, wide), 0.5), -1.0, 1.0);
    return candidates{sign * arccos(clip(f, -1, 1)), good};
  });
  const ndarray uniform_angle = pi * (2 * random(w.shape, wide) - 1);
  const ndarray narrow = standard_normal(w.shape, wide) / sqrt(maximum(k, 1.0));
  const ndarray about = where(some, angle, where(less(k, 1.0), uniform_angle, narrow));
  return w.result(remainder(add(mu, about) + pi, 2 * pi) - pi);
}

ndarray generator::zipf(const operand& a, const draw_size& size, const draw_kw& kw) {
  check_number(a, "zipf", "a must be above 1", [](double x) { return x > 1; });
  const whole w("zipf", size, kw, {&a});
  // Numbers up to the largest int64, as NumPy's: near a of 1 most of the weight is far beyond. Of one that is at most
  // `largest`, x = floor(u**(-1 / (a - 1))), so u is drawn from [largest**(1 - a), 1]; all but 31% are accepted. The small
  // differences are those of exponentials, so that they do not vanish for a near 1. From a of 1001 on all are 1 (2 has a
  // probability below 2**-1000), and exponents stay finite.
  const double largest = 9.2e18;
  const ndarray less_one = minimum(array_of(a, w.of) - 1, 1000.0);
  const ndarray range = -expm1(-less_one * std::log(largest)), of_two = expm1(less_one * std::numbers::ln2);
  return w.result(until_accepted([&] {
    const ndarray u = random(w.of.shape, w.of.real), v = random(w.of.shape, w.of.real);
    const ndarray x = floor(exp(-log1p(-u * range) / less_one)), more = expm1(less_one * log1p(1 / x));
    const ndarray good = less_equal(v * x * more / of_two, (1 + more) / (1 + of_two));
    return candidates{x, logical_and(good, logical_and(greater_equal(x, 1), less_equal(x, largest)))};
  }));
}

namespace {

/// The logarithm of the reciprocal probability of k good ones, up to a constant.
ndarray improbability(const ndarray& k, const ndarray& few, const ndarray& many, const ndarray& drawn) {
  using special::gammaln;
  return gammaln(k + 1) + gammaln(few - k + 1) + gammaln(drawn - k + 1) + gammaln(many - drawn + k + 1);
}

void check_counts(const ndarray& good, const ndarray& bad, const ndarray& sample) {
  const double most = 1e9;  // as NumPy: beyond, logarithms of probabilities have too few digits
  const auto any_of = [](const ndarray& x) { return static_cast<bool>(any(x)); };
  if (any_of(less(good, 0)) || any_of(less(bad, 0)) || any_of(less(sample, 0)))
    fail<value_error>("hypergeometric", "ngood, nbad and nsample must not be negative");
  if (any_of(greater_equal(good, most)) || any_of(greater_equal(bad, most)))
    fail<value_error>("hypergeometric", "ngood and nbad must be less than 10**9");
  if (any_of(greater(sample, good + bad))) fail<value_error>("hypergeometric", "nsample is more than ngood + nbad");
}

/// The numbers of good ones that a sample can have with more than 2^-70 of the most likely one's probability, from `first` on,
/// and weights as their probabilities. Nothing where there are more than `most`. The counts are whole numbers.
struct count_range {
  double first = 0;
  std::vector<double> weights{};
};
count_range likely_counts(double good, double bad, double sample, std::size_t most) {
  const double lowest = std::max(sample - bad, 0.0), highest = std::min(sample, good);
  const double mode = std::clamp(std::floor((sample + 1) * (good + 1) / (good + bad + 2)), lowest, highest);
  std::vector<double> below, above{1.0};
  double p = 1;
  for (double k = mode; k > lowest && p > 0x1p-70 && below.size() <= most; --k)
    below.push_back(p *= k / (good - k + 1) * ((bad - sample + k) / (sample - k + 1)));
  p = 1;
  for (double k = mode; k < highest && p > 0x1p-70 && above.size() <= most; ++k)
    above.push_back(p *= (good - k) / (k + 1) * ((sample - k) / (bad - sample + k + 1)));
  count_range range{.first = mode - static_cast<double>(below.size())};
  if (below.size() + above.size() > most) return range;
  range.weights.assign(below.rbegin(), below.rend());
  range.weights.insert(range.weights.end(), above.begin(), above.end());
  return range;
}

/// Through tables of the probabilities: one, or one for each number of drawn ones up to the largest. Nothing where they would be
/// large.
std::optional<ndarray> counts_by_table(generator& g, const whole& w, double good, double bad, const ndarray& sample) {
  constexpr std::size_t most = 4096, most_of_all = 65536;
  const auto drawn = [&] { return g.random(w.of.shape, w.of.real); };
  if (sample.ndim() == 0) {
    const count_range range = likely_counts(good, bad, sample.item<double>(), most);
    if (range.weights.empty()) return std::nullopt;
    return by_alias(range.weights, drawn()) + static_cast<std::int64_t>(range.first);
  }
  const double largest = sample.size() > 0 ? max(sample).item<double>() : 0;
  if (!(largest < most)) return std::nullopt;
  std::vector<count_range> ranges;
  std::vector<double> firsts;
  std::size_t longest = 1;
  for (double k = 0; k <= largest; ++k) {
    ranges.push_back(likely_counts(good, bad, k, most));
    std::vector<double>& sums = ranges.back().weights;
    if (sums.empty()) return std::nullopt;
    std::partial_sum(sums.begin(), sums.end(), sums.begin());
    const double total = sums.back();
    for (double& x : sums) x /= total;
    firsts.push_back(ranges.back().first);
    longest = std::max(longest, std::bit_ceil(sums.size()));
    if (longest * static_cast<std::size_t>(largest + 1) > most_of_all) return std::nullopt;
  }
  std::vector<double> table(longest * ranges.size(), 1.0);
  for (std::size_t i = 0; i < ranges.size(); ++i)
    std::copy(ranges[i].weights.begin(), ranges[i].weights.end(),
              table.begin() + static_cast<std::ptrdiff_t>(i * longest));
  const ndarray row = sample.astype(int64);
  const ndarray first = take(array(firsts, {.device = w.of.real.device}).astype(int64), row);
  return first + inverse_of_rows(table, static_cast<std::int64_t>(longest), row, drawn());
}

}  // namespace

ndarray generator::hypergeometric(const operand& ngood, const operand& nbad, const operand& nsample,
                                  const draw_size& size, const draw_kw& kw) {
  for (const operand* x : {&ngood, &nbad, &nsample}) {
    const dtype type = x->is_array() ? view_of(x->array(), "hypergeometric").type : x->number().default_dtype();
    if (!is_integer(type)) fail<dtype_error>("hypergeometric", "counts are integers, not of ", type);
  }
  const whole w("hypergeometric", size, kw, {&ngood, &nbad, &nsample});
  const ndarray good = array_of(ngood, w.of).astype(float64, false), bad = array_of(nbad, w.of).astype(float64, false),
                sample = array_of(nsample, w.of).astype(float64, false);
  check_counts(good, bad, sample);
  if (!ngood.is_array() && !nbad.is_array())
    if (const auto counts = counts_by_table(*this, w, ngood.number().real(), nbad.number().real(), sample))
      return w.result(*counts);
  // Stadlober's ratio of uniforms, The ratio of uniforms approach for generating discrete random variates, 1990, of the rarer
  // kind in the smaller part of the population; 1.7156 and 0.8989 are 2 sqrt(2 / e) and 3 - 2 sqrt(3 / e).
  const ndarray few = minimum(good, bad), many = maximum(good, bad), all = good + bad;
  const ndarray drawn = minimum(sample, all - sample), none = maximum(all, 1.0);
  const ndarray mean = drawn * (few / none);
  const ndarray variance = (all - drawn) * mean * (many / none) / maximum(all - 1, 1.0);
  const ndarray width = 1.7155277699214135 * sqrt(variance + 0.5) + 0.8989161620588988;
  const ndarray mode = floor((drawn + 1) * ((few + 1) / (all + 2))), least = maximum(drawn - many, 0.0);
  const ndarray top = improbability(clip(mode, least, minimum(drawn, few)), few, many, drawn);
  const ndarray count = until_accepted([&] {
    const ndarray u = 1 - random(w.of.shape, w.of.real), v = random(w.of.shape, w.of.real);
    const ndarray x = floor(mean + 0.5 + width * (v - 0.5) / u);
    const ndarray inside = logical_and(greater_equal(x, least), less_equal(x, minimum(drawn, few)));
    const ndarray k = clip(x, least, minimum(drawn, few));
    return candidates{k, logical_and(inside, less_equal(2 * log(u), top - improbability(k, few, many, drawn)))};
  });
  const ndarray of_good = where(greater(good, bad), drawn - count, count);
  return w.result(where(less(drawn, sample), good - of_good, of_good));
}

ndarray generator::multinomial(std::int64_t n, const ndarray& pvals, const draw_size& size, const draw_kw& kw) {
  if (n < 0) fail<value_error>("multinomial", "n must not be negative, not ", n);
  if (view_of(pvals, "multinomial").shape.size() > 1)
    return multinomial(full({}, n, {.dtype = int64, .device = pvals.device()}), pvals, size, kw);
  if (view_of(pvals, "multinomial").shape.size() != 1 || pvals.shape(0) == 0)
    fail<shape_error>("multinomial", "pvals are a vector, not of shape ", pvals.shape());
  const dtype type = kw.dtype.value_or(int64);
  if (!is_integer(type)) fail<dtype_error>("multinomial", "draws integers, not ", type);
  const std::vector<double> p = pvals.to_vector<double>();
  double total = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!(p[i] >= 0 && p[i] <= 1)) fail<value_error>("multinomial", "a probability of ", p[i]);
    if (i + 1 < p.size()) total += p[i];
  }
  if (total > 1 + 1e-12) fail<value_error>("multinomial", "probabilities that add up to ", total);
  const draw_size shape = size.given() ? size : draw_size(shape_t{});
  const draw_kw there{.device = pvals.device()};
  ndarray left = full(shape.shape(), n, {.dtype = int64, .device = pvals.device()});
  std::vector<ndarray> counts;
  double rest = 1;
  for (std::size_t i = 0; i + 1 < p.size(); ++i) {
    counts.push_back(binomial(left, rest > 0 ? std::min(p[i] / rest, 1.0) : 0.0, shape, there));
    left = left - counts.back();
    rest -= p[i];
  }
  counts.push_back(left);
  return stack(counts, -1).astype(type, false);
}

ndarray generator::multinomial(const ndarray& n, const ndarray& pvals, const draw_size& size, const draw_kw& kw) {
  const char* const name = "multinomial";
  const dims of_trials = view_of(n, name).shape, of_outcomes = view_of(pvals, name).shape;
  if (of_outcomes.size() == 0 || pvals.shape(-1) == 0)
    fail<shape_error>(name, "pvals are vectors, not of shape ", of_outcomes);
  if (!is_integer(n.dtype())) fail<dtype_error>(name, "numbers of trials are integers, not of ", n.dtype());
  const dtype type = kw.dtype.value_or(int64);
  if (!is_integer(type)) fail<dtype_error>(name, "draws integers, not ", type);
  const ndarray p = pvals.astype(float64, false);
  const std::vector<ndarray> each = unstack(p, -1);
  ndarray total = zeros(each.front().shape(), {.device = p.device()});
  for (std::size_t i = 0; i + 1 < each.size(); ++i) total = total + each[i];
  if (bool(any(n < 0))) fail<value_error>(name, "a negative number of trials");
  if (!bool(all(logical_and(p >= 0, p <= 1)))) fail<value_error>(name, "a probability is not from 0 to 1");
  if (bool(any(total > 1 + 1e-12))) fail<value_error>(name, "probabilities that add up to more than 1");

  const shape_t shape = size.given() ? size.shape() : broadcast_shapes(n.shape(), each.front().shape());
  const draw_kw there{.device = p.device()};
  ndarray left = broadcast_to(n.astype(int64, false), shape);
  ndarray rest = ones(each.front().shape(), {.device = p.device()});
  std::vector<ndarray> counts;
  for (std::size_t i = 0; i + 1 < each.size(); ++i) {
    const ndarray share = where(rest > 0, minimum(each[i] / rest, 1.0), 0.0);
    counts.push_back(binomial(left, broadcast_to(share, shape), draw_size(shape), there));
    left = left - counts.back();
    rest = rest - each[i];
  }
  counts.push_back(left);
  return stack(counts, -1).astype(type, false);
}

std::vector<std::uint8_t> bytes(std::int64_t n) {
  if (n < 0) fail<value_error>("bytes", "a number of ", n, " bytes");
  const draw_space words{dims{n / 8 + (n % 8 != 0)}, to_id(cpu)};  // each is eight bytes, the lowest first
  const host_view<std::uint64_t> all =
      wrap(drawn(default_generator(), jit::opcode::random_bits, uint64, words)).host<std::uint64_t>();
  static_assert(std::endian::native == std::endian::little);
  const auto* const first = reinterpret_cast<const std::uint8_t*>(all.data());
  return {first, first + n};
}

}  // namespace sinter::inline v0::random
