// Trees over points, and questions that KDTree, knn and clusters ask.
#pragma once
#include <memory>
#include <optional>

#include "ops/spatial/walks.hpp"
#include "sinter/spatial.hpp"

namespace sinter::ops {

constexpr std::int64_t most_tree_dimensions = 16;
/// Points of 1 to 16 dimensions with as many as a tree has: zeros are put beside them, which changes no distance. Evaluated.
ndarray with_tree_columns(const ndarray& points);
/// A tree over the rows of an evaluated array of float32 or float64, with those columns.
point_tree make_tree(const ndarray& points, std::optional<std::int64_t> leafsize = {});
/// value_error if any number is not finite; waits.
void require_finite(const ndarray& x, const char* what, const char* function);

/// Minkowski's p; value_error below 1.
walk_norm norm_of(double p, const char* function);
/// From sums of a norm's terms to distances, recorded; and from a radius to such a sum.
ndarray distances_of(const ndarray& sums, walk_norm of);
double sum_of(double distance, walk_norm of);

/// The order in which queries should be walked: along the tree's curve where they are many.
ndarray walking_order(const point_tree& t, const ndarray& queries);
/// All points within radii (m) of the queries, with distances.
spatial::neighbor_lists lists_within(const point_tree& t, walk_norm of, const ball_query& q);

/// (latitude, longitude) in radians as unit vectors, float64; and what the squared chord of an angle is.
ndarray unit_vectors(const ndarray& points);
double chord_squared(double angle);
ndarray angles_of(const ndarray& chords_squared);

}  // namespace sinter::ops
