// Block functions: quotients by a number that all lanes share. A product with the number's reciprocal in two parts is the quotient
// but for its last digit at most, and a correction by the remainder makes it the quotient as IEEE 754 rounds it (P. Markstein, "IA-64
// and Elementary Functions", 2000): four instructions that take a quarter to an eighth of the time of a division. They are exact unless
// something of them underflows, overflows or is no number, which the processor's flags tell: then the loop runs again with divisions.
#include <algorithm>

#include "jit/cpu/emit.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit {

const char* const quotient_text =
    "#if defined(__x86_64__) && defined(__FMA__)\n"
    // From here on: whether an operation was invalid, had a subnormal operand, overflowed or underflowed. What was raised before
    // stays raised.
    "struct sn_flags {\n"
    "  static constexpr unsigned watched = 0x1b, rounding = 0x6000;\n"
    "  unsigned before;\n"
    "  static unsigned now() { unsigned v; asm volatile(\"stmxcsr %0\" : \"=m\"(v) : : \"memory\"); return v; }\n"
    "  static void set(unsigned v) { asm volatile(\"ldmxcsr %0\" : : \"m\"(v) : \"memory\"); }\n"
    "  sn_flags() : before(now()) { if (before & watched) set(before & ~watched); }\n"
    "  bool raised() const {\n"
    "    const unsigned after = now();\n"
    "    if (before & watched) set(after | before);\n"
    "    return (after & (watched | rounding)) != 0;\n  }\n};\n"
    "template <class T> struct sn_divisor {\n"
    "  T by, near, high, low;\n  bool quick;\n"
    "  static T rest(T x, T y) { return sizeof(T) == 4 ? __builtin_fmaf(-x, y, 1) : __builtin_fma(-x, y, 1); }\n"
    "  static T fma(T x, T y, T z) { return sizeof(T) == 4 ? __builtin_fmaf(x, y, z) : __builtin_fma(x, y, z); }\n"
    "  explicit sn_divisor(T c) : by(c), near(T(1) / c), high(near) {\n"
    "    quick = c >= (sizeof(T) == 4 ? T(0x1p-40) : T(0x1p-400)) && c <= (sizeof(T) == 4 ? T(0x1p40) : T(0x1p400));\n"
    // Rounded down, so that neither part is negative, and zeros keep their signs.
    "    if (quick && rest(high, by) < 0) high = sn::from_bits(sn::to_bits(high) - 1u);\n"
    "    low = rest(high, by) / by;\n  }\n"
    "  T of(T x) const {\n"
    "    const T q = fma(x, high, x * low), beyond = fma(q, by, -x);\n"
    "    return fma(-near, beyond, q);\n  }\n};\n"
    "#define SN_QUOTIENTS 1\n#else\n#define SN_QUOTIENTS 0\n#endif\n";

/// Whether instruction k, of the loop over lanes of a stage, divides lanes by a number. Updates in place cannot run again.
bool cpu_emitter::is_quick_quotient(std::size_t k, int stage) const {
  const instr& i = p_.code[k];
  if (i.op != opcode::divide || (i.type != dtype::f32 && i.type != dtype::f64) || i.arg != i.type) return false;
  if (user_stage_[static_cast<std::size_t>(stage)] || (in_place_ && stage == loop_stage_)) return false;
  return info_[i.a].where != place::scalar && info_[i.b].where == place::scalar;
}

/// The loop of a stage with `body`, which calculates the quotients by instructions.
void cpu_emitter::write_quotients(const std::string& body, const std::vector<std::size_t>& quotients, int stage) {
  std::string quick = body, each_quick, made;
  std::vector<bool> divisor(p_.code.size());
  for (const std::size_t k : quotients) {
    const instr& i = p_.code[k];
    const std::string by = num(i.b), line = " r" + num(k) + " = ";
    const std::string exact = line + expression(k, stage) + ";";
    if (const std::size_t at = quick.find(exact); at != std::string::npos)
      quick.replace(at, exact.size(), line + "d" + by + ".of(" + value(i.a, stage) + ");");
    if (divisor[i.b]) continue;
    divisor[i.b] = true;
    made += std::string("  const sn_divisor<") + register_type(i.type) + "> d" + by + "(r" + by + ");\n";
    each_quick += " && d" + by + ".quick";
  }
  // What is read may lie where the result goes.
  std::string apart;
  if (is_one_loop())
    for (std::size_t k = 0; k < p_.inputs.size(); ++k) apart += " && a->inputs[" + num(k) + "] != a->outputs[0]";
  // Two divisions and what follows make a reciprocal.
  const bool single =
      std::any_of(quotients.begin(), quotients.end(), [&](std::size_t k) { return p_.code[k].type == dtype::f32; });
  const int least = single ? 256 : 64;
  out_ += "  {\n#if SN_QUOTIENTS\n" + made + "  bool exact = !(n >= " + num(least) + each_quick + apart +
          ");\n  if (!exact) {\n  const sn_flags flags;\n  SN_LANES(n) {\n" + quick +
          "  }\n  exact = flags.raised();\n  }\n  if (exact)\n#endif\n  SN_LANES(n) {\n" + body + "  }\n  }\n";
}

}  // namespace sinter::jit
