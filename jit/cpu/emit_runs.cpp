// The program's loop in block functions: all lanes go through a run, then through the next one. What is carried is in arrays
// of lanes, and in locals where all lanes have one value; where the block is a single element everything is in locals.
#include <cassert>

#include "jit/cpu/emit.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit {
namespace {

bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

/// A register's value as it is stored.
std::string stored(dtype t, const std::string& value) {
  if (!is_half(t)) return value;
  return (t == dtype::f16 ? "sn::float_to_f16(" : "sn::float_to_bf16(") + value + ")";
}

}  // namespace

std::string storage_lane(dtype t) {
  if (is_half(t)) return "unsigned short";
  return t == dtype::b1 ? "unsigned char" : register_type(t);
}

/// A carried register has one value if it begins with one, and what it becomes has one: found by taking away those that do
/// not, until none does.
void cpu_emitter::find_uniform_carried() {
  one_value_.assign(p_.carried.size(), true);
  std::vector<bool> one(p_.code.size());
  for (bool again = has_loop(); again;) {
    for (std::size_t k = 0; k < p_.code.size(); ++k) {
      const instr& i = p_.code[k];
      bool same = i.op == opcode::carried ? one_value_[i.a] : i.op == opcode::param || i.op == opcode::address;
      if (i.op == opcode::load) same = is_uniform(i.a);
      if (!is_source(i)) same = !has_effects(i);
      if (i.op != opcode::carried) each_operand(k, [&](std::uint16_t o) { same = same && one[o]; });
      one[k] = same;
    }
    again = false;
    for (std::size_t c = 0; c < p_.carried.size(); ++c) {
      if (!one_value_[c] || (one[p_.carried[c].initial] && one[p_.carried[c].next])) continue;
      one_value_[c] = false;
      again = true;
    }
  }
}

bool cpu_emitter::is_moving(std::size_t k) const {
  const instr& i = p_.code[k];
  return i.op == opcode::load && info_[k].where == place::inlined && p_.is_in_loop(k) && moves_with_runs(p_, i.a) &&
         info_[p_.inputs[i.a].gather[0]].where == place::scalar;
}

/// Whether a loop over lanes computes what is stored in each run, and stores it.
bool cpu_emitter::is_stored_by(std::size_t output, int stage) const {
  const std::uint16_t reg = output_register(output);
  if (info_[reg].stage != stage || !p_.is_in_loop(reg)) return false;
  return info_[reg].where == place::inlined || (info_[reg].where == place::carried && in_place_);
}

std::string cpu_emitter::stored_lane(std::size_t output, const std::string& value) const {
  return "to" + num(output) + "[l] = " + value + ";";
}

/// Whether lanes lie side by side: then they are read and written where they are.
void cpu_emitter::write_dense(const std::string& name, const std::string& offsets) {
  out_ += "  bool dense_" + name + " = true;\n  for (int l = 0; l < n; ++l) dense_" + name + " &= " + offsets +
          "[l] == " + offsets + "[0] + l;\n";
}

void cpu_emitter::write_run_declarations() {
  out_ += "  const long long runs = *(const long long*)a->params[" + num(p_.loop.count) + "];\n";
  for (std::size_t k = p_.loop.begin; k < p_.loop.end; ++k) {
    const instr& i = p_.code[k];
    if (info_[k].where == place::scalar && i.op != opcode::address)
      out_ += std::string("  ") + register_type(i.type) + " r" + num(k) +
              (i.op == opcode::carried ? " = " + value(p_.carried[i.a].initial, -1) : "") + ";\n";
    if (!is_moving(k)) continue;
    out_ += "  SN_ARRAY(" + lane_type(k) + ", tx" + num(k) + ", " + num(block_lanes) + ");\n";
    if (!is_half(i.type)) write_dense("x" + num(k), "off" + num(i.a));
  }
  for (const carried_desc& c : p_.carried)
    if (info_[c.reg].where == place::carried)
      out_ += "  SN_LANES(n) " + lane(array(c.reg), c.reg) + " = " + value(c.initial, -1) + ";\n";
  for (std::size_t k = 0; k < output_count(); ++k) {
    if (!is_stored_in_runs(k)) continue;
    const std::string n = num(k), place = num(p_.inputs.size() + k);
    out_ += "  const long long* __restrict at" + n + " = a->offsets[" + place + "];\n  const long long step" + n +
            " = a->gather_strides[" + place + "][0];\n";
    if (info_[output_register(k)].where == place::scalar) continue;
    out_ += "  SN_ARRAY(" + lane_type(output_register(k)) + ", part" + n + ", " + num(block_lanes) + ");\n";
    if (!is_half(p_.code[output_register(k)].type)) write_dense("to" + n, "at" + n);
  }
}

/// Where the elements of this run are read.
void cpu_emitter::write_moving_pointers() {
  for (std::size_t k = p_.loop.begin; k < p_.loop.end; ++k) {
    if (!is_moving(k)) continue;
    const instr& i = p_.code[k];
    const std::string me = num(k), in = num(i.a), type = lane_type(k);
    const std::string element = "from" + me + "[off" + in + "[l]]";
    const std::string widened = !is_half(i.type)       ? element
                                : i.type == dtype::f16 ? "sn::f16_to_float(" + element + ")"
                                                       : "sn::bf16_to_float(" + element + ")";
    out_ += "  const auto* from" + me + " = in" + in + " + gs" + in + "_0 * r" + num(p_.inputs[i.a].gather[0]) + ";\n" +
            "  const " + type + "* x" + me + " = tx" + me + ";\n";
    if (!is_half(i.type)) out_ += "  if (dense_x" + me + ") x" + me + " = from" + me + " + off" + in + "[0];\n  else\n";
    out_ += "  SN_LANES(n) tx" + me + "[l] = " + widened + ";\n";
  }
}

/// Where those of this run are stored.
void cpu_emitter::write_run_targets() {
  for (std::size_t k = 0; k < output_count(); ++k) {
    if (!is_stored_in_runs(k)) continue;
    const std::uint16_t reg = output_register(k);
    const std::string n = num(k);
    out_ += "  auto* now" + n + " = out" + n + " + step" + n + " * (run - 1);\n";
    if (info_[reg].where == place::scalar) continue;
    out_ += "  " + lane_type(reg) + "* to" + n + " = part" + n + ";\n";
    if (!is_half(p_.code[reg].type)) out_ += "  if (dense_to" + n + ") to" + n + " = now" + n + " + at" + n + "[0];\n";
  }
}

void cpu_emitter::write_run_outputs() {
  for (std::size_t k = 0; k < output_count(); ++k) {
    if (!is_stored_in_runs(k)) continue;
    const std::uint16_t reg = output_register(k);
    const dtype type = p_.code[reg].type;
    const std::string n = num(k), at = "now" + n + "[at" + n;
    if (info_[reg].where == place::scalar) {
      const std::string one = stored(type, "r" + num(reg));
      out_ += "  if (a->lanes == 1) " + at + "[0]] = " + one + ";\n  else for (int l = 0; l < a->lanes; ++l) " + at +
              "[l]] = " + one + ";\n";
      continue;
    }
    if (!is_stored_by(k, info_[reg].stage)) out_ += "  SN_LANES(n) " + stored_lane(k, value(reg, -1)) + "\n";
    out_ += std::string("  ") + (is_half(type) ? "" : "if (!dense_to" + n + ") ") +
            "for (int l = 0; l < a->lanes; ++l) " + at + "[l]] = " + stored(type, "to" + n + "[l]") + ";\n";
  }
}

// In descending order, since a carried register may get the value of one of a lower number.
void cpu_emitter::write_next_carried() {
  for (std::size_t k = p_.carried.size(); k-- > 0;) {
    const carried_desc& c = p_.carried[k];
    if (info_[c.reg].where == place::scalar) out_ += "  r" + num(c.reg) + " = " + value(c.next, -1) + ";\n";
    if (info_[c.reg].where == place::carried && !in_place_)
      out_ += "  SN_LANES(n) " + lane(array(c.reg), c.reg) + " = " + value(c.next, -1) + ";\n";
  }
}

void cpu_emitter::write_program_loop() {
  write_run_declarations();
  out_ += "  for (long long run = 1;; ++run) {\n";
  for (const carried_desc& c : p_.carried)
    if (info_[c.reg].where == place::scalar && info_[c.reg].in_array)
      out_ += "  SN_LANES(n) " + lane("t" + num(c.reg), c.reg) + " = r" + num(c.reg) + ";\n";
  write_scalars(p_.loop.begin, p_.loop.end);
  write_moving_pointers();
  write_run_targets();
  write_stages(loop_stage_, after_loop_);
  write_run_outputs();
  const int again = condition_of_runs(p_);
  assert(again < 0 || info_[static_cast<std::size_t>(again)].where == place::scalar);
  out_ += "  if (run == runs" + (again < 0 ? "" : " || !" + value(static_cast<std::size_t>(again), -1)) + ") break;\n";
  write_next_carried();
  out_ += "  }\n";
}

}  // namespace sinter::jit
