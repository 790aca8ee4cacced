// sinter prelude, special functions: the inverses of the incomplete gamma and beta functions, and of distributions.
// Halley's method in log x for the logarithm of the smaller of both tails, within a bracket. Where the first parameter is
// small, x is a power of the probability times a series that hardly depends on x, which gives the last digits.
namespace sn {

/// What Halley's method needs of a tail: its value, x times its derivative, and x times that of the derivative's logarithm.
template <class V> struct sf_tail {
  V value, slope, bend;
};
struct sf_gamma_tail {
  template <class V> SN_MEMBER sf_tail<V> of(const sf_gamma_scale<V>& scale, V a, V, V x, V upper) {
    const V weight = sf_gamma_weight(scale, a, x, V(0.0)), w = a * weight;
    return {sf_gamma_part(a, x, weight, upper), sf_if(upper > V(0.5), -w, w), a - x};
  }
};
struct sf_beta_tail {
  template <class V> SN_MEMBER sf_tail<V> of(const sf_beta_scale<V>& scale, V a, V b, V x, V upper) {
    const sf_pair<V> p = {x, V(0.0)}, q = sf_sum(V(1.0), -x);
    const V weight = sf_beta_weight(scale, a, b, p, q), w = weight / q.hi;
    return {sf_beta_part(a, b, p, q, upper, weight), sf_if(upper > V(0.5), -w, w), a - (b - V(1.0)) * x / q.hi};
  }
};
/// x in (0, most) from a first guess where the tail has the value `wanted`.
template <class Tail, class Scale, class V>
SN_SHARED V sf_solve(const Scale& scale, V a, V b, V wanted, V upper, V guess, V most) {
  V x = guess, low = V(0.0), high = most;
  auto open = (x > V(1e-290)) & (x < most);
  SN_ROLLED
  for (int k = 0; k < 100; ++k) {
    if (!sf_any(open)) break;
    const V at = sf_if(open, x, V(0.25));
    const sf_tail<V> t = Tail::of(scale, a, b, at, upper);
    const auto complement = upper > V(0.5);
    const auto right = (complement & (t.value < wanted)) | ((!complement) & (t.value > wanted));
    high = sf_if(open & right, x, high);
    low = sf_if(open & !right, x, low);
    const V rate = t.slope / t.value, newton = -sf_log1p((t.value - wanted) / wanted) / rate, curve = t.bend - rate;
    const V turn = sf_min(sf_max(sf_fma(V(0.5) * newton, curve, V(1.0)), V(0.5)), V(3.0));
    const V step = newton / turn;
    const auto fine = sf_abs(step) * (V(1.0) + sf_abs(curve)) < V(3e-6);
    V next = sf_fma(x, sf_expm1(sf_min(step, V(600.0))), x);
    // Else the middle of the bracket in log x, or far to the left where that has no end
    const auto outside = (!fine) & !((next > low) & (next < high));
    next = sf_if(outside, sf_if(low > V(0.0), sf_sqrt(low) * sf_sqrt(high), high * V(1e-3)), next);
    x = sf_if(open, next, x);
    open = open & (!fine) & (x > V(1e-290));
  }
  return sf_if(open, sf_nan(x), x);
}
/// log p as a pair, from the smaller one of p and q = 1 - p.
template <class V> SN_PIECE sf_pair<V> sf_log_tail(V p, V q) {
  const sf_pair<V> minus = {-q, V(0.0)};
  return sf_pair_if(p <= q, sf_log_pair(p), sf_log1p_pair(minus));
}
/// The number that a standard normal variable exceeds with probability p.
template <class V> SN_PIECE V sf_normal_tail(V p, V q) {
  const V least = sf_min(p, q);
  return sf_if(p <= q, V(1.41421356237309504880), V(-1.41421356237309504880)) * sf_erfcinv_of(least + least);
}

/// x with P(a, x) = p and Q(a, x) = q for finite a > 0 and p, q in (0, 1).
template <class V> SN_SHARED V sf_gamma_inverse(V a, V p, V q) {
  const V one = V(1.0), zero = V(0.0);
  const auto small = a < one;
  const auto upper = p > q;
  // For small x the leading power; else E. B. Wilson, M. M. Hilferty 1931
  const V c = sf_if(small, sf_gammaln_1p(sf_if(small, a, one)), sf_gammaln_positive(a + one));
  const sf_pair<V> u = sf_plus(sf_over(sf_log_tail(p, q), {a, zero}), c / a);
  const V power = sf_exp(u.hi, u.lo), ninth = V(0.1111111111111111) / a;
  const V cube = one - ninth - sf_normal_tail(p, q) * sf_sqrt(ninth);
  const V tail = -sf_log(q / a), far = sf_max(tail - (one - a) * sf_log(sf_max(tail, one)), V(0.7));
  V guess = sf_if(small, sf_if(tail > V(1.5), far, power), sf_if(cube > V(0.3), a * cube * cube * cube, power));
  V x = sf_solve<sf_gamma_tail>(sf_gamma_scale_of(a), a, one, sf_if(upper, q, p), sf_if(upper, one, zero), guess, V(1e300));
  const auto near = small & (x < V(0.8));
  if (sf_any(near)) {
    const V z = sf_if(near, x, zero);
    V s = zero, factor = one, n = zero;
    SN_ROLLED
    for (int k = 0; k < 40; ++k) {
      n = n + one;
      factor = factor * (-z / n);
      const V next = s + factor / (a + n);
      if (!sf_any(next != s)) break;
      s = next;
    }
    const sf_pair<V> v = sf_plus(u, -sf_log1p(a * s) / a);
    x = sf_if(near, sf_exp(v.hi, v.lo), x);
  }
  return x;
}
template <class V> SN_FN V sf_gamma_inverse_ends(V a, V p, V q) {
  const V zero = V(0.0), one = V(1.0), inf = sf_inf(a);
  const auto inner = (a > zero) & (a < inf) & (p > zero) & (q > zero);
  V r = sf_gamma_inverse(sf_if(inner, a, one), sf_if(inner, p, V(0.5)), sf_if(inner, q, V(0.5)));
  r = sf_if(inner, r, sf_if(p <= zero, zero, sf_if(q <= zero, inf, sf_nan(a))));
  return sf_if((a >= zero) & (p >= zero) & (q >= zero), r, sf_nan(a));
}
template <class V> SN_FN V sf_gammaincinv(V a, V p) { return sf_gamma_inverse_ends(a, p, V(1.0) - p); }
template <class V> SN_FN V sf_gammainccinv(V a, V q) { return sf_gamma_inverse_ends(a, V(1.0) - q, q); }
template <class V> SN_FN V sf_chdtri(V v, V q) { return V(2.0) * sf_gammainccinv(V(0.5) * v, q); }
/// The mean for which a Poisson distribution has at most k events with probability p.
template <class V> SN_FN V sf_pdtri(V k, V p) {
  const V r = sf_gammainccinv(sf_trunc(k) + V(1.0), p);
  return sf_if((k > V(-1.0)) & (p < V(1.0)) & (k < sf_inf(k)), r, sf_nan(k));
}

/// x and y = 1 - x with I(a, b, x) = p = 1 - q for finite a, b > 0 and p, q in (0, 1).
template <class V> struct sf_two {
  V x, y;
};
template <class V> SN_SHARED sf_two<V> sf_beta_inverse(V first, V second, V first_p, V first_q) {
  const V one = V(1.0), zero = V(0.0), half = V(0.5);
  // Turned so that x <= 1/2
  const sf_pair<V> middle = {half, zero};
  const auto large = first_p > first_q;
  sf_beta_scale<V> scale = sf_beta_scale_of(first, second);
  const V at = sf_beta_part(first, second, middle, middle, sf_if(large, one, zero), sf_beta_weight(scale, first, second, middle,
      middle));
  const auto turned = (large & (at > first_q)) | ((!large) & (at < first_p));
  const V a = sf_if(turned, second, first), b = sf_if(turned, first, second);
  const V p = sf_if(turned, first_q, first_p), q = sf_if(turned, first_p, first_q);
  const auto upper = p > q;
  const auto small = a < one;
  // The leading power; M. Abramowitz, I. A. Stegun 26.5.22
  const sf_pair<V> lp = sf_log_tail(p, q), l = sf_betaln_pair(a, b);
  const V rough = (lp.hi - l.hi - sf_log_pair(a).hi) / a;
  const V z = sf_normal_tail(p, q), k = (z * z - V(3.0)) * V(0.16666666666666666);
  const V c = one / (a + a - one), d = one / (b + b - one), h = V(2.0) / (c + d);
  const V w = z * sf_sqrt(sf_max(h + k, zero)) / h - (d - c) * (k + V(0.8333333333333333) - V(0.6666666666666666) / h);
  const V normal = a / (a + b * sf_exp(w + w));
  const auto bell = (a > one) & (b > one) & (h + k > zero);
  V x = sf_min(sf_if(bell, normal, sf_exp(rough)), V(0.499));
  if (sf_any(turned)) scale = sf_beta_scale_of(a, b);
  x = sf_solve<sf_beta_tail>(scale, a, b, sf_if(upper, q, p), sf_if(upper, one, zero), x, V(0.5000001));
  const auto near = small & (x <= half) & (b * x <= V(0.8));
  if (sf_any(near)) {
    const V e = sf_if(near, a, half), f = sf_if(near, b, one);
    const V s = sf_beta_small_sum(e, f, sf_if(near, x, zero));
    const sf_pair<V> t = sf_beta_small_factor(e, f);
    const sf_pair<V> u = sf_plus(sf_plus(sf_over(lp, {e, zero}), -t.hi), -t.lo - sf_log1p(e * s) / e);
    x = sf_if(near, sf_exp(u.hi, u.lo), x);
  }
  return {sf_if(turned, one - x, x), sf_if(turned, x, one - x)};
}
template <class V> SN_FN sf_two<V> sf_beta_inverse_ends(V a, V b, V p, V q) {
  const V zero = V(0.0), one = V(1.0), inf = sf_inf(a);
  const auto inner = (a > zero) & (b > zero) & (a < inf) & (b < inf) & (p > zero) & (q > zero);
  const sf_two<V> r = sf_beta_inverse(sf_if(inner, a, one), sf_if(inner, b, one), sf_if(inner, p, V(0.5)),
      sf_if(inner, q, V(0.5)));
  const auto good = (a > zero) & (b > zero) & (p >= zero) & (q >= zero);
  const V ends = sf_if(p <= zero, zero, sf_if(q <= zero, one, sf_nan(p)));
  return {sf_if(good, sf_if(inner, r.x, ends), sf_nan(a)), sf_if(good, sf_if(inner, r.y, one - ends), sf_nan(a))};
}
template <class V> SN_FN V sf_betaincinv(V a, V b, V p) { return sf_beta_inverse_ends(a, b, p, V(1.0) - p).x; }
template <class V> SN_FN V sf_betainccinv(V a, V b, V q) { return sf_beta_inverse_ends(a, b, V(1.0) - q, q).x; }
/// The probability of success for which at most k of n trials succeed with probability p.
template <class V> SN_FN V sf_bdtri(V count, V trials, V p) {
  const V k = sf_floor(count), n = sf_trunc(trials);
  const V r = sf_betainccinv(k + V(1.0), n - k, p);
  return sf_if((k >= V(0.0)) & (k < n) & (n < sf_inf(n)), r, sf_nan(k));
}
template <class V> SN_FN V sf_nbdtri(V k, V n, V p) {
  const V r = sf_betaincinv(sf_trunc(n), sf_trunc(k) + V(1.0), p);
  return sf_if((k > V(-1.0)) & (k < sf_inf(k)) & (n < sf_inf(n)), r, sf_nan(k));
}
template <class V> SN_FN V sf_fdtri(V a, V b, V p) {
  const sf_two<V> r = sf_beta_inverse_ends(V(0.5) * a, V(0.5) * b, p, V(1.0) - p);
  return sf_if((a < sf_inf(a)) & (b < sf_inf(b)), (b / a) * (r.x / r.y), sf_nan(p));
}

SN_SPECIAL_CALLED_2(gammaincinv, sf_gammaincinv)
SN_SPECIAL_CALLED_2(gammainccinv, sf_gammainccinv)
SN_SPECIAL_CALLED_2(chdtri, sf_chdtri)
SN_SPECIAL_CALLED_2(pdtri, sf_pdtri)
SN_SPECIAL_CALLED_3(betaincinv, sf_betaincinv)
SN_SPECIAL_CALLED_3(betainccinv, sf_betainccinv)
SN_SPECIAL_CALLED_3(bdtri, sf_bdtri)
SN_SPECIAL_CALLED_3(nbdtri, sf_nbdtri)
SN_SPECIAL_CALLED_3(fdtri, sf_fdtri)

}  // namespace sn
