// Makers: from dense arrays and from parts, which are checked.
#include <string>

#include "ops/sparse/parts.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"
#include "sinter/reduce.hpp"
#include "sinter/search.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {
namespace {

using sparse::array_kw;
using sparse::format;

/// "csr_array" and the like, as messages name the function.
const char* maker_of(format f) {
  constexpr const char* names[] = {"csr_array", "csc_array", "coo_array"};
  return names[static_cast<int>(f)];
}

struct extents {
  std::int64_t rows = 0, columns = 0;
};
extents extents_of(const shape_t& shape, const char* function) {
  if (shape.ndim() != 2 || shape[0] < 0 || shape[1] < 0)
    fail<shape_error>(function, "a sparse array has two axes, not shape ", shape);
  return {shape[0], shape[1]};
}

/// Dtype and device as asked for, the device else the array's own.
ndarray delivered_part(const ndarray& x, const array_kw& kw) {
  const ndarray held = snapshot_of(x);
  return kw.device ? held.to_device(*kw.device) : held;
}
ndarray elements_part(const ndarray& data, const array_kw& kw) {
  const ndarray held = delivered_part(data, kw);
  return held.astype(element_dtype(kw.dtype.value_or(held.dtype())), /*copy=*/false);
}

dtype chosen_index(extents e, std::int64_t entries, const array_kw& kw, const char* function) {
  const dtype least = index_for(e.rows, e.columns, entries);
  if (!kw.index_dtype) return least;
  const dtype asked = *kw.index_dtype;
  if (asked != dtype::i32 && asked != dtype::i64)
    fail<dtype_error>(function, "indices are int32 or int64, not ", asked);
  if (asked == dtype::i32 && least == dtype::i64)
    fail<value_error>(function, "int32 is too narrow for the indices of shape (", e.rows, ", ", e.columns, ") and ",
                      entries, " entries");
  return asked;
}

void require_defined(const ndarray& x, const char* what, const char* function) {
  if (!x.defined()) fail<value_error>(function, what, " is undefined (default-constructed or moved from)");
}
void require_vector(const ndarray& x, const char* what, const char* function) {
  require_defined(x, what, function);
  if (x.ndim() != 1) fail<shape_error>(function, what, " has shape ", x.shape(), ", not one axis");
}
void require_indices(const ndarray& x, const char* what, const char* function) {
  require_vector(x, what, function);
  if (!is_integer(x.dtype())) fail<dtype_error>(function, what, " is ", x.dtype(), ", not an integer dtype");
}

/// Throws for the first index of `x` (int64, evaluated as needed) outside of [0, extent).
void check_range(const ndarray& x, std::int64_t extent, const char* what, const char* function) {
  if (x.size() == 0) return;
  const ndarray wrong = (x < 0) | (x >= extent);
  if (!any(wrong).item<bool>()) return;
  const std::int64_t at = argmax(wrong).item<std::int64_t>();
  fail<index_error>(function, what, "[", at, "] is ", x(at).item<std::int64_t>(), ", which is out of range for extent ",
                    extent);
}

/// The largest index plus one.
std::int64_t extent_of(const ndarray& indices) {
  return indices.size() == 0 ? 0 : max(indices).item<std::int64_t>() + 1;
}

void check_ascent(const ndarray& indptr, const char* function) {
  if (indptr.size() < 2) return;
  const ndarray falls = indptr(slice(1, _)) < indptr(slice(0, -1));
  if (!any(falls).item<bool>()) return;
  const std::int64_t at = argmax(falls).item<std::int64_t>() + 1;
  fail<value_error>(function, "indptr decreases: indptr[", at, "] is ", indptr(at).item<std::int64_t>(), " after ",
                    indptr(at - 1).item<std::int64_t>());
}
void require_ends(const ndarray& indptr, std::int64_t most, const char* function) {
  if (indptr.size() == 0)
    fail<value_error>(function, "indptr is empty; it has one number more than there are rows or columns");
  const std::int64_t first = indptr(0).item<std::int64_t>();
  if (first != 0) fail<value_error>(function, "indptr starts with ", first, ", not 0");
  const std::int64_t last = indptr(-1).item<std::int64_t>();
  if (last > most) {
    check_ascent(indptr, function);
    fail<value_error>(function, "indptr ends with ", last, ", but there are only ", most, " entries");
  }
}

/// Whether kernels of the host find nothing wrong with indices that fit (indptr starts at 0).
bool are_right_on_host(const ndarray& indices, const ndarray& indptr, std::int64_t entries, std::int64_t minors) {
  const dtype index = indices.dtype();
  runtime::sparse& kernels = runtime::get_backend(to_id(indices.device())).sparse();
  if (!kernels.arranges() || indptr.dtype() != index || (index != dtype::i32 && index != dtype::i64) ||
      (index == dtype::i32 && index_for(minors, 0, 0) != index))
    return false;
  const value places = evaluated(value_of(indices)), ends = evaluated(value_of(indptr));
  const runtime::sparse_matrix m{dtype::f64, index,   indptr.size() - 1,       minors,
                                 entries,    nullptr, address_to_read(places), address_to_read(ends)};
  return kernels.find_defect(m).where < 0;
}

sparse_array of_parts(format f, const ndarray& data, const ndarray& indices, const ndarray& indptr,
                      const std::optional<shape_t>& shape, const array_kw& kw) {
  const char* const function = maker_of(f);
  require_vector(data, "data", function);
  require_indices(indices, "indices", function);
  require_indices(indptr, "indptr", function);
  ndarray elements = elements_part(data, kw), places = delivered_part(indices, kw), ends = delivered_part(indptr, kw);
  require_one_device(function, to_id(elements.device()), to_id(places.device()));
  require_one_device(function, to_id(elements.device()), to_id(ends.device()));
  if (places.size() != elements.size())
    fail<shape_error>(function, "data has ", elements.size(), " elements, but indices ", places.size());
  const state_ref known = checked_before(places, ends);
  if (!known) require_ends(ends, places.size(), function);
  const std::int64_t entries = known ? entries_of(*known) : ends(-1).item<std::int64_t>(), majors = ends.size() - 1;
  const std::int64_t minors_given =
      !shape ? -1 : extents_of(*shape, function).*(f == format::csc ? &extents::rows : &extents::columns);
  const bool right =
      minors_given >= 0 && (known ? minors_of(*known) <= minors_given
                                  : are_right_on_host(places, ends, std::max<std::int64_t>(entries, 0), minors_given));
  if (!right && !known) check_ascent(ends, function);
  if (elements.size() > entries) elements = elements(slice(entries)).copy();
  if (places.size() > entries) places = places(slice(entries)).copy();
  extents e = shape ? extents_of(*shape, function) : extents{majors, extent_of(places)};
  if (!shape && f == format::csc) std::swap(e.rows, e.columns);
  const std::int64_t wanted = f == format::csc ? e.columns : e.rows, minors = f == format::csc ? e.rows : e.columns;
  if (wanted != majors)
    fail<shape_error>(function, "indptr has ", ends.size(), " numbers, but shape (", e.rows, ", ", e.columns,
                      ") needs ", wanted + 1);
  if (!right) check_range(places, minors, "indices", function);
  const dtype index = chosen_index(e, entries, kw, function);
  const state_ref made = make_state(f, e.rows, e.columns, elements, ends.astype(index, false),
                                    places.astype(index, false), entry_order::unknown);
  if (known) made->order.share(known->order), made->longest.share(known->longest);
  return sparse_access::make(made);
}

/// csr: the positions of elements that are not zero, in C order, give columns and the ends of rows.
sparse_array of_dense(format f, const ndarray& dense, const array_kw& kw) {
  const char* const function = maker_of(f);
  require_defined(dense, "the dense array", function);
  if (dense.ndim() != 2 && dense.ndim() != 1)
    fail<shape_error>(function, "a sparse array has two axes; the dense array has shape ", dense.shape());
  ndarray x = elements_part(dense, kw);
  if (x.ndim() == 1) x = x(newaxis, _);
  const extents e{x.shape(0), x.shape(1)};
  const bool by_columns = f == format::csc;
  if (by_columns) x = x.T();
  const std::int64_t majors = x.shape(0), minors = x.shape(1);
  const ndarray at = flatnonzero(x);
  const dtype index = chosen_index(e, at.size(), kw, function);
  const ndarray data = take(x.ravel(), at), places = (at % std::max<std::int64_t>(minors, 1)).astype(index);
  if (f == format::coo)
    return sparse_access::make(make_state(f, e.rows, e.columns, data,
                                          floor_divide(at, std::max<std::int64_t>(minors, 1)).astype(index), places,
                                          entry_order::canonical));
  const ndarray starts = arange(majors + 1, {.device = x.device()}) * minors;
  return sparse_access::make(
      make_state(f, e.rows, e.columns, data, searchsorted(at, starts).astype(index), places, entry_order::canonical));
}

sparse_array without_entries(format f, const shape_t& shape, const array_kw& kw) {
  const char* const function = maker_of(f);
  const extents e = extents_of(shape, function);
  const dtype index = chosen_index(e, 0, kw, function);
  const device where = to_public(chosen(kw.device));
  const std::int64_t ends = f == format::coo ? 0 : (f == format::csc ? e.columns : e.rows) + 1;
  return sparse_access::make(make_state(
      f, e.rows, e.columns, zeros(0, {.dtype = element_dtype(kw.dtype.value_or(dtype::f64)), .device = where}),
      zeros(ends, {.dtype = index, .device = where}), zeros(0, {.dtype = index, .device = where}),
      entry_order::canonical));
}

sparse_array of_sparse(format f, const sparse_array& a, const array_kw& kw) {
  const char* const function = maker_of(f);
  state_ref s = in_format(state_of(a, function), f);
  const dtype index = kw.index_dtype ? chosen_index({s->rows, s->columns}, entries_of(*s), kw, function) : index_of(*s);
  s = with_index_dtype(s, index);
  sparse_array result = sparse_access::make(s);
  if (kw.device) result = result.to_device(*kw.device);
  return kw.dtype ? result.astype(*kw.dtype) : result;
}

sparse_array of_triplets(const ndarray& data, const ndarray& row, const ndarray& col,
                         const std::optional<shape_t>& shape, const array_kw& kw, const char* function) {
  require_vector(data, "data", function);
  require_indices(row, "row", function);
  require_indices(col, "col", function);
  if (row.size() != data.size() || col.size() != data.size())
    fail<shape_error>(function, "data has ", data.size(), " elements, row ", row.size(), " and col ", col.size());
  const ndarray elements = elements_part(data, kw), i = delivered_part(row, kw), j = delivered_part(col, kw);
  require_one_device(function, to_id(elements.device()), to_id(i.device()));
  require_one_device(function, to_id(elements.device()), to_id(j.device()));
  const extents e = shape ? extents_of(*shape, function) : extents{extent_of(i), extent_of(j)};
  check_range(i, e.rows, "row", function);
  check_range(j, e.columns, "col", function);
  const dtype index = chosen_index(e, data.size(), kw, function);
  return sparse_access::make(make_state(format::coo, e.rows, e.columns, elements, i.astype(index, false),
                                        j.astype(index, false), entry_order::unknown));
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

sparse_array csr_array(const ndarray& dense, const array_kw& kw) { return ops::of_dense(format::csr, dense, kw); }
sparse_array csc_array(const ndarray& dense, const array_kw& kw) { return ops::of_dense(format::csc, dense, kw); }
sparse_array coo_array(const ndarray& dense, const array_kw& kw) { return ops::of_dense(format::coo, dense, kw); }
sparse_array csr_array(const sparse_array& a, const array_kw& kw) { return ops::of_sparse(format::csr, a, kw); }
sparse_array csc_array(const sparse_array& a, const array_kw& kw) { return ops::of_sparse(format::csc, a, kw); }
sparse_array coo_array(const sparse_array& a, const array_kw& kw) { return ops::of_sparse(format::coo, a, kw); }
sparse_array csr_array(const shape_t& s, const array_kw& kw) { return ops::without_entries(format::csr, s, kw); }
sparse_array csc_array(const shape_t& s, const array_kw& kw) { return ops::without_entries(format::csc, s, kw); }
sparse_array coo_array(const shape_t& s, const array_kw& kw) { return ops::without_entries(format::coo, s, kw); }
sparse_array csr_array(const ndarray& data, const ndarray& indices, const ndarray& indptr,
                       const std::optional<shape_t>& shape, const array_kw& kw) {
  return ops::of_parts(format::csr, data, indices, indptr, shape, kw);
}
sparse_array csc_array(const ndarray& data, const ndarray& indices, const ndarray& indptr,
                       const std::optional<shape_t>& shape, const array_kw& kw) {
  return ops::of_parts(format::csc, data, indices, indptr, shape, kw);
}
sparse_array coo_array(const ndarray& data, const ndarray& row, const ndarray& col, const std::optional<shape_t>& shape,
                       const array_kw& kw) {
  return ops::of_triplets(data, row, col, shape, kw, "coo_array");
}
sparse_array csr_from_triplets(const ndarray& data, const ndarray& row, const ndarray& col,
                               const std::optional<shape_t>& shape, const array_kw& kw) {
  return ops::of_triplets(data, row, col, shape, kw, "csr_from_triplets").tocsr();
}

}  // namespace sparse
}  // namespace sinter::inline v0
