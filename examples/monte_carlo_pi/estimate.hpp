// Pi by throwing points at a square and counting those inside of the quarter circle.
#pragma once
#include <cstdint>
#include <vector>

#include <sinter/sinter.hpp>

#include "common/verdict.hpp"

namespace monte_carlo_pi {

namespace sn = sinter;
using examples::verdict;
using sn::ndarray;
using sn::random::generator;

/// How many of `points` random points lie inside: an int64 of rank 0, recorded. Evaluating it is one kernel that draws,
/// squares, compares and counts; no array is stored.
ndarray count_inside(generator& g, std::int64_t points);
/// The same points, stored before they are counted.
ndarray count_stored(generator& g, std::int64_t points);

struct estimate {
  std::int64_t inside = 0, points = 0;
  double pi() const { return 4 * static_cast<double>(inside) / static_cast<double>(points); }
};
/// The standard deviation of an estimate from so many points: 4 sqrt(p (1 - p) / points), p = pi / 4.
double standard_error(std::int64_t points);

/// An estimate for each of several generators, all counted in one evaluation.
std::vector<estimate> estimates(std::vector<generator> streams, std::int64_t points);

/// How far an estimate is from pi: 4.5 standard errors are allowed, which one in 150,000 exceeds.
verdict distance_from_pi(const estimate& e);
/// How far the spread of several estimates is from their standard error, in standard deviations of such a spread; 4.5
/// are allowed.
verdict spread_of(const std::vector<estimate>& all);

}  // namespace monte_carlo_pi
