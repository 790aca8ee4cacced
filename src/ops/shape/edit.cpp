// Insertions, deletions, repetition, blocks, writes by masks.
#include <algorithm>
#include <numeric>

#include "core/shape.hpp"
#include "ops/base/axes.hpp"
#include "ops/base/type_rules.hpp"
#include "sinter/creation.hpp"
#include "sinter/elementwise.hpp"
#include "sinter/indexing.hpp"
#include "sinter/manipulate.hpp"
#include "sinter/padding.hpp"
#include "sinter/reduce.hpp"

namespace sinter::inline v0 {

using namespace ops;

namespace {

/// The array and the axis to work along: flattened without one.
struct subject {
  ndarray x;
  int axis = 0;
  std::int64_t count = 0;
};

subject subject_of(const ndarray& x, optional_axis axis, const char* function) {
  const dims& shape = view_of(x, function).shape;
  if (!axis) {
    const ndarray flat = ravel(x);
    return {flat, 0, flat.shape(0)};
  }
  const int a = normalize_axis(*axis, shape, function);
  return {x, a, shape[a]};
}

/// Positions along an axis of `n` elements, not counted from the end; `end` is one too, if allowed.
std::vector<std::int64_t> positions_of(const index& where, std::int64_t n, bool end, const char* function) {
  std::vector<std::int64_t> out;
  const auto from_mask = [&](const std::vector<std::int64_t>& bits) {
    if (static_cast<std::int64_t>(bits.size()) != n && !end)
      fail<shape_error>(function, "a mask of ", bits.size(), " elements for an axis of ", n);
    for (std::size_t i = 0; i < bits.size(); ++i)
      if (bits[i] != 0) out.push_back(static_cast<std::int64_t>(i));
  };
  switch (where.kind()) {
    case index_kind::integer: out = {where.integer()}; break;
    case index_kind::slice: {
      const ndarray all = arange(n, {.device = cpu});
      out = all(where.range()).to_vector<std::int64_t>();
      break;
    }
    case index_kind::list:
      if (where.items().shape().size() != 1) fail<shape_error>(function, "positions of shape ", where.items().shape());
      if (where.items().is_mask()) from_mask(where.items().numbers());
      else out = where.items().numbers();
      break;
    case index_kind::array: {
      const graph::array_view& v = view_of(where.array(), function);
      if (is_inexact(v.type)) fail<dtype_error>(function, "positions of dtype ", v.type);
      if (v.shape.size() > 1 || (is_bool(v.type) && v.shape.size() != 1))
        fail<shape_error>(function, "positions of shape ", v.shape);
      out = where.array().astype(int64, false).to_vector<std::int64_t>();
      if (is_bool(v.type)) {
        const auto bits = std::move(out);
        out.clear();
        from_mask(bits);
      }
      break;
    }
    default: fail<value_error>(function, "a new axis or an ellipsis is no position");
  }
  for (std::int64_t& i : out) {
    if (i < -n || i > n || (i == n && !end))
      fail<index_error>(function, "position ", i, " is out of range for an axis of ", n, " elements");
    if (i < 0) i += n;
  }
  return out;
}

bool is_number(const index& where) {
  return where.kind() == index_kind::integer || (where.kind() == index_kind::array && where.array().ndim() == 0);
}

ndarray taken(const ndarray& x, const std::vector<std::int64_t>& from, int axis) {
  return take(x, array(from, {.device = x.device()}), axis);
}

/// Values as an array of a dtype that broadcasts to `shape`.
ndarray values_for(const operand& values, dtype type, const dims& shape, const ndarray& like, const char* function) {
  if (!values.is_array()) return full(to_shape(shape), values, {.dtype = type, .device = like.device()});
  common_device(values.array(), like, function);
  if (!core::broadcasts_to(view_of(values.array(), function).shape, shape))
    fail<shape_error>(function, "values of shape ", values.array().shape(), " do not broadcast to ", shape);
  return broadcast_to(values.array().astype(type, false), to_shape(shape));
}

}  // namespace

ndarray append(const ndarray& x, const operand& values, optional_axis axis) {
  const ndarray more = values.is_array() ? values.array() : full({}, values, {.device = x.device()});
  if (!axis) return concatenate({ravel(x), ravel(more)});
  return concatenate({x, more}, axis);
}

ndarray append(const scalar& number, const ndarray& values) {
  return append(full({}, operand(number), {.device = values.device()}), values);
}

ndarray insert(const ndarray& x, const index& where, const operand& values, optional_axis axis) {
  const subject s = subject_of(x, axis, "insert");
  const std::vector<std::int64_t> at = positions_of(where, s.count, true, "insert");
  dims shape = to_dims(s.x.shape());
  if (at.size() == 1) {
    // The values' own extent along the axis counts, as in NumPy.
    ndarray more;
    if (values.is_array()) {
      more = values.array().astype(x.dtype(), false);
      while (more.ndim() < s.x.ndim()) more = expand_dims(more, 0);
      if (is_number(where)) more = moveaxis(more, 0, s.axis);
      if (more.ndim() != s.x.ndim())
        fail<shape_error>("insert", "values of shape ", values.array().shape(), " into shape ", x.shape());
      shape[s.axis] = more.shape(s.axis);
      more = values_for(more, x.dtype(), shape, x, "insert");
    } else {
      shape[s.axis] = 1;
      more = values_for(values, x.dtype(), shape, x, "insert");
    }
    return concatenate({slice_of(s.x, s.axis, 0, at[0]), more, slice_of(s.x, s.axis, at[0], s.count)}, s.axis);
  }
  const auto m = static_cast<std::int64_t>(at.size());
  shape[s.axis] = m;
  const ndarray more = values_for(values, x.dtype(), shape, x, "insert");
  if (m == 0) return s.x.copy();
  // Where each new element comes from: x, with the values behind it.
  std::vector<std::int64_t> order(at.size()), from;
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    return at[static_cast<std::size_t>(i)] < at[static_cast<std::size_t>(j)];
  });
  std::size_t next = 0;
  for (std::int64_t i = 0; i <= s.count; ++i) {
    for (; next < order.size() && at[static_cast<std::size_t>(order[next])] == i; ++next)
      from.push_back(s.count + order[next]);
    if (i < s.count) from.push_back(i);
  }
  return taken(concatenate({s.x, more}, s.axis), from, s.axis);
}

ndarray delete_(const ndarray& x, const index& where, optional_axis axis) {
  const subject s = subject_of(x, axis, "delete_");
  const std::vector<std::int64_t> at = positions_of(where, s.count, false, "delete_");
  if (at.empty()) return s.x.copy();
  const auto [first, last] = std::minmax_element(at.begin(), at.end());
  std::vector<std::int64_t> gone = at;
  std::sort(gone.begin(), gone.end());
  gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
  if (*last - *first + 1 == static_cast<std::int64_t>(gone.size()))  // one range
    return concatenate({slice_of(s.x, s.axis, 0, *first), slice_of(s.x, s.axis, *last + 1, s.count)}, s.axis);
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0, next = 0; i < s.count; ++i) {
    if (next < static_cast<std::int64_t>(gone.size()) && gone[static_cast<std::size_t>(next)] == i) ++next;
    else kept.push_back(i);
  }
  return taken(s.x, kept, s.axis);
}

ndarray resize(const ndarray& x, const shape_t& shape) {
  const graph::value v = flattened(value_of(x, "resize"));
  const dims wanted = to_dims(shape);
  const std::int64_t n = v->shape[0], count = core::checked_count(wanted, "resize");
  if (n == 0 || count == 0) return zeros(shape, {.dtype = x.dtype(), .device = x.device()});
  ndarray from = wrap(graph::record_iota(dims{count}, 0, v->device));
  if (count > n) from = remainder(from, n);
  return reshape(take(wrap(v), from), shape);
}

ndarray trim_zeros(const ndarray& x, std::string_view trim, const axes& axis) {
  const bool front = trim.find_first_of("fF") != std::string_view::npos;
  const bool back = trim.find_first_of("bB") != std::string_view::npos;
  if (trim.empty() || trim.size() > 2 || (trim.size() == 2) != (front && back) || !(front || back))
    fail<value_error>("trim_zeros", "trim is 'f', 'b' or 'fb', not '", trim, "'");
  const dims& shape = view_of(x, "trim_zeros").shape;
  std::vector<int> along = distinct_axes(axis, shape, "trim_zeros");
  if (!axis.given()) {
    along.resize(static_cast<std::size_t>(shape.size()));
    std::iota(along.begin(), along.end(), 0);
  }
  ndarray out = x;
  const ndarray nonzero_at = not_equal(x, 0);
  for (const int a : along) {
    std::vector<int> others;
    for (int b = 0; b < shape.size(); ++b)
      if (b != a) others.push_back(b);
    const ndarray found = others.empty() ? nonzero_at : any(nonzero_at, axes(others));
    const std::vector<std::uint8_t> bits = found.astype(uint8).to_vector<std::uint8_t>();
    const auto first = std::find(bits.begin(), bits.end(), 1) - bits.begin();
    const auto behind = bits.rend() - std::find(bits.rbegin(), bits.rend(), 1);
    if (behind == 0) out = slice_of(out, a, 0, 0);  // zeros alone
    else out = slice_of(out, a, front ? first : 0, back ? behind : shape[a]);
  }
  return out;
}

namespace {

int depth_of(const block_node& node) {
  if (!node.is_list()) return 0;
  if (node.parts().empty()) fail<value_error>("block", "empty braces");
  const int depth = depth_of(node.parts()[0]);
  for (const block_node& part : node.parts())
    if (depth_of(part) != depth) fail<value_error>("block", "braces of different depths");
  return depth + 1;
}

int rank_of(const block_node& node) {
  if (!node.is_list()) return node.array().defined() ? view_of(node.array(), "block").shape.size() : 0;
  int rank = 0;
  for (const block_node& part : node.parts()) rank = std::max(rank, rank_of(part));
  return rank;
}

const ndarray* first_array(const block_node& node) {
  if (!node.is_list()) return node.array().defined() ? &node.array() : nullptr;
  for (const block_node& part : node.parts())
    if (const ndarray* found = first_array(part)) return found;
  return nullptr;
}

ndarray joined(const block_node& node, int depth, int rank, const std::optional<device>& where) {
  if (node.is_list()) {
    std::vector<ndarray> parts;
    for (const block_node& part : node.parts()) parts.push_back(joined(part, depth - 1, rank, where));
    return concatenate(parts, rank - depth);
  }
  ndarray x = node.array().defined() ? node.array() : full({}, node.number(), {.device = where});
  while (x.ndim() < rank) x = expand_dims(x, 0);
  return x;
}

}  // namespace

ndarray block(std::initializer_list<block_node> blocks) {
  const block_node all(blocks);
  const int depth = depth_of(all);
  const ndarray* some = first_array(all);
  return joined(all, depth, std::max(depth, rank_of(all)), some ? some->device() : std::optional<device>());
}

void copyto(const ndarray& dst, const operand& src, const copyto_kw& kw) {
  const graph::array_view& to = view_of(dst, "copyto");
  const dtype from = src.is_array() ? view_of(src.array(), "copyto").type : weak_dtype(src.number(), to.type);
  require_same_kind("copyto", "what is copied", from, to.type);
  if (!kw.where) {
    dst(ellipsis_t{}) = src;
    return;
  }
  const graph::array_view& mask = view_of(*kw.where, "copyto");
  if (!is_bool(mask.type)) fail<dtype_error>("copyto", "where is an array of bools, not of ", mask.type);
  if (!core::broadcasts_to(mask.shape, to.shape))
    fail<shape_error>("copyto", "where of shape ", mask.shape, " does not broadcast to the shape ", to.shape);
  const ndarray with =
      src.is_array() ? src.array().astype(to.type, false) : full({}, src, {.dtype = to.type, .device = dst.device()});
  dst(ellipsis_t{}) = where(*kw.where, with, dst);
}

void fill_diagonal(const ndarray& x, const operand& values, const fill_diagonal_kw& kw) {
  const graph::array_view& v = view_of(x, "fill_diagonal");
  const int rank = v.shape.size();
  if (rank < 2) fail<shape_error>("fill_diagonal", "needs at least two axes, not shape ", v.shape);
  std::int64_t step = 0, n = v.shape[0];
  for (int a = 0; a < rank; ++a) {
    step += v.strides[a];
    if (rank > 2 && v.shape[a] != n) fail<shape_error>("fill_diagonal", "needs equal extents, not shape ", v.shape);
    n = std::min(n, v.shape[a]);
  }
  const auto write = [&](std::int64_t first_row, std::int64_t count, std::int64_t done) {
    const ndarray diagonal = view_as(x, dims{count}, dims{step}, v.offset + first_row * v.strides[0]);
    const bool repeats = values.is_array() && values.array().size() != 1;
    if (!repeats) {
      if (values.is_array()) diagonal(ellipsis_t{}) = reshape(values.array(), shape_t{}).astype(v.type, false);
      else diagonal(ellipsis_t{}) = values;
      return;
    }
    const ndarray list = ravel(values.array());
    if (list.size() == 0) fail<shape_error>("fill_diagonal", "no values, in shape ", values.array().shape());
    const ndarray from = remainder(arange(done, done + count, {.device = x.device()}), list.size());
    diagonal(ellipsis_t{}) = take(list, from).astype(v.type, false);
  };
  if (n == 0) return;
  if (!kw.wrap || rank > 2) return write(0, n, 0);
  // As NumPy: again from the row after next.
  for (std::int64_t row = 0, done = 0; row < v.shape[0]; row += v.shape[1] + 1) {
    const std::int64_t count = std::min(v.shape[1], v.shape[0] - row);
    write(row, count, done);
    done += count;
  }
}

}  // namespace sinter::inline v0
