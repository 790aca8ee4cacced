// Elementwise kernels over the parts, made as a flush would make them.
#include "runtime/collectives/combine.hpp"

#include <algorithm>

#include "jit/program/launch.hpp"
#include "runtime/backend.hpp"

namespace sinter::runtime {
namespace {

/// So many parts at most go into one kernel; the next one continues with its result.
constexpr int parts_of_kernel = 8;

jit::opcode opcode_of(dtype type, reduce_op op) {
  using jit::opcode;
  if (is_bool(type)) return op == reduce_op::sum || op == reduce_op::max ? opcode::bitwise_or : opcode::bitwise_and;
  constexpr opcode codes[] = {opcode::add, opcode::multiply, opcode::minimum, opcode::maximum};
  return codes[static_cast<int>(op)];
}

jit::program chain_of(int parts, dtype type, reduce_op op) {
  jit::program p;
  const auto emit = [&](jit::opcode code, int a, int b) {
    p.code.push_back({code, type, type, 0, static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b), 0, 0});
    return static_cast<int>(p.code.size()) - 1;
  };
  for (int k = 0; k < parts; ++k) {
    p.inputs.push_back({type, 0, {0, 0}});
    (void)emit(jit::opcode::load, k, 0);
  }
  int last = 0;
  for (int k = 1; k < parts; ++k) last = emit(opcode_of(type, op), last, k);
  p.outputs.push_back({type, 0, static_cast<std::uint16_t>(last)});
  p.epilogue = static_cast<std::uint16_t>(p.code.size());
  return p;
}

jit::operand operand_at(void* base, std::int64_t first) {
  jit::operand o;
  o.base = base;
  o.offset = first;
  o.strides = {1};
  return o;
}

}  // namespace

void combine_parts(backend& device, const block& parts, const block& result, int count, dtype type, reduce_op op) {
  const auto item = static_cast<std::int64_t>(itemsize(type));
  const std::int64_t elements = result.bytes / item;
  submission work(device);
  void* const from = work.reads(*parts.memory);
  void* const to = work.writes(*result.memory);
  if (count == 1) {
    device.copy(static_cast<char*>(to) + result.offset, static_cast<char*>(from) + parts.offset,
                static_cast<std::size_t>(result.bytes));
    return;
  }
  for (int done = 0; done < count;) {
    const bool first = done == 0;
    const int taken = std::min(count - done, parts_of_kernel - (first ? 0 : 1));
    const jit::program code = chain_of(taken + (first ? 0 : 1), type, op);
    jit::launch l;
    l.code = &code;
    l.extents = {elements};
    l.kept = 1;
    if (!first) l.inputs.push_back(operand_at(to, result.offset / item));
    for (int k = 0; k < taken; ++k) l.inputs.push_back(operand_at(from, parts.offset / item + (done + k) * elements));
    l.outputs.push_back(operand_at(to, result.offset / item));
    const prepared* ready[1] = {};
    device.prepare({&l, 1}, ready);
    const std::size_t bytes = device.scratch_bytes(*ready[0], l);
    if (bytes == 0) {
      device.run(*ready[0], l, nullptr);
    } else {
      const buffer scratch(device, bytes, memory_kind::device);
      device.run(*ready[0], l, work.writes(scratch));
    }
    done += taken;
  }
}

}  // namespace sinter::runtime
