// Where the results of a plan are placed: in newly allocated memory, or, for updates, in the memory of the version that
// they update. The one place that decides whether a recorded write is done in place.
//
// An update runs in place if the difference cannot be observed: after the plan, no reference but the plan's own remains
// to the old version or to its memory (is_owned, storage.hpp), no other kernel of the plan reads it, and the elements
// that the update itself reads are exactly those that it writes, or disjoint from them. Otherwise the old version is
// copied first. Two cases are decided elsewhere, since they have no old version to keep: memory whose address has been
// handed out is written in place even if there are other references (`in_place`, recorded with the update), and a write
// of a whole array is not an update.
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

  /// Where a node that the plan stores is placed; where any node is.
  placed& at(node* n) { return places_[static_cast<std::size_t>(plan_.at(n).kernel)]; }
  placed where(node* n) { return n->is_leaf() ? placed{n->buffer, n->buffer_offset} : at(n); }
  /// The memory of an earlier result that no later kernel reads and nothing else refers to, for result `n` of kernel
  /// number `kernel`; null where there is none. Called in the order of the kernels. The earlier result then has no place:
  /// its node stays pending, and is destroyed with the plan's references.
  runtime::buffer_ref take_unneeded(const node* n, std::size_t kernel);
  /// Places an update in the old version's memory if it may be written there; returns whether it may. Called once for
  /// each update, in the order of the kernels.
  bool reuse_base(const kernel_plan& update);

 private:
  struct node_hash {
    std::size_t operator()(const node* n) const noexcept { return reinterpret_cast<std::size_t>(n) >> 6; }
  };
  void analyse_references();
  void visit(node* n, std::vector<node*>& order);
  void count_readers();
  void find_last_readers();
  bool may_overwrite(const kernel_plan& plan);

  planner& plan_;
  std::vector<placed> places_;                      // by planner::entry::kernel
  std::vector<std::vector<node*>> unneeded_after_;  // by kernel: the results that it is the last one to read
  std::vector<node*> unneeded_;                     // those whose memory may be taken
  std::size_t searched_ = 0;                        // kernels whose results are in unneeded_
  std::unordered_map<const node*, int, node_hash> readers_;
  std::unordered_map<const runtime::buffer*, int> owned_;  // references to a buffer that this plan releases
};

}  // namespace sinter::graph
