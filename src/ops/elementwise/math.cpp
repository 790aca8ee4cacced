// Functions that are a single operation, other floating-point functions, and conjugates and angles of complex numbers.
#include <numbers>

#include "ops/base/elementwise_values.hpp"
#include "sinter/elementwise.hpp"

namespace sinter::inline v0 {

using namespace ops;

// The table of operations has their names and loop rules.
#define FUNCTION_1(name, rule) \
  ndarray name(const ndarray& x) { return unary(#name, opcode::name, loop_rule::rule, x); }
#define FUNCTION_2(name, rule) \
  ndarray name(const operand& x, const operand& y) { return binary(#name, opcode::name, loop_rule::rule, x, y); }
#define OP(name, operands, weight)
#define FUNCTION_OP(name, operands, weight, rule) FUNCTION_##operands(name, rule)
#include "jit/program/opcodes.def"
#undef FUNCTION_1
#undef FUNCTION_2

namespace {

/// x * factor, the 16-bit dtypes in float32 as in NumPy; `narrow` is the factor computed in float32.
ndarray scaled(const char* function, const ndarray& x, double factor, float narrow) {
  const value v = value_of(x, function);
  const dtype loop = loop_dtype(loop_rule::real_floating, v->type, function);
  const dtype wide = loop == dtype::f64 ? dtype::f64 : dtype::f32;
  const value by = constant_of(wide == dtype::f64 ? factor : static_cast<double>(narrow), wide, v->device);
  // Integers are rounded to their float dtype first: int8 is computed as float16.
  const value rounded = graph::record_cast(graph::record_cast(v, loop), wide);
  return wrap(graph::record_cast(map_of(opcode::multiply, wide, rounded, by), loop));
}

}  // namespace

ndarray deg2rad(const ndarray& x) {
  return scaled("deg2rad", x, std::numbers::pi / 180.0, std::numbers::pi_v<float> / 180.0f);
}
ndarray rad2deg(const ndarray& x) {
  return scaled("rad2deg", x, 180.0 / std::numbers::pi, 180.0f / std::numbers::pi_v<float>);
}

ndarray heaviside(const operand& x, const operand& y) {
  resolved r = resolve_pair("heaviside", loop_rule::real_floating, x, y);
  const value zero = constant_of(0, r.loop, r.device), one = constant_of(1, r.loop, r.device);
  const value &at = r.args[0], &middle = r.args[1];
  const value sides = select_of(map_of(opcode::less, dtype::b1, at, zero), zero, one);
  const value step = select_of(map_of(opcode::equal, dtype::b1, at, zero), middle, sides);
  return wrap(select_of(map_of(opcode::isnan, dtype::b1, at), at, step));
}

ndarray conj(const ndarray& x) {
  const value v = value_of(x, "conj");
  if (is_bool(v->type)) return wrap(graph::record_cast(v, dtype::i8));
  return wrap(is_complex(v->type) ? map_of(opcode::conj, v->type, v) : v);
}

ndarray angle(const ndarray& x, bool deg) {
  const bool complex = is_complex(view_of(x, "angle").type);
  const ndarray radians = complex ? arctan2(imag(x), real(x)) : arctan2(0, x);
  return deg ? multiply(radians, 180.0 / std::numbers::pi) : radians;
}

}  // namespace sinter::inline v0
