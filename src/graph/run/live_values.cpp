// The search for live values: walks down from the listed values and counts references.
#include "graph/run/live_values.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "graph/plan/plan.hpp"
#include "graph/plan/table.hpp"
#include "graph/run/flush.hpp"
#include "graph/values/example.hpp"
#include "graph/values/long_chains.hpp"

namespace sinter::graph {
namespace {

constexpr std::size_t small_bytes = std::size_t{1} << 20;  // stored whatever the size of the others

/// Nodes by the walk that reached them first, with what is found out about them. They carry their numbers themselves
/// (node::mark): a long chain is walked several times.
class reached_nodes {
 public:
  struct reached {
    explicit reached(node* of) noexcept : n(of) {}
    node* n;
    std::uint32_t uses = 0;    // references from visited nodes
    std::uint32_t search = 0;  // the last one that met it
    bool in_chain = false;
    bool is_base = false;   // of a write that was visited, or of the next one: that may run in its memory
    bool stored = false;    // with the values that are evaluated
    bool computed = false;  // for those that certainly are
  };

  /// Visits what is pending below a node. Whether any of it depends on, or is, a node of the chain.
  bool walk(node* from) {
    const std::size_t first = all_.size();
    bool touches = enter(from).in_chain;
    for (std::size_t k = first; k < all_.size(); ++k) {  // grows
      node* const n = all_[k].n;
      if (n->kind.load(std::memory_order_relaxed) == node_kind::update) bases_.push_back(n->args[0].get());
      const int operands = n->operand_count();
      for (int a = 0; a < operands; ++a) {
        node* const operand = n->operand(a);
        if (operand->is_leaf()) continue;
        reached& r = enter(operand);
        touches |= r.in_chain;
        ++r.uses;
      }
    }
    if (touches || first == 0)
      for (std::size_t k = first; k < all_.size(); ++k) all_[k].in_chain = true;
    return touches;
  }
  /// Called after the last walk.
  void mark_bases(node* next) {
    for (node* n : bases_) of(n).is_base = true;
    if (next) of(next).is_base = true;
  }
  /// Of any node.
  reached& of(node* n) { return enter(n); }
  /// Begins a search; whether the present one has not met a node before.
  void begin_search() noexcept { ++search_; }
  bool meets(node* n) { return std::exchange(of(n).search, search_) != search_; }

 private:
  reached& enter(node* n) {
    if (n->mark.epoch == epoch_) return all_[static_cast<std::size_t>(n->mark.index)];
    n->mark.epoch = epoch_;
    n->mark.index = static_cast<std::int32_t>(all_.size());
    return all_.emplace_back(n);
  }

  const std::uint64_t epoch_ = next_epoch();
  std::uint32_t search_ = 0;
  std::vector<reached> all_;
  std::vector<node*> bases_;
};

/// Whether it takes much to compute a value later from what the others are to store. What lies below a reduction or a write may
/// be large whatever the value's own size, and of the bases of writes the old elements would be kept for it.
bool is_costly(node* n, reached_nodes& nodes) {
  bool more = false;
  nodes.begin_search();
  const bool costs = costs_more_again(
      n, [&](node* x) { return nodes.of(x).stored; },
      [&](node* x) {
        const node_kind kind = x->kind.load(std::memory_order_relaxed);
        const reached_nodes::reached& known = nodes.of(x);
        const bool below = (kind == node_kind::reduce || kind == node_kind::update) && !known.stored;
        more = more || below || known.is_base;
        return nodes.meets(x);
      },
      true);
  return costs || more;
}

/// Whether computing a value from what is stored takes something that is computed for the latter as well, and
/// would be computed again, or the old elements of a base. What is recorded later than all of that, such as the first part of a loop's step whose variables
/// are stored, is computed once in any case.
bool needs_again(node* n, reached_nodes& nodes) {
  std::vector<node*> work{n};
  nodes.begin_search();
  nodes.meets(n);
  while (!work.empty()) {
    node* const x = work.back();
    work.pop_back();
    if (nodes.of(x).computed) return true;
    for (int k = 0; k < x->operand_count(); ++k) {
      node* const operand = x->operand(k);
      if (nodes.of(operand).is_base) return true;  // stored or not: the next write keeps its old elements
      if (!operand->is_leaf() && !nodes.of(operand).stored && nodes.meets(operand)) work.push_back(operand);
    }
  }
  return false;
}

/// Marks the pending values below some, these included, as computed.
void mark_computed(std::vector<node*> work, reached_nodes& nodes) {
  for (node* n : work) nodes.of(n).computed = true;
  while (!work.empty()) {
    node* const x = work.back();
    work.pop_back();
    for (int k = 0; k < x->operand_count(); ++k)
      if (node* const operand = x->operand(k); !operand->is_leaf() && !std::exchange(nodes.of(operand).computed, true))
        work.push_back(operand);
  }
}

/// Leaves out temporary values, which C++ keeps until the end of their statement or block: those that are no variables and
/// take little to compute from the rest, in the order of recording, or nothing that is computed for it. `wanted` stays.
std::vector<value> without_cheap(std::vector<value> values, const node* wanted, reached_nodes& nodes) {
  std::sort(values.begin(), values.end(), [](const value& a, const value& b) { return a->order < b->order; });
  const auto is_required = [&](const value& c) {
    return c.get() == wanted || c->assigned.load(std::memory_order_relaxed);
  };
  std::vector<node*> required;
  for (const value& c : values)
    if (is_required(c)) required.push_back(c.get());
  mark_computed(std::move(required), nodes);
  std::erase_if(values, [&](const value& c) {
    const bool needed = is_required(c) || (needs_again(c.get(), nodes) && is_costly(c.get(), nodes));
    if (needed) nodes.of(c.get()).stored = true;
    return !needed;
  });
  return values;
}

std::vector<value> live_values(const value& v, const node* wanted) {
  std::vector<value> candidates = listed_values(v->device);
  const std::size_t most = std::max(4 * v->bytes(), small_bytes);
  std::erase_if(candidates, [&](const value& c) {
    return c.get() == v.get() || !may_be_listed(*c) || c->capture != v->capture || c->opaque || c->bytes() > most;
  });
  if (candidates.empty()) return {v};
  reached_nodes reached;
  reached.walk(v.get());
  std::vector<value> connected;
  for (value& c : candidates)
    if (reached.walk(c.get())) connected.push_back(std::move(c));
  // Each is referred to by this list as well.
  std::erase_if(connected, [&](const value& c) {
    return c->refs.load(std::memory_order_acquire) <= reached.of(c.get()).uses + 1;
  });
  connected.push_back(v);
  const bool is_write = v->kind.load(std::memory_order_relaxed) == node_kind::update;
  reached.mark_bases(is_write ? v.get() : nullptr);
  return without_cheap(std::move(connected), wanted, reached);
}

}  // namespace

std::vector<value> live_values_with(const value& v) { return live_values(v, v.get()); }
std::vector<value> live_values_below(const value& v) { return live_values(v, nullptr); }

value operand_to_keep(const value& v) {
  constexpr std::size_t near = std::size_t{512} << 10;  // of caches of 1 to 2 MB: both have room
  // Additions in the time of a launch, and of storing an element and copying what a view shows of it.
  constexpr double another = 6e4, stored = 8;
  if (v->device.kind != runtime::device_kind::cpu || v->bytes() > near) return {};
  const std::lock_guard lock(flush_mutex());  // evaluation releases a node's operands
  value base = v;
  while (!base->is_leaf() && base->kind.load(std::memory_order_relaxed) == node_kind::view) base = base->args[0];
  if (base.get() == v.get() || base->is_leaf() || base->opaque || is_example(base) ||
      !is_operation(base->kind.load(std::memory_order_relaxed)) || base->bytes() > near)
    return {};
  reached_nodes nodes;
  nodes.begin_search();
  const auto meets = [&](node* x) { return nodes.meets(x); };
  return costs_more(
             base.get(), another + stored * static_cast<double>(base->size()), [](const node*) { return false; }, meets,
             false, true)
             ? base
             : value();
}

}  // namespace sinter::graph
