// The planner: finds the materialisation points and builds a kernel for each.
#include "graph/plan/planner.hpp"

#include <algorithm>
#include <utility>

#include "graph/plan/builder.hpp"
#include "graph/plan/forms/apart_sums.hpp"
#include "graph/plan/stages.hpp"
#include "graph/values/limits.hpp"

namespace sinter::graph {

std::unique_ptr<kernel_plan> planner::fresh_plan() {
  if (spare_.empty()) return std::make_unique<kernel_plan>();
  std::unique_ptr<kernel_plan> p = std::move(spare_.back());
  spare_.pop_back();
  p->kind = plan_kind::elementwise;
  p->root = nullptr;
  p->level = 0;
  p->reduces_last = p->unset_base = false;
  p->whole = {};
  p->apart = -1;
  p->results.clear();
  p->code.clear();
  p->inputs.clear();
  p->params.clear();
  p->sources.clear();
  p->dependencies.clear();
  p->computed.clear();
  return p;
}

void planner::set_aside(std::unique_ptr<kernel_plan> p) {
  constexpr std::size_t most = 64;
  if (spare_.size() < most) spare_.push_back(std::move(p));
}

void planner::clear() {
  for (auto* list : {&built_, &kernels_}) {
    for (auto& p : *list)
      if (p) set_aside(std::move(p));
    list->clear();
  }
  shown_ = &kernels_;
  plan_table::clear();
}

void planner::open(std::span<const value> roots) {
  if (!entries().empty()) clear();
  begin(roots);
}

void planner::decide() {
  ++planning().made;
  if (limits().fuse) {
    find_unset();
    store_held();
    cut();
  }
  make_kernels();
  if (!limits().fuse) return;
  // Kernels of rows on chip that have been joined count as one: they may not be once what others share is stored.
  constexpr int rounds = 4;
  const auto is_staged = [](const auto& k) { return k->kind == plan_kind::staged; };
  for (int k = 0, staged = 1; k < rounds && staged; ++k) {
    staged = std::any_of(kernels_.begin(), kernels_.end(), is_staged);
    if (!store_shared()) break;
    make_kernels_again();
  }
  if (store_waiting()) make_kernels_again();
  drop_unread();
}

/// What was stored where the graph was cut, and is read by the kernel alone that computes it since kernels have been joined, is no result.
void planner::drop_unread() {
  std::vector<char> is_read(stored().size());
  const auto read = [&](const node* n) {
    if (!n->is_leaf() && at(const_cast<node*>(n)).stored)
      is_read[static_cast<std::size_t>(at(const_cast<node*>(n)).kernel)] = 1;
  };
  bool several = false, dropped = false;
  for (const auto& k : kernels_) {
    several = several || k->results.size() > 1;
    for (node* d : k->dependencies) read(d);
    if (k->kind == plan_kind::alias || k->kind == plan_kind::update)
      for (const node* n : k->results) read(n->args[0].get());
  }
  for (const auto& k : kernels_) {
    if (!several || k->kind != plan_kind::elementwise || k->code.outputs.size() != k->results.size()) continue;
    for (std::size_t r = k->results.size(); r-- > 0 && k->results.size() > 1;) {
      node* const n = k->results[r];
      entry& e = at(n);
      if (e.why != store_reason::crossing || e.held || n == k->root || is_read[static_cast<std::size_t>(e.kernel)])
        continue;
      e.stored = false;
      dropped = true;
      k->results.erase(k->results.begin() + static_cast<std::ptrdiff_t>(r));
      k->code.outputs.erase(k->code.outputs.begin() + static_cast<std::ptrdiff_t>(r));
    }
  }
  if (dropped) forget_given_up();
}

void planner::make_kernels_again() {
  for (auto& k : kernels_) set_aside(std::move(k));
  kernels_.clear();
  make_kernels();
}

void planner::make_kernels() {
  do {
    build_all();
    for (node* n : stored()) at(n).level = -1;
    for (node* n : stored()) level_of(n);
  } while (split_epilogues() || store_reduced_again() || give_up_stored());
  group();
  if (kernels_.size() < 2 || !limits().fuse) return;
  mark_remaining();
  join_stages(kernels_, runtime::get_backend(device()), [this](const node* n) { return known(n).remains; });
}

// Adds the live reductions over the same value along the same axes to the kernel: their results are small, and they
// share its pass. A reduction of this kernel (`own`) to which only its epilogue and `r` refer is not added: its value
// is not needed again.
void planner::add_siblings(std::span<node* const> own) {
  const std::int32_t first = at(own[0]).first_reader, end = first + at(own[0]).readers;
  for (std::int32_t k = first; k < end; ++k) {
    node* const r = reader(k);
    if (r->opaque || at(r).stored || !same_reduction(own[0], r)) continue;
    const bool is_own = std::find(own.begin(), own.end(), r) != own.end();
    if (is_own && at(r).alone) continue;
    materialise(r, store_reason::sibling);
  }
}

// Building a kernel finds materialisation points, and one found late may be inside a kernel built before: repeat until
// there are no more.
void planner::build_all() {
  std::size_t known;
  do {
    known = stored().size();
    for (std::size_t k = 0; k < stored().size(); ++k) build_one(stored()[k]);
  } while (known != stored().size() && known != 0);
}

// The reductions whose epilogue a result can be: reached through operations of its own shape, all over one space.
bool planner::find_reductions(node* n, std::vector<node*>& out, bool split) {
  if (!n->over_reduction()) return true;
  walk_ = begin_search();
  read_over_ = at(n).read_over;
  takes_records_ = !only_calculates(n);
  return search_reductions(n, out, split);
}

bool planner::search_reductions(node* n, std::vector<node*>& out, bool split) {
  for (int k = 0; k < n->operand_count(); ++k) {
    node* a = n->operand(k);
    if (a->is_leaf() || reads_raw(*n, k) || !(a->shape == n->shape)) continue;
    if (a->kind == node_kind::reduce) {
      if (!at(a).stored && is_apart(a, read_over_) && !(takes_records_ && is_of_records(a))) continue;
      if (at(a).stored && (split || (at(a).why != store_reason::requested && at(a).why != store_reason::sibling)))
        continue;
      if (!out.empty() && !same_reduction(out[0], a)) return false;
      if (std::find(out.begin(), out.end(), a) == out.end()) out.push_back(a);
    } else if (is_operation(a->kind) && !unfusible(*a) && !at(a).stored) {
      if (out.size() > 8) return false;
      if (std::exchange(at(a).search, walk_) == walk_) continue;  // shared: its operands have been searched
      if (!search_reductions(a, out, split)) return false;
    }
  }
  return true;
}

namespace {

/// Whether the latest of some reductions needs others of them, which it gets. What was recorded before all of these cannot be on the way.
std::vector<node*> needed_by(plan_table& table, node* latest, std::span<node* const> others) {
  std::uint64_t first = UINT64_MAX;
  for (const node* r : others)
    if (r != latest) first = std::min(first, r->order);
  std::vector<node*> needed, work{latest->args[0].get()};
  const std::uint64_t mark = table.begin_search();
  while (!work.empty()) {
    node* const x = work.back();
    work.pop_back();
    if (x->is_leaf() || x->order < first || std::exchange(table.at(x).search, mark) == mark) continue;
    if (std::find(others.begin(), others.end(), x) != others.end()) needed.push_back(x);
    for (int k = 0; k < x->operand_count(); ++k) work.push_back(x->operand(k));
  }
  return needed;
}

}  // namespace

// A sum over steps (v += sum(f(p)), where p follows from v) has the sums of all steps in reach, of which each one needs those before it.
// Its kernel computes the latest; what it takes from the earlier ones without that is stored, for the next steps too.
void planner::store_awaited(node* n, std::vector<node*>& reductions) {
  if (reductions.size() < 2) return;
  node* const latest =
      *std::max_element(reductions.begin(), reductions.end(), [](node* a, node* b) { return a->order < b->order; });
  if (!latest->over_reduction()) return;
  const std::vector<node*> awaited = needed_by(*this, latest, reductions);
  if (awaited.empty()) return;
  std::erase_if(reductions, [&](node* r) { return std::find(awaited.begin(), awaited.end(), r) != awaited.end(); });
  const auto is_among = [&](std::span<node* const> all, node* first) {  // of what an epilogue down from `first` reads
    std::vector<node*> work{first};
    const std::uint64_t mark = begin_search();
    while (!work.empty()) {
      node* const x = work.back();
      work.pop_back();
      if (x->is_leaf() || std::exchange(at(x).search, mark) == mark) continue;
      if (std::find(all.begin(), all.end(), x) != all.end()) return true;
      if (x != first && at(x).stored) continue;
      if (is_operation(x->kind) && x->shape == n->shape)
        for (int k = 0; k < x->operand_count(); ++k) work.push_back(x->operand(k));
    }
    return false;
  };
  std::vector<node*> work{n}, seen;
  while (!work.empty()) {  // down to `latest`
    node* const x = work.back();
    work.pop_back();
    for (int k = 0; k < x->operand_count(); ++k) {
      node* const a = x->operand(k);
      if (a == latest || std::find(seen.begin(), seen.end(), a) != seen.end()) continue;
      seen.push_back(a);
      if (is_among(std::span(&latest, 1), a)) work.push_back(a);
      else if (!at(a).stored && is_among(awaited, a)) materialise(a, store_reason::reduction);
    }
  }
}

// Normally the epilogue of a stored reduction is computed in the reduction's kernel. If the epilogue also needs a later
// result, that would be a second pass over the same elements: such an epilogue is split from the reduction and reads
// the stored result.
bool planner::split_epilogues() {
  bool changed = false;
  for (std::size_t k = 0; k < stored().size(); ++k) {
    node* const n = stored()[k];
    if (built_[k]->kind != plan_kind::reduce || n->kind == node_kind::reduce || at(n).split) continue;
    reductions_.clear();
    if (!find_reductions(n, reductions_, false)) continue;
    const std::int32_t level = at(n).level;
    if (std::none_of(reductions_.begin(), reductions_.end(),
                     [&](node* r) { return at(r).stored && at(r).level < level; }))
      continue;
    at(n).split = changed = true;
  }
  return changed;
}

// Epilogues of one reduction that cannot be one kernel, since one of them waits for the other's or for a later value, would each
// reduce: such a reduction is stored in the first one's pass, where that is cheaper.
bool planner::store_reduced_again() {
  struct pass {
    node* reduction;
    std::int32_t level;
  };
  std::vector<pass> passes;
  const std::size_t known = stored().size();
  int epilogues = 0;
  for (std::size_t k = 0; k < known; ++k)
    epilogues += built_[k]->kind == plan_kind::reduce && stored()[k]->kind != node_kind::reduce ? 1 : 0;
  for (std::size_t k = 0; epilogues > 1 && k < known; ++k) {
    node* const n = stored()[k];
    if (built_[k]->kind != plan_kind::reduce || n->kind == node_kind::reduce) continue;
    reductions_.clear();
    if (!find_reductions(n, reductions_, at(n).split)) continue;
    for (node* r : reductions_)
      if (!at(r).stored) passes.push_back({r, at(n).level});
  }
  std::sort(passes.begin(), passes.end(), [](const pass& a, const pass& b) {
    return a.reduction->order != b.reduction->order ? a.reduction->order < b.reduction->order : a.level < b.level;
  });
  for (std::size_t k = 0, next; k < passes.size(); k = next) {
    node* const r = passes[k].reduction;
    for (next = k + 1; next < passes.size() && passes[next].reduction == r;) ++next;
    if (passes[next - 1].level == passes[k].level || r->opaque) continue;
    const double moved = 2 * price_on(r->device).byte * static_cast<double>(itemsize(r->type));
    if (moved < static_cast<double>(reduced_elements(*r)) * (1 + inline_cost(r->args[0].get())))
      materialise(r, store_reason::sibling);
  }
  return stored().size() != known;
}

// What was stored since much had to be computed for it, before what it is computed from was stored as well. Its kernel would make what
// reads it wait.
bool planner::give_up_cheap() {
  std::vector<node*> candidates;
  for (node* n : stored()) {
    const entry& e = at(n);
    if (e.why != store_reason::expensive || !e.entered || e.held || e.given_up || !is_operation(n->kind)) continue;
    if (!unfusible(*n)) candidates.push_back(n);
  }
  if (candidates.empty()) return false;
  // In the order of recording, and from weights that are known anew: one that is given up adds to those over it.
  std::sort(candidates.begin(), candidates.end(), [](const node* a, const node* b) { return a->order < b->order; });
  for (node* n : pending()) at(n).weight = -1;
  bool changed = false;
  for (node* n : candidates) {
    entry& e = at(n);
    e.stored = false;
    e.given_up = inline_weight(n) < limits().expensive &&
                 !((e.looked_up || e.priced) && is_better_stored_for(n, e.read_over, e.looked_up));
    e.stored = !e.given_up;
    e.again = -1;
    changed = changed || e.given_up;
  }
  return changed;
}

bool planner::give_up_stored() {
  if (!give_up_cheap() && !give_up_reductions() && !give_up_read_once()) return false;
  std::size_t count = 0;
  for (std::size_t k = 0; k < stored().size(); ++k) {
    if (!at(stored()[k]).stored) set_aside(std::move(built_[k]));
    else if (count++ != k) built_[count - 1] = std::move(built_[k]);
  }
  built_.resize(count);
  forget_given_up();
  return true;
}

// What was stored since a kernel would have read it through several index maps, or by rolls that it does not read in parts, before what
// it reads it for was stored as well: where one kernel alone reads it now, through one map, and no more elements than it has, it is
// computed there.
bool planner::give_up_read_once() {
  const auto may_be_given_up = [&](node* n) {
    const entry& e = at(n);
    const bool may = e.why == store_reason::several_views ||
                     (e.why == store_reason::packed && !e.priced && n->kind == node_kind::map);
    return may && e.entered && !e.held && !e.given_up && is_computed(n) && !unfusible(*n);
  };
  std::vector<char> is_candidate;  // by entry::kernel
  for (std::size_t k = 0; k < stored().size(); ++k) {
    if (!may_be_given_up(stored()[k])) continue;
    is_candidate.resize(stored().size());
    is_candidate[k] = 1;
  }
  if (is_candidate.empty()) return false;
  std::vector<std::int32_t> reads(stored().size()), kernels(stored().size());
  for (std::size_t k = 0; k < stored().size(); ++k) {
    const kernel_plan& plan = *built_[k];
    const bool is_plain = plan.kind == plan_kind::elementwise || plan.kind == plan_kind::reduce;
    for (node* d : plan.dependencies) ++kernels[static_cast<std::size_t>(at(d).kernel)];
    for (const input_slot& s : plan.inputs) {
      if (s.source->is_leaf()) continue;
      const auto of = static_cast<std::size_t>(at(s.source).kernel);
      ++reads[of];
      if (!is_candidate[of]) continue;
      if (s.raw || !is_plain || core::element_count(plan.extents) > s.source->size()) is_candidate[of] = 0;
      if (at(s.source).why == store_reason::packed && builder_.wants_rolled(plan)) is_candidate[of] = 0;
    }
  }
  bool changed = false;
  for (std::size_t k = 0; k < stored().size(); ++k) {
    if (!is_candidate[k] || reads[k] != 1 || kernels[k] != 1) continue;
    entry& e = at(stored()[k]);
    e.stored = false;
    e.given_up = changed = true;
  }
  return changed;
}

// A reduction that was stored for a kernel over another space, before what is computed from it was stored as well, need not be
// if that is its only reader: then it is computed in the reduction's kernel.
bool planner::give_up_reductions() {
  const auto may_be_given_up = [&](node* r) {
    const entry& e = at(r);
    return r->kind == node_kind::reduce && e.entered && !e.held && !e.given_up &&
           (e.why == store_reason::reduction || e.why == store_reason::expensive);
  };
  constexpr std::int32_t none = -1, several = -2;
  std::vector<std::int32_t> reader;
  for (std::size_t k = 0; k < stored().size(); ++k) {
    if (!may_be_given_up(stored()[k])) continue;
    reader.resize(stored().size(), several);
    reader[k] = none;
  }
  if (reader.empty()) return false;
  for (std::size_t k = 0; k < stored().size(); ++k)
    for (node* d : built_[k]->dependencies)
      if (std::int32_t& by = reader[static_cast<std::size_t>(at(d).kernel)]; by != several)
        by = by == none ? static_cast<std::int32_t>(k) : several;
  bool changed = false;
  for (std::size_t k = 0; k < reader.size(); ++k) {
    if (reader[k] < 0) continue;
    node* const r = stored()[k];
    node* const n = stored()[static_cast<std::size_t>(reader[k])];
    if (built_[static_cast<std::size_t>(reader[k])]->kind != plan_kind::elementwise || !is_operation(n->kind)) continue;
    if (!(n->shape == r->shape) || unfusible(*n) || at(n).split) continue;
    at(r).stored = false;
    reductions_.clear();
    const bool found = find_reductions(n, reductions_, false);
    at(r).given_up = found && std::find(reductions_.begin(), reductions_.end(), r) != reductions_.end();
    at(r).stored = !at(r).given_up;
    changed = changed || at(r).given_up;
  }
  return changed;
}

namespace {

/// A plan object may have held a kernel before, when less was stored.
void without_code(kernel_plan& plan, plan_kind kind, node* n) {
  plan.kind = kind;
  plan.code.clear();
  plan.inputs.clear();
  plan.params.clear();
  plan.sources.clear();
  plan.dependencies.clear();
  plan.computed.clear();
  plan.extents.clear();
  plan.kept = 0;
  plan.reduces_last = plan.unset_base = false;
  plan.whole = {};
  plan.apart = -1;
  plan.results.assign(1, n);
}

void make_alias(kernel_plan& plan, node* n, node* base) {
  without_code(plan, plan_kind::alias, n);
  if (!base->is_leaf()) plan.dependencies.push_back(base);
}

}  // namespace

void planner::build_one(node* n) {
  std::size_t index = static_cast<std::size_t>(at(n).kernel);
  if (built_.size() < stored().size()) built_.resize(stored().size());
  std::unique_ptr<kernel_plan> plan = built_[index] ? std::move(built_[index]) : fresh_plan();
  plan->root = n;
  node_kind kind = n->kind;
  if (kind == node_kind::view) {
    node* base = n->args[0].get();
    bool dense = core::is_contiguous(n->shape, n->view().strides);
    if (dense && !is_stored(base) && base->size() == n->size() && base->kind != node_kind::scalar)
      materialise(base, store_reason::requested);
    if (dense && base->kind == node_kind::update) materialise(base, store_reason::write);  // in any case
    if (dense && is_stored(base) && at(n).why != store_reason::packed) {
      make_alias(*plan, n, base);
      built_[index] = std::move(plan);
      return;
    }
  }
  std::vector<node*>& reductions = reductions_;
  reductions.clear();
  if (kind == node_kind::reduce && !is_apart(n, at(n).read_over)) reductions.push_back(n);
  else if (is_operation(kind) && limits().fuse && !unfusible(*n) && !find_reductions(n, reductions, at(n).split))
    reductions.clear();
  if (reductions.empty() && kind == node_kind::call)
    if (node* r = finished_reduction(*n)) reductions.push_back(r);
  if (limits().fuse) store_awaited(n, reductions);
  if (!reductions.empty() && limits().fuse) add_siblings(reductions);

  bool done = false;
  while (!done) {
    if (n->size() == 0) {  // nothing to compute: an empty buffer
      without_code(*plan, plan_kind::elementwise, n);
      done = true;
    } else if (kind == node_kind::call && n->call().for_effects) {
      done = builder_.effect(*plan, n);
    } else if (kind == node_kind::update) {
      done = n->args[1]->size() == 0 || builder_.update(*plan, std::span(&n, 1));
      if (n->args[1]->size() == 0) {
        if (!is_stored(n->args[0].get())) materialise(n->args[0].get(), store_reason::write);
        make_alias(*plan, n, n->args[0].get());
      }
    } else if (!reductions.empty()) {
      done = build_reduction(*plan, n, reductions);
    } else {
      done = builder_.elementwise(*plan, std::span(&n, 1));
    }
  }
  built_[index] = std::move(plan);
}

/// With results apart along a short axis, where that saves computing the same for each of them.
bool planner::build_reduction(kernel_plan& plan, node* n, std::span<node* const> reductions) {
  if (const int apart = limits().fuse ? axis_to_take_apart(*this, *n, reductions) : -1; apart >= 0) {
    if (!builder_.reduction(plan, std::span(&n, 1), reductions, apart)) return false;
    if (saves_operations(plan)) return true;
    at(n).together = true;
  }
  return builder_.reduction(plan, std::span(&n, 1), reductions);
}

int planner::level_of(node* n) {
  std::size_t index = static_cast<std::size_t>(at(n).kernel);
  if (at(n).level >= 0) return at(n).level;
  int level = 0;
  for (node* d : built_[index]->dependencies) level = std::max(level, level_of(d) + 1);
  at(n).level = level;
  built_[index]->level = level;
  return level;
}

}  // namespace sinter::graph
