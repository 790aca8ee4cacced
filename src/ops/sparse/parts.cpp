// Handles, their parts, and what is computed of index arrays by recorded operations.
#include "ops/sparse/parts.hpp"

#include <limits>

#include "graph/run/flush.hpp"
#include "graph/values/faults.hpp"
#include "graph/values/example.hpp"
#include "ops/base/differentiating.hpp"
#include "ops/base/opaque_call.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/search.hpp"

namespace sinter::ops {

const state_ref& state_of(const sparse_array& a, const char* function) {
  const state_ref& s = sparse_access::ref(a);
  if (!s) [[unlikely]]
    refuse_undefined(function, "the sparse array");
  return s;
}

ndarray snapshot_of(const ndarray& x) { return wrap(value_of(x, "sparse")); }

state_ref make_state(sparse::format f, std::int64_t rows, std::int64_t columns, ndarray data, ndarray first,
                     ndarray second, entry_order order) {
  auto s = std::make_shared<sparse_state>();
  s->format = f;
  s->rows = rows;
  s->columns = columns;
  s->data = std::move(data);
  s->first = std::move(first);
  s->second = std::move(second);
  s->order = order;
  return s;
}

state_ref with_elements(const sparse_state& s, ndarray data) {
  state_ref other = make_state(s.format, s.rows, s.columns, std::move(data), s.first, s.second, s.order);
  other->order.share(s.order);
  other->longest.share(s.longest);
  return other;
}

bool elements_are_followed(const sparse_state& s) {
  const value data = value_of(s.data);
  return is_followed(data) || graph::is_example(data);
}

state_ref flipped(const sparse_state& s) {
  using sparse::format;
  const bool coo = s.format == format::coo;
  const format f = coo ? format::coo : s.format == format::csr ? format::csc : format::csr;
  state_ref other = make_state(f, s.columns, s.rows, s.data, coo ? s.second : s.first, coo ? s.first : s.second,
                               coo ? entry_order::unknown : s.order.load());
  if (!coo) other->order.share(s.order), other->longest.share(s.longest);
  return other;
}

dtype index_for(std::int64_t rows, std::int64_t columns, std::int64_t entries) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  return std::max({rows, columns, entries}) <= most ? dtype::i32 : dtype::i64;
}

state_ref with_index_dtype(const state_ref& s, dtype index) {
  if (index_of(*s) == index) return s;
  return make_state(s->format, s->rows, s->columns, s->data, s->first.astype(index), s->second.astype(index), s->order);
}

dtype element_dtype(dtype t) { return t == dtype::f16 || t == dtype::bf16 ? dtype::f32 : t; }

dtype sum_dtype(dtype t) { return is_inexact(t) ? t : dtype::i64; }

ndarray majors_of_entries(const sparse_state& s) {
  const std::int64_t majors = majors_of(s);
  const device where = s.data.device();
  const ndarray all = arange(majors, {.dtype = index_of(s), .device = where});
  if (runtime::get_backend(device_of(s)).host_addressable()) return repeat(all, diff(s.first));
  const ndarray entries = arange(entries_of(s), {.dtype = index_of(s), .device = where});
  return searchsorted(s.first(slice(1, _)), entries, "right").astype(index_of(s));
}
ndarray rows_of_entries(const sparse_state& s) {
  if (s.format == sparse::format::csr) return majors_of_entries(s);
  return s.format == sparse::format::csc ? s.second : s.first;
}
ndarray columns_of_entries(const sparse_state& s) {
  return s.format == sparse::format::csc ? majors_of_entries(s) : s.second;
}

std::int64_t longest_of(const sparse_state& s) {
  const std::int64_t entries = entries_of(s), majors = majors_of(s), known = s.longest.load();
  if (known >= 0 || entries == 0 || !is_compressed(s)) return entries == 0 ? 0 : known;
  // What a capture records may have other entries when it is launched.
  if (is_recorded_for_later()) return -1;
  constexpr std::int64_t few = 4096;  // no product divides rows of so few
  const std::int64_t longest = entries <= few || majors == 1 ? entries : max(diff(s.first)).item<std::int64_t>();
  s.longest = longest;
  return longest;
}

runtime::sparse& kernels_of(const sparse_state& s) { return runtime::get_backend(device_of(s)).sparse(); }

void ready_matrix::pass_faults(const value& to) const { graph::inherit_faults(to, {&data, &indices, &indptr}); }

ready_matrix ready(const sparse_state& s, dtype type) {
  ready_matrix r;
  r.data = graph::record_cast(value_of(s.data), type);
  r.indices = value_of(s.second);
  r.indptr = value_of(s.first);
  const value all[] = {r.data, r.indices, r.indptr};
  graph::flush(all);
  r.matrix = {type,
              s.second.dtype(),
              majors_of(s),
              minors_of(s),
              entries_of(s),
              address_to_read(r.data),
              address_to_read(r.indices),
              address_to_read(r.indptr),
              s.order.load() >= entry_order::sorted,
              s.longest.load()};
  return r;
}

ndarray first_elements(const value& all, std::int64_t count) {
  const ndarray first = wrap(all)(slice(count));
  return 2 * count < all->size() ? first.copy() : first;
}

ndarray segment_sums(const ndarray& data, const ndarray& starts) {
  const dtype type = sum_dtype(data.dtype());
  const value elements = graph::record_cast(value_of(data), type), ends = value_of(starts);
  const value all[] = {elements, ends};
  graph::flush(all);
  const std::int64_t segments = ends->size() - 1;
  value sums = unset_leaf(dims{segments}, type, elements->device);
  if (segments > 0) {
    runtime::sparse& device = runtime::get_backend(elements->device).sparse();
    const runtime::sparse_matrix m{
        type, ends->type, segments, 1, elements->size(), address_to_read(elements), nullptr, address_to_read(ends)};
    const runtime::sparse_product p;
    const runtime::buffer scratch(runtime::get_backend(elements->device), device.multiply_scratch(m, p));
    device.multiply(m, p, address_to_write(sums), scratch.data());
    graph::inherit_faults(sums, {&elements, &ends});
  }
  return wrap(sums).astype(data.dtype(), /*copy=*/false);
}

}  // namespace sinter::ops
