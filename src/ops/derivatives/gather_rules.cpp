#include "ops/derivatives/gather_rules.hpp"

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/indexing/advanced_index.hpp"
#include "sinter/creation.hpp"

namespace sinter::ops::derivatives {
namespace {

/// So many indices along the axis are compared with the coordinate.
constexpr std::int64_t few = 3;

value slice_along(const value& v, int axis, std::int64_t at) {
  if (v->shape[axis] == 1) return v;
  dims shape = v->shape;
  const dims strides = core::contiguous_strides(v->shape);
  shape[axis] = 1;
  return graph::record_view(v, shape, strides, at * strides[axis]);
}

/// Indices in [-extent, extent) as those in [0, extent).
value from_begin(const value& index, std::int64_t extent) {
  return select_of(map_of(opcode::less, dtype::b1, index, integer_of(0, index->device)),
                   map_of(opcode::add, dtype::i64, index, integer_of(extent, index->device)), index);
}

value chosen_by_comparison(const graph::node& n, const dims& shape, const value& index, const value& g) {
  const int axis = n.gather().axis;
  dims along(shape.size(), 1);
  along[axis] = shape[axis];
  const value at = graph::record_iota(along, axis, g->device), zero = constant_of(0, g->type, g->device);
  value sum;
  for (std::int64_t k = 0; k < n.shape[axis]; ++k) {
    const value from = from_begin(slice_along(index, axis, k), shape[axis]);
    const value here = map_of(opcode::equal, dtype::b1, at, from);
    const value part = broadcast_value(select_of(here, slice_along(g, axis, k), zero), shape);
    sum = sum ? map_of(opcode::add, g->type, sum, part) : part;
  }
  return sum;
}

}  // namespace

value gathered_back(const graph::node& n, const dims& shape, const value& index, const value& g) {
  const int axis = n.gather().axis, rank = shape.size();
  if (g->size() == 0 || core::element_count(shape) == 0)
    return broadcast_value(constant_of(0, g->type, g->device), shape);
  if (n.shape[axis] <= few) return chosen_by_comparison(n, shape, index, g);
  // The axes along which the index changes, and the gathered one, are indexed by arrays; the others are kept.
  const ndarray sums = full(to_shape(shape), 0, {.dtype = g->type, .device = to_public(g->device)});
  advanced_index p;
  p.base = ndarray_access::ref(sums);
  std::vector<int> indexed, order;
  for (int a = 0; a < rank; ++a) {
    const bool changes = a == axis || index->shape[a] != 1;
    (changes ? indexed : order).push_back(a);
  }
  // Indices that are known to be in range may count from the end; those of a selection that is in range do not.
  const bool in_range = n.gather().reported_axis == graph::payload::gather::in_range;
  const value places = in_range ? from_begin(index, shape[axis]) : index;
  for (std::size_t k = 0; k < indexed.size(); ++k) {
    const int a = indexed[k];
    dims of_index;
    for (const int b : indexed) of_index.push_back(a == axis ? index->shape[b] : b == a ? shape[b] : 1);
    const value list =
        a == axis ? reshape_value(places, of_index) : graph::record_iota(of_index, static_cast<int>(k), g->device);
    p.entries.push_back({list, false, a == axis ? in_range : true, a, 1, a});
  }
  indexed.insert(indexed.end(), order.begin(), order.end());
  const dims dense = core::contiguous_strides(g->shape);
  const ndarray values =
      wrap(graph::record_view(g, core::at_axes(g->shape, indexed), core::at_axes(dense, indexed), 0));
  accumulate_selection(p, values, accumulation::add, /*deterministic=*/true, "grad");
  return value_of(sums);
}

}  // namespace sinter::ops::derivatives
