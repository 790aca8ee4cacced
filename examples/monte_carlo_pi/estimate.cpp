// Draws, counts, and what chance allows.
#include "monte_carlo_pi/estimate.hpp"

#include <cmath>

namespace monte_carlo_pi {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double allowed = 4.5;

ndarray inside(const ndarray& x, const ndarray& y) { return sn::sum(x * x + y * y < 1.0); }

}  // namespace

ndarray count_inside(generator& g, std::int64_t points) {
  const ndarray x = g.random(points, {.dtype = sn::float32});
  const ndarray y = g.random(points, {.dtype = sn::float32});
  return inside(x, y);
}

ndarray count_stored(generator& g, std::int64_t points) {
  const ndarray x = g.random(points, {.dtype = sn::float32});
  const ndarray y = g.random(points, {.dtype = sn::float32});
  sn::eval(x, y);
  return inside(x, y);
}

double standard_error(std::int64_t points) {
  const double p = pi / 4;
  return 4 * std::sqrt(p * (1 - p) / static_cast<double>(points));
}

std::vector<estimate> estimates(std::vector<generator> streams, std::int64_t points) {
  std::vector<ndarray> counts;
  for (generator& g : streams) counts.push_back(count_inside(g, points));
  std::vector<estimate> all;
  for (const std::int64_t n : sn::stack(counts).to_vector<std::int64_t>()) all.push_back({n, points});
  return all;
}

verdict distance_from_pi(const estimate& e) { return {std::fabs(e.pi() - pi), allowed * standard_error(e.points)}; }

// A sample variance of n normal numbers has a relative standard deviation of sqrt(2 / (n - 1)).
verdict spread_of(const std::vector<estimate>& all) {
  double sum = 0;
  for (const estimate& e : all) {
    const double z = (e.pi() - pi) / standard_error(e.points);
    sum += z * z;
  }
  const double n = static_cast<double>(all.size());
  return {std::fabs(sum / n - 1) / std::sqrt(2 / n), allowed};
}

}  // namespace monte_carlo_pi
