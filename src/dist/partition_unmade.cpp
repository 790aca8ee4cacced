// Sums that are not made before somebody needs them. Their terms stay where they are; who needs the sum in some layout gets
// the terms of its blocks, all of them in one order, so that the bits do not depend on when, where or how often that is.
#include <algorithm>
#include <bit>

#include "dist/partitioner.hpp"
#include "graph/values/record_part.hpp"
#include "jit/program/addition_order.hpp"

namespace sinter::sharding {
namespace {

using jit::opcode;
using jit::reduce_op;

value with_shape(const value& v, const dims& shape) {
  return graph::record_view(v, shape, core::contiguous_strides(shape), 0);
}

/// The layout of the terms that a layout of the sum asks for: all of them.
layout all_terms(const unmade_sum& s, const layout& how) {
  layout out;
  for (split one : how.splits) {
    one.axis += one.axis >= s.axis;
    out.add(std::move(one));
  }
  return out;
}

/// -0, which changes no sum; 0 of integers.
value nothing(dtype type, const dims& shape, runtime::device_id device) {
  jit::scalar none;
  none.type = type;
  if (is_inexact(type)) none.f[0] = none.f[1] = -0.0;
  else none.i = 0;
  return graph::record_scalar(none, type, shape, device);
}

std::vector<int> sorted(std::vector<int> axes) {
  std::sort(axes.begin(), axes.end());
  return axes;
}

/// Terms as columns of groups of four elements, each the term four times. One column looks like a row: it is there twice, side by side.
struct term_columns {
  dims shape, strides;
  bool doubled = false;

  explicit term_columns(const dims& terms, int axis) {
    const dims dense = core::contiguous_strides(terms);
    std::int64_t columns = 1;
    const auto add = [&](std::int64_t extent, std::int64_t stride) {
      shape.push_back(extent);
      strides.push_back(stride);
    };
    for (int a = 0; a < terms.size(); ++a) {
      add(terms[a], dense[a]);
      if (a > axis) columns *= terms[a];
      if (a == axis) add(jit::addition_group, 0);
    }
    doubled = columns == 1;
    if (doubled) add(2, 0);
  }
};

/// The first element of each group, and three that change nothing.
value padded_groups(const value& groups, int axis, reduce_op op) {
  const dims& shape = groups->shape;
  const dtype type = groups->type;
  jit::scalar zero, one;
  zero.type = dtype::i64;
  zero.i = 0;
  one.type = type;
  if (is_inexact(type)) one.f[0] = 1;
  else one.i = 1;
  const value is_term = graph::record_map(
      opcode::equal, dtype::b1, shape,
      {graph::record_iota(shape, axis, groups->device), graph::record_scalar(zero, dtype::i64, shape, groups->device)});
  const value rest = op == reduce_op::sum ? nothing(type, shape, groups->device)
                                          : graph::record_scalar(one, type, shape, groups->device);
  return graph::record_map(opcode::select, type, shape, {is_term, groups, rest});
}

/// One kernel: the terms of a result are a column of one split. Not products of complex numbers, which ones change (infinities).
value joined_as_column(const unmade_sum& s, const value& terms) {
  const int axis = s.axis;
  const term_columns columns(terms->shape, axis);
  const value groups = graph::record_view(terms, columns.shape, columns.strides, 0);
  bool flags[core::max_rank] = {};
  flags[axis] = flags[axis + 1] = true;
  const value sums =
      graph::record_part_of_reduce(s.op, nullptr, terms->type, padded_groups(groups, axis + 1, s.op),
                                   std::span(flags, static_cast<std::size_t>(columns.shape.size())),
                                   {.results = std::max<std::int64_t>(terms->size() / terms->shape[axis], 1),
                                    .split_lanes = static_cast<std::uint16_t>(s.lanes)});
  if (!columns.doubled) return sums;
  dims kept = sums->shape;
  const dims pairs = core::contiguous_strides(kept);
  kept.resize(kept.size() - 1);
  return graph::record_view(sums, kept, dims(pairs.data(), kept.size()), 0);
}

constexpr std::int64_t few_joins = 8;

/// Whether additions of whole blocks of terms, which are elementwise and fuse with what follows, are few.
bool joins_in_few(std::int64_t terms, std::int64_t lanes) {
  return terms % lanes == 0 && terms / lanes + std::bit_width(static_cast<std::uint64_t>(lanes)) <= few_joins;
}

}  // namespace

value join_terms(const unmade_sum& s, const value& terms) {
  const bool is_complex_product = s.op != reduce_op::sum && is_complex(s.type);
  const bool has_room = terms->shape.size() + 2 <= core::max_rank;
  if (!joins_in_few(terms->shape[s.axis], s.lanes) && !is_complex_product && has_room)
    return joined_as_column(s, terms);
  const opcode apply = s.op == reduce_op::sum ? opcode::add : opcode::multiply;
  const int axis = s.axis;
  const auto range = [&](const value& v, std::int64_t first, std::int64_t count) {
    dims shape = v->shape;
    const dims strides = core::contiguous_strides(v->shape);
    shape[axis] = count;
    return graph::record_view(v, shape, strides, first * strides[axis]);
  };
  const auto join = [&](const value& a, const value& b) { return graph::record_map(apply, a->type, a->shape, {a, b}); };
  const std::int64_t count = terms->shape[axis], width = s.lanes;
  const std::int64_t rounds = count / width, rest = count % width;
  // All lanes have a term: there are at least as many terms as lanes.
  value v = range(terms, 0, width);
  for (std::int64_t k = 1; k < rounds; ++k) v = join(v, range(terms, k * width, width));
  if (rest > 0) {
    value longer = join(range(v, 0, rest), range(terms, rounds * width, rest));
    value shorter = range(v, rest, width - rest);
    const dims shape = v->shape, strides = core::contiguous_strides(shape);
    value both = graph::record_unset(v->type, shape, v->device);
    both = graph::record_update(both, strides, 0, longer);
    v = graph::record_update(both, strides, rest * strides[axis], shorter);
  }
  for (std::int64_t half = width / 2; half >= 1; half /= 2) v = join(range(v, 0, half), range(v, half, half));
  dims shape = v->shape;
  shape.erase(axis);
  return with_shape(v, shape);
}

const parts& partitioner::made(node* n) {
  entry& e = at(n);
  if (e.waits) {
    e.in = e.sum ? make_sum(n, e.in.how) : map_in(n, e.in.how);
    e.waits = false;
  }
  return e.in;
}

parts partitioner::make_sum(node* n, const layout& how) {
  const entry& e = at(n);
  const unmade_sum& s = *e.sum;
  const wishes want = parts_under(mesh_, all_terms(s, how), s.shape);
  const bool scattered = std::any_of(s.over.begin(), s.over.end(), [&](int a) { return how.uses(a); });
  const std::vector<pieces> terms =
      mover_.fetch(e.terms, s.shape, s.type, want, scattered ? "reduce-scatter" : "all-reduce");
  return as_parts(mesh_, how, n->shape, once(how, [&](int p) {
                    const box where = mesh_.part(how, n->shape, p);
                    if (is_empty(where)) return graph::record_unset(n->type, extents_of(where), device(p));
                    return graph::record_cast(join_terms(s, whole_at(terms, want, s.type, p)), n->type);
                  }));
}

partitioner::entry partitioner::unmade_leaf(node* n) {
  const shards& s = shards_of(*n);
  entry e;
  e.in.how = s.how.when_made();
  e.sum = s.sum;
  e.terms = as_parts(mesh_, s.sum->how, s.sum->shape, s.at);
  e.waits = true;
  return e;
}

namespace {

/// Whether pieces of two arrays are of the same boxes.
bool match(const std::vector<pieces>& a, const std::vector<pieces>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const pieces& x, const pieces& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const piece& s, const piece& t) { return same(s.where, t.where); });
  });
}

}  // namespace

/// Linear work on sums of integers is done on their terms, which gives the same bits: additions and subtractions of sums with as
/// many terms, negation, multiplication by a number. Of other numbers it would round otherwise.
bool partitioner::keeps_terms(node* n, entry& out) {
  if (!is_integer(n->type)) return false;
  const opcode op = n->map().op;
  node* const a = n->operand(0);
  node* const b = n->operand_count() > 1 ? n->operand(1) : nullptr;
  const auto waits = [&](node* x) {
    const entry& e = at(x);
    return !e.free && e.waits && e.sum && e.sum->op == reduce_op::sum && x->type == n->type && x->shape == n->shape;
  };
  const auto is_number = [](node* x) { return x->kind == node_kind::scalar && !x->scalar().unset; };
  node* of = nullptr;
  if (op == opcode::negative && waits(a)) of = a;
  if ((op == opcode::add || op == opcode::subtract) && waits(a) && waits(b)) {
    const unmade_sum &s = *at(a).sum, &t = *at(b).sum;
    if (s.how == t.how && s.shape == t.shape && s.axis == t.axis && match(at(a).terms.at, at(b).terms.at)) of = a;
  }
  if (op == opcode::multiply && waits(a) && is_number(b)) of = a;
  if (op == opcode::multiply && is_number(a) && waits(b)) of = b;
  if (!of) return false;
  const entry& e = at(of);
  out.in.how = e.in.how;
  out.sum = e.sum;
  out.waits = true;
  out.terms = {e.terms.how, std::vector<pieces>(e.terms.at.size())};
  for (std::size_t p = 0; p < e.terms.at.size(); ++p)
    for (std::size_t k = 0; k < e.terms.at[p].size(); ++k) {
      const piece& one = e.terms.at[p][k];
      std::vector<value> values;
      for (int j = 0; j < n->operand_count(); ++j) {
        node* const x = n->operand(j);
        if (waits(x)) values.push_back(at(x).terms.at[p][k].v);
        else values.push_back(graph::record_scalar(x->scalar().constant, x->type, one.v->shape, one.v->device));
      }
      out.terms.at[p].push_back({one.where, graph::record_map(op, n->type, one.v->shape, values)});
    }
  return true;
}

/// A root as terms along axes of the mesh. What is no such sum is one term of the first position, beside nothing.
shards partitioner::terms_of(node* n, const layout& how) {
  shards out;
  out.how = how;
  const entry& e = at(n);
  if (!e.free && e.sum && e.sum->op == reduce_op::sum && sorted(e.sum->over) == how.partial &&
      e.in.how == how.when_made()) {
    out.sum = e.sum;
    const wishes want = parts_under(mesh_, e.sum->how, e.sum->shape);
    for (int p = 0; p < mesh_.size(); ++p) out.at.push_back(whole_at(e.terms.at, want, e.sum->type, p));
    return out;
  }
  auto sum = std::make_shared<unmade_sum>();
  sum->type = n->type == dtype::f16 || n->type == dtype::bf16 ? dtype::f32 : n->type;
  sum->shape = n->shape;
  sum->over = how.partial;
  const std::int64_t count = mesh_.parts_along(how.partial);
  sum->shape.insert(0, count);
  sum->how = all_terms(*sum, how.when_made());
  sum->how.add({0, how.partial, even_bounds(count, count)});
  const std::vector<value> all = whole(n, how.when_made());
  for (int p = 0; p < mesh_.size(); ++p) {
    const dims extents = extents_of(mesh_.part(sum->how, sum->shape, p));
    if (!mesh_.is_local(p)) out.at.emplace_back();
    else if (mesh_.number_along(p, how.partial) > 0) out.at.push_back(nothing(sum->type, extents, device(p)));
    else out.at.push_back(with_shape(graph::record_cast(all[static_cast<std::size_t>(p)], sum->type), extents));
  }
  out.sum = std::move(sum);
  return out;
}

}  // namespace sinter::sharding
