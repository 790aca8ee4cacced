// Device functions of straight-line code in generated CUDA kernels.
#include "jit/cuda/emit_body.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "jit/cuda/emit_lines.hpp"
#include "jit/cuda/emit_rolled.hpp"
#include "jit/cuda/emit_steps.hpp"
#include "jit/cuda/parameters.hpp"
#include "jit/prelude_text.hpp"
#include "jit/program/index_check.hpp"

namespace sinter::jit::cuda {
namespace {

void add_once(std::vector<int>& v, int x) {
  if (!contains(v, x)) v.push_back(x);
}

std::string parameter(const program& p, const instr& i, const std::string& args) {
  std::string q = (args.empty() ? "q" : args + ".q") + num(i.a);
  if (!is_complex(p.param_types[i.a])) return q;
  return std::string(register_type(i.type)) + "{" + q + "r, " + q + "i}";
}

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

bool has_storage_type(dtype t) noexcept { return t == dtype::b1 || is_half(t); }

}  // namespace

const char* value_type(dtype t) noexcept {
  return t == dtype::f16 ? "sn::f16" : t == dtype::bf16 ? "sn::bf16" : register_type(t);
}
std::string type_of_value(const program& p, int reg) {
  const auto r = static_cast<std::size_t>(reg);
  const std::string type = type_of_register(p, r);
  const instr& i = p.code[r];
  const bool by_user = i.op == opcode::user || (i.op == opcode::reduced && p.reductions[i.a].op == reduce_op::user);
  return is_half(i.type) && !by_user ? value_type(i.type) : type;
}
std::string type_of_lane(const program& p, int reg) {
  const bool reduced =
      std::any_of(p.reductions.begin(), p.reductions.end(), [&](const reduce_desc& r) { return r.reg == reg; });
  return reduced ? type_of_register(p, static_cast<std::size_t>(reg)) : type_of_value(p, reg);
}

std::string widened(dtype t, const std::string& x) {
  if (is_half(t)) return value_type(t) + ("(" + x + ")");
  return has_storage_type(t) ? "sn::widen(" + x + ")" : x;
}
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
    if (is_quick_trig(p, i) && !cuda_is_plain(v)) f.quick = true;
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
  const bool rolled = has_loop(p, f);
  if (rolled) define_parts(t, p, f, quick);
  if (f.lambda) t("template <class Body>");
  t("__device__ __forceinline__ void ", quick ? "quick_" : "", f.name,
    f.lambda ? "(const args& a, const Body& sn_body," : "(const args& a,");
  put_parameters(t, p, f);
  t(f.name, "_out& out", quick ? ", bool& slow) {" : ") {");
  if (rolled) {
    call_parts(t, p, f, quick);
  } else {
    line_writer lines(t, p, f, quick);
    lines.lines(f.code);
    for (int r : f.results) t("out.r", r, " = ", lines.reg(r), ";");
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
  for (int r : f.results) t(type_of_lane(p, r), " r", r, ";");
  t("};");
  if (has_loop(p, f)) define_state(t, p, f);
  define_function(t, p, f, false);
  if (f.quick) define_function(t, p, f, true);
  for (const phase& step : f.steps)
    if (!step.results.empty()) define(t, p, step);
}

void define_out_of_line(text& t, const program& p, const phase& f) {
  const int operand = f.live_in.front(), result = f.results.front();
  const auto type = [&](int r) { return type_of_lane(p, r); };
  std::string list = type(operand) + " r" + num(operand);
  for (int k : parameters_of(p, f))
    list += std::string(", ") + register_type(p.param_types[static_cast<std::size_t>(k)]) + " q" + num(k);
  t("static __device__ __noinline__ ", type(result), " ", f.name, "(", list, ") {");
  line_writer(t, p, f, false, "").lines(f.code);
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
  for (int r : f.results) t(type_of_lane(p, r), " x", r, "[", lanes, "];");
  if (lanes > 1 && has_loop(p, f))
    return call_parts_of_lanes(t, p, f, lanes, quick,
                               [&](const std::string& lane) { return arguments(f, source, lane); });
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
  for (int r : f.results) t(type_of_lane(p, r), " y", r, "[", lanes, "];");
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
