// Special functions, as scipy.special has them. `sn::special::erf(x)` is recorded and fuses like every elementwise function.
//
// Arguments are arrays and numbers of real dtypes (of loggamma and lambertw also complex ones), which broadcast. bool, integers of 8 and 16 bits, float16, bfloat16 and
// float32 are computed in float32, all other real dtypes in float64, and so is any mixture with one of these; C++ numbers beside
// an array do not count. dtype_error for complex numbers, shape_error where shapes do not broadcast. NaN in, NaN out; NaN
// outside of a domain. docs/values.md has the accuracy of each function and its values at the ends.
#pragma once
#include "sinter/elementwise_out.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0::special {

// The error function and the normal distribution.

/// 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
ndarray erf(const ndarray& x);
/// 1 - erf(x), accurate where that is small.
ndarray erfc(const ndarray& x);
/// exp(x^2) erfc(x).
ndarray erfcx(const ndarray& x);
/// The inverse of erf, on [-1, 1].
ndarray erfinv(const ndarray& x);
/// The inverse of erfc, on [0, 2].
ndarray erfcinv(const ndarray& x);
/// The distribution function of the standard normal distribution.
ndarray ndtr(const ndarray& x);
/// The inverse of ndtr, on [0, 1].
ndarray ndtri(const ndarray& x);
/// log(ndtr(x)), accurate in both tails.
ndarray log_ndtr(const ndarray& x);

// The gamma function.

/// NaN at negative whole numbers, infinite at 0 with its sign.
ndarray gamma(const ndarray& x);
/// log(abs(gamma(x))); infinite at 0 and at negative whole numbers.
ndarray gammaln(const ndarray& x);
/// The derivative of gammaln; NaN at negative whole numbers.
ndarray digamma(const ndarray& x);
/// The n-th derivative of digamma, for whole n >= 0.
ndarray polygamma(const operand& n, const operand& x);
/// The sum of (q + k)^-x from k = 0, for x > 1; NaN below 1, infinite at 1 and for whole q <= 0.
ndarray zeta(const operand& x, const operand& q);
/// The zeta function of B. Riemann: zeta(x, 1), continued to x < 1.
ndarray zeta(const ndarray& x);
/// The principal branch of the logarithm of gamma: of real numbers real, and NaN below 0; of complex numbers complex, and NaN at
/// the poles.
ndarray loggamma(const ndarray& z);
/// The k-th branch of the inverse of w exp(w): always complex. z real or complex, k whole.
ndarray lambertw(const ndarray& z, const operand& k = 0);

// The regularised incomplete gamma functions of a, x >= 0 and distributions that are made of them.

/// The integral of t^(a - 1) exp(-t) from 0 to x over gamma(a), and from x to infinity.
ndarray gammainc(const operand& a, const operand& x);
ndarray gammaincc(const operand& a, const operand& x);
/// The probability of at most k events of a Poisson distribution of mean m, and of more than k.
ndarray pdtr(const operand& k, const operand& m);
ndarray pdtrc(const operand& k, const operand& m);
/// The chi-square distribution of v degrees of freedom up to x, and beyond.
ndarray chdtr(const operand& v, const operand& x);
ndarray chdtrc(const operand& v, const operand& x);
/// The gamma distribution of rate a and shape b up to x, and beyond.
ndarray gdtr(const operand& a, const operand& b, const operand& x);
ndarray gdtrc(const operand& a, const operand& b, const operand& x);
/// The x with gammainc(a, x) = p, and with gammaincc(a, x) = p.
ndarray gammaincinv(const operand& a, const operand& p);
ndarray gammainccinv(const operand& a, const operand& p);
/// The x with chdtrc(v, x) = p, and the m with pdtr(k, m) = p.
ndarray chdtri(const operand& v, const operand& p);
ndarray pdtri(const operand& k, const operand& p);

// The beta function and its regularised incomplete integrals for a, b > 0 and x in [0, 1], and distributions that are made of them.

/// gamma(a) gamma(b) / gamma(a + b), and the logarithm of its absolute value.
ndarray beta(const operand& a, const operand& b);
ndarray betaln(const operand& a, const operand& b);
/// The integral of t^(a - 1) (1 - t)^(b - 1) from 0 to x over beta(a, b), and from x to 1.
ndarray betainc(const operand& a, const operand& b, const operand& x);
ndarray betaincc(const operand& a, const operand& b, const operand& x);
/// The x with betainc(a, b, x) = p, and with betaincc(a, b, x) = p.
ndarray betaincinv(const operand& a, const operand& b, const operand& p);
ndarray betainccinv(const operand& a, const operand& b, const operand& p);
/// The probability of at most k successes in n trials of probability p, and of more; the p for which bdtr(k, n, p) = y.
ndarray bdtr(const operand& k, const operand& n, const operand& p);
ndarray bdtrc(const operand& k, const operand& n, const operand& p);
ndarray bdtri(const operand& k, const operand& n, const operand& y);
/// The probability of at most k failures before the n-th success, and of more; the p for which nbdtr(k, n, p) = y.
ndarray nbdtr(const operand& k, const operand& n, const operand& p);
ndarray nbdtrc(const operand& k, const operand& n, const operand& p);
ndarray nbdtri(const operand& k, const operand& n, const operand& y);
/// The F distribution of a and b degrees of freedom up to x, and beyond; the x for which fdtr(a, b, x) = p.
ndarray fdtr(const operand& a, const operand& b, const operand& x);
ndarray fdtrc(const operand& a, const operand& b, const operand& x);
ndarray fdtri(const operand& a, const operand& b, const operand& p);

// The logistic function, entropies, and others of exponentials and logarithms.

/// 1 / (1 + exp(-x)).
ndarray expit(const ndarray& x);
/// log(x / (1 - x)), the inverse of expit, on [0, 1].
ndarray logit(const ndarray& x);
/// log(expit(x)).
ndarray log_expit(const ndarray& x);
/// x log(y), 0 where x is 0 unless y is NaN.
ndarray xlogy(const operand& x, const operand& y);
/// x log(1 + y), 0 where x is 0 unless y is NaN.
ndarray xlog1py(const operand& x, const operand& y);
/// -x log(x); 0 at 0, -infinity below.
ndarray entr(const ndarray& x);
/// x log(x / y); 0 where x is 0 and y not negative, infinite where either is negative or y alone is 0.
ndarray rel_entr(const operand& x, const operand& y);
/// x log(x / y) - x + y; y where x is 0 and y not negative, infinite where either is negative or y alone is 0.
ndarray kl_div(const operand& x, const operand& y);
/// (exp(x) - 1) / x; 1 at 0.
ndarray exprel(const ndarray& x);
/// cos(x) - 1, accurate near 0.
ndarray cosm1(const ndarray& x);

// Sums of exponentials along axes, of all elements without one. float16, bfloat16, float32 and float64 stay; others give float64.

struct logsumexp_kw {
  kwonly _kw{};
  axes axis{};
  std::optional<ndarray> b{};  // factors of the exponentials
  bool keepdims = false;
};
/// log(sum(b * exp(x))) without overflow, and without loss where one element is much larger than the others; -infinity of
/// nothing.
ndarray logsumexp(const ndarray& x, const logsumexp_kw& kw = {});
template <axis_like A>
ndarray logsumexp(const ndarray& x, const A& axis, const logsumexp_kw& kw = {}) {
  return logsumexp(x, sinter::detail::with_axis("logsumexp", axis, kw));
}
/// log(abs(s)) and the sign of s = sum(b * exp(x)), which factors may make negative (SciPy's return_sign).
struct logsumexp_sign_result {
  ndarray result, sign;
};
logsumexp_sign_result logsumexp_with_sign(const ndarray& x, const logsumexp_kw& kw = {});
/// exp(x) / sum(exp(x)), and its logarithm.
ndarray softmax(const ndarray& x, const axes& axis = {});
ndarray log_softmax(const ndarray& x, const axes& axis = {});

// Bessel functions, of order 0 and 1 but for jv; y and k are NaN below 0. At infinity their limits.

/// Of the first kind.
ndarray j0(const ndarray& x);
ndarray j1(const ndarray& x);
/// Of the second kind.
ndarray y0(const ndarray& x);
ndarray y1(const ndarray& x);
/// Of the first kind and of any real order v; NaN for x < 0 unless v is whole.
ndarray jv(const operand& v, const operand& x);
/// Modified, of the first kind; i0e and i1e are exp(-|x|) times these.
ndarray i0(const ndarray& x);
ndarray i0e(const ndarray& x);
ndarray i1(const ndarray& x);
ndarray i1e(const ndarray& x);
/// Modified, of the second kind; k0e and k1e are exp(x) times these.
ndarray k0(const ndarray& x);
ndarray k0e(const ndarray& x);
ndarray k1(const ndarray& x);
ndarray k1e(const ndarray& x);

// Integrals.

/// The integral of exp(-t) / t from x to infinity; NaN below 0.
ndarray exp1(const ndarray& x);
/// The integral of exp(-x t) / t^n from 1 to infinity for whole n >= 0 and x >= 0.
ndarray expn(const operand& n, const operand& x);
/// The principal value of the integral of exp(t) / t from -infinity to x.
ndarray expi(const ndarray& x);
struct sici_result {
  ndarray si, ci;
};
/// The integral of sin(t) / t from 0 to x, and that of cos(t) / t from infinity to |x|.
sici_result sici(const ndarray& x);
/// The complete elliptic integrals of the first and of the second kind, of the parameter m; NaN above 1.
ndarray ellipk(const ndarray& m);
ndarray ellipe(const ndarray& m);

// Legendre functions of whole order m and degree, with the phase of E. U. Condon and G. H. Shortley; NaN for others and for degrees
// above 10^5.

/// The associated Legendre function of order m and degree v for -1 <= x <= 1; 0 for m above the degree, NaN below minus it.
ndarray lpmv(const operand& m, const operand& v, const operand& x);
/// The spherical harmonic of degree n and order m at the polar angle theta and the azimuth phi, complex.
ndarray sph_harm_y(const operand& n, const operand& m, const operand& theta, const operand& phi);

}  // namespace sinter::inline v0::special

// The functions above that are called with arrays alone, by the number of their operands, as in elementwise.hpp.
// clang-format off
#define SINTER_SPECIAL_UNARY(F) \
  F(erf) F(erfc) F(erfcx) F(erfinv) F(erfcinv) F(ndtr) F(ndtri) F(log_ndtr) F(gamma) F(gammaln) F(digamma) F(expit) \
  F(logit) F(log_expit) F(entr) F(exprel) F(cosm1) F(j0) F(j1) F(y0) F(y1) F(i0) F(i0e) F(i1) F(i1e) F(k0) F(k0e) \
  F(k1) F(k1e) F(exp1) F(expi) F(ellipk) F(ellipe) F(zeta)
#define SINTER_SPECIAL_BINARY(F) \
  F(xlogy) F(xlog1py) F(rel_entr) F(kl_div) F(gammainc) F(gammaincc) F(pdtr) F(pdtrc) F(chdtr) F(chdtrc) \
  F(gammaincinv) F(gammainccinv) F(chdtri) F(pdtri) F(beta) F(betaln) F(zeta) F(polygamma) F(expn) F(jv)
#define SINTER_SPECIAL_TERNARY(F) \
  F(gdtr) F(gdtrc) F(betainc) F(betaincc) F(betaincinv) F(betainccinv) F(bdtr) F(bdtrc) F(bdtri) F(nbdtr) F(nbdtrc) \
  F(nbdtri) F(fdtr) F(fdtrc) F(fdtri) F(lpmv)
// clang-format on

namespace sinter::inline v0::special {

#define SINTER_SPECIAL_OUT(name) \
  inline ndarray name(const ndarray& x, const out_kw& kw) { return sinter::detail::into(name(x), kw, #name); }
SINTER_SPECIAL_UNARY(SINTER_SPECIAL_OUT)
#undef SINTER_SPECIAL_OUT
#define SINTER_SPECIAL_OUT(name)                                              \
  inline ndarray name(const operand& x, const operand& y, const out_kw& kw) { \
    return sinter::detail::into(name(x, y), kw, #name);                       \
  }
SINTER_SPECIAL_BINARY(SINTER_SPECIAL_OUT)
#undef SINTER_SPECIAL_OUT
#define SINTER_SPECIAL_OUT(name)                                                                \
  inline ndarray name(const operand& x, const operand& y, const operand& z, const out_kw& kw) { \
    return sinter::detail::into(name(x, y, z), kw, #name);                                      \
  }
SINTER_SPECIAL_TERNARY(SINTER_SPECIAL_OUT)
#undef SINTER_SPECIAL_OUT

}  // namespace sinter::inline v0::special
