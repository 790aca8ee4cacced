// Finds the operations of a monotone tail.
#include "jit/program/monotone_tail.hpp"

#include <algorithm>

namespace sinter::jit {
namespace {

bool is_minimum(reduce_op op) noexcept { return op == reduce_op::min || op == reduce_op::argmin; }
bool is_maximum(reduce_op op) noexcept { return op == reduce_op::max || op == reduce_op::argmax; }

std::optional<tail_step> step_at(const program& p, std::uint16_t reg) {
  const instr& i = p.code[reg];
  if (i.type != i.arg) return {};
  if (i.op == opcode::sqrt || i.op == opcode::arcsin) return tail_step{reg, i.a, {}};
  if (i.op != opcode::multiply && i.op != opcode::divide) return {};
  const bool by_a = p.code[i.a].op == opcode::param, by_b = p.code[i.b].op == opcode::param;
  if (by_a == by_b || (by_a && i.op == opcode::divide)) return {};
  return by_a ? tail_step{reg, i.b, i.a} : tail_step{reg, i.a, i.b};
}

}  // namespace

monotone_tail find_tail(const program& p) {
  if (p.reductions.empty()) return {};
  const reduce_desc& first = p.reductions[0];
  monotone_tail t{first.arg, is_minimum(first.op), {}};
  const auto agrees = [&](const reduce_desc& r) {
    return r.reg == first.reg && (t.minimum ? is_minimum(r.op) : is_maximum(r.op));
  };
  if ((t.type != dtype::f32 && t.type != dtype::f64) || first.reg + 1 != p.epilogue ||
      !std::all_of(p.reductions.begin(), p.reductions.end(), agrees))
    return {};
  std::uint16_t reg = first.reg;
  for (auto s = step_at(p, reg); s && s->operand + 1 == reg; s = step_at(p, reg)) {
    t.steps.push_back(*s);
    reg = s->operand;
  }
  const auto scales = [](const tail_step& s) { return s.scale.has_value(); };
  if (std::all_of(t.steps.begin(), t.steps.end(), scales)) return {};  // too cheap to justify a test
  return t;
}

void mark_tail(program& p) {
  const monotone_tail t = find_tail(p);
  if (t.steps.empty()) return;
  for (reduce_desc& r : p.reductions) {
    r.inner = t.inner();
    r.tail = static_cast<std::uint8_t>(t.steps.size());
  }
}

bool has_tail(const program& p) noexcept { return !p.reductions.empty() && p.reductions[0].tail != 0; }

}  // namespace sinter::jit
