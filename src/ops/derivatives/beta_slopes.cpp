// With t / (1 - t) = x / (1 - x) exp(z), the integral of I's derivative under its integral sign is
//   x^a (1 - x)^b / B(a, b)  times the integral of  (t / x)^a ((1 - t) / (1 - x))^b (log(t) - digamma(a) + digamma(a + b))
// over z from -inf to 0; over z > 0 it is minus that. As for gamma functions (gamma_slopes.cpp) the side of x on which there
// is less is taken, and summed over points of a scale. At a distance s from x, with c = a and w = x below x, and c = b
// and w = 1 - x above it, the powers are exp(-c s - (a + b) l) with l = log(1 + w (exp(-s) - 1)).
#include <limits>

#include "ops/base/elementwise_values.hpp"
#include "ops/derivatives/distribution_slopes.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::ops::derivatives {
namespace {

constexpr int points = 128;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double first_point = -3.4, last_point = 5.5;

ndarray applied(opcode op, const ndarray& a) { return wrap(map_of(op, a.dtype(), value_of(a))); }

/// A part of where the integrand lives: it falls at its steepest as a normal density or an exponential does, and the powers
/// have come to their end soon after c (1 - w) exp(s) is 1.
ndarray scale_of(const ndarray& a, const ndarray& b, const ndarray& x, const ndarray& y, const ndarray& above) {
  const ndarray c = where(above, b, a), rest = where(above, x, y);
  const ndarray falls = absolute(a * y - b * x) + minimum(sqrt((a + b) * x * y), c);
  return minimum(reciprocal(falls), 0.25 * (log1p(reciprocal(c * rest)) + reciprocal(c)));
}

/// log(x), of the smaller one of x and y = 1 - x.
ndarray log_of_share(const ndarray& x, const ndarray& y) { return where(less(x, y), log(x), log1p(-y)); }

/// The derivative, but for the factor x^a y^b / B(a, b). `x` and `y` are positive.
ndarray slope_without_factor(const ndarray& a, const ndarray& b, const ndarray& x, const ndarray& y) {
  const auto along = [](const ndarray& v) { return expand_dims(v, -1); };
  const ndarray above = greater(b * x, a * y), both = a + b, scale = scale_of(a, b, x, y, above);
  const half_line line = points_of_half_line(first_point, last_point, points, x);
  const ndarray s = along(scale) * line.at, l = log1p(along(where(above, y, x)) * expm1(-s));
  const ndarray mean = log_of_share(x, y) - (applied(opcode::digamma, a) - applied(opcode::digamma, both));
  const ndarray apart = along(mean) - where(along(above), l, l + s);
  const ndarray terms = exp(-along(where(above, b, a)) * s - along(both) * l) * apart * line.weights;
  return where(above, -scale, scale) * sum(terms, -1);
}

template <class F>
ndarray inside(const ndarray& a, const ndarray& b, const ndarray& x, const ndarray& y, const F& f) {
  const ndarray is_inside = logical_and(greater(x, 0), greater(y, 0));
  const ndarray known = logical_and(greater(a, 0), greater(b, 0));
  return where(known, where(is_inside, f(where(is_inside, x, 0.5), where(is_inside, y, 0.5)), 0 * x), not_a_number);
}

}  // namespace

ndarray beta_slope(const ndarray& a, const ndarray& b, const ndarray& x, const ndarray& y) {
  return inside(a, b, x, y, [&](const ndarray& x, const ndarray& y) -> ndarray {
    const ndarray size = a * log_of_share(x, y) + b * log_of_share(y, x);
    const ndarray betas = wrap(map_of(opcode::betaln, a.dtype(), value_of(a), value_of(b)));
    return exp(size - betas) * slope_without_factor(a, b, x, y);
  });
}

ndarray beta_slope_by_density(const ndarray& a, const ndarray& b, const ndarray& x, const ndarray& y) {
  return inside(a, b, x, y, [&](const ndarray& x, const ndarray& y) -> ndarray {
    return x * y * slope_without_factor(a, b, x, y);
  });
}

}  // namespace sinter::ops::derivatives
