// Joining, repeating and shifting: functions that return new arrays.
#include <algorithm>
#include <string>
#include <utility>

#include "core/shape.hpp"
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/elementwise_values.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/base/unset_array.hpp"
#include "sinter/creation.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"
#include "sinter/search.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

void require_arrays(const std::vector<ndarray>& arrays, const char* function) {
  if (arrays.empty()) fail<value_error>(function, "needs at least one array");
  for (const ndarray& a : arrays) view_of(a, function);
}

runtime::device_id device_of(const std::vector<ndarray>& arrays, const char* function) {
  for (const ndarray& a : arrays) common_device(arrays[0], a, function);
  return view_of(arrays[0], function).device();
}

/// The shape of the join, checked against the first array's.
dims joined_shape(const std::vector<ndarray>& arrays, int axis, const char* function) {
  dims shape = view_of(arrays[0], function).shape;
  for (std::size_t i = 1; i < arrays.size(); ++i) {
    const dims& next = view_of(arrays[i], function).shape;
    bool fit = next.size() == shape.size();
    for (int a = 0; fit && a < shape.size(); ++a) fit = a == axis || next[a] == shape[a];
    if (!fit)
      fail<shape_error>(function, "array 0 with shape ", view_of(arrays[0], function).shape, " and array ", i,
                        " with shape ", next, " differ outside axis ", axis);
    if (__builtin_add_overflow(shape[axis], next[axis], &shape[axis])) shape[axis] = core::most_elements + 1;
  }
  core::checked_count(shape, function);
  return shape;
}

/// The parts one after the other along an axis of `out`, an array in memory: they may be so many that some are evaluated first.
ndarray written_parts(const std::vector<ndarray>& arrays, const ndarray& out, int axis, const char* function) {
  const dtype type = out.dtype();
  std::int64_t at = 0;
  for (const ndarray& x : arrays) {
    const value part = graph::record_cast(value_of(x, function), type);
    const std::int64_t extent = part->shape[axis];
    if (part->size() != 0) graph::write(*ndarray_access::ref(slice_of(out, axis, at, at + extent)), part);
    at += extent;
  }
  return out;
}

/// The same of a value that is not in memory: what the writes would record.
ndarray recorded_parts(const std::vector<ndarray>& arrays, value out, int axis, const char* function) {
  const dims strides = core::contiguous_strides(out->shape);
  std::int64_t at = 0;
  for (const ndarray& x : arrays) {
    const value part = graph::record_cast(value_of(x, function), out->type);
    if (part->size() != 0) out = graph::record_update(out, strides, at * strides[axis], part);
    at += part->shape[axis];
  }
  return wrap(std::move(out));
}

ndarray join(const std::vector<ndarray>& arrays, std::int64_t axis, const char* function) {
  const dims& first = view_of(arrays[0], function).shape;
  if (first.empty()) fail<shape_error>(function, "arrays of rank 0 cannot be joined");
  const int a = normalize_axis(axis, first, function);
  const dims shape = joined_shape(arrays, a, function);
  const dtype type = promoted_dtype(arrays, function);
  if (arrays.size() == 1) return wrap(value_of(arrays[0], function));
  const runtime::device_id device = device_of(arrays, function);
  const value out = unset_value(shape, type, device, arrays.size());
  return out->is_leaf() ? written_parts(arrays, wrap(out), a, function) : recorded_parts(arrays, out, a, function);
}

template <class F>
std::vector<ndarray> each(const std::vector<ndarray>& arrays, F&& f) {
  std::vector<ndarray> out;
  for (const ndarray& a : arrays) out.push_back(f(a));
  return out;
}

/// expand_dims(x, place) of an array that the stack has been checked for.
value layer_of(const ndarray& x, int place) {
  const graph::array_view& v = view_of(x, "stack");
  dims extents = v.shape;
  extents.insert(place, 1);
  if (v.whole) return reshape_value(graph::read(v), extents);
  dims strides = v.strides;
  strides.insert(place, 0);
  return value_of(view_as(x, std::move(extents), std::move(strides), v.offset), "stack");
}

/// Rolls along one axis by reading at coordinate - shift, where a negative index counts from the end.
value roll_axis(const value& v, std::int64_t shift, int axis) {
  const std::int64_t n = v->shape[axis];
  const std::int64_t by = n == 0 ? 0 : (shift % n + n) % n;
  if (by == 0) return v;
  if (v->device.kind == runtime::device_kind::mesh) {  // two blocks, of which the parts exchange what crosses them
    value out = graph::record_unset(v->type, v->shape, v->device);
    const dims strides = core::contiguous_strides(v->shape);
    const auto move = [&](std::int64_t first, std::int64_t count, std::int64_t to) {
      dims shape = v->shape;
      shape[axis] = count;
      const value part = graph::record_view(v, shape, strides, first * strides[axis]);
      out = graph::record_update(out, strides, to * strides[axis], part);
    };
    move(n - by, by, 0);
    move(0, n - by, by);
    return out;
  }
  return graph::record_roll(v, by, axis);
}

/// The same, announced with the axis and the distance, which is less than the extent.
value rolled(const value& v, std::int64_t shift, int axis) {
  if (is_intercepting() && shift != 0) {
    const ndarray one = wrap(v);
    if (auto r = intercept_recorded("roll", {&one}, {axis, shift}, [axis, shift](std::span<const ndarray> o) {
          return results_of(wrap(roll_axis(value_of(o[0]), shift, axis)));
        }))
      return value_of((*r)[0]);
  }
  return roll_axis(v, shift, axis);
}

/// Repeats elements along a new axis after `axis` (or before it), then merges the two.
value repeat_axis(const value& v, std::int64_t times, int axis, bool whole, const char* function) {
  dims expanded = v->shape, strides = core::contiguous_strides(v->shape), merged = v->shape;
  const int place = whole ? axis : axis + 1;
  expanded.insert(place, times);
  strides.insert(place, 0);
  if (v->shape[axis] == 0) return v;  // no elements, whatever the number of repetitions
  core::checked_count(expanded, function);
  merged[axis] *= times;
  return reshape_value(graph::record_view(v, expanded, strides, 0), merged);
}

void require_repeats(std::int64_t n, const char* function) {
  if (n < 0) fail<value_error>(function, "cannot repeat ", n, " times");
}

/// Throws where a count is negative or the counts add up to about so many.
void check_total(std::int64_t least, double about) {
  require_repeats(least, "repeat");
  if (about >= 0x1p62) fail<shape_error>("repeat", "the counts add up to ", about, " elements");
}

/// Repeats element k along the axis counts[k] times. Element j of the result comes from the first k whose inclusive
/// cumulative count exceeds j.
value repeat_by_counts(const value& v, const ndarray& counts, int axis) {
  dims shape = v->shape;
  if (shape[axis] == 0) return v;
  const ndarray each = counts.astype(int64, false);
  if (is_intercepting()) {  // announced with the axis
    const ndarray x = wrap(v);
    if (auto r = intercept("repeat", {&x, &each}, {axis}, [axis](std::span<const ndarray> a) {
          return results_of(wrap(repeat_by_counts(value_of(a[0]), a[1], axis)));
        }))
      return value_of((*r)[0]);
  }
  if (repeats_pieces(v)) {
    const repetitions r = counted_repetitions(value_of(each, "repeat"));
    check_total(r.total.least, r.total.about);
    shape[axis] = r.total.exact;
    core::checked_count(shape, "repeat");
    return repeated(v, r, axis);
  }
  const ndarray ends = cumsum(each);
  const ndarray least = min(each), total = ends(-1), roughly = sum(each, {.dtype = float64});
  eval(least, total, roughly);
  check_total(least.item<std::int64_t>(), roughly.item<double>());
  shape[axis] = total.item<std::int64_t>();
  core::checked_count(shape, "repeat");
  const value place = graph::record_iota(dims{shape[axis]}, 0, v->device);
  const value from = value_of(searchsorted(ends, wrap(place), {.side = "right"}), "repeat");
  dims along(shape.size(), 1);
  along[axis] = shape[axis];
  return graph::record_gather(v, reshape_value(from, along), axis, shape, graph::payload::gather::in_range);
}

}  // namespace

ndarray roll(const ndarray& x, std::int64_t shift) {
  const value v = value_of(x, "roll");
  const std::int64_t by = shift % std::max<std::int64_t>(v->size(), 1);
  return wrap(reshape_value(rolled(flattened(v), by, 0), v->shape));
}

ndarray roll(const ndarray& x, std::int64_t shift, const some_axes_kw& kw) {
  const axes& axis = kw.axis;
  if (!axis.given()) return roll(x, shift);
  if (axis.size() == 1) {  // without lists: each step of many loops rolls
    const value v = value_of(x, "roll");
    const int a = normalize_axis(*axis.begin(), v->shape, "roll");
    return wrap(rolled(v, shift % std::max<std::int64_t>(v->shape[a], 1), a));
  }
  return roll(x, std::vector<std::int64_t>(static_cast<std::size_t>(axis.size()), shift), axis);
}

ndarray roll(const ndarray& x, const std::vector<std::int64_t>& shifts, const some_axes_kw& kw) {
  const axes& axis = kw.axis;
  value v = value_of(x, "roll");
  if (shifts.size() != static_cast<std::size_t>(axis.size()))
    fail<value_error>("roll", shifts.size(), " shifts for ", axis.size(), " axes of shape ", v->shape);
  dims total(v->shape.size(), 0);
  std::size_t i = 0;
  for (const std::int64_t named : axis) {
    const int a = normalize_axis(named, v->shape, "roll");
    const std::int64_t n = std::max<std::int64_t>(v->shape[a], 1);
    total[a] = (total[a] + shifts[i++] % n) % n;
  }
  for (int a = 0; a < total.size(); ++a) v = rolled(v, total[a], a);
  return wrap(v);
}

ndarray concatenate(const std::vector<ndarray>& arrays, optional_axis axis) {
  require_arrays(arrays, "concatenate");
  return axis ? join(arrays, *axis, "concatenate")
              : join(each(arrays, [](const ndarray& x) { return ravel(x); }), 0, "concatenate");
}

ndarray stack(const std::vector<ndarray>& arrays, std::int64_t axis) {
  require_arrays(arrays, "stack");
  const dims& shape = view_of(arrays[0], "stack").shape;
  for (const ndarray& a : arrays)
    if (!(view_of(a, "stack").shape == shape))
      fail<shape_error>("stack", "shapes ", shape, " and ", view_of(a, "stack").shape, " differ");
  const int place = distinct_axes(axes(axis), shape.size() + 1, "stack")[0];
  dims all = shape;
  all.insert(place, static_cast<std::int64_t>(arrays.size()));
  core::checked_count(all, "stack");
  const dtype type = promoted_dtype(arrays, "stack");
  value out = unset_value(all, type, device_of(arrays, "stack"), arrays.size());
  if (out->is_leaf()) {
    const auto layer = [place](const ndarray& x) { return wrap(layer_of(x, place)); };
    return written_parts(each(arrays, layer), wrap(std::move(out)), place, "stack");
  }
  if (arrays.size() == 1) return wrap(layer_of(arrays[0], place));
  const dims strides = core::contiguous_strides(all);
  for (std::size_t k = 0; k < arrays.size() && out->size() != 0; ++k) {
    const std::int64_t first = static_cast<std::int64_t>(k) * strides[place];
    out = graph::record_update(out, strides, first, graph::record_cast(layer_of(arrays[k], place), type));
  }
  return wrap(std::move(out));
}

ndarray vstack(const std::vector<ndarray>& arrays) {
  require_arrays(arrays, "vstack");
  return join(each(arrays, atleast_2d), 0, "vstack");
}

ndarray hstack(const std::vector<ndarray>& arrays) {
  require_arrays(arrays, "hstack");
  const auto parts = each(arrays, atleast_1d);
  return join(parts, parts[0].ndim() == 1 ? 0 : 1, "hstack");
}

ndarray dstack(const std::vector<ndarray>& arrays) {
  require_arrays(arrays, "dstack");
  return join(each(arrays, atleast_3d), 2, "dstack");
}

ndarray column_stack(const std::vector<ndarray>& arrays) {
  require_arrays(arrays, "column_stack");
  const auto column = [](const ndarray& a) { return a.ndim() < 2 ? transpose(atleast_2d(a)) : a; };
  return join(each(arrays, column), 1, "column_stack");
}

ndarray tile(const ndarray& x, const shape_t& repetitions) {
  value v = value_of(x, "tile");
  dims times = to_dims(repetitions), shape = v->shape;
  for (const std::int64_t n : times) require_repeats(n, "tile");
  while (shape.size() < times.size()) shape.insert(0, 1);
  while (times.size() < shape.size()) times.insert(0, 1);
  core::checked_count(shape, "tile");
  v = reshape_value(v, shape);
  for (int a = 0; a < shape.size(); ++a)
    if (times[a] != 1) v = repeat_axis(v, times[a], a, true, "tile");
  return wrap(v);
}

ndarray repeat(const ndarray& x, std::int64_t repeats, optional_axis axis) {
  value v = value_of(x, "repeat");
  require_repeats(repeats, "repeat");
  if (!axis || v->shape.empty()) v = flattened(v);  // NumPy treats rank 0 as rank 1
  const int a = axis ? normalize_axis(*axis, v->shape, "repeat") : 0;
  return wrap(repeat_axis(v, repeats, a, false, "repeat"));
}

ndarray repeat(const ndarray& x, const ndarray& counts, optional_axis axis) {
  common_device(x, counts, "repeat");
  const graph::array_view& given = view_of(counts, "repeat");
  if (!can_cast(given.type, dtype::i64, casting::safe))
    fail<dtype_error>("repeat", "cannot cast counts from ", given.type, " to int64 (casting rule safe)");
  if (given.shape.size() > 1) fail<shape_error>("repeat", "counts must have at most one axis, not shape ", given.shape);
  if (core::element_count(given.shape) == 1) return repeat(x, counts.item<std::int64_t>(), axis);
  value v = value_of(x, "repeat");
  const dims shape = v->shape;
  if (!axis) v = flattened(v);
  const int a = axis ? normalize_axis(*axis, shape, "repeat") : 0;
  if (given.shape[0] != v->shape[a])
    fail<shape_error>("repeat", given.shape[0], " counts for the ", v->shape[a], " elements along ",
                      (axis ? "axis " + std::to_string(a) + " of" : "the flattened"), " shape ", shape);
  return wrap(repeat_by_counts(v, counts, a));
}

ndarray repeat(const ndarray& x, const std::vector<std::int64_t>& counts, optional_axis axis) {
  return repeat(x, array(counts, {.device = x.device()}), axis);
}

namespace {

/// The array that diff prepends or appends, of x's shape except along the axis (a number: one element there).
ndarray padding_of(const operand& p, const ndarray& x, int axis) {
  const dims& shape = view_of(x, "diff").shape;
  if (p.is_array() && view_of(p.array(), "diff").shape.size() != 0) return p.array();
  dims one = shape;
  one[axis] = 1;
  if (p.is_array()) return broadcast_to(p.array(), to_shape(one));
  const operand subject(x);
  return wrap(to_value(p, result_type_of({&subject, &p}, "diff"), one, view_of(x, "diff").device(), "diff"));
}

}  // namespace

ndarray diff(const ndarray& x, const diff_kw& kw) {
  const dims& shape = view_of(x, "diff").shape;
  if (kw.n == 0) return x;
  if (kw.n < 0) fail<value_error>("diff", "order must be 0 or more, not ", kw.n);
  if (shape.empty()) throw shape_error("[diff] needs an array with at least one axis, not shape ()");
  const int axis = normalize_axis(kw.axis, shape, "diff");
  std::vector<ndarray> parts;
  if (kw.prepend) parts.push_back(padding_of(*kw.prepend, x, axis));
  parts.push_back(x);
  if (kw.append) parts.push_back(padding_of(*kw.append, x, axis));
  ndarray out = parts.size() == 1 ? x : join(parts, axis, "diff");
  // At most extent-many steps: after those the result is empty and stays so.
  for (std::int64_t left = std::min(kw.n, std::max<std::int64_t>(out.shape(axis), 1)); left > 0; --left) {
    const std::int64_t n = out.shape(axis);
    const ndarray upper = slice_of(out, axis, std::min<std::int64_t>(1, n), n);
    const ndarray lower = slice_of(out, axis, 0, std::max<std::int64_t>(n - 1, 0));
    out = is_bool(out.dtype()) ? not_equal(upper, lower) : subtract(upper, lower);
  }
  return out;
}

}  // namespace sinter::inline v0
