// sn::singles: the vector of floats with which the texts of jit/prelude/special/single.h are instantiated, and its masks. Without
// AVX2 they are instantiated with float. Included by special_lanes.inl.

#if SINTER_ISA_LEVEL > 0
namespace sn {
namespace {

#if SINTER_ISA_LEVEL == 2
#define SN_V(name) _mm512_##name
typedef __m512 float_vector;
typedef __m512i int_vector;
typedef __mmask16 single_bits_of_mask;
#else
#define SN_V(name) _mm256_##name
typedef __m256 float_vector;
typedef __m256i int_vector;
typedef __m256 single_bits_of_mask;
#endif

struct single_mask {
  single_bits_of_mask m;
};
struct single_words {
  int_vector v;
  [[gnu::always_inline]] single_words(int_vector x) : v(x) {}
  [[gnu::always_inline]] explicit single_words(unsigned x) : v(SN_V(set1_epi32)(int(x))) {}
};
struct singles {
  float_vector v;
  static constexpr int count = int(sizeof(v) / sizeof(float));
  singles() = default;
  [[gnu::always_inline]] singles(float_vector x) : v(x) {}
  [[gnu::always_inline]] explicit singles(double x) : v(SN_V(set1_ps)(float(x))) {}
};

SN_FN singles operator+(singles a, singles b) { return SN_V(add_ps)(a.v, b.v); }
SN_FN singles operator-(singles a, singles b) { return SN_V(sub_ps)(a.v, b.v); }
SN_FN singles operator*(singles a, singles b) { return SN_V(mul_ps)(a.v, b.v); }
SN_FN singles operator/(singles a, singles b) { return SN_V(div_ps)(a.v, b.v); }
SN_FN single_words operator+(single_words a, single_words b) { return SN_V(add_epi32)(a.v, b.v); }
SN_FN single_words operator-(single_words a, single_words b) { return SN_V(sub_epi32)(a.v, b.v); }
SN_FN singles load_singles(const float* from) { return SN_V(loadu_ps)(from); }
SN_FN void store_singles(float* to, singles x) { SN_V(storeu_ps)(to, x.v); }
#if SINTER_ISA_LEVEL == 2
#define SN_COMPARE(op, how) \
  SN_FN single_mask operator op(singles a, singles b) { return {_mm512_cmp_ps_mask(a.v, b.v, how)}; }
SN_FN single_words operator<<(single_words a, int n) { return _mm512_maskz_slli_epi32(0xffff, a.v, unsigned(n)); }
SN_FN single_words operator>>(single_words a, int n) { return _mm512_maskz_srli_epi32(0xffff, a.v, unsigned(n)); }
SN_FN singles operator-(singles a) { return -a.v; }
SN_FN single_mask operator&(single_mask a, single_mask b) { return {(__mmask16)(a.m & b.m)}; }
SN_FN single_mask operator|(single_mask a, single_mask b) { return {(__mmask16)(a.m | b.m)}; }
SN_FN single_mask operator!(single_mask a) { return {(__mmask16)(a.m ^ 0xffff)}; }
SN_FN single_words operator&(single_words a, single_words b) { return _mm512_and_si512(a.v, b.v); }
SN_FN single_words operator|(single_words a, single_words b) { return _mm512_or_si512(a.v, b.v); }
SN_FN bool sf_any(single_mask a) { return a.m != 0; }
SN_FN singles sf_if(single_mask m, singles a, singles b) { return _mm512_mask_blend_ps(m.m, b.v, a.v); }
SN_FN singles sf_floor(singles a) { return _mm512_maskz_roundscale_ps(0xffff, a.v, 9); }
SN_FN singles sf_rint(singles a) { return _mm512_maskz_roundscale_ps(0xffff, a.v, 8); }
SN_FN singles sf_sqrt(singles a) { return _mm512_maskz_sqrt_ps(0xffff, a.v); }
SN_FN singles sf_min(singles a, singles b) { return _mm512_maskz_min_ps(0xffff, b.v, a.v); }
SN_FN singles sf_max(singles a, singles b) { return _mm512_maskz_max_ps(0xffff, b.v, a.v); }
SN_FN single_words sf_bits(singles a) { return _mm512_castps_si512(a.v); }
/// The processor takes a hundred cycles for a vector with a subnormal result. Such a one, times 2^126, is below 1: the sum with 1 is
/// rounded where the result is, and the bits beyond those of 1 are the result's.
SN_FN singles single_scale(singles x, singles k) {
  const __mmask16 low = _mm512_cmp_ps_mask(k.v, singles(-125.0).v, _CMP_LT_OQ);
  if (__builtin_expect(low == 0, 1)) return _mm512_maskz_scalef_ps(0xffff, x.v, k.v);
  const singles one(1.0), v = _mm512_maskz_scalef_ps(low, x.v, (k + singles(126.0)).v);
  const single_words sign = sf_bits(v) & _mm512_set1_epi32(int(0x80000000u));
  const singles a = _mm512_castsi512_ps((sf_bits(v) - sign).v);
  const __mmask16 small = __mmask16(low & _mm512_cmp_ps_mask(a.v, one.v, _CMP_LT_OQ));
  const single_words bits = (sf_bits(a + one) - sf_bits(one)) | sign;
  const __m512 others = _mm512_maskz_scalef_ps(__mmask16(~small), x.v, k.v);
  return _mm512_mask_blend_ps(small, others, _mm512_castsi512_ps(bits.v));
}
SN_FN singles sf_number(single_words b) { return _mm512_castsi512_ps(b.v); }
SN_FN singles single_number(single_words b) { return _mm512_maskz_cvtepi32_ps(0xffff, b.v); }  // of signed whole numbers
#else
#define SN_COMPARE(op, how) \
  SN_FN single_mask operator op(singles a, singles b) { return {_mm256_cmp_ps(a.v, b.v, how)}; }
SN_FN single_words operator<<(single_words a, int n) { return _mm256_slli_epi32(a.v, n); }
SN_FN single_words operator>>(single_words a, int n) { return _mm256_srli_epi32(a.v, n); }
SN_FN singles operator-(singles a) { return -a.v; }
SN_FN single_mask operator&(single_mask a, single_mask b) { return {_mm256_and_ps(a.m, b.m)}; }
SN_FN single_mask operator|(single_mask a, single_mask b) { return {_mm256_or_ps(a.m, b.m)}; }
SN_FN single_mask operator!(single_mask a) { return {_mm256_xor_ps(a.m, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))}; }
SN_FN single_words operator&(single_words a, single_words b) { return _mm256_and_si256(a.v, b.v); }
SN_FN single_words operator|(single_words a, single_words b) { return _mm256_or_si256(a.v, b.v); }
SN_FN bool sf_any(single_mask a) { return _mm256_movemask_ps(a.m) != 0; }
SN_FN singles sf_if(single_mask m, singles a, singles b) { return _mm256_blendv_ps(b.v, a.v, m.m); }
SN_FN singles sf_floor(singles a) { return _mm256_round_ps(a.v, 9); }
SN_FN singles sf_rint(singles a) { return _mm256_round_ps(a.v, 8); }
SN_FN singles sf_sqrt(singles a) { return _mm256_sqrt_ps(a.v); }
SN_FN singles sf_min(singles a, singles b) { return _mm256_min_ps(b.v, a.v); }
SN_FN singles sf_max(singles a, singles b) { return _mm256_max_ps(b.v, a.v); }
SN_FN single_words sf_bits(singles a) { return _mm256_castps_si256(a.v); }
SN_FN singles sf_number(single_words b) { return _mm256_castsi256_ps(b.v); }
SN_FN singles single_number(single_words b) { return _mm256_cvtepi32_ps(b.v); }
#endif
SN_COMPARE(<, _CMP_LT_OQ)
SN_COMPARE(<=, _CMP_LE_OQ)
SN_COMPARE(>, _CMP_GT_OQ)
SN_COMPARE(>=, _CMP_GE_OQ)
SN_COMPARE(==, _CMP_EQ_OQ)
#undef SN_COMPARE
SN_FN singles sf_fma(singles a, singles b, singles c) { return SN_V(fmadd_ps)(a.v, b.v, c.v); }
SN_FN singles sf_abs(singles a) { return SN_V(andnot_ps)(SN_V(set1_ps)(-0.0f), a.v); }

}  // namespace
}  // namespace sn
#undef SN_V
#else
namespace sn {
namespace {
typedef float singles;
SN_FN float load_singles(const float* from) { return *from; }
SN_FN void store_singles(float* to, float x) { *to = x; }
}  // namespace
}  // namespace sn
#endif
