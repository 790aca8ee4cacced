// Functions of float and double that take longer in libmvec, or are not exact there where they should be: the hyperbolic tangent, the
// cube root and, of float, the logarithm to base ten; and the moduli of complex numbers of floats. Within 2 ulp, all arguments included;
// what they give for a lane does not depend on its neighbours.
#include "jit/cpu/interpreter/special_lanes.inl"
#include "jit/cpu/interpreter/special_twin.inl"
#include "jit/prelude/special/core.h"
#include "jit/prelude/special/single.h"

namespace sn {
namespace {

/// u / (u + 2) with u = exp(2 |x|) - 1 = 2^k p + (2^k - 1), where p = exp(r) - 1: nothing is lost near 0.
SN_FN twin own_tanh(twin x) {
  const twin y = sf_min(sf_abs(x + x), twin(40.0)), k = sf_halvings(y);
  const twin r = sf_fma(k, twin(-6.93147180369123816490e-01), y), low = k * twin(-1.90821492927058770002e-10), t = r + low;
  const twin p = r + sf_fma(sf_exp_bend(t), t * t, low);
  const twin size = sf_number((sf_bits(k + twin(6755399441055744.0 + 1023)) << 52)), u = sf_fma(size, p, size - twin(1.0));
  return sf_copysign(u / (u + twin(2.0)), x);
}
SN_FN singles own_tanh(singles x) {
  const singles y = sf_min(sf_abs(x + x), singles(20.0)), magic(12582912.0);
  const singles k = sf_fma(y, singles(1.4426950408889634), magic) - magic;
  const singles r = sf_fma(k, singles(-0.693359375), y), low = k * singles(2.1219444005469058e-04), t = r + low;
  const singles bend = sf_poly(t, 0.4999999345, 0.1666652069, 0.04166838736, 0.008368709824, 0.001381461326);
  const singles p = r + sf_fma(bend, t * t, low);
  const singles size = sf_number(sf_bits(k + singles(12582912.0 + 127)) << 23), u = sf_fma(size, p, size - singles(1.0));
  return single_copysign(u / (u + singles(2.0)), x);
}

/// z = a^(-1/3) by the bits of a as its logarithm and two steps of third order; then y = a z^2, and a step from it whose residue is
/// formed without rounding, so that the roots of cubes are exact.
template <class V>
SN_FN V cube_root_step(V a, V z) {
  const V h = sf_fma(-(a * z * z), z, V(1.0));
  return sf_fma(z * h, sf_poly(h, 0.33333333333333333, 0.22222222222222222, 0.17283950617283951), z);
}
template <class V>
SN_FN V cube_root_of(V a, V z) {
  const V y = a * (z * z), square = y * y, rest = sf_fma(square, y, -a) + sf_fma(y, y, -square) * y;
  return sf_fma(rest * V(-0.33333333333333333), z * z, y);
}
SN_FN twin own_cbrt(twin x) {
  typedef decltype(sf_bits(x)) word;
  const twin size = sf_abs(x), one(1.0);
  const auto tiny = size < twin(0x1p-900), huge = size > twin(0x1p900), plain = (size > twin(0.0)) & (size < sf_inf(x));
  const twin a = sf_if(plain, size, one) * sf_if(tiny, twin(0x1p300), sf_if(huge, twin(0x1p-300), one));
  const twin whole = sf_number((sf_bits(a) >> 12) | word(0x4330000000000000ull)) - twin(0x1p52);
  twin z = sf_number(sf_bits(sf_fma(whole, twin(-0.33333333333333333), twin(double(0x1553ef0ff289ddull)))) << 12);
  z = cube_root_step(a, cube_root_step(a, z));
  const twin r = cube_root_of(a, z) * sf_if(tiny, twin(0x1p-100), sf_if(huge, twin(0x1p100), one));
  return sf_if(plain, sf_copysign(r, x), x);
}
SN_FN singles own_cbrt(singles x) {
  typedef decltype(sf_bits(x)) word;
  const singles size = sf_abs(x), one(1.0);
  const auto tiny = size < singles(0x1p-90), huge = size > singles(0x1p90), plain = (size > singles(0.0)) & (size < sf_inf(x));
  const singles a = sf_if(plain, size, one) * sf_if(tiny, singles(0x1p60), sf_if(huge, singles(0x1p-60), one));
  const singles whole = sf_number((sf_bits(a) >> 8) | word(0x4b000000u)) - singles(0x1p23);
  singles z = sf_number(sf_bits(sf_fma(whole, singles(-0.33333333333333333), singles(double(0x800000 + 0x548c39)))) << 8);
  z = cube_root_step(a, cube_root_step(a, z));
  const singles r = cube_root_of(a, z) * sf_if(tiny, singles(0x1p-20), sf_if(huge, singles(0x1p20), one));
  return sf_if(plain, single_copysign(r, x), x);
}

/// k log10(2) + log10(1 + f), with f / log(10) and the sum as pairs, so that logarithms of powers of ten are whole. The polynomial is
/// that of single_log.
SN_FN singles own_log10(singles x) {
  typedef decltype(sf_bits(x)) word;
  const singles none(0.0), one(1.0);
  const auto plain = (x > none) & (x < sf_inf(x)), tiny = x < singles(1.1754943508222875e-38);
  const word b = sf_bits(sf_if(plain, sf_if(tiny, x * singles(16777216.0), x), one));
  const word biased = (b + word(0x004afb0du)) >> 23;
  const singles k = sf_number(biased | word(0x4b000000u)) -
                    sf_if(tiny & plain, singles(8388608.0 + 151), singles(8388608.0 + 127));
  const singles f = sf_number(b - (biased << 23) + word(0x3f800000u)) - one;
  const singles low = f * f * sf_poly(f, -0.4999999765, 0.3333333003, -0.2500078124, 0.2000123446, -0.1662664563,
                                      0.1420485595, -0.1312755565, 0.1272267279, -0.07673641502);
  // 1 / log(10) and log10(2) in two parts; the first of the latter has few digits, so that its product with k is exact.
  const singles scale(0.4342944920063018798828125), scale_low(-1.01030500522328e-8);
  const singles two(0.301025390625), two_low(4.60503898119521e-6);
  const singles p = f * scale, whole = k * two, sum = whole + p, lost = (p - (sum - whole)) + sf_fma(f, scale, -p);
  const singles r = sum + (lost + sf_fma(low, scale, sf_fma(f, scale_low, k * two_low)));
  const singles ends = sf_if(x == none, -sf_inf(x), sf_if(x < none, sf_nan(x), x));
  return sf_if(plain, r, ends);
}

}  // namespace
}  // namespace sn

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

#define SN_OWN(name)                                                       \
  struct do_##name {                                                       \
    template <class V>                                                     \
    [[gnu::always_inline]] static V of(V x) { return sn::own_##name(x); } \
  };
SN_OWN(tanh)
SN_OWN(cbrt)
SN_OWN(log10)
#undef SN_OWN

sn::twin load(const double* from) { return sn::load_twin(from); }
sn::singles load(const float* from) { return sn::load_singles(from); }
void store(double* to, sn::twin x) { sn::store_twin(to, x); }
void store(float* to, sn::singles x) { sn::store_singles(to, x); }

/// To the nearest float16.
SN_FN sn::singles round_to_half(sn::singles x) {
#if SINTER_ISA_LEVEL == 2
  return _mm512_maskz_cvtph_ps(0xffff, _mm512_maskz_cvtps_ph(0xffff, x.v, 0));
#else
  return _mm256_cvtph_ps(_mm256_cvtps_ph(x.v, 0));
#endif
}

template <class T, class F, bool rounds = false>
void own_lanes(void* dst, const void* a, const void*, const void*, int n, int*) {
  constexpr int step = int(sizeof(load(static_cast<const T*>(nullptr))) / sizeof(T));
  auto* r = static_cast<T*>(dst);
  auto* x = static_cast<const T*>(a);
  if (n == 1) {
    alignas(64) T t[step];
    for (int l = 0; l < step; ++l) t[l] = *x;
    own_lanes<T, F, rounds>(t, t, nullptr, nullptr, step, nullptr);
    *r = t[0];
    return;
  }
  for (int l = 0; l < n; l += step) {
    auto found = F::of(load(x + l));
    if constexpr (rounds) found = round_to_half(found);
    store(r + l, found);
  }
}

/// The real and the imaginary parts of a vector's numbers.
SN_FN void take_parts(const float* from, sn::singles& re, sn::singles& im) {
#if SINTER_ISA_LEVEL == 2
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512 low = _mm512_loadu_ps(from), high = _mm512_loadu_ps(from + 16);
  re = _mm512_permutex2var_ps(low, even, high);
  im = _mm512_permutex2var_ps(low, _mm512_or_si512(even, _mm512_set1_epi32(1)), high);
#else
  const __m256 low = _mm256_loadu_ps(from), high = _mm256_loadu_ps(from + 8);
  const __m256 first = _mm256_permute2f128_ps(low, high, 0x20), second = _mm256_permute2f128_ps(low, high, 0x31);
  re = _mm256_shuffle_ps(first, second, 0x88);
  im = _mm256_shuffle_ps(first, second, 0xdd);
#endif
}

/// |x + iy| where nothing of the squares overflows, and little underflows: the root of x^2 + y^2 as a pair. `open`: where the result
/// is so near the middle between two numbers that more digits must tell which it is, or the squares are no such numbers.
SN_FN sn::singles modulus_of(sn::singles x, sn::singles y, decltype(x < y)& open) {
  typedef decltype(sf_bits(x)) word;
  using V = sn::singles;
  const V a = sf_abs(x), b = sf_abs(y), more = sn::sf_max(a, b), less = sn::sf_min(a, b), one(1.0);
  const V p = more * more, q = less * less, s = p + q;
  const V low = (q - (s - p)) + (sf_fma(more, more, -p) + sf_fma(less, less, -q));
  const V r = sf_sqrt(s), rest = sf_fma(-r, r, s) + low, twice = r + r;
  V i = sf_number(word(0x7ef311c7u) - sf_bits(twice));
  i = sf_fma(i, sf_fma(-twice, i, one), i);
  i = sf_fma(i, sf_fma(-twice, i, one), i);
  const V found = sf_fma(rest, i, r), left = sf_fma(rest, i, -(found - r));
  const word bits = sf_bits(found);
  const V half = sf_number(bits & word(0x7f800000u)) * V(0x1p-24), off = sf_abs(sf_abs(left) - half);
  const auto beside = off <= half * V(0x1p-9), at_power = sf_number((bits & word(0x007fffffu)) | word(0x3f800000u)) == one;
  const auto none = (a == V(0.0)) & (b == V(0.0)), usual = (more >= V(0x1p-40)) & (more <= V(0x1p60)) & (less == less) & (a == a) & (b == b);
  const auto unusual = !usual, some = !none, inexact = !(left == V(0.0));
  open = some & (unusual | beside | (at_power & inexact));
  return sf_if(none, more, found);
}
[[gnu::noinline]] float exact_modulus(float x, float y) {
  if (sn::isinf(x) || sn::isinf(y)) return __builtin_inff();
  return float(__builtin_sqrt(double(x) * double(x) + double(y) * double(y)));
}
void own_moduli(void* dst, const void* a, const void*, const void*, int n, int*) {
  constexpr int step = int(sizeof(sn::singles) / sizeof(float));
  auto* r = static_cast<float*>(dst);
  auto* z = static_cast<const float*>(a);
  for (int l = 0; l < n; l += step) {
    sn::singles x, y;
    take_parts(z + 2 * l, x, y);
    auto open = x == x;
    const sn::singles found = modulus_of(x, y, open);
    sn::store_singles(r + l, found);
    if (!sf_any(open)) continue;
    alignas(64) float which[step];
    sn::store_singles(which, sf_if(open, sn::singles(1.0), sn::singles(0.0)));
    for (int k = 0; k < step; ++k)
      if (which[k] != 0) r[l + k] = exact_modulus(z[2 * (l + k)], z[2 * (l + k) + 1]);
  }
}

}  // namespace

block_op own_function_op(opcode op, dtype type, dtype arg) noexcept {
  if (op == opcode::absolute) return arg == dtype::c64 && type == dtype::f32 ? &own_moduli : nullptr;
  if (type != arg) return nullptr;
  switch (op) {
#define SN_OWN(name)                                                                               \
  case opcode::name:                                                                               \
    return type == dtype::f32   ? &own_lanes<float, do_##name>                                     \
           : type == dtype::f16 ? &own_lanes<float, do_##name, true>                               \
           : type == dtype::f64 ? &own_lanes<double, do_##name>                                    \
                                : nullptr;
    SN_OWN(tanh)
    SN_OWN(cbrt)
#undef SN_OWN
    case opcode::log10:
      return type == dtype::f32   ? &own_lanes<float, do_log10>
             : type == dtype::f16 ? &own_lanes<float, do_log10, true>
                                  : nullptr;
    default: return nullptr;
  }
}

}  // namespace sinter::jit::tier0::SINTER_ISA
