// Points shared by the tests of the nearest-neighbour example.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "nearest_neighbor/places.hpp"

namespace nearest_neighbor {

struct point_sets {
  places from, to;
};

/// A patch of 20 x 20 references about `metres` apart around (latitude, 0.8), and points between them: neighbours are a
/// few metres away. float32 radians are up to 0.24e-6 * 6371 km = 0.8 m apart there; the points are exactly
/// representable.
inline point_sets metres_apart(double latitude, double metres) {
  point_sets out;
  const double step = metres / 6371008.8;
  for (int a = 0; a < 20; ++a)
    for (int b = 0; b < 20; ++b) {
      const double lat = latitude + a * step, lon = 0.8 + b * step / std::cos(latitude);
      out.to.radians.insert(out.to.radians.end(), {static_cast<float>(lat), static_cast<float>(lon)});
      if ((a + b) % 4 == 0)
        out.from.radians.insert(out.from.radians.end(),
                                {static_cast<float>(lat + 0.3 * step), static_cast<float>(lon + 0.4 * step)});
    }
  return out;
}

/// Points all over the globe, and references antipodal to some of them.
inline point_sets opposite_points() {
  point_sets out;
  for (int k = 0; k < 2000; ++k) {
    const float lat = -1.5f + 0.0015f * static_cast<float>(k), lon = -3.0f + 0.001f * static_cast<float>(k);
    out.from.radians.insert(out.from.radians.end(), {lat, lon});
  }
  out.to.radians = {0.3f, 0.2f};
  out.from.radians.insert(out.from.radians.end(), {-0.3f, 0.2f - 3.14159265f, -0.3f, 0.2f - 3.1415925f});
  return out;
}

/// (count, dimensions), uniform in a cube around the origin.
inline std::vector<float> random_vectors(std::int64_t count, int dimensions, std::uint64_t seed) {
  std::vector<float> out(static_cast<std::size_t>(count * dimensions));
  for (auto& x : out) x = static_cast<float>(2 * next_uniform(seed) - 1);
  return out;
}

}  // namespace nearest_neighbor
