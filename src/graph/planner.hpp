// Decides what is written to memory and groups it into kernels.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "graph/builder.hpp"
#include "graph/plan.hpp"

namespace sinter::graph {

/// Keeps its memory from one plan to the next: recording and launching a small kernel costs about a microsecond.
class planner {
 public:
  /// Plans the evaluation of `roots` (pending, all on one device). The nodes are not changed.
  void plan(std::span<const value> roots);
  /// Lets go of what the plan refers to.
  void clear();

  const std::vector<std::unique_ptr<kernel_plan>>& kernels() const noexcept { return kernels_; }
  struct entry {
    node* n;
    bool stored = false;  // written to memory by this plan
    cut_reason why = cut_reason::requested;
    std::int32_t level = -1;
    std::int32_t kernel = -1;   // stored: index into `stored_`
    std::int32_t weight = -1;   // cached inline_weight
    bool apart = false;         // reads the reductions that are stored instead of being computed along with them
    std::uint16_t reg = 0;      // what the kernel that is being built has computed it in, if `phase` is the builder's
    std::uint64_t phase = 0;
    std::uint64_t search = 0;   // the last search for reductions that came by
    std::uint32_t dropped = 0;  // placement: references from nodes that this plan lets go
    bool visited = false;       // placement: the references below have been counted
  };
  /// The nodes that are written to memory, in the order of `entry::kernel`, and all that the plan has come by.
  const std::vector<node*>& stored() const noexcept { return stored_; }
  const std::vector<entry>& entries() const noexcept { return table_; }
  /// Calls f(node*) for every pending node that was computed inside kernels without being stored.
  template <class F>
  void for_each_inlined(F f) {
    for (entry& e : table_)
      if (!e.stored && !e.n->is_leaf() && is_operation(e.n->kind)) f(e.n);
  }

  // What the builder asks.
  entry& at(node* n) {
    if (n->mark.epoch != epoch_) [[unlikely]]
      enter(n);
    return table_[static_cast<std::size_t>(n->mark.index)];
  }
  bool is_stored(node* n) { return n->is_leaf() || at(n).stored; }
  void cut(node* n, cut_reason why);
  std::int32_t inline_weight(node* n);
  bool worth_storing(const node* n) const;
  runtime::device_id device() const noexcept { return device_; }

 private:
  void add_siblings(std::span<node* const> own);
  void build_all();
  void build_one(node* n);
  void enter(node* n);
  bool find_reductions(node* n, std::vector<node*>& out, bool apart);
  bool search_reductions(node* n, std::vector<node*>& out, bool apart);
  bool set_apart();
  int level_of(node* n);
  void group();

  runtime::device_id device_{};
  std::uint64_t epoch_ = 0;
  std::uint64_t search_ = 0;
  std::vector<entry> table_;
  std::vector<node*> stored_;                        // in the order of their discovery
  std::vector<value> siblings_;                      // keeps the reductions that ride along alive
  std::vector<std::unique_ptr<kernel_plan>> built_;  // parallel to stored_
  std::vector<std::unique_ptr<kernel_plan>> kernels_;
  std::vector<std::unique_ptr<kernel_plan>> spare_;  // plans to be used again
  std::vector<node*> reductions_;                    // scratch of build_one
  kernel_builder builder_{*this};

  std::unique_ptr<kernel_plan> fresh_plan();
};

}  // namespace sinter::graph
