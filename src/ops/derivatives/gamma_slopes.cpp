// With t = x exp(z) the integral of P's derivative under its integral sign is
//   x^a exp(-x) / Gamma(a)  times the integral of  exp(a z - x (exp(z) - 1)) (log(x) + z - digamma(a))
// over z from -inf to 0; over z > 0 it is minus that, since both together are 0. The side of x on which there is less is
// taken, so that little cancels. Its integrand falls from z = 0 on, in a scale that a and x determine, and is summed at
// exp(u - exp(-u)) of that scale for equidistant u (Takahasi and Mori's double exponential formula for such integrands).
// The sum is recorded as a reduction over a broadcast axis of its points, so it is never stored.
#include "ops/derivatives/distribution_slopes.hpp"

#include <cmath>
#include <vector>

#include "ops/base/elementwise_values.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::ops::derivatives {
namespace {

constexpr int points = 80;
constexpr double first_point = -3.7, last_below = 7.5, last_above = 3.5;

ndarray applied(opcode op, const ndarray& a) { return wrap(map_of(op, a.dtype(), value_of(a))); }

/// The derivative, but for the factor x^a exp(-x) / Gamma(a). `x` is positive and finite.
ndarray slope_without_factor(const ndarray& a, const ndarray& x) {
  const ndarray above = greater(x, a + 1), along = expand_dims(above, -1);
  const ndarray scale = reciprocal(where(above, x - a, maximum(a - x, 0)) + sqrt(a)), sign = where(above, 1.0, -1.0);
  const half_line low = points_of_half_line(first_point, last_below, points, x);
  const half_line high = points_of_half_line(first_point, last_above, points, x);
  const ndarray z = expand_dims(sign.astype(x.dtype()) * scale, -1) * where(along, high.at, low.at);
  const ndarray all_a = expand_dims(a, -1), all_x = expand_dims(x, -1);
  const ndarray factor = expand_dims(log(x) - applied(opcode::digamma, a), -1) + z;
  const ndarray terms = exp(all_a * z - all_x * expm1(z)) * factor * where(along, high.weights, low.weights);
  return -sign.astype(x.dtype()) * scale * sum(terms, -1);
}

template <class F>
ndarray inside(const ndarray& a, const ndarray& x, const F& f) {
  const ndarray is_inside = logical_and(greater(x, 0), isfinite(x));
  return where(is_inside, f(a, where(is_inside, x, 1)), 0);
}

}  // namespace

half_line points_of_half_line(double first, double last, int points, const ndarray& like) {
  const double step = (last - first) / (points - 1);
  std::vector<double> at, weights;
  for (int k = 0; k < points; ++k) {
    const double u = first + k * step, e = std::exp(-u);
    at.push_back(std::exp(u - e));
    weights.push_back(at.back() * (1 + e) * step);
  }
  const auto as_like = [&](const std::vector<double>& x) {
    return array(x, {.dtype = like.dtype(), .device = like.device()});
  };
  return {as_like(at), as_like(weights)};
}

ndarray gamma_slope(const ndarray& a, const ndarray& x) {
  return inside(a, x, [](const ndarray& a, const ndarray& x) -> ndarray {
    return exp(a * log(x) - x - applied(opcode::gammaln, a)) * slope_without_factor(a, x);
  });
}

ndarray gamma_slope_by_density(const ndarray& a, const ndarray& x) {
  return inside(a, x, [](const ndarray& a, const ndarray& x) -> ndarray { return x * slope_without_factor(a, x); });
}

}  // namespace sinter::ops::derivatives
