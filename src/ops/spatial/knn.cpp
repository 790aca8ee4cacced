// The k nearest points by tiles of queries and points.
#include <algorithm>
#include <optional>
#include <string>

#include "ops/spatial/metrics.hpp"
#include "ops/spatial/tiles.hpp"
#include "ops/spatial/tree.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"
#include "sinter/reduce.hpp"
#include "sinter/sort.hpp"

namespace sinter::ops {

using namespace idx;
using spatial::knn_result;
using std::int64_t;

namespace {

ndarray rows_of_block(const ndarray& x, int64_t first, int64_t count) {
  return x(slice(first, std::min(first + count, x.shape(0))));
}

/// The k smallest of a running list and of a tile's, whose indices all come later.
void take_best(std::optional<topk_result>& best, const ndarray& scores, int64_t first, int64_t k) {
  topk_result of_tile = topk(scores, std::min(k, scores.shape(1)), {.largest = false});
  of_tile.indices = of_tile.indices + first;
  if (!best) {
    best = of_tile;
    return;
  }
  const ndarray values = concatenate({best->values, of_tile.values}, 1);
  const ndarray indices = concatenate({best->indices, of_tile.indices}, 1);
  const topk_result both = topk(values, std::min(k, values.shape(1)), {.largest = false});
  best = topk_result{both.values, take_along_axis(indices, both.indices, 1)};
}

struct tile_sizes {
  int64_t rows, columns;
};
/// Elements of a tile: some megabytes on the CPU, whose caches hold them; a gigabyte on a GPU, which has to be filled.
tile_sizes sizes_for(const ndarray& queries, const ndarray& points) {
  const bool cpu = queries.device().kind == device_kind::cpu;
  const int64_t columns = std::min<int64_t>(points.shape(0), cpu ? 1 << 14 : 1 << 16);
  const int64_t elements = cpu ? int64_t{1} << 22 : int64_t{1} << 28;
  return {std::clamp<int64_t>(elements / columns, 1, std::max<int64_t>(1, queries.shape(0))), columns};
}

template <class Scores>
topk_result best_of_tiles(const ndarray& rows, const ndarray& points, int64_t columns, int64_t k,
                          const Scores& scores) {
  std::optional<topk_result> best;
  for (int64_t first = 0; first < points.shape(0); first += columns) {
    take_best(best, scores(rows, rows_of_block(points, first, columns)), first, k);
    eval(best->values, best->indices);
  }
  return *best;
}

knn_result joined(const std::vector<ndarray>& distances, const std::vector<ndarray>& indices) {
  if (distances.size() == 1) return {distances[0], indices[0]};
  return {concatenate(distances, 0), concatenate(indices, 0)};
}

}  // namespace

knn_result nearest_by_tiles(const ndarray& queries, const ndarray& points, int64_t k, const tile_function& distances) {
  const tile_sizes size = sizes_for(queries, points);
  std::vector<ndarray> all_distances, all_indices;
  for (int64_t first = 0; first < queries.shape(0); first += size.rows) {
    const topk_result best =
        best_of_tiles(rows_of_block(queries, first, size.rows), points, size.columns, k, distances);
    all_distances.push_back(best.values);
    all_indices.push_back(best.indices);
  }
  return joined(all_distances, all_indices);
}

namespace {

/// Whether scores of squares or products need no rounding: of whole numbers that are small enough.
bool is_exact(const ndarray& queries, const ndarray& points) {
  const double most = (points.dtype() == dtype::f32 ? 0x1p24 : 0x1p53) / (8 * static_cast<double>(points.shape(1)));
  const auto whole = [&](const ndarray& x) { return all(logical_and(x == rint(x), square(x) <= most)); };
  return static_cast<bool>(logical_and(whole(queries), whole(points)));
}

/// Queries and points such that the product of a row and a row, both with `extra` columns, is a score that orders as the
/// distance does: |y|^2 - 2 xy of centred vectors, or - xy.
struct product_sets {
  ndarray queries, points;
  ndarray query_squares, largest_square;  // what bounds the rounding of the scores
};
product_sets sets_for_products(const ndarray& queries, const ndarray& points, bool squares, bool centred) {
  const int64_t d = queries.shape(1), extra = (d + 1 + 3) / 4 * 4 - d;  // rows that begin at multiples of 16 bytes
  product_sets out;
  const ndarray centre =
      squares && centred ? mean(points, 0) : zeros({d}, {.dtype = points.dtype(), .device = points.device()});
  const ndarray x = queries - centre, y = points - centre;
  const ndarray y_squares = sum(square(y), 1, {.keepdims = true});
  const create_kw like{.dtype = points.dtype(), .device = points.device()};
  const ndarray padding = zeros({1, extra - 1}, like);
  const auto with_columns = [&](const ndarray& rows, const ndarray& column) {
    const int64_t n = rows.shape(0);
    return concatenate({rows, broadcast_to(column, {n, 1}), broadcast_to(padding, {n, extra - 1})}, 1);
  };
  if (squares) {
    out.queries = with_columns(x, ones({1, 1}, like));
    out.points = with_columns(-2 * y, y_squares);
  } else {
    out.queries = x;
    out.points = -y;
  }
  out.query_squares = sum(square(x), 1);
  out.largest_square = max(y_squares);
  eval(out.queries, out.points, out.query_squares, out.largest_square);
  return out;
}

/// Candidates in order of their distances, which are measured again, and then of their indices.
topk_result measured(const pair_distance& distance, const ndarray& rows, const ndarray& points,
                     const ndarray& candidates, int64_t k) {
  const ndarray ascending = sort(candidates, 1);
  const ndarray exactly = distance(rows(_, newaxis), take(points, ascending, 0));
  const topk_result best = topk(exactly, k, {.largest = false});
  return {best.values, take_along_axis(ascending, best.indices, 1)};
}

/// What a search by products compares: scores in float64 tell more distances apart than those in float32, and of small whole
/// numbers equal ones are known to be equal.
enum class scoring { plain, doubles, exact };

struct searched {
  knn_result found;
  ndarray doubt;  // of each query: whether a point that was left out may be nearer
};
struct product_search {
  int64_t k;
  product_order order;
  const pair_distance& distance;

  searched run(const ndarray& queries, const ndarray& points, scoring how) const {
    const bool squares = order == product_order::squares;
    const int64_t n = points.shape(0), kept = std::min(n, k + std::max<int64_t>(8, k / 4));
    const bool wider = how == scoring::doubles;
    const product_sets sets = wider ? sets_for_products(queries.astype(float64), points.astype(float64), squares, true)
                                    : sets_for_products(queries, points, squares, how != scoring::exact);
    const tile_sizes size = sizes_for(queries, points);
    std::vector<ndarray> all_distances, all_indices, all_doubts;
    for (int64_t first = 0; first < queries.shape(0); first += size.rows) {
      const ndarray rows = rows_of_block(queries, first, size.rows);
      const topk_result scores =
          best_of_tiles(rows_of_block(sets.queries, first, size.rows), sets.points, size.columns, kept,
                        [](const ndarray& x, const ndarray& y) { return matmul(x, y.T()); });
      const topk_result best = measured(distance, rows, points, scores.indices, k);
      const ndarray doubt = kept == n ? zeros({rows.shape(0)}, {.dtype = bool_, .device = points.device()})
                                      : doubts(best.values(_, -1), scores.values(_, -1),
                                               rows_of_block(sets.query_squares, first, size.rows), sets, how);
      eval(best.values, best.indices, doubt);
      all_distances.push_back(best.values);
      all_indices.push_back(best.indices);
      all_doubts.push_back(doubt);
    }
    return {joined(all_distances, all_indices), all_doubts.size() == 1 ? all_doubts[0] : concatenate(all_doubts, 0)};
  }

 private:
  /// Of the last of the nearest, and the last candidate's score. What was left out has a score of at least that, less what d
  /// roundings of terms as large as the squares can do; the measured distance is off by as many, of terms as large as itself.
  ndarray doubts(const ndarray& last, const ndarray& score, const ndarray& squares_of_rows, const product_sets& sets,
                 scoring how) const {
    const double d = static_cast<double>(sets.points.shape(1));
    const ndarray shift =
        order == product_order::squares ? squares_of_rows : full_like(squares_of_rows, order == product_order::cosines);
    if (how == scoring::exact) return last > score + shift;
    const double unit = sets.points.dtype() == dtype::f32 ? 0x1p-24 : 0x1p-53;
    const ndarray left_out = score + shift - (4 * d + 32) * unit * (squares_of_rows + sets.largest_square);
    if (how == scoring::plain) return logical_not(last < left_out);
    return logical_not(last * (1 + (4 * d + 32) * 0x1p-24) < left_out * (1 - (4 * d + 32) * 0x1p-24));
  }
};

/// The results of those queries that are in doubt, put among the others.
template <class Search>
void search_again(knn_result& out, const ndarray& again, const Search& search) {
  const knn_result better = search();
  out.distances = out.distances.copy();
  out.indices = out.indices.copy();
  out.distances(again) = better.distances;
  out.indices(again) = better.indices;
}

}  // namespace

knn_result nearest_by_products(const ndarray& queries, const ndarray& points, int64_t k, product_order order,
                               const pair_distance& distance, const tile_function& tiles) {
  const product_search search{k, order, distance};
  const searched first = search.run(queries, points, scoring::plain);
  knn_result out = first.found;
  ndarray again = flatnonzero(first.doubt);
  if (again.size() == 0) return out;
  // Points that lie much closer to each other than to the centre, or at equal distances.
  const bool exact = order != product_order::cosines && is_exact(queries, points);
  if (exact || (order == product_order::squares && points.dtype() == dtype::f32)) {
    ndarray left;
    search_again(out, again, [&] {
      const searched second = search.run(take(queries, again, 0), points, exact ? scoring::exact : scoring::doubles);
      left = take(again, flatnonzero(second.doubt));
      return second.found;
    });
    again = left;
  }
  if (again.size() > 0)
    search_again(out, again, [&] { return nearest_by_tiles(take(queries, again, 0), points, k, tiles); });
  return out;
}

}  // namespace sinter::ops
