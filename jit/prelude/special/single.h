// sinter prelude, special functions: those of float32 that are computed in float32. Texts over V as in core.h, where V is float or
// sn::singles (jit/cpu/interpreter/special_singles.inl). A polynomial of 5 to 11 terms serves where float64 takes 20, and where
// rounding errors would add up, pairs of float32 do what they do there.
// The polynomials are interpolations at Chebyshev's points in 40 digits of what the comments name.
namespace sn {

template <class V> SN_FN V single_copysign(V x, V sign) {
  typedef decltype(sf_bits(V())) word;
  const word high(0x80000000u), low(0x7fffffffu);
  return sf_number((sf_bits(x) & low) | (sf_bits(sign) & high));
}

/// 2^k x for whole k from -250 to 250, in two steps so that subnormal results are rounded once; as sf_scale.
template <class V> SN_FN V single_scale(V x, V k) {
  typedef decltype(sf_bits(V())) word;
  const V magic(12582912.0);  // 1.5 * 2^23: the low bits of the sum are those of the nearest whole number
  const V half = sf_fma(k, V(0.5), magic);
  const word a = (sf_bits(half) << 23) + word(0x3f800000u);
  const word b = (sf_bits(k - (half - magic) + magic) << 23) + word(0x3f800000u);
  return x * sf_number(a) * sf_number(b);
}
/// factor exp(hi + lo) for |lo| below an ulp of hi, which overflows and underflows only where the product does. The polynomial is
/// that of sf_exp_bend with an error of 2^-28.3.
template <class V> SN_FN V single_exp(V hi, V lo, V factor) {
  const V x = sf_min(sf_max(hi, V(-120.0)), V(100.0)), magic(12582912.0);
  const V k = sf_fma(x, V(1.4426950408889634), magic) - magic;
  const V r = sf_fma(k, V(-0.693359375), x);
  const V low = sf_fma(k, V(2.1219444005469058e-04), lo), t = r + low;
  const V p = sf_poly(t, 0.4999999345, 0.1666652069, 0.04166838736, 0.008368709824, 0.001381461326);
  return single_scale((V(1.0) + (r + sf_fma(p, t * t, low))) * factor, k);
}
template <class V> SN_FN V single_exp(V x) { return single_exp(x, V(0.0), V(1.0)); }
/// The logarithm of x > 0 as a pair, to about 2^-30; of 0, infinity, NaN and negative numbers something.
template <class V> SN_FN sf_pair<V> single_log_pair(V x) {
  typedef decltype(sf_bits(V())) word;
  const auto tiny = x < V(1.1754943508222875e-38);
  const word b = sf_bits(sf_if(tiny, x * V(16777216.0), x));
  // u has the exponent of 2^k where x = 2^k m and m is in [sqrt(1/2), sqrt(2))
  const word u = b + word(0x004afb0du), biased = u >> 23;
  const V k = sf_number(biased | word(0x4b000000u)) - sf_if(tiny, V(8388608.0 + 151), V(8388608.0 + 127));
  const V m = sf_number(b - (biased << 23) + word(0x3f800000u));
  // log m = 2 artanh(f / (2 + f)) with f = m - 1
  const V f = m - V(1.0), d = f + V(2.0), d_low = f - (d - V(2.0));
  const V inverse = V(1.0) / d, s = f * inverse;
  const V s_low = sf_fma(-s, d_low, sf_fma(-s, d, f)) * inverse;
  const V z = s * s;
  const V p = sf_poly(z, 0.6666666655, 0.4000012943, 0.2854996859, 0.233534276);
  const V low = sf_fma(k, V(-2.1219444005469058e-04), sf_fma(s * z, p, s_low + s_low));
  const sf_pair<V> sum = sf_sum(k * V(0.693359375), s + s);
  return sf_sum_ordered(sum.hi, sum.lo + low);
}

/// log(x) - less for x > 0, where `less` is 0 or 1, to an ulp; of 0, infinity, NaN and negative numbers something. The
/// polynomial is (log(1 + f) - f) / f^2: there is no division.
template <class V> SN_FN V single_log(V x, V less) {
  typedef decltype(sf_bits(V())) word;
  const auto tiny = x < V(1.1754943508222875e-38);
  const word b = sf_bits(sf_if(tiny, x * V(16777216.0), x));
  const word u = b + word(0x004afb0du), biased = u >> 23;  // as in single_log_pair
  const V k = sf_number(biased | word(0x4b000000u)) - sf_if(tiny, V(8388608.0 + 151), V(8388608.0 + 127));
  const V f = sf_number(b - (biased << 23) + word(0x3f800000u)) - V(1.0);
  const V p = sf_poly(f, -0.4999999765, 0.3333333003, -0.2500078124, 0.2000123446, -0.1662664563, 0.1420485595,
      -0.1312755565, 0.1272267279, -0.07673641502);
  const V low = sf_fma(f * f, p, k * V(-2.1219444005469058e-04));
  return sf_fma(k, V(0.693359375), -less) + (f + low);
}
template <class V> SN_FN V single_log(V x) { return single_log(x, V(0.0)); }

// ---- the error function

/// erf(x) for |x| <= 1.
template <class V> SN_FN V single_erf_small(V x) {
  return sf_fma(x, sf_poly(x * x, 0.1283791671, -0.3761263847, 0.112837825, -0.02686543073, 0.005221031808,
      -0.0008484080406, 0.0001126595903, -9.667044571e-06), x);
}
/// erfcx(x) for x >= 1/2: (1 + 2 x) erfcx(x) as a polynomial in (x - 2) / (x + 2).
template <class V> SN_FN V single_erfcx_large(V x) {
  const V t = (x - V(2.0)) / (x + V(2.0));
  const V p = sf_poly(t, 1.276978382, -0.09276381765, -0.1660303379, 0.1640508566, -0.05422221601, -0.008028145037,
      0.008742711619, 0.001233554301, -0.001522902898, -0.0003362925502, 0.0002773813823);
  return p / sf_fma(V(2.0), x, V(1.0));
}
/// times exp(-factor x^2).
template <class V> SN_FN V single_exp_minus_square(V x, double factor, V times) {
  const sf_pair<V> s = sf_product(x, x);
  return single_exp(V(-factor) * s.hi, V(-factor) * s.lo, times);
}
template <class V> SN_FN V single_erf(V x) {
  const V a = sf_abs(x);
  V r = single_erf_small(sf_min(a, V(1.0)));
  const auto outer = a >= V(1.0);
  if (sf_any(outer)) {
    const V most = sf_max(sf_min(a, V(5.0)), V(1.0));
    r = sf_if(outer, V(1.0) - single_exp_minus_square(most, 1.0, single_erfcx_large(most)), r);
  }
  return sf_if(x == x, single_copysign(r, x), x);
}
template <class V> SN_FN V single_erfc(V x) {
  const V a = sf_abs(x);
  V r = V(1.0) - single_copysign(single_erf_small(sf_min(a, V(0.5))), x);
  const auto outer = a >= V(0.5);
  if (sf_any(outer)) {
    const V least = sf_min(sf_max(a, V(0.5)), V(12.0));
    const V tail = single_exp_minus_square(least, 1.0, single_erfcx_large(least));
    r = sf_if(outer, sf_if(x < V(0.0), V(2.0) - tail, tail), r);
  }
  return sf_if(x == x, r, x);
}
/// Near 0 x times a polynomial in x^2; else with x / sqrt(2) rounded, where that matters little, and exp(-x^2 / 2) of x itself.
template <class V> SN_FN V single_ndtr(V x) {
  const V a = sf_min(sf_abs(x), V(16.0)), y = a * V(0.70710678118654752440), least = sf_max(y, V(0.5));
  const V tail = single_exp_minus_square(sf_max(a, V(0.70710678118654752440)), 0.5, V(0.5) * single_erfcx_large(least));
  const V outer = sf_if(x < V(0.0), tail, V(1.0) - tail);
  const V inner = sf_poly(x * x, 0.3989422798, -0.06649032296, 0.009972657804, -0.001182349679, 0.0001040675369);
  const V r = sf_if(y < V(0.5), sf_fma(x, inner, V(0.5)), outer);
  return sf_if(x == x, r, x);
}
/// The y with erf(y) = x from w = -log(1 - x^2), as sf_erfinv_core.
template <class V> SN_FN V single_erfinv_core(V x, V w) {
  const V t = sf_fma(w, V(0.32), V(-1.0));
  V r = x * sf_poly(t, 1.653654563, 0.7504943166, -0.05892268704, -0.0226043307, 0.01781076452, -0.00413865438, -0.001285201203,
      0.001238841769, -0.0002333115548, -0.0001309571902, 6.202754515e-05);
  const auto outer = w > V(6.25);
  if (sf_any(outer)) {
    const V s = sf_sqrt(sf_max(w, V(6.25))), i = V(1.0) / s;
    const V near = sf_fma(i, V(11.242270938729623), V(-3.4980326025857223));
    const V far = sf_fma(i, V(15.835312747426762), V(-2.520190023752970));
    const V mid = sf_poly(near, 0.9482411563, -0.01627150897, 0.001293415537, 0.000250996223, -5.046025215e-05,
        -2.187469996e-06, -1.063474108e-06, 5.614589621e-07, 1.326404509e-07);
    const V most = sf_poly(far, 0.97813219, -0.01237856992, -0.0004947084707, 0.000251133515, -2.821787504e-05,
        4.248811113e-06, -8.882890942e-07);
    r = sf_if(outer, single_copysign(s * sf_if(s > V(4.5), most, mid), x), r);
  }
  return r;
}
template <class V> SN_FN V single_erfinv(V x) {
  const V a = sf_abs(x), p = (V(1.0) - a) * (V(1.0) + a);
  V r = single_erfinv_core(x, -single_log(p));
  r = sf_if(a == V(1.0), single_copysign(sf_inf(x), x), r);
  return sf_if(a <= V(1.0), r, sf_nan(x));
}
/// The inverse of erfc at q in (0, 2).
template <class V> SN_FN V single_erfcinv_of(V q) {
  const V p = sf_min(q, V(2.0) - q);
  return single_erfinv_core(V(1.0) - q, -single_log(p * (V(2.0) - p)));
}
template <class V> SN_FN V single_erfcinv(V q) {
  V r = single_erfcinv_of(q);
  r = sf_if(q == V(0.0), sf_inf(q), sf_if(q == V(2.0), -sf_inf(q), r));
  return sf_if((q >= V(0.0)) & (q <= V(2.0)), r, sf_nan(q));
}
template <class V> SN_FN V single_ndtri(V p) {
  V r = V(-1.41421356237309504880) * single_erfcinv_of(p + p);
  r = sf_if(p == V(0.0), -sf_inf(p), sf_if(p == V(1.0), sf_inf(p), r));
  return sf_if((p >= V(0.0)) & (p <= V(1.0)), r, sf_nan(p));
}

// ---- the gamma function

/// log gamma(x) without its Stirling terms for x >= 3.
template <class V> SN_FN V single_stirling_rest(V x) {
  const V i = V(1.0) / x;
  return i * sf_poly(i * i, 0.08333331256, -0.002774386724, 0.0007085910531);
}
/// log gamma(x) for x >= 0: on [1, 3) a polynomial times (x - 1) (x - 2), below by the recurrence, from 3 on
/// (x - 1/2) (log x - 1) + (log(2 pi) - 1) / 2 + the rest.
template <class V> SN_FN V single_gammaln_positive(V x) {
  const auto low = x < V(1.0), large = x >= V(3.0);
  const V y = sf_if(low, x, x - V(1.0)), t = y - V(1.0);
  const V c = y * t * sf_poly(t, 0.4227843351, -0.1003172746, 0.03296498784, -0.01238494322, 0.004998996089,
      -0.002102242432, 0.0009125944839, -0.000425154131, 0.0001917396867, -5.283973561e-05, 2.388160727e-05,
      -3.858047519e-05, 1.80915131e-05);
  const V l = single_log(x, sf_if(large, V(1.0), V(0.0)));
  V r = sf_if(low, c - l, c + V(0.0));  // 0 at 1, not -0
  if (sf_any(large)) {
    const V most = sf_fma(x - V(0.5), l, V(0.41893853320467274178) + single_stirling_rest(x));
    r = sf_if(large, most, r);
  }
  return r;
}
/// sin(pi x) but for its sign.
template <class V> SN_FN V single_sinpi_size(V x) {
  const V a = sf_abs(x - sf_rint(x)), b = V(0.5) - a;
  const V sine = a * sf_poly(a * a, 3.141592644, -5.167707821, 2.549766965, -0.5890750992);
  const V cosine = sf_poly(b * b, 1.0, -4.934802163, 4.058707258, -1.335044448, 0.231328785);
  return sf_if(a > V(0.25), cosine, sine);
}
/// Below 0: log(pi) - log|x sin(pi x)| - log gamma(-x) as pairs, since the sum has zeros.
template <class V> SN_SHARED V single_gammaln_negative(V x) {
  const V a = sf_abs(x), w = sf_min(sf_max(a, V(3.0)), V(8388608.0)), small = single_gammaln_positive(sf_min(a, V(3.0)));
  const sf_pair<V> p = sf_plus(sf_plus(sf_times(single_log_pair(w), w - V(0.5)), -w), V(0.91893851757049560547));
  const sf_pair<V> most = {p.hi, p.lo + (single_stirling_rest(w) + V(1.5634177e-08))};
  const sf_pair<V> near = {small, V(0.0)}, r = sf_pair_if(a >= V(3.0), most, near);
  const V least = sf_max(sf_min(a, V(8388608.0)), V(1e-18));
  const sf_pair<V> l = single_log_pair(single_sinpi_size(least) * least);
  const sf_pair<V> log_pi = {V(1.14472985267639160156), V(3.3172915e-08)};
  const sf_pair<V> q = sf_plus(sf_plus(log_pi, sf_minus(l)), sf_minus(r));
  return sf_if(x == sf_floor(x), sf_inf(x), sf_if(a < V(1e-18), small, q.hi));
}
template <class V> SN_FN V single_gammaln(V x) {
  const V a = sf_abs(x);
  V r = single_gammaln_positive(a);
  const auto negative = x < V(0.0);
  if (sf_any(negative)) r = sf_if(negative, single_gammaln_negative(x), r);
  r = sf_if(x == V(0.0), sf_inf(x), sf_if(a == sf_inf(x), x, r));
  return sf_if(x == x, r, x);
}

/// digamma(x) for 0 < x < 3, or for x below 1 digamma(x + 1): a polynomial times the argument minus the zero.
template <class V> SN_FN V single_digamma_small(V x) {
  const V y = sf_if(x < V(1.0), x, x - V(1.0));
  const V from = (y - V(0.46163213253021240234)) - V(1.2438150e-08);
  return from * sf_poly(y - V(1.0), 0.7853075453, -0.260738958, 0.1089992588, -0.04955070391, 0.02345770308, -0.01134362793,
      0.005491503689, -0.002709205725, 0.001523954716, -0.0007581970007, 0.0001124102244, -5.583611437e-05, 0.0002208564017,
      -0.0001103630398);
}
/// log x - 1 / (2 x) - digamma(x) for x >= 3, from 1 / x.
template <class V> SN_FN V single_digamma_rest(V i) {
  const V u = i * i;
  return u * sf_poly(u, 0.08333332785, -0.008331742294, 0.003893513343, -0.002966348855);
}
/// digamma(-a) = digamma(a) + 1 / a + pi cot(pi a) for a > 0. The cotangent is that of a's distance r to a whole number:
/// pi cot(pi r) = 1 / r - r S(r^2). What is large is a pair, since the sum has zeros.
template <class V> SN_SHARED V single_digamma_negative(V a) {
  const auto large = a >= V(3.0);
  const V i = V(1.0) / a, most = sf_max(a, V(3.0));
  const sf_pair<V> l = single_log_pair(most);
  const V hi = sf_if(large, l.hi, single_digamma_small(a));
  const V lo = sf_if(large, sf_fma(V(0.5), i, l.lo - single_digamma_rest(V(1.0) / most)), sf_if(a < V(1.0), V(0.0), i));
  const V r = a - sf_rint(a), q = V(1.0) / r, v = r * r;
  const V odd = r * sf_poly(v, 3.289868131, 2.164647911, 2.034566103, 2.011921554, 1.944676721, 2.464389551, 0.0001186956111,
      6.065015612);
  const sf_pair<V> s = sf_sum(hi, q);
  const V sum = s.hi + (s.lo + (lo + sf_fma(sf_fma(-q, r, V(1.0)), q, -odd)));
  return sf_if(a == sf_floor(a), sf_nan(a), sf_if(a < V(1e-18), i, sum));
}
template <class V> SN_FN V single_digamma(V x) {
  const auto low = x < V(1.0), large = x >= V(3.0), negative = x < V(0.0);
  const V i = V(1.0) / x, c = single_digamma_small(x);
  V r = sf_if(low, c - i, c);
  if (sf_any(large)) r = sf_if(large, single_log(x) - sf_fma(V(0.5), i, single_digamma_rest(i)), r);
  if (sf_any(negative)) r = sf_if(negative, single_digamma_negative(sf_abs(x)), r);
  r = sf_if(x == V(0.0), -i, sf_if(x == sf_inf(x), x, r));
  return sf_if(x == x, r, x);
}

// ---- the logistic function

template <class V> SN_FN V single_expit(V x) {
  const V e = single_exp(-sf_abs(x)), q = V(1.0) / (V(1.0) + e);
  return sf_if(x == x, sf_if(x < V(0.0), e * q, q), x);
}
template <class V> SN_FN V single_logit(V p) {
  const sf_pair<V> rest = sf_sum(V(1.0), -p);
  const V q = p / rest.hi, lost = (sf_fma(-q, rest.hi, p) - q * rest.lo) / p;
  const sf_pair<V> l = single_log_pair(q);
  V r = l.hi + (l.lo + sf_if(p > V(1e-30), lost, V(0.0)));
  r = sf_if(p == V(0.0), -sf_inf(p), sf_if(p == V(1.0), sf_inf(p), r));
  return sf_if((p >= V(0.0)) & (p <= V(1.0)), r, sf_nan(p));
}
template <class V> SN_FN V single_log_expit(V x) {
  const V e = single_exp(-sf_abs(x));
  const sf_pair<V> u = sf_sum(V(1.0), e), l = single_log_pair(u.hi);
  const V r = -((l.hi + (l.lo + u.lo / u.hi)) - sf_min(x, V(0.0)));
  return sf_if(x == x, r, x);
}

// ---- Bessel functions I

/// Of |x|, up to 5 by powers of x^2 and beyond by 1 / x: exp(-|x|) times them, or where `whole` they themselves.
template <class V> SN_FN V single_bessel_i(V x, int order, bool whole) {
  const V a = sf_abs(x), b = sf_min(a, V(5.0)), z = b * b;
  V r = order == 0 ? sf_poly(z, 1.000000001, 0.2499999928, 0.01562500769, 0.0004340246301, 6.782327815e-06, 6.774311654e-08,
      4.758826129e-10, 2.212530283e-12, 1.323946566e-14) : b * sf_poly(z, 0.5000000001, 0.06249999965, 0.002604167042,
      5.425331866e-05, 6.781998263e-07, 5.64780208e-09, 3.388054048e-11, 1.408491103e-13, 7.111742179e-16);
  if (!whole) r = single_exp(-b, V(0.0), r);
  const auto large = a > V(5.0);
  if (sf_any(large)) {
    const V v = V(1.0) / sf_max(a, V(5.0)), w = sf_fma(v, V(10.0), V(-1.0));
    V p = order == 0 ? sf_poly(w, 0.4042445064, 0.005660101739, 0.0004105400401, 6.753056059e-05, 2.185563402e-05,
        8.802838747e-06, 1.845862832e-07, -2.710887784e-06, -1.081882561e-06) : sf_poly(w, 0.3834662683, -0.0160492212,
        -0.0006433206111, -8.798923523e-05, -2.590408999e-05, -1.031219619e-05, -5.953543392e-07, 2.952532731e-06,
        1.262092513e-06);
    p = p * sf_sqrt(v);
    if (whole) p = sf_if(a > V(95.0), sf_inf(a), single_exp(a, V(0.0), p));
    r = sf_if(large, p, r);
  }
  return sf_if(x == x, order == 0 ? r : single_copysign(r, x), x);
}
template <class V> SN_FN V single_i0(V x) { return single_bessel_i(x, 0, true); }
template <class V> SN_FN V single_i0e(V x) { return single_bessel_i(x, 0, false); }
template <class V> SN_FN V single_i1(V x) { return single_bessel_i(x, 1, true); }
template <class V> SN_FN V single_i1e(V x) { return single_bessel_i(x, 1, false); }

}  // namespace sn
