// The order of entries within rows or columns: looked up, made, entries of equal place added up, zeros dropped.
#include <cstring>

#include "graph/run/flush.hpp"
#include "graph/values/faults.hpp"
#include "ops/sparse/parts.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"
#include "sinter/search.hpp"
#include "sinter/sort.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {
namespace {

using sparse::format;

/// One number for each entry that ascends in the order of entries: major * minors + minor, int64. The product of extents
/// is below 2^63, or places are compared by sorts of both coordinates.
bool has_keys(const sparse_state& s) {
  std::int64_t ignored = 0;
  return !__builtin_mul_overflow(s.rows, s.columns, &ignored);
}
ndarray major_coordinates(const sparse_state& s) { return is_compressed(s) ? majors_of_entries(s) : s.first; }

/// Whether entries k + 1 and k are in order, and whether they have equal places: as bools.
struct neighbours {
  ndarray falls, equal;
};
neighbours compare_neighbours(const sparse_state& s) {
  const ndarray major = major_coordinates(s), &minor = s.second;
  const ndarray later = major(slice(1, _)), earlier = major(slice(0, -1));
  const ndarray after = minor(slice(1, _)), before = minor(slice(0, -1));
  const ndarray same = later == earlier;
  return {(later < earlier) | (same & (after < before)), same & (after == before)};
}

entry_order looked_up(const sparse_state& s) {
  if (entries_of(s) < 2) return entry_order::canonical;
  if (is_compressed(s) && kernels_of(s).arranges() && !elements_are_followed(s)) {
    const ready_matrix m = ready(s, s.data.dtype());
    return static_cast<entry_order>(kernels_of(s).order(m.matrix));
  }
  const neighbours n = compare_neighbours(s);
  const ndarray found = stack({any(n.falls), any(n.equal)});
  const std::vector<bool> both = [&] {
    const auto view = found.host<bool>();
    return std::vector<bool>{view[0], view[1]};
  }();
  return both[0] ? entry_order::none : both[1] ? entry_order::sorted : entry_order::canonical;
}

state_ref sorted_on_host(const sparse_state& s) {
  const value indices = own_memory(value_of(s.second)), data = own_memory(value_of(s.data));
  const value indptr = evaluated(value_of(s.first));
  const runtime::sparse_matrix m{data->type,    indices->type, majors_of(s), minors_of(s),
                                 entries_of(s), nullptr,       nullptr,      address_to_read(indptr)};
  kernels_of(s).sort_rows(m, itemsize(data->type), address_to_write(indices), address_to_write(data));
  return make_state(s.format, s.rows, s.columns, wrap(data), s.first, wrap(indices), entry_order::unknown);
}

/// By a kernel of the device; null where it has none for such rows.
state_ref sorted_on_device(const sparse_state& s) {
  const std::int64_t longest = longest_of(s);
  const ready_matrix m = ready(s, s.data.dtype());
  if (!kernels_of(s).sorts_copies(m.matrix)) return nullptr;
  const dims extent{entries_of(s)};
  const value indices = unset_leaf(extent, index_of(s), device_of(s)),
              data = unset_leaf(extent, s.data.dtype(), device_of(s));
  kernels_of(s).sort_copies(m.matrix, itemsize(s.data.dtype()), address_to_write(indices), address_to_write(data));
  m.pass_faults(indices);
  m.pass_faults(data);
  const state_ref result =
      make_state(s.format, s.rows, s.columns, wrap(data), s.first, wrap(indices), entry_order::unknown);
  result->longest = longest;
  return result;
}

/// The permutation that puts entries in order, entries of equal place in their own.
ndarray sorting_order(const sparse_state& s) {
  const ndarray major = major_coordinates(s);
  if (has_keys(s)) return argsort(major.astype(dtype::i64) * minors_of(s) + s.second);
  return lexsort({s.second, major});
}

state_ref sorted_by_keys(const sparse_state& s) {
  const ndarray order = sorting_order(s);
  const ndarray first = is_compressed(s) ? s.first : take(s.first, order);
  return make_state(s.format, s.rows, s.columns, take(s.data, order), first, take(s.second, order),
                    entry_order::unknown);
}

/// Whether the device has a kernel for transposes of the array and of its transpose.
bool transposes_twice(const sparse_state& s) {
  runtime::sparse_matrix m;
  m.rows = majors_of(s), m.columns = minors_of(s), m.entries = entries_of(s), m.index = index_of(s);
  if (!kernels_of(s).transposes(m)) return false;
  std::swap(m.rows, m.columns);
  return kernels_of(s).transposes(m);
}
state_ref sorted_entries(const state_ref& s) {
  if (!is_compressed(*s) || elements_are_followed(*s)) return sorted_by_keys(*s);
  if (kernels_of(*s).arranges()) return sorted_on_host(*s);
  if (const state_ref r = sorted_on_device(*s)) return r;
  return transposes_twice(*s) ? regrouped(regrouped(s)) : sorted_by_keys(*s);
}

/// Of sorted entries: those of equal place added up, in memory of their own.
state_ref joined_on_host(const sparse_state& s) {
  const dtype type = s.data.dtype(), wide = sum_dtype(type);
  const value indices = own_memory(value_of(s.second)), data = own_memory(graph::record_cast(value_of(s.data), wide)),
              before = evaluated(value_of(s.first));
  const value indptr = unset_leaf(before->shape, before->type, before->device);
  const runtime::sparse_matrix m{wide,          indices->type, majors_of(s), minors_of(s),
                                 entries_of(s), nullptr,       nullptr,      address_to_read(before)};
  const std::int64_t left =
      kernels_of(s).join_equal(m, address_to_write(indices), address_to_write(data), address_to_write(indptr));
  return make_state(s.format, s.rows, s.columns, wrap(data)(slice(left)).astype(type), wrap(indptr),
                    wrap(indices)(slice(left)).copy(), entry_order::canonical);
}

/// Of sorted entries: those of equal place added up.
state_ref summed(const sparse_state& s) {
  if (is_compressed(s) && kernels_of(s).arranges() && !elements_are_followed(s)) return joined_on_host(s);
  const ndarray fresh =
      concatenate({ones(1, {.dtype = bool_, .device = s.data.device()}), logical_not(compare_neighbours(s).equal)});
  const ndarray starts = flatnonzero(fresh);
  const dtype index = index_of(s);
  const ndarray total = full(1, entries_of(s), {.dtype = int64, .device = s.data.device()});
  const auto followed_sums = [&] {  // by position, which has derivatives
    const ndarray sums = zeros({starts.size()}, {.dtype = s.data.dtype(), .device = s.data.device()});
    add_at(sums, cumsum(fresh.astype(int64)) - 1, s.data);
    return sums;
  };
  const ndarray data = elements_are_followed(s) ? followed_sums() : segment_sums(s.data, concatenate({starts, total}));
  const ndarray first = is_compressed(s) ? searchsorted(starts, s.first).astype(index) : take(s.first, starts);
  return make_state(s.format, s.rows, s.columns, data, first, take(s.second, starts), entry_order::canonical);
}

}  // namespace

entry_order order_of(const sparse_state& s) {
  if (s.order == entry_order::unknown) s.order = looked_up(s);
  return s.order;
}

state_ref sorted(const state_ref& s) {
  if (order_of(*s) >= entry_order::sorted) return s;
  const state_ref result = sorted_entries(s);
  // Whether places repeat is looked up when it is asked for; that they are in order is known.
  const entry_order order = looked_up(*result);
  result->order = order;
  return result;
}

state_ref canonical(const state_ref& s) {
  const state_ref in_order = sorted(s);
  return order_of(*in_order) == entry_order::canonical ? in_order : summed(*in_order);
}

state_ref kept_entries(const sparse_state& s, const ndarray& positions) {
  const ndarray first =
      is_compressed(s) ? searchsorted(positions, s.first).astype(index_of(s)) : take(s.first, positions);
  // What is in order stays in order; more is not known of the rest.
  const entry_order order = s.order.load() > entry_order::none ? s.order.load() : entry_order::unknown;
  return make_state(s.format, s.rows, s.columns, take(s.data, positions), first, take(s.second, positions), order);
}

state_ref kept_where(const sparse_state& s, const ndarray& mask) {
  if (!is_compressed(s) || !kernels_of(s).arranges() || elements_are_followed(s))
    return kept_entries(s, flatnonzero(mask));
  const value chosen = evaluated(value_of(mask));
  const ready_matrix m = ready(s, s.data.dtype());
  const dims all{entries_of(s)};
  const value indptr = unset_leaf(dims{majors_of(s) + 1}, index_of(s), device_of(s)),
              indices = unset_leaf(all, index_of(s), device_of(s)), data = unset_leaf(all, m.data->type, device_of(s));
  const std::int64_t count =
      kernels_of(s).keep(m.matrix, itemsize(data->type), static_cast<const std::uint8_t*>(address_to_read(chosen)),
                         address_to_write(indptr), address_to_write(indices), address_to_write(data));
  m.pass_faults(data);
  graph::inherit_faults(data, {&chosen});
  const entry_order order = s.order.load() > entry_order::none ? s.order.load() : entry_order::unknown;
  return make_state(s.format, s.rows, s.columns, first_elements(data, count), wrap(indptr),
                    first_elements(indices, count), order);
}

state_ref without_zeros(const state_ref& s) {
  if (is_compressed(*s) && kernels_of(*s).arranges()) {
    if (is_bool(s->data.dtype())) {
      const value all = evaluated(value_of(s->data));
      const bool zeros = std::memchr(address_to_read(all), 0, static_cast<std::size_t>(entries_of(*s))) != nullptr;
      return zeros ? kept_where(*s, s->data) : s;
    }
    const ndarray kept = s->data != 0;
    return count_nonzero(kept).item<std::int64_t>() == entries_of(*s) ? s : kept_where(*s, kept);
  }
  const ndarray at = flatnonzero(s->data);
  return at.size() == entries_of(*s) ? s : kept_entries(*s, at);
}

}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

bool sparse_array::has_sorted_indices() const {
  return ops::order_of(*ops::state_of(*this, "has_sorted_indices")) >= ops::entry_order::sorted;
}
bool sparse_array::has_canonical_format() const {
  return ops::order_of(*ops::state_of(*this, "has_canonical_format")) == ops::entry_order::canonical;
}
void sparse_array::sort_indices() & { state_ = ops::sorted(ops::state_of(*this, "sort_indices")); }
sparse_array sparse_array::sorted_indices() const {
  return ops::sparse_access::make(ops::sorted(ops::state_of(*this, "sorted_indices")));
}
void sparse_array::sum_duplicates() & { state_ = ops::canonical(ops::state_of(*this, "sum_duplicates")); }
void sparse_array::eliminate_zeros() & { state_ = ops::without_zeros(ops::state_of(*this, "eliminate_zeros")); }

}  // namespace sparse
}  // namespace sinter::inline v0
