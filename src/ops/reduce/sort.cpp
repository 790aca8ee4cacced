// The sorts of NumPy and the array API, on top of the device-wide algorithms.
#include "sinter/sort.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "ops/base/algorithm_calls.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/opaque_call.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// The rows along an axis; without an axis the flattened array is one row.
rows_of rows_for(const ndarray& x, optional_axis axis, const char* function) {
  const value v = value_of(x, function);
  if (!axis) return rows_along(reshape_value(v, dims{v->size()}), 0);
  return rows_along(v, normalize_axis(*axis, v->shape, function));
}

/// The axis of rows_for() as an attribute: -1 without one.
std::int64_t axis_number(const ndarray& x, optional_axis axis, const char* function) {
  if (!axis) return -1;
  const dims shape = view_of(x, function).shape;
  return shape.empty() ? 0 : normalize_axis(*axis, shape, function);
}

/// kth as ascending positions, each once.
std::vector<std::int64_t> check_kth(const rows_of& r, std::vector<std::int64_t> kth, const char* function) {
  if (r.elements->size() == 0) return {};  // as NumPy: kth is not checked for an empty array
  for (std::int64_t& k : kth) {
    if (k >= r.count || k < -r.count)
      fail<value_error>(function, "kth (", k, ") is out of range for an axis of ", r.count, " elements");
    if (k < 0) k += r.count;
  }
  std::sort(kth.begin(), kth.end());
  kth.erase(std::unique(kth.begin(), kth.end()), kth.end());
  return kth;
}

/// Element order(j) of key, or order(i, j) of row i.
value reordered(const value& key, const value& order) {
  return graph::record_gather(key, order, key->shape.size() - 1, order->shape, graph::payload::gather::in_range);
}

}  // namespace

// Announced with the axis (-1: of the flattened array), and whether the order descends.

ndarray sort(const ndarray& x, const sort_kw& kw) {
  if (auto r = intercept("sort", {&x}, {axis_number(x, kw.axis, "sort"), kw.descending},
                         [=](std::span<const ndarray> a) { return results_of(sort(a[0], kw)); }))
    return (*r)[0];
  const rows_of r = rows_for(x, kw.axis, "sort");
  return in_place_of(r, sorted_rows(r.elements, r.layout(), kw.descending));
}

ndarray argsort(const ndarray& x, const sort_kw& kw) {
  const dims& shape = view_of(x, "argsort").shape;
  if (shape.empty() && kw.axis && (*kw.axis == 0 || *kw.axis == -1)) return argsort(ravel(x), kw);  // as NumPy
  if (auto r = intercept("argsort", {&x}, {axis_number(x, kw.axis, "argsort"), kw.descending},
                         [=](std::span<const ndarray> a) { return results_of(argsort(a[0], kw)); }))
    return (*r)[0];
  const rows_of r = rows_for(x, kw.axis, "argsort");
  return in_place_of(r, argsort_rows(evaluated(r.elements), r.layout(), kw.descending));
}

ndarray lexsort(const std::vector<ndarray>& keys, std::int64_t axis) {
  if (keys.empty()) throw value_error("[lexsort] needs at least one key");
  const dims shape = view_of(keys[0], "lexsort").shape;
  std::vector<operand> list(keys.begin(), keys.end());
  std::vector<const operand*> all;
  for (const operand& k : list) {
    all.push_back(&k);
    if (view_of(k.array(), "lexsort").shape != shape)
      fail<shape_error>("lexsort", "keys have different shapes: ", shape, " and ", view_of(k.array(), "lexsort").shape);
  }
  if (auto r = intercept_all("lexsort", keys, {shape.empty() ? -1 : normalize_axis(axis, shape, "lexsort")},
                             [=](std::span<const ndarray> a) {
                               return results_of(lexsort(std::vector<ndarray>(a.begin(), a.end()), axis));
                             }))
    return (*r)[0];
  const auto device = common_device(all, "lexsort");
  if (shape.empty()) return wrap(graph::record_scalar(scalar_of(0, dtype::i64, "lexsort"), dtype::i64, dims(), device));
  // One stable sort per key, the least significant one first.
  rows_of r = rows_for(keys[0], axis, "lexsort");
  value order = argsort_rows(evaluated(r.elements), r.layout(), false);
  for (std::size_t k = 1; k < keys.size(); ++k) {
    r = rows_for(keys[k], axis, "lexsort");
    const value step = argsort_rows(evaluated(reordered(r.elements, order)), r.layout(), false);
    order = evaluated(reordered(order, step));
  }
  return in_place_of(r, order);
}

ndarray lexsort(const ndarray& keys, std::int64_t axis) {
  const dims shape = view_of(keys, "lexsort").shape;
  if (shape.empty()) throw value_error("[lexsort] needs at least one key, not an array of rank 0");
  std::vector<ndarray> list;
  list.reserve(list_length(shape[0], "lexsort"));
  for (std::int64_t k = 0; k < shape[0]; ++k) list.push_back(keys(k));
  return lexsort(list, axis);
}

// Announced with the axis, then kth.

ndarray partition(const ndarray& x, const std::vector<std::int64_t>& kth, optional_axis axis) {
  if (is_intercepting()) {
    opaque_call call{"partition", {x}, {axis_number(x, axis, "partition")}, {}, [=](std::span<const ndarray> a) {
                       return results_of(partition(a[0], kth, axis));
                     }};
    call.numbers.insert(call.numbers.end(), kth.begin(), kth.end());
    if (auto r = run_intercepted(call)) return (*r)[0];
  }
  const rows_of r = rows_for(x, axis, "partition");
  const auto at = check_kth(r, kth, "partition");
  if (at.empty() || !can_partition(r.elements, r.layout())) return sort(x, axis);
  return in_place_of(r, partitioned_rows(evaluated(r.elements), r.layout(), at));
}
ndarray partition(const ndarray& x, std::int64_t kth, optional_axis axis) {
  return partition(x, std::vector<std::int64_t>{kth}, axis);
}

ndarray argpartition(const ndarray& x, const std::vector<std::int64_t>& kth, optional_axis axis) {
  if (is_intercepting()) {
    opaque_call call{"argpartition", {x}, {axis_number(x, axis, "argpartition")}, {}, [=](std::span<const ndarray> a) {
                       return results_of(argpartition(a[0], kth, axis));
                     }};
    call.numbers.insert(call.numbers.end(), kth.begin(), kth.end());
    if (auto r = run_intercepted(call)) return (*r)[0];
  }
  const rows_of r = rows_for(x, axis, "argpartition");
  const auto at = check_kth(r, kth, "argpartition");
  if (at.empty() || !can_partition(r.elements, r.layout())) return argsort(x, axis);
  return in_place_of(r, argpartitioned_rows(evaluated(r.elements), r.layout(), at));
}
ndarray argpartition(const ndarray& x, std::int64_t kth, optional_axis axis) {
  return argpartition(x, std::vector<std::int64_t>{kth}, axis);
}

/// Announced with the axis, k, and whether the largest are wanted; results: values, indices.
topk_result topk(const ndarray& x, std::int64_t k, const topk_kw& kw) {
  if (auto r =
          intercept("topk", {&x}, {axis_number(x, kw.axis, "topk"), k, kw.largest}, [=](std::span<const ndarray> a) {
            const topk_result found = topk(a[0], k, kw);
            return results_of(found.values, found.indices);
          }))
    return {(*r)[0], (*r)[1]};
  const rows_of r = rows_for(x, kw.axis, "topk");
  if (k < 0 || k > r.count)
    fail<value_error>("topk", "k (", k, ") is out of range for an axis of ", r.count, " elements");
  const value keys = evaluated(r.elements);
  // The few first are selected in their order; or, where they are more, by their positions, which keeps equal ones in
  // order, and then sorted.
  if (k > 0 && k <= r.count / 4 && can_partition(keys, r.layout())) {
    const value found = first_of_rows(keys, r.layout(), kw.largest, k);
    const value chosen = evaluated(reordered(keys, found));
    if (orders_first(keys, r.layout(), k)) return {in_place_of(r, chosen), in_place_of(r, found)};
    const value order = argsort_rows(chosen, {chosen->type, r.rows, k}, kw.largest);
    const value indices = evaluated(reordered(found, order)), values = evaluated(reordered(chosen, order));
    return {in_place_of(r, values), in_place_of(r, indices)};
  }
  const value order = argsort_rows(keys, r.layout(), kw.largest);
  dims first = keys->shape;
  first[first.size() - 1] = k;
  // Copies the few requested indices, so that the whole permutation can be freed.
  value both[] = {graph::record_view(order, first, core::contiguous_strides(order->shape), 0), value()};
  both[1] = graph::record_gather(keys, both[0], first.size() - 1, first, graph::payload::gather::in_range);
  both[0] = evaluated(both[0]);
  both[1] = evaluated(both[1]);
  return {in_place_of(r, both[1]), in_place_of(r, both[0])};
}

ndarray sort_complex(const ndarray& x) {
  const dtype type = view_of(x, "sort_complex").type;
  const bool narrow = type == complex64 || (is_integer(type) && itemsize(type) < 4);
  return sort(x.astype(narrow ? complex64 : complex128, false));
}

}  // namespace sinter::inline v0
