// Norms as recorded reductions or by singular values; traces, diagonals, cross products.
#include "sinter/linalg_norms.hpp"

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "ops/base/axis_set.hpp"
#include "ops/base/type_rules.hpp"
#include "ops/linalg/solver_calls.hpp"
#include "sinter/creation.hpp"
#include "sinter/linalg_factors.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;
using linalg::norm_order;
using std::int64_t;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_narrow(dtype t) { return t == dtype::f16 || t == dtype::bf16; }

/// The dtype that norms are computed in: float64 for integers, and float32 for narrower floats, so that squares do not
/// overflow.
ndarray widened(const ndarray& x) {
  const dtype t = view_of(x, "norm").type;
  if (!is_inexact(t)) return x.astype(float64);
  return is_narrow(t) ? x.astype(float32) : x;
}
/// Casts a norm back to the result dtype for x.
ndarray narrowed(const ndarray& norm, const ndarray& x) {
  const dtype t = x.dtype();
  return is_narrow(t) ? norm.astype(t) : norm;
}

ndarray squares(const ndarray& x) { return is_complex(x.dtype()) ? square(real(x)) + square(imag(x)) : square(x); }

/// max over axes of nonnegative numbers; 0 for no elements.
ndarray largest(const ndarray& x, const reduce_kw& kw) {
  const axis_set s = find_axes(kw.axis, view_of(x, "norm").shape, "norm");
  if (s.elements != 0) return max(x, kw);
  return sum(x, kw);
}

[[noreturn]] void invalid_order(const char* function, const norm_order& order, const char* of) {
  std::ostringstream number;
  number << order.number();
  const std::string text = order.is_name() ? "'" + std::string(order.name()) + "'" : number.str();
  fail<value_error>(function, "Invalid norm order ", text, " for ", of);
}

/// The norm of the elements along the axes as one vector.
ndarray of_vectors(const char* function, const ndarray& of, const norm_order& order, const axes& axis, bool keepdims) {
  if (order.is_name()) invalid_order(function, order, "vectors");
  const ndarray x = widened(of);
  const reduce_kw kw{.axis = axis, .keepdims = keepdims};
  const double p = order.is_number() ? order.number() : 2;
  if (p == 2) return narrowed(sqrt(sum(squares(x), kw)), of);
  if (p == infinity) return narrowed(largest(absolute(x), kw), of);
  if (p == -infinity) return narrowed(min(absolute(x), kw), of);
  if (p == 0) return narrowed(sum(not_equal(x, 0).astype(ops::real_of(x.dtype())), kw), of);
  if (p == 1) return narrowed(sum(absolute(x), kw), of);
  return narrowed(power(sum(power(absolute(x), p), kw), 1 / p), of);
}

/// Sums of magnitudes along one axis, then their extreme along the other; both axes remain with extent 1.
ndarray extreme_sum(const ndarray& x, int summed, int searched, bool least) {
  const ndarray sums = sum(absolute(x), {.axis = summed, .keepdims = true});
  const reduce_kw kw{.axis = searched, .keepdims = true};
  return least ? min(sums, kw) : largest(sums, kw);
}

/// A norm of the singular values of the matrices in two axes, which remain with extent 1.
ndarray by_singular_values(const char* function, const ndarray& x, int rows, int columns,
                           ndarray (*reduce)(const ndarray&, const reduce_kw&)) {
  linalg_dtype(function, {&x});
  const ndarray s = linalg::svdvals(moveaxis(x, axes{rows, columns}, axes{-2, -1}));
  const ndarray found = reduce(s, {.axis = -1});
  dims shape = view_of(x, function).shape;
  shape[rows] = shape[columns] = 1;
  return reshape(found, to_shape(shape));
}

ndarray least_of(const ndarray& s, const reduce_kw& kw) { return min(s, kw); }
ndarray sum_of(const ndarray& s, const reduce_kw& kw) { return sum(s, kw); }

ndarray of_matrices_kept(const char* function, const ndarray& of, const norm_order& order, int rows, int columns) {
  if (order.is_name() && order.name() == "nuc") return by_singular_values(function, of, rows, columns, sum_of);
  if (order.is_number() && order.number() == 2) return by_singular_values(function, of, rows, columns, largest);
  if (order.is_number() && order.number() == -2) return by_singular_values(function, of, rows, columns, least_of);
  const ndarray x = widened(of);
  if (!order.is_number()) {
    if (order.is_name() && order.name() != "fro" && order.name() != "f") invalid_order(function, order, "matrices");
    return sqrt(sum(squares(x), {.axis = axes{rows, columns}, .keepdims = true}));
  }
  const double p = order.number();
  if (std::fabs(p) == 1) return extreme_sum(x, rows, columns, p < 0);
  if (std::fabs(p) == infinity) return extreme_sum(x, columns, rows, p < 0);
  invalid_order(function, order, "matrices");
}

ndarray of_matrices(const char* function, const ndarray& x, const norm_order& order, int rows, int columns,
                    bool keepdims) {
  const ndarray kept = narrowed(of_matrices_kept(function, x, order, rows, columns), x);
  return keepdims ? kept : squeeze(kept, axes{rows, columns});
}

ndarray summed_diagonal(const ndarray& diagonal, const std::optional<dtype>& type) {
  return sum(diagonal, {.axis = -1, .dtype = type});
}

}  // namespace

ndarray diagonal(const ndarray& x, int64_t offset, int64_t axis1, int64_t axis2) {
  return diagonal_view(x, offset, axis1, axis2, "diagonal");
}
ndarray trace(const ndarray& x, const trace_kw& kw) {
  return summed_diagonal(diagonal_view(x, kw.offset, kw.axis1, kw.axis2, "trace"), kw.dtype);
}
ndarray linalg::diagonal(const ndarray& x, const diagonal_kw& kw) {
  return diagonal_view(x, kw.offset, -2, -1, "diagonal");
}
ndarray linalg::trace(const ndarray& x, const matrix_trace_kw& kw) {
  return summed_diagonal(diagonal_view(x, kw.offset, -2, -1, "trace"), kw.dtype);
}

ndarray linalg::norm(const ndarray& x, const norm_kw& kw) {
  const dims& shape = view_of(x, "norm").shape;
  const int rank = shape.size();
  const bool ordered = kw.ord.is_number() || kw.ord.is_name();
  if (!kw.axis.given() && !ordered) return of_vectors("norm", x, 2, {}, kw.keepdims);
  std::vector<int> axis;
  for (int a = 0; a < rank && !kw.axis.given(); ++a) axis.push_back(a);
  for (const int64_t a : kw.axis) axis.push_back(normalize_axis(a, shape, "norm"));
  if (axis.size() == 1) return of_vectors("norm", x, kw.ord, axes(axis), kw.keepdims);
  if (axis.size() != 2)
    fail<value_error>("norm", "Improper number of dimensions to norm: ", axis.size(), " axes of an array of shape ",
                      shape);
  if (axis[0] == axis[1]) fail<value_error>("norm", "Duplicate axes given: axis ", axis[0], " twice");
  return of_matrices("norm", x, kw.ord, axis[0], axis[1], kw.keepdims);
}

ndarray linalg::vector_norm(const ndarray& x, const vector_norm_kw& kw) {
  return of_vectors("vector_norm", x, kw.ord, kw.axis, kw.keepdims);
}

ndarray linalg::matrix_norm(const ndarray& x, const matrix_norm_kw& kw) {
  const int rank = matrices_of(x, "matrix_norm").batch.size();
  return of_matrices("matrix_norm", x, kw.ord, rank, rank + 1, kw.keepdims);
}

ndarray linalg::cross(const ndarray& x, const ndarray& y, const cross_kw& kw) {
  const dims &a = view_of(x, "cross").shape, &b = view_of(y, "cross").shape;
  if (kw.axis && (kw.axisa || kw.axisb || kw.axisc))
    fail<value_error>("cross", "axis is that of both operands and of the result; give it, or axes for each");
  const std::int64_t last = kw.axis.value_or(-1);
  const int i = normalize_axis(kw.axisa.value_or(last), a, "cross");
  const int k = normalize_axis(kw.axisb.value_or(last), b, "cross");
  if (a[i] != 3 || b[k] != 3)
    fail<value_error>("cross", "Both input arrays must be (arrays of) 3-dimensional vectors, but their shapes are ", a,
                      " and ", b, ", axes ", i, " and ", k);
  const ndarray first = moveaxis(x, i, -1), second = moveaxis(y, k, -1);
  const auto part = [](const ndarray& of, int n) { return of(sinter::idx::ellipsis, n); };
  const auto minor = [&](int n) {
    const int p = (n + 1) % 3, q = (n + 2) % 3;
    return part(first, p) * part(second, q) - part(first, q) * part(second, p);
  };
  const ndarray parts = stack({minor(0), minor(1), minor(2)}, -1);
  return moveaxis(parts, -1, kw.axisc.value_or(last));
}

}  // namespace sinter::inline v0
