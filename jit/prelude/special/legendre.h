// sinter prelude, special functions: associated Legendre functions and spherical harmonics of whole degree and order, by the
// recurrences in the degree, which are stable on [-1, 1] (NIST Digital Library of Mathematical Functions 14.10.3, 14.30.1).
namespace sn {

/// P of whole degree n and order 0 <= m <= n without P of degree m, and the logarithm of what it is divided by. With
/// b = (l + m - 1) / (l - m) a step of the recurrence is P(l) = x P(l - 1) + b (x P(l - 1) - P(l - 2)); beside each number goes its
/// error, to first order.
template <class V> struct sf_scaled {
  V value, log;
};
template <class V> SN_SHARED sf_scaled<V> sf_legendre_rise(V n, V m, sf_pair<V> x) {
  sf_pair<V> r = {V(1.0), V(0.0)}, before = {V(0.0), V(0.0)};
  V log = V(0.0);
  SN_ROLLED
  for (double at = 1.0 - sf_most(-m), end = sf_most(n); at <= end; at += 1.0) {
    const V l(at);
    const auto more = (l > m) & (l <= n);
    const V by = l + m - V(1.0), steps = sf_if(more, l - m, V(1.0)), inverse = V(1.0) / steps, b = by * inverse;
    const sf_pair<V> p = sf_product(x.hi, r.hi), t = sf_sum(p.hi, -before.hi);
    const V p_low = sf_fma(x.hi, r.lo, sf_fma(x.lo, r.hi, p.lo)), t_low = t.lo + (p_low - before.lo);
    const sf_pair<V> q = sf_product(b, t.hi), s = sf_sum(p.hi, q.hi);
    const V low = s.lo + (p_low + sf_fma(b, t_low, sf_fma(sf_fma(-b, steps, by) * inverse, t.hi, q.lo)));
    before = sf_pair_if(more, r, before);
    r = sf_pair_if(more, {s.hi, low}, r);
    const auto large = more & (sf_abs(r.hi) > V(1e200));
    if (sf_any(large)) {
      const V scale = sf_if(large, V(1e-200), V(1.0));
      before = {before.hi * scale, before.lo * scale};
      r = {r.hi * scale, r.lo * scale};
      log = sf_if(large, log + V(460.51701859880916), log);
    }
  }
  return {r.hi + r.lo, log};
}
/// (2 m - 1)!! root^m for whole m from 0 to 60, and (n + m)! / (n - m)!.
template <class V> struct sf_products {
  sf_pair<V> start, factorials;
};
template <class V> SN_SHARED sf_products<V> sf_legendre_products(V n, V m, sf_pair<V> root) {
  const sf_pair<V> one = {V(1.0), V(0.0)};
  sf_products<V> r = {one, one};
  SN_ROLLED
  for (double at = 1.0, end = sf_most(m); at <= end; at += 1.0) {
    const V k(at), twice(2.0 * at), from = n - m + twice;
    const auto inside = k <= m;
    r.start = sf_pair_if(inside, sf_times(sf_times(r.start, root), twice - V(1.0)), r.start);
    r.factorials = sf_pair_if(inside, sf_times(r.factorials, from * (from - V(1.0))), r.factorials);
  }
  return r;
}
/// The root of a pair that is not negative.
template <class V> SN_FN sf_pair<V> sf_root(sf_pair<V> x) {
  const V q = sf_sqrt(x.hi), rest = sf_fma(-q, q, x.hi) + x.lo;
  return {q, sf_if(q > V(0.0), V(0.5) * rest / q, V(0.0))};
}
/// log((2 m - 1)!! root^m) for whole m >= 0, from the logarithm of the root.
template <class V> SN_FN sf_pair<V> sf_legendre_start(V m, sf_pair<V> root) {
  if (!sf_any(m > V(0.0))) return {V(0.0), V(0.0)};
  const sf_pair<V> a = sf_gammaln_pair(m + m + V(1.0), V(0.0)), b = sf_gammaln_pair(m + V(1.0), V(0.0));
  const sf_pair<V> log_2 = {V(0.6931471805599453), V(2.3190468138462996e-17)};
  const sf_pair<V> p = sf_plus(sf_plus(a, sf_minus(b)), sf_times(sf_plus(root, sf_minus(log_2)), m));
  return sf_pair_if(m == V(0.0), {V(0.0), V(0.0)}, p);
}
/// log((n - m)! / (n + m)!) for whole 0 <= m <= n.
template <class V> SN_FN sf_pair<V> sf_factorial_quotient(V n, V m) {
  return sf_plus(sf_gammaln_pair(n - m + V(1.0), V(0.0)), sf_minus(sf_gammaln_pair(n + m + V(1.0), V(0.0))));
}
/// P of degree v and order m with the phase of E. U. Condon and G. H. Shortley. Degrees above 10^5 give NaN.
template <class V> SN_FN V sf_lpmv(V order, V degree, V x) {
  const V one = V(1.0), zero = V(0.0);
  const V n = sf_if(degree < zero, -one - degree, degree), m = sf_abs(order);
  const auto good = (n == sf_floor(n)) & (m == sf_floor(m)) & (n <= V(1e5)) & (sf_abs(x) <= one);
  const auto inside = good & (m <= n);
  const auto ends = (sf_abs(x) == one) & (m > zero);
  const V last = sf_if(inside, n, zero), first = sf_if(inside, m, zero), y = sf_if(inside & !ends, x, zero);
  const sf_scaled<V> s = sf_legendre_rise(last, first, {sf_if(inside, x, zero), zero});
  const sf_pair<V> squared = sf_times(sf_sum(one, -y), sf_sum(one, y));
  const auto few = (last <= V(60.0)) & ((first == zero) | (squared.hi > V(1e-6)));
  V r = zero;
  if (sf_any(few)) {
    const sf_products<V> p = sf_legendre_products(last, sf_if(few, first, zero), sf_root(squared));
    const sf_pair<V> turned = sf_pair_if(order < zero, sf_over(p.start, p.factorials), p.start);
    r = sf_if(few, turned.hi * s.value, r);
  }
  if (sf_any(!few)) {
    const sf_pair<V> root = sf_times(sf_log_pair(squared), V(0.5));
    sf_pair<V> p = sf_plus(sf_legendre_start(first, root), s.log);
    if (sf_any(order < zero)) p = sf_pair_if(order < zero, sf_plus(p, sf_factorial_quotient(last, first)), p);
    r = sf_if(few, r, sf_exp(p.hi, p.lo) * s.value);
  }
  r = sf_if(order < zero, one, sf_parity(first)) * r;
  return sf_if(inside, sf_if(ends, zero, r + zero), sf_if(good & (order > zero), zero, sf_nan(x)));
}
/// The spherical harmonic of degree n and order m at azimuth 0: P of cos(theta), normalised; of abs(sin(theta)).
template <class V> SN_FN V sf_sph_legendre(V degree, V order, V theta) {
  const V one = V(1.0), zero = V(0.0), m = sf_abs(order);
  const auto good = (degree >= zero) & (degree == sf_floor(degree)) & (m == sf_floor(m)) & (degree <= V(1e5)) &
    (sf_abs(theta) < sf_inf(theta));
  const auto inside = good & (m <= degree);
  const V n = sf_if(inside, degree, zero), first = sf_if(inside, m, zero);
  const sf_pair_sine_cosine<V> t = sf_sincos_pairs(sf_if(good, theta, zero));
  const auto ends = (t.sin.hi == zero) & (m > zero);
  const auto minus = t.sin.hi < zero;
  const sf_scaled<V> s = sf_legendre_rise(n, first, t.cos);
  const sf_pair<V> sine = sf_pair_if(minus, sf_minus(t.sin), t.sin), unit = {one, zero};
  const auto few = (n <= V(60.0)) & ((first == zero) | (sine.hi > V(1e-3)));
  V r = zero;
  if (sf_any(few)) {
    const sf_products<V> p = sf_legendre_products(n, sf_if(few, first, zero), sine);
    const V norm = sf_sqrt((n + n + one) * V(0.079577471545947668) / p.factorials.hi);
    r = sf_if(few, norm * p.start.hi * s.value, r);
  }
  if (sf_any(!few)) {
    const sf_pair<V> p = sf_plus(sf_legendre_start(first, sf_log_pair(sf_pair_if(sine.hi == zero, unit, sine))), s.log);
    const sf_pair<V> norm = sf_plus(sf_log_pair(n + n + one), {V(-2.5310242469692907), V(-5.664688743963382e-17)});
    const sf_pair<V> q = sf_plus(p, sf_times(sf_plus(norm, sf_factorial_quotient(n, first)), V(0.5)));
    r = sf_if(few, r, sf_exp(q.hi, q.lo) * s.value);
  }
  const V sign = sf_if(order < zero, one, sf_parity(first));
  return sf_if(inside, sf_if(ends, zero, sign * r), sf_if(good, zero, sf_nan(theta)));
}
/// The cosine and the sine of a product.
template <class V> SN_FN sf_sine_cosine<V> sf_sincos_product(V m, V x) {
  const sf_pair<V> p = sf_product(m, x);
  const sf_sine_cosine<V> t = sf_sincos(p.hi);
  const V low = sf_if(sf_abs(p.hi) < V(1e290), p.lo, V(0.0));
  return {sf_fma(low, t.cos, t.sin), sf_fma(-low, t.sin, t.cos)};
}
template <class V> SN_FN V sf_sine_of_product(V m, V x) { return sf_sincos_product(m, x).sin; }
template <class V> SN_FN V sf_cosine_of_product(V m, V x) { return sf_sincos_product(m, x).cos; }

SN_SPECIAL_CALLED_3(lpmv, sf_lpmv)
SN_SPECIAL_CALLED_3(sph_legendre, sf_sph_legendre)
SN_SPECIAL_CALLED_2(sine_of_product, sf_sine_of_product)
SN_SPECIAL_CALLED_2(cosine_of_product, sf_cosine_of_product)

}  // namespace sn
