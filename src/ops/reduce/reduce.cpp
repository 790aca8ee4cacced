// NumPy's reductions, on top of the graph's reduce node.
#include "sinter/reduce.hpp"

#include <algorithm>
#include <cmath>

#include "core/shape.hpp"
#include "ops/base/axis_set.hpp"
#include "ops/base/elementwise_values.hpp"
#include "ops/indexing/masked.hpp"
#include "sinter/creation.hpp"
#include "sinter/dtype_info.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0 {

using namespace ops;
using jit::reduce_op;

namespace {

value reduce_value(reduce_op op, dtype type, const value& v, const axis_set& s) {
  return graph::record_reduce(op, type, v, std::span(s.reduced.data(), static_cast<std::size_t>(v->shape.size())));
}

[[noreturn]] void empty_reduction(const char* function, const dims& shape) {
  fail<value_error>(function, "zero-size array with shape ", shape, " has no ", function);
}

void refuse_dtype(const char* function, const reduce_kw& kw) {
  if (kw.dtype) fail<value_error>(function, "takes no dtype keyword (", *kw.dtype, ")");
}
void refuse_initial(const char* function, const reduce_kw& kw) {
  if (kw.initial) fail<value_error>(function, "takes no initial keyword");
}
void refuse_where(const char* function, const reduce_kw& kw) {
  if (kw.where) fail<value_error>(function, "takes no where keyword");
}

/// The keyword `where` over the operand's shape.
value mask_of(const char* function, const optional_array& where, const value& x) {
  const value mask = value_of(*where, function);
  require_one_device(function, x->device, mask->device);
  if (!is_bool(mask->type)) fail<dtype_error>(function, "where is an array of bools, not of ", mask->type);
  if (!core::broadcasts_to(mask->shape, x->shape))
    fail<shape_error>(function, "where of shape ", mask->shape, " does not broadcast to the shape ", x->shape);
  return broadcast_value(mask, x->shape);
}

value initial_of(const char* function, const reduce_kw& kw, dtype type, runtime::device_id device) {
  return graph::record_scalar(scalar_of(*kw.initial, type, function), type, dims(), device);
}

/// How many elements the mask selects, in a floating-point dtype.
value count_of(const value& mask, dtype type, const axis_set& s) {
  return graph::record_cast(s.count == 0 ? mask : reduce_value(reduce_op::count, dtype::i64, mask, s), type);
}

/// sum and prod in a dtype; for bools they are any and all.
value accumulate(reduce_op op, const value& x, dtype type, const axis_set& s) {
  const value v = graph::record_cast(x, type);
  if (s.count == 0) return v;
  if (is_bool(type)) op = op == reduce_op::sum ? reduce_op::any : reduce_op::all;
  return reduce_value(op, type, v, s);
}

bool has_zero_rule(dtype t, const axis_set& s) { return is_inexact(t) && s.count != 0; }

/// A product of finite factors of which one is 0 is 0, but the library chooses the order of multiplication, and a
/// partial product that overflows to infinity times 0 is NaN. This restores the zero; NaN can have that reason only if
/// all factors are finite.
value zero_restored(const value& product, const value& v, const axis_set& s) {
  const value factors = zero_and_sign_of(v);
  return zero_where_lost(product, reduce_value(reduce_op::prod, factors->type, factors, s));
}

/// The operand of sum and prod. Those of integers and bools have no order, so a selection need not be compacted.
value summands(reduce_op op, const ndarray& x, const reduce_kw& kw, const char* function) {
  const auto type_of = [&](dtype t) { return kw.dtype.value_or(accumulator_of(t)); };
  if (kw.where) {
    const value v = value_of(x, function);
    return select_of(mask_of(function, kw.where, v), v, constant_of(jit::about(op).neutral, v->type, v->device));
  }
  const auto m = masked_to_reduce(x, [&](dtype t) { return !is_inexact(type_of(t)); });
  if (!m) return value_of(x, function);
  const dtype type = type_of(m->whole->type);
  return select_of(m->mask, graph::record_cast(m->whole, type),
                   constant_of(jit::about(op).neutral, type, m->whole->device));
}

ndarray sum_or_prod(const char* function, reduce_op op, const ndarray& x, const reduce_kw& kw) {
  const value v = summands(op, x, kw, function);
  const axis_set s = find_axes(kw.axis, v->shape, function);
  const dtype type = kw.dtype.value_or(accumulator_of(v->type));
  value out = accumulate(op, v, type, s);
  if (op == reduce_op::prod && has_zero_rule(type, s)) out = zero_restored(out, graph::record_cast(v, type), s);
  if (kw.initial) {
    const opcode combine = is_bool(type) ? (op == reduce_op::sum ? opcode::logical_or : opcode::logical_and)
                                         : (op == reduce_op::sum ? opcode::add : opcode::multiply);
    out = map_of(combine, type, initial_of(function, kw, type, v->device), out);
  }
  return wrap(restore_axes(out, s, kw.keepdims));
}

value least_or_greatest(const char* function, reduce_op op, const value& v, const axis_set& s) {
  if (s.elements == 0) empty_reduction(function, v->shape);
  if (s.count == 0) return v;
  if (is_bool(v->type)) op = op == reduce_op::min ? reduce_op::all : reduce_op::any;
  return reduce_value(op, v->type, v, s);
}

/// What no element of a real dtype is less than (min) or greater than (max).
value least_extreme(reduce_op op, dtype type, runtime::device_id device) {
  if (is_bool(type)) return bool_of(op == reduce_op::min, dims(), device);
  if (!is_integer(type)) return constant_of(op == reduce_op::min ? HUGE_VAL : -HUGE_VAL, type, device);
  const iinfo_t range = iinfo(type);
  const scalar end = op == reduce_op::min ? scalar(range.max) : scalar(range.min);
  return graph::record_scalar(scalar_of(end, type, "min"), type, dims(), device);
}

/// The operand of min and max, which have no order. Of a selection that is not empty, the whole array; waits for that.
value candidates(reduce_op op, const ndarray& x, const char* function) {
  const auto m = masked_to_reduce(x, [](dtype t) { return !is_complex(t); });
  if (!m) return value_of(x, function);
  if (!bool(any(wrap(m->mask)))) empty_reduction(function, dims{0});
  return select_of(m->mask, m->whole, least_extreme(op, m->whole->type, m->whole->device));
}

dims result_shape(const dims& shape, const axis_set& s, bool keepdims) {
  if (keepdims) return s.kept_shape;
  dims kept;
  for (int a = 0; a < shape.size(); ++a)
    if (!s.reduced[static_cast<std::size_t>(a)]) kept.push_back(shape[a]);
  return kept;
}

/// The least or greatest of some elements and of a number.
ndarray extreme_from(const char* function, reduce_op op, const ndarray& x, const reduce_kw& kw) {
  value v = value_of(x, function);
  const axis_set s = find_axes(kw.axis, v->shape, function);
  const value initial = initial_of(function, kw, v->type, v->device);
  if (kw.where) v = select_of(mask_of(function, kw.where, v), v, initial);
  if (s.elements == 0) return full(to_shape(result_shape(v->shape, s, kw.keepdims)), wrap(initial));
  const opcode combine = op == reduce_op::min ? opcode::minimum : opcode::maximum;
  const value out = extreme_of(combine, initial, least_or_greatest(function, op, v, s));
  return wrap(restore_axes(out, s, kw.keepdims));
}

ndarray min_or_max(const char* function, reduce_op op, const ndarray& x, const reduce_kw& kw) {
  refuse_dtype(function, kw);
  if (kw.initial) return extreme_from(function, op, x, kw);
  if (kw.where) fail<value_error>(function, "needs an initial value where `where` may leave nothing");
  const value v = candidates(op, x, function);
  const axis_set s = find_axes(kw.axis, v->shape, function);
  return wrap(restore_axes(least_or_greatest(function, op, v, s), s, kw.keepdims));
}

ndarray arg_reduction(const char* function, reduce_op op, const ndarray& x, const reduce_kw& kw) {
  refuse_dtype(function, kw);
  refuse_initial(function, kw);
  refuse_where(function, kw);
  if (kw.axis.given() && kw.axis.size() != 1)
    fail<value_error>(function, "takes one axis or none, not ", kw.axis.size());
  const value v = value_of(x, function);
  const axis_set s = find_axes(kw.axis, v->shape, function);
  if (s.elements == 0)
    fail<value_error>(function, "attempt to get ", function, " of an empty sequence, shape ", v->shape);
  if (s.count == 0)
    return wrap(graph::record_scalar(scalar_of(0, dtype::i64, function), dtype::i64, v->shape, v->device));
  const value ordered = is_bool(v->type) ? graph::record_cast(v, dtype::u8) : v;
  return wrap(restore_axes(reduce_value(op, dtype::i64, ordered, s), s, kw.keepdims));
}

/// any, all and count of bools.
ndarray truth_reduction(const char* function, reduce_op op, dtype type, const ndarray& x, const reduce_kw& kw) {
  refuse_dtype(function, kw);
  refuse_initial(function, kw);
  value v;
  if (kw.where) {
    v = truth_of(value_of(x, function));
    v = select_of(mask_of(function, kw.where, v), v, bool_of(op == reduce_op::all, dims(), v->device));
  } else if (const auto m = masked_to_reduce(x, [](dtype) { return true; })) {
    v = select_of(m->mask, truth_of(m->whole), bool_of(op == reduce_op::all, dims(), m->whole->device));
  } else {
    v = truth_of(value_of(x, function));
  }
  const axis_set s = find_axes(kw.axis, v->shape, function);
  const value out = s.count == 0 ? graph::record_cast(v, type) : reduce_value(op, type, v, s);
  return wrap(restore_axes(out, s, kw.keepdims));
}

ndarray any_or_all(const char* function, reduce_op op, const ndarray& x, const reduce_kw& kw) {
  return truth_reduction(function, op, dtype::b1, x, kw);
}

/// 16-bit floats are averaged in float32.
dtype wide_enough(dtype t) { return t == dtype::f16 || t == dtype::bf16 ? dtype::f32 : t; }

/// |x - x|^2: the variance of single elements, 0 or, where x is not finite, NaN.
value moment_of_one(const value& v) {
  const value d = map_of(opcode::subtract, v->type, v, v);
  const dtype real = real_of(v->type);
  return map_of(opcode::square, real, is_complex(v->type) ? map_of(opcode::absolute, real, d) : d);
}

/// Mean of some elements; in a floating-point dtype.
value mean_where(const value& v, const value& mask, const axis_set& s) {
  const value total = accumulate(reduce_op::sum, select_of(mask, v, constant_of(0, v->type, v->device)), v->type, s);
  return map_of(opcode::divide, v->type, total, count_of(mask, v->type, s));
}

/// The variance of some elements, about their mean; `v` has the dtype to compute in.
value variance_where(const value& v, const value& mask, const axis_set& s, double ddof) {
  const dtype real = real_of(v->type);
  const value mean = restore_axes(mean_where(v, mask, s), s, true);
  const value d = map_of(opcode::subtract, v->type, v, mean);
  const value size = is_complex(v->type) ? map_of(opcode::absolute, real, d) : d;
  const value squares = select_of(mask, map_of(opcode::square, real, size), constant_of(0, real, v->device));
  const value divisor = map_of(opcode::subtract, real, count_of(mask, real, s), constant_of(ddof, real, v->device));
  return map_of(opcode::divide, real, accumulate(reduce_op::sum, squares, real, s),
                map_of(opcode::maximum, real, divisor, constant_of(0, real, v->device)));
}

/// About a given mean, which broadcasts to v.
value variance_about(const char* function, const ndarray& given, const value& v, const axis_set& s, const var_kw& kw) {
  const dtype real = real_of(v->type);
  const ndarray mean = given.astype(v->type, false);
  require_one_device(function, to_id(mean.device()), v->device);
  const value d = map_of(opcode::subtract, v->type, v, value_of(broadcast_to(mean, to_shape(v->shape))));
  const value size = is_complex(v->type) ? map_of(opcode::absolute, real, d) : d;
  value squares = map_of(opcode::square, real, size);
  value count = constant_of(static_cast<double>(s.elements), real, v->device);
  if (kw.where) {
    const value mask = mask_of(function, kw.where, v);
    squares = select_of(mask, squares, constant_of(0, real, v->device));
    count = count_of(mask, real, s);
  }
  const double ddof = kw.ddof.value_or(kw.correction.value_or(0.0));
  const value divisor = map_of(opcode::subtract, real, count, constant_of(ddof, real, v->device));
  return map_of(opcode::divide, real, accumulate(reduce_op::sum, squares, real, s),
                map_of(opcode::maximum, real, divisor, constant_of(0, real, v->device)));
}

value variance(const char* function, const value& x, const axis_set& s, const var_kw& kw) {
  if (kw.ddof && kw.correction) fail<value_error>(function, "ddof and correction are one keyword; give one of them");
  const dtype type = kw.dtype.value_or(is_inexact(x->type) ? x->type : dtype::f64);
  if (!is_inexact(type)) fail<dtype_error>(function, "dtype ", type, " is not floating point");
  const value v = graph::record_cast(x, wide_enough(type));
  const dtype real = real_of(v->type);
  if (kw.mean) return graph::record_cast(variance_about(function, *kw.mean, v, s, kw), real_of(type));
  if (kw.where)
    return graph::record_cast(
        variance_where(v, mask_of(function, kw.where, v), s, kw.ddof.value_or(kw.correction.value_or(0.0))),
        real_of(type));
  const value moment = s.count == 0 ? moment_of_one(v) : reduce_value(reduce_op::moment2, real, v, s);
  const double ddof = kw.ddof.value_or(kw.correction.value_or(0.0));
  const value divisor = constant_of(std::max(static_cast<double>(s.elements) - ddof, 0.0), real, v->device);
  return graph::record_cast(map_of(opcode::divide, real, moment, divisor), real_of(type));
}

}  // namespace

void detail::axis_twice(const char* function) {
  fail<value_error>(function, "the axis is given in second place and again as a keyword");
}

// The table of reductions has their names and the function above that records each.
#define REDUCTION(...)
#define FUNCTION_REDUCTION(name, function, ...) \
  ndarray name(const ndarray& x, const reduce_kw& kw) { return function(#name, reduce_op::name, x, kw); }
#include "jit/program/reductions.def"

ndarray count_nonzero(const ndarray& x, const reduce_kw& kw) {
  return truth_reduction("count_nonzero", reduce_op::count, dtype::i64, x, kw);
}

ndarray ptp(const ndarray& x, const reduce_kw& kw) {
  refuse_dtype("ptp", kw);
  refuse_initial("ptp", kw);
  refuse_where("ptp", kw);
  const value v = value_of(x, "ptp");
  loop_dtype(loop_rule::no_bool, v->type, "ptp");
  const axis_set s = find_axes(kw.axis, v->shape, "ptp");
  const value range = map_of(opcode::subtract, v->type, least_or_greatest("ptp", reduce_op::max, v, s),
                             least_or_greatest("ptp", reduce_op::min, v, s));
  return wrap(restore_axes(range, s, kw.keepdims));
}

ndarray mean(const ndarray& x, const reduce_kw& kw) {
  const value v = value_of(x, "mean");
  const axis_set s = find_axes(kw.axis, v->shape, "mean");
  const dtype type = kw.dtype.value_or(is_inexact(v->type) ? v->type : dtype::f64);
  refuse_initial("mean", kw);
  if (kw.where) {
    const value mask = mask_of("mean", kw.where, v);
    const dtype loop = is_inexact(type) ? wide_enough(type) : dtype::f64;
    return wrap(
        restore_axes(graph::record_cast(mean_where(graph::record_cast(v, loop), mask, s), type), s, kw.keepdims));
  }
  const value total = accumulate(reduce_op::sum, v, wide_enough(type), s);
  const dtype quotient = is_inexact(type) ? total->type : dtype::f64;
  const value count = constant_of(static_cast<double>(s.elements), quotient, v->device);
  const value out = map_of(opcode::divide, quotient, graph::record_cast(total, quotient), count);
  return wrap(restore_axes(graph::record_cast(out, type), s, kw.keepdims));
}

ndarray var(const ndarray& x, const var_kw& kw) {
  const value v = value_of(x, "var");
  const axis_set s = find_axes(kw.axis, v->shape, "var");
  return wrap(restore_axes(variance("var", v, s, kw), s, kw.keepdims));
}

ndarray std(const ndarray& x, const var_kw& kw) {
  const value v = value_of(x, "std");
  const axis_set s = find_axes(kw.axis, v->shape, "std");
  const value of = variance("std", v, s, kw);
  return wrap(restore_axes(map_of(opcode::sqrt, of->type, of), s, kw.keepdims));
}

}  // namespace sinter::inline v0
