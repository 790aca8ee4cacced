// Block functions: operands whose lanes lie in memory by a pattern that the variant names (every other element, numbers that repeat,
// coordinates that count). The loop goes over a few vectors of lanes at a time, whose number the compiler knows: what is put together
// by shuffles in front of them stays in registers.
#include <algorithm>

#include "jit/cpu/emit.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit {
namespace {

using kind = lane_pattern::kind;

bool suits_pattern(dtype t) { return !is_complex(t) && t != dtype::f16 && t != dtype::bf16; }

/// The function of the prelude that reads or writes lanes so, with its parameters.
std::string name_of(const lane_pattern& how, const std::string& lanes, bool writes) {
  const std::string number = std::to_string(how.number), far = std::to_string(how.far), end = ", " + lanes + ">";
  const std::string verb = writes ? "sn::store_" : "sn::load_";
  if (how.what == kind::apart) return verb + "apart<" + number + end;
  if (how.what == kind::runs) return verb + "runs<" + number + end;
  return verb + "rows<" + number + ", " + (writes ? "" : std::to_string(how.near) + ", ") + far + end;
}

/// Elements from one chunk to the next.
std::string step_of(const lane_pattern& how, const std::string& lanes) {
  const std::string number = std::to_string(how.number);
  if (how.what == kind::apart || how.what == kind::member) return lanes + " * " + number;
  if (how.what == kind::runs) return lanes + " / " + number;
  if (how.what == kind::rows) return lanes + " / " + number + " * " + std::to_string(how.far);
  return lanes;
}

}  // namespace

bool cpu_emitter::takes_patterns() const {
  const bool of_elements = p_.kind == kernel_kind::elementwise || writes_reductions();
  if (!takes_any_length() || stages_ != 1 || !of_elements || !operations().empty()) return false;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where == place::unused) continue;
    if (is_gathered(p_.code[k]) || p_.code[k].op == opcode::checked_index || p_.code[k].op == opcode::address ||
        !suits_pattern(p_.code[k].type))
      return false;
    // A loop that may have to run again: for rows, and with one result.
    if (is_quick_quotient(k, 0) && !(takes_rows() && is_one_loop())) return false;
  }
  return true;
}

/// Whether the function is one loop over lanes of bytes that shifts some by a number: compilers shift no bytes, but words.
bool cpu_emitter::shifts_bytes() const {
  if (!takes_patterns()) return false;
  bool any = false;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where == place::unused || info_[k].where == place::scalar) continue;
    if (itemsize(p_.code[k].type) != 1 || p_.code[k].op == opcode::coord) return false;
    any = any || is_shift_of_bytes(k);
  }
  return any;
}

bool cpu_emitter::is_shift_of_bytes(std::size_t k) const {
  const instr& i = p_.code[k];
  return (i.op == opcode::right_shift || i.op == opcode::left_shift) && i.type == dtype::u8 && i.arg == dtype::u8 &&
         info_[k].where == place::inlined && info_[i.a].where != place::scalar && info_[i.b].where == place::scalar;
}

/// What joins truth values that are bytes of 0 or 1; null: something else.
const char* cpu_emitter::bits_for(opcode op) {
  return op == opcode::logical_or    ? " | "
         : op == opcode::logical_and ? " & "
         : op == opcode::logical_xor ? " ^ "
                                     : nullptr;
}

/// Each instruction as a loop of its own, over an array that stays in a register.
void cpu_emitter::write_bytes(int lanes) {
  const std::string all = num(static_cast<std::size_t>(lanes));
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where != place::inlined) continue;
    const instr& i = p_.code[k];
    const std::string me = num(k);
    out_ += "  SN_ARRAY(" + lane_type(k) + ", v" + me + ", " + all + ");\n";
    if (is_shift_of_bytes(k)) {
      const std::string from = info_[i.a].where == place::inlined ? "v" + num(i.a) : array(i.a);
      out_ += std::string("  sn::shift_bytes_") + (i.op == opcode::left_shift ? "left<" : "right<") + all + ">(v" + me +
              ", " + from + ", r" + num(i.b) + ");\n";
    } else if (const char* const op = i.arg == dtype::b1 ? bits_for(i.op) : nullptr) {
      const auto bytes = [&](std::uint16_t o) {
        return (info_[o].where == place::inlined  ? "v"
                : info_[o].where == place::scalar ? "r"
                                                  : "") +
               (info_[o].where == place::direct ? array(o) : num(o)) + (info_[o].where == place::scalar ? "" : "[l]");
      };
      out_ += "  SN_LANES(" + all + ") v" + me + "[l] = " + bytes(i.a) + op + bytes(i.b) + ";\n";
    } else {
      out_ += "  SN_LANES(" + all + ") v" + me + "[l] = " + expression(k, 0) + ";\n";
    }
    if (info_[k].in_array) out_ += "  SN_LANES(" + all + ") " + lane(array(k), k) + " = v" + me + "[l];\n";
  }
}

lane_pattern cpu_emitter::pattern_of(std::size_t k) const {
  const instr& i = p_.code[k];
  if (!has_patterns()) return {};
  if (i.op == opcode::load) return pattern_of_input(v_.patterns, i.a);
  return i.op == opcode::coord ? pattern_of_axis(p_, v_.patterns, i.a) : lane_pattern{};
}

/// What is reduced is written for the reduction alone.
lane_pattern cpu_emitter::pattern_of_result(std::size_t k) const {
  return writes_reductions() ? lane_pattern{} : pattern_of_output(p_, v_.patterns, k);
}

/// A coordinate that counts from the block's first lane on.
std::string cpu_emitter::counted_lane(std::size_t k) const {
  const lane_pattern how = pattern_of(k);
  const std::string lane = how.what == kind::counted ? "done + l" : "(l & " + std::to_string(how.number - 1) + ")";
  return "(first" + num(p_.code[k].a) + " + " + lane + ")";
}

/// A vector of the smallest elements; 16 at least.
int cpu_emitter::chunk_lanes() const {
  std::size_t least = 4;
  for (std::size_t k = 0; k < info_.size(); ++k)
    if (info_[k].where == place::direct && p_.code[k].op == opcode::load)
      least = std::min(least, itemsize(p_.code[k].type));
  for (std::size_t k = 0; k < output_count(); ++k) least = std::min(least, itemsize(p_.code[output_register(k)].type));
  return static_cast<int>(64 / least) * (multiple_of_lanes(p_, v_.patterns) / lane_multiple);
}

/// Inputs that lie in the same records, which are taken apart together.
void cpu_emitter::write_records(const std::string& lanes) {
  std::vector<bool> written(p_.inputs.size());
  for (std::size_t first = 0; first < info_.size(); ++first) {
    const lane_pattern how = pattern_of(first);
    if (info_[first].where != place::direct || how.what != kind::member) continue;
    const auto leader = static_cast<std::size_t>(how.far);
    if (written[leader]) continue;
    written[leader] = true;
    std::vector<std::string> to(static_cast<std::size_t>(how.number));
    int last = 0;
    for (std::size_t k = first; k < info_.size(); ++k) {
      const lane_pattern other = pattern_of(k);
      if (info_[k].where != place::direct || other.what != kind::member || other.far != how.far) continue;
      to[static_cast<std::size_t>(other.near)] = "x" + num(k);
      last = std::max(last, other.near);
    }
    const std::string type = lane_type(first), number = std::to_string(how.number);
    out_ += "  " + type + "* const to" + num(leader) + "[" + number + "] = {";
    for (const std::string& array : to) out_ += (array.empty() ? "0" : array) + ", ";
    out_ += "};\n  sn::load_records<" + number + ", " + std::to_string(last) + ", " + lanes + ">(to" + num(leader) +
            ", in" + num(leader) + ");\n";
  }
}

void cpu_emitter::write_chunk(int lanes) {
  const std::string all = num(static_cast<std::size_t>(lanes));
  lanes_ = all;
  std::vector<bool> read(p_.inputs.size()), counted(p_.code.size());
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const instr& i = p_.code[k];
    const lane_pattern how = pattern_of(k);
    if (info_[k].where != place::direct || how.what == kind::dense) continue;
    if (i.op == opcode::coord) continue;
    const std::string me = num(k), type = lane_type(k);
    out_ += "  SN_ARRAY(" + type + ", x" + me + ", " + all + ");\n";
    if (how.what != kind::member) out_ += "  " + name_of(how, all, false) + "(x" + me + ", in" + num(i.a) + ");\n";
  }
  write_records(all);
  for (std::size_t k = 0; k < output_count(); ++k)
    if (!pattern_of_result(k).is_dense())
      out_ += "  SN_ARRAY(" + lane_type(output_register(k)) + ", y" + num(k) + ", " + all + ");\n";
  if (by_bytes_) {
    const bool divides = write_divisors(0);
    write_bytes(lanes);
    if (divides) out_ += "  }\n";
  } else {
    write_stages(0, stages_);
  }
  write_copies();
  for (std::size_t k = 0; k < output_count(); ++k) {
    const lane_pattern how = pattern_of_result(k);
    const std::string out = "out" + num(k);
    if (!how.is_dense()) out_ += "  " + name_of(how, all, true) + "(" + out + ", y" + num(k) + ");\n";
    out_ += "  " + out + " += " + step_of(how, all) + ";\n";
  }
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const instr& i = p_.code[k];
    if (info_[k].where != place::direct) continue;
    const lane_pattern how = pattern_of(k);
    if (i.op == opcode::coord) {
      if (how.what == kind::dense && !counted[i.a]) out_ += "  coord" + num(i.a) + " += " + all + ";\n";
      counted[i.a] = true;
      continue;
    }
    if (read[i.a]) continue;
    read[i.a] = true;
    out_ += "  in" + num(i.a) + " += " + step_of(how, all) + ";\n";
  }
}

/// What follows from numbers and from coordinates that begin again within a chunk, and nothing stores.
void cpu_emitter::find_recurring() {
  std::vector<bool> same(p_.code.size());
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const instr& i = p_.code[k];
    const place where = info_[k].where;
    if (i.op == opcode::coord && where == place::direct) same[k] = pattern_of(k).what == kind::periodic;
    if (where != place::inlined || is_source(i) || info_[k].in_array || divides_by_number(k)) continue;
    bool all = true;
    each_operand(k, [&](std::uint16_t o) { all = all && (info_[o].where == place::scalar || same[o]); });
    same[k] = all;
  }
  recurring_.assign(p_.code.size(), false);
  for (std::size_t k = 0; k < info_.size(); ++k) recurring_[k] = same[k] && info_[k].where == place::inlined;
}

/// Whether instruction k shifts bytes to the left by counts that recur: no vectors of bytes are shifted, and powers of two recur as well.
bool cpu_emitter::shifts_as_product(std::size_t k) const {
  const instr& i = p_.code[k];
  return i.op == opcode::left_shift && itemsize(i.type) == 1 && i.arg == i.type && recurs(i.b) && !recurs(k);
}

void cpu_emitter::write_recurring(int lanes) {
  find_recurring();
  if (std::find(recurring_.begin(), recurring_.end(), true) == recurring_.end()) return;
  std::vector<bool> read(p_.code.size());
  for (std::size_t k = 0; k < info_.size(); ++k)
    if (info_[k].where != place::unused && !recurs(k))
      each_operand(k, [&](std::uint16_t o) { read[o] = read[o] || recurs(o); });
  std::vector<bool> counts(p_.code.size());
  for (std::size_t k = 0; k < info_.size(); ++k)
    if (info_[k].where != place::unused && shifts_as_product(k)) counts[p_.code[k].b] = true;
  for (std::size_t k = 0; k < output_count(); ++k) read[output_register(k)] = recurs(output_register(k));
  const std::string all = num(static_cast<std::size_t>(lanes));
  std::string body;
  lanes_ = "recurring";
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (!recurs(k)) continue;
    const std::string me = num(k), type = register_type(p_.code[k].type);
    body += "    const " + type + " r" + me + " = " + expression(k, 0) + ";\n";
    if (counts[k]) {
      out_ += "  SN_ARRAY(" + lane_type(k) + ", power" + me + ", " + all + ");\n";
      body += "    power" + me + "[l] = sn::left_shift<" + type + ">(1, r" + me + ");\n";
    }
    if (!read[k]) continue;
    out_ += "  SN_ARRAY(" + lane_type(k) + ", every" + me + ", " + all + ");\n";
    body += "    every" + me + "[l] = r" + me + ";\n";
  }
  out_ += "  SN_LANES(" + all + ") {\n" + body + "  }\n";
}

void cpu_emitter::write_chunks() {
  const int lanes = chunk_lanes(), least = multiple_of_lanes(p_, v_.patterns);
  by_bytes_ = shifts_bytes();
  std::vector<bool> named(p_.code.size());
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const instr& i = p_.code[k];
    if (i.op != opcode::coord || info_[k].where != place::direct || pattern_of(k).what == kind::dense || named[i.a])
      continue;
    named[i.a] = true;
    out_ += "  const long long first" + num(i.a) + " = coord" + num(i.a) + "[0];\n";
  }
  if (has_patterns() && !by_bytes_) write_recurring(lanes);
  out_ += "  int done = 0;\n  for (; done + " + num(static_cast<std::size_t>(lanes)) +
          " <= n; done += " + num(static_cast<std::size_t>(lanes)) + ") {\n";
  write_chunk(lanes);
  out_ += "  }\n";
  if (lanes == least) return;
  out_ += "  for (; done < n; done += " + num(static_cast<std::size_t>(least)) + ") {\n";
  write_chunk(least);
  out_ += "  }\n";
}

}  // namespace sinter::jit
