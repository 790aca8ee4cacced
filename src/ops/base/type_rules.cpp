#include "ops/base/type_rules.hpp"

#include <string>
#include <string_view>

namespace sinter::ops {
namespace {

/// Sets the loop for a promoted dtype; `false` if there is none.
bool find_loop(loop_rule rule, dtype promoted, dtype& loop) {
  loop = promoted;
  const bool boolean = is_bool(promoted), complex = is_complex(promoted);
  switch (rule) {
    case loop_rule::any: return true;
    case loop_rule::no_bool: return !boolean;
    case loop_rule::ordered: return !complex;
    case loop_rule::real:
      if (complex) return false;
      [[fallthrough]];
    case loop_rule::bool_as_int8:
      if (boolean) loop = dtype::i8;
      return true;
    case loop_rule::real_floating:
      if (complex) return false;
      [[fallthrough]];
    case loop_rule::floating: loop = float_of(promoted); return true;
    case loop_rule::true_divide:
      if (!is_inexact(promoted)) loop = dtype::f64;
      return true;
    case loop_rule::bitwise: return !is_inexact(promoted);
    case loop_rule::shift:
      if (boolean) loop = dtype::i8;
      return !is_inexact(promoted);
  }
  return false;
}

/// NumPy's advice for functions that are commonly called with bools.
const char* hint(std::string_view function) {
  if (function == "subtract") return "; use bitwise_xor (^) or logical_xor";
  if (function == "negative") return "; use invert (~) or logical_not";
  return "";
}

[[noreturn]] void refuse(loop_rule rule, const std::string& dtypes, const char* verb, const char* function) {
  fail<dtype_error>(function, dtypes, verb, " not supported", (rule == loop_rule::no_bool ? hint(function) : ""));
}

}  // namespace

dtype float_of(dtype t) noexcept {
  if (is_inexact(t)) return t;
  switch (itemsize(t)) {
    case 1: return dtype::f16;
    case 2: return dtype::f32;
    default: return dtype::f64;
  }
}

dtype accumulator_of(dtype t) noexcept {
  if (is_bool(t) || is_signed_integer(t)) return dtype::i64;
  return is_unsigned_integer(t) ? dtype::u64 : t;
}

dtype real_of(dtype t) noexcept {
  if (!is_complex(t)) return t;
  return t == dtype::c64 ? dtype::f32 : dtype::f64;
}

dtype weak_dtype(const scalar& x, dtype other) noexcept {
  switch (x.kind()) {
    case scalar_kind::boolean: return dtype::b1;
    case scalar_kind::integer: return is_bool(other) ? dtype::i64 : other;
    case scalar_kind::floating: return is_inexact(other) ? other : dtype::f64;
    case scalar_kind::complex: break;
  }
  if (is_complex(other)) return other;
  return is_real_floating(other) && other != dtype::f64 ? dtype::c64 : dtype::c128;
}

dtype_pair argument_dtypes(const operand& x, const operand& y, const char* function) {
  const auto array_dtype = [function](const operand& a) { return view_of(a.array(), function).type; };
  if (x.is_array() && y.is_array()) return {array_dtype(x), array_dtype(y)};
  if (x.is_array()) return {array_dtype(x), weak_dtype(y.number(), array_dtype(x))};
  if (y.is_array()) return {weak_dtype(x.number(), array_dtype(y)), array_dtype(y)};
  return {x.number().default_dtype(), y.number().default_dtype()};
}

dtype loop_dtype(loop_rule rule, dtype x, const char* function) {
  dtype loop;
  if (!find_loop(rule, x, loop)) refuse(rule, std::string(name(x)), " is", function);
  return loop;
}

dtype loop_dtype(loop_rule rule, dtype x, dtype y, const char* function) {
  dtype loop;
  // Floating loops are chosen for each operand: int8 with uint8 fits float16, though the two promote to int16.
  const bool separately = rule == loop_rule::floating || rule == loop_rule::real_floating;
  const dtype promoted = separately ? promote_types(float_of(x), float_of(y)) : promote_types(x, y);
  // uint64 with a signed integer promotes to float64, which bit functions do not take.
  if (!find_loop(rule, promoted, loop))
    refuse(rule, std::string(name(x)) + " and " + std::string(name(y)), " are", function);
  return loop;
}

}  // namespace sinter::ops
