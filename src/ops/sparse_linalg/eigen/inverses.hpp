// Inverses of operators, for eigenvalues near a number and of pairs of matrices.
#pragma once
#include <functional>

#include "ops/sparse_linalg/iteration.hpp"

namespace sinter::ops {

/// A - sigma M, of arrays an array; M may be undefined: the identity.
linear_operator shifted(const linear_operator& a, const linear_operator& m, double sigma, dtype type);

/// b to A^-1 b: by splu of a sparse array, LU of a dense one, both of which factor now; else by gmres, linalg_error where it does
/// not converge.
std::function<ndarray(const ndarray&)> inverse_of(const char* function, const linear_operator& a, dtype type);

}  // namespace sinter::ops
