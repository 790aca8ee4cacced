// The method of conjugate gradients (Hestenes and Stiefel, Methods of Conjugate Gradients for Solving Linear Systems,
// 1952) for a x = b with a symmetric positive definite matrix, by array expressions.
#pragma once
#include <functional>

#include <sinter/sinter.hpp>

namespace cg {

namespace sn = sinter;
using sn::ndarray;

/// What an iteration changes: the solution so far, the residual b - a x, the direction, and the residual's square. All
/// of it stays on the device.
struct state {
  ndarray x, r, p, rr;
};

/// Begins at x = 0.
state begin(const ndarray& b);

/// One iteration: a product of the matrix and a vector, two sums of products, three vectors changed. Nothing waits for
/// the device.
void iterate(const ndarray& a, state& s);

struct settings {
  double tolerance = 1e-10;  // of the residual's norm relative to that of b
  int every = 5;             // iterations between two checks of the residual, which wait for the device
  int most = 1000;           // iterations
};
struct outcome {
  ndarray x;
  int iterations = 0;
  double residual = 0;  // relative, as the iteration keeps it
  bool converged = false;
};
/// `report` is called with the number of iterations and the relative residual whenever it is checked. Stops
/// where it is not a number, too.
outcome solve(const ndarray& a, const ndarray& b, const settings& how,
              const std::function<void(int, double)>& report = {});

}  // namespace cg
