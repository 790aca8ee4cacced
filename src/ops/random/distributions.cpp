// Distributions composed of other draws.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/shape.hpp"
#include "graph/values/example.hpp"
#include "ops/base/axes.hpp"
#include "ops/random/composed.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/special.hpp"

namespace sinter::inline v0::random {

using namespace ops;

ndarray generator::chisquare(const operand& df, const draw_size& size, const draw_kw& kw) {
  check_number(df, "chisquare", "df must be above 0", is_positive);
  const composed_draw w("chisquare", size, kw, {&df});
  return w.result(standard_gamma(multiply(0.5, df), w.shape, w.real) * 2);
}

ndarray generator::noncentral_chisquare(const operand& df, const operand& nonc, const draw_size& size,
                                        const draw_kw& kw) {
  check_number(df, "noncentral_chisquare", "df must be above 0", is_positive);
  check_number(nonc, "noncentral_chisquare", "nonc must not be negative", is_not_negative);
  const composed_draw w("noncentral_chisquare", size, kw, {&df, &nonc});
  // A mixture of central ones. For each draw of nonc's the density of two degrees more is x / (df + 2 pairs) of its own, in
  // the mean over all draws that come to x: as the derivative by nonc of the distribution function is minus that density,
  // gradients of expectations are those of a draw that moves so.
  const ndarray middle = real_parameter(nonc, w);
  const ndarray pairs = poisson(multiply(0.5, constant_parameter(middle)), w.shape, {.device = w.real.device});
  const ndarray x = standard_gamma(multiply(0.5, df) + pairs, w.shape, w.real) * 2;
  const ndarray freedom = constant_parameter(real_parameter(df, w)) + 2.0 * pairs;
  return w.result(moving_draw("noncentral_chisquare", x, {middle, freedom}, [](const auto& p, const ndarray& drawn) {
    return std::vector<ndarray>{drawn / p[1], ndarray()};
  }));
}

ndarray generator::f(const operand& dfnum, const operand& dfden, const draw_size& size, const draw_kw& kw) {
  check_number(dfnum, "f", "dfnum must be above 0", is_positive);
  check_number(dfden, "f", "dfden must be above 0", is_positive);
  const composed_draw w("f", size, kw, {&dfnum, &dfden});
  const ndarray first = chisquare(dfnum, w.shape, w.real), second = chisquare(dfden, w.shape, w.real);
  return w.result(divide(divide(first, dfnum), divide(second, dfden)));
}

ndarray generator::noncentral_f(const operand& dfnum, const operand& dfden, const operand& nonc, const draw_size& size,
                                const draw_kw& kw) {
  check_number(dfden, "noncentral_f", "dfden must be above 0", is_positive);
  const composed_draw w("noncentral_f", size, kw, {&dfnum, &dfden, &nonc});
  const ndarray first = noncentral_chisquare(dfnum, nonc, w.shape, w.real), second = chisquare(dfden, w.shape, w.real);
  return w.result(divide(divide(first, dfnum), divide(second, dfden)));
}

ndarray generator::gumbel(const operand& loc, const operand& scale, const draw_size& size, const draw_kw& kw) {
  check_number(scale, "gumbel", "scale must not be negative", is_not_negative);
  const composed_draw w("gumbel", size, kw, {&loc, &scale});
  return w.result(subtract(loc, multiply(scale, log(standard_exponential(w.shape, w.real)))));
}

ndarray generator::logistic(const operand& loc, const operand& scale, const draw_size& size, const draw_kw& kw) {
  check_number(scale, "logistic", "scale must not be negative", is_not_negative);
  const composed_draw w("logistic", size, kw, {&loc, &scale});
  // log(u / (1 - u)) is log(exp(e) - 1) of an exponential draw, which has no end where u is rounded to 0.
  return w.result(add(loc, multiply(scale, log(expm1(standard_exponential(w.shape, w.real))))));
}

ndarray generator::pareto(const operand& a, const draw_size& size, const draw_kw& kw) {
  check_number(a, "pareto", "a must be above 0", is_positive);
  const composed_draw w("pareto", size, kw, {&a});
  return w.result(expm1(divide(standard_exponential(w.shape, w.real), a)));
}

ndarray generator::power(const operand& a, const draw_size& size, const draw_kw& kw) {
  check_number(a, "power", "a must be above 0", is_positive);
  const composed_draw w("power", size, kw, {&a});
  return w.result(sinter::power(-expm1(-standard_exponential(w.shape, w.real)), divide(1.0, a)));
}

ndarray generator::rayleigh(const operand& scale, const draw_size& size, const draw_kw& kw) {
  check_number(scale, "rayleigh", "scale must not be negative", is_not_negative);
  const composed_draw w("rayleigh", size, kw, {&scale});
  return w.result(multiply(scale, sqrt(2 * standard_exponential(w.shape, w.real))));
}

ndarray generator::standard_cauchy(const draw_size& size, const draw_kw& kw) {
  const composed_draw w("standard_cauchy", size, kw, {});
  const ndarray first = standard_normal(w.shape, w.real);
  return w.result(first / standard_normal(w.shape, w.real));
}

ndarray generator::standard_t(const operand& df, const draw_size& size, const draw_kw& kw) {
  check_number(df, "standard_t", "df must be above 0", is_positive);
  const composed_draw w("standard_t", size, kw, {&df});
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
  const composed_draw w("triangular", size, kw, {&left, &mode, &right});
  const ndarray u = random(w.shape, w.real), l = array_of(left, w), m = array_of(mode, w), r = array_of(right, w);
  const ndarray base = r - l, below = m - l, above = r - m;
  return w.result(where(less_equal(u, below / base), l + sqrt(u * base * below), r - sqrt((1 - u) * base * above)));
}

namespace {

/// Derivatives of an inverse Gaussian x at a fixed value of its distribution function F, with respect to its mean m and its
/// scale l: -(dF/dm) / f and -(dF/dl) / f for F = ndtr(a) + exp(2 l / m) ndtr(-b) and a, b = sqrt(l / x) (x / m -+ 1). The
/// second term is the density of a times Mills's ratio of b.
std::vector<ndarray> wald_slopes(const std::vector<ndarray>& p, const ndarray& x) {
  const ndarray& m = p[0];
  const ndarray& l = p[1];
  const ndarray b = sqrt(l / x) * (x / m + 1);
  const ndarray ratio = std::sqrt(std::numbers::pi / 2) * special::erfcx(b * std::sqrt(0.5));
  const ndarray by_mean = 2 * ratio * x * sqrt(l * x) / (m * m);
  return {by_mean, (x - by_mean * m) / l};
}

}  // namespace

ndarray generator::wald(const operand& mean, const operand& scale, const draw_size& size, const draw_kw& kw) {
  check_number(mean, "wald", "mean must be above 0", is_positive);
  check_number(scale, "wald", "scale must be above 0", is_positive);
  const composed_draw w("wald", size, kw, {&mean, &scale});
  const ndarray of_mean = real_parameter(mean, w), of_scale = real_parameter(scale, w);
  const ndarray m = constant_parameter(of_mean), lambda = constant_parameter(of_scale);
  const ndarray n = standard_normal(w.shape, {.device = w.real.device}), u = random(w.shape, {.device = w.real.device});
  const ndarray y = m * n * n, d = 1 + sqrt(1 + 4 * lambda / y);
  const ndarray x = where(equal(y, 0), m, m * (1 - 2 / d));
  const ndarray drawn = where(less_equal(u, m / (m + x)), x, m * m / x);
  return w.result(moving_draw("wald", drawn, {of_mean, of_scale}, wald_slopes));
}

ndarray generator::weibull(const operand& a, const draw_size& size, const draw_kw& kw) {
  check_number(a, "weibull", "a must not be negative", is_not_negative);
  const composed_draw w("weibull", size, kw, {&a});
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
  const composed_draw w("dirichlet", with_rows(size, alpha.shape(0)), kw, {&of});
  const ndarray g = standard_gamma(alpha, w.shape, w.real);
  return w.result(g / sum(g, -1, {.keepdims = true}));
}

ndarray generator::geometric(const operand& p, const draw_size& size, const draw_kw& kw) {
  check_number(p, "geometric", "p must be in (0, 1]", [](double x) { return x > 0 && x <= 1; });
  const composed_count w("geometric", size, kw, {&p});
  const ndarray trials = ceil(-standard_exponential(w.of.shape, w.of.real) / log1p(-array_of(p, w.of)));
  return w.result(clip(trials, 1, 9.2e18));
}

ndarray generator::logseries(const operand& p, const draw_size& size, const draw_kw& kw) {
  check_number(p, "logseries", "p must be in [0, 1)", [](double x) { return x >= 0 && x < 1; });
  const composed_count w("logseries", size, kw, {&p});
  // Kemp: given q = 1 - (1 - p)**u the number is geometric.
  const ndarray u = random(w.of.shape, w.of.real), q = -expm1(u * log1p(-array_of(p, w.of)));
  const ndarray x = 1 + floor(-standard_exponential(w.of.shape, w.of.real) / log(q));
  return w.result(clip(where(equal(q, 0), 1, x), 1, 9.2e18));
}

ndarray generator::negative_binomial(const operand& n, const operand& p, const draw_size& size, const draw_kw& kw) {
  check_number(n, "negative_binomial", "n must be above 0", is_positive);
  check_number(p, "negative_binomial", "p must be in (0, 1]", [](double x) { return x > 0 && x <= 1; });
  const composed_count w("negative_binomial", size, kw, {&n, &p});
  const ndarray probability = array_of(p, w.of);
  const ndarray lambda = standard_gamma(n, w.of.shape, w.of.real) * ((1 - probability) / probability);
  return w.result(poisson(lambda, w.of.shape, {.device = w.of.real.device}));
}

ndarray generator::multinomial(std::int64_t n, const ndarray& pvals, const draw_size& size, const draw_kw& kw) {
  if (n < 0) fail<value_error>("multinomial", "n must not be negative, not ", n);
  if (view_of(pvals, "multinomial").shape.size() > 1 || graph::is_example(value_of(pvals)))
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
  if (holds_for_any(n < 0)) fail<value_error>(name, "a negative number of trials");
  if (holds_for_any(logical_not(logical_and(p >= 0, p <= 1))))
    fail<value_error>(name, "a probability is not from 0 to 1");
  if (holds_for_any(total > 1 + 1e-12)) fail<value_error>(name, "probabilities that add up to more than 1");

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
