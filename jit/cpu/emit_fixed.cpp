// Functions of launches that do not change: elements, phase by phase.
#include <algorithm>

#include "jit/cpu/fixed.hpp"
#include "jit/cpu/fixed_phase.hpp"
#include "jit/program/fault_words.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit {
namespace {

/// Elements of a launch, and bytes of its arrays, at most.
constexpr std::int64_t most_elements = 1 << 14, most_bytes = 128 << 10;

bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

void append(std::string& out, const core::dims& d) {
  for (int a = 0; a < d.size(); ++a) {
    const std::int64_t n = d[a];
    out.append(reinterpret_cast<const char*>(&n), sizeof n);
  }
  out.push_back(static_cast<char>(d.size()));
}

}  // namespace

const char* const fixed_types =
    "template <int> struct sn_bits;\ntemplate <> struct sn_bits<4> { using type = unsigned; };\n"
    "template <> struct sn_bits<8> { using type = unsigned long long; };\n"
    "#define SN_EACH(i, n) _Pragma(\"GCC ivdep\") for (long long i = 0; i < (n); ++i)\n"
    "template <class T> static inline __attribute__((always_inline)) T sn_tidy(T x) {\n"
    "  if constexpr (T(0.5) != T(0)) return x != x ? T(__builtin_nan(\"\")) : x; else return x;\n}\n"
    "template <bool Min, class T> static inline __attribute__((always_inline)) bool sn_better(T x, T a) {\n"
    "  if constexpr (T(0.5) != T(0))\n"
    "    return Min ? bool(int(!(x >= a)) & int(a == a)) : bool(int(!(x <= a)) & int(a == a));\n"
    "  else return Min ? x < a : a < x;\n}\n"
    "template <bool Min, class T> static inline __attribute__((always_inline)) T sn_extreme(T a, T x) {\n"
    "  if constexpr (T(0.5) != T(0)) {\n"
    "    using bits = typename sn_bits<sizeof(T)>::type;\n"
    "    const bits p = __builtin_bit_cast(bits, a), q = __builtin_bit_cast(bits, x);\n"
    "    const T zero = __builtin_bit_cast(T, bits(Min ? p | q : p & q)), r = sn_better<Min>(x, a) ? x : a;\n"
    "    return x == a ? zero : r;\n"
    "  } else return sn_better<Min>(x, a) ? x : a;\n}\n";

fixed_launch::fixed_launch(const launch& l, const addition_order& o, overlap how)
    : code(*l.code), extents(l.extents), kept(l.kept), order(o), over(how) {
  const auto place_of = [](const operand& x) { return place{x.strides, {x.gather_stride[0], x.gather_stride[1]}}; };
  for (const operand& x : l.inputs) inputs.push_back(place_of(x));
  for (const operand& x : l.outputs) outputs.push_back(place_of(x));
  numbers.resize(l.params.size());
  const auto counts = [](const instr& i) { return i.op == opcode::coord; };
  if (std::none_of(code.code.begin(), code.code.end(), counts)) return;
  for (std::size_t k = 0; k < numbers.size(); ++k)
    if (is_integer(code.param_types[k]) && code.param_types[k] != dtype::u64) numbers[k] = l.params[k].i;
}

std::int64_t fixed_launch::elements() const noexcept { return core::element_count(extents); }

void fixed_launch::append_key(std::string& out) const {
  code.append_key(out);
  append(out, extents);
  for (const std::vector<place>* all : {&inputs, &outputs})
    for (const place& p : *all) {
      append(out, p.strides);
      out.append(reinterpret_cast<const char*>(p.gather_stride), sizeof p.gather_stride);
    }
  for (const std::optional<std::int64_t>& n : numbers) {
    const std::int64_t value = n.value_or(0);
    out.push_back(static_cast<char>(n.has_value()));
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  out.push_back(static_cast<char>(kept));
  out.push_back(static_cast<char>(order.rows));
  out.append(reinterpret_cast<const char*>(&order.lanes), sizeof order.lanes);
  out.push_back(static_cast<char>(over));
}

fixed_emitter::fixed_emitter(const fixed_launch& l) : l_(l) {
  const program& p = l.code;
  const bool reduces = p.kind == kernel_kind::reduce;
  const auto plain = [](const auto& x) { return !is_half(x.type); };
  suits_ = p.kind != kernel_kind::staged && p.loop.end == 0 && p.calls.empty() && p.combines.empty() &&
           l.elements() > 0 && l.elements() <= most_elements && std::all_of(p.inputs.begin(), p.inputs.end(), plain) &&
           std::all_of(p.outputs.begin(), p.outputs.end(), plain) &&
           std::all_of(p.code.begin(), p.code.end(), [&](const instr& i) { return takes(i); }) &&
           std::all_of(p.reductions.begin(), p.reductions.end(), [&](const reduce_desc& r) { return takes(r); });
  if (!suits_) return;
  if (reduces)
    for (int a = 0; a < l.extents.size(); ++a) (a < l.kept ? results_ : reduced_) *= l.extents[a];
  reduces ? write_reductions() : write_elementwise();
  suits_ = bytes_ <= most_bytes;
}

bool fixed_emitter::takes(const instr& i) const noexcept {
  if (is_half(i.type) || is_half(i.arg) || is_random(i.op)) return false;
  if (i.op == opcode::address || i.op == opcode::user || i.op == opcode::carried) return false;
  if (i.op == opcode::checked_index) return i.in_range != 0;
  return i.op != opcode::power || is_inexact(i.type);
}

bool fixed_emitter::takes(const reduce_desc& r) const noexcept {
  if (is_complex(r.type) || is_complex(r.arg) || is_half(r.type) || is_half(r.arg) || r.tail != 0) return false;
  switch (r.op) {
    case reduce_op::sum:
    case reduce_op::prod:
    case reduce_op::min:
    case reduce_op::max: return r.type == r.arg && r.type != dtype::b1;
    case reduce_op::argmin:
    case reduce_op::argmax: return r.type == dtype::i64 && r.arg != dtype::b1;
    case reduce_op::any:
    case reduce_op::all:
    case reduce_op::count: return r.arg == dtype::b1;
    default: return false;
  }
}

void fixed_emitter::write_operands() {
  const program& p = l_.code;
  std::size_t at = 0;
  const auto pointer = [&](dtype t, const char* name, std::size_t k, bool is_const) {
    const std::string type = std::string(is_const ? "const " : "") + fixed_lane(t) + "*";
    out_ += "  " + type + " const " + name + num(k) + " = (" + type + ")at[" + num(at++) + "];\n";
  };
  for (std::size_t k = 0; k < p.inputs.size(); ++k) pointer(p.inputs[k].type, "in", k, true);
  for (std::size_t k = 0; k < p.outputs.size(); ++k) pointer(p.outputs[k].type, "out", k, false);
  for (std::size_t k = 0; k < p.params; ++k) {
    const std::string type = std::string("const ") + register_type(p.param_types[k]);
    out_ += "  " + type + "& param" + num(k) + " = *(" + type + "*)at[" + num(at++) + "];\n";
  }
}

void fixed_emitter::write_elementwise() {
  std::vector<int> axes;
  for (int a = 0; a < l_.extents.size(); ++a) axes.push_back(a);
  write_operands();
  phase all(l_, std::move(axes), operations_);
  for (std::size_t k = 0; k < l_.code.outputs.size(); ++k) all.store(k);
  all.write(out_);
  parts_ |= all.parts();
  bytes_ += all.bytes();
}

std::string fixed_emitter::text(const std::string& function) const {
  return "extern \"C\" void " + function + "(void* const* at, const sn_block_op* operations) {\n" +
         "  (void)operations;\n  int fault[" + num(fault_words) + "];\n  (void)fault;\n" + out_ + "}\n";
}

}  // namespace sinter::jit
