// The places of two arrays side by side. On the host rows are merged by the backend, elsewhere places become numbers that
// are sorted and searched.
#include "ops/sparse/merge.hpp"

#include <algorithm>

#include "graph/run/flush.hpp"
#include "graph/values/faults.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/search.hpp"
#include "sinter/sort.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {
namespace {

using sparse::format;

/// Elements at entries, 0 where there is none (-1).
ndarray elements_at(const ndarray& data, const ndarray& entries) {
  if (data.size() == 0) return zeros(entries.shape(), {.dtype = data.dtype(), .device = data.device()});
  const ndarray none = zeros({}, {.dtype = data.dtype(), .device = data.device()});
  return where(entries < 0, none, take(data, maximum(entries, 0)));
}

bool have_same_places(const sparse_state& a, const sparse_state& b) {
  return value_of(a.first) == value_of(b.first) && value_of(a.second) == value_of(b.second);
}

merged_pair finished(const alike_pair& p, ndarray first, ndarray second, const ndarray& of_a, const ndarray& of_b) {
  const dtype index = index_of(*p.a);
  return {make_state(p.a->format, p.a->rows, p.a->columns, of_a, first.astype(index, /*copy=*/false),
                     second.astype(index, /*copy=*/false), entry_order::canonical),
          of_a, of_b};
}

merged_pair merged_on_host(const alike_pair& p, bool common) {
  const ready_matrix a = ready(*p.a, p.a->data.dtype()), b = ready(*p.b, p.b->data.dtype());
  const runtime::device_id device = device_of(*p.a);
  runtime::sparse& kernels = kernels_of(*p.a);
  const value indptr = unset_leaf(dims{a.matrix.rows + 1}, dtype::i64, device);
  auto* const ends = static_cast<std::int64_t*>(address_to_write(indptr));
  const std::int64_t count = kernels.count_merged(a.matrix, b.matrix, common, ends);
  const value indices = unset_leaf(dims{count}, index_of(*p.a), device),
              of_a = unset_leaf(dims{count}, a.data->type, device),
              of_b = unset_leaf(dims{count}, b.data->type, device);
  kernels.fill_merged(a.matrix, b.matrix, common, ends, address_to_write(indices), itemsize(of_a->type),
                      address_to_write(of_a), itemsize(of_b->type), address_to_write(of_b));
  a.pass_faults(of_a);
  b.pass_faults(of_b);
  return finished(p, wrap(indptr), wrap(indices), wrap(of_a), wrap(of_b));
}

/// One number for each place, ascending.
ndarray keys_of(const sparse_state& s) { return majors_of_entries(s).astype(dtype::i64) * minors_of(s) + s.second; }

/// Where each key is among others, and whether it is: positions, bools.
std::pair<ndarray, ndarray> found_among(const ndarray& keys, const ndarray& others) {
  if (others.size() == 0) return {zeros_like(keys), zeros(keys.shape(), {.dtype = bool_, .device = keys.device()})};
  const ndarray at = minimum(searchsorted(others, keys), others.size() - 1);
  return {at, take(others, at) == keys};
}

merged_pair merged_by_keys(const alike_pair& p, bool common) {
  std::int64_t ignored = 0;
  if (__builtin_mul_overflow(p.a->rows, p.a->columns, &ignored))
    fail<value_error>("sparse", "shape (", p.a->rows, ", ", p.a->columns, ") has too many places for this device");
  const ndarray a = keys_of(*p.a), b = keys_of(*p.b);
  const auto [in_b, is_in_b] = found_among(a, b);
  ndarray keys, from_a, from_b;
  if (common) {
    from_a = flatnonzero(is_in_b);
    from_b = take(in_b, from_a);
    keys = take(a, from_a);
  } else {
    const ndarray fresh = flatnonzero(logical_not(found_among(b, a).second));
    const ndarray all = concatenate({a, take(b, fresh)}), order = argsort(all);
    const ndarray none = full(a.shape(), -1, {.dtype = int64, .device = a.device()});
    keys = take(all, order);
    from_a = where(order < a.size(), order, -1);
    from_b = take(concatenate({where(is_in_b, in_b, none), fresh}), order);
  }
  const std::int64_t minors = std::max<std::int64_t>(minors_of(*p.a), 1);
  const ndarray starts = arange(majors_of(*p.a) + 1, {.device = a.device()}) * minors;
  return finished(p, searchsorted(keys, starts), keys % minors, elements_at(p.a->data, from_a),
                  elements_at(p.b->data, from_b));
}

}  // namespace

std::optional<state_ref> combined(const alike_pair& p, runtime::sparse_pairing how) {
  const dtype type = p.a->data.dtype();
  runtime::sparse& kernels = kernels_of(*p.a);
  if (p.b->data.dtype() != type || have_same_places(*p.a, *p.b) || !kernels.combines(how, type)) return std::nullopt;
  using runtime::sparse_pairing;
  const std::int64_t of_a = entries_of(*p.a), of_b = entries_of(*p.b),
                     room = how == sparse_pairing::multiply ? std::min(of_a, of_b) : of_a + of_b;
  const dtype index = promote_types(index_of(*p.a), index_for(p.a->rows, p.a->columns, room));
  const ready_matrix a = ready(*with_index_dtype(p.a, index), type), b = ready(*with_index_dtype(p.b, index), type);
  const runtime::device_id device = device_of(*p.a);
  const bool compares =
      how == sparse_pairing::not_equal || how == sparse_pairing::less || how == sparse_pairing::greater;
  const value indptr = unset_leaf(dims{a.matrix.rows + 1}, index, device),
              indices = unset_leaf(dims{room}, index, device),
              data = unset_leaf(dims{room}, compares ? dtype::b1 : type, device);
  const std::int64_t count = kernels.combine(how, a.matrix, b.matrix, address_to_write(indptr),
                                             address_to_write(indices), address_to_write(data));
  a.pass_faults(data);
  b.pass_faults(data);
  return make_state(p.a->format, p.a->rows, p.a->columns, first_elements(data, count), wrap(indptr),
                    first_elements(indices, count), entry_order::canonical);
}

alike_pair made_alike(const sparse_array& a, const sparse_array& b, const char* function) {
  state_ref x = state_of(a, function), y = state_of(b, function);
  if (x->rows != y->rows || x->columns != y->columns)
    fail<shape_error>(function, "shapes ", a.shape(), " and ", b.shape(), " of sparse arrays differ");
  require_one_device(function, device_of(*x), device_of(*y));
  const bool columns = x->format == format::csc && y->format == format::csc;
  const format f = columns ? format::csc : format::csr;
  x = canonical(in_format(x, f));
  y = canonical(in_format(y, f));
  const dtype index = promote_types(index_of(*x), index_of(*y));
  return {with_index_dtype(x, index), with_index_dtype(y, index)};
}

merged_pair merged(const alike_pair& p, bool common) {
  if (have_same_places(*p.a, *p.b)) return {p.a, p.a->data, p.b->data};
  return kernels_of(*p.a).arranges() ? merged_on_host(p, common) : merged_by_keys(p, common);
}

}  // namespace sinter::ops
