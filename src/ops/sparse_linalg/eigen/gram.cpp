#include "ops/sparse_linalg/eigen/gram.hpp"

#include <algorithm>
#include <cmath>

#include "ops/base/errors.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/linalg_systems.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/products.hpp"

namespace sinter::ops {

using namespace idx;

ndarray adjoint_of(const ndarray& x) { return is_complex(x.dtype()) ? conj(x.T()) : x.T(); }

ndarray host_matrix(const ndarray& x) {
  return x.to_host().astype(is_complex(x.dtype()) ? complex128 : float64, {.device = cpu});
}

ndarray gram_of(const ndarray& x, const ndarray& y) {
  const ndarray g = host_matrix(matmul(is_complex(x.dtype()) ? conj(x) : x, y.T()));
  return (g + adjoint_of(g)) / 2;
}

ndarray gram_cholesky_inverse(const ndarray& g) {
  ndarray lower;
  try {
    lower = linalg::cholesky(g);
  } catch (const linalg_error&) {
    return {};
  }
  return adjoint_of(
      linalg::solve_triangular(lower, eye(g.shape(0), {.dtype = g.dtype(), .device = cpu}), {.lower = true}));
}

ndarray gram_orthonormal(const ndarray& g, double epsilon) {
  const auto e = linalg::eigh(g);
  const std::vector<double> values = e.eigenvalues.to_vector<double>();
  // A direction of length sqrt(v) of what unit vectors span has an error of epsilon / sqrt(v) of its own length.
  const double least = 1e3 * epsilon * std::max(values.empty() ? 0 : values.back(), 1e-300);
  std::int64_t dropped = 0;
  while (dropped < static_cast<std::int64_t>(values.size()) && !(values[static_cast<std::size_t>(dropped)] > least))
    ++dropped;
  return e.eigenvectors(_, slice(dropped, _)) / sqrt(e.eigenvalues(slice(dropped, _)));
}

gram_solution gram_eigen(const ndarray& a, const ndarray& m, bool largest) {
  const ndarray turn = gram_cholesky_inverse(m);
  if (!turn.defined()) return {};
  const ndarray inner = matmul(adjoint_of(turn), matmul(a, turn));
  const auto e = linalg::eigh((inner + adjoint_of(inner)) / 2);
  gram_solution out{e.eigenvalues.to_vector<double>(), matmul(turn, e.eigenvectors)};
  if (!largest) return out;
  std::reverse(out.values.begin(), out.values.end());
  out.vectors = flip(out.vectors, 1);
  return out;
}

}  // namespace sinter::ops
