// Matrices of a structure, bases of subspaces, systems by Cholesky factors.
#include "ops/base/of_examples.hpp"
#include "sinter/linalg_matrices.hpp"

#include <algorithm>
#include <limits>

#include "ops/base/axes.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/linalg_systems.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/take.hpp"

namespace sinter::inline v0::linalg {

using namespace ops;

ndarray block_diag(const std::vector<ndarray>& blocks) {
  if (blocks.empty()) return zeros({1, 0});
  std::vector<ndarray> matrices;
  std::int64_t columns = 0;
  for (const ndarray& b : blocks) {
    if (view_of(b, "block_diag").shape.size() > 2) fail<shape_error>("block_diag", "a block of shape ", b.shape());
    common_device(blocks[0], b, "block_diag");
    matrices.push_back(atleast_2d(b));
    columns += matrices.back().shape(1);
  }
  const dtype type = promoted_dtype(blocks, "block_diag");
  std::vector<ndarray> rows;
  std::int64_t before = 0;
  for (const ndarray& m : matrices) {
    const create_kw like{.dtype = type, .device = m.device()};
    const std::int64_t n = m.shape(0), behind = columns - before - m.shape(1);
    rows.push_back(concatenate({zeros({n, before}, like), m.astype(type, false), zeros({n, behind}, like)}, 1));
    before += m.shape(1);
  }
  return concatenate(rows, 0);
}

namespace {

/// Element (i, j) of the result is element first + i * down + j of a vector.
ndarray diagonals(const ndarray& values, std::int64_t rows, std::int64_t columns, std::int64_t first, int down) {
  const ndarray own = values.copy();
  return in_c_order(view_as(own, dims{rows, columns}, dims{down, 1}, rows * columns == 0 ? 0 : first));
}

ndarray without_first(const ndarray& r) { return slice_of(r, 0, std::min<std::int64_t>(1, r.shape(0)), r.shape(0)); }

}  // namespace

ndarray toeplitz(const ndarray& c, const optional_array& r) {
  const ndarray column = ravel(c), row = r ? ravel(*r) : is_complex(c.dtype()) ? conj(column) : column;
  const std::int64_t n = column.shape(0), m = row.shape(0);
  return diagonals(concatenate({flip(column), without_first(row)}), n, m, n - 1, -1);
}

ndarray hankel(const ndarray& c, const optional_array& r) {
  const ndarray column = ravel(c), row = r ? ravel(*r) : zeros_like(column);
  return diagonals(concatenate({column, without_first(row)}), column.shape(0), row.shape(0), 0, 1);
}

ndarray circulant(const ndarray& c) {
  if (view_of(c, "circulant").shape.size() != 1)
    fail<shape_error>("circulant", "needs a vector, not shape ", c.shape());
  const std::int64_t n = c.shape(0);
  if (n == 0) return zeros({0, 0}, {.dtype = c.dtype(), .device = c.device()});
  const ndarray i = arange(n, {.device = c.device()});
  return take(c, remainder(expand_dims(i, 1) - i, n));
}

namespace {

/// The singular values and vectors of a matrix, and how many values count.
struct decomposition {
  svd_result of;
  std::int64_t rank = 0;
};

decomposition decomposed(const ndarray& x, std::optional<double> rcond, bool full, const char* function) {
  const dims& shape = view_of(x, function).shape;
  if (shape.size() != 2) fail<linalg_error>(function, "needs a matrix, not shape ", shape);
  decomposition d{svd(x, {.full_matrices = full})};
  const std::vector<double> s = d.of.s.to_vector<double>();
  const double eps =
      d.of.s.dtype() == float32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const double least =
      (s.empty() ? 0.0 : s[0]) * rcond.value_or(eps * static_cast<double>(std::max(shape[0], shape[1])));
  d.rank = std::count_if(s.begin(), s.end(), [&](double v) { return v > least; });
  return d;
}

}  // namespace

ndarray null_space(const ndarray& x, std::optional<double> rcond) {
  const auto again = [rcond](std::span<const ndarray> o) { return results_of(null_space(o[0], rcond)); };
  if (auto r = intercept_mapped("null_space", {&x}, again)) return (*r)[0];
  const decomposition d = decomposed(x, rcond, true, "null_space");
  return conj(slice_of(d.of.vh, 0, d.rank, d.of.vh.shape(0)).T());
}

ndarray orth(const ndarray& x, std::optional<double> rcond) {
  const auto again = [rcond](std::span<const ndarray> o) { return results_of(orth(o[0], rcond)); };
  if (auto r = intercept_mapped("orth", {&x}, again)) return (*r)[0];
  const decomposition d = decomposed(x, rcond, false, "orth");
  return in_c_order(slice_of(d.of.u, 1, 0, d.rank));
}

cho_factors cho_factor(const ndarray& x, const cho_kw& kw) { return {cholesky(x, {.upper = !kw.lower}), kw.lower}; }

ndarray cho_solve(const cho_factors& factors, const ndarray& b) {
  // l l^H x = b, or u^H u x = b.
  const bool lower = factors.lower;
  const ndarray half = solve_triangular(factors.c, b, {.lower = lower, .trans = lower ? 0 : 2});
  return solve_triangular(factors.c, half, {.lower = lower, .trans = lower ? 2 : 0});
}

}  // namespace sinter::inline v0::linalg
