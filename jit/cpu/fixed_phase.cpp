#include "jit/cpu/fixed_phase.hpp"

#include <algorithm>

#include "jit/prelude_text.hpp"

namespace sinter::jit {
namespace {

/// Rows of as many elements have lanes enough for vectors of bytes.
constexpr std::int64_t short_row = 128;

constexpr std::int64_t padded(std::int64_t n) noexcept {
  return (n + lane_multiple - 1) / lane_multiple * lane_multiple;
}

}  // namespace

std::string fixed_lane(dtype t) { return t == dtype::b1 ? "unsigned char" : register_type(t); }

fixed_emitter::phase::phase(const fixed_launch& l, std::vector<int> axes, std::vector<block_op>& operations)
    : l_(l), p_(l.code), axes_(std::move(axes)), operations_(operations), info_(l.code.code.size()) {
  for (const int a : axes_) count_ *= l.extents[a];
  for (const instr& i : l.code.code)
    widest_ = std::max<std::int64_t>(widest_, is_complex(i.type) ? 8 : itemsize(i.type));
  widest_ = widest_ > 4 ? 8 : 4;
  widened_.assign(p_.inputs.size(), 0);
}

void fixed_emitter::phase::store(std::size_t output) {
  targets_.push_back({p_.outputs[output].reg, static_cast<int>(output), 0});
}

void fixed_emitter::phase::keep(std::uint16_t reg) { targets_.push_back({reg, -1, 0}); }

bool fixed_emitter::phase::is_source(std::size_t k) const {
  const instr& i = p_.code[k];
  return operand_count(i.op) == 0 && !(i.op == opcode::load && p_.inputs[i.a].gathers != 0);
}

bool fixed_emitter::phase::is_call(std::size_t k) const {
  const instr& i = p_.code[k];
  const bool parts =
      i.op == opcode::make_complex || ((i.op == opcode::real || i.op == opcode::imag) && is_complex(i.arg));
  const bool here = parts || (is_inline_on_cpu(i.op, i.type, i.arg) && !is_complex(i.type) && !is_complex(i.arg));
  return operand_count(i.op) != 0 && i.op != opcode::checked_index && !here;
}

bool fixed_emitter::phase::calls_for(const std::vector<std::uint16_t>& regs) const {
  std::vector<char> needed(p_.code.size(), 0);
  for (const std::uint16_t r : regs) needed[r] = 1;
  bool found = false;
  for (std::size_t k = needed.size(); k-- > 0;) {
    if (!needed[k]) continue;
    found = found || is_call(k);
    p_.each_operand(p_.code[k], [&](std::uint16_t o) { needed[o] = 1; });
  }
  return found;
}

/// Whether the instruction itself has one value in the whole space; of operations that follows from their operands.
bool fixed_emitter::phase::is_uniform(std::size_t k) const {
  const instr& i = p_.code[k];
  if (i.op == opcode::param) return true;
  if (i.op == opcode::reduced || i.op == opcode::coord) return count_ == 1;
  if (i.op != opcode::load) return true;
  return std::all_of(axes_.begin(), axes_.end(),
                     [&](int a) { return l_.inputs[i.a].strides[a] == 0 || l_.extents[a] == 1; });
}

void fixed_emitter::phase::mark(std::uint16_t reg) {
  info_[reg].where = place::inlined;
  for (std::size_t k = reg + std::size_t{1}; k-- > 0;)
    if (info_[k].where != place::unused)
      p_.each_operand(p_.code[k], [&](std::uint16_t o) { info_[o].where = place::inlined; });
}

void fixed_emitter::phase::find_places() {
  for (const target& t : targets_) mark(t.reg);
  for (std::size_t k = 0; k < info_.size(); ++k) {
    info& me = info_[k];
    if (me.where == place::unused) continue;
    bool scalar = is_uniform(k);
    int stage = 0;
    p_.each_operand(p_.code[k], [&](std::uint16_t o) {
      scalar = scalar && info_[o].where == place::scalar;
      const bool after = info_[o].where == place::called && !is_call(k);
      if (info_[o].where != place::scalar) stage = std::max(stage, info_[o].stage + (after ? 1 : 0));
    });
    me.stage = stage;
    me.where = scalar ? place::scalar : is_source(k) ? place::source : is_call(k) ? place::called : place::inlined;
    last_ = std::max(last_, stage);
  }
}

/// Sources that calls read are put into arrays at the beginning; others are read where they are needed.
void fixed_emitter::phase::find_arrays() {
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where != place::called) continue;
    p_.each_operand(p_.code[k], [&](std::uint16_t o) {
      if (info_[o].where == place::source) info_[o].where = place::inlined, info_[o].stage = 0;
      info_[o].in_array = true;
    });
  }
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where != place::inlined) continue;
    p_.each_operand(p_.code[k], [&](std::uint16_t o) {
      info& of = info_[o];
      if (of.where != place::inlined || of.stage == info_[k].stage || of.in_array) return;
      of.in_array = true;
      of.wide = p_.code[o].type == dtype::b1;
    });
  }
}

void fixed_emitter::phase::place_targets() {
  // Nothing is stored before everything has been read that may lie there.
  const bool calls = std::any_of(info_.begin(), info_.end(), [](const info& i) { return i.where == place::called; });
  const bool late =
      l_.over == fixed_launch::overlap::others || (l_.over == fixed_launch::overlap::same_places && calls);
  for (target& t : targets_) {
    info& me = info_[t.reg];
    t.stage = me.where == place::called ? me.stage + 1 : me.where == place::inlined ? me.stage : 0;
    if (t.output >= 0 && !late) continue;
    if (me.where == place::source) me.where = place::inlined, me.stage = 0;
    if (me.where == place::inlined || t.output < 0) me.in_array = true;
  }
  for (const target& t : targets_)
    if (t.output >= 0) last_ = std::max(last_, t.stage);
  // Truth values are stored in one loop where rows are short.
  const auto apart = [&](const target& t) {
    const info& me = info_[t.reg];
    return t.output >= 0 && !late && has_short_rows() && me.where == place::inlined &&
           p_.code[t.reg].type == dtype::b1 && lies_in_order(l_.outputs[static_cast<std::size_t>(t.output)].strides);
  };
  if (!late && std::none_of(targets_.begin(), targets_.end(), apart)) return;
  ++last_;
  for (target& t : targets_) {
    if (apart(t)) {
      info_[t.reg].wide = info_[t.reg].wide || !info_[t.reg].in_array;
      info_[t.reg].in_array = true;
      t.stage = last_;
    }
    if (late && t.output >= 0) t.stage = last_;
  }
}

void fixed_emitter::phase::count_parts() {
  parts_ = prelude_base;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const instr& i = p_.code[k];
    if (info_[k].where == place::unused) continue;
    if (!is_call(k)) parts_ |= needed_parts(i);
    else if (is_complex(i.type) || is_complex(i.arg))
      parts_ |= needed_parts({opcode::add, i.type, i.arg, 0, 0, 0, 0, 0});
  }
}

std::string fixed_emitter::phase::index(const core::dims& strides) const {
  std::string at;
  for (const int a : axes_) {
    if (strides[a] == 0 || l_.extents[a] == 1) continue;
    at += (at.empty() ? "i" : " + i") + num(a);
    if (strides[a] != 1) at += " * " + num(strides[a]);
  }
  return at.empty() ? "0" : at;
}

std::string fixed_emitter::phase::value(std::size_t k, int stage) const {
  const info& me = info_[k];
  const bool here =
      me.where == place::scalar || me.where == place::source || (me.where == place::inlined && me.stage == stage);
  if (here) return "r" + num(k);
  const std::string lane = "t" + num(k) + "[l]";
  return me.wide ? "(" + lane + " != 0)" : p_.code[k].type == dtype::b1 ? "bool(" + lane + ")" : lane;
}

std::string fixed_emitter::phase::lane_type(std::size_t k) const {
  return info_[k].wide ? widest_ == 8 ? "long long" : "int" : fixed_lane(p_.code[k].type);
}

std::string fixed_emitter::phase::number(std::size_t param) const {
  const std::optional<std::int64_t>& n = l_.numbers[param];
  return n ? "(" + std::string(register_type(p_.param_types[param])) + ")(" + num(*n) + "ll)" : "param" + num(param);
}

std::string fixed_emitter::phase::expression(std::size_t k, int stage) const {
  const instr& i = p_.code[k];
  const auto lane = [&](const std::string& x) { return i.type == dtype::b1 ? "bool(" + x + ")" : x; };
  if (i.op == opcode::param) return number(i.a);
  if (i.op == opcode::reduced) return lane("s" + num(i.a) + (count_ == 1 ? "[0]" : "[l]"));
  if (i.op == opcode::coord) {
    if (i.a < l_.extents.size()) return l_.extents[i.a] == 1 ? "0ll" : "i" + num(i.a);
    core::dims position = core::dims(l_.extents.size(), 0);
    std::int64_t step = 1;
    std::vector<int> order = axes_;
    std::sort(order.begin(), order.end());
    for (std::size_t a = order.size(); a-- > 0; step *= l_.extents[order[a]]) position[order[a]] = step;
    return index(position);
  }
  if (i.op == opcode::load) {
    std::string at = index(l_.inputs[i.a].strides);
    for (int g = 0; g < p_.inputs[i.a].gathers; ++g)
      at += " + " + num(l_.inputs[i.a].gather_stride[g]) + " * " + value(p_.inputs[i.a].gather[g], stage);
    if (i.type == dtype::b1 && widened_[i.a]) return "(w" + num(i.a) + "[" + at + "] != 0)";
    return lane("in" + num(i.a) + "[" + at + "]");
  }
  if (i.op == opcode::checked_index) return within_text(value(i.a, stage), number(i.b));
  std::string operand[3];
  int n = 0;
  p_.each_operand(i, [&](std::uint16_t o) { operand[n++] = value(o, stage); });
  return call_expression(i, operand[0], operand[1], operand[2]);
}

std::string fixed_emitter::phase::declaration(std::size_t k, int stage) const {
  const std::string type = register_type(p_.code[k].type);
  std::string value;
  if (k < known_.size() && known_[k].is_number()) value = "(" + type + ")" + num(known_[k].low) + "ll";
  else if (k < known_.size() && known_[k].same_as >= 0)
    value = this->value(static_cast<std::size_t>(known_[k].same_as), stage);
  else value = expression(k, stage);
  return "    const " + type + " r" + num(k) + " = " + value + ";\n";
}

std::string fixed_emitter::phase::stored(const target& t, int stage) const {
  const std::string v = value(t.reg, stage);
  return "    out" + num(t.output) + "[" + index(l_.outputs[static_cast<std::size_t>(t.output)].strides) + "] = " + v +
         ";\n";
}

/// Whether the loop of a stage reads the source.
bool fixed_emitter::phase::is_read_in(std::size_t k, int stage) const {
  for (const target& t : targets_)
    if (t.output >= 0 && t.reg == k && t.stage == stage) return true;
  bool found = false;
  for (std::size_t j = k + 1; j < info_.size() && !found; ++j)
    if (info_[j].where == place::inlined && info_[j].stage == stage)
      p_.each_operand(p_.code[j], [&](std::uint16_t o) { found = found || o == k; });
  return found;
}

void fixed_emitter::phase::write_call(std::string& out, std::size_t k, const std::string& to,
                                      const std::vector<std::string>& from, std::int64_t lanes) {
  const instr& i = p_.code[k];
  const std::string call = "operations[" + num(operations_.size()) + "](";
  operations_.push_back(find_block_op(i.op, i.type, i.arg));
  const auto arguments = [&](const std::string& more) {
    std::string text = to + more;
    for (std::size_t n = 0; n < 3; ++n) text += n < from.size() ? ", " + from[n] + more : std::string(", 0");
    return text;
  };
  const std::string end = std::string(", fault);  // ") + name(i.op) + "\n";
  if (lanes <= block_lanes) {
    out += "  " + call + arguments("") + ", " + num(lanes) + end;
    return;
  }
  out += "  for (int b = 0; b < " + num(lanes) + "; b += " + num(block_lanes) + ")\n    " + call + arguments(" + b") +
         ", " + num(lanes) + " - b < " + num(block_lanes) + " ? " + num(lanes) + " - b : " + num(block_lanes) + end;
}

// One lane, or lanes that are equal where the routine needs more: either way the bits are those of a block's lanes.
void fixed_emitter::phase::write_scalars(std::string& out) {
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where != place::scalar) continue;
    const instr& i = p_.code[k];
    const std::string me = num(k);
    if (!is_call(k)) {
      out += declaration(k, 0);
    } else {
      const std::int64_t lanes = takes_one_lane(i.op, i.type, i.arg) ? 1 : lane_multiple;
      std::vector<std::string> from;
      p_.each_operand(i, [&](std::uint16_t o) {
        const std::string name = "u" + me + "_" + num(from.size());
        out += "  alignas(64) " + fixed_lane(p_.code[o].type) + " " + name + "[" + num(lanes) + "];\n";
        out += "  for (int j = 0; j < " + num(lanes) + "; ++j) " + name + "[j] = r" + num(o) + ";\n";
        from.push_back(name);
      });
      out += "  alignas(64) " + fixed_lane(i.type) + " u" + me + "[" + num(lanes) + "];\n";
      write_call(out, k, "u" + me, from, lanes);
      out += std::string("  const ") + register_type(i.type) + " r" + me + " = u" + me + "[0];\n";
    }
    if (info_[k].in_array)
      out += "  for (int j = 0; j < " + num(padded(count_)) + "; ++j) t" + me + "[j] = r" + me + ";\n";
  }
}

bool fixed_emitter::phase::lies_in_order(const core::dims& strides) const {
  std::int64_t step = 1;
  for (std::size_t n = axes_.size(); n-- > 0; step *= l_.extents[axes_[n]])
    if (l_.extents[axes_[n]] != 1 && strides[axes_[n]] != step) return false;
  return true;
}

/// Whether everything that the loop of a stage reads and writes lies in the order of the loops: it is one loop then.
bool fixed_emitter::phase::is_flat(int stage) const {
  for (const target& t : targets_)
    if (t.output >= 0 && t.stage == stage && !lies_in_order(l_.outputs[static_cast<std::size_t>(t.output)].strides))
      return false;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const info& me = info_[k];
    const instr& i = p_.code[k];
    const bool inlined = me.where == place::inlined && me.stage == stage;
    if (!inlined && !(me.where == place::source && is_read_in(k, stage))) continue;
    if (i.op == opcode::coord) return false;
    if (i.op == opcode::load && (p_.inputs[i.a].gathers != 0 || !lies_in_order(l_.inputs[i.a].strides))) return false;
  }
  return true;
}

bool fixed_emitter::phase::has_short_rows() const {
  return axes_.size() > 1 && l_.extents[axes_.back()] < short_row && count_ >= 2 * l_.extents[axes_.back()];
}

/// Truth values that are read in short rows: compilers want lanes of one width there.
void fixed_emitter::phase::widen_inputs(std::string& out) {
  widened_.assign(p_.inputs.size(), 0);
  if (!has_short_rows()) return;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const instr& i = p_.code[k];
    const bool is_read = info_[k].where == place::source || info_[k].where == place::inlined;
    if (!is_read || i.op != opcode::load || i.type != dtype::b1 || p_.inputs[i.a].gathers != 0 || widened_[i.a])
      continue;
    std::int64_t lanes = 1;
    bool dense = true;
    for (std::size_t n = axes_.size(); n-- > 0;) {
      const std::int64_t step = l_.inputs[i.a].strides[axes_[n]];
      if (step == 0 || l_.extents[axes_[n]] == 1) continue;
      dense = dense && step == lanes;
      lanes *= l_.extents[axes_[n]];
    }
    if (!dense) continue;
    widened_[i.a] = 1;
    const std::string type = widest_ == 8 ? "long long" : "int", name = num(i.a);
    out += "  alignas(64) " + type + " w" + name + "[" + num(lanes) + "];\n  SN_EACH(l, " + num(lanes) + ") w" + name +
           "[l] = in" + name + "[l];\n";
    bytes_ += lanes * widest_;
  }
}

void fixed_emitter::phase::write_body(std::string& out, int stage, bool flat) {
  std::string body;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const info& me = info_[k];
    const bool inlined = me.where == place::inlined && me.stage == stage;
    if (!inlined && !(me.where == place::source && is_read_in(k, stage))) continue;
    if (flat && p_.code[k].op == opcode::load) {
      const std::string lane = "in" + num(p_.code[k].a) + "[l]", type = register_type(p_.code[k].type);
      body +=
          "    const " + type + " r" + num(k) + " = " + lane + (p_.code[k].type == dtype::b1 ? " != 0" : "") + ";\n";
    } else {
      body += declaration(k, stage);
    }
    if (inlined && me.in_array) body += "    t" + num(k) + "[l] = r" + num(k) + ";\n";
  }
  for (const target& t : targets_)
    if (t.output >= 0 && t.stage == stage)
      body += flat ? "    out" + num(t.output) + "[l] = " + value(t.reg, stage) + ";\n" : stored(t, stage);
  out += body;
}

void fixed_emitter::phase::write_loop(std::string& out, int stage) {
  std::string body;
  write_body(body, stage, false);
  if (body.empty()) return;
  if (axes_.size() > 1 && is_flat(stage)) {
    out += "  SN_EACH(l, " + num(count_) + ") {\n";
    write_body(out, stage, true);
    out += "  }\n";
    return;
  }
  const std::vector<std::vector<axis_part>> parts = parts_of(l_);
  std::string place;
  for (const int a : axes_) {
    const std::string i = "i" + num(a);
    place = place.empty() ? i : "(" + place + ") * " + num(l_.extents[a]) + " + " + i;
  }
  std::vector<std::size_t> now(parts.size(), 0);
  for (bool more = true; more;) {
    std::vector<axis_part> within;
    for (std::size_t a = 0; a < parts.size(); ++a) within.push_back(parts[a][now[a]]);
    known_ = ranges_of(l_, within);
    std::string heads;
    for (std::size_t n = 0; n < axes_.size(); ++n) {
      const auto a = static_cast<std::size_t>(axes_[n]);
      const std::string i = "i" + num(a);
      heads += std::string(n + 1 < axes_.size() ? "  " : "  _Pragma(\"GCC ivdep\") ") + "for (long long " + i + " = " +
               num(within[a].begin) + "; " + i + " < " + num(within[a].end) + "; ++" + i + ")\n";
    }
    out += heads + "  {\n    const long long l = " + (place.empty() ? "0" : place) + ";\n    (void)l;\n";
    write_body(out, stage, false);
    out += "  }\n";
    known_.clear();
    more = false;
    for (const int a : axes_) {
      std::size_t& at = now[static_cast<std::size_t>(a)];
      if (++at < parts[static_cast<std::size_t>(a)].size()) {
        more = true;
        break;
      }
      at = 0;
    }
  }
}

void fixed_emitter::phase::write_calls(std::string& out, int stage) {
  const std::int64_t all = padded(count_);
  if (all > count_)
    for (std::size_t k = 0; k < info_.size(); ++k)
      if (info_[k].where == place::inlined && info_[k].stage == stage && info_[k].in_array)
        out += "  for (int j = " + num(count_) + "; j < " + num(all) + "; ++j) t" + num(k) + "[j] = t" + num(k) + "[" +
               num(count_ - 1) + "];\n";
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where != place::called || info_[k].stage != stage) continue;
    const instr& i = p_.code[k];
    std::vector<std::string> from;
    p_.each_operand(i, [&](std::uint16_t o) { from.push_back("t" + num(o)); });
    write_call(out, k, "t" + num(k), from, count_ == 1 && takes_one_lane(i.op, i.type, i.arg) ? 1 : all);
  }
}

void fixed_emitter::phase::write(std::string& out) {
  find_places();
  find_arrays();
  place_targets();
  count_parts();
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (!info_[k].in_array && info_[k].where != place::called) continue;
    out += "  alignas(64) " + lane_type(k) + " t" + num(k) + "[" + num(padded(count_)) + "];\n";
    bytes_ += padded(count_) * (info_[k].wide ? widest_ : lane_bytes(p_.code[k].type));
  }
  widen_inputs(out);
  write_scalars(out);
  for (int stage = 0; stage <= last_; ++stage) {
    write_loop(out, stage);
    write_calls(out, stage);
  }
}

void fixed_emitter::phase::write_function(std::string& out, const std::string& name, std::uint16_t reg) {
  keep(reg);
  find_places();
  count_parts();
  out += "  const auto " + name + " = [=](const long long r, const long long d) __attribute__((always_inline)) {\n";
  out += "    (void)r;\n    (void)d;\n";
  for (const int a : axes_)
    if (l_.extents[a] != 1) out += "    const long long i" + num(a) + " = " + (a < l_.kept ? "r" : "d") + ";\n";
  for (std::size_t k = 0; k < info_.size(); ++k)
    if (info_[k].where != place::unused) out += declaration(k, 0);
  out += "    return r" + num(reg) + ";\n  };\n";
}

}  // namespace sinter::jit
