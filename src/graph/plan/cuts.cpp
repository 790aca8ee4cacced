// Where a graph that is too large for one kernel is cut, and which values are stored since others will need them.
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/plan/planner.hpp"
#include "graph/values/limits.hpp"
#include "jit/program/rewrite/repetition.hpp"

namespace sinter::graph {
namespace {

/// The cost of a cut where there can be none.
constexpr double impossible = 1e30;

/// What a view shows; views cost nothing, so a cut passes through them to what they are views of.
node* behind_views(node* n) {
  while (n->kind.load(std::memory_order_relaxed) == node_kind::view) n = n->args[0].get();
  return n;
}

bool can_be_stored(const node* n) {
  const node_kind kind = n->kind.load(std::memory_order_relaxed);
  return (is_operation(kind) || kind == node_kind::gather || kind == node_kind::reduce) && !n->opaque;
}

/// A conversion of what is in memory is not worth storing.
bool is_free(const node* n) {
  const node_kind kind = n->kind.load(std::memory_order_relaxed);
  if (kind == node_kind::scalar || kind == node_kind::iota || kind == node_kind::view) return true;
  if (kind != node_kind::map || own_weight(n) != 0) return false;
  return std::all_of(n->args, n->args + n->nargs, [](const value& a) { return behind_views(a.get())->is_leaf(); });
}

}  // namespace

bool planner::is_expensive_again(node* n) {
  const std::uint64_t mark = begin_search();
  return costs_more_again(
      n, [&](node* x) { return at(x).stored; }, [&](node* x) { return std::exchange(at(x).search, mark) != mark; });
}

/// Stores the variables of the program that are computed on the way, where computing them again is expensive. Whether a
/// handle will be read again cannot be known, and temporary ones live as long as their statement: those of names that
/// are assigned again and again are likely to.
void planner::store_held() {
  for (node* n : pending()) {
    if (!at(n).assigned || !is_computed(n) || n->opaque || at(n).stored) continue;
    if (!at(n).held || unfusible(*n)) continue;
    if (is_expensive_again(n) && worth_storing(n)) materialise(n, store_reason::held);
  }
}

namespace {

/// How much of a kernel a run of nodes fills, in the order of recording.
class filling {
 public:
  explicit filling(planner& p) : plan_(p) { clear(); }
  void clear() {
    operations_ = inputs_ = 0;
    mark_ = plan_.begin_search();
  }
  void add(node* n) {
    if (!is_free(n)) operations_ += n->kind.load(std::memory_order_relaxed) == node_kind::gather ? 2 : 1;
    for (int a = 0; a < n->operand_count(); ++a) {
      node* const x = behind_views(n->operand(a));
      if (plan_.is_stored(x) && std::exchange(plan_.at(x).search, mark_) != mark_) ++inputs_;
    }
  }
  /// What the kernel builder adds (parameters, addresses) needs room as well.
  bool is_full() const noexcept {
    return operations_ > limits().instructions * 2 / 3 || inputs_ > limits().inputs * 3 / 4;
  }

 private:
  planner& plan_;
  int operations_, inputs_;
  std::uint64_t mark_;
};

std::uint64_t hash_of(std::uint64_t h, std::uint64_t x) noexcept { return (h ^ x) * 0x9e3779b97f4a7c15ull; }

std::uint64_t hash_of_view(std::uint64_t h, const payload::view& v) noexcept {
  h = hash_of(h, static_cast<std::uint64_t>(v.offset));
  for (const std::int64_t stride : v.strides) h = hash_of(h, static_cast<std::uint64_t>(stride));
  return h;
}

/// Whether a view shows what every step may load: each step records a view of its own.
bool shows_memory(planner& plan, node* view) {
  node* const base = behind_views(view);
  return base->is_leaf() || plan.at(base).stored;
}

/// The nodes as a list in which repeated steps can be found: operations, constants and views of memory over one space.
std::vector<jit::listed_operation> listed(planner& plan) {
  const std::vector<node*>& nodes = plan.pending();
  std::vector<jit::listed_operation> list(nodes.size());
  std::unordered_map<const node*, std::int32_t> number;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    node* const n = nodes[k];
    const node_kind kind = n->kind.load(std::memory_order_relaxed);
    jit::listed_operation& o = list[k];
    o.what = hash_of(static_cast<std::uint64_t>(kind), static_cast<std::uint64_t>(n->type));
    for (const std::int64_t extent : n->shape) o.what = hash_of(o.what, static_cast<std::uint64_t>(extent));
    if (kind == node_kind::scalar) {
      o.what = hash_of(o.what, static_cast<std::uint64_t>(plan.at(n).scalar));
    } else if ((kind == node_kind::map && !plan.at(n).stored) || (kind == node_kind::view && shows_memory(plan, n))) {
      if (kind == node_kind::map)
        o.what = hash_of(hash_of(o.what, static_cast<std::uint64_t>(n->map().op)),
                         static_cast<std::uint64_t>(n->args[0]->type));
      else o.what = hash_of_view(o.what, n->view());
      for (int a = 0; a < n->nargs; ++a) {
        const auto known = number.try_emplace(n->args[a].get(), -2 - static_cast<std::int32_t>(number.size())).first;
        o.operands[a] = known->second;
      }
    } else {
      o.what = hash_of(hash_of(o.what, ~0ull), k);  // like no other
    }
    number[n] = static_cast<std::int32_t>(k);
  }
  return list;
}

/// live[p]: the bytes that a cut after the node at position p would store. Fills entry::last_use.
std::vector<double> bytes_alive(planner& plan) {
  const std::vector<node*>& nodes = plan.pending();
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (nodes[k]->kind.load(std::memory_order_relaxed) == node_kind::view) continue;
    for (int a = 0; a < nodes[k]->operand_count(); ++a)
      plan.at(behind_views(nodes[k]->operand(a))).last_use = static_cast<std::int32_t>(k);
  }
  std::vector<double> live(nodes.size() + 1, 0.0);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const planner::entry& e = plan.at(nodes[k]);
    if (e.stored || e.last_use < 0 || is_free(nodes[k])) continue;
    const double bytes = can_be_stored(nodes[k]) ? static_cast<double>(nodes[k]->bytes()) : impossible;
    live[k] += bytes;
    live[static_cast<std::size_t>(e.last_use)] -= bytes;
  }
  for (std::size_t k = 1; k < live.size(); ++k) live[k] += live[k - 1];
  return live;
}

/// The position with the fewest bytes alive in the later half of [first, end).
std::size_t best_cut(const std::vector<double>& live, std::size_t first, std::size_t end) {
  std::size_t best = end - 1;
  for (std::size_t p = end - 1; p-- > first + (end - first) / 2;)
    if (live[p] < live[best]) best = p;
  return best;
}

}  // namespace

/// Cuts a graph of more operations or inputs than a kernel may have where the values that are needed on the other side
/// have the fewest bytes, in the order of recording; these values are stored, all of a cut together. The order of
/// recording is the program's, in which as many values are alive at a point as the program has variables.
void planner::cut() {
  const std::vector<node*>& nodes = pending();
  if (static_cast<int>(nodes.size()) * 2 <= std::min(limits().instructions, limits().inputs)) return;
  filling kernel(*this);
  for (node* n : nodes) kernel.add(n);
  if (!kernel.is_full()) return;
  sort_pending();
  // Steps that repeat become a loop (jit/program/rewrite/roll.hpp): only two of them count, or one where two fill a kernel, and
  // they are not cut. Steps of which one fills a kernel are no loop: each is cut where it is narrowest.
  jit::repetition steps = jit::find_repetition(listed(*this)).value_or(jit::repetition());
  const auto fills = [&](std::size_t count) {
    kernel.clear();
    for (std::size_t k = steps.first; k < steps.first + count * steps.period; ++k) kernel.add(nodes[k]);
    return kernel.is_full();
  };
  if (steps.count > 0 && fills(1)) steps = {};
  const std::size_t counted = steps.count > 0 && fills(2) ? 1 : 2;
  const auto is_in_loop = [&](std::size_t k) {
    return steps.count > 0 && k >= steps.first + counted * steps.period && k < steps.end();
  };
  std::vector<double> live = bytes_alive(*this);
  for (std::size_t k = steps.first; k + 1 < steps.end(); ++k) live[k] += impossible;
  kernel.clear();
  for (std::size_t first = 0, k = 0; k < nodes.size(); ++k) {
    if (!is_in_loop(k)) kernel.add(nodes[k]);
    if (!kernel.is_full() || k == first) continue;
    const bool before_loop = steps.contains(k) && first < steps.first;
    const std::size_t last = before_loop ? steps.first - 1 : best_cut(live, first, k);
    for (std::size_t j = first; j <= last; ++j)
      if (at(nodes[j]).last_use > static_cast<std::int32_t>(last) && !is_free(nodes[j]) && can_be_stored(nodes[j]))
        materialise(nodes[j], store_reason::crossing);
    kernel.clear();
    for (std::size_t j = last + 1; j <= k; ++j)
      if (!is_in_loop(j)) kernel.add(nodes[j]);
    first = last + 1;
  }
}

namespace {

/// Kernels, sorted by their numbers. More than `most` count as that many: storing pays long before.
class kernel_set {
 public:
  void add(std::int32_t kernel) {
    constexpr std::size_t most = 64;
    const auto at = std::lower_bound(all_.begin(), all_.end(), kernel);
    if ((at == all_.end() || *at != kernel) && all_.size() < most) all_.insert(at, kernel);
  }
  void add(const kernel_set& more) {
    for (const std::int32_t kernel : more.all_) add(kernel);
  }
  void assign(std::int32_t kernel) { all_.assign(1, kernel); }
  std::size_t size() const noexcept { return all_.size(); }
  std::int32_t first() const { return all_.front(); }
  template <class F>
  bool any(F f) const {
    return std::any_of(all_.begin(), all_.end(), f);
  }
  /// How many have a number below `end`.
  std::size_t below(std::int32_t end) const {
    return static_cast<std::size_t>(std::lower_bound(all_.begin(), all_.end(), end) - all_.begin());
  }

 private:
  std::vector<std::int32_t> all_;
};

}  // namespace

/// Whether it is cheaper to store an operation's result than to compute it in so many kernels, from operands in memory or
/// (`whole`) from what is stored so far. `launch`: what one more for the first of them costs. `near`: that memory may be near counts.
bool planner::is_better_stored(node* n, std::size_t kernels, bool whole, bool near, double launch) {
  const double byte = price_on(n->device).byte;
  const double times = static_cast<double>(kernels);
  const double moved = near ? price_of_moving(n->device, n->bytes()) : byte * static_cast<double>(n->bytes());
  const double bound = ((1 + times) * moved + launch) / (times - 1);
  if (whole) {
    constexpr double margin = 1.5;  // what a kernel loads anyway is counted as well
    const std::uint64_t mark = begin_search();
    return costs_more(
        n, margin * bound, [&](node* x) { return at(x).stored; },
        [&](node* x) { return std::exchange(at(x).search, mark) != mark; }, false, near);
  }
  double operands = 0;
  for (int a = 0; a < n->operand_count(); ++a) {
    const node* const x = behind_views(n->operand(a));
    if (x->kind.load(std::memory_order_relaxed) != node_kind::scalar)
      operands += static_cast<double>(std::min(n->operand(a)->bytes(), x->bytes()));
  }
  return own_weight(n) * static_cast<double>(n->size()) + byte * operands > bound;
}

namespace {

/// Whether a kernel that reduces may store a value that it computes from the reductions.
bool is_beside(const node* n, const kernel_plan& k) {
  return k.kind == plan_kind::reduce && k.apart < 0 && n->over_reduction() && n->shape == k.results[0]->shape &&
         k.results.size() < static_cast<std::size_t>(limits().outputs);
}

/// So many kernels compute what is much larger than its operands, such as something of all pairs, before it is stored: a
/// program that names such values and reduces them is expected to need no memory for them.
constexpr std::size_t many_kernels = 8;

}  // namespace

/// Whether one of some kernels stores something as large as a value: then memory of that size is expected.
/// `nodes`: of kernels of their own, whose numbers follow those of `kernels`.
bool stores_as_large(const node* n, const kernel_set& by, const std::vector<std::unique_ptr<kernel_plan>>& kernels,
                     const std::vector<node*>& nodes) {
  const auto is_as_large = [&](const node* x) { return !x->is_leaf() && x->bytes() >= n->bytes(); };
  return by.any([&](std::int32_t number) {
    const auto k = static_cast<std::size_t>(number);
    if (k >= kernels.size()) return is_as_large(nodes[k - kernels.size()]);
    return std::any_of(kernels[k]->results.begin(), kernels[k]->results.end(), is_as_large);
  });
}

/// Stores what several kernels would compute, each for itself, where that is cheaper. Decides from the results down, so
/// that it is known which kernels compute a value. `planned`: how many values were stored when the kernels were made.
void planner::store_shared(bool whole, std::size_t planned) {
  const std::vector<node*>& nodes = pending();
  std::vector<kernel_set> computed_by(nodes.size());
  std::vector<char> is_result(nodes.size());  // not what a kernel of rows on chip alone reads of its own reductions
  const auto set_of = [&](node* n) { return &computed_by[static_cast<std::size_t>(at(n).last_use)]; };
  for (std::size_t k = 0; k < kernels_.size(); ++k)
    for (node* n : kernels_[k]->results)
      if (!n->is_leaf() && at(n).entered) {
        set_of(n)->assign(static_cast<std::int32_t>(k));
        is_result[static_cast<std::size_t>(at(n).last_use)] = 1;
      }
  for (std::size_t k = nodes.size(); k-- > 0;) {
    node* const n = nodes[k];
    kernel_set& mine = computed_by[k];
    // For whole chains, the end of which is the better one to store, before the costly operations in it. Kernels that store
    // parts of a step may well be joined, so that they are one that computes the value, but not with one that reduces.
    const std::size_t known = mine.below(static_cast<std::int32_t>(kernels_.size()));
    const bool reduced =
        known == 1 && mine.size() > 1 && kernels_[static_cast<std::size_t>(mine.first())]->kind == plan_kind::reduce;
    const bool near = whole && (known > 1 || reduced);
    // The kernel of what a reduction gives, and of what is computed from that, stores the parts of it as well (join_epilogues).
    const bool beside = known > 0 && is_beside(n, *kernels_[static_cast<std::size_t>(mine.first())]);
    const double launch = beside ? 0 : price_on(n->device).launch;
    if (!at(n).stored && is_computed(n) && can_be_stored(n) && !unfusible(*n) && mine.size() > 1 &&
        is_better_stored(n, mine.size(), whole, near, launch) &&
        (worth_storing(n) || (fits_memory(n) && stores_as_large(n, mine, kernels_, nodes)) ||
         (mine.size() >= many_kernels && is_better_stored(n, mine.size(), true, near, launch) && fits_memory(n))))
      materialise(n, store_reason::shared);
    if (at(n).stored && at(n).kernel >= static_cast<std::int32_t>(planned))
      mine.assign(static_cast<std::int32_t>(kernels_.size() + k));  // a kernel of its own
    for (int a = 0; a < n->operand_count(); ++a) {
      node* const x = n->operand(a);
      if (x->is_leaf() || reads_little(n, x)) continue;
      if (!at(x).stored || !is_result[static_cast<std::size_t>(at(x).last_use)]) set_of(x)->add(mine);
    }
  }
}

/// What several kernels compute is stored where that is cheaper; whether there is any. First what lies below a value is
/// taken to be in memory: if it is not, it has its own turn. So a chain of steps, each of which several kernels read, costs
/// no more than if every step was stored. What is left is then looked at with all that it is computed from.
bool planner::store_shared() {
  const std::uint64_t mark = begin_search();
  bool shared = false;
  for (const auto& k : kernels_)
    for (node* n : k->computed) shared = std::exchange(at(n).search, mark) == mark || shared;
  if (!shared || kernels_.size() < 2) return false;
  sort_pending();
  const std::vector<node*>& nodes = pending();
  for (std::size_t k = 0; k < nodes.size(); ++k) at(nodes[k]).last_use = static_cast<std::int32_t>(k);
  const std::size_t planned = stored().size();
  for (const bool whole : {false, true}) store_shared(whole, planned);
  if (stored().size() == planned) return false;
  for (node* n : nodes) at(n).weight = -1, at(n).again = -1;  // without what is stored now
  return true;
}

namespace {

/// Stored values that a plan keeps longer than the program would, since what is computed from them waits for a later kernel.
/// By position in the order of recording.
class waiting_values {
 public:
  waiting_values(planner& plan, const std::vector<std::unique_ptr<kernel_plan>>& kernels)
      : begins_(plan.pending().size()) {
    const std::vector<node*>& nodes = plan.pending();
    std::vector<std::int32_t> end(nodes.size(), -1);  // where the last kernel that reads it runs
    std::unordered_map<const node*, std::int32_t> position;
    for (std::size_t k = 0; k < nodes.size(); ++k) position[nodes[k]] = static_cast<std::int32_t>(k);
    for (const auto& k : kernels) {
      const auto runs = position.find(k->root ? k->root : k->results[0]);
      if (runs == position.end()) continue;
      for (node* d : k->dependencies)
        if (const auto read = position.find(d); read != position.end()) {
          std::int32_t& e = end[static_cast<std::size_t>(read->second)];
          e = std::max(e, runs->second);
        }
    }
    double now = 0;
    std::vector<double> change(nodes.size() + 1, 0.0);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const planner::entry& e = plan.at(nodes[k]);
      if (is_free(nodes[k]) || e.last_use < 0) continue;
      const double bytes = static_cast<double>(nodes[k]->bytes());
      largest_ = std::max(largest_, bytes);
      change[k] += bytes;
      change[static_cast<std::size_t>(e.last_use)] -= bytes;
      if (e.stored && !e.held && end[k] > e.last_use)
        begins_[static_cast<std::size_t>(e.last_use)].push_back({bytes, e.last_use, end[k]});
    }
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      now += change[k];
      needed_.push_back(now);
      most_ = std::max(most_, now);
    }
  }

  /// Goes on to the next position; whether more memory is needed there than the program needs anywhere, and a value.
  bool is_too_much(std::size_t position) {
    for (const waiting& w : begins_[position]) waiting_.push_back(w);
    double bytes = 0;
    std::erase_if(waiting_, [&](const waiting& w) { return w.until <= static_cast<std::int32_t>(position); });
    for (const waiting& w : waiting_) bytes += w.bytes;
    return needed_[position] + bytes > 1.25 * most_ + largest_;
  }
  /// What was read last before `position` waits no more.
  void end_at(std::size_t position) {
    std::erase_if(waiting_, [&](const waiting& w) { return w.since <= static_cast<std::int32_t>(position); });
  }

 private:
  struct waiting {
    double bytes;
    std::int32_t since, until;
  };
  std::vector<std::vector<waiting>> begins_;
  std::vector<waiting> waiting_;
  std::vector<double> needed_;  // by a program that stores all that it computes
  double most_ = 0, largest_ = 0;
};

}  // namespace

/// Where the kernels would keep more in memory than the program, since sums of what they store wait for a later kernel:
/// stores what is alive at such a point. Whether there is any.
bool planner::store_waiting() {
  if (!depends_on_order() || kernels_.size() < 2) return false;
  sort_pending();
  const std::vector<node*>& nodes = pending();
  std::vector<double> live = bytes_alive(*this);
  for (const auto& k : kernels_) {
    if (k->code.loop.end == 0) continue;
    const auto [first, last] = std::minmax_element(k->computed.begin(), k->computed.end(),
                                                   [](const node* a, const node* b) { return a->order < b->order; });
    const auto by_order = [](const node* a, const node* b) { return a->order < b->order; };
    const auto from = std::lower_bound(nodes.begin(), nodes.end(), *first, by_order);
    const auto to = std::lower_bound(nodes.begin(), nodes.end(), *last, by_order);
    for (auto n = from; n < to; ++n) live[static_cast<std::size_t>(n - nodes.begin())] += impossible;
  }
  waiting_values waiting(*this, kernels_);
  const std::size_t known = stored().size();
  for (std::size_t first = 0, k = 0; k < nodes.size(); ++k) {
    if (!waiting.is_too_much(k) || k == first) continue;
    const std::size_t last = best_cut(live, first, k + 1);
    if (live[last] >= impossible) continue;
    for (std::size_t j = first; j <= last; ++j)
      if (at(nodes[j]).last_use > static_cast<std::int32_t>(last) && !is_free(nodes[j]) && can_be_stored(nodes[j]))
        materialise(nodes[j], store_reason::crossing);
    waiting.end_at(last);
    first = last + 1;
  }
  if (stored().size() == known) return false;
  for (node* n : nodes) at(n).weight = -1, at(n).again = -1;  // without what is stored now
  return true;
}

}  // namespace sinter::graph
