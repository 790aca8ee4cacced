#include "orbit/model.hpp"

#include <cmath>
#include <numbers>
#include <sinter/grad.hpp>

namespace orbit {
namespace {

using namespace sn::idx;
using std::numbers::pi;

constexpr double gauss = 0.01720209895;  // of the sun's gravitation: radians in a day at one astronomical unit
constexpr double longitude_at_0 = 1.75;  // of the earth

/// Kepler's equation E - e sin E = M by Newton's steps.
ndarray eccentric_anomaly(const ndarray& e, const ndarray& mean) {
  ndarray at = mean + e * sn::sin(mean);
  for (int k = 0; k < 6; ++k) at = at - (at - e * sn::sin(at) - mean) / (1 - e * sn::cos(at));
  return at;
}

}  // namespace

ndarray directions(const ndarray& elements, const ndarray& days) {
  const ndarray a = elements(0), e = elements(1), tilt = elements(2), node = elements(3), perihelion = elements(4);
  const ndarray at = eccentric_anomaly(e, elements(5) + gauss * days / (a * sn::sqrt(a)));
  // In the plane of the orbit, from the line of nodes on.
  const ndarray u = a * (sn::cos(at) - e), v = a * sn::sqrt(1 - sn::square(e)) * sn::sin(at);
  const ndarray p = u * sn::cos(perihelion) - v * sn::sin(perihelion);
  const ndarray q = u * sn::sin(perihelion) + v * sn::cos(perihelion);
  const ndarray flat = q * sn::cos(tilt), z = q * sn::sin(tilt), earth = longitude_at_0 + gauss * days;
  const ndarray x = p * sn::cos(node) - flat * sn::sin(node) - sn::cos(earth);
  const ndarray y = p * sn::sin(node) + flat * sn::cos(node) - sn::sin(earth);
  return sn::stack({sn::arctan2(y, x), sn::arctan2(z, sn::hypot(x, y))});
}

ndarray residuals(const ndarray& elements, const ndarray& days, const ndarray& observed) {
  const ndarray off = observed - directions(elements, days), along = off(0);
  return sn::concatenate({sn::arctan2(sn::sin(along), sn::cos(along)) * sn::cos(observed(1)), off(1)});
}

fit fit_orbit(const ndarray& start, const ndarray& days, const ndarray& observed, int most_steps) {
  const auto of = [&](const ndarray& x) { return residuals(x, days, observed); };
  const auto size = [](const ndarray& r) { return std::sqrt(sn::mean(sn::square(r)).item<double>()); };
  fit out{start, {}, {}, false};
  ndarray r = of(out.elements);
  out.residuals.push_back(size(r));
  while (static_cast<int>(out.residuals.size()) <= most_steps) {
    const ndarray j = sn::jacobian(of)(out.elements), step = -sn::linalg::lstsq(j, r).x;
    // A step that would make the residuals larger is halved.
    double part = 1;
    ndarray next = out.elements + step, there = of(next);
    while (!(size(there) < out.residuals.back()) && part > 1e-3) {
      part /= 2;
      next = out.elements + part * step;
      there = of(next);
    }
    const double change = out.residuals.back() - size(there);
    if (change > 0) {
      out.elements = next;
      r = there;
      out.residuals.push_back(size(r));
    }
    out.converged = change <= 1e-9 * out.residuals.back();
    if (out.converged || change <= 0) break;
  }
  // An ellipse of negative eccentricity is the one turned by half a circle.
  if (out.elements(1).item<double>() < 0)
    out.elements = out.elements * sn::array({1., -1., 1., 1., 1., 1.}) + sn::array({0., 0., 0., 0., 1., 1.}) * pi;
  const ndarray j = sn::jacobian(of)(out.elements);
  const double variance = sn::sum(sn::square(r)).item<double>() / static_cast<double>(r.size() - element_count);
  out.deviations = sn::sqrt(variance * sn::diagonal(sn::linalg::inv(sn::matmul(j.T(), j))));
  return out;
}

}  // namespace orbit
