// Tables of the operations, and the key and label of a program.
#include "jit/program/program.hpp"

#include <cstring>
#include <type_traits>

namespace sinter::jit {
namespace {

struct operation {
  const char* name;
  int operands, weight;
};
constexpr operation operations[opcode_count] = {
#define OP(name, operands, weight) {#name, operands, weight},
#include "jit/program/opcodes.def"
};

constexpr reduction reductions[reduce_op_count] = {
#define REDUCTION(name, order, neutral, prelude, accumulator) \
  {#name, reduce_order::order, neutral, #prelude, accumulator},
#include "jit/program/reductions.def"
};

/// Appends the length and the bytes of a vector.
template <class T>
char* put(char* to, const std::vector<T>& v) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  auto n = static_cast<std::uint32_t>(v.size());
  std::memcpy(to, &n, sizeof n);
  if (n) std::memcpy(to + sizeof n, v.data(), n * sizeof(T));
  return to + sizeof n + n * sizeof(T);
}

}  // namespace

const char* name(opcode op) noexcept { return operations[static_cast<int>(op)].name; }
int operand_count(opcode op) noexcept { return operations[static_cast<int>(op)].operands; }
int weight(opcode op) noexcept { return operations[static_cast<int>(op)].weight; }
const reduction& about(reduce_op op) noexcept { return reductions[static_cast<int>(op)]; }

void program::clear() {
  kind = kernel_kind::elementwise;
  flags = {};
  code.clear();
  epilogue = params = 0;
  param_types.clear();
  inputs.clear();
  outputs.clear();
  reductions.clear();
  loop = {};
  carried.clear();
  stages.clear();
  calls.clear();
  combines.clear();
}

// The vectors are stored byte by byte: the records have no padding, and clear() leaves unused fields zero.
void program::append_plain_key(std::string& out) const {
  static_assert(sizeof(instr) == 12 && sizeof(input_desc) == 6 && sizeof(output_desc) == 4 &&
                sizeof(reduce_desc) == 8 && sizeof(stage) == 6);
  const std::size_t start = out.size();
  static_assert(sizeof(program_loop) == 6 && sizeof(carried_desc) == 6);
  const std::size_t bytes = 6 + sizeof loop + 6 * sizeof(std::uint32_t) + carried.size() * sizeof(carried_desc) +
                            code.size() * sizeof(instr) + param_types.size() + inputs.size() * sizeof(input_desc) +
                            outputs.size() * sizeof(output_desc) + reductions.size() * sizeof(reduce_desc) +
                            (kind == kernel_kind::staged ? sizeof(std::uint32_t) + stages.size() * sizeof(stage) : 0);
  out.resize(start + bytes);
  char* to = out.data() + start;
  *to++ = static_cast<char>(kind);
  *to++ = static_cast<char>(int(flags.fast_math) | int(flags.check_index) << 1);
  std::memcpy(to, &epilogue, sizeof epilogue);
  std::memcpy(to + sizeof epilogue, &params, sizeof params);
  to += sizeof epilogue + sizeof params;
  std::memcpy(to, &loop, sizeof loop);
  to = put(to + sizeof loop, code);
  to = put(to, carried);
  to = put(to, param_types);
  to = put(to, inputs);
  to = put(to, outputs);
  to = put(to, reductions);
  if (kind == kernel_kind::staged) put(to, stages);
}

// Users' functions are appended after the counts of the plain key, so no other program has the same key.
void program::append_key(std::string& out) const {
  append_plain_key(out);
  for (const user_call& c : calls) {
    out.append(reinterpret_cast<const char*>(&c.function->id), sizeof c.function->id);
    out.append(reinterpret_cast<const char*>(c.operands.data()), c.operands.size() * sizeof(std::uint16_t));
  }
  for (const user_reduction* r : combines) out.append(reinterpret_cast<const char*>(&r->id), sizeof r->id);
}

void program::append_stable_key(std::string& out) const {
  append_plain_key(out);
  for (const user_call& c : calls) {
    out += c.function->symbol;
    out.append(reinterpret_cast<const char*>(c.operands.data()), c.operands.size() * sizeof(std::uint16_t));
  }
  for (const user_reduction* r : combines) out += r->symbol;
}

std::string program::label() const {
  constexpr std::size_t limit = 60;
  std::string text, last;
  auto add = [&](const char* word) {
    if (last == word) return;  // x*x*x is shown as one multiply
    last = word;
    if (text.size() + last.size() + 1 > limit) return;
    if (!text.empty()) text += '_';
    text += last;
  };
  auto word_of = [&](const reduce_desc& r) {
    return r.op == reduce_op::user ? combines[r.inner]->name.c_str() : about(r.op).name;
  };
  std::size_t reserved = 0;  // space for the reductions, the most informative words
  for (auto& r : reductions) reserved += std::strlen(word_of(r)) + 1;
  for (std::size_t k = 0; k < code.size(); ++k) {
    const instr& i = code[k];
    if (k == epilogue)
      for (auto& r : reductions) add(word_of(r));
    if (i.op == opcode::user) {
      add(calls[i.a].function->name.c_str());
      continue;
    }
    if (i.op <= opcode::checked_index && i.op != opcode::cast) continue;
    const char* word = i.op == opcode::subtract ? "sub" : i.op == opcode::multiply ? "mul" : jit::name(i.op);
    if (k < epilogue && text.size() + std::strlen(word) + 1 + reserved > limit) continue;
    add(word);
  }
  if (epilogue >= code.size())
    for (auto& r : reductions) add(word_of(r));
  return text.empty() ? "copy" : text;
}

}  // namespace sinter::jit
