// Lowering of short reductions where they are read.
#include <algorithm>
#include <vector>

#include "graph/plan/builder.hpp"
#include "graph/plan/forms/short_sums.hpp"
#include "graph/values/limits.hpp"

namespace sinter::graph {

using jit::opcode;

/// Whether a short reduction is computed where this kernel reads it: always as often as it has results, more often where
/// that is cheaper than to store them.
bool kernel_builder::is_in_place(node* n) {
  if (!limits().fuse || !is_short(n)) return false;
  if (space_ <= n->size()) return true;
  const auto [byte, launch] = price_on(n->device);
  const double again = static_cast<double>(space_ - n->size()) * table_.inline_weight(n);
  return again <= 2 * byte * static_cast<double>(n->bytes()) + launch;
}

namespace {

/// One step of a reduction, as the accumulators do it.
class joining {
 public:
  joining(const node& n, dtype sum) : op_(n.reduce().op), sum_(sum) {}

  template <class Emit>
  std::uint16_t operator()(std::uint16_t a, std::uint16_t b, Emit emit) const {
    switch (op_) {
      case jit::reduce_op::prod: return emit({opcode::multiply, sum_, sum_, 0, a, b, 0, 0});
      case jit::reduce_op::any: return emit({opcode::logical_or, sum_, sum_, 0, a, b, 0, 0});
      case jit::reduce_op::all: return emit({opcode::logical_and, sum_, sum_, 0, a, b, 0, 0});
      case jit::reduce_op::min: return extreme(opcode::minimum, b, a, b, emit);
      case jit::reduce_op::max: return extreme(opcode::maximum, a, a, b, emit);
      default: return emit({opcode::add, sum_, sum_, 0, a, b, 0, 0});
    }
  }

 private:
  /// Of equal numbers the operation gives its first operand; the reduction takes -0 for less than +0.
  template <class Emit>
  std::uint16_t extreme(opcode op, std::uint16_t of_sign, std::uint16_t a, std::uint16_t b, Emit emit) const {
    const std::uint16_t first = emit({op, sum_, sum_, 0, a, b, 0, 0});
    if (!is_real_floating(sum_)) return first;
    const std::uint16_t second = emit({op, sum_, sum_, 0, b, a, 0, 0});
    const std::uint16_t negative = emit({opcode::signbit, dtype::b1, sum_, 0, of_sign, 0, 0, 0});
    return emit({opcode::select, sum_, sum_, 0, negative, second, first, 0});
  }

  jit::reduce_op op_;
  dtype sum_;
};

/// In what its elements are joined.
dtype joined_in(const node& n) {
  const jit::reduce_op op = n.reduce().op;
  const bool half = n.type == dtype::f16 || n.type == dtype::bf16;
  return half && (op == jit::reduce_op::sum || op == jit::reduce_op::prod) ? dtype::f32 : n.type;
}

}  // namespace

/// The elements of the result that `map` reads, each with its coordinates along the reduced axes, joined in groups of four
/// as every reduction does (jit/program/addition_order.hpp); of two groups each belongs to a lane, or both to one.
std::uint16_t kernel_builder::lower_short(node* n, const index_map* map) {
  node* const x = n->args[0].get();
  const payload::reduce& over = n->reduce();
  const index_map outer = full_map(n, map);
  index_map at(x->shape.size(), outer.variables());
  for (int a = 0, kept = 0; a < x->shape.size(); ++a)
    if (!over.is_over(a)) at.copy_row(a, outer, kept++);

  const dtype sum = joined_in(*n);
  const auto emit_one = [this](jit::instr i) { return emit(i); };
  std::vector<std::uint16_t> elements;
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

  const joining join(*n, sum);
  const auto group = [&](std::size_t first) {
    const std::size_t count = std::min<std::size_t>(elements.size() - first, 4);
    const auto reg = [&](std::size_t k) { return elements[first + k]; };
    if (count == 4) return join(join(reg(0), reg(1), emit_one), join(reg(2), reg(3), emit_one), emit_one);
    std::uint16_t joined = reg(0);
    for (std::size_t k = 1; k < count; ++k) joined = join(joined, reg(k), emit_one);
    return joined;
  };
  std::uint16_t result = group(0);
  if (elements.size() > 4) result = join(result, group(4), emit_one);
  return n->type == sum ? result : emit({opcode::cast, n->type, sum, 0, result, 0, 0, 0});
}

}  // namespace sinter::graph
