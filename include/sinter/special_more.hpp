// Special functions that are made of those of special.hpp: Bessel functions of whole order, Student's t distribution, inverses,
// loss functions, transformations. Not part of sinter.hpp.
//
// Arguments are real; arrays of integers count as float64. Parameters are numbers or arrays, which broadcast. All are recorded and
// fuse, but yn and kn of an array of orders, which look at it. dtype_error for complex numbers, shape_error where shapes do not
// broadcast. docs/values.md says how accurate they are.
#pragma once
#include <cstdint>

#include "sinter/special.hpp"

namespace sinter::inline v0::special {

/// The Bessel function of the second kind and of whole order n, |n| <= 1000, by the recurrence in the order, which is stable
/// upwards (NIST Digital Library of Mathematical Functions 10.6.1): 2 |n| operations. NaN below 0, -infinity at 0.
/// value_error: n is larger. dtype_error: an array of orders is not of integers.
ndarray yn(const operand& n, const ndarray& x);
/// The modified one (DLMF 10.29.1); infinite at 0.
ndarray kn(const operand& n, const ndarray& x);
/// Another name of digamma.
inline ndarray psi(const ndarray& x) { return digamma(x); }

/// Student's t distribution of df > 0 degrees of freedom up to t, and the t for which that is p. NaN for df <= 0.
ndarray stdtr(const operand& df, const ndarray& t);
ndarray stdtrit(const operand& df, const ndarray& p);
/// The x for which gdtr(a, b, x) = p, and the a.
ndarray gdtrix(const operand& a, const operand& b, const ndarray& p);
ndarray gdtria(const ndarray& p, const operand& b, const operand& x);

/// r^2 / 2 up to |r| = delta and a line beyond (P. Huber); infinite for delta < 0.
ndarray huber(const operand& delta, const ndarray& r);
/// delta^2 (sqrt(1 + (r / delta)^2) - 1); infinite for delta < 0, 0 where delta is.
ndarray pseudo_huber(const operand& delta, const ndarray& r);
/// log(1 + exp(x)).
ndarray softplus(const ndarray& x);
/// 10^x.
ndarray exp10(const ndarray& x);

/// (x^lmbda - 1) / lmbda, log(x) where lmbda is 0 (G. Box, D. Cox); of 1 + x; and their inverses.
ndarray boxcox(const ndarray& x, const operand& lmbda);
ndarray boxcox1p(const ndarray& x, const operand& lmbda);
ndarray inv_boxcox(const ndarray& y, const operand& lmbda);
ndarray inv_boxcox1p(const ndarray& y, const operand& lmbda);

/// The logarithm of the gamma function of matrices of 1 <= d <= 1000 rows; NaN for a <= (d - 1) / 2. value_error: another d.
ndarray multigammaln(const ndarray& a, std::int64_t d);

}  // namespace sinter::inline v0::special
