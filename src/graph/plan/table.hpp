// The planner's data about each visited node, first of all whether it is written to memory. The kernel builder reads
// and extends it; the planner (planner.hpp) iterates until nothing is added.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/plan/plan.hpp"

namespace sinter::graph {

/// A number for the marks of one walk over pending nodes. Under the flush lock.
std::uint64_t next_epoch() noexcept;

/// Numbers scalars: those of one dtype with the same bits get the same number.
class scalar_numbers {
 public:
  std::int32_t number_of(dtype type, const jit::scalar& s);
  void clear() noexcept { ++epoch_, count_ = 0; }

 private:
  struct slot {
    std::uint64_t epoch = 0;  // another one than the table's: free
    std::uint64_t first = 0, second = 0;
    dtype type{};
    std::int32_t number = 0;
  };
  slot& find(dtype type, std::uint64_t first, std::uint64_t second) noexcept;
  void grow();

  std::uint64_t epoch_ = 1;
  std::int32_t count_ = 0;
  std::vector<slot> slots_;  // open addressing; at most half are in use
};

class plan_table {
 public:
  struct entry {
    explicit entry(node* of) noexcept : n(of) {}  // without filling it with zeros first, which takes longer
    node* n;
    bool stored = false;  // written to memory by this plan
    store_reason why = store_reason::requested;
    std::int32_t level = -1;
    std::int32_t kernel = -1;    // stored: index into stored()
    std::int32_t weight = -1;    // cached inline_weight
    double again = -1;           // cached inline_cost
    std::int64_t read_over = 0;  // stored for a kernel over more elements: how many, and for what that is computed from
    bool entered = false;        // is in pending()
    bool unset = false;          // update: later ones write all that it does not, and only they read it
    bool together = false;       // its elements along a short axis are not outputs of their own
    bool given_up = false;       // it was stored, and is computed with what is computed from it instead
    bool looked_up = false;      // stored for a kernel that reads it by indices
    bool priced = false;         // stored by its price (is_better_stored_for())
    bool split = false;     // split epilogue: reads the stored reductions instead of being computed in their kernel
    std::uint16_t reg = 0;  // the register of the kernel being built that holds it, if `phase` is the builder's
    std::uint64_t phase = 0;
    std::uint64_t search = 0;     // the last walk that visited it
    std::uint64_t result_of = 0;  // the phase of the kernel being built that has it as a result
    std::uint32_t uses = 0;       // references from the plan's pending nodes
    // As they were when the plan was begun, since other threads change some of them; a plan follows from these alone:
    bool held = false;               // nodes or handles outside of the plan refer to it
    bool alone = false;              // it has one reference
    bool assigned = false;           // node::assigned
    bool remains = false;            // needed after the plan (mark_remaining())
    bool inlined = false;            // mark_inlined()
    std::int32_t scalar = -1;        // equal for scalars of one dtype with the same bits
    std::int32_t first_reader = -1;  // reduce: the pending reductions of its operand (reader())
    std::int32_t readers = 0;
    std::uint64_t when = 0;         // number_values()
    std::int32_t last_use = -1;     // cuts: position of the last node that reads it
    std::uint32_t dropped = 0;      // placement: references from nodes that this plan releases
    std::uint32_t met = 0;          // placement: references from nodes that have been visited
    std::int32_t last_reader = -1;  // placement: the last kernel that reads it
    std::int32_t memory = -1;       // placement: the number of its memory
    std::int32_t taken_by = -1;     // placement: the kernel whose result gets its memory
    std::int32_t origin = -1;       // leaf: the position of the first view that shows it (origin_of())
    std::uint32_t views = 0;        // leaf: how many show it
    node* next_finished = nullptr;  // placement: another node with the same last reader
    node* next_resident = nullptr;  // placement: another node in the same memory
  };
  /// What a plan knows of its nodes, and a plan for an equal graph as well: only the nodes are others. The first `walked` entries
  /// are what was requested and what that is computed from, in the order in which a walk meets them.
  struct node_table {
    std::vector<entry> entries;
    std::size_t walked = 0, ordered = 0, readers = 0;  // `ordered`: pending nodes whose order matters
    std::vector<std::int32_t> inlined;                 // positions of what for_each_held() looks at
    bool fixed = false;   // places in leaves may matter: to calls, and in long graphs, whose repetitions are looked for
    bool marked = false;  // mark_inlined() has been called
    bool counted = false;  // placement: references have been
    bool read = false;     // placement: the last readers are known
  };
  entry& at(node* n) {
    if (n->mark.epoch != epoch_) [[unlikely]]
      enter(n);
    return known_.entries[static_cast<std::size_t>(n->mark.index)];
  }
  /// Of a node that is in the table.
  [[gnu::always_inline]] entry& known(const node* n) noexcept {
    return known_.entries[static_cast<std::size_t>(n->mark.index)];
  }
  bool is_stored(node* n) { return n->is_leaf() || at(n).stored; }
  /// Makes the node a materialisation point: it is stored from now on.
  void materialise(node* n, store_reason why);
  /// Stores a view in the order of its elements; what it returns is that view, or another one of the same elements that is stored.
  node* pack(node* view);
  /// That other view; null if there is none.
  node* find_packed(const node* view);
  /// The cost per element if the node is computed inside the kernels that read it.
  std::int32_t inline_weight(node* n);
  /// The same with what reading elements costs, by the device's prices, and functions as it computes them.
  double inline_cost(node* n);
  /// Whether a value that is read for so many elements is cheaper to store than to compute for each of them.
  bool is_better_stored_for(node* n, std::int64_t read_over, bool by_indices);
  /// Whether there is memory for the node, and storing it moves little more than recomputing it.
  bool worth_storing(node* n);
  /// Whether there is memory for the node.
  bool fits_memory(const node* n);
  /// What other threads may change of a pending node, now.
  struct node_state {
    bool held, alone, assigned;
  };
  static node_state state_of(const entry& e) noexcept {
    const std::uint32_t refs = e.n->refs.load(std::memory_order_acquire);
    return {refs > e.uses, refs == 1, e.n->assigned.load(std::memory_order_relaxed)};
  }
  /// A number for entry::search.
  std::uint64_t begin_search() noexcept { return ++search_; }
  runtime::device_id device() const noexcept { return device_; }
  /// The number of the plan.
  std::uint64_t epoch() const noexcept { return epoch_; }

  /// The pending nodes below the roots, each once.
  const std::vector<node*>& pending() const noexcept { return pending_; }
  /// The nodes that are written to memory, in the order of `entry::kernel`; all visited nodes.
  const std::vector<node*>& stored() const noexcept { return stored_; }
  const std::vector<entry>& entries() const noexcept { return known_.entries; }
  node_table& known_nodes() noexcept { return known_; }
  const node_table& known_nodes() const noexcept { return known_; }
  /// Once the plan is cleared, what it knows of its nodes lies there.
  void keep_nodes_in(node_table& there) noexcept {
    kept_ = &there;
    kept_entries_ = known_.entries.size();
  }
  /// Goes on with what an earlier plan for an equal graph has kept. The nodes are this plan's, of which none is stored.
  void continue_with(node_table& kept) noexcept;
  /// Begins a plan instead of begin(), and goes on with what a plan with a list of numbers (signature) has kept: compares while it
  /// walks the graph. False, and the table is clear, where the graph has another list, or may have.
  bool begin_like(std::span<const value> roots, node_table& kept, std::span<const std::uint64_t> words);
  /// Of what that has stored, in the order of entry::kernel.
  void note_stored(node* n) { stored_.push_back(n); }
  /// Whether nodes or handles outside of the plan refer to a pending node of it now.
  bool is_held(node* n) { return n->refs.load(std::memory_order_acquire) > at(n).uses; }
  node* reader(std::int32_t k) const noexcept { return readers_[static_cast<std::size_t>(k)]; }
  const std::vector<node*>& readers() const noexcept { return readers_; }
  /// Whether a plan may depend on the order in which the pending nodes were recorded.
  bool depends_on_order() const noexcept;
  /// The view that other reads of a leaf are counted from, where views alone read it and plans follow from how far these lie
  /// apart, not from where they begin: steps of a loop over parts of an array have one plan. Else null.
  const node* origin_of(const node* leaf) const noexcept { return origin_of(leaf, known_); }
  static const node* origin_of(const node* leaf, const node_table& known) noexcept {
    const entry& e = known.entries[static_cast<std::size_t>(leaf->mark.index)];
    return e.origin < 0 || e.views != e.uses || known.fixed ? nullptr
                                                            : known.entries[static_cast<std::size_t>(e.origin)].n;
  }
  /// What the plan needs to know of the device's free memory: each allocation that it has asked about fits, or does not.
  struct memory_bounds {
    std::size_t fitting = 0, refused = SIZE_MAX;  // bytes
  };
  const memory_bounds& asked() const noexcept { return asked_; }
  static std::size_t room_on(runtime::device_id device) { return runtime::get_backend(device).memory().available / 4; }
  /// Marks what is needed once the plan is done (entry::remains): what was requested, is held, or is an operand of a held
  /// node that stays pending, or of one below it.
  void mark_remaining();
  /// Marks what kernels of the plan compute without storing it (entry::inlined); not where they need few of its elements only.
  void mark_inlined();
  /// Calls f(node*) for what is marked so and held. Allocates nothing.
  template <class F>
  void for_each_held(F f) {
    for (const std::int32_t k : known_.inlined)
      if (node* const n = known_.entries[static_cast<std::size_t>(k)].n; !n->is_leaf() && is_held(n)) f(n);
  }
  /// Calls f(node*) once for a node of the plan and for all that it is computed from; leaves end the walk.
  template <class F>
  void for_each_below(node* n, F f) {
    const std::uint64_t mark = begin_search();
    std::vector<node*> work{n};
    while (!work.empty()) {
      node* const x = work.back();
      work.pop_back();
      if (std::exchange(at(x).search, mark) == mark) continue;
      f(x);
      for (int k = 0; k < x->operand_count(); ++k) work.push_back(x->operand(k));
    }
  }

 protected:
  /// Begins a plan of the roots, which are stored: enters the pending nodes below them, and counts their uses.
  void begin(std::span<const value> roots);
  /// Sorts pending() in the order of recording, in which every node follows its operands.
  void sort_pending();
  /// Gives each pending and each stored node a number (entry::when) above those of its operands: in the order of
  /// recording where the plan may depend on that, else in the order of a walk up from the leaves.
  void number_values();
  void clear();
  /// Reverts all but the first `count` stored nodes.
  void store_no_more_than(std::size_t count);
  /// Numbers the stored nodes again, without those that are stored no more.
  void forget_given_up();

 private:
  friend class follower;
  void enter(node* n);
  void enter_pending(entry& e);
  void note_state(node* n);
  void note_view(const entry& view) noexcept;
  void find_readers(node* reduction);
  void number_from(node* n, std::uint64_t& next);

  runtime::device_id device_{};
  std::uint64_t epoch_ = 0, search_ = 0;
  node_table known_;
  node_table* kept_ = nullptr;  // where that goes once the plan is done
  std::size_t kept_entries_ = 0;
  std::vector<node*> stored_;  // in the order of their discovery
  std::vector<node*> packed_;  // the views among them that are stored in the order of their elements
  std::vector<node*> pending_;
  std::vector<node*> readers_;
  std::vector<value> outside_;  // reductions that are no part of what was requested, but may be computed with it
  scalar_numbers scalars_;
  memory_bounds asked_;
};

}  // namespace sinter::graph
