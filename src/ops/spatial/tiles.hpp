// Searches by tiles of queries and points, of which only the best are kept.
#pragma once
#include <functional>

#include "sinter/spatial.hpp"

namespace sinter::ops {

/// Recorded distances of each query of a tile (m, d) to each of its points (n, d): (m, n).
using tile_function = std::function<ndarray(const ndarray&, const ndarray&)>;
/// The same of vectors along the last axis that broadcast otherwise.
using pair_distance = std::function<ndarray(const ndarray&, const ndarray&)>;

spatial::knn_result nearest_by_tiles(const ndarray& queries, const ndarray& points, std::int64_t k,
                                     const tile_function& distances);
/// What a distance is made of: squared differences, minus the product, 1 less the product of unit vectors.
enum class product_order { squares, products, cosines };
/// Candidates by matrix products, measured by
/// `distance`; by `tiles`, which measures in the same way, where rounding leaves a doubt. Waits for the doubts.
spatial::knn_result nearest_by_products(const ndarray& queries, const ndarray& points, std::int64_t k,
                                        product_order order, const pair_distance& distance, const tile_function& tiles);
/// All points within a distance, by strips of rows.
spatial::neighbor_lists lists_by_strips(const ndarray& queries, const ndarray& points, double radius,
                                        const tile_function& distances);

}  // namespace sinter::ops
