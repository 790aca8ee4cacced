#include "ops/base/elementwise_values.hpp"

#include "ops/base/deferred_work.hpp"

#include "core/shape.hpp"
#include "graph/values/record_pair.hpp"
#include "graph/values/trace.hpp"
#include "ops/base/binary.hpp"

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
  value v = value_of(x, function);
  const dtype loop = loop_dtype(rule, v->type, function);
  v = graph::record_cast(std::move(v), loop);
  return wrap(graph::record_map_like(op, loop, 0, std::span(&v, 1)));
}

namespace {

[[gnu::noinline]] bool looks_up_dtype(loop_rule rule, dtype type, const char* function) {
  return loop_dtype(rule, type, type, function) == type;
}
/// Whether the loop of two operands of one dtype has that dtype too, which for real floating-point numbers is plain.
bool keeps_dtype(loop_rule rule, dtype type, const char* function) {
  if (is_real_floating(type) && rule != loop_rule::bitwise && rule != loop_rule::shift) return true;
  return looks_up_dtype(rule, type, function);
}

[[gnu::noinline]] void touch_all(const operand& x, const operand& y) {
  if (x.is_array()) ndarray_access::ref(x.array());
  if (y.is_array()) ndarray_access::ref(y.array());
}

/// Whether a number beside an array leaves the array's dtype as it is: a real one beside floating-point and complex numbers, an
/// integer that the dtype can represent beside integers.
[[gnu::always_inline]] inline bool takes_number(dtype array, const scalar& number) {
  const scalar_kind kind = number.kind();
  if (is_inexact(array)) [[likely]]
    return kind == scalar_kind::integer || kind == scalar_kind::floating;
  return kind == scalar_kind::integer && is_integer(array) && fits(number, array);
}

[[gnu::noinline]] value number_beside(const scalar& x, const graph::node& like, const char* function) {
  return graph::record_scalar_like(scalar_of(x, like.type, function), like);
}

plain_operand operand_of(const operand& x) { return x.is_array() ? plain_operand(x.array()) : plain_operand(); }

}  // namespace

plain_pair::plain_pair(const char* function, loop_rule rule, const operand& x, const operand& y)
    : x_(x), y_(y), function_(function) {
  if (graph::is_capturing()) [[unlikely]]
    touch_all(x, y);
  a_ = operand_of(x);
  b_ = operand_of(y);
  if ((x.is_array() && !a_) || (y.is_array() && !b_)) [[unlikely]] {
    a_ = b_ = plain_operand();
    return;
  }
  const plain_operand* like = a_ ? &a_ : &b_;
  if (!*like) return;
  if (a_ && b_) {
    if (a_.type() != b_.type() || !a_.is_like(b_)) return;
  } else if (!takes_number(like->type(), (a_ ? y : x).number())) {
    return;
  }
  if (keeps_dtype(rule, like->type(), function)) of_ = like;
}

value plain_pair::number_of(const operand& o) const {
  return graph::record_scalar(scalar_of(o.number(), of_->type(), function_), of_->type(), of_->shape(), of_->device());
}

value plain_pair::map_onto(value x, opcode op) const {
  const graph::node& like = *x;
  value y = number_beside(y_.number(), like, function_);
  graph::node* const first = x.release();
  return graph::record_pair(op, like.type, like, first, y.release());
}

value plain_pair::map(opcode op, dtype type) const {
  value first = of_->read();
  const graph::node& like = *first;
  value other = !a_   ? number_beside(x_.number(), like, function_)
                : !b_ ? number_beside(y_.number(), like, function_)
                      : b_.read();
  graph::node *const a = first.release(), *const b = other.release();
  return a_ ? graph::record_pair(op, type, like, a, b) : graph::record_pair(op, type, like, b, a);
}

namespace {

/// Of two arrays of one dtype and device whose shapes differ. Nothing where they have no common shape, or the loop has another dtype.
std::optional<value> map_broadcast(const plain_operand& x, const plain_operand& y, opcode op, opcode of_bools,
                                   loop_rule rule, const char* function) {
  dims shape = x.shape();
  const dtype type = x.type();
  if (!core::broadcast_into(shape, y.shape()) || !core::is_countable(shape) || !keeps_dtype(rule, type, function))
    return {};
  value both[] = {x.read(), y.read()};
  return graph::record_map_moving(is_bool(type) ? of_bools : op, type, shape, both);
}

/// What binary() does where a look at the operands does not say it.
[[gnu::noinline]] ndarray general_binary(const char* function, opcode op, opcode of_bools, loop_rule rule,
                                         const operand& x, const operand& y) {
  const auto loop_of = [&](dtype loop) { return is_bool(loop) ? of_bools : op; };
  const plain_pair p(function, rule, x, y);
  if (p) return wrap(p.map(loop_of(p.loop()), p.loop()));
  if (p.differ_in_dtypes()) {
    const dtype loop = loop_dtype(rule, p.first().type(), p.second().type(), function);
    value a = graph::record_cast(p.first().read(), loop), b = graph::record_cast(p.second().read(), loop);
    const graph::node& like = *a;
    graph::node* const first = a.release();
    return wrap(graph::record_pair(loop_of(loop), loop, like, first, b.release()));
  }
  if (p.differ_in_shapes())
    if (auto v = map_broadcast(p.first(), p.second(), op, of_bools, rule, function)) return wrap(std::move(*v));
  if (is_unread(x) || is_unread(y)) [[unlikely]]
    if (auto later = follow_deferred(op, x, &y)) return *later;
  const auto again = [=](const operand* o) { return general_binary(function, op, of_bools, rule, o[0], o[1]); };
  if (auto later = over_selections(jit::weight(op), again, x, y)) return *later;
  resolved r = resolve_pair(function, rule, x, y);
  return wrap(graph::record_map_moving(loop_of(r.loop), r.loop, r.shape, r.values()));
}

}  // namespace

[[gnu::flatten]] ndarray binary(const char* function, opcode op, opcode of_bools, loop_rule rule, const operand& x,
                                const operand& y) {
  if (x.is_array() && y.is_array() && !graph::is_capturing()) [[likely]] {
    const plain_operand a(x.array()), b(y.array());
    if (a && b) [[likely]] {
      const dtype type = a.type();
      if (b.type() == type && a.is_like(b) && keeps_dtype(rule, type, function)) [[likely]] {
        value va = a.read(), vb = b.read();
        const graph::node& like = *va;
        graph::node *const first = va.release(), *const second = vb.release();
        return wrap(graph::record_pair(is_bool(type) ? of_bools : op, type, like, first, second));
      }
    }
  }
  return general_binary(function, op, of_bools, rule, x, y);
}

ndarray binary(const char* function, opcode op, loop_rule rule, const operand& x, const operand& y) {
  return binary(function, op, op, rule, x, y);
}

value plain_pair::select(const plain_operand& condition) const {
  value all[] = {condition.read(), a_ ? a_.read() : number_of(x_), b_ ? b_.read() : number_of(y_)};
  return graph::record_map_moving(opcode::select, of_->type(), of_->shape(), all);
}

resolved resolve_pair(const char* function, loop_rule rule, const operand& x, const operand& y) {
  const auto [first, second] = argument_dtypes(x, y, function);
  return resolve_as({&x, &y}, loop_dtype(rule, first, second, function), function);
}

ndarray plain_comparison(const char* function, opcode op, const operand& x, const operand& y) {
  const plain_pair p(function, loop_rule::any, x, y);
  return p ? wrap(p.map(op, dtype::b1)) : ndarray();
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
