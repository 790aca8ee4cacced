// Arrays made of arrays: stacked, in blocks, Kronecker products.
#include <algorithm>

#include "ops/sparse/parts.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/sparse.hpp"

namespace sinter::ops {
namespace {

using sparse::format;
using block_rows = std::vector<std::vector<sparse_array>>;

/// One below the other, all csr: parts are joined.
state_ref stacked_rows(const std::vector<state_ref>& all, std::int64_t columns) {
  std::int64_t rows = 0, entries = 0;
  for (const state_ref& s : all) rows += s->rows, entries += entries_of(*s);
  dtype index = index_for(rows, columns, entries);
  bool canonical = true;
  for (const state_ref& s : all) {
    index = std::max(index, index_of(*s));
    canonical &= s->order == entry_order::canonical;
  }
  std::vector<ndarray> data, first, second;
  std::int64_t before = 0;
  for (const state_ref& s : all) {
    data.push_back(s->data);
    second.push_back(s->second.astype(index, /*copy=*/false));
    const ndarray ends = &s == &all.back() ? s->first : s->first(slice(0, -1));
    first.push_back(ends.astype(index, /*copy=*/false) + before);
    before += entries_of(*s);
  }
  return make_state(format::csr, rows, columns, concatenate(data), concatenate(first), concatenate(second),
                    canonical ? entry_order::canonical : entry_order::unknown);
}

/// Where each row (column) of blocks begins, and the end.
struct block_ends {
  std::vector<std::int64_t> rows, columns;
};
block_ends ends_of_blocks(const char* function, const block_rows& blocks) {
  if (blocks.empty() || blocks[0].empty()) fail<value_error>(function, "there are no arrays");
  std::vector<std::int64_t> heights(blocks.size(), -1), widths(blocks[0].size(), -1);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].size() != widths.size())
      fail<value_error>(function, "row ", i, " has ", blocks[i].size(), " blocks, row 0 has ", widths.size());
    for (std::size_t j = 0; j < widths.size(); ++j) {
      if (!blocks[i][j].defined()) continue;
      const sparse_state& s = *state_of(blocks[i][j], function);
      if ((heights[i] >= 0 && heights[i] != s.rows) || (widths[j] >= 0 && widths[j] != s.columns))
        fail<shape_error>(function, "block (", i, ", ", j, ") has shape (", s.rows, ", ", s.columns,
                          "), which does not fit its neighbours");
      heights[i] = s.rows, widths[j] = s.columns;
    }
  }
  const auto sums = [&](const std::vector<std::int64_t>& extents, const char* what) {
    std::vector<std::int64_t> ends{0};
    for (const std::int64_t n : extents) {
      if (n < 0) fail<value_error>(function, what, " ", ends.size() - 1, " has no array");
      ends.push_back(ends.back() + n);
    }
    return ends;
  };
  return {sums(heights, "row"), sums(widths, "column")};
}

/// A row of blocks, which are there, by the host's kernel; those that are undefined are left out.
state_ref beside_each_other(const std::vector<state_ref>& blocks, const std::vector<std::int64_t>& ends,
                            std::int64_t rows, dtype index) {
  dtype type{};
  std::int64_t entries = 0;
  bool any = false;
  for (const state_ref& s : blocks) {
    if (!s) continue;
    type = any ? promote_types(type, s->data.dtype()) : s->data.dtype();
    any = true;
    entries += entries_of(*s);
  }
  std::vector<ready_matrix> all;
  std::vector<runtime::sparse_matrix> matrices;
  std::vector<std::int64_t> shifts;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    if (!blocks[k]) continue;
    all.push_back(ready(*with_index_dtype(blocks[k], index), type));
    matrices.push_back(all.back().matrix);
    shifts.push_back(ends[k]);
  }
  const runtime::device_id device = all[0].data->device;
  const value indptr = unset_leaf(dims{rows + 1}, index, device), indices = unset_leaf(dims{entries}, index, device),
              data = unset_leaf(dims{entries}, type, device);
  runtime::get_backend(device).sparse().join_columns(matrices, shifts, itemsize(type), address_to_write(indptr),
                                                     address_to_write(indices), address_to_write(data));
  for (const ready_matrix& m : all) m.pass_faults(data);
  return make_state(format::csr, rows, ends.back(), wrap(data), wrap(indptr), wrap(indices), entry_order::canonical);
}

/// Blocks of the host without entries of equal place, row by row; nothing where there are others, or a row is empty.
std::optional<state_ref> joined_on_host(const char* function, const block_rows& blocks, const block_ends& ends) {
  std::optional<runtime::device_id> device;
  std::int64_t entries = 0;
  for (const auto& row : blocks) {
    bool any = false;
    for (const sparse_array& b : row) {
      if (!b.defined()) continue;
      const sparse_state& s = *state_of(b, function);
      if (device) require_one_device(function, *device, device_of(s));
      device = device_of(s);
      if (!kernels_of(s).arranges() || !is_compressed(s) || order_of(s) != entry_order::canonical) return std::nullopt;
      entries += entries_of(s);
      any = true;
    }
    if (!any) return std::nullopt;
  }
  const std::int64_t columns = ends.columns.back();
  const dtype index = index_for(ends.rows.back(), columns, entries);
  std::vector<state_ref> rows;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::vector<state_ref> row;
    for (const sparse_array& b : blocks[i])
      row.push_back(b.defined() ? in_format(state_of(b, function), format::csr) : nullptr);
    rows.push_back(beside_each_other(row, ends.columns, ends.rows[i + 1] - ends.rows[i], index));
  }
  return rows.size() == 1 ? rows[0] : stacked_rows(rows, columns);
}

state_ref joined_blocks(const char* function, const block_rows& blocks, format f) {
  const block_ends ends = ends_of_blocks(function, blocks);
  if (f != format::coo)
    if (const auto joined = joined_on_host(function, blocks, ends)) return in_format(*joined, f);
  std::vector<ndarray> data, row, column;
  std::optional<runtime::device_id> device;
  std::int64_t entries = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t j = 0; j < blocks[i].size(); ++j) {
      if (!blocks[i][j].defined()) continue;
      const state_ref block = bools_joined(state_of(blocks[i][j], function));
      const sparse_state& s = *block;
      if (device) require_one_device(function, *device, device_of(s));
      device = device_of(s);
      data.push_back(s.data);
      row.push_back(rows_of_entries(s).astype(int64) + ends.rows[i]);
      column.push_back(columns_of_entries(s).astype(int64) + ends.columns[j]);
      entries += entries_of(s);
    }
  const std::int64_t rows = ends.rows.back(), columns = ends.columns.back();
  const dtype index = index_for(rows, columns, entries);
  return in_format(make_state(format::coo, rows, columns, concatenate(data), concatenate(row).astype(index),
                              concatenate(column).astype(index), entry_order::unknown),
                   f);
}

/// All arrays in one format, which can be joined part by part; nothing else.
std::optional<std::vector<state_ref>> all_in(const char* function, const std::vector<sparse_array>& blocks, format f) {
  std::vector<state_ref> all;
  for (const sparse_array& b : blocks) {
    const state_ref& s = state_of(b, function);
    if (s->format != f) return std::nullopt;
    const state_ref block = bools_joined(s);
    all.push_back(f == format::csc ? flipped(*block) : block);
  }
  return all;
}

sparse_array stacked(const char* function, const std::vector<sparse_array>& blocks, std::optional<format> f,
                     bool rows) {
  block_rows as_blocks;
  for (const sparse_array& b : blocks) {
    state_of(b, function);
    if (rows || as_blocks.empty()) as_blocks.emplace_back();
    as_blocks.back().push_back(b);
  }
  const block_ends ends = ends_of_blocks(function, as_blocks);
  const format natural = rows ? format::csr : format::csc;
  if (const auto all = all_in(function, blocks, natural)) {
    for (const state_ref& s : *all) require_one_device(function, device_of(*all->front()), device_of(*s));
    const state_ref joined = stacked_rows(*all, rows ? ends.columns.back() : ends.rows.back());
    return sparse_access::make(in_format(rows ? joined : flipped(*joined), f.value_or(natural)));
  }
  return sparse_access::make(joined_blocks(function, as_blocks, f.value_or(format::csr)));
}

}  // namespace
}  // namespace sinter::ops

namespace sinter::inline v0 {
namespace sparse {

sparse_array vstack(const std::vector<sparse_array>& blocks, std::optional<format> f) {
  return ops::stacked("vstack", blocks, f, true);
}
sparse_array hstack(const std::vector<sparse_array>& blocks, std::optional<format> f) {
  return ops::stacked("hstack", blocks, f, false);
}
sparse_array block_array(const std::vector<std::vector<sparse_array>>& blocks, std::optional<format> f) {
  return ops::sparse_access::make(ops::joined_blocks("block_array", blocks, f.value_or(format::csr)));
}
sparse_array block_diag(const std::vector<sparse_array>& blocks, std::optional<format> f) {
  std::vector<std::vector<sparse_array>> all(blocks.size(), std::vector<sparse_array>(blocks.size()));
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    ops::state_of(blocks[k], "block_diag");
    all[k][k] = blocks[k];
  }
  return ops::sparse_access::make(ops::joined_blocks("block_diag", all, f.value_or(format::csr)));
}

sparse_array kron(const sparse_array& a, const sparse_array& b, std::optional<format> f) {
  const auto of_a = ops::bools_joined(ops::state_of(a, "kron")), of_b = ops::bools_joined(ops::state_of(b, "kron"));
  const ops::sparse_state &x = *of_a, &y = *of_b;
  ops::require_one_device("kron", ops::device_of(x), ops::device_of(y));
  std::int64_t rows = 0, columns = 0;
  if (__builtin_mul_overflow(x.rows, y.rows, &rows) || __builtin_mul_overflow(x.columns, y.columns, &columns))
    ops::fail<shape_error>("kron", "shapes ", a.shape(), " and ", b.shape(), " give one that no array has");
  const sinter::dtype index = ops::index_for(rows, columns, ops::entries_of(x) * ops::entries_of(y));
  using idx::_;
  using idx::newaxis;
  const auto of_both = [&](const ndarray& i, const ndarray& j, std::int64_t extent) {
    return (i.astype(int64)(_, newaxis) * extent + j(newaxis, _)).ravel().astype(index);
  };
  const ndarray data = (x.data(_, newaxis) * y.data(newaxis, _)).ravel();
  const auto s = ops::make_state(
      format::coo, rows, columns, data, of_both(ops::rows_of_entries(x), ops::rows_of_entries(y), y.rows),
      of_both(ops::columns_of_entries(x), ops::columns_of_entries(y), y.columns), ops::entry_order::unknown);
  return ops::sparse_access::make(ops::in_format(s, f.value_or(format::csr)));
}

sparse_array kronsum(const sparse_array& a, const sparse_array& b, std::optional<format> f) {
  for (const sparse_array* x : {&a, &b})
    if (x->shape(0) != x->shape(1))
      ops::fail<shape_error>("kronsum", "shapes ", a.shape(), " and ", b.shape(), " are not both square");
  const sinter::dtype type = promote_types(a.dtype(), b.dtype());
  const build_kw like{.dtype = type, .device = a.device()};
  const sparse_array sum = kron(eye(b.shape(0), -1, 0, like), a) + kron(b, eye(a.shape(0), -1, 0, like));
  return sum.asformat(f.value_or(format::csr));
}

}  // namespace sparse
}  // namespace sinter::inline v0
