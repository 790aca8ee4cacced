// Plans that have been made, so that a graph like an earlier one is neither planned nor bound again.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/plan/planner.hpp"
#include "jit/program/launch.hpp"
#include "jit/program/launch_list.hpp"

namespace sinter::graph {

/// What a plan follows from, as a list of numbers: graphs with equal lists get equal plans, up to the values of scalars,
/// the positions of draws, the memory of leaves and, of leaves that views alone read, where the first of these begins, which no plan
/// depends on.
///
/// Nodes are known by their positions in the plan's table, in which a plan that begins enters them: first the requested
/// ones, then all others in the order in which a walk from there meets them. One pass over the table writes the list.
/// Its memory is reused.
class signature {
 public:
  /// Of a plan that has begun and has not been decided.
  void write(const plan_table& plan);
  std::span<const std::uint64_t> words() const noexcept { return {memory_.data(), count_}; }
  std::uint64_t hash() const noexcept;

 private:
  class writer;

  std::vector<std::uint64_t> memory_;
  std::size_t count_ = 0;
};

/// A plan for the nodes that it was used for last. What refers to nodes is written anew for each use: nothing of an
/// earlier use is read.
class cached_plan {
 public:
  std::vector<std::unique_ptr<kernel_plan>> kernels;
  /// Of the kernels that run code, in their order. Bound; what depends on memory (addresses, with them the operands'
  /// offsets, and faults) is the caller's.
  std::vector<jit::launch> launches;
  /// What the device keeps of these launches.
  std::unique_ptr<jit::launch_list> list;

  /// Takes the decided plan of a planner, which goes on showing its kernels.
  explicit cached_plan(planner& made);
  cached_plan(const cached_plan&) = delete;
  cached_plan& operator=(const cached_plan&) = delete;
  /// Uses the plan for the nodes of a plan that has begun, whose graph has the same signature.
  void use_for(planner& begun);
  /// Begins a plan and uses this one for it; false where the graph has another signature, or may have.
  bool follow(planner& with, std::span<const value> roots);
  /// Whether the device's free memory allows for this plan, and not for another one.
  bool fits_memory() const;
  /// Everything but nodes and addresses, as bytes.
  std::string contents() const;
  std::size_t bytes() const noexcept;

 private:
  friend class plan_cache;
  struct stored_node {
    std::int32_t position;
    store_reason why;
  };
  /// Parameter `index` of a launch.
  struct given_param {
    std::int32_t launch, index, position;
    int word;
  };
  /// An input of a kernel that reads a leaf `offset` elements from where the view at a position begins (origin_of()).
  struct placed_input {
    std::int32_t kernel, input, origin;
    std::int64_t offset;
  };
  void note_places(const planner& made);
  void add_position(const node* n) { positions_.push_back(n ? n->mark.index : -1); }

  void write_nodes(const std::vector<plan_table::entry>& entries);
  void store_in(planner& begun) const;

  std::vector<std::uint64_t> signature_;
  plan_table::node_table nodes_;         // empty while the plan is in use
  std::size_t nodes_count_ = 0;          // of them
  cached_plan* next_ = nullptr;          // the one that a thread used after this one, the last time
  std::vector<std::int32_t> positions_;  // of each kernel: its root's, its results', its inputs' in the table; -1: null
  std::vector<stored_node> stored_;
  std::vector<given_param> params_;
  std::vector<placed_input> places_;
  std::vector<jit::launch_memo> memos_;  // of the launches
  plan_table::memory_bounds asked_;
  runtime::device_id device_;
  std::uint64_t last_use_ = 0;
};

/// Under the flush lock. Holds a bounded number of plans (limits().cached_plans, cached_bytes); those that have not been
/// used for the longest time go first.
class plan_cache {
 public:
  /// Plans the evaluation of `roots` with `with`, whose kernels are those of the result until it is cleared. The result
  /// is valid until the next call.
  cached_plan& plan(planner& with, std::span<const value> roots);
  std::size_t size() const noexcept { return plans_.size(); }

 private:
  cached_plan* expected() const noexcept;
  cached_plan& use(cached_plan& p) noexcept;
  cached_plan* find(std::uint64_t hash);
  cached_plan& keep(std::uint64_t hash, std::unique_ptr<cached_plan> made);
  void verify(planner& with, std::span<const value> roots);
  void forget_order() noexcept;
  void evict();

  signature signature_;
  std::unordered_map<std::uint64_t, std::unique_ptr<cached_plan>> plans_;  // by the hash of their signatures
  std::size_t bytes_ = 0;
  std::uint64_t uses_ = 0;
  std::uint64_t era_ = 1;  // ends when a plan is dropped: what threads remember of earlier ones is void
};

}  // namespace sinter::graph
