// Which short reductions are computed apart: those whose elements lie so in memory that this takes less.
#include "graph/plan/forms/apart_sums.hpp"

#include "graph/plan/forms/joined_parts.hpp"
#include "graph/values/limits.hpp"

namespace sinter::graph {
namespace {

/// Elements of a row that are read faster a row apart, as operations on elements, than they are reduced as a row.
std::int64_t most_apart(dtype type) noexcept {
  switch (itemsize(type)) {
    case 1: return most_short;
    case 2:
    case 4: return 5;
    case 8: return 3;
    default: return 1;
  }
}

/// Whether elements are read several times each, since what is reduced are windows that overlap: results that lie side by side then
/// read what lies side by side.
bool reads_windows(const node* x, int depth) {
  const node_kind kind = x->kind.load(std::memory_order_relaxed);
  if (kind == node_kind::view) {
    const auto& strides = x->view().strides;
    for (int a = 0; a < x->shape.size(); ++a)
      if (x->shape[a] != 1 && strides[a] == 0) return false;
    return x->size() > x->args[0]->size();
  }
  if (kind != node_kind::map || depth == 0) return false;
  for (int k = 0; k < x->nargs; ++k)
    if (reads_windows(x->args[k].get(), depth - 1)) return true;
  return false;
}

/// What is computed for each element of the reduced array.
struct both_ways {
  bool of_records = false;  // narrow rows are among the operands
  int weight = 0;
  int operations = 0;
  bool of_one_way = false;  // some operand varies from element to element, as far as that may be
};

/// Whether the elements of rows lie one after the other in memory, 2, 4 or 8 of one or two bytes: records of such are taken apart by a few
/// shuffles.
bool are_narrow_records(const node* x, const payload::reduce& over) {
  const int last = x->shape.size() - 1;
  if (itemsize(x->type) > 2 || is_real_floating(x->type) || last < 1 || over.axes != std::uint64_t{1} << last)
    return false;
  const std::int64_t n = x->shape[last];
  if (n != 2 && n != 4 && n != 8) return false;
  if (x->is_leaf()) return true;
  if (x->kind.load(std::memory_order_relaxed) != node_kind::view || !x->args[0]->is_leaf()) return false;
  const auto& strides = x->view().strides;
  return strides[last] == 1 && strides[last - 1] == n;
}

/// Goes through the operations that vary along kept and reduced axes of `shape`; whether no other value does but short rows of narrow
/// numbers.
bool find_both_ways(const node* x, const payload::reduce& over, const dims& shape, both_ways& found, int depth) {
  const int missing = shape.size() - x->shape.size();
  const node_kind kind = x->kind.load(std::memory_order_relaxed);
  if (kind == node_kind::scalar) return true;
  bool kept = false, reduced = false;
  for (int a = missing; a < shape.size(); ++a) {
    const bool same = x->shape[a - missing] == 1 || (kind == node_kind::view && x->view().strides[a - missing] == 0) ||
                      (kind == node_kind::iota && x->iota().axis != a - missing);
    if (!same) (over.is_over(a) ? reduced : kept) = true;
  }
  if (!(kept && reduced)) {
    found.of_one_way = found.of_one_way || reduced;
    return true;
  }
  if (kind != node_kind::map) {
    if (missing > 0 || !are_narrow_records(x, over)) return false;
    found.of_one_way = found.of_records = true;
    return true;
  }
  if (x->opaque || depth == 0) return false;
  found.weight += jit::weight(x->map().op);
  ++found.operations;
  for (int k = 0; k < x->nargs; ++k)
    if (!find_both_ways(x->args[k].get(), over, shape, found, depth - 1)) return false;
  return true;
}

/// Whether operands vary one way only, but for narrow records: those that vary from result to result are read once for all elements of one,
/// the others are numbers for all results. What is computed for each element is little, so that the text stays short.
bool reads_one_way(const node* n, both_ways& found) {
  constexpr std::int64_t least_elements = 8192;  // below, another kernel costs more
  constexpr int most_depth = 4, most_weight = 6, most_instructions = 64;
  const node* const x = n->args[0].get();
  if (x->size() < least_elements || n->size() < x->size() / most_unordered || is_complex(x->type)) return false;
  return find_both_ways(x, n->reduce(), x->shape, found, most_depth) && found.of_one_way &&
         found.weight <= most_weight && (found.operations + 1) * reduced_elements(*n) <= most_instructions;
}

/// Whether the places of extrema are looked for among few parts that have been joined.
bool finds_places_in_parts(const node* n) {
  const node* const x = n->args[0].get();
  const payload::reduce& over = n->reduce();
  if (over.whole.split_lanes != 0 || is_complex(x->type) || x->type == dtype::f16 || x->type == dtype::bf16)
    return false;
  return reduced_elements(*n) <= most_short && joins_parts(x, over);
}

/// Whether axes are reduced between which others are kept.
bool is_over_several_axes(const node* n) {
  const dims& shape = n->args[0]->shape;
  int groups = 0;
  bool in_group = false;
  for (int a = 0; a < shape.size(); ++a) {
    if (shape[a] == 1) continue;
    const bool over = n->reduce().is_over(a);
    groups += over && !in_group ? 1 : 0;
    in_group = over;
  }
  return groups > 1;
}

}  // namespace

bool is_of_records(const node* n) {
  both_ways found;
  return n->device.kind == runtime::device_kind::cpu && limits().apart && is_short(n) && !is_over_several_axes(n) &&
         reduced_elements(*n) > most_apart(n->args[0]->type) && reads_one_way(n, found) && found.of_records;
}

bool only_calculates(const node* result) {
  const auto is_followed = [&](const node* x, int depth, const auto& again) -> bool {
    if (x->is_leaf() || x->kind.load(std::memory_order_relaxed) != node_kind::map) return true;
    if (depth == 0 || x->opaque || is_complex(x->type) || x->type == dtype::f16 || x->type == dtype::bf16) return false;
    switch (x->map().op) {
      case jit::opcode::add:
      case jit::opcode::subtract:
      case jit::opcode::multiply:
      case jit::opcode::divide:
      case jit::opcode::maximum:
      case jit::opcode::minimum:
      case jit::opcode::negative:
      case jit::opcode::cast:
      case jit::opcode::equal:
      case jit::opcode::not_equal:
      case jit::opcode::less:
      case jit::opcode::less_equal:
      case jit::opcode::greater:
      case jit::opcode::greater_equal: break;
      default: return false;
    }
    for (int k = 0; k < x->nargs; ++k)
      if (!again(x->args[k].get(), depth - 1, again)) return false;
    return true;
  };
  constexpr int most_depth = 3;
  return is_followed(result, most_depth, is_followed);
}

bool is_unordered_apart(const node* n) {
  if (!limits().fuse || !limits().apart || n->device.kind != runtime::device_kind::cpu) return false;
  if (n->kind.load(std::memory_order_relaxed) != node_kind::reduce || n->opaque || n->nargs == 0) return false;
  const payload::reduce& what = n->reduce();
  switch (what.op) {
    case jit::reduce_op::argmin:
    case jit::reduce_op::argmax: return finds_places_in_parts(n);
    case jit::reduce_op::any:
    case jit::reduce_op::all:
    case jit::reduce_op::count:
    case jit::reduce_op::min:
    case jit::reduce_op::max: break;
    case jit::reduce_op::sum:
    case jit::reduce_op::prod:
      if (is_inexact(n->type)) return false;
      break;
    default: return false;
  }
  const std::int64_t elements = reduced_elements(*n);
  both_ways found;
  return what.whole.split_lanes == 0 && elements > most_short && elements <= most_unordered && reads_one_way(n, found);
}

/// Of a few elements, and on the CPU over axes between which others are kept, as of blocks of an image, which are several times as fast as
/// by rows of two, of windows that overlap, or of operands that vary one way. On a GPU a thread then has what several neighbouring rows
/// have, as vectors; but rows that stay on chip are reduced as rows.
bool is_apart(const node* n, std::int64_t read_over) {
  if (!limits().fuse || !limits().apart) return false;
  if (!is_short(n)) return is_unordered_apart(n);
  if (joins_rows(n, read_over)) return false;
  const dims& shape = n->args[0]->shape;
  if (n->device.kind != runtime::device_kind::cpu) {
    constexpr std::int64_t many_rows = 1 << 12;
    const int last = shape.size() - 1;
    return last >= 1 && n->reduce().is_over(last) && n->size() >= many_rows && reduced_elements(*n) == shape[last] &&
           shape[last] <= most_apart(n->args[0]->type);
  }
  both_ways found;
  return is_over_several_axes(n) || reduced_elements(*n) <= most_apart(n->args[0]->type) ||
         reads_windows(n->args[0].get(), 3) || reads_one_way(n, found) || joins_parts(n->args[0].get(), n->reduce());
}

}  // namespace sinter::graph
