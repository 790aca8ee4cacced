// Scattered writes: put and related functions, and the accumulating scatters.
#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/indexing/index_mode.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "ops/indexing/select.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

ndarray as_array(const operand& x, const graph::array_view& beside) {
  return x.is_array() ? x.array() : full({}, x, {.device = to_public(beside.device())});
}

void require_device(const ndarray& x, const graph::array_view& beside, const char* function) {
  require_one_device(function, beside.device(), view_of(x, function).device());
}

value index_values(const ndarray& x, const graph::array_view& beside, const char* function) {
  require_device(x, beside, function);
  return integers_of(x, function);
}

/// The values of a rank 1 array, repeated cyclically to fill `shape`.
value repeated(const value& values, const dims& shape) {
  const std::int64_t n = core::element_count(shape), count = values->shape[0];
  if (count == 1) return broadcast_value(reshape_value(values, dims()), shape);
  if (count == n) return reshape_value(values, shape);
  value at = graph::record_iota(dims{n}, 0, values->device);
  if (count < n) at = map_of(opcode::remainder, dtype::i64, at, integer_of(count, values->device));
  return reshape_value(graph::record_gather(values, at, 0, dims{n}, graph::payload::gather::in_range), shape);
}

/// x.flat[positions] = values, with int64 positions of rank 1.
void put_flat(const ndarray& x, const value& positions, bool in_range, const value& values, const char* function) {
  const graph::array_view& v = writable(view_of(x, function), function);
  const std::int64_t n = core::element_count(v.shape);
  // Excludes other writers: where the view has gaps, the whole storage is read and written.
  const graph::write_lock mine(*v.store);
  const auto strides = core::reshape_strides(v.shape, v.strides, dims{n});
  const ndarray flat = strides ? view_as(x, dims{n}, *strides, v.offset) : wrap(flattened(graph::read(v)));
  if (n == 0 && positions->shape[0] != 0)
    fail<index_error>(function, "an array without elements has no element to index");
  advanced_index p;
  p.base = ndarray_access::ref(flat);
  p.entries.push_back({positions, false, in_range, 0, 1, 0});
  const ndarray right = wrap(repeated(values, positions->shape));
  write_selection(p, right, function);
  if (!strides) graph::write(v, reshape_value(value_of(flat, function), v.shape));
}

/// Values as the array's dtype, rank 1.
value flat_values(const operand& values, const graph::array_view& v, const char* function) {
  if (!values.is_array())
    return graph::record_scalar(scalar_of(values.number(), v.type, function), v.type, dims{1}, v.device());
  require_device(values.array(), v, function);
  return flattened(graph::record_cast(value_of(values.array(), function), v.type));
}

void accumulate(subarray&& where, const operand& v, accumulation how, const scatter_kw& kw, const char* function,
                ndarray (*combine)(const operand&, const operand&)) {
  if (auto* selected = unread_selection(where))
    return accumulate_selection(selected->what, v, how, kw.deterministic, function);
  // In a view no two positions share an element, so one elementwise operation does it.
  const graph::array_view& view = view_of(where, function);
  if (how != accumulation::add && is_complex(view.type)) fail<dtype_error>(function, "complex numbers have no order");
  if (v.is_array()) require_same_kind(function, "the values", view_of(v.array(), function).type, view.type);
  const ndarray old = where;
  if (v.is_array()) {
    const ndarray right = v.array().astype(view.type, false);
    std::move(where) = combine(operand(old), operand(right));
  } else {
    std::move(where) = combine(operand(old), v);
  }
}

}  // namespace

void put(const ndarray& x, const operand& indices, const operand& values, const mode_kw& kw) {
  const graph::array_view& v = view_of(x, "put");
  const index_mode mode = check_mode(kw.mode, "put");
  const std::int64_t n = core::element_count(v.shape);
  const value positions = bring_into_range(flattened(index_values(as_array(indices, v), v, "put")), n, mode);
  const value right = flat_values(values, v, "put");
  if (right->shape[0] == 0 || positions->shape[0] == 0) return;
  put_flat(x, positions, false, right, "put");
}

void put_along_axis(const ndarray& x, const ndarray& indices, const operand& values, optional_axis axis) {
  const graph::array_view& v = view_of(x, "put_along_axis");
  const value index = index_values(indices, v, "put_along_axis");
  if (!axis) {
    if (index->shape.size() != 1) throw shape_error("[put_along_axis] without an axis the indices have rank 1");
    const value right = broadcast_value(flat_values(values, v, "put_along_axis"), index->shape);
    if (index->shape[0] != 0) put_flat(x, index, false, right, "put_along_axis");
    return;
  }
  const int at = normalize_axis(*axis, v.shape, "put_along_axis");
  const std::string shapes =
      "array with shape " + core::to_string(v.shape) + " and indices with shape " + core::to_string(index->shape);
  if (index->shape.size() != v.shape.size()) fail<shape_error>("put_along_axis", shapes, " have different ranks");
  advanced_index p;
  p.base = ndarray_access::ref(x);
  for (int a = 0; a < v.shape.size(); ++a) {
    if (a == at) {
      p.entries.push_back({index, false, false, a, 1, a});
      continue;
    }
    if (index->shape[a] != 1 && index->shape[a] != v.shape[a] && v.shape[a] != 1)
      fail<shape_error>("put_along_axis", shapes, " do not broadcast along axis ", a);
    dims along(v.shape.size(), 1);
    along[a] = v.shape[a];
    p.entries.push_back({graph::record_iota(along, a, v.device()), false, true, a, 1, a});
  }
  write_selection(p, values, "put_along_axis");
}

void putmask(const ndarray& x, const ndarray& mask, const operand& values) {
  const graph::array_view& v = writable(view_of(x, "putmask"), "putmask");
  require_device(mask, v, "putmask");
  const value flags = truth_of(value_of(mask, "putmask"));
  if (!(flags->shape == v.shape))
    fail<shape_error>("putmask", "a mask of shape ", flags->shape, " for an array of shape ", v.shape);
  const value right = flat_values(values, v, "putmask");
  if (right->shape[0] == 0 || core::element_count(v.shape) == 0) return;
  const graph::write_lock mine(
      *v.store);  // excludes other writers: elements where the mask is false are rewritten as well
  graph::write(v, select_of(flags, repeated(right, v.shape), graph::read(v)));
}

void place(const ndarray& x, const ndarray& mask, const operand& values) {
  const graph::array_view& v = writable(view_of(x, "place"), "place");
  require_device(mask, v, "place");
  const value flags = flattened(truth_of(value_of(mask, "place")));
  if (flags->shape[0] != core::element_count(v.shape))
    fail<shape_error>("place", "a mask of ", flags->shape[0], " elements for an array of shape ", v.shape);
  const value positions = true_positions(flags), right = flat_values(values, v, "place");
  if (positions->shape[0] == 0) return;
  if (right->shape[0] == 0) throw value_error("[place] there are no values to place");
  put_flat(x, positions, true, right, "place");
}

void add_at(subarray&& where, const operand& v, const scatter_kw& kw) {
  accumulate(std::move(where), v, accumulation::add, kw, "add_at", add);
}
void scatter_max(subarray&& where, const operand& v, const scatter_kw& kw) {
  accumulate(std::move(where), v, accumulation::max, kw, "scatter_max", maximum);
}
void scatter_min(subarray&& where, const operand& v, const scatter_kw& kw) {
  accumulate(std::move(where), v, accumulation::min, kw, "scatter_min", minimum);
}

}  // namespace sinter::inline v0
