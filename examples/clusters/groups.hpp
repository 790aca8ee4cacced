// Groups of airports: dense regions by DBSCAN, and parts of the sphere by k-means.
#pragma once
#include <cstdint>
#include <vector>

#include "nearest_neighbor/places.hpp"

namespace clusters {

using nearest_neighbor::places;

struct grouping {
  std::vector<std::int64_t> labels;  // of each place; -1: of no group
  std::int64_t count = 0;
  double seconds = 0;
  /// How many places each group has.
  std::vector<std::int64_t> sizes() const;
};

/// Regions where every place of the core has `least` places, itself included, within `km` on the sphere.
grouping dense_regions(const places& p, double km, std::int64_t least);

/// k-means of the unit vectors, whose means, put back on the sphere, are the groups' centres.
struct parts_of_sphere : grouping {
  std::vector<float> centers;  // (latitude, longitude) in radians
  double mean_km = 0;          // from a place to its centre, on average
};
parts_of_sphere divide(const places& p, std::int64_t k, std::int64_t seed);

/// Compares with plain loops over some of the places: the message of what is wrong, or none.
std::string check(const places& p, const grouping& regions, double km, std::int64_t least);
std::string check(const places& p, const parts_of_sphere& parts);

}  // namespace clusters
