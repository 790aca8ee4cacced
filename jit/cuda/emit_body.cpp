// Device functions of straight-line code in generated CUDA kernels.
#include "jit/cuda/emit_body.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "jit/cuda/emit_steps.hpp"
#include "jit/cuda/parameters.hpp"
#include "jit/prelude_text.hpp"
#include "jit/program/half_power.hpp"
#include "jit/program/index_check.hpp"

namespace sinter::jit::cuda {
namespace {

void add_once(std::vector<int>& v, int x) {
  if (!contains(v, x)) v.push_back(x);
}

/// The number of reads of each register within a phase, and of those for which its sign is irrelevant.
struct uses {
  std::vector<int> all, signless;
};
uses count_uses(const program& p, const phase& f) {
  uses u{std::vector<int>(p.code.size()), std::vector<int>(p.code.size())};
  for (int k : f.code) {
    const instr& i = p.code[static_cast<std::size_t>(k)];
    const int n = operand_count(i.op);
    const std::uint16_t regs[3] = {i.a, i.b, i.c};
    p.each_operand(i, [&](std::uint16_t r) { ++u.all[r]; });
    if (i.op == opcode::carried) ++u.all[p.carried[i.a].next];
    const bool squares = i.op == opcode::square || i.op == opcode::absolute || (i.op == opcode::multiply && i.a == i.b);
    if (squares && i.type == dtype::f32)
      for (int j = 0; j < n; ++j) ++u.signless[regs[j]];
  }
  for (int r : f.results) ++u.all[static_cast<std::size_t>(r)];
  return u;
}

bool is_trig(const instr& i) { return i.op == opcode::sin || i.op == opcode::cos; }

std::string parameter(const program& p, const instr& i, const std::string& args) {
  std::string q = (args.empty() ? "q" : args + ".q") + num(i.a);
  if (!is_complex(p.param_types[i.a])) return q;
  return std::string(register_type(i.type)) + "{" + q + "r, " + q + "i}";
}

/// C++'s built-in operators where they are bit-exact, since the compiler parses them faster than a template of the
/// prelude. Empty if there is none.
std::string plain_expression(const instr& i, const std::string& a, const std::string& b) {
  if (i.arg != dtype::f32 && i.arg != dtype::f64) return {};
  switch (i.op) {
    case opcode::add: return a + " + " + b;
    case opcode::subtract: return a + " - " + b;
    case opcode::multiply: return a + " * " + b;
    case opcode::divide: return a + " / " + b;
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

/// Emits the lines of a phase. `quick`: sine and cosine by the fast version. `args`: name of the struct of launch
/// parameters; if empty, they are variables.
class writer {
 public:
  writer(text& out, const program& p, const phase& f, bool quick, std::string args = "a")
      : out_(out), p_(p), f_(f), quick_(quick), args_(std::move(args)), uses_(count_uses(p, f)), done_(p.code.size()) {}

  void lines() {
    bool in_loop = false;
    for (int k : f_.code) {
      const bool inside = p_.is_in_loop(static_cast<std::size_t>(k));
      if (inside && !std::exchange(in_loop, true)) open_loop();
      if (!inside && std::exchange(in_loop, false)) close_loop();
      if (!done_[static_cast<std::size_t>(k)]) line(k);
    }
    if (in_loop) close_loop();
  }

 private:
  std::string reg(int k) const {
    const instr& i = p_.code[static_cast<std::size_t>(k)];
    return i.op == opcode::param ? parameter(p_, i, args_) : "r" + num(k);
  }
  bool signless(int k) const {
    auto r = static_cast<std::size_t>(k);
    return uses_.all[r] == uses_.signless[r];
  }
  /// Declares what outlives a run of the loop.
  void open_loop() {
    const auto outlives = [&](int r) {
      if (p_.is_in_loop(static_cast<std::size_t>(r))) declared_.insert(r);
    };
    for (int k : f_.code)
      if (!p_.is_in_loop(static_cast<std::size_t>(k))) p_.each_operand(p_.code[static_cast<std::size_t>(k)], outlives);
    for (int r : f_.results) outlives(r);
    for (const carried_desc& c : p_.carried) {
      declared_.erase(c.reg);
      out_("", type_of_register(p_, c.reg), " r", int{c.reg}, " = ", reg(c.initial), ";");
      done_[c.reg] = true;
    }
    for (int r : declared_) out_("", type_of_register(p_, static_cast<std::size_t>(r)), " r", r, ";");
    out_("#pragma unroll 1");
    out_("for (long long run = 1;; ++run) {");
  }
  /// In descending order, since a carried register may get the value of one of a lower number.
  void close_loop() {
    out_("if (run == a.q", int{p_.loop.count}, ") break;");
    for (std::size_t k = p_.carried.size(); k-- > 0;)
      out_("r", int{p_.carried[k].reg}, " = ", reg(p_.carried[k].next), ";");
    out_("}");
  }
  void line(int k) {
    const instr& i = p_.code[static_cast<std::size_t>(k)];
    if (is_trig(i) && declared_.empty() && pair(k)) return;
    if (i.op == opcode::user) return call(i);
    if (declared_.count(k)) return void(out_("r", k, " = ", expression(k, i), ";"));
    out_("const ", type_of_register(p_, static_cast<std::size_t>(k)), " r", k, " = ", expression(k, i), ";");
  }
  /// Emits a call, which computes all of its outputs; their instructions are consecutive.
  void call(const instr& first) {
    const user_call& c = p_.calls[first.a];
    const user_function& f = *c.function;
    std::string list, result;
    auto add = [&](const std::string& x) { list += (list.empty() ? "" : ", ") + x; };
    std::size_t operand = 0;
    for (const user_parameter& in : f.inputs) {
      const std::uint16_t r = c.operands[operand];
      add(in.raw ? whole_array(p_, c, operand, "a") : reg(r));
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
  int declare(std::uint16_t call, std::size_t output) {
    for (int j : f_.code) {
      const instr& o = p_.code[static_cast<std::size_t>(j)];
      if (o.op != opcode::user || o.a != call || o.b != output) continue;
      out_("", type_of_register(p_, static_cast<std::size_t>(j)), " r", j, "{};");
      return j;
    }
    return -1;
  }
  /// Sine and cosine of one register share the argument's reduction.
  bool pair(int k) {
    const instr& i = p_.code[static_cast<std::size_t>(k)];
    if ((i.type != dtype::f32 && i.type != dtype::f64) || p_.flags.fast_math) return false;
    for (int j : f_.code) {
      const instr& o = p_.code[static_cast<std::size_t>(j)];
      if (j <= k || !is_trig(o) || o.op == i.op || o.a != i.a || o.type != i.type) continue;
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
  std::string expression(int k, const instr& i) const {
    switch (i.op) {
      case opcode::load: return load(i);
      case opcode::coord: return f_.place ? "sn::position_of(c" + num(i.a) + ")" : "c" + num(i.a);
      case opcode::reduced: return "d" + num(i.a);
      case opcode::checked_index: return call_expression(i, reg(i.a), "a.q" + num(i.b), "a.q" + num(i.c));
      default: break;
    }
    if (is_quick_trig(p_, i) && quick_)
      return std::string("sn::quick_") + jit::name(i.op) + "(" + reg(i.a) + ", slow, " +
             (signless(k) ? "true" : "false") + ")";
    if (is_quick_trig(p_, i)) return "sn::any_sine(" + reg(i.a) + (i.op == opcode::cos ? ", true)" : ", false)");
    const int n = operand_count(i.op);
    const std::string a = reg(i.a), b = n > 1 ? reg(i.b) : std::string(), c = n > 2 ? reg(i.c) : std::string();
    if (is_random(i.op)) return random_expression(i, position(i, a), b, c, random_stream(i));
    if (const auto root = p_.flags.fast_math ? divides_by_root(p_, f_.code, i) : std::nullopt) {
      const std::string factor = "sn::inverse_power<" + num(root->halves) + ">(" + reg(root->base) + ")";
      return i.op == opcode::divide ? a + " * " + factor : factor;
    }
    const bool low = i.op == opcode::minimum, extreme = low || i.op == opcode::maximum;
    if (extreme && p_.flags.fast_math && i.type == dtype::f32)
      return std::string("sn::fast_extreme<") + (low ? "true" : "false") + ">(" + a + ", " + b + ")";
    const std::string plain = plain_expression(i, a, b);
    return plain.empty() ? call_expression(i, a, b, c) : plain;
  }
  std::string position(const instr& draw, const std::string& a) const {
    const instr& i = p_.code[draw.a];
    return f_.place && shares_blocks(draw) && i.op == opcode::coord ? "c" + num(i.a) : a;
  }
  std::string load(const instr& i) const {
    const input_desc& in = p_.inputs[i.a];
    if (!in.gathers) return "v" + num(i.a);
    std::string at;
    for (int g = 0; g < in.gathers; ++g)
      at += (g ? " + a.h" : "a.h") + num(i.a) + "_" + num(g) + " * " + reg(in.gather[g]);
    return widened(in.type, "v" + num(i.a) + "[" + at + "]");
  }

  text& out_;
  const program& p_;
  const phase& f_;
  bool quick_;
  std::string args_;
  uses uses_;
  std::vector<bool> done_;
  std::set<int> declared_;  // registers of the loop that are read after it
};

std::string arguments(const phase& f, const argument_source& source, const std::string& lane,
                      const std::map<std::string, std::string>& renamed = {}) {
  std::string list;
  auto add = [&](char kind, int index) {
    argument x = source(kind, index);
    if (!x.array_type.empty()) {
      auto other = renamed.find(x.expression);
      x.expression = (other == renamed.end() ? x.expression : other->second) + "[" + lane + "]";
    }
    list += x.expression + ", ";
  };
  for (int k : f.inputs) add('v', k);
  for (int k : f.coords) add('c', k);
  for (int k : f.live_in) add('r', k);
  for (int k : f.reduced) add('d', k);
  return list;
}

bool has_storage_type(dtype t) noexcept { return t == dtype::b1 || t == dtype::f16 || t == dtype::bf16; }

}  // namespace

std::string widened(dtype t, const std::string& x) { return has_storage_type(t) ? "sn::widen(" + x + ")" : x; }
std::string narrowed(dtype t, const std::string& x) {
  return has_storage_type(t) ? std::string("sn::narrow<") + storage_type(t) + ">(" + x + ")" : x;
}

std::string whole_array(const program& p, const user_call& c, std::size_t operand, const std::string& args) {
  const instr& i = p.code[c.operands[operand]];
  const bool written = operand >= c.function->inputs.size();
  std::string extents;
  for (int k = 0; k < i.c; ++k) extents += (k ? ", " : "") + args + ".q" + num(i.b + k);
  const std::string array = std::string(written ? "sn::make_raw_out<" : "sn::make_raw<") + num(i.c) + ">(" + args +
                            ".p" + num(i.a) + ", {" + (i.c ? extents : "1") + "})";
  return p.flags.check_index ? checked_array(array, args + ".fault", *c.function, operand) : array;
}

std::string launch_value(const program& p, std::uint16_t r, const std::string& args) {
  return parameter(p, p.code[r], args);
}

bool is_gathered(const program& p, int input) { return p.inputs[static_cast<std::size_t>(input)].gathers > 0; }

int total_weight(const program& p, int first, int end) {
  int sum = 0;
  // Loops count as if they were run a few times: their code is not to be repeated.
  for (int k = first; k < end; ++k)
    sum += weight(p.code[static_cast<std::size_t>(k)].op) * (p.is_in_loop(static_cast<std::size_t>(k)) ? 8 : 1);
  return sum;
}

bool is_quick_trig(const program& p, const instr& i) noexcept {
  return is_trig(i) && i.type == dtype::f32 && i.arg == dtype::f32 && !p.flags.fast_math;
}

std::string random_stream(const instr& i) {
  return "sn::random_stream{a.q" + num(i.spare2) + ", a.q" + num(i.spare2 + 1) + ", a.q" + num(i.spare2 + 2) + "}";
}

bool shares_blocks(const instr& i) noexcept { return is_random(i.op) && i.op <= opcode::random_below; }

std::vector<int> instructions(std::size_t first, std::size_t last) {
  std::vector<int> all(last - first);
  std::iota(all.begin(), all.end(), static_cast<int>(first));
  return all;
}

phase make_phase(const program& p, const cuda_variant& v, std::string name, std::vector<int> code,
                 std::vector<int> results) {
  phase f;
  f.name = std::move(name);
  f.code = std::move(code);
  f.results = std::move(results);
  auto in_arguments = [&](int r) {
    const opcode op = p.code[static_cast<std::size_t>(r)].op;
    return op == opcode::param || op == opcode::address;
  };
  auto reads = [&](int r) {
    if (!in_arguments(r) && !contains(f.code, r)) add_once(f.live_in, r);
  };
  for (int k : f.code) {
    const instr& i = p.code[static_cast<std::size_t>(k)];
    if (i.op == opcode::coord) add_once(f.coords, i.a);
    if (i.op == opcode::reduced) add_once(f.reduced, i.a);
    if (is_quick_trig(p, i) && !v.baseline) f.quick = true;
    if (i.op == opcode::load) add_once(f.inputs, i.a);
    if (i.op == opcode::user && p.calls[i.a].function->has_loop_text()) f.lambda = true;
    if (shares_blocks(i) && v.shape == cuda_shape::linear) f.place = true;
    p.each_operand(i, reads);
  }
  if (f.quick) f.place = false;  // coordinates are kept in arrays that a loop indexes
  for (int r : f.results) reads(r);
  std::erase_if(f.code, in_arguments);
  divide_into_steps(p, v, f);
  return f;
}

namespace {

/// One version of a phase's function.
void define_function(text& t, const program& p, const phase& f, bool quick) {
  const auto type = [&](int r) { return type_of_register(p, static_cast<std::size_t>(r)); };
  if (f.lambda) t("template <class Body>");
  t("__device__ __forceinline__ void ", quick ? "quick_" : "", f.name,
    f.lambda ? "(const args& a, const Body& sn_body," : "(const args& a,");
  for (int k : f.inputs) {
    const dtype d = p.inputs[static_cast<std::size_t>(k)].type;
    if (is_gathered(p, k)) t("const ", storage_type(d), "* v", k, ",");
    else t(register_type(d), " v", k, ",");
  }
  for (int k : f.coords) t(f.place ? "sn::random_place c" : "long long c", k, ",");
  for (int r : f.live_in) t(type(r), " r", r, ",");
  for (int k : f.reduced) t(type_of_reduction(p, p.reductions[static_cast<std::size_t>(k)]), " d", k, ",");
  t(f.name, "_out& out", quick ? ", bool& slow) {" : ") {");
  t("int* const fault = a.fault;");
  t("(void)fault;");
  writer(t, p, f, quick).lines();
  for (int r : f.results) {
    const instr& i = p.code[static_cast<std::size_t>(r)];
    t("out.r", r, " = ", i.op == opcode::param ? parameter(p, i, "a") : "r" + num(r), ";");
  }
  t("}");
}

/// The parameters of the program that a phase reads.
std::vector<int> parameters_of(const program& p, const phase& f) {
  std::vector<int> list;
  for (int k : f.code)
    p.each_operand(p.code[static_cast<std::size_t>(k)], [&](std::uint16_t r) {
      if (p.code[r].op == opcode::param) add_once(list, p.code[r].a);
    });
  return list;
}

}  // namespace

void define(text& t, const program& p, const phase& f) {
  t("struct ", f.name, "_out {");
  for (int r : f.results) t(type_of_register(p, static_cast<std::size_t>(r)), " r", r, ";");
  t("};");
  define_function(t, p, f, false);
  if (f.quick) define_function(t, p, f, true);
  for (const phase& step : f.steps)
    if (!step.results.empty()) define(t, p, step);
}

void define_out_of_line(text& t, const program& p, const phase& f) {
  const int operand = f.live_in.front(), result = f.results.front();
  const auto type = [&](int r) { return type_of_register(p, static_cast<std::size_t>(r)); };
  std::string list = type(operand) + " r" + num(operand);
  for (int k : parameters_of(p, f))
    list += std::string(", ") + register_type(p.param_types[static_cast<std::size_t>(k)]) + " q" + num(k);
  t("static __device__ __noinline__ ", type(result), " ", f.name, "(", list, ") {");
  writer(t, p, f, false, "").lines();
  t("return r", result, ";");
  t("}");
}

std::string call_out_of_line(const program& p, const phase& f, const std::string& operand) {
  std::string list = operand;
  for (int k : parameters_of(p, f)) list += ", a.q" + num(k);
  return f.name + "(" + list + ")";
}

void call_once(text& t, const phase& f, const argument_source& source) {
  t(f.name, "_out out;");
  t(f.name, f.lambda ? "(a, sn_body, " : "(a, ", arguments(f, source, "0"), "out);");
}

void call_lanes(text& t, const program& p, const phase& f, int lanes, bool quick, const argument_source& source) {
  if (lanes > 1 && !f.steps.empty()) return call_steps(t, p, f, lanes, source);
  for (int r : f.results) t(type_of_register(p, static_cast<std::size_t>(r)), " x", r, "[", lanes, "];");
  t.unrolled("l", lanes, [&] {
    t(f.name, "_out o;");
    t(quick ? "quick_" : "", f.name, "(a, ", arguments(f, source, "l"), quick ? "o, slow);" : "o);");
    for (int r : f.results) t("x", r, "[l] = o.r", r, ";");
  });
}

namespace {

/// The lanes again, one after the other, by the version that is valid for every value.
void call_slowly(text& t, const program& p, const phase& f, int lanes, const argument_source& source) {
  // Copies, so that the arrays of the fast version are never indexed by a variable and stay in registers.
  std::map<std::string, std::string> copies;
  const auto copy = [&](char kind, int index) {
    const argument x = source(kind, index);
    if (x.array_type.empty() || copies.count(x.expression)) return;
    const std::string name = "s" + num(static_cast<int>(copies.size()));
    copies[x.expression] = name;
    t(x.array_type, " ", name, "[", lanes, "];");
    t.each("l", lanes, name, "[l] = ", x.expression, "[l];");
  };
  for (int k : f.inputs) copy('v', k);
  for (int k : f.coords) copy('c', k);
  for (int k : f.live_in) copy('r', k);
  for (int r : f.results) t(type_of_register(p, static_cast<std::size_t>(r)), " y", r, "[", lanes, "];");
  t.loop("for (int l = 0; l < " + num(lanes) + "; ++l)", [&] {
    t(f.name, "_out o;");
    t(f.name, "(a, ", arguments(f, source, "l", copies), "o);");
    for (int r : f.results) t("y", r, "[l] = o.r", r, ";");
  });
  t.unrolled("l", lanes, [&] {
    for (int r : f.results) t("x", r, "[l] = y", r, "[l];");
  });
}

}  // namespace

void call_group(text& t, const program& p, const phase& f, int lanes, const argument_source& source) {
  if (f.quick) t("bool slow = false;");
  call_lanes(t, p, f, lanes, f.quick, source);
  if (f.quick) t.scope("if (slow)", [&] { call_slowly(t, p, f, lanes, source); });
}

void decompose(text& t, const std::string& of, int first, int last, const std::string& prefix) {
  std::string rest = of;
  for (int j = last - 1; j > first; --j) {
    const std::string q = prefix + "q" + num(j);
    t("const I ", q, " = a.e", j, ".quotient(", rest, ");");
    t("const I ", prefix, j, " = ", rest, " - ", q, " * a.e", j, ".n;");
    rest = q;
  }
  if (last > first) t("const I ", prefix, first, " = ", rest, ";");
}

std::string offset(const char* strides, int operand, int first, int last, const std::string& prefix) {
  std::string sum;
  for (int j = first; j < last; ++j)
    sum += (sum.empty() ? "" : " + ") + prefix + num(j) + " * a." + strides + num(operand) + "_" + num(j);
  return sum.empty() ? "0" : sum;
}

}  // namespace sinter::jit::cuda
