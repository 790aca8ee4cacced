// Elementwise arithmetic and rounding; functions that are a single operation are defined in math.cpp.
#include <cmath>

#include "ops/base/binary.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

value convert(const value& v, dtype type) { return graph::record_cast(v, type); }

struct exponents {
  int lowest, highest;  // of normal numbers, as powers of two
};
exponents normal_exponents(dtype type) {
  switch (type) {
    case dtype::f16: return {-14, 15};
    case dtype::bf16:
    case dtype::f32: return {-126, 127};
    default: return {-1022, 1023};
  }
}

/// 1 / v if it is exact and normal in the dtype, so that multiplying by it gives the same bits as dividing by v.
std::optional<double> exact_reciprocal(const operand& y, dtype type) {
  if (y.is_array() || !is_real_floating(type)) return {};
  const double v = y.number().real();
  int exponent = 0;
  if (!std::isfinite(v) || std::abs(std::frexp(v, &exponent)) != 0.5) return {};
  const int of_reciprocal = 1 - exponent;
  const auto [lowest, highest] = normal_exponents(type);
  if (of_reciprocal < lowest || of_reciprocal > highest) return {};
  return std::copysign(std::ldexp(1.0, of_reciprocal), v);
}

/// The operation that equals a power with this exponent, if there is one (NumPy's shortcuts).
std::optional<opcode> power_shortcut(const scalar& y, dtype loop) {
  if (y.kind() == scalar_kind::boolean || y.kind() == scalar_kind::complex) return {};
  const double exponent = y.real();
  if (exponent == 2) return opcode::square;
  if (!is_inexact(loop)) return {};
  if (exponent == 0.5) return opcode::sqrt;
  if (exponent == -1) return opcode::reciprocal;
  return {};
}

/// Under fast_math on a GPU: x to a power that is a small multiple of one half, by products and a root.
std::optional<value> power_by_products(const value& x, const scalar& y, dtype loop) {
  if (!graph::fast_math() || loop != dtype::f32 || x->device.kind == runtime::device_kind::cpu) return {};
  if (y.kind() == scalar_kind::boolean || y.kind() == scalar_kind::complex) return {};
  const double halves = 2 * std::abs(y.real());
  if (halves != std::floor(halves) || halves < 1 || halves > 8) return {};
  const auto times = [&](const value& a, const value& b) { return map_of(opcode::multiply, loop, a, b); };
  const int whole = static_cast<int>(halves) / 2;
  value power = x;
  for (int k = 1; k < whole; ++k) power = times(power, x);
  if (static_cast<int>(halves) % 2 != 0) {
    const value root = map_of(opcode::sqrt, loop, x);
    power = whole == 0 ? root : times(power, root);
  }
  return y.real() < 0 ? map_of(opcode::reciprocal, loop, power) : power;
}

/// args[0] to the power args[1]; `y` is the exponent before the cast.
ndarray raised(resolved r, const operand& y) {
  if (!y.is_array()) {
    const scalar& exponent = y.number();
    if (is_integer(r.loop) && exponent.kind() == scalar_kind::integer && exponent.negative())
      fail<value_error>("power", "integers to negative integer powers are not allowed (", r.loop, " to the power ",
                        exponent.as_int64(), ")");
    if (const auto op = power_shortcut(exponent, r.loop)) return wrap(map_of(*op, r.loop, r.args[0]));
    if (const auto product = power_by_products(r.args[0], exponent, r.loop)) return wrap(*product);
  }
  return wrap(graph::record_map_moving(opcode::power, r.loop, r.shape, r.values()));
}

/// Applies `op` to floats; integers and bools are unchanged, complex is rejected.
ndarray to_integer_value(const char* function, opcode op, const ndarray& x) {
  const auto again = [=](const operand* o) { return to_integer_value(function, op, o[0].array()); };
  if (auto later = over_selections(jit::weight(op), again, x)) return *later;
  const value v = value_of(x, function);
  const dtype loop = loop_dtype(loop_rule::ordered, v->type, function);
  return wrap(is_real_floating(loop) ? map_of(op, loop, v) : v);
}

}  // namespace

// Of bools these are logical operations.
ndarray add(const operand& x, const operand& y) {
  return binary("add", opcode::add, opcode::logical_or, loop_rule::any, x, y);
}
ndarray multiply(const operand& x, const operand& y) {
  return binary("multiply", opcode::multiply, opcode::logical_and, loop_rule::any, x, y);
}

ndarray divide(const operand& x, const operand& y) {
  const auto again = [](const operand* o) { return divide(o[0], o[1]); };
  if (auto later = over_selections(jit::weight(opcode::divide), again, x, y)) return *later;
  if (y.is_array())
    if (const plain_pair both("divide", loop_rule::true_divide, x, y); both)
      return wrap(both.map(opcode::divide, both.loop()));
  resolved r = resolve_pair("divide", loop_rule::true_divide, x, y);
  if (const auto factor = exact_reciprocal(y, r.loop)) {
    const value by = constant_of(*factor, r.loop, r.device);
    return wrap(graph::record_map(opcode::multiply, r.loop, r.shape, {r.args[0], by}));
  }
  return wrap(graph::record_map_moving(opcode::divide, r.loop, r.shape, r.values()));
}

ndarray power(const operand& x, const operand& y) {
  const auto again = [](const operand* o) { return power(o[0], o[1]); };
  if (auto later = over_selections(jit::weight(y.is_array() ? opcode::power : opcode::sqrt), again, x, y))
    return *later;
  return raised(resolve_pair("power", loop_rule::bool_as_int8, x, y), y);
}

ndarray float_power(const operand& x, const operand& y) {
  const auto [first, second] = argument_dtypes(x, y, "float_power");
  const dtype loop = is_complex(promote_types(first, second)) ? dtype::c128 : dtype::f64;
  return raised(resolve_as({&x, &y}, loop, "float_power"), y);
}

ndarray positive(const ndarray& x) {
  const value v = value_of(x, "positive");
  loop_dtype(loop_rule::no_bool, v->type, "positive");
  return wrap(v);
}

ndarray absolute(const ndarray& x) {
  const auto again = [](const operand* o) { return absolute(o[0].array()); };
  if (auto later = over_selections(jit::weight(opcode::absolute), again, x)) return *later;
  const value v = value_of(x, "absolute");
  if (is_bool(v->type) || is_unsigned_integer(v->type)) return wrap(v);
  return wrap(map_of(opcode::absolute, real_of(v->type), v));
}

ndarray fabs(const ndarray& x) { return unary("fabs", opcode::absolute, loop_rule::real_floating, x); }

ndarray floor(const ndarray& x) { return to_integer_value("floor", opcode::floor, x); }
ndarray ceil(const ndarray& x) { return to_integer_value("ceil", opcode::ceil, x); }
ndarray trunc(const ndarray& x) { return to_integer_value("trunc", opcode::trunc, x); }

ndarray round(const ndarray& x, std::int64_t decimals) {
  const value v = value_of(x, "round");
  if (is_bool(v->type) && decimals != 0) fail<dtype_error>("round", "bools have no decimals");
  if (is_complex(v->type)) {  // part by part: what is infinite in one leaves the other
    const auto part = [&](opcode which) {
      return value_of(round(wrap(map_of(which, real_of(v->type), v)), decimals), "round");
    };
    return wrap(map_of(opcode::make_complex, v->type, part(opcode::real), part(opcode::imag)));
  }
  if (is_integer(v->type) && decimals >= 0) return wrap(v);
  const dtype loop = is_integer(v->type) ? dtype::f64 : float_of(v->type);
  value out = convert(v, loop);
  const value scale = constant_of(std::pow(10.0, std::abs(static_cast<double>(decimals))), loop, v->device);
  if (decimals != 0) out = map_of(decimals > 0 ? opcode::multiply : opcode::divide, loop, out, scale);
  out = map_of(opcode::rint, loop, out);
  if (decimals != 0) out = map_of(decimals > 0 ? opcode::divide : opcode::multiply, loop, out, scale);
  return wrap(is_integer(v->type) ? convert(out, v->type) : out);
}

}  // namespace sinter::inline v0
