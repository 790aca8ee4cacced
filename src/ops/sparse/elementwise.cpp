// Elementwise work: of the data of one array, or of two arrays' data brought to the same places.
#include "sinter/elementwise.hpp"

#include <functional>

#include "graph/run/flush.hpp"
#include "graph/values/example.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/differentiating.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/sparse/merge.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/sparse.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {
namespace {

using sparse::format;

/// f of all elements, for a function that is no sum over entries of equal place.
sparse_array map_elements(const char* function, const sparse_array& a, ndarray (*f)(const ndarray&)) {
  const state_ref& given = state_of(a, function);
  const state_ref s = order_of(*given) == entry_order::canonical ? given : canonical(given);
  const ndarray data = f(s->data);
  return sparse_access::make(with_elements(*s, data.astype(element_dtype(data.dtype()), /*copy=*/false)));
}

/// A dense operand's elements at the entries: the operand broadcasts to the array's shape.
ndarray dense_at_entries(const char* function, const sparse_state& s, const ndarray& x) {
  require_one_device(function, device_of(s), to_id(x.device()));
  const int rank = x.ndim();
  const std::int64_t rows = rank == 2 ? x.shape(0) : 1, columns = rank >= 1 ? x.shape(-1) : 1;
  if (rank > 2 || (rows != 1 && rows != s.rows) || (columns != 1 && columns != s.columns))
    fail<shape_error>(function, "shape ", x.shape(), " does not broadcast to shape (", s.rows, ", ", s.columns, ")");
  const ndarray flat = x.ravel();
  if (rows == 1 && columns == 1) return flat;
  if (rows == 1) return take(flat, columns_of_entries(s));
  if (columns == 1) return take(flat, rows_of_entries(s));
  return take(flat, rows_of_entries(s).astype(int64) * s.columns + columns_of_entries(s));
}

/// Whether kernels of the host add elements of a dtype.
bool is_added_on_host(dtype t) { return t == int64 || t == float32 || t == float64 || is_complex(t); }
bool is_followed_dense(const ndarray& x) {
  const value v = value_of(x);
  return is_followed(v) || graph::is_example(v);
}

/// a + x of distinct places, by the host's kernels.
ndarray plus_dense_on_host(const sparse_state& s, const ndarray& x, dtype type) {
  const value added = evaluated(value_of(x.astype(type, /*copy=*/false)));
  const ready_matrix m = ready(s, type);
  const value result = unset_leaf(dims{s.rows, s.columns}, type, m.data->device);
  kernels_of(s).add_to_dense(m.matrix, s.format == format::csc, address_to_read(added), address_to_write(result));
  m.pass_faults(result);
  graph::inherit_faults(result, {&added});
  return wrap(result);
}

/// a + x: few entries are added to a copy of x, which saves a dense array.
ndarray plus_dense(const sparse_array& a, const ndarray& x) {
  const state_ref& s = state_of(a, "add");
  const dtype type = promote_types(s->data.dtype(), x.dtype());
  if (is_compressed(*s) && x.shape() == shape_t{s->rows, s->columns} && x.size() > 0 && kernels_of(*s).arranges() &&
      !is_recorded_for_later() && is_added_on_host(type) && !elements_are_followed(*s) && !is_followed_dense(x) &&
      order_of(*s) == entry_order::canonical) {
    require_one_device("add", device_of(*s), to_id(x.device()));
    return plus_dense_on_host(*s, x, type);
  }
  if (x.shape() != shape_t{s->rows, s->columns} || is_recorded_for_later() || is_bool(type) ||
      entries_of(*s) > s->rows * s->columns / 8 || order_of(*s) != entry_order::canonical)
    return a.toarray() + x;
  require_one_device("add", device_of(*s), to_id(x.device()));
  const ndarray sum = x.astype(type).ravel().copy();
  if (entries_of(*s) > 0) {
    const ndarray at = rows_of_entries(*s).astype(int64) * s->columns + columns_of_entries(*s);
    sum(at) = s->data.astype(type, false) + take(sum, at);
  }
  return sum.reshape({s->rows, s->columns});
}

using two_operands = ndarray (*)(const operand&, const operand&);

sparse_array with_operand(const char* function, const sparse_array& a, const operand& x, two_operands f) {
  const state_ref s = bools_joined(state_of(a, function));
  ndarray data = x.is_array() ? f(s->data, dense_at_entries(function, *s, x.array())) : f(s->data, x.number());
  return sparse_access::make(with_elements(*s, data.astype(element_dtype(data.dtype()), /*copy=*/false)));
}

/// f, which is `how`, at the places of either array, of products at those of both; zeros dropped.
sparse_array of_pair(const char* function, const sparse_array& a, const sparse_array& b, two_operands f,
                     runtime::sparse_pairing how) {
  const alike_pair p = made_alike(a, b, function);
  if (const auto at_once = combined(p, how)) return sparse_access::make(*at_once);
  const merged_pair m = merged(p, how == runtime::sparse_pairing::multiply);
  return sparse_access::make(without_zeros(with_elements(*m.places, f(m.a, m.b))));
}

sparse_array compared(const char* function, const sparse_array& a, const scalar& x, two_operands f,
                      const std::function<bool(double)>& of_zero) {
  if (x.imag() == 0 && of_zero(x.real()))
    fail<value_error>(function, "the comparison is true of zeros, so that every place would be stored; use toarray()");
  const state_ref s = canonical(state_of(a, function));
  return sparse_access::make(without_zeros(with_elements(*s, f(s->data, x))));
}

/// b as a dense array, of a's shape.
ndarray fitting(const char* function, const sparse_array& a, const sparse_array& b) {
  if (a.shape() != b.shape()) fail<shape_error>(function, "shapes ", a.shape(), " and ", b.shape());
  return b.toarray();
}

sparse_array extreme_with_number(const char* function, const sparse_array& a, const scalar& x, bool beyond_zero,
                                 two_operands f) {
  if (beyond_zero || x.real() != x.real())
    fail<value_error>(function, x.real(),
                      " would replace the zeros, so that every place would be stored; use toarray()");
  const state_ref s = canonical(state_of(a, function));
  return sparse_access::make(without_zeros(with_elements(*s, f(s->data, x))));
}

ndarray plus(const operand& x, const operand& y) { return add(x, y); }
ndarray minus(const operand& x, const operand& y) { return subtract(x, y); }
ndarray times(const operand& x, const operand& y) { return sinter::multiply(x, y); }
ndarray over(const operand& x, const operand& y) { return divide(x, y); }
ndarray larger(const operand& x, const operand& y) { return sinter::maximum(x, y); }
ndarray smaller(const operand& x, const operand& y) { return sinter::minimum(x, y); }
ndarray is_other(const operand& x, const operand& y) { return not_equal(x, y); }
ndarray is_same(const operand& x, const operand& y) { return equal(x, y); }
ndarray is_less(const operand& x, const operand& y) { return less(x, y); }
ndarray is_at_most(const operand& x, const operand& y) { return less_equal(x, y); }
ndarray is_greater(const operand& x, const operand& y) { return greater(x, y); }
ndarray is_at_least(const operand& x, const operand& y) { return greater_equal(x, y); }

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

using pairing = runtime::sparse_pairing;

#define SINTER_SPARSE_FUNCTION(f)                                                   \
  sparse_array f(const sparse_array& a) {                                           \
    return ops::map_elements(#f, a, [](const ndarray& x) { return sinter::f(x); }); \
  }
SINTER_SPARSE_FUNCTION(abs)
SINTER_SPARSE_FUNCTION(sqrt)
SINTER_SPARSE_FUNCTION(square)
SINTER_SPARSE_FUNCTION(sign)
SINTER_SPARSE_FUNCTION(sin)
SINTER_SPARSE_FUNCTION(tan)
SINTER_SPARSE_FUNCTION(arcsin)
SINTER_SPARSE_FUNCTION(arctan)
SINTER_SPARSE_FUNCTION(sinh)
SINTER_SPARSE_FUNCTION(tanh)
SINTER_SPARSE_FUNCTION(arcsinh)
SINTER_SPARSE_FUNCTION(arctanh)
SINTER_SPARSE_FUNCTION(expm1)
SINTER_SPARSE_FUNCTION(log1p)
SINTER_SPARSE_FUNCTION(floor)
SINTER_SPARSE_FUNCTION(ceil)
SINTER_SPARSE_FUNCTION(trunc)
SINTER_SPARSE_FUNCTION(rint)
SINTER_SPARSE_FUNCTION(deg2rad)
SINTER_SPARSE_FUNCTION(rad2deg)
#undef SINTER_SPARSE_FUNCTION

sparse_array sparse_array::multiply(const operand& x) const {
  return ops::with_operand("multiply", *this, x, ops::times);
}
sparse_array sparse_array::multiply(const sparse_array& b) const {
  return ops::of_pair("multiply", *this, b, ops::times, pairing::multiply);
}
sparse_array sparse_array::maximum(const sparse_array& b) const {
  return ops::of_pair("maximum", *this, b, ops::larger, pairing::maximum);
}
sparse_array sparse_array::minimum(const sparse_array& b) const {
  return ops::of_pair("minimum", *this, b, ops::smaller, pairing::minimum);
}
sparse_array sparse_array::maximum(const scalar& x) const {
  return ops::extreme_with_number("maximum", *this, x, x.real() > 0, ops::larger);
}
sparse_array sparse_array::minimum(const scalar& x) const {
  return ops::extreme_with_number("minimum", *this, x, x.real() < 0, ops::smaller);
}
ndarray sparse_array::maximum(const ndarray& x) const { return sinter::maximum(toarray(), x); }
ndarray sparse_array::minimum(const ndarray& x) const { return sinter::minimum(toarray(), x); }
sparse_array sparse_array::power(const scalar& n, const element_kw& kw) const {
  if (!(n.real() > 0))
    ops::fail<value_error>("power", "an exponent of ", n.real(), " does not leave zeros as they are");
  const auto s = ops::canonical(ops::state_of(*this, "power"));
  const ndarray x = kw.dtype ? s->data.astype(ops::element_dtype(*kw.dtype), false) : s->data;
  return ops::sparse_access::make(ops::with_elements(*s, sinter::power(x, n)));
}

sparse_array operator+(const sparse_array& a) { return a; }
sparse_array operator-(const sparse_array& a) { return a.with_data(-a.data()); }
sparse_array operator*(const sparse_array& a, const operand& x) { return a.multiply(x); }
sparse_array operator*(const operand& x, const sparse_array& a) { return a.multiply(x); }
sparse_array operator/(const sparse_array& a, const operand& x) { return ops::with_operand("divide", a, x, ops::over); }
sparse_array operator+(const sparse_array& a, const sparse_array& b) {
  return ops::of_pair("add", a, b, ops::plus, pairing::add);
}
sparse_array operator-(const sparse_array& a, const sparse_array& b) {
  return ops::of_pair("subtract", a, b, ops::minus, pairing::subtract);
}
sparse_array operator*(const sparse_array& a, const sparse_array& b) { return a.multiply(b); }
ndarray operator+(const sparse_array& a, const ndarray& x) { return ops::plus_dense(a, x); }
ndarray operator+(const ndarray& x, const sparse_array& a) { return ops::plus_dense(a, x); }
ndarray operator-(const sparse_array& a, const ndarray& x) { return a.toarray() - x; }
ndarray operator-(const ndarray& x, const sparse_array& a) { return x - a.toarray(); }

sparse_array operator!=(const sparse_array& a, const sparse_array& b) {
  return ops::of_pair("not_equal", a, b, ops::is_other, pairing::not_equal);
}
sparse_array operator<(const sparse_array& a, const sparse_array& b) {
  return ops::of_pair("less", a, b, ops::is_less, pairing::less);
}
sparse_array operator>(const sparse_array& a, const sparse_array& b) {
  return ops::of_pair("greater", a, b, ops::is_greater, pairing::greater);
}
sparse_array operator==(const sparse_array& a, const scalar& x) {
  return ops::compared("equal", a, x, ops::is_same, [](double y) { return 0 == y; });
}
sparse_array operator!=(const sparse_array& a, const scalar& x) {
  return ops::compared("not_equal", a, x, ops::is_other, [](double y) { return 0 != y; });
}
sparse_array operator<(const sparse_array& a, const scalar& x) {
  return ops::compared("less", a, x, ops::is_less, [](double y) { return 0 < y; });
}
sparse_array operator<=(const sparse_array& a, const scalar& x) {
  return ops::compared("less_equal", a, x, ops::is_at_most, [](double y) { return 0 <= y; });
}
sparse_array operator>(const sparse_array& a, const scalar& x) {
  return ops::compared("greater", a, x, ops::is_greater, [](double y) { return 0 > y; });
}
sparse_array operator>=(const sparse_array& a, const scalar& x) {
  return ops::compared("greater_equal", a, x, ops::is_at_least, [](double y) { return 0 >= y; });
}

ndarray operator==(const sparse_array& a, const sparse_array& b) { return logical_not((a != b).toarray()); }
ndarray operator<=(const sparse_array& a, const sparse_array& b) {
  return a.toarray() <= ops::fitting("less_equal", a, b);
}
ndarray operator>=(const sparse_array& a, const sparse_array& b) {
  return a.toarray() >= ops::fitting("greater_equal", a, b);
}

#define SINTER_SPARSE_COMPARISON(op)                                                        \
  ndarray operator op(const sparse_array& a, const ndarray& x) { return a.toarray() op x; } \
  ndarray operator op(const ndarray& x, const sparse_array& a) { return x op a.toarray(); }
SINTER_SPARSE_COMPARISON(==)
SINTER_SPARSE_COMPARISON(!=)
SINTER_SPARSE_COMPARISON(<)
SINTER_SPARSE_COMPARISON(<=)
SINTER_SPARSE_COMPARISON(>)
SINTER_SPARSE_COMPARISON(>=)
#undef SINTER_SPARSE_COMPARISON

}  // namespace sparse
}  // namespace sinter::inline v0
