// Elementwise comparisons, extremes, selections and predicates.
#include <cmath>
#include <limits>

#include "ops/base/binary.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// The result of `op` for two unequal numbers.
bool verdict(opcode op, bool first_is_smaller) {
  switch (op) {
    case opcode::not_equal: return true;
    case opcode::less:
    case opcode::less_equal: return first_is_smaller;
    case opcode::greater:
    case opcode::greater_equal: return !first_is_smaller;
    default: return false;
  }
}

/// Whether an operand is an integer that the dtype cannot represent.
bool out_of_range(const operand& x, dtype type) {
  return !x.is_array() && x.number().kind() == scalar_kind::integer && is_integer(type) && !fits(x.number(), type);
}

/// Compares a signed integer with uint64: a negative one is smaller than all, the others are compared as uint64.
ndarray compare_mixed(const char* function, opcode op, const operand& x, const operand& y, bool x_is_signed) {
  const operand* const both[] = {&x, &y};
  const dims shape = broadcast_shapes(both, function);
  const auto device = common_device(both, function);
  const value s = to_value(x_is_signed ? x : y, dtype::i64, shape, device, function);
  const value u = to_value(x_is_signed ? y : x, dtype::u64, shape, device, function);
  const value negative = map_of(opcode::less, dtype::b1, s, constant_of(0, dtype::i64, device));
  const value as_unsigned = graph::record_cast(s, dtype::u64);
  const value ordinary = x_is_signed ? map_of(op, dtype::b1, as_unsigned, u) : map_of(op, dtype::b1, u, as_unsigned);
  return wrap(select_of(negative, bool_of(verdict(op, x_is_signed), dims(), device), ordinary));
}

/// The comparison if one side is a number that the other one's integer dtype cannot represent.
std::optional<ndarray> compare_beyond(const char* function, opcode op, const operand& x, const operand& y) {
  if (x.is_array() == y.is_array()) return {};
  const graph::array_view& elements = view_of((x.is_array() ? x : y).array(), function);
  const operand& number = x.is_array() ? y : x;
  if (!out_of_range(number, elements.type)) return {};
  const bool first_is_smaller = x.is_array() != number.number().negative();
  return wrap(bool_of(verdict(op, first_is_smaller), elements.shape, elements.device()));
}

ndarray compare(const char* function, opcode op, const operand& x, const operand& y) {
  ndarray plain = plain_comparison(function, op, x, y);
  if (plain.defined()) [[likely]]
    return plain;
  const auto again = [=](const operand* o) { return compare(function, op, o[0], o[1]); };
  if (auto later = over_selections(jit::weight(op), again, x, y)) return *later;
  if (auto answer = compare_beyond(function, op, x, y)) return *answer;
  const auto [first, second] = argument_dtypes(x, y, function);
  const bool mixed =
      (is_signed_integer(first) && second == dtype::u64) || (first == dtype::u64 && is_signed_integer(second));
  if (mixed) return compare_mixed(function, op, x, y, is_signed_integer(first));
  const operand* const both[] = {&x, &y};
  resolved r = resolve_as(both, promote_types(first, second), function);
  return wrap(graph::record_map_moving(op, dtype::b1, r.shape, r.values()));
}

/// Floating-point predicates; `otherwise` is the result for all bools and integers.
ndarray predicate(const char* function, opcode op, bool otherwise, const ndarray& x) {
  const value v = value_of(x, function);
  if (!is_inexact(v->type)) return wrap(bool_of(otherwise, v->shape, v->device));
  return wrap(map_of(op, dtype::b1, v));
}

/// A bound that no element can violate: an integer beyond the range of the dtype.
bool is_vacuous(const operand& bound, dtype type, bool is_low) {
  return out_of_range(bound, type) && bound.number().negative() == is_low;
}

/// Between two numbers that have the array's dtype; nothing where the dtype is another one, or a bound has none.
std::optional<ndarray> clipped_by_numbers(const operand& x, const operand& low, const operand& high) {
  const plain_pair above("clip", loop_rule::any, x, low), below("clip", loop_rule::any, x, high);
  if (!above || !below || is_complex(above.loop())) return {};
  value out = above.map(opcode::maximum, above.loop());
  return wrap(below.map_onto(std::move(out), opcode::minimum));
}

/// Either bound may be null.
ndarray clipped(const operand& x, const operand* low, const operand* high) {
  if (low && high) {
    const auto again = [](const operand* o) { return clipped(o[0], o + 1, o + 2); };
    if (auto later = over_selections(2 * jit::weight(opcode::maximum), again, x, *low, *high)) return *later;
  }
  if (low && high && !low->is_array() && !high->is_array())
    if (auto between = clipped_by_numbers(x, *low, *high)) return *between;
  core::dtype_set types;
  types.add(view_of(x.array(), "clip").type);
  for (const operand* bound : {low, high})
    if (bound && bound->is_array()) types.add(view_of(bound->array(), "clip").type);
  const dtype arrays = types.promoted();
  const operand* all[3] = {&x};
  std::size_t count = 1;
  const bool has_low = low && !is_vacuous(*low, arrays, true), has_high = high && !is_vacuous(*high, arrays, false);
  if (has_low) all[count++] = low;
  if (has_high) all[count++] = high;
  resolved r = resolve(operands(all, count), "clip");
  value out = r.args[0];
  if (has_low) out = extreme_of(opcode::maximum, out, r.args[1]);
  if (has_high) out = extreme_of(opcode::minimum, out, r.args[count - 1]);
  return wrap(out);
}

double largest(dtype type) {
  switch (type) {
    case dtype::f16: return 65504.0;
    case dtype::bf16: return 0x1.fep127;
    case dtype::f32:
    case dtype::c64: return static_cast<double>(std::numeric_limits<float>::max());
    default: return std::numeric_limits<double>::max();
  }
}

struct replacements {
  double nan, posinf, neginf;
};
value replace_nonfinite(const value& v, const replacements& by) {
  const auto number = [&](double n) { return constant_of(n, v->type, v->device); };
  const auto is = [&](double n) { return map_of(opcode::equal, dtype::b1, v, number(n)); };
  constexpr double inf = std::numeric_limits<double>::infinity();
  value out = select_of(is(-inf), number(by.neginf), v);
  out = select_of(is(inf), number(by.posinf), out);
  return select_of(map_of(opcode::isnan, dtype::b1, v), number(by.nan), out);
}

}  // namespace

ndarray equal(const operand& x, const operand& y) { return compare("equal", opcode::equal, x, y); }
ndarray not_equal(const operand& x, const operand& y) { return compare("not_equal", opcode::not_equal, x, y); }
ndarray less(const operand& x, const operand& y) { return compare("less", opcode::less, x, y); }
ndarray less_equal(const operand& x, const operand& y) { return compare("less_equal", opcode::less_equal, x, y); }
ndarray greater(const operand& x, const operand& y) { return compare("greater", opcode::greater, x, y); }
ndarray greater_equal(const operand& x, const operand& y) {
  return compare("greater_equal", opcode::greater_equal, x, y);
}

// Of bools these are logical operations.
ndarray maximum(const operand& x, const operand& y) {
  return binary("maximum", opcode::maximum, opcode::logical_or, loop_rule::any, x, y);
}
ndarray minimum(const operand& x, const operand& y) {
  return binary("minimum", opcode::minimum, opcode::logical_and, loop_rule::any, x, y);
}
ndarray fmax(const operand& x, const operand& y) {
  return binary("fmax", opcode::fmax, opcode::logical_or, loop_rule::any, x, y);
}
ndarray fmin(const operand& x, const operand& y) {
  return binary("fmin", opcode::fmin, opcode::logical_and, loop_rule::any, x, y);
}

ndarray clip(const ndarray& x, const optional_operand& low, const optional_operand& high) {
  return clipped(x, low ? &*low : nullptr, high ? &*high : nullptr);
}

ndarray where(const operand& condition, const operand& x, const operand& y) {
  const auto again = [](const operand* o) { return where(o[0], o[1], o[2]); };
  if (auto later = over_selections(jit::weight(opcode::select), again, condition, x, y)) return *later;
  if (condition.is_array()) {
    if (!ndarray_access::is_recorded(condition.array())) view_of(condition.array(), "where");
    const plain_operand choose(condition.array());
    if (const plain_pair both("where", loop_rule::any, x, y); both && is_bool(choose.type()) && both.is_like(choose))
      return wrap(both.select(choose));
  }
  const operand* const all[] = {&condition, &x, &y};
  const operand* const values[] = {&x, &y};
  const dims shape = broadcast_shapes(all, "where");
  const auto device = common_device(all, "where");
  const dtype type = result_type_of(values, "where");
  value choose = condition.is_array()
                     ? truth_of(value_of(condition.array(), "where"))
                     : bool_of(condition.number().real() != 0 || condition.number().imag() != 0, dims(), device);
  value branches[] = {std::move(choose), to_value(x, type, shape, device, "where"),
                      to_value(y, type, shape, device, "where")};
  return wrap(graph::record_map_moving(opcode::select, type, shape, branches));
}

ndarray isnan(const ndarray& x) { return predicate("isnan", opcode::isnan, false, x); }
ndarray isinf(const ndarray& x) { return predicate("isinf", opcode::isinf, false, x); }
ndarray isfinite(const ndarray& x) { return predicate("isfinite", opcode::isfinite, true, x); }

ndarray signbit(const ndarray& x) {
  const value v = value_of(x, "signbit");
  loop_dtype(loop_rule::ordered, v->type, "signbit");
  if (is_signed_integer(v->type)) return less(x, 0);
  return predicate("signbit", opcode::signbit, false, x);
}

ndarray isclose(const operand& x, const operand& y, double rtol, double atol, bool equal_nan) {
  // As NumPy: integers are compared in floating point, so that |min| does not overflow.
  if (y.is_array() && !is_inexact(y.array().dtype()))
    return isclose(x, y.array().astype(dtype::f64), rtol, atol, equal_nan);
  const ndarray distance = absolute(subtract(x, y));
  const ndarray same = equal(x, y);
  if (!y.is_array()) {
    const double size = std::hypot(y.number().real(), y.number().imag());
    if (std::isnan(size)) return equal_nan && x.is_array() ? isnan(x.array()) : same;
    return std::isinf(size) ? same : logical_or(less_equal(distance, atol + rtol * size), same);
  }
  const ndarray& other = y.array();
  const ndarray near = logical_and(less_equal(distance, add(atol, multiply(rtol, absolute(other)))), isfinite(other));
  const ndarray close = logical_or(near, same);
  if (!equal_nan || !x.is_array()) return close;
  return logical_or(close, logical_and(isnan(x.array()), isnan(other)));
}

bool allclose(const operand& x, const operand& y, double rtol, double atol, bool equal_nan) {
  return static_cast<bool>(all(isclose(x, y, rtol, atol, equal_nan)));
}

bool array_equal(const ndarray& x, const ndarray& y, bool equal_nan) {
  if (!(view_of(x, "array_equal").shape == view_of(y, "array_equal").shape)) return false;
  const ndarray same = equal(x, y);
  return static_cast<bool>(all(equal_nan ? logical_or(same, logical_and(isnan(x), isnan(y))) : same));
}

ndarray nan_to_num(const ndarray& x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  const value v = value_of(x, "nan_to_num");
  if (!is_inexact(v->type)) return wrap(v);
  const double end = largest(v->type);
  const replacements by{nan, posinf.value_or(end), neginf.value_or(-end)};
  if (!is_complex(v->type)) return wrap(replace_nonfinite(v, by));
  const dtype part = real_of(v->type);
  return wrap(map_of(opcode::make_complex, v->type, replace_nonfinite(map_of(opcode::real, part, v), by),
                     replace_nonfinite(map_of(opcode::imag, part, v), by)));
}

}  // namespace sinter::inline v0
