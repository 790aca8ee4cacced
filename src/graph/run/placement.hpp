// Where the results of a plan go: to memory of their own, or, for updates, to where the version lies that they update.
// The one place that decides whether elements of a recorded write are written in place.
//
// An update runs in place if nobody will see the difference: nothing but this plan refers to the old version once the
// plan is done, nor to its memory (is_owned, storage.hpp), no other kernel of the plan reads it, and what the update
// itself reads of it lies at the place that it writes, or nowhere near. Otherwise the old version is copied first. Two
// cases are decided elsewhere, since they have no old version to keep: memory whose address is out is written in place
// whoever refers to it
// (`in_place`, recorded with the update), and a write of a whole array is no update.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "graph/plan/planner.hpp"
#include "runtime/backend.hpp"

namespace sinter::graph {

/// Memory of a value.
struct placed {
  runtime::buffer_ref buffer;
  std::int64_t offset = 0;  // in elements
};

/// Of one plan at a time, from the end of planning to planner::clear(). Keeps its memory from one plan to the next.
class placement {
 public:
  explicit placement(planner& plan) noexcept : plan_(plan) {}

  /// Once the kernels are planned.
  void begin();
  void clear();
  /// Bytes that the plan's leaves give back once it is done, less those that it stores. Before begin().
  std::int64_t released_bytes();

  /// Where a node lies that the plan stores; where any node lies.
  placed& at(node* n) { return places_[static_cast<std::size_t>(plan_.at(n).kernel)]; }
  placed where(node* n) { return n->is_leaf() ? placed{n->buffer, n->buffer_offset} : at(n); }
  /// Places an update where the old version lies, if it may be written there; whether it may. Once for each, in the
  /// order of the kernels.
  bool reuse_base(const kernel_plan& update);

 private:
  struct node_hash {
    std::size_t operator()(const node* n) const noexcept { return reinterpret_cast<std::size_t>(n) >> 6; }
  };
  void analyse_references();
  void visit(node* n, std::vector<node*>& order);
  void count_readers();
  bool may_overwrite(const kernel_plan& plan);

  planner& plan_;
  std::vector<placed> places_;  // by planner::entry::kernel
  std::unordered_map<const node*, int, node_hash> readers_;
  std::unordered_map<const runtime::buffer*, int> owned_;  // references to a buffer that this plan will let go
};

}  // namespace sinter::graph
