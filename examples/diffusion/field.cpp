// Makes the random field: numbers from a host generator, interpolation by array expressions.
#include "diffusion/field.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/random.hpp"

namespace diffusion {
namespace {

using namespace sn::idx;

ndarray random_lattice(std::int64_t m, examples::generator& random) {
  std::vector<float> numbers(static_cast<std::size_t>(m * m));
  for (float& v : numbers) v = 2 * random.uniform(-0.5f);
  return sn::array(numbers.data(), {m, m});
}

/// A lattice with `cell` elements between its points, interpolated at (n, n) elements.
ndarray interpolated(const ndarray& lattice, std::int64_t n, std::int64_t cell) {
  const auto i = sn::arange(n) / cell;  // lattice coordinates, float64
  const auto below = sn::floor(i).astype(sn::int64);
  const auto part = (i - below).astype(sn::float32);
  const auto rows =
      sn::take(lattice, below, 0) * (1 - part)(_, newaxis) + sn::take(lattice, below + 1, 0) * part(_, newaxis);
  return sn::take(rows, below, 1) * (1 - part) + sn::take(rows, below + 1, 1) * part;
}

}  // namespace

ndarray random_field(std::int64_t n, std::uint64_t seed) {
  examples::generator random(seed);
  ndarray field = sn::zeros({n, n}, {.dtype = sn::float32});
  double weight = 1;
  for (std::int64_t cell = std::max<std::int64_t>(n / 4, 1); cell >= 1; cell /= 2, weight *= std::sqrt(0.5)) {
    field += weight * interpolated(random_lattice((n - 1) / cell + 2, random), n, cell);
    sn::eval(field);  // one lattice after the other, rather than all of them in memory at once
  }
  return field / sn::max(sn::absolute(field));
}

}  // namespace diffusion
