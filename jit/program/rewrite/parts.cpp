// Real numbers in place of complex ones.
#include "jit/program/rewrite/parts.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace sinter::jit {
namespace {

/// What becomes of each input and output: a bit for each of the first 64.
struct choice {
  std::uint64_t inputs = 0;  // read as real numbers
  std::uint64_t real = 0,
                imag =
                    0;  // outputs of which this part is written as real numbers, and nothing else or the other one too
  bool any() const noexcept { return (inputs | real | imag) != 0; }
};

bool has(std::uint64_t bits, std::size_t k) noexcept { return k < 64 && (bits >> k & 1) != 0; }
dtype part_type(dtype t) noexcept { return t == dtype::c64 ? dtype::f32 : dtype::f64; }
bool is_part(const instr& i) noexcept { return (i.op == opcode::real || i.op == opcode::imag) && is_complex(i.arg); }

struct part_program {
  program code;
  std::vector<bool> inputs[2], outputs[2];  // of which there is a real part, an imaginary part
};

/// The instructions that outputs need, with parts of inputs as loads.
class part_writer {
 public:
  part_writer(const program& p, const choice& c, part_program& to) : p_(p), c_(c), to_(to), place_(p.code.size()) {}

  void write() {
    to_.code = p_;
    to_.code.code.clear();
    to_.code.inputs.clear();
    to_.code.outputs.clear();
    find_needed();
    write_inputs();
    for (std::size_t k = 0; k < p_.code.size(); ++k) {
      if (!needed_[k]) continue;
      instr i = p_.code[k];
      if (is_part_of_input(i)) {
        const auto& numbers = input_of_[i.op == opcode::imag];
        i = {opcode::load, i.type, i.type, 0, numbers[p_.code[i.a].a], 0, 0, 0};
      } else if (i.op == opcode::load) {
        i.a = input_of_[0][i.a];
      } else {
        std::uint16_t* const operands[] = {&i.a, &i.b, &i.c};
        for (int n = 0; n < operand_count(i.op); ++n) *operands[n] = place_[*operands[n]];
      }
      place_[k] = static_cast<std::uint16_t>(to_.code.code.size());
      to_.code.code.push_back(i);
    }
    to_.code.epilogue = static_cast<std::uint16_t>(to_.code.code.size());
    write_outputs();
  }

 private:
  bool in_parts(std::size_t output) const { return has(c_.real | c_.imag, output); }
  bool is_part_of_input(const instr& i) const {
    return is_part(i) && p_.code[i.a].op == opcode::load && has(c_.inputs, p_.code[i.a].a);
  }

  void find_needed() {
    needed_.resize(p_.code.size());
    for (std::size_t k = 0; k < p_.outputs.size(); ++k) {
      const instr& i = p_.code[p_.outputs[k].reg];
      if (!in_parts(k)) needed_[p_.outputs[k].reg] = true;
      if (has(c_.real, k)) needed_[i.a] = true;
      if (has(c_.imag, k)) needed_[i.b] = true;
    }
    for (std::size_t k = p_.code.size(); k-- > 0;)
      if (needed_[k] && !is_part_of_input(p_.code[k]))
        p_.each_operand(p_.code[k], [&](std::uint16_t r) { needed_[r] = true; });
  }

  void write_inputs() {
    for (int part = 0; part < 2; ++part) {
      to_.inputs[part].resize(p_.inputs.size());
      input_of_[part].resize(p_.inputs.size());
    }
    for (std::size_t k = 0; k < p_.code.size(); ++k) {
      const instr& i = p_.code[k];
      if (!needed_[k]) continue;
      if (is_part_of_input(i)) to_.inputs[i.op == opcode::imag][p_.code[i.a].a] = true;
      else if (i.op == opcode::load) to_.inputs[0][i.a] = true;
    }
    for (std::size_t k = 0; k < p_.inputs.size(); ++k)
      for (int part = 0; part < 2; ++part) {
        if (!to_.inputs[part][k]) continue;
        input_of_[part][k] = static_cast<std::uint16_t>(to_.code.inputs.size());
        input_desc in = p_.inputs[k];
        if (has(c_.inputs, k)) in.type = part_type(in.type);
        to_.code.inputs.push_back(in);
      }
  }

  void write_outputs() {
    for (auto& part : to_.outputs) part.resize(p_.outputs.size());
    const auto add = [&](std::size_t k, int part, dtype type, std::uint16_t reg) {
      to_.outputs[part][k] = true;
      output_desc o = p_.outputs[k];
      o.type = type;
      o.reg = place_[reg];
      to_.code.outputs.push_back(o);
    };
    for (std::size_t k = 0; k < p_.outputs.size(); ++k) {
      const output_desc& o = p_.outputs[k];
      const instr& i = p_.code[o.reg];
      if (!in_parts(k)) add(k, 0, o.type, o.reg);
      if (has(c_.real, k)) add(k, 0, part_type(o.type), i.a);
      if (has(c_.imag, k)) add(k, 1, part_type(o.type), i.b);
    }
  }

  const program& p_;
  const choice& c_;
  part_program& to_;
  std::vector<std::uint16_t> place_, input_of_[2];
  std::vector<bool> needed_;
};

/// Never destroyed.
const part_program& program_of_parts(const program& p, const choice& c) {
  static std::mutex& mutex = *new std::mutex;  // outlives static arrays
  static auto& table = *new std::unordered_map<std::string, std::unique_ptr<part_program>>;
  std::string key(reinterpret_cast<const char*>(&c), sizeof c);
  p.append_key(key);
  const std::lock_guard lock(mutex);
  std::unique_ptr<part_program>& made = table[key];
  if (!made) {
    auto fresh = std::make_unique<part_program>();
    part_writer(p, c, *fresh).write();
    made = std::move(fresh);
  }
  return *made;
}

/// Whether part `op` of an output is that of an input which lies where the output does.
bool stays(const launch& l, std::uint16_t reg, opcode op, const operand& to) {
  const instr& i = l.code->code[reg];
  if (i.op != op || !is_part(i) || l.code->code[i.a].op != opcode::load) return false;
  const operand& from = l.inputs[l.code->code[i.a].a];
  return from.base && from.base == to.base && from.offset == to.offset && from.strides == to.strides;
}

choice choose(const launch& l) {
  const program& p = *l.code;
  const int last = l.extents.size() - 1;
  const auto is_apart = [&](const operand& o) { return o.strides[last] != 1 && o.strides[last] != 0; };
  choice c;
  for (std::size_t k = 0; k < p.outputs.size() && k < 64; ++k) {
    const instr& made = p.code[p.outputs[k].reg];
    if (made.op != opcode::make_complex || made.type != p.outputs[k].type || !is_apart(l.outputs[k])) continue;
    const bool keeps_real = stays(l, made.a, opcode::real, l.outputs[k]);
    const bool keeps_imag = stays(l, made.b, opcode::imag, l.outputs[k]);
    if (keeps_real == keeps_imag) continue;
    (keeps_real ? c.imag : c.real) |= std::uint64_t{1} << k;
  }
  std::vector<char> whole(p.inputs.size());
  for (const instr& i : p.code)
    if (!is_part(i))
      p.each_operand(i, [&](std::uint16_t r) {
        if (p.code[r].op == opcode::load) whole[p.code[r].a] = 1;
      });
  for (const output_desc& o : p.outputs)
    if (p.code[o.reg].op == opcode::load) whole[p.code[o.reg].a] = 1;
  for (std::size_t k = 0; k < p.inputs.size() && k < 64; ++k)
    if (is_complex(p.inputs[k].type) && !whole[k] && is_apart(l.inputs[k])) c.inputs |= std::uint64_t{1} << k;
  return c;
}

}  // namespace

std::optional<launch> in_parts(const launch& l) {
  const program& p = *l.code;
  if (p.kind != kernel_kind::elementwise || !p.calls.empty() || p.loop.end != 0 || has_gathers(p) || l.extents.empty())
    return std::nullopt;
  bool any = false;
  for (const instr& i : p.code) any = any || is_part(i);
  if (!any) return std::nullopt;
  const choice c = choose(l);
  if (!c.any()) return std::nullopt;
  const part_program& made = program_of_parts(p, c);
  launch to = l;
  to.code = &made.code;
  to.memo = nullptr;
  to.inputs.clear();
  to.outputs.clear();
  const auto add = [](std::vector<operand>& list, operand o, bool real, int part) {
    if (real) {
      o.offset = 2 * o.offset + part;
      for (std::int64_t& s : o.strides) s *= 2;
    }
    list.push_back(o);
  };
  for (std::size_t k = 0; k < l.inputs.size(); ++k)
    for (int part = 0; part < 2; ++part)
      if (made.inputs[part][k]) add(to.inputs, l.inputs[k], has(c.inputs, k), part);
  for (std::size_t k = 0; k < l.outputs.size(); ++k)
    for (int part = 0; part < 2; ++part)
      if (made.outputs[part][k]) add(to.outputs, l.outputs[k], has(c.real | c.imag, k), part);
  return to;
}

}  // namespace sinter::jit
