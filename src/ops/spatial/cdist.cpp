// Matrices and lists of distances.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/base/algorithm_calls.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/spatial/metrics.hpp"
#include "ops/spatial/pairs.hpp"
#include "ops/spatial/walks.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/spatial.hpp"

namespace sinter::ops {

using namespace idx;
using std::int64_t;

namespace {

ndarray triangle(const ndarray& rows) { return floor_divide(rows * (rows + 1), 2); }

}  // namespace

pair_numbers pairs_below(int64_t n, const device& where_to) {
  const int64_t count = n * (n - 1) / 2;
  // Counted from the end pair q lies in row r from below, r (r + 1) / 2 <= q. float64 has the root to within one.
  const ndarray q = count - 1 - arange(count, {.device = where_to});
  const ndarray about = floor((sqrt(8 * q.astype(float64) + 1) - 1) / 2).astype(int64);
  const ndarray less = about - (triangle(about) > q).astype(int64);
  const ndarray below = less + (triangle(less + 1) <= q).astype(int64);
  return {n - 2 - below, n - 1 - (q - triangle(below))};
}

}  // namespace sinter::ops

namespace sinter::inline v0 {

using namespace ops;
using namespace idx;
using std::int64_t;

namespace {

/// The CPU's loops are faster over blocks of a matrix, up to whose diagonal they compute a little more than the pairs.
template <class T>
ndarray pairs_by_blocks(const pair_metric& of, const ndarray& p) {
  // Blocks that the second-level cache holds, as they are copied from.
  const int64_t n = p.shape(0), step = std::clamp<int64_t>((int64_t{1} << 16) / n, 16, 512);
  const graph::value out = unset_leaf(dims{n * (n - 1) / 2}, p.dtype(), {});
  T* to = static_cast<T*>(address_to_write(out));
  const ndarray turned = of.turned(p);
  for (int64_t first = 0; first + 1 < n; first += step) {
    const int64_t rows = std::min(step, n - 1 - first), columns = n - 1 - first;
    const auto block =
        of.matrix_of_turned(p(slice(first, first + rows)), turned(_, slice(first + 1, n))).template host<T>();
    for (int64_t i = 0; i < rows; ++i)
      to = std::copy(block.data() + i * columns + i, block.data() + (i + 1) * columns, to);
  }
  return wrap(out);
}

/// Recorded; a small matrix of few dimensions on the host at once, since kernels take each sum of so few terms by itself.
ndarray distances_of_sets(const pair_metric& of, const two_sets& points) {
  constexpr int64_t few_dimensions = 8, few_elements = int64_t{1} << 20;
  const ndarray a = of.prepared(points.a), b = of.prepared(points.b);
  if (a.shape(1) <= few_dimensions && a.shape(0) * b.shape(0) <= few_elements && served_by_host(a) &&
      !is_recorded_for_later())
    if (const ndarray d = matrix_by_terms(of, a, of.turned(b)); d.defined()) return d;
  return of.matrix(a, b);
}

}  // namespace

ndarray spatial::cdist(const ndarray& xa, const ndarray& xb, std::string_view metric, const metric_kw& kw) {
  const two_sets points = fitting_sets(xa, xb, "cdist");
  return distances_of_sets(pair_metric(metric, kw, points, "cdist"), points);
}

ndarray spatial::pdist(const ndarray& x, std::string_view metric, const metric_kw& kw) {
  const dtype type = distance_dtype(view_of(x, "pdist").type, "pdist");
  const ndarray points = point_rows(x, type, "points", "pdist");
  const ndarray none = points(slice(0, 0));
  const pair_metric of(metric, kw, {points, none}, "pdist");
  const ndarray p = of.prepared(points);
  const int64_t n = p.shape(0);
  if (n < 2) return zeros({0}, {.dtype = type, .device = p.device()});
  const bool at_hand = !is_recorded_for_later();
  if (at_hand && served_by_host(p))
    if (const ndarray d = pairs_by_terms(of, p, of.turned(p)); d.defined()) return d;
  if (at_hand && p.device().kind == device_kind::cpu)
    return type == dtype::f32 ? pairs_by_blocks<float>(of, p) : pairs_by_blocks<double>(of, p);
  auto [i, j] = pairs_below(n, p.device());
  if (n < (int64_t{1} << 31)) i = i.astype(int32), j = j.astype(int32);
  eval(i, j);
  return of.between(take(p, i, 0), take(p, j, 0), 1);
}

ndarray spatial::distance_matrix(const ndarray& x, const ndarray& y, double p) {
  require_power(p, "distance_matrix");
  const two_sets points = fitting_sets(x, y, "distance_matrix");
  return distances_of_sets(pair_metric("minkowski", {.p = p}, points, "distance_matrix"), points);
}

}  // namespace sinter::inline v0
