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
    "  bool read;\n"
    "  explicit sn_flags(bool r) : before(r ? now() : 0), read(r) { if (before & watched) set(before & ~watched); }\n"
    "  bool raised() const {\n    if (!read) return false;\n"
    "    const unsigned after = now();\n"
    "    if (before & watched) set(after | before);\n"
    "    return (after & (watched | rounding)) != 0;\n  }\n};\n"
    // Numbers that the quick steps do not hold for come together: after some, the next calls do without these, twice as many each time.
    // One of each loop, for all threads: it changes no bits.
    "struct sn_doubt {\n"
    "  static constexpr unsigned most = 63;\n  unsigned left, calls;\n"
    "  static unsigned get(const unsigned& x) { return __atomic_load_n(&x, __ATOMIC_RELAXED); }\n"
    "  static void put(unsigned& x, unsigned v) { __atomic_store_n(&x, v, __ATOMIC_RELAXED); }\n"
    "  bool remains() {\n"
    "    const unsigned n = get(left);\n"
    "    if (n != 0) put(left, n - 1);\n"
    "    return n != 0;\n  }\n"
    "  void note(bool failed) {\n"
    "    const unsigned n = get(calls), next = !failed ? 0 : n == 0 ? 7 : n < most ? 2 * n + 1 : most;\n"
    "    if (n != next) put(calls, next);\n"
    "    if (failed) put(left, next);\n  }\n};\n"
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
    // The same quotients where what is divided or a quotient is subnormal, of which the processor takes 150 cycles a vector for each: small
    // numbers are multiplied by a power of two, subnormal ones by a sum and a difference. 1 is added to a quotient that is subnormal without that power,
    // so that it is rounded to the digits which it has, and what would be rounded twice, halfway, goes where the remainder says.
    "template <class T> struct sn_scaled_divisor {\n"
    "  typedef decltype(sn::to_bits(T())) word;\n"
    "  template <class W, int> struct lanes { typedef long long type; };\n"
    "  template <int k> struct lanes<unsigned, k> { typedef int type; };\n"
    "  typedef typename lanes<word, 0>::type number;\n"
    "  static constexpr bool single = sizeof(T) == 4;\n"
    "  static constexpr int digits = single ? 23 : 52;\n"
    "  static constexpr word sign = word(1) << (8 * sizeof(T) - 1), hidden = word(1) << digits,\n"
    "    one = word(single ? 127 : 1023) << digits, moved = one - hidden, least = word(single ? 67 : 523) << digits;\n"
    "  T by;\n  bool quick;\n"
    "  explicit sn_scaled_divisor(T c) : by(c),\n"
    "    quick(c >= (single ? T(0x1p-40) : T(0x1p-400)) && c <= (single ? T(0x1p40) : T(0x1p400))) {}\n"
    "  T of(T x) const {\n"
    "    const word b = sn::to_bits(x), minus = b & sign, m = b ^ minus;\n"
    "    const number place = number(m);\n"
    "    const T tiny = sn::from_bits(m | one) - T(1), higher = sn::from_bits(m + moved);\n"
    "    const T scaled = place < number(hidden) ? tiny : higher, size = place < number(least) ? scaled : "
    "sn::from_bits(m);\n"
    "    const T q = size / by, sum = q + T(1), over = q - (sum - T(1)), half = single ? T(0x1p-24) : T(0x1p-53);\n"
    "    const T beyond = sn_divisor<T>::fma(-q, by, size);\n"
    "    const word up = word(over == half) & word(beyond > 0), down = word(over == -half) & word(beyond < 0);\n"
    "    const word rounded = sn::to_bits(sum) - one + up - down, lower = sn::to_bits(q) - moved;\n"
    "    const word small = q < T(1) ? rounded : lower;\n"
    "    return sn::from_bits(word((place < number(least) ? small : sn::to_bits(q)) | minus));\n  }\n};\n"
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

/// Whether a loop for subnormal quotients is worth the compiler's time: they follow sums of exponentials and functions. What is divided
/// by a parameter and by nothing else are data.
bool cpu_emitter::may_be_subnormal(const std::vector<std::size_t>& quotients) const {
  for (std::size_t k = 0; k < p_.code.size(); ++k)
    if (is_called(k)) return true;
  return std::any_of(quotients.begin(), quotients.end(),
                     [&](std::size_t k) { return p_.code[p_.code[k].b].op != opcode::param; });
}

/// Around the loop over rows, which reads the processor's flags once: before it and after it.
std::pair<std::string, std::string> cpu_emitter::tries_of_rows() const {
  std::vector<std::size_t> quotients;
  for (std::size_t k = 0; k < p_.code.size() && takes_rows(); ++k)
    if (info_[k].where == place::inlined && is_quick_quotient(k, 0)) quotients.push_back(k);
  if (quotients.empty()) return {};
  const std::string least = num(static_cast<std::size_t>(least_of_quotients(quotients)));
  return {"#if SN_QUOTIENTS\n  static sn_doubt doubt;\n  const bool enough = n >= 64 && (long long)n * a->rows >= " +
              least + ";\n  bool scaled = enough && doubt.remains(), exact = scaled || !(enough" + apart_from_result() +
              ");\n  for (;;) {\n  const sn_flags flags(enough && !scaled);\n  bool quick = true;\n#endif\n",
          "#if SN_QUOTIENTS\n  const bool raised = flags.raised();\n  if (flags.read && quick) doubt.note(raised);\n"
          "  if (exact || (quick && !raised)) break;\n  exact = scaled = true;\n  }\n#endif\n"};
}

/// The loop of a stage with `body`, which calculates the quotients by instructions.
void cpu_emitter::write_quotients(const std::string& body, const std::vector<std::size_t>& quotients, int stage) {
  std::string quick = body, scaled = body, each_quick, each_scaled, made, made_scaled;
  std::vector<bool> divisor(p_.code.size());
  const auto replace = [](std::string& text, const std::string& line, const std::string& by) {
    if (const std::size_t at = text.find(line); at != std::string::npos) text.replace(at, line.size(), by);
  };
  for (const std::size_t k : quotients) {
    const instr& i = p_.code[k];
    const std::string by = num(i.b), line = " r" + num(k) + " = ", of = ".of(" + value(i.a, stage) + ");";
    const std::string exact = line + expression(k, stage) + ";", type = register_type(i.type);
    replace(quick, exact, line + "d" + by + of);
    replace(scaled, exact, line + "e" + by + of);
    if (divisor[i.b]) continue;
    divisor[i.b] = true;
    made += "  const sn_divisor<" + type + "> d" + by + "(r" + by + ");\n";
    made_scaled += "  const sn_scaled_divisor<" + type + "> e" + by + "(r" + by + ");\n";
    each_quick += " && d" + by + ".quick";
    each_scaled += " && e" + by + ".quick";
  }
  const auto loop = [&](const std::string& lanes, const std::string& text) {
    return "  SN_LANES(" + lanes + ") {\n" + text + "  }\n";
  };
  const bool subnormal = may_be_subnormal(quotients);
  const auto careful = [&](const std::string& lanes) {
    if (!subnormal) return loop(lanes, body);
    return "  {\n" + made_scaled + "  if (scaled" + each_scaled + ")\n" + loop(lanes, scaled) + "  else\n" +
           loop(lanes, body) + "  }\n";
  };
  if (takes_rows()) {
    out_ += "#if SN_QUOTIENTS\n  if (!exact) {\n" + made + "  if (!(true" + each_quick +
            ")) { quick = false; break; }\n" + loop(lanes_, quick) + "  } else\n" + careful(lanes_) + "#else\n" +
            loop(lanes_, body) + "#endif\n";
    return;
  }
  const int least = least_of_quotients(quotients);
  out_ +=
      "  {\n#if SN_QUOTIENTS\n  static sn_doubt doubt;\n" + made + "  const bool enough = n >= " + num(least) +
      each_quick + ";\n  bool scaled = enough && doubt.remains(), exact = scaled || !(enough" + apart_from_result() +
      ");\n  for (;;) {\n  const sn_flags flags(enough && !scaled);\n  if (!exact)\n" + loop("n", quick) + "  else" +
      careful("n") +
      "  const bool raised = flags.raised();\n  if (flags.read) doubt.note(raised);\n  if (exact || !raised) break;\n"
      "  exact = scaled = true;\n  }\n#else\n" +
      loop("n", body) + "#endif\n  }\n";
}

}  // namespace sinter::jit
