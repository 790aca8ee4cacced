// Conversions between formats, and to dense arrays. On the host entries are moved by the backend's kernels, elsewhere by
// sorts and gathers.
#include "graph/run/flush.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/sparse/parts.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/histogram.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/scan.hpp"
#include "sinter/search.hpp"
#include "sinter/sort.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {
namespace {

using sparse::format;

/// What `move` does to an array whose elements may not be moved on the host, since a derivative or a vmap follows them: it moves
/// their numbers, and they are selected by these.
template <class Move>
state_ref moved_by_numbers(const sparse_state& s, const Move& move) {
  const ndarray numbers = arange(entries_of(s), {.dtype = int64, .device = s.data.device()});
  const state_ref moved = move(*with_elements(s, numbers));
  return with_elements(*moved, take(s.data, moved->data));
}

/// Entries in the order of one coordinate (of `majors`), in their own order otherwise, by the host's kernels. `minor` is
/// undefined for a compressed array, whose majors are the others then.
state_ref grouped_on_host(format f, const sparse_state& s, const ndarray& major, const ndarray& minor) {
  const bool by_columns = f == format::csc;
  const std::int64_t majors = by_columns ? s.columns : s.rows;
  const dtype index = major.dtype();
  const value data = value_of(s.data), of = value_of(major), other = minor.defined() ? value_of(minor) : value(),
              ends = minor.defined() ? value() : value_of(s.first);
  const value all[] = {data, of, minor.defined() ? other : ends};
  graph::flush(all);
  const std::int64_t count = entries_of(s);
  const value indptr = unset_leaf(dims{majors + 1}, index, data->device),
              indices = unset_leaf(dims{count}, index, data->device),
              moved = unset_leaf(dims{count}, data->type, data->device);
  runtime::sparse_entries e{index, count, itemsize(data->type), address_to_read(data), address_to_read(of)};
  if (minor.defined()) e.minor = address_to_read(other);
  else e.indptr = address_to_read(ends), e.rows = majors_of(s);
  kernels_of(s).group(e, majors, address_to_write(indptr), address_to_write(indices), address_to_write(moved));
  graph::inherit_faults(moved, {&data});
  return make_state(f, s.rows, s.columns, wrap(moved), wrap(indptr), wrap(indices), entry_order::unknown);
}

/// The ends of `majors` groups of ascending coordinates.
ndarray ends_of(const ndarray& ascending, std::int64_t majors, dtype index) {
  return searchsorted(ascending, arange(majors + 1, {.dtype = ascending.dtype(), .device = ascending.device()}))
      .astype(index);
}

/// The same by a stable sort.
state_ref grouped_by_sorting(format f, const sparse_state& s, const ndarray& major, const ndarray& minor) {
  const ndarray order = argsort(major);
  const std::int64_t majors = f == format::csc ? s.columns : s.rows;
  return make_state(f, s.rows, s.columns, take(s.data, order), ends_of(take(major, order), majors, major.dtype()),
                    take(minor, order), entry_order::unknown);
}

/// The same of a compressed array on a device that has a kernel for it.
state_ref transposed_on_device(format f, const sparse_state& s, const ready_matrix& m) {
  const dtype index = index_of(s);
  const std::size_t bytes = itemsize(m.data->type);
  const runtime::device_id device = device_of(s);
  const value indptr = unset_leaf(dims{m.matrix.columns + 1}, index, device),
              indices = unset_leaf(dims{m.matrix.entries}, index, device),
              moved = unset_leaf(dims{m.matrix.entries}, m.data->type, device);
  runtime::sparse& kernels = kernels_of(s);
  const runtime::buffer scratch(runtime::get_backend(device), kernels.transpose_scratch(m.matrix, bytes));
  kernels.transpose(m.matrix, bytes, address_to_write(indptr), address_to_write(indices), address_to_write(moved),
                    scratch.data());
  m.pass_faults(moved);
  return make_state(f, s.rows, s.columns, wrap(moved), wrap(indptr), wrap(indices), entry_order::unknown);
}
state_ref regrouped_elsewhere(format f, const sparse_state& s) {
  const ready_matrix m = ready(s, s.data.dtype());
  if (kernels_of(s).transposes(m.matrix)) return transposed_on_device(f, s, m);
  return grouped_by_sorting(f, s, s.second, majors_of_entries(s));
}

/// coo whose major coordinates ascend: nothing moves. Null where they do not.
state_ref grouped_in_place(format f, const sparse_state& s, const ndarray& major, const ndarray& minor) {
  const std::int64_t majors = f == format::csc ? s.columns : s.rows;
  const value of = evaluated(value_of(major)), indptr = unset_leaf(dims{majors + 1}, major.dtype(), of->device);
  const bool ascends = kernels_of(s).ends_of_ascending(major.dtype(), address_to_read(of), entries_of(s), majors,
                                                       address_to_write(indptr));
  graph::inherit_faults(indptr, {&of});
  return ascends ? make_state(f, s.rows, s.columns, s.data, wrap(indptr), minor, entry_order::unknown) : nullptr;
}

/// coo in compressed form; entries of equal place stay.
state_ref grouped(format f, const sparse_state& s) {
  const bool by_columns = f == format::csc;
  const ndarray &major = by_columns ? s.second : s.first, &minor = by_columns ? s.first : s.second;
  if (!kernels_of(s).arranges()) return grouped_by_sorting(f, s, major, minor);
  if (const state_ref in_place = grouped_in_place(f, s, major, minor)) return in_place;
  if (!elements_are_followed(s)) return grouped_on_host(f, s, major, minor);
  return moved_by_numbers(s, [&](const sparse_state& n) { return grouped_on_host(f, n, major, minor); });
}

/// coo whose entries are known to be in C order, in compressed rows: nothing moves.
state_ref compressed_in_order(const sparse_state& s) {
  const dtype index = index_of(s);
  if (!kernels_of(s).arranges())
    return make_state(format::csr, s.rows, s.columns, s.data, ends_of(s.first, s.rows, index), s.second, s.order);
  const ndarray ends = cumsum(bincount(s.first, {.minlength = s.rows})).astype(index);
  const ndarray none = zeros(1, {.dtype = index, .device = s.data.device()});
  return make_state(format::csr, s.rows, s.columns, s.data, concatenate({none, ends}), s.second, s.order);
}

state_ref as_coo(const sparse_state& s) {
  const entry_order order = s.format == format::csr ? s.order.load() : entry_order::unknown;
  return make_state(format::coo, s.rows, s.columns, s.data, rows_of_entries(s), columns_of_entries(s), order);
}

}  // namespace

state_ref regrouped(const state_ref& s) {
  const format f = s->format == format::csr ? format::csc : format::csr;
  const bool distinct = s->order == entry_order::canonical;
  const auto move = [f](const sparse_state& n) {
    return kernels_of(n).arranges() ? grouped_on_host(f, n, n.second, ndarray()) : regrouped_elsewhere(f, n);
  };
  const state_ref r = elements_are_followed(*s) ? moved_by_numbers(*s, move) : move(*s);
  if (distinct) r->order = entry_order::canonical;
  return r;
}

state_ref kept_regrouped(const state_ref& s) {
  const std::lock_guard lock(s->mutex);
  if (!s->regrouped) s->regrouped = regrouped(s);
  return s->regrouped;
}

state_ref compressed(const state_ref& s) { return is_compressed(*s) ? s : in_format(s, format::csr); }

state_ref kept_compressed(const state_ref& s) {
  if (is_compressed(*s) || is_recorded_for_later()) return compressed(s);
  const std::lock_guard lock(s->mutex);
  if (!s->regrouped) s->regrouped = compressed(s);
  return s->regrouped;
}

state_ref in_format(const state_ref& s, format f) {
  if (s->format == f) return s;
  if (f == format::coo) return as_coo(*s);
  if (is_compressed(*s)) return regrouped(s);
  const bool sorted = s->order.load() >= entry_order::sorted, distinct = s->order.load() == entry_order::canonical;
  const state_ref r = f == format::csr && sorted && entries_of(*s) > 0 ? compressed_in_order(*s) : grouped(f, *s);
  if (distinct)
    r->order = entry_order::canonical;  // entries of C order, grouped by columns, are in the order of rows there
  return canonical(r);
}

namespace {

/// Of distinct places, by the host's kernels.
ndarray dense_on_host(const sparse_state& s) {
  const ready_matrix m = ready(s, s.data.dtype());
  const value dense = unset_leaf(dims{s.rows, s.columns}, m.data->type, m.data->device);
  kernels_of(s).spread(m.matrix, itemsize(m.data->type), s.format == format::csc, address_to_write(dense));
  m.pass_faults(dense);
  return wrap(dense);
}

}  // namespace

ndarray dense_of(const sparse_state& s) {
  const dtype type = s.data.dtype(), summed = is_bool(type) ? dtype::i64 : type;
  if (is_compressed(s) && s.rows * s.columns > 0 && kernels_of(s).arranges() && !is_recorded_for_later() &&
      order_of(s) == entry_order::canonical)
    return dense_on_host(s);
  const device where = s.data.device();
  const ndarray result = zeros(s.rows * s.columns, {.dtype = summed, .device = where});
  if (entries_of(s) != 0) {
    const ndarray at = rows_of_entries(s).astype(dtype::i64) * s.columns + columns_of_entries(s);
    if (s.order == entry_order::canonical) result(at) = s.data.astype(summed, false);
    else add_at(result(at), s.data.astype(summed, false), {.deterministic = true});
  }
  return result.astype(type, false).reshape({s.rows, s.columns});
}

}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

sparse_array sparse_array::asformat(sparse::format f) const {
  return ops::sparse_access::make(ops::in_format(ops::state_of(*this, "asformat"), f));
}
sparse_array sparse_array::asformat(std::string_view f) const {
  for (const sparse::format known : {format::csr, format::csc, format::coo})
    if (f == sparse::name(known)) return asformat(known);
  ops::fail<value_error>("asformat", "no sparse format \"", f, "\"; there are csr, csc and coo");
}
sparse_array sparse_array::tocsr() const { return asformat(format::csr); }
sparse_array sparse_array::tocsc() const { return asformat(format::csc); }
sparse_array sparse_array::tocoo() const { return asformat(format::coo); }
ndarray sparse_array::toarray() const { return ops::dense_of(*ops::state_of(*this, "toarray")); }
sparse_array sparse_array::T() const {
  return ops::sparse_access::make(ops::flipped(*ops::state_of(*this, "transpose")));
}

}  // namespace sparse
}  // namespace sinter::inline v0
