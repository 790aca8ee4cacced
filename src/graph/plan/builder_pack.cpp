// Operands of reductions that are read where they lie only slowly: a copy in the order of the kernel costs less.
#include <algorithm>
#include <cstdlib>

#include "graph/plan/builder.hpp"

namespace sinter::graph {
namespace {

/// Elements below which another kernel costs more than it saves.
constexpr std::int64_t least_gathered = 1024, least_transposed = std::int64_t{1} << 16;
constexpr std::int64_t least_row_bytes = 32;
/// A copy that is larger than this could be what the memory has no room for.
constexpr std::int64_t most_copied_bytes = std::int64_t{1} << 32;
/// Elements that lie side by side in memory, for which a tiled copy reads whole sectors.
constexpr std::int64_t least_dense = 8;

bool on_host(const node* n) noexcept { return n->device.kind == runtime::device_kind::cpu; }

/// Elements of a gather that lie side by side in what it reads, with one index.
std::int64_t row_of(const node* gather) noexcept {
  const dims &shape = gather->shape, &index = gather->args[1]->shape;
  std::int64_t row = 1;
  for (int a = shape.size(); --a > gather->gather().axis;) {
    const int b = a - shape.size() + index.size();
    if (b >= 0 && index[b] != 1) break;
    row *= shape[a];
  }
  return row;
}

/// Whether indices come from memory. Those of rolls and the like follow from positions: parts of them are read in place.
bool is_data(const node* index, int depth = 0) noexcept {
  if (index->is_leaf()) return true;
  const node_kind kind = index->kind.load(std::memory_order_relaxed);
  if (kind == node_kind::iota || kind == node_kind::scalar) return false;
  if (depth == 8) return true;
  return std::any_of(index->args, index->args + index->nargs,
                     [&](const auto& a) { return is_data(a.get(), depth + 1); });
}

}  // namespace

/// Column operands of a broadcast reduction are read once for each row: packing them makes those reads contiguous, unless
/// `map` reads the view itself by a stride.
bool kernel_builder::wants_packing(const node* view, const index_map& map, const linear_form& at) const {
  if (out_->kind != plan_kind::reduce || in_epilogue_ || view->size() * 64 > space_ || view->size() <= 1) return false;
  bool strided = false;
  for (int v = 0; v < rank_; ++v) {
    if (out_->extents[v] == 1 || at.coefficients[v] == 0) continue;
    if (v < out_->kept) return false;
    strided |= v == rank_ - 1 && at.coefficients[v] != 1;
  }
  return strided && compose(map, core::contiguous_strides(view->shape), 0).coefficients[rank_ - 1] == 1;
}

/// On a GPU, a transposed operand whose dense axis is neither the innermost one of the reduction, which the lanes of a
/// row share, nor of the results, which those of columns do: every lane reads a sector of its own. A tiled copy reads and
/// writes whole sectors, and costs two passes in place of up to eight.
bool kernel_builder::is_against_memory(const node* view, const index_map& map, const linear_form& at) const {
  if (out_->kind != plan_kind::reduce || in_epilogue_ || on_host(view) || view->size() < least_transposed ||
      view->size() != space_ || static_cast<std::int64_t>(view->bytes()) > most_copied_bytes)
    return false;
  const linear_form copied = compose(map, core::contiguous_strides(view->shape), 0);
  int row = -1, column = -1;  // the innermost axes
  bool dense = false;
  for (int v = 0; v < rank_; ++v) {
    if (out_->extents[v] == 1) continue;
    const std::int64_t step = std::abs(at.coefficients[v]);
    if (step == 0) return false;
    dense = dense || (step == 1 && out_->extents[v] >= least_dense);
    (v < out_->kept ? column : row) = v;
  }
  const auto along = [&](int v) { return v >= 0 && std::abs(at.coefficients[v]) == 1; };
  return dense && row >= 0 && !along(row) && !along(column) && copied.coefficients[row] == 1;
}

/// On the CPU, rows that a reduction would gather element by element: as a value of its own they are copies of memory.
bool kernel_builder::gathers_rows(const node* n) const {
  if (n->kind != node_kind::gather || out_->kind != plan_kind::reduce || in_epilogue_ || !on_host(n)) return false;
  return n->size() >= least_gathered && n->size() <= space_ && is_data(n->args[1].get()) &&
         row_of(n) * static_cast<std::int64_t>(itemsize(n->type)) >= least_row_bytes;
}

}  // namespace sinter::graph
