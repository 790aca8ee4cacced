// KDTree: SciPy's questions to a tree.
#include <cmath>
#include <vector>

#include "core/shape.hpp"
#include "ops/base/one_memory.hpp"
#include "ops/spatial/metrics.hpp"
#include "ops/spatial/tree.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;
using std::int64_t;

namespace {

constexpr int64_t most_points = (int64_t{1} << 31) - 1;

/// Points (..., m) as rows in the tree's dtype, and the shape before the last axis.
struct asked_points {
  ndarray rows;
  std::vector<int64_t> shape;
};
asked_points asked(const point_tree& t, int64_t dimensions, const ndarray& x, const char* function) {
  const dims& given = view_of(x, function).shape;
  if (given.empty() || given.back() != dimensions)
    fail<shape_error>(function, "points of shape ", given, " for a tree in ", dimensions, " dimensions");
  if (is_complex(x.dtype())) fail<dtype_error>(function, "points of dtype ", x.dtype(), " are not real");
  require_one_device(function, to_id(x.device()), to_id(t.points.device()));
  asked_points out{reshape(x, {-1, dimensions}).astype(t.points.dtype(), false), {}};
  for (int k = 0; k + 1 < given.size(); ++k) out.shape.push_back(given[k]);
  if (x.size() == 0) {
    int64_t rows = 1;
    for (const int64_t n : out.shape) rows *= n;
    out.rows = zeros({rows, dimensions}, {.dtype = t.points.dtype(), .device = t.points.device()});
  }
  require_finite(out.rows, "points", function);
  eval(out.rows);
  out.rows = with_tree_columns(out.rows);
  return out;
}

/// Sums of norm terms for radii, one for each row, in the tree's dtype.
ndarray radii_of(const point_tree& t, const operand& r, const asked_points& x, walk_norm of, const char* function) {
  const ndarray given = r.is_array() ? r.array() : full({}, r, {.device = t.points.device()});
  if (is_complex(given.dtype())) fail<dtype_error>(function, "radii of dtype ", given.dtype());
  dims queries;
  for (const std::int64_t n : x.shape) queries.push_back(n);
  if (!core::broadcasts_to(view_of(given, function).shape, queries))
    fail<shape_error>(function, "radii of shape ", given.shape(), " for points of shape ", shape_t(x.shape));
  const ndarray each = ravel(broadcast_to(given.astype(float64, false), shape_t(x.shape)));
  const ndarray sums = of.kind == 2 ? square(each) : of.kind == 3 ? power(abs(each), of.p) : each;
  const ndarray out = where(each >= 0, sums, -1.0).astype(t.points.dtype()).copy();
  eval(out);
  return out;
}

}  // namespace

spatial::KDTree::KDTree(const ndarray& data, const kdtree_kw& kw) {
  const char* const function = "KDTree";
  const dims& shape = view_of(data, function).shape;
  require_one_memory(data, function);
  if (kw.leafsize && *kw.leafsize < 1) fail<value_error>(function, "leafsize ", *kw.leafsize, " is not at least 1");
  if (shape.size() != 2 || shape[1] < 1 || shape[1] > most_tree_dimensions)
    fail<shape_error>(function, "points of shape ", shape, " are not (n, 1) to (n, ", most_tree_dimensions, ")");
  if (shape[0] > most_points) fail<shape_error>(function, shape[0], " points are more than 2^31 - 1");
  data_ = data.astype(distance_dtype(data.dtype(), function)).copy();
  require_finite(data_, "points", function);
  tree_ = std::make_shared<const point_tree>(make_tree(with_tree_columns(data_), kw.leafsize));
}

int64_t spatial::KDTree::n() const noexcept { return tree_->count; }
int64_t spatial::KDTree::m() const noexcept { return data_.shape(1); }
const ndarray& spatial::KDTree::data() const noexcept { return data_; }

spatial::knn_result spatial::KDTree::query(const ndarray& x, int64_t k, const query_kw& kw) const {
  const char* const function = "KDTree.query";
  if (k < 1 || k > most_points) fail<value_error>(function, "k = ", k, " neighbours");
  const walk_norm of = norm_of(kw.p, function);
  asked_points points = asked(*tree_, m(), x, function);
  const nearest_found found =
      walks_for(points.rows)
          .nearest(*tree_, of, points.rows, walking_order(*tree_, points.rows), k, sum_of(kw.distance_upper_bound, of));
  if (k > 1) points.shape.push_back(k);
  return {reshape(distances_of(found.distances, of), shape_t(points.shape)), reshape(found.ids, shape_t(points.shape))};
}

spatial::neighbor_lists spatial::KDTree::query_ball_point(const ndarray& x, const operand& r, const ball_kw& kw) const {
  const char* const function = "KDTree.query_ball_point";
  const walk_norm of = norm_of(kw.p, function);
  const asked_points points = asked(*tree_, m(), x, function);
  return lists_within(*tree_, of,
                      {points.rows, walking_order(*tree_, points.rows), radii_of(*tree_, r, points, of, function)});
}

ndarray spatial::KDTree::query_ball_count(const ndarray& x, const operand& r, const ball_kw& kw) const {
  const char* const function = "KDTree.query_ball_count";
  const walk_norm of = norm_of(kw.p, function);
  const asked_points points = asked(*tree_, m(), x, function);
  const ball_query ball{points.rows, walking_order(*tree_, points.rows), radii_of(*tree_, r, points, of, function)};
  return reshape(walks_for(points.rows).count(*tree_, of, ball, tree_->count), shape_t(points.shape));
}

ndarray spatial::KDTree::query_pairs(double r, const ball_kw& kw) const {
  const char* const function = "KDTree.query_pairs";
  const walk_norm of = norm_of(kw.p, function);
  if (served_by_host(data_)) return pairs_on_host(*tree_, of, sum_of(r, of));
  const asked_points points{with_tree_columns(data_), {tree_->count}};
  const neighbor_lists found = lists_within(
      *tree_, of, {points.rows, tree_->ids.astype(int64), radii_of(*tree_, r, points, of, function), true});
  const ndarray first = repeat(arange(tree_->count, {.device = data_.device()}), diff(found.indptr));
  return stack({first, found.indices}, 1);
}

ndarray spatial::KDTree::count_neighbors(const KDTree& other, const operand& r, const ball_kw& kw) const {
  const char* const function = "KDTree.count_neighbors";
  const walk_norm of = norm_of(kw.p, function);
  if (m() != other.m()) fail<shape_error>(function, "trees in ", m(), " and ", other.m(), " dimensions");
  const ndarray given = r.is_array() ? r.array() : full({}, r);
  std::vector<int64_t> totals;
  if (served_by_host(data_) && served_by_host(other.data_) && data_.dtype() == other.data_.dtype()) {
    for (const double radius : given.to_vector<double>())
      totals.push_back(count_pairs_on_host(*tree_, *other.tree_, of,
                                           radii_of(*tree_, radius, {{}, {1}}, of, function).item<double>()));
    return array(totals.data(), given.shape(), {.device = data_.device()});
  }
  const asked_points points = asked(*tree_, m(), other.data_, function);
  const ndarray order = walking_order(*tree_, points.rows);
  for (const double radius : given.to_vector<double>()) {
    const ball_query ball{points.rows, order, radii_of(*tree_, radius, points, of, function)};
    totals.push_back(sum(walks_for(points.rows).count(*tree_, of, ball, tree_->count)).item<int64_t>());
  }
  return array(totals.data(), given.shape(), {.device = data_.device()});
}

}  // namespace sinter::inline v0
