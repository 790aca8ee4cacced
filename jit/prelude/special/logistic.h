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
/// log(x / y) for positive numbers, as a pair: of the rounded quotient, and what was rounded away.
template <class V> SN_FN sf_pair<V> sf_log_quotient(V x, V y) {
  const V q = x / y;
  const sf_pair<V> p = sf_log_pair(q);
  sf_pair<V> r = sf_sum_ordered(p.hi, p.lo + sf_fma(-q, y, x) / x);
  const auto extreme = !((sf_min(q, sf_min(x, y)) > V(1e-290)) & (sf_max(q, sf_max(x, y)) < V(1e300)));
  if (sf_any(extreme)) {
    const sf_pair<V> a = sf_log_pair(x), b = sf_log_pair(y), d = sf_sum(a.hi, -b.hi);
    r.hi = sf_if(extreme, d.hi, r.hi);
    r.lo = sf_if(extreme, d.lo + (a.lo - b.lo), r.lo);
  }
  return r;
}
template <class V> SN_FN V sf_rel_entr(V x, V y) {
  const sf_pair<V> p = sf_log_quotient(x, y);
  V l = p.hi + p.lo;
  const auto whole = (x == sf_inf(x)) | (y == sf_inf(y));
  l = sf_if(whole, sf_if(x == y, sf_nan(x), sf_if(x < y, -sf_inf(x), sf_inf(x))), l);
  const V r = sf_if((x == V(0.0)) & (y >= V(0.0)), V(0.0), sf_if((x > V(0.0)) & (y > V(0.0)), x * l, sf_inf(x)));
  return sf_if((x == x) & (y == y), r, sf_nan(x));
}
/// x log(x / y) - x + y; near x = y by y t^2 times a polynomial in t = (x - y) / y.
template <class V> SN_FN V sf_kl_div(V x, V y) {
  const sf_pair<V> p = sf_times(sf_log_quotient(x, y), x);
  const sf_pair<V> s = sf_sum(p.hi, -x), u = sf_sum(s.hi, y);
  V r = u.hi + (u.lo + (s.lo + p.lo));
  const auto huge = !(sf_max(x, y) < V(1e300));
  if (sf_any(huge)) r = sf_if(huge, (x * sf_log(x / y) - x) + y, r);
  const V d = x - y;
  const auto near = sf_abs(d) < V(0.25) * y;
  if (sf_any(near)) {
    const V t = d / y;
    r = sf_if(near, d * t * sf_poly(t, 0.5, -0.16666666666666666, 0.08333333333333334, -0.0499999999999969,
        0.03333333333333051, -0.023809523810394626, 0.01785714285793615, -0.013888888777819632, 0.011111111009932464,
        -0.009090916749471038, 0.007575764552023963, -0.006409947109805227, 0.005494223768395475, -0.004769417704836109,
        0.004173509096480511, -0.003569055339211535, 0.0031701631358858123, -0.003743921494226801, 0.003377925576900813), r);
  }
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

SN_SPECIAL_1(expit, sf_expit)
SN_SPECIAL_1(logit, sf_logit)
SN_SPECIAL_1(log_expit, sf_log_expit)
SN_SPECIAL_2(xlogy, sf_xlogy)
SN_SPECIAL_2(xlog1py, sf_xlog1py)
SN_SPECIAL_1(entr, sf_entr)
SN_SPECIAL_2(rel_entr, sf_rel_entr)
SN_SPECIAL_2(kl_div, sf_kl_div)
SN_SPECIAL_1(exprel, sf_exprel)
SN_SPECIAL_1(cosm1, sf_cosm1)

}  // namespace sn
