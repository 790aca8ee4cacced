#include "ops/sparse_linalg/eigen/inverses.hpp"

#include "ops/base/errors.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/linalg_systems.hpp"
#include "sinter/sparse.hpp"
#include "sinter/sparse_factors.hpp"

namespace sinter::ops {

using sparse::sparse_array;

namespace {

sparse_array sparse_identity(std::int64_t n, dtype type, const device& on) {
  return sparse::identity(n, {.dtype = type, .device = on});
}

/// The operator's matrix as a dense array; undefined where there is none.
ndarray dense_matrix(const linear_operator& a) {
  const auto& body = body_of(a, "eigsh");
  if (const sparse_array s = body.as_sparse(); s.defined()) return s.toarray();
  return body.as_dense();
}

}  // namespace

linear_operator shifted(const linear_operator& a, const linear_operator& m, double sigma, dtype type) {
  if (sigma == 0) return a;
  const auto& body = body_of(a, "eigsh");
  const std::int64_t n = body.rows();
  const sparse_array s = body.as_sparse(), of_m = m.defined() ? body_of(m, "eigsh").as_sparse() : sparse_array();
  if (s.defined() && (!m.defined() || of_m.defined()))
    return s.astype(type) - (m.defined() ? of_m.astype(type) : sparse_identity(n, type, s.device())) * sigma;
  const ndarray d = dense_matrix(a);
  if (d.defined() && !m.defined()) return d.astype(type) - sigma * eye(n, {.dtype = type, .device = d.device()});
  if (const ndarray other = m.defined() ? dense_matrix(m) : ndarray(); d.defined() && other.defined())
    return d.astype(type) - sigma * other.astype(type);
  return a - scalar(sigma) * (m.defined() ? m : sparse::linalg::identity_operator({n, n}, type));
}

std::function<ndarray(const ndarray&)> inverse_of(const char* function, const linear_operator& a, dtype type) {
  const auto& body = body_of(a, function);
  if (const sparse_array s = body.as_sparse(); s.defined()) return sparse::linalg::factorized(s.astype(type).tocsc());
  if (const ndarray d = body.as_dense(); d.defined())
    return [factors = sinter::linalg::lu_factor(d.astype(type))](const ndarray& x) {
      return sinter::linalg::lu_solve(factors, x);
    };
  return [function, a, type](const ndarray& b) {
    sparse::linalg::gmres_kw kw{.rtol = 16 * epsilon_of(type)};
    sparse::linalg::solution s = sparse::linalg::gmres(a, b, kw);
    // A cycle whose vectors span all ends with what rounding has left of the residual, which another start makes smaller.
    for (int start = 1; start < 3 && s.info != 0; ++start) {
      kw.x0 = s.x;
      s = sparse::linalg::gmres(a, b, kw);
    }
    if (s.info != 0)
      fail<linalg_error>(function, "gmres, for the inverse of an operator, did not converge in ", s.info, " cycles");
    return s.x;
  };
}

}  // namespace sinter::ops
