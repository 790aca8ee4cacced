// sinter prelude, special functions: Bessel functions of any real order.
namespace sn {

/// J of order v at a finite x > 0 by its powers (M. Abramowitz, I. A. Stegun 9.1.10), for x^2 < 4 (abs(v) + 1).
template <class V> SN_PIECE V sf_jv_series(V v, V x) {
  const V one = V(1.0), zero = V(0.0), q = V(-0.25) * x * x;
  V term = one, sum = one, k = zero;
  SN_ROLLED
  for (int n = 0; n < 100; ++n) {
    k = k + one;
    term = term * (q / (k * (v + k)));
    const V next = sum + term;
    if (!sf_any(next != sum)) break;
    sum = next;
  }
  const sf_pair<V> w = sf_sum(v, one);
  const sf_signed_log<V> g = sf_gammaln_signed(w.hi, w.lo);
  const sf_pair<V> p = sf_plus(sf_times(sf_log_pair(V(0.5) * x), v), sf_minus(g.log));
  return g.sign * sf_exp(p.hi, p.lo) * sum;
}
/// For x > 25 and x > v^2 / 2: H. Hankel's expansion (Abramowitz, Stegun 9.2.5).
template <class V> SN_PIECE V sf_jv_hankel(V v, V x) {
  const V one = V(1.0), zero = V(0.0), square = V(4.0) * v * v, i = V(0.125) / x;
  V p = one, q = zero, term = one, k = zero;
  auto open = x > zero;
  SN_ROLLED
  for (int n = 0; n < 60; ++n) {
    if (!sf_any(open)) break;
    k = k + one;
    const V odd = k + k - one, next = term * (sf_fma(-odd, odd, square) * i / k);
    open = open & ((sf_abs(next) < sf_abs(term)) | (k < sf_abs(v))) & (sf_abs(next) > V(1e-18));
    term = next;
    // + to q, - to p, - to q, + to p
    const bool even = n % 2 == 1;
    const V sign = V(n % 4 == 0 || n % 4 == 3 ? 1.0 : -1.0);
    p = sf_if(open, even ? p + sign * term : p, p);
    q = sf_if(open, even ? q : q + sign * term, q);
  }
  // The cosine and the sine of x - pi (v / 2 + 1 / 4)
  const sf_sine_cosine<V> t = sf_sincos(x);
  const V turn = sf_fma(V(0.5), v, V(0.25)), whole = turn - V(2.0) * sf_rint(V(0.5) * turn);
  const V c = sf_cospi(whole), s = sf_sinpi(whole);
  const V cosine = sf_fma(t.cos, c, t.sin * s), sine = sf_fma(t.sin, c, -(t.cos * s));
  return sf_sqrt(V(0.63661977236758134308) / x) * (p * cosine - q * sine);
}
/// Else J. C. P. Miller's recurrence by pairs from a high order, scaled by C. G. Neumann's sum of even orders (Abramowitz,
/// Stegun 9.1.87), and below order 0 further down. More than 10^5 steps give NaN.
template <class V> SN_PIECE V sf_jv_miller(V v, V x) {
  const V one = V(1.0), zero = V(0.0), whole = sf_floor(v), part = v - whole;
  const V most = sf_max(sf_abs(v), x);
  const V wanted = sf_floor(most + V(30.0) + V(10.0) * sf_exp(V(0.3333333333333333) * sf_log(most)));
  const V top = V(2.0) * sf_floor(V(0.5) * sf_min(wanted, V(1e5)));
  const V last = V(0.5) * top, end = sf_min(whole, zero);
  const sf_pair<V> two = sf_over<V>({V(2.0), zero}, {x, zero});
  // gamma(part + k) / (gamma(part + 1) k!) of the sum's term k
  const sf_pair<V> from = sf_sum(part, last), one_more = sf_sum(part, one);
  const sf_pair<V> gamma_of = sf_gammaln_pair(one_more.hi, one_more.lo);
  const sf_pair<V> below = sf_plus(gamma_of, sf_gammaln_pair(last + one, zero));
  const sf_pair<V> l = sf_plus(sf_gammaln_pair(from.hi, from.lo), sf_minus(below));
  sf_pair<V> weight = {sf_exp(l.hi, l.lo), zero}, r = {V(1e-200), zero}, above = {zero, zero}, sum = above, result = above;
  const double bottom = -sf_most(-end);
  SN_ROLLED
  for (double at = sf_most(top); at >= bottom; at -= 1.0) {
    const V k(at), half(0.5 * at);
    const auto inside = (k <= top) & (k >= end);
    const sf_pair<V> order = sf_sum(part, k);
    result = sf_pair_if(inside & (k == whole), r, result);
    if (0.5 * at == sf_floor(0.5 * at) && at >= 0.0) {
      const sf_pair<V> factor = at > 0.0 ? sf_times(order, weight) : sf_pair<V>{one, zero};
      sum = sf_pair_if(inside, sf_plus(sum, sf_times(factor, r)), sum);
      const sf_pair<V> less = sf_over(sf_times(weight, half), sf_sum(part, half - one));
      weight = sf_pair_if(inside & (half > one), less, weight);
    }
    const sf_pair<V> next = sf_plus(sf_times(sf_times(order, two), r), sf_minus(above));
    const auto large = sf_abs(next.hi) > V(1e200);
    const V scale = sf_if(inside & large, V(1e-200), one);
    above = sf_pair_if(inside, {r.hi * scale, r.lo * scale}, above);
    r = sf_pair_if(inside, {next.hi * scale, next.lo * scale}, r);
    sum = {sum.hi * scale, sum.lo * scale};
    result = {result.hi * scale, result.lo * scale};
  }
  const sf_pair<V> p = sf_plus(sf_times(sf_log_pair(V(0.5) * x), part), sf_minus(gamma_of));
  return sf_if(wanted > top + V(2.0), sf_nan(x), result.hi / sum.hi * sf_exp(p.hi, p.lo));
}
template <class V> SN_FN V sf_jv(V order, V argument) {
  const V one = V(1.0), zero = V(0.0), inf = sf_inf(order);
  const auto whole = order == sf_floor(order);
  const auto flip = whole & (order < zero);
  const V x = sf_abs(argument), v = sf_if(flip, -order, order);
  const V sign = sf_if((flip & !(argument < zero)) | (whole & (argument < zero) & !flip), sf_parity(v), one);
  const auto usual = (x > zero) & (x < inf) & (sf_abs(v) < inf) & (whole | (argument > zero));
  const V a = sf_if(usual, sf_abs(v), one), z = sf_if(usual, x, one), w = sf_if(usual, v, one);
  const auto series = z * z < V(4.0) * (a + one);
  const auto far = (!series) & (z > V(25.0)) & (z > V(0.5) * a * a);
  const auto other = !(series | far);
  V r = zero;
  if (sf_any(series)) r = sf_if(series, sf_jv_series(sf_if(series, w, one), sf_if(series, z, one)), r);
  if (sf_any(far)) r = sf_if(far, sf_jv_hankel(sf_if(far, w, one), sf_if(far, z, V(30.0))), r);
  if (sf_any(other)) r = sf_if(other, sf_jv_miller(sf_if(other, w, one), sf_if(other, z, V(5.0))), r);
  const V at_0 = sf_if(v == zero, one, sf_if((v > zero) | whole, zero, sf_parity(sf_floor(v) + one) * inf));
  const auto known = (sf_abs(v) < inf) & (whole | (argument >= zero));
  const V ends = sf_if(known & (x == zero), at_0, sf_if(known & (x == inf), zero, sf_nan(v)));
  return sf_if(usual, sign * r, ends);
}

SN_SPECIAL_CALLED_2(jv, sf_jv)

}  // namespace sn
