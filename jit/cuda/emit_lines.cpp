// The lines of a phase's instructions: expressions in the operators of C++ and the functions of the prelude.
#include "jit/cuda/emit_lines.hpp"

#include "jit/cuda/parameters.hpp"
#include "jit/prelude_text.hpp"
#include "jit/program/half_power.hpp"

namespace sinter::jit::cuda {
namespace {

/// C++'s built-in operators where they are bit-exact, since the compiler parses them faster than a template of the
/// prelude, and short forms of cuda_quick.h. Empty if there is none.
std::string plain_expression(const instr& i, const std::string& a, const std::string& b, bool tests_zero) {
  if (i.arg != dtype::f32 && i.arg != dtype::f64) return {};
  const std::string of_type = i.arg == dtype::f64 ? "_of_double" : "_of_float";
  switch (i.op) {
    case opcode::add: return a + " + " + b;
    case opcode::subtract: return a + " - " + b;
    case opcode::multiply: return a + " * " + b;
    case opcode::divide: return tests_zero ? "sn::quotient" + of_type + "(" + a + ", " + b + ")" : a + " / " + b;
    case opcode::sqrt: return tests_zero ? "sn::root" + of_type + "(" + a + ")" : std::string();
    case opcode::square: return a + " * " + a;
    case opcode::negative: return "-" + a;
    case opcode::equal: return a + " == " + b;
    case opcode::not_equal: return a + " != " + b;
    case opcode::less: return a + " < " + b;
    case opcode::less_equal: return a + " <= " + b;
    case opcode::greater: return a + " > " + b;
    case opcode::greater_equal: return a + " >= " + b;
    default: return {};
  }
}

/// Whether quotients and roots of 0 are taken apart: where there are few of them, and memory bounds the kernel. Where there are
/// many, the tests cost ordinary operands a tenth.
bool tests_for_zero(const program& p) noexcept {
  constexpr int few = 2;
  int count = 0;
  for (std::size_t k = 0; k < p.code.size(); ++k)
    if (p.code[k].op == opcode::divide || p.code[k].op == opcode::sqrt) count += p.is_in_loop(k) ? few + 1 : 1;
  return !p.flags.fast_math && count <= few;
}

/// What the GPU computes with halves, or copies of them.
bool is_of_halves(const instr& i) noexcept {
  switch (i.op) {
    case opcode::add:
    case opcode::subtract:
    case opcode::multiply:
    case opcode::square:
    case opcode::negative:
    case opcode::absolute:
    case opcode::maximum:
    case opcode::minimum:
    case opcode::select: return is_half(i.type);
    default: return false;
  }
}

}  // namespace

register_uses::register_uses(const program& p, const phase& f) : all(p.code.size()), signless(p.code.size()) {
  for (int k : f.code) {
    const instr& i = p.code[static_cast<std::size_t>(k)];
    const int n = operand_count(i.op);
    const std::uint16_t regs[3] = {i.a, i.b, i.c};
    p.each_operand(i, [&](std::uint16_t r) { ++all[r]; });
    if (i.op == opcode::carried) ++all[p.carried[i.a].next];
    const bool squares = i.op == opcode::square || i.op == opcode::absolute || (i.op == opcode::multiply && i.a == i.b);
    if (squares && i.type == dtype::f32)
      for (int j = 0; j < n; ++j) ++signless[regs[j]];
  }
  for (int r : f.results) ++all[static_cast<std::size_t>(r)];
}

line_writer::line_writer(text& out, const program& p, const phase& f, bool quick, std::string args)
    : out_(out),
      p_(p),
      f_(f),
      quick_(quick),
      args_(std::move(args)),
      uses_(p, f),
      done_(p.code.size()),
      tests_zero_(tests_for_zero(p)) {}

void line_writer::lines(const std::vector<int>& code) {
  // By this name expressions and users' texts report what they find. An out-of-line function has none.
  const char* const declared = args_.empty() ? "" : "  int* const fault = a.fault;\n  (void)fault;\n";
  out_.with("fault", declared, [&] {
    for (int k : code)
      if (!done_[static_cast<std::size_t>(k)] && p_.code[static_cast<std::size_t>(k)].op != opcode::carried)
        line(code, k);
  });
}

std::string line_writer::reg(int k) const {
  const auto r = static_cast<std::uint16_t>(k);
  if (p_.code[r].op == opcode::param) return launch_value(p_, r, args_);
  return (last_.count(k) != 0 ? "s.last" : is_member(k) ? "s.r" : "r") + num(k);
}

bool line_writer::signless(int k) const {
  auto r = static_cast<std::size_t>(k);
  return uses_.all[r] == uses_.signless[r];
}

void line_writer::line(const std::vector<int>& code, int k) {
  const instr& i = p_.code[static_cast<std::size_t>(k)];
  if (is_trig(i) && !is_member(k) && pair(code, k)) return;
  if (i.op == opcode::user) return call(i);
  if (is_member(k)) return void(out_(reg(k), " = ", expression(code, k, i), ";"));
  out_("const ", type_of_value(p_, k), " r", k, " = ", expression(code, k, i), ";");
}

/// Emits a call, which computes all of its outputs; their instructions are consecutive.
void line_writer::call(const instr& first) {
  const user_call& c = p_.calls[first.a];
  const user_function& f = *c.function;
  std::string list, result;
  auto add = [&](const std::string& x) { list += (list.empty() ? "" : ", ") + x; };
  std::size_t operand = 0;
  for (const user_parameter& in : f.inputs) {
    const std::uint16_t r = c.operands[operand];
    add(in.raw ? whole_array(p_, c, operand, "a") : number(r));
    ++operand;
  }
  for (std::size_t k = 0; k < f.outputs.size(); ++k) {
    if (f.outputs[k].raw) add(whole_array(p_, c, operand++, "a"));
    else if (f.returns) result = "r" + num(declare(first.a, k)) + " = ";
    else add("r" + num(declare(first.a, k)));
  }
  out_("", result, f.has_loop_text() ? "sn_body" : callee(f), "(", list, ");");
  for (int j : f_.code) {
    const instr& o = p_.code[static_cast<std::size_t>(j)];
    if (o.op != opcode::user || o.a != first.a) continue;
    done_[static_cast<std::size_t>(j)] = true;
    if (o.type == dtype::f16) out_("r", j, " = sn::round_f16(r", j, ");");
    if (o.type == dtype::bf16) out_("r", j, " = sn::round_bf16(r", j, ");");
  }
}

/// Declares the register of an output of a call.
int line_writer::declare(std::uint16_t call, std::size_t output) {
  for (int j : f_.code) {
    const instr& o = p_.code[static_cast<std::size_t>(j)];
    if (o.op != opcode::user || o.a != call || o.b != output) continue;
    out_("", type_of_register(p_, static_cast<std::size_t>(j)), " r", j, "{};");
    return j;
  }
  return -1;
}

/// Sine and cosine of one register share the argument's reduction, if both are among `code`.
bool line_writer::pair(const std::vector<int>& code, int k) {
  const instr& i = p_.code[static_cast<std::size_t>(k)];
  if ((i.type != dtype::f32 && i.type != dtype::f64) || p_.flags.fast_math) return false;
  for (int j : code) {
    const instr& o = p_.code[static_cast<std::size_t>(j)];
    if (j <= k || !is_trig(o) || o.op == i.op || o.a != i.a || o.type != i.type || is_member(j)) continue;
    const std::string s = "r" + num(i.op == opcode::sin ? k : j), c = "r" + num(i.op == opcode::sin ? j : k);
    if (i.type == dtype::f32 && !quick_) return false;
    out_("", register_type(i.type), " r", k, ", r", j, ";");
    if (i.type == dtype::f32)
      out_("sn::quick_sincos(", reg(i.a), ", ", s, ", ", c, ", slow, ", signless(k) && signless(j) ? "true" : "false",
           ");");
    else out_("::sincos(", reg(i.a), ", &", s, ", &", c, ");");
    done_[static_cast<std::size_t>(j)] = true;
    return true;
  }
  return false;
}

std::string line_writer::expression(const std::vector<int>& code, int k, const instr& i) const {
  switch (i.op) {
    case opcode::load: return load(i);
    case opcode::coord: return f_.place ? "sn::position_of(c" + num(i.a) + ")" : "c" + num(i.a);
    case opcode::reduced: return "d" + num(i.a);
    case opcode::checked_index:
      if (i.in_range) return within_text(reg(i.a), "a.q" + num(i.b));
      return call_expression(i, reg(i.a), "a.q" + num(i.b), "a.q" + num(i.c));
    default: break;
  }
  if (is_quick_trig(p_, i) && quick_)
    return std::string("sn::quick_") + jit::name(i.op) + "(" + reg(i.a) + ", slow, " +
           (signless(k) ? "true" : "false") + ")";
  if (is_quick_trig(p_, i)) return "sn::any_sine(" + reg(i.a) + (i.op == opcode::cos ? ", true)" : ", false)");
  if (is_of_halves(i)) return half_expression(i);
  const int n = operand_count(i.op);
  const std::string a = number(i.a), b = n > 1 ? number(i.b) : std::string(), c = n > 2 ? number(i.c) : std::string();
  if (is_random(i.op)) return random_expression(i, position(i, a), b, c, random_stream(i));
  if (const auto root = p_.flags.fast_math ? divides_by_root(p_, code, i) : std::nullopt) {
    const std::string factor = "sn::inverse_power<" + num(root->halves) + ">(" + reg(root->base) + ")";
    return i.op == opcode::divide ? a + " * " + factor : factor;
  }
  if (!args_.empty() && divides_by_parameter(p_, i))
    return std::string("sn::") + jit::name(i.op) + "_by(" + a + ", " + args_ + ".d" + num(p_.code[i.b].a) + ")";
  const bool low = i.op == opcode::minimum, extreme = low || i.op == opcode::maximum;
  if (extreme && p_.flags.fast_math && i.type == dtype::f32)
    return std::string("sn::fast_extreme<") + (low ? "true" : "false") + ">(" + a + ", " + b + ")";
  const std::string plain = plain_expression(i, a, b, tests_zero_);
  if (!plain.empty()) return plain;
  if (i.op == opcode::divide && is_half(i.type))
    return std::string(i.type == dtype::f16 ? "sn::half_quotient(" : "sn::wide_half_quotient(") + a + ", " + b + ")";
  if (i.op == opcode::sqrt && i.type == dtype::f16) return "sn::half_root(" + a + ")";
  if (i.op == opcode::exp && is_half(i.type)) return "sn::half_exp(" + a + ")";
  return unrounded_expression(i, a, b, c);
}

bool line_writer::holds_half(std::uint16_t r) const {
  const instr& i = p_.code[r];
  if (!is_half(i.type) || i.op == opcode::param) return false;
  return (contains(f_.live_in, r) && !is_member(r) ? type_of_lane(p_, r) : type_of_value(p_, r)) == value_type(i.type);
}
std::string line_writer::number(std::uint16_t r) const { return holds_half(r) ? "float(" + reg(r) + ")" : reg(r); }
std::string line_writer::half(std::uint16_t r) const {
  const dtype t = p_.code[r].type;
  return !is_half(t) || holds_half(r) ? reg(r) : value_type(t) + ("(" + reg(r) + ")");
}
std::string line_writer::half_expression(const instr& i) const {
  const int n = operand_count(i.op);
  return std::string("sn::") + jit::name(i.op) + "(" + half(i.a) + (n > 1 ? ", " + half(i.b) : "") +
         (n > 2 ? ", " + half(i.c) : "") + ")";
}

std::string line_writer::position(const instr& draw, const std::string& a) const {
  const instr& i = p_.code[draw.a];
  return f_.place && shares_blocks(draw) && i.op == opcode::coord ? "c" + num(i.a) : a;
}

std::string line_writer::load(const instr& i) const {
  const input_desc& in = p_.inputs[i.a];
  if (!in.gathers) return "v" + num(i.a);
  std::string at;
  for (int g = 0; g < in.gathers; ++g)
    at += (g ? " + a.h" : "a.h") + num(i.a) + "_" + num(g) + " * " + reg(in.gather[g]);
  return widened(in.type, "v" + num(i.a) + "[" + at + "]");
}

void put_parameters(text& t, const program& p, const phase& f) {
  const auto type = [&](int r) { return type_of_lane(p, r); };
  for (int k : f.inputs) {
    const dtype d = p.inputs[static_cast<std::size_t>(k)].type;
    if (is_gathered(p, k)) t("const ", storage_type(d), "* v", k, ",");
    else t(value_type(d), " v", k, ",");
  }
  for (int k : f.coords) t(f.place ? "sn::random_place c" : "long long c", k, ",");
  for (int r : f.live_in) t(type(r), " r", r, ",");
  for (int k : f.reduced) t(type_of_reduction(p, p.reductions[static_cast<std::size_t>(k)]), " d", k, ",");
}

std::string names_of_parameters(const phase& f) {
  std::string list;
  const auto add = [&](const char* kind, const std::vector<int>& numbers) {
    for (int k : numbers) list += kind + num(k) + ", ";
  };
  add("v", f.inputs);
  add("c", f.coords);
  add("r", f.live_in);
  add("d", f.reduced);
  return list;
}

}  // namespace sinter::jit::cuda
