// Matrices of a structure, bases of subspaces, and systems by Cholesky factors, with the names of scipy.linalg. What factorises
// runs at the call and waits; the others record.
#pragma once
#include <optional>
#include <vector>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {
namespace linalg {

/// Matrices (vectors are rows) one below and right of the other, zeros elsewhere; dtypes promote. shape_error: rank above 2.
ndarray block_diag(const std::vector<ndarray>& blocks);
/// The matrix with constant diagonals that has `c` as first column and `r` as first row (its first element is c's); without r
/// it is conj(c).
ndarray toeplitz(const ndarray& c, const optional_array& r = {});
/// The matrix with constant antidiagonals that has `c` as first column and `r` as last row (its first element is c's);
/// without r that is zeros.
ndarray hankel(const ndarray& c, const optional_array& r = {});
/// The square matrix of which each column is the one before, shifted down by one.
ndarray circulant(const ndarray& c);

/// The orthonormal bases of a matrix's null space and range as columns, by singular values: those up to `rcond` (epsilon times
/// the larger extent unless given) of the largest one count as 0. linalg_error: rank other than 2.
ndarray null_space(const ndarray& x, std::optional<double> rcond = {});
ndarray orth(const ndarray& x, std::optional<double> rcond = {});

/// Keyword of cho_factor: which triangle holds the factor.
struct cho_kw {
  kwonly _kw{};
  bool lower = false;
};
struct cho_factors {
  ndarray c;
  bool lower = false;
};
/// The Cholesky factor of Hermitian positive definite matrices, for cho_solve; zeros in the other triangle. linalg_error as
/// cholesky.
cho_factors cho_factor(const ndarray& x, const cho_kw& kw = {});
/// Solves the system of the matrices that were factorised.
ndarray cho_solve(const cho_factors& factors, const ndarray& b);

}  // namespace linalg
}  // namespace sinter::inline v0
