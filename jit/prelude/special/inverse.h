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
    return {sf_gamma_part(a, x, V(0.0), weight, upper), sf_if(upper > V(0.5), -w, w), a - x};
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
/// For small a from the logarithm of the probability, and an x that is near: the last digits of x.
template <class V> SN_PIECE V sf_beta_inverse_small(V a, V b, sf_pair<V> log_p, V x) {
  const V s = sf_beta_small_sum(a, b, x);
  const sf_pair<V> t = sf_beta_small_factor(a, b);
  const sf_pair<V> u = sf_plus(sf_plus(sf_over(log_p, {a, V(0.0)}), -t.hi), -t.lo - sf_log1p(a * s) / a);
  return sf_exp(u.hi, u.lo);
}
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
  const V rough = (lp.hi + l.hi + sf_log_pair(a).hi) / a;
  const V z = sf_normal_tail(p, q), k = (z * z - V(3.0)) * V(0.16666666666666666);
  const V c = one / (a + a - one), d = one / (b + b - one), h = V(2.0) / (c + d);
  const V w = z * sf_sqrt(sf_max(h + k, zero)) / h - (d - c) * (k + V(0.8333333333333333) - V(0.6666666666666666) / h);
  const V normal = a / (a + b * sf_exp(w + w));
  const auto bell = (a > one) & (b > one) & (h + k > zero);
  V x = sf_min(sf_if(bell, normal, sf_exp(rough)), V(0.499));
  if (sf_any(turned)) scale = sf_beta_scale_of(a, b);
  x = sf_solve<sf_beta_tail>(scale, a, b, sf_if(upper, q, p), sf_if(upper, one, zero), x, V(0.5000001));
  const auto near = small & (x <= half) & (b * x <= V(0.8));
  if (sf_any(near)) x = sf_if(near, sf_beta_inverse_small(sf_if(near, a, half), sf_if(near, b, one), lp, sf_if(near, x, zero)), x);
  return {sf_if(turned, one - x, x), sf_if(turned, x, one - x)};
}
struct sf_in_full {
  template <class V> SN_MEMBER sf_two<V> of(V a, V b, V p, V q) { return sf_beta_inverse(a, b, p, q); }
};
template <class By, class V> SN_FN sf_two<V> sf_beta_inverse_ends(V a, V b, V p, V q) {
  const V zero = V(0.0), one = V(1.0), inf = sf_inf(a);
  const auto inner = (a > zero) & (b > zero) & (a < inf) & (b < inf) & (p > zero) & (q > zero);
  const sf_two<V> r = By::of(sf_if(inner, a, one), sf_if(inner, b, one), sf_if(inner, p, V(0.5)),
      sf_if(inner, q, V(0.5)));
  const auto good = (a > zero) & (b > zero) & (p >= zero) & (q >= zero);
  const V ends = sf_if(p <= zero, zero, sf_if(q <= zero, one, sf_nan(p)));
  return {sf_if(good, sf_if(inner, r.x, ends), sf_nan(a)), sf_if(good, sf_if(inner, r.y, one - ends), sf_nan(a))};
}
template <class By, class V> SN_FN V sf_betaincinv_by(V a, V b, V p) { return sf_beta_inverse_ends<By>(a, b, p, V(1.0) - p).x; }
template <class By, class V> SN_FN V sf_betainccinv_by(V a, V b, V q) { return sf_beta_inverse_ends<By>(a, b, V(1.0) - q, q).x; }
/// The probability of success for which at most k of n trials succeed with probability p.
template <class By, class V> SN_FN V sf_bdtri_by(V count, V trials, V p) {
  const V k = sf_floor(count), n = sf_trunc(trials);
  const V r = sf_betainccinv_by<By>(k + V(1.0), n - k, p);
  return sf_if((k >= V(0.0)) & (k < n) & (n < sf_inf(n)), r, sf_nan(k));
}
template <class By, class V> SN_FN V sf_nbdtri_by(V k, V n, V p) {
  const V r = sf_betaincinv_by<By>(sf_trunc(n), sf_trunc(k) + V(1.0), p);
  return sf_if((k > V(-1.0)) & (k < sf_inf(k)) & (n < sf_inf(n)), r, sf_nan(k));
}
template <class By, class V> SN_FN V sf_fdtri_by(V a, V b, V p) {
  const sf_two<V> r = sf_beta_inverse_ends<By>(V(0.5) * a, V(0.5) * b, p, V(1.0) - p);
  return sf_if((a < sf_inf(a)) & (b < sf_inf(b)), (b / a) * (r.x / r.y), sf_nan(p));
}

// ---- float32: the same without pairs and to some 10^-9, which a result of float32 does not show

/// log(x) for normal x > 0, to 5 10^-12 of itself.
template <class V> SN_FN V brief_log(V x) {
  typedef decltype(sf_bits(V())) word;
  const word b = sf_bits(x), u = b + word(0x00095f619980c433ull), biased = u >> 52;  // as in sf_log_pair
  const V k = sf_number(biased | word(0x4330000000000000ull)) - V(4503599627370496.0 + 1023);
  const V m = sf_number(b - (biased << 52) + word(0x3ff0000000000000ull));
  const V s = (m - V(1.0)) / (m + V(1.0)), z = s * s;
  const V p = sf_poly(z, 2.0, 0.6666666564545234, 0.40000335191768915, 0.2853730849001675, 0.2358215221189705);
  return sf_fma(k, V(0.6931471805599453), s * p);
}
/// log(1 + x), of x above -1, where 1 + x itself is given as well.
template <class V> SN_FN V brief_log_1p(V x, V whole) {
  const V s = x / (x + V(2.0)), z = s * s;
  const V near = s * sf_poly(z, 2.0, 0.6666666564545234, 0.40000335191768915, 0.2853730849001675, 0.2358215221189705);
  return sf_if(sf_abs(x) < V(0.25), near, brief_log(whole));
}
template <class V> SN_FN V brief_stirling_rest(V x) {
  const V i = V(1.0) / x;
  return i * sf_poly(i * i, 0.08333333068449097, -0.0027774454938640004, 0.0007822103297643433, -0.00044161390450987974);
}
/// What sf_beta_scale is; c and d are those of sf_beta_terms.
template <class V> struct brief_beta_scale {
  V c, d, from_a, from_b, rest, factor;
};
template <class V> SN_PIECE brief_beta_scale<V> brief_beta_scale_of(V a, V b) {
  const V three = V(3.0), zero = V(0.0), one = V(1.0);
  const auto low_a = a < three, low_b = b < three;
  const V c = a + sf_if(low_a, three, zero), d = b + sf_if(low_b, three, zero), sum = a + b;
  const V s = sum + (c - a) + (d - b);
  V factor = sf_sqrt(c * (d / s) * V(0.15915494309189533577));
  if (sf_any(low_a | low_b)) {
    const V cube = s * s * s, more = sum + three;
    const V steps_a = sf_if(low_a, a * (a + one) * (a + V(2.0)), one), steps_b = sf_if(low_b, b * (b + one) * (b + V(2.0)), one);
    const V back_a = sf_if(low_a, c * c * c, one), back_b = sf_if(low_b, d * d * d, one);
    const V up = sum * (sum + one) * (sum + V(2.0)), most = more * (more + one) * (more + V(2.0));
    const auto both = low_a & low_b;
    const V ratio = (steps_a * steps_b * cube * sf_if(both, cube, one)) / (back_a * back_b * up * sf_if(both, most, one));
    factor = sf_if(low_a | low_b, factor * ratio, factor);
  }
  return {c, d, s / c, s / d, brief_stirling_rest(c) + brief_stirling_rest(d) - brief_stirling_rest(s), factor};
}
template <class V> SN_FN sf_pair<V> brief_beta_distance(V a, V b, V x) {
  return sf_beta_distance<V>(a, b, {x, V(0.0)}, sf_sum(V(1.0), -x));
}
/// Where it takes more steps than sf_beta_wide_tail does.
template <class V> SN_FN auto brief_beta_is_wide(V a, V b) { return sf_min(a, b) >= V(16384.0); }
template <class V> SN_PIECE V brief_beta_weight(const brief_beta_scale<V>& scale, V a, V b, V x, V y) {
  const auto wide = brief_beta_is_wide(a, b), large = sf_max(a, b) > V(256.0);
  const V u = scale.from_a * x, v = scale.from_b * y;
  V p = V(0.0), q = p;
  if (sf_any(!large)) p = brief_log(u), q = brief_log(v);
  if (sf_any(large)) {
    // (c + d) x / c is 1 + m / c, of which a large c or d would leave nothing.
    const V m = brief_beta_distance(scale.c, scale.d, x).hi;
    p = sf_if(large, brief_log_1p(m / scale.c, u), p);
    q = sf_if(large, brief_log_1p(-m / scale.d, v), q);
  }
  const V s = sf_fma(a, p, b * q) - scale.rest;
  V r = sf_exp(s) * scale.factor;
  if (sf_any(wide)) r = sf_if(wide, sf_beta_wide_weight(a, b, brief_beta_distance(a, b, x), scale.rest, scale.factor), r);
  return r;
}
/// As sf_beta_series and sf_beta_fraction, by their terms from the first one on.
template <class V> SN_PIECE V brief_beta_series(V a, V b, V x) {
  V term = V(1.0), sum = term, k = V(0.0);
  auto more = term > V(0.5);
  SN_ROLLED
  for (int n = 0; n < 3000 && sf_any(more); ++n) {
    term = term * ((a + b + k) * x / (a + V(1.0) + k));
    k = k + V(1.0);
    sum = sf_if(more, sum + term, sum);
    more = more & (term > V(1e-10));
  }
  return sum;
}
template <class V> SN_PIECE V brief_beta_fraction(V a, V b, V x, V from) {
  const V inverse = V(1.0) / (a + V(1.0)), first = a * (from + V(1.0)) * inverse;
  V back = V(1.0) / first, change = back, sum = back, m = V(0.0);
  auto more = sum == sum;
  SN_ROLLED
  for (int n = 0; n < 10000 && sf_any(more); ++n) {
    m = m + V(1.0);
    const sf_fraction_term<V> t = sf_beta_term(a, b, x, from, inverse, m);
    const V next = V(1.0) / sf_fma(t.above, back, t.below);
    change = -(change * t.above * back * next);
    back = next;
    sum = sf_if(more, sum + change, sum);
    more = more & (sf_abs(change) > V(1e-10) * sf_abs(sum));
  }
  return sf_if(more, sf_nan(a), sum);
}
/// As sf_beta_part.
template <class V> SN_SHARED V brief_beta_part(V a, V b, V x, V y, V upper, V weight) {
  const V one = V(1.0), half = V(0.5), few = V(0.8);
  const auto left = (a < one) & (x <= half) & (b * x <= few), right = (!left) & (b < one) & (y <= half) & (a * y <= few);
  const auto plain = (a >= one) & (b >= one);
  const V distance = brief_beta_distance(a, b, x).hi;
  const auto below = left | ((!right) & ((plain & (distance <= V(0.0))) | ((!plain) & (b < one))));
  const V c = sf_if(below, a, b), d = sf_if(below, b, a), u = sf_if(below, x, y), from = sf_if(below, -distance, distance);
  const auto wide = brief_beta_is_wide(a, b);
  const auto series = (!wide) & (u <= half) & (d * u <= few);
  const auto fraction = !(wide | series);
  V r = V(0.0);
  if (sf_any(series)) r = sf_if(series, brief_beta_series(sf_if(series, c, one), sf_if(series, d, one), sf_if(series, u,
      half)) / c, r);
  if (sf_any(wide)) r = sf_if(wide, sf_beta_wide(a, b, x, y, distance), r);
  if (sf_any(fraction)) r = sf_if(fraction, brief_beta_fraction(sf_if(fraction, c, one), sf_if(fraction, d, one),
      sf_if(fraction, u, half), sf_if(fraction, from, V(0.0))), r);
  r = sf_if(weight == V(0.0), weight, r * weight);
  const auto complement = upper > half;
  const auto asked = (below & !complement) | (complement & !below);
  V other = one - r;
  const auto close = (left | right) & (!asked) & (r > half);
  if (sf_any(close)) other = sf_if(close, sf_beta_small(sf_if(close, c, half), sf_if(close, d, one),
      {sf_if(close, u, half), V(0.0)}), other);
  return sf_if(asked, r, other);
}
/// As sf_solve. What is left of an error is its cube.
template <class V> SN_SHARED V brief_solve(const brief_beta_scale<V>& scale, V a, V b, V wanted, V upper, V guess, V most) {
  const V zero = V(0.0), one = V(1.0);
  const auto complement = upper > V(0.5);
  V x = guess, low = zero, high = most;
  auto open = (x > V(1e-290)) & (x < most);
  SN_ROLLED
  for (int k = 0; k < 100; ++k) {
    if (!sf_any(open)) break;
    const V at = sf_if(open, x, V(0.25)), rest = one - at;
    const V weight = brief_beta_weight(scale, a, b, at, rest), i = one / rest;
    const V value = brief_beta_part(a, b, at, rest, upper, weight);
    const auto right = (complement & (value < wanted)) | ((!complement) & (value > wanted));
    high = sf_if(open & right, x, high);
    low = sf_if(open & !right, x, low);
    const V slope = weight * i, rate = sf_if(complement, -slope, slope) / value, newton = brief_log(wanted / value) / rate;
    const V curve = a - (b - one) * at * i - rate;
    const V step = newton / sf_min(sf_max(sf_fma(V(0.5) * newton, curve, one), V(0.5)), V(3.0));
    const auto fine = (value > zero) & (sf_abs(step) * (one + sf_abs(curve)) < V(1e-3));
    V next = x * sf_exp(sf_min(sf_max(step, V(-60.0)), V(600.0)));
    const auto outside = (!fine) & !((next > low) & (next < high));
    next = sf_if(outside, sf_if(low > zero, sf_sqrt(low) * sf_sqrt(high), high * V(1e-3)), next);
    x = sf_if(open, next, x);
    open = open & (!fine) & (x > V(1e-290));
  }
  return sf_if(open, sf_nan(x), x);
}
/// The number that a standard normal variable exceeds with probability p, to 5 10^-4 (M. Abramowitz, I. A. Stegun 26.2.23).
template <class V> SN_FN V brief_normal_tail(V p, V q) {
  const V t = sf_sqrt(V(-2.0) * brief_log(sf_min(p, q)));
  const V z = t - sf_poly(t, 2.515517, 0.802853, 0.010328) / sf_poly(t, 1.0, 1.432788, 0.189269, 0.001308);
  return sf_if(p <= q, z, -z);
}
/// As sf_beta_inverse.
template <class V> SN_SHARED sf_two<V> brief_beta_inverse(V first, V second, V first_p, V first_q) {
  const V one = V(1.0), zero = V(0.0), half = V(0.5);
  const auto large = first_p > first_q;
  const brief_beta_scale<V> whole = brief_beta_scale_of(first, second);
  const V at = brief_beta_part(first, second, half, half, sf_if(large, one, zero), brief_beta_weight(whole, first, second, half,
      half));
  const auto turned = (large & (at > first_q)) | ((!large) & (at < first_p));
  const V a = sf_if(turned, second, first), b = sf_if(turned, first, second);
  const V p = sf_if(turned, first_q, first_p), q = sf_if(turned, first_p, first_q);
  const brief_beta_scale<V> scale = {sf_if(turned, whole.d, whole.c), sf_if(turned, whole.c, whole.d),
      sf_if(turned, whole.from_b, whole.from_a), sf_if(turned, whole.from_a, whole.from_b), whole.rest, whole.factor};
  const auto upper = p > q;
  const auto small = a < one;
  const V log_a = brief_log_1p(scale.d / scale.c, scale.from_a), log_b = brief_log_1p(scale.c / scale.d, scale.from_b);
  const V less = sf_fma(a, log_a, b * log_b) - scale.rest + brief_log(scale.factor);
  const V rough = (brief_log(p) - less + brief_log(a)) / a;
  const V z = brief_normal_tail(p, q), k = (z * z - V(3.0)) * V(0.16666666666666666);
  const V c = one / (a + a - one), d = one / (b + b - one), h = V(2.0) / (c + d);
  const V w = z * sf_sqrt(sf_max(h + k, zero)) / h - (d - c) * (k + V(0.8333333333333333) - V(0.6666666666666666) / h);
  const auto bell = (a > one) & (b > one) & (h + k > zero);
  V x = sf_min(sf_if(bell, a / (a + b * sf_exp(w + w)), sf_exp(rough)), V(0.499));
  x = brief_solve(scale, a, b, sf_if(upper, q, p), sf_if(upper, one, zero), x, V(0.5000001));
  const auto near = small & (x <= half) & (b * x <= V(0.8));
  if (sf_any(near)) x = sf_if(near, sf_beta_inverse_small(sf_if(near, a, half), sf_if(near, b, one), sf_log_tail(p, q),
      sf_if(near, x, zero)), x);
  return {sf_if(turned, one - x, x), sf_if(turned, x, one - x)};
}
struct sf_in_brief {
  template <class V> SN_MEMBER sf_two<V> of(V a, V b, V p, V q) { return brief_beta_inverse(a, b, p, q); }
};

template <class V> SN_FN V sf_betaincinv(V a, V b, V p) { return sf_betaincinv_by<sf_in_full>(a, b, p); }
template <class V> SN_FN V sf_betainccinv(V a, V b, V p) { return sf_betainccinv_by<sf_in_full>(a, b, p); }
template <class V> SN_FN V sf_bdtri(V a, V b, V p) { return sf_bdtri_by<sf_in_full>(a, b, p); }
template <class V> SN_FN V sf_nbdtri(V a, V b, V p) { return sf_nbdtri_by<sf_in_full>(a, b, p); }
template <class V> SN_FN V sf_fdtri(V a, V b, V p) { return sf_fdtri_by<sf_in_full>(a, b, p); }
template <class V> SN_FN V brief_betaincinv(V a, V b, V p) { return sf_betaincinv_by<sf_in_brief>(a, b, p); }
template <class V> SN_FN V brief_betainccinv(V a, V b, V p) { return sf_betainccinv_by<sf_in_brief>(a, b, p); }
template <class V> SN_FN V brief_bdtri(V a, V b, V p) { return sf_bdtri_by<sf_in_brief>(a, b, p); }
template <class V> SN_FN V brief_nbdtri(V a, V b, V p) { return sf_nbdtri_by<sf_in_brief>(a, b, p); }
template <class V> SN_FN V brief_fdtri(V a, V b, V p) { return sf_fdtri_by<sf_in_brief>(a, b, p); }

SN_SPECIAL_CALLED_2(gammaincinv, sf_gammaincinv)
SN_SPECIAL_CALLED_2(gammainccinv, sf_gammainccinv)
SN_SPECIAL_CALLED_2(chdtri, sf_chdtri)
SN_SPECIAL_CALLED_2(pdtri, sf_pdtri)
SN_SPECIAL_CALLED_BRIEF_3(betaincinv, sf_betaincinv, brief_betaincinv)
SN_SPECIAL_CALLED_BRIEF_3(betainccinv, sf_betainccinv, brief_betainccinv)
SN_SPECIAL_CALLED_BRIEF_3(bdtri, sf_bdtri, brief_bdtri)
SN_SPECIAL_CALLED_BRIEF_3(nbdtri, sf_nbdtri, brief_nbdtri)
SN_SPECIAL_CALLED_BRIEF_3(fdtri, sf_fdtri, brief_fdtri)

}  // namespace sn
