// knn and radius_neighbors: which search serves a metric.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "ops/base/one_memory.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/spatial/metrics.hpp"
#include "ops/spatial/tiles.hpp"
#include "ops/spatial/tree.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/generalized_kernel.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"

namespace sinter::ops {

using namespace idx;
using spatial::knn_result;
using spatial::neighbor_lists;
using std::int64_t;

neighbor_lists lists_by_strips(const ndarray& queries, const ndarray& points, double radius,
                               const tile_function& distances) {
  const int64_t m = queries.shape(0), n = points.shape(0);
  const int64_t elements = queries.device().kind == device_kind::cpu ? int64_t{1} << 22 : int64_t{1} << 27;
  const int64_t step = std::max<int64_t>(1, elements / std::max<int64_t>(1, n));
  const create_kw on{.device = queries.device()};
  std::vector<ndarray> counts{zeros({1}, {.dtype = int64, .device = queries.device()})};
  std::vector<ndarray> indices, found;
  for (int64_t first = 0; first < m && n > 0; first += step) {
    const ndarray strip = distances(queries(slice(first, std::min(first + step, m))), points);
    eval(strip);
    const ndarray near = strip <= radius;
    const ndarray at = flatnonzero(near);
    indices.push_back(at % n);
    found.push_back(take(ravel(strip), at));
    counts.push_back(sum(near, 1));
    eval(indices.back(), found.back(), counts.back());
  }
  const ndarray none = zeros({0}, on);
  if (n == 0) counts.push_back(zeros({m}, {.dtype = int64, .device = queries.device()}));
  return {cumulative_sum(concatenate(counts, 0)), indices.empty() ? none.astype(int64) : concatenate(indices, 0),
          found.empty() ? none.astype(points.dtype()) : concatenate(found, 0)};
}

namespace {

/// What a call asks for.
class search {
 public:
  search(const ndarray& queries, const ndarray& points, const spatial::neighbors_kw& kw, const char* function)
      : function_(function), sets_(fitting_sets(queries, points, function)), metric_(kw.metric) {
    require_one_memory(queries, function);
    eval(sets_.a, sets_.b);
    if (!kw.text.empty()) {
      if (kw.metric != "euclidean" || kw.p || kw.w.defined() || kw.V.defined() || kw.VI.defined())
        fail<value_error>(function, "a metric's text stands alone");
      const generalized_kernel text("(d),(d)->()", "T x, T y", "T z", kw.text, "metric");
      metric_ = "text";
      tiles_ = [text](const ndarray& a, const ndarray& b) { return text(a(_, newaxis), b(newaxis)); };
    } else if (kw.metric == "inner_product") {
      if (kw.p || kw.w.defined() || kw.V.defined() || kw.VI.defined())
        fail<value_error>(function, "the metric \"inner_product\" takes no parameters");
      metric_ = "inner_product";
      pairs_ = [](const ndarray& a, const ndarray& b) { return -sum(a * b, -1); };
      tiles_ = by_rows(pairs_);
    } else {
      use_metric(kw);
    }
  }

  knn_result nearest(int64_t k) const {
    if (chords_) {
      const point_tree t = make_tree(unit_vectors(sets_.b));
      const ndarray queries = unit_vectors(sets_.a);
      const nearest_found found = ask(t, queries, k);
      return {angles_of(found.distances).astype(sets_.a.dtype(), false), found.ids};
    }
    if (serves_tree()) return measured(ask(make_tree(sets_.b), sets_.a, k));
    if (const auto found = by_wide_tree(k)) return measured(*found);
    if (by_products())
      return rooted(nearest_by_products(sets_.a, sets_.b, k,
                                        is_squared_                  ? product_order::squares
                                        : metric_ == "inner_product" ? product_order::products
                                                                     : product_order::cosines,
                                        pairs_, tiles_));
    return rooted(nearest_by_tiles(sets_.a, sets_.b, k, tiles_));
  }

  neighbor_lists within(double radius) const {
    const bool squared = metric_ == "sqeuclidean";
    if (chords_) {
      const point_tree t = make_tree(unit_vectors(sets_.b));
      neighbor_lists out = lists(t, unit_vectors(sets_.a), chord_squared(radius));
      out.distances = angles_of(square(out.distances)).astype(sets_.a.dtype(), false);
      return out;
    }
    const double sum = norm_ && !squared ? sum_of(radius, *norm_) : radius;
    auto found = serves_tree() ? lists(make_tree(sets_.b), sets_.a, sum) : lists_by_wide_tree(sum);
    if (found) {
      if (squared) found->distances = square(found->distances);
      return *found;
    }
    neighbor_lists out =
        lists_by_strips(sets_.a, sets_.b, is_squared_ && !squared ? sum_of(radius, {}) : radius, tiles_);
    if (is_squared_ && !squared) out.distances = sqrt(out.distances);
    return out;
  }

  int64_t points() const { return sets_.b.shape(0); }
  int64_t queries() const { return sets_.a.shape(0); }
  device where_to() const { return sets_.a.device(); }
  dtype type() const { return sets_.a.dtype(); }

 private:
  static tile_function by_rows(const pair_distance& pairs) {
    return [pairs](const ndarray& a, const ndarray& b) { return pairs(a(_, newaxis), b(newaxis)); };
  }

  void use_metric(const spatial::neighbors_kw& kw) {
    const pair_metric of(kw.metric, {.p = kw.p, .w = kw.w, .V = kw.V, .VI = kw.VI}, sets_, function_);
    chords_ = of.name() == "haversine";
    if (chords_) {
      require_finite(sets_.a, "queries", function_);
      require_finite(sets_.b, "points", function_);
      return;
    }
    sets_ = {of.prepared(sets_.a), of.prepared(sets_.b)};
    metric_ = of.name();
    is_weighted_ = of.is_weighted();
    if (metric_ == "euclidean" || metric_ == "sqeuclidean") {
      // Compared by squares.
      is_squared_ = true;
      norm_ = walk_norm{};
      const pair_metric squares = is_weighted_ ? of.squared() : pair_metric("sqeuclidean", {}, sets_, function_);
      pairs_ = [squares](const ndarray& a, const ndarray& b) { return squares.between(a, b, 2); };
      tiles_ = [squares](const ndarray& a, const ndarray& b) { return squares.matrix(a, b); };
    } else if (metric_ == "cosine" || metric_ == "correlation") {
      pairs_ = [of](const ndarray& a, const ndarray& b) { return of.between(a, b, 2); };
      tiles_ = by_rows(pairs_);
    } else {
      tiles_ = [of](const ndarray& a, const ndarray& b) { return of.matrix(a, b); };
      if (metric_ == "cityblock") norm_ = norm_of(1, function_);
      if (metric_ == "chebyshev") norm_ = norm_of(HUGE_VAL, function_);
      if (metric_ == "minkowski" && of.exponent() >= 1) norm_ = norm_of(of.exponent(), function_);
    }
  }

  bool serves_tree() const { return sets_.a.shape(1) <= 3 && tree_can(); }
  /// In more dimensions a tree on the host, where some queries show that the points lie so that it has to read few of them.
  std::optional<nearest_found> by_wide_tree(int64_t k) const {
    if (!may_serve_wide_tree()) return std::nullopt;
    const point_tree t = make_tree(with_tree_columns(sets_.b));
    const ndarray rows = with_tree_columns(sets_.a);
    const double most = is_squared_ && !is_weighted_ ? most_share_beside_products : most_share_of_leaves;
    if (share_of_leaves(t, *norm_, some_of(rows), k) > most) return std::nullopt;
    return ask(t, rows, k);
  }
  std::optional<neighbor_lists> lists_by_wide_tree(double sum) const {
    if (!may_serve_wide_tree()) return std::nullopt;
    const point_tree t = make_tree(with_tree_columns(sets_.b));
    const ndarray rows = with_tree_columns(sets_.a);
    if (share_of_leaves_within(t, *norm_, some_of(rows), sum) > most_share_of_leaves) return std::nullopt;
    return lists(t, rows, sum);
  }
  bool may_serve_wide_tree() const {
    return sets_.a.shape(1) > 3 && points() >= least_of_wide_tree && queries() >= least_of_wide_tree &&
           served_by_host(sets_.a) && tree_can();
  }
  /// Whether a tree can: its distances are finite, since an infinite one says there that nothing was found.
  bool tree_can() const {
    if (!norm_ || is_weighted_ || sets_.a.shape(1) < 1 || sets_.a.shape(1) > most_tree_dimensions) return false;
    const double largest = type() == dtype::f32 ? 1e36 : 1e306;  // sums of terms are this at most
    const double most = std::pow(largest, 1 / std::max(2.0, norm_->p < HUGE_VAL ? norm_->p : 2.0));
    return points() < (int64_t{1} << 31) - 1 &&
           static_cast<bool>(logical_and(all(abs(sets_.a) < most), all(abs(sets_.b) < most)));
  }
  bool by_products() const { return pairs_ && !is_weighted_ && sets_.a.shape(1) >= 4; }

  nearest_found ask(const point_tree& t, const ndarray& queries, int64_t k) const {
    return walks_for(queries).nearest(t, norm_.value_or(walk_norm{}), queries, walking_order(t, queries), k, HUGE_VAL);
  }
  neighbor_lists lists(const point_tree& t, const ndarray& queries, double sum) const {
    const ndarray radii = full({queries.shape(0)}, sum, {.dtype = queries.dtype(), .device = queries.device()}).copy();
    eval(radii);
    return lists_within(t, norm_.value_or(walk_norm{}), {queries, walking_order(t, queries), radii});
  }
  /// Distances from what a tree compares.
  knn_result measured(const nearest_found& found) const {
    return {metric_ == "sqeuclidean" ? found.distances : distances_of(found.distances, *norm_), found.ids};
  }
  knn_result rooted(knn_result r) const {
    if (is_squared_ && metric_ == "euclidean") r.distances = sqrt(r.distances);
    return r;
  }

  const char* function_;
  two_sets sets_;
  std::string metric_;
  pair_distance pairs_;  // where candidates of products are measured by it
  tile_function tiles_;
  std::optional<walk_norm> norm_;  // where a tree knows the metric
  bool is_squared_ = false, is_weighted_ = false, chords_ = false;
};

/// The keywords of a call whose queries are divided: what follows from all points is found of these.
spatial::neighbors_kw with_statistics(spatial::neighbors_kw kw, const ndarray& queries, const ndarray& points,
                                      const char* function) {
  if (!kw.text.empty()) return kw;
  if (kw.metric == "seuclidean" && !kw.V.defined()) kw.V = variances_of(fitting_sets(queries, points, function));
  if (kw.metric == "mahalanobis" && !kw.VI.defined())
    kw.VI = inverse_covariance_of(fitting_sets(queries, points, function), function);
  return kw;
}

/// The keywords with the arrays that follow queries and points among the operands of a call.
spatial::neighbors_kw with_weights(spatial::neighbors_kw kw, std::span<const ndarray> operands) {
  kw.w = operands[2];
  kw.V = operands[3];
  kw.VI = operands[4];
  return kw;
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {

using namespace ops;

spatial::knn_result spatial::knn(const ndarray& queries, const ndarray& points, std::int64_t k,
                                 const neighbors_kw& given) {
  const bool in_parts = is_in_parts(queries, "knn");
  const neighbors_kw kw = in_parts ? with_statistics(given, queries, points, "knn") : given;
  if (in_parts) {  // announced with k; distances are undefined where they are not asked for
    const auto again = [=](std::span<const ndarray> a) {
      const knn_result r = knn(a[0], a[1], k, with_weights(kw, a));
      return results_of(r.distances, r.indices);
    };
    if (auto r = intercept("knn", {&queries, &points, &kw.w, &kw.V, &kw.VI}, {k}, again)) return {(*r)[0], (*r)[1]};
  }
  const search what(queries, points, kw, "knn");
  if (k < 1 || k > std::min<std::int64_t>(1024, what.points()))
    fail<value_error>("knn", "k = ", k, " neighbours of ", what.points(), " points; k may be 1 to ",
                      std::min<std::int64_t>(1024, what.points()));
  knn_result out;
  if (what.queries() == 0)
    out = {zeros({0, k}, {.dtype = what.type(), .device = what.where_to()}),
           zeros({0, k}, {.dtype = int64, .device = what.where_to()})};
  else out = what.nearest(k);
  if (!kw.return_distance) out.distances = ndarray();
  return out;
}

spatial::neighbor_lists spatial::radius_neighbors(const ndarray& queries, const ndarray& points, double radius,
                                                  const neighbors_kw& given) {
  if (std::isnan(radius)) fail<value_error>("radius_neighbors", "the radius is NaN");
  const bool in_parts = is_in_parts(queries, "radius_neighbors");
  const neighbors_kw kw = in_parts ? with_statistics(given, queries, points, "radius_neighbors") : given;
  if (in_parts) {  // announced as knn
    const auto again = [=](std::span<const ndarray> a) {
      const neighbor_lists r = radius_neighbors(a[0], a[1], radius, with_weights(kw, a));
      return results_of(r.indptr, r.indices, r.distances);
    };
    if (auto r = intercept("radius_neighbors", {&queries, &points, &kw.w, &kw.V, &kw.VI}, {}, again))
      return {(*r)[0], (*r)[1], (*r)[2]};
  }
  neighbor_lists out = search(queries, points, kw, "radius_neighbors").within(radius);
  if (!kw.return_distance) out.distances = ndarray();
  return out;
}

}  // namespace sinter::inline v0
