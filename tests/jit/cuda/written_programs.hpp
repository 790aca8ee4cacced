// Programs that tests of the CUDA generator write down, and schedules of them.
#pragma once
#include "jit/cuda/emit.hpp"

namespace sinter_test {

using namespace sinter;
using jit::cuda_shape;
using jit::cuda_variant;
using jit::opcode;
using jit::program;
using jit::reduce_op;

/// Writes programs down instruction by instruction.
struct builder {
  program p;
  int emit(opcode op, dtype type, dtype arg, int a = 0, int b = 0, int c = 0) {
    jit::instr i{};
    i.op = op;
    i.type = type;
    i.arg = arg;
    i.a = static_cast<std::uint16_t>(a);
    i.b = static_cast<std::uint16_t>(b);
    i.c = static_cast<std::uint16_t>(c);
    p.code.push_back(i);
    return static_cast<int>(p.code.size()) - 1;
  }
  int same(opcode op, int a, int b = 0, int c = 0) {
    const dtype t = p.code[static_cast<std::size_t>(a)].type;
    return emit(op, t, t, a, b, c);
  }
  int input(dtype t) {
    p.inputs.push_back({t, 0, {0, 0}});
    return emit(opcode::load, t, t, static_cast<int>(p.inputs.size()) - 1);
  }
  int gather(dtype t, int index) {
    p.inputs.push_back({t, 1, {static_cast<std::uint16_t>(index), 0}});
    return emit(opcode::load, t, t, static_cast<int>(p.inputs.size()) - 1);
  }
  int param(dtype t) {
    p.param_types.push_back(t);
    return emit(opcode::param, t, t, p.params++);
  }
  void reduction(reduce_op op, dtype type, int reg, int tail = 0, int inner = 0) {
    p.kind = jit::kernel_kind::reduce;
    p.reductions.push_back({op, type, p.code[static_cast<std::size_t>(reg)].type, static_cast<std::uint8_t>(tail),
                            static_cast<std::uint16_t>(reg), static_cast<std::uint16_t>(inner)});
  }
  void output(int reg) {
    p.outputs.push_back({p.code[static_cast<std::size_t>(reg)].type, 0, static_cast<std::uint16_t>(reg)});
  }
  program elementwise(int reg) {
    output(reg);
    p.epilogue = static_cast<std::uint16_t>(p.code.size());
    return p;
  }
  program reduced() {
    p.epilogue = static_cast<std::uint16_t>(p.code.size());
    for (std::size_t k = 0; k < p.reductions.size(); ++k)
      output(emit(opcode::reduced, p.reductions[k].type, p.reductions[k].type, static_cast<int>(k)));
    return p;
  }
};

inline cuda_variant variant(const program& p, cuda_shape shape, int rank, int kept, jit::access in, int vector = 1,
                            bool wide = false) {
  cuda_variant v;
  v.shape = shape;
  v.rank = static_cast<std::uint8_t>(rank);
  v.kept = static_cast<std::uint8_t>(kept);
  v.vector = static_cast<std::uint8_t>(vector);
  v.wide_index = wide;
  v.inputs.assign(p.inputs.size(), in);
  v.outputs.assign(p.outputs.size(), in == jit::access::strided ? jit::access::strided : jit::access::linear);
  return v;
}

}  // namespace sinter_test
