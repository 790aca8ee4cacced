// Projected problems of blocks of vectors: matrices of a few dozen rows on the host, in double precision.
#pragma once
#include <vector>

#include "ops/sparse_linalg/iteration.hpp"

namespace sinter::ops {

/// conj(x^T).
ndarray adjoint_of(const ndarray& x);
/// A small matrix on the host, in float64 or complex128. Waits.
ndarray host_matrix(const ndarray& x);
/// The products x_i^H y_j of rows in row i and column j, made Hermitian, on the host. Waits.
ndarray gram_of(const ndarray& x, const ndarray& y);

/// T of T^H G T = 1 by G's Cholesky factor; undefined where there is none.
ndarray gram_cholesky_inverse(const ndarray& g);
/// T of T^H G T = 1 by G's eigenvectors, whose diagonal is about 1, without those that are rounding alone: as many columns as are
/// left (Stathopoulos and Wu, A Block Orthogonalization Procedure with Constant Synchronization Requirements, 2002).
ndarray gram_orthonormal(const ndarray& g, double epsilon);

struct gram_solution {
  std::vector<double> values;
  ndarray vectors;  // columns; undefined where M is not positive definite
};
/// A x = w M x of Hermitian matrices, the largest or the smallest values first.
gram_solution gram_eigen(const ndarray& a, const ndarray& m, bool largest);

}  // namespace sinter::ops
