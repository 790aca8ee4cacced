// Decides what is written to memory and groups it into kernels.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "graph/plan/builder.hpp"

namespace sinter::graph {

/// Memory is reused from one plan to the next: recording and launching a small kernel costs about a microsecond.
class planner : public plan_table {
 public:
  /// Plans the evaluation of `roots` (pending, all on one device). The nodes are not changed.
  void plan(std::span<const value> roots) {
    open(roots);
    decide();
  }
  /// The same in two steps: what a plan follows from, and the plan.
  void open(std::span<const value> roots);
  void decide();
  /// Instead of open(): begin_like().
  bool open_like(std::span<const value> roots, node_table& kept, std::span<const std::uint64_t> words) {
    if (!entries().empty()) clear();
    return begin_like(roots, kept, words);
  }
  /// Instead of decide(): the kernels of an earlier plan, for the nodes that are stored by now.
  void show(const std::vector<std::unique_ptr<kernel_plan>>& kernels) noexcept { shown_ = &kernels; }
  /// Gives the kernels away; they remain those of kernels() for as long as `to` and this plan live.
  void hand_over(std::vector<std::unique_ptr<kernel_plan>>& to) {
    to = std::move(kernels_);
    kernels_.clear();
    shown_ = &to;
  }
  /// Releases what the plan refers to.
  void clear();

  const std::vector<std::unique_ptr<kernel_plan>>& kernels() const noexcept { return *shown_; }

  /// Whether joined kernels count as waiting for each other in a circle (tests): then they are planned apart. Under the flush lock.
  static bool& in_circle() noexcept {
    static constinit bool on = false;
    return on;
  }

 private:
  void find_unset();
  bool may_find_fault(node* n);
  std::uint32_t reads_between(const kernel_plan& then, std::span<node* const> writes);
  bool may_join_writes(const kernel_plan& first, const kernel_plan& then);
  void store_held();
  bool is_expensive_again(node* n);
  bool is_better_stored(node* n, std::size_t kernels, bool whole, bool near, double launch);
  void store_shared(bool whole, std::size_t planned);
  void cut();
  bool store_shared();
  bool store_waiting();
  void make_kernels();
  void make_kernels_again();
  void add_siblings(std::span<node* const> own);
  void build_all();
  void build_one(node* n);
  bool build_reduction(kernel_plan& plan, node* n, std::span<node* const> reductions);
  bool find_reductions(node* n, std::vector<node*>& out, bool split);
  bool search_reductions(node* n, std::vector<node*>& out, bool split);
  void store_awaited(node* n, std::vector<node*>& reductions);
  bool split_epilogues();
  bool store_reduced_again();
  bool give_up_stored();
  bool give_up_cheap();
  bool give_up_reductions();
  bool give_up_read_once();
  int level_of(node* n);
  void group();
  void join_alike(bool sharing, std::size_t& most);
  void join_epilogues(std::size_t most);
  bool reads_only(const kernel_plan& later, const kernel_plan& k);
  void drop_unread();
  bool sort_kernels();
  std::unique_ptr<kernel_plan> try_join(const kernel_plan& k, const kernel_plan& later);

  bool share_operations(const kernel_plan& a, const kernel_plan& b);
  bool may_run_with(const kernel_plan& later, const kernel_plan& k);

  std::uint64_t walk_ = 0;      // of search_reductions
  std::int64_t read_over_ = 0;  // entry::read_over of its root
  bool takes_records_ = false;  // reductions of narrow records stay such: functions are called on what follows
  std::vector<std::unique_ptr<kernel_plan>> built_;  // parallel to stored()
  std::vector<std::unique_ptr<kernel_plan>> kernels_;
  const std::vector<std::unique_ptr<kernel_plan>>* shown_ = &kernels_;
  std::vector<std::unique_ptr<kernel_plan>> spare_;  // plans to be reused
  std::vector<node*> reductions_;                    // scratch of build_one
  kernel_builder builder_{*this};

  std::unique_ptr<kernel_plan> fresh_plan();
  void set_aside(std::unique_ptr<kernel_plan> p);
};

}  // namespace sinter::graph
