// The scheme in plain loops, and the bounds that results are held to.
#include "diffusion/check.hpp"

#include <algorithm>
#include <cmath>

namespace diffusion {
namespace {

double largest_magnitude(const ndarray& u) { return sn::max(sn::absolute(u)).item<double>(); }

void reflect(std::vector<double>& u, std::size_t n) {
  for (std::size_t k = 1; k + 1 < n; ++k) {
    u[k] = u[n + k];
    u[(n - 1) * n + k] = u[(n - 2) * n + k];
    u[k * n] = u[k * n + 1];
    u[k * n + n - 1] = u[k * n + n - 2];
  }
  // No step reads the corners; they are the nearest inner elements.
  u[0] = u[n + 1], u[n - 1] = u[2 * n - 2];
  u[(n - 1) * n] = u[(n - 2) * n + 1], u[n * n - 1] = u[(n - 1) * n - 2];
}

}  // namespace

std::vector<double> plain_steps(std::vector<double> u, std::int64_t side, int steps, const scheme& s) {
  const auto n = static_cast<std::size_t>(side);
  auto next = u;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t i = 1; i + 1 < n; ++i)
      for (std::size_t j = 1; j + 1 < n; ++j) {
        const std::size_t at = i * n + j;
        next[at] = u[at] + s.rate * (u[at - n] + u[at + n] + u[at - 1] + u[at + 1] - 4 * u[at]);
      }
    if (s.border == border::reflecting) reflect(next, n);
    std::swap(u, next);
  }
  return u;
}

double rounding_bound(int steps, const scheme& s, double magnitude) {
  // Sizes in units of the magnitude: the sums of two, three and four neighbours, less four times the element (17 in
  // all), the product with the rate (8 rate), the rounding of the rate itself (8 rate), the result (1).
  const double sizes = (17 + 8 + 8) * s.rate + 1;
  return steps * sizes * 0x1p-24 * magnitude;
}

verdict compare_with_loops(const ndarray& start, const ndarray& result, int steps, const scheme& s) {
  const auto exact = plain_steps(start.to_vector<double>(), start.shape(0), steps, s);
  const auto found = result.to_vector<double>();
  verdict v{0, rounding_bound(steps, s, largest_magnitude(start))};
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const double error = std::fabs(found.at(k) - exact[k]);
    if (!(error <= v.error)) v.error = error;
    if (std::isnan(error)) break;
  }
  return v;
}

double inner_sum(const ndarray& u) { return sn::sum(u["1:-1, 1:-1"], {.dtype = sn::float64}).item<double>(); }

verdict compare_sums(const ndarray& start, const ndarray& result, int steps, const scheme& s) {
  const double elements = static_cast<double>(start["1:-1, 1:-1"].size());
  return {std::fabs(inner_sum(result) - inner_sum(start)) / elements,
          rounding_bound(steps, s, largest_magnitude(start))};
}

}  // namespace diffusion
