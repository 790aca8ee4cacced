// Whether k nearest neighbours are right, by computing all distances of some rows in float64.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "knn.hpp"

namespace nearest_neighbor {

/// p (M, dimensions), q (N, dimensions). Looks at rows 0, step, 2 * step, ... of `found`: k different neighbours in
/// order, each at the distance that it says and none farther than the neighbour of that rank in float64, up to 1e-5 of
/// the distance or what float32 leaves of it (1 m; 1e-6 for the others). Returns the first mistake, or nothing.
std::string check_knn(const std::vector<float>& p, const std::vector<float>& q, int dimensions, const knn_result& found,
                      metric how, std::int64_t step);

}  // namespace nearest_neighbor
