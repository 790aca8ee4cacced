#include "backends/cpu/reduce/groups.hpp"

#include <algorithm>

#include "backends/cpu/kernels/kernels.hpp"
#include "jit/program/addition_order.hpp"

namespace sinter::cpu {
namespace {

using jit::instr;
using jit::opcode;

constexpr int steps = jit::addition_group;
constexpr std::size_t most_inputs = 64 / steps, most_instructions = 48;

/// An operation on what a step reads, of whose lanes each has its own.
bool is_of_one_step(const jit::program& p, const instr& i) {
  switch (i.op) {
    case opcode::load: return p.inputs[i.a].gathers == 0;
    case opcode::coord:
    case opcode::reduced:
    case opcode::address:
    case opcode::carried:
    case opcode::checked_index:
    case opcode::user: return false;
    default: return !jit::is_random(i.op);
  }
}

/// Elements that are read as they are, or multiplied by one number: reductions read those in memory.
bool is_read(const jit::program& p, const instr& i, std::uint64_t uniform) {
  if (i.op == opcode::load) return true;
  if (i.op != opcode::multiply || p.code[i.a].op != opcode::load || p.code[i.b].op != opcode::load) return false;
  return ((uniform >> p.code[i.a].a | uniform >> p.code[i.b].a) & 1) != 0;
}

}  // namespace

bool joins_groups(const jit::launch& l, std::uint64_t uniform) {
  const jit::program& p = *l.code;
  if (p.kind != jit::kernel_kind::reduce || p.flags.fast_math || l.kept == 0 || p.inputs.size() > most_inputs ||
      p.epilogue > most_instructions || p.loop.end != 0 || !p.calls.empty() || !l.wraps.empty())
    return false;
  bool computed = false;
  for (const jit::reduce_desc& r : p.reductions) {
    const bool sum = r.op == jit::reduce_op::sum || r.op == jit::reduce_op::prod;
    if (!sum || r.type != r.arg || (r.type != dtype::f32 && r.type != dtype::f64)) return false;
    computed = computed || !is_read(p, p.code[r.reg], uniform);
  }
  if (!computed ||
      !std::all_of(p.code.begin(), p.code.begin() + p.epilogue, [&](const instr& i) { return is_of_one_step(p, i); }))
    return false;
  const reduce_shape shape = shape_of(l);
  return !shape.rows && !shape.shared && shape.reduced >= steps;
}

jit::program group_program(const jit::program& p) {
  jit::program g;
  g.flags = p.flags;
  g.params = p.params;
  g.param_types = p.param_types;
  const auto inputs = static_cast<std::uint16_t>(p.inputs.size());
  for (int s = 0; s < steps; ++s) {
    const auto before = static_cast<std::uint16_t>(g.code.size());
    g.inputs.insert(g.inputs.end(), p.inputs.begin(), p.inputs.end());
    for (std::size_t k = 0; k < p.epilogue; ++k) {
      instr i = p.code[k];
      const int operands = jit::operand_count(i.op);
      if (i.op == opcode::load) i.a = static_cast<std::uint16_t>(i.a + s * inputs);
      if (operands > 0) i.a = static_cast<std::uint16_t>(i.a + before);
      if (operands > 1) i.b = static_cast<std::uint16_t>(i.b + before);
      if (operands > 2) i.c = static_cast<std::uint16_t>(i.c + before);
      g.code.push_back(i);
    }
  }
  for (const jit::reduce_desc& r : p.reductions) {
    const opcode op = r.op == jit::reduce_op::sum ? opcode::add : opcode::multiply;
    const auto join = [&](int a, int b) {
      g.code.push_back({op, r.type, r.type, 0, static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b), 0, 0});
      return static_cast<int>(g.code.size()) - 1;
    };
    const auto at = [&](int s) { return s * p.epilogue + r.reg; };
    const int first = join(at(0), at(1)), second = join(at(2), at(3));
    g.outputs.push_back({r.type, 0, static_cast<std::uint16_t>(join(first, second))});
  }
  g.epilogue = static_cast<std::uint16_t>(g.code.size());
  return g;
}

std::uint64_t group_inputs(const jit::program& p, std::uint64_t uniform) {
  std::uint64_t all = 0;
  uniform = jit::without_coordinates(uniform, p.inputs.size());
  for (int s = 0; s < steps; ++s) all |= uniform << (static_cast<std::size_t>(s) * p.inputs.size());
  return all;
}

}  // namespace sinter::cpu
