// Derivatives of solutions of A x = b, and solutions for each example of a vmap.
//
// A derivative does not go through the steps of a solver, whose numbers the host may have read. The equation has it:
// dx = A^-1 (db - dA x). With the solution x0 for constant A and b, x = x0 + S(b - A x0), where S solves with A for constants and
// the residual is recorded: so the slopes by whatever A is made of, a function's arrays included, are those of a product. S is
// a call whose derivatives solve again, with A or its transpose.
#pragma once
#include <functional>
#include <optional>

#include "sinter/sparse_solvers.hpp"

namespace sinter::ops {

/// (A - shift) x = b.
struct implicit_equation {
  const char* function;
  sparse::linalg::linear_operator a;
  double shift = 0;
  /// Solves with another right side, or A's transpose; from 0.
  std::function<ndarray(const ndarray& b, bool transposed)> solve;
};

/// A^T, also undefined. One that is its own adjoint needs no function for that.
sparse::linalg::linear_operator transposed(const sparse::linalg::linear_operator& a, bool hermitian);

/// The solution where a derivative or a vmap follows what b or A depend on; nothing otherwise. `first` solves as the caller has asked.
std::optional<sparse::linalg::solution> solved_implicitly(
    const implicit_equation& e, const ndarray& b, const std::function<sparse::linalg::solution(const ndarray&)>& first);

}  // namespace sinter::ops
