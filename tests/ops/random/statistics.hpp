// Tests of distributions: statistics with their p-values, and the distribution functions that they compare with.
//
// A case that looks at n elements names the deviations that it would detect. A p-value below 1e-4 fails; seeds are
// fixed, so a case fails always or never. Kolmogorov and Smirnov's statistic of n elements goes beyond 2.23 / sqrt(n)
// with that probability; so a distribution function that is off by 3.9 / sqrt(n) anywhere is detected in 99 of 100
// draws. A mean is detected (99 of 100) when it is off by 6.3 standard errors.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace statistics {

using sample = std::vector<double>;
inline constexpr double smallest_p = 1e-4;

/// P(|Z| > z) of a standard normal number.
inline double two_sided(double z) { return std::erfc(std::fabs(z) / std::sqrt(2.0)); }
inline double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// The regularised lower incomplete gamma function, by its series and its continued fraction (Abramowitz and Stegun
/// 6.5.29 and 6.5.31).
inline double gamma_cdf(double a, double x) {
  if (x <= 0) return 0;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; term > sum * 1e-17; ++n) sum += term *= x / (a + n);
    return front * sum;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int n = 1; n < 10000; ++n) {
    const double an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (std::fabs(d * c - 1) < 1e-15) break;
  }
  return 1 - front * h;
}
/// The regularised incomplete beta function, by its continued fraction (26.5.8).
inline double beta_cdf(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_cdf(b, a, 1 - x);
  double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), h = d;
  for (int m = 1; m < 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    h *= d * c;
    if (std::fabs(d * c - 1) < 1e-15) break;
  }
  const double front = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(front) / a * h;
}

/// P(chi squared > x) with k degrees of freedom.
inline double chi_square_p(double x, double k) { return 1 - gamma_cdf(k / 2, x / 2); }
/// Of counts against expected ones; cells with fewer than 10 expected are joined with the next.
inline double chi_square_p(const sample& counts, const sample& expected) {
  double sum = 0, seen = 0, wanted = 0;
  int cells = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    seen += counts[k];
    wanted += expected[k];
    if (wanted < 10 && k + 1 < counts.size()) continue;
    sum += (seen - wanted) * (seen - wanted) / std::max(wanted, 1e-300);
    ++cells;
    seen = wanted = 0;
  }
  return chi_square_p(sum, cells - 1);
}
inline double equal_counts_p(const sample& counts) {
  double n = 0;
  for (const double c : counts) n += c;
  return chi_square_p(counts, sample(counts.size(), n / double(counts.size())));
}

/// P of Kolmogorov and Smirnov's statistic of a sample against a distribution function (Kolmogorov's limit).
inline double kolmogorov_p(sample x, const std::function<double(double)>& cdf) {
  std::sort(x.begin(), x.end());
  const double n = double(x.size());
  double apart = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double f = cdf(x[k]);
    apart = std::max({apart, f - double(k) / n, double(k + 1) / n - f});
  }
  const double t = apart * (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n));
  double p = 0;
  for (int j = 1; j < 100; ++j) p += (j % 2 ? 2 : -2) * std::exp(-2.0 * j * j * t * t);
  return std::clamp(p, 0.0, 1.0);
}

inline double mean_of(const sample& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / double(x.size());
}
/// P that the mean of x is this far from `mean`, given the standard deviation of an element.
inline double mean_p(const sample& x, double mean, double deviation) {
  return two_sided((mean_of(x) - mean) / deviation * std::sqrt(double(x.size())));
}
/// P of the correlation of two samples of equal length that are independent.
inline double correlation_p(const double* x, const double* y, std::size_t n) {
  double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  for (std::size_t k = 0; k < n; ++k) mx += x[k], my += y[k];
  mx /= double(n), my /= double(n);
  for (std::size_t k = 0; k < n; ++k) {
    xx += (x[k] - mx) * (x[k] - mx);
    yy += (y[k] - my) * (y[k] - my);
    xy += (x[k] - mx) * (y[k] - my);
  }
  return two_sided(xy / std::sqrt(xx * yy) * std::sqrt(double(n)));
}
inline double lag_p(const sample& x, std::size_t lag) {
  return correlation_p(x.data(), x.data() + lag, x.size() - lag);
}

}  // namespace statistics
