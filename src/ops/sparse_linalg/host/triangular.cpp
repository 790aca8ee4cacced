// Triangular systems, row by row on the host.
#include <complex>
#include <vector>

#include "ops/base/errors.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/sparse_linalg/iteration.hpp"
#include "sinter/creation.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/sparse_factors.hpp"

namespace sinter::inline v0 {

using namespace ops;
using sparse::sparse_array;
using std::int64_t;

namespace {

/// Solves in place for the columns of x, (n, columns) in C order.
template <class T>
void substitute(const sparse_array& a, std::vector<T>& x, int64_t columns, bool lower, bool unit) {
  const auto starts = a.indptr().to_vector<int64_t>(), places = a.indices().to_vector<int64_t>();
  const auto values = for_host(a.data(), "spsolve_triangular").to_vector<T>();
  const int64_t n = a.shape(0);
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = lower ? step : n - 1 - step;
    T diagonal = unit ? T(1) : T(0);
    T* const row = x.data() + i * columns;
    for (auto k = static_cast<std::size_t>(starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(starts[static_cast<std::size_t>(i) + 1]); ++k) {
      const int64_t j = places[k];
      if (j == i && !unit) diagonal += values[k];
      if (lower ? j >= i : j <= i) continue;
      const T* const from = x.data() + j * columns;
      for (int64_t c = 0; c < columns; ++c) row[c] -= values[k] * from[c];
    }
    if (diagonal == T(0))
      fail<linalg_error>("spsolve_triangular", "A of shape ", a.shape(), " is singular: a zero on the diagonal in row ",
                         i);
    if (!unit)
      for (int64_t c = 0; c < columns; ++c) row[c] /= diagonal;
  }
}

template <class T>
ndarray solved(const sparse_array& a, const ndarray& b, const sparse::linalg::spsolve_triangular_kw& kw) {
  std::vector<T> x = for_host(b, "spsolve_triangular").to_vector<T>();
  substitute(a, x, b.ndim() == 1 ? 1 : b.shape(1), kw.lower, kw.unit_diagonal);
  return array(x.data(), b.shape(), {.device = b.device()});
}

}  // namespace

namespace sparse::linalg {

ndarray spsolve_triangular(const sparse_array& A, const ndarray& b, const spsolve_triangular_kw& kw) {
  if (!A.defined()) fail<value_error>("spsolve_triangular", "the sparse array is undefined");
  if (!b.defined()) fail<value_error>("spsolve_triangular", "b is undefined (default-constructed or moved from)");
  if (A.shape(0) != A.shape(1)) fail<shape_error>("spsolve_triangular", "A of shape ", A.shape(), " is not square");
  if (b.ndim() < 1 || b.ndim() > 2 || b.shape(0) != A.shape(0))
    fail<shape_error>("spsolve_triangular", "A of shape ", A.shape(), " and b of shape ", b.shape());
  const sinter::dtype type = promote_types(solver_dtype(A.dtype()), solver_dtype(b.dtype()));
  const sparse_array a = A.to_host().tocsr().astype(type);
  const ndarray right = b.astype(type, false);
  if (type == sinter::dtype::f32) return solved<float>(a, right, kw);
  if (type == sinter::dtype::c64) return solved<std::complex<float>>(a, right, kw);
  if (type == sinter::dtype::c128) return solved<std::complex<double>>(a, right, kw);
  return solved<double>(a, right, kw);
}

}  // namespace sparse::linalg

}  // namespace sinter::inline v0
