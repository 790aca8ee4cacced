// min |A x - b|^2 + lambda |x|^2 with a random sparse A, by least squares of A with sqrt(lambda) times the identity below it.
#pragma once
#include <cstdint>
#include <vector>

#include <sinter/sinter.hpp>
#include <sinter/sparse.hpp>
#include <sinter/sparse_linalg.hpp>

namespace ridge {

namespace sn = sinter;
using sn::ndarray;
using sn::sparse::sparse_array;

struct problem {
  sparse_array a;  // float64, uniform numbers in random places
  ndarray b;       // A times a vector of ones, and noise
};
/// The same for the same sizes on every device.
problem random_problem(std::int64_t rows, std::int64_t columns, double density);

/// `a` above sqrt(lambda) times the identity, and b above zeros.
problem stacked(const problem& p, double lambda);

/// A point of the L-curve.
struct point {
  double lambda = 0, residual = 0, size = 0;  // |A x - b|, |x|
  double slope = 0;                           // |A^T (b - A x) - lambda x| relative to |A^T b|: 0 at the minimum
  std::int64_t steps = 0, code = 0;           // LSMR's
};
/// Solves the stacked problem of p and lambda.
point solve(const problem& p, const problem& stack, double lambda);

}  // namespace ridge
