// Plain loops over pairs of places.
#include <algorithm>
#include <cmath>
#include <string>

#include "groups.hpp"
#include "nearest_neighbor/great_circle.hpp"

namespace clusters {
namespace {

using nearest_neighbor::exact_km;

const float* place(const places& p, std::int64_t i) { return &p.radians[static_cast<std::size_t>(2 * i)]; }
std::int64_t label_of(const grouping& g, std::int64_t i) { return g.labels[static_cast<std::size_t>(i)]; }

}  // namespace

std::string check(const places& p, const grouping& regions, double km, std::int64_t least) {
  const std::int64_t n = p.count(), step = std::max<std::int64_t>(1, n / 400);
  // Distances within rounding of the limit say nothing.
  const double near = km * (1 - 1e-6), far = km * (1 + 1e-6);
  for (std::int64_t i = 0; i < n; i += step) {
    std::int64_t within = 0, about = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const double d = exact_km(place(p, i), place(p, j));
      within += d <= near, about += d <= far;
    }
    const auto own = label_of(regions, i);
    if (within >= least && own < 0) return p.name(i) + " has " + std::to_string(within) + " near, and is of no region";
    if (within < least || own < 0) continue;
    for (std::int64_t j = 0; j < n; ++j)
      if (exact_km(place(p, i), place(p, j)) <= near && label_of(regions, j) < 0)
        return p.name(j) + " is near to the core of a region, and of none";
  }
  return {};
}

std::string check(const places& p, const parts_of_sphere& parts) {
  double sum = 0;
  for (std::int64_t i = 0; i < p.count(); ++i) {
    double nearest = HUGE_VAL;
    for (std::int64_t c = 0; c < parts.count; ++c)
      nearest = std::min(nearest, exact_km(place(p, i), &parts.centers[static_cast<std::size_t>(2 * c)]));
    const double said = exact_km(place(p, i), &parts.centers[static_cast<std::size_t>(2 * label_of(parts, i))]);
    if (!(said <= nearest + 0.01)) return p.name(i) + " is nearer to another centre";
    sum += said;
  }
  if (!(std::abs(sum / static_cast<double>(p.count()) - parts.mean_km) < 0.01)) return "the mean distance is wrong";
  return {};
}

}  // namespace clusters
