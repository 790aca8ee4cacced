// Partial writes in a row: which of them need no old elements, and which one kernel can do together.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "graph/plan/planner.hpp"
#include "graph/values/regions.hpp"

namespace sinter::graph {

// Finds partial writes whose base need not be there, since they and the writes that follow replace all of it before
// anything reads it: the five-point step that writes the inner points and then the edges. From each last write down.
// What was recorded into the base before is not computed then, unless it may find an error.
void planner::find_unset() {
  const std::uint64_t mark = begin_search();
  for (node* last : pending()) {  // those that read a node come before it
    if (last->kind != node_kind::update || std::exchange(at(last).search, mark) == mark) continue;
    uncovered left(last->shape);
    for (node* n = last; n->kind == node_kind::update && !n->update().in_place; n = n->args[0].get()) {
      if (n != last && !at(n).alone) break;
      at(n).search = mark;
      box written;
      if (find_box(n->shape, region_of(*n), written)) left.remove(written);
      if (!left.empty()) continue;
      at(n).unset = n->args[1]->size() != 0 && !may_find_fault(n->args[0].get());
      break;
    }
  }
}

// Whether computing a pending value may find an error in data, which is reported although the elements are replaced.
bool planner::may_find_fault(node* n) {
  bool may = false;
  for_each_below(n, [&](const node* x) {
    const node_kind kind = x->kind;
    if (kind == node_kind::map)
      may = may || x->map().op == jit::opcode::checked_index ||
            (x->map().op == jit::opcode::power && is_integer(x->type));
    else
      may = may || (kind == node_kind::gather && x->gather().may_fail()) || kind == node_kind::call ||
            kind == node_kind::random;
  });
  return may;
}

namespace {

/// Whether no two neighbours of a region's elements are neighbours in memory: regions between them share its sectors.
bool is_scattered(const region& r) {
  for (int a = 0; a < r.extents.size(); ++a)
    if (r.extents[a] > 1 && std::abs(r.strides[a]) == 1) return false;
  return true;
}

}  // namespace

// Whether a partial write that follows another one directly can be done by the same kernel, each element of both by one
// thread: the regions are disjoint, and nothing is read of the memory that either writes.
bool planner::may_join_writes(const kernel_plan& first, const kernel_plan& then) {
  node* const n = then.results[0];
  if (n->args[0].get() != first.results.back() || !at(first.results.back()).alone || n->update().in_place) return false;
  if (first.results[0]->update().in_place || !first.code.calls.empty() || !then.code.calls.empty()) return false;
  const node* const base = first.results[0]->args[0].get();
  const auto reads_base = [&](const kernel_plan& k) {
    return std::any_of(k.inputs.begin(), k.inputs.end(), [&](const input_slot& s) { return s.source == base; });
  };
  if (reads_base(first) || reads_base(then)) return false;
  if (core::element_count(then.extents) > small_space && !share_inputs(first, then) && !is_scattered(region_of(*n)))
    return false;
  const auto is_apart = [&](const node* write) {
    return std::all_of(first.results.begin(), first.results.end(), [&](const node* before) {
      return are_disjoint(n->shape, region_of(*before), region_of(*write));
    });
  };
  return std::all_of(then.results.begin(), then.results.end(), is_apart);
}

}  // namespace sinter::graph
