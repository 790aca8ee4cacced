// Writes through views: assignment to an indexed temporary and the in-place operators.
#include "core/shape.hpp"
#include "graph/run/fresh_view.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/elementwise_values.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "sinter/elementwise_out.hpp"

namespace sinter::ops {

const graph::array_view& writable(const graph::array_view& v, const char* function) {
  if (v.absent) fail<dtype_error>("imag", "an array of ", v.type, " has no imaginary parts to write");
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

/// Nothing but the write refers to the value then: what it reads may be overwritten.
void write_whole(const graph::array_view& to, graph::value v) {
  v = ops::broadcast_value(v, to.shape);
  graph::write(to, std::move(v));
}

void assign(const ndarray& target, const operand& e) {
  if (auto* selected = ops::unread_selection(target)) return ops::write_selection(selected->what, e, "assign");
  const graph::array_view& v = ops::writable(ops::view_of(target, "assign"), "assign");
  graph::value right = ops::right_side(v, e, v.shape.size(), "assign");
  if (!core::broadcasts_to(right->shape, v.shape))
    refuse_shape("assign", ops::view_of(e.array(), "assign").shape, v.shape);
  write_whole(v, std::move(right));
}

/// An operation's result, whose shape fits, written to elements that keep their dtype.
void write_result(const graph::array_view& to, graph::value result, const char* function) {
  ops::require_same_kind(function, "the result", result->type, to.type);
  write_whole(to, graph::record_cast(std::move(result), to.type));
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

namespace {

/// The mask of a function's `where=`, checked.
graph::value mask_of(const ndarray& where, const ndarray& result, const char* function) {
  const graph::array_view& mask = ops::view_of(where, function);
  if (!is_bool(mask.type)) ops::fail<dtype_error>(function, "where is an array of bools, not of ", mask.type);
  check_device(ops::view_of(result, function), where, function);
  return ops::value_of(where, function);
}

}  // namespace

ndarray detail::into(const ndarray& result, const out_kw& kw, const char* function) {
  if (!kw.out && !kw.where) return result;
  if (!kw.out) {
    const operand mask(*kw.where), of(result);
    const core::dims shape = ops::broadcast_shapes({&mask, &of}, function);
    const graph::value wanted = mask_of(*kw.where, result, function), v = ops::value_of(result, function);
    return ops::wrap(ops::broadcast_value(ops::select_of(wanted, v, ops::constant_of(0, v->type, v->device)), shape));
  }
  const graph::array_view& to = ops::writable(ops::view_of(*kw.out, function), function);
  check_device(to, result, function);
  graph::value v = ops::value_of(result, function);
  if (!core::broadcasts_to(v->shape, to.shape))
    ops::fail<shape_error>(function, "out has shape ", to.shape, ", but the result has shape ", v->shape);
  if (kw.where) {
    const graph::value mask = mask_of(*kw.where, result, function);
    if (!core::broadcasts_to(mask->shape, to.shape))
      ops::fail<shape_error>(function, "out has shape ", to.shape, ", but where has shape ", mask->shape);
    ops::require_same_kind(function, "the result", v->type, to.type);
    v = ops::select_of(mask, graph::record_cast(v, to.type), graph::read(to));
  }
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

namespace {

/// The parts of complex numbers: a view. Real numbers are their own real parts, and have no imaginary ones to write.
graph::view_ref part_of(const ndarray& x, bool imaginary) {
  const graph::array_view& v = ops::view_of(x, imaginary ? "imag" : "real");
  if (is_complex(v.type)) return graph::make_parts(v, imaginary);
  if (!imaginary) return ops::ndarray_access::ref(x);
  const graph::view_ref zeros =
      graph::make_array(graph::record_scalar(ops::scalar_of(0, v.type, "imag"), v.type, v.shape, v.device()));
  auto view = graph::begin_view(*zeros, v.shape.size());
  view->absent = true;
  return graph::end_view(std::move(view), *zeros, 0, /*readonly=*/true);
}

/// Of an array that nothing else refers to: a value, so that the complex numbers need not lie in memory.
ndarray part_of_last(const ndarray& x, bool imaginary) {
  const graph::view_ref& v = ops::ndarray_access::ref(x);
  const bool last = v && v.use_count() == 1 && v->store.use_count() == 1 && !v->store->pinned();
  if (!last || !is_complex(v->type)) return ops::ndarray_access::make(part_of(x, imaginary));
  const graph::value numbers = graph::read(*v);
  return ops::wrap(ops::map_of(imaginary ? jit::opcode::imag : jit::opcode::real, ops::real_of(v->type), numbers));
}

subarray as_part(graph::view_ref v) { return ops::ndarray_access::make_sub(std::move(v)); }

}  // namespace

ndarray real(const ndarray& x) { return ops::ndarray_access::make(part_of(x, false)); }
ndarray imag(const ndarray& x) { return ops::ndarray_access::make(part_of(x, true)); }
subarray ndarray::real() const& { return as_part(part_of(*this, false)); }
subarray ndarray::imag() const& { return as_part(part_of(*this, true)); }
subarray subarray::real() const { return as_part(part_of(*this, false)); }
subarray subarray::imag() const { return as_part(part_of(*this, true)); }
ndarray ndarray::real() const&& { return part_of_last(*this, false); }
ndarray ndarray::imag() const&& { return part_of_last(*this, true); }

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
