// Derivatives of incomplete gamma functions with respect to their parameter.
#pragma once
#include "sinter/ndarray.hpp"

namespace sinter::ops::derivatives {

/// The derivative of P(a, x) with respect to a, for a > 0; 0 at x = 0 and x = inf. In float64 within 1e-13 of its size, for
/// large a as many digits less as a has.
ndarray gamma_slope(const ndarray& a, const ndarray& x);
/// The same divided by the derivative with respect to x: minus the derivative of the x that has a fixed P(a, x).
ndarray gamma_slope_by_density(const ndarray& a, const ndarray& x);

}  // namespace sinter::ops::derivatives
