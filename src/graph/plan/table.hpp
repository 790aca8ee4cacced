// What a plan knows of each node that it has come by, first of all whether it is written to memory. The builder of
// kernels reads it and adds to it; the planner (planner.hpp) works until nothing is added any more.
#pragma once
#include <span>
#include <vector>

#include "graph/plan/plan.hpp"

namespace sinter::graph {

class plan_table {
 public:
  struct entry {
    node* n;
    bool stored = false;  // written to memory by this plan
    cut_reason why = cut_reason::requested;
    std::int32_t level = -1;
    std::int32_t kernel = -1;  // stored: index into stored()
    std::int32_t weight = -1;  // cached inline_weight
    bool apart = false;        // reads the reductions that are stored instead of being computed along with them
    std::uint16_t reg = 0;     // what the kernel that is being built has computed it in, if `phase` is the builder's
    std::uint64_t phase = 0;
    std::uint64_t search = 0;   // the last search for reductions that came by
    std::uint32_t dropped = 0;  // placement: references from nodes that this plan lets go
    bool visited = false;       // placement: the references below have been counted
  };
  entry& at(node* n) {
    if (n->mark.epoch != epoch_) [[unlikely]]
      enter(n);
    return table_[static_cast<std::size_t>(n->mark.index)];
  }
  bool is_stored(node* n) { return n->is_leaf() || at(n).stored; }
  /// From now on the node is stored.
  void cut(node* n, cut_reason why);
  /// What an element costs where the node is computed inside the kernels that read it.
  std::int32_t inline_weight(node* n);
  /// Whether there is room for the node, and storing it moves little more than computing it again would.
  bool worth_storing(const node* n) const;
  runtime::device_id device() const noexcept { return device_; }

  /// The nodes that are written to memory, in the order of `entry::kernel`, and all that the plan has come by.
  const std::vector<node*>& stored() const noexcept { return stored_; }
  const std::vector<entry>& entries() const noexcept { return table_; }
  /// Calls f(node*) for every pending node that was computed inside kernels without being stored.
  template <class F>
  void for_each_inlined(F f) {
    for (entry& e : table_)
      if (!e.stored && !e.n->is_leaf() && is_operation(e.n->kind)) f(e.n);
  }

 protected:
  /// For a plan of the roots, which are stored.
  void begin(std::span<const value> roots);
  void clear();
  /// Takes back what was stored after the first `count` nodes.
  void store_no_more_than(std::size_t count);

 private:
  void enter(node* n);

  runtime::device_id device_{};
  std::uint64_t epoch_ = 0;
  std::vector<entry> table_;
  std::vector<node*> stored_;  // in the order of their discovery
};

}  // namespace sinter::graph
