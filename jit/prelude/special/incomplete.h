// sinter prelude, special functions: the incomplete gamma functions.
// A series where x is below a, its complement or a continued fraction above (W. Gautschi, ACM Transactions on Mathematical
// Software 5, 1979; M. Abramowitz, I. A. Stegun 6.5.29, 6.5.31); around the mean from a = 256 on the uniform expansion of
// N. M. Temme, SIAM Journal on Mathematical Analysis 10, 1979 (NIST Digital Library of Mathematical Functions 8.12).
namespace sn {

/// x^a exp(-x) / gamma(a + 1) for finite a > 0 and a pair x > 0. From a = 8 on by Stirling's terms, without
/// cancellation around x = a. What depends on a alone: a factor, and what is left of the logarithm.
template <class V> struct sf_gamma_scale {
  V factor, rest;
};
template <class V> SN_PIECE sf_gamma_scale<V> sf_gamma_scale_of(V a) {
  const auto large = a > V(8.0);
  sf_gamma_scale<V> r = {V(1.0), V(0.0)};
  if (sf_any(!large)) {
    const V b = sf_min(a, V(8.0)), factor = sf_if(b < V(1.0), b + V(1.0), b);
    r.factor = V(1.0) / (sf_gamma_positive(factor) * sf_if(b < V(1.0), V(1.0), b));
  }
  if (sf_any(large)) {
    const V c = sf_max(a, V(8.0));
    // 2 pi a, without its overflow
    const V root = sf_sqrt(c * V(8.673617379884035e-19) * V(6.28318530717958647692)) * V(1073741824.0);
    r = {sf_if(large, V(1.0) / root, r.factor), sf_if(large, sf_stirling_rest(c), r.rest)};
  }
  return r;
}
/// a log(x / a), of which a multiple of log(2) and 2 a s are the greatest parts: to some 2^-64 of those.
template <class V> SN_FN sf_pair<V> sf_times_log_quotient(V x, V a) {
  const sf_quotient<V> q = sf_quotient_of(x, a);
  const sf_pair<V> s = {q.hi, q.lo}, t = {V(2.0) * s.hi, V(2.0) * s.lo}, l = sf_plus(t, sf_times(t, sf_artanh_bend(s)));
  const sf_pair<V> two = {q.k * V(6.93147180369123816490e-01), q.k * V(1.90821492927058770002e-10)};
  return sf_times(sf_plus(two, l), a);
}
template <class V> SN_PIECE V sf_gamma_weight(sf_gamma_scale<V> scale, V a, V x, V x_low) {
  const auto large = a > V(8.0);
  const V turn = x_low / x;
  sf_pair<V> p = {V(0.0), V(0.0)};
  if (sf_any(!large)) {
    const V b = sf_min(a, V(8.0));
    p = sf_plus(sf_plus(sf_times(sf_log_pair(x), b), -x), sf_fma(b, turn, -x_low));
  }
  if (sf_any(large)) {
    const V c = sf_max(a, V(8.0));
    const sf_pair<V> t = sf_times_log_quotient(x, c), d = sf_sum(c, -x), e = sf_sum(t.hi, d.hi);
    const V low = sf_fma(c, turn, t.lo + d.lo) - x_low;
    p = sf_pair_if(large, {e.hi, e.lo + low - scale.rest}, p);
  }
  return sf_exp(p.hi, sf_if(sf_abs(p.hi) < V(1e4), p.lo, V(0.0))) * scale.factor;
}
/// Nothing where the weight is nothing, whatever the recurrence gives there.
template <class V> SN_FN V sf_weighed(V weight, V sum) { return sf_if(weight == V(0.0), weight, weight * sum); }

/// P(a, x) over the weight: 1 + x / (a + 1) (1 + x / (a + 2) (1 + ...)) from behind, where errors do not add up, as a quotient.
template <class V> SN_FN V sf_gamma_series(V a, V x) {
  const V depth = sf_floor(V(18.0) + V(9.0) * sf_sqrt(x) * sf_min(x / a, V(1.0)));
  V n = V(1.0), m = V(1.0);
  SN_ROLLED
  for (double at = sf_most(depth); at >= 1.0; at -= 1.0) {
    const V k(at);
    const auto inside = depth >= k;
    const auto large = n > V(1e200);
    const V scale = sf_if(large, V(1e-200), V(1.0)), next = (m * scale) * (a + k);
    n = sf_if(inside, sf_fma(x, n * scale, next), n);
    m = sf_if(inside, next, m);
  }
  return n / m;
}
/// Q(a, x) over the weight times a: the continued fraction from behind, as a quotient, and how many terms it needs for a > 0.
template <class V> SN_FN V sf_gamma_depth(V a, V x) {
  return sf_floor(sf_max(V(5.0) + V(105.0) / x, V(7.0) + V(3.6) * sf_sqrt(a) * (a / x)));
}
template <class V> SN_FN V sf_gamma_fraction(V a, V x, V depth) {
  const V from = x - a;
  V n = from + sf_fma(V(2.0), depth, V(1.0)), m = V(1.0);
  SN_ROLLED
  for (double at = sf_most(depth); at >= 1.0; at -= 1.0) {
    const V k(at);
    const auto inside = depth >= k;
    const auto large = n > V(1e200);
    const V scale = sf_if(large, V(1e-200), V(1.0)), old = n * scale;
    const V next = sf_fma(from + sf_fma(V(2.0), k, V(-1.0)), old, -((k * (k - a)) * (m * scale)));
    n = sf_if(inside, next, n);
    m = sf_if(inside, old, m);
  }
  return m / n;
}
/// Q(a, x) for small x and a: 1 - x^a / gamma(a + 1) by expm1, and a series.
template <class V> SN_FN V sf_gamma_small(V a, V x) {
  const V l = sf_log_pair(x).hi;
  const V c = sf_gammaln_1p(a);  // a is below 1
  V sum = V(0.0), factor = V(1.0), n = V(0.0);
  SN_ROLLED
  for (int k = 0; k < 40; ++k) {
    n = n + V(1.0);
    factor = factor * (-x / n);
    const V next = sum + factor / (a + n);
    if (!sf_any(next != sum)) break;
    sum = next;
  }
  const V y = sf_fma(a, l, -c);
  return -sf_expm1(y) - sf_exp(y) * a * sum;
}

/// The greatest part of -log(x^a exp(-x) / gamma(a)) for large a, that with m = x / a - 1, of a pair x. 1000 or more is 1000.
template <class V> SN_FN sf_pair<V> sf_gamma_exponent(V a, V x, V x_low) {
  const auto near = (x > V(0.62) * a) & (x < V(1.52) * a);
  const V z = sf_if(near, x, a), z_low = sf_if(near, x_low, V(0.0));
  const sf_pair<V> e = sf_mean_exponent(a, sf_plus(sf_sum(z, -a), z_low));
  const auto small = near & (e.hi < V(1000.0));
  return {sf_if(small, e.hi, V(1000.0)), sf_if(small, e.lo, V(0.0))};
}
/// Where the uniform expansion holds to all digits: everywhere from a = 8192 on, as both tails end within 0.38 a of the mean.
template <class V> SN_FN auto sf_gamma_is_uniform(V a, V x) {
  return (a >= V(8192.0)) | ((a >= V(256.0)) & (x > V(0.64) * a) & (x < V(1.5) * a));
}
/// P, or Q where `upper` is 1, there, for a pair x > 0: exp(-e) (erfcx(sqrt(e)) / 2 -+ S / sqrt(2 pi a)) of the smaller one,
/// with S the sum of powers of eta = +-sqrt(2 e / a) and 1 / a.
template <class V> SN_SHARED V sf_gamma_uniform(V a, V x, V x_low, V upper) {
  const sf_pair<V> e = sf_gamma_exponent(a, x, x_low);
  const auto below = (x < a) | ((x == a) & (x_low < V(0.0)));
  const auto complement = upper > V(0.5);
  const V i = V(1.0) / a, up = sf_sqrt(e.hi), along = sf_sqrt(i), size = V(1.4142135623730951) * up * along, eta = sf_if(below, -size, size);
  const V first = sf_poly(eta, -0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073,
      0.0003527336860670194, -0.0001787551440329218, 3.919263178522438e-05, -2.185448510679992e-06, -1.85406221071516e-06,
      8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09, 1.0261809784240309e-08, -4.382036018453353e-09,
      9.14769958223679e-10, -2.5514193994946248e-11, -5.830772132550426e-11, 2.4361948020667415e-11);
  const V second = sf_poly(eta, -0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596,
      0.00020576131687242798, -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06, -1.6120900894563446e-06,
      4.647127802807434e-09, 1.378633446915721e-07, -5.752545603517705e-08, 1.1951628599778148e-08, -1.7543241719747647e-11,
      -1.0091543710600413e-09);
  const V third = sf_poly(eta, 0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06,
      -0.0001073665322636516, 5.2923448829120125e-05, -1.2760635188618728e-05, 3.423578734096138e-08, 1.3721957309062934e-06,
      -6.298992138380055e-07, 1.4280614206064242e-07);
  const V fourth = sf_poly(eta, 0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557, 0.00026772063206283885,
      -7.561801671883977e-05, -2.396505113867297e-07, 1.1082654115347302e-05, -5.6749528269915965e-06,
      1.4230900732435883e-06);
  const V fifth = sf_poly(eta, -0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902, -1.4638452578843418e-06,
      6.641498215465122e-05, -3.968365047179435e-05, 1.1375726970678419e-05);
  const V sixth = sf_poly(eta, -0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392,
      -0.00019932570516188847);
  const V last = sf_fma(sf_fma(sixth, i, fifth), i, fourth);
  const V sum = sf_fma(sf_fma(sf_fma(last, i, third), i, second), i, first);
  const V part = V(0.3989422804014327) * along * sum;
  const V tail = sf_exp(-e.hi, -e.lo) * sf_fma(V(0.5), sf_erfcx(up), sf_if(below, -part, part));
  return sf_if(below, sf_if(complement, V(1.0) - tail, tail), sf_if(complement, tail, V(1.0) - tail));
}

/// P elsewhere for a finite a > 0 and a finite x > 0, or Q where `upper` is 1 and not 0; w is the weight of x.
template <class V> SN_SHARED V sf_gamma_recurred(V a, V x, V w, V upper) {
  const auto tiny = (x < V(0.8)) & (sf_if(x < V(0.5), V(-0.4) / sf_log_pair(x).hi, x * V(1.1)) >= a);
  const auto series = (!tiny) & ((x < V(0.8)) | (x < a));
  const auto fraction = !(tiny | series);
  const auto complement = upper > V(0.5);
  V p = V(0.0), q = V(0.0);
  // Of the two the smaller one is computed; where that is P in the region of small numbers, it is the series as well.
  const auto lower = series | ((!complement) & tiny & ((x <= V(1.0)) | (x <= a)));
  if (sf_any(lower)) p = sf_if(lower, sf_weighed(w, sf_gamma_series(sf_if(lower, a, V(1.0)), sf_if(lower, x, V(0.0)))), p);
  if (sf_any(fraction)) {
    const V c = sf_if(fraction, a, V(1.0)), z = sf_if(fraction, x, V(100.0));
    q = sf_if(fraction, sf_weighed(w * a, sf_gamma_fraction(c, z, sf_gamma_depth(c, z))), q);
  }
  const auto rest = tiny & !lower;
  if (sf_any(rest)) q = sf_if(rest, sf_gamma_small(sf_if(rest, a, V(0.5)), sf_if(rest, x, V(0.5))), q);
  return sf_if(complement, sf_if(series, V(1.0) - p, q), sf_if(lower, p, V(1.0) - q));
}
/// P or Q of any finite a > 0 and a finite pair x > 0, whose weight is w where the expansion does not hold.
template <class V> SN_FN V sf_gamma_part(V a, V x, V x_low, V w, V upper) {
  const auto large = sf_gamma_is_uniform(a, x);
  V r = V(0.0);
  if (sf_any(!large)) r = sf_gamma_recurred(sf_if(large, V(1.0), a), sf_if(large, V(1.0), x), w, upper);
  if (sf_any(large)) {
    const V c = sf_if(large, a, V(256.0)), z = sf_if(large, x, V(256.0));
    r = sf_if(large, sf_gamma_uniform(c, z, sf_if(large, x_low, V(0.0)), upper), r);
  }
  return r;
}
template <class V> SN_PIECE V sf_gamma_ends(V a, V x, V x_low, bool upper) {
  const V none = V(upper ? 1.0 : 0.0), all = V(upper ? 0.0 : 1.0);
  const auto inner = (a > V(0.0)) & (x > V(0.0)) & (a < sf_inf(a)) & (x < sf_inf(x));
  // Only the quotient of the largest numbers matters, whose logarithm times a would overflow.
  const V by = sf_if(a > V(1e300), V(9.094947017729282e-13), V(1.0));
  const V c = sf_if(inner, a * by, V(1.0)), z = sf_if(inner, sf_max(x * by, V(5e-324)), V(1.0)), z_low = sf_if(inner, x_low * by, V(0.0));
  V w = V(0.0);
  if (sf_any(!sf_gamma_is_uniform(c, z))) w = sf_gamma_weight(sf_gamma_scale_of(c), c, z, z_low);
  V r = sf_gamma_part(c, z, z_low, w, V(upper ? 1.0 : 0.0));
  const V ends = sf_if(a == V(0.0), sf_if(x > V(0.0), all, sf_nan(x)),
                       sf_if(x == V(0.0), none, sf_if(a == sf_inf(a), sf_if(x == sf_inf(x), sf_nan(x), none), all)));
  r = sf_if(inner, r, ends);
  return sf_if((a >= V(0.0)) & (x >= V(0.0)), r, sf_nan(x));
}
template <class V> SN_FN V sf_gammainc(V a, V x) { return sf_gamma_ends(a, x, V(0.0), false); }
template <class V> SN_FN V sf_gammaincc(V a, V x) { return sf_gamma_ends(a, x, V(0.0), true); }

/// Q(k + 1, m) for whole k from 0 to 20 and 0 < m < 700: exp(-m) times the sum of m^j / j! up to k (M. Abramowitz, I. A. Stegun
/// 26.4.21). Times k! it is a sum of whole multiples of powers, which is formed with the errors of its operations.
template <class V> SN_PIECE V sf_poisson_sum(V k, V m) {
  V power = V(1.0), power_low = V(0.0), sum = V(1.0), low = V(0.0), factorial = V(1.0);
  SN_ROLLED
  for (double at = 1.0, end = sf_most(k); at <= end; at += 1.0) {
    const V j(at);
    const auto inside = j <= k;
    const sf_pair<V> p = sf_product(power, m), q = sf_product(sum, j), s = sf_sum(q.hi, p.hi);
    power = p.hi;
    power_low = sf_fma(power_low, m, p.lo);
    sum = sf_if(inside, s.hi, sum);
    low = sf_if(inside, sf_fma(low, j, q.lo + (power_low + s.lo)), low);
    factorial = sf_if(inside, factorial * j, factorial);
  }
  return sf_exp(-m) * ((sum + low) / factorial);
}
/// The Poisson distribution: of at most k events, and of more, where m are expected.
template <class V> SN_FN V sf_pdtr(V k, V m) {
  const V zero = V(0.0), one = V(1.0), whole = sf_floor(k);
  const auto few = (whole >= zero) & (whole <= V(20.0)) & (m > zero) & (m < V(700.0));
  V r = zero;
  if (sf_any(few)) r = sf_poisson_sum(sf_if(few, whole, zero), sf_if(few, m, one));
  if (sf_any(!few)) {
    const V q = sf_gamma_ends(sf_if(few, one, whole + one), sf_if(few, one, m), zero, true);
    r = sf_if(few, r, sf_if(k < zero, sf_nan(k), q));
  }
  return r;
}
template <class V> SN_FN V sf_pdtrc(V k, V m) {
  return sf_if(k < V(0.0), sf_nan(k), sf_gamma_ends(sf_floor(k) + V(1.0), m, V(0.0), false));
}
/// The chi-square distribution of v degrees of freedom: up to x, and beyond.
template <class V> SN_FN V sf_chdtr(V v, V x) { return sf_gamma_ends(V(0.5) * v, V(0.5) * x, V(0.0), false); }
template <class V> SN_FN V sf_chdtrc(V v, V x) { return sf_gamma_ends(V(0.5) * v, V(0.5) * x, V(0.0), true); }
/// The gamma distribution of rate a and shape b: up to x, and beyond.
template <class V> SN_FN V sf_gdtr_part(V a, V b, V x, bool upper) {
  const sf_pair<V> p = sf_product(a, x);
  const V r = sf_gamma_ends(b, p.hi, sf_if((p.hi > V(1e-270)) & (p.hi < V(1e270)), p.lo, V(0.0)), upper);
  return sf_if(x < V(0.0), sf_nan(x), r);
}
template <class V> SN_FN V sf_gdtr(V a, V b, V x) { return sf_gdtr_part(a, b, x, false); }
template <class V> SN_FN V sf_gdtrc(V a, V b, V x) { return sf_gdtr_part(a, b, x, true); }

SN_SPECIAL_CALLED_2(gammainc, sf_gammainc)
SN_SPECIAL_CALLED_2(gammaincc, sf_gammaincc)
SN_SPECIAL_CALLED_2(pdtr, sf_pdtr)
SN_SPECIAL_CALLED_2(pdtrc, sf_pdtrc)
SN_SPECIAL_CALLED_2(chdtr, sf_chdtr)
SN_SPECIAL_CALLED_2(chdtrc, sf_chdtrc)
SN_SPECIAL_CALLED_3(gdtr, sf_gdtr)
SN_SPECIAL_CALLED_3(gdtrc, sf_gdtrc)

}  // namespace sn
