// sinter prelude, special functions: the beta function, the incomplete beta function and distributions that are made of it.
namespace sn {

/// log gamma(x) for a finite pair x > 0: by Stirling's terms, below 3 after three steps of the recurrence. To about 2^-58, and
/// 2^-62 of itself.
template <class V> SN_SHARED sf_pair<V> sf_gammaln_pair(V x, V low) {
  const auto small = x < V(3.0);
  const sf_pair<V> whole = {x, low}, more = sf_plus(whole, V(3.0));
  const V z = sf_if(small, more.hi, x), z_low = sf_if(small, more.lo, low);
  const sf_pair<V> l = sf_log_pair(z);
  sf_pair<V> r = sf_plus(sf_plus(sf_times(l, z - V(0.5)), -z), V(0.9189385332046728));
  r = sf_plus(r, sf_fma(z_low, l.hi - V(0.5) / z, sf_stirling_rest(z) + V(-3.8782941580672414e-17)));
  if (sf_any(small)) {
    const sf_pair<V> y = sf_pair_if(small, whole, {V(1.0), V(0.0)});
    const sf_pair<V> p = sf_times(sf_times(y, sf_plus(y, V(1.0))), sf_plus(y, V(2.0)));
    r = sf_pair_if(small, sf_plus(r, sf_minus(sf_log_pair(p))), r);
  }
  return r;
}
/// What Stirling's terms of beta(a, b) have in common with what they weigh, for finite a, b > 0. Numbers below 3 are moved up by
/// three steps of the recurrence, to c and d; the sum of these is s. The terms are joined, so that none cancel (A. R. DiDonato,
/// A. H. Morris, ACM Transactions on Mathematical Software 18, 1992):
/// beta(a, b) = (c / s)^a (d / s)^b sqrt(2 pi s / (c d)) exp(rest) * below / above.
template <class V> struct sf_beta_terms {
  sf_pair<V> c, d, s, above, below;
  V rest;
};
/// y (y + 1) (y + 2) with another number in place of the first y.
template <class V> SN_FN sf_pair<V> sf_three_up(sf_pair<V> first, sf_pair<V> y) {
  return sf_times(sf_times(sf_plus(y, V(1.0)), sf_plus(y, V(2.0))), first);
}
template <class V> SN_FN sf_pair<V> sf_cube(sf_pair<V> y) { return sf_times(sf_times(y, y), y); }
template <class V> SN_SHARED sf_beta_terms<V> sf_beta_terms_of(V a, V b, V first_a, V first_b) {
  const V three = V(3.0), zero = V(0.0);
  const auto low_a = a < three, low_b = b < three;
  const auto low = low_a | low_b;
  const sf_pair<V> whole_a = {a, zero}, whole_b = {b, zero}, unit = {V(1.0), zero}, sum = sf_sum(a, b);
  sf_beta_terms<V> r = {whole_a, whole_b, sum, unit, unit, zero};
  if (sf_any(low)) {
    const sf_pair<V> up_a = sf_sum(three, a), up_b = sf_sum(three, b);
    r.c = sf_pair_if(low_a, up_a, r.c);
    r.d = sf_pair_if(low_b, up_b, r.d);
    const auto both = low_a & low_b;
    r.s = sf_plus(sum, sf_if(both, V(6.0), sf_if(low, three, zero)));
    // Where one of them is huge, its steps cancel against the powers of the sum.
    const auto usual = low & (sum.hi < V(1e90));
    const sf_pair<V> s = sf_pair_if(usual, r.s, unit), cube = sf_cube(s);
    sf_pair<V> up = sf_pair_if(usual, sf_three_up(sum, sum), unit), cubes = cube;
    if (sf_any(both)) {
      const sf_pair<V> more = sf_plus(sum, three);
      up = sf_pair_if(both, sf_times(up, sf_three_up(more, more)), up);
      cubes = sf_pair_if(both, sf_times(cube, cube), cubes);
    }
    const sf_pair<V> steps_a = sf_three_up<V>({first_a, zero}, whole_a), steps_b = sf_three_up<V>({first_b, zero}, whole_b);
    const sf_pair<V> n = sf_times(sf_pair_if(low_a, steps_a, unit), sf_pair_if(low_b, steps_b, unit));
    const sf_pair<V> m = sf_times(sf_pair_if(low_a, sf_cube(up_a), unit), sf_pair_if(low_b, sf_cube(up_b), unit));
    r.above = sf_times(n, cubes);
    r.below = sf_times(m, up);
  }
  r.rest = (sf_stirling_rest(r.c.hi) + sf_stirling_rest(r.d.hi)) - sf_stirling_rest(r.s.hi);
  return r;
}
/// log(gamma(a) gamma(b) / gamma(a + b)) for finite a, b > 0.
template <class V> SN_SHARED sf_pair<V> sf_betaln_pair(V a, V b) {
  const V tiny = V(1e-100), zero = V(0.0), by = V(7.654505172902098e+199);
  const auto small_a = a < tiny, small_b = b < tiny;
  const sf_beta_terms<V> t = sf_beta_terms_of(a, b, sf_if(small_a, a * by, a), sf_if(small_b, b * by, b));
  const sf_pair<V> p = sf_times(sf_log_pair(sf_over(t.c, t.s)), a), q = sf_times(sf_log_pair(sf_over(t.d, t.s)), b);
  sf_pair<V> r = sf_plus(sf_plus(p, q), {V(0.9189385332046728), t.rest + V(-3.8782941580672414e-17)});
  r = sf_plus(r, sf_times(sf_log_pair(sf_over(t.c, sf_over(t.s, t.d))), V(-0.5)));
  const auto low = (a < V(3.0)) | (b < V(3.0));
  if (sf_any(low)) {
    const sf_pair<V> log_by = {V(460.2497278918037), V(1.2733935584839054e-14)};
    const V steps = sf_if(small_a, V(1.0), zero) + sf_if(small_b, V(1.0), zero);
    r = sf_plus(sf_plus(r, sf_log_pair(sf_over(t.below, t.above))), sf_times(log_by, steps));
  }
  return r;
}

/// For every real x that is no pole: log(abs(gamma(x))) as a pair, and whether gamma is negative (-1) or not (1).
template <class V> struct sf_signed_log {
  sf_pair<V> log;
  V sign;
};
template <class V> SN_SHARED sf_signed_log<V> sf_gammaln_signed(V x, V low) {
  const auto below = x < V(0.5);
  const sf_pair<V> y = sf_plus<V>({-x, -low}, V(1.0));
  sf_pair<V> r = sf_gammaln_pair(sf_if(below, y.hi, x), sf_if(below, y.lo, low));
  const V k = sf_rint(x), part = (x - k) + low;  // the sine of pi times it, at most 1/2
  const V a = sf_abs(part), s = sf_if(a > V(0.25), sf_cospi_small(V(0.5) - a), sf_sinpi_small(a));
  const sf_pair<V> turned = sf_plus(sf_plus(sf_minus(sf_log_pair(s)), {V(1.1447298858494002), V(1.0265951162707827e-17)}),
      sf_minus(r));
  r = sf_pair_if(below, turned, r);
  return {r, sf_if(below, sf_parity(k) * sf_copysign(V(1.0), part), V(1.0))};
}
/// The logarithm and the sign of beta for finite a and b other than 0. Its value is infinite where gamma(a) gamma(b) has a pole
/// that gamma(a + b) lacks, 0 in the converse case; with a whole a < 1 - b <= 0 the limit for whole b, as in Cephes.
template <class V> SN_PIECE sf_signed_log<V> sf_beta_signed(V a, V b) {
  const auto plain = (a > V(0.0)) & (b > V(0.0));
  const V one = V(1.0);
  sf_pair<V> r = sf_betaln_pair(sf_if(plain, a, one), sf_if(plain, b, one));
  V sign = one;
  if (sf_any(!plain)) {
    const auto whole_a = (a <= V(0.0)) & (a == sf_floor(a));
    const auto whole_b = (b <= V(0.0)) & (b == sf_floor(b));
    const V n = sf_if(whole_a, a, b), m = sf_if(whole_a, b, a);
    const auto pole = (!plain) & (whole_a | whole_b);
    const auto limit = pole & (m == sf_floor(m)) & (one - n - m > V(0.0)) & (m > V(0.0));
    // beta(n, m) = (-1)^m beta(1 - n - m, m)
    const sf_pair<V> turned = sf_betaln_pair(sf_if(limit, one - n - m, one), sf_if(limit, m, one));
    const auto other = !(plain | pole);
    const V x = sf_if(other, a, one), y = sf_if(other, b, one);
    const sf_pair<V> sum = sf_sum(x, y);
    const auto zero = other & (sum.hi <= V(0.0)) & (sum.hi == sf_floor(sum.hi)) & (sum.lo == V(0.0));
    const sf_signed_log<V> f = sf_gammaln_signed(x, V(0.0)), g = sf_gammaln_signed(y, V(0.0)),
                           h = sf_gammaln_signed(sf_if(zero, one, sum.hi), sf_if(zero, V(0.0), sum.lo));
    const sf_pair<V> general = sf_plus(sf_plus(f.log, g.log), sf_minus(h.log));
    const V inf = sf_inf(a);
    r = sf_pair_if(limit, turned, sf_pair_if(pole, {inf, V(0.0)}, sf_pair_if(zero, {-inf, V(0.0)},
        sf_pair_if(other, general, r))));
    sign = sf_if(limit, sf_parity(m), sf_if(other & !zero, f.sign * g.sign * h.sign, one));
  }
  return {r, sign};
}
template <class V> SN_FN V sf_betaln(V a, V b) {
  const auto finite = (sf_abs(a) < sf_inf(a)) & (sf_abs(b) < sf_inf(b));
  const sf_pair<V> p = sf_beta_signed(sf_if(finite, a, V(1.0)), sf_if(finite, b, V(1.0))).log;
  const auto unit = (a == V(1.0)) & (b > V(0.0));
  const auto other_unit = (b == V(1.0)) & (a > V(0.0));
  const V known = V(0.0) - sf_log(sf_if(unit, b, a)), usual = p.hi + sf_if(sf_abs(p.hi) < sf_inf(a), p.lo, V(0.0));
  const V ends = sf_if((a > V(0.0)) & (b > V(0.0)), -sf_inf(a), sf_nan(a));
  return sf_if(unit | other_unit, known, sf_if(finite, usual, ends));
}
template <class V> SN_FN V sf_beta(V a, V b) {
  const auto finite = (sf_abs(a) < sf_inf(a)) & (sf_abs(b) < sf_inf(b));
  const sf_signed_log<V> s = sf_beta_signed(sf_if(finite, a, V(1.0)), sf_if(finite, b, V(1.0)));
  const V r = s.sign * sf_exp(s.log.hi, sf_if(sf_abs(s.log.hi) < V(1e4), s.log.lo, V(0.0)));
  return sf_if(finite, r, sf_if((a > V(0.0)) & (b > V(0.0)), V(0.0), sf_nan(a)));
}

/// x^a y^b / beta(a, b) for pairs x + y = 1, from the terms of a and b: relative to its largest value, where the logarithms do not
/// cancel.
template <class V> struct sf_beta_scale {
  sf_pair<V> from_a, from_b;  // s / c and s / d
  V rest, factor;
};
template <class V> SN_SHARED sf_beta_scale<V> sf_beta_scale_of(V a, V b) {
  const sf_beta_terms<V> t = sf_beta_terms_of(a, b, a, b);
  V factor = sf_sqrt(t.c.hi * (t.d.hi / t.s.hi) * V(0.15915494309189533577));
  const auto low = (a < V(3.0)) | (b < V(3.0));
  if (sf_any(low)) factor = factor * sf_over(t.above, t.below).hi;
  return {sf_over(t.s, t.c), sf_over(t.s, t.d), t.rest, factor};
}
/// a log(x) for a pair x > 0, to some 2^-64 of its greatest parts, which cancel in sums.
template <class V> SN_PIECE sf_pair<V> sf_times_log(sf_pair<V> x, V a) {
  const sf_pair<V> parts = sf_log_parts(x.hi), f = sf_sum(parts.lo, x.lo / x.hi * (parts.lo + V(1.0)));
  const sf_pair<V> s = sf_over(f, sf_plus(f, V(2.0))), t = {V(2.0) * s.hi, V(2.0) * s.lo};
  const sf_pair<V> two = {parts.hi * V(6.93147180369123816490e-01), parts.hi * V(1.90821492927058770002e-10)};
  return sf_times(sf_plus(two, sf_plus(t, sf_times(t, sf_artanh_bend(s)))), a);
}
/// b x - a y for pairs x + y = 1: how far x lies above the mean a / (a + b), times a + b.
template <class V> SN_FN sf_pair<V> sf_beta_distance(V a, V b, sf_pair<V> x, sf_pair<V> y) {
  const sf_pair<V> p = sf_product(b, x.hi), q = sf_product(a, y.hi), d = sf_sum(p.hi, -q.hi);
  return sf_sum(d.hi, d.lo + (sf_fma(b, x.lo, p.lo) - sf_fma(a, y.lo, q.lo)));
}
/// Where the tails are integrated: everywhere if both parameters are 8192 or more, as both tails end within 0.38 of the smaller one.
template <class V> SN_FN auto sf_beta_is_wide(V a, V b, V x, V y) {
  const V least = sf_min(a, b);
  return (least >= V(8192.0)) | ((least >= V(1024.0)) & (sf_abs(b * x - a * y) < V(0.35) * least));
}
/// The weight there: the exponents of both factors around the mean, whose linear terms cancel.
template <class V> SN_SHARED V sf_beta_wide_weight(V a, V b, sf_pair<V> d, V rest, V factor) {
  const auto near = (d.hi < sf_min(V(0.52) * a, V(0.38) * b)) & (d.hi > -sf_min(V(0.38) * a, V(0.52) * b));
  const sf_pair<V> m = {sf_if(near, d.hi, V(0.0)), sf_if(near, d.lo, V(0.0))};
  const sf_pair<V> e = sf_plus(sf_plus(sf_mean_exponent(a, m), sf_mean_exponent(b, sf_minus(m))), rest);
  return sf_if(near & (e.hi < V(1000.0)), sf_exp(-e.hi, -e.lo) * factor, V(0.0));
}
/// The smaller tail there over the weight. In log odds, of which the density is the weight itself, it is the integral over s from 0
/// of exp(-drift s - n (log(1 + h (exp(t) - 1)) - h t)), with n = a + b, drift = |b x - a y|, h the smaller one of x and y, t = +-s
/// (`side`: the sign): by Gauss's rule of 24 points up to where the quadratic terms are 38, with s = v - `bend` (v - v^2) in
/// those units, so that the exponent is near to 38 v^2 from the mean, where it is quadratic, to the tails, where it is linear.
template <class V> SN_SHARED V sf_beta_wide_tail(V n, V h, V drift, V side) {
  const V variance = n * h * (V(1.0) - h), root = sf_sqrt(sf_fma(drift, drift, V(76.0) * variance));
  const V reach = V(76.0) / (drift + root), bend = sf_fma(V(0.5 / 38.0), drift * reach, V(0.2));
  const double points[] = {0.00240639000148932, 0.012635722014345251, 0.030862723998633622, 0.056792236497799485,
      0.08999900701304854, 0.12993790421072282, 0.17595317403151223, 0.22728926430558022, 0.2831032461869774,
      0.3424786601519183, 0.40444056626319186, 0.4679715535686972, 0.5320284464313028, 0.5955594337368082,
      0.6575213398480817, 0.7168967538130225, 0.7727107356944197, 0.8240468259684878, 0.8700620957892772,
      0.9100009929869515, 0.9432077635022005, 0.9691372760013663, 0.9873642779856547, 0.9975936099985107};
  const double weights[] = {0.0061706148999936, 0.014265694314466832, 0.022138719408709904, 0.02964929245771839,
      0.03667324070554015, 0.04309508076597664, 0.04880932605205694, 0.05372213505798282, 0.0577528340268628,
      0.060835236463901696, 0.06291872817341415, 0.06396909767337608};
  V sum = V(0.0);
  SN_ROLLED
  for (int k = 0; k < 24; ++k) {
    const V v(points[k]), w(weights[k < 12 ? k : 23 - k]), part = bend * v;
    const V s = reach * sf_fma(part, v, v - part), t = s * side;
    // exp(t) - 1 - t, and q - log(1 + q) by u = q / (2 + q) as above
    const V more = t * t * sf_poly(t, 0.5, 0.16666666666666666, 0.041666666666666664, 0.008333333333333333, 0.001388888888888889,
        0.0001984126984126984, 2.48015873015873e-05, 2.7557319223985893e-06, 2.755731922398589e-07, 2.505210838544172e-08);
    const V q = h * (t + more), u = q / (q + V(2.0)), z = u * u;
    const V less = u * sf_fma(-z, sf_poly(z, 0.6666666666666666, 0.4, 0.2857142857142857, 0.2222222222222222,
        0.18181818181818182, 0.15384615384615385), q);
    const V fall = sf_exp(-sf_fma(n, sf_fma(h, more, -less), drift * s));
    sum = sf_fma(w * ((V(1.0) - bend) + (part + part)), fall, sum);
  }
  return reach * sum;
}
template <class V> SN_FN V sf_beta_wide(V a, V b, V x, V y, V distance) {
  const auto down = distance <= V(0.0), turned = x > y;
  const V one = V(1.0), side = sf_if(turned, -one, one);
  return sf_beta_wide_tail(a + b, sf_min(x, y), sf_abs(distance), sf_if(down, -side, side));
}
template <class V> SN_SHARED V sf_beta_weight(const sf_beta_scale<V>& scale, V a, V b, sf_pair<V> x, sf_pair<V> y) {
  const auto wide = sf_beta_is_wide(a, b, x.hi, y.hi);
  V r = V(0.0);
  if (sf_any(!wide)) {
    const sf_pair<V> u = sf_times(scale.from_a, x), v = sf_times(scale.from_b, y);
    const auto large = sf_max(a, b) > V(256.0);
    sf_pair<V> s = {V(0.0), V(0.0)};
    if (sf_any(!large)) s = sf_plus(sf_times(sf_log_pair(u), a), sf_times(sf_log_pair(v), b));
    if (sf_any(large)) s = sf_pair_if(large, sf_plus(sf_times_log(u, a), sf_times_log(v, b)), s);
    s = sf_plus(s, -scale.rest);
    r = sf_exp(s.hi, sf_if(sf_abs(s.hi) < V(1e4), s.lo, V(0.0))) * scale.factor;
  }
  if (sf_any(wide)) r = sf_if(wide, sf_beta_wide_weight(a, b, sf_beta_distance(a, b, x, y), scale.rest, scale.factor), r);
  return r;
}
/// I over the weight times a: 1 + (a + b) / (a + 1) x (1 + (a + b + 1) / (a + 2) x (1 + ...)) (NIST Digital Library of
/// Mathematical Functions 8.17.8), all positive. The number of terms is found on the way; they are added from behind.
template <class V> SN_PIECE V sf_beta_series(V a, V b, V x) {
  V term = V(1.0), k = V(0.0), last = V(0.0);
  SN_ROLLED
  for (int n = 0; n < 3000; ++n) {
    term = term * ((a + b + k) * x / (a + V(1.0) + k));
    k = k + V(1.0);
    const auto more = term > V(2e-18);
    if (!sf_any(more)) break;
    last = sf_if(more, k, last);
  }
  V sum = V(1.0);
  SN_ROLLED
  for (double at = sf_most(last); at >= 0.0; at -= 1.0) {
    const V j(at);
    sum = sf_if(last >= j, sf_fma((a + b + j) * x / (a + V(1.0) + j), sum, V(1.0)), sum);
  }
  return sum;
}
/// I over the weight by the continued fraction of DiDonato and Morris: forwards for its length, then from behind.
template <class V> struct sf_fraction_term {
  V above, below;
};
/// Of step m: what divides the next denominator's reciprocal, and the denominator, both freed from quotients: step m is multiplied
/// by (e - 1) (e + 1) / (a + 1)^2, with which nothing overflows. `inverse` is 1 / (a + 1).
template <class V> SN_FN sf_fraction_term<V> sf_beta_term(V a, V b, V x, V from, V inverse, V m) {
  const V one = V(1.0), e = a + (m + m), lower = (e - one) * inverse, upper = (e + one) * inverse;
  const V mid = m * (b - m) * x;
  const V before = sf_if(m == one, one, (e - V(3.0)) * inverse);
  const V above = ((a + m - one) * inverse) * ((a + b + m - one) * inverse * x) * mid * (upper * before);
  const V slope = (a + m) * (from + sf_fma(m, V(2.0) - x, one));
  return {above, sf_fma(upper, sf_fma(m, lower, mid * inverse), slope * inverse * lower)};
}
template <class V> SN_PIECE V sf_beta_fraction(V a, V b, sf_pair<V> x, sf_pair<V> y) {
  const V from = -sf_beta_distance(a, b, x, y).hi;
  const V inverse = V(1.0) / (a + V(1.0)), first = a * (from + V(1.0)) / (a + V(1.0));
  V back = V(1.0) / first, change = V(1.0), m = V(0.0), depth = V(0.0);
  auto more = change > V(0.5);
  SN_ROLLED
  for (int n = 0; n < 10000 && sf_any(more); ++n) {
    m = m + V(1.0);
    const sf_fraction_term<V> t = sf_beta_term(a, b, x.hi, from, inverse, m);
    const V next = V(1.0) / sf_fma(t.above, back, t.below);
    change = sf_abs(change * t.above * back * next);
    back = next;
    depth = sf_if(more, m, depth);
    more = more & (change > V(1e-18));
  }
  V over = V(0.0);
  SN_ROLLED
  for (double at = sf_most(depth); at >= 1.0; at -= 1.0) {
    const V j(at);
    const sf_fraction_term<V> t = sf_beta_term(a, b, x.hi, from, inverse, j);
    const auto inside = depth >= j;
    over = sf_if(inside, t.above / (t.below + over), over);
  }
  return sf_if(more, sf_nan(a), V(1.0) / (first + over));
}
/// log gamma(b + a) - log gamma(b) over a for 0 < a <= 1 and finite b > 0: a logarithm and what is left.
template <class V> SN_PIECE sf_pair<V> sf_gammaln_slope(V b, V a) {
  // Three steps of the recurrence, then the difference of Stirling's terms, whose rest is a divided difference.
  const V c = b + V(3.0), d = c + a, i = V(1.0) / c, j = V(1.0) / d;
  const V u = i * i, v = j * j;
  V p = V(0.0), slope = V(0.0);
  const double terms[] = {0.08333333333333333, -0.0027777777777757695, 0.000793650792622404, -0.0005952378854503139,
      0.0008417282394032359, -0.0019160464198791072, 0.006346110578292672, -0.027601910018978465, 0.13605466944124706,
      -0.6346190865706115, 2.348297111372058, -5.724231505133728, 6.653396422514748};
  for (int k = 12; k >= 0; --k) {
    slope = sf_fma(slope, v, p);
    p = sf_fma(p, u, V(terms[k]));
  }
  // i p(i^2) - j p(j^2) = (i - j) (p(u) + j (i + j) slope)
  const V rest = -(i * j) * sf_fma(j * (i + j), slope, p);
  const V t = a * i, small = sf_log1p(t) / a;
  const V lower = (sf_log1p(a / (b + V(1.0))) + sf_log1p(a / (b + V(2.0)))) / a;
  const sf_pair<V> whole = {a, V(0.0)}, one = sf_over(sf_log1p_pair(sf_over<V>(whole, {b, V(0.0)})), whole);
  return sf_plus(sf_plus(sf_log_pair(d), sf_minus(one)), sf_fma(c - V(0.5), small, V(-1.0)) + rest - lower);
}
/// For 0 < a < 1 where x is at most 1/2 and b x at most 1: the sum of (1 - b)_n x^n / n! / (a + n) from n = 1, with which
/// I = x^a (1 + a sum) / (a beta(a, b)), and -log(a beta(a, b)) / a.
template <class V> SN_PIECE V sf_beta_small_sum(V a, V b, V x) {
  V s = V(0.0), factor = V(1.0), n = V(0.0);
  SN_ROLLED
  for (int k = 0; k < 80; ++k) {
    factor = factor * ((n + V(1.0) - b) * x / (n + V(1.0)));
    n = n + V(1.0);
    const V next = s + factor / (a + n);
    if (!sf_any(next != s)) break;
    s = next;
  }
  return s;
}
template <class V> SN_PIECE sf_pair<V> sf_beta_small_factor(V a, V b) {
  const sf_pair<V> slope = sf_gammaln_slope(b, a);
  return sf_plus(slope, -sf_gammaln_1p(a) / a);
}
template <class V> SN_PIECE V sf_beta_small(V a, V b, sf_pair<V> x) {
  const V s = sf_beta_small_sum(a, b, x.hi);
  const sf_pair<V> f = sf_beta_small_factor(a, b), l = sf_plus(sf_log_pair(x), f.hi);
  const V v = a * (l.hi + (l.lo + f.lo));
  return -sf_expm1(v) - sf_exp(v) * a * s;
}
/// The regularised incomplete beta function of finite a, b > 0 and pairs x + y = 1 above 0, or 1 minus it where `upper` is 1
/// and not 0; `weight` is that of x.
template <class V> SN_SHARED V sf_beta_part(V a, V b, sf_pair<V> x, sf_pair<V> y, V upper, V weight) {
  const V one = V(1.0), half = V(0.5), few = V(0.8);
  const auto left = (a < one) & (x.hi <= half) & (b * x.hi <= few);
  const auto right = (!left) & (b < one) & (y.hi <= half) & (a * y.hi <= few);
  // From which end to integrate: from that which is nearer in weight; for small a from the right, for small b from the left.
  const auto plain = (a >= one) & (b >= one);
  const V distance = sf_beta_distance(a, b, x, y).hi;
  const auto below = left | ((!right) & ((plain & (distance <= V(0.0))) | ((!plain) & (b < one))));
  const V c = sf_if(below, a, b), d = sf_if(below, b, a);
  const sf_pair<V> u = sf_pair_if(below, x, y), w = sf_pair_if(below, y, x);
  const auto wide = sf_beta_is_wide(a, b, x.hi, y.hi);
  const auto series = (!wide) & (u.hi <= half) & (d * u.hi <= few);
  const auto fraction = !(wide | series);
  V r = V(0.0);
  if (sf_any(series)) r = sf_if(series, sf_beta_series(sf_if(series, c, one), sf_if(series, d, one), sf_if(series, u.hi,
      half)) / c, r);
  if (sf_any(wide)) r = sf_if(wide, sf_beta_wide(a, b, x.hi, y.hi, distance), r);
  if (sf_any(fraction)) {
    const sf_pair<V> h = {half, V(0.0)};
    r = sf_if(fraction, sf_beta_fraction(sf_if(fraction, c, one), sf_if(fraction, d, one), sf_pair_if(fraction, u, h),
        sf_pair_if(fraction, w, h)), r);
  }
  r = sf_if(weight == V(0.0), weight, r * weight);
  const auto complement = upper > half;
  const auto asked = (below & !complement) | (complement & !below);
  V other = one - r;
  const auto close = (left | right) & (!asked) & (r > half);
  if (sf_any(close)) other = sf_if(close, sf_beta_small(sf_if(close, c, half), sf_if(close, d, one),
      sf_pair_if(close, u, {half, V(0.0)})), other);
  return sf_if(asked, r, other);
}
/// With the ends.
template <class V> SN_PIECE V sf_beta_ends(V a, V b, sf_pair<V> x, sf_pair<V> y, bool upper) {
  const V inf = sf_inf(a), zero = V(0.0), one = V(1.0);
  const auto inner = (a > zero) & (b > zero) & (a < inf) & (b < inf) & (x.hi > zero) & (y.hi > zero);
  const sf_pair<V> half = {V(0.5), zero};
  // Of the largest numbers only the quotient matters; their sum would overflow.
  const V by = sf_if(sf_min(a, b) > V(1e290), V(9.094947017729282e-13), one);
  const V c = sf_if(inner, a * by, one), d = sf_if(inner, b * by, one);
  const sf_pair<V> u = sf_pair_if(inner, x, half), w = sf_pair_if(inner, y, half);
  V r = sf_beta_part(c, d, u, w, V(upper ? 1.0 : 0.0), sf_beta_weight(sf_beta_scale_of(c, d), c, d, u, w));
  const V none = V(upper ? 1.0 : 0.0), all = V(upper ? 0.0 : 1.0);
  // All weight lies at 0 for a = 0 or an infinite b, at 1 for b = 0 or an infinite a.
  const auto at_0 = (a == zero) | (b == inf);
  const auto at_1 = (b == zero) | (a == inf);
  const V ends = sf_if(at_0 & at_1, sf_nan(a), sf_if(x.hi <= zero, none, sf_if((y.hi <= zero) | at_0, all, none)));
  r = sf_if(inner, r, ends);
  return sf_if((a >= zero) & (b >= zero) & (x.hi >= zero) & (y.hi >= zero), r, sf_nan(a));
}
template <class V> SN_FN V sf_betainc(V a, V b, V x) { return sf_beta_ends(a, b, {x, V(0.0)}, sf_sum(V(1.0), -x), false); }
template <class V> SN_FN V sf_betaincc(V a, V b, V x) { return sf_beta_ends(a, b, {x, V(0.0)}, sf_sum(V(1.0), -x), true); }

/// The binomial distribution of n trials: of at most k, and of more.
template <class V> SN_FN V sf_bdtr(V count, V trials, V p) {
  const V k = sf_floor(count), n = sf_trunc(trials), zero = V(0.0);
  V r = sf_beta_ends(k + V(1.0), n - k, {p, zero}, sf_sum(V(1.0), -p), true);
  r = sf_if(k == n, V(1.0), r);
  return sf_if((p >= zero) & (p <= V(1.0)) & (k >= zero) & (k <= n) & (n < sf_inf(n)), r, sf_nan(p));
}
template <class V> SN_FN V sf_bdtrc(V count, V trials, V p) {
  const V k = sf_floor(count), n = sf_trunc(trials), zero = V(0.0);
  V r = sf_beta_ends(k + V(1.0), n - k, {p, zero}, sf_sum(V(1.0), -p), false);
  r = sf_if(k < zero, V(1.0), sf_if(k == n, zero, r));
  return sf_if((p >= zero) & (p <= V(1.0)) & (k <= n) & (n < sf_inf(n)), r, sf_nan(p));
}
/// The negative binomial distribution: of at most k failures before the n-th success, and of more.
template <class V> SN_FN V sf_nbdtr_part(V count, V successes, V p, bool upper) {
  const V k = sf_trunc(count), n = sf_trunc(successes), inf = sf_inf(p);
  const V r = sf_beta_ends(n, k + V(1.0), {p, V(0.0)}, sf_sum(V(1.0), -p), upper);
  return sf_if((k >= V(0.0)) & (n > V(0.0)) & (k < inf) & (n < inf), r, sf_nan(p));
}
template <class V> SN_FN V sf_nbdtr(V k, V n, V p) { return sf_nbdtr_part(k, n, p, false); }
template <class V> SN_FN V sf_nbdtrc(V k, V n, V p) { return sf_nbdtr_part(k, n, p, true); }
/// The F distribution of a and b degrees of freedom: up to x, and beyond.
template <class V> SN_FN V sf_fdtr_part(V a, V b, V x, bool upper) {
  const V inf = sf_inf(a), zero = V(0.0), one = V(1.0);
  const auto usual = (a > zero) & (b > zero) & (a < inf) & (b < inf) & (x > zero) & (x < inf);
  const V c = sf_if(usual, a, one), d = sf_if(usual, b, one), t = sf_if(usual, x, one);
  // a x : b, divided by the larger one, so that nothing overflows
  const V q = c * (t / d);
  const auto steep = q > one;
  const sf_pair<V> m = sf_product(c, t), n = {d, zero};
  const auto exact = (m.hi > V(1e-270)) & (m.hi < V(1e270)) & (d < V(1e270));
  const sf_pair<V> ratio = sf_over(sf_pair_if(exact, m, {one, zero}), sf_pair_if(exact, n, {one, zero}));
  const sf_pair<V> odds = sf_pair_if(exact, ratio, {q, zero}), whole = {one, zero};
  const sf_pair<V> least = sf_pair_if(steep, sf_over(whole, odds), odds);
  const sf_pair<V> large = sf_over(whole, sf_plus(least, one)), small = sf_times(large, least);
  const sf_pair<V> w = sf_pair_if(steep, large, small), rest = sf_pair_if(steep, small, large);
  const V r = sf_beta_ends(V(0.5) * c, V(0.5) * d, w, rest, upper);
  const V ends = sf_if((a > zero) & (b > zero) & (a < inf) & (b < inf) & (x >= zero), sf_if(x == zero, V(upper ? 1.0 : 0.0), 
      V(upper ? 0.0 : 1.0)), sf_nan(a));
  return sf_if(usual, r, ends);
}
template <class V> SN_FN V sf_fdtr(V a, V b, V x) { return sf_fdtr_part(a, b, x, false); }
template <class V> SN_FN V sf_fdtrc(V a, V b, V x) { return sf_fdtr_part(a, b, x, true); }

SN_SPECIAL_CALLED_2(beta, sf_beta)
SN_SPECIAL_CALLED_2(betaln, sf_betaln)
SN_SPECIAL_CALLED_3(betainc, sf_betainc)
SN_SPECIAL_CALLED_3(betaincc, sf_betaincc)
SN_SPECIAL_CALLED_3(bdtr, sf_bdtr)
SN_SPECIAL_CALLED_3(bdtrc, sf_bdtrc)
SN_SPECIAL_CALLED_3(nbdtr, sf_nbdtr)
SN_SPECIAL_CALLED_3(nbdtrc, sf_nbdtrc)
SN_SPECIAL_CALLED_3(fdtr, sf_fdtr)
SN_SPECIAL_CALLED_3(fdtrc, sf_fdtrc)

}  // namespace sn
