// Sums and products of floating-point numbers along divided axes, with the bits of one device: parts that consist of whole
// splits of the order of additions (jit/program/addition_order.hpp) compute these, and every device joins them in that order.
#include <algorithm>

#include "dist/partitioner.hpp"
#include "graph/values/record_part.hpp"
#include "jit/program/addition_order.hpp"

namespace sinter::sharding {
namespace {

using jit::opcode;
using jit::reduce_op;

/// The reduced axes joined to one: (before, elements, after).
struct joined_reduction {
  int first = 0, end = 0;  // the reduced axes
  std::int64_t elements = 1;
  dims shape;  // of the operand, with one axis instead of these
};

/// The order of the whole reduction.
struct whole_order {
  std::int64_t results = 1;
  std::uint16_t lanes = 1;  // of a split
  bool rows = true;
};

/// False where the reduced axes are not neighbours, or the divided one is not the first of them.
bool join_reduced(const node* n, const layout& how, joined_reduction& out) {
  const dims& shape = n->operand(0)->shape;
  int first = -1, end = 0;
  for (int a = 0; a < shape.size(); ++a) {
    if (!n->reduce().is_over(a)) continue;
    if (first < 0 && shape[a] != 1) first = a;
    end = a + 1;
  }
  if (first < 0) return false;
  for (int a = first; a < end; ++a) {
    if (!n->reduce().is_over(a) && shape[a] != 1) return false;
    if (a > first && how.along(a)) return false;
    out.elements *= shape[a];
  }
  for (int a = 0; a < first; ++a)
    if (n->reduce().is_over(a) && how.along(a)) return false;
  out.first = first;
  out.end = end;
  for (int a = 0; a < first; ++a) out.shape.push_back(shape[a]);
  out.shape.push_back(out.elements);
  for (int a = end; a < shape.size(); ++a) out.shape.push_back(shape[a]);
  return how.along(first) != nullptr;
}

bool reduces_rows(const node* n) {
  const dims& shape = n->operand(0)->shape;
  int last = shape.size() - 1;
  while (last > 0 && shape[last] == 1) --last;
  return n->reduce().is_over(last) || n->size() == 1;
}

value with_shape(const value& v, const dims& shape) {
  return graph::record_view(v, shape, core::contiguous_strides(shape), 0);
}

/// Whole splits along one axis of a block: each is one result.
value sums_of_splits(reduce_op op, const value& v, int axis, std::int64_t first, std::int64_t splits,
                     std::int64_t elements, const whole_order& whole) {
  const dims dense = core::contiguous_strides(v->shape);
  dims shape, strides;
  for (int a = 0; a < v->shape.size(); ++a) {
    if (a == axis) {
      shape.push_back(splits);
      strides.push_back(elements * dense[a]);
      shape.push_back(elements);
    } else {
      shape.push_back(v->shape[a]);
    }
    strides.push_back(dense[a]);
  }
  // One column looks like a row: it is reduced twice, side by side.
  const bool columns = !whole.rows;
  int last = shape.size() - 1;
  while (last > axis + 1 && shape[last] == 1) --last;
  const bool doubled = columns && last == axis + 1;
  if (doubled) {
    shape.push_back(2);
    strides.push_back(0);
  }
  bool flags[core::max_rank + 2] = {};
  flags[axis + 1] = true;
  const value in_splits = graph::record_view(v, shape, strides, first * dense[axis]);
  const value sums = graph::record_part_of_reduce(op, nullptr, v->type, in_splits,
                                                  std::span(flags, static_cast<std::size_t>(shape.size())),
                                                  {.results = whole.results, .split_lanes = whole.lanes});
  if (!doubled) return sums;
  dims kept = sums->shape;
  const dims pairs = core::contiguous_strides(kept);
  kept.resize(kept.size() - 1);
  return graph::record_view(sums, kept, dims(pairs.data(), kept.size()), 0);
}

/// Bounds at whole splits.
std::vector<std::int64_t> at_splits(const std::vector<std::int64_t>& bounds, std::int64_t inner, std::int64_t size,
                                    std::int64_t elements) {
  std::vector<std::int64_t> out;
  for (const std::int64_t b : bounds) out.push_back(std::min(elements, (b * inner + size / 2) / size * size));
  out.front() = 0;
  out.back() = elements;
  return out;
}

/// Splits that lie behind each other in one block of a device.
struct run_of_splits {
  value block;
  std::int64_t first;  // element of the whole with which they begin
  std::int64_t at;     // and of the block
  std::int64_t splits;
  std::int64_t length;  // of each
};

/// The splits of a box from its pieces along an axis: those within a piece are read there, those that begin in one and end in another are put
/// together, so that a part to which neighbours send an edge is not copied.
std::vector<run_of_splits> runs_of_splits(pieces all, const box& where, int axis, std::int64_t size,
                                          std::int64_t elements, dtype type, runtime::device_id device) {
  std::sort(all.begin(), all.end(),
            [axis](const piece& x, const piece& y) { return x.where.first[axis] < y.where.first[axis]; });
  std::vector<run_of_splits> runs;
  auto p = all.begin();
  for (std::int64_t at = where.first[axis]; at < where.end[axis];) {
    while (p->where.end[axis] <= at) ++p;
    const std::int64_t whole = (p->where.end[axis] - at) / size, begin = p->where.first[axis];
    if (whole > 0) {
      runs.push_back({p->v, at, at - begin, whole, size});
      at += whole * size;
      continue;
    }
    box one = where;
    one.first[axis] = at;
    one.end[axis] = std::min(at + size, elements);
    pieces shared;
    for (const piece& q : all)
      if (const box b = intersect(one, q.where); !is_empty(b)) shared.push_back({b, block_of(q.v, q.where, b)});
    runs.push_back({joined(shared, one, type, device), at, 0, 1, one.end[axis] - at});
    at = one.end[axis];
  }
  return runs;
}

}  // namespace

/// The pieces of an operand with its axes from first to end joined to one; put together where one of them divides another of these
/// than the first.
std::vector<pieces> partitioner::flat_pieces(node* x, const layout& how, int first, int end) {
  std::vector<pieces> room;
  std::vector<pieces> all = get(x, how, room);
  std::int64_t inner = 1;
  for (int a = first + 1; a < end; ++a) inner *= x->shape[a];
  const auto is_whole = [&](const piece& one) {
    for (int a = first + 1; a < end; ++a)
      if (one.where.first[a] != 0 || one.where.end[a] != x->shape[a]) return false;
    return true;
  };
  if (!std::all_of(all.begin(), all.end(),
                   [&](const pieces& part) { return std::all_of(part.begin(), part.end(), is_whole); }))
    all = as_parts(mesh_, how, x->shape, whole(x, how)).at;
  for (pieces& part : all)
    for (piece& one : part) {
      box flat{dims(0), dims(0)};
      for (int a = 0; a < x->shape.size(); ++a) {
        if (a > first && a < end) continue;
        const std::int64_t times = a == first ? inner : 1;
        flat.first.push_back(one.where.first[a] * times);
        flat.end.push_back(one.where.end[a] * times);
      }
      one = {flat, with_shape(one.v, extents_of(flat))};
    }
  return all;
}

bool partitioner::reduce_in_splits(node* n, const layout& how, entry& out) {
  node* const x = n->operand(0);
  joined_reduction j;
  if (!join_reduced(n, how, j)) return false;
  const bool rows = reduces_rows(n);
  const jit::addition_order order = jit::order_of_additions(rows, n->size(), j.elements);
  if (order.splits == 1) return false;
  const std::int64_t size = order.chunk * jit::addition_group;
  // The operand with one reduced axis, in whole splits.
  layout flat, in_splits;
  const std::int64_t inner = j.elements / x->shape[j.first];
  for (split s : how.splits) {
    split wide = s;
    if (s.axis == j.first) {
      for (std::int64_t& b : s.bounds) b *= inner;
      wide.bounds = at_splits(wide.bounds, inner, size, j.elements);
    } else if (s.axis > j.first) {
      s.axis -= j.end - j.first - 1;
      wide.axis = s.axis;
    }
    flat.add(std::move(s));
    in_splits.add(std::move(wide));
  }
  const wishes want = parts_under(mesh_, in_splits, j.shape);
  const std::vector<pieces> all = mover_.fetch({flat, flat_pieces(x, how, j.first, j.end)}, j.shape, x->type, want);
  // 16-bit numbers are joined in float32.
  const dtype type = x->type == dtype::f16 || x->type == dtype::bf16 ? dtype::f32 : x->type;
  const whole_order whole_of{n->size(), static_cast<std::uint16_t>(order.lanes), rows};
  // The terms: the axes of the result, and one for the splits where the reduced axes were.
  auto sum = std::make_shared<unmade_sum>();
  sum->op = n->reduce().op;
  sum->type = type;
  sum->lanes = order.split_lanes;
  sum->shape = n->shape;
  for (int a = 0; a < j.first; ++a) sum->axis += !n->reduce().is_over(a);
  sum->shape.insert(sum->axis, order.splits);
  for (split s : how.splits) {
    if (s.axis == j.first) {
      s.bounds = in_splits.along(j.first)->bounds;
      for (std::int64_t& b : s.bounds) b = (b + size - 1) / size;
      s.axis = sum->axis;
      sum->over = s.over;
      sum->how.add(std::move(s));
      continue;
    }
    int below = 0;
    for (int a = 0; a < s.axis; ++a) below += !n->reduce().is_over(a);
    s.axis = below;
    out.in.how.add(s);
    s.axis += s.axis >= sum->axis;
    sum->how.add(std::move(s));
  }
  const layout& of_sums = sum->how;
  const dims& shape = sum->shape;
  const int axis = j.first;
  parts sums{of_sums, std::vector<pieces>(want.size())};
  for (int p = 0; p < mesh_.size(); ++p) {
    const auto k = static_cast<std::size_t>(p);
    if (is_empty(want[k]) || !mesh_.is_local(p)) continue;
    if (const int t = mesh_.twin(in_splits, p); t < p) {
      sums.at[k] = sums.at[static_cast<std::size_t>(t)];
      continue;
    }
    const box where = mesh_.part(of_sums, shape, p);
    for (const run_of_splits& r : runs_of_splits(all[k], want[k], axis, size, j.elements, x->type, device(p))) {
      box b = where;
      b.first[sum->axis] = r.first / size;
      b.end[sum->axis] = b.first[sum->axis] + r.splits;
      const value one =
          sums_of_splits(n->reduce().op, graph::record_cast(r.block, type), axis, r.at, r.splits, r.length, whole_of);
      sums.at[k].push_back({b, with_shape(one, extents_of(b))});
    }
  }
  out.terms = std::move(sums);
  out.sum = std::move(sum);
  out.waits = true;
  return true;
}

/// By the mean: two sums, which have their order.
partitioner::entry partitioner::reduce_moment(node* n) {
  const value x(n->operand(0));
  bool flags[core::max_rank] = {};
  dims kept = x->shape;
  std::int64_t count = 1;
  for (int a = 0; a < x->shape.size(); ++a) {
    flags[a] = n->reduce().is_over(a);
    if (!flags[a]) continue;
    count *= x->shape[a];
    kept[a] = 1;
  }
  const auto sum = [&](const value& v) {
    return graph::record_reduce(reduce_op::sum, v->type, v,
                                std::span<const bool>(flags, static_cast<std::size_t>(x->shape.size())));
  };
  jit::scalar number;
  number.type = x->type;
  number.f[0] = static_cast<double>(count);
  const value total = sum(x);
  const value mean = graph::record_map(opcode::divide, x->type, total->shape,
                                       {total, graph::record_scalar(number, x->type, total->shape, x->device)});
  value d = graph::record_map(opcode::subtract, x->type, x->shape, {x, with_shape(mean, kept)});
  if (is_complex(x->type)) d = graph::record_map(opcode::absolute, n->type, x->shape, {d});
  const value moment = sum(graph::record_map(opcode::square, n->type, x->shape, {d}));
  enter_below(std::span(&moment, 1));
  kept_.push_back(moment);
  return {.in = made(moment.get())};
}

}  // namespace sinter::sharding
