// Removing index registers from programs.
#include "jit/program/rewrite/plain_reads.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace sinter::jit {
namespace {

std::unique_ptr<program> without_gathers(const program& p, std::uint64_t inputs) {
  auto out = std::make_unique<program>(p);
  for (std::size_t k = 0; k < out->inputs.size(); ++k)
    if (k < 64 && (inputs >> k & 1))
      out->inputs[k].gathers = 0, out->inputs[k].gather[0] = out->inputs[k].gather[1] = 0;
  std::vector<char> needed(p.code.size());
  for (const output_desc& o : out->outputs) needed[o.reg] = 1;
  for (const reduce_desc& r : out->reductions) needed[r.reg] = 1;
  for (std::size_t k = p.code.size(); k-- > 0;)
    if (needed[k]) out->each_operand(p.code[k], [&](std::uint16_t r) { needed[r] = 1; });
  std::vector<std::uint16_t> place(p.code.size());
  out->code.clear();
  for (std::size_t k = 0; k < p.code.size(); ++k) {
    if (k == p.epilogue) out->epilogue = static_cast<std::uint16_t>(out->code.size());
    if (!needed[k]) continue;
    instr i = p.code[k];
    std::uint16_t* const operands[] = {&i.a, &i.b, &i.c};
    for (int n = 0; n < operand_count(i.op); ++n) *operands[n] = place[*operands[n]];
    place[k] = static_cast<std::uint16_t>(out->code.size());
    out->code.push_back(i);
  }
  for (input_desc& in : out->inputs)
    for (int g = 0; g < in.gathers; ++g) in.gather[g] = place[in.gather[g]];
  for (output_desc& o : out->outputs) o.reg = place[o.reg];
  for (reduce_desc& r : out->reductions) r.reg = place[r.reg];
  if (p.epilogue == p.code.size()) out->epilogue = static_cast<std::uint16_t>(out->code.size());
  return out;
}

/// A copy moves float16 and bfloat16 as their bits.
void copy_bits(program& p) {
  for (const instr& i : p.code)
    if (i.op != opcode::load) return;
  const auto plain = [](dtype& t) {
    if (t == dtype::f16 || t == dtype::bf16) t = dtype::u16;
  };
  for (instr& i : p.code) plain(i.type), plain(i.arg);
  for (input_desc& in : p.inputs) plain(in.type);
  for (output_desc& o : p.outputs) plain(o.type);
}

}  // namespace

const program& plain_program(const program& p, std::uint64_t inputs) {
  static std::mutex& mutex = *new std::mutex;  // outlives static arrays
  static auto& table = *new std::unordered_map<std::string, std::unique_ptr<program>>;
  std::string key(reinterpret_cast<const char*>(&inputs), sizeof inputs);
  p.append_key(key);
  const std::lock_guard lock(mutex);
  std::unique_ptr<program>& made = table[key];
  if (!made) {
    made = without_gathers(p, inputs);
    copy_bits(*made);
  }
  return *made;
}

}  // namespace sinter::jit
