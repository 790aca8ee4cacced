// Lowering of short reductions where they are read, and which values are computed once instead of where they are read.
#include <algorithm>
#include <utility>
#include <vector>

#include "graph/plan/builder.hpp"
#include "graph/plan/forms/apart_sums.hpp"
#include "graph/plan/forms/short_join.hpp"
#include "graph/plan/forms/short_sums.hpp"
#include "graph/plan/forms/joined_parts.hpp"
#include "graph/values/limits.hpp"

namespace sinter::graph {

using jit::opcode;

/// A value that is stored for this kernel is read over its elements, and over those that this kernel's results are read over.
void kernel_builder::note_space(node* n) {
  std::int64_t& over = table_.at(n).read_over;
  over = std::max({over, space_, read_over()});
}

std::int64_t kernel_builder::read_over() { return out_->root ? table_.at(out_->root).read_over : 0; }

/// Whether a short reduction is computed where this kernel reads it: always as often as it has results, more often where
/// that is cheaper than to store them.
bool kernel_builder::is_in_place(node* n) {
  if (!limits().fuse || !(is_short(n) || is_unordered_apart(n)) || joins_rows(n, read_over())) return false;
  const auto [byte, launch, read] = price_on(n->device);
  const double stored = 2 * byte * static_cast<double>(n->bytes()) + launch;
  const auto is_cheap = [&](std::int64_t reads) {
    return reads <= n->size() || static_cast<double>(reads - n->size()) * table_.inline_weight(n) <= stored;
  };
  return is_cheap(space_) && (is_cheap(elements_read()) || !table_.worth_storing(n));
}

/// A number that is a part of the program, as the place of an element is that a short reduction is made of: the text has an instruction
/// for each of these, and compilers shift lanes of bytes and of 16 bits by numbers that they know. On the CPU alone.
std::uint16_t kernel_builder::number_of_text(std::int64_t v) {
  const std::uint16_t reg = integer_param(v);
  constexpr std::int64_t most = UINT16_MAX - 1;
  if (v < 0 || v > most || out_->results.empty() || out_->results[0]->device.kind != runtime::device_kind::cpu)
    return reg;
  jit::instr known = out_->code.code[reg];
  known.b = static_cast<std::uint16_t>(v + 1);
  return emit(known);
}

/// Whether computing a value that the kernel reads through several index maps for each of them costs less than to store it and to
/// read it once. Operands that were computed again count as often as they are, so chains of stencils are stored in time.
bool kernel_builder::is_cheap_again(node* n) {
  const auto before = std::count_if(memo_.begin(), memo_.end(), [&](const memo& m) { return m.n == n; }) +
                      (find(n, nullptr) >= 0 ? 1 : 0);
  const device_price price = price_on(n->device);
  const double again = table_.inline_cost(n) - price.read;
  return static_cast<double>(before) * again <= 2 * price.byte * static_cast<double>(itemsize(n->type));
}

/// Whether a value that is computed again, and was not stored since it is much larger than what it is computed from, is
/// likely to be needed a third time, and costs more to compute than to store and read.
bool kernel_builder::is_better_kept(node* n) {
  const std::uint64_t mark = table_.begin_search();
  const bool costs = costs_more(
      n, 2 * price_on(n->device).byte * static_cast<double>(n->bytes()), [&](node* x) { return table_.is_stored(x); },
      [&](node* x) { return std::exchange(table_.at(x).search, mark) != mark; });
  return costs && table_.fits_memory(n);
}

/// Whether a variable of a loop follows, by operations on its elements, from what a kernel of this plan stores, as the positions from
/// the velocities of a step: that kernel stores it beside that, without a launch of its own.
bool kernel_builder::comes_with_stored(node* n) {
  if (!n->assigned.load(std::memory_order_relaxed) || !is_operation(n->kind)) return false;
  bool follows = false;
  for (int k = 0; k < n->operand_count(); ++k) {
    node* const a = n->operand(k);
    const bool is_one_operation = !a->is_leaf() && is_operation(a->kind) && !table_.is_stored(a);
    for (int j = 0; j < (is_one_operation ? a->operand_count() : 1); ++j) {
      node* const x = is_one_operation ? a->operand(j) : a;
      if (x->is_leaf() || x->kind == node_kind::scalar) continue;
      if (!table_.is_stored(x) || !(x->shape == n->shape)) return false;
      follows = true;
    }
  }
  return follows;
}

namespace {

/// Whether an operation reads several arrays, in whose place its result would be one.
bool reads_several(const node& n) noexcept {
  const node* first = nullptr;
  for (int k = 0; k < n.nargs; ++k) {
    const node* a = n.args[k].get();
    while (a->kind.load(std::memory_order_relaxed) == node_kind::view) a = a->args[0].get();
    if (a->kind.load(std::memory_order_relaxed) == node_kind::scalar || a == first) continue;
    if (first) return true;
    first = a;
  }
  return false;
}

}  // namespace

/// A value of few elements that the kernel reads many times, a table that a gather reads included, is computed once; also one that it
/// reads two or three times, and numbers of the rows or columns of a reduction, where that is cheaper. Short sums read other elements at
/// each of their places: for each of three results over an axis that it does not have, a value of three places is read three times.
bool kernel_builder::is_small_and_costly(node* n, const index_map* map) {
  const bool looked_up = reads_points(map), is_small = n->size() <= space_ / limits().smaller;
  const std::int64_t reads = looked_up ? space_ : elements_read();
  if (!is_computed(n) || n->size() > reads / std::min(2, limits().smaller)) return false;
  const bool costly = is_small && (table_.inline_weight(n) >= limits().expensive || comes_with_stored(n));
  const bool is_of_rows = out_->kind == plan_kind::reduce && !in_epilogue_ && !looked_up && n->size() > 1 &&
                          (table_.inline_weight(n) > 1 || reads_several(*n));
  if (!costly && ((looked_up != is_small && !is_of_rows) || !table_.is_better_stored_for(n, reads, looked_up)))
    return false;
  // Something of all pairs is computed again.
  const bool is_part_of_sum = n->size() > space_ / std::min(2, limits().smaller);
  if (!costly && (is_part_of_sum || (is_of_rows && is_small)) && !table_.worth_storing(n)) return false;
  table_.materialise(n, store_reason::expensive);
  plan_table::entry& e = table_.at(n);
  e.looked_up = looked_up;
  e.priced = !costly;
  note_space(n);
  if (e.priced) e.read_over = std::max(e.read_over, reads);
  return true;
}

/// A value that is read at points is computed at these points only, again for each index map. If the kernel reads as
/// many points as there are elements, a second computation costs more than memory traffic: in a chain of steps that
/// roll their field, each link would cost as much as the previous one times the number of maps.
bool kernel_builder::is_expensive(node* n) {
  return is_computed(n) && space_ >= n->size() && table_.inline_weight(n) >= limits().expensive;
}

bool kernel_builder::is_computed_again(node* n, const index_map* map) {
  if (!is_expensive(n)) return false;
  const auto overlaps = [&](const memo& m) { return m.n == n && !(map && are_apart(n, m.map, *map)); };
  if (find(n, nullptr) < 0 && std::none_of(memo_.begin(), memo_.end(), overlaps)) return false;
  table_.materialise(n, store_reason::several_views);
  restart_ = true;
  return true;
}

/// What a partial write has put where `map` reads: an element of an array that parts have been joined to, as `stack` does, is one of the
/// part that it lies in. So nothing of the joined array's size is stored. Nothing where some elements may lie elsewhere, or where a handle
/// holds what is costly to compute.
std::optional<std::uint16_t> kernel_builder::lower_written(node* n, const index_map& map) {
  if (n->device.kind != runtime::device_kind::cpu || in_epilogue_) return {};
  const auto is_looked_up = [&](int a) {  // anywhere along the axis
    for (int v = rank_; v < map.variables(); ++v)
      if (map.coefficient(a, v) != 0) return true;
    return false;
  };
  while (n->kind == node_kind::update && !table_.is_stored(n)) {
    written_part found;
    const box& written = found.block;
    node* const part = n->args[1].get();
    if (!find_part(*n, found)) return {};
    if (table_.at(n).held && table_.inline_weight(part) >= limits().expensive) return {};
    bool inside = true, apart = false;
    for (int a = 0; a < map.rows(); ++a) {
      if (is_looked_up(a)) {
        inside = inside && written.first[a] == 0 && written.end[a] == n->shape[a];
        continue;
      }
      std::int64_t first = map.offset(a), last = first;
      for (int v = 0; v < rank_; ++v)
        (map.coefficient(a, v) < 0 ? first : last) += map.coefficient(a, v) * (out_->extents[v] - 1);
      inside = inside && first >= written.first[a] && last < written.end[a];
      apart = apart || last < written.first[a] || first >= written.end[a];
    }
    if (inside) {
      index_map at(part->shape.size(), map.variables());
      for (int k = 0; k < at.rows(); ++k) {
        const auto a = static_cast<int>(found.axes[k]);
        if (a < 0) continue;
        at.copy_row(k, map, a);
        at.offset(k) -= written.first[a];
      }
      return lower(part, is_plain(part, at) ? nullptr : &at);
    }
    if (!apart) return {};
    n = n->args[0].get();
  }
  return {};
}

/// The elements of the result that `map` reads, each with its coordinates along the reduced axes, joined in groups of four
/// as every reduction does; more than two groups are in any order.
std::uint16_t kernel_builder::lower_short(node* n, const index_map* map) {
  node* x = n->args[0].get();
  const payload::reduce& over = n->reduce();
  const index_map outer = full_map(n, map);
  index_map at(x->shape.size(), outer.variables());
  for (int a = 0, kept = 0; a < x->shape.size(); ++a)
    if (!over.is_over(a)) at.copy_row(a, outer, kept++);

  store_looked_up(x);
  const bool places = over.op == jit::reduce_op::argmin || over.op == jit::reduce_op::argmax;
  dtype sum = places ? x->type : joined_in(over.op, n->type);
  if (sum == dtype::u64 && (over.op == jit::reduce_op::sum || over.op == jit::reduce_op::prod)) {
    // The same bits, whose ranges are known.
    sum = dtype::i64;
    const bool widens = x->kind == node_kind::map && x->map().op == opcode::cast && !table_.is_stored(x);
    if (node* const narrow = widens ? x->args[0].get() : nullptr;
        narrow && is_integer(narrow->type) && itemsize(narrow->type) < 8 && narrow->shape == x->shape)
      x = narrow;
  }
  const auto emit_one = [this](jit::instr i) { return emit(i); };
  std::vector<std::uint16_t> elements;
  const std::int64_t times =
      std::exchange(short_times_, std::max<std::int64_t>(1, short_times_) * reduced_elements(*n));
  for (std::int64_t left = reduced_elements(*n); left > 0; --left) {
    std::uint16_t reg = lower(x, is_plain(x, at) ? nullptr : &at);
    if (x->type != sum) reg = emit({opcode::cast, sum, x->type, 0, reg, 0, 0, 0});
    elements.push_back(reg);
    for (int a = x->shape.size(); a-- > 0;) {  // the next ones in C order
      if (!over.is_over(a)) continue;
      if (++at.offset(a) < x->shape[a]) break;
      at.offset(a) = 0;
    }
  }

  short_times_ = times;
  if (places) {
    const auto number = [this](std::int64_t k) { return number_of_text(k); };
    const std::uint16_t at = join_places(over.op, x->type, elements, emit_one, number);
    const dtype narrow = type_of_places(x->type);
    return narrow == n->type ? at : emit({opcode::cast, n->type, narrow, 0, at, 0, 0, 0});
  }
  const joining join(over.op, sum);
  while (elements.size() > most_short) {
    const std::size_t half = (elements.size() + 1) / 2;
    for (std::size_t k = half; k < elements.size(); ++k)
      elements[k - half] = join(elements[k - half], elements[k], emit_one);
    elements.resize(half);
  }
  const std::uint16_t result = join_short(join, elements, emit_one);
  return n->type == sum ? result : emit({opcode::cast, n->type, sum, 0, result, 0, 0, 0});
}

}  // namespace sinter::graph
