// Writes through views: assignment to an indexed temporary and the in-place operators.
#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/promotion_args.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "sinter/elementwise_out.hpp"

namespace sinter::ops {

const graph::array_view& writable(const graph::array_view& v, const char* function) {
  if (v.readonly) fail<value_error>(function, "the array of shape ", v.shape, " is read-only");
  if (!v.whole && core::may_self_overlap(v.shape, v.strides))
    fail<value_error>(function, "elements of the view of shape ", v.shape,
                      " share memory (a broadcast view); copy it first");
  return v;
}

graph::value right_side(const graph::array_view& target, const operand& e, int rank, const char* function) {
  if (!e.is_array())
    return graph::record_scalar(scalar_of(e.number(), target.type, function), target.type, dims(), target.device());
  const graph::value v = value_of(e.array(), function);
  require_one_device(function, target.device(), v->device);
  dims shape = v->shape;
  while (shape.size() > rank && shape[0] == 1) shape.erase(0);
  return graph::record_cast(reshape_value(v, shape), target.type);
}

}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace {

using ops::dims;

[[noreturn]] void refuse_shape(const char* function, const dims& from, const dims& to) {
  ops::fail<shape_error>(function, "shape ", from, " does not broadcast to shape ", to);
}

void check_device(const graph::array_view& v, const ndarray& from, const char* function) {
  ops::require_one_device(function, v.device(), ops::view_of(from, function).device());
}

void assign(const ndarray& target, const operand& e) {
  if (auto* selected = ops::unread_selection(target)) return ops::write_selection(selected->what, e, "assign");
  const graph::array_view& v = ops::writable(ops::view_of(target, "assign"), "assign");
  const graph::value right = ops::right_side(v, e, v.shape.size(), "assign");
  if (!core::broadcasts_to(right->shape, v.shape))
    refuse_shape("assign", ops::view_of(e.array(), "assign").shape, v.shape);
  graph::write(v, ops::broadcast_value(right, v.shape));
}

/// An operation's result, whose shape fits, written to elements that keep their dtype.
void write_result(const graph::array_view& to, const graph::value& result, const char* function) {
  ops::require_same_kind(function, "the result", result->type, to.type);
  graph::write(to, ops::broadcast_value(graph::record_cast(result, to.type), to.shape));
}

template <class Operation>
void in_place(const ndarray& target, const operand& e, const char* function, Operation operation) {
  const graph::array_view& v = ops::writable(ops::view_of(target, function), function);
  if (e.is_array()) {
    check_device(v, e.array(), function);
    const dims& shape = ops::view_of(e.array(), function).shape;
    if (!core::broadcasts_to(shape, v.shape)) refuse_shape(function, shape, v.shape);
  }
  write_result(v, ops::value_of(operation(operand(target), e), function), function);
}

}  // namespace

ndarray detail::into(const ndarray& result, const out_kw& kw, const char* function) {
  if (!kw.out) return result;
  const graph::array_view& to = ops::writable(ops::view_of(*kw.out, function), function);
  check_device(to, result, function);
  const graph::value v = ops::value_of(result, function);
  if (!core::broadcasts_to(v->shape, to.shape))
    ops::fail<shape_error>(function, "out has shape ", to.shape, ", but the result has shape ", v->shape);
  write_result(to, v, function);
  return *kw.out;
}

const subarray& subarray::operator=(const operand& e) && {
  assign(*this, e);
  return *this;
}
const subarray& subarray::operator=(const subarray& e) && {
  assign(*this, operand(e));
  return *this;
}

// Both forms of each operator, on an array and on an indexed temporary, do the same.
#define SINTER_IN_PLACE(op)                                                                                 \
  ndarray& ndarray::operator op##=(const operand& e)& {                                                     \
    in_place(*this, e, "in-place " #op, [](const operand& a, const operand& b) { return a.array() op b; }); \
    return *this;                                                                                           \
  }                                                                                                         \
  const subarray& subarray::operator op##=(const operand& e)&& {                                            \
    constexpr auto operation = [](const operand& a, const operand& b) { return a.array() op b; };           \
    if (auto* selected = ops::unread_selection(*this))                                                      \
      ops::update_selection(selected->what, e, "in-place " #op, operation);                                 \
    else in_place(*this, e, "in-place " #op, operation);                                                    \
    return *this;                                                                                           \
  }
SINTER_IN_PLACE(+)
SINTER_IN_PLACE(-)
SINTER_IN_PLACE(*)
SINTER_IN_PLACE(/)
SINTER_IN_PLACE(%)
SINTER_IN_PLACE(&)
SINTER_IN_PLACE(|)
SINTER_IN_PLACE(^)
SINTER_IN_PLACE(<<)
SINTER_IN_PLACE(>>)
#undef SINTER_IN_PLACE

}  // namespace sinter::inline v0
