// Diagonals: read, written, and what lies on one side of them.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "graph/run/flush.hpp"
#include "graph/values/faults.hpp"
#include "ops/base/opaque_call.hpp"
#include "ops/sparse/parts.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/reduce.hpp"
#include "sinter/search.hpp"
#include "sinter/sparse.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {
namespace {

using sparse::format;

ndarray diagonal_numbers(const sparse_state& s) {
  return columns_of_entries(s).astype(int64) - rows_of_entries(s).astype(int64);
}
/// The k-th diagonal in the dtype of sums.
ndarray diagonal_on_host(const sparse_state& s, std::int64_t k, std::int64_t length) {
  const ready_matrix m = ready(s, sum_dtype(s.data.dtype()));
  const value sums = unset_leaf(dims{length}, m.data->type, device_of(s));
  const std::int64_t shift = s.format == format::csc ? -k : k;  // of minors against majors
  kernels_of(s).diagonal(m.matrix, std::max<std::int64_t>(0, -shift), shift, length, address_to_write(sums));
  m.pass_faults(sums);
  return wrap(sums);
}
/// Where a canonical matrix of the host has the first places of a diagonal, in the order of its entries; false where one is missing.
template <class I>
bool find_diagonal(const runtime::sparse_matrix& m, std::int64_t first, std::int64_t shift, std::int64_t count,
                   std::int64_t* at) {
  const I *const indptr = static_cast<const I*>(m.indptr), *const indices = static_cast<const I*>(m.indices);
  for (std::int64_t k = 0; k < count; ++k) {
    const I *const begin = indices + indptr[first + k], *const end = indices + indptr[first + k + 1];
    const I wanted = static_cast<I>(first + k + shift);
    const I* const found = std::lower_bound(begin, end, wanted);
    if (found == end || *found != wanted) return false;
    at[k] = found - indices;
  }
  return true;
}
/// The array with x in the first places of a diagonal, where these are there, and once; nothing where one is not.
std::optional<state_ref> with_diagonal_on_host(const sparse_state& s, const ndarray& x, std::int64_t k) {
  if (!is_compressed(s) || !kernels_of(s).arranges() || elements_are_followed(s) || is_recorded_for_later() ||
      order_of(s) != entry_order::canonical || x.size() == 0)
    return std::nullopt;
  const dtype t = s.data.dtype();
  const value written = evaluated(value_of(x.astype(t, /*copy=*/false)));
  const ready_matrix m = ready(s, t);
  const std::int64_t shift = s.format == format::csc ? -k : k, count = x.size();
  std::vector<std::int64_t> at(static_cast<std::size_t>(count));
  const std::int64_t first = std::max<std::int64_t>(0, -shift);
  const bool found = m.matrix.index == dtype::i32
                         ? find_diagonal<std::int32_t>(m.matrix, first, shift, count, at.data())
                         : find_diagonal<std::int64_t>(m.matrix, first, shift, count, at.data());
  if (!found) return std::nullopt;
  const std::size_t bytes = itemsize(t);
  const value data = unset_leaf(dims{entries_of(s)}, t, device_of(s));
  auto* const to = static_cast<std::byte*>(address_to_write(data));
  std::memcpy(to, address_to_read(m.data), static_cast<std::size_t>(entries_of(s)) * bytes);
  const auto* const from = static_cast<const std::byte*>(address_to_read(written));
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + static_cast<std::size_t>(at[static_cast<std::size_t>(i)]) * bytes,
                from + static_cast<std::size_t>(i) * bytes, bytes);
  m.pass_faults(data);
  graph::inherit_faults(data, {&written});
  return with_elements(s, wrap(data));
}
/// 0 of one outside of the matrix.
std::int64_t diagonal_length(const sparse_state& s, std::int64_t k) {
  if (k <= -s.rows || k >= s.columns) return 0;
  return std::min(s.rows + std::min<std::int64_t>(k, 0), s.columns - std::max<std::int64_t>(k, 0));
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

ndarray sparse_array::diagonal(std::int64_t k) const {
  const auto& s = *ops::state_of(*this, "diagonal");
  const std::int64_t length = ops::diagonal_length(s, k);
  const sinter::dtype t = s.data.dtype(), wide = is_bool(t) ? int64 : t;
  if (length > 0 && ops::is_compressed(s) && ops::kernels_of(s).arranges())
    return ops::diagonal_on_host(s, k, length).astype(t, /*copy=*/false);
  const ndarray out = zeros(length, {.dtype = wide, .device = s.data.device()});
  if (length > 0 && ops::entries_of(s) > 0) {
    const ndarray at = flatnonzero(ops::diagonal_numbers(s) == k);
    const ndarray row = take(k >= 0 ? ops::rows_of_entries(s) : ops::columns_of_entries(s), at);
    if (at.size() > 0) add_at(out(row), take(s.data, at).astype(wide, false), {.deterministic = true});
  }
  return out.astype(t, /*copy=*/false);
}
ndarray sparse_array::trace(std::int64_t k) const { return sinter::sum(diagonal(k)); }

void sparse_array::setdiag(const operand& values, std::int64_t k) & {
  const auto s = ops::state_of(*this, "setdiag");
  const std::int64_t length = ops::diagonal_length(*s, k);
  if (length == 0 && s->rows > 0 && s->columns > 0)
    ops::fail<value_error>("setdiag", "diagonal ", k, " is outside of shape (", s->rows, ", ", s->columns, ")");
  const sinter::device where = s->data.device();
  ndarray x =
      values.is_array() ? values.array() : full(length, values.number(), {.dtype = s->data.dtype(), .device = where});
  if (x.ndim() == 0) x = broadcast_to(x, {length});
  if (x.ndim() != 1 || x.size() > length)
    ops::fail<shape_error>("setdiag", "values of shape ", x.shape(), " for a diagonal of ", length);
  ops::require_one_device("setdiag", ops::device_of(*s), ops::to_id(x.device()));
  if (const auto written = ops::with_diagonal_on_host(*s, x, k)) {
    state_ = *written;
    return;
  }
  const ndarray place = arange(x.size(), {.device = where});
  const sinter::dtype index = ops::index_of(*s);
  const ndarray row = (k >= 0 ? place : place - k).astype(index), col = (k >= 0 ? place + k : place).astype(index);
  const ndarray nth = k >= 0 ? ops::rows_of_entries(*s) : ops::columns_of_entries(*s);
  const ndarray meant = logical_and(ops::diagonal_numbers(*s) == k, nth < x.size());
  // Where each place is there, and once, the values go there.
  if (x.size() > 0 && ops::order_of(*s) == detail::entry_order::canonical &&
      sinter::count_nonzero(meant).item<std::int64_t>() == x.size()) {
    const ndarray at = take(x.astype(s->data.dtype(), false), sinter::minimum(nth, x.size() - 1), 0);
    state_ = ops::with_elements(*s, sinter::where(meant, at, s->data));
    return;
  }
  const auto others = ops::kept_where(*s, logical_not(meant));
  const auto all =
      ops::make_state(format::coo, s->rows, s->columns, concatenate({others->data, x.astype(s->data.dtype(), false)}),
                      concatenate({ops::rows_of_entries(*others), row}),
                      concatenate({ops::columns_of_entries(*others), col}), ops::entry_order::unknown);
  state_ = ops::in_format(all, s->format);
}

sparse_array tril(const sparse_array& a, std::int64_t k, std::optional<format> f) {
  const auto& s = *ops::state_of(a, "tril");
  const auto kept = ops::kept_where(s, ops::diagonal_numbers(s) <= k);
  return ops::sparse_access::make(f ? ops::in_format(kept, *f) : kept);
}
sparse_array triu(const sparse_array& a, std::int64_t k, std::optional<format> f) {
  const auto& s = *ops::state_of(a, "triu");
  const auto kept = ops::kept_where(s, ops::diagonal_numbers(s) >= k);
  return ops::sparse_access::make(f ? ops::in_format(kept, *f) : kept);
}

}  // namespace sparse
}  // namespace sinter::inline v0
