// sinter prelude, special functions: the logistic function, entropies, and others of exponentials and logarithms.
namespace sn {

template <class V> SN_FN V sf_expit(V x) {
  const V e = sf_exp(-sf_abs(x)), q = V(1.0) / (V(1.0) + e);
  return sf_if(x == x, sf_if(x < V(0.0), e * q, q), x);
}
/// log(p / (1 - p)): of the rounded quotient, and what was rounded away, which matters near 1/2.
template <class V> SN_FN V sf_logit(V p) {
  const sf_pair<V> rest = sf_sum(V(1.0), -p);
  const V q = p / rest.hi, lost = (sf_fma(-q, rest.hi, p) - q * rest.lo) / p;
  const sf_pair<V> l = sf_log_pair(q);
  V r = l.hi + (l.lo + sf_if(p > V(1e-290), lost, V(0.0)));
  r = sf_if(p == V(0.0), -sf_inf(p), sf_if(p == V(1.0), sf_inf(p), r));
  return sf_if((p >= V(0.0)) & (p <= V(1.0)), r, sf_nan(p));
}
template <class V> SN_FN V sf_log_expit(V x) {
  const V r = -(sf_log1p(sf_exp(-sf_abs(x))) - sf_min(x, V(0.0)));
  return sf_if(x == x, r, x);
}
template <class V> SN_FN V sf_xlogy(V x, V y) { return sf_if((x == V(0.0)) & (y == y), V(0.0), x * sf_log(y)); }
template <class V> SN_FN V sf_xlog1py(V x, V y) { return sf_if((x == V(0.0)) & (y == y), V(0.0), x * sf_log1p(y)); }
template <class V> SN_FN V sf_entr(V x) {
  const V r = sf_if(x == V(0.0), V(0.0), -x * sf_log(x));
  return sf_if(x < V(0.0), -sf_inf(x), r);
}
/// x = 2^k m of a positive number, m in [1, 2); of others something finite.
template <class V> struct sf_split {
  V m, k;
};
template <class V> SN_FN sf_split<V> sf_split_of(V x) {
  typedef decltype(sf_bits(V())) word;
  const auto tiny = x < V(2.2250738585072014e-308);
  const word b = sf_bits(sf_if(tiny, x * V(18014398509481984.0), x)), biased = b >> 52;
  const V k = sf_number(biased | word(0x4330000000000000ull)) - sf_if(tiny, V(4503599627370496.0 + 1077),
      V(4503599627370496.0 + 1023));
  return {sf_number(b - (biased << 52) + word(0x3ff0000000000000ull)), k};
}
/// x / y = 2^k r of positive numbers, r in [sqrt(1/2), sqrt(2)]: s = (r - 1) / (r + 1) = hi + lo, a polynomial p with
/// artanh s = s (1 + s^2 p), and log(x / y). One division: numerator and denominator of s are known exactly.
template <class V> struct sf_quotient {
  V k, hi, lo, p;
  sf_pair<V> whole;  // the logarithm
};
template <class V> SN_PIECE sf_quotient<V> sf_quotient_of(V x, V y) {
  const sf_split<V> a = sf_split_of(x), b = sf_split_of(y);
  const auto more = a.m > b.m * V(1.4142135623730951), less = a.m * V(1.4142135623730951) < b.m;
  const V m = a.m * sf_if(more, V(0.5), sf_if(less, V(2.0), V(1.0)));
  const V k = a.k - b.k + sf_if(more, V(1.0), sf_if(less, V(-1.0), V(0.0)));
  const V f = m - b.m, inverse = V(1.0) / (m + b.m);
  const sf_pair<V> d = sf_sum(m, b.m);
  const V s = f * inverse, s_low = sf_fma(-s, d.lo, sf_fma(-s, d.hi, f)) * inverse, z = s * s;
  const V p = sf_poly(z, 0.3333333333333333, 0.19999999999999996, 0.1428571428571769, 0.11111111109926232, 0.09090909297285235,
      0.076922875302798, 0.06667820887000134, 0.0584402704713433, 0.05941313690548262);
  const V low = sf_fma(k, V(1.90821492927058770002e-10), sf_fma((s + s) * z, p, s_low + s_low));
  const sf_pair<V> sum = sf_sum(k * V(6.93147180369123816490e-01), s + s);
  return {k, s, s_low, p, sf_sum_ordered(sum.hi, sum.lo + low)};
}
/// log(x / y) for positive numbers, as a pair.
template <class V> SN_FN sf_pair<V> sf_log_quotient(V x, V y) { return sf_quotient_of(x, y).whole; }
template <class V> SN_FN V sf_rel_entr(V x, V y) {
  const sf_pair<V> p = sf_log_quotient(x, y);
  V l = p.hi + p.lo;
  const auto whole = (x == sf_inf(x)) | (y == sf_inf(y));
  l = sf_if(whole, sf_if(x == y, sf_nan(x), sf_if(x < y, -sf_inf(x), sf_inf(x))), l);
  const V r = sf_if((x == V(0.0)) & (y >= V(0.0)), V(0.0), sf_if((x > V(0.0)) & (y > V(0.0)), x * l, sf_inf(x)));
  return sf_if((x == x) & (y == y), r, sf_nan(x));
}
/// x log(x / y) - x + y; near x = y, with s = (x - y) / (x + y), (x + y) (s artanh s + artanh s - s): all terms beside each other
/// are small.
template <class V> SN_FN V sf_kl_div(V x, V y) {
  const sf_quotient<V> q = sf_quotient_of(x, y);
  // Else x (log(x / y) - 1) + y, rounded once but for what the difference lost
  const sf_pair<V> less = sf_sum(q.whole.hi, V(-1.0));
  const V z = q.hi * q.hi, square = sf_fma(q.hi + q.hi, q.lo, z);
  const V near = (x + y) * (square * sf_fma(q.p, q.hi + z, V(1.0)));
  V r = sf_if(q.k == V(0.0), near, sf_fma(x, less.hi, y) + x * (less.lo + q.whole.lo));
  const auto huge = !(sf_max(x, y) < V(1e300));
  if (sf_any(huge)) r = sf_if(huge, (x * sf_log(x / y) - x) + y, r);
  r = sf_if((x > V(0.0)) & (y > V(0.0)), r, sf_if((x == V(0.0)) & (y >= V(0.0)), y, sf_inf(x)));
  return sf_if((x == x) & (y == y), r, sf_nan(x));
}
template <class V> SN_FN V sf_exprel(V x) {
  V r = sf_if(sf_abs(x) < V(1e-16), V(1.0), sf_expm1(x) / x);
  const auto large = x > V(700.0);
  if (sf_any(large)) r = sf_if(large, sf_if(x < sf_inf(x), sf_exp(x - V(16.0)) * (V(8886110.520507872) / x), x), r);
  return r;
}
template <class V> SN_FN V sf_cosm1(V x) {
  const V s = sf_sincos(V(0.5) * x).sin;
  return V(0.0) - V(2.0) * s * s;
}

SN_SPECIAL_SINGLE(expit, sf_expit, single_expit)
SN_SPECIAL_SINGLE(logit, sf_logit, single_logit)
SN_SPECIAL_SINGLE(log_expit, sf_log_expit, single_log_expit)
SN_SPECIAL_2(xlogy, sf_xlogy)
SN_SPECIAL_2(xlog1py, sf_xlog1py)
SN_SPECIAL_1(entr, sf_entr)
SN_SPECIAL_2(rel_entr, sf_rel_entr)
SN_SPECIAL_2(kl_div, sf_kl_div)
SN_SPECIAL_1(exprel, sf_exprel)
SN_SPECIAL_1(cosm1, sf_cosm1)

}  // namespace sn
