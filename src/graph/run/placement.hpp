// Where the results of a plan are placed: in newly allocated memory, in memory that the plan no longer needs, or, for
// updates, in the memory of the version that they update. The one place that decides whether a recorded write is done in
// place.
//
// An update runs in place if the difference cannot be observed: after the plan, no reference but the plan's own remains
// to the old version or to its memory (is_owned, storage.hpp), no later kernel of the plan reads it, and the elements
// that the update itself reads are exactly those that it writes, or disjoint from them. Otherwise the old version is
// copied first. Two cases are decided elsewhere, since they have no old version to keep: memory whose address has been
// handed out is written in place even if there are other references (`in_place`, recorded with the update), and a write
// of a whole array is not an update.
//
// By the same rule a result gets the memory of a value, a leaf as well as an earlier result, whose last reader is an
// earlier kernel, or this one if it reads each element only where it writes it. Memory of an earlier result may be too
// small for that, since it is allocated once all results have their places: as large as the largest of them. Nothing is
// written before everything has been allocated and compiled. Where a kernel fails after others have run, it and those that follow need only what is
// intact: whatever has been overwritten had its last reader before, and so have the values that refer to it.
#pragma once
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "graph/plan/planner.hpp"
#include "runtime/backend.hpp"

namespace sinter::graph {

/// Memory of a value.
struct placed {
  runtime::buffer_ref buffer;
  std::int64_t offset = 0;  // in elements
};

/// Serves one plan at a time, from the end of planning to planner::clear(). Its memory is reused from one plan to the
/// next.
class placement {
 public:
  explicit placement(planner& plan) noexcept : plan_(plan) {}

  /// Called once the kernels are planned.
  void begin();
  void clear();
  /// Bytes that the plan's leaves release once it is done, less those that it stores. Before begin().
  std::int64_t released_bytes();

  /// Where a node that the plan stores is placed; where any node is. The buffer is there once settle() has been called.
  placed& at(node* n) { return places_[static_cast<std::size_t>(plan_.known(n).kernel)]; }
  placed where(node* n) { return n->is_leaf() ? placed{n->buffer, n->buffer_offset} : at(n); }
  /// Places a result of kernel number `kernel` in memory that is no longer needed; false where there is none. Called in
  /// the order of the kernels, as the next two are.
  bool take_memory(node* n, std::size_t kernel);
  /// Places a result in memory of its own, or a node that shows another one's memory there.
  void put(node* n);
  void put_view(node* n, node* base, std::int64_t offset);
  /// Gives each place its buffer, by allocate(bytes, kind of memory), once every result has its place.
  template <class F>
  void settle(F allocate) {
    for (std::size_t k = 0; k < places_.size(); ++k) {
      if (places_[k].buffer) continue;
      const node* const n = plan_.stored()[k];
      const std::int32_t slot = plan_.known(n).memory;
      if (slot < 0) continue;  // of a call that has no result
      occupied& m = memory_[static_cast<std::size_t>(slot)];
      if (!m.own) m.own = allocate(m.bytes, n->memory);
      places_[k].buffer = m.own;
    }
  }
  /// Whether a value's memory has another result once the first kernels have run. Nothing but released nodes refers to
  /// it: it stays pending, and is destroyed with the plan's references.
  bool is_overwritten(node* n, std::size_t kernels) {
    const std::int32_t by = plan_.known(n).taken_by;
    return by >= 0 && static_cast<std::size_t>(by) < kernels;
  }
  /// Places the results of an update in the old version's memory if it may be written there; returns whether it may.
  /// Called once for each update, in the order of the kernels.
  bool reuse_base(const kernel_plan& update);
  /// Places the result of an update in the memory of another one of its kernel.
  void put_in_memory_of(node* n, node* resident);

 private:
  /// Memory that the plan reads or writes.
  struct occupied {
    std::int64_t references = 1;  // to the buffer, which end with the plan or are those of its results
    std::int64_t views = 0;       // of put_view(), which are not among them
    std::int32_t needed = 1;      // nodes in it that are read later or remain
    node* residents = nullptr;    // the nodes in it (entry::next_resident)
    bool made = false;            // for results of this plan, when they have been placed:
    std::size_t bytes = 0;
    memory_kind kind{};
    runtime::buffer_ref own{};
  };
  bool has_large_result() const;
  void analyse_references();
  void find_last_readers();
  void list_finished();
  void find_constant_results();
  bool is_constant(const node* n) const { return !constant_.empty() && constant_.contains(n); }
  void note_reader(node* n, std::size_t kernel);
  bool may_overwrite(const kernel_plan& plan);
  occupied& memory_of(node* n);
  void join(node* n, node* resident);
  const runtime::buffer_ref& buffer_of(node* n) { return n->is_leaf() ? n->buffer : at(n).buffer; }
  void pass(std::size_t kernel);
  bool may_take(node* old, std::size_t least, std::size_t most, memory_kind kind);
  bool may_grow(node* old, const node* n);
  void give(node* old, node* n, std::size_t kernel);
  bool is_beside_larger(node* n, std::size_t kernel);
  node* best_fit(node* n, std::size_t kernel);
  node* largest_that_grows(const node* n);
  node* take_unneeded(std::vector<node*>::reverse_iterator at);
  node* find_operand(const node* n, std::size_t kernel);

  planner& plan_;
  std::vector<placed> places_;                // by planner::entry::kernel
  std::vector<node*> order_;                  // scratch of analyse_references
  bool reuses_ = false;                       // results may get memory that is no longer needed
  bool takes_leaves_ = false;                 // that of leaves as well
  std::unordered_set<const node*> constant_;  // of a captured step: the same each time (ongoing_capture::stays)
  std::vector<occupied> memory_;
  std::vector<std::int32_t> touched_;  // positions of the nodes in them
  std::vector<node*> finished_;        // by kernel: the nodes that it is the last one to read (entry::next_finished)
  std::vector<node*> unneeded_;        // of each memory that may be taken, a node
  std::size_t passed_ = 0;             // kernels whose finished nodes are no longer needed
};

}  // namespace sinter::graph
