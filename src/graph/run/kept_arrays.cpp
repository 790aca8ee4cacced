// The search for kept arrays: walks down from the listed values, counts references, and groups values that share operands.
#include "graph/run/kept_arrays.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "graph/plan/table.hpp"
#include "graph/run/flush.hpp"
#include "graph/run/ongoing_capture.hpp"
#include "graph/values/record.hpp"
#include "sinter/error.hpp"

namespace sinter::graph {
namespace {

/// What pending values are computed from, down to what is in memory.
class kept_search {
 public:
  /// `candidates` hold a reference each.
  explicit kept_search(std::span<const value> candidates) : candidates_(candidates.size()) {
    for (const value& v : candidates) enter(v.get());
    for (std::size_t k = 0; k < all_.size(); ++k) {  // grows
      node* const n = all_[k].n;
      for (int a = 0; a < n->operand_count(); ++a) ++all_[enter(n->operand(a))].uses;
    }
    find_held();
    find_keeping();
  }

  std::size_t size() const noexcept { return all_.size(); }
  /// Positions among the candidates of those that alone keep memory, by groups that have operands in common. `since`: the group
  /// of what was recorded last is left out where all of it is younger: values of statements that are being recorded, which the next
  /// ones read.
  std::vector<std::vector<std::size_t>> groups(std::uint64_t since, bool in_statement) {
    struct group {
      std::vector<std::size_t> members;
      std::size_t own = 0, kept = 0;  // bytes
      bool smaller = true;            // each of them than an array that it keeps
      bool young = true;
    };
    std::vector<group> all(all_.size());
    for (std::size_t k = 0; k < all_.size(); ++k) {
      if (!all_[k].keeps) continue;
      const node* const n = all_[k].n;
      group& g = all[group_of(k)];
      if (n->is_leaf()) g.kept += n->bytes();
      else g.young = g.young && n->order > since;
      if (!is_candidate(k) || n->is_leaf()) continue;
      g.members.push_back(k);
      g.own += n->bytes();
      g.smaller = g.smaller && n->holds_larger();
    }
    std::vector<std::vector<std::size_t>> found;
    for (group& g : all) {
      if (g.members.empty() || !(g.smaller || g.kept > g.own)) continue;
      if (in_statement && g.young && &g == &all[group_of(latest_)]) waits_ = true;
      else found.push_back(std::move(g.members));
    }
    return found;
  }
  /// Whether groups were left out since they are young.
  bool waits() const noexcept { return waits_; }

 private:
  struct reached {
    node* n;
    std::size_t group;
    std::uint32_t uses = 0;  // references from visited nodes
    bool held = false;       // others refer to it, or to something that refers to it
    bool keeps = false;      // it is memory that nobody else holds, or computed from some
  };

  std::size_t enter(node* n) {
    if (n->mark.epoch == epoch_) return static_cast<std::size_t>(n->mark.index);
    n->mark.epoch = epoch_;
    n->mark.index = static_cast<std::int32_t>(all_.size());
    all_.push_back({n, all_.size()});
    return all_.size() - 1;
  }
  std::size_t position_of(node* n) const noexcept { return static_cast<std::size_t>(n->mark.index); }
  bool is_candidate(std::size_t k) const noexcept { return k < candidates_; }

  /// A candidate becomes memory of its own, whoever refers to it.
  void find_held() {
    std::vector<std::size_t> next;
    for (std::size_t k = candidates_; k < all_.size(); ++k)
      if (all_[k].n->refs.load(std::memory_order_acquire) > all_[k].uses) all_[k].held = true, next.push_back(k);
    while (!next.empty()) {
      node* const n = all_[next.back()].n;
      next.pop_back();
      for (int a = 0; a < n->operand_count(); ++a) {
        const std::size_t below = position_of(n->operand(a));
        if (!is_candidate(below) && !std::exchange(all_[below].held, true)) next.push_back(below);
      }
    }
  }
  /// From the operands up: a node is recorded after its operands. The latest of all, which may be a temporary value of a statement
  /// that has just begun, keeps nothing if it is computed from another candidate.
  void find_keeping() {
    std::vector<std::size_t> order(all_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return all_[a].n->order < all_[b].n->order; });
    if (!order.empty()) latest_ = order.back();
    for (const std::size_t k : order) {
      reached& r = all_[k];
      if (r.n->is_leaf()) r.keeps = !r.held && r.n->bytes() >= least_kept && r.n->buffer.use_count() == 1;
      for (int a = 0; a < r.n->operand_count(); ++a) {
        const std::size_t below = position_of(r.n->operand(a));
        if (all_[below].held) continue;
        r.keeps = r.keeps || (all_[below].keeps && !(k == order.back() && is_candidate(below)));
        all_[group_of(below)].group = group_of(k);
      }
    }
  }
  std::size_t group_of(std::size_t k) {
    while (all_[k].group != k) k = all_[k].group = all_[all_[k].group].group;
    return k;
  }

  static constexpr std::size_t least_kept = 4096;
  const std::size_t candidates_;
  const std::uint64_t epoch_ = next_epoch();
  std::vector<reached> all_;
  std::size_t latest_ = 0;
  bool waits_ = false;
};

/// Values smaller than what they keep, and variables of loops: temporary ones are gone soon. Under the flush lock.
std::vector<value> listed_for(std::uint32_t capture) {
  std::vector<value> found = listed_values();
  std::erase_if(found, [&](const value& v) {
    return !(v->holds_larger() || v->assigned.load(std::memory_order_relaxed)) || v->capture != capture || v->opaque ||
           v->device.kind == runtime::device_kind::mesh;
  });
  return found;
}

}  // namespace

void release_kept_arrays(bool in_statement) {
  if (is_capturing()) return;
  const std::lock_guard lock(flush_mutex());
  if (is_flushing()) return;
  // A look takes as long as there are pending values: within statements it waits until a quarter as many have been recorded.
  static std::uint64_t last_look = 0, least_new = 0;  // under the flush lock
  const std::uint64_t now = last_recorded();
  if (in_statement && now >= last_look && now - last_look < least_new) return;
  left_memory& left = left_bytes();
  left.count.store(0, std::memory_order_relaxed);
  const std::vector<value> candidates = listed_for(runtime::this_thread().capture);
  const bool listed_all = lists_all_pending().exchange(true, std::memory_order_relaxed);
  // The more of them there are, the rarer it is.
  constexpr std::size_t least = std::size_t{1} << 16, for_each = 1024;
  if (candidates.empty()) {
    left.look_at.store(least, std::memory_order_relaxed);
    last_look = now, least_new = 0;
    return;
  }
  kept_search found(candidates);
  left.look_at.store(std::max(least, for_each * found.size()), std::memory_order_relaxed);
  least_new = found.size() / 4;
  const std::vector<std::vector<std::size_t>> groups = found.groups(std::exchange(last_look, now), in_statement);
  lists_all_pending().store(!groups.empty() || found.waits() || !listed_all, std::memory_order_relaxed);
  for (const std::vector<std::size_t>& group : groups) {
    std::vector<value> roots;
    for (const std::size_t k : group)
      if (!candidates[k]->is_leaf()) roots.push_back(candidates[k]);
    try {
      flush(roots);
    } catch (const error&) {  // the caller did not request these values
    }
  }
}

}  // namespace sinter::graph
