#include "ops/base/elementwise_values.hpp"

#include "ops/base/deferred_work.hpp"

#include "graph/values/trace.hpp"

namespace sinter::ops {

dims common_shape(std::span<const value> operands) {
  dims shape = operands[0]->shape;
  for (const value& v : operands.subspan(1)) {
    while (shape.size() < v->shape.size()) shape.insert(0, 1);
    const int lead = shape.size() - v->shape.size();
    for (int a = 0; a < v->shape.size(); ++a)
      if (v->shape[a] != 1) shape[lead + a] = v->shape[a];
  }
  return shape;
}

value map_of(opcode op, dtype type, const value& a) {
  value operand = a;
  return graph::record_map_like(op, type, 0, std::span(&operand, 1));
}

value map_of(opcode op, dtype type, const value& a, const value& b) {
  value both[] = {a, b};
  return graph::record_map_moving(op, type, common_shape(both), both);
}

value select_of(const value& condition, const value& a, const value& b) {
  value all[] = {condition, a, b};
  return graph::record_map_moving(opcode::select, a->type, common_shape(all), all);
}

value constant_of(double v, dtype type, runtime::device_id device) {
  return graph::record_scalar(scalar_of(v, type, "constant"), type, dims(), device);
}

value bool_of(bool v, const dims& shape, runtime::device_id device) {
  return graph::record_scalar(scalar_of(v, dtype::b1, "constant"), dtype::b1, shape, device);
}

ndarray unary(const char* function, opcode op, loop_rule rule, const ndarray& x) {
  if (is_unread(x)) [[unlikely]]
    if (auto later = follow_deferred(op, x, nullptr)) return *later;
  const auto again = [=](const operand* o) { return unary(function, op, rule, o[0].array()); };
  if (auto later = over_selections(jit::weight(op), again, x)) return *later;
  const graph::array_view& of = view_of(x, function);
  const dtype loop = loop_dtype(rule, of.type, function);
  value v = graph::record_cast(graph::read(of), loop);
  return wrap(graph::record_map_like(op, loop, 0, std::span(&v, 1)));
}

namespace {

/// Whether the loop of two operands of one dtype has that dtype too, which for real floating-point numbers is plain.
bool keeps_dtype(loop_rule rule, dtype type, const char* function) {
  if (is_real_floating(type) && rule != loop_rule::bitwise && rule != loop_rule::shift) return true;
  return loop_dtype(rule, type, type, function) == type;
}

}  // namespace

plain_pair::plain_pair(const char* function, loop_rule rule, const operand& x, const operand& y)
    : x_(x), y_(y), function_(function) {
  if (is_unread(x) || is_unread(y)) [[unlikely]]
    return;
  const auto view = [function](const operand& o) -> const graph::array_view* {
    if (!o.is_array()) return nullptr;
    const graph::view_ref& v = ndarray_access::unresolved(o.array());
    return v && !graph::is_capturing() ? v.get() : &view_of(o.array(), function);
  };
  vx_ = view(x);
  vy_ = view(y);
  const graph::array_view* const of = vx_ ? vx_ : vy_;
  if (!of) return;
  if (vx_ && vy_) {
    if (vx_->type != vy_->type || !(vx_->shape == vy_->shape) || !(vx_->device() == vy_->device())) return;
  } else {
    const scalar_kind kind = (vx_ ? y : x).number().kind();
    if (!is_inexact(of->type) || (kind != scalar_kind::integer && kind != scalar_kind::floating)) return;
  }
  if (keeps_dtype(rule, of->type, function)) of_ = of;
}

value plain_pair::value_of(const graph::array_view* v, const operand& o) const {
  if (v) return graph::read(*v);
  return graph::record_scalar(scalar_of(o.number(), of_->type, function_), of_->type, of_->shape, of_->device());
}

value plain_pair::map(opcode op, dtype type) const {
  value both[] = {value_of(vx_, x_), value_of(vy_, y_)};
  return graph::record_map_like(op, type, vx_ ? 0 : 1, both);
}

value plain_pair::select(const graph::array_view& condition) const {
  value all[] = {graph::read(condition), value_of(vx_, x_), value_of(vy_, y_)};
  return graph::record_map_moving(opcode::select, of_->type, of_->shape, all);
}

resolved resolve_pair(const char* function, loop_rule rule, const operand& x, const operand& y) {
  const auto [first, second] = argument_dtypes(x, y, function);
  return resolve_as({&x, &y}, loop_dtype(rule, first, second, function), function);
}

ndarray binary(const char* function, opcode op, loop_rule rule, const operand& x, const operand& y) {
  if (const plain_pair both(function, rule, x, y); both) [[likely]]
    return wrap(both.map(op, both.loop()));
  if (is_unread(x) || is_unread(y)) [[unlikely]]
    if (auto later = follow_deferred(op, x, &y)) return *later;
  const auto again = [=](const operand* o) { return binary(function, op, rule, o[0], o[1]); };
  if (auto later = over_selections(jit::weight(op), again, x, y)) return *later;
  resolved r = resolve_pair(function, rule, x, y);
  return wrap(graph::record_map_moving(op, r.loop, r.shape, r.values()));
}

value zero_and_sign_of(const value& factor) {
  const graph::constants piecewise;  // in derivatives
  const dtype type = factor->type, real = real_of(type);
  const auto number = [&](double x) { return constant_of(x, real, factor->device); };
  const auto part = [&](opcode op) { return is_complex(type) ? map_of(op, real, factor) : factor; };
  // x * 0 is 0 for finite x and NaN otherwise.
  value not_finite = map_of(opcode::multiply, real, part(opcode::real), number(0));
  if (is_complex(type)) {
    const value of_imag = map_of(opcode::multiply, real, part(opcode::imag), number(0));
    not_finite = map_of(opcode::add, real, not_finite, of_imag);
  }
  const value zero = map_of(opcode::equal, dtype::b1, factor, constant_of(0, type, factor->device));
  const value size =
      map_of(opcode::add, real, select_of(zero, number(0), number(1)), map_of(opcode::absolute, real, not_finite));
  return is_complex(type) ? size : map_of(opcode::copysign, real, size, factor);
}

value zero_where_lost(const value& product, const value& factors) {
  const value zero = map_of(opcode::equal, dtype::b1, factors, constant_of(0, factors->type, factors->device));
  const value lost = map_of(opcode::isnan, dtype::b1, product);
  return select_of(map_of(opcode::logical_and, dtype::b1, lost, zero), graph::record_cast(factors, product->type),
                   product);
}

value extreme_of(opcode op, const value& a, const value& b) {
  if (is_bool(a->type)) {
    const bool larger = op == opcode::maximum || op == opcode::fmax;
    return map_of(larger ? opcode::logical_or : opcode::logical_and, dtype::b1, a, b);
  }
  return map_of(op, a->type, a, b);
}

}  // namespace sinter::ops
