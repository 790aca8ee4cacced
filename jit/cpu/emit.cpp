// Block functions: which registers are locals, arrays or scalars, and the loops and calls that compute them.
#include "jit/cpu/emit.hpp"

#include <algorithm>

#include "jit/prelude_text.hpp"

namespace sinter::jit {
namespace {

bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

}  // namespace

cpu_emitter::cpu_emitter(const program& p, const block_variant& v)
    : p_(p), v_(v), info_(p.code.size()), by_number_(p.code.size()) {
  mark_used();
  find_uniform_carried();
  find_differences();
  find_selections();
  find_vectors();
  for (std::size_t k = 0; k <= p.code.size(); ++k) {
    if (has_loop() && k == p.loop.begin) loop_stage_ = stages_;
    if (has_loop() && k == p.loop.end) after_loop_ = stages_;
    if (k == p.code.size() || info_[k].where == place::unused) continue;
    loops_ = loops_ || p.is_in_loop(k);
    put_in_place(k);
  }
  user_stage_.resize(static_cast<std::size_t>(stages_));
  for (std::size_t k = 0; k < p.code.size(); ++k)
    if (info_[k].where == place::inlined && p.code[k].op == opcode::user)
      user_stage_[static_cast<std::size_t>(info_[k].stage)] = true;
  in_place_ = updates_in_place();
  find_arrays();
}

// All outputs of a call are computed together; calls with effects are kept even if no output is read.
void cpu_emitter::mark_used() {
  const std::size_t first = v_.epilogue && p_.kind == kernel_kind::reduce ? p_.epilogue : 0;
  const std::size_t last = writes_reductions() ? p_.epilogue : p_.code.size();
  for (std::size_t k = 0; k < output_count(); ++k) info_[output_register(k)].where = place::inlined;
  for (const carried_desc& c : p_.carried)
    if (!v_.epilogue || p_.kind != kernel_kind::reduce) info_[c.reg].where = info_[c.next].where = place::inlined;
  for (std::size_t k = first; k < last; ++k)
    if (has_effects(p_.code[k])) info_[k].where = place::inlined;
  for (std::size_t k = p_.code.size(); k-- > 0;) {
    if (info_[k].where == place::unused) continue;
    each_operand(k, [&](std::uint16_t o) { info_[o].where = place::inlined; });
    if (p_.code[k].op != opcode::user) continue;
    for (std::size_t m = first_of_call(k); m < end_of_call(k); ++m) info_[m].where = place::inlined;
  }
}

void cpu_emitter::put_in_place(std::size_t k) {
  const instr& i = p_.code[k];
  info& me = info_[k];
  bool scalar = i.op == opcode::param || i.op == opcode::address || (i.op == opcode::load && is_uniform(i.a)) ||
                (i.op == opcode::coord && is_uniform_coordinate(v_.uniform, i.a)) || (!is_source(i) && !has_effects(i));
  me.vector = goes_in_vectors(k);
  int stage = !has_loop() || k < p_.loop.begin ? 0 : k < p_.loop.end ? loop_stage_ : after_loop_;
  if (i.op == opcode::carried) {
    me.where = one_value_[i.a] ? place::scalar : place::carried;
    me.stage = stage;
    if (me.where == place::scalar) return;
    stages_ = std::max(stages_, stage + 1);
    return;
  }
  by_number_[k] = may_divide_by_number(k);
  const bool follows = follows_loop(k) && !by_number_[k];
  each_operand(k, [&](std::uint16_t o) {
    scalar = scalar && info_[o].where == place::scalar;
    // A call may read the result of another call of its stage: calls run in program order.
    bool after = info_[o].where == place::called && !follows;
    after = after || (info_[o].where == place::inlined && info_[o].vector != me.vector && !follows);
    if (info_[o].where != place::scalar) stage = std::max(stage, info_[o].stage + (after ? 1 : 0));
  });
  me.stage = stage;
  if (scalar) me.where = place::scalar, me.vector = false;
  else if (is_difference_here(k)) me.where = place::within;
  else if (follows) me.where = place::called;
  else me.where = is_source(i) && !is_gathered(i) && !me.vector ? place::direct : place::inlined;
  if (me.where == place::inlined) stages_ = std::max(stages_, stage + 1);
  if (me.where == place::called) stages_ = std::max(stages_, stage + 1);
}

// Whether the program's loop is one loop over lanes, and no carried register is read after it: those have their values for
// the next run then.
bool cpu_emitter::updates_in_place() const {
  if (!has_loop() || after_loop_ != loop_stage_ + 1 || user_stage_[static_cast<std::size_t>(loop_stage_)]) return false;
  const auto is_carried = [&](std::uint16_t r) { return info_[r].where == place::carried; };
  bool read_later = false;
  for (std::size_t k = 0; k < output_count(); ++k)
    read_later = read_later || (is_carried(output_register(k)) && !is_stored_in_runs(k));
  for (std::size_t k = p_.loop.begin; k < p_.code.size(); ++k) {
    if (p_.is_in_loop(k) && info_[k].where == place::called) return false;
    if (k >= p_.loop.end && info_[k].where != place::unused)
      each_operand(k, [&](std::uint16_t o) { read_later = read_later || is_carried(o); });
  }
  return !read_later;
}

void cpu_emitter::find_arrays() {
  for (std::size_t k = 0; k < output_count(); ++k) {
    info& me = info_[output_register(k)];
    if (me.where != place::inlined && me.where != place::called) continue;
    if (is_half_output(k)) {
      me.in_array = me.in_array || (me.where == place::inlined && !me.vector);
      continue;
    }
    if (is_stored_in_runs(k)) {  // where it is computed, in the loop; what was computed before is kept
      me.in_array = me.in_array || !p_.is_in_loop(output_register(k));
      continue;
    }
    me.in_array = true;
    const bool by_user = me.where == place::called ? p_.code[output_register(k)].op == opcode::user
                                                   : user_stage_[static_cast<std::size_t>(me.stage)];
    if (me.output < 0 && !by_user) me.output = static_cast<int>(k);
  }
  for (const carried_desc& c : p_.carried)
    if (info_[c.next].where == place::inlined && !in_place_) info_[c.next].in_array = true;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where != place::inlined && info_[k].where != place::called && info_[k].where != place::carried)
      continue;
    each_operand(k, [&](std::uint16_t o) {
      bool elsewhere =
          info_[o].where == place::inlined && (info_[o].stage < info_[k].stage || info_[k].where == place::carried);
      if (info_[o].where == place::within) return;
      bool needed = info_[k].where == place::called && (is_called(k) || info_[o].where != place::scalar);
      if (needed || elsewhere) info_[o].in_array = true;
    });
  }
}

std::string cpu_emitter::array(std::size_t k) const {
  const instr& i = p_.code[k];
  if (info_[k].where == place::direct) {
    if (pattern_of(k).what != lane_pattern::kind::dense) return "x" + num(k);
    if (i.op == opcode::coord) return "coord" + num(i.a);
    return "in" + num(i.op == opcode::reduced ? p_.inputs.size() + i.a : i.a);
  }
  const int output = info_[k].output;
  if (output < 0) return "t" + num(k);
  const bool apart = !pattern_of_result(static_cast<std::size_t>(output)).is_dense();
  return (apart ? "y" : "out") + num(output);
}

std::string cpu_emitter::value(std::size_t k, int stage) const {
  const info& o = info_[k];
  if (recurs(k) && lanes_ != "recurring")
    return p_.code[k].type == dtype::b1 ? "bool(every" + num(k) + "[l])" : "every" + num(k) + "[l]";
  bool local = o.where == place::scalar || (o.where == place::inlined && o.stage == stage);
  if (by_bytes_ && o.where == place::inlined)
    return p_.code[k].type == dtype::b1 ? "bool(v" + num(k) + "[l])" : "v" + num(k) + "[l]";
  if (local) return "r" + num(k);
  if (p_.code[k].op == opcode::coord && pattern_of(k).what != lane_pattern::kind::dense) return counted_lane(k);
  return p_.code[k].type == dtype::b1 && !is_opaque_register(p_, k) ? "bool(" + lane(array(k), k) + ")"
                                                                    : lane(array(k), k);
}

std::string cpu_emitter::lane(const std::string& array, std::size_t k) const {
  return array + (is_opaque_register(p_, k) ? "[l].value" : "[l]");
}

// GCC does not vectorise loops that load bool, but those that load bytes.
std::string cpu_emitter::lane_type(std::size_t k) const {
  const std::string type = type_of_register(p_, k);
  return is_opaque_register(p_, k) ? "sn::opaque<" + type + ">" : type == "bool" ? "unsigned char" : type;
}

std::string cpu_emitter::expression(std::size_t k, int stage) const {
  const instr& i = p_.code[k];
  if (i.op == opcode::param && i.b != 0) return num(std::size_t{i.b} - 1);
  if (i.op == opcode::param) return std::string("*(const ") + register_type(i.type) + "*)a->params[" + num(i.a) + "]";
  if (i.op == opcode::coord) return "a->coords[" + num(i.a) + "][0]";
  if (i.op == opcode::load && is_gathered(i)) {
    const std::string in = num(i.a);
    std::string at = "off" + in + (is_uniform(i.a) ? "[0]" : "[l]");
    for (int g = 0; g < p_.inputs[i.a].gathers; ++g)
      at += " + gs" + in + "_" + num(g) + " * " + value(p_.inputs[i.a].gather[g], stage);
    std::string element = "in" + in + "[" + at + "]";
    if (is_moving(k)) element = "x" + num(k) + "[l]";
    if (!is_half(i.type) || (is_moving(k) && !is_uniform(i.a))) return element;
    return (i.type == dtype::f16 ? "sn::f16_to_float(" : "sn::bf16_to_float(") + element + ")";
  }
  if (i.op == opcode::load && halves_ && is_half(i.type)) return uniform_half(i);
  if (i.op == opcode::load) return std::string("*(const ") + register_type(i.type) + "*)" + input_address(i.a);
  if (i.op == opcode::checked_index && i.in_range)
    return within_text(value(i.a, stage), "*(const long long*)a->params[" + num(i.b) + "]");
  if (i.op == opcode::checked_index)
    return call_expression(i, value(i.a, stage), "*(const long long*)a->params[" + num(i.b) + "]",
                           "*(const long long*)a->params[" + num(i.c) + "]");
  if (shifts_as_product(k)) return "sn::multiply(" + value(i.a, stage) + ", power" + num(i.b) + "[l])";
  if (shifts_by_number(k)) return shift_by_number(k, stage);
  if (divides_by_number(k))
    return "w" + num(i.b) + (i.op == opcode::remainder ? ".rest(" : ".quotient(") + value(i.a, stage) + ")";
  std::string operand[3];
  int n = 0;
  each_operand(k, [&](std::uint16_t o) { operand[n++] = value(o, stage); });
  if (const instr* extreme = ordered_extreme(k))
    return std::string("sn::ordered_") + name(extreme->op) + "(" + operand[0] + ", " + operand[1] + ")";
  if (i.op == opcode::select && is_complex(i.type)) return selected_parts(operand[0], operand[1], operand[2]);
  const std::string text = call_expression(i, operand[0], operand[1], operand[2]);
  return selects_again_[k] && text.starts_with("sn::select(") ? "sn::select_again" + text.substr(10) : text;
}

unsigned cpu_emitter::parts() const {
  unsigned mask = prelude_base;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where == place::unused) continue;
    const instr* const extreme = ordered_extreme(k);
    const instr& i = extreme ? *extreme : p_.code[k];
    if (!is_called(k)) mask |= needed_parts(i);
    else if (is_complex(i.type) || is_complex(i.arg)) mask |= needed_parts({opcode::add, i.type, i.arg, 0, 0, 0, 0, 0});
  }
  return mask;
}

void cpu_emitter::write_pointers() {
  std::vector<bool> input(p_.inputs.size() + p_.reductions.size()), coord;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const instr& i = p_.code[k];
    const bool gathers = is_gathered(i) && (info_[k].where == place::inlined || info_[k].where == place::scalar ||
                                            info_[k].where == place::called);
    if (info_[k].where != place::direct && !gathers && !is_half_load(k)) continue;
    if (i.op == opcode::coord) {
      if (coord.size() <= i.a) coord.resize(i.a + 1u);
      if (coord[i.a]) continue;
      coord[i.a] = true;
      out_ += "  const long long* __restrict coord" + num(i.a) + " = a->coords[" + num(i.a) + "];\n";
      advance_.push_back("coord" + num(i.a));
      continue;
    }
    std::size_t n = i.op == opcode::reduced ? p_.inputs.size() + i.a : i.a;
    if (input[n]) continue;
    input[n] = true;
    if (is_half_load(k)) {
      out_ += half_input(k);
      continue;
    }
    const bool gathered = is_gathered(i);
    const std::string type = gathered && is_half(i.type) ? "unsigned short" : lane_type(k), in = num(n);
    out_ += "  const " + type + "* __restrict in" + in + " = (const " + type + "*)" + input_address(n) + ";\n";
    if (!gathered || !is_uniform(i.a)) advance_.push_back((gathered ? "off" : "in") + in);
    if (!gathered) continue;
    out_ += "  const long long* __restrict off" + in + " = a->offsets[" + in + "];\n";
    for (int g = 0; g < p_.inputs[i.a].gathers; ++g) {
      const std::string which = num(g);
      out_ += "  const long long gs" + in + "_" + which + " = a->gather_strides[" + in + "][" + which + "];\n";
    }
  }
  for (std::size_t k = 0; k < output_count(); ++k) {
    const bool stored = is_stored_in_runs(k);
    if (is_half_output(k)) {
      out_ += half_output(k);
      continue;
    }
    advance_.push_back("out" + num(k));
    const std::string type = stored ? storage_lane(p_.code[output_register(k)].type) : lane_type(output_register(k)),
                      n = num(k);
    out_ += "  " + type + "* __restrict out" + n + " = (" + type + "*)" + output_address(k) + ";\n";
  }
}

void cpu_emitter::write_arrays() {
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const info& me = info_[k];
    bool stored = me.where == place::called || me.where == place::carried || (me.in_array && me.where != place::direct);
    if (!stored || me.output >= 0) continue;
    out_ += "  SN_ARRAY(" + lane_type(k) + ", t" + num(k) + ", " + num(block_lanes) + ");\n";
  }
}

// Those of the loop are declared before it.
void cpu_emitter::write_scalars(std::size_t first, std::size_t last) {
  for (std::size_t k = first; k < last; ++k) {
    const instr& i = p_.code[k];
    if (info_[k].where != place::scalar || i.op == opcode::address || i.op == opcode::carried) continue;
    if (is_called(k)) write_scalar_call(k);
    else if (is_first_of_call(k)) out_ += user_call_text(k, 0, "  ");
    else if (i.op != opcode::user) out_ += scalar_name(k) + " = " + expression(k, 0) + ";\n";
    if (info_[k].in_array) out_ += "  SN_LANES(n) " + lane("t" + num(k), k) + " = r" + num(k) + ";\n";
  }
}

std::string cpu_emitter::scalar_name(std::size_t k) const {
  const std::string name = "r" + num(k);
  return p_.is_in_loop(k) ? "  " + name : std::string("  const ") + register_type(p_.code[k].type) + " " + name;
}

void cpu_emitter::write_call(std::size_t k, const std::string& to, const std::string (&from)[3], const char* lanes) {
  std::size_t index = 0;
  for (std::size_t j = 0; j < k; ++j) index += info_[j].where != place::unused && is_called(j);
  const instr& i = p_.code[k];
  std::string first = from[0];
  if (is_random(i.op)) {
    first = "&s" + num(k) + "_stream";
    out_ += "  const sn_random_source s" + num(k) + "_stream = {" + from[0];
    for (int w = 0; w < 3; ++w) out_ += ", *(const unsigned long long*)a->params[" + num(i.spare2 + w) + "]";
    out_ += "};\n";
  }
  out_ += "  a->operations[" + num(index) + "](" + to;
  for (auto& f : {first, from[1], from[2]}) out_ += ", " + (f.empty() ? std::string("0") : f);
  out_ += std::string(", ") + lanes + ", fault);  // " + name(p_.code[k].op) + "\n";
}

// One lane, or lanes that are equal where the routine needs more: either way the bits are those of a block's lanes.
void cpu_emitter::write_scalar_call(std::size_t k) {
  const instr& i = p_.code[k];
  const std::string me = num(k), lanes = num(takes_one_lane(i.op, i.type, i.arg) ? 1 : lane_multiple);
  std::string from[3];
  int n = 0;
  each_operand(k, [&](std::uint16_t o) {
    const std::string name = "s" + me + "_" + num(n);
    out_ += std::string("  SN_ARRAY(") + register_type(p_.code[o].type) + ", " + name + ", " + lanes + ");\n";
    out_ += "  SN_LANES(" + lanes + ") " + name + "[l] = r" + num(o) + ";\n";
    from[n++] = name;
  });
  const std::string type = register_type(i.type);
  out_ += "  SN_ARRAY(" + type + ", s" + me + ", " + lanes + ");\n";
  write_call(k, "s" + me, from, lanes.c_str());
  out_ += scalar_name(k) + " = s" + me + "[0];\n";
}

// Whether the loop of a stage is one that compilers vectorise although it reads by index: elements of 4 or 8 bytes, no users'
// functions.
bool cpu_emitter::reads_vectors(int stage) const {
  if (user_stage_[static_cast<std::size_t>(stage)]) return false;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const instr& i = p_.code[k];
    if (info_[k].where != place::inlined || info_[k].stage != stage || !is_gathered(i)) continue;
    if (is_complex(i.type) || itemsize(i.type) < 4) return false;
  }
  return true;
}

// Checks without a branch: an index that is out of range is told after the loop.
std::string cpu_emitter::checked_text(std::size_t k, const std::string& index) {
  const instr& i = p_.code[k];
  const std::string me = num(k);
  out_ += "  const long long n" + me + " = *(const long long*)a->params[" + num(i.b) + "];\n  sn_refused bad" + me +
          " = {0, 0};\n";
  return "    const long long r" + me + " = sn_index_of(" + index + ", n" + me + ", bad" + me + ");\n";
}

void cpu_emitter::write_refusal(std::size_t k) {
  const std::string me = num(k), axis = "*(const long long*)a->params[" + num(p_.code[k].c) + "]";
  out_ += "  if (bad" + me + ".any) sn::checked_index(bad" + me + ".index(), n" + me + ", " + axis + ", fault);\n";
}

void cpu_emitter::write_loop(int stage) {
  write_vector_loop(stage);
  std::string body;
  std::vector<std::size_t> checks, quotients;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where != place::inlined || info_[k].stage != stage || info_[k].vector || recurs(k)) continue;
    const std::string me = num(k);
    if (is_quick_quotient(k, stage)) quotients.push_back(k);
    if (p_.code[k].op == opcode::checked_index && p_.code[k].in_range) {
      // Stores of bytes may change whatever memory is read in the loop, for all that a compiler knows.
      out_ += "  const long long n" + me + " = *(const long long*)a->params[" + num(p_.code[k].b) + "];\n";
      body += "    const long long r" + me + " = " + within_text(value(p_.code[k].a, stage), "n" + me) + ";\n";
    } else if (p_.code[k].op == opcode::checked_index && reads_vectors(stage)) {
      body += checked_text(k, value(p_.code[k].a, stage));
      checks.push_back(k);
    } else if (is_first_of_call(k)) body += user_call_text(k, stage, "    ");
    else if (p_.code[k].op != opcode::user)
      body +=
          std::string("    const ") + register_type(p_.code[k].type) + " r" + me + " = " + expression(k, stage) + ";\n";
    if (info_[k].in_array && is_complex(p_.code[k].type) && !is_gathered(p_.code[k]) && p_.code[k].op != opcode::user)
      body += parts_stored(k);
    else if (info_[k].in_array) body += "    " + lane(array(k), k) + " = r" + me + ";\n";
  }
  for (std::size_t k = 0; k < output_count(); ++k)
    if (is_stored_in_runs(k) && is_stored_by(k, stage))
      body += "    " + stored_lane(k, value(output_register(k), stage)) + "\n";
  for (std::size_t k = p_.carried.size(); k-- > 0 && in_place_ && stage == loop_stage_;) {
    const carried_desc& c = p_.carried[k];
    if (info_[c.reg].where != place::carried) continue;
    body += "    " + lane(array(c.reg), c.reg) + " = " + value(c.next, stage) + ";\n";
  }
  if (body.empty()) return;
  const bool divides = write_divisors(stage);
  if (quotients.empty()) {
    out_ += user_stage_[static_cast<std::size_t>(stage)] ? "  for (int l = 0; l < n; ++l) {\n"
                                                         : "  SN_LANES(" + lanes_ + ") {\n";
    out_ += body + "  }\n";
  } else {
    write_quotients(body, quotients, stage);
  }
  if (divides) out_ += "  }\n";
  for (const std::size_t k : checks) write_refusal(k);
}

void cpu_emitter::write_calls(int stage) {
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where != place::called || info_[k].stage != stage) continue;
    if (loads_alone(k)) {
      out_ += "  for (int l = 0; l < n; ++l) " + lane(array(k), k) + " = " + expression(k, stages_) + ";\n";
      continue;
    }
    if (p_.code[k].op == opcode::user) {
      if (is_first_of_call(k)) takes_lanes(p_.code[k]) ? write_user_lanes(k) : write_effects(k);
      continue;
    }
    std::string from[3];
    int n = 0;
    if (const instr* d = difference_of(k)) from[0] = array(d->a), from[1] = "&r" + num(d->b);
    else each_operand(k, [&](std::uint16_t o) { from[n++] = array(o); });
    write_call(k, array(k), from, "n");
  }
}

// Outputs without a dedicated array: copies of inputs, scalars, one register stored twice.
void cpu_emitter::write_copies() {
  for (std::size_t k = 0; k < output_count(); ++k) {
    std::uint16_t reg = output_register(k);
    if (info_[reg].output == static_cast<int>(k) || is_stored_in_runs(k)) continue;
    if (is_half_output(k)) {
      write_half_copy(k);
      continue;
    }
    const bool dense = pattern_of_result(k).is_dense();
    out_ +=
        "  SN_LANES(" + lanes_ + ") " + lane((dense ? "out" : "y") + num(k), reg) + " = " + value(reg, stages_) + ";\n";
  }
}

void cpu_emitter::write_stages(int first, int last) {
  for (int s = first; s < last && s < stages_; ++s) {
    write_loop(s);
    write_calls(s);
  }
}

std::string cpu_emitter::text(const std::string& function) {
  function_ = function;
  // Lanes that lie in memory as they are here need no block's arrays.
  const char* const whole = repeats() ? "" : "a->halves || ";
  const bool again = repeats() || halves_;
  out_ = "extern \"C\" void " + function + "(const sn_block_args* a) {\n";
  out_ += std::string("  const int ") + (again ? "all" : "n") + " = a->n & ~" + num(lane_multiple - 1) +
          ";\n  int* fault = a->fault;\n  (void)fault;\n";
  const auto [before_rows, after_rows] = tries_of_rows();
  const std::string end_of_rows = (takes_rows() ? "  }\n" : "") + after_rows;
  if (takes_rows()) out_ += before_rows + "  for (int row = 0; row < a->rows; ++row) {\n";
  write_pointers();
  write_whole_arrays();
  write_arrays();
  const std::size_t end = p_.code.size();
  if (again)
    out_ += std::string("  int n = ") + whole + "all < " + num(block_lanes) + " ? all : " + num(block_lanes) + ";\n";
  write_scalars(0, loops_ ? p_.loop.begin : end);
  if (again) out_ += "  for (int done = 0; done < all; done += n) {\n  if (all - done < n) n = all - done;\n";
  read_wide_inputs();
  if (has_patterns() || shifts_bytes()) {
    write_chunks();
    return before_ + out_ + end_of_rows + "}\n";
  }
  write_stages(0, loops_ ? loop_stage_ : stages_);
  if (loops_) {
    write_program_loop();
    write_scalars(p_.loop.end, end);
    write_stages(after_loop_, stages_);
  }
  write_copies();
  write_wide_outputs();
  if (again) {
    for (const std::string& pointer : advance_) out_ += "  " + pointer + " += n;\n";
    out_ += "  }\n";
  }
  return before_ + out_ + end_of_rows + "}\n";
}

std::vector<block_op> cpu_emitter::operations() const {
  std::vector<block_op> all;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const instr& i = p_.code[k];
    if (info_[k].where == place::unused || !is_called(k)) continue;
    all.push_back(difference_of(k)  ? find_exponential_of_difference(i.type)
                  : is_random(i.op) ? find_random_op(i.op, i.type)
                                    : find_block_op(i.op, i.type, i.arg));
  }
  return all;
}

std::vector<block_op> external_operations(const program& p, const block_variant& v) {
  return cpu_emitter(p, v).operations();
}

bool takes_halves(const program& p, const block_variant& v) { return cpu_emitter(p, v).takes_halves(); }

bool takes_patterns(const program& p, const block_variant& v) { return cpu_emitter(p, v).takes_patterns(); }

}  // namespace sinter::jit
