// sinter prelude, special functions: the zeta functions, derivatives of the digamma function, and exponential integrals of
// whole order.
namespace sn {

/// base^power for a pair base > 0, of moderate exponents.
template <class V> SN_FN V sf_power(sf_pair<V> base, V power) {
  const sf_pair<V> p = sf_times(sf_log_pair(base), power);
  return sf_exp(p.hi, sf_if(sf_abs(p.hi) < V(1e4), p.lo, V(0.0)));
}
/// The sum of (q + k)^-x from k = 0 for finite x = 1 + beyond > 1 and q: some terms, and L. Euler's and C. Maclaurin's formula
/// (M. Abramowitz, I. A. Stegun 23.1.30; S. Moshier, Cephes) unless they are all that matter. Terms of negative numbers,
/// of which there may be a million, have whole x.
template <class V> SN_SHARED V sf_hurwitz(V x, V beyond, V q) {
  const V one = V(1.0);
  const V enough = sf_max(sf_fma(V(0.6), x, V(10.0)) - q, V(0.0));
  const V all = sf_max(q, one) * sf_expm1(V(42.0) / x) + V(3.0) - sf_min(q, V(0.0));
  const auto few = all < enough;
  const V steps = sf_min(sf_floor(sf_min(enough, all)), V(1e6));
  const sf_pair<V> w = sf_sum(q, steps);
  // From behind: the rest beyond w over w^-x, by even Bernoulli numbers over factorials
  const double bernoulli[] = {0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05, -8.267195767195768e-07,
      2.08767569878681e-08, -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225829e-13, 8.586062056277845e-15,
      -2.174868698558062e-16, 5.509002828360229e-18, -1.3954464685812523e-19, 3.534707039629467e-21};
  const V i = one / w.hi;
  V rest = V(0.0);
  for (int j = 12; j >= 1; --j) {
    const V f = x + V(2.0 * j - 1.0);
    rest = (f * i) * ((f + one) * i) * (V(bernoulli[j]) + rest);
  }
  rest = sf_fma(x * i, V(bernoulli[0]) + rest, V(0.5)) + w.hi / beyond;
  V sum = sf_if(few, V(0.0), sf_power(w, -x) * rest);
  SN_ROLLED
  for (double at = sf_most(steps); at >= 1.0; at -= 1.0) {
    const V k(at);
    const sf_pair<V> y = sf_sum(q, k - one);
    const auto minus = y.hi < V(0.0);
    const V term = sf_power(sf_pair_if(minus, sf_minus(y), y), -x);
    sum = sf_if(steps >= k, sum + sf_if(minus, sf_parity(x) * term, term), sum);
  }
  return sum;
}
template <class V> SN_FN V sf_zeta(V x, V q) {
  const V one = V(1.0), zero = V(0.0), inf = sf_inf(x);
  const auto whole = x == sf_floor(x);
  const auto pole = (q <= zero) & (q == sf_floor(q));
  const auto usual = (x > one) & (!pole) & ((q > zero) | whole) & (q > V(-1e6)) & (q < inf) & (x < inf);
  const V z = sf_if(usual, x, V(2.0));
  V r = sf_hurwitz(z, z - one, sf_if(usual, q, one));
  r = sf_if(usual, r, sf_if(x == one, inf, sf_if(x < one, sf_nan(x), sf_if(pole, inf, sf_if(q == inf, zero, sf_nan(x))))));
  r = sf_if((x == inf) & (q > zero), sf_if(q < one, inf, sf_if(q > one, zero, one)), r);
  return sf_if((x == x) & (q == q), r, sf_nan(x));
}
/// zeta(x) - 1 / (x - 1) for 1 < x <= 20, by polynomials that agree with it at the nodes of P. Chebyshev's.
template <class V> SN_SHARED V sf_zeta_near(V x) {
  const auto first = x <= V(8.0);
  V r = V(0.0);
  if (sf_any(first)) {
    const V t = sf_if(first, x, V(4.5)) - V(4.5);
    r = sf_poly(t, 0.7689932250471686, 0.037875113869602, -0.004138348988596676, 0.0002515712063125203, 2.973579655392973e-06,
        -2.427334579480602e-06, 2.6324556967067317e-07, -1.2650076258003021e-08, -3.4879150057529807e-10,
        1.1601027265693253e-10, -1.0252733912350514e-11, 4.3710526758924804e-13, 7.123362770326747e-15,
        -2.741851478063657e-15, 2.3265901167714427e-16, -1.0616400267304313e-17, 7.721691519124198e-20,
        3.2947509498474745e-20, -3.351172991341704e-21, 1.5358414463411666e-22);
  }
  if (sf_any(!first)) {
    const V t = sf_if(first, V(14.0), x) - V(14.0);
    const V far = sf_poly(t, 0.9231381712119818, 0.0058746182699318415, -0.0004403738859685917, 3.1577090708563524e-05,
        -2.0929308275217766e-06, 1.2283020586861738e-07, -5.9831017443510205e-09, 2.0643977609086456e-10,
        -1.1477193194672903e-12, -5.37437546214734e-13, 5.401599196024966e-14, -3.3911735524830624e-15,
        1.5335014920834605e-16, -4.409900428917492e-18, -9.7794966706253e-21, 1.1164780658189134e-20,
        -8.792617962065885e-22, 4.7496938463885685e-23, -1.73627163683298e-24, 1.9224455924705284e-27,
        2.3591295253781034e-27);
    r = sf_if(first, r, far);
  }
  return r;
}
/// zeta(x) of B. Riemann: above 1 by zeta(x) - 1 / (x - 1), from 20 on by its sum, on [-1, 1] a polynomial over x - 1, below by
/// reflection.
template <class V> SN_FN V sf_riemann_zeta(V x) {
  const V one = V(1.0), zero = V(0.0);
  const auto low = x < -one;
  const auto middle = (x >= -one) & (x <= one);
  const V y = sf_if(low, one - x, x), beyond = sf_if(low, -x, x - one);  // y = 1 + beyond is above 1
  const auto near = (y > one) & (y <= V(20.0));
  const auto sum = y > V(20.0);
  V r = one;
  if (sf_any(near)) r = sf_if(near, one / sf_if(near, beyond, one) + sf_zeta_near(sf_if(near, y, V(2.0))), r);
  if (sf_any(sum)) {
    const V z = -sf_min(sf_if(sum, y, V(30.0)), V(700.0));
    const V two = sf_exp(z * V(0.6931471805599453)), three = sf_exp(z * V(1.0986122886681098));
    const V five = sf_exp(z * V(1.6094379124341003)), seven = sf_exp(z * V(1.9459101490553132));
    r = sf_if(sum, one + (two + (three + (two * two + (five + (two * three + seven))))), r);
  }
  if (sf_any(middle)) {
    const V t = sf_if(middle, x, zero);
    r = sf_if(middle, sf_poly(t, 0.5, 0.4189385332046727, 0.08423969474961969, -0.002393033477250018, -0.000905894976471243,
        0.00012264139574929108, -6.397503064957199e-07, -1.469761840348901e-06, 1.7438050236560398e-07,
        -4.853659490426843e-09, -1.060717238355472e-09, 1.59107654243599e-10, -9.365987295053438e-12,
        -1.0632344701904375e-13, 7.196025569720113e-14, -6.846622994257134e-15, 2.8808687130043684e-16,
        6.600148668164161e-18) / (t - one), r);
  }
  if (sf_any(low)) {
    // zeta(x) = -2 (2 pi)^(x - 1) sin(-pi x / 2) gamma(1 - x) zeta(1 - x)
    const V z = sf_if(low, sf_min(-x, V(300.0)), one), s = sf_sinpi(V(0.5) * z);
    const sf_pair<V> n = sf_sum(one, z), log_2pi = {V(1.8378770664093456), V(-7.756588316134483e-17)};
    const sf_pair<V> p = sf_plus(sf_gammaln_pair(n.hi, n.lo), sf_minus(sf_times(log_2pi, n)));
    const V turned = V(-2.0) * sf_exp(p.hi, p.lo) * s * r;
    r = sf_if(low, sf_if(s == zero, zero, turned), r);
  }
  r = sf_if(x == -sf_inf(x), sf_nan(x), sf_if(x == one, sf_inf(x), r));
  return sf_if(x == x, r, x);
}
/// The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x).
template <class V> SN_FN V sf_polygamma(V n, V x) {
  const auto first = n == V(0.0);
  const auto usual = (n > V(0.0)) & (n == sf_floor(n));
  const V m = sf_if(usual, n, V(1.0)) + V(1.0);
  const V r = sf_parity(m) * sf_gamma_positive(sf_min(m, V(1e6))) * sf_zeta(m, x);
  return sf_if(usual, r, sf_if(first, sf_digamma(x), sf_nan(x)));
}

/// The integral of exp(-x t) / t^n from 1 to infinity for whole n: below 1 by its series (M. Abramowitz, I. A. Stegun 5.1.12),
/// else by the continued fraction of the incomplete gamma function.
template <class V> SN_FN V sf_expn(V order, V x) {
  const V n = sf_trunc(order), one = V(1.0), zero = V(0.0), inf = sf_inf(x);
  const auto series = (x < one) & (n >= one);
  const auto tail = (x >= one) & (n >= one);
  V r = zero;
  if (sf_any(tail)) {
    const V z = sf_if(tail, sf_min(x, V(1e3)), one), m = sf_if(tail, sf_min(n, V(1e15)), one);
    r = sf_exp(-z) * sf_gamma_fraction(one - m, z, sf_floor(V(20.0) + V(105.0) / z));
  }
  if (sf_any(series)) {
    const V z = sf_if(series, sf_max(x, V(1e-300)), V(0.5)), m = sf_if(series, n, one) - one;
    const V l = sf_digamma_positive(sf_min(m, V(30.0)) + one) - sf_log(z);
    V term = one, k = zero;
    sf_pair<V> sum = {zero, zero};
    SN_ROLLED
    for (int j = 0; j < 60; ++j) {
      const V d = m - k;
      const sf_pair<V> next = sf_plus(sum, sf_if(d == zero, term * l, term / d));
      const auto more = (next.hi != sum.hi) | (next.lo != sum.lo) | (k <= sf_min(m, V(20.0)));
      if (!sf_any(more)) break;
      sum = sf_pair_if(more, next, sum);
      k = k + one;
      term = term * (-z / k);
    }
    r = sf_if(series, sum.hi, r);
  }
  r = sf_if(n == zero, sf_exp(-x) / x, r);
  r = sf_if(x == zero, sf_if(n <= one, inf, one / (n - one)), sf_if((x == inf) | ((x >= V(1e3)) & (n >= zero)), zero, r));
  return sf_if((n >= zero) & (x >= zero) & (n < inf), r, sf_nan(x));
}

SN_SPECIAL_CALLED_2(zeta, sf_zeta)
SN_SPECIAL_CALLED_1(riemann_zeta, sf_riemann_zeta)
SN_SPECIAL_CALLED_2(polygamma, sf_polygamma)
SN_SPECIAL_CALLED_2(expn, sf_expn)

}  // namespace sn
