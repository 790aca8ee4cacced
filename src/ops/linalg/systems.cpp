// Systems of linear equations: LU factors and triangular solves, and the functions built on them.
#include "sinter/linalg_systems.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/shape.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/base/type_rules.hpp"
#include "ops/linalg/parts.hpp"
#include "ops/linalg/solver_calls.hpp"
#include "sinter/creation.hpp"
#include "sinter/linalg_norms.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/take.hpp"

namespace sinter::inline v0 {

using namespace ops;
using runtime::matrix_form;
using std::int64_t;

namespace {

const std::int32_t* integers_to_read(const value& v) {
  return static_cast<const std::int32_t*>(readable_by_library(v));
}

/// The right sides for matrices `a`: as matrices, or as vectors if b has rank 1.
struct right_sides {
  bool vectors = false;
  matrix_stack b;
};

right_sides right_sides_of(const ndarray& a, const matrix_stack& s, const ndarray& b, const char* function) {
  const dims& shape = view_of(b, function).shape;
  if (shape.empty())
    fail<shape_error>(function, "input operand 1 does not have enough dimensions (has 0, needs at least 1)");
  right_sides r;
  r.vectors = shape.size() == 1;
  r.b = r.vectors ? matrix_stack{{}, shape[0], 1} : matrices_of(b, function);
  if (r.b.rows != s.rows)
    fail<shape_error>(function, "input operand 1 has a mismatch in its core dimension 0, with gufunc signature ",
                      (r.vectors ? "(m,m),(m)->(m)" : "(m,m),(m,n)->(m,n)"), " (size ", r.b.rows, " is different from ",
                      s.rows, "): shapes ", view_of(a, function).shape, " and ", shape);
  r.b.batch = broadcast_batches(s.batch, r.b.batch, function, a, b);
  return r;
}

/// Column-major memory with b, which is overwritten by x.
struct solution {
  value memory;
  bool vectors;
  ndarray array() const { return vectors ? wrap(memory) : in_c_order(by_columns(memory)); }
};

solution begin_solution(const ndarray& b, const right_sides& r, dtype type, const char* function) {
  const ndarray all = with_batch(b, r.b.batch, r.vectors ? 1 : 2);
  return {r.vectors ? owned_by_rows(all, type, function) : owned_by_columns(all, type, function), r.vectors};
}

ndarray empty_solution(const right_sides& r, dtype type, const ndarray& like) {
  const dims shape = r.vectors ? r.b.with({r.b.rows}) : r.b.with({r.b.rows, r.b.columns});
  return zeros_beside(like, shape, type);
}

/// With a single matrix, all right sides of the batch are adjacent columns of one matrix.
runtime::matrix_batch layout_for(const right_sides& r, int64_t matrices, dtype type, const char* function) {
  if (matrices == 1) return {type, r.b.rows, r.b.columns * r.b.count(), 1, function};
  return r.b.layout(type, function);
}

/// The batch of matrices to factor: that of a, or the broadcast one if only some right sides share a matrix.
dims factored_batch(const matrix_stack& s, const right_sides& r) { return s.count() == 1 ? s.batch : r.b.batch; }

/// Solves; info is null if there was nothing to solve. Whether the factorisation succeeded is stored in *found, if
/// given, which waits for the factors only, not for the solution.
inverses solution_of(const ndarray& a, const ndarray& b, const char* function,
                     std::unique_ptr<runtime::outcome>* found = nullptr) {
  matrix_stack s = square_matrices_of(a, function);
  const dtype type = linalg_dtype(function, {&a, &b});
  const right_sides r = right_sides_of(a, s, b, function);
  common_device(a, b, function);
  if (s.rows == 0 || r.b.empty()) return {empty_solution(r, type, a), value()};
  s.batch = factored_batch(s, r);
  const lu_memory f = factor_lu(with_batch(a, s.batch, 2), s, type, function);
  if (found) *found = look_for_failures(f.info);
  const solution x = begin_solution(b, r, type, function);
  solvers_of(x.memory).solve_lu(layout_for(r, s.count(), type, function), matrix_form::plain, readable_by_library(f.lu),
                                integers_to_read(f.pivots), writable_by_library(x.memory));
  return {x.array(), f.info};
}

/// Announced as "solve", with the function as text: matrices and right sides, which are vectors if b has rank 1. inv is a solve with identities.
ndarray solved(const ndarray& a, const ndarray& b, const char* function) {
  if (auto r = intercept(
          "solve", {&a, &b}, {}, [=](std::span<const ndarray> o) { return results_of(solved(o[0], o[1], function)); },
          function))
    return (*r)[0];
  std::unique_ptr<runtime::outcome> found;
  const inverses solution = solution_of(a, b, function, &found);
  if (found) require_success(*found, solution.info, function, "Singular matrix");
  return solution.x;
}

/// An identity for each matrix.
ndarray identities_for(const ndarray& x, const char* function) {
  const matrix_stack s = square_matrices_of(x, function);
  return identities(x, s, s.rows, s.rows, linalg_dtype(function, {&x}));
}

matrix_form form_of(int64_t trans, const char* function) {
  if (trans < 0 || trans > 2) fail<value_error>(function, "trans is 0, 1 or 2, not ", trans);
  return static_cast<matrix_form>(trans);
}

/// Triangular matrices in place, if rows or columns are dense.
struct triangles {
  value held;
  int64_t offset = 0;
  runtime::triangular_system layout;
};

bool lies_dense(int64_t unit, int64_t other, int64_t n) { return n <= 1 || (unit == 1 && other >= n); }

/// The common stride of merged batch axes, if a single one can express them.
std::optional<int64_t> single_stride(const dims& batch, const dims& strides) {
  dims own(strides.data(), batch.size());
  if (const auto joined = core::reshape_strides(batch, own, dims{core::element_count(batch)})) return (*joined)[0];
  return std::nullopt;
}

triangles triangles_of(const ndarray& a, const matrix_stack& s, dtype type, matrix_form form) {
  const graph::array_view& v = view_of(a, "solve_triangular");
  const int last = v.shape.size() - 1;
  const int64_t n = s.rows;
  const bool conjugates = form == matrix_form::conjugated && is_complex(type);
  triangles t;
  const auto take = [&](const dims& strides) {
    const bool rows = lies_dense(strides[last], strides[last - 1], n),
               columns = lies_dense(strides[last - 1], strides[last], n);
    const auto stride = single_stride(s.batch, strides);
    if (!stride || *stride < 0 || !(rows || (columns && !conjugates))) return false;
    t.layout.by_rows = rows;
    t.layout.leading = n <= 1 ? 1 : strides[rows ? last - 1 : last];
    t.layout.stride = *stride;
    return true;
  };
  if (v.type == type) {
    graph::exposed e = graph::begin_read(v, /*any_strides=*/true);
    if (take(e.strides)) {
      t.held = std::move(e.held);
      t.offset = e.offset;
      return t;
    }
  }
  t.held = graph::record_cast(value_of(a), type);
  take(core::contiguous_strides(v.shape));
  return t;
}

void require_diagonal(const ndarray& a, const matrix_stack& s) {
  const value zero = evaluated(value_of(equal(linalg::diagonal(a), 0).astype(int32)));
  look_for_failures(zero)->require_none([rows = s.rows, batch = s.batch](int64_t at) {
    fail<linalg_error>("solve_triangular", "singular matrix: resolution failed at diagonal ", at % rows,
                       at_batch_index(at / rows, batch));
  });
}

}  // namespace

ndarray linalg::solve(const ndarray& a, const ndarray& b) { return solved(a, b, "solve"); }

ndarray linalg::inv(const ndarray& x) { return solved(x, identities_for(x, "inv"), "inv"); }

linalg::slogdet_result linalg::slogdet(const ndarray& x) {
  const matrix_stack s = square_matrices_of(x, "slogdet");
  const dtype type = linalg_dtype("slogdet", {&x});
  if (auto r = intercept("slogdet", {&x}, {}, [](std::span<const ndarray> a) {
        const slogdet_result both = slogdet(a[0]);
        return results_of(both.sign, both.logabsdet);
      }))
    return {(*r)[0], (*r)[1]};
  if (s.empty()) {
    const create_kw of_sign{.dtype = type, .device = x.device()}, of_log{.dtype = real_of(type), .device = x.device()};
    return {ones(to_shape(s.batch), of_sign), zeros(to_shape(s.batch), of_log)};
  }
  const lu_memory f = factor_lu(x, s, type, "slogdet");
  const ndarray pivots = wrap(f.pivots), u = linalg::diagonal(wrap(f.lu)), regular = equal(wrap(f.info), 0);
  const ndarray in_place = arange(1, s.rows + 1, {.dtype = int32, .device = x.device()});
  const ndarray exchanges = sum(not_equal(pivots, in_place), -1);
  const ndarray parity = where(equal(exchanges & 1, 0), 1, -1).astype(type);
  const ndarray sign_of_u = prod(sign(u), -1), logarithm = sum(log(absolute(u)), -1);
  // A matrix whose factorisation met a zero pivot has determinant 0, whatever was computed for it.
  const double infinite = std::numeric_limits<double>::infinity();
  return {where(regular, parity * sign_of_u, 0), where(regular, logarithm, -infinite)};
}

ndarray linalg::det(const ndarray& x) {
  square_matrices_of(x, "det");
  linalg_dtype("det", {&x});
  if (auto r = intercept("det", {&x}, {}, [](std::span<const ndarray> a) { return results_of(det(a[0])); }))
    return (*r)[0];
  const slogdet_result r = slogdet(x);
  return r.sign * exp(r.logabsdet);
}

namespace {

/// LAPACK's pivots, from 1. LAPACK exchanges rows without bounds checks, so an index out of range is a data fault and
/// is clipped.
ndarray exchanges_of(const ndarray& pivots, int64_t rows) {
  const ndarray rows_from_1 = arange(rows, {.dtype = int32, .device = pivots.device()}) + 1;
  return clip(take(rows_from_1, pivots), 1, rows);
}

}  // namespace

ndarray linalg::lu_solve(const lu_factors& a, const ndarray& b, const lu_solve_kw& kw) {
  const matrix_form form = form_of(kw.trans, "lu_solve");
  if (auto r = intercept("lu_solve", {&a.lu, &a.piv, &b}, {kw.trans}, [=](std::span<const ndarray> o) {
        return results_of(lu_solve({o[0], o[1]}, o[2], kw));
      }))
    return (*r)[0];
  matrix_stack s = square_matrices_of(a.lu, "lu_solve");
  const dtype type = linalg_dtype("lu_solve", {&a.lu, &b});
  if (!(view_of(a.piv, "lu_solve").shape == s.with({s.rows})))
    fail<shape_error>("lu_solve", "pivots of shape ", view_of(a.piv, "lu_solve").shape,
                      " do not belong to factors of shape ", view_of(a.lu, "lu_solve").shape);
  if (!is_integer(a.piv.dtype())) fail<dtype_error>("lu_solve", "pivots are integers, not ", a.piv.dtype());
  const right_sides r = right_sides_of(a.lu, s, b, "lu_solve");
  common_device(a.lu, b, "lu_solve");
  common_device(a.lu, a.piv, "lu_solve");
  if (s.rows == 0 || r.b.empty()) return empty_solution(r, type, a.lu);
  s.batch = factored_batch(s, r);
  const read_memory lu = read_by_columns(with_batch(a.lu, s.batch, 2), type, "lu_solve");
  const value pivots = evaluated(value_of(exchanges_of(with_batch(a.piv, s.batch, 1), s.rows)));
  const solution x = begin_solution(b, r, type, "lu_solve");
  solvers_of(x.memory).solve_lu(layout_for(r, s.count(), type, "lu_solve"), form, lu.address(),
                                integers_to_read(pivots), writable_by_library(x.memory));
  graph::inherit_faults(x.memory, {&pivots});
  return x.array();
}

ndarray linalg::solve_triangular(const ndarray& a, const ndarray& b, const solve_triangular_kw& kw) {
  const matrix_form form = form_of(kw.trans, "solve_triangular");
  if (auto r = intercept("solve_triangular", {&a, &b}, {kw.trans, kw.lower, kw.unit_diagonal},
                         [=](std::span<const ndarray> o) { return results_of(solve_triangular(o[0], o[1], kw)); }))
    return (*r)[0];
  const matrix_stack s = square_matrices_of(a, "solve_triangular");
  const dtype type = linalg_dtype("solve_triangular", {&a, &b});
  const right_sides r = right_sides_of(a, s, b, "solve_triangular");
  common_device(a, b, "solve_triangular");
  if (s.rows == 0 || r.b.empty()) return empty_solution(r, type, a);
  if (!kw.unit_diagonal) require_diagonal(a, s);
  matrix_stack of_a = s;
  of_a.batch = r.b.batch;
  triangles t = triangles_of(with_batch(a, of_a.batch, 2), of_a, type, form);
  const value x = owned_by_rows(with_batch(b, r.b.batch, r.vectors ? 1 : 2), type, "solve_triangular");
  t.held = evaluated(t.held);
  graph::check_data(t.held);
  t.layout.type = type;
  t.layout.order = s.rows;
  t.layout.columns = r.b.columns;
  t.layout.count = r.b.count();
  t.layout.lower = kw.lower;
  t.layout.unit_diagonal = kw.unit_diagonal;
  t.layout.form = form;
  const read_memory there{t.held, t.offset};
  solvers_of(x).solve_triangular(t.layout, there.address(), writable_by_library(x));
  return wrap(x);
}

ndarray linalg::tensorsolve(const ndarray& a, const ndarray& b, const tensorsolve_kw& kw) {
  ndarray ordered = a;
  if (kw.axes.given()) {
    const std::vector<int> last = distinct_axes(kw.axes, view_of(a, "tensorsolve").shape, "tensorsolve");
    std::vector<int> order;
    for (int k = 0; k < a.ndim(); ++k)
      if (std::find(last.begin(), last.end(), k) == last.end()) order.push_back(k);
    order.insert(order.end(), last.begin(), last.end());
    ordered = permute_dims(a, sinter::axes(order));
  }
  const dims shape = view_of(ordered, "tensorsolve").shape;
  const int rank = view_of(b, "tensorsolve").shape.size();
  const dims of_x = rank <= shape.size() ? dims(shape.data() + rank, shape.size() - rank) : dims();
  const int64_t count = core::element_count(of_x);
  if (core::element_count(shape) != count * count || b.size() != count)
    fail<linalg_error>("tensorsolve", "a of shape ", shape, " and b of shape ", view_of(b, "tensorsolve").shape,
                       " do not fit: prod(a.shape[b.ndim:]) must equal prod(a.shape[:b.ndim]) and the size of b");
  const ndarray x = solved(reshape(ordered, {count, count}), ravel(b), "tensorsolve");
  return reshape(x, to_shape(of_x));
}

ndarray linalg::tensorinv(const ndarray& a, int64_t ind) {
  const dims shape = view_of(a, "tensorinv").shape;
  if (ind < 1) fail<value_error>("tensorinv", "Invalid ind argument ", ind, "; it is at least 1");
  const int split = static_cast<int>(std::min<int64_t>(ind, shape.size()));
  dims turned(shape.data() + split, shape.size() - split);
  const int64_t columns = core::element_count(turned);
  for (int k = 0; k < split; ++k) turned.push_back(shape[k]);
  const int64_t rows = core::element_count(dims(shape.data(), split));
  if (rows != columns)
    fail<linalg_error>("tensorinv", "the first ", split, " extents of shape ", shape, " multiply to ", rows,
                       ", the others to ", columns, "; they must be square");
  return reshape(inv(reshape(a, {rows, columns})), to_shape(turned));
}

}  // namespace sinter::inline v0

sinter::ops::inverses sinter::ops::inverses_of(const ndarray& x, const char* function) {
  // Announced with two results: the inverses, and which matrices have none (nonzero).
  if (auto r = intercept("inverses", {&x}, {}, [=](std::span<const ndarray> a) {
        const inverses found = inverses_of(a[0], function);
        return results_of(found.x, found.info ? wrap(found.info) : ndarray());
      }))
    return {(*r)[0], (*r)[1].defined() ? value_of((*r)[1]) : value()};
  return solution_of(x, identities_for(x, function), function);
}
