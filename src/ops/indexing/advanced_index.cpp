// Reading advanced selections: masks become index arrays, index arrays a chain of gathers that fuses with its readers.
#include "ops/indexing/advanced_index.hpp"

#include <algorithm>
#include <cstdint>

#include "core/shape.hpp"
#include "graph/run/mesh_hook.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/deferred_work.hpp"
#include "ops/base/elementwise_values.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/indexing/masked.hpp"
#include "ops/indexing/select.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/reduce.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {

using graph::value;

bool advanced_index::keeps(int axis) const noexcept {
  for (const index_entry& e : entries)
    if (axis >= e.axis && axis < e.axis + e.axes) return false;
  return true;
}

graph::value integer_of(std::int64_t v, runtime::device_id device) {
  return graph::record_scalar(scalar_of(v, dtype::i64, "index"), dtype::i64, dims(), device);
}

void require_index_dtype(dtype type, const char* function) {
  if (!is_integer(type) && !is_bool(type)) fail<dtype_error>(function, "indices must be integers or bools, not ", type);
}

void require_within(const value& index, std::int64_t extent, int reported_axis) {
  const ndarray list = wrap(reshape_value(index, dims{core::element_count(index->shape)}));
  const ndarray bad = logical_or(less(list, -extent), greater_equal(list, extent));
  if (list.size() == 0 || !bool(any(bad))) return;
  fail<index_error>("index", "index ", take(list, argmax(bad)).item<std::int64_t>(), " is out of range for axis ",
                    reported_axis, " with extent ", extent);
}

value unravel_one(const value& position, const dims& shape, int axis) {
  value v = position;
  const std::int64_t stride = core::contiguous_strides(shape)[axis];
  if (stride > 1) v = map_of(opcode::floor_divide, dtype::i64, v, integer_of(stride, v->device));
  if (axis > 0) v = map_of(opcode::remainder, dtype::i64, v, integer_of(shape[axis], v->device));
  return v;
}

value append_unit_axes(const value& v, int rank) {
  dims shape = v->shape;
  while (shape.size() < rank) shape.push_back(1);
  return reshape_value(v, shape);
}

dims kept_extents(const advanced_index& p) {
  dims kept;
  for (int a = 0; a < p.base->shape.size(); ++a)
    if (p.keeps(a)) kept.push_back(p.base->shape[a]);
  return kept;
}

dims selection_shape(const advanced_index& p, const selected_elements& c) {
  dims shape = kept_extents(p);
  for (int a = 0; a < c.shape.size(); ++a) shape.insert(p.selected_at + a, c.shape[a]);
  return shape;
}

namespace {

/// Broadcasts c.shape with `shape`, the shape of another index array; `met` collects these shapes.
void broadcast_together(selected_elements& c, std::vector<dims>& met, const dims& shape) {
  met.push_back(shape);
  if (core::broadcast_into(c.shape, shape)) return;
  std::string shapes;
  for (const dims& one : met) shapes += " " + core::to_string(one);
  fail<index_error>("index", "shape mismatch: index arrays could not be broadcast together with shapes", shapes);
}

/// Adds the number of the mask's true elements as an extent, and their coordinates.
void select_true(const index_entry& e, selected_elements& c, std::vector<dims>& met) {
  const value positions = true_positions(e.values);
  broadcast_together(c, met, positions->shape);
  for (int k = 0; k < e.axes; ++k)
    c.axes.push_back({unravel_one(positions, e.values->shape, k), e.axis + k, e.reported_axis + k, true});
}

/// Whether the selected axes follow each other.
bool are_neighbours(const selected_elements& c) {
  for (std::size_t k = 1; k < c.axes.size(); ++k)
    if (c.axes[k].axis != c.axes[k - 1].axis + 1) return false;
  return !c.axes.empty();
}

/// The positions of the selected elements among those of their axes together, in C order; an index out of range gives one that is.
value places_among(const dims& shape, const selected_elements& c) {
  if (c.axes.size() == 1) return broadcast_value(c.axes[0].index, c.shape);
  const auto number = [&](std::int64_t n) { return integer_of(n, c.axes[0].index->device); };
  value at, bad;
  for (const selected_axis& a : c.axes) {
    const std::int64_t n = shape[a.axis];
    value index = broadcast_value(a.index, c.shape);
    const value negative = map_of(opcode::less, dtype::b1, index, number(0));
    const value wrong = map_of(opcode::logical_or, dtype::b1, map_of(opcode::less, dtype::b1, index, number(-n)),
                               map_of(opcode::greater_equal, dtype::b1, index, number(n)));
    bad = bad ? map_of(opcode::logical_or, dtype::b1, bad, wrong) : wrong;
    index = select_of(negative, map_of(opcode::add, dtype::i64, index, number(n)), index);
    at = at ? map_of(opcode::add, dtype::i64, map_of(opcode::multiply, dtype::i64, at, number(n)), index) : index;
  }
  return select_of(bad, broadcast_value(number(INT64_MAX), c.shape), at);
}

/// What gather_all gives, of one list along one axis: devices of a mesh see which rows each of them asks for.
value gather_list(const value& v, const selected_elements& c) {
  const int first = c.axes[0].axis, last = c.axes.back().axis;
  const std::int64_t count = core::element_count(c.shape);
  dims source, along, gathered;
  for (int a = 0; a < v->shape.size(); ++a) {
    if (a > first && a <= last) continue;
    source.push_back(v->shape[a]);
    along.push_back(a == first ? count : 1);
    gathered.push_back(a == first ? count : v->shape[a]);
  }
  for (int a = first + 1; a <= last; ++a) source[first] *= v->shape[a];
  const bool in_range = std::all_of(c.axes.begin(), c.axes.end(), [](const selected_axis& a) { return a.in_range; });
  const value rows =
      graph::record_gather(reshape_value(v, source), reshape_value(places_among(v->shape, c), along), first, gathered,
                           in_range ? graph::payload::gather::in_range : c.axes[0].reported_axis);
  const dims dense = core::contiguous_strides(gathered), of_list = core::contiguous_strides(c.shape);
  dims shape = c.shape, strides;
  for (int k = 0; k < c.shape.size(); ++k) strides.push_back(of_list[k] * dense[first]);
  for (int a = 0; a < v->shape.size(); ++a) {
    const bool chosen = a >= first && a <= last;
    shape.push_back(chosen ? 1 : v->shape[a]);
    strides.push_back(chosen ? 0 : dense[a < first ? a : a - (last - first)]);
  }
  return graph::record_view(rows, shape, strides, 0);
}

/// A value of shape I + v.shape, where I is the shape of the index arrays: gathered axis by axis; each gathered axis is
/// left with extent 1.
value gather_all(value v, const selected_elements& c) {
  if (graph::is_on_mesh(v->device) && are_neighbours(c)) return gather_list(v, c);
  const int selected = c.shape.size(), rank = selected + v->shape.size();
  dims shape = c.shape;
  for (const std::int64_t n : v->shape) shape.push_back(n);
  v = broadcast_value(v, shape);
  for (const selected_axis& a : c.axes) {
    value index = a.index;
    dims wide(selected, 1);
    for (int k = 0; k < index->shape.size(); ++k) wide[selected - index->shape.size() + k] = index->shape[k];
    index = append_unit_axes(reshape_value(index, wide), rank);
    shape[selected + a.axis] = 1;
    const int reported = a.in_range ? graph::payload::gather::in_range : a.reported_axis;
    v = graph::record_gather(v, index, selected + a.axis, shape, reported);
  }
  return v;
}

/// Merges the axes under a multi-axis mask of a value in memory, so that true positions need not be split into
/// coordinates.
void merge_mask_axes(advanced_index& p, value& v) {
  if (!v->is_leaf()) return;
  for (index_entry& e : p.entries) {
    if (!e.mask || e.axes < 2) continue;
    dims shape;
    const std::int64_t count = core::element_count(e.values->shape);
    for (int a = 0; a < v->shape.size(); ++a) {
      if (a == e.axis) shape.push_back(count);
      if (a < e.axis || a >= e.axis + e.axes) shape.push_back(v->shape[a]);
    }
    v = reshape_value(v, shape);
    p.base = graph::make_array(v);
    e.values = reshape_value(e.values, dims{count});
    for (index_entry& o : p.entries)
      if (o.axis > e.axis) o.axis -= e.axes - 1;
    e.axes = 1;
  }
}

bool is_whole_mask(const advanced_index& p) {
  return p.entries.size() == 1 && p.entries[0].mask && p.entries[0].axes > 0 &&
         p.entries[0].axes == p.base->shape.size();
}

void check_not_empty(const advanced_index& p, const selected_elements& c) {
  if (core::element_count(selection_shape(p, c)) == 0 && core::element_count(c.shape) == 0) return;
  for (const selected_axis& a : c.axes)
    if (p.base->shape[a.axis] == 0)
      fail<index_error>("index", "axis ", a.reported_axis, " with extent 0 has no element to index");
}

void check_unread(const advanced_index& p, const selected_elements& c) {
  if (core::element_count(c.shape) == 0 || core::element_count(selection_shape(p, c)) != 0) return;
  for (const selected_axis& a : c.axes)
    if (!a.in_range) require_within(a.index, p.base->shape[a.axis], a.reported_axis);
}

}  // namespace

selected_elements select_elements(const advanced_index& p) {
  selected_elements c;
  std::vector<dims> met;
  for (const index_entry& e : p.entries) {
    if (e.mask) {
      select_true(e, c, met);
      continue;
    }
    broadcast_together(c, met, e.values->shape);
    c.axes.push_back({e.values, e.axis, e.reported_axis, e.in_range});
    if (core::element_count(e.values->shape) > 1) c.unique = false;
  }
  core::checked_count(selection_shape(p, c), "index");
  check_not_empty(p, c);
  check_unread(p, c);
  return c;
}

namespace {

/// Announced as "read_selection" with the array and an int64 index array for each indexed axis; numbers: the position of
/// the selected axes in the result, then for each index array its axis, the axis reported in errors, and whether it is
/// known to be in range.
std::optional<value> announced(const advanced_index& p, const value& v, const selected_elements& c) {
  if (!is_intercepting() || c.axes.empty()) [[likely]]
    return {};
  opaque_call call{"read_selection", {wrap(v)}, {p.selected_at}, {}, {}, true};
  for (const selected_axis& a : c.axes) {
    call.operands.push_back(wrap(a.index));
    call.numbers.insert(call.numbers.end(), {a.axis, a.reported_axis, a.in_range});
  }
  call.again = [numbers = call.numbers](std::span<const ndarray> a) {
    advanced_index q;
    q.base = ndarray_access::ref(a[0]);
    q.source = value_of(a[0]);
    q.selected_at = static_cast<int>(numbers[0]);
    for (std::size_t k = 1, n = 1; k < a.size(); ++k, n += 3)
      q.entries.push_back({value_of(a[k]), false, numbers[n + 2] != 0, static_cast<int>(numbers[n]), 1,
                           static_cast<int>(numbers[n + 1])});
    return results_of(wrap(read_selection(q)));
  };
  if (const auto found = run_intercepted(call)) return value_of((*found)[0]);
  return {};
}

}  // namespace

value read_selection(const advanced_index& selection) {
  if (is_whole_mask(selection)) return true_elements(selection.source, selection.entries[0].values);
  advanced_index p;
  p.base = selection.base;
  p.entries = selection.entries;
  p.selected_at = selection.selected_at;
  value v = selection.source;
  merge_mask_axes(p, v);
  const selected_elements c = select_elements(p);
  if (auto found = announced(p, v, c)) return *found;
  const dims shape = selection_shape(p, c);
  v = gather_all(v, c);
  // Moves the selected axes to their place and drops the gathered axes of extent 1.
  const dims along = core::contiguous_strides(v->shape);
  dims strides;
  for (int a = 0; a < p.base->shape.size(); ++a)
    if (p.keeps(a)) strides.push_back(along[c.shape.size() + a]);
  for (int a = 0; a < c.shape.size(); ++a) strides.insert(p.selected_at + a, along[a]);
  return graph::record_view(v, shape, strides, 0);
}

subarray make_selection(advanced_index p) {
  auto view = std::make_shared<selection_view>();
  view->what = std::move(p);
  view->deferred.store(true, std::memory_order_relaxed);
  view->capture = runtime::this_thread().capture;
  if (graph::is_capturing()) [[unlikely]]
    graph::note_deferred(view);
  // Errors that do not depend on data are thrown at once.
  selected_elements c;
  std::vector<dims> met;
  for (const index_entry& e : view->what.entries)
    if (!e.mask) {
      broadcast_together(c, met, e.values->shape);
      c.axes.push_back({e.values, e.axis, e.reported_axis, e.in_range});
    }
  if (!c.axes.empty()) check_not_empty(view->what, c);
  return ndarray_access::make_sub(std::move(view));
}

selection_view* unread_selection(const ndarray& a) noexcept {
  const graph::view_ref& v = ndarray_access::unresolved(a);
  if (!v || !v->deferred.load(std::memory_order_acquire)) return nullptr;
  auto* s = const_cast<selection_view*>(static_cast<const selection_view*>(v.get()));
  return s->what.base ? s : nullptr;
}

namespace {

/// Deferred work is a selection that has neither base nor elements.
struct deferred_view : selection_view {
  std::shared_ptr<deferred_work> work;
};
bool is_work(const selection_view& v) noexcept { return !v.what.base && !v.elements; }

graph::value elements_of(selection_view& v) {
  if (v.elements) return v.elements->compacted();
  if (v.what.base) return read_selection(v.what);
  auto& work = static_cast<deferred_view&>(v).work;
  graph::value result = work->compute();
  work.reset();
  return result;
}

}  // namespace

ndarray defer(std::shared_ptr<deferred_work> work) {
  auto view = std::make_shared<deferred_view>();
  view->work = std::move(work);
  view->deferred.store(true, std::memory_order_relaxed);
  view->capture = runtime::this_thread().capture;
  return ndarray_access::make(std::move(view));
}

std::shared_ptr<deferred_work> deferred_work_of(const ndarray& a) {
  const graph::view_ref& v = ndarray_access::unresolved(a);
  if (!v || !v->deferred.load(std::memory_order_acquire)) return {};
  auto& selection = const_cast<selection_view&>(static_cast<const selection_view&>(*v));
  const std::lock_guard lock(selection.once);
  const bool unread = selection.deferred.load(std::memory_order_relaxed) && is_work(selection);
  return unread && selection.capture == runtime::this_thread().capture ? static_cast<deferred_view&>(selection).work
                                                                       : nullptr;
}

void resolve(const graph::array_view& v) {
  auto& picked = const_cast<selection_view&>(static_cast<const selection_view&>(v));
  const std::lock_guard lock(picked.once);
  if (!picked.deferred.load(std::memory_order_relaxed)) return;
  // A selection made before a capture is evaluated outside of it.
  const graph::outside_capture now(picked.capture != runtime::this_thread().capture);
  const graph::view_ref read = graph::make_array(elements_of(picked));
  picked.store = read->store;
  picked.shape = read->shape;
  picked.strides = read->strides;
  picked.type = read->type;
  picked.whole = true;
  picked.what = {};
  picked.elements.reset();
  picked.deferred.store(false, std::memory_order_release);
}

}  // namespace sinter::ops
