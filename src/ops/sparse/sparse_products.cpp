// Products of two sparse arrays. On the host by the backend; elsewhere the products of all pairs of entries are written down
// row by row, sorted and added up.
#include "graph/run/flush.hpp"
#include "graph/values/faults.hpp"
#include "ops/sparse/parts.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/scan.hpp"
#include "sinter/search.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {
namespace {

using sparse::format;

/// a b of csr arrays of one index dtype, in `type`.
state_ref product_on_host(const sparse_state& a, const sparse_state& b, dtype type) {
  const ready_matrix left = ready(a, type), right = ready(b, type);
  const runtime::device_id device = device_of(a);
  runtime::sparse& kernels = kernels_of(a);
  const value indptr = unset_leaf(dims{a.rows + 1}, dtype::i64, device);
  auto* const ends = static_cast<std::int64_t*>(address_to_write(indptr));
  const std::int64_t count = kernels.count_product(left.matrix, right.matrix, ends);
  const value indices = unset_leaf(dims{count}, index_of(a), device), data = unset_leaf(dims{count}, type, device);
  kernels.fill_product(left.matrix, right.matrix, ends, address_to_write(indices), address_to_write(data));
  graph::inherit_faults(data, {&left.data, &right.data});
  const dtype index = std::max(index_of(a), index_for(a.rows, b.columns, count));
  return make_state(format::csr, a.rows, b.columns, wrap(data), wrap(indptr).astype(index, false),
                    wrap(indices).astype(index, false), entry_order::unknown);
}

state_ref product_by_pairs(const sparse_state& a, const sparse_state& b, dtype type) {
  const device where = a.data.device();
  const ndarray starts = take(b.first, a.second).astype(int64);
  const ndarray counts = take(b.first(slice(1, _)), a.second) - starts;  // entries of b for each entry of a
  const ndarray ends = cumsum(counts);
  const std::int64_t total = ends.size() == 0 ? 0 : ends(-1).item<std::int64_t>();
  const dtype index = std::max(index_of(a), index_for(a.rows, b.columns, total));
  if (total == 0)
    return make_state(format::csr, a.rows, b.columns, zeros(0, {.dtype = type, .device = where}),
                      zeros(a.rows + 1, {.dtype = index, .device = where}), zeros(0, {.dtype = index, .device = where}),
                      entry_order::canonical);
  const ndarray pair = arange(total, {.device = where});
  const ndarray of_a = searchsorted(ends, pair, "right");
  const ndarray of_b = take(starts + counts - ends, of_a) + pair;
  const ndarray data = take(a.data, of_a).astype(type, false) * take(b.data, of_b).astype(type, false);
  const ndarray begins = concatenate({zeros(1, {.dtype = int64, .device = where}), ends});
  return canonical(make_state(format::csr, a.rows, b.columns, data, take(begins, a.first).astype(index),
                              take(b.second, of_b).astype(index), entry_order::none));
}

state_ref product_of_rows(const state_ref& a, const state_ref& b, dtype type) {
  const dtype index = promote_types(index_of(*a), index_of(*b));
  const state_ref x = with_index_dtype(a, index), y = with_index_dtype(b, index);
  return kernels_of(*x).arranges() ? product_on_host(*x, *y, type) : product_by_pairs(*x, *y, type);
}

}  // namespace

state_ref sparse_product_of(const state_ref& a, const state_ref& b) {
  if (a->columns != b->rows)
    fail<shape_error>("matmul", "shapes (", a->rows, ", ", a->columns, ") and (", b->rows, ", ", b->columns,
                      ") do not fit");
  require_one_device("matmul", device_of(*a), device_of(*b));
  const dtype type = promote_types(a->data.dtype(), b->data.dtype()), wide = sum_dtype(type);
  state_ref result;
  const auto rows_of = [](const state_ref& s) { return bools_joined(in_format(s, format::csr)); };
  if (a->format == format::csc && b->format == format::csc)
    result = flipped(*product_of_rows(flipped(*bools_joined(b)), flipped(*bools_joined(a)), wide));
  else result = product_of_rows(rows_of(a), rows_of(b), wide);
  return wide == type ? result : with_elements(*result, result->data.astype(type));
}

}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

sparse_array matmul(const sparse_array& a, const sparse_array& b) {
  return ops::sparse_access::make(ops::sparse_product_of(ops::state_of(a, "matmul"), ops::state_of(b, "matmul")));
}
sparse_array sparse_array::dot(const sparse_array& b) const { return matmul(*this, b); }

}  // namespace sparse
}  // namespace sinter::inline v0
