// The planner: finds the materialisation points, then joins independent kernels over one iteration space.
#include "graph/plan/planner.hpp"

#include <algorithm>
#include <utility>

#include "graph/plan/builder.hpp"
#include "graph/plan/stages.hpp"
#include "graph/values/limits.hpp"
#include "graph/values/regions.hpp"

namespace sinter::graph {
namespace {

bool same_reduction(const node* a, const node* b) {
  return a->reduce().axes == b->reduce().axes && a->args[0]->shape == b->args[0]->shape;
}

}  // namespace

std::unique_ptr<kernel_plan> planner::fresh_plan() {
  if (spare_.empty()) return std::make_unique<kernel_plan>();
  std::unique_ptr<kernel_plan> p = std::move(spare_.back());
  spare_.pop_back();
  p->kind = plan_kind::elementwise;
  p->root = nullptr;
  p->level = 0;
  p->reduces_last = p->unset_base = false;
  p->results.clear();
  p->code.clear();
  p->inputs.clear();
  p->params.clear();
  p->sources.clear();
  p->dependencies.clear();
  p->computed.clear();
  return p;
}

void planner::clear() {
  constexpr std::size_t most = 64;
  for (auto* list : {&built_, &kernels_}) {
    for (auto& p : *list)
      if (p && spare_.size() < most) spare_.push_back(std::move(p));
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
  if (!limits().fuse || !store_shared()) return;
  for (auto& k : kernels_) spare_.push_back(std::move(k));
  kernels_.clear();
  make_kernels();
}

void planner::make_kernels() {
  do {
    build_all();
    for (node* n : stored()) at(n).level = -1;
    for (node* n : stored()) level_of(n);
  } while (split_epilogues());
  group();
  join_stages(kernels_, runtime::get_backend(device()));
}

// Finds partial writes whose base need not be there, since they and the writes that follow replace all of it before
// anything reads it: the five-point step that writes the inner points and then the edges. From each last write down.
// What was recorded into the base before is not computed then, unless it may find an error.
void planner::find_unset() {
  const std::uint64_t mark = begin_search();
  for (node* last : pending()) {  // those that read a node come before it
    if (last->kind != node_kind::update || std::exchange(at(last).search, mark) == mark) continue;
    uncovered left(last->shape);
    for (node* n = last; n->kind == node_kind::update && !n->update().in_place; n = n->args[0].get()) {
      if (n != last && !at(n).alone) break;
      at(n).search = mark;
      box written;
      if (find_box(n->shape, region_of(*n), written)) left.remove(written);
      if (!left.empty()) continue;
      at(n).unset = n->args[1]->size() != 0 && !may_find_fault(n->args[0].get());
      break;
    }
  }
}

// Whether computing a pending value may find an error in data, which is reported although the elements are replaced.
bool planner::may_find_fault(node* n) {
  bool may = false;
  for_each_below(n, [&](const node* x) {
    const node_kind kind = x->kind;
    if (kind == node_kind::map)
      may = may || x->map().op == jit::opcode::checked_index ||
            (x->map().op == jit::opcode::power && is_integer(x->type));
    else may = may || kind == node_kind::gather || kind == node_kind::call || kind == node_kind::random;
  });
  return may;
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
  if (!n->over_reduction) return true;
  walk_ = begin_search();
  return search_reductions(n, out, split);
}

bool planner::search_reductions(node* n, std::vector<node*>& out, bool split) {
  for (int k = 0; k < n->operand_count(); ++k) {
    node* a = n->operand(k);
    if (a->is_leaf() || reads_raw(*n, k) || !(a->shape == n->shape)) continue;
    if (a->kind == node_kind::reduce) {
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
  if (kind == node_kind::reduce) reductions.push_back(n);
  else if (is_operation(kind) && limits().fuse && !unfusible(*n) && !find_reductions(n, reductions, at(n).split))
    reductions.clear();
  if (reductions.empty() && kind == node_kind::call)
    if (node* r = finished_reduction(*n)) reductions.push_back(r);
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
      done = builder_.reduction(*plan, std::span(&n, 1), reductions);
    } else {
      done = builder_.elementwise(*plan, std::span(&n, 1));
    }
  }
  built_[index] = std::move(plan);
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

// Whether a partial write that follows another one directly can be done by the same kernel, each element of both by one
// thread: the regions are disjoint, and nothing is read of the memory that either writes.
bool planner::may_join_writes(const kernel_plan& first, const kernel_plan& then) {
  constexpr std::int64_t small = 1 << 16;  // below, a launch costs more than the work
  node* const n = then.results[0];
  if (n->args[0].get() != first.results.back() || !at(first.results.back()).alone || n->update().in_place) return false;
  if (first.results[0]->update().in_place || !first.code.calls.empty() || !then.code.calls.empty()) return false;
  if (core::element_count(then.extents) > small) return false;
  const node* const base = first.results[0]->args[0].get();
  const auto reads_base = [&](const kernel_plan& k) {
    return std::any_of(k.inputs.begin(), k.inputs.end(), [&](const input_slot& s) { return s.source == base; });
  };
  if (reads_base(first) || reads_base(then)) return false;
  return std::all_of(first.results.begin(), first.results.end(),
                     [&](const node* w) { return are_disjoint(n->shape, region_of(*w), region_of(*n)); });
}

namespace {

/// Whether two kernels over one space are better launched as one.
bool may_join(const kernel_plan& a, const kernel_plan& b, bool share) {
  if (a.kind != b.kind) return false;
  if (a.kind != plan_kind::elementwise && a.kind != plan_kind::reduce && a.kind != plan_kind::update) return false;
  if ((unfusible(*a.results[0]) || unfusible(*b.results[0])) && !same_call(*a.results[0], *b.results[0])) return false;
  if (a.code.code.empty() || b.code.code.empty() || a.code.flags.fast_math != b.code.flags.fast_math) return false;
  if (a.kept != b.kept || !(a.extents == b.extents) || a.reduces_last != b.reduces_last) return false;
  if (a.results.size() + b.results.size() > static_cast<std::size_t>(limits().outputs)) return false;
  if (share) return true;  // a trial shows how large the joined kernel is
  if (a.code.code.size() + b.code.code.size() > static_cast<std::size_t>(limits().instructions)) return false;
  if (a.inputs.size() + b.inputs.size() > static_cast<std::size_t>(limits().inputs)) return false;
  if (a.kind == plan_kind::update) return true;  // may_run_with has the conditions
  if (a.kind == plan_kind::reduce) {
    const node* ra = a.results[0];
    const node* rb = b.results[0];
    for (const input_slot& s : a.inputs)
      for (const input_slot& t : b.inputs)
        if (s.source == t.source && s.at.offset == t.at.offset && s.at.coefficients == t.at.coefficients) return true;
    if (const node* r = finished_reduction(*ra); r && r == finished_reduction(*rb)) return true;
    return ra->kind == node_kind::reduce && rb->kind == node_kind::reduce && ra->args[0] == rb->args[0];
  }
  if (core::element_count(a.extents) <= (1 << 16)) return true;  // a launch costs more than the work
  for (const input_slot& s : a.inputs)
    for (const input_slot& t : b.inputs)
      if (s.source == t.source) return true;
  return false;
}

/// A fault in a kernel's data marks everything that the kernel writes, so a kernel that may fail is joined only with
/// one that depends on the same checked operations. They are the same if the joined kernel has no more of them than
/// either.
bool fail_alike(const kernel_plan& joined, const kernel_plan& a, const kernel_plan& b) {
  const int all = fault_count(joined.code);
  return all == 0 || (fault_count(a.code) == all && fault_count(b.code) == all);
}

}  // namespace

/// Whether two kernels compute an operation that neither of them stores.
bool planner::share_operations(const kernel_plan& a, const kernel_plan& b) {
  if (a.computed.empty() || b.computed.empty()) return false;
  const std::uint64_t mark = begin_search();
  for (node* n : a.computed) at(n).search = mark;
  return std::any_of(b.computed.begin(), b.computed.end(), [&](node* n) { return at(n).search == mark; });
}

/// Whether a kernel may be part of another one although it is of a later level: what it depends on besides the results of
/// that kernel is there before both.
bool planner::may_run_with(const kernel_plan& later, const kernel_plan& k) {
  if (later.kind == plan_kind::update) {
    if (k.kind != plan_kind::update || !may_join_writes(k, later)) return false;
  } else if (later.level == k.level) {
    return true;
  } else if (later.kind != plan_kind::elementwise) {
    return false;
  }
  return std::all_of(later.dependencies.begin(), later.dependencies.end(), [&](node* d) {
    return at(d).level < k.level || std::find(k.results.begin(), k.results.end(), d) != k.results.end();
  });
}

void planner::group() {
  if (built_.size() == 1) {
    kernels_.push_back(std::move(built_[0]));
    return;
  }
  std::vector<kernel_plan*> order;
  for (auto& k : built_) order.push_back(k.get());
  std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->level < b->level; });
  std::vector<bool> taken(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (taken[i]) continue;
    std::vector<node*> results(order[i]->results);
    kernel_plan* best = order[i];
    std::unique_ptr<kernel_plan> joined;
    for (std::size_t j = i + 1; limits().fuse && j < order.size(); ++j) {
      ++planning().compared;
      if (taken[j] || !may_run_with(*order[j], *best)) continue;
      if (!may_join(*best, *order[j], share_operations(*best, *order[j]))) continue;
      std::vector<node*> wider(results);
      wider.push_back(order[j]->results[0]);
      auto trial = fresh_plan();
      std::size_t before = stored().size();
      bool ok;
      if (best->kind == plan_kind::reduce) {
        std::vector<node*> reductions;
        bool found = true;
        for (node* n : wider) {
          if (n->kind != node_kind::reduce) found = found && find_reductions(n, reductions, at(n).split);
          else if (std::find(reductions.begin(), reductions.end(), n) == reductions.end()) reductions.push_back(n);
        }
        for (node* r : reductions) found = found && same_reduction(reductions[0], r);
        ok = found && builder_.reduction(*trial, wider, reductions);
      } else if (best->kind == plan_kind::update) {
        ok = builder_.update(*trial, wider);
      } else {
        ok = builder_.elementwise(*trial, wider);
      }
      if (stored().size() != before) {  // joining would materialise more: the plans stay separate
        store_no_more_than(before);
        continue;
      }
      if (!ok || !fail_alike(*trial, *best, *order[j])) continue;
      if (trial->dependencies.size() > best->dependencies.size() + order[j]->dependencies.size()) continue;
      trial->level = best->level;
      joined = std::move(trial);
      best = joined.get();
      results = wider;
      taken[j] = true;
    }
    if (!joined) joined = std::move(built_[static_cast<std::size_t>(at(order[i]->root).kernel)]);
    // `order` keeps pointing at plans that were not moved from: those of failed joins stay in built_.
    kernels_.push_back(std::move(joined));
  }
}

}  // namespace sinter::graph
