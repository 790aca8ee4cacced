// Builds trees, and asks them.
#include "ops/spatial/tree.hpp"

#include <algorithm>
#include <cmath>

#include "ops/base/errors.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/sort.hpp"

namespace sinter::ops {

using namespace idx;
using std::int64_t;

namespace {

/// Where the curve's cells begin and how many go into a unit: (2, d).
ndarray cells_of(const ndarray& points) {
  const int64_t d = points.shape(1);
  if (points.shape(0) == 0) return zeros({2, d}, {.dtype = points.dtype(), .device = points.device()});
  const double count = std::exp2(d == 1 ? 31 : d < 4 ? 20 : 60 / d);
  const ndarray low = min(points, 0), width = max(points, 0) - low;
  return stack({low, where(width > 0, count / width, zeros_like(width))}, 0).astype(points.dtype(), false);
}

}  // namespace

void require_finite(const ndarray& x, const char* what, const char* function) {
  if (!static_cast<bool>(all(isfinite(x)))) fail<value_error>(function, what, " must be finite");
}

ndarray with_tree_columns(const ndarray& points) {
  const int64_t d = points.shape(1), columns = d <= 4 ? d : d <= 8 ? 8 : most_tree_dimensions;
  if (columns == d) return points;
  const ndarray none = zeros({points.shape(0), columns - d}, {.dtype = points.dtype(), .device = points.device()});
  const ndarray out = concatenate({points, none}, 1);
  eval(out);
  return out;
}

point_tree make_tree(const ndarray& points, std::optional<int64_t> leafsize) {
  point_tree t;
  const bool on_host = served_by_host(points);
  t.count = points.shape(0);
  t.dimensions = static_cast<int>(points.shape(1));
  // Of more dimensions more boxes are near a query, and these take longer.
  const int64_t usual = !on_host ? 8 : t.dimensions < 4 ? 16 : 32;
  t.bucket = static_cast<int>(std::clamp<int64_t>(leafsize.value_or(usual), 4, 1 << 20));
  const int64_t wanted = (t.count + t.bucket - 1) / t.bucket;
  while (t.leaves < wanted) t.leaves *= 2;
  t.cells = cells_of(points);
  eval(t.cells);
  const ndarray order =
      on_host ? order_by_medians(points, t.leaves, t.bucket) : argsort(walks_for(points).places(points, t.cells));
  t.points = take(points, order, 0);
  t.ids = order.astype(int32);
  eval(t.points, t.ids);
  walks_for(points).make_boxes(t);
  return t;
}

walk_norm norm_of(double p, const char* function) {
  if (!(p >= 1)) fail<value_error>(function, "p = ", p, " is not at least 1");
  return {std::isinf(p) ? 0 : p == 1 ? 1 : p == 2 ? 2 : 3, p};
}
ndarray distances_of(const ndarray& sums, walk_norm of) {
  return of.kind == 2 ? sqrt(sums) : of.kind == 3 ? power(sums, 1 / of.p) : sums;
}
double sum_of(double distance, walk_norm of) {
  if (!(distance >= 0)) return -1;  // nothing is so near
  return of.kind == 2 ? distance * distance : of.kind == 3 ? std::pow(distance, of.p) : distance;
}

ndarray walking_order(const point_tree& t, const ndarray& queries) {
  const int64_t m = queries.shape(0);
  if (m < 512) return arange(m, {.device = queries.device()});
  return argsort(walks_for(queries).places(queries, t.cells));
}

spatial::neighbor_lists lists_within(const point_tree& t, walk_norm of, const ball_query& q) {
  const all_found found = walks_for(t.points).within(t, of, q);
  return {found.indptr, found.indices, distances_of(found.distances, of)};
}

ndarray unit_vectors(const ndarray& points) {
  const ndarray lat = points(_, 0).astype(float64), lon = points(_, 1).astype(float64);
  const ndarray out = stack({cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat)}, 1);
  eval(out);
  return out;
}
double chord_squared(double angle) {
  if (!(angle >= 0)) return -1;
  const double half = std::sin(std::min(angle, M_PI) / 2);
  return 4 * half * half;
}
ndarray angles_of(const ndarray& chords_squared) { return 2 * arcsin(minimum(sqrt(chords_squared) / 2, 1)); }

}  // namespace sinter::ops
