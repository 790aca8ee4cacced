// The planner's data about each visited node, first of all whether it is written to memory. The kernel builder reads
// and extends it; the planner (planner.hpp) iterates until nothing is added.
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
    store_reason why = store_reason::requested;
    std::int32_t level = -1;
    std::int32_t kernel = -1;  // stored: index into stored()
    std::int32_t weight = -1;  // cached inline_weight
    bool split = false;        // split epilogue: reads the stored reductions instead of being computed in their kernel
    std::uint16_t reg = 0;     // the register of the kernel being built that holds it, if `phase` is the builder's
    std::uint64_t phase = 0;
    std::uint64_t search = 0;   // the last search for reductions that visited it
    std::uint32_t dropped = 0;  // placement: references from nodes that this plan releases
    bool visited = false;       // placement: the references from its operands have been counted
  };
  entry& at(node* n) {
    if (n->mark.epoch != epoch_) [[unlikely]]
      enter(n);
    return table_[static_cast<std::size_t>(n->mark.index)];
  }
  bool is_stored(node* n) { return n->is_leaf() || at(n).stored; }
  /// Makes the node a materialisation point: it is stored from now on.
  void materialise(node* n, store_reason why);
  /// The cost per element if the node is computed inside the kernels that read it.
  std::int32_t inline_weight(node* n);
  /// Whether there is memory for the node, and storing it moves little more than recomputing it.
  bool worth_storing(const node* n) const;
  runtime::device_id device() const noexcept { return device_; }

  /// The nodes that are written to memory, in the order of `entry::kernel`; all visited nodes.
  const std::vector<node*>& stored() const noexcept { return stored_; }
  const std::vector<entry>& entries() const noexcept { return table_; }
  /// Calls f(node*) for every pending node that was computed inside kernels without being stored.
  template <class F>
  void for_each_inlined(F f) {
    for (entry& e : table_)
      if (!e.stored && !e.n->is_leaf() && is_operation(e.n->kind)) f(e.n);
  }

 protected:
  /// Begins a plan of the roots, which are stored.
  void begin(std::span<const value> roots);
  void clear();
  /// Reverts all but the first `count` stored nodes.
  void store_no_more_than(std::size_t count);

 private:
  void enter(node* n);

  runtime::device_id device_{};
  std::uint64_t epoch_ = 0;
  std::vector<entry> table_;
  std::vector<node*> stored_;  // in the order of their discovery
};

}  // namespace sinter::graph
