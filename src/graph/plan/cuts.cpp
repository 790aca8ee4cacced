// Where a graph that is too large for one kernel is cut, and which values are stored since others will need them.
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/plan/planner.hpp"
#include "graph/values/limits.hpp"
#include "jit/program/repetition.hpp"

namespace sinter::graph {
namespace {

/// The weight of moving a byte to or from memory, in the unit of jit::weight: what a core or a multiprocessor computes
/// in that time.
constexpr double cpu_byte = 2, gpu_byte = 6;
/// The weight of a launch, in the same unit.
constexpr double cpu_launch = 5e3, gpu_launch = 5e7;
/// How much more than storing a value a second computation may cost before the value is stored at once: it may never be
/// needed again.
constexpr double patience = 3;

std::int32_t own_weight(const node* n) {
  switch (n->kind.load(std::memory_order_relaxed)) {
    case node_kind::map: return jit::weight(n->map().op);
    case node_kind::random: return jit::weight(n->random().op);
    case node_kind::call: return jit::weight(jit::opcode::user);
    case node_kind::gather: return 4;
    default: return 0;
  }
}

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

/// Whether computing a value a second time costs more than `patience` times its memory traffic. Looks no further than
/// needed to tell.
bool planner::is_expensive_again(node* n) {
  const bool cpu = device().kind == runtime::device_kind::cpu;
  const double byte = cpu ? cpu_byte : gpu_byte, elements = static_cast<double>(n->size());
  const double bound = patience * byte * static_cast<double>(n->bytes());
  double cost = 0;
  std::vector<node*> work{n};
  const std::uint64_t mark = begin_search();
  while (!work.empty() && cost <= bound) {
    node* const x = work.back();
    work.pop_back();
    if (std::exchange(at(x).search, mark) == mark) continue;
    if (x->is_leaf() || (x != n && at(x).stored)) {
      cost += byte * static_cast<double>(x->bytes());
      continue;
    }
    const node_kind kind = x->kind.load(std::memory_order_relaxed);
    if (kind == node_kind::update || kind == node_kind::reduce) continue;  // stored in any case
    cost += own_weight(x) * std::min(static_cast<double>(x->size()), elements);
    for (int k = 0; k < x->operand_count(); ++k)
      if (!reads_raw(*x, k)) work.push_back(x->operand(k));
  }
  return cost > bound;
}

/// Stores the variables of the program that are computed on the way, where computing them again is expensive. Whether a
/// handle will be read again cannot be known, and temporary ones live as long as their statement: those of names that
/// are assigned again and again are likely to.
void planner::store_held() {
  for (node* n : pending()) {
    if (!at(n).assigned || !is_operation(n->kind) || n->opaque || at(n).stored) continue;
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

/// The nodes as a list in which repeated steps can be found: operations and constants over one space.
std::vector<jit::listed_operation> listed(planner& plan) {
  const std::vector<node*>& nodes = plan.pending();
  std::vector<jit::listed_operation> list(nodes.size());
  std::unordered_map<const node*, std::int32_t> number;
  const auto hash = [](std::uint64_t h, std::uint64_t x) { return (h ^ x) * 0x9e3779b97f4a7c15ull; };
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    node* const n = nodes[k];
    const node_kind kind = n->kind.load(std::memory_order_relaxed);
    jit::listed_operation& o = list[k];
    o.what = hash(static_cast<std::uint64_t>(kind), static_cast<std::uint64_t>(n->type));
    for (const std::int64_t extent : n->shape) o.what = hash(o.what, static_cast<std::uint64_t>(extent));
    if (kind == node_kind::scalar) {
      o.what = hash(o.what, static_cast<std::uint64_t>(plan.at(n).scalar));
    } else if (kind == node_kind::map && !plan.at(n).stored) {
      o.what =
          hash(hash(o.what, static_cast<std::uint64_t>(n->map().op)), static_cast<std::uint64_t>(n->args[0]->type));
      for (int a = 0; a < n->nargs; ++a) {
        const auto known = number.try_emplace(n->args[a].get(), -2 - static_cast<std::int32_t>(number.size())).first;
        o.operands[a] = known->second;
      }
    } else {
      o.what = hash(hash(o.what, ~0ull), k);  // like no other
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
  // Steps that repeat become a loop (jit/program/roll.hpp): only two of them count, and they are not cut.
  const jit::repetition steps = jit::find_repetition(listed(*this)).value_or(jit::repetition());
  const auto is_in_loop = [&](std::size_t k) {
    return steps.count > 0 && k >= steps.first + 2 * steps.period && k < steps.end();
  };
  std::vector<double> live = bytes_alive(*this);
  for (std::size_t k = steps.first; k + 1 < steps.end(); ++k) live[k] += impossible;
  kernel.clear();
  for (std::size_t first = 0, k = 0; k < nodes.size(); ++k) {
    if (!is_in_loop(k)) kernel.add(nodes[k]);
    if (!kernel.is_full() || k == first) continue;
    const std::size_t last = best_cut(live, first, k);
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

 private:
  std::vector<std::int32_t> all_;
};

/// Whether it is cheaper to store an operation's result than to compute it in so many kernels, its operands being in
/// memory. A launch more is counted for the first of them.
bool is_better_stored(const node* n, std::size_t kernels, bool cpu) {
  const double byte = cpu ? cpu_byte : gpu_byte, times = static_cast<double>(kernels);
  double operands = 0;
  for (int a = 0; a < n->operand_count(); ++a) {
    const node* const x = behind_views(n->operand(a));
    if (x->kind.load(std::memory_order_relaxed) != node_kind::scalar)
      operands += static_cast<double>(std::min(n->operand(a)->bytes(), x->bytes()));
  }
  const double again = own_weight(n) * static_cast<double>(n->size()) + byte * operands;
  const double moved = byte * static_cast<double>(n->bytes());
  return times * again > again + (1 + times) * moved + (cpu ? cpu_launch : gpu_launch);
}

}  // namespace

/// Stores what several kernels would compute, each for itself, where that is cheaper; whether there is any. Decides from
/// the results down, so that it is known which kernels compute a value. What lies below a value is taken to be in memory:
/// if it is not, it has its own turn. So a chain of steps, each of which several kernels read, costs no more than if every
/// step was stored.
bool planner::store_shared() {
  const std::uint64_t mark = begin_search();
  bool shared = false;
  for (const auto& k : kernels_)
    for (node* n : k->computed) shared = std::exchange(at(n).search, mark) == mark || shared;
  if (!shared || kernels_.size() < 2) return false;
  sort_pending();
  const std::vector<node*>& nodes = pending();
  for (std::size_t k = 0; k < nodes.size(); ++k) at(nodes[k]).last_use = static_cast<std::int32_t>(k);
  std::vector<kernel_set> computed_by(nodes.size());
  const auto set_of = [&](node* n) { return &computed_by[static_cast<std::size_t>(at(n).last_use)]; };
  for (std::size_t k = 0; k < kernels_.size(); ++k)
    for (node* n : kernels_[k]->results)
      if (!n->is_leaf() && at(n).entered) set_of(n)->assign(static_cast<std::int32_t>(k));
  const bool cpu = device().kind == runtime::device_kind::cpu;
  const std::size_t known = stored().size();
  for (std::size_t k = nodes.size(); k-- > 0;) {
    node* const n = nodes[k];
    kernel_set& mine = computed_by[k];
    if (!at(n).stored && is_operation(n->kind) && can_be_stored(n) && !unfusible(*n) && mine.size() > 1 &&
        is_better_stored(n, mine.size(), cpu) && worth_storing(n)) {
      materialise(n, store_reason::shared);
      mine.assign(static_cast<std::int32_t>(kernels_.size() + k));
    }
    for (int a = 0; a < n->operand_count(); ++a) {
      node* const x = n->operand(a);
      if (!x->is_leaf() && !at(x).stored) set_of(x)->add(mine);
    }
  }
  if (stored().size() == known) return false;
  for (node* n : nodes) at(n).weight = -1;  // without what is stored now
  return true;
}

}  // namespace sinter::graph
