// The scans of NumPy and the array API, on top of the device-wide algorithm.
#include "sinter/scan.hpp"

#include "ops/base/algorithm_calls.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/elementwise_out.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;
using runtime::scan_op;

namespace {

/// The value to scan, and the axis.
struct subject {
  value v;
  int axis = 0;
};

subject subject_of(const ndarray& x, optional_axis axis, const char* function) {
  value v = value_of(x, function);
  const bool of_number = v->shape.empty() && axis && (*axis == 0 || *axis == -1);
  if (!axis || of_number) return {reshape_value(v, dims{v->size()}), 0};
  const int a = normalize_axis(*axis, v->shape, function);
  return {std::move(v), a};
}

void refuse_initial(const scan_kw& kw, const char* function) {
  if (kw.include_initial) fail<value_error>(function, "takes no include_initial keyword; cumulative_sum does");
}

const char* name_of(scan_op op) {
  switch (op) {
    case scan_op::sum: return "cumsum";
    case scan_op::prod: return "cumprod";
    case scan_op::max: return "cummax";
    case scan_op::min: return "cummin";
    default: return "logcumsumexp";
  }
}

ndarray whole_scan(scan_op op, const subject& s, dtype type);

/// Announced with the axis; the operand has the dtype of the scan.
std::optional<std::vector<ndarray>> announced(scan_op op, const subject& s, dtype type) {
  if (!is_intercepting()) [[likely]]
    return {};
  const ndarray x = wrap(graph::record_cast(s.v, type));
  const int axis = s.axis;
  return intercept(name_of(op), {&x}, {axis}, [=](std::span<const ndarray> a) {
    return results_of(whole_scan(op, {value_of(a[0]), axis}, a[0].dtype()));
  });
}

/// Scans in `type`; bools as bytes, whose running sum is a maximum and whose running product is a minimum.
ndarray scan_as(scan_op op, subject s, dtype type) {
  s.v = graph::record_cast(s.v, type);
  if (!is_bool(type)) return wrap(scanned(op, s.v, s.axis));
  if (op == scan_op::sum) op = scan_op::max;
  if (op == scan_op::prod) op = scan_op::min;
  return wrap(graph::record_cast(scanned(op, graph::record_cast(s.v, dtype::u8), s.axis), dtype::b1));
}

/// Whether a running product may contain a NaN, which would then also be at its end: on the CPU the result is ready and
/// can be inspected; a GPU is not waited for, so the answer is yes.
bool may_have_lost_zeros(const ndarray& products, int axis) {
  const std::int64_t n = products.shape(axis);
  if (n == 0 || products.device().kind != device_kind::cpu || graph::is_capturing()) return n != 0;
  return bool(any(isnan(slice_of(products, axis, n - 1, n))));
}

bool may_lose_zeros(scan_op op, dtype type, const value& v) {
  return op == scan_op::prod && is_inexact(type) && !keeps_zeros(type, v);
}

ndarray whole_scan(scan_op op, const subject& s, dtype type) {
  if (auto r = announced(op, s, type)) return (*r)[0];
  ndarray out = scan_as(op, s, type);
  if (may_lose_zeros(op, type, s.v) && may_have_lost_zeros(out, s.axis)) {  // see reduce.cpp
    const value factors = zero_and_sign_of(graph::record_cast(s.v, type));
    out = wrap(zero_where_lost(value_of(out), scanned(op, factors, s.axis)));
  }
  return out;
}

/// Whether a scan in `type` may write straight into the caller's array: it has the result's elements in C order, in memory that
/// the operand does not read, and needs no second look.
bool takes_scan(const graph::array_view& to, const value& v, scan_op op, dtype type) {
  return to.type == type && to.shape == v->shape && !is_bool(type) && !may_lose_zeros(op, type, v) && !to.whole &&
         graph::in_c_order(to) && to.device() == v->device && !is_within_interceptor() && !graph::is_capturing();
}

/// The result of a scan in `type`, in the caller's array if there is one. A whole array takes the result's memory as it is.
ndarray delivered(scan_op op, const subject& s, dtype type, const scan_kw& kw, const char* function) {
  if (!kw.out) return whole_scan(op, s, type);
  const ndarray& out = *kw.out;
  const graph::array_view& to = writable(view_of(out, function), function);
  const value v = graph::record_cast(s.v, type);
  if (takes_scan(to, v, op, type) && scanned_into(op, v, s.axis, to)) return out;
  return detail::into(whole_scan(op, s, type), {.out = out}, function);
}

ndarray sum_or_prod(scan_op op, subject s, const scan_kw& kw, const char* function) {
  const dtype type = kw.dtype.value_or(accumulator_of(s.v->type));
  if (!kw.include_initial) return delivered(op, s, type, kw, function);
  const ndarray out = whole_scan(op, s, type);
  dims shape = s.v->shape;
  shape[s.axis] = 1;
  const int identity = op == scan_op::prod ? 1 : 0;
  const ndarray all =
      concatenate({full(to_shape(shape), identity, {.dtype = type, .device = out.device()}), out}, s.axis);
  return kw.out ? detail::into(all, {.out = *kw.out}, function) : all;
}

/// The array API's scans, where the axis may be omitted for one-dimensional arrays only.
ndarray cumulative(scan_op op, const ndarray& x, const scan_kw& kw, const char* function) {
  if (!kw.axis && view_of(x, function).shape.size() > 1)
    fail<value_error>(function, "needs an axis for an array of shape ", view_of(x, function).shape);
  return sum_or_prod(op, subject_of(x, kw.axis, function), kw, function);
}

ndarray accumulated(scan_op op, const ndarray& x, const scan_kw& kw, const char* function) {
  refuse_initial(kw, function);
  return sum_or_prod(op, subject_of(x, kw.axis, function), kw, function);
}

/// Replaces NaN before the cast to a dtype.
ndarray without_nan(scan_op op, double instead, const ndarray& x, const scan_kw& kw, const char* function) {
  refuse_initial(kw, function);
  subject s = subject_of(x, kw.axis, function);
  if (is_inexact(s.v->type))
    s.v = select_of(map_of(opcode::isnan, dtype::b1, s.v), constant_of(instead, s.v->type, s.v->device), s.v);
  return sum_or_prod(op, std::move(s), kw, function);
}

ndarray extreme(scan_op op, const ndarray& x, const scan_kw& kw, const char* function) {
  refuse_initial(kw, function);
  if (kw.dtype) fail<value_error>(function, "takes no dtype keyword");
  subject s = subject_of(x, kw.axis, function);
  const dtype type = s.v->type;
  return delivered(op, s, type, kw, function);
}

}  // namespace

ndarray cumulative_sum(const ndarray& x, const scan_kw& kw) {
  return cumulative(scan_op::sum, x, kw, "cumulative_sum");
}
ndarray cumulative_prod(const ndarray& x, const scan_kw& kw) {
  return cumulative(scan_op::prod, x, kw, "cumulative_prod");
}
ndarray cumsum(const ndarray& x, const scan_kw& kw) { return accumulated(scan_op::sum, x, kw, "cumsum"); }
ndarray cumprod(const ndarray& x, const scan_kw& kw) { return accumulated(scan_op::prod, x, kw, "cumprod"); }
ndarray nancumsum(const ndarray& x, const scan_kw& kw) { return without_nan(scan_op::sum, 0, x, kw, "nancumsum"); }
ndarray nancumprod(const ndarray& x, const scan_kw& kw) { return without_nan(scan_op::prod, 1, x, kw, "nancumprod"); }
ndarray cummax(const ndarray& x, const scan_kw& kw) { return extreme(scan_op::max, x, kw, "cummax"); }
ndarray cummin(const ndarray& x, const scan_kw& kw) { return extreme(scan_op::min, x, kw, "cummin"); }

ndarray logcumsumexp(const ndarray& x, const scan_kw& kw) {
  refuse_initial(kw, "logcumsumexp");
  subject s = subject_of(x, kw.axis, "logcumsumexp");
  const dtype type = kw.dtype.value_or(loop_dtype(loop_rule::real_floating, s.v->type, "logcumsumexp"));
  if (!is_inexact(type) || is_complex(type))
    fail<dtype_error>("logcumsumexp", "dtype ", type, " is not real floating point");
  return delivered(scan_op::logaddexp, s, type, kw, "logcumsumexp");
}

}  // namespace sinter::inline v0
