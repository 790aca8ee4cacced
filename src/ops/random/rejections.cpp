// Distributions whose draws are refused and made again.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "graph/values/example.hpp"
#include "ops/random/composed.hpp"
#include "ops/random/inverse_table.hpp"
#include "sinter/eval.hpp"
#include "sinter/grad.hpp"
#include "sinter/indexing.hpp"
#include "sinter/loops.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/special.hpp"
#include "sinter/take.hpp"

namespace sinter::inline v0::random {

using namespace ops;

namespace {

/// Draws again what has not been accepted: `round` gives candidates and which of them are good, from a generator. Later rounds
/// are those of streams of their own, so that a draw takes the same part of the generator's stream however many rounds there
/// are. Of these only the elements that are left are computed: draws are read by index, at places that give the bits of a
/// whole round. Each round is stored: else the next one would draw it again, and a draw larger than the memory would be looked
/// through before it is refused.
template <class Round>
ndarray until_accepted(generator& g, const Round& round) {
  generator_state state = g.state();
  auto [out, good] = round(g);
  const auto later = [&] {
    state.subsequence += std::uint64_t{1} << 32;
    generator own(state);
    return round(own);
  };
  if (graph::is_example(value_of(good))) {
    ndarray* const kept[] = {&out, &good};
    for (detail::settle_examples(kept); holds_for_any(logical_not(good)); detail::settle_examples(kept)) {
      const auto [again, fits] = later();
      out = where(good, out, again);
      good = logical_or(good, fits);
    }
    return out;
  }
  eval(out, good);
  if (!may_look_at(value_of(good))) {
    while (!bool(all(good))) {
      const auto [again, fits] = later();
      out = where(good, out, again);
      good = logical_or(good, fits);
      eval(out, good);
    }
    return out;
  }
  const shape_t shape = out.shape();
  out = ravel(out);
  for (ndarray left = flatnonzero(logical_not(good)); left.size() > 0;) {
    const auto [again, fits] = later();
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

/// Nodes and weights of Gauss's and Legendre's formula on (0, 1), arrays of one axis.
struct unit_interval {
  ndarray at, weights;
};
unit_interval points_of_unit_interval(int points, const ndarray& like) {
  std::vector<double> at, weights;
  for (int k = 0; k < points; ++k) {
    double x = std::cos(std::numbers::pi * (k + 0.75) / (points + 0.5)), slope = 1;
    for (int round = 0; round < 8; ++round) {
      double before = 1, now = x;
      for (int n = 2; n <= points; ++n) before = std::exchange(now, ((2 * n - 1) * x * now - (n - 1) * before) / n);
      slope = points * (x * now - before) / (x * x - 1);
      x -= now / slope;
    }
    at.push_back((1 - x) / 2);
    weights.push_back(1 / ((1 - x * x) * slope * slope));
  }
  const auto as_like = [&](const std::vector<double>& x) {
    return array(x, {.dtype = like.dtype(), .device = like.device()});
  };
  return {as_like(at), as_like(weights)};
}

/// The derivative of an angle with respect to the concentration kappa, at a fixed value of the distribution function F (with
/// the mean direction 0): -(dF/dkappa) / f. With A = I1(kappa) / I0(kappa) it is, for angles y > 0,
///   minus the integral of  exp(kappa (cos(t) - cos(y))) (cos(t) - A)  over t from 0 to y,
/// which is the integral from y to pi as well, since both together are 0: the side is taken on which cos(t) - A has one sign,
/// of the outer one the part where the exponential is above exp(-40).
std::vector<ndarray> angle_slopes(const std::vector<ndarray>& p, const ndarray& angle) {
  const ndarray& kappa = p[0];
  const ndarray y = absolute(angle), half = sin(0.5 * y), lack = 1 - special::i1e(kappa) / special::i0e(kappa);
  const ndarray inner = less(2 * half * half, lack);
  const ndarray end = 2 * arcsin(sqrt(minimum(half * half + 20 / kappa, 1.0)));
  const ndarray from = where(inner, 0.0, y), to = where(inner, y, stop_gradient(end));
  const unit_interval line = points_of_unit_interval(48, y);
  const auto along = [](const ndarray& v) { return expand_dims(v, -1); };
  const ndarray t = along(from) + along(to - from) * line.at, middle = sin(0.5 * t);
  const ndarray above = 2 * sin(0.5 * (along(y) + t)) * sin(0.5 * (along(y) - t));  // cos(t) - cos(y)
  const ndarray terms = exp(along(kappa) * above) * (along(lack) - 2 * middle * middle) * line.weights;
  const ndarray size = (to - from) * sum(terms, -1);
  return {sign(angle) * where(inner, -size, size)};
}

}  // namespace

ndarray generator::vonmises(const operand& mu, const operand& kappa, const draw_size& size, const draw_kw& kw) {
  check_number(kappa, "vonmises", "kappa must not be negative", is_not_negative);
  const composed_draw w("vonmises", size, kw, {&mu, &kappa});
  const draw_kw wide{.device = w.real.device};
  const double pi = std::numbers::pi;
  // Of almost no or an infinite concentration the angle is uniform or 0.
  const ndarray of_kappa = real_parameter(kappa, w), k = constant_parameter(of_kappa);
  const ndarray some = logical_and(greater(k, 1e-8), less(k, 1e6)), used = where(some, k, 1.0);
  const ndarray tau = 1 + sqrt(1 + 4 * used * used), rho = (tau - sqrt(2 * tau)) / (2 * used);
  const ndarray s = (1 + rho * rho) / (2 * rho);
  const ndarray angle = until_accepted(*this, [&](generator& g) {
    const ndarray z = cos(pi * g.random(w.shape, wide)), f = (1 + s * z) / (s + z), c = used * (s - f);
    const ndarray v = g.random(w.shape, wide);
    const ndarray good = logical_or(greater(c * (2 - c), v), greater_equal(log(c / v) + 1 - c, 0));
    const ndarray sign = where(less(g.random(w.shape, wide), 0.5), -1.0, 1.0);
    return candidates{sign * arccos(clip(f, -1, 1)), good};
  });
  const ndarray uniform_angle = pi * (2 * random(w.shape, wide) - 1);
  const ndarray moving = where(less(of_kappa, 1e6), of_kappa, 1.0);
  const ndarray drawn = where(logical_and(less(k, 1.0), logical_not(some)), uniform_angle, angle);
  const ndarray wrapped = moving_draw("vonmises", drawn, {moving}, angle_slopes);
  const ndarray narrow = standard_normal(w.shape, wide) / sqrt(maximum(of_kappa, 1.0));
  const ndarray about = where(less(k, 1e6), wrapped, narrow);
  return w.result(remainder(add(mu, about) + pi, 2 * pi) - pi);
}

ndarray generator::zipf(const operand& a, const draw_size& size, const draw_kw& kw) {
  check_number(a, "zipf", "a must be above 1", [](double x) { return x > 1; });
  const composed_count w("zipf", size, kw, {&a});
  // Numbers up to the largest int64, as NumPy's: near a of 1 most of the weight is far beyond. Of one that is at most
  // `largest`, x = floor(u**(-1 / (a - 1))), so u is drawn from [largest**(1 - a), 1]; all but 31% are accepted. The small
  // differences are those of exponentials, so that they do not vanish for a near 1. From a of 1001 on all are 1 (2 has a
  // probability below 2**-1000), and exponents stay finite.
  const double largest = 9.2e18;
  const ndarray less_one = minimum(array_of(a, w.of) - 1, 1000.0);
  const ndarray range = -expm1(-less_one * std::log(largest)), of_two = expm1(less_one * std::numbers::ln2);
  return w.result(until_accepted(*this, [&](generator& g) {
    const ndarray u = g.random(w.of.shape, w.of.real), v = g.random(w.of.shape, w.of.real);
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
  if (holds_for_any(less(good, 0)) || holds_for_any(less(bad, 0)) || holds_for_any(less(sample, 0)))
    fail<value_error>("hypergeometric", "ngood, nbad and nsample must not be negative");
  if (holds_for_any(greater_equal(good, most)) || holds_for_any(greater_equal(bad, most)))
    fail<value_error>("hypergeometric", "ngood and nbad must be less than 10**9");
  if (holds_for_any(greater(sample, good + bad)))
    fail<value_error>("hypergeometric", "nsample is more than ngood + nbad");
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

/// The greatest of whole numbers that are not negative, within a vmap of all examples; `most` where it is that or more.
std::int64_t greatest_of(const ndarray& counts, std::int64_t most) {
  std::int64_t low = 0, high = most;
  if (counts.size() == 0) return 0;
  if (!graph::is_example(value_of(counts)))
    return static_cast<std::int64_t>(std::min(max(counts).item<double>(), static_cast<double>(most)));
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (holds_for_any(greater(counts, middle))) low = middle + 1;
    else high = middle;
  }
  return low;
}

/// Through tables of the probabilities: one, or one for each number of drawn ones up to the largest. Nothing where they would be
/// large.
std::optional<ndarray> counts_by_table(generator& g, const composed_count& w, double good, double bad,
                                       const operand& number, const ndarray& sample) {
  constexpr std::size_t most = 4096, most_of_all = 65536;
  const auto drawn = [&] { return g.random(w.of.shape, w.of.real); };
  if (!number.is_array()) {
    const count_range range = likely_counts(good, bad, number.number().real(), most);
    if (range.weights.empty()) return std::nullopt;
    return by_alias(range.weights, drawn()) + static_cast<std::int64_t>(range.first);
  }
  const auto largest = static_cast<double>(greatest_of(sample, most));
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
  const composed_count w("hypergeometric", size, kw, {&ngood, &nbad, &nsample});
  const ndarray good = array_of(ngood, w.of).astype(float64, false), bad = array_of(nbad, w.of).astype(float64, false),
                sample = array_of(nsample, w.of).astype(float64, false);
  check_counts(good, bad, sample);
  if (!ngood.is_array() && !nbad.is_array())
    if (const auto counts = counts_by_table(*this, w, ngood.number().real(), nbad.number().real(), nsample, sample))
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
  const ndarray count = until_accepted(*this, [&](generator& g) {
    const ndarray u = 1 - g.random(w.of.shape, w.of.real), v = g.random(w.of.shape, w.of.real);
    const ndarray x = floor(mean + 0.5 + width * (v - 0.5) / u);
    const ndarray inside = logical_and(greater_equal(x, least), less_equal(x, minimum(drawn, few)));
    const ndarray k = clip(x, least, minimum(drawn, few));
    return candidates{k, logical_and(inside, less_equal(2 * log(u), top - improbability(k, few, many, drawn)))};
  });
  const ndarray of_good = where(greater(good, bad), drawn - count, count);
  return w.result(where(less(drawn, sample), good - of_good, of_good));
}

}  // namespace sinter::inline v0::random
