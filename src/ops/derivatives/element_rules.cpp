// The rules of jit/program/opcodes.def.
#include "ops/derivatives/element_rules.hpp"

#include <numbers>

#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::ops::derivatives {
namespace {

constexpr std::size_t count = static_cast<std::size_t>(jit::opcode_count);
using rule_table = std::array<element_rule, count>;

/// In the real dtype of the result: x (its first operand) of a complex function of real value.
ndarray complex_of_parts(const ndarray& re, const ndarray& im) {
  const value a = value_of(re), b = value_of(im);
  return wrap(map_of(opcode::make_complex, re.dtype() == float32 ? complex64 : complex128, a, b));
}
ndarray zero_like(const ndarray& x) { return full({}, 0, {.dtype = x.dtype(), .device = x.device()}); }
ndarray as_complex(const ndarray& real_part) { return complex_of_parts(real_part, zero_like(real_part)); }

/// x with 1 for 0: a divisor where the quotient is not used, or is 0.
ndarray without_zeros(const ndarray& x) { return where(equal(x, 0), 1, x); }

/// z / |z|, 0 at 0.
ndarray direction(const ndarray& z) { return z / as_complex(without_zeros(absolute(z))); }

// The real part of conj(z / |z|) t, and its transpose.
ndarray absolute_forward(const element_case& c, int, const ndarray& t) {
  if (!is_complex(c.x[0].dtype())) return where(greater_equal(c.x[0], 0), t, -t);  // 1 at 0, as in JAX
  return real(conj(direction(c.x[0])) * t);
}
ndarray absolute_backward(const element_case& c, int, const ndarray& g) {
  if (!is_complex(c.x[0].dtype())) return where(greater_equal(c.x[0], 0), g, -g);
  return as_complex(g) * conj(direction(c.x[0]));
}

// d(z / |z|) = u i Im(conj(u) t) / |z| with u = z / |z|; real numbers: 0.
ndarray sign_forward(const element_case& c, int, const ndarray& t) {
  if (!is_complex(c.x[0].dtype())) return t * zero_like(t);
  const ndarray along = imag(conj(c.y) * t) / without_zeros(absolute(c.x[0]));
  return c.y * complex_of_parts(zero_like(along), along);
}
ndarray sign_backward(const element_case& c, int, const ndarray& g) {
  if (!is_complex(c.x[0].dtype())) return g * zero_like(g);
  // Re(g u i Im(conj(u) t) / a) = -Im(g u) / a Im(conj(u) t)
  const ndarray w = -(imag(g * c.y) / without_zeros(absolute(c.x[0])));
  return complex_of_parts(zero_like(w), -w) * conj(c.y);
}

ndarray real_backward(const element_case& c, int, const ndarray& g) {
  return is_complex(c.x[0].dtype()) ? as_complex(g) : g;
}
ndarray imag_backward(const element_case& c, int, const ndarray& g) {
  return is_complex(c.x[0].dtype()) ? complex_of_parts(zero_like(g), -g) : g * zero_like(g);
}
ndarray make_complex_forward(const element_case&, int k, const ndarray& t) {
  return k == 0 ? complex_of_parts(t, zero_like(t)) : complex_of_parts(zero_like(t), t);
}
ndarray make_complex_backward(const element_case&, int k, const ndarray& g) {
  return k == 0 ? real(g).copy() : -imag(g);
}

ndarray cast_forward(const element_case& c, int, const ndarray& t) {
  const dtype to = c.y.dtype();
  return is_complex(t.dtype()) && !is_complex(to) ? real(t).astype(to) : t.astype(to);
}
ndarray cast_backward(const element_case& c, int, const ndarray& g) {
  const dtype to = c.x[0].dtype();
  return is_complex(g.dtype()) && !is_complex(to) ? real(g).astype(to) : g.astype(to);
}

ndarray select_step(const element_case& c, int k, const ndarray& g) {
  return k == 1 ? where(c.x[0], g, 0) : where(c.x[0], 0, g);
}

/// The part of operand k where it is the result: half where both are.
ndarray share(const element_case& c, int k, const ndarray& g) {
  const ndarray mine = equal(c.x[static_cast<std::size_t>(k)], c.y);
  const ndarray other = equal(c.x[static_cast<std::size_t>(1 - k)], c.y);
  return where(mine, where(other, g * 0.5, g), 0);
}

bool is_one(const value& v) {
  if (v->kind.load(std::memory_order_acquire) != graph::node_kind::scalar || !is_inexact(v->type)) return false;
  const jit::scalar& s = v->scalar().constant;
  return s.f[0] == 1 && s.f[1] == 0;
}

/// A reciprocal has a derivative without another quotient.
ndarray divide_step(const element_case& c, int k, const ndarray& g) {
  const ndarray &b = c.x[1], &y = c.y;
  if (k == 0) return g / b;
  return is_one(value_of(c.x[0])) ? -g * (y * y) : -g * (y / b);
}

ndarray power_step(const element_case& c, int k, const ndarray& g) {
  const ndarray &x = c.x[0], &y = c.x[1];
  if (k == 0) return g * where(equal(y, 0), 0, y * power(x, where(equal(y, 0), 1, y - 1)));
  return g * (log(without_zeros(x)) * c.y);
}

ndarray logaddexp_step(const element_case& c, int k, const ndarray& g) {
  const ndarray& x = c.x[static_cast<std::size_t>(k)];
  return g * exp(where(equal(x, c.y), 0, x - c.y));
}

constexpr double ln_2 = std::numbers::ln2, ln_10 = std::numbers::ln10;

void add_unary(rule_table& rules) {
  const auto set = [&](opcode op, element_step step) { rules[static_cast<std::size_t>(op)] = {step, step}; };
#define RULE(name, expression)                                                                       \
  set(opcode::name, [](const element_case& c, [[maybe_unused]] int k, const ndarray& g) -> ndarray { \
    [[maybe_unused]] const ndarray &x = c.x[0], &y = c.y;                                            \
    return expression;                                                                               \
  });
  RULE(negative, -g)
  RULE(sqrt, g / (2 * y))
  RULE(cbrt, g * (power(y, -2.0) / 3))
  RULE(reciprocal, -g * (y * y))
  RULE(exp, g * y)
  RULE(exp2, g * (y * ln_2))
  RULE(expm1, g * (y + 1))
  RULE(log, g / x)
  RULE(log2, g / (x * ln_2))
  RULE(log10, g / (x * ln_10))
  RULE(log1p, g / (1 + x))
  RULE(sin, g * cos(x))
  RULE(cos, -g * sin(x))
  RULE(tan, g * (1 + y * y))
  RULE(arcsin, g / sqrt(1 - x * x))
  RULE(arccos, -g / sqrt(1 - x * x))
  RULE(arctan, g / (1 + x * x))
  RULE(sinh, g * cosh(x))
  RULE(cosh, g * sinh(x))
  RULE(tanh, (g + g * y) * (1 - y))
  RULE(arcsinh, g / sqrt(x * x + 1))
  RULE(arccosh, g / (sqrt(x - 1) * sqrt(x + 1)))
  RULE(arctanh, g / (1 - x * x))
  RULE(frexp_mantissa, where(equal(x, 0), g, g * (y / without_zeros(x))))
#undef RULE
  // Sums of squares, as those of distances, have one cotangent for all of them.
  rules[static_cast<std::size_t>(opcode::square)] = {
      [](const element_case& c, int, const ndarray& t) -> ndarray { return t * (2 * c.x[0]); },
      [](const element_case& c, int, const ndarray& g) -> ndarray { return (2 * g) * c.x[0]; }};
  rules[static_cast<std::size_t>(opcode::absolute)] = {absolute_forward, absolute_backward};
  rules[static_cast<std::size_t>(opcode::sign)] = {sign_forward, sign_backward};
  rules[static_cast<std::size_t>(opcode::cast)] = {cast_forward, cast_backward};
  const element_step conjugate = [](const element_case&, int, const ndarray& g) { return conj(g); };
  set(opcode::conj, conjugate);
  rules[static_cast<std::size_t>(opcode::real)] = {
      [](const element_case&, int, const ndarray& t) -> ndarray { return is_complex(t.dtype()) ? real(t).copy() : t; },
      real_backward};
  rules[static_cast<std::size_t>(opcode::imag)] = {[](const element_case&, int, const ndarray& t) -> ndarray {
                                                     return is_complex(t.dtype()) ? imag(t).copy() : t * zero_like(t);
                                                   },
                                                   imag_backward};
}

void add_binary(rule_table& rules) {
  const auto set = [&](opcode op, element_step step, std::uint8_t zero = 0) {
    rules[static_cast<std::size_t>(op)] = {step, step, zero};
  };
#define RULE(name, first, second)                                                   \
  set(opcode::name, [](const element_case& c, int k, const ndarray& g) -> ndarray { \
    [[maybe_unused]] const ndarray &a = c.x[0], &b = c.x[1], &y = c.y;              \
    return k == 0 ? ndarray(first) : ndarray(second);                               \
  });
  RULE(add, g, g)
  RULE(subtract, g, -g)
  RULE(multiply, g * b, a * g)
  RULE(remainder, g, -g * floor(a / b))
  RULE(fmod, g, -g * trunc(a / b))
  RULE(arctan2, g * (b / (a * a + b * b)), g * (-a / (a * a + b * b)))
  RULE(hypot, g * (a / without_zeros(y)), g * (b / without_zeros(y)))
#undef RULE
  set(opcode::divide, divide_step);
  set(opcode::power, power_step);
  set(opcode::logaddexp, logaddexp_step);
  for (const opcode op : {opcode::maximum, opcode::minimum, opcode::fmax, opcode::fmin}) set(op, share);
  set(
      opcode::copysign,
      [](const element_case& c, int, const ndarray& g) -> ndarray {
        return where(logical_xor(signbit(c.x[0]), signbit(c.x[1])), -g, g);
      },
      0b10);
  set(
      opcode::ldexp,
      [](const element_case& c, int, const ndarray& g) -> ndarray {
        return wrap(map_of(opcode::ldexp, g.dtype(), value_of(g), value_of(c.x[1])));
      },
      0b10);
  rules[static_cast<std::size_t>(opcode::make_complex)] = {make_complex_forward, make_complex_backward};
  rules[static_cast<std::size_t>(opcode::select)] = {select_step, select_step, 0b001};
}

rule_table make_rules() {
  rule_table rules{};
  add_unary(rules);
  add_binary(rules);
  add_special_rules(rules);
  const auto none = [&](std::initializer_list<opcode> list, const char* why) {
    for (const opcode op : list) rules[static_cast<std::size_t>(op)] = {nullptr, nullptr, 0b111, 0, why};
  };
  none({opcode::floor, opcode::ceil, opcode::trunc, opcode::rint, opcode::floor_divide, opcode::frexp_exponent},
       "piecewise constant");
  none({opcode::nextafter}, "the derivative is taken as 0, as in JAX");
  none({opcode::isnan, opcode::isinf, opcode::isfinite, opcode::signbit, opcode::logical_not, opcode::equal,
        opcode::not_equal, opcode::less, opcode::less_equal, opcode::greater, opcode::greater_equal,
        opcode::logical_and, opcode::logical_or, opcode::logical_xor},
       "the result is a bool");
  none({opcode::bitwise_not, opcode::bitwise_and, opcode::bitwise_or, opcode::bitwise_xor, opcode::left_shift,
        opcode::right_shift, opcode::gcd},
       "of integers");
  none({opcode::load, opcode::param, opcode::coord, opcode::reduced, opcode::address, opcode::carried,
        opcode::checked_index},
       "not recorded: a source of values in a program");
  none({opcode::user}, "recorded as a call, whose rule is given by custom_derivative");
  none({opcode::random_bits, opcode::random_uniform, opcode::random_normal, opcode::random_exponential,
        opcode::random_below},
       "a draw without parameters: location and scale are applied by other operations");
  none({opcode::random_poisson, opcode::random_binomial}, "the draw is an integer");
  return rules;
}

}  // namespace

const element_rule& rule_of(opcode op) {
  static const rule_table& rules = *new rule_table(make_rules());
  return rules[static_cast<std::size_t>(op)];
}

}  // namespace sinter::ops::derivatives
