// Distances and neighbours, with the names and rules of scipy.spatial: cdist and pdist, the k nearest points and all points
// within a radius, KDTree. Not part of sinter.hpp.
//
// Points are the rows of real arrays (n, d), all on one device, where the work is done. float32 and float64 are computed as
// they are, float16 and bfloat16 in float32, integers and bools in float64; two arrays promote first. shape_error: not two
// axes, or other dimensions than those of the other points; dtype_error: complex numbers; value_error: an unknown metric, or
// a parameter that the metric does not take.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::ops {
struct point_tree;
}

namespace sinter::inline v0 {
namespace spatial {

/// Parameters of metrics. Undefined arrays were not given.
struct metric_kw {
  kwonly _kw{};
  std::optional<double>
      p{};       ///< minkowski: at least 1 ("p" > 0 below 1 is no metric, and allowed as in SciPy); 2 unless given
  ndarray w{};   ///< weights (d,), not negative; not with seuclidean and mahalanobis
  ndarray V{};   ///< seuclidean: the variances (d,); unless given, those of all points, divided by n - 1
  ndarray VI{};  ///< mahalanobis: the inverse covariance (d, d); unless given, that of all points
};
/// The distance of each row of xa (m, d) to each row of xb (n, d): (m, n), recorded; on the CPU up to 2^20 distances in up to eight
/// dimensions may be computed at the call. Differences are taken, and never products of
/// the vectors for euclidean distances, so that what lies close together keeps its digits.
///
/// Metrics: "euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine", "correlation", "canberra", "braycurtis",
/// "hamming", "jensenshannon", "seuclidean", "mahalanobis"; of truth values (elements that are not zero) "jaccard", "dice",
/// "rogerstanimoto", "russellrao", "sokalsneath", "yule"; and "haversine" of (latitude, longitude) in radians, which SciPy does
/// not have: the angle of the great circle (d = 2, no weights). Formulas, weights and values where a denominator is 0 are those of
/// scipy.spatial.distance.cdist. The default parameters of seuclidean and mahalanobis are recorded, too; value_error: weights below
/// 0 and p <= 0 (looking at the weights waits).
ndarray cdist(const ndarray& xa, const ndarray& xb, std::string_view metric = "euclidean", const metric_kw& kw = {});
/// The distances among the rows of x (n, d), i < j, row after row: (n (n - 1) / 2,). Recorded on a GPU, where only these pairs are
/// computed; on the CPU at the call.
ndarray pdist(const ndarray& x, std::string_view metric = "euclidean", const metric_kw& kw = {});

struct squareform_kw {
  kwonly _kw{};
  bool checks = true;  ///< of a matrix: value_error unless it is symmetric with zeros on its diagonal, which waits
};
/// From pdist's vector to the symmetric matrix (n, n), or back. value_error: a vector whose length is no n (n - 1) / 2;
/// shape_error: a matrix that is not square.
ndarray squareform(const ndarray& x, const squareform_kw& kw = {});
/// Minkowski's distances: p >= 1, infinity for the largest difference (m, d), (n, d) -> (m, n).
ndarray distance_matrix(const ndarray& x, const ndarray& y, double p = 2);

/// Keywords of knn and radius_neighbors.
struct neighbors_kw {
  kwonly _kw{};
  /// A metric of cdist, or "inner_product": the negative product, whose nearest are the largest.
  std::string_view metric = "euclidean";
  /// In place of the metric: C++ text that assigns `z` from x(j) and y(j), j < d, as a generalized_kernel's
  /// "T s = 0; for (int j = 0; j < d; ++j) s += fabs(x(j) - y(j)); z = s;".
  std::string_view text{};
  std::optional<double> p{};
  ndarray w{}, V{}, VI{};
  bool return_distance = true;  ///< false: `distances` stays undefined
};
/// Distances in the dtype of the points as they are computed, indices int64; both (m, k).
struct knn_result {
  ndarray distances, indices;
};
/// The k nearest points (n, d) of each query (m, d), nearest first, of equal distances the lower index first: as sorting all
/// distances gives them, but nothing of m x n elements is stored. 1 <= k <= 1024, k <= n: value_error.
///
/// Euclidean distances (squared ones, of angles and products too) in more than three dimensions come by matrix products of tiles,
/// whose candidates are measured again by differences; where rounding could have hidden a neighbour, the query's row is computed
/// by differences (float32; so float64). In up to three dimensions of Euclidean distances, cityblock, chebyshev and minkowski with p >= 1, and
/// for haversine a tree serves; so it does on the CPU in up to sixteen for 1024 queries and points or more, where 64 of the queries would
/// read at most a quarter of its leaves. All other metrics and texts go by tiles of cdist. Waits. NaN distances come last.
knn_result knn(const ndarray& queries, const ndarray& points, std::int64_t k, const neighbors_kw& kw = {});

/// The neighbours of query i are indices[indptr[i]] to indices[indptr[i + 1] - 1], ascending, with their distances: the parts of
/// a CSR matrix. indptr and indices are int64.
struct neighbor_lists {
  ndarray indptr, indices, distances;
};
/// All points (n, d) with a distance <= radius from each query (m, d), by the same trees or by tiles. Waits. value_error: a radius that is NaN.
neighbor_lists radius_neighbors(const ndarray& queries, const ndarray& points, double radius,
                                const neighbors_kw& kw = {});

struct kdtree_kw {
  kwonly _kw{};
  /// Points in a leaf. Unless given 8 on a GPU; on the CPU 16, in four dimensions or more 32.
  std::optional<std::int64_t> leafsize{};
};
struct query_kw {
  kwonly _kw{};
  double p = 2;  ///< Minkowski's, at least 1; infinity is allowed
  double distance_upper_bound = std::numeric_limits<double>::infinity();
};
struct ball_kw {
  kwonly _kw{};
  double p = 2;
};
/// Points in one to sixteen dimensions for questions about neighbours, with the questions of scipy.spatial.KDTree. It is a tree of
/// boxes over the points in the order of a Hilbert curve, made by a sort and a few kernels on the points' device, and walked there
/// by one thread for each query. Points of 5 to 7 and 9 to 15 dimensions take the memory and time of 8 and 16. Points are copied; they may coincide. Answers are exact in the dtype of the points (float32 or
/// float64): those of comparing all distances, which are cdist's.
///
/// shape_error: points that are not (n, 1) to (n, 16), n of 2^31 or more (knn serves more dimensions); value_error: points or queries
/// that are not finite, which waits; p < 1.
class KDTree {
 public:
  explicit KDTree(const ndarray& data, const kdtree_kw& kw = {});

  std::int64_t n() const noexcept;
  std::int64_t m() const noexcept;  ///< dimensions
  /// The points in their order.
  const ndarray& data() const noexcept;

  /// Of points x (..., m) the k nearest: distances and int64 indices (..., k), without the last axis where k is 1; nearest first,
  /// of equal distances the lower index first. Only distances below the bound count: what is missing has an infinite distance and
  /// the index n. value_error: k < 1.
  knn_result query(const ndarray& x, std::int64_t k = 1, const query_kw& kw = {}) const;
  /// All points within r, a number or one for each, of the points x (..., m) in C order.
  neighbor_lists query_ball_point(const ndarray& x, const operand& r, const ball_kw& kw = {}) const;
  /// How many they are: int64 (...), SciPy's return_length.
  ndarray query_ball_count(const ndarray& x, const operand& r, const ball_kw& kw = {}) const;
  /// The pairs i < j of points at most r apart: int64 (pairs, 2), ascending.
  ndarray query_pairs(double r, const ball_kw& kw = {}) const;
  /// How many pairs of a point here and one there are at most r apart; of the tree with itself each pair counts twice, and each
  /// point with itself. int64, of r's shape.
  ndarray count_neighbors(const KDTree& other, const operand& r, const ball_kw& kw = {}) const;

 private:
  ndarray data_;
  std::shared_ptr<const ops::point_tree> tree_;
};

}  // namespace spatial
}  // namespace sinter::inline v0
