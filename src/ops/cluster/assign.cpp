// The nearest centers of points, and the sums of clusters, by one kernel where the device has it.
#include "ops/base/algorithm_calls.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/cluster/means.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/reduce.hpp"

namespace sinter::ops {

namespace {

runtime::means_layout layout_of(const ndarray& x, const ndarray& centers) {
  return {x.dtype(), x.shape(0), x.shape(1), centers.shape(0)};
}
runtime::algorithms& algorithms_of(const ndarray& x) {
  return runtime::get_backend(evaluated(value_of(x))->device).algorithms();
}
bool has_kernel(const ndarray& x, const ndarray& centers, bool sums) {
  return x.device().kind == device_kind::cuda && !is_recorded_for_later() &&
         algorithms_of(x).assigns_points(layout_of(x, centers), sums);
}
/// Evaluated values that a call reads, alive as long as this is.
struct operand {
  value leaf;
  explicit operand(const ndarray& x) : leaf(x.defined() ? evaluated(value_of(x)) : value()) {}
  const void* address() const { return leaf ? address_to_read(leaf) : nullptr; }
};

assigned_points by_kernel(const ndarray& x, const ndarray& weights, const ndarray& centers, const ndarray& before) {
  const runtime::means_layout l = layout_of(x, centers);
  runtime::algorithms& device = algorithms_of(x);
  const operand points(x), middles(centers), masses(weights), old(before);
  const runtime::device_id on = points.leaf->device;
  const runtime::buffer scratch(runtime::get_backend(on), device.assign_points_scratch(l));
  const value labels = unset_leaf(dims{l.points}, dtype::i64, on),
              sums = unset_leaf(dims{l.clusters, l.dimensions}, l.type, on),
              totals = unset_leaf(dims{l.clusters}, l.type, on), same = unset_leaf(dims{}, dtype::b1, on);
  runtime::means_arrays a;
  a.x = points.address(), a.centers = middles.address(), a.weights = masses.address();
  a.before = static_cast<const std::int64_t*>(old.address());
  a.labels = static_cast<std::int64_t*>(address_to_write(labels));
  a.sums = address_to_write(sums), a.totals = address_to_write(totals);
  a.same = static_cast<bool*>(address_to_write(same));
  device.assign_points(l, a, scratch.data());
  return {wrap(labels), {wrap(sums), wrap(totals)}, before.defined() ? wrap(same) : ndarray()};
}

}  // namespace

ndarray labels_by_kernel(const ndarray& x, const ndarray& centers) {
  if (!has_kernel(x, centers, false)) return {};
  const operand points(x), middles(centers);
  const value labels = unset_leaf(dims{x.shape(0)}, dtype::i64, points.leaf->device);
  runtime::means_arrays a;
  a.x = points.address(), a.centers = middles.address();
  a.labels = static_cast<std::int64_t*>(address_to_write(labels));
  algorithms_of(x).assign_points(layout_of(x, centers), a, nullptr);
  return wrap(labels);
}

assigned_points assign_points(const ndarray& x, const ndarray& weights, const ndarray& centers, const ndarray& before) {
  if (has_kernel(x, centers, true)) return by_kernel(x, weights, centers, before);
  const ndarray labels = nearest_center(x, centers);
  eval(labels);
  return {labels, sums_of_clusters(x, weights, labels, centers.shape(0)),
          before.defined() ? all(labels == before) : ndarray()};
}

}  // namespace sinter::ops
