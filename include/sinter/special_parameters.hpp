// Parameters of distributions for which they have a given value: SciPy's inverses that have no expansion of their own.
// Not part of sinter.hpp.
//
// Arguments are numbers and arrays, which broadcast; float32 where all arrays are, else float64. Those that search run at the call: about
// sixty evaluations of the distribution in float64, all elements together, which halve an interval of the parameter's logarithm from
// 1e-10 to 1e10, and have no derivatives. A parameter that would lie outside is an end. NaN for probabilities outside of [0, 1] and
// where the distribution is NaN. dtype_error for complex numbers, shape_error where shapes do not broadcast.
#pragma once
#include "sinter/special.hpp"

namespace sinter::inline v0::special {

/// The successes k from 0 to n, any real number, up to which the binomial distribution of n trials of probability p has probability y.
ndarray bdtrik(const operand& y, const operand& n, const operand& p);
/// Its trials n >= k.
ndarray bdtrin(const operand& k, const operand& y, const operand& p);
/// The failures k up to which the negative binomial distribution has probability y, and its successes n.
ndarray nbdtrik(const operand& y, const operand& n, const operand& p);
ndarray nbdtrin(const operand& k, const operand& y, const operand& p);
/// The events k up to which the Poisson distribution of mean m has probability p.
ndarray pdtrik(const operand& p, const operand& m);
/// The degrees of freedom v for which chdtr(v, x) = p, and df for which stdtr(df, t) = p.
ndarray chdtriv(const operand& p, const operand& x);
ndarray stdtridf(const operand& p, const operand& t);
/// The shape b for which gdtr(a, b, x) = p.
ndarray gdtrib(const operand& a, const operand& p, const operand& x);
/// The a, and the b, for which betainc(a, b, x) = p.
ndarray btdtria(const operand& p, const operand& b, const operand& x);
ndarray btdtrib(const operand& a, const operand& p, const operand& x);
/// The mean, and the standard deviation, for which the normal distribution up to x has probability p. Recorded.
ndarray nrdtrimn(const operand& p, const operand& std, const operand& x);
ndarray nrdtrisd(const operand& mn, const operand& p, const operand& x);
/// Tukey's lambda distribution up to x: the p for which (p^lmbda - (1 - p)^lmbda) / lmbda = x.
ndarray tklmbda(const operand& x, const operand& lmbda);
/// Kolmogorov's distribution: the probability that sqrt(n) times the greatest difference between n draws' distribution and the true one
/// exceeds y, for n without end (NIST's formula and its transform by Jacobi's theta functions). Recorded.
ndarray kolmogorov(const ndarray& y);

}  // namespace sinter::inline v0::special
