// Tier 1: C++ for one block of a program. Runs of plain arithmetic become loops that the host compiler vectorises; all
// else is a call of the very block operation that tier 0 uses.
#include <algorithm>
#include <string>
#include <vector>

#include "block.hpp"
#include "prelude_text.hpp"

namespace sinter::jit {
namespace {

/// How the value of a register is had.
enum class place : std::uint8_t {
  unused,
  scalar,   // one value for the block: a parameter, a uniform input, anything computed from such alone
  direct,   // an array that the caller passes: plain loads, coordinates, finished reductions
  inlined,  // a local of the loop of its stage; stored in an array where others need it
  called,   // an array that a block operation fills after the loop of its stage
};
struct info {
  place where = place::unused;
  int stage = 0;
  bool in_array = false;  // inlined: a later stage, a call or an output reads it
  int output = -1;        // the output whose memory serves as its array
};

std::string text_of(std::size_t n) { return std::to_string(n); }
bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

class emitter {
 public:
  emitter(const program& p, const block_variant& v) : p_(p), v_(v), info_(p.code.size()) {
    mark_used();
    for (std::size_t k = 0; k < p.code.size(); ++k)
      if (info_[k].where != place::unused) put_in_place(k);
    find_arrays();
  }
  std::string text(const std::string& function);
  std::vector<block_op> operations() const;

 private:
  bool finished_reductions() const { return p_.kind == kernel_kind::reduce && v_.epilogue; }
  bool writes_reductions() const { return p_.kind == kernel_kind::reduce && !v_.epilogue; }
  std::size_t output_count() const { return writes_reductions() ? p_.reductions.size() : p_.outputs.size(); }
  std::uint16_t output_register(std::size_t k) const {
    return writes_reductions() ? p_.reductions[k].reg : p_.outputs[k].reg;
  }
  bool is_uniform(std::uint16_t input) const { return input < 64 && (v_.uniform >> input & 1) != 0; }
  bool is_gathered(const instr& i) const { return i.op == opcode::load && p_.inputs[i.a].gathers != 0; }
  static bool is_source(const instr& i) { return operand_count(i.op) == 0; }
  static bool is_call(const instr& i) {
    return !is_source(i) && i.op != opcode::checked_index && !is_inline_on_cpu(i.op, i.type, i.arg);
  }
  template <class F>
  void each_operand(std::size_t k, F f) const {
    const instr& i = p_.code[k];
    const std::uint16_t operand[3] = {i.a, i.b, i.c};
    for (int n = 0; n < operand_count(i.op); ++n) f(operand[n]);
    if (i.op == opcode::load)
      for (int g = 0; g < p_.inputs[i.a].gathers; ++g) f(p_.inputs[i.a].gather[g]);
  }

  void mark_used();
  void put_in_place(std::size_t k);
  void find_arrays();
  std::string array(std::size_t k) const;
  std::string value(std::size_t k, int stage) const;
  std::string expression(std::size_t k, int stage) const;
  unsigned parts() const;
  void write_prelude();
  void write_pointers();
  void write_arrays();
  void write_scalars();
  void write_loop(int stage);
  void write_calls(int stage);
  void write_scalar_call(std::size_t k);
  void write_call(std::size_t k, const std::string& to, const std::string (&from)[3], const char* lanes);
  void write_copies();

  const program& p_;
  const block_variant& v_;
  std::vector<info> info_;
  int stages_ = 1;
  std::string out_;
};

void emitter::mark_used() {
  for (std::size_t k = 0; k < output_count(); ++k) info_[output_register(k)].where = place::inlined;
  for (std::size_t k = p_.code.size(); k-- > 0;)
    if (info_[k].where != place::unused) each_operand(k, [&](std::uint16_t o) { info_[o].where = place::inlined; });
}

void emitter::put_in_place(std::size_t k) {
  const instr& i = p_.code[k];
  info& me = info_[k];
  bool scalar = i.op == opcode::param || (i.op == opcode::load && !is_gathered(i) && is_uniform(i.a)) || !is_source(i);
  int stage = 0;
  each_operand(k, [&](std::uint16_t o) {
    scalar = scalar && info_[o].where == place::scalar;
    // A call may read what another call of its stage has filled: calls run in program order.
    bool after = info_[o].where == place::called && !is_call(i);
    if (info_[o].where != place::scalar) stage = std::max(stage, info_[o].stage + (after ? 1 : 0));
  });
  me.stage = stage;
  if (scalar) me.where = place::scalar;
  else if (is_call(i)) me.where = place::called;
  else me.where = is_source(i) && !is_gathered(i) ? place::direct : place::inlined;
  if (me.where == place::inlined) stages_ = std::max(stages_, stage + 1);
  if (me.where == place::called) stages_ = std::max(stages_, stage + 1);
}

void emitter::find_arrays() {
  for (std::size_t k = 0; k < output_count(); ++k) {
    info& me = info_[output_register(k)];
    if (me.where != place::inlined && me.where != place::called) continue;
    me.in_array = true;
    if (me.output < 0) me.output = static_cast<int>(k);
  }
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where != place::inlined && info_[k].where != place::called) continue;
    each_operand(k, [&](std::uint16_t o) {
      bool elsewhere = info_[o].where == place::inlined && info_[o].stage < info_[k].stage;
      if (info_[k].where == place::called || elsewhere) info_[o].in_array = true;
    });
  }
}

std::string emitter::array(std::size_t k) const {
  const instr& i = p_.code[k];
  if (info_[k].where == place::direct) {
    if (i.op == opcode::coord) return "coord" + text_of(i.a);
    return "in" + text_of(i.op == opcode::reduced ? p_.inputs.size() + i.a : i.a);
  }
  return info_[k].output >= 0 ? "out" + text_of(static_cast<std::size_t>(info_[k].output)) : "t" + text_of(k);
}

std::string emitter::value(std::size_t k, int stage) const {
  const info& o = info_[k];
  bool local = o.where == place::scalar || (o.where == place::inlined && o.stage == stage);
  return local ? "r" + text_of(k) : array(k) + "[l]";
}

std::string emitter::expression(std::size_t k, int stage) const {
  const instr& i = p_.code[k];
  if (i.op == opcode::param) return std::string("*(const ") + register_type(i.type) + "*)a->params[" + text_of(i.a) + "]";
  if (i.op == opcode::load && is_gathered(i)) {
    const std::string in = text_of(i.a);
    std::string at = "off" + in + "[l]";
    for (int g = 0; g < p_.inputs[i.a].gathers; ++g)
      at += " + gs" + in + "_" + text_of(static_cast<std::size_t>(g)) + " * " + value(p_.inputs[i.a].gather[g], stage);
    std::string element = "in" + in + "[" + at + "]";
    if (!is_half(i.type)) return element;
    return (i.type == dtype::f16 ? "sn::f16_to_float(" : "sn::bf16_to_float(") + element + ")";
  }
  if (i.op == opcode::load) return std::string("*(const ") + register_type(i.type) + "*)a->inputs[" + text_of(i.a) + "]";
  if (i.op == opcode::checked_index)
    return call_expression(i, value(i.a, stage), "*(const long long*)a->params[" + text_of(i.b) + "]");
  std::string operand[3];
  int n = 0;
  each_operand(k, [&](std::uint16_t o) { operand[n++] = value(o, stage); });
  return call_expression(i, operand[0], operand[1], operand[2]);
}

unsigned emitter::parts() const {
  unsigned mask = prelude_base;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where == place::unused) continue;
    const instr& i = p_.code[k];
    if (!is_call(i)) mask |= needed_parts(i);
    else if (is_complex(i.type) || is_complex(i.arg)) mask |= needed_parts({opcode::add, i.type, i.arg, 0, 0, 0, 0, 0});
  }
  return mask;
}

// Guarded, so that several functions can stand in one translation unit.
void emitter::write_prelude() {
  static constexpr struct {
    unsigned bit;
    const char* name;
  } all[] = {{prelude_base, "base"},       {prelude_float, "float"},     {prelude_half, "half"},
             {prelude_convert, "convert"}, {prelude_complex, "complex"}, {prelude_complex_math, "complex_math"}};
  const unsigned mask = parts();
  for (auto& part : all) {
    if (!(mask & part.bit)) continue;
    const std::string guard = std::string("SN_PART_") + part.name;
    out_ += "#ifndef " + guard + "\n#define " + guard + "\n";
    out_ += prelude_text(part.name);
    out_ += "#endif\n";
  }
  out_ +=
      "#ifndef SN_BLOCK\n#define SN_BLOCK\n"
      "typedef void (*sn_block_op)(void*, const void*, const void*, const void*, int, int*);\n"
      "struct sn_block_args {\n"
      "  const void* const* inputs;\n  const long long* const* offsets;\n  const long long (*gather_strides)[2];\n"
      "  const void* const* params;\n  const long long* const* coords;\n  void* const* outputs;\n"
      "  const sn_block_op* operations;\n  int* fault;\n  int n;\n};\n"
      "#define SN_LANES(n) _Pragma(\"GCC ivdep\") for (int l = 0; l < (n); ++l)\n"
      "#define SN_ARRAY(T, name, n) alignas(64) T name[n]\n"
      "#endif\n";
}

void emitter::write_pointers() {
  std::vector<bool> input(p_.inputs.size() + p_.reductions.size()), coord;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const instr& i = p_.code[k];
    if (info_[k].where != place::direct && !(info_[k].where == place::inlined && is_gathered(i))) continue;
    if (i.op == opcode::coord) {
      if (coord.size() <= i.a) coord.resize(i.a + 1u);
      if (!coord[i.a])
        out_ += "  const long long* __restrict coord" + text_of(i.a) + " = a->coords[" + text_of(i.a) + "];\n";
      coord[i.a] = true;
      continue;
    }
    std::size_t n = i.op == opcode::reduced ? p_.inputs.size() + i.a : i.a;
    if (input[n]) continue;
    input[n] = true;
    const bool gathered = is_gathered(i);
    const std::string type = gathered && is_half(i.type) ? "unsigned short" : register_type(i.type), in = text_of(n);
    out_ += "  const " + type + "* __restrict in" + in + " = (const " + type + "*)a->inputs[" + in + "];\n";
    if (!gathered) continue;
    out_ += "  const long long* __restrict off" + in + " = a->offsets[" + in + "];\n";
    for (int g = 0; g < p_.inputs[i.a].gathers; ++g) {
      const std::string which = text_of(static_cast<std::size_t>(g));
      out_ += "  const long long gs" + in + "_" + which + " = a->gather_strides[" + in + "][" + which + "];\n";
    }
  }
  for (std::size_t k = 0; k < output_count(); ++k) {
    const std::string type = register_type(p_.code[output_register(k)].type), n = text_of(k);
    out_ += "  " + type + "* __restrict out" + n + " = (" + type + "*)a->outputs[" + n + "];\n";
  }
}

void emitter::write_arrays() {
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const info& me = info_[k];
    bool stored = me.where == place::called || (me.in_array && me.where != place::direct);
    if (!stored || me.output >= 0) continue;
    out_ += std::string("  SN_ARRAY(") + register_type(p_.code[k].type) + ", t" + text_of(k) + ", " +
            text_of(block_lanes) + ");\n";
  }
}

void emitter::write_scalars() {
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where != place::scalar) continue;
    const instr& i = p_.code[k];
    if (is_call(i)) write_scalar_call(k);
    else out_ += std::string("  const ") + register_type(i.type) + " r" + text_of(k) + " = " + expression(k, 0) + ";\n";
    if (info_[k].in_array) out_ += "  SN_LANES(n) t" + text_of(k) + "[l] = r" + text_of(k) + ";\n";
  }
}

void emitter::write_call(std::size_t k, const std::string& to, const std::string (&from)[3], const char* lanes) {
  std::size_t index = 0;
  for (std::size_t j = 0; j < k; ++j) index += info_[j].where != place::unused && is_call(p_.code[j]);
  out_ += "  a->operations[" + text_of(index) + "](" + to;
  for (auto& f : from) out_ += ", " + (f.empty() ? std::string("0") : f);
  out_ += std::string(", ") + lanes + ", fault);  // " + name(p_.code[k].op) + "\n";
}

// One vector's worth of equal lanes: the vector routine gives the bits that the lanes of a block would get.
void emitter::write_scalar_call(std::size_t k) {
  const std::string me = text_of(k), lanes = text_of(lane_multiple);
  std::string from[3];
  int n = 0;
  each_operand(k, [&](std::uint16_t o) {
    const std::string name = "s" + me + "_" + text_of(static_cast<std::size_t>(n));
    out_ += std::string("  SN_ARRAY(") + register_type(p_.code[o].type) + ", " + name + ", " + lanes + ");\n";
    out_ += "  SN_LANES(" + lanes + ") " + name + "[l] = r" + text_of(o) + ";\n";
    from[n++] = name;
  });
  const std::string type = register_type(p_.code[k].type);
  out_ += "  SN_ARRAY(" + type + ", s" + me + ", " + lanes + ");\n";
  write_call(k, "s" + me, from, lanes.c_str());
  out_ += "  const " + type + " r" + me + " = s" + me + "[0];\n";
}

void emitter::write_loop(int stage) {
  std::string body;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where != place::inlined || info_[k].stage != stage) continue;
    body += std::string("    const ") + register_type(p_.code[k].type) + " r" + text_of(k) + " = " + expression(k, stage) + ";\n";
    if (info_[k].in_array) body += "    " + array(k) + "[l] = r" + text_of(k) + ";\n";
  }
  if (!body.empty()) out_ += "  SN_LANES(n) {\n" + body + "  }\n";
}

void emitter::write_calls(int stage) {
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (info_[k].where != place::called || info_[k].stage != stage) continue;
    std::string from[3];
    int n = 0;
    each_operand(k, [&](std::uint16_t o) { from[n++] = array(o); });
    write_call(k, array(k), from, "n");
  }
}

// Outputs that are no array of their own: copies of inputs, scalars, one register stored twice.
void emitter::write_copies() {
  for (std::size_t k = 0; k < output_count(); ++k) {
    std::uint16_t reg = output_register(k);
    if (info_[reg].output == static_cast<int>(k)) continue;
    out_ += "  SN_LANES(n) out" + text_of(k) + "[l] = " + value(reg, stages_) + ";\n";
  }
}

std::string emitter::text(const std::string& function) {
  write_prelude();
  out_ += "extern \"C\" void " + function + "(const sn_block_args* a) {\n";
  out_ += "  const int n = a->n & ~" + text_of(lane_multiple - 1) + ";\n  int* fault = a->fault;\n  (void)fault;\n";
  write_pointers();
  write_arrays();
  write_scalars();
  for (int s = 0; s < stages_; ++s) {
    write_loop(s);
    write_calls(s);
  }
  write_copies();
  out_ += "}\n";
  return std::move(out_);
}

std::vector<block_op> emitter::operations() const {
  std::vector<block_op> all;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const instr& i = p_.code[k];
    if (info_[k].where != place::unused && is_call(i)) all.push_back(find_block_op(i.op, i.type, i.arg));
  }
  return all;
}

}  // namespace

std::string emit_cpu(const program& p, const block_variant& v, const std::string& function_name) {
  return emitter(p, v).text(function_name);
}

std::vector<block_op> external_operations(const program& p, const block_variant& v) { return emitter(p, v).operations(); }

}  // namespace sinter::jit
