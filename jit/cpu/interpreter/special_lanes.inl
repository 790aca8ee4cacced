// sn::lanes: the vector of doubles with which the texts of jit/prelude/special are instantiated, and its masks. Without AVX2
// they are instantiated with double. To be included before those texts; sn::singles, for texts of float32, comes with it.
#include "jit/prelude/base.h"
#include "jit/prelude/float.h"
#include "jit/prelude/special/inlined.h"

// Masks of lanes have no &&, so the texts have none; masks of one number are bool.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"
#endif

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

#if SINTER_ISA_LEVEL == 2
typedef __m512d double_lanes;
typedef __m512i word_lanes;
typedef __mmask8 mask_lanes;
#define SN_V(name) _mm512_##name
#define SN_SQRT(a) _mm512_maskz_sqrt_pd(0xff, a)
#define SN_WORDS(name) _mm512_##name##_epi64
#define SN_SHIFT(name, a, n) _mm512_maskz_##name##_epi64(0xff, a, unsigned(n))
#elif SINTER_ISA_LEVEL == 1
typedef __m256d double_lanes;
typedef __m256i word_lanes;
typedef __m256d mask_lanes;
#define SN_V(name) _mm256_##name
#define SN_SQRT(a) _mm256_sqrt_pd(a)
#define SN_WORDS(name) _mm256_##name##_epi64
#define SN_SHIFT(name, a, n) _mm256_##name##_epi64(a, n)
#endif

}  // namespace
}  // namespace sinter::jit::tier0::SINTER_ISA

#if SINTER_ISA_LEVEL > 0
namespace sn {
namespace {

struct lane_mask {
  sinter::jit::tier0::SINTER_ISA::mask_lanes m;
};
struct lane_words {
  sinter::jit::tier0::SINTER_ISA::word_lanes v;
  [[gnu::always_inline]] lane_words(sinter::jit::tier0::SINTER_ISA::word_lanes x) : v(x) {}
#if SINTER_ISA_LEVEL == 2
  [[gnu::always_inline]] explicit lane_words(unsigned long long x) : v(_mm512_set1_epi64((long long)x)) {}
#else
  [[gnu::always_inline]] explicit lane_words(unsigned long long x) : v(_mm256_set1_epi64x((long long)x)) {}
#endif
};
struct lanes {
  sinter::jit::tier0::SINTER_ISA::double_lanes v;
  static constexpr int count = int(sizeof(v) / sizeof(double));
  lanes() = default;
  [[gnu::always_inline]] lanes(sinter::jit::tier0::SINTER_ISA::double_lanes x) : v(x) {}
  [[gnu::always_inline]] explicit lanes(double x) : v(SN_V(set1_pd)(x)) {}
};

SN_FN lanes operator+(lanes a, lanes b) { return SN_V(add_pd)(a.v, b.v); }
SN_FN lanes operator-(lanes a, lanes b) { return SN_V(sub_pd)(a.v, b.v); }
SN_FN lanes operator*(lanes a, lanes b) { return SN_V(mul_pd)(a.v, b.v); }
SN_FN lanes operator/(lanes a, lanes b) { return SN_V(div_pd)(a.v, b.v); }
SN_FN lanes operator-(lanes a) { return -a.v; }  // not by its bits: compilers put it into a multiply-add
SN_FN lane_words operator+(lane_words a, lane_words b) { return SN_WORDS(add)(a.v, b.v); }
SN_FN lane_words operator-(lane_words a, lane_words b) { return SN_WORDS(sub)(a.v, b.v); }
SN_FN lane_words operator<<(lane_words a, int n) { return SN_SHIFT(slli, a.v, n); }
SN_FN lane_words operator>>(lane_words a, int n) { return SN_SHIFT(srli, a.v, n); }
#if SINTER_ISA_LEVEL == 2
#define SN_COMPARE(op, how) \
  SN_FN lane_mask operator op(lanes a, lanes b) { return {_mm512_cmp_pd_mask(a.v, b.v, how)}; }
SN_FN lane_mask operator&(lane_mask a, lane_mask b) { return {(__mmask8)(a.m & b.m)}; }
SN_FN lane_mask operator|(lane_mask a, lane_mask b) { return {(__mmask8)(a.m | b.m)}; }
SN_FN lane_mask operator!(lane_mask a) { return {(__mmask8)(a.m ^ 0xff)}; }
SN_FN lane_words operator&(lane_words a, lane_words b) { return _mm512_and_si512(a.v, b.v); }
SN_FN lane_words operator|(lane_words a, lane_words b) { return _mm512_or_si512(a.v, b.v); }
SN_FN bool sf_any(lane_mask a) { return a.m != 0; }
SN_FN lanes sf_if(lane_mask m, lanes a, lanes b) { return _mm512_mask_blend_pd(m.m, b.v, a.v); }
SN_FN lanes sf_floor(lanes a) { return _mm512_maskz_roundscale_pd(0xff, a.v, 9); }
SN_FN lanes sf_rint(lanes a) { return _mm512_maskz_roundscale_pd(0xff, a.v, 8); }
SN_FN lanes sf_min(lanes a, lanes b) { return _mm512_maskz_min_pd(0xff, b.v, a.v); }  // the second one beside a NaN
SN_FN lanes sf_max(lanes a, lanes b) { return _mm512_maskz_max_pd(0xff, b.v, a.v); }
SN_FN lane_words sf_bits(lanes a) { return _mm512_castpd_si512(a.v); }
/// As single_scale (special_singles.inl).
SN_FN lanes sf_scale(lanes x, lanes k) {
  const __mmask8 low = _mm512_cmp_pd_mask(k.v, lanes(-1021.0).v, _CMP_LT_OQ);
  if (__builtin_expect(low == 0, 1)) return _mm512_maskz_scalef_pd(0xff, x.v, k.v);
  const lanes one(1.0), v = _mm512_maskz_scalef_pd(low, x.v, (k + lanes(1022.0)).v);
  const lane_words sign = sf_bits(v) & _mm512_set1_epi64((long long)0x8000000000000000ull);
  const lanes a = _mm512_castsi512_pd((sf_bits(v) - sign).v);
  const __mmask8 small = __mmask8(low & _mm512_cmp_pd_mask(a.v, one.v, _CMP_LT_OQ));
  const lane_words bits = (sf_bits(a + one) - sf_bits(one)) | sign;
  const __m512d others = _mm512_maskz_scalef_pd(__mmask8(~small), x.v, k.v);
  return _mm512_mask_blend_pd(small, others, _mm512_castsi512_pd(bits.v));
}
SN_FN lanes sf_number(lane_words b) { return _mm512_castsi512_pd(b.v); }
SN_FN lanes load_lanes(const double* from) { return _mm512_loadu_pd(from); }
SN_FN lanes load_lanes(const float* from) { return _mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(from)); }
SN_FN void store_lanes(double* to, lanes x) { _mm512_storeu_pd(to, x.v); }
SN_FN void store_lanes(float* to, lanes x) { _mm256_storeu_ps(to, _mm512_maskz_cvtpd_ps(0xff, x.v)); }
#else
#define SN_COMPARE(op, how) \
  SN_FN lane_mask operator op(lanes a, lanes b) { return {_mm256_cmp_pd(a.v, b.v, how)}; }
SN_FN lane_mask operator&(lane_mask a, lane_mask b) { return {_mm256_and_pd(a.m, b.m)}; }
SN_FN lane_mask operator|(lane_mask a, lane_mask b) { return {_mm256_or_pd(a.m, b.m)}; }
SN_FN lane_mask operator!(lane_mask a) {
  return {_mm256_xor_pd(a.m, _mm256_castsi256_pd(_mm256_set1_epi64x(-1)))};
}
SN_FN lane_words operator&(lane_words a, lane_words b) { return _mm256_and_si256(a.v, b.v); }
SN_FN lane_words operator|(lane_words a, lane_words b) { return _mm256_or_si256(a.v, b.v); }
SN_FN bool sf_any(lane_mask a) { return _mm256_movemask_pd(a.m) != 0; }
SN_FN lanes sf_if(lane_mask m, lanes a, lanes b) { return _mm256_blendv_pd(b.v, a.v, m.m); }
SN_FN lanes sf_floor(lanes a) { return _mm256_round_pd(a.v, 9); }
SN_FN lanes sf_rint(lanes a) { return _mm256_round_pd(a.v, 8); }
SN_FN lanes sf_min(lanes a, lanes b) { return _mm256_min_pd(b.v, a.v); }  // the second one beside a NaN
SN_FN lanes sf_max(lanes a, lanes b) { return _mm256_max_pd(b.v, a.v); }
SN_FN lane_words sf_bits(lanes a) { return _mm256_castpd_si256(a.v); }
SN_FN lanes sf_number(lane_words b) { return _mm256_castsi256_pd(b.v); }
SN_FN lanes load_lanes(const double* from) { return _mm256_loadu_pd(from); }
SN_FN lanes load_lanes(const float* from) { return _mm256_cvtps_pd(_mm_loadu_ps(from)); }
SN_FN void store_lanes(double* to, lanes x) { _mm256_storeu_pd(to, x.v); }
SN_FN void store_lanes(float* to, lanes x) { _mm_storeu_ps(to, _mm256_cvtpd_ps(x.v)); }
#endif
SN_COMPARE(<, _CMP_LT_OQ)
SN_COMPARE(<=, _CMP_LE_OQ)
SN_COMPARE(>, _CMP_GT_OQ)
SN_COMPARE(>=, _CMP_GE_OQ)
SN_COMPARE(==, _CMP_EQ_OQ)
SN_COMPARE(!=, _CMP_NEQ_UQ)
#undef SN_COMPARE
SN_FN lanes sf_fma(lanes a, lanes b, lanes c) { return SN_V(fmadd_pd)(a.v, b.v, c.v); }
SN_FN lanes sf_abs(lanes a) { return SN_V(andnot_pd)(SN_V(set1_pd)(-0.0), a.v); }
SN_FN lanes sf_sqrt(lanes a) { return SN_SQRT(a.v); }
SN_FN double sf_most(lanes a) {
  double x[lanes::count], most;
  store_lanes(x, a);
  most = x[0];
  for (double v : x) most = v > most ? v : most;
  return most;
}
// The C library's, one by one.
SN_FN lanes sf_library_sin(lanes a) {
  double x[lanes::count];
  store_lanes(x, a);
  for (double& v : x) v = __builtin_sin(v);
  return load_lanes(x);
}
SN_FN lanes sf_library_cos(lanes a) {
  double x[lanes::count];
  store_lanes(x, a);
  for (double& v : x) v = __builtin_cos(v);
  return load_lanes(x);
}

}  // namespace
}  // namespace sn
#undef SN_V
#undef SN_SQRT
#undef SN_WORDS
#undef SN_SHIFT
#else
namespace sn {
namespace {
typedef double lanes;
SN_FN double load_lanes(const double* from) { return *from; }
SN_FN double load_lanes(const float* from) { return double(*from); }
SN_FN void store_lanes(double* to, double x) { *to = x; }
SN_FN void store_lanes(float* to, double x) { *to = float(x); }
}  // namespace
}  // namespace sn
#endif
#include "jit/cpu/interpreter/special_singles.inl"
