// Block functions: operations on float16 and bfloat16 as loops over vectors. Compilers make no vectors of loops that convert to
// 16 bits and back, so these say which vectors: lanes stay in registers as floats, and each operation rounds them. Where the caller
// passes lanes of 16 bits, as they lie in memory, they are converted as they are read and stored.
#include <algorithm>

#include "jit/cpu/emit.hpp"
#include "jit/prelude_text.hpp"

namespace sinter::jit {
namespace {

bool has_16_bits(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }
bool is_lane_of_vectors(dtype t) noexcept { return has_16_bits(t) || t == dtype::f32 || t == dtype::b1; }

/// The operation of vectors; null: there is none.
const char* vector_name(opcode op) noexcept {
  switch (op) {
    case opcode::negative: return "sn_negative";
    case opcode::absolute: return "sn_absolute";
    case opcode::sign: return "sn_sign";
    case opcode::square: return "sn_square";
    case opcode::sqrt: return "sn_sqrt";
    case opcode::reciprocal: return "sn_reciprocal";
    case opcode::floor: return "sn_whole<9>";
    case opcode::ceil: return "sn_whole<10>";
    case opcode::trunc: return "sn_whole<11>";
    case opcode::rint: return "sn_whole<8>";
    case opcode::add: return "sn_add";
    case opcode::subtract: return "sn_subtract";
    case opcode::multiply: return "sn_multiply";
    case opcode::divide: return "sn_divide";
    case opcode::maximum: return "sn_maximum";
    case opcode::minimum: return "sn_minimum";
    case opcode::equal: return "sn_equal";
    case opcode::not_equal: return "sn_not_equal";
    case opcode::less: return "sn_less";
    case opcode::less_equal: return "sn_less_equal";
    case opcode::greater: return "sn_greater";
    case opcode::greater_equal: return "sn_greater_equal";
    case opcode::logical_not: return "sn_not";
    case opcode::logical_and: return "sn_and";
    case opcode::logical_or: return "sn_or";
    case opcode::isnan: return "sn_isnan";
    case opcode::select: return "sn_select";
    case opcode::cast: return "sn_cast";
    case opcode::exp: return "sn_exp_half";
    default: return nullptr;
  }
}

bool rounds(opcode op) noexcept {
  return op == opcode::square || op == opcode::sqrt || op == opcode::reciprocal || op == opcode::add ||
         op == opcode::subtract || op == opcode::multiply || op == opcode::divide || op == opcode::exp;
}

bool takes_vectors(const instr& i) noexcept {
  if (!is_lane_of_vectors(i.type) || !is_lane_of_vectors(i.arg) || !vector_name(i.op)) return false;
  if (i.op == opcode::cast) return i.type != dtype::b1 || i.arg != dtype::b1;
  // Of float32 and bfloat16 exponentials are calls.
  if (i.op == opcode::exp)
    return i.type == dtype::f16 && i.arg == dtype::f16 && is_own_exponential(opcode::exp, dtype::f32, dtype::f32);
  // Of truth values there are no numbers but those of the operations that NumPy has for them.
  const bool logical = i.op == opcode::logical_not || i.op == opcode::logical_and || i.op == opcode::logical_or ||
                       i.op == opcode::select;
  return logical || i.arg != dtype::b1;
}

const char* rounding(dtype t) noexcept {
  return t == dtype::f16 ? "sn_round_half" : t == dtype::bf16 ? "sn_round_brain" : "";
}
const char* half_type(dtype t) noexcept { return t == dtype::f16 ? "sn_half" : "sn_brain"; }

}  // namespace

const char* const half_vector_text =
    "#ifdef __AVX512F__\n#define SN_WIDE 1\n#else\n#define SN_WIDE 0\n#endif\n"
    "constexpr int sn_vector = SN_WIDE ? 16 : 8;\n"
    "typedef float sn_floats __attribute__((vector_size(sn_vector * 4)));\n"
    "typedef int sn_masks __attribute__((vector_size(sn_vector * 4)));\n"
    "typedef unsigned sn_words __attribute__((vector_size(sn_vector * 4)));\n"
    "typedef short sn_shorts __attribute__((vector_size(sn_vector * 2)));\n"
    "struct sn_half { unsigned short bits; };\nstruct sn_brain { unsigned short bits; };\n"
    "#define SN_VECTOR_FN static inline __attribute__((always_inline))\n"
    "template <class V, class T> SN_VECTOR_FN V sn_read(const T* from) {\n"
    "  V v; __builtin_memcpy(&v, from, sizeof v); return v; }\n"
    "template <class V, class T> SN_VECTOR_FN void sn_write(T* to, V v) { __builtin_memcpy(to, &v, sizeof v); }\n"
    "#if SN_WIDE\n"
    "SN_VECTOR_FN sn_floats sn_widen(sn_shorts h) {\n"
    "  return __builtin_ia32_vcvtph2ps512_mask(h, sn_floats{}, (unsigned short)-1, 4); }\n"
    "SN_VECTOR_FN sn_shorts sn_narrow(sn_floats x) {\n"
    "  return __builtin_ia32_vcvtps2ph512_mask(x, 0, sn_shorts{}, (unsigned short)-1); }\n"
    "typedef char sn_chars __attribute__((vector_size(16)));\n"
    "SN_VECTOR_FN sn_words sn_of_bytes(sn_chars x) {\n"
    "  return (sn_words)__builtin_ia32_pmovzxbd512_mask(x, sn_masks{}, (unsigned short)-1); }\n"
    "SN_VECTOR_FN sn_chars sn_to_bytes(sn_words x) {\n"
    "  return __builtin_ia32_pmovdb512_mask((sn_masks)x, sn_chars{}, (unsigned short)-1); }\n"
    "SN_VECTOR_FN sn_words sn_of_shorts(sn_shorts x) {\n"
    "  return (sn_words)__builtin_ia32_pmovzxwd512_mask(x, sn_masks{}, (unsigned short)-1); }\n"
    "SN_VECTOR_FN sn_shorts sn_to_shorts(sn_words x) {\n"
    "  return __builtin_ia32_pmovdw512_mask((sn_masks)x, sn_shorts{}, (unsigned short)-1); }\n"
    "SN_VECTOR_FN sn_floats sn_root(sn_floats x) {\n"
    "  return __builtin_ia32_sqrtps512_mask(x, sn_floats{}, (unsigned short)-1, 4); }\n"
    "template <int how> SN_VECTOR_FN sn_floats sn_whole(sn_floats x) {\n"
    "  return __builtin_ia32_rndscaleps_mask(x, how, sn_floats{}, (unsigned short)-1, 4); }\n"
    "#else\n"
    "SN_VECTOR_FN sn_floats sn_widen(sn_shorts h) { return __builtin_ia32_vcvtph2ps256(h); }\n"
    "SN_VECTOR_FN sn_shorts sn_narrow(sn_floats x) { return __builtin_ia32_vcvtps2ph256(x, 0); }\n"
    "typedef char sn_chars __attribute__((vector_size(8)));\n"
    "typedef char sn_both __attribute__((vector_size(16)));\n"
    "SN_VECTOR_FN sn_words sn_of_bytes(sn_chars x) {\n"
    "  sn_both b = {}; __builtin_memcpy(&b, &x, sizeof x); return (sn_words)__builtin_ia32_pmovzxbd256(b); }\n"
    "typedef char sn_all_bytes __attribute__((vector_size(32)));\n"
    "typedef short sn_all_shorts __attribute__((vector_size(32)));\n"
    "SN_VECTOR_FN sn_chars sn_to_bytes(sn_words x) {\n"
    "  return __builtin_shufflevector((sn_all_bytes)x, (sn_all_bytes)x, 0, 4, 8, 12, 16, 20, 24, 28); }\n"
    "SN_VECTOR_FN sn_words sn_of_shorts(sn_shorts x) { return (sn_words)__builtin_ia32_pmovzxwd256(x); }\n"
    "SN_VECTOR_FN sn_shorts sn_to_shorts(sn_words x) {\n"
    "  return __builtin_shufflevector((sn_all_shorts)x, (sn_all_shorts)x, 0, 2, 4, 6, 8, 10, 12, 14); }\n"
    "SN_VECTOR_FN sn_floats sn_root(sn_floats x) { return __builtin_ia32_sqrtps256(x); }\n"
    "template <int how> SN_VECTOR_FN sn_floats sn_whole(sn_floats x) { return __builtin_ia32_roundps256(x, how); }\n"
    "#endif\n"
    "SN_VECTOR_FN sn_floats sn_all(float x) { return x - sn_floats{}; }\n"
    "SN_VECTOR_FN sn_masks sn_all(bool x) { return -int(x) - sn_masks{}; }\n"
    "SN_VECTOR_FN sn_floats sn_round_half(sn_floats x) { return sn_widen(sn_narrow(x)); }\n"
    "SN_VECTOR_FN sn_words sn_brain_bits(sn_floats x) {\n"
    "  const sn_words b = (sn_words)x, none = b | 0x400000u, some = b + 0x7fffu + ((b >> 16) & 1u);\n"
    "  return x != x ? none : some; }\n"
    "SN_VECTOR_FN sn_floats sn_round_brain(sn_floats x) { return (sn_floats)(sn_brain_bits(x) & 0xffff0000u); }\n"
    "SN_VECTOR_FN sn_floats sn_load(const float* from) { return sn_read<sn_floats>(from); }\n"
    "SN_VECTOR_FN sn_masks sn_load(const unsigned char* from) {\n"
    "  return (sn_masks)(sn_of_bytes(sn_read<sn_chars>(from)) != 0u); }\n"
    "SN_VECTOR_FN sn_floats sn_load(const sn_half* from) { return sn_widen(sn_read<sn_shorts>(from)); }\n"
    "SN_VECTOR_FN sn_floats sn_load(const sn_brain* from) {\n"
    "  return (sn_floats)(sn_of_shorts(sn_read<sn_shorts>(from)) << 16); }\n"
    "SN_VECTOR_FN void sn_store(float* to, sn_floats x) { sn_write(to, x); }\n"
    "SN_VECTOR_FN void sn_store(unsigned char* to, sn_masks x) {\n"
    "  sn_write(to, sn_to_bytes((sn_words)x & 1u)); }\n"
    "SN_VECTOR_FN void sn_store(sn_half* to, sn_floats x) { sn_write(to, sn_narrow(x)); }\n"
    "SN_VECTOR_FN void sn_store(sn_brain* to, sn_floats x) {\n"
    "  sn_write(to, sn_to_shorts(sn_brain_bits(x) >> 16)); }\n"
    "template <class To, class From> SN_VECTOR_FN void sn_copy(To* to, const From* from, int n) {\n"
    "  for (int l = 0; l < n; l += sn_vector) sn_store(to + l, sn_load(from + l)); }\n"
    // Operations, as sn:: has them on numbers.
    "SN_VECTOR_FN sn_floats sn_negative(sn_floats a) { return -a; }\n"
    "SN_VECTOR_FN sn_floats sn_absolute(sn_floats a) { return (sn_floats)((sn_words)a & 0x7fffffffu); }\n"
    "SN_VECTOR_FN sn_floats sn_sign(sn_floats a) {\n"
    "  const sn_floats below = a < 0.0f ? sn_all(-1.0f) : sn_floats{}, any = a > 0.0f ? sn_all(1.0f) : below;\n"
    "  return a != a ? a : any; }\n"
    "SN_VECTOR_FN sn_floats sn_square(sn_floats a) { return a * a; }\n"
    "SN_VECTOR_FN sn_floats sn_sqrt(sn_floats a) { return sn_root(a); }\n"
    "SN_VECTOR_FN sn_floats sn_reciprocal(sn_floats a) { return 1.0f / a; }\n"
    "SN_VECTOR_FN sn_floats sn_add(sn_floats a, sn_floats b) { return a + b; }\n"
    "SN_VECTOR_FN sn_floats sn_subtract(sn_floats a, sn_floats b) { return a - b; }\n"
    "SN_VECTOR_FN sn_floats sn_multiply(sn_floats a, sn_floats b) { return a * b; }\n"
    "SN_VECTOR_FN sn_floats sn_divide(sn_floats a, sn_floats b) { return a / b; }\n"
    "SN_VECTOR_FN sn_floats sn_maximum(sn_floats a, sn_floats b) {\n"
    "  const sn_floats larger = b > a ? b : a; return b != b ? b : larger; }\n"
    "SN_VECTOR_FN sn_floats sn_minimum(sn_floats a, sn_floats b) {\n"
    "  const sn_floats smaller = b < a ? b : a; return b != b ? b : smaller; }\n"
    // The exponential to 2 ulp of float32. For each of the 65,536 numbers of float16 it rounds to what the exact one does. Beyond the ends
    // results are 0 and infinity.
    "#ifdef __FMA__\n#if SN_WIDE\n"
    "SN_VECTOR_FN sn_floats sn_fused(sn_floats a, sn_floats b, sn_floats c) {\n"
    "  return __builtin_ia32_vfmaddps512_mask(a, b, c, (unsigned short)-1, 4); }\n"
    "#else\n"
    "SN_VECTOR_FN sn_floats sn_fused(sn_floats a, sn_floats b, sn_floats c) {\n"
    "  return __builtin_ia32_vfmaddps256(a, b, c); }\n"
    "#endif\n"
    "SN_VECTOR_FN sn_floats sn_exp_half(sn_floats a) {\n"
    "  const sn_floats least = sn_all(-25.0f), most = sn_all(17.0f), magic = sn_all(12582912.0f);\n"
    "  const sn_floats above = a < least ? least : a, x = above > most ? most : above;\n"
    "  const sn_floats s = sn_fused(x, sn_all(1.4426950408889634f), magic), k = s - magic;\n"
    "  const sn_floats r = sn_fused(k, sn_all(2.1219444005469058e-04f), sn_fused(k, sn_all(-0.693359375f), x));\n"
    "  sn_floats p = sn_fused(sn_all(0.001381461326f), r, sn_all(0.008368709824f));\n"
    "  p = sn_fused(p, r, sn_all(0.04166838736f));\n"
    "  p = sn_fused(p, r, sn_all(0.1666652069f));\n"
    "  p = sn_fused(p, r, sn_all(0.4999999345f));\n"
    "  return (1.0f + sn_fused(p, r * r, r)) * (sn_floats)(((sn_words)s << 23) + 0x3f800000u); }\n"
    "#endif\n"
    "SN_VECTOR_FN sn_masks sn_equal(sn_floats a, sn_floats b) { return a == b; }\n"
    "SN_VECTOR_FN sn_masks sn_not_equal(sn_floats a, sn_floats b) { return a != b; }\n"
    "SN_VECTOR_FN sn_masks sn_less(sn_floats a, sn_floats b) { return a < b; }\n"
    "SN_VECTOR_FN sn_masks sn_less_equal(sn_floats a, sn_floats b) { return a <= b; }\n"
    "SN_VECTOR_FN sn_masks sn_greater(sn_floats a, sn_floats b) { return a > b; }\n"
    "SN_VECTOR_FN sn_masks sn_greater_equal(sn_floats a, sn_floats b) { return a >= b; }\n"
    "SN_VECTOR_FN sn_masks sn_isnan(sn_floats a) { return a != a; }\n"
    "SN_VECTOR_FN sn_masks sn_truth(sn_masks a) { return a; }\n"
    "SN_VECTOR_FN sn_masks sn_truth(sn_floats a) { return a != 0.0f; }\n"
    "template <class V> SN_VECTOR_FN sn_masks sn_not(V a) { return ~sn_truth(a); }\n"
    "template <class V> SN_VECTOR_FN sn_masks sn_and(V a, V b) { return sn_truth(a) & sn_truth(b); }\n"
    "template <class V> SN_VECTOR_FN sn_masks sn_or(V a, V b) { return sn_truth(a) | sn_truth(b); }\n"
    "SN_VECTOR_FN sn_floats sn_select(sn_masks c, sn_floats a, sn_floats b) { return c ? a : b; }\n"
    "SN_VECTOR_FN sn_masks sn_select(sn_masks c, sn_masks a, sn_masks b) { return (c & a) | (~c & b); }\n"
    "SN_VECTOR_FN sn_floats sn_number(sn_masks a) { return (sn_floats)((sn_words)a & 0x3f800000u); }\n"
    "SN_VECTOR_FN sn_floats sn_float_of(sn_floats a) { return a; }\n"
    // Float16 as such, where the processor computes with it: of two numbers of 11 digits a sum, product, quotient or root that is
    // rounded to the 24 of a float and then to 11 is the one that is rounded once (S. Figueroa, "When is double rounding
    // innocuous?", 1995). Truth values of its comparisons have 16 bits.
    "#if SN_WIDE && defined(__AVX512FP16__)\n"
    "typedef _Float16 sn_halves __attribute__((vector_size(32)));\n"
    "typedef unsigned short sn_half_words __attribute__((vector_size(32)));\n"
    "SN_VECTOR_FN sn_floats sn_float_of(sn_halves a) { return sn_widen((sn_shorts)a); }\n"
    "SN_VECTOR_FN sn_halves sn_half_of(sn_halves a) { return a; }\n"
    "SN_VECTOR_FN sn_halves sn_half_of(sn_floats a) { return (sn_halves)sn_narrow(a); }\n"
    "SN_VECTOR_FN sn_halves sn_round_half(sn_halves a) { return a; }\n"
    "SN_VECTOR_FN sn_masks sn_mask_of(sn_masks a) { return a; }\n"
    "SN_VECTOR_FN sn_masks sn_mask_of(sn_shorts a) { return -(sn_masks)sn_of_shorts(-a); }\n"
    "SN_VECTOR_FN sn_halves sn_load_half(const sn_half* from) { return sn_read<sn_halves>(from); }\n"
    "SN_VECTOR_FN sn_halves sn_load_half(const float* from) { return sn_half_of(sn_load(from)); }\n"
    "SN_VECTOR_FN void sn_store(float* to, sn_halves x) { sn_write(to, sn_float_of(x)); }\n"
    "SN_VECTOR_FN void sn_store(sn_half* to, sn_halves x) { sn_write(to, x); }\n"
    "SN_VECTOR_FN void sn_store(unsigned char* to, sn_shorts x) { sn_store(to, sn_mask_of(x)); }\n"
    "SN_VECTOR_FN sn_halves sn_negative(sn_halves a) { return (sn_halves)((sn_half_words)a ^ (unsigned short)0x8000); "
    "}\n"
    "SN_VECTOR_FN sn_halves sn_absolute(sn_halves a) { return (sn_halves)((sn_half_words)a & (unsigned short)0x7fff); "
    "}\n"
    "SN_VECTOR_FN sn_halves sn_sign(sn_halves a) {\n"
    "  const sn_halves none = {}, below = a < none ? none - (_Float16)1 : none, any = a > none ? none + (_Float16)1 : "
    "below;\n"
    "  return a != a ? a : any; }\n"
    "SN_VECTOR_FN sn_halves sn_square(sn_halves a) { return a * a; }\n"
    "SN_VECTOR_FN sn_halves sn_sqrt(sn_halves a) {\n"
    "  return __builtin_ia32_sqrtph256_mask(a, sn_halves{}, (unsigned short)-1); }\n"
    "SN_VECTOR_FN sn_halves sn_reciprocal(sn_halves a) { return (_Float16)1 / a; }\n"
    "template <int how> SN_VECTOR_FN sn_halves sn_whole(sn_halves a) { return "
    "sn_half_of(sn_whole<how>(sn_float_of(a))); }\n"
    "SN_VECTOR_FN sn_halves sn_exp_half(sn_halves a) { return sn_half_of(sn_exp_half(sn_float_of(a))); }\n"
    "SN_VECTOR_FN sn_halves sn_add(sn_halves a, sn_halves b) { return a + b; }\n"
    "SN_VECTOR_FN sn_halves sn_subtract(sn_halves a, sn_halves b) { return a - b; }\n"
    "SN_VECTOR_FN sn_halves sn_multiply(sn_halves a, sn_halves b) { return a * b; }\n"
    "SN_VECTOR_FN sn_halves sn_divide(sn_halves a, sn_halves b) { return a / b; }\n"
    "SN_VECTOR_FN sn_halves sn_maximum(sn_halves a, sn_halves b) {\n"
    "  const sn_halves larger = b > a ? b : a; return b != b ? b : larger; }\n"
    "SN_VECTOR_FN sn_halves sn_minimum(sn_halves a, sn_halves b) {\n"
    "  const sn_halves smaller = b < a ? b : a; return b != b ? b : smaller; }\n"
    "SN_VECTOR_FN sn_shorts sn_equal(sn_halves a, sn_halves b) { return a == b; }\n"
    "SN_VECTOR_FN sn_shorts sn_not_equal(sn_halves a, sn_halves b) { return a != b; }\n"
    "SN_VECTOR_FN sn_shorts sn_less(sn_halves a, sn_halves b) { return a < b; }\n"
    "SN_VECTOR_FN sn_shorts sn_less_equal(sn_halves a, sn_halves b) { return a <= b; }\n"
    "SN_VECTOR_FN sn_shorts sn_greater(sn_halves a, sn_halves b) { return a > b; }\n"
    "SN_VECTOR_FN sn_shorts sn_greater_equal(sn_halves a, sn_halves b) { return a >= b; }\n"
    "SN_VECTOR_FN sn_shorts sn_isnan(sn_halves a) { return a != a; }\n"
    "SN_VECTOR_FN sn_shorts sn_truth(sn_halves a) { return a != (_Float16)0; }\n"
    "SN_VECTOR_FN sn_shorts sn_truth(sn_shorts a) { return a; }\n"
    "SN_VECTOR_FN sn_masks sn_and(sn_masks a, sn_shorts b) { return a & sn_mask_of(b); }\n"
    "SN_VECTOR_FN sn_masks sn_and(sn_shorts a, sn_masks b) { return sn_mask_of(a) & b; }\n"
    "SN_VECTOR_FN sn_shorts sn_not(sn_shorts a) { return ~a; }\n"
    "SN_VECTOR_FN sn_shorts sn_and(sn_shorts a, sn_shorts b) { return a & b; }\n"
    "SN_VECTOR_FN sn_masks sn_or(sn_masks a, sn_shorts b) { return a | sn_mask_of(b); }\n"
    "SN_VECTOR_FN sn_masks sn_or(sn_shorts a, sn_masks b) { return sn_mask_of(a) | b; }\n"
    "SN_VECTOR_FN sn_shorts sn_or(sn_shorts a, sn_shorts b) { return a | b; }\n"
    "SN_VECTOR_FN sn_halves sn_select(sn_shorts c, sn_halves a, sn_halves b) { return c ? a : b; }\n"
    "SN_VECTOR_FN sn_halves sn_select(sn_masks c, sn_halves a, sn_halves b) {\n"
    "  return sn_select(sn_to_shorts((sn_words)c), a, b); }\n"
    "SN_VECTOR_FN sn_floats sn_select(sn_shorts c, sn_floats a, sn_floats b) { return sn_select(sn_mask_of(c), a, b); "
    "}\n"
    "template <class C, class A, class B> SN_VECTOR_FN sn_masks sn_select_truth(C c, A a, B b) {\n"
    "  return sn_select(sn_mask_of(c), sn_mask_of(a), sn_mask_of(b)); }\n"
    "SN_VECTOR_FN sn_masks sn_select(sn_shorts c, sn_masks a, sn_masks b) { return sn_select_truth(c, a, b); }\n"
    "SN_VECTOR_FN sn_masks sn_select(sn_shorts c, sn_shorts a, sn_masks b) { return sn_select_truth(c, a, b); }\n"
    "SN_VECTOR_FN sn_masks sn_select(sn_shorts c, sn_masks a, sn_shorts b) { return sn_select_truth(c, a, b); }\n"
    "SN_VECTOR_FN sn_shorts sn_select(sn_shorts c, sn_shorts a, sn_shorts b) { return (c & a) | (~c & b); }\n"
    "SN_VECTOR_FN sn_masks sn_select(sn_masks c, sn_shorts a, sn_shorts b) { return sn_select_truth(c, a, b); }\n"
    "SN_VECTOR_FN sn_masks sn_select(sn_masks c, sn_masks a, sn_shorts b) { return sn_select_truth(c, a, b); }\n"
    "SN_VECTOR_FN sn_masks sn_select(sn_masks c, sn_shorts a, sn_masks b) { return sn_select_truth(c, a, b); }\n"
    "SN_VECTOR_FN sn_floats sn_number(sn_shorts a) { return sn_number(sn_mask_of(a)); }\n"
    "#else\n"
    "SN_VECTOR_FN sn_floats sn_half_of(sn_floats a) { return a; }\n"
    "template <class T> SN_VECTOR_FN sn_floats sn_load_half(const T* from) { return sn_load(from); }\n"
    "#endif\n";

/// Whether operations on 16-bit floats are loops over vectors here, and whether inputs and outputs may have 16 bits.
void cpu_emitter::find_vectors() {
  if (has_loop() || !p_.calls.empty() || has_patterns() || !has_half_vectors()) return;
  const auto is_used = [&](std::size_t k) { return info_[k].where != place::unused; };
  bool any = false;
  for (std::size_t k = 0; k < p_.code.size(); ++k) {
    const instr& i = p_.code[k];
    any = any || (is_used(k) && !is_source(i) && takes_vectors(i) && (has_16_bits(i.type) || has_16_bits(i.arg)));
  }
  vectors_ = any;
  halves_ = any && p_.kind == kernel_kind::elementwise && p_.reductions.empty();
}

/// Whether the instruction, whose operands have their places, is one of the loop over vectors of its stage unless it has one value
/// for all lanes. What is made by the other loop and has 32 bits goes on in that.
bool cpu_emitter::goes_in_vectors(std::size_t k) const {
  const instr& i = p_.code[k];
  if (!vectors_) return false;
  if (is_source(i))
    return halves_ && i.op == opcode::load && has_16_bits(i.type) && !is_gathered(i) && !is_uniform(i.a);
  if (!takes_vectors(i) || is_difference_here(k)) return false;
  if (has_16_bits(i.type) || has_16_bits(i.arg)) return true;
  bool with_lanes = false;
  each_operand(
      k, [&](std::uint16_t o) { with_lanes = with_lanes || (info_[o].where == place::inlined && !info_[o].vector); });
  return !with_lanes;
}

bool cpu_emitter::is_half_load(std::size_t k) const {
  return info_[k].vector && info_[k].where == place::inlined && p_.code[k].op == opcode::load;
}

bool cpu_emitter::is_half_output(std::size_t k) const {
  return halves_ && !writes_reductions() && has_16_bits(p_.code[output_register(k)].type);
}

/// Whether there are both loops.
bool cpu_emitter::has_lanes_and_vectors() const {
  bool lanes = false, vectors = false;
  for (const info& me : info_)
    if (me.where == place::inlined) (me.vector ? vectors : lanes) = true;
  return lanes && vectors;
}

/// Lanes of 32 bits are made 16 bits wide, block by block, so that one text serves both.
std::string cpu_emitter::half_input(std::size_t k) {
  const instr& i = p_.code[k];
  const std::string in = num(i.a), type = half_type(i.type);
  half_inputs_.push_back(i.a);
  return "  SN_ARRAY(" + type + ", half" + in + ", " + num(block_lanes) + ");\n  const " + type + "* __restrict in" +
         in + " = a->halves ? (const " + type + "*)a->inputs[" + in + "] : half" + in + ";\n";
}
std::string cpu_emitter::half_output(std::size_t k) {
  const std::string out = num(k), type = half_type(p_.code[output_register(k)].type);
  half_outputs_.push_back(k);
  return "  SN_ARRAY(" + type + ", made" + out + ", " + num(block_lanes) + ");\n  " + type + "* __restrict out" + out +
         " = a->halves ? (" + type + "*)a->outputs[" + out + "] : made" + out + ";\n";
}
void cpu_emitter::read_wide_inputs() {
  for (const std::size_t k : half_inputs_)
    out_ += "  if (!a->halves) sn_copy(half" + num(k) + ", (const float*)a->inputs[" + num(k) + "] + done, n);\n";
}
/// And goes on to the next block.
void cpu_emitter::write_wide_outputs() {
  for (const std::size_t k : half_outputs_)
    out_ += "  if (!a->halves) sn_copy((float*)a->outputs[" + num(k) + "] + done, made" + num(k) + ", n);\n";
  if (half_inputs_.empty() && half_outputs_.empty()) return;
  out_ += "  if (a->halves) {\n";
  for (const std::size_t k : half_inputs_) out_ += "  in" + num(k) + " += n;\n";
  for (const std::size_t k : half_outputs_) out_ += "  out" + num(k) + " += n;\n";
  out_ += "  }\n";
}
std::string cpu_emitter::uniform_half(const instr& i) const {
  const std::string from = "a->inputs[" + num(i.a) + "]";
  return std::string("a->halves ? sn::") + (i.type == dtype::f16 ? "f16" : "bf16") +
         "_to_float(*(const unsigned short*)" + from + ") : *(const float*)" + from;
}

std::string cpu_emitter::vector_value(std::size_t k, int stage) const {
  const info& o = info_[k];
  const bool half = p_.code[k].type == dtype::f16;
  if (o.where == place::scalar) return (half ? "sn_half_of(sn_all(r" + num(k) + "))" : "sn_all(r" + num(k) + ")");
  if (o.where == place::inlined && o.vector && o.stage == stage) return "r" + num(k);
  return (half ? "sn_load_half(" : "sn_load(") + array(k) + " + l)";
}

std::string cpu_emitter::vector_expression(std::size_t k, int stage) const {
  const instr& i = p_.code[k];
  if (i.op == opcode::load) return (i.type == dtype::f16 ? "sn_load_half(in" : "sn_load(in") + num(i.a) + " + l)";
  std::string operands;
  each_operand(k, [&](std::uint16_t o) { operands += (operands.empty() ? "" : ", ") + vector_value(o, stage); });
  if (i.op == opcode::cast) {
    if (i.type == dtype::b1) return "sn_truth(" + operands + ")";
    if (i.type == i.arg) return operands;
    const std::string number = (i.arg == dtype::b1 ? "sn_number(" : "sn_float_of(") + operands + ")";
    if (i.type == dtype::f16 && i.arg == dtype::b1) return "sn_half_of(" + number + ")";
    const bool keeps = i.arg == dtype::b1 || !has_16_bits(i.type);
    const std::string made = keeps ? number : std::string(rounding(i.type)) + "(" + number + ")";
    return i.type == dtype::f16 ? "sn_half_of(" + made + ")" : made;
  }
  const std::string made = std::string(vector_name(i.op)) + "(" + operands + ")";
  return rounds(i.op) && has_16_bits(i.type) ? std::string(rounding(i.type)) + "(" + made + ")" : made;
}

void cpu_emitter::write_vector_loop(int stage) {
  std::string body;
  for (std::size_t k = 0; k < info_.size(); ++k) {
    const info& me = info_[k];
    if (me.where != place::inlined || me.stage != stage || !me.vector) continue;
    const std::string r = "r" + num(k);
    body += "    const auto " + r + " = " + vector_expression(k, stage) + ";\n";
    if (me.in_array) body += "    sn_store(" + array(k) + " + l, " + r + ");\n";
    for (std::size_t o = 0; o < output_count(); ++o)
      if (output_register(o) == k && is_half_output(o)) body += "    sn_store(out" + num(o) + " + l, " + r + ");\n";
  }
  if (!body.empty()) out_ += "  for (int l = 0; l < n; l += sn_vector) {\n" + body + "  }\n";
}

/// An output of 16 bits that no loop over vectors has stored.
void cpu_emitter::write_half_copy(std::size_t output) {
  const std::uint16_t reg = output_register(output);
  if (info_[reg].where == place::inlined && info_[reg].vector) return;
  out_ += "  for (int l = 0; l < n; l += sn_vector) sn_store(out" + num(output) + " + l, " +
          vector_value(reg, stages_) + ");\n";
}

}  // namespace sinter::jit
