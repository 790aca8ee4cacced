// Derivatives of incomplete gamma and beta functions with respect to their parameters.
#pragma once
#include "sinter/ndarray.hpp"

namespace sinter::ops::derivatives {

/// The derivative of P(a, x) with respect to a, for a > 0; 0 at x = 0 and x = inf. In float64 within 1e-13 of its size, for
/// large a as many digits less as a has.
ndarray gamma_slope(const ndarray& a, const ndarray& x);
/// The same divided by the derivative with respect to x: minus the derivative of the x that has a fixed P(a, x).
ndarray gamma_slope_by_density(const ndarray& a, const ndarray& x);

/// The derivative of I_x(a, b) with respect to a, for a, b > 0; `y` is 1 - x, and 0 at either end gives 0. In float64 within
/// 1e-12 of its size, for large parameters as many digits less as they have; fewer where one of them is below 0.01 and the
/// other one is large. That with respect to b is minus beta_slope(b, a, y, x).
ndarray beta_slope(const ndarray& a, const ndarray& b, const ndarray& x, const ndarray& y);
/// The same divided by the derivative with respect to x.
ndarray beta_slope_by_density(const ndarray& a, const ndarray& b, const ndarray& x, const ndarray& y);

/// Points above 0 and their weights, arrays of one axis like `like`: a sum over them is the integral over the half line of
/// what falls there in a scale of about 1 (Takahasi and Mori's double exponential formula for such integrands).
struct half_line {
  ndarray at, weights;
};
half_line points_of_half_line(double first, double last, int points, const ndarray& like);

}  // namespace sinter::ops::derivatives
