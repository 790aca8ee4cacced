// Singular values and eigenvalues: which orientation of a matrix LAPACK receives, and its results as arrays.
#include <algorithm>
#include <complex>
#include <memory>

#include "ops/base/axes.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/base/type_rules.hpp"
#include "ops/linalg/parts.hpp"
#include "ops/linalg/solver_calls.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/sort.hpp"

namespace sinter::inline v0 {

using namespace ops;
using runtime::right_vectors;
using runtime::svd_part;
using std::int64_t;

namespace {

constexpr const char* no_singular_values = "SVD did not converge";
constexpr const char* no_eigenvalues = "Eigenvalues did not converge";

dtype complex_of(dtype t) { return t == dtype::f32 || t == dtype::c64 ? dtype::c64 : dtype::c128; }

// --- singular values

/// The unitary factors of matrices without elements are identities.
linalg::svd_result svd_of_nothing(const ndarray& x, const matrix_stack& s, svd_part part, dtype type) {
  const int64_t k = std::min(s.rows, s.columns);
  const ndarray values = zeros_beside(x, s.with({k}), real_of(type));
  if (part == svd_part::values) return {{}, values, {}};
  const bool full = part == svd_part::full;
  const int64_t left = full ? s.rows : k, right = full ? s.columns : k;
  return {identities(x, s, s.rows, left, type).copy(), values, identities(x, s, right, s.columns, type).copy()};
}

/// u, s and v^H of the matrices in column-major memory, which is overwritten.
linalg::svd_result svd_in(const value& memory, const matrix_stack& s, svd_part part, const char* function) {
  const bool full = part == svd_part::full, vectors = part != svd_part::values;
  const dtype type = memory->type;
  const int64_t k = std::min(s.rows, s.columns);
  const value values = unset_leaf(s.with({k}), real_of(type), memory->device);
  const value info = unset_leaf(s.batch, dtype::i32, memory->device);
  const int64_t left = full ? s.rows : k, right = full ? s.columns : k;
  value u, v;
  if (vectors) {
    u = unset_leaf(s.with({left, s.rows}), type, memory->device);
    v = unset_leaf(s.with({right, s.columns}), type, memory->device);
  }
  const right_vectors found = solvers_of(memory).svd(s.layout(type, function), part, address_to_write(memory),
                                                     address_to_write(values), vectors ? address_to_write(u) : nullptr,
                                                     vectors ? address_to_write(v) : nullptr, integers_to_write(info));
  require_success(info, function, no_singular_values);
  if (!vectors) return {{}, wrap(values), {}};
  if (found == right_vectors::v) return {by_columns(u), wrap(values), conjugated(wrap(v))};
  // The same memory holds v^H column-major, (right x columns).
  return {by_columns(u), wrap(values), reshape(wrap(v), to_shape(s.with({s.columns, right}))).mT()};
}

/// Row-major matrices are transposed to LAPACK: x^T = u' s v'^H, so x = conj(v') s u'^T, without a transposing copy.
/// Announced with the part: 0 values only, 1 reduced, 2 full. Results: u, s, v^H; without vectors s alone is defined.
linalg::svd_result svd_parts(const ndarray& x, svd_part part, const char* function) {
  const std::int64_t number = part == svd_part::values ? 0 : part == svd_part::full ? 2 : 1;
  if (auto r = intercept("svd", {&x}, {number}, [=](std::span<const ndarray> a) {
        const linalg::svd_result all = svd_parts(a[0], part, function);
        return results_of(all.u, all.s, all.vh);
      }))
    return {(*r)[0], (*r)[1], (*r)[2]};
  const matrix_stack s = matrices_of(x, function);
  const dtype type = linalg_dtype(function, {&x});
  if (s.empty()) return svd_of_nothing(x, s, part, type);
  const runtime::solvers& solvers = runtime::get_backend(to_id(x.device())).solvers();
  // The QR iterations may take more or fewer steps for the transpose of a square matrix, so it keeps its orientation.
  const bool left = s.rows > s.columns || (s.rows == s.columns && s.count() == 1 && part == svd_part::values);
  if (left && !solvers.svd_takes_wide()) return svd_in(owned_by_columns(x, type, function), s, part, function);
  const matrix_stack turned{s.batch, s.columns, s.rows};
  const linalg::svd_result t = svd_in(owned_by_rows(x, type, function), turned, part, function);
  if (part == svd_part::values) return t;
  return {matrix_transpose(t.vh), t.s, matrix_transpose(t.u)};
}

/// For Hermitian matrices singular values are the magnitudes of the eigenvalues.
linalg::svd_result svd_of_hermitian(const ndarray& x, bool vectors) {
  square_matrices_of(x, "svd");
  if (!vectors) {
    const ndarray s = absolute(linalg::eigvalsh(x));
    return {{}, flip(sort(s), axes{-1}), {}};
  }
  const auto [w, v] = linalg::eigh(x);
  const ndarray order = flip(argsort(absolute(w)), axes{-1});
  const ndarray sorted = take_along_axis(w, order, -1);
  const ndarray u = take_along_axis(v, expand_dims(order, -2), -1);
  // The sign of a vector for the eigenvalue 0 is arbitrary, but the factor must not be 0.
  const ndarray signs = where(less(sorted, 0.0), -1.0, 1.0).astype(w.dtype());
  return {u, absolute(sorted), conjugated(matrix_transpose(u * expand_dims(signs, -2)))};
}

// --- eigenvalues

bool is_upper(char uplo, const char* function) {
  if (uplo == 'L' || uplo == 'l') return false;
  if (uplo == 'U' || uplo == 'u') return true;
  fail<value_error>(function, "uplo is L or U, not ", uplo);
}

/// Announced with the triangle that is read (1: the upper one) and whether eigenvectors are wanted.
linalg::eigen_result eigh_parts(const ndarray& x, char uplo, bool vectors, const char* function) {
  const bool upper = is_upper(uplo, function);
  if (auto r = intercept("eigh", {&x}, {upper, vectors}, [=](std::span<const ndarray> a) {
        const linalg::eigen_result all = eigh_parts(a[0], uplo, vectors, function);
        return results_of(all.eigenvalues, all.eigenvectors);
      }))
    return {(*r)[0], (*r)[1]};
  const matrix_stack s = square_matrices_of(x, function);
  const dtype type = linalg_dtype(function, {&x});
  if (s.empty())
    return {zeros_beside(x, s.with({s.rows}), real_of(type)), zeros_beside(x, s.with({s.rows, s.rows}), type)};
  // Row-major symmetric matrices are the same ones column-major with the triangles exchanged, which saves a
  // transposition.
  const bool as_it_lies = !is_complex(type);
  const bool triangle = upper != as_it_lies;  // as LAPACK interprets it; rows of the memory are its columns
  for (const bool robust : {false, true}) {
    const value a = as_it_lies ? owned_by_rows(x, type, function) : owned_by_columns(x, type, function);
    const value w = unset_leaf(s.with({s.rows}), real_of(type), a->device);
    const value info = unset_leaf(s.batch, dtype::i32, a->device);
    solvers_of(a).eigh(s.layout(type, function), triangle, vectors, robust, address_to_write(a), address_to_write(w),
                       integers_to_write(info));
    const std::unique_ptr<runtime::outcome> found = look_for_failures(info);
    const int64_t failure = found->first_failure();
    if (failure < 0) return {wrap(w), vectors ? by_columns(a) : ndarray()};
    // The robust method may converge where the fast one failed.
    if (robust || number_at(info, failure) == runtime::not_finite)
      require_success(*found, info, function, no_eigenvalues);
  }
  return {};
}

/// Complex eigenvectors from LAPACK's pairs of real columns. `memory` holds the columns as rows.
ndarray paired(const ndarray& memory, const ndarray& w) {
  const int64_t n = memory.shape(-1);
  const int axis = memory.ndim() - 2;
  const ndarray number = arange(n, {.device = memory.device()});
  const ndarray next = take(memory, minimum(number + 1, n - 1), axis);
  const ndarray previous = take(memory, maximum(number - 1, 0), axis);
  const ndarray sign = expand_dims(imag(w), -1);  // positive for the first one of a pair
  const std::complex<double> i(0, 1);
  const ndarray first = where(less(sign, 0.0), previous, memory);
  const ndarray second = where(less(sign, 0.0), negative(memory), where(greater(sign, 0.0), next, 0.0));
  return matrix_transpose(first + i * second);
}

/// Announced with whether eigenvectors are wanted.
linalg::eigen_result eig_parts(const ndarray& x, bool vectors, const char* function) {
  if (auto r = intercept("eig", {&x}, {vectors}, [=](std::span<const ndarray> a) {
        const linalg::eigen_result all = eig_parts(a[0], vectors, function);
        return results_of(all.eigenvalues, all.eigenvectors);
      }))
    return {(*r)[0], (*r)[1]};
  const matrix_stack s = square_matrices_of(x, function);
  const dtype type = linalg_dtype(function, {&x});
  const dtype wide = complex_of(type);
  if (s.empty()) return {zeros_beside(x, s.with({s.rows}), wide), zeros_beside(x, s.with({s.rows, s.rows}), wide)};
  const value a = owned_by_columns(x, type, function);
  const value w = unset_leaf(s.with({s.rows}), wide, a->device);
  const value v = vectors ? unset_leaf(s.with({s.rows, s.rows}), type, a->device) : value();
  const value info = unset_leaf(s.batch, dtype::i32, a->device);
  solvers_of(a).eig(s.layout(type, function), address_to_write(a), address_to_write(w),
                    vectors ? address_to_write(v) : nullptr, integers_to_write(info));
  const std::unique_ptr<runtime::outcome> found = look_for_failures(info);
  const int64_t failure = found->first_failure();
  const bool infinite = failure >= 0 && number_at(info, failure) == runtime::not_finite;
  require_success(*found, info, function, infinite ? "Array must not contain infs or NaNs" : no_eigenvalues);
  const ndarray values = wrap(w);
  if (!vectors) return {values, {}};
  return {values, is_complex(type) ? by_columns(v) : paired(wrap(v), values)};
}

}  // namespace

linalg::svd_result linalg::svd(const ndarray& x, const svd_kw& kw) {
  const svd_part vectors = kw.full_matrices ? svd_part::full : svd_part::reduced;
  const svd_result r = kw.hermitian ? svd_of_hermitian(x, kw.compute_uv)
                                    : svd_parts(x, kw.compute_uv ? vectors : svd_part::values, "svd");
  if (!kw.compute_uv) return {{}, in_c_order(r.s), {}};
  return {in_c_order(r.u), in_c_order(r.s), in_c_order(r.vh)};
}
ndarray linalg::svdvals(const ndarray& x) { return svd_parts(x, svd_part::values, "svdvals").s; }

linalg::eigen_result linalg::eigh(const ndarray& x, const eigh_kw& kw) {
  const eigen_result r = eigh_parts(x, kw.uplo, true, "eigh");
  return {r.eigenvalues, in_c_order(r.eigenvectors)};
}
ndarray linalg::eigvalsh(const ndarray& x, const eigh_kw& kw) {
  return eigh_parts(x, kw.uplo, false, "eigvalsh").eigenvalues;
}

linalg::eigen_result linalg::eig(const ndarray& x) {
  const eigen_result r = eig_parts(x, true, "eig");
  return {r.eigenvalues, in_c_order(r.eigenvectors)};
}
ndarray linalg::eigvals(const ndarray& x) { return eig_parts(x, false, "eigvals").eigenvalues; }

}  // namespace sinter::inline v0
