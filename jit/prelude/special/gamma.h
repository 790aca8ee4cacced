// sinter prelude, special functions: the gamma function, its logarithm and its derivatives, beta functions.
// The polynomials are interpolations at Chebyshev's points in 50 digits of what the comments name.
namespace sn {

/// sin(pi x) and cos(pi x), whose arguments are reduced without rounding. Even polynomials on [-1/4, 1/4].
template <class V> SN_FN V sf_sinpi_small(V r) {
  return r * sf_poly(r * r, 3.141592653589793, -5.16771278004997, 2.5501640398773455, -0.5992645293207917,
      0.08214588661109039, -0.007370430943964657, 0.00046630275824378935, -2.1914600955944015e-05, 7.887759768342904e-07);
}
template <class V> SN_FN V sf_cospi_small(V r) {
  return sf_poly(r * r, 1.0, -4.934802200544679, 4.0587121264167685, -1.3352627688545866, 0.23533063035866447,
      -0.025806891379438902, 0.0019295740221589252, -0.00010463355639212206, 4.26420091972793e-06);
}
/// -1 for odd whole numbers below 2^51, else 1.
template <class V> SN_FN V sf_parity(V k) {
  const V half = k * V(0.5);
  return sf_if(half == sf_floor(half), V(1.0), V(-1.0));
}
template <class V> SN_PIECE V sf_sinpi(V x) {
  const V k = sf_rint(x), r = x - k, a = sf_abs(r);  // a <= 1/2
  const V s = sf_if(a > V(0.25), sf_copysign(sf_cospi_small(V(0.5) - a), r), sf_sinpi_small(r));
  return sf_parity(k) * s;
}
template <class V> SN_PIECE V sf_cospi(V x) {
  const V k = sf_rint(x), r = x - k, a = sf_abs(r);
  return sf_parity(k) * sf_if(a > V(0.25), sf_sinpi_small(V(0.5) - a), sf_cospi_small(r));
}

/// log gamma(x) without its Stirling terms for x >= 3: x times it is a polynomial in 1 / x^2 (M. Abramowitz, I. A. Stegun
/// 6.1.41 has the expansion that it stands for).
template <class V> SN_FN V sf_stirling_rest(V x) {
  const V i = V(1.0) / x;
  return i * sf_poly(i * i, 0.08333333333333333, -0.0027777777777757695, 0.000793650792622404, -0.0005952378854503139,
      0.0008417282394032359, -0.0019160464198791072, 0.006346110578292672, -0.027601910018978465, 0.13605466944124706,
      -0.6346190865706115, 2.348297111372058, -5.724231505133728, 6.653396422514748);
}
/// log gamma(x) for x >= 3 as a pair: (x - 1/2) log x - x + log(2 pi) / 2 + the rest.
template <class V> SN_FN sf_pair<V> sf_stirling(V x) {
  const sf_pair<V> p = sf_times(sf_log_pair(x), x - V(0.5));
  const sf_pair<V> s = sf_plus(p, -x), t = sf_plus(s, V(0.9189385332046728));
  return sf_plus(t, sf_stirling_rest(x) + V(-3.8782941580672414e-17));
}
/// s^2 / 3 + s^4 / 5 + ... = artanh(s) / s - 1 for |s| up to 0.24, as a pair.
template <class V> SN_PIECE sf_pair<V> sf_artanh_bend(sf_pair<V> s) {
  const sf_pair<V> t = sf_times(s, s), third = {V(0.3333333333333333), V(1.850371707708594e-17)};
  const sf_pair<V> more = sf_product(t.hi, sf_poly(t.hi, 0.2, 0.14285714285714285, 0.1111111111111111, 0.09090909090909091,
      0.07692307692307693, 0.06666666666666667, 0.058823529411764705, 0.05263157894736842, 0.047619047619047616,
      0.043478260869565216, 0.04, 0.037037037037037035, 0.034482758620689655, 0.03225806451612903));
  return sf_times(t, sf_plus(third, more));
}
/// a (m - log(1 + m)) for a pair d = a m from -0.38 a to 0.52 a: by s = m / (2 + m), in which log(1 + m) is 2 artanh(s), as
/// s (a m - 2 a (s^2 / 3 + s^4 / 5 + ...)), without cancellation.
template <class V> SN_SHARED sf_pair<V> sf_mean_exponent(V a, sf_pair<V> d) {
  const sf_pair<V> s = sf_over(d, sf_plus(d, a + a));
  return sf_times(s, sf_plus(d, sf_minus(sf_times(sf_artanh_bend(s), a + a))));
}
/// gamma on [1, 2].
template <class V> SN_FN V sf_gamma_core(V x) {
  return sf_poly(sf_fma(x, V(2.0), V(-3.0)), 0.886226925452758, 0.016169198724442432, 0.10370336342207531,
      -0.013411850570589875, 0.009040334940286629, -0.0024225953845428616, 0.0009157859972008522, -0.0002968901194636589,
      0.0001009281495315552, -3.363759782978775e-05, 1.1252460979162894e-05, -3.7549311137974374e-06, 1.2528243505116605e-06,
      -4.1796402390642367e-07, 1.3936537408972555e-07, -4.621082883472618e-08, 1.5405354526915173e-08,
      -5.418174924785315e-09, 1.8061282213602826e-09, -4.036649639172531e-10, 1.345577050933113e-10, -1.242098168930365e-10,
      4.140341351272197e-11);
}
/// gamma(x) for x > 0, or with 1 / gamma(x) for large ones.
template <class V> SN_PIECE V sf_gamma_positive(V x, bool inverse = false) {
  // By the recurrence from [1, 2]; x - 1, x - 2, ... are exact, and the product is a pair.
  V y = sf_min(x, V(8.0)), p = V(1.0), low = V(0.0);
  const auto below = y < V(1.0);
  const V divisor = sf_if(below, y, V(1.0));
  y = sf_if(below, y + V(1.0), y);
  for (int k = 0; k < 6; ++k) {
    const auto more = y > V(2.0);
    if (!sf_any(more)) break;
    const V less = y - V(1.0), by = sf_if(more, less, V(1.0)), q = p * by;
    low = sf_fma(low, by, sf_fma(p, by, -q));
    p = q;
    y = sf_if(more, less, y);
  }
  const V g = sf_gamma_core(y) / divisor;
  V r = sf_if(below, g, sf_fma(g, low, g * p));
  if (inverse) r = V(1.0) / r;
  const auto large = x > V(8.0);
  if (sf_any(large)) {
    const V z = sf_min(sf_max(x, V(8.0)), V(1e6));
    const sf_pair<V> s = sf_stirling(z);
    r = sf_if(large, inverse ? sf_exp(-s.hi, -s.lo) : sf_exp(s.hi, s.lo), r);
  }
  return r;
}
template <class V> SN_FN V sf_gamma(V x) {
  V r = sf_gamma_positive(sf_abs(x));
  const auto negative = x < V(0.0);
  if (sf_any(negative)) {
    // -pi / (x sin(pi x) gamma(-x)); of whole numbers NaN
    const V a = sf_abs(x), inverse = sf_gamma_positive(a, true);
    const V least = sf_max(a, V(1e-300));
    const V s = sf_sinpi(least) * least;
    const V q = sf_if(a < V(1e-290), V(1.0) / x, V(-3.14159265358979323846) / s * inverse);
    r = sf_if(negative, sf_if(x == sf_floor(x), sf_nan(x), q), r);
  }
  r = sf_if(x == V(0.0), sf_copysign(sf_inf(x), x), r);
  return sf_if(x == x, r, x);
}

/// log gamma(1 + x) for 0 <= x <= 1: x (x - 1) times a polynomial.
template <class V> SN_FN V sf_gammaln_1p(V x) {
  return x * (x - V(1.0)) *
    sf_poly(sf_fma(x, V(2.0), V(-1.0)), 0.4831289505409809, -0.07297994795715304,
      0.015727850268641097, -0.003913560937626331, 0.001049818664454635, -0.0002945507015164312, 8.510090373634476e-05,
      -2.5094328700900636e-05, 7.511391846837954e-06, -2.2742472358027586e-06, 6.948428393704062e-07, -2.138638060528023e-07,
      6.623870571642316e-08, -2.0619851263731666e-08, 6.430366506216791e-09, -2.0184741279133343e-09, 6.5655031582108e-10,
      -2.075322954216366e-10, 5.030067090605482e-11, -1.5936042537298723e-11, 1.1577613910649688e-11, -3.700571132904742e-12);
}
/// log gamma(x) for x >= 0.
template <class V> SN_PIECE V sf_gammaln_positive(V x) {
  // On [1, 2] by the quotient by (x - 1) (x - 2), its neighbours by the recurrence, and from 3 on by Stirling's terms.
  const auto low = x < V(1.0), high = x >= V(2.0), large = x >= V(3.0);
  const V z = sf_max(x, V(3.0));
  const V by = sf_if(low, x, sf_if(high, x - V(1.0), V(1.0)));
  const sf_pair<V> l = sf_log_pair(sf_if(large, z, by));
  V r = V(0.0);
  if (sf_any(!large)) {
    const V first = sf_if(low, x, sf_if(high, x - V(2.0), x - V(1.0)));   // y - 1 of the y in [1, 2]
    const V c = sf_gammaln_1p(first), sign = sf_if(low, V(-1.0), V(1.0));
    r = sf_if(low | high, (c + sign * l.lo) + sign * l.hi, c + V(0.0));
  }
  if (sf_any(large)) {
    const V w = sf_min(z, V(1e300)), v = w - V(0.5);
    const sf_pair<V> p = sf_product(l.hi, v), s = sf_sum(p.hi, -w), t = sf_sum(s.hi, V(0.9189385332046728));
    const V most = t.hi + ((t.lo + s.lo) + (sf_fma(l.lo, v, p.lo) + sf_stirling_rest(w)));
    r = sf_if(large, sf_if(x > V(1e300), x * (l.hi - V(1.0)), most), r);
  }
  return r;
}
template <class V> SN_FN V sf_gammaln(V x) {
  const V a = sf_abs(x);
  V r = sf_gammaln_positive(a);
  const auto negative = x < V(0.0);
  if (sf_any(negative)) {
    // log(pi) - log|x sin(pi x)| - log gamma(-x)
    const V least = sf_max(sf_min(a, V(4503599627370496.0)), V(1e-300));
    const sf_pair<V> l = sf_log_pair(sf_abs(sf_sinpi(least)) * least);
    V q = (V(1.1447298858494002) - l.hi) + (V(1.0265951162707826e-17) - l.lo) - r;
    q = sf_if(a < V(1e-290), -sf_log(a), q);
    r = sf_if(negative, sf_if(x == sf_floor(x), sf_inf(x), q), r);
  }
  r = sf_if(x == V(0.0), sf_inf(x), sf_if(a == sf_inf(x), x, r));
  return sf_if(x == x, r, x);
}

/// digamma(x) for x > 0: on [1, 2] by the quotient by x minus its zero, its neighbours by the recurrence, from 3 on by
/// log x - 1 / (2 x) - (a polynomial in 1 / x^2) / x^2 (M. Abramowitz, I. A. Stegun 6.3.18).
template <class V> SN_PIECE V sf_digamma_positive(V x) {
  const auto low = x < V(1.0), high = x >= V(2.0), large = x >= V(3.0);
  const V y = sf_if(low, x + V(1.0), sf_if(high, sf_min(x, V(3.0)) - V(1.0), x));
  const V from = (y - V(1.4616321449683622)) - V(9.549995429965697e-17);
  const V c = from * sf_poly(sf_fma(y, V(2.0), V(-3.0)), 0.9510558760318328, -0.2118137106407303, 0.060135621060196744,
      -0.018550615381735115, 0.005936795278305649, -0.0019350666648590097, 0.0006368880303257201, -0.00021074841140458636,
      6.995018873950506e-05, -2.325824239445257e-05, 7.741232223504057e-06, -2.57809436305308e-06, 8.589127353033379e-07,
      -2.86315275846934e-07, 9.542050972688906e-08, -3.163020268955334e-08, 1.0542687624027994e-08, -3.7075072647122386e-09,
      1.2358072433984831e-09, -2.7619635330317715e-10, 9.206434499177992e-11, -8.498137230186096e-11, 2.832706668021759e-11);
  const V by = sf_if(low, -x, sf_if(high, sf_min(x, V(3.0)) - V(1.0), sf_inf(x)));
  V r = c + V(1.0) / by;
  if (sf_any(large)) {
    const V z = sf_max(x, V(3.0)), i = V(1.0) / z, u = i * i;
    const V q = sf_poly(u, 0.08333333333333331, -0.008333333333294637, 0.003968253948413878, -0.004166662610806694,
        0.007575319141339918, -0.021063933358260106, 0.0820733588984081, -0.4045406921025246, 2.172186775531551,
        -10.680672737836394, 40.78054075278386, -101.3156032293876, 119.19157811856279);
    const sf_pair<V> l = sf_log_pair(z);
    const V most = l.hi + (l.lo - sf_fma(u, q, V(0.5) * i));
    r = sf_if(large, sf_if(x < sf_inf(x), most, x), r);
  }
  return r;
}
template <class V> SN_FN V sf_digamma(V x) {
  const V a = sf_abs(x);
  V r = sf_digamma_positive(a);
  const auto negative = x < V(0.0);
  if (sf_any(negative)) {
    const V q = (r + V(1.0) / a) + V(3.14159265358979323846) * sf_cospi(a) / sf_sinpi(a);
    r = sf_if(negative, sf_if(x == sf_floor(x), sf_nan(x), sf_if(a < V(1e-290), V(1.0) / a, q)), r);
  }
  r = sf_if(x == V(0.0), sf_copysign(sf_inf(x), -x), r);
  return sf_if(x == x, r, x);
}
/// The principal branch of log gamma(x), which below 0 is not real.
template <class V> SN_FN V sf_loggamma_positive(V x) { return sf_if(x < V(0.0), sf_nan(x), sf_gammaln(x)); }

SN_SPECIAL_CALLED_1(gamma, sf_gamma)
SN_SPECIAL_CALLED_DOUBLE(gammaln, sf_gammaln, single_gammaln)
SN_SPECIAL_CALLED_DOUBLE(digamma, sf_digamma, single_digamma)
SN_SPECIAL_CALLED_1(loggamma_positive, sf_loggamma_positive)

}  // namespace sn
