// Joins kernels over one iteration space, as far as memory allows, and puts kernels in order.
#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>

#include "graph/plan/planner.hpp"
#include "graph/values/limits.hpp"

namespace sinter::graph {
namespace {

/// Whether two kernels over one space are better launched as one.
bool may_join(const kernel_plan& a, const kernel_plan& b, bool share) {
  if (a.kind != b.kind) return false;
  if (a.kind != plan_kind::elementwise && a.kind != plan_kind::reduce && a.kind != plan_kind::update) return false;
  if ((unfusible(*a.results[0]) || unfusible(*b.results[0])) && !same_call(*a.results[0], *b.results[0])) return false;
  if (a.code.code.empty() || b.code.code.empty() || a.code.flags.fast_math != b.code.flags.fast_math) return false;
  if (a.kept != b.kept || a.apart != b.apart || !(a.extents == b.extents) || a.reduces_last != b.reduces_last ||
      !(a.whole == b.whole))
    return false;
  const int most = a.kind == plan_kind::update ? std::max(limits().parts, limits().update_chain + 1) : limits().outputs;
  if (a.code.outputs.size() + b.code.outputs.size() > static_cast<std::size_t>(most)) return false;
  if (a.apart >= 0 && !(a.results[0]->shape == b.results[0]->shape)) return false;
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
  return core::element_count(a.extents) <= small_space || share_inputs(a, b);
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
  if (later.level < k.level) return false;
  if (later.kind == plan_kind::update) {
    if (k.kind != plan_kind::update || !may_join_writes(k, later)) return false;
  } else if (later.level == k.level) {
    return true;
  } else if (later.kind != plan_kind::elementwise) {
    return false;
  }
  return reads_only(later, k);
}

/// Whether what a kernel reads is there before another one, but what that stores.
bool planner::reads_only(const kernel_plan& later, const kernel_plan& k) {
  return std::all_of(later.dependencies.begin(), later.dependencies.end(), [&](node* d) {
    return at(d).level < k.level || std::find(k.results.begin(), k.results.end(), d) != k.results.end();
  });
}

/// Builds two kernels as one; null where that would store more, or is not possible.
std::unique_ptr<kernel_plan> planner::try_join(const kernel_plan& k, const kernel_plan& later) {
  std::vector<node*> wider(k.results);
  wider.insert(wider.end(), later.results.begin(), later.results.end());
  auto trial = fresh_plan();
  const std::size_t before = stored().size();
  bool ok;
  if (k.kind == plan_kind::reduce) {
    std::vector<node*> reductions;
    bool found = true;
    for (node* n : wider) {
      if (n->kind != node_kind::reduce) found = found && find_reductions(n, reductions, at(n).split);
      else if (std::find(reductions.begin(), reductions.end(), n) == reductions.end()) reductions.push_back(n);
    }
    for (node* r : reductions) found = found && same_reduction(reductions[0], r);
    ok = found && builder_.reduction(*trial, wider, reductions, k.apart);
  } else if (k.kind == plan_kind::update) {
    ok = builder_.update(*trial, wider);
  } else {
    ok = builder_.elementwise(*trial, wider);
  }
  const bool stores_more = stored().size() != before;
  if (stores_more) store_no_more_than(before);
  if (stores_more || !ok || !fail_alike(*trial, k, later) ||
      trial->dependencies.size() > k.dependencies.size() + later.dependencies.size()) {
    set_aside(std::move(trial));
    return nullptr;
  }
  trial->root = k.root;
  trial->level = k.level;
  return trial;
}

namespace {

/// The bytes that results occupy while each kernel runs, the kernels being in the order of recording.
class memory_load {
 public:
  memory_load(planner& plan, const std::vector<kernel_plan*>& kernels)
      : plan_(plan), bytes_(kernels.size() + 1), uses_(plan.stored().size()) {
    for (std::size_t p = 0; p < kernels.size(); ++p) {
      const kernel_plan& k = *kernels[p];
      for (node* n : k.results)
        if (!n->is_leaf()) of(n).made_at(p, plan.at(n).held ? kernels.size() : p);
      for (node* d : k.dependencies) of(d).read(p, overwrites(k, d));
    }
    // What shows another value's memory, or is written into it, keeps that.
    for (std::size_t p = kernels.size(); p-- > 0;) {
      const kernel_plan& k = *kernels[p];
      const bool shows = k.kind == plan_kind::alias, writes = k.kind == plan_kind::update;
      node* const base = shows ? k.results[0]->args[0].get() : writes ? base_of(k) : nullptr;
      const bool shares = base && (base->is_leaf() || shows || of(base).last == p);
      if (shares && !base->is_leaf()) of(base).read(of(k.results[0]).last, false);
      for (node* n : k.results)
        if (!n->is_leaf() && !shares) add(p, of(n).last + (of(n).overwritten ? 0 : 1), n->bytes());
    }
    for (std::size_t p = 1; p < bytes_.size(); ++p) bytes_[p] += bytes_[p - 1];
    for (const kernel_plan* k : kernels)
      for (const node* n : k->results) largest_ = std::max(largest_, n->bytes());
  }

  std::size_t peak() const { return *std::max_element(bytes_.begin(), bytes_.end()); }
  std::size_t largest() const noexcept { return largest_; }

  /// Computes what kernel `later` stores by an earlier kernel already, which is at `at`, or after the last one that makes what
  /// `k` reads: then that is its place from now on, unless something reads its results before. False, and nothing, where that would
  /// need more than `most`, or where `later` comes before that place: kernels are in the order of their roots, and what is joined may
  /// make more than its root.
  bool advance(const kernel_plan& earlier, const kernel_plan& k, std::size_t later, std::size_t& at, std::size_t most) {
    std::size_t place = at;
    for (node* d : k.dependencies) place = std::max(place, of(d).made);
    if (place >= later) return false;
    for (node* n : earlier.results)
      if (!n->is_leaf() && place > at && of(n).first <= place) return false;
    std::size_t kept = 0;  // by waiting for that place
    for (node* d : earlier.dependencies)
      if (place > at && of(d).last == at) kept += d->bytes();
    std::size_t stored = 0, freed = 0, overwritten = 0;
    if (k.kind != plan_kind::update)  // which is joined to one that writes the same memory
      for (const node* n : k.results) stored += n->bytes();
    for (node* d : k.dependencies)
      if (of(d).last == later && of(d).before <= place) (of(d).overwritten ? overwritten : freed) += d->bytes();
    const auto old = bytes_.begin() + static_cast<std::ptrdiff_t>(at),
               here = bytes_.begin() + static_cast<std::ptrdiff_t>(place),
               end = bytes_.begin() + static_cast<std::ptrdiff_t>(later);
    const std::size_t waiting = old == here ? 0 : *std::max_element(old + 1, here + 1);
    const std::size_t between = here + 1 == end ? 0 : *std::max_element(here + 1, end);
    if (waiting + kept > most || *here + kept + stored > most + overwritten ||
        between + stored > most + overwritten + freed)
      return false;
    if (old != here) std::for_each(old + 1, here + 1, [&](std::size_t& b) { b += kept; });
    *here += stored - overwritten;
    std::for_each(here + 1, end, [&](std::size_t& b) { b += stored - overwritten - freed; });
    for (node* d : earlier.dependencies)
      if (of(d).last == at) of(d).last = place;
    for (node* d : k.dependencies)
      if (of(d).last == later) of(d).last = std::max(of(d).before, place);
    for (const kernel_plan* both : {&earlier, &k})
      for (node* n : both->results)
        if (!n->is_leaf()) of(n).made = place;
    at = place;
    return true;
  }

 private:
  struct use {
    std::size_t made = 0, first = ~std::size_t{0};  // the kernels that make it and read it first
    std::size_t last = 0, before = 0;               // the last ones that read it
    bool overwritten = false;                       // the last one may write a result over it
    void made_at(std::size_t p, std::size_t until) {
      made = p;
      last = before = until;
    }
    void read(std::size_t p, bool over) {
      first = std::min(first, p);
      if (p > last) {
        before = std::exchange(last, p);
        overwritten = over;
      }
    }
  };
  use& of(node* n) { return uses_[static_cast<std::size_t>(plan_.at(n).kernel)]; }
  static bool overwrites(const kernel_plan& k, const node* d) {
    if (k.kind != plan_kind::elementwise || d->type != k.results[0]->type) return false;
    return std::all_of(k.inputs.begin(), k.inputs.end(),
                       [&](const input_slot& s) { return s.source != d || reads_in_place(k, s); });
  }
  /// While the sums are not made: differences, modulo 2^64.
  void add(std::size_t from, std::size_t to, std::size_t bytes) {
    bytes_[from] += bytes;
    if (to < bytes_.size()) bytes_[to] -= bytes;
  }

  planner& plan_;
  std::vector<std::size_t> bytes_;
  std::vector<use> uses_;  // by entry::kernel
  std::size_t largest_ = 0;
};

}  // namespace

namespace {

/// Whether an elementwise kernel goes over the rows of a reduction, or over all of their elements.
bool is_over_rows_of(const kernel_plan& k, const kernel_plan& reduction) {
  if (k.extents == reduction.extents) return true;
  if (k.extents.size() < reduction.kept) return false;
  for (int a = 0; a < k.extents.size(); ++a)
    if (k.extents[a] != (a < reduction.kept ? reduction.extents[a] : 1)) return false;
  return true;
}

/// For each kernel whether it may become part of the kernel of a reduction whose result it reads for the same rows (join_stages), itself or
/// by another such kernel. One kernel with the same of other rows would not.
std::vector<bool> followers_of_rows(const std::vector<kernel_plan*>& order) {
  std::unordered_map<const node*, const kernel_plan*> rows;  // by what is read: the reduction that it follows from
  std::vector<bool> follows(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const kernel_plan& k = *order[i];
    if (k.kind == plan_kind::reduce && k.reduces_last)
      for (const node* n : k.results) rows[n] = &k;
    if (k.kind != plan_kind::elementwise) continue;
    for (const node* d : k.dependencies) {
      const auto of = rows.find(d);
      if (of == rows.end() || !is_over_rows_of(k, *of->second)) continue;
      follows[i] = true;
      for (const node* n : k.results) rows.emplace(n, of->second);
    }
  }
  return follows;
}

}  // namespace

/// Joins kernels over one space, as long as that needs no more memory, and leaves them in the order in which their first
/// results were recorded, as far as they do not wait for each other. In the program's order no more is alive than the
/// program has variables. Kernels that compute the same come first: what crosses a cut is one kernel then, not a part of
/// the one before the cut.
void planner::group() {
  if (built_.size() == 1) {
    kernels_.push_back(std::move(built_[0]));
    return;
  }
  number_values();
  std::size_t most = 0;
  if (limits().fuse)
    for (const bool sharing : {true, false}) join_alike(sharing, most);
  if (limits().fuse) join_epilogues(most);
  if (sort_kernels() && !in_circle()) return;
  // Kernels are of higher levels than those that they read, which joining keeps, and a write waits for readers of its own level or below:
  // they wait in no circle. If they did, none would be joined.
  for (auto* list : {&built_, &kernels_}) {
    for (auto& k : *list)
      if (k) set_aside(std::move(k));
    list->clear();
  }
  build_all();
  for (node* n : stored()) at(n).level = -1;
  for (node* n : stored()) level_of(n);
  sort_kernels();
}

namespace {

/// Whether a kernel's results are those of all elements: no part of a larger reduction.
bool reduces_whole(const kernel_plan& k) noexcept {
  const payload::whole_reduction all =
      k.apart < 0 ? payload::whole_reduction() : payload::whole_reduction{.results = k.results[0]->size()};
  return k.whole == all;
}

}  // namespace

/// An operation over a reduction's results that reads what the reduction's kernel stores, as the next one of several variables
/// that follow from one gradient does, is computed there.
void planner::join_epilogues(std::size_t most) {
  std::vector<kernel_plan*> order;
  std::unordered_map<const node*, std::size_t> reduced;  // what kernels that reduce store: their position
  for (auto& k : built_)
    if (k) order.push_back(k.get());
  std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) { return at(a->root).when < at(b->root).when; });
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i]->kind == plan_kind::reduce && reduces_whole(*order[i]))
      for (node* n : order[i]->results) reduced[n] = i;
  if (reduced.empty()) return;
  memory_load load(*this, order);
  std::vector<std::size_t> place(order.size());
  std::iota(place.begin(), place.end(), std::size_t{0});
  const auto most_outputs = static_cast<std::size_t>(limits().outputs);
  for (std::size_t j = 0; j < order.size(); ++j) {
    const kernel_plan& later = *order[j];
    if (later.kind != plan_kind::elementwise || later.code.code.empty() || unfusible(*later.results[0])) continue;
    // A short sum is an elementwise kernel, too; here it would be taken for a sum of the other kernel's elements.
    const auto is_reduction = [](const node* n) { return n->kind == node_kind::reduce; };
    if (std::any_of(later.results.begin(), later.results.end(), is_reduction)) continue;
    node* last = nullptr;  // of what it reads
    for (node* d : later.dependencies)
      if (!last || at(d).level > at(last).level) last = d;
    const auto found = last ? reduced.find(last) : reduced.end();
    if (found == reduced.end()) continue;
    const std::size_t i = found->second;
    std::unique_ptr<kernel_plan>& own = built_[static_cast<std::size_t>(at(order[i]->root).kernel)];
    const dims of_results = own->apart < 0 ? dims(own->extents.data(), own->kept) : own->results[0]->shape;
    const auto outputs = static_cast<std::size_t>(outputs_of(*own)) * (own->results.size() + later.results.size());
    if (!(later.extents == of_results) || unfusible(*own->results[0]) ||
        own->code.flags.fast_math != later.code.flags.fast_math || outputs > most_outputs || !reads_only(later, *own))
      continue;
    std::unique_ptr<kernel_plan> joined = try_join(*own, later);
    if (!joined || !load.advance(*own, later, j, place[i], most)) continue;
    for (node* n : later.results) {
      at(n).level = own->level;
      reduced[n] = i;
    }
    own.swap(joined);
    order[i] = own.get();
    set_aside(std::move(joined));
    set_aside(std::move(built_[static_cast<std::size_t>(at(later.root).kernel)]));
  }
}

/// `most`: the bytes that results may occupy; 0: not known yet.
void planner::join_alike(bool sharing, std::size_t& most) {
  constexpr std::size_t window = 256;  // kernels after one with which it may be joined
  constexpr int tries = 16;            // how often joining it may fail
  std::vector<kernel_plan*> order;
  for (auto& k : built_)
    if (k) order.push_back(k.get());
  std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) { return at(a->root).when < at(b->root).when; });
  memory_load load(*this, order);
  if (most == 0) most = load.peak() + load.largest();
  const std::vector<std::size_t> next = next_alike(order);
  std::vector<bool> taken(order.size()), follows = followers_of_rows(order);
  const auto owner_of = [&](const kernel_plan& k) -> std::unique_ptr<kernel_plan>& {
    return built_[static_cast<std::size_t>(at(k.root).kernel)];
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (taken[i]) continue;
    std::unique_ptr<kernel_plan>& own = owner_of(*order[i]);
    int failed = 0;
    std::size_t place = i;  // in the order, from which joined kernels move it
    for (std::size_t j = next[i]; j < order.size() && j - i < window && failed < tries; j = next[j]) {
      if (taken[j]) continue;
      ++planning().compared;
      if (!may_run_with(*order[j], *own)) continue;
      const bool share = share_operations(*own, *order[j]);
      if ((sharing && !share) || !may_join(*own, *order[j], share)) continue;
      if (!share && (follows[i] || follows[j]) && !share_inputs(*own, *order[j])) continue;
      std::unique_ptr<kernel_plan> joined = try_join(*own, *order[j]);
      if (!joined || !load.advance(*own, *order[j], j, place, most)) {
        ++failed;
        continue;
      }
      for (node* n : order[j]->results) at(n).level = own->level;
      own.swap(joined);
      set_aside(std::move(joined));
      set_aside(std::move(owner_of(*order[j])));
      taken[j] = true;
      follows[i] = follows[i] || follows[j];
    }
  }
}

/// Moves the kernels to kernels_, each after those whose results it reads: always the one next whose first result was
/// recorded first. False, and some remain, where kernels wait for each other.
bool planner::sort_kernels() {
  constexpr std::int32_t none = -1;
  const std::size_t count = built_.size();
  std::vector<std::int32_t> kernel_of(count, none), waits(count, 0);  // by entry::kernel
  const auto index = [&](node* n) { return static_cast<std::size_t>(at(n).kernel); };
  for (std::size_t k = 0; k < count; ++k)
    if (built_[k])
      for (node* n : built_[k]->results)
        if (!n->is_leaf()) kernel_of[index(n)] = static_cast<std::int32_t>(k);
  std::vector<std::vector<std::size_t>> readers(count);
  using ready_kernel = std::pair<std::uint64_t, std::size_t>;
  std::priority_queue<ready_kernel, std::vector<ready_kernel>, std::greater<>> ready;
  const auto push_if_ready = [&](std::size_t k) {
    if (waits[k] == 0) ready.emplace(at(built_[k]->root).when, k);
  };
  for (std::size_t k = 0; k < count; ++k) {
    if (!built_[k]) continue;
    for (node* d : built_[k]->dependencies) {
      readers[static_cast<std::size_t>(kernel_of[index(d)])].push_back(k);
      ++waits[k];
    }
  }
  // What reads a version that is written over comes first, so that nothing is copied.
  std::unordered_map<const node*, std::size_t> writer;
  for (std::size_t k = 0; k < count; ++k)
    if (built_[k] && built_[k]->kind == plan_kind::update) writer[built_[k]->results[0]->args[0].get()] = k;
  for (std::size_t k = 0; !writer.empty() && k < count; ++k) {
    if (!built_[k] || built_[k]->kind == plan_kind::update) continue;
    for (const input_slot& s : built_[k]->inputs) {
      const auto over = writer.find(s.source);
      if (over == writer.end() || built_[k]->level > built_[over->second]->level) continue;
      readers[k].push_back(over->second);
      ++waits[over->second];
    }
  }
  for (std::size_t k = 0; k < count; ++k)
    if (built_[k]) push_if_ready(k);
  while (!ready.empty()) {
    const std::size_t k = ready.top().second;
    ready.pop();
    kernels_.push_back(std::move(built_[k]));
    for (const std::size_t r : readers[k])
      if (--waits[r] == 0) push_if_ready(r);
  }
  return std::none_of(built_.begin(), built_.end(), [](const auto& k) { return k != nullptr; });
}

}  // namespace sinter::graph
