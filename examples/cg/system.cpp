#include "cg/system.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "common/random.hpp"

namespace cg {
namespace {

ndarray random_numbers(const sn::shape_t& shape, std::int64_t count, std::uint64_t seed) {
  examples::generator random(seed);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& v : numbers) v = 2 * random.uniform(-0.5f);
  return sn::reshape(sn::array(numbers), shape).astype(sn::float64);
}

double norm(const ndarray& x) { return sn::linalg::norm(x).item<double>(); }

}  // namespace

linear_system random_system(std::int64_t n, std::uint64_t seed) {
  const ndarray g = random_numbers({n, n}, n * n, seed);
  // Elements of variance 1/3, two of which are added: the sum gets variance 1/n.
  const double scale = std::sqrt(1.5 / static_cast<double>(n));
  const ndarray a = 3.0 * sn::eye(n) + scale * (g + g.T()), b = random_numbers({n}, n, seed + 1);
  sn::eval(a, b);
  return {a, b};
}

double relative_residual(const linear_system& s, const ndarray& x) {
  return norm(s.b - sn::matmul(s.a, x)) / norm(s.b);
}

examples::verdict compare(const ndarray& x, const ndarray& y, double tolerance) {
  return {norm(x - y) / norm(y), largest_condition * tolerance};
}

}  // namespace cg
