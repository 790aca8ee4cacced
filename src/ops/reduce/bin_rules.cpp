// The rules by which numpy.histogram chooses the number of bins of equal width. A rule gives a width; as in NumPy,
// widths have the samples' dtype or float64 and are rounded after every operation, so that a quotient that is an
// integer is rounded up in the same cases.
#include <algorithm>
#include <numbers>

#include "ops/reduce/bins.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/reduce.hpp"
#include "sinter/sort.hpp"

namespace sinter::ops {
namespace {

struct number {
  double value = 0;
  dtype type = dtype::f64;
};

/// Samples within the limits, and quantities that several rules need.
struct subject {
  ndarray samples;
  limits bins;      // the outermost edges
  limits extremes;  // of the samples
  const char* function;

  double n() const { return static_cast<double>(samples.size()); }
  dtype type() const { return extremes.type; }
  double spread() const { return width_of(extremes); }
  /// spread / x for an x that NumPy rounds to the samples' dtype.
  number spread_over(double x) const { return {rounded_to(type(), spread() / rounded_to(type(), x)), type()}; }
};

double square_root_width(const subject& s) { return s.spread() / std::sqrt(s.n()); }
double sturges_width(const subject& s) { return s.spread() / (std::log2(s.n()) + 1.0); }

number scott_width(const subject& s) {
  const double factor = std::pow(24.0 * std::sqrt(std::numbers::pi) / s.n(), 1.0 / 3.0);
  const double deviation = sinter::std(s.samples).item<double>();
  return {rounded_to(s.type(), rounded_to(s.type(), factor) * deviation), s.type()};
}

double doane_width(const subject& s) {
  const double n = s.n();
  if (n <= 2) return 0;
  const ndarray deviation = sinter::std(s.samples);
  if (!(deviation.item<double>() > 0)) return 0;
  const double skewness = mean(power((s.samples - mean(s.samples)) / deviation, 3)).item<double>();
  const double expected = std::sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)));
  return s.spread() / (1.0 + std::log2(n) + std::log2(1.0 + std::abs(skewness) / expected));
}

/// numpy.percentile(samples, 100 * q) of sorted samples.
double quantile(const subject& s, const ndarray& sorted, double q) {
  const std::int64_t last = sorted.size() - 1;
  const double at = q * static_cast<double>(last);
  const std::int64_t k = std::min(static_cast<std::int64_t>(at), last), next = std::min(k + 1, last);
  const double a = sorted(k).item<double>(), b = sorted(next).item<double>(), t = at - std::floor(at);
  const double difference = rounded_to(s.type(), b - a);
  return t >= 0.5 ? b - difference * (1 - t) : a + difference * t;
}

double freedman_diaconis_width(const subject& s) {
  const ndarray sorted = sort(s.samples);
  const double between = quantile(s, sorted, 0.75) - quantile(s, sorted, 0.25);
  return 2.0 * between * std::pow(s.n(), -1.0 / 3.0);
}

double automatic_width(const subject& s) {
  const double relaxed = std::max(freedman_diaconis_width(s), square_root_width(s) / 2);
  return std::min(relaxed, sturges_width(s));
}

__extension__ using int128 = __int128;

/// The sum of the squared counts, exact for up to 2^31 samples.
int128 sum_of_squares(const ndarray& counts, std::int64_t n) {
  if (n < std::int64_t{1} << 31) return sum(counts * counts).item<std::int64_t>();
  const ndarray wide = counts.astype(dtype::f64);
  return static_cast<int128>(sum(wide * wide).item<double>());
}

/// The number of bins with the least estimated error, by cross-validation over all candidates. The estimate for bins of
/// width h and counts c is (2 - (n + 1) * sum((c / n)^2)) / h. Ties go to the first candidate, so the estimates are
/// compared exactly, as integers (without a common factor).
number stone_width(const subject& s) {
  const std::int64_t n = s.samples.size();
  if (n <= 1 || s.spread() == 0) return {};
  const auto most = std::max<std::int64_t>(100, static_cast<std::int64_t>(std::sqrt(s.n())));
  std::int64_t best = 1;
  int128 least = 0;
  for (std::int64_t bins = 1; bins <= most; ++bins) {
    const ndarray counts = counts_of(s.samples, equal_bins_of(s.samples, s.bins, bins, s.function));
    const int128 error = (2 * int128{n} * n - (int128{n} + 1) * sum_of_squares(counts, n)) * bins;
    if (bins == 1 || error < least) {
      least = error;
      best = bins;
    }
  }
  return s.spread_over(static_cast<double>(best));
}

number width_by(std::string_view rule, const subject& s) {
  if (rule == "sqrt") return {square_root_width(s), dtype::f64};
  if (rule == "sturges") return {sturges_width(s), dtype::f64};
  if (rule == "rice") return s.spread_over(2.0 * std::pow(s.n(), 1.0 / 3));
  if (rule == "scott") return scott_width(s);
  if (rule == "doane") return {doane_width(s), dtype::f64};
  if (rule == "fd") return {freedman_diaconis_width(s), dtype::f64};
  if (rule == "stone") return stone_width(s);
  return {automatic_width(s), dtype::f64};
}

void check_rule(std::string_view rule, const char* function) {
  for (const std::string_view known : {"auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"})
    if (rule == known) return;
  fail<value_error>(function, "no rule for bins is called \"", rule,
                    "\"; there are auto, fd, doane, scott, stone, rice, sturges and sqrt");
}

}  // namespace

std::int64_t count_by_rule(std::string_view rule, const ndarray& samples, const bin_limits& given, const limits& l,
                           const char* function) {
  check_rule(rule, function);
  subject s{samples, l, l, function};
  if (given) {  // samples outside the range are ignored
    const ndarray kept = (samples >= l.low) & (samples <= l.high);
    if (!bool(all(kept))) s.samples = samples[kept];
  }
  if (s.samples.size() == 0) return 1;
  s.extremes = extremes_of(s.samples, function);
  number width = width_by(rule, s);
  if (width.value == 0) return 1;
  if (is_integer(s.samples.dtype()) && width.value < 1) width = {1, dtype::f64};
  const dtype type = l.type == width.type ? l.type : dtype::f64;
  const double count = std::ceil(rounded_to(type, width_of(l) / width.value));
  if (!(count < 0x1p53)) fail<value_error>(function, "the rule ", rule, " wants too many bins");
  return static_cast<std::int64_t>(count);
}

}  // namespace sinter::ops
