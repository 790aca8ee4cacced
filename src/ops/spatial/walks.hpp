// src/ops/spatial: distances, neighbours, trees of boxes over points.
//
// Loops with one thread for each query, over the text of jit/prelude/spatial: compiled with the library for the host, as
// kernels from text for a GPU. Arguments are evaluated at the call. Rows of results are in the order of the queries;
// `order`, a permutation, says in which order they are visited.
#pragma once
#include <cstdint>
#include <type_traits>

#include "sinter/ndarray.hpp"

namespace sinter::ops {

/// Norm of differences: 1, 2 (squared), 0 (the largest of them), 3 (the sum of powers p).
struct walk_norm {
  int kind = 2;
  double p = 2;
};

/// Points (count, dimensions), float32 or float64, in a tree as jit/prelude/spatial/tree.h describes it: in 1, 2, 3, 4, 8 or 16
/// dimensions, since points of others have been given zeros (with_tree_columns of tree.hpp).
struct point_tree {
  ndarray points, ids, boxes, least;
  ndarray cells;  // (2, dimensions): where the cells of the curve begin, and how many go into a unit
  std::int64_t count = 0;
  int dimensions = 1, leaves = 1, bucket = 8;
};

/// Distances as the walk_norm sums them, and ids, of the points nearest to each query; (infinite, count) where there is none.
struct nearest_found {
  ndarray distances, ids;
};
/// Rows of all neighbours, one after the other: row k begins at indptr[k] (int64, with the end), and is sorted by index.
struct all_found {
  ndarray indptr, indices, distances;
};
/// Which points are asked for: those within radii(m) of the queries (m, d); `after`: only points with a higher number.
struct ball_query {
  ndarray queries, order, radii;
  bool after = false;
};

class tree_walks {
 public:
  virtual ~tree_walks() = default;
  /// uint64: each point's place on the curve.
  virtual ndarray places(const ndarray& points, const ndarray& cells) const = 0;
  /// Makes `boxes` and `least`.
  virtual void make_boxes(point_tree& t) const = 0;
  virtual nearest_found nearest(const point_tree& t, walk_norm of, const ndarray& queries, const ndarray& order,
                                std::int64_t k, double bound) const = 0;
  /// int64 numbers of neighbours, of each query at most `limit`.
  virtual ndarray count(const point_tree& t, walk_norm of, const ball_query& q, std::int64_t limit) const = 0;
  virtual all_found within(const point_tree& t, walk_norm of, const ball_query& q) const = 0;
  /// int32: for each core point (uint8, by id) the lowest id in reach by steps of at most `radius` among core points, or a
  /// point from which one gets there in as many steps (forest[forest[...]]); other points are alone.
  virtual ndarray join(const point_tree& t, walk_norm of, double radius, const ndarray& core) const = 0;
  /// int64: the lowest of the labels (int64, by id) of core points within `radius`, else `none`.
  virtual ndarray label(const point_tree& t, walk_norm of, double radius, const ndarray& core, const ndarray& labels,
                        std::int64_t none) const = 0;
  /// join and label for lists of neighbours.
  virtual ndarray join_lists(const ndarray& indptr, const ndarray& indices, const ndarray& core) const = 0;
  virtual ndarray label_lists(const ndarray& indptr, const ndarray& indices, const ndarray& core, const ndarray& labels,
                              std::int64_t none) const = 0;
};

/// Loops on the host, and kernels from text.
const tree_walks& host_walks();
const tree_walks& text_walks();
/// Those that serve the array's device.
const tree_walks& walks_for(const ndarray& x);

/// All pairs of points within `radius`, as the norm sums it, of a tree on the host: (pairs, 2), int64, sorted, the lower id first.
ndarray pairs_on_host(const point_tree& t, walk_norm of, double radius);
/// How many pairs of a point of either of two trees on the host, of one dtype and number of dimensions, are within `radius`.
std::int64_t count_pairs_on_host(const point_tree& a, const point_tree& b, walk_norm of, double radius);

/// The points' places in a tree on the host, int64: each node's points, of evaluated rows, lie on two sides of a plane, so that
/// boxes do not overlap. Takes n log(leaves) comparisons.
ndarray order_by_medians(const ndarray& points, std::int64_t leaves, std::int64_t bucket);

/// Of a tree on the host and some evaluated queries: the mean part of its leaves that a search for the k nearest has to read, or one
/// for all points within `radius`, as the norm sums it.
double share_of_leaves(const point_tree& t, walk_norm of, const ndarray& queries, std::int64_t k);
double share_of_leaves_within(const point_tree& t, walk_norm of, const ndarray& queries, double radius);
/// Rows here and there of an array, evaluated, by which the share of all is estimated.
ndarray some_of(const ndarray& rows);
/// Up to this share a tree in more than three dimensions is faster than tiles of all points, or than products of them, if there are
/// some queries and points.
constexpr double most_share_of_leaves = 0.25, most_share_beside_products = 0.125;
constexpr std::int64_t least_of_wide_tree = 1024;

/// Whether loops of the host serve the array's device.
bool served_by_host(const ndarray& x);

/// For tests only: kernels from text serve the host too.
void walk_by_text_for_tests(bool on) noexcept;

/// f of the number of coordinates, a constant, with which points of a tree lie in memory.
template <class F>
auto with_dimensions(std::int64_t d, const F& f) {
  switch (d) {
    case 1: return f(std::integral_constant<int, 1>());
    case 2: return f(std::integral_constant<int, 2>());
    case 3: return f(std::integral_constant<int, 3>());
    case 4: return f(std::integral_constant<int, 4>());
    case 8: return f(std::integral_constant<int, 8>());
    default: return f(std::integral_constant<int, 16>());
  }
}

}  // namespace sinter::ops
