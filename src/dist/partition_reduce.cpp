// Reductions of divided arrays: of each part by itself where the reduced axes are whole, else of parts that are joined.
#include <algorithm>
#include <bit>
#include <optional>

#include "dist/partitioner.hpp"
#include "graph/values/record_part.hpp"
#include "jit/program/addition_order.hpp"

namespace sinter::sharding {
namespace {

using jit::opcode;
using jit::reduce_op;

bool is_reduced(const node* n, int axis) { return n->reduce().is_over(axis); }

dims kept_of(const node* n, const dims& shape) {
  dims kept;
  for (int a = 0; a < shape.size(); ++a)
    if (!is_reduced(n, a)) kept.push_back(shape[a]);
  return kept;
}

/// The layout of a reduction's result.
layout kept_layout(const node* n, const layout& how) {
  layout out;
  for (split s : how.splits) {
    if (is_reduced(n, s.axis)) continue;
    int below = 0;
    for (int a = 0; a < s.axis; ++a) below += is_reduced(n, a);
    s.axis -= below;
    out.add(std::move(s));
  }
  return out;
}

std::vector<bool> flags_of(const node* n, int rank) {
  std::vector<bool> all;
  for (int a = 0; a < rank; ++a) all.push_back(is_reduced(n, a));
  return all;
}

/// record_part_of_reduce with flags as bools.
value reduce_axes(reduce_op op, const jit::user_reduction* combine, dtype type, const value& v,
                  const std::vector<bool>& axes, graph::payload::whole_reduction whole) {
  bool flags[core::max_rank] = {};
  for (std::size_t a = 0; a < axes.size(); ++a) flags[a] = axes[a];
  return graph::record_part_of_reduce(op, combine, type, v, std::span(flags, axes.size()), whole);
}

/// Whether the order of the elements does not change bits.
bool is_order_free(const node* n) {
  const reduce_op op = n->reduce().op;
  if (op == reduce_op::sum || op == reduce_op::prod) return !is_inexact(n->operand(0)->type);
  return op != reduce_op::moment2 && op != reduce_op::user;
}

value integer(std::int64_t v, const dims& shape, runtime::device_id device) {
  jit::scalar s;
  s.type = dtype::i64;
  s.i = v;
  return graph::record_scalar(s, dtype::i64, shape, device);
}

}  // namespace

namespace {

value reduce_part(const node* n, const value& v, graph::payload::whole_reduction whole) {
  // Whether rows or columns are reduced follows from the whole array. A part with one column looks like a row: it is
  // reduced twice, side by side.
  const dims& all = n->operand(0)->shape;
  int last = all.size() - 1;
  while (last > 0 && all[last] == 1) --last;
  const std::vector<bool> axes = flags_of(n, all.size());
  const auto reduce = [&](const value& x) {
    return reduce_axes(n->reduce().op, n->reduce().combine, n->type, x, axes, whole);
  };
  if (all.size() == 0 || axes[static_cast<std::size_t>(last)] || all[last] == 1 || v->shape[last] != 1)
    return reduce(v);
  dims twice = v->shape, strides = core::contiguous_strides(v->shape);
  twice[last] = 2;
  strides[last] = 0;
  const value both = reduce(graph::record_view(v, twice, strides, 0));
  return graph::record_view(both, kept_of(n, v->shape), core::contiguous_strides(both->shape), 0);
}

}  // namespace

namespace {

/// The box of a result that the elements of a box of the operand are reduced to.
box kept_box(const node* n, const box& of) {
  box b{dims(0), dims(0)};
  for (int a = 0; a < of.first.size(); ++a)
    if (!is_reduced(n, a)) b.first.push_back(of.first[a]), b.end.push_back(of.end[a]);
  return b;
}

/// Along which axes pieces divide a box.
struct piece_cuts {
  bool reduced = false, kept = false;

  piece_cuts(const node* n, const pieces& all, const box& where) {
    for (const piece& one : all)
      for (int a = 0; a < where.first.size(); ++a)
        if (one.where.first[a] != where.first[a] || one.where.end[a] != where.end[a])
          (is_reduced(n, a) ? reduced : kept) = true;
  }
};

/// What joins two results whose order does not matter.
std::optional<opcode> joins_two(const node* n) {
  const bool truth = n->type == dtype::b1;
  switch (n->reduce().op) {
    case reduce_op::min: return truth ? opcode::logical_and : opcode::minimum;
    case reduce_op::max: return truth ? opcode::logical_or : opcode::maximum;
    case reduce_op::all: return opcode::logical_and;
    case reduce_op::any: return opcode::logical_or;
    case reduce_op::count: return opcode::add;
    case reduce_op::sum: return is_inexact(n->type) ? std::nullopt : std::optional(opcode::add);
    case reduce_op::prod: return is_inexact(n->type) ? std::nullopt : std::optional(opcode::multiply);
    default: return std::nullopt;
  }
}

bool is_reduced_apart(const node* n, const pieces& all, const box& where) {
  if (all.size() == 1) return true;
  const piece_cuts cuts(n, all, where);
  return !all.empty() && (!cuts.reduced || (!cuts.kept && joins_two(n)));
}

/// The results of a part from its pieces, which are not put together: that would store them.
pieces reduce_pieces(const node* n, const pieces& all, graph::payload::whole_reduction whole) {
  pieces out;
  for (const piece& one : all) {
    const box where = kept_box(n, one.where);
    const value result = reduce_part(n, one.v, whole);
    if (!out.empty() && same(out.back().where, where))
      out.back().v = graph::record_map(*joins_two(n), n->type, result->shape, {out.back().v, result});
    else out.push_back({where, result});
  }
  return out;
}

}  // namespace

std::vector<pieces> partitioner::pieces_to_reduce(node* n, const layout& how) {
  node* const x = n->operand(0);
  std::vector<pieces> room;
  const std::vector<pieces>& all = get(x, how, room);
  const bool apart = std::all_of(mesh_.locals.begin(), mesh_.locals.end(), [&](int p) {
    return is_reduced_apart(n, all[static_cast<std::size_t>(p)], mesh_.part(how, x->shape, p));
  });
  if (apart) return all;
  std::vector<value> joined_parts = whole(x, how);
  std::vector<pieces> out(joined_parts.size());
  for (const int p : mesh_.locals) {
    const auto k = static_cast<std::size_t>(p);
    out[k].push_back({mesh_.part(how, x->shape, p), std::move(joined_parts[k])});
  }
  return out;
}

parts partitioner::reduce_local(node* n, const layout& how) {
  const graph::payload::whole_reduction order{.results = std::max<std::int64_t>(n->size(), 1)};
  const std::vector<pieces> all = pieces_to_reduce(n, how);
  parts out{kept_layout(n, how), std::vector<pieces>(all.size())};
  for (const int p : mesh_.locals) {
    const auto k = static_cast<std::size_t>(p);
    if (is_empty(mesh_.part(out.how, n->shape, p))) continue;
    const int t = mesh_.twin(how, p);
    out.at[k] = t < p ? out.at[static_cast<std::size_t>(t)] : reduce_pieces(n, all[k], order);
  }
  return out;
}

/// Gives the positions along reduced axes parts along a kept one instead.
bool partitioner::localise(node* n, layout& how) {
  node* const x = n->operand(0);
  const auto reduced = [&](int a) { return is_reduced(n, a); };
  for (const split& s : std::vector<split>(how.splits))
    if (is_reduced(n, s.axis) && !how.give_away(s.axis, x->shape, reduced) &&
        static_cast<std::int64_t>(x->bytes()) > small_operand)
      return false;
  return true;
}

namespace {

/// The layout with all that divides reduced axes along the first of these.
layout divided_first(const node* n, const layout& how) {
  const dims& shape = n->operand(0)->shape;
  split all{0, {}, {}};
  while (!is_reduced(n, all.axis) || shape[all.axis] == 1) ++all.axis;
  layout out;
  std::int64_t parts = 1;
  for (const split& s : how.splits) {
    if (!is_reduced(n, s.axis)) {
      out.add(s);
      continue;
    }
    all.over.insert(all.over.end(), s.over.begin(), s.over.end());
    parts *= s.parts();
  }
  all.bounds = even_bounds(shape[all.axis], parts);
  out.add(std::move(all));
  return out;
}

/// Whether the kept axes that are divided are long enough for their parts.
bool has_room(const node* n, const layout& how) {
  return std::all_of(how.splits.begin(), how.splits.end(),
                     [&](const split& s) { return n->operand(0)->shape[s.axis] >= s.parts(); });
}

}  // namespace

partitioner::entry partitioner::reduce(node* n) {
  const auto entry_of = [](parts p) { return entry{.in = std::move(p)}; };
  node* const x = n->operand(0);
  layout how = layout_of(x);
  const bool divided =
      std::any_of(how.splits.begin(), how.splits.end(), [&](const split& s) { return is_reduced(n, s.axis); });
  const reduce_op op = n->reduce().op;
  if (divided && op == reduce_op::sum && is_integer(n->type)) return sum_integers(n, how);
  if (divided && is_order_free(n))
    return entry_of(op == reduce_op::argmin || op == reduce_op::argmax ? reduce_arg(n, how)
                                                                       : reduce_free_order(n, how));
  if (divided) {
    entry out;
    const bool additions = op == reduce_op::sum || op == reduce_op::prod;
    if (additions && reduce_in_splits(n, how, out)) return out;
    layout local = how;
    const bool is_local = localise(n, local);
    if (additions && (!is_local || !has_room(n, local)) && reduce_in_splits(n, divided_first(n, how), out)) return out;
    if (is_local) {
      how = std::move(local);
    } else if (op == reduce_op::moment2) {
      return reduce_moment(n);
    } else {
      refuse_sharded(op == reduce_op::user ? n->reduce().combine->name : jit::about(op).name,
                     "a reduction of shape " + core::to_string(x->shape) + " goes along axes that are sharded, " +
                         placements_text(mesh_, how) + ", in an order that crosses the parts",
                     "redistribute the array along another axis, or with replicate()");
    }
  }
  return entry_of(reduce_local(n, how));
}

namespace {

/// Results of parts beside each other: an array with an axis for each divided one, before the kept axes.
struct beside {
  layout how;
  dims shape;
  std::vector<bool> leading;  // the new axes are to be reduced
};

/// Parts without elements have no place.
beside beside_of(const node* n, const layout& how) {
  beside out;
  layout kept = kept_layout(n, how);
  for (const split& s : how.splits) {
    if (!is_reduced(n, s.axis)) continue;
    split one{out.shape.size(), s.over, {0}};
    for (std::size_t k = 0; k + 1 < s.bounds.size(); ++k)
      one.bounds.push_back(one.bounds.back() + (s.bounds[k + 1] > s.bounds[k]));
    out.shape.push_back(one.bounds.back());
    out.how.add(std::move(one));
    out.leading.push_back(true);
  }
  const int lead = out.shape.size();
  for (split s : kept.splits) {
    s.axis += lead;
    out.how.add(std::move(s));
  }
  for (const std::int64_t extent : n->shape) {
    out.shape.push_back(extent);
    out.leading.push_back(false);
  }
  return out;
}

value with_shape(const value& v, const dims& shape) {
  return graph::record_view(v, shape, core::contiguous_strides(shape), 0);
}

reduce_op joins_results_of(reduce_op op) { return op == reduce_op::count ? reduce_op::sum : op; }

}  // namespace

/// The results of the positions' parts, each as its part of an array that has them beside each other.
std::vector<value> partitioner::reduce_each(node* n, const layout& how, const layout& to, const dims& shape) {
  const std::vector<pieces> all = pieces_to_reduce(n, how);
  return once(how, [&](int p) {
    const box where = mesh_.part(to, shape, p);
    if (is_empty(where)) return graph::record_unset(n->type, extents_of(where), device(p));
    const pieces results = reduce_pieces(n, all[static_cast<std::size_t>(p)], {});
    const box kept = kept_box(n, mesh_.part(how, n->operand(0)->shape, p));
    return with_shape(joined(results, kept, n->type, device(p)), extents_of(where));
  });
}

/// Sums of parts, one after the other: integers keep their bits in any order.
partitioner::entry partitioner::sum_integers(node* n, const layout& how) {
  auto sum = std::make_shared<unmade_sum>();
  sum->type = n->type;
  for (const split& s : how.splits)
    if (is_reduced(n, s.axis)) sum->over.insert(sum->over.end(), s.over.begin(), s.over.end());
  std::sort(sum->over.begin(), sum->over.end());
  std::vector<bool> has_term(static_cast<std::size_t>(mesh_.parts_along(sum->over)), true);
  for (int p = 0; p < mesh_.size(); ++p)
    for (const split& s : how.splits) {
      const auto k = static_cast<std::size_t>(mesh_.number_along(p, s.over));
      if (is_reduced(n, s.axis) && s.bounds[k] == s.bounds[k + 1])
        has_term[static_cast<std::size_t>(mesh_.number_along(p, sum->over))] = false;
    }
  split terms{0, sum->over, {0}};
  for (const bool one : has_term) terms.bounds.push_back(terms.bounds.back() + one);
  sum->shape = n->shape;
  sum->shape.insert(0, terms.bounds.back());
  entry out;
  out.in.how = kept_layout(n, how);
  sum->how.add(terms);
  for (split s : out.in.how.splits) {
    ++s.axis;
    sum->how.add(std::move(s));
  }
  out.terms = as_parts(mesh_, sum->how, sum->shape, reduce_each(n, how, sum->how, sum->shape));
  out.sum = std::move(sum);
  out.waits = true;
  return out;
}

parts partitioner::reduce_free_order(node* n, const layout& how) {
  const beside b = beside_of(n, how);
  std::vector<value> own = reduce_each(n, how, b.how, b.shape);
  const layout kept = kept_layout(n, how);
  layout wanted = kept;
  for (split& s : wanted.splits) s.axis += b.shape.size() - n->shape.size();
  const wishes want = parts_under(mesh_, wanted, b.shape);
  const std::vector<pieces> all = mover_.fetch(as_parts(mesh_, b.how, b.shape, std::move(own)), b.shape, n->type, want);
  return as_parts(mesh_, kept, n->shape, once(kept, [&](int p) {
                    const box where = mesh_.part(kept, n->shape, p);
                    if (is_empty(where)) return graph::record_unset(n->type, extents_of(where), device(p));
                    return reduce_axes(joins_results_of(n->reduce().op), nullptr, n->type,
                                       whole_at(all, want, n->type, p), b.leading, {});
                  }));
}

namespace {

/// Positions in C order of the reduced axes of a part, as those in the whole array.
value whole_positions(const node* n, const value& local, const box& part) {
  const dims& all = n->operand(0)->shape;
  dims extents, own, first;
  for (int a = 0; a < all.size(); ++a) {
    if (!is_reduced(n, a)) continue;
    extents.push_back(all[a]);
    own.push_back(part.end[a] - part.first[a]);
    first.push_back(part.first[a]);
  }
  const dims to = core::contiguous_strides(extents), from = core::contiguous_strides(own);
  const dims& shape = local->shape;
  const auto number = [&](std::int64_t v) { return integer(v, shape, local->device); };
  const auto apply = [&](opcode op, const value& a, const value& b) {
    return graph::record_map(op, dtype::i64, shape, {a, b});
  };
  value sum;
  std::int64_t constant_part = 0;
  value rest = local;
  for (int a = 0; a < own.size(); ++a) {
    constant_part += first[a] * to[a];
    value coordinate = rest;
    if (a + 1 < own.size()) {
      coordinate = apply(opcode::floor_divide, rest, number(from[a]));
      rest = apply(opcode::remainder, rest, number(from[a]));
    }
    value term = apply(opcode::multiply, coordinate, number(to[a]));
    sum = sum ? apply(opcode::add, sum, term) : term;
  }
  return apply(opcode::add, sum, number(constant_part));
}

}  // namespace

parts partitioner::reduce_arg(node* n, const layout& how) {
  const bool least = n->reduce().op == reduce_op::argmin;
  const reduce_op extreme = least ? reduce_op::min : reduce_op::max;
  node* const x = n->operand(0);
  const std::vector<value> operands = whole(x, how);
  const beside b = beside_of(n, how);
  const std::vector<bool> axes = flags_of(n, x->shape.size());
  std::vector<value> best, places;
  for (int p = 0; p < mesh_.size(); ++p) {
    const auto k = static_cast<std::size_t>(p);
    if (!mesh_.is_local(p)) {
      best.emplace_back();
      places.emplace_back();
      continue;
    }
    if (const int t = mesh_.twin(how, p); t < p) {
      best.push_back(best[static_cast<std::size_t>(t)]);
      places.push_back(places[static_cast<std::size_t>(t)]);
      continue;
    }
    const box where = mesh_.part(b.how, b.shape, p);
    const dims extents = extents_of(where);
    if (is_empty(where)) {
      best.push_back(graph::record_unset(x->type, extents, device(p)));
      places.push_back(graph::record_unset(dtype::i64, extents, device(p)));
      continue;
    }
    best.push_back(with_shape(reduce_axes(extreme, nullptr, x->type, operands[k], axes, {}), extents));
    const value local = reduce_axes(n->reduce().op, nullptr, dtype::i64, operands[k], axes, {});
    places.push_back(with_shape(whole_positions(n, local, mesh_.part(how, x->shape, p)), extents));
  }
  const layout kept = kept_layout(n, how);
  layout wanted = kept;
  for (split& s : wanted.splits) s.axis += b.shape.size() - n->shape.size();
  const wishes want = parts_under(mesh_, wanted, b.shape);
  const std::vector<pieces> values =
      mover_.fetch(as_parts(mesh_, b.how, b.shape, std::move(best)), b.shape, x->type, want);
  const std::vector<pieces> found =
      mover_.fetch(as_parts(mesh_, b.how, b.shape, std::move(places)), b.shape, dtype::i64, want);
  return as_parts(
      mesh_, kept, n->shape, once(kept, [&](int p) {
        const box where = mesh_.part(kept, n->shape, p);
        if (is_empty(where)) return graph::record_unset(n->type, extents_of(where), device(p));
        const value candidates = whole_at(values, want, x->type, p), at_places = whole_at(found, want, dtype::i64, p);
        const dims& shape = candidates->shape;
        const value winner = reduce_axes(extreme, nullptr, x->type, candidates, b.leading, {});
        dims strides = core::contiguous_strides(winner->shape);
        for (std::size_t k = 0; k < b.leading.size() && b.leading[k]; ++k) strides.insert(0, 0);
        const value everywhere = graph::record_view(winner, shape, strides, 0);
        value wins = graph::record_map(opcode::equal, dtype::b1, shape, {candidates, everywhere});
        if (is_inexact(x->type)) {  // the first NaN wins
          const value nan = graph::record_map(opcode::isnan, dtype::b1, shape, {candidates});
          wins = graph::record_map(opcode::logical_or, dtype::b1, shape, {wins, nan});
        }
        const value none = integer(INT64_MAX, shape, device(p));
        const value of_winners = graph::record_map(opcode::select, dtype::i64, shape, {wins, at_places, none});
        return reduce_axes(reduce_op::min, nullptr, dtype::i64, of_winners, b.leading, {});
      }));
}

}  // namespace sinter::sharding
