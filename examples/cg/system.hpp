// Systems to solve, and how right a solution is.
#pragma once
#include <cstdint>

#include "cg/iteration.hpp"
#include "common/verdict.hpp"

namespace cg {

struct linear_system {
  ndarray a, b;
};

/// a: (n, n) float64, symmetric, 3 times the identity and a random matrix whose eigenvalues fill [-2, 2] (Wigner's
/// semicircle); b: random numbers of [-1, 1). The same for the same seed on every device.
linear_system random_system(std::int64_t n, std::uint64_t seed);

/// A bound on the largest eigenvalue of such a matrix over the smallest one, for matrices that are not tiny.
constexpr double largest_condition = 10;

/// ||b - a x|| / ||b||.
double relative_residual(const linear_system& s, const ndarray& x);

/// ||x - y|| / ||y||, against what a residual of `tolerance` allows: the condition number times it.
examples::verdict compare(const ndarray& x, const ndarray& y, double tolerance);

}  // namespace cg
