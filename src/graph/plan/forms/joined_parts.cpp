// Which arrays have been joined of parts.
#include "graph/plan/forms/joined_parts.hpp"

namespace sinter::graph {
namespace {

/// The axis that is reduced, where it is one; else -1.
int only_axis(const payload::reduce& over, int rank) noexcept {
  int axis = -1;
  for (int a = 0; a < rank; ++a)
    if (over.is_over(a)) axis = axis == -1 ? a : -2;
  return axis < 0 ? -1 : axis;
}

bool is_pending_write(const node* n) noexcept { return n->kind.load(std::memory_order_relaxed) == node_kind::update; }

/// Whether all pending writes write all that is not along the axis, and all that is along it among them.
bool is_joined_along(const node* n, int axis) {
  uncovered left(n->shape);
  while (is_pending_write(n) && !left.empty()) {
    written_part found;
    if (!find_part(*n, found)) return false;
    for (int a = 0; a < n->shape.size(); ++a)
      if (a != axis && found.block.end[a] - found.block.first[a] != n->shape[a]) return false;
    left.remove(found.block);
    n = n->args[0].get();
  }
  return left.empty();
}

bool joins_along(const node* x, int axis, int rank, int depth) {
  if (is_pending_write(x)) return x->shape.size() == rank && is_joined_along(x, axis);
  if (depth == 0 || x->kind.load(std::memory_order_relaxed) != node_kind::map) return false;
  for (int k = 0; k < x->nargs; ++k)
    if (joins_along(x->args[k].get(), axis, rank, depth - 1)) return true;
  return false;
}

}  // namespace

bool find_part(const node& update, written_part& found) {
  const node& part = *update.args[1];
  const dims &shape = update.shape, steps = core::contiguous_strides(shape);
  if (update.update().in_place || part.type != update.type) return false;
  if (!find_box(shape, region_of(update), found.block)) return false;
  const auto written = [&](int a) { return found.block.end[a] - found.block.first[a]; };
  found.axes = {};
  int next = 0;
  for (int k = 0; k < part.shape.size(); ++k) {
    if (part.shape[k] == 1) {
      found.axes.push_back(-1);
      continue;
    }
    while (next < shape.size() && written(next) == 1) ++next;
    if (next == shape.size() || written(next) != part.shape[k] || update.update().strides[k] != steps[next])
      return false;
    found.axes.push_back(next++);
  }
  while (next < shape.size() && written(next) == 1) ++next;
  return next == shape.size();
}

bool joins_parts(const node* x, const payload::reduce& over) {
  constexpr int most_depth = 4;
  const int axis = only_axis(over, x->shape.size());
  return axis >= 0 && joins_along(x, axis, x->shape.size(), most_depth);
}

}  // namespace sinter::graph
