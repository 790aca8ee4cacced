// Golub and Kahan's bidiagonalisation, with which lsqr and lsmr begin each step:
//   beta u = A v - alpha u,  alpha v = A^H u - beta v.
// The vectors are kept without their last division, `u` times beta and `v` times alpha: that joins the next use of them, and a
// step has two passes over vectors less.
#pragma once
#include <optional>

#include "ops/sparse_linalg/iteration.hpp"

namespace sinter::ops {

struct bidiagonalisation {
  const char* function;
  linear_operator a;
  ndarray u, v;         // beta u, alpha v
  ndarray beta, alpha;  // float64, of rank 0
  ndarray x;            // where the iteration starts
  double norm_of_b = 0;
  std::int64_t rows = 0, columns = 0;

  /// Of b - A x0. Waits. shape_error, value_error.
  static bidiagonalisation begin(const char* function, const linear_operator& a, const ndarray& b,
                                 const optional_array& x0);
  /// Given 1 / alpha and alpha / beta of the step before.
  void step(const ndarray& inverse_alpha, const ndarray& alpha_over_beta);
  /// v with length 1; a vector of zeros stays one.
  ndarray direction(const ndarray& inverse_alpha) const { return v * factor(inverse_alpha); }

  sinter::device device() const { return u.device(); }
  /// A number as one that vectors are multiplied with.
  ndarray factor(const ndarray& number) const;
};

}  // namespace sinter::ops
