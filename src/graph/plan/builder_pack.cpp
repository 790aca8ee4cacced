// Operands that are read where they lie only slowly: a copy in the order of the kernel costs less.
#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "graph/plan/builder.hpp"
#include "graph/plan/forms/short_sums.hpp"
#include "graph/values/limits.hpp"

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

constexpr std::int64_t least_rolled = 1024;  // below, another launch costs more than it saves
constexpr std::int64_t long_row = 256;       // elements: a reduction reads rolled rows of this length in place as fast
constexpr int deepest = 64;                  // operations that are searched

bool is_roll(const node* n) noexcept {
  return n->kind.load(std::memory_order_relaxed) == node_kind::gather && is_shift(n->args[1].get());
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

namespace {

/// On the host, a transposed operand of operations on elements whose rows are so short that panels of them cost more than a
/// copy by tiles.
bool is_scattered(const kernel_plan& kernel, const node* view, const linear_form& copied, const linear_form& at) {
  constexpr std::int64_t short_row = 64;
  if (!view->args[0]->is_leaf() || !kernel.root || kernel.root == view) return false;
  int row = -1, dense = -1;
  for (int v = 0; v < kernel.extents.size(); ++v) {
    if (kernel.extents[v] == 1) continue;
    const std::int64_t step = std::abs(at.coefficients[v]);
    if (step == 0) return false;
    if (step == 1) dense = v;
    row = v;
  }
  if (dense < 0 || dense == row || copied.coefficients[row] != 1) return false;
  const std::int64_t shorter = std::min(kernel.extents[dense], kernel.extents[row]);
  return shorter >= least_dense && shorter < short_row;
}

}  // namespace

/// Whether the reductions of the kernel are of operations on elements alone: a GPU then goes over their results in the order
/// that suits the operands (jit/cuda/schedule/lower.cpp).
bool kernel_builder::may_order_results() {
  const std::uint64_t mark = table_.begin_search();
  std::vector<node*> work(reductions_.begin(), reductions_.end());
  for (int seen = 0; !work.empty(); ++seen) {
    node* const n = work.back();
    work.pop_back();
    const node_kind kind = n->kind.load(std::memory_order_relaxed);
    if (n->is_leaf() || kind == node_kind::scalar || std::exchange(table_.at(n).search, mark) == mark) continue;
    const bool own = std::find(reductions_.begin(), reductions_.end(), n) != reductions_.end();
    if (table_.is_stored(n) && !own) continue;
    if ((kind != node_kind::map && kind != node_kind::view && !own) || seen > deepest) return false;
    for (int k = 0; k < n->operand_count(); ++k) work.push_back(n->operand(k));
  }
  return true;
}

/// On a GPU, a transposed operand whose dense axis is neither the innermost one of the reduction, which the lanes of a
/// row share, nor of the results, which those of columns do: every lane reads a sector of its own. A tiled copy reads and
/// writes whole sectors, and costs two passes in place of up to eight. The order of the results may be another one. On the host
/// likewise, where several axes are reduced and the dense one is not the innermost of them: each vector would be gathered from as
/// many lines of the cache as it has elements. Other operands are read there through panels.
bool kernel_builder::is_against_memory(const node* view, const index_map& map, const linear_form& at) {
  if (in_epilogue_ || view->size() < least_transposed || view->size() != space_ ||
      static_cast<std::int64_t>(view->bytes()) > most_copied_bytes)
    return false;
  const linear_form copied = compose(map, core::contiguous_strides(view->shape), 0);
  if (out_->kind == plan_kind::elementwise && on_host(view)) return is_scattered(*out_, view, copied, at);
  if (out_->kind != plan_kind::reduce) return false;
  int row = -1, column = -1;  // the innermost axes
  int dense = -1;
  for (int v = 0; v < rank_; ++v) {
    if (out_->extents[v] == 1) continue;
    const std::int64_t step = std::abs(at.coefficients[v]);
    if (step == 0) return false;
    if (step == 1 && out_->extents[v] >= least_dense) dense = v;
    (v < out_->kept ? column : row) = v;
  }
  const auto along = [&](int v) { return v >= 0 && std::abs(at.coefficients[v]) == 1; };
  const bool against = dense >= 0 && row >= 0 && !along(row) && !along(column) && copied.coefficients[row] == 1;
  if (on_host(view)) return against && dense >= out_->kept && out_->extents[row] >= least_dense;
  // Rows that stay on chip are read along them.
  return against && (dense >= out_->kept || read_over() == space_ || !may_order_results());
}

/// On the CPU, rows that a reduction would gather element by element: as a value of its own they are copies of memory.
bool kernel_builder::gathers_rows(const node* n) const {
  if (n->kind != node_kind::gather || out_->kind != plan_kind::reduce || in_epilogue_ || !on_host(n)) return false;
  return n->size() >= least_gathered && n->size() <= space_ && is_data(n->args[1].get()) &&
         row_of(n) * static_cast<std::int64_t>(itemsize(n->type)) >= least_row_bytes;
}

// Rolled operands on the CPU. A kernel of rolls is run in parts, each with plain reads, unless it needs coordinates, where every
// element is looked up by its index; one that reduces short rows, or several axes, reads row by row, which costs as much as a row. There
// the value that the rolls make, such as a sum of neighbours, is a kernel of its own.

/// What is wanted below a node and over its space, or one of the same elements that a view shows, no further than a search goes; null if there
/// is none.
node* kernel_builder::find_below(bool (*is_wanted)(const node* n), bool or_view, node* top) {
  const std::uint64_t mark = table_.begin_search();
  std::vector<node*> work{top};
  for (int seen = 0; !work.empty() && seen < deepest; ++seen) {
    node* const n = work.back();
    work.pop_back();
    if ((table_.is_stored(n) && !is_own_result(n)) || std::exchange(table_.at(n).search, mark) == mark) continue;
    if (is_wanted(n)) return n;
    if (!(n->shape == top->shape)) continue;
    if (or_view && n->kind == node_kind::view && n->args[0]->size() == n->size()) work.push_back(n->args[0].get());
    if (n->kind != node_kind::map) continue;
    for (int k = 0; k < n->nargs; ++k) work.push_back(n->args[k].get());
  }
  return nullptr;
}

bool kernel_builder::is_over_rolls(node* top) { return find_below(&is_roll, false, top) != nullptr; }

/// On the host rolls have plain reads in parts where a kernel reads each element after the other. Where it reads every second one, as four
/// times for a coarser grid, each of the rolled elements is looked up by its index: what the rolls make is stored first if that costs less.
bool kernel_builder::skips_rolled(node* n, const index_map* map) {
  if (!map || !on_host(n) || n->size() < least_rolled || (n->kind != node_kind::map && !is_roll(n))) return false;
  bool skips = false;
  for (int a = 0; a < map->rows(); ++a) {
    bool moves = false,
         by_one = false;  // along the axis; an array in another shape has larger steps beside those by one
    for (int v = 0; v < rank_; ++v) {
      const std::int64_t step = out_->extents[v] > 1 ? std::abs(map->coefficient(a, v)) : 0;
      moves = moves || step != 0;
      by_one = by_one || step == 1;
    }
    skips = skips || (moves && !by_one);
  }
  if (!skips) return false;
  const std::uint64_t mark = table_.begin_search();
  std::vector<node*> work{n};
  int rolls = 0;
  for (int seen = 0; !work.empty() && seen < deepest; ++seen) {
    node* const x = work.back();
    work.pop_back();
    if (table_.is_stored(x) || std::exchange(table_.at(x).search, mark) == mark) continue;
    rolls += is_roll(x);
    for (int k = 0; k < x->nargs && x->kind == node_kind::map; ++k) work.push_back(x->args[k].get());
  }
  constexpr double looked_up = 40;  // additions
  const double again = static_cast<double>(elements_read()) * rolls * looked_up;
  const double once = static_cast<double>(n->size()) * table_.inline_cost(n);
  if (again <= once + 2 * price_of_moving(n->device, n->bytes()) + price_on(n->device).launch) return false;
  table_.materialise(n, store_reason::packed);
  table_.at(n).priced = true;
  return true;
}

/// On the host, what is looked up or drawn for the elements of a short reduction, which are read a row apart: as a value of its own it is
/// looked up side by side, and a block of words serves several elements.
void kernel_builder::store_looked_up(node* x) {
  if (!on_host(x) || x->size() < least_rolled || table_.is_stored(x)) return;
  const auto is_wanted = [](const node* n) {
    const node_kind kind = n->kind.load(std::memory_order_relaxed);
    return kind == node_kind::random || (kind == node_kind::gather && is_looked_up(n));
  };
  node* const found = find_below(+is_wanted, true, x);
  if (!found) return;
  if (found->kind == node_kind::random) return table_.materialise(found, store_reason::several_views);
  if (x->kind == node_kind::map && itemsize(found->type) >= itemsize(x->type))
    table_.materialise(x, store_reason::packed);
}

/// Whether a value of no more elements than are looked up in it would take several elements looked up for each of them: it is stored, and one
/// is looked up.
bool kernel_builder::looks_up_several(node* n) {
  if (n->kind != node_kind::map || !on_host(n) || n->size() < least_rolled || n->size() > space_) return false;
  if (!outer_gather_ || !is_looked_up(outer_gather_)) return false;
  const std::uint64_t mark = table_.begin_search();
  std::vector<node*> work{n};
  int loads = 0;
  for (int seen = 0; !work.empty() && loads < 2 && seen < deepest; ++seen) {
    node* const x = work.back();
    work.pop_back();
    if (std::exchange(table_.at(x).search, mark) == mark) continue;
    const node* const source = x->kind == node_kind::view ? x->args[0].get() : x;
    if (source->is_leaf() || table_.is_stored(const_cast<node*>(source))) loads += source->size() * 4 > n->size();
    else if (x->kind == node_kind::reduce) loads += is_short(x) ? static_cast<int>(reduced_elements(*x)) : 1;
    else if (x->kind == node_kind::map || x->kind == node_kind::view)
      for (int k = 0; k < x->nargs; ++k) work.push_back(x->args[k].get());
  }
  if (loads < 2) return false;
  table_.materialise(n, store_reason::packed);
  return true;
}

/// Stores what rolls below a result make: the first value, seen from there, that several of its operands roll for.
void kernel_builder::store_rolled(node* n) {
  for (int depth = 0; depth < deepest && !table_.is_stored(n) && n->kind == node_kind::map; ++depth) {
    node* next = nullptr;
    int rolled = 0;
    for (int k = 0; k < n->nargs; ++k) {
      node* const a = n->args[k].get();
      if (!is_over_rolls(a)) continue;
      ++rolled;
      next = a;
    }
    if (rolled == 0) return;
    if (rolled > 1 || is_roll(next)) return table_.materialise(n, store_reason::packed);
    n = next;
  }
}

/// Whether operations over the kernel's space draw numbers, or count positions.
bool kernel_builder::reads_coordinates(std::span<node* const> results) {
  const std::uint64_t mark = table_.begin_search();
  std::vector<node*> work(results.begin(), results.end());
  while (!work.empty()) {
    node* const n = work.back();
    work.pop_back();
    const node_kind kind = n->kind.load(std::memory_order_relaxed);
    if (kind == node_kind::random || kind == node_kind::iota) return true;
    if (std::exchange(table_.at(n).search, mark) == mark || (kind != node_kind::map && kind != node_kind::view))
      continue;
    if (table_.is_stored(n) && !is_own_result(n)) continue;
    for (int k = 0; k < n->nargs; ++k) work.push_back(n->args[k].get());
  }
  return false;
}

/// Stores what is rolled where it draws numbers or counts positions: the kernel of the rolls would.
void kernel_builder::store_counted_sources(std::span<node* const> tops) {
  const std::uint64_t mark = table_.begin_search();
  std::vector<node*> work(tops.begin(), tops.end()), sources;
  for (int seen = 0; !work.empty() && seen < deepest; ++seen) {
    node* const n = work.back();
    work.pop_back();
    if ((table_.is_stored(n) && !is_own_result(n)) || std::exchange(table_.at(n).search, mark) == mark) continue;
    if (is_roll(n)) {
      node* const source = n->args[0].get();
      if (source->kind == node_kind::map && !table_.is_stored(source)) sources.push_back(source);
    }
    for (int k = 0; k < n->nargs && n->kind == node_kind::map; ++k) work.push_back(n->args[k].get());
  }
  for (node* n : sources)
    if (!table_.is_stored(n) && reads_coordinates(std::span(&n, 1))) table_.materialise(n, store_reason::packed);
}

bool kernel_builder::wants_rolled(const kernel_plan& plan) {
  if (plan.kind != plan_kind::elementwise) return true;
  std::vector<node*> operands;
  for (node* n : plan.results)
    for (int k = 0; k < n->operand_count(); ++k) operands.push_back(n->operand(k));
  return reads_coordinates(operands);
}

/// Before the operations below `tops` are lowered.
void kernel_builder::store_rolled_operands(std::span<node* const> tops) {
  if (!limits().fuse || space_ < least_rolled || tops[0]->device.kind != runtime::device_kind::cpu) return;
  if (out_->kind == plan_kind::reduce) {
    int axes = 0;
    for (int v = out_->kept; v < rank_; ++v) axes += out_->extents[v] != 1;
    constexpr std::int64_t few = 16;  // elements, of one reduced axis
    if (axes < 1 || out_->extents[rank_ - 1] >= (axes > 1 ? long_row : few)) return;
    for (node* n : tops) store_rolled(n);
  } else if (std::any_of(tops.begin(), tops.end(), [&](node* n) { return is_over_rolls(n); })) {
    store_counted_sources(tops);
    for (node* n : tops)
      for (int k = 0; k < n->nargs && reads_coordinates(tops); ++k)
        if (n->kind == node_kind::map && n->args[k]->shape == n->shape) store_rolled(n->args[k].get());
  }
  stored_before_ = table_.stored().size();
}

}  // namespace sinter::graph
