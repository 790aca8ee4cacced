// The walk over pending nodes, layouts, and what any layout would do for.
#include "dist/partitioner.hpp"

#include <algorithm>
#include <tuple>

#include "sinter/error.hpp"

namespace sinter::sharding {
namespace {

/// Elements below which a value that no operand divides is everywhere.
constexpr std::int64_t least_spread = 1 << 12;

/// Pending nodes below some values and they themselves, operands first.
std::vector<node*> pending_below(std::span<const value> roots) {
  std::vector<node*> found;
  std::unordered_map<node*, bool> seen;
  const auto add = [&](node* n) {
    if (seen.try_emplace(n, true).second) found.push_back(n);
  };
  for (const value& r : roots) add(r.get());
  for (std::size_t k = 0; k < found.size(); ++k)
    for (int a = 0; a < found[k]->operand_count(); ++a) add(found[k]->operand(a));
  // Views come right after what they are views of, so that their layouts are known to whatever reads one of them.
  using place = std::tuple<bool, std::uint64_t, bool, std::uint64_t>;
  const auto place_of = [](const node* n) -> place {
    const node* base = n;
    while (base->kind == node_kind::view) base = base->operand(0);
    const std::uint64_t first = base->is_leaf() ? 0 : base->order;
    return {!n->is_leaf(), first, n != base, n->order};
  };
  std::stable_sort(found.begin(), found.end(), [&](const node* a, const node* b) { return place_of(a) < place_of(b); });
  return found;
}

}  // namespace

void refuse_sharded(const std::string& function, const std::string& why, const std::string& remedy) {
  throw device_error("[" + function + "] " + why + "; " + remedy);
}

std::string placements_text(const mesh_state& m, const layout& how) {
  std::string text = "{";
  for (int a = 0; a < m.extents.size(); ++a) {
    std::string one = "replicate()";
    for (const split& s : how.splits)
      if (std::find(s.over.begin(), s.over.end(), a) != s.over.end()) one = "shard(" + std::to_string(s.axis) + ")";
    if (std::find(how.partial.begin(), how.partial.end(), a) != how.partial.end()) one = "partial()";
    text += (a ? ", " : "") + one;
  }
  return text + "}";
}

parts as_parts(const mesh_state& m, const layout& how, const dims& shape, std::vector<value> values) {
  parts out{how, std::vector<pieces>(values.size())};
  for (const int p : m.locals) {
    const box where = m.part(how, shape, p);
    const auto k = static_cast<std::size_t>(p);
    if (!is_empty(where)) out.at[k].push_back({where, std::move(values[k])});
  }
  return out;
}

void partitioner::enter_below(std::span<const value> roots) {
  const std::vector<node*> nodes = pending_below(roots);
  find_groups(nodes);
  for (node* n : nodes)
    if (!entries_.contains(n)) enter(n);
}

std::vector<shards> partitioner::run(std::span<const value> roots, const layout* how) {
  enter_below(roots);
  std::vector<shards> out;
  for (const value& r : roots) {
    if (how && !how->partial.empty()) {
      out.push_back(terms_of(r.get(), *how));
      continue;
    }
    shards s{how ? *how : layout_of(r.get()), {}};
    s.at = whole(r.get(), s.how);
    out.push_back(std::move(s));
  }
  return out;
}

value partitioner::run_at(const value& root, int position) {
  enter_below(std::span(&root, 1));
  wishes want(static_cast<std::size_t>(mesh_.size()), box{dims(root->shape.size()), dims(root->shape.size())});
  want[static_cast<std::size_t>(position)] = whole_box(root->shape);
  return whole_at(fetch(root.get(), want), want, root->type, position);
}

void partitioner::enter(node* n) {
  entry e;
  if (n->is_leaf()) {
    if (shards_of(*n).sum) e = unmade_leaf(n);
    else e.in = parts_of(mesh_, *n);
  } else if (is_free(n)) {
    e.free = true;
  } else {
    switch (n->kind.load()) {
      case node_kind::map:
      case node_kind::call: e = map(n); break;
      case node_kind::view: e.in = view(n); break;
      case node_kind::update: e.in = update(n); break;
      case node_kind::gather: e.in = gather(n); break;
      case node_kind::reduce: e = reduce(n); break;
      default:
        refuse_sharded("random", "parameters of a draw are sharded, and every device needs all of them",
                       "redistribute them with {replicate()}");
    }
  }
  entries_.emplace(n, std::move(e));
}

bool partitioner::is_free(node* n) {
  if (n->size() == 0) return true;
  const auto operand_is = [&](int k) { return at(n->operand(k)).free; };
  switch (n->kind.load()) {
    case node_kind::scalar:
    case node_kind::iota: return true;
    case node_kind::random:
      for (int k = 0; k < n->operand_count(); ++k) {
        node* const x = n->operand(k);
        if (operand_is(k) || at(x).in.how.is_replicated()) continue;
        if (static_cast<std::int64_t>(x->bytes()) > small_operand) return false;
        if (auto [known, is_new] = everywhere_.try_emplace(x); is_new) known->second = whole(x, {});
      }
      return true;
    case node_kind::map:
    case node_kind::view:
    case node_kind::gather:
      for (int k = 0; k < n->operand_count(); ++k)
        if (!operand_is(k)) return false;
      return true;
    default: return false;
  }
}

layout partitioner::spread(const dims& shape) const {
  layout how;
  if (core::element_count(shape) < least_spread) return how;
  std::vector<int> all;
  for (int a = 0; a < mesh_.extents.size(); ++a) all.push_back(a);
  for (int a = 0; a < shape.size(); ++a) {
    if (shape[a] < mesh_.size()) continue;
    how.add({a, all, even_bounds(shape[a], mesh_.size())});
    break;
  }
  return how;
}

layout partitioner::layout_of(node* n) {
  const entry& e = at(n);
  return e.free ? spread(n->shape) : e.in.how;
}

std::vector<pieces> partitioner::fetch(node* n, const wishes& want, const layout* how) {
  entry& e = at(n);
  if (!e.free) {
    if (e.waits && how && !(*how == e.in.how) && how->refines(e.in.how)) {
      for (const parts& known : e.finer)
        if (known.how == *how) return known.at;
      e.finer.push_back(e.sum ? make_sum(n, *how) : map_in(n, *how));
      return e.finer.back().at;
    }
    made(n);
    if (how && *how == e.in.how) return e.in.at;
    return mover_.fetch(e.in, n->shape, n->type, want);
  }
  std::vector<pieces> out(want.size());
  for (int p = 0; p < mesh_.size(); ++p) {
    const auto k = static_cast<std::size_t>(p);
    if (!is_empty(want[k]) && mesh_.is_local(p)) out[k].push_back({want[k], make_free(n, want[k], p)});
  }
  return out;
}

const std::vector<pieces>& partitioner::get(node* n, const layout& how, std::vector<pieces>& room) {
  if (const entry& e = at(n); !e.free && !e.waits && how == e.in.how) return e.in.at;
  return room = fetch(n, parts_under(mesh_, how, n->shape), &how);
}

value partitioner::whole_at(const std::vector<pieces>& all, const wishes& want, dtype type, int position) {
  const auto k = static_cast<std::size_t>(position);
  if (!mesh_.is_local(position)) return {};
  return joined(all[k], want[k], type, device(position));
}

std::vector<value> partitioner::fetch_whole(node* n, const wishes& want) {
  const std::vector<pieces> all = fetch(n, want);
  std::vector<value> out;
  for (int p = 0; p < mesh_.size(); ++p) out.push_back(whole_at(all, want, n->type, p));
  return out;
}

std::vector<value> partitioner::whole(node* n, const layout& how) {
  entry& e = at(n);
  std::vector<pieces> room;
  const std::vector<pieces>& all = get(n, how, room);
  std::vector<value> out = once(how, [&](int p) {
    return joined(all[static_cast<std::size_t>(p)], mesh_.part(how, n->shape, p), n->type, device(p));
  });
  if (!e.free && e.in.how == how) e.in = as_parts(mesh_, how, n->shape, out);  // others use what has been joined
  return out;
}

namespace {

/// A box of a result as the box of an operand that broadcasts to it.
box operand_box(const box& of_result, const dims& result, const dims& operand) {
  box b{dims(operand.size()), dims(operand.size())};
  const int lead = result.size() - operand.size();
  for (int a = 0; a < operand.size(); ++a) {
    const bool broadcast = operand[a] != result[a + lead];
    b.first[a] = broadcast ? 0 : of_result.first[a + lead];
    b.end[a] = broadcast ? 1 : of_result.end[a + lead];
  }
  return b;
}

class fast_math_as {
 public:
  explicit fast_math_as(bool on) : before_(graph::fast_math()) { graph::set_fast_math(on); }
  ~fast_math_as() { graph::set_fast_math(before_); }

 private:
  bool before_;
};

}  // namespace

value partitioner::make_free(node* n, const box& where, int position) {
  const dims extents = extents_of(where);
  const runtime::device_id here = device(position);
  switch (n->kind.load()) {
    case node_kind::scalar:
      if (n->scalar().unset) return graph::record_unset(n->type, extents, here);
      return graph::record_scalar(n->scalar().constant, n->type, extents, here);
    case node_kind::iota: {
      const int axis = n->iota().axis;
      value local = graph::record_iota(extents, axis, here);
      if (where.first[axis] == 0) return local;
      jit::scalar first;
      first.type = dtype::i64;
      first.i = where.first[axis];
      return graph::record_map(jit::opcode::add, dtype::i64, extents,
                               {local, graph::record_scalar(first, dtype::i64, extents, here)});
    }
    case node_kind::map: {
      auto& known = free_[n];
      for (const auto& [at, v] : known)
        if (v->device == here && same(at, where)) return v;
      std::vector<value> operands;
      for (int k = 0; k < n->operand_count(); ++k)
        operands.push_back(make_free(n->operand(k), operand_box(where, n->shape, n->operand(k)->shape), position));
      const fast_math_as mode(n->map().fast_math);
      value made = graph::record_map(n->map().op, n->type, extents, operands);
      known.push_back({where, made});
      return made;
    }
    default: return block_of(make_everywhere(n, position), whole_box(n->shape), where);
  }
}

value partitioner::make_everywhere(node* n, int position) {
  const runtime::device_id here = device(position);
  const box all = whole_box(n->shape);
  const entry& e = at(n);
  if (const auto known = everywhere_.find(n); known != everywhere_.end())
    return known->second[static_cast<std::size_t>(position)];
  if (!e.free) return joined(made(n).at[static_cast<std::size_t>(position)], all, n->type, here);
  const node_kind kind = n->kind.load();
  if (kind == node_kind::scalar || kind == node_kind::iota || kind == node_kind::map)
    return make_free(n, all, position);
  auto& known = free_[n];
  for (const auto& [at, v] : known)
    if (v->device == here && same(at, all)) return v;
  std::vector<value> operands;
  for (int k = 0; k < n->operand_count(); ++k) operands.push_back(make_everywhere(n->operand(k), position));
  value made;
  if (kind == node_kind::random)
    made = graph::record_random(n->random().op, n->type, n->shape, n->random().stream, operands, here);
  else if (kind == node_kind::view)
    made = graph::record_view(operands[0], n->shape, n->view().strides, n->view().offset);
  else made = graph::record_gather(operands[0], operands[1], n->gather().axis, n->shape, n->gather().reported_axis);
  known.push_back({all, made});
  return made;
}

layout partitioner::lifted(node* operand, const dims& shape) {
  layout out;
  const int lead = shape.size() - operand->shape.size();
  for (split s : at(operand).in.how.splits) {
    if (operand->shape[s.axis] != shape[s.axis + lead]) continue;
    s.axis += lead;
    out.add(std::move(s));
  }
  return out;
}

layout partitioner::projected(const layout& how, const dims& shape, node* operand) const {
  layout out;
  const int lead = shape.size() - operand->shape.size();
  for (split s : how.splits) {
    s.axis -= lead;
    if (s.axis < 0 || operand->shape[s.axis] != shape[s.axis + lead]) continue;
    out.add(std::move(s));
  }
  return out;
}

std::int64_t partitioner::cost(const layout& how, const dims& shape, std::span<node* const> operands) {
  std::int64_t bytes = 0;
  for (node* x : operands) {
    if (at(x).free) continue;
    const layout wanted = projected(how, shape, x);
    if (wanted == at(x).in.how) continue;
    bytes += bytes_to_move(mesh_, at(x).in.how, x->shape, x->type, parts_under(mesh_, wanted, x->shape));
  }
  return bytes;
}

layout partitioner::choose(const dims& shape, dtype type, std::span<node* const> operands, const layout* toward) {
  layout best;
  std::int64_t least = -1;
  if (toward) best = *toward, least = cost(best, shape, operands);
  for (node* first : operands) {
    if (at(first).free) continue;
    layout how = lifted(first, shape);
    for (node* other : operands) {  // mesh axes that the first one leaves unused
      if (at(other).free) continue;
      for (const split& s : lifted(other, shape).splits)
        if (!how.along(s.axis) && !how.uses_any(s.over)) how.add(s);
    }
    std::int64_t bytes = cost(how, shape, operands);
    if (toward) bytes += bytes_to_move(mesh_, how, shape, type, parts_under(mesh_, *toward, shape));
    if (least < 0 || bytes < least) best = std::move(how), least = bytes;
  }
  return best;
}

namespace {

constexpr std::size_t most_cells = 16;
/// An operand of which each element is read by so many of the result is put together rather than the result computed in blocks: those would
/// be stored where a reduction reads them as one.
constexpr std::int64_t many_readers = 8;

/// The blocks into which the pieces of operands divide a box of the result.
std::vector<box> cells_of(const box& where, const dims& shape, std::span<node* const> operands,
                          std::span<const pieces* const> all) {
  std::vector<box> cells{where};
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (!all[k] || all[k]->size() < 2) continue;
    const dims& extents = operands[k]->shape;
    const int lead = shape.size() - extents.size();
    std::vector<box> finer;
    for (const box& cell : cells)
      for (const piece& p : *all[k]) {
        box b = cell;
        for (int a = 0; a < extents.size(); ++a) {
          if (extents[a] != shape[a + lead]) continue;
          b.first[a + lead] = std::max(b.first[a + lead], p.where.first[a]);
          b.end[a + lead] = std::min(b.end[a + lead], p.where.end[a]);
        }
        if (!is_empty(b)) finer.push_back(std::move(b));
      }
    cells = std::move(finer);
  }
  return cells;
}

}  // namespace

partitioner::entry partitioner::map(node* n) {
  const bool is_call = n->kind == node_kind::call;
  std::vector<node*> operands;
  for (int k = 0; k < n->operand_count(); ++k) {
    node* const x = n->operand(k);
    if (!graph::reads_raw(*n, k)) operands.push_back(x);
    else if (!at(x).free && !at(x).in.how.is_replicated() && static_cast<std::int64_t>(x->bytes()) > small_operand)
      refuse_sharded(n->call().function->name,
                     "the kernel reads a whole operand of shape " + core::to_string(x->shape) + ", which is " +
                         placements_text(mesh_, at(x).in.how),
                     "redistribute it with {replicate()}, or run the kernel on the parts (dist::local)");
  }
  if (is_call && n->call().for_effects)
    refuse_sharded(n->call().function->name, "the kernel writes its outputs itself, which are sharded",
                   "run it on the parts (dist::local)");
  entry out;
  out.in.how = choose(n->shape, n->type, operands, target_of(n));
  if (!is_call && keeps_terms(n, out)) return out;
  // Of a sum that nobody has needed yet: whoever needs this says in which parts.
  out.waits = !is_call && std::all_of(operands.begin(), operands.end(),
                                      [&](node* x) { return at(x).free || (at(x).waits && x->shape == n->shape); });
  if (!out.waits) out.in = map_in(n, out.in.how);
  return out;
}

parts partitioner::map_in(node* n, const layout& how) {
  const bool is_call = n->kind == node_kind::call;
  std::vector<node*> operands;
  // What a user's kernel reads whole is everywhere; `raw` has it for each such operand.
  std::vector<std::vector<value>> raw(static_cast<std::size_t>(n->operand_count()));
  for (int k = 0; k < n->operand_count(); ++k) {
    operands.push_back(n->operand(k));
    if (graph::reads_raw(*n, k)) raw[static_cast<std::size_t>(k)] = whole(n->operand(k), {});
  }
  std::vector<std::vector<pieces>> room(operands.size());
  std::vector<const std::vector<pieces>*> all(operands.size());  // null: free, or raw
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (!at(operands[k]).free && raw[k].empty())
      all[k] = &get(operands[k], projected(how, n->shape, operands[k]), room[k]);
  parts out{how, std::vector<pieces>(static_cast<std::size_t>(mesh_.size()))};
  for (const int p : mesh_.locals) {
    const auto at_p = static_cast<std::size_t>(p);
    const box where = mesh_.part(how, n->shape, p);
    if (is_empty(where)) continue;
    if (const int t = mesh_.twin(how, p); t < p) {
      out.at[at_p] = out.at[static_cast<std::size_t>(t)];
      continue;
    }
    std::vector<const pieces*> here;
    for (const auto* one : all) here.push_back(one ? &(*one)[at_p] : nullptr);
    std::vector<pieces> one_piece(operands.size());
    const auto put_together = [&](std::int64_t readers) {
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (!here[k] || here[k]->size() < 2) continue;
        const box own = operand_box(where, n->shape, operands[k]->shape);
        if (count_of(where) / count_of(own) < readers) continue;
        one_piece[k] = {{own, joined(*here[k], own, operands[k]->type, device(p))}};
        here[k] = &one_piece[k];
      }
      return cells_of(where, n->shape, operands, here);
    };
    std::vector<box> cells = put_together(many_readers);
    if (cells.size() > most_cells) cells = put_together(0);
    for (const box& cell : cells) {
      std::vector<value> values;
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (!raw[k].empty()) {
          values.push_back(raw[k][at_p]);
          continue;
        }
        const box own = operand_box(cell, n->shape, operands[k]->shape);
        if (!here[k]) {
          values.push_back(make_free(operands[k], own, p));
          continue;
        }
        const auto holds =
            std::find_if(here[k]->begin(), here[k]->end(), [&](const piece& x) { return contains(x.where, own); });
        values.push_back(block_of(holds->v, holds->where, own));
      }
      const dims extents = extents_of(cell);
      const fast_math_as mode(is_call ? n->call().fast_math : n->map().fast_math);
      out.at[at_p].push_back(
          {cell, is_call ? graph::record_call(n->call().function, n->call().output, extents, std::move(values))
                         : graph::record_map(n->map().op, n->type, extents, values)});
    }
  }
  return out;
}

}  // namespace sinter::sharding
