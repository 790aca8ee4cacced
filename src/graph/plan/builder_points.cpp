// Lowering of what depends on positions: gathers, coordinates, and draws of random numbers.
#include <algorithm>
#include <utility>
#include <vector>

#include "graph/plan/builder.hpp"

namespace sinter::graph {

using jit::opcode;

// The variable that represents a register; -1 if there are too many.
int kernel_builder::gather_slot(std::uint16_t reg) {
  int g = 0;
  while (g < gathers_ && gather_regs_[g] != reg) ++g;
  if (g == max_gathers) return -1;
  if (g == gathers_) gather_regs_[gathers_++] = reg;
  return g;
}

// A load can add only a few gathered coordinates: if there are more, their sum is computed here.
void kernel_builder::join_gathers(linear_form& at) {
  int used = 0, sum = -1;
  for (int v = rank_; v < at.coefficients.size(); ++v) used += at.coefficients[v] != 0;
  if (used <= load_gathers) return;
  for (int v = rank_; v < at.coefficients.size(); ++v) {
    const std::int64_t c = at.coefficients[v];
    if (c == 0) continue;
    std::uint16_t term = gather_regs_[v - rank_];
    if (c != 1) term = binary(opcode::multiply, term, integer_param(c));
    sum = sum < 0 ? term : binary(opcode::add, static_cast<std::uint16_t>(sum), term);
    at.coefficients[v] = 0;
  }
  const auto reg = static_cast<std::uint16_t>(sum);
  const auto slot = std::find(joined_.begin(), joined_.end(), reg) - joined_.begin();
  if (slot == static_cast<std::ptrdiff_t>(joined_.size())) joined_.push_back(reg);
  at.coefficients.resize(rank_ + max_gathers + static_cast<int>(slot));
  at.coefficients.push_back(1);
}

/// A CPU copies rows whole by indices in memory: indices of rows that are computed from elements are stored.
void kernel_builder::store_row_indices(node* n, node* index, const index_map& at) {
  constexpr std::int64_t shortest_row = 8, few = 1 << 12;
  const int missing = n->shape.size() - index->shape.size();
  for (int a = 0; a < at.rows(); ++a)  // another index says where in a row: no row is copied
    for (int v = rank_; v < at.variables(); ++v)
      if (at.coefficient(a, v) != 0 && (a < missing || index->shape[a - missing] == 1)) return;
  if (n->device.kind != runtime::device_kind::cpu || n->size() < few || index->size() * shortest_row > n->size())
    return;
  while (index->kind == node_kind::view && !table_.is_stored(index)) index = index->args[0].get();
  if (table_.is_stored(index) || !is_computed(index) || index->opaque || index->size() * shortest_row > n->size())
    return;
  const std::uint64_t mark = table_.begin_search();
  std::vector<node*> below{index};
  while (!below.empty()) {
    node* const x = below.back();
    below.pop_back();
    if (table_.is_stored(x) && x->size() > 1) return table_.materialise(index, store_reason::row_indices);
    if (table_.is_stored(x) || std::exchange(table_.at(x).search, mark) == mark) continue;
    for (int a = 0; a < x->operand_count(); ++a) below.push_back(x->operand(a));
  }
}

std::uint16_t kernel_builder::lower_gather(node* n, const index_map* map) {
  index_map outer = full_map(n, map);
  node* v = n->args[0].get();
  node* index = n->args[1].get();
  index_map index_at = broadcast(outer, n->shape, index->shape);
  store_row_indices(n, index, outer);
  const bool within = std::exchange(in_index_, in_index_ || index->size() < n->size());
  std::uint16_t raw = lower(index, is_plain(index, index_at) ? nullptr : &index_at);
  in_index_ = within;
  const payload::gather& how = n->gather();
  const int axis = how.axis;
  const std::uint16_t extent = integer_param(v->shape[axis]);
  // An axis that may be reported is a negative parameter, so that it never equals an extent's.
  const std::uint16_t report = how.may_fail() ? integer_param(-1 - how.reported_axis) : extent;
  const auto number = [&](std::uint16_t param) { return out_->code.code[param].a; };
  const std::uint16_t reg =
      emit({opcode::checked_index, dtype::i64, dtype::i64, !how.may_fail(), raw, number(extent), number(report), 0});
  const int g = gather_slot(reg);
  if (g < 0) return too_many_gathers(n, index);
  index_map at = broadcast(outer, n->shape, v->shape);
  index_map row(1, rank_ + max_gathers);
  row.coefficient(0, rank_ + g) = 1;
  at.copy_row(axis, row, 0);
  node* const outer_gather = std::exchange(outer_gather_, outer_gather_ ? outer_gather_ : n);
  const std::uint16_t result = lower(v, &at);
  outer_gather_ = outer_gather;
  return result;
}

// Materialises the outermost gather (the arrays of those inside may be larger than what is read); if that is the
// kernel's result, the innermost one; if that is the same node, its index. If the source of the outermost gather is
// expensive, it is materialised instead, since other gathers can read it too. The kernel is built again, so what was
// built is discarded, and further materialisation points are not needed yet.
std::uint16_t kernel_builder::too_many_gathers(node* n, node* index) {
  if (std::exchange(restart_, true)) return integer_param(0);
  node* candidate = outer_gather_ && !table_.is_stored(outer_gather_) ? outer_gather_ : n;
  if (outer_gather_) {
    node* source = outer_gather_->args[0].get();
    while (source->kind == node_kind::gather || source->kind == node_kind::view) source = source->args[0].get();
    if (!table_.is_stored(source) && is_expensive(source)) candidate = source;
  }
  if (table_.is_stored(candidate)) candidate = index;
  if (!table_.is_stored(candidate)) table_.materialise(candidate, store_reason::size);
  return integer_param(0);
}

std::uint16_t kernel_builder::lower_iota(node* n, const index_map* map) {
  const index_map at = full_map(n, map);
  const int axis = n->iota().axis;
  linear_form coordinate{at.offset(axis), dims(at.variables())};
  for (int v = 0; v < at.variables(); ++v) coordinate.coefficients[v] = at.coefficient(axis, v);
  return sum_of(coordinate);
}

// A linear form of the kernel's variables as a register.
std::uint16_t kernel_builder::sum_of(const linear_form& at) {
  int sum = -1;
  for (int v = 0; v < at.coefficients.size(); ++v) {
    std::int64_t c = at.coefficients[v];
    if (c == 0 || (v < rank_ && out_->extents[v] == 1)) continue;
    std::uint16_t term = v < rank_
                             ? emit({opcode::coord, dtype::i64, dtype::i64, 0, static_cast<std::uint16_t>(v), 0, 0, 0})
                             : gather_regs_[v - rank_];
    if (c != 1) term = binary(opcode::multiply, term, integer_param(c));
    sum = sum < 0 ? term : binary(opcode::add, static_cast<std::uint16_t>(sum), term);
  }
  if (sum < 0) return short_times_ != 0 ? number_of_text(at.offset) : integer_param(at.offset);
  if (at.offset != 0) return binary(opcode::add, static_cast<std::uint16_t>(sum), integer_param(at.offset));
  return static_cast<std::uint16_t>(sum);
}

// Whether a linear form is the C-order position in the space that the kernel (its epilogue) iterates over.
bool kernel_builder::is_position(const linear_form& at) const {
  const dims space(out_->extents.data(), in_epilogue_ ? out_->kept : rank_);
  const dims dense = core::contiguous_strides(space);
  if (at.offset != 0 || space.size() == 0) return false;
  for (int v = 0; v < at.coefficients.size(); ++v) {
    const bool counts = v >= rank_ || out_->extents[v] != 1;
    if (counts && at.coefficients[v] != (v < space.size() ? dense[v] : 0)) return false;
  }
  return true;
}

std::uint16_t kernel_builder::lower_random(node* n, const index_map* map) {
  const linear_form at = compose(full_map(n, map), core::contiguous_strides(n->shape), 0);
  const std::uint16_t position =
      is_position(at) ? emit({opcode::coord, dtype::i64, dtype::i64, 0, jit::flat_axis, 0, 0, 0}) : sum_of(at);
  std::uint16_t reg[2] = {0, 0};
  for (int k = 0; k < n->nargs; ++k) reg[k] = lower_operand(n, map, n->args[k].get());
  const auto first_word = static_cast<std::uint16_t>(out_->params.size());
  for (int word = 0; word < 3; ++word) add_param(value_of({n, word}), dtype::u64, {n, word});
  const dtype arg = n->nargs > 0 ? n->args[0]->type : dtype::i64;
  return emit({n->random().op, n->type, arg, 0, position, reg[0], reg[1], first_word});
}

}  // namespace sinter::graph
