// Cholesky, QR and LU factorisations: LAPACK on exclusively owned memory, triangles by recorded masks.
#include "sinter/linalg_factors.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "graph/run/flush.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/linalg/parts.hpp"
#include "ops/linalg/solver_calls.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/eval.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::inline v0 {

using namespace ops;
using std::int64_t;

namespace {

/// The first `count` rows of the matrices, along the axis before the last; a view.
ndarray first_rows(const ndarray& x, int64_t count) { return slice_of(x, x.ndim() - 2, 0, count); }
ndarray first_columns(const ndarray& x, int64_t count) { return slice_of(x, x.ndim() - 1, 0, count); }

// --- QR

/// Column-major memory for `columns` columns, the first of which are copied from `factors`.
value with_columns(const value& factors, const matrix_stack& s, int64_t columns) {
  const ndarray held = wrap(factors);
  if (columns <= s.columns) return own_memory(value_of(first_rows(held, columns)));
  value memory = unset_leaf(s.with({columns, s.rows}), factors->type, factors->device);
  // The update must hold the only reference to the memory, or copy-on-write would allocate another buffer.
  const dims strides = core::contiguous_strides(memory->shape);
  value filled = graph::record_update(std::exchange(memory, value()), strides, 0, value_of(held));
  graph::flush(std::span(&filled, 1));
  return filled;
}

linalg::qr_result qr_of_nothing(const ndarray& x, const matrix_stack& s, int64_t columns, dtype type) {
  return {identities(x, s, s.rows, columns, type).copy(), zeros_beside(x, s.with({columns, s.columns}), type)};
}

// --- LU

/// The row that each row of P^T x comes from, by LAPACK's row exchanges. `count` matrices with `exchanged` pivots each.
std::vector<int64_t> permutations(const ndarray& pivots, int64_t count, int64_t rows, int64_t exchanged) {
  const auto from = pivots.host<std::int32_t>();
  std::vector<int64_t> all(static_cast<std::size_t>(count * rows));
  for (int64_t k = 0; k < count; ++k) {
    int64_t* order = all.data() + k * rows;
    std::iota(order, order + rows, int64_t{0});
    for (int64_t i = 0; i < exchanged; ++i)
      std::swap(order[i], order[from[static_cast<std::size_t>(k * exchanged + i)] - 1]);
  }
  return all;
}

}  // namespace

// Row-major x is the conjugate of x to LAPACK, which is column-major; its upper triangle is the lower one of x, and the
// other way round.
ndarray linalg::cholesky(const ndarray& x, const cholesky_kw& kw) {
  const matrix_stack s = square_matrices_of(x, "cholesky");
  const dtype type = linalg_dtype("cholesky", {&x});
  if (auto r = intercept("cholesky", {&x}, {kw.upper},
                         [=](std::span<const ndarray> a) { return results_of(cholesky(a[0], kw)); }))
    return (*r)[0];
  if (s.empty()) return zeros_beside(x, s.with({s.rows, s.rows}), type);
  const value a = owned_by_rows(x, type, "cholesky");
  const value info = unset_leaf(s.batch, dtype::i32, a->device);
  solvers_of(a).factor_cholesky(s.layout(type, "cholesky"), !kw.upper, writable_by_library(a), integers_to_write(info));
  const std::unique_ptr<runtime::outcome> found = look_for_failures(info);
  const ndarray both = wrap(a), factor = kw.upper ? triu(both) : tril(both);
  eval(factor);  // keeps the GPU busy while the host waits for the success of the factorisation
  require_success(*found, info, "cholesky", "Matrix is not positive definite");
  return factor;
}

linalg::qr_result linalg::qr(const ndarray& x, const qr_kw& kw) {
  if (kw.mode != "reduced" && kw.mode != "complete" && kw.mode != "r" && kw.mode != "raw")
    fail<value_error>("qr", "Unrecognized mode '", kw.mode, "'; it is reduced, complete, r or raw");
  const matrix_stack s = matrices_of(x, "qr");
  if (is_intercepting()) {
    const auto again = [mode = std::string(kw.mode)](std::span<const ndarray> a) {
      const qr_result both = qr(a[0], {.mode = mode});
      return results_of(both.q, both.r);
    };
    if (auto r = intercept("qr", {&x}, {}, again, kw.mode)) return {(*r)[0], (*r)[1]};  // the text is the mode
  }
  const dtype type = linalg_dtype("qr", {&x});
  const int64_t k = std::min(s.rows, s.columns), columns = kw.mode == "complete" ? s.rows : k;
  if (s.empty() && kw.mode == "raw")
    return {zeros_beside(x, s.with({s.columns, s.rows}), type), zeros_beside(x, s.with({k}), type)};
  if (s.empty()) {
    qr_result nothing = qr_of_nothing(x, s, columns, type);
    return kw.mode == "r" ? qr_result{{}, nothing.r} : nothing;
  }
  const value a = owned_by_columns(x, type, "qr");
  const value tau = unset_leaf(s.with({k}), type, a->device);
  runtime::solvers& solvers = solvers_of(a);
  solvers.factor_qr(s.layout(type, "qr"), address_to_write(a), address_to_write(tau));
  if (kw.mode == "raw") return {wrap(a), wrap(tau)};
  const ndarray r = triu(first_rows(by_columns(a), columns));
  if (kw.mode == "r") return {{}, r};
  eval(r);  // before Q overwrites the factors
  const value q = columns == s.columns ? a : with_columns(a, s, columns);
  solvers.form_q({type, s.rows, columns, s.count(), "qr"}, k, address_to_write(q), address_to_read(tau));
  return {in_c_order(by_columns(q)), r};
}

linalg::lu_result linalg::lu(const ndarray& x, const lu_kw& kw) {
  const matrix_stack s = matrices_of(x, "lu");
  if (auto r = intercept("lu", {&x}, {kw.permute_l, kw.p_indices}, [=](std::span<const ndarray> a) {
        const lu_result all = lu(a[0], kw);
        return results_of(all.p, all.l, all.u);
      }))
    return {(*r)[0], (*r)[1], (*r)[2]};
  const dtype type = linalg_dtype("lu", {&x});
  const int64_t k = std::min(s.rows, s.columns);
  const lu_memory f = factor_lu(x, s, type, "lu");
  const ndarray both = by_columns(f.lu);
  const ndarray ones = eye(s.rows, {.columns = k, .dtype = type, .device = x.device()});
  const ndarray l = tril(first_columns(both, k), -1) + ones, u = triu(first_rows(both, k));
  const std::vector<int64_t> order = permutations(wrap(f.pivots), s.count(), s.rows, s.empty() ? 0 : k);
  const ndarray source = array(order.data(), to_shape(s.with({s.rows})), {.device = x.device()});
  if (kw.permute_l || kw.p_indices) {
    // Row source[i] of x is row i of l u; the inverse permutation maps rows of x to rows of l u.
    std::vector<int64_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t first = i - i % static_cast<std::size_t>(s.rows);
      place[first + static_cast<std::size_t>(order[i])] = static_cast<int64_t>(i - first);
    }
    const ndarray p = array(place.data(), to_shape(s.with({s.rows})), {.device = x.device()});
    if (kw.p_indices && !kw.permute_l) return {p, l, u};
    return {{}, take_along_axis(l, expand_dims(p, -1), -2), u};
  }
  const ndarray numbers = arange(s.rows, {.device = x.device()});
  return {equal(expand_dims(numbers, 1), expand_dims(source, -2)).astype(type), l, u};
}

linalg::lu_factors linalg::lu_factor(const ndarray& x) {
  const matrix_stack s = matrices_of(x, "lu_factor");
  if (auto r = intercept("lu_factor", {&x}, {}, [](std::span<const ndarray> a) {
        const lu_factors f = lu_factor(a[0]);
        return results_of(f.lu, f.piv);
      }))
    return {(*r)[0], (*r)[1]};
  const lu_memory f = factor_lu(x, s, linalg_dtype("lu_factor", {&x}), "lu_factor");
  return {by_columns(f.lu), wrap(f.pivots) - 1};
}

}  // namespace sinter::inline v0
