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

/// z = a^(-1/3) by the bits of a as its logarithm, and a step of fourth order; then y = a z^2, and a step from it whose residue is
/// formed without rounding, so that the roots of cubes are exact. The text is of numbers within 2^-900 and 2^900, of float 2^-90 and
/// 2^90, with their sign.
template <class V>
SN_FN V cube_root_step(V a, V z) {
  const V h = sf_fma(-(a * z * z), z, V(1.0));
  return sf_fma(z * h, sf_poly(h, 0.33333333333333333, 0.22222222222222222, 0.17283950617283951, 0.14403292181069959), z);
}
template <class V>
SN_FN V cube_root_of(V a, V z) {
  const V square = z * z, y = a * square, area = y * y;
  const V rest = sf_fma(sf_fma(y, y, -area), y, sf_fma(area, y, -a));
  return sf_fma(rest, square * V(-0.33333333333333333), y);
}
SN_FN twin usual_cbrt(twin x) {
  typedef decltype(sf_bits(x)) word;
  const twin a = sf_abs(x), whole = sf_number((sf_bits(a) >> 12) | word(0x4330000000000000ull)) - twin(0x1p52);
  twin z = sf_number(sf_bits(sf_fma(whole, twin(-0.33333333333333333), twin(double(0x1553ef0ff289ddull)))) << 12);
  z = cube_root_step(a, z);
  z = sf_fma(z * sf_fma(-(a * z * z), z, twin(1.0)), twin(0.33333333333333333), z);
  return sf_copysign(cube_root_of(a, z), x);
}
SN_FN singles usual_cbrt(singles x) {
  typedef decltype(sf_bits(x)) word;
  const singles a = sf_abs(x), whole = sf_number((sf_bits(a) >> 8) | word(0x4b000000u)) - singles(0x1p23);
  const singles z = sf_number(sf_bits(sf_fma(whole, singles(-0.33333333333333333), singles(double(0x800000 + 0x54a1f9)))) << 8);
  return single_copysign(cube_root_of(a, cube_root_step(a, z)), x);
}
/// Numbers beyond are scaled, by powers of eight.
struct cube_scale {
  double range, by, back;
};
constexpr cube_scale scale_of(twin) { return {0x1p900, 0x1p300, 0x1p100}; }
constexpr cube_scale scale_of(singles) { return {0x1p90, 0x1p60, 0x1p20}; }
template <class V>
SN_FN auto is_usual_cbrt(V x) {
  constexpr double most = scale_of(V()).range;
  const V size = sf_abs(x);
  return (size >= V(1 / most)) & (size <= V(most));
}
template <class V>
SN_FN auto is_known_cbrt(V x) {
  return is_usual_cbrt(x) | (x == V(0.0));
}
template <class V>
SN_FN V own_cbrt(V x) {
  constexpr cube_scale how = scale_of(V());
  const V size = sf_abs(x), one(1.0);
  const auto tiny = size < V(1 / how.range), huge = size > V(how.range), plain = (size > V(0.0)) & (size < sf_inf(x));
  const V r = usual_cbrt(sf_if(plain, x, one) * sf_if(tiny, V(how.by), sf_if(huge, V(1 / how.by), one)));
  return sf_if(plain, r * sf_if(tiny, V(1 / how.back), sf_if(huge, V(how.back), one)), x);
}

/// k log10(2) + log10(1 + f) of 2^k (1 + f), whose bits are b, with f / log(10) and the sum as pairs, so that logarithms of powers of
/// ten are whole. The polynomial is that of single_log, from the third term on by even and odd powers, which wait for each other half as long.
/// `less`: by how much k is less, times 2^23.
SN_FN singles log10_of(decltype(sf_bits(singles())) b, singles less) {
  typedef decltype(sf_bits(singles())) word;
  const word power = (b - word(0x3f3504f3u)) & word(0xff800000u);  // k 2^23, with 1 + f from the root of 1/2 on
  const singles k = single_number(power) - less, f = sf_number(b - power) - singles(1.0), z = f * f;
  const singles even = sf_poly(z, -0.2500078124, -0.1662664563, -0.1312755565, -0.07673641502);
  const singles third = sf_fma(sf_poly(z, 0.2000123446, 0.1420485595, 0.1272267279), f, even);
  const singles low = z * sf_fma(sf_fma(third, f, singles(0.3333333003)), f, singles(-0.4999999765));
  // 1 / log(10) and log10(2) in two parts; the first of the latter has few digits, so that its product with k is exact.
  const singles scale(0.4342944920063018798828125), scale_low(-1.01030500522328e-8);
  const singles two(0.301025390625 * 0x1p-23), two_low(4.60503898119521e-6 * 0x1p-23);
  const singles p = f * scale, sum = sf_fma(k, two, p), lost = p - sf_fma(k, -two, sum);
  const singles more = sf_fma(k, two_low, sf_fma(f, scale_low, sf_fma(f, scale, -p)));
  return sum + (lost + sf_fma(low, scale, more));
}
SN_FN singles usual_log10(singles x) { return log10_of(sf_bits(x), singles(0.0)); }
SN_FN auto is_usual_log10(singles x) { return (x >= singles(1.1754943508222875e-38)) & (x < sf_inf(x)); }
SN_FN auto is_known_log10(singles x) { return is_usual_log10(x); }
SN_FN singles own_log10(singles x) {
  const singles none(0.0), one(1.0);
  const auto plain = (x > none) & (x < sf_inf(x)), tiny = plain & (x < singles(1.1754943508222875e-38));
  const singles r = log10_of(sf_bits(sf_if(plain, sf_if(tiny, x * singles(16777216.0), x), one)),
                             sf_if(tiny, singles(24.0 * 8388608.0), none));
  const singles ends = sf_if(x == none, -sf_inf(x), sf_if(x < none, sf_nan(x), x));
  return sf_if(plain, r, ends);
}

}  // namespace
}  // namespace sn

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

struct do_tanh {
  template <class V>
  SN_MEMBER V of(V x) {
    return sn::own_tanh(x);
  }
};
/// Functions with a short text for what is usual, and for what else is known to come out right.
#define SN_OWN(name)                                     \
  struct do_##name {                                     \
    template <class V>                                   \
    SN_MEMBER V of(V x) {                                \
      return sn::own_##name(x);                          \
    }                                                    \
    template <class V>                                   \
    SN_MEMBER V usual(V x) {                             \
      return sn::usual_##name(x);                        \
    }                                                    \
    template <class V>                                   \
    SN_MEMBER auto is_usual(V x) {                       \
      return sn::is_usual_##name(x);                     \
    }                                                    \
    template <class V>                                   \
    SN_MEMBER auto is_known(V x) {                       \
      return sn::is_known_##name(x);                     \
    }                                                    \
  };
SN_OWN(cbrt)
SN_OWN(log10)
#undef SN_OWN
template <class F, class V>
concept has_usual = requires(V x) { F::usual(x); };

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

/// A vector that holds what is not usual.
template <class T, class F>
[[gnu::noinline, gnu::cold]] void rare_lanes(T* lanes) {
  store(lanes, F::of(load(lanes)));
}
template <class F, class T, class V>
SN_FN V found_of(const T*, V x) {
  if constexpr (has_usual<F, V>) {
    if (sf_any(!F::is_usual(x)) && sf_any(!F::is_known(x))) [[unlikely]] {
      alignas(64) T lanes[sizeof(V) / sizeof(T)];
      store(lanes, x);
      rare_lanes<T, F>(lanes);
      return load(lanes);
    }
    return F::usual(x);
  } else {
    return F::of(x);
  }
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
    auto found = found_of<F>(x, load(x + l));
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
