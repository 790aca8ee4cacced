// Great-circle distances of single points on the host, in km. Points are latitude and longitude in radians.
#pragma once
#include <cmath>

namespace nearest_neighbor {

inline constexpr double earth_radius_km = 6371.0088;

/// The haversine formula as the array expression of search.hpp computes it, in `T`.
template <class T>
T great_circle_km(T lat1, T lon1, T lat2, T lon2) {
  const T u = std::sin((lat2 - lat1) / 2), v = std::sin((lon2 - lon1) / 2);
  const T h = u * u + std::cos(lat1) * std::cos(lat2) * (v * v);
  // Between opposite points rounding makes h a little more than 1, where asin has no value.
  return static_cast<T>(2 * earth_radius_km) * std::asin(std::sqrt(h < 1 ? h : T(1)));
}

/// In double, of points in float.
inline double exact_km(const float* p, const float* q) { return great_circle_km<double>(p[0], p[1], q[0], q[1]); }

/// The resolution of float: 1e-5 of a distance or 1 m, the larger.
inline double tolerance_km(double km) { return std::fmax(1e-5 * km, 1e-3); }

}  // namespace nearest_neighbor
