// Rules of sorts, scans and counts.
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

// The element that is the running extremum is the last one that equals it.
std::vector<ndarray> extremum_forward(const opaque_case& c, std::span<const ndarray> t) {
  const int axis = static_cast<int>(c.number(0));
  if (c.x[0].shape(axis) == 0) return {t[0]};
  const value v = value_of(c.x[0]);
  dims along(v->shape.size(), 1);
  along[axis] = v->shape[axis];
  const ndarray at = wrap(graph::record_iota(along, axis, v->device));
  const ndarray from = cummax(where(equal(c.x[0], c.y[0]), at, 0), {.axis = c.number(0)});
  return {take_along_axis(t[0], from, c.number(0))};
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
      {"cummax", extremum_forward, nullptr},
      {"cummin", extremum_forward, nullptr},
      {"logcumsumexp", logcumsumexp_forward, nullptr},
      {"searchsorted", nullptr, nullptr, integers},
      {"digitize", nullptr, nullptr, integers},
      {"bincount", bincount_forward, bincount_backward},
  };
  return rules;
}

}  // namespace sinter::ops::derivatives
