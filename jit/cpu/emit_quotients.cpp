// Block functions: quotients by a number that all lanes share. A product with the number's reciprocal in two parts is the quotient
// but for its last digit at most, and a correction by the remainder makes it the quotient as IEEE 754 rounds it (P. Markstein, "IA-64
// and Elementary Functions", 2000): four instructions that take a quarter to an eighth of the time of a division. They are exact unless
// something of them underflows, overflows or is no number, which the processor's flags tell: then the loop runs again with divisions.
#include <algorithm>
#include <utility>

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
    // Numbers that the quick steps do not hold for come together: after some, the next calls divide at once. One of each loop, for
    // all threads: it changes no bits.
    "struct sn_doubt {\n"
    "  static constexpr unsigned calls = 7;\n  unsigned left;\n"
    "  bool remains() {\n"
    "    const unsigned n = __atomic_load_n(&left, __ATOMIC_RELAXED);\n"
    "    if (n != 0) __atomic_store_n(&left, n - 1, __ATOMIC_RELAXED);\n"
    "    return n != 0;\n  }\n"
    "  void note(bool failed) { if (failed) __atomic_store_n(&left, calls, __ATOMIC_RELAXED); }\n};\n"
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

// floor(x / d) is x / d + 1 / (2 |d|) - 1 / 2 rounded to the nearest whole number: what is rounded is at least 1 / (2 |d|) from those that
// lie halfway between two, far more than the error of its calculation. The lowest bits of a sum with a number that leaves no fraction are it.
const char* const whole_divisor_text =
    "template <class T> struct sn_whole_divisor {\n"
    "  template <bool is_short, class> struct fraction { typedef double real; typedef long long bits;\n"
    "    static constexpr double whole = 0x1.8p52; };\n"
    "  template <class X> struct fraction<true, X> { typedef float real; typedef int bits;\n"
    "    static constexpr float whole = 0x1.8p23f; };\n"
    "  typedef fraction<sizeof(T) <= 2, T> how;\n  typedef typename how::real real;\n"
    "  typedef typename sn::traits<T>::word word;\n"
    "  T by, mask;\n  real inverse, moved;\n"
    "  explicit sn_whole_divisor(T d) : by(d), mask(d == 0 ? T(0) : T(-1)), inverse(d == 0 ? real(0) : real(1) / "
    "real(d)),\n"
    "    moved(d == 0 ? real(0) : real(0.5) * (d < 0 ? -inverse : inverse) - real(0.5)) {}\n"
    "  T quotient(T x) const {\n"
    "    const real y = real(x) * inverse + moved, sum = y + how::whole;\n"
    "    return T(__builtin_bit_cast(typename how::bits, sum));\n  }\n"
    "  T rest(T x) const { return T(T(word(x) - word(quotient(x)) * word(by)) & mask); }\n"
    "};\n"
    // Of bytes floor(x (65536 / d + 1) / 65536): the numerator is too large by x at most, too little for the next whole number.
    "template <> struct sn_whole_divisor<unsigned char> {\n"
    "  typedef unsigned short word;\n"
    "  unsigned char by, mask;\n  word inverse, kept;\n"
    "  explicit sn_whole_divisor(unsigned char d) : by(d), mask(d == 0 ? 0 : 255), inverse(d < 2 ? 0 : word(65536 / d "
    "+ 1)),\n"
    "    kept(d == 1 ? 0xffff : 0) {}\n"
    "  word whole(word x) const { return word(word((unsigned(x) * unsigned(inverse)) >> 16) | (x & kept)); }\n"
    "  unsigned char quotient(unsigned char x) const { return (unsigned char)whole(x); }\n"
    "  unsigned char rest(unsigned char x) const {\n"
    "    return (unsigned char)(word(word(x) - word(unsigned(whole(x)) * unsigned(word(by)))) & mask); }\n"
    "};\n";

// Lanes of 16 bits by one count: the upper half of a product.
const char* const shift_text =
    "static inline unsigned short sn_right_shift(unsigned short a, unsigned short n) {\n"
    "  const unsigned short power = n == 0 || n > 15 ? 0 : (unsigned short)(1u << (16 - n)), kept = n == 0 ? 0xffff : "
    "0;\n"
    "  return (unsigned short)((unsigned short)((unsigned(a) * unsigned(power)) >> 16) | (a & kept));\n}\n";

/// Of up to 32 bits; unsigned ones of 32 have no conversions of vectors on all processors.
bool cpu_emitter::may_divide_by_number(std::size_t k) const {
  const instr& i = p_.code[k];
  if ((i.op != opcode::floor_divide && i.op != opcode::remainder) || i.arg != i.type) return false;
  const bool suits = is_integer(i.type) && (itemsize(i.type) <= 2 || i.type == dtype::i32);
  return suits && info_[i.a].where != place::scalar && info_[i.b].where == place::scalar;
}

/// What a stage's loop divides by, at the beginning of a block of its own: other stages divide by the same numbers. Whether there is any.
bool cpu_emitter::write_divisors(int stage) {
  std::vector<bool> made(p_.code.size());
  bool any = false;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    if (!divides_by_number(k) || info_[k].where != place::inlined || info_[k].stage != stage) continue;
    const instr& i = p_.code[k];
    if (made[i.b]) continue;
    made[i.b] = true;
    if (!std::exchange(any, true)) out_ += "  {\n";
    out_ +=
        std::string("  const sn_whole_divisor<") + register_type(i.type) + "> w" + num(i.b) + "(r" + num(i.b) + ");\n";
  }
  return any;
}

/// Whether instruction k, of the loop over lanes of a stage, divides lanes by a number. Updates in place cannot run again.
bool cpu_emitter::is_quick_quotient(std::size_t k, int stage) const {
  const instr& i = p_.code[k];
  if (i.op != opcode::divide || (i.type != dtype::f32 && i.type != dtype::f64) || i.arg != i.type) return false;
  if (user_stage_[static_cast<std::size_t>(stage)] || (in_place_ && stage == loop_stage_)) return false;
  return info_[i.a].where != place::scalar && info_[i.b].where == place::scalar;
}

/// What is read may lie where the result goes.
std::string cpu_emitter::apart_from_result() const {
  std::string apart;
  for (std::size_t k = 0; k < p_.inputs.size() && is_one_loop(); ++k)
    apart += " && a->inputs[" + num(k) + "] != a->outputs[0]";
  return apart;
}
/// Two divisions and what follows make a reciprocal.
int cpu_emitter::least_of_quotients(const std::vector<std::size_t>& quotients) const {
  const bool single =
      std::any_of(quotients.begin(), quotients.end(), [&](std::size_t k) { return p_.code[k].type == dtype::f32; });
  return single ? 256 : 64;
}

/// Around the loop over rows, which reads the processor's flags once: before it and after it.
std::pair<std::string, std::string> cpu_emitter::tries_of_rows() const {
  std::vector<std::size_t> quotients;
  for (std::size_t k = 0; k < p_.code.size() && takes_rows(); ++k)
    if (info_[k].where == place::inlined && is_quick_quotient(k, 0)) quotients.push_back(k);
  if (quotients.empty()) return {};
  const std::string least = num(static_cast<std::size_t>(least_of_quotients(quotients)));
  return {"#if SN_QUOTIENTS\n  static sn_doubt doubt;\n  bool exact = !(n >= 64 && (long long)n * a->rows >= " + least +
              apart_from_result() +
              ") || doubt.remains();\n  for (;;) {\n  const sn_flags flags;\n  bool quick = true;\n#endif\n",
          "#if SN_QUOTIENTS\n  const bool raised = flags.raised();\n  if (!exact && quick) doubt.note(raised);\n"
          "  if (exact || (quick && !raised)) break;\n  exact = true;\n  }\n#endif\n"};
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
  if (takes_rows()) {
    out_ += "#if SN_QUOTIENTS\n  if (!exact) {\n" + made + "  if (!(true" + each_quick +
            ")) { quick = false; break; }\n  SN_LANES(" + lanes_ + ") {\n" + quick +
            "  }\n  } else\n#endif\n  SN_LANES(" + lanes_ + ") {\n" + body + "  }\n";
    return;
  }
  const int least = least_of_quotients(quotients);
  const std::string apart = apart_from_result();
  out_ += "  {\n#if SN_QUOTIENTS\n  static sn_doubt doubt;\n" + made + "  bool exact = !(n >= " + num(least) +
          each_quick + apart + ") || doubt.remains();\n  if (!exact) {\n  const sn_flags flags;\n  SN_LANES(n) {\n" +
          quick + "  }\n  exact = flags.raised();\n  doubt.note(exact);\n  }\n  if (exact)\n#endif\n  SN_LANES(n) {\n" +
          body + "  }\n  }\n";
}

}  // namespace sinter::jit
