// sinter prelude, special functions: what their texts are written with. A text is a function template over V, which is
// double in kernels of a GPU and sn::lanes (jit/cpu/interpreter/special_lanes.inl), several doubles, in the block operations.
// Conditions are masks: sf_if(m, a, b) selects, `if (sf_any(m))` skips what no element needs (on a GPU an ordinary branch),
// `&`, `|` and `!` join. Whatever such a branch computes is selected afterwards, so an element never depends on its neighbours.
// Only IEEE operations and explicit fused multiply-adds (but for sines of huge arguments): the bits are those of every device.
namespace sn {

SN_FN bool sf_any(bool m) { return m; }
SN_FN double sf_most(double a) { return a; }  // the largest of all elements, none of which is NaN
SN_FN double sf_if(bool m, double a, double b) { return m ? a : b; }
SN_FN unsigned long long sf_if(bool m, unsigned long long a, unsigned long long b) { return m ? a : b; }
SN_FN double sf_fma(double a, double b, double c) { return SN_LIBM(fma)(a, b, c); }
SN_FN double sf_abs(double a) { return SN_LIBM(fabs)(a); }
SN_FN double sf_sqrt(double a) { return SN_LIBM(sqrt)(a); }
SN_FN double sf_floor(double a) { return SN_LIBM(floor)(a); }
SN_FN double sf_rint(double a) { return SN_LIBM(rint)(a); }
SN_FN double sf_library_sin(double a) { return SN_LIBM(sin)(a); }
SN_FN double sf_library_cos(double a) { return SN_LIBM(cos)(a); }
SN_FN unsigned long long sf_bits(double a) { return to_bits(a); }
SN_FN double sf_number(unsigned long long b) { return from_bits(b); }

// Of float32, for the functions that are computed in it (single.h).
SN_FN float sf_if(bool m, float a, float b) { return m ? a : b; }
SN_FN float sf_fma(float a, float b, float c) { return SN_LIBM(fmaf)(a, b, c); }
SN_FN float sf_abs(float a) { return SN_LIBM(fabsf)(a); }
SN_FN float sf_sqrt(float a) { return SN_LIBM(sqrtf)(a); }
SN_FN float sf_floor(float a) { return SN_LIBM(floorf)(a); }
SN_FN float sf_rint(float a) { return SN_LIBM(rintf)(a); }
SN_FN unsigned sf_bits(float a) { return to_bits(a); }
SN_FN float sf_number(unsigned b) { return from_bits(b); }

// The functions that kernels call. `text` takes and gives doubles; float is computed in double and rounded once, or by a text of
// its own (SN_SPECIAL_SINGLE, single.h). The long ones are called in kernels and not repeated for every element of unrolled code,
// which would be most of the time of a compilation.
#define SN_SPECIAL_1(name, text) \
  SN_FN double name(double x) { return text(x); } \
  SN_FN float name(float x) { return float(text(double(x))); }
#define SN_SPECIAL_2(name, text) \
  SN_FN double name(double x, double y) { return text(x, y); } \
  SN_FN float name(float x, float y) { return float(text(double(x), double(y))); }
#define SN_SPECIAL_SINGLE(name, text, single) \
  SN_FN double name(double x) { return text(x); } \
  SN_FN float name(float x) { return single(x); }
#ifdef __CUDACC__
#define SN_CALLED static __device__ __noinline__
#else
#define SN_CALLED SN_FN
#endif
#define SN_SPECIAL_CALLED_1(name, text) \
  SN_CALLED double name(double x) { return text(x); } \
  SN_FN float name(float x) { return float(name(double(x))); }
#define SN_SPECIAL_CALLED_SINGLE(name, text, single) \
  SN_CALLED double name(double x) { return text(x); } \
  SN_CALLED float name(float x) { return single(x); }
#define SN_SPECIAL_CALLED_DOUBLE(name, text, single) \
  SN_CALLED double name(double x) { return text(x); } \
  SN_FN float name(float x) { return single(x); }
#define SN_SPECIAL_CALLED_2(name, text) \
  SN_CALLED double name(double x, double y) { return text(x, y); } \
  SN_FN float name(float x, float y) { return float(name(double(x), double(y))); }
#define SN_SPECIAL_CALLED_3(name, text) \
  SN_CALLED double name(double x, double y, double z) { return text(x, y, z); } \
  SN_FN float name(float x, float y, float z) { return float(name(double(x), double(y), double(z))); }
#define SN_SPECIAL_CALLED_BRIEF_3(name, text, brief) \
  SN_CALLED double name(double x, double y, double z) { return text(x, y, z); } \
  SN_CALLED float name(float x, float y, float z) { return float(brief(double(x), double(y), double(z))); }
// What several functions share and is too long to be repeated in each.
#ifdef __CUDACC__
#define SN_SHARED static __device__ __noinline__
#else
#define SN_SHARED static __attribute__((noinline))
#endif

// Before loops of many steps, most of which divide: code is not repeated for several steps.
#ifdef __CUDACC__
#define SN_ROLLED _Pragma("unroll 1")
#else
#define SN_ROLLED
#endif
// Horner's rule; the coefficients from the lowest.
template <class V> SN_FN V sf_poly(V, double c) { return V(c); }
template <class V, class... C> SN_FN V sf_poly(V x, double c0, C... c) { return sf_fma(sf_poly(x, c...), x, V(c0)); }

template <class V> SN_FN V sf_nan(V) { return V(not_a_number(0.0)); }
template <class V> SN_FN V sf_inf(V) { return V(infinity(0.0)); }
template <class V> SN_FN V sf_copysign(V x, V sign) {
  typedef decltype(sf_bits(V())) word;
  const word high(0x8000000000000000ull), low(0x7fffffffffffffffull);
  return sf_number((sf_bits(x) & low) | (sf_bits(sign) & high));
}
template <class V> SN_FN V sf_min(V a, V b) { return sf_if(b < a, b, a); }
template <class V> SN_FN V sf_max(V a, V b) { return sf_if(b > a, b, a); }

template <class V> SN_FN V sf_trunc(V a) { return sf_copysign(sf_floor(sf_abs(a)), a); }

// A number as an unevaluated sum (T. J. Dekker 1971; D. E. Knuth, The Art of Computer Programming 2, 4.2.2).
template <class V> struct sf_pair {
  V hi, lo;
};
template <class V> SN_FN sf_pair<V> sf_sum(V a, V b) {
  const V s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
template <class V> SN_FN sf_pair<V> sf_sum_ordered(V a, V b) {  // |a| >= |b|
  const V s = a + b;
  return {s, b - (s - a)};
}
template <class V> SN_FN sf_pair<V> sf_product(V a, V b) {
  const V p = a * b;
  return {p, sf_fma(a, b, -p)};
}
template <class V> SN_FN sf_pair<V> sf_times(sf_pair<V> a, V b) {
  const sf_pair<V> p = sf_product(a.hi, b);
  return sf_sum_ordered(p.hi, sf_fma(a.lo, b, p.lo));
}
template <class V> SN_FN sf_pair<V> sf_plus(sf_pair<V> a, V b) {
  const sf_pair<V> s = sf_sum(a.hi, b);
  return sf_sum_ordered(s.hi, s.lo + a.lo);
}
template <class V> SN_FN sf_pair<V> sf_minus(sf_pair<V> a) { return {-a.hi, -a.lo}; }
template <class V> SN_FN sf_pair<V> sf_plus(sf_pair<V> a, sf_pair<V> b) {
  const sf_pair<V> s = sf_sum(a.hi, b.hi);
  return sf_sum_ordered(s.hi, s.lo + (a.lo + b.lo));
}
template <class V> SN_FN sf_pair<V> sf_times(sf_pair<V> a, sf_pair<V> b) {
  const sf_pair<V> p = sf_product(a.hi, b.hi);
  return sf_sum_ordered(p.hi, sf_fma(a.hi, b.lo, sf_fma(a.lo, b.hi, p.lo)));
}
template <class V> SN_FN sf_pair<V> sf_over(sf_pair<V> a, sf_pair<V> b) {
  const V q = a.hi / b.hi;
  return sf_sum_ordered(q, (sf_fma(-q, b.hi, a.hi) + sf_fma(-q, b.lo, a.lo)) / b.hi);
}
template <class V, class M> SN_FN sf_pair<V> sf_pair_if(M m, sf_pair<V> a, sf_pair<V> b) {
  return {sf_if(m, a.hi, b.hi), sf_if(m, a.lo, b.lo)};
}

/// 2^k x for whole k from -2000 to 2000, in two steps so that subnormal results are rounded once. sn::lanes with an instruction for
/// it have an overload.
template <class V> SN_FN V sf_scale(V x, V k) {
  typedef decltype(sf_bits(V())) word;
  const V magic(6755399441055744.0);  // 1.5 * 2^52: the low bits of the sum are those of the nearest whole number
  const V half = sf_fma(k, V(0.5), magic);
  const word a = (sf_bits(half) << 52) + word(0x3ff0000000000000ull);
  const word b = (sf_bits(k - (half - magic) + magic) << 52) + word(0x3ff0000000000000ull);
  return x * sf_number(a) * sf_number(b);
}
/// x / log(2) to the nearest whole number, for |x| up to 10^9.
template <class V> SN_FN V sf_halvings(V x) {
  const V magic(6755399441055744.0);
  return sf_fma(x, V(1.4426950408889634), magic) - magic;
}
/// (exp(t) - 1 - t) / t^2 for |t| up to log(2) / 2: the polynomial whose error, times t^2 exp(-t), is least, 2^-57.9.
template <class V> SN_FN V sf_exp_bend(V t) {
  return sf_poly(t, 0.5000000000000011, 0.16666666666666413, 0.041666666666530267, 0.008333333333494333, 0.0013888888943597712,
      0.000198412695067797, 2.480149313617713e-05, 2.7557586266352904e-06, 2.7630233921403974e-07, 2.500007231543857e-08);
}
/// exp(hi + lo) for |lo| below an ulp of hi.
template <class V> SN_PIECE V sf_exp(V hi, V lo) {
  const V x = sf_min(sf_max(hi, V(-780.0)), V(780.0));
  const V k = sf_halvings(x);
  const V r = sf_fma(k, V(-6.93147180369123816490e-01), x);
  const V low = sf_fma(k, V(-1.90821492927058770002e-10), lo), t = r + low;
  return sf_scale(V(1.0) + (r + sf_fma(sf_exp_bend(t), t * t, low)), k);
}
template <class V> SN_FN V sf_exp(V x) { return sf_exp(x, V(0.0)); }

/// k and m - 1 with x = 2^k m and m in [sqrt(1/2), sqrt(2)) for x > 0.
template <class V> SN_FN sf_pair<V> sf_log_parts(V x) {
  typedef decltype(sf_bits(V())) word;
  const auto tiny = x < V(2.2250738585072014e-308);
  const word b = sf_bits(sf_if(tiny, x * V(18014398509481984.0), x));
  // u has the exponent of 2^k
  const word u = b + word(0x00095f619980c433ull);
  const word biased = u >> 52;
  const V k = sf_number(biased | word(0x4330000000000000ull)) - sf_if(tiny, V(4503599627370496.0 + 1077),
      V(4503599627370496.0 + 1023));
  return {k, sf_number(b - (biased << 52) + word(0x3ff0000000000000ull)) - V(1.0)};
}
/// (log(1 + f) - 2 s) / (s z) with s = f / (2 + f) and z = s^2 (M. Abramowitz, I. A. Stegun 4.1.27).
template <class V> SN_FN V sf_log_bend(V z) {
  return sf_poly(z, 0.6666666666666666, 0.3999999999999999, 0.2857142857143538, 0.22222222219852464, 0.1818181859457047,
      0.15384575060560599, 0.13335641774000268, 0.1168805409426866, 0.11882627381096524);
}
/// The logarithm of x > 0 within 2 units in the last place; of 0, infinity, NaN and negative numbers something.
template <class V> SN_PIECE V sf_log_near(V x) {
  const sf_pair<V> parts = sf_log_parts(x);
  const V k = parts.hi, s = parts.lo / (parts.lo + V(2.0)), z = s * s;
  const V low = sf_fma(k, V(1.90821492927058770002e-10), s * z * sf_log_bend(z));
  return sf_fma(k, V(6.93147180369123816490e-01), (s + s) + low);
}
/// The logarithm of x > 0 as a pair, to about 2^-64; of 0, infinity, NaN and negative numbers something.
template <class V> SN_PIECE sf_pair<V> sf_log_pair(V x) {
  const sf_pair<V> parts = sf_log_parts(x);
  const V k = parts.hi, f = parts.lo, d = f + V(2.0), d_low = f - (d - V(2.0));
  const V inverse = V(1.0) / d, s = f * inverse;
  const V s_low = sf_fma(-s, d_low, sf_fma(-s, d, f)) * inverse;
  const V z = s * s;
  const V low = sf_fma(k, V(1.90821492927058770002e-10), sf_fma(s * z, sf_log_bend(z), s_low + s_low));
  const sf_pair<V> sum = sf_sum(k * V(6.93147180369123816490e-01), s + s);
  return sf_sum_ordered(sum.hi, sum.lo + low);
}
/// log(x) with the special values of C's log.
template <class V> SN_PIECE V sf_log(V x) {
  const sf_pair<V> p = sf_log_pair(x);
  V r = sf_if(x < sf_inf(x), p.hi, x);
  r = sf_if(x == V(0.0), -sf_inf(x), r);
  return sf_if(x < V(0.0), sf_nan(x), r);
}
/// log(1 + x) as a pair, for x > -1; log1p(x) with the special values of C's log1p.
template <class V> SN_PIECE sf_pair<V> sf_log1p_pair(V x) {
  const sf_pair<V> u = sf_sum(V(1.0), x);
  const sf_pair<V> p = sf_log_pair(u.hi);
  return sf_sum_ordered(p.hi, p.lo + u.lo / u.hi);
}
template <class V> SN_PIECE V sf_log1p(V x) {
  const sf_pair<V> p = sf_log1p_pair(x);
  const auto large = !(x < V(9007199254740992.0));
  V r = p.hi;
  if (sf_any(large)) r = sf_if(large, sf_log(x), r);
  r = sf_if(sf_abs(x) < V(1e-300), x, r);
  r = sf_if(x == V(-1.0), -sf_inf(x), r);
  return sf_if(x < V(-1.0), sf_nan(x), r);
}
/// The logarithm of a pair above 0, and of 1 + x for a pair above -1; of the latter to about 2^-56 of itself near 0.
template <class V> SN_PIECE sf_pair<V> sf_log_pair(sf_pair<V> x) {
  const sf_pair<V> l = sf_log_pair(x.hi);
  return sf_sum_ordered(l.hi, l.lo + x.lo / x.hi);
}
template <class V> SN_PIECE sf_pair<V> sf_log1p_pair(sf_pair<V> x) {
  const sf_pair<V> u = sf_sum(V(1.0), x.hi), l = sf_log_pair(u.hi);
  const sf_pair<V> s = sf_sum(l.hi, (u.lo + x.lo) / u.hi);
  const sf_pair<V> tiny = {x.hi, sf_fma(x.hi * x.hi, sf_fma(x.hi, V(0.3333333333333333), V(-0.5)), x.lo)};
  return sf_pair_if(sf_abs(x.hi) < V(1e-9), tiny, {s.hi, s.lo + l.lo});
}
/// exp(x) - 1: by the exponential's own reduction, whose 1 is subtracted before rounding.
template <class V> SN_PIECE V sf_expm1(V hi) {
  const V x = sf_min(sf_max(hi, V(-60.0)), V(780.0));
  const V k = sf_halvings(x);
  const V r = sf_fma(k, V(-6.93147180369123816490e-01), x);
  const V low = k * V(-1.90821492927058770002e-10), t = r + low;
  const V tail = sf_fma(sf_exp_bend(t), t * t, low);  // exp(t) - 1 = r + tail
  const V one = sf_scale(V(1.0), k);
  const sf_pair<V> sum = sf_sum(one - V(1.0), one * r);
  const V small = sum.hi + (sum.lo + one * tail);
  const V large = sf_scale(V(1.0) + (r + tail), k);  // where 2^k alone would overflow, or 1 does not matter
  return sf_if(sf_abs(x) < V(1e-300), hi, sf_if(x > V(60.0), large, small));
}

}  // namespace sn
