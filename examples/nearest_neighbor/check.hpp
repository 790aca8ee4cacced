// Whether several methods agree with each other and with float64.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "places.hpp"
#include "report.hpp"

namespace nearest_neighbor {

/// What one method found for the cities 0, step, 2 * step, ...
struct answer {
  const result* found = nullptr;
  std::int64_t step = 1;
  double floor_km = 1e-3;  // what its distances may be off, where that is more than 1e-5 of them
};

struct verdict {
  std::int64_t rows = 0;   // compared
  std::int64_t other = 0;  // that name another airport than the first answer does
  double worst_km = 0;     // the largest distance beyond the nearest that anybody (or float64) found
  std::string failure;     // the first row that is wrong; empty: none
};

/// Compares answers row by row, in float64. A row is right if its index is in range, its airport is no farther than the
/// nearest that any answer names for that city, and its distance is that airport's, both up to 1e-5 of the distance or
/// `floor_km`. On some hundred rows the nearest of all airports in float64 takes part too. Throws nothing: read
/// `failure`.
std::vector<verdict> compare(const places& cities, const places& airports, const std::vector<answer>& answers);

}  // namespace nearest_neighbor
