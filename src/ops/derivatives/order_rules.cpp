// Rules of sorts, scans and counts.
#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/derivatives/opaque_rules.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/histogram.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"
#include "sinter/sort.hpp"
#include "sinter/take.hpp"

namespace sinter::ops::derivatives {
namespace {

using std::int64_t;

/// x as rows along the axis of a sort: of the flattened array where there is none (-1).
ndarray flat_if_whole(const ndarray& x, int64_t axis) { return axis < 0 ? ravel(x) : x; }
int64_t axis_of(int64_t axis) { return axis < 0 ? 0 : axis; }
bool is_number(const opaque_case& c) { return c.x[0].ndim() == 0; }

std::vector<ndarray> sort_forward(const opaque_case& c, std::span<const ndarray> t) {
  if (is_number(c)) return {reshape(t[0], c.y[0].shape())};
  const int64_t axis = axis_of(c.number(0));
  const ndarray order = argsort(flat_if_whole(c.x[0], c.number(0)), {.axis = axis, .descending = c.number(1) != 0});
  return {take_along_axis(flat_if_whole(t[0], c.number(0)), order, axis)};
}
std::vector<ndarray> sort_backward(const opaque_case& c, std::span<const ndarray> g) {
  if (is_number(c)) return {reshape(g[0], c.x[0].shape())};
  const int64_t axis = axis_of(c.number(0));
  const ndarray order = argsort(flat_if_whole(c.x[0], c.number(0)), {.axis = axis, .descending = c.number(1) != 0});
  return {reshape(take_along_axis(g[0], argsort(order, {.axis = axis}), axis), c.x[0].shape())};
}

// Which element went where: the orders of both sides, one after the other.
std::vector<ndarray> partition_forward(const opaque_case& c, std::span<const ndarray> t) {
  if (is_number(c)) return {reshape(t[0], c.y[0].shape())};
  const int64_t axis = axis_of(c.number(0));
  const ndarray from = argsort(flat_if_whole(c.x[0], c.number(0)), {.axis = axis});
  const ndarray place = argsort(argsort(c.y[0], {.axis = axis}), {.axis = axis});
  return {take_along_axis(take_along_axis(flat_if_whole(t[0], c.number(0)), from, axis), place, axis)};
}
std::vector<ndarray> partition_backward(const opaque_case& c, std::span<const ndarray> g) {
  if (is_number(c)) return {reshape(g[0], c.x[0].shape())};
  const int64_t axis = axis_of(c.number(0));
  const ndarray from = argsort(argsort(flat_if_whole(c.x[0], c.number(0)), {.axis = axis}), {.axis = axis});
  const ndarray place = argsort(c.y[0], {.axis = axis});
  return {reshape(take_along_axis(take_along_axis(g[0], place, axis), from, axis), c.x[0].shape())};
}

std::vector<ndarray> topk_forward(const opaque_case& c, std::span<const ndarray> t) {
  const int64_t axis = axis_of(c.number(0));
  return {take_along_axis(flat_if_whole(t[0], c.number(0)), c.y[1], axis), {}};
}

std::vector<ndarray> ranked_forward(const opaque_case& c, std::span<const ndarray> t) {
  const ndarray ranks = array(c.call.numbers, {.device = c.x[0].device()});
  return {take_along_axis(t[0], take(argsort(c.x[0], {.axis = -1}), ranks, -1), -1)};
}

// ---- scans

ndarray shifted(const ndarray& x, int axis, int64_t by, double fill) {
  dims shape = value_of(x)->shape;
  const int64_t n = shape[axis];
  shape[axis] = by;
  const ndarray front = full(to_shape(shape), fill, {.dtype = x.dtype(), .device = x.device()});
  return concatenate({front, slice_of(x, axis, 0, n - by)}, axis);
}

/// r with r[i] = a[i] r[i - 1] + b[i] along an axis, by doubling.
ndarray recurrence(ndarray a, ndarray b, int axis) {
  const int64_t n = b.shape(axis);
  for (int64_t by = 1; by < n; by *= 2) {
    b = b + a * shifted(b, axis, by, 0);
    if (by * 2 < n) a = a * shifted(a, axis, by, 1);
  }
  return b;
}

ndarray reversed(const ndarray& x, int axis) { return flip(x, axes{axis}); }

std::vector<ndarray> cumsum_forward(const opaque_case& c, std::span<const ndarray> t) {
  return {cumsum(t[0], c.number(0))};
}
std::vector<ndarray> cumsum_backward(const opaque_case& c, std::span<const ndarray> g) {
  const int axis = static_cast<int>(c.number(0));
  return {reversed(cumsum(reversed(g[0], axis), c.number(0)), axis)};
}

std::vector<ndarray> cumprod_forward(const opaque_case& c, std::span<const ndarray> t) {
  const int axis = static_cast<int>(c.number(0));
  if (c.x[0].shape(axis) == 0) return {t[0]};
  return {recurrence(c.x[0], shifted(c.y[0], axis, 1, 1) * t[0], axis)};
}
std::vector<ndarray> cumprod_backward(const opaque_case& c, std::span<const ndarray> g) {
  const int axis = static_cast<int>(c.number(0));
  if (c.x[0].shape(axis) == 0) return {g[0]};
  // r[i] = g[i] + x[i + 1] r[i + 1], from the end.
  const ndarray a = shifted(reversed(c.x[0], axis), axis, 1, 0);
  return {reversed(recurrence(a, reversed(g[0], axis), axis), axis) * shifted(c.y[0], axis, 1, 1)};
}

/// Elements first, first + 2, ... along an axis, `count` of them.
ndarray every_second(const ndarray& x, int axis, int64_t first, int64_t count) {
  const value v = value_of(x);
  dims shape = v->shape, strides = core::contiguous_strides(v->shape);
  shape[axis] = count;
  const int64_t offset = count > 0 ? first * strides[axis] : 0;
  strides[axis] *= 2;
  return wrap(graph::record_view(v, shape, strides, offset));
}

/// Running extremes by the tree of jax.lax.associative_scan, whose derivative JAX takes: of equal elements that meet at a node
/// each has half.
ndarray running(ndarray (*extreme)(const operand&, const operand&), const ndarray& x, int axis) {
  const int64_t n = x.shape(axis), half = n / 2, others = (n - 1) / 2;
  if (n < 2) return x;
  const ndarray odd = running(extreme, extreme(every_second(x, axis, 0, half), every_second(x, axis, 1, half)), axis);
  const ndarray later = extreme(slice_of(odd, axis, 0, others), every_second(x, axis, 2, others));
  const ndarray even = concatenate({slice_of(x, axis, 0, 1), later}, axis);
  dims shape = value_of(x)->shape;
  shape[axis] = 2 * half;
  const ndarray pairs = reshape(stack({slice_of(even, axis, 0, half), odd}, axis + 1), to_shape(shape));
  return n % 2 == 0 ? pairs : concatenate({pairs, slice_of(even, axis, half, half + 1)}, axis);
}
std::vector<ndarray> extremes(const opaque_case& c, std::span<const ndarray> a) {
  const bool largest = std::string_view(c.call.name) == "cummax";
  return {running(largest ? maximum : minimum, a[0], static_cast<int>(c.number(0)))};
}
std::vector<ndarray> extremum_forward(const opaque_case& c, std::span<const ndarray> t) {
  return pushed_forward([&](std::span<const ndarray> a) { return extremes(c, a); }, c.x, t);
}
std::vector<ndarray> extremum_backward(const opaque_case& c, std::span<const ndarray> g) {
  return pulled_back([&](std::span<const ndarray> a) { return extremes(c, a); }, c.x, g);
}

std::vector<ndarray> logcumsumexp_forward(const opaque_case& c, std::span<const ndarray> t) {
  const int axis = static_cast<int>(c.number(0));
  if (c.x[0].shape(axis) == 0) return {t[0]};
  const ndarray before = shifted(c.y[0], axis, 1, -std::numeric_limits<double>::infinity());
  const ndarray nothing = isinf(c.y[0]);
  const auto part = [&](const ndarray& x) { return where(nothing, 0, exp(x - where(nothing, 0, c.y[0]))); };
  return {recurrence(part(before), part(c.x[0]) * t[0], axis)};
}

// ---- sums by bin: other bins than those that are counted are left out

std::vector<ndarray> bincount_forward(const opaque_case& c, std::span<const ndarray> t) {
  if (!t[1].defined()) return {{}};
  const ndarray both[] = {c.x[0], t[1]};
  return c.call.again(both);
}
std::vector<ndarray> bincount_backward(const opaque_case& c, std::span<const ndarray> g) {
  const int64_t n = c.number(0);
  if (n == 0) return {{}, {}};
  const ndarray inside = logical_and(greater_equal(c.x[0], 0), less(c.x[0], n));
  return {{}, where(inside, take(g[0], clip(c.x[0], 0, n - 1), 0), 0)};
}

constexpr const char* integers = "the result is an integer";

}  // namespace

std::span<const opaque_rule> opaque_rules_of_order() {
  static constexpr opaque_rule rules[] = {
      {"sort", sort_forward, sort_backward},
      {"argsort", nullptr, nullptr, integers},
      {"lexsort", nullptr, nullptr, integers},
      {"partition", partition_forward, partition_backward},
      {"argpartition", nullptr, nullptr, integers},
      {"topk", topk_forward, nullptr},
      {"ranked_elements", ranked_forward, nullptr},
      {"cumsum", cumsum_forward, cumsum_backward},
      {"cumprod", cumprod_forward, cumprod_backward},
      {"cummax", extremum_forward, extremum_backward},
      {"cummin", extremum_forward, extremum_backward},
      {"logcumsumexp", logcumsumexp_forward, nullptr},
      {"searchsorted", nullptr, nullptr, integers},
      {"digitize", nullptr, nullptr, integers},
      {"histogram", nullptr, nullptr, integers},
      {"bincount", bincount_forward, bincount_backward},
      {"knn", nullptr, nullptr,
       "it is announced for arrays of meshes alone: distances to the points that its indices name have "
       "derivatives"},
      {"radius_neighbors", nullptr, nullptr,
       "it is announced for arrays of meshes alone: distances to the points that its indices name have "
       "derivatives"},
      {"dbscan", nullptr, nullptr, integers},
  };
  return rules;
}

}  // namespace sinter::ops::derivatives
