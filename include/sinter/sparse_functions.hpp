// Functions of sparse matrices and operators: norms, estimates of norms, the action of the exponential, with SciPy's names.
// Not part of sinter.hpp: `#include "sinter/sparse_linalg.hpp"`.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include "sinter/keywords.hpp"
#include "sinter/linalg_norms.hpp"
#include "sinter/ndarray.hpp"
#include "sinter/sparse_operator.hpp"

namespace sinter::inline v0 {
namespace sparse::linalg {

struct norm_kw {
  kwonly _kw{};
  /// "fro" or none: the root of the sum of squares; 1, -1: the largest and smallest sum of a column's magnitudes; infinity and
  /// its negative: of a row's; 2: the largest singular value (by svds; waits). Along an axis: 1, 2, infinity, -infinity, 0.
  sinter::linalg::norm_order ord{};
  optional_axis axis = std::nullopt;
};
/// Norm of a sparse matrix, or along an axis of its columns (0) or rows (1); real, of shape () or (extent,). Entries of equal place
/// are added up first. value_error: another order, as SciPy's.
ndarray norm(const sparse_array& A, const norm_kw& kw = {});

/// A multiplied by itself, `power` - 1 times; the identity for 0. shape_error: not square; value_error: power below 0.
sparse_array matrix_power(const sparse_array& A, std::int64_t power);

/// How many diagonals below and above the main one the stored entries reach; waits.
std::pair<std::int64_t, std::int64_t> spbandwidth(const sparse_array& A);
/// Whether no entry is stored above the main diagonal (A is lower triangular), and whether none is below it; waits.
std::pair<bool, bool> is_sptriangular(const sparse_array& A);

struct onenormest_kw {
  kwonly _kw{};
  std::int64_t t = 2;      // columns tried at a time
  std::int64_t itmax = 5;  // at least 2
};
/// What onenormest finds: a lower bound of the 1-norm of A, v (n,) with norm(A v, 1) = est norm(v, 1), and w = A v.
struct onenormest_result {
  double est = 0;
  ndarray v, w;
};
/// Estimate of the 1-norm of a square operator from its products and those of its adjoint (Higham and Tisseur, A Block Algorithm
/// for Matrix 1-Norm Estimation, with an Application to 1-Norm Pseudospectra, 2000), with fixed signs in place of random ones. Exact for
/// n <= 4 t. Waits in each iteration.
onenormest_result onenormest(const linear_operator& A, const onenormest_kw& kw = {});

/// exp(A) B of square A and B (n,) or (n, k), without exp(A) (Al-Mohy and Higham, Computing the Action of the Matrix Exponential,
/// 2011). `traceA`: the trace of A or an estimate of it, which shifts A: that of arrays is computed, of other operators 0 unless
/// given. Waits. Integers count as float64.
struct expm_multiply_kw {
  kwonly _kw{};
  std::optional<double> traceA{};
};
ndarray expm_multiply(const linear_operator& A, const ndarray& B, const expm_multiply_kw& kw = {});
/// exp(t A) B at `num` points t from start to stop, (num, n) or (num, n, k); without `endpoint` stop is left out. Each point is
/// computed from the one before it.
ndarray expm_multiply(const linear_operator& A, const ndarray& B, double start, double stop, std::int64_t num = 50,
                      bool endpoint = true, const expm_multiply_kw& kw = {});

}  // namespace sparse::linalg
}  // namespace sinter::inline v0
