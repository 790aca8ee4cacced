// The search for live values: walks down from the listed values and counts references.
#include "graph/run/live_values.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "graph/plan/plan.hpp"
#include "graph/plan/table.hpp"

namespace sinter::graph {
namespace {

constexpr std::size_t small_bytes = std::size_t{1} << 20;  // stored whatever the size of the others

/// Pending nodes by the walk that reached them first.
class reached_nodes {
 public:
  /// Visits what is pending below a node. Whether any of it depends on, or is, a node of the chain.
  bool walk(node* from) {
    const std::size_t first = all_.size();
    bool touches = enter(from);
    for (std::size_t k = first; k < all_.size(); ++k) {  // grows
      node* const n = all_[k].n;
      if (n->kind.load(std::memory_order_relaxed) == node_kind::update) bases_.insert(n->args[0].get());
      for (int a = 0; a < n->operand_count(); ++a) {
        node* const operand = n->operand(a);
        if (operand->is_leaf()) continue;
        touches = enter(operand) || touches;
        ++at(operand).uses;
      }
    }
    if (touches || first == 0)
      for (std::size_t k = first; k < all_.size(); ++k) all_[k].in_chain = true;
    return touches;
  }
  std::uint32_t uses(node* n) { return at(n).uses; }
  /// What writes that were visited write to: they may run in its memory.
  const std::unordered_set<const node*>& bases() const noexcept { return bases_; }

 private:
  struct reached {
    node* n;
    std::uint32_t uses = 0;  // references from visited nodes
    bool in_chain = false;
  };
  reached& at(node* n) { return all_[static_cast<std::size_t>(n->mark.index)]; }
  /// Whether the node was known as one of the chain.
  bool enter(node* n) {
    if (n->mark.epoch == epoch_) return at(n).in_chain;
    n->mark.epoch = epoch_;
    n->mark.index = static_cast<std::int32_t>(all_.size());
    all_.push_back({n});
    return false;
  }

  const std::uint64_t epoch_ = next_epoch();
  std::vector<reached> all_;
  std::unordered_set<const node*> bases_;
};

using node_set = std::unordered_set<const node*>;

/// Whether it takes much to compute a value later from what the others are to store. What lies below a reduction or a write may
/// be large whatever the value's own size, and of the bases of writes the old elements would be kept for it.
bool is_costly(node* n, const node_set& stored, const node_set& bases) {
  bool more = false;
  node_set seen;
  const bool costs = costs_more_again(
      n, [&](node* x) { return stored.contains(x); },
      [&](node* x) {
        const node_kind kind = x->kind.load(std::memory_order_relaxed);
        const bool below = (kind == node_kind::reduce || kind == node_kind::update) && !stored.contains(x);
        more = more || below || bases.contains(x);
        return seen.insert(x).second;
      },
      true);
  return costs || more;
}

/// Whether computing a value from what is stored takes something that is computed for the latter as well (`computed`), and
/// would be computed again, or the old elements of a base. What is recorded later than all of that, such as the first part of a loop's step whose variables
/// are stored, is computed once in any case.
bool needs_again(node* n, const node_set& stored, const node_set& computed, const node_set& bases) {
  std::vector<node*> work{n};
  node_set seen{n};
  while (!work.empty()) {
    node* const x = work.back();
    work.pop_back();
    if (computed.contains(x)) return true;
    for (int k = 0; k < x->operand_count(); ++k) {
      node* const operand = x->operand(k);
      if (bases.contains(operand)) return true;  // stored or not: the next write keeps its old elements
      if (!operand->is_leaf() && !stored.contains(operand) && seen.insert(operand).second) work.push_back(operand);
    }
  }
  return false;
}

/// The pending values below some, these included.
node_set pending_below(std::vector<node*> work) {
  node_set found(work.begin(), work.end());
  while (!work.empty()) {
    node* const x = work.back();
    work.pop_back();
    for (int k = 0; k < x->operand_count(); ++k)
      if (node* const operand = x->operand(k); !operand->is_leaf() && found.insert(operand).second)
        work.push_back(operand);
  }
  return found;
}

/// Leaves out temporary values, which C++ keeps until the end of their statement or block: those that are no variables and
/// take little to compute from the rest, in the order of recording, or nothing that is computed for it. `wanted` stays.
std::vector<value> without_cheap(std::vector<value> values, const node* wanted, const node_set& bases) {
  std::sort(values.begin(), values.end(), [](const value& a, const value& b) { return a->order < b->order; });
  const auto is_required = [&](const value& c) {
    return c.get() == wanted || c->assigned.load(std::memory_order_relaxed);
  };
  std::vector<node*> required;
  for (const value& c : values)
    if (is_required(c)) required.push_back(c.get());
  const node_set computed = pending_below(required);
  node_set stored;
  std::erase_if(values, [&](const value& c) {
    const bool needed =
        is_required(c) || (needs_again(c.get(), stored, computed, bases) && is_costly(c.get(), stored, bases));
    if (needed) stored.insert(c.get());
    return !needed;
  });
  return values;
}

std::vector<value> live_values(const value& v, const node* wanted) {
  std::vector<value> candidates = listed_values(v->device);
  const std::size_t most = std::max(4 * v->bytes(), small_bytes);
  std::erase_if(candidates, [&](const value& c) {
    return c.get() == v.get() || c->capture != v->capture || c->opaque || c->bytes() > most;
  });
  if (candidates.empty()) return {v};
  reached_nodes reached;
  reached.walk(v.get());
  std::vector<value> connected;
  for (value& c : candidates)
    if (reached.walk(c.get())) connected.push_back(std::move(c));
  // Each is referred to by this list as well.
  std::erase_if(connected,
                [&](const value& c) { return c->refs.load(std::memory_order_acquire) <= reached.uses(c.get()) + 1; });
  connected.push_back(v);
  node_set bases = reached.bases();
  if (v->kind.load(std::memory_order_relaxed) == node_kind::update) bases.insert(v.get());  // of the next write
  return without_cheap(std::move(connected), wanted, bases);
}

}  // namespace

std::vector<value> live_values_with(const value& v) { return live_values(v, v.get()); }
std::vector<value> live_values_below(const value& v) { return live_values(v, nullptr); }

}  // namespace sinter::graph
