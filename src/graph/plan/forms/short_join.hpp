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

/// A number of as many bytes as an element, which says where one is.
inline dtype type_of_places(dtype type) noexcept {
  const std::size_t bytes = itemsize(type);
  return bytes == 1 ? dtype::u8 : bytes == 2 ? dtype::i16 : bytes == 4 ? dtype::i32 : dtype::i64;
}
/// Where the least (argmin) or greatest of these numbers of dtype `type` is, the first NaN or else the first of equal ones, of dtype
/// type_of_places(). `number` gives a register of int64.
template <class Emit, class Number>
std::uint16_t join_places(jit::reduce_op op, dtype type, std::span<const std::uint16_t> elements, Emit emit,
                          Number number) {
  using jit::opcode;
  const dtype place = type_of_places(type);
  const bool least = op == jit::reduce_op::argmin;
  const auto binary = [&](opcode o, dtype of, std::uint16_t a, std::uint16_t b) {
    return emit({o, dtype::b1, of, 0, a, b, 0, 0});
  };
  const auto place_of = [&](std::size_t k) {
    const std::uint16_t wide = number(static_cast<std::int64_t>(k));
    return place == dtype::i64 ? wide : emit({opcode::cast, place, dtype::i64, 0, wide, 0, 0, 0});
  };
  std::uint16_t best = elements[0], at = place_of(0);
  for (std::size_t k = 1; k < elements.size(); ++k) {
    std::uint16_t better;
    if (is_real_floating(type)) {
      const std::uint16_t stays = binary(least ? opcode::greater_equal : opcode::less_equal, type, elements[k], best);
      const std::uint16_t differs = emit({opcode::logical_not, dtype::b1, dtype::b1, 0, stays, 0, 0, 0});
      better = binary(opcode::logical_and, dtype::b1, differs, binary(opcode::equal, type, best, best));
    } else {
      better = binary(least ? opcode::less : opcode::greater, type, elements[k], best);
    }
    at = emit({opcode::select, place, place, 0, better, place_of(k), at, 0});
    if (k + 1 < elements.size()) best = emit({opcode::select, type, type, 0, better, elements[k], best, 0});
  }
  return at;
}
}  // namespace sinter::graph
