// Splitting and bounding of monotone tails.
#include "backends/cpu/tail.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace sinter::cpu {
namespace {

using jit::instr;
using jit::opcode;
using jit::reduce_op;

bool is_minimum(reduce_op op) noexcept { return op == reduce_op::min || op == reduce_op::argmin; }
bool is_extreme(reduce_op op) noexcept {
  return op == reduce_op::min || op == reduce_op::max || op == reduce_op::argmin || op == reduce_op::argmax;
}

/// The operand of tail instruction `k` that leads to the inner register; -1 where the instruction is not of a tail.
int step_towards_inner(const jit::program& p, std::size_t k) noexcept {
  const instr& i = p.code[k];
  if (i.type != i.arg) return -1;
  if (i.op == opcode::sqrt || i.op == opcode::arcsin) return i.a;
  if (i.op != opcode::multiply && i.op != opcode::divide) return -1;
  if (p.code[i.b].op == opcode::param) return i.a;
  if (i.op == opcode::multiply && p.code[i.a].op == opcode::param) return i.b;
  return -1;
}

/// Registers of the chain from the reduced one down to the one just behind `inner`; empty where there is no chain.
std::vector<std::size_t> chain_of(const jit::program& p) {
  std::vector<std::size_t> chain;
  std::size_t k = p.reductions[0].reg;
  const std::size_t inner = p.reductions[0].inner;
  while (k != inner) {
    const int next = step_towards_inner(p, k);
    if (next < 0 || static_cast<std::size_t>(next) < inner) return {};
    chain.push_back(k);
    k = static_cast<std::size_t>(next);
  }
  return chain;
}

}  // namespace

bool has_tail(const jit::program& p) noexcept {
  if (p.kind != jit::kernel_kind::reduce || p.reductions.empty()) return false;
  const auto& first = p.reductions[0];
  if (first.tail == 0 || (first.arg != dtype::f32 && first.arg != dtype::f64)) return false;
  for (auto& r : p.reductions)
    if (r.tail == 0 || r.reg != first.reg || r.inner != first.inner || !is_extreme(r.op) ||
        is_minimum(r.op) != is_minimum(first.op))
      return false;
  return true;
}

// Let x be worse than the best inner value b by the relative margin m. Walking from the tail's result back to its input,
// `needed` is how far apart (relatively) the values must be at each point for the final results to be in order:
//  - a multiplication or division by a positive number rounds monotonically, so nothing behind it can change the order;
//    values that are to stay apart by `needed` must come in apart by one more ulp;
//  - arcsin of libmvec errs by up to 4 ulp (we take 6), on either side; exactly it spreads values apart, being convex;
//  - sqrt halves relative distances and rounds by half an ulp on either side.
// The result is doubled. The scale of the multipliers is bounded so that no value on the way becomes subnormal while the
// inner values differ by at least `floor`.
std::optional<tail_chain> analyse_tail(const runtime::launch& l) {
  const jit::program& p = *l.code;
  if (!has_tail(p)) return std::nullopt;
  const auto chain = chain_of(p);
  if (chain.empty()) return std::nullopt;
  tail_chain t;
  t.type = p.reductions[0].arg;
  t.minimum = is_minimum(p.reductions[0].op);
  const bool single = t.type == dtype::f32;
  const double ulp = single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  double low = -std::numeric_limits<double>::infinity(), high = -low, needed = 0, scale = 1;
  for (std::size_t k : chain) {
    const instr& i = p.code[k];
    if (i.op == opcode::sqrt) {
      low = 0;
      high = high * high;
      if (needed > 0) needed = 2 * needed + 2 * ulp;
    } else if (i.op == opcode::arcsin) {
      // Beyond +-pi/2 the result sets no bound of its own; the sine of a bound errs by less than its shrinking.
      low = low < -1.5707963 ? -1 : std::sin(low) * (1 - 16 * ulp);
      high = high > 1.5707963 ? 1 : std::sin(high) * (1 - 16 * ulp);
      needed += 12 * ulp;
    } else {
      const instr& number = p.code[p.code[i.b].op == opcode::param ? i.b : i.a];
      const double given = l.params[number.a].f[0];
      double f = single ? static_cast<double>(static_cast<float>(given)) : given;
      if (!is_real_floating(l.params[number.a].type) || !(f > 0) || !std::isfinite(f)) return std::nullopt;
      if (i.op == opcode::divide) f = 1 / f;
      scale *= f;
      if (!(scale > 0x1p-24 && scale < 0x1p24 && f > 0x1p-24 && f < 0x1p24)) return std::nullopt;
      // Rounding of the bounds is covered by the shrinking below.
      low /= f;
      high /= f;
      if (needed > 0) needed += ulp;
    }
  }
  const double shrink = std::isinf(high) || high == 1 ? 1 : 1 - 8 * ulp;
  t.high = high * shrink;
  t.low = low == 0 || std::isinf(low) ? low : low * (1 - 8 * ulp);
  t.margin = 2 * needed;
  t.floor = single ? 1e-28 : 1e-290;
  return t;
}

jit::program inner_program(const jit::program& p) {
  jit::program inner = p;
  const std::uint16_t reg = p.reductions[0].inner;
  inner.kind = jit::kernel_kind::elementwise;
  inner.code.resize(reg + 1u);
  inner.epilogue = static_cast<std::uint16_t>(inner.code.size());
  inner.reductions.clear();
  inner.outputs.assign(1, {p.code[reg].type, 0, reg});
  return inner;
}

jit::program tail_program(const jit::program& p) {
  const auto chain = chain_of(p);
  const dtype type = p.reductions[0].arg;
  jit::program tail;
  tail.flags = p.flags;
  tail.params = p.params;
  tail.param_types = p.param_types;
  tail.inputs.push_back({type, 0, {0, 0}});
  tail.code.push_back({opcode::load, type, type, 0, 0, 0, 0, 0});
  std::uint16_t last = 0;
  for (std::size_t n = chain.size(); n-- > 0;) {
    instr i = p.code[chain[n]];
    if (i.op == opcode::multiply || i.op == opcode::divide) {
      const bool second = p.code[i.b].op == opcode::param;
      tail.code.push_back(p.code[second ? i.b : i.a]);
      const auto number = static_cast<std::uint16_t>(tail.code.size() - 1);
      i.a = second ? last : number;
      i.b = second ? number : last;
    } else {
      i.a = last;
    }
    tail.code.push_back(i);
    last = static_cast<std::uint16_t>(tail.code.size() - 1);
  }
  tail.epilogue = static_cast<std::uint16_t>(tail.code.size());
  tail.outputs.push_back({type, 0, last});
  return tail;
}

}  // namespace sinter::cpu
