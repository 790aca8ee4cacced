// Row by row comparison of the answers, on all cores.
#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>

#include "common/cores.hpp"
#include "great_circle.hpp"

namespace nearest_neighbor {
namespace {

const float* point(const places& p, std::int64_t i) { return &p.radians[static_cast<std::size_t>(2 * i)]; }

double nearest_km(const float* city, const places& airports) {
  double best = INFINITY;
  for (std::int64_t j = 0; j < airports.count(); ++j) best = std::fmin(best, exact_km(city, point(airports, j)));
  return best;
}

void add(verdict& to, const verdict& more) {
  to.rows += more.rows;
  to.other += more.other;
  to.worst_km = std::fmax(to.worst_km, more.worst_km);
  if (to.failure.empty()) to.failure = more.failure;
}

std::string wrong(std::int64_t city, std::int64_t airport, double said, double exactly, double nearest) {
  char text[200];
  std::snprintf(text, sizeof text, "city %lld: airport %lld at %.6g km, which is at %.6g km; the nearest is at %.6g km",
                static_cast<long long>(city), static_cast<long long>(airport), said, exactly, nearest);
  return text;
}

/// A point across the 180th meridian lies almost 2 pi of longitude away, and float rounds such a difference by up to half
/// a unit in its last place, 2^-22: what that is on the ground for a city that may have such a neighbour within `km`.
double rounding_across(const float* city, double km) {
  const double pi = std::acos(-1.0), on_ground = earth_radius_km * std::cos(city[0]);
  return on_ground * (pi - std::abs(double(city[1]))) <= 1.01 * km ? on_ground * 0x1p-22 : 0;
}

/// All answers for one city; `nearest` is at first what float64 found, or infinite.
void compare_city(const places& cities, const places& airports, const std::vector<answer>& answers, std::int64_t city,
                  double nearest, std::vector<verdict>& verdicts) {
  std::vector<double> exactly(answers.size(), NAN);
  std::int64_t last = -1, first = -1;
  double last_km = 0;
  const auto index_of = [&](const answer& a) { return a.found->index[static_cast<std::size_t>(city / a.step)]; };
  for (std::size_t k = 0; k < answers.size(); ++k) {
    if (city % answers[k].step != 0) continue;
    const auto j = index_of(answers[k]);
    ++verdicts[k].rows;
    if (first < 0) first = j;
    verdicts[k].other += j != first;
    if (j < 0 || j >= airports.count()) continue;
    if (j != last) last = j, last_km = exact_km(point(cities, city), point(airports, j));
    exactly[k] = last_km;
    nearest = std::fmin(nearest, last_km);
  }
  for (std::size_t k = 0; k < answers.size(); ++k) {
    if (city % answers[k].step != 0) continue;
    const double said = answers[k].found->distance[static_cast<std::size_t>(city / answers[k].step)];
    verdicts[k].worst_km = std::fmax(verdicts[k].worst_km, exactly[k] - nearest);
    const auto room = [&](double km) {
      const double across = rounding_across(point(cities, city), km);
      return std::fmax(1e-5 * km, answers[k].floor_km) + across;
    };
    // Written so that NaN fails.
    const bool right = exactly[k] - nearest <= room(nearest) && std::abs(said - exactly[k]) <= room(exactly[k]);
    if (!right && verdicts[k].failure.empty())
      verdicts[k].failure = wrong(city, index_of(answers[k]), said, exactly[k], nearest);
  }
}

}  // namespace

std::vector<verdict> compare(const places& cities, const places& airports, const std::vector<answer>& answers) {
  std::vector<verdict> out(answers.size());
  for (std::size_t k = 0; k < answers.size(); ++k) {
    const auto rows = static_cast<std::size_t>((cities.count() + answers[k].step - 1) / answers[k].step);
    if (answers[k].found->index.size() != rows || answers[k].found->distance.size() != rows) {
      out[k].failure = "it has results for " + std::to_string(answers[k].found->index.size()) + " cities";
      return out;
    }
  }
  // Some hundred cities against all airports, but no more than a second or so of them.
  const std::int64_t exact_rows = std::clamp<std::int64_t>(20'000'000 / airports.count(), 1, 300);
  const std::int64_t exact_step = std::max<std::int64_t>(1, cities.count() / exact_rows);
  std::mutex guard;
  examples::on_cores(cities.count(), 4096, examples::core_count(), [&](std::int64_t begin, std::int64_t end) {
    std::vector<verdict> part(answers.size());
    for (std::int64_t i = begin; i < end; ++i)
      compare_city(cities, airports, answers, i,
                   i % exact_step == 0 ? nearest_km(point(cities, i), airports) : INFINITY, part);
    const std::lock_guard lock(guard);
    for (std::size_t k = 0; k < out.size(); ++k) add(out[k], part[k]);
  });
  return out;
}

}  // namespace nearest_neighbor
