#include "ops/special/special_values.hpp"

#include "ops/base/errors.hpp"

namespace sinter::ops {
namespace {

/// float32 for what it holds exactly, else float64.
dtype special_dtype(dtype t) noexcept {
  if (is_bool(t) || itemsize(t) < 4 || t == dtype::f32) return dtype::f32;
  return dtype::f64;
}

ndarray record(const char* function, opcode op, operands x) {
  resolved r = resolve_special(function, x);
  return wrap(graph::record_map_moving(op, r.loop, r.shape, r.values()));
}

}  // namespace

dtype special_loop(const char* function, operands x) {
  bool wide = false, arrays = false;
  for (const operand* o : x) {
    if (o->is_array()) {
      const graph::array_view& v = view_of(o->array(), function);
      if (is_complex(v.type)) fail<dtype_error>(function, name(v.type), " of shape ", v.shape, " is not supported");
      arrays = true;
      wide = wide || special_dtype(v.type) == dtype::f64;
    } else if (o->number().kind() == scalar_kind::complex) {
      fail<dtype_error>(function, "a complex number is not supported");
    }
  }
  return wide || !arrays ? dtype::f64 : dtype::f32;
}

resolved resolve_special(const char* function, operands x) {
  return resolve_as(x, special_loop(function, x), function);
}

ndarray special_map(const char* function, opcode op, const ndarray& x) {
  const auto again = [=](const operand* o) { return special_map(function, op, o[0].array()); };
  if (auto later = over_selections(jit::weight(op), again, x)) return *later;
  const operand only = x;
  return record(function, op, {&only});
}

ndarray special_map(const char* function, opcode op, const operand& x, const operand& y) {
  const auto again = [=](const operand* o) { return special_map(function, op, o[0], o[1]); };
  if (auto later = over_selections(jit::weight(op), again, x, y)) return *later;
  return record(function, op, {&x, &y});
}

ndarray special_map(const char* function, opcode op, const operand& x, const operand& y, const operand& z) {
  const auto again = [=](const operand* o) { return special_map(function, op, o[0], o[1], o[2]); };
  if (auto later = over_selections(jit::weight(op), again, x, y, z)) return *later;
  return record(function, op, {&x, &y, &z});
}

}  // namespace sinter::ops
