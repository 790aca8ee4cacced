#include "ops/linalg/solver_calls.hpp"

#include <algorithm>
#include <utility>

#include "core/shape.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/axes.hpp"
#include "sinter/creation.hpp"
#include "sinter/manipulate.hpp"

namespace sinter::ops {
namespace {

using std::int64_t;

/// Data faults are reported before a solver runs: it has several results, and it may not terminate on other input.
value checked(value leaf) {
  graph::check_data(leaf);
  return leaf;
}

/// What has to be computed before a solver runs; its library is loaded meanwhile.
value awaited(value v) {
  solvers_of(v).expect();
  return v;
}

/// The value with its last two axes exchanged.
value transposed(const value& v) {
  return graph::record_view(v, core::transposed_last(v->shape),
                            core::transposed_last(core::contiguous_strides(v->shape)), 0);
}

}  // namespace

dims matrix_stack::with(std::initializer_list<int64_t> last) const {
  dims d = batch;
  for (const int64_t n : last) d.push_back(n);
  return d;
}

dtype linalg_dtype(const char* function, std::initializer_list<const ndarray*> operands) {
  std::optional<dtype> common;
  for (const ndarray* x : operands) {
    dtype t = view_of(*x, function).type;
    if (t == dtype::f16 || t == dtype::bf16)
      fail<dtype_error>(function, "arrays of ", t, " are not supported in linear algebra");
    if (!is_inexact(t)) t = dtype::f64;
    common = common ? promote_types(*common, t) : t;
  }
  return *common;
}

matrix_stack matrices_of(const ndarray& x, const char* function) {
  const dims& shape = view_of(x, function).shape;
  const int rank = shape.size();
  if (rank < 2) fail<linalg_error>(function, rank, "-dimensional array given. Array must be at least two-dimensional");
  return {dims(shape.data(), rank - 2), shape[rank - 2], shape[rank - 1]};
}

matrix_stack square_matrices_of(const ndarray& x, const char* function) {
  matrix_stack s = matrices_of(x, function);
  if (s.rows != s.columns)
    fail<linalg_error>(function, "Last 2 dimensions of the array must be square, not ", view_of(x, function).shape);
  return s;
}

value owned_by_columns(const ndarray& x, dtype type, const char* function) {
  return checked(own_memory(awaited(graph::record_cast(transposed(value_of(x, function)), type))));
}

value owned_by_rows(const ndarray& x, dtype type, const char* function) {
  return checked(own_memory(awaited(graph::record_cast(value_of(x, function), type))));
}

read_memory read_by_columns(const ndarray& x, dtype type, const char* function) {
  const graph::array_view& v = view_of(x, function);
  const dims shape = core::transposed_last(v.shape);
  if (v.type == type && core::is_contiguous(shape, core::transposed_last(v.strides))) {
    const graph::exposed e = graph::begin_read(v, /*any_strides=*/true);
    if (core::is_contiguous(shape, core::transposed_last(e.strides))) return {checked(evaluated(e.held)), e.offset};
  }
  return {checked(evaluated(awaited(graph::record_cast(transposed(value_of(x, function)), type)))), 0};
}

ndarray by_columns(const value& memory) { return wrap(memory).mT(); }

ndarray identities(const ndarray& like, const matrix_stack& s, int64_t rows, int64_t columns, dtype type) {
  const ndarray one = eye(rows, {.columns = columns, .dtype = type, .device = like.device()});
  return broadcast_to(one, to_shape(s.with({rows, columns})));
}

ndarray diagonal_view(const ndarray& x, int64_t offset, int64_t first, int64_t second, const char* function) {
  const graph::array_view& v = view_of(x, function);
  if (v.shape.size() < 2)
    fail<value_error>(function, "diag requires an array of at least two dimensions, not of shape ", v.shape);
  const int i = normalize_axis(first, v.shape, function), k = normalize_axis(second, v.shape, function);
  if (i == k) fail<value_error>(function, "axis1 and axis2 cannot be the same");
  const int64_t rows = v.shape[i], columns = v.shape[k];
  const int64_t length =
      std::max<int64_t>(0, offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns));
  const int64_t begin = length == 0 ? 0 : offset >= 0 ? offset * v.strides[k] : -offset * v.strides[i];
  dims shape = v.shape, strides = v.strides;
  for (const int a : {std::max(i, k), std::min(i, k)}) {
    shape.erase(a);
    strides.erase(a);
  }
  shape.push_back(length);
  strides.push_back(v.strides[i] + v.strides[k]);
  return ndarray_access::make(graph::make_view(v, shape, strides, v.offset + begin, /*readonly=*/true));
}

runtime::solvers& solvers_of(const value& v) { return runtime::get_backend(v->device).solvers(); }

lu_memory factor_lu(const ndarray& x, const matrix_stack& s, dtype type, const char* function) {
  lu_memory f;
  f.lu = owned_by_columns(x, type, function);
  f.pivots = unset_leaf(s.with({std::min(s.rows, s.columns)}), dtype::i32, f.lu->device);
  f.info = unset_leaf(s.batch, dtype::i32, f.lu->device);
  if (!s.empty())
    solvers_of(f.lu).factor_lu(s.layout(type, function), writable_by_library(f.lu), integers_to_write(f.pivots),
                               integers_to_write(f.info));
  return f;
}

std::string at_batch_index(int64_t position, const dims& batch) {
  if (batch.empty()) return "";
  dims index(batch.size());
  for (int a = batch.size() - 1; a >= 0; --a) {
    index[a] = position % batch[a];
    position /= batch[a];
  }
  return " at batch index " + core::to_string(index);
}

std::unique_ptr<runtime::outcome> look_for_failures(const value& info) {
  return solvers_of(info).look_for_failures(static_cast<const std::int32_t*>(readable_by_library(info)), info->size());
}

void require_success(runtime::outcome& found, const value& info, const char* function, const std::string& what) {
  found.require_none(
      [=, batch = info->shape](int64_t first) { fail<linalg_error>(function, what, at_batch_index(first, batch)); });
}
void require_success(const value& info, const char* function, const std::string& what) {
  require_success(*look_for_failures(info), info, function, what);
}

std::int32_t number_at(const value& info, int64_t position) {
  return wrap(info).host<std::int32_t>()[static_cast<std::size_t>(position)];
}

dims broadcast_batches(const dims& a, const dims& b, const char* function, const ndarray& x, const ndarray& y) {
  dims batch = a;
  if (!core::broadcast_into(batch, b))
    fail<shape_error>(function, "leading axes could not be broadcast together: shapes ", view_of(x, function).shape,
                      " and ", view_of(y, function).shape);
  core::checked_count(batch, function);
  return batch;
}

ndarray with_batch(const ndarray& x, const dims& batch, int last_axes) {
  const dims& shape = view_of(x, "linalg").shape;
  dims wanted = batch;
  for (int a = shape.size() - last_axes; a < shape.size(); ++a) wanted.push_back(shape[a]);
  return wanted == shape ? x : broadcast_to(x, to_shape(wanted));
}

}  // namespace sinter::ops
