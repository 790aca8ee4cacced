// The rules of jit/program/special.def. Formulas: NIST Digital Library of Mathematical Functions, by section.
#include <numbers>

#include "ops/derivatives/distribution_slopes.hpp"
#include "ops/derivatives/element_rules.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::ops::derivatives {
namespace {

constexpr double pi = std::numbers::pi;

ndarray like(const ndarray& x, double v) { return full({}, v, {.dtype = x.dtype(), .device = x.device()}); }

// An operation on arrays of one dtype, which broadcast.
ndarray of(opcode op, const ndarray& a) { return wrap(map_of(op, a.dtype(), value_of(a))); }
ndarray of(opcode op, const ndarray& a, const ndarray& b) {
  return wrap(map_of(op, a.dtype(), value_of(a), value_of(b)));
}
ndarray of(opcode op, const ndarray& a, const ndarray& b, const ndarray& c) {
  value all[] = {value_of(a), value_of(b), value_of(c)};
  const core::dims shape = common_shape(all);
  return wrap(graph::record_map_moving(op, a.dtype(), shape, all));
}

/// f(x) / x with its limit at 0.
ndarray over(const ndarray& f, const ndarray& x, double at_0) {
  const ndarray zero = equal(x, 0);
  return where(zero, at_0, f / where(zero, 1, x));
}

ndarray normal_density(const ndarray& x) { return exp(-0.5 * (x * x)) * (1 / std::sqrt(2 * pi)); }
/// 8.2: the derivative of P(a, x), x^(a - 1) exp(-x) / Gamma(a).
ndarray gamma_density(const ndarray& a, const ndarray& x) {
  return exp(of(opcode::xlogy, a - 1, x) - x - of(opcode::gammaln, a));
}
/// 8.17: the derivative of I_x(a, b).
ndarray beta_density(const ndarray& a, const ndarray& b, const ndarray& x) {
  return exp(of(opcode::xlogy, a - 1, x) + of(opcode::xlog1py, b - 1, -x) - of(opcode::betaln, a, b));
}
ndarray f_density(const ndarray& a, const ndarray& b, const ndarray& x) {
  const ndarray d = a * x + b;
  return beta_density(a / 2, b / 2, a * x / d) * (a * b / (d * d));
}
/// The derivative of F's distribution function, I of a x / (a x + b) for a / 2 and b / 2, with respect to a or b.
ndarray f_slope(const ndarray& a, const ndarray& b, const ndarray& x, int k) {
  const ndarray d = a * x + b, share = a * x / d, rest = b / d, moved = f_density(a, b, x) * x;
  if (k == 0) return 0.5 * beta_slope(a / 2, b / 2, share, rest) + moved / a;
  return -0.5 * beta_slope(b / 2, a / 2, rest, share) - moved / b;
}

/// 4.13: W' = W / (z (1 + W)), with both parts of W from either.
struct lambert {
  ndarray re, im;  // of the derivative
};
lambert lambert_slope(const element_case& c) {
  const ndarray &x = c.x[0], &y = c.x[1];
  const ndarray u = of(opcode::lambertw_real, x, y, c.x[2]), v = of(opcode::lambertw_imag, x, y, c.x[2]);
  // exp(-W) / (1 + W), which has no 0 / 0 at z = 0
  const ndarray size = exp(-u), p = size * cos(v), q = -size * sin(v), r = 1 + u, n = r * r + v * v;
  return {(p * r + q * v) / n, (q * r - p * v) / n};
}

using rule_table = std::array<element_rule, static_cast<std::size_t>(jit::opcode_count)>;

struct adder {
  rule_table& rules;
  void operator()(opcode op, element_step step, std::uint8_t zero = 0, std::uint8_t missing = 0,
                  const char* why = nullptr) const {
    rules[static_cast<std::size_t>(op)] = {step, step, zero, missing, why};
  }
};

#define RULE_1(name, expression)                                                                     \
  set(opcode::name, [](const element_case& c, [[maybe_unused]] int k, const ndarray& g) -> ndarray { \
    [[maybe_unused]] const ndarray &x = c.x[0], &y = c.y;                                            \
    return g * (expression);                                                                         \
  });
#define RULE_2(name, first, second)                                                 \
  set(opcode::name, [](const element_case& c, int k, const ndarray& g) -> ndarray { \
    [[maybe_unused]] const ndarray &a = c.x[0], &b = c.x[1], &y = c.y;              \
    return g * (k == 0 ? ndarray(first) : ndarray(second));                         \
  });
#define RULE_3(name, first, second, third)                                            \
  set(opcode::name, [](const element_case& c, int k, const ndarray& g) -> ndarray {   \
    [[maybe_unused]] const ndarray &a = c.x[0], &b = c.x[1], &d = c.x[2], &y = c.y;   \
    return g * (k == 0 ? ndarray(first) : k == 1 ? ndarray(second) : ndarray(third)); \
  });
// With respect to the last of two or three operands only.
#define RULE_LAST(name, zero, missing, expression)                                      \
  set(                                                                                  \
      opcode::name,                                                                     \
      [](const element_case& c, int, const ndarray& g) -> ndarray {                     \
        [[maybe_unused]] const ndarray &a = c.x[0], &b = c.x[1], &d = c.x[2], &y = c.y; \
        return g * (expression);                                                        \
      },                                                                                \
      zero, missing, "there is no formula of elementary or special functions for the first parameters");

void add_error_functions(const adder& set) {
  const static double two_over_root = 2 / std::sqrt(pi), root = std::sqrt(pi), wide = std::sqrt(2 * pi);
  RULE_1(erf, exp(-(x * x)) * two_over_root)
  RULE_1(erfc, exp(-(x * x)) * -two_over_root)
  RULE_1(erfcx, 2 * x * y - two_over_root)
  RULE_1(erfinv, exp(y * y) * (root / 2))
  RULE_1(erfcinv, exp(y * y) * (-root / 2))
  RULE_1(ndtr, normal_density(x))
  RULE_1(ndtri, exp(0.5 * (y * y)) * wide)
  RULE_1(log_ndtr, exp(-0.5 * (x * x) - y) * (1 / wide))
}

void add_gamma_functions(const adder& set) {
  RULE_1(gamma, y * of(opcode::digamma, x))
  RULE_1(gammaln, of(opcode::digamma, x))
  RULE_1(loggamma_positive, of(opcode::digamma, x))
  RULE_1(digamma, of(opcode::polygamma, like(x, 1), x))
  RULE_LAST(polygamma, 0, 0b01, of(opcode::polygamma, a + 1, b))
  RULE_LAST(zeta, 0, 0b01, -a * of(opcode::zeta, a + 1, b))
  RULE_LAST(expn, 0, 0b01, -of(opcode::expn, a - 1, b))
  set(opcode::riemann_zeta, nullptr, 0, 0b1, "the derivative of zeta has no function of its own");
  for (const opcode op : {opcode::loggamma_real, opcode::loggamma_imag})
    set(op, nullptr, 0, 0b11, "the derivative is the digamma function of complex numbers, which is not there");
  RULE_2(beta, y * (of(opcode::digamma, a) - of(opcode::digamma, a + b)),
         y * (of(opcode::digamma, b) - of(opcode::digamma, a + b)))
  RULE_2(betaln, of(opcode::digamma, a) - of(opcode::digamma, a + b),
         of(opcode::digamma, b) - of(opcode::digamma, a + b))
}

void add_logistic_functions(const adder& set) {
  RULE_1(expit, y * (1 - y))
  RULE_1(logit, reciprocal(x * (1 - x)))
  RULE_1(log_expit, of(opcode::expit, -x))
  RULE_2(xlogy, log(b), a / b)
  RULE_2(xlog1py, log1p(b), a / (1 + b))
  RULE_1(entr, -log(x) - 1)
  RULE_2(rel_entr, log(a / b) + 1, -a / b)
  RULE_2(kl_div, log(a / b), 1 - a / b)
  RULE_1(exprel, where(less(absolute(x), 1e-2), 0.5 + x * (1.0 / 3 + x * (1.0 / 8 + x * (1.0 / 30 + x * (1.0 / 144)))),
                       (exp(x) - y) / where(equal(x, 0), 1, x)))
  RULE_1(cosm1, -sin(x))
}

void add_bessel_functions(const adder& set) {  // 10.6, 10.29
  RULE_1(j0, -of(opcode::j1, x))
  RULE_1(j1, of(opcode::j0, x) - over(y, x, 0.5))
  RULE_1(y0, -of(opcode::y1, x))
  RULE_1(y1, of(opcode::y0, x) - y / x)
  RULE_1(i0, of(opcode::i1, x))
  RULE_1(i0e, of(opcode::i1e, x) - sign(x) * y)
  RULE_1(i1, of(opcode::i0, x) - over(y, x, 0.5))
  RULE_1(i1e, of(opcode::i0e, x) - sign(x) * y - over(y, x, 0.5))
  RULE_1(k0, -of(opcode::k1, x))
  RULE_1(k0e, y - of(opcode::k1e, x))
  RULE_1(k1, -of(opcode::k0, x) - y / x)
  RULE_1(k1e, y - of(opcode::k0e, x) - y / x)
  RULE_LAST(jv, 0, 0b01, 0.5 * (of(opcode::jv, a - 1, b) - of(opcode::jv, a + 1, b)))
}

void add_integrals(const adder& set) {  // 6.2, 19.4
  RULE_1(exp1, -exp(-x) / x)
  RULE_1(expi, exp(x) / x)
  RULE_1(sine_integral, over(sin(x), x, 1))
  RULE_1(cosine_integral, cos(x) / x)
  RULE_1(ellipk,
         where(equal(x, 0), pi / 8, (of(opcode::ellipe, x) - (1 - x) * y) / where(equal(x, 0), 1, 2 * x * (1 - x))))
  RULE_1(ellipe, where(equal(x, 0), -pi / 8, (y - of(opcode::ellipk, x)) / where(equal(x, 0), 1, 2 * x)))
}

void add_distributions(const adder& set) {
  RULE_2(gammainc, gamma_slope(a, b), gamma_density(a, b))
  RULE_2(gammaincc, -gamma_slope(a, b), -gamma_density(a, b))
  RULE_LAST(pdtr, 0, 0b01, -gamma_density(floor(a) + 1, b))
  RULE_LAST(pdtrc, 0, 0b01, gamma_density(floor(a) + 1, b))
  RULE_2(chdtr, 0.5 * gamma_slope(a / 2, b / 2), 0.5 * gamma_density(a / 2, b / 2))
  RULE_2(chdtrc, -0.5 * gamma_slope(a / 2, b / 2), -0.5 * gamma_density(a / 2, b / 2))
  RULE_2(gammaincinv, -gamma_slope_by_density(a, y), reciprocal(gamma_density(a, y)))
  RULE_2(gammainccinv, -gamma_slope_by_density(a, y), -reciprocal(gamma_density(a, y)))
  RULE_2(chdtri, -gamma_slope_by_density(a / 2, y / 2), -2 * reciprocal(gamma_density(a / 2, y / 2)))
  RULE_LAST(pdtri, 0, 0b01, -reciprocal(gamma_density(floor(a) + 1, y)))
  for (const bool complement : {false, true}) {
    const element_step below = [](const element_case& c, int k, const ndarray& g) -> ndarray {
      if (k == 1) return g * gamma_slope(c.x[1], c.x[0] * c.x[2]);
      return g * (c.x[k == 0 ? 2 : 0] * gamma_density(c.x[1], c.x[0] * c.x[2]));
    };
    const element_step above = [](const element_case& c, int k, const ndarray& g) -> ndarray {
      if (k == 1) return g * -gamma_slope(c.x[1], c.x[0] * c.x[2]);
      return g * -(c.x[k == 0 ? 2 : 0] * gamma_density(c.x[1], c.x[0] * c.x[2]));
    };
    set(complement ? opcode::gdtrc : opcode::gdtr, complement ? above : below);
  }
  // A draw is where its distribution function is a number that does not depend on the parameters.
  RULE_1(random_gamma, -gamma_slope_by_density(x, y))
  RULE_2(random_beta, -beta_slope_by_density(a, b, y, 1 - y), beta_slope_by_density(b, a, 1 - y, y))
  RULE_LAST(bdtr, 0, 0b011, -beta_density(b - floor(a), floor(a) + 1, 1 - d))
  RULE_LAST(bdtrc, 0, 0b011, beta_density(b - floor(a), floor(a) + 1, 1 - d))
  RULE_LAST(bdtri, 0, 0b011, -reciprocal(beta_density(b - floor(a), floor(a) + 1, 1 - y)))
  RULE_LAST(nbdtr, 0, 0b011, beta_density(b, floor(a) + 1, d))
  RULE_LAST(nbdtrc, 0, 0b011, -beta_density(b, floor(a) + 1, d))
  RULE_LAST(nbdtri, 0, 0b011, reciprocal(beta_density(b, floor(a) + 1, y)))
}

void add_beta_distributions(const adder& set) {
  RULE_3(betainc, beta_slope(a, b, d, 1 - d), -beta_slope(b, a, 1 - d, d), beta_density(a, b, d))
  RULE_3(betaincc, -beta_slope(a, b, d, 1 - d), beta_slope(b, a, 1 - d, d), -beta_density(a, b, d))
  RULE_3(betaincinv, -beta_slope_by_density(a, b, y, 1 - y), beta_slope_by_density(b, a, 1 - y, y),
         reciprocal(beta_density(a, b, y)))
  RULE_3(betainccinv, -beta_slope_by_density(a, b, y, 1 - y), beta_slope_by_density(b, a, 1 - y, y),
         -reciprocal(beta_density(a, b, y)))
  RULE_3(fdtr, f_slope(a, b, d, 0), f_slope(a, b, d, 1), f_density(a, b, d))
  RULE_3(fdtrc, -f_slope(a, b, d, 0), -f_slope(a, b, d, 1), -f_density(a, b, d))
  RULE_3(fdtri, -f_slope(a, b, y, 0) / f_density(a, b, y), -f_slope(a, b, y, 1) / f_density(a, b, y),
         reciprocal(f_density(a, b, y)))
}

void add_others(const adder& set) {
  set(
      opcode::lambertw_real,
      [](const element_case& c, int k, const ndarray& g) -> ndarray {
        const lambert s = lambert_slope(c);
        return g * (k == 0 ? s.re : -s.im);
      },
      0b100);
  set(
      opcode::lambertw_imag,
      [](const element_case& c, int k, const ndarray& g) -> ndarray {
        const lambert s = lambert_slope(c);
        return g * (k == 0 ? s.im : s.re);
      },
      0b100);
  // 14.10: (x^2 - 1) P' = v x P - (v + m) P of degree v - 1; with SciPy's order of arguments, m first.
  RULE_LAST(lpmv, 0, 0b011, (b * d * y - (a + b) * of(opcode::lpmv, a, b - 1, d)) / (d * d - 1))
  set(opcode::sph_legendre, nullptr, 0, 0b111, "spherical harmonics have no rule");
  RULE_2(sine_of_product, b * of(opcode::cosine_of_product, a, b), a * of(opcode::cosine_of_product, a, b))
  RULE_2(cosine_of_product, -b * of(opcode::sine_of_product, a, b), -a * of(opcode::sine_of_product, a, b))
}

#undef RULE_1
#undef RULE_2
#undef RULE_3
#undef RULE_LAST

}  // namespace

void add_special_rules(rule_table& rules) {
  const adder set{rules};
  add_error_functions(set);
  add_gamma_functions(set);
  add_logistic_functions(set);
  add_bessel_functions(set);
  add_integrals(set);
  add_distributions(set);
  add_beta_distributions(set);
  add_others(set);
}

}  // namespace sinter::ops::derivatives
