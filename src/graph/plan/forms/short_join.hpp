// The elements of a short reduction joined by operations, in the order of every reduction.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "jit/program/program.hpp"

namespace sinter::graph {

/// In what the elements of a reduction are joined whose result has this dtype.
inline dtype joined_in(jit::reduce_op op, dtype result) noexcept {
  const bool half = result == dtype::f16 || result == dtype::bf16;
  return half && (op == jit::reduce_op::sum || op == jit::reduce_op::prod) ? dtype::f32 : result;
}

/// One step of a reduction, as the accumulators do it.
class joining {
 public:
  joining(jit::reduce_op op, dtype sum) : op_(op), sum_(sum) {}

  template <class Emit>
  std::uint16_t operator()(std::uint16_t a, std::uint16_t b, Emit emit) const {
    using jit::opcode;
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
  std::uint16_t extreme(jit::opcode op, std::uint16_t of_sign, std::uint16_t a, std::uint16_t b, Emit emit) const {
    using jit::opcode;
    const std::uint16_t first = emit({op, sum_, sum_, 0, a, b, 0, 0});
    if (!is_real_floating(sum_)) return first;
    const std::uint16_t second = emit({op, sum_, sum_, 0, b, a, 0, 0});
    const std::uint16_t negative = emit({opcode::signbit, dtype::b1, sum_, 0, of_sign, 0, 0, 0});
    return emit({opcode::select, sum_, sum_, 0, negative, second, first, 0});
  }

  jit::reduce_op op_;
  dtype sum_;
};

/// Registers of dtype joined_in(), most_short of them at most, joined in groups of four as every reduction does
/// (jit/program/addition_order.hpp); of two groups each belongs to a lane, or both to one. `emit` adds an instruction and
/// returns its register.
template <class Emit>
std::uint16_t join_short(const joining& join, std::span<const std::uint16_t> elements, Emit emit) {
  const auto group = [&](std::size_t first) {
    const std::size_t count = elements.size() - first < 4 ? elements.size() - first : 4;
    const auto reg = [&](std::size_t k) { return elements[first + k]; };
    if (count == 4) return join(join(reg(0), reg(1), emit), join(reg(2), reg(3), emit), emit);
    std::uint16_t joined = reg(0);
    for (std::size_t k = 1; k < count; ++k) joined = join(joined, reg(k), emit);
    return joined;
  };
  const std::uint16_t first = group(0);
  return elements.size() > 4 ? join(first, group(4), emit) : first;
}

}  // namespace sinter::graph
