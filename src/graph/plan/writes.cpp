// Partial writes in a row: which of them need no old elements, and which one kernel can do together.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "graph/plan/planner.hpp"
#include "graph/values/regions.hpp"

namespace sinter::graph {
namespace {

/// Whether an update reads, for every element, exactly the place that it writes.
bool reads_where_it_writes(const linear_form& read, const payload::update& update, const dims& extents) {
  if (read.offset != update.offset || read.coefficients.size() < update.strides.size()) return false;
  for (int v = 0; v < read.coefficients.size(); ++v) {
    std::int64_t stride = v < update.strides.size() ? update.strides[v] : 0;
    if (v < extents.size() && extents[v] == 1) continue;
    if (read.coefficients[v] != stride) return false;
  }
  return true;
}

}  // namespace

bool reads_elsewhere(const linear_form& read, const node& update, const dims& extents) {
  for (int v = extents.size(); v < read.coefficients.size(); ++v)
    if (read.coefficients[v] != 0) return false;  // gathered: may be anywhere
  return are_disjoint(update.shape, {read.offset, read.coefficients, extents}, region_of(update));
}

bool shows_elsewhere(const node& view, const node& update) {
  return are_disjoint(update.shape, {view.view().offset, view.view().strides, view.shape}, region_of(update));
}

namespace {

/// Whether no element that is read is written for another element: none of them is written at all, or each is where the same
/// element of one of the writes goes, which is stored after it has been read. The regions of the writes are disjoint.
bool reads_for_itself(const linear_form& read, std::span<node* const> writes, const dims& extents) {
  return std::any_of(writes.begin(), writes.end(),
                     [&](const node* n) { return reads_where_it_writes(read, n->update(), extents); }) ||
         std::all_of(writes.begin(), writes.end(), [&](const node* n) { return reads_elsewhere(read, *n, extents); });
}

}  // namespace

bool reads_apart(const kernel_plan& update) {
  const node* const base = update.results[0]->args[0].get();
  return std::all_of(update.inputs.begin(), update.inputs.end(), [&](const input_slot& s) {
    return s.source != base || reads_for_itself(s.at, update.results, update.extents);
  });
}

node* version_below(const node& view, std::span<node* const> writes) {
  node* n = view.args[0].get();
  while (std::find(writes.begin(), writes.end(), n) != writes.end()) {
    if (!shows_elsewhere(view, *n)) return nullptr;
    n = n->args[0].get();
  }
  return n;
}

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

// The references to a version that partial writes make to read other elements of it than those that they write: views that
// nothing else needs. `last` is the latest of `writes`.
std::uint32_t planner::reads_between(const kernel_plan& then, std::span<node* const> writes) {
  std::uint32_t count = 0;
  std::vector<node*> work;
  for (const node* n : then.results) work.push_back(n->args[1].get());
  while (!work.empty()) {
    node* const n = work.back();
    work.pop_back();
    if (n->is_leaf() || !at(n).alone || at(n).stored) continue;
    if (n->kind == node_kind::view && n->args[0].get() == writes.back()) {
      const bool apart = std::all_of(writes.begin(), writes.end(), [&](node* w) { return shows_elsewhere(*n, *w); });
      count += apart;
    } else if (n->kind == node_kind::view || n->kind == node_kind::map) {
      for (int k = 0; k < n->operand_count(); ++k) work.push_back(n->operand(k));
    }
  }
  return count;
}

// Whether a partial write that follows another one directly can be done by the same kernel, each element of both by one
// thread: the regions are disjoint, and of the memory that either writes nothing is read but by the same element, which is
// stored after that. What the later one reads of the version in between, the earlier one has not written: it is read from the
// version before.
bool planner::may_join_writes(const kernel_plan& first, const kernel_plan& then) {
  node *const n = then.results[0], *const between = first.results.back();
  if (n->args[0].get() != between || n->update().in_place || first.results[0]->update().in_place) return false;
  if (!first.code.calls.empty() || !then.code.calls.empty()) return false;
  if (!at(between).alone && (at(between).held || at(between).uses != 1 + reads_between(then, first.results)))
    return false;
  const node* const base = first.results[0]->args[0].get();
  const auto misses_all = [&](const input_slot& s, const std::vector<node*>& writes) {
    return std::all_of(writes.begin(), writes.end(),
                       [&](const node* w) { return reads_elsewhere(s.at, *w, then.extents); });
  };
  std::vector<node*> both(first.results);
  both.insert(both.end(), then.results.begin(), then.results.end());
  const auto may_read = [&](const kernel_plan& k) {
    return std::all_of(k.inputs.begin(), k.inputs.end(), [&](const input_slot& s) {
      if (s.source == between && !misses_all(s, first.results)) return false;
      return (s.source != base && s.source != between) || reads_for_itself(s.at, both, then.extents);
    });
  };
  if (!may_read(first) || !may_read(then)) return false;
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
