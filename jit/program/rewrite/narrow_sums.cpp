// The sums that may be narrower, then the program anew.
#include "jit/program/rewrite/narrow_sums.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace sinter::jit {
namespace {

/// The largest size of a number of the type; 0: too wide.
std::int64_t most_of(dtype t) noexcept {
  switch (t) {
    case dtype::b1: return 1;
    case dtype::i8: return 128;
    case dtype::u8: return 255;
    case dtype::i16: return 32768;
    case dtype::u16: return 65535;
    default: return 0;
  }
}

bool may_be_narrow(const program& p, const reduce_desc& r, std::int64_t count) noexcept {
  const instr& made = p.code[r.reg];
  if (r.op != reduce_op::sum || (r.type != dtype::i64 && r.type != dtype::u64) || r.arg != r.type) return false;
  const std::int64_t most = made.op == opcode::cast ? most_of(made.arg) : 0;
  return most > 0 && count <= INT32_MAX / most;
}

}  // namespace

void narrow_sums(program& p, std::int64_t count) {
  if (p.kind != kernel_kind::reduce || p.loop.end != 0 || !p.calls.empty() || !p.combines.empty()) return;
  std::vector<char> narrow;
  for (const reduce_desc& r : p.reductions) {
    if (r.tail != 0) return;
    narrow.push_back(may_be_narrow(p, r, count));
  }
  if (std::find(narrow.begin(), narrow.end(), 1) == narrow.end()) return;
  std::vector<char> read(p.code.size());  // by something else
  for (const instr& i : p.code) p.each_operand(i, [&](std::uint16_t r) { read[r] = 1; });
  for (const output_desc& o : p.outputs) read[o.reg] = 1;
  for (std::size_t k = 0; k < narrow.size(); ++k)
    if (!narrow[k]) read[p.reductions[k].reg] = 1;
  const std::vector<instr> code = std::exchange(p.code, {});
  const std::size_t epilogue = p.epilogue;
  std::vector<std::uint16_t> place(code.size());
  const auto add = [&](const instr& i) {
    p.code.push_back(i);
    return static_cast<std::uint16_t>(p.code.size() - 1);
  };
  const auto add_again = [&](std::size_t k) {
    instr i = code[k];
    std::uint16_t* const operands[] = {&i.a, &i.b, &i.c};
    for (int n = 0; n < operand_count(i.op); ++n) *operands[n] = place[*operands[n]];
    place[k] = add(i);
  };
  std::vector<char> left_out(code.size());
  for (std::size_t k = 0; k < narrow.size(); ++k)
    if (narrow[k] && !read[p.reductions[k].reg]) left_out[p.reductions[k].reg] = 1;
  for (std::size_t k = 0; k < epilogue; ++k)
    if (!left_out[k]) add_again(k);
  for (std::size_t k = 0; k < narrow.size(); ++k) {
    reduce_desc& r = p.reductions[k];
    const bool plain = r.inner == r.reg;
    if (narrow[k]) {
      const instr& made = code[r.reg];
      r.reg = add({opcode::cast, dtype::i32, made.arg, 0, place[made.a], 0, 0, 0});
      r.type = r.arg = dtype::i32;
    } else {
      r.reg = place[r.reg];
    }
    r.inner = plain ? r.reg : place[r.inner];
  }
  p.epilogue = static_cast<std::uint16_t>(p.code.size());
  for (std::size_t k = epilogue; k < code.size(); ++k) {
    const instr& i = code[k];
    if (i.op != opcode::reduced || !narrow[i.a]) {
      add_again(k);
      continue;
    }
    const std::uint16_t sum = add({opcode::reduced, dtype::i32, dtype::i32, 0, i.a, 0, 0, 0});
    place[k] = add({opcode::cast, i.type, dtype::i32, 0, sum, 0, 0, 0});
  }
  for (input_desc& in : p.inputs)
    for (int g = 0; g < in.gathers; ++g) in.gather[g] = place[in.gather[g]];
  for (output_desc& o : p.outputs) o.reg = place[o.reg];
}

}  // namespace sinter::jit
