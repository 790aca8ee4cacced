// The search itself, line by line as NumPy would write it. It runs as fused kernels: the M x N distances never exist.
#pragma once
#include <sinter/sinter.hpp>

#include "great_circle.hpp"

namespace nearest_neighbor {

namespace sn = sinter;
using sn::ndarray;

/// For each of M points: the nearest of N others, and how far it is.
struct neighbours {
  ndarray index;     // (M,) int64
  ndarray distance;  // (M,) float32, km
};

/// Great-circle distances between all of `p` (M, 2) and all of `q` (N, 2), latitude and longitude in radians: (M, N).
inline ndarray haversine(const ndarray& p, const ndarray& q) {
  using namespace sn::idx;
  const auto lat1 = p(_, newaxis, 0), lon1 = p(_, newaxis, 1);
  const auto lat2 = q(_, 0), lon2 = q(_, 1);
  const auto h =
      sn::square(sn::sin((lat2 - lat1) / 2)) + sn::cos(lat1) * sn::cos(lat2) * sn::square(sn::sin((lon2 - lon1) / 2));
  // Between opposite points float32 rounds h to a little more than 1, where arcsin has no value.
  return 2 * earth_radius_km * sn::arcsin(sn::sqrt(sn::minimum(h, 1)));
}

inline neighbours find_nearest(const ndarray& p, const ndarray& q) {
  using namespace sn::idx;
  const auto d = haversine(p, q);
  const auto i = sn::argmin(d, 1, {.keepdims = true});
  return {i(_, 0), sn::take_along_axis(d, i, 1)(_, 0)};
}

}  // namespace nearest_neighbor
