// k nearest neighbours the plain way, in float64.
#include "knn_check.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "great_circle.hpp"

namespace nearest_neighbor {
namespace {

double exact_distance(const float* p, const float* q, int dimensions, metric how) {
  if (how == metric::haversine) return exact_km(p, q);
  double squares = 0, product = 0, pp = 0, qq = 0;
  for (int d = 0; d < dimensions; ++d) {
    const double x = p[d], y = q[d];
    squares += (x - y) * (x - y), product += x * y, pp += x * x, qq += y * y;
  }
  return how == metric::euclidean ? std::sqrt(squares) : 1 - product / std::sqrt(pp * qq);
}

double tolerance(double distance, metric how) {
  return std::fmax(1e-5 * distance, how == metric::haversine ? 1e-3 : 1e-6);
}

std::string wrong(std::int64_t row, int rank, std::int64_t index, double said, double exactly, double wanted) {
  char text[200];
  std::snprintf(text, sizeof text, "row %lld, number %d: %lld at %.7g, which is at %.7g; number %d is at %.7g",
                static_cast<long long>(row), rank + 1, static_cast<long long>(index), said, exactly, rank + 1, wanted);
  return text;
}

}  // namespace

std::string check_knn(const std::vector<float>& p, const std::vector<float>& q, int dimensions, const knn_result& found,
                      metric how, std::int64_t step) {
  const auto d = static_cast<std::int64_t>(dimensions), n = static_cast<std::int64_t>(q.size()) / d,
             m = static_cast<std::int64_t>(p.size()) / d, k = static_cast<std::int64_t>(found.k);
  if (static_cast<std::int64_t>(found.index.size()) != m * k || found.distance.size() != found.index.size())
    return std::to_string(found.index.size()) + " results for " + std::to_string(m) + " rows of " + std::to_string(k);
  for (std::int64_t i = 0; i < m; i += step) {
    std::vector<double> all;
    for (std::int64_t j = 0; j < n; ++j)
      all.push_back(
          exact_distance(&p[static_cast<std::size_t>(i * d)], &q[static_cast<std::size_t>(j * d)], dimensions, how));
    auto order = all;
    std::partial_sort(order.begin(), order.begin() + k, order.end());
    std::set<std::int64_t> seen;
    for (int rank = 0; rank < found.k; ++rank) {
      const auto at = static_cast<std::size_t>(i * k + rank);
      const auto j = found.index[at];
      const double said = found.distance[at], wanted = order[static_cast<std::size_t>(rank)];
      if (j < 0 || j >= n || !seen.insert(j).second) return wrong(i, rank, j, said, NAN, wanted);
      const double exactly = all[static_cast<std::size_t>(j)], room = tolerance(wanted, how);
      const bool sorted = rank == 0 || found.distance[at - 1] <= found.distance[at];
      if (!(std::abs(exactly - wanted) <= room && std::abs(said - exactly) <= room && sorted))
        return wrong(i, rank, j, said, exactly, wanted);
    }
  }
  return {};
}

}  // namespace nearest_neighbor
