// The orbit of a body around the sun, seen from the earth.
#pragma once
#include <sinter/sinter.hpp>
#include <vector>

namespace orbit {

namespace sn = sinter;
using sn::ndarray;

constexpr int element_count = 6;
constexpr const char* const element_names[element_count] = {"semi-axis", "eccentricity", "inclination",
                                                            "node",      "perihelion",   "anomaly"};

/// Directions (2, n) from the earth at times (n,) in days: ecliptic longitude and latitude in radians. Elements (6,): the
/// semi-major axis in astronomical units, the eccentricity, then angles in radians: inclination, longitude of the node,
/// argument of the perihelion, mean anomaly at time 0. The earth's orbit is a circle.
ndarray directions(const ndarray& elements, const ndarray& days);

/// Observed minus computed (2 n,) in radians: differences of longitude are those between -pi and pi, as arcs on the sky.
ndarray residuals(const ndarray& elements, const ndarray& days, const ndarray& observed);

/// A fit by Gauss and Newton: what it found, the root of the mean square of the residuals before each step and at the end,
/// the standard deviations that follow from it.
struct fit {
  ndarray elements, deviations;
  std::vector<double> residuals;
  bool converged = false;
};
fit fit_orbit(const ndarray& start, const ndarray& days, const ndarray& observed, int most_steps);

}  // namespace orbit
