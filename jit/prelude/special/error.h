// sinter prelude, special functions: the error function, its relatives and their inverses.
// The polynomials are interpolations at Chebyshev's points in 60 digits of what the comments name.
namespace sn {

/// erf(x) for |x| <= 1: erf(x) / x as a polynomial in x^2.
template <class V> SN_FN V sf_erf_small(V x) {
  return x * sf_poly(x * x, 1.1283791670955126, -0.3761263890318375, 0.11283791670954879, -0.026866170645076792,
      0.0052239776248180145, -0.000854832698083379, 0.0001205533111164271, -1.4925595266831182e-05, 1.6461000484121368e-06,
      -1.6350312701054695e-07, 1.4659775274047436e-08, -1.1372848856791674e-09, 5.957176147748911e-11);
}
/// erfcx(x) = exp(x^2) erfc(x) for x >= 1/2: (1 + 2 x) erfcx(x) as a polynomial in (x - 4) / (x + 4), which has x from 0 to
/// infinity in an interval (M. M. Shepherd, J. G. Laframboise, Mathematics of Computation 36, 1981).
template <class V> SN_FN V sf_erfcx_large(V x) {
  const V t = sf_if(x < V(1e300), (x - V(4.0)) / (x + V(4.0)), V(1.0));
  const V p = sf_poly(t, 1.2329951186255526, -0.1396211168405625, 0.015379652102620099, 0.0680970542546916,
      -0.10103906603632938, 0.09373283499839453, -0.06633036581152202, 0.03716751553664597, -0.0161977340678477,
      0.005031969986243701, -0.0007577732027879614, -0.00019925674160383358, 0.00015062121361724583, -2.439905413150348e-05,
      -1.122040739309673e-05, 5.709403310464347e-06, 2.900574423039445e-07, -8.250375746407821e-07, 8.02976377309258e-08,
      1.098366753436968e-07, -2.3272622722000397e-08, -1.4072296769451392e-08, 4.6973587263019935e-09,
      1.2328137263080415e-09, -6.499338481900016e-10, 4.711458837670132e-11);
  return sf_if(x < V(1e300), p / sf_fma(V(2.0), x, V(1.0)), V(0.56418958354775628695) / x);
}
/// exp(-x^2): the square is a pair.
template <class V> SN_FN V sf_exp_minus_square(V x, double factor) {
  const V y = sf_min(x, V(40.0));
  const sf_pair<V> s = sf_product(y, y);
  return sf_exp(V(-factor) * s.hi, V(-factor) * s.lo);
}

template <class V> SN_FN V sf_erf(V x) {
  const V a = sf_abs(x);
  V r = sf_erf_small(x);
  const auto outer = a >= V(1.0);
  if (sf_any(outer)) {
    const V most = sf_max(sf_min(a, V(6.0)), V(1.0));
    const V large = V(1.0) - sf_exp_minus_square(most, 1.0) * sf_erfcx_large(most);
    r = sf_if(outer, sf_copysign(large, x), r);
  }
  return sf_if(x == x, r, x);
}
template <class V> SN_FN V sf_erfc(V x) {
  const V a = sf_abs(x);
  V r = V(1.0) - sf_erf_small(x);
  const auto outer = a >= V(0.5);
  if (sf_any(outer)) {
    const V least = sf_max(a, V(0.5));
    const V tail = sf_exp_minus_square(least, 1.0) * sf_erfcx_large(least);
    r = sf_if(outer, sf_if(x < V(0.0), V(2.0) - tail, tail), r);
  }
  return sf_if(x == x, r, x);
}
template <class V> SN_FN V sf_erfcx(V x) {
  const V a = sf_abs(x), least = sf_max(a, V(0.5));
  V r = sf_erfcx_large(least);
  const auto inner = x < V(0.5);
  if (sf_any(inner)) {
    const V y = sf_max(sf_min(x, V(0.5)), V(-28.0));
    const sf_pair<V> s = sf_product(y, y);
    const V e = sf_exp(s.hi, s.lo);
    const V small = sf_fma(-e, sf_erf_small(sf_max(y, V(-0.5))), e);
    const V left = sf_fma(V(2.0), e, -r);
    r = sf_if(inner, sf_if(x < V(-0.5), sf_if(x < V(-27.0), sf_inf(x), left), small), r);
    const auto far = x < V(-26.6);
    r = sf_if(far, V(2.0) * e, r);
  }
  return sf_if(x == x, r, x);
}

/// The y > 0 with erfc(y) = q divided by x = 1 - q (`inverse`) or by sqrt(w), from w = -log(q (2 - q)), which is -log(1 - x^2).
/// M. Giles, Approximating the erfinv function (GPU Computing Gems 2, 2011), with another variable in the tails.
template <class V> SN_PIECE V sf_erfinv_core(V x, V w) {
  const V t = sf_fma(w, V(0.32), V(-1.0));
  V r = x * sf_poly(t, 1.6536545626831027, 0.7504943200799635, -0.0589225671037876, -0.022604447453444733,
      0.0178083618187569, -0.004137314377547895, -0.0012716922769885114, 0.0012324855702994214, -0.00026439358646646055,
      -0.0001168888508125076, 9.336692787624058e-05, -1.5027665773117194e-05, -1.1255653983969421e-05, 7.12993974314695e-06,
      -6.87655180725494e-07, -1.0591188098187532e-06, 5.456420572209782e-07, -1.0412692841159635e-08,
      -1.0514990713371436e-07, 3.931511157646558e-08, 9.07207594789291e-09, -8.627191009014394e-09, -8.577966939639941e-11,
      7.801712199036253e-10);
  const auto outer = w > V(6.25);
  if (sf_any(outer)) {
    const V s = sf_sqrt(w);
    const V u = sf_fma(s, V(1.3333333333333333), V(-4.333333333333333));
    V tail = sf_poly(u, 3.0838856104922208, 0.7539442257706239, 0.00302113943638407, -0.0015825410894034398,
        0.0007883078509981353, -0.0004006356984211825, 0.00016966502592018017, -4.739182677882865e-05,
        2.4058391918338327e-06, 5.127314470348767e-06, -2.6646983082852556e-06, 5.264680305425013e-07, 9.267642775523117e-08,
        -9.46984593753811e-08, 2.6703991718481456e-08, -3.6086983146965074e-10, -2.7195823537882847e-09,
        9.85047133124713e-10, 3.929056598182976e-12, -6.385846404875191e-11);
    const auto far = s > V(4.0);
    if (sf_any(far)) {
      const V i = V(1.0) / s;
      const V v = sf_fma(i, V(14.4), V(-2.6)), z = sf_fma(i, V(26.526315789473685), V(-1.9473684210526316));
      const V more = sf_poly(v, 0.9738888880275122, -0.013890544047214829, -0.0003110910048435625, 0.00028846475909386794,
          -3.3380528073456384e-05, 4.238334213916792e-06, -8.316089986003542e-07, 1.9831706805919744e-07,
          -3.747460857594498e-08, 2.492634759025156e-08, 1.0361230131427602e-08, 1.0748995549874e-08, 2.9186835650935865e-09,
          -2.1344016924433508e-09, -2.843473656044536e-09, -3.4136626128980253e-10, 8.744734158616563e-10,
          2.6105185218533845e-10, -1.640443292858269e-10, -4.4314224872885504e-11, 1.5557465534945666e-11);
      const V most = sf_poly(z, 0.9932760699785687, -0.00552838306834662, -0.0007136334385316349, 0.00012016375334763996,
          -1.5589025030674354e-05, 3.1802415041593623e-06, -8.248200027402837e-07, 2.422645738310963e-07,
          -7.770670109453262e-08, 2.659124065171407e-08, -9.570240122054102e-09, 3.5743662439570535e-09,
          -1.3433611906587248e-09, 5.289921195811421e-10, -2.5978866449194074e-10, 1.0816347101583682e-10,
          -5.754270443495571e-12, 1.7066444407743097e-12, -1.9237834768543165e-11, 8.472163899447134e-12);
      tail = sf_if(far, s * sf_if(s > V(9.0), most, more), tail);
    }
    // The fits are those of y / x and of y / (x s)
    r = sf_if(outer, x * tail, r);
  }
  return r;
}
template <class V> SN_FN V sf_erfinv(V x) {
  const V a = sf_abs(x);
  const V w = -sf_log_near((V(1.0) - a) * (V(1.0) + a));
  V r = sf_erfinv_core(x, w);
  r = sf_if(a == V(1.0), sf_copysign(sf_inf(x), x), r);
  return sf_if(a <= V(1.0), r, sf_nan(x));
}
/// The inverse of erfc at q in (0, 2), and scaled.
template <class V> SN_PIECE V sf_erfcinv_of(V q) {
  const V p = sf_min(q, V(2.0) - q);
  return sf_erfinv_core(V(1.0) - q, -sf_log_near(p * (V(2.0) - p)));
}
template <class V> SN_FN V sf_erfcinv(V q) {
  V r = sf_erfcinv_of(q);
  r = sf_if(q == V(0.0), sf_inf(q), sf_if(q == V(2.0), -sf_inf(q), r));
  return sf_if((q >= V(0.0)) & (q <= V(2.0)), r, sf_nan(q));
}

/// The standard normal distribution, with x / sqrt(2) rounded where that matters little, and exp(-x^2 / 2) of x itself.
template <class V> SN_FN V sf_ndtr(V x) {
  const V a = sf_abs(x), y = a * V(0.70710678118654752440), least = sf_max(y, V(0.5));
  const V tail = V(0.5) * sf_exp_minus_square(sf_max(a, V(0.70710678118654752440)), 0.5) * sf_erfcx_large(least);
  const V outer = sf_if(x < V(0.0), tail, V(1.0) - tail);
  const V small = sf_fma(V(0.5), sf_erf_small(x * V(0.70710678118654752440)), V(0.5));
  const V r = sf_if(y < V(0.5), small, outer);
  return sf_if(x == x, r, x);
}
template <class V> SN_FN V sf_log_ndtr(V x) {
  const V a = sf_abs(x), y = a * V(0.70710678118654752440), least = sf_max(y, V(0.5));
  const V scaled = sf_erfcx_large(least);
  const V e = sf_exp_minus_square(a, 0.5);
  const V small = sf_erf_small(sf_min(y, V(0.5)));
  const auto near = y < V(0.5);
  const V upper = V(0.5) * sf_if(near, V(1.0) - small, e * scaled);  // of |x|
  // Below 0: log(exp(x^2 / 2) ndtr(x)) - x^2 / 2.
  const V half = sf_if(near, (V(0.5) - V(0.5) * small) / e, V(0.5) * scaled);
  // Above 0 log(1 - upper), one logarithm for both
  const auto below = x < V(0.0);
  const sf_pair<V> rest = sf_sum(V(1.0), -upper);
  const V z = sf_if(below, half, rest.hi), b = sf_if(below, sf_min(a, V(1e154)), V(0.0));
  const sf_pair<V> s = sf_product(b, b), l = sf_log_pair(z);
  const V sum = (l.hi - V(0.5) * s.hi) + (l.lo + sf_if(below, V(-0.5) * s.lo, rest.lo / z));
  const V r = sf_if((!below) & (upper < V(1e-290)), -upper, sum);
  return sf_if(x == x, sf_if(below & (a >= V(1e154)), V(-0.5) * a * a, r), x);
}
template <class V> SN_FN V sf_ndtri(V p) {
  V r = V(-1.41421356237309504880) * sf_erfcinv_of(p + p);
  r = sf_if(p == V(0.0), -sf_inf(p), sf_if(p == V(1.0), sf_inf(p), r));
  return sf_if((p >= V(0.0)) & (p <= V(1.0)), r, sf_nan(p));
}

SN_SPECIAL_SINGLE(erf, sf_erf, single_erf)
SN_SPECIAL_SINGLE(erfc, sf_erfc, single_erfc)
SN_SPECIAL_1(erfcx, sf_erfcx)
SN_SPECIAL_SINGLE(erfinv, sf_erfinv, single_erfinv)
SN_SPECIAL_SINGLE(erfcinv, sf_erfcinv, single_erfcinv)
SN_SPECIAL_SINGLE(ndtr, sf_ndtr, single_ndtr)
SN_SPECIAL_SINGLE(ndtri, sf_ndtri, single_ndtri)
SN_SPECIAL_1(log_ndtr, sf_log_ndtr)

}  // namespace sn
