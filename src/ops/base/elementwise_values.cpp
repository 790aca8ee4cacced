#include "ops/base/elementwise_values.hpp"

#include "ops/base/deferred_work.hpp"

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
  const graph::array_view& of = view_of(x, function);
  const dtype loop = loop_dtype(rule, of.type, function);
  value v = graph::record_cast(graph::read(of), loop);
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

/// The view of an operand that is an array. Null where that has to be resolved or is undefined: `other` is set.
[[gnu::always_inline]] inline const graph::array_view* ready_view(const operand& o, bool& other) noexcept {
  if (!o.is_array()) return nullptr;
  const graph::array_view* const v = ndarray_access::unresolved(o.array()).get();
  if (v && !v->deferred.load(std::memory_order_acquire)) [[likely]]
    return v;
  other = true;
  return nullptr;
}

[[gnu::noinline]] void touch_all(const operand& x, const operand& y) {
  if (x.is_array()) ndarray_access::ref(x.array());
  if (y.is_array()) ndarray_access::ref(y.array());
}

[[gnu::always_inline]] inline bool is_alike(const graph::array_view& a, const graph::array_view& b) noexcept {
  return a.shape == b.shape && a.device() == b.device();
}

/// Whether a number beside an array leaves the array's dtype as it is: a real one beside floating-point and complex numbers, an
/// integer that the dtype can represent beside integers.
[[gnu::always_inline]] inline bool takes_number(dtype array, const scalar& number) {
  const scalar_kind kind = number.kind();
  if (is_inexact(array)) [[likely]]
    return kind == scalar_kind::integer || kind == scalar_kind::floating;
  return kind == scalar_kind::integer && is_integer(array) && fits(number, array);
}

/// The operands' views, the number's being null, and the one that the result is like; `like` is null: they are not a plain pair.
struct plain_views {
  const graph::array_view *x = nullptr, *y = nullptr, *like = nullptr;
};
[[gnu::always_inline]] inline plain_views find_plain(const char* function, loop_rule rule, const operand& x,
                                                     const operand& y) {
  bool other = false;
  plain_views p{ready_view(x, other), ready_view(y, other)};
  if (other) [[unlikely]]
    return p;
  if (graph::is_capturing()) [[unlikely]]
    touch_all(x, y);
  const graph::array_view* like = p.x;
  if (p.x && p.y) {
    if (p.x != p.y && (p.x->type != p.y->type || !is_alike(*p.x, *p.y))) return p;
  } else {
    if (!like) like = p.y;
    if (!like) return p;
    if (!takes_number(like->type, (p.x ? y : x).number())) return p;
  }
  if (keeps_dtype(rule, like->type, function)) p.like = like;
  return p;
}

[[gnu::noinline]] value number_beside(const scalar& x, const graph::node& like, const char* function) {
  return graph::record_scalar_like(scalar_of(x, like.type, function), like);
}

[[gnu::always_inline]] inline value read_plain(const graph::array_view& v) {
  if (v.whole) [[likely]] {
    graph::version now = v.store->now_as_is();
    if (!now.pinned) [[likely]]
      return std::move(now.v);
  }
  return graph::read(v);
}

[[gnu::always_inline]] inline value map_plain(const plain_views& p, opcode op, dtype type, const operand& x,
                                              const operand& y, const char* function) {
  value of_like = read_plain(*p.like);
  const graph::node& like = *of_like;
  value other = !p.x         ? number_beside(x.number(), like, function)
                : !p.y       ? number_beside(y.number(), like, function)
                : p.x == p.y ? of_like
                             : read_plain(*p.y);
  graph::node *const a = of_like.release(), *const b = other.release();
  return p.x ? graph::record_pair(op, type, like, a, b) : graph::record_pair(op, type, like, b, a);
}

}  // namespace

plain_pair::plain_pair(const char* function, loop_rule rule, const operand& x, const operand& y)
    : x_(x), y_(y), function_(function) {
  const plain_views p = find_plain(function, rule, x, y);
  vx_ = p.x;
  vy_ = p.y;
  of_ = p.like;
}

value plain_pair::value_of(const graph::array_view* v, const operand& o) const {
  if (v) return graph::read(*v);
  return graph::record_scalar(scalar_of(o.number(), of_->type, function_), of_->type, of_->shape, of_->device());
}

value plain_pair::map_onto(value x, opcode op) const {
  const graph::node& like = *x;
  value y = number_beside(y_.number(), like, function_);
  graph::node* const first = x.release();
  return graph::record_pair(op, like.type, like, first, y.release());
}

value plain_pair::map(opcode op, dtype type) const { return map_plain({vx_, vy_, of_}, op, type, x_, y_, function_); }

namespace {

/// Of two arrays of one dtype and device whose shapes differ. Nothing where they have no common shape, or the loop has another dtype.
std::optional<value> map_broadcast(const graph::array_view& x, const graph::array_view& y, opcode op, opcode of_bools,
                                   loop_rule rule, const char* function) {
  dims shape = x.shape;
  if (!core::broadcast_into(shape, y.shape) || !core::is_countable(shape) || !keeps_dtype(rule, x.type, function))
    return {};
  value both[] = {read_plain(x), read_plain(y)};
  return graph::record_map_moving(is_bool(x.type) ? of_bools : op, x.type, shape, both);
}

/// What binary() does where a look at the operands does not say it.
[[gnu::noinline]] ndarray general_binary(const char* function, opcode op, opcode of_bools, loop_rule rule,
                                         const operand& x, const operand& y) {
  const auto loop_of = [&](dtype loop) { return is_bool(loop) ? of_bools : op; };
  const plain_views p = find_plain(function, rule, x, y);
  if (p.like) {
    const dtype type = p.like->type;
    return wrap(map_plain(p, loop_of(type), type, x, y, function));
  }
  if (p.x && p.y && is_alike(*p.x, *p.y)) {  // all but the dtypes
    const dtype loop = loop_dtype(rule, p.x->type, p.y->type, function);
    value a = graph::record_cast(graph::read(*p.x), loop), b = graph::record_cast(graph::read(*p.y), loop);
    const graph::node& like = *a;
    return wrap(graph::record_pair(loop_of(loop), loop, like, a.release(), b.release()));
  }
  if (p.x && p.y && p.x->type == p.y->type && p.x->device() == p.y->device())
    if (auto v = map_broadcast(*p.x, *p.y, op, of_bools, rule, function)) return wrap(std::move(*v));
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
  if (x.is_array() && y.is_array()) [[likely]] {
    const graph::array_view *const vx = ndarray_access::unresolved(x.array()).get(),
                                   *const vy = ndarray_access::unresolved(y.array()).get();
    const auto is_ready = [](const graph::array_view* v) { return v && !v->deferred.load(std::memory_order_acquire); };
    if (is_ready(vx) && is_ready(vy) && !graph::is_capturing()) [[likely]] {
      const dtype type = vx->type;
      if ((vx == vy || (vy->type == type && is_alike(*vx, *vy))) && keeps_dtype(rule, type, function)) [[likely]] {
        value a = read_plain(*vx), b = vx == vy ? a : read_plain(*vy);
        const graph::node& like = *a;
        graph::node *const first = a.release(), *const second = b.release();
        return ndarray_access::make(
            graph::make_array(graph::record_pair(is_bool(type) ? of_bools : op, type, like, first, second)));
      }
    }
  }
  return general_binary(function, op, of_bools, rule, x, y);
}

ndarray binary(const char* function, opcode op, loop_rule rule, const operand& x, const operand& y) {
  return binary(function, op, op, rule, x, y);
}

value plain_pair::select(const graph::array_view& condition) const {
  value all[] = {graph::read(condition), value_of(vx_, x_), value_of(vy_, y_)};
  return graph::record_map_moving(opcode::select, of_->type, of_->shape, all);
}

resolved resolve_pair(const char* function, loop_rule rule, const operand& x, const operand& y) {
  const auto [first, second] = argument_dtypes(x, y, function);
  return resolve_as({&x, &y}, loop_dtype(rule, first, second, function), function);
}

ndarray plain_comparison(const char* function, opcode op, const operand& x, const operand& y) {
  const plain_views p = find_plain(function, loop_rule::any, x, y);
  return p.like ? ndarray_access::make(graph::make_array(map_plain(p, op, dtype::b1, x, y, function))) : ndarray();
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
