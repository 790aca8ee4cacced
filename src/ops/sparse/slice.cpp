// Selections of rows and columns, and of elements.
#include <algorithm>
#include <functional>
#include <numeric>

#include "graph/run/flush.hpp"
#include "ops/sparse/parts.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/scan.hpp"
#include "sinter/search.hpp"
#include "sinter/sparse.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {
namespace {

using sparse::format;

constexpr const char* indexing = "indexing";

/// What an index selects of an extent: a range of step 1, or positions (int64, checked).
struct chosen_part {
  std::int64_t first = 0, count = 0;
  ndarray positions;  // undefined: the range
};

std::int64_t in_range(std::int64_t i, std::int64_t extent) {
  if (i < -extent || i >= extent) fail<index_error>(indexing, "index ", i, " is out of range for extent ", extent);
  return i < 0 ? i + extent : i;
}

chosen_part part_of_slice(const slice& s, std::int64_t n, const device& where) {
  const std::int64_t step = s.step.given ? s.step.value : 1;
  if (step == 0) fail<value_error>(indexing, "the step of a slice is zero");
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  const auto clamped = [&](const bound& b, std::int64_t otherwise) {
    return b.given ? std::clamp(b.value < 0 ? b.value + n : b.value, low, high) : otherwise;
  };
  const std::int64_t first = clamped(s.start, step > 0 ? low : high), last = clamped(s.stop, step > 0 ? high : low);
  const std::int64_t span = step > 0 ? last - first : first - last, by = step > 0 ? step : -step;
  const std::int64_t count = span <= 0 ? 0 : (span - 1) / by + 1;
  if (step == 1) return {first, count, {}};
  return {0, count, arange(count, {.device = where}) * step + first};
}

/// Positions from integers, or where bools are true.
chosen_part part_of_array(const ndarray& x, std::int64_t n) {
  if (x.ndim() != 1) fail<shape_error>(indexing, "an index array of shape ", x.shape(), " for one axis");
  if (is_bool(x.dtype())) {
    if (x.size() != n) fail<index_error>(indexing, "a mask of ", x.size(), " bools for extent ", n);
    const ndarray at = flatnonzero(x);
    return {0, at.size(), at};
  }
  if (!is_integer(x.dtype())) fail<dtype_error>(indexing, "an index array of ", x.dtype());
  const ndarray at = snapshot_of(x).astype(int64);
  if (at.size() > 0) {
    const ndarray wrong = (at < -n) | (at >= n);
    if (any(wrong).item<bool>()) {
      const std::int64_t where = argmax(wrong).item<std::int64_t>();
      fail<index_error>(indexing, "index ", at(where).item<std::int64_t>(), " is out of range for extent ", n);
    }
  }
  return {0, at.size(), where(at < 0, at + n, at)};
}

chosen_part part_of(const index& i, std::int64_t n, const device& where) {
  switch (i.kind()) {
    case index_kind::integer: return {in_range(i.integer(), n), 1, {}};
    case index_kind::slice: return part_of_slice(i.range(), n, where);
    case index_kind::ellipsis: return {0, n, {}};
    case index_kind::array: return part_of_array(i.array().to_device(where), n);
    case index_kind::list: {
      const list& items = i.items();
      const ndarray numbers = array(items.numbers(), {.device = where}).reshape(items.shape());
      return part_of_array(items.is_mask() ? numbers.astype(bool_) : numbers, n);
    }
    case index_kind::newaxis: break;
  }
  fail<index_error>(indexing, "a sparse array takes no new axis");
}

/// The same format with other extents of majors and minors.
state_ref resized(const sparse_state& s, std::int64_t majors, std::int64_t minors, ndarray data, ndarray first,
                  ndarray second, entry_order order) {
  const bool columns = s.format == format::csc;
  return make_state(s.format, columns ? minors : majors, columns ? majors : minors, std::move(data), std::move(first),
                    std::move(second), order);
}

state_ref majors_in_range(const sparse_state& s, std::int64_t first, std::int64_t count) {
  if (first == 0 && count == majors_of(s)) return with_elements(s, s.data);
  const ndarray both = s.first(list(std::vector<std::int64_t>{first, first + count})).astype(int64);
  const auto ends = both.to_vector<std::int64_t>();
  const slice entries(ends[0], ends[1]);
  return resized(s, count, minors_of(s), s.data(entries), s.first(slice(first, first + count + 1)) - ends[0],
                 s.second(entries), s.order);
}

state_ref majors_at_on_host(const sparse_state& s, const ndarray& positions) {
  const std::int64_t wanted = positions.size();
  const ready_matrix m = ready(s, s.data.dtype());
  const value rows = evaluated(value_of(positions)), indptr = unset_leaf(dims{wanted + 1}, dtype::i64, rows->device);
  const std::int64_t total =
      kernels_of(s).count_copies(m.matrix, static_cast<const std::int64_t*>(address_to_read(rows)), wanted,
                                 static_cast<std::int64_t*>(address_to_write(indptr)));
  const value indices = unset_leaf(dims{total}, index_of(s), rows->device),
              data = unset_leaf(dims{total}, s.data.dtype(), rows->device);
  kernels_of(s).copy_rows(m.matrix, itemsize(data->type), static_cast<const std::int64_t*>(address_to_read(rows)),
                          wanted, static_cast<const std::int64_t*>(address_to_read(indptr)), address_to_write(indices),
                          address_to_write(data));
  m.pass_faults(data);
  return resized(s, wanted, minors_of(s), wrap(data), wrap(indptr).astype(index_of(s)), wrap(indices), s.order);
}

state_ref majors_at(const sparse_state& s, const ndarray& positions) {
  if (kernels_of(s).arranges()) return majors_at_on_host(s, positions);
  const ndarray starts = take(s.first, positions).astype(int64);
  const ndarray counts = take(s.first, positions + 1) - starts;
  const ndarray ends = cumsum(counts);
  const std::int64_t wanted = positions.size(), total = wanted == 0 ? 0 : ends(-1).item<std::int64_t>();
  const ndarray none = zeros(1, {.dtype = int64, .device = s.data.device()});
  const ndarray first = concatenate({none, ends}).astype(index_of(s));
  if (total == 0) return resized(s, wanted, minors_of(s), s.data(slice(0)), first, s.second(slice(0)), s.order);
  const ndarray pair = arange(total, {.device = s.data.device()});
  const ndarray of = searchsorted(ends, pair, "right");
  const ndarray from = take(starts + counts - ends, of) + pair;
  return resized(s, wanted, minors_of(s), take(s.data, from), first, take(s.second, from), s.order);
}

state_ref minors_in_range(const sparse_state& s, std::int64_t first, std::int64_t count) {
  if (first == 0 && count == minors_of(s)) return with_elements(s, s.data);
  const state_ref kept = kept_where(s, (s.second >= first) & (s.second < first + count));
  return resized(s, majors_of(s), count, kept->data, kept->first, kept->second - first, kept->order);
}

state_ref majors_of_part(const state_ref& s, const chosen_part& p) {
  return p.positions.defined() ? majors_at(*s, p.positions) : majors_in_range(*s, p.first, p.count);
}
/// Minors that go to one place each, in the index dtype; -1: to none.
state_ref minors_placed(const sparse_state& s, const std::vector<std::int64_t>& chosen) {
  const ready_matrix m = ready(s, s.data.dtype());
  const runtime::device_id device = device_of(s);
  const dtype index = index_of(s);
  const ndarray places = full(minors_of(s), -1, {.dtype = index, .device = s.data.device()});
  const value to = own_memory(value_of(places));
  const auto fill = [&](auto* place) {
    for (std::size_t k = 0; k < chosen.size(); ++k) place[chosen[k]] = static_cast<std::decay_t<decltype(*place)>>(k);
  };
  void* const memory = address_to_write(to);
  if (index == dtype::i32) fill(static_cast<std::int32_t*>(memory));
  else fill(static_cast<std::int64_t*>(memory));
  const dims all{entries_of(s)};
  const value indptr = unset_leaf(dims{majors_of(s) + 1}, index, device), indices = unset_leaf(all, index, device),
              data = unset_leaf(all, m.data->type, device);
  const std::int64_t count = kernels_of(s).place(m.matrix, itemsize(data->type), memory, address_to_write(indptr),
                                                 address_to_write(indices), address_to_write(data));
  m.pass_faults(data);
  const bool ascending = std::is_sorted(chosen.begin(), chosen.end());
  return resized(s, majors_of(s), static_cast<std::int64_t>(chosen.size()), first_elements(data, count), wrap(indptr),
                 first_elements(indices, count), ascending ? s.order.load() : entry_order::unknown);
}

bool are_distinct(const std::vector<std::int64_t>& positions, std::int64_t extent) {
  std::vector<bool> seen(static_cast<std::size_t>(extent));
  for (const std::int64_t p : positions) {
    if (seen[static_cast<std::size_t>(p)]) return false;
    seen[static_cast<std::size_t>(p)] = true;
  }
  return true;
}

/// Where each minor goes, and its entries there: those of a major stay in the order that they have, as SciPy's.
state_ref minors_at_on_host(const sparse_state& s, const ndarray& positions) {
  const std::int64_t wanted = positions.size(), minors = minors_of(s);
  const auto chosen = positions.to_vector<std::int64_t>();
  if (are_distinct(chosen, minors)) return minors_placed(s, chosen);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(minors) + 1, 0), places(chosen.size());
  for (const std::int64_t c : chosen) ++starts[static_cast<std::size_t>(c) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
  for (std::int64_t k = 0; k < wanted; ++k) {
    const auto column = static_cast<std::size_t>(chosen[static_cast<std::size_t>(k)]);
    places[static_cast<std::size_t>(next[column]++)] = k;
  }
  const ready_matrix m = ready(s, s.data.dtype());
  const runtime::device_id device = device_of(s);
  const value indptr = unset_leaf(dims{majors_of(s) + 1}, dtype::i64, device);
  auto* const ends = static_cast<std::int64_t*>(address_to_write(indptr));
  const std::int64_t total = kernels_of(s).count_chosen(m.matrix, starts.data(), ends);
  const dtype index = promote_types(index_of(s), index_for(s.rows, wanted, total));
  const state_ref wide = index == index_of(s) ? nullptr : with_index_dtype(with_elements(s, s.data), index);
  const ready_matrix from = wide ? ready(*wide, s.data.dtype()) : m;
  const value indices = unset_leaf(dims{total}, index, device), data = unset_leaf(dims{total}, m.data->type, device);
  kernels_of(s).fill_chosen(from.matrix, itemsize(data->type), starts.data(), places.data(), ends,
                            address_to_write(indices), address_to_write(data));
  from.pass_faults(data);
  const bool ascending = std::is_sorted(chosen.begin(), chosen.end(), std::less_equal<>());
  return resized(s, majors_of(s), wanted, wrap(data), wrap(indptr).astype(index), wrap(indices),
                 ascending ? s.order.load() : entry_order::unknown);
}

/// The elements of a canonical csr array at some places.
ndarray elements_at_places(const sparse_state& s, const ndarray& rows, const ndarray& columns) {
  const value row = value_of(rows), column = value_of(columns);
  const value both[] = {row, column};
  graph::flush(both);
  const ready_matrix m = ready(s, s.data.dtype());
  const value found = unset_leaf(dims{rows.size()}, m.data->type, m.data->device);
  kernels_of(s).elements_at(m.matrix, itemsize(found->type), static_cast<const std::int64_t*>(address_to_read(row)),
                            static_cast<const std::int64_t*>(address_to_read(column)), rows.size(),
                            address_to_write(found));
  m.pass_faults(found);
  return wrap(found);
}

state_ref minors_of_part(const state_ref& s, const chosen_part& p) {
  if (!p.positions.defined()) return minors_in_range(*s, p.first, p.count);
  if (kernels_of(*s).arranges()) return minors_at_on_host(*s, p.positions);
  const format other = s->format == format::csr ? format::csc : format::csr;
  return in_format(majors_at(*in_format(s, other), p.positions), s->format);
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

sparse_array sparse_array::operator()(const index& rows, const index& columns) const {
  auto s = ops::compressed(ops::state_of(*this, ops::indexing));
  const sinter::device where = s->data.device();
  const auto of_rows = ops::part_of(rows, s->rows, where), of_columns = ops::part_of(columns, s->columns, where);
  const bool by_columns = s->format == format::csc;
  s = ops::majors_of_part(s, by_columns ? of_columns : of_rows);
  return ops::sparse_access::make(ops::minors_of_part(s, by_columns ? of_rows : of_columns));
}
sparse_array sparse_array::operator()(const index& rows) const { return (*this)(rows, idx::_); }

ndarray sparse_array::at(std::int64_t i, std::int64_t j) const {
  const auto s = ops::compressed(ops::state_of(*this, "at"));
  const std::int64_t row = ops::in_range(i, s->rows), column = ops::in_range(j, s->columns);
  const bool by_columns = s->format == format::csc;
  const auto one = ops::majors_in_range(*s, by_columns ? column : row, 1);
  const ndarray hit = one->second == (by_columns ? row : column);
  const sinter::dtype t = s->data.dtype();
  const ndarray none = zeros({}, {.dtype = t, .device = s->data.device()});
  return sinter::sum(where(hit, one->data, none)).astype(t, /*copy=*/false);
}

ndarray sparse_array::at(const ndarray& i, const ndarray& j) const {
  const auto s = ops::canonical(ops::in_format(ops::state_of(*this, "at"), format::csr));
  const std::vector<ndarray> both = broadcast_arrays({i, j});
  const auto rows = ops::part_of_array(both[0].ravel(), s->rows),
             columns = ops::part_of_array(both[1].ravel(), s->columns);
  if (ops::kernels_of(*s).arranges())
    return ops::elements_at_places(*s, rows.positions, columns.positions).reshape(both[0].shape());
  const ndarray keys = ops::rows_of_entries(*s).astype(int64) * s->columns + s->second;
  const ndarray wanted = rows.positions * s->columns + columns.positions;
  const sinter::dtype t = s->data.dtype();
  if (keys.size() == 0) return zeros(both[0].shape(), {.dtype = t, .device = s->data.device()});
  const ndarray at = sinter::minimum(searchsorted(keys, wanted), keys.size() - 1);
  const ndarray none = zeros({}, {.dtype = t, .device = s->data.device()});
  return where(take(keys, at) == wanted, take(s->data, at), none).reshape(both[0].shape());
}

std::vector<ndarray> sparse_array::nonzero() const {
  const find_result f = find(*this);
  return {f.row, f.col};
}

find_result find(const sparse_array& a) {
  const auto s = ops::without_zeros(ops::canonical(ops::in_format(ops::state_of(a, "find"), format::csr)));
  return {ops::rows_of_entries(*s).astype(int64), s->second.astype(int64), s->data};
}

}  // namespace sparse
}  // namespace sinter::inline v0
