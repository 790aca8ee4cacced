// Users' functions in block functions: calls in a stage's loop, and separate loops for functions with effects.
#include <algorithm>

#include "jit/cpu/emit.hpp"
#include "jit/prelude_text.hpp"
#include "jit/program/index_check.hpp"

namespace sinter::jit {
namespace {

/// "sn_user::sn_p0123456789abcdef::", the scope of the function's namespace.
std::string scope_of(const user_function& f) {
  const std::string name = callee(f);
  return name.substr(0, name.size() - (f.symbol + "::call").size());
}

/// Joins arguments with commas.
class list {
 public:
  void add(const std::string& item) { text_ += (text_.empty() ? "" : ", ") + item; }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// The register of `output` of the call whose first instruction is `first`; `end` if it has none.
std::size_t register_of(const program& p, std::size_t first, std::size_t end, std::size_t output) {
  for (std::size_t k = first; k < end; ++k)
    if (p.code[k].b == output) return k;
  return end;
}

/// The function for lanes, where there is one.
std::string lanes_function(const user_function& f) { return "sn_lanes_of_" + f.name; }

}  // namespace

bool cpu_emitter::takes_lanes(const instr& i) const {
  if (i.op != opcode::user) return false;
  const user_function& f = function_of(i);
  return f.returns && f.preamble.find(lanes_function(f) + "(") != std::string::npos;
}

bool cpu_emitter::has_effects(const instr& i) const {
  if (i.op != opcode::user) return false;
  const user_function& f = function_of(i);
  return f.has_loop_text() || std::any_of(f.outputs.begin(), f.outputs.end(), [](auto& o) { return o.raw; });
}

std::size_t cpu_emitter::first_of_call(std::size_t k) const {
  while (k > 0 && p_.code[k - 1].op == opcode::user && p_.code[k - 1].a == p_.code[k].a) --k;
  return k;
}
std::size_t cpu_emitter::end_of_call(std::size_t k) const {
  const std::uint16_t call = p_.code[k].a;
  while (k < p_.code.size() && p_.code[k].op == opcode::user && p_.code[k].a == call) ++k;
  return k;
}

std::string cpu_emitter::rounded(const instr& i, const std::string& value) const {
  if (i.type == dtype::f16) return "sn::round_f16(" + value + ")";
  return i.type == dtype::bf16 ? "sn::round_bf16(" + value + ")" : value;
}

/// The name of an operand that the function reads, or writes, by index.
std::string cpu_emitter::whole_array(std::size_t call, std::size_t operand) const {
  return "w" + num(call) + "_" + num(operand);
}

void cpu_emitter::write_whole_arrays() {
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where == place::unused || !is_first_of_call(k)) continue;
    const user_call& c = p_.calls[p_.code[k].a];
    for (std::size_t j = 0; j < c.operands.size(); ++j) {
      const instr& i = p_.code[c.operands[j]];
      if (i.op != opcode::address) continue;
      list extents;
      for (int a = 0; a < i.c; ++a) extents.add("*(const long long*)a->params[" + num(i.b + a) + "]");
      if (i.c == 0) extents.add("0");
      const bool written = j >= c.function->inputs.size();
      std::string array = std::string(written ? "sn::make_raw_out<" : "sn::make_raw<") + num(i.c) + ">((const " +
                          storage_type(i.type) + "*)a->inputs[" + num(i.a) + "], {" + extents.text() + "})";
      if (p_.flags.check_index) array = checked_array(array, "a->fault", *c.function, j);
      out_ += "  const auto " + whole_array(p_.code[k].a, j) + " = " + array + ";\n";
    }
  }
}

// The call and a local for each of its registers.
std::string cpu_emitter::user_call_text(std::size_t first, int stage, const char* indent) const {
  const user_call& c = p_.calls[p_.code[first].a];
  const user_function& f = *c.function;
  const std::size_t end = end_of_call(first);
  list arguments;
  for (std::size_t j = 0; j < f.inputs.size(); ++j)
    arguments.add(f.inputs[j].raw ? whole_array(p_.code[first].a, j) : value(c.operands[j], stage));
  auto local = [&](std::size_t b) { return "y" + num(first) + "_" + num(b); };
  std::size_t written = f.inputs.size();
  std::string text;
  for (std::size_t b = 0; b < f.outputs.size(); ++b) {
    if (f.outputs[b].raw) {
      arguments.add(whole_array(p_.code[first].a, written++));
    } else if (!f.returns) {
      text += indent + value_type(f.outputs[b], f.types, f.preamble) + " " + local(b) + "{};\n";
      arguments.add(local(b));
    }
  }
  const std::string call = callee(f) + "(" + arguments.text() + ")";
  if (!f.returns) text += indent + call + ";\n";
  for (std::size_t b = 0; b < f.outputs.size(); ++b) {
    const std::size_t k = f.outputs[b].raw ? end : register_of(p_, first, end, b);
    if (k == end) continue;
    text += indent + ("const " + type_of_register(p_, k)) + " r" + num(k) + " = " +
            rounded(p_.code[k], f.returns ? call : local(b)) + ";\n";
  }
  return text;
}

// Effects are restricted to elements: padding lanes repeat the last result.
void cpu_emitter::write_effects(std::size_t first) {
  const user_function& f = function_of(p_.code[first]);
  if (f.has_loop_text()) {
    write_user_loop(first);
  } else {
    out_ += "  for (int l = 0; l < a->lanes; ++l) {\n" + user_call_text(first, -1, "    ");
  }
  std::string padding;
  for (std::size_t b = 0; b < f.outputs.size(); ++b) {
    const std::size_t k = f.outputs[b].raw ? end_of_call(first) : register_of(p_, first, end_of_call(first), b);
    if (k == end_of_call(first)) continue;
    const std::string t = "t" + num(k);
    if (!f.has_loop_text()) out_ += "    " + lane(t, k) + " = r" + num(k) + ";\n";
    padding += "  for (int l = a->lanes; l < n; ++l) " + t + "[l] = " + t + "[l - 1];\n";
  }
  if (!f.has_loop_text()) out_ += "  }\n";
  out_ += padding;
}

// A separate function around the loop. Visible by name in the text around the loop: arrays that are passed whole, and
// scalars of the launch. All other names begin with sn_.
void cpu_emitter::write_user_loop(std::size_t first) {
  const user_call& c = p_.calls[p_.code[first].a];
  const user_function& f = *c.function;
  const std::size_t end = end_of_call(first);
  const std::string me = "sn_loop_" + function_;
  list parameters, arguments, values;
  parameters.add("const int sn_lanes");
  arguments.add("a->lanes");
  for (std::size_t j = 0; j < f.inputs.size(); ++j) {
    const user_parameter& p = f.inputs[j];
    const std::uint16_t o = c.operands[j];
    const std::string nth = num(j);
    if (p.raw) {
      parameters.add("const " + whole_type(p, false) + " " + p.name);
      arguments.add(whole_array(p_.code[first].a, j));
      values.add(p.name);
    } else if (info_[o].where == place::scalar) {
      const std::string name = p_.code[o].op == opcode::param ? p.name : "sn_v" + nth;
      parameters.add("const " + type_of_register(p_, o) + " " + name);
      arguments.add("r" + num(o));
      values.add(name);
    } else {
      parameters.add("const " + lane_type(o) + "* sn_p" + nth);
      arguments.add(array(o));
      const std::string value = "sn_p" + nth + (is_opaque_register(p_, o) ? "[sn_l].value" : "[sn_l]");
      values.add(type_of_register(p_, o) == "bool" ? "bool(" + value + ")" : value);
    }
  }
  std::string locals, stores;
  std::size_t written = f.inputs.size();
  for (std::size_t b = 0; b < f.outputs.size(); ++b) {
    const std::string nth = num(b);
    if (f.outputs[b].raw) {
      parameters.add("const " + whole_type(f.outputs[b], true) + " " + f.outputs[b].name);
      arguments.add(whole_array(p_.code[first].a, written++));
      values.add(f.outputs[b].name);
      continue;
    }
    locals += "    " + value_type(f.outputs[b], f.types, f.preamble) + " sn_y" + nth + "{};\n";
    if (!f.returns) values.add("sn_y" + nth);
    const std::size_t k = register_of(p_, first, end, b);
    if (k == end) continue;
    parameters.add(lane_type(k) + "* sn_o" + nth);
    arguments.add("t" + num(k));
    stores += "    sn_o" + nth + (is_opaque_register(p_, k) ? "[sn_l].value = " : "[sn_l] = ") +
              rounded(p_.code[k], "sn_y" + nth) + ";\n";
  }
  before_ += open_scope(f) + "static void " + me + "(" + parameters.text() + ") {\n" +
             numbered(f, "loop_prep", f.loop_prep) + "  auto sn_body = " + body_lambda(f) + ";\n" +
             "  for (int sn_l = 0; sn_l < sn_lanes; ++sn_l) {\n" + locals + "    " + (f.returns ? "sn_y0 = " : "") +
             "sn_body(" + values.text() + ");\n" + stores + "  }\n" + numbered(f, "after_loop", f.after_loop) + "}\n" +
             close_scope(f);
  out_ += "  " + scope_of(f) + me + "(" + arguments.text() + ");\n";
}

// A call whose operands are all scalars is one of the function for an element.
void cpu_emitter::write_user_lanes(std::size_t first) {
  const user_call& c = p_.calls[p_.code[first].a];
  const user_function& f = *c.function;
  list arguments;
  for (std::size_t j = 0; j < f.inputs.size(); ++j) {
    const std::uint16_t o = c.operands[j];
    if (f.inputs[j].raw) arguments.add(whole_array(p_.code[first].a, j));
    else arguments.add(info_[o].where == place::scalar ? "r" + num(o) : array(o));
  }
  out_ += "  " + scope_of(f) + lanes_function(f) + "(" + arguments.text() + ", t" + num(first) + ", n);\n";
}

}  // namespace sinter::jit
