// Clusters of points: k-means, DBSCAN, trees of clusters, with the names of scikit-learn (kmeans, dbscan) and scipy.cluster.hierarchy
// (linkage, fcluster). Not part of sinter.hpp.
//
// Points are the rows of real arrays (n, d); the work is done on their device. float32 and float64 are computed as they are,
// float16 and bfloat16 in float32, integers and bools in float64. shape_error: not two axes; dtype_error: complex numbers;
// value_error: numbers that are not finite, and parameters out of range.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {
namespace cluster {

struct kmeans_kw {
  kwonly _kw{};
  std::string_view init = "k-means++";  ///< or "random": points drawn without repetition
  ndarray centers{};                    ///< the start (n_clusters, d), in place of `init`
  std::int64_t n_init = 1;  ///< how many starts; the result with the least inertia counts. One with given centers
  std::int64_t max_iter = 300;
  /// Lloyd's iteration ends when the centers' squared movements add up to at most tol times the mean variance of the columns, or
  /// when no label has changed.
  double tol = 1e-4;
  ndarray sample_weight{};                     ///< (n,), not negative; 1 unless given
  std::optional<std::int64_t> random_state{};  ///< the seed; the operating system's unless given
};
struct kmeans_result {
  ndarray cluster_centers;  ///< (n_clusters, d)
  ndarray labels;           ///< int64 (n,): the nearest center
  double inertia = 0;       ///< the sum of weight times squared distance to the nearest center
  std::int64_t n_iter = 0;
  /// The nearest center of other points (m, d): int64 (m,).
  ndarray predict(const ndarray& x) const;
};
/// Lloyd's algorithm, as scikit-learn's KMeans(algorithm="lloyd"): with the same start the same labels and, up to rounding, centers.
/// "k-means++" is Arthur and Vassilvitskii's start with 2 + log(n_clusters) trials for each center; its random numbers are
/// the library's own. Nearest centers are found by matrix products of centred points on the CPU, by differences on a GPU; sums are
/// taken in float64 on the CPU. A cluster that loses all points moves to the point farthest from its center. The device decides when
/// to stop; the host looks after each step on the CPU, after every eighth on a GPU, where empty clusters wait so long.
/// value_error: fewer points than clusters.
kmeans_result kmeans(const ndarray& x, std::int64_t n_clusters, const kmeans_kw& kw = {});

struct minibatch_kmeans_kw {
  kwonly _kw{};
  std::string_view init = "k-means++";
  ndarray centers{};
  std::int64_t batch_size = 1024;
  std::int64_t max_iter = 100;           ///< passes over the data, in batches
  std::int64_t max_no_improvement = 10;  ///< batches without a lower smoothed inertia before it ends
  /// It ends too when the centers' squared movements of a batch add up to at most tol times the mean variance of the columns; 0: never.
  double tol = 0;
  /// Starts that are compared on one sample of points; 1 by "k-means++", 3 by "random" unless given.
  std::optional<std::int64_t> n_init{};
  std::optional<std::int64_t> init_size{};  ///< points that a start is made of; 3 batches, at least 3 n_clusters
  /// Centers that have had fewer points than this share of the largest one's move to points of the batch; 0: none do.
  double reassignment_ratio = 0.01;
  ndarray sample_weight{};  ///< (n,), not negative; 1 unless given
  std::optional<std::int64_t> random_state{};
};
/// Sculley's mini-batches: each draws points with repetition, and moves each center to the mean of all points that it has had so far,
/// by the rules of scikit-learn's MiniBatchKMeans. inertia and labels are those of all points. n_iter counts batches.
/// value_error: parameters out of range.
kmeans_result minibatch_kmeans(const ndarray& x, std::int64_t n_clusters, const minibatch_kmeans_kw& kw = {});
/// A start alone: n_clusters points of x by k-means++.
ndarray kmeans_plusplus(const ndarray& x, std::int64_t n_clusters, std::optional<std::int64_t> random_state = {});

struct dbscan_kw {
  kwonly _kw{};
  std::int64_t min_samples = 5;  ///< points within eps, itself included, that make a core point
  /// "haversine" of (latitude, longitude), another one of spatial::radius_neighbors, or "precomputed": x is (n, n), of distances.
  std::string_view metric = "euclidean";
  std::optional<double> p{};  ///< of "minkowski"
  /// (n,), of any sign: what points within eps add up to min_samples; 1 unless given. Neighbours are lists then.
  ndarray sample_weight{};
};
struct dbscan_result {
  ndarray labels;               ///< int64 (n,): clusters in the order of their first core points, -1 for noise
  ndarray core_sample_indices;  ///< int64, ascending
  std::int64_t n_clusters = 0;
};
/// Density-based clusters (Ester, Kriegel, Sander and Xu, 1996) with scikit-learn's labels: a border point belongs to the first
/// cluster that it is near to. In up to three dimensions (Euclidean), on the CPU in up to sixteen where a tree has to read at most a
/// quarter of its leaves, and for haversine, neighbours are walked in a tree and never stored; else they are lists. Waits. value_error: eps <= 0, min_samples < 1, precomputed
/// distances below 0.
dbscan_result dbscan(const ndarray& x, double eps = 0.5, const dbscan_kw& kw = {});

struct linkage_kw {
  kwonly _kw{};
  std::string_view method = "single";     ///< "complete", "average", "weighted", "ward"
  std::string_view metric = "euclidean";  ///< of observations: a metric of spatial::pdist; ward takes only this one
};
/// The tree of clusters that agglomeration makes, as scipy.cluster.hierarchy.linkage: float64 (n - 1, 4), a row for each merge, in
/// order of distance: the two clusters (the lower number first; those of row i are number n + i), their distance, the size. `y` is
/// pdist's vector of distances or observations (n, d). Distances are computed on y's device in float64, the tree on the host by one
/// thread, from n x n numbers in memory: for some ten thousands of points at most. value_error: fewer than 2 points, an unknown method.
ndarray linkage(const ndarray& y, const linkage_kw& kw = {});

struct fcluster_kw {
  kwonly _kw{};
  std::string_view criterion = "inconsistent";  ///< "distance", "maxclust", "monocrit", "maxclust_monocrit"
  std::int64_t depth = 2;                       ///< of the inconsistency
  ndarray R{};                                  ///< the inconsistencies that inconsistent() gives, where they are known
  ndarray monocrit{};  ///< (n - 1,): of each merge what the last two criteria compare with t, not less than below it
};
/// Flat clusters of a tree: int64 labels (n,) from 1 on, numbered as SciPy does. "distance": points whose clusters merge at up to t;
/// "inconsistent": below which no merge has an inconsistency above t; "maxclust": at most t clusters, of a distance as small as
/// possible; "monocrit" and "maxclust_monocrit": the same of values that are given. On the host. value_error: not a tree, another criterion, less
/// than one cluster.
ndarray fcluster(const ndarray& z, double t, const fcluster_kw& kw = {});
/// Of each merge the mean and the deviation of the distances of the merges up to `depth` - 1 levels below and of itself, their
/// number, and how many deviations its distance is above the mean: float64 (n - 1, 4), on the host.
ndarray inconsistent(const ndarray& z, std::int64_t depth = 2);

}  // namespace cluster
}  // namespace sinter::inline v0
