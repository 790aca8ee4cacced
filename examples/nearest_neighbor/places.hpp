// Named points on the sphere: read from the CSV files, or made at random.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace nearest_neighbor {

/// Points as the search takes them, and the names for the report. Random points have no names.
struct places {
  std::vector<float> radians;  // latitude, longitude, latitude, ...
  std::vector<std::string> names, countries;

  std::int64_t count() const { return static_cast<std::int64_t>(radians.size() / 2); }
  std::string name(std::int64_t i) const;
  std::string country(std::int64_t i) const;
  /// The points 0, step, 2 * step, ...
  places every(std::int64_t step) const;
};

/// A file that cannot be read, or a row that cannot be used: the message names the file and the line.
struct input_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

places read_cities(const std::string& path);    // name,country,lat,lon
places read_airports(const std::string& path);  // code,name,country,lat,lon

/// SplitMix64 (Steele, Lea, Flood 2014), from 0 to 1: the same numbers with every standard library.
double next_uniform(std::uint64_t& state);
/// `count` points spread evenly in probability over the sphere; the same seed gives the same points everywhere.
places random_places(std::int64_t count, std::uint64_t seed);

}  // namespace nearest_neighbor
