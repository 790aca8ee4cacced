// Arrays from rules: diagonals, random places.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/values/faults.hpp"
#include "ops/sparse/parts.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/sets.hpp"
#include "sinter/sort.hpp"
#include "sinter/sparse.hpp"
#include "sinter/take.hpp"

namespace sinter::ops {
namespace {

using sparse::build_kw;
using sparse::format;

void require_shape(const char* function, std::int64_t rows, std::int64_t columns) {
  if (rows < 0 || columns < 0) fail<shape_error>(function, "negative shape (", rows, ", ", columns, ")");
}

void require_distinct(const char* function, std::vector<std::int64_t> offsets) {
  std::sort(offsets.begin(), offsets.end());
  const auto twice = std::adjacent_find(offsets.begin(), offsets.end());
  if (twice != offsets.end()) fail<value_error>(function, "offset ", *twice, " is there twice");
}

/// Rows of `data` as diagonals, element j in column j; those outside of the shape and zeros are left out.
sparse_array of_diagonals(const char* function, const ndarray& data, const std::vector<std::int64_t>& offsets,
                          std::int64_t rows, std::int64_t columns, const build_kw& kw) {
  require_shape(function, rows, columns);
  const ndarray x = data.ndim() == 1 ? data(newaxis, _) : data;
  if (x.ndim() != 2 || x.shape(0) != static_cast<std::int64_t>(offsets.size()))
    fail<shape_error>(function, "data of shape ", data.shape(), " for ", offsets.size(), " offsets");
  require_distinct(function, offsets);
  const device where = kw.device.value_or(x.device());
  const dtype type = element_dtype(kw.dtype.value_or(x.dtype()));
  const ndarray elements = x.to_device(where).astype(type, /*copy=*/false);
  const dtype index = index_for(rows, columns, x.size());
  const ndarray column = broadcast_to(arange(x.shape(1), {.device = where}), x.shape());
  const ndarray row = column - array(offsets, {.device = where})(_, newaxis);
  const ndarray at = flatnonzero((row >= 0) & (row < rows) & (column < columns) & (elements != 0));
  const state_ref s =
      make_state(format::coo, rows, columns, take(elements.ravel(), at), take(row.ravel(), at).astype(index),
                 take(column.ravel(), at).astype(index), entry_order::unknown);
  return sparse_access::make(in_format(s, kw.format));
}

/// Diagonals, one after the other in `all`, laid into rows by the host's kernel; into columns: those of the transpose.
sparse_array diagonals_on_host(const ndarray& all, const std::vector<ndarray>& each,
                               const std::vector<std::int64_t>& offsets, std::int64_t rows, std::int64_t columns,
                               format f) {
  const bool by_columns = f == format::csc;
  std::vector<std::int64_t> starts{0}, order(offsets.size()), ascending, of_ascending;
  for (const ndarray& d : each) starts.push_back(starts.back() + d.size());
  std::iota(order.begin(), order.end(), 0);
  const auto offset = [&](std::int64_t d) {
    const std::int64_t k = offsets[static_cast<std::size_t>(d)];
    return by_columns ? -k : k;
  };
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return offset(a) < offset(b); });
  for (const std::int64_t d : order) {
    ascending.push_back(offset(d));
    of_ascending.push_back(starts[static_cast<std::size_t>(d)]);
  }
  const value elements = evaluated(value_of(all));
  runtime::sparse_matrix extents;
  extents.index = index_for(rows, columns, all.size());
  extents.rows = by_columns ? columns : rows, extents.columns = by_columns ? rows : columns;
  const value indptr = unset_leaf(dims{extents.rows + 1}, extents.index, elements->device),
              indices = unset_leaf(dims{all.size()}, extents.index, elements->device),
              data = unset_leaf(dims{all.size()}, elements->type, elements->device);
  runtime::get_backend(elements->device)
      .sparse()
      .lay_diagonals(ascending, of_ascending, address_to_read(elements), itemsize(elements->type), extents,
                     address_to_write(indptr), address_to_write(indices), address_to_write(data));
  graph::inherit_faults(data, {&elements});
  return sparse_access::make(
      make_state(f, rows, columns, wrap(data), wrap(indptr), wrap(indices), entry_order::canonical));
}

/// Distinct numbers below n, ascending.
ndarray distinct_numbers(random::generator& g, std::int64_t n, std::int64_t count, const device& where) {
  if (count > n / 2) return sort(g.choice(n, count, {.replace = false}).to_device(where));
  ndarray found = zeros(0, {.dtype = int64, .device = where});
  while (found.size() < count) {
    const std::int64_t missing = count - found.size();
    const ndarray drawn = g.integers(0, n, missing + missing / 8 + 16).to_device(where);
    found = unique_values(concatenate({found, drawn}));
  }
  if (found.size() == count) return found;
  // The surplus is drawn as well, so that every set of places is as likely as any other.
  const ndarray order = g.permutation(found.size()).to_device(where);
  return take(found, sort(order(slice(count))));
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

sparse_array eye(std::int64_t rows, std::int64_t columns, std::int64_t k, const build_kw& kw) {
  if (columns < 0) columns = rows;
  ops::require_shape("eye", rows, columns);
  const std::int64_t first_row = std::max<std::int64_t>(0, -k), first_column = std::max<std::int64_t>(0, k);
  const std::int64_t count = std::max<std::int64_t>(0, std::min(rows - first_row, columns - first_column));
  const sinter::device where = ops::to_public(ops::chosen(kw.device));
  const sinter::dtype index = ops::index_for(rows, columns, count);
  const ndarray data = ones(count, {.dtype = ops::element_dtype(kw.dtype.value_or(float64)), .device = where});
  const create_kw of_index{.dtype = index, .device = where};
  const bool by_columns = kw.format == format::csc;
  const ndarray place = arange(count, of_index);
  const ndarray row = place + first_row, column = place + first_column;
  if (kw.format == format::coo)
    return ops::sparse_access::make(
        ops::make_state(format::coo, rows, columns, data, row, column, ops::entry_order::canonical));
  const std::int64_t majors = by_columns ? columns : rows, before = by_columns ? first_column : first_row;
  const ndarray ends = minimum(maximum(arange(majors + 1, of_index) - before, 0), count);
  return ops::sparse_access::make(
      ops::make_state(kw.format, rows, columns, data, ends, by_columns ? row : column, ops::entry_order::canonical));
}
sparse_array identity(std::int64_t n, const build_kw& kw) { return eye(n, n, 0, kw); }

sparse_array diags(const std::vector<ndarray>& diagonals, const std::vector<std::int64_t>& offsets,
                   const std::optional<shape_t>& shape, const build_kw& kw) {
  if (diagonals.size() != offsets.size() || diagonals.empty())
    ops::fail<value_error>("diags", diagonals.size(), " diagonals for ", offsets.size(), " offsets");
  ops::require_distinct("diags", offsets);
  std::int64_t rows = 0, columns = 0;
  if (shape) {
    if (shape->ndim() != 2) ops::fail<shape_error>("diags", "a sparse array has two axes, not shape ", *shape);
    rows = (*shape)[0], columns = (*shape)[1];
  } else {
    rows = columns = diagonals[0].size() + std::abs(offsets[0]);
  }
  ops::require_shape("diags", rows, columns);
  const sinter::device where = kw.device.value_or(diagonals[0].device());
  std::vector<ndarray> data, row, column;
  for (std::size_t d = 0; d < diagonals.size(); ++d) {
    const std::int64_t k = offsets[d], up = std::max<std::int64_t>(0, k), down = std::max<std::int64_t>(0, -k);
    const std::int64_t length = std::min(rows - down, columns - up);
    const ndarray& x = diagonals[d];
    if (length < 0 || x.ndim() > 1 || (x.size() != length && x.size() != 1))
      ops::fail<shape_error>("diags", "diagonal ", k, " of shape (", rows, ", ", columns, ") has ",
                             std::max<std::int64_t>(length, 0), " elements; it is given as shape ", x.shape());
    data.push_back(broadcast_to(x.to_device(where), {length}));
    row.push_back(arange(length, {.device = where}) + down);
    column.push_back(arange(length, {.device = where}) + up);
  }
  const ndarray all = concatenate(data);
  const sinter::dtype index = ops::index_for(rows, columns, all.size());
  if (kw.format != format::coo && runtime::get_backend(ops::to_id(where)).sparse().arranges())
    return ops::diagonals_on_host(all.astype(ops::element_dtype(kw.dtype.value_or(all.dtype())), false), data, offsets,
                                  rows, columns, kw.format);
  const auto s =
      ops::make_state(format::coo, rows, columns, all.astype(ops::element_dtype(kw.dtype.value_or(all.dtype())), false),
                      concatenate(row).astype(index), concatenate(column).astype(index), ops::entry_order::unknown);
  return ops::sparse_access::make(ops::in_format(s, kw.format));
}

sparse_array spdiags(const ndarray& data, const std::vector<std::int64_t>& offsets, std::int64_t rows,
                     std::int64_t columns, const build_kw& kw) {
  return ops::of_diagonals("spdiags", data, offsets, rows, columns, kw);
}
sparse_array dia_array(const ndarray& data, const ndarray& offsets, const shape_t& shape, const array_kw& kw) {
  if (shape.ndim() != 2) ops::fail<shape_error>("dia_array", "a sparse array has two axes, not shape ", shape);
  if (offsets.ndim() > 1 || !is_integer(offsets.dtype()))
    ops::fail<dtype_error>("dia_array", "offsets are ", offsets.dtype(), " of shape ", offsets.shape());
  return csr_array(ops::of_diagonals("dia_array", data, offsets.to_vector<std::int64_t>(), shape[0], shape[1],
                                     {.dtype = kw.dtype, .device = kw.device}),
                   kw);
}

sparse_array random_array(const shape_t& shape, double density, const random_kw& kw) {
  if (shape.ndim() != 2 || shape[0] < 0 || shape[1] < 0)
    ops::fail<shape_error>("random_array", "a sparse array has two axes, not shape ", shape);
  if (!(density >= 0 && density <= 1)) ops::fail<value_error>("random_array", "density ", density, " is not in [0, 1]");
  std::int64_t places = 0;
  if (__builtin_mul_overflow(shape[0], shape[1], &places))
    ops::fail<value_error>("random_array", "shape ", shape, " has more than 2^63 places");
  const auto count = static_cast<std::int64_t>(std::nearbyint(density * static_cast<double>(places)));
  sinter::random::generator& g = kw.rng ? *kw.rng : sinter::random::default_generator();
  const sinter::device where = ops::to_public(ops::chosen(kw.device));
  const sinter::dtype index = ops::index_for(shape[0], shape[1], count), type = kw.dtype.value_or(float64);
  const ndarray at =
      count == 0 ? zeros(0, {.dtype = int64, .device = where}) : ops::distinct_numbers(g, places, count, where);
  const ndarray data = g.random(count).to_device(where).astype(ops::element_dtype(type), false);
  const std::int64_t columns = std::max<std::int64_t>(shape[1], 1);
  const auto s = ops::make_state(format::coo, shape[0], shape[1], data, floor_divide(at, columns).astype(index),
                                 (at % columns).astype(index), ops::entry_order::canonical);
  return ops::sparse_access::make(ops::in_format(s, kw.format));
}

}  // namespace sparse
}  // namespace sinter::inline v0
