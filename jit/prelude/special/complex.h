// sinter prelude, special functions: those of complex numbers, as real and imaginary parts.
namespace sn {

template <class V> struct sf_complex {
  V re, im;
};
template <class V> SN_FN sf_complex<V> sf_add(sf_complex<V> a, sf_complex<V> b) { return {a.re + b.re, a.im + b.im}; }
template <class V> SN_FN sf_complex<V> sf_subtract(sf_complex<V> a, sf_complex<V> b) { return {a.re - b.re, a.im - b.im}; }
template <class V> SN_FN sf_complex<V> sf_multiply(sf_complex<V> a, sf_complex<V> b) {
  return {sf_fma(a.re, b.re, -(a.im * b.im)), sf_fma(a.re, b.im, a.im * b.re)};
}
template <class V> SN_FN sf_complex<V> sf_divide(sf_complex<V> a, sf_complex<V> b) {
  const V s = V(1.0) / sf_max(sf_abs(b.re), sf_abs(b.im)), x = b.re * s, y = b.im * s;
  const V d = s / sf_fma(x, x, y * y);
  return {sf_fma(a.re, x, a.im * y) * d, sf_fma(a.im, x, -(a.re * y)) * d};
}
template <class V, class M> SN_FN sf_complex<V> sf_complex_if(M m, sf_complex<V> a, sf_complex<V> b) {
  return {sf_if(m, a.re, b.re), sf_if(m, a.im, b.im)};
}
/// The angle of x + i y; polynomials on [0, pi / 8].
template <class V> SN_PIECE V sf_angle(V x, V y) {
  const V a = sf_abs(x), b = sf_abs(y), most = sf_max(a, b), t = sf_if(most == V(0.0), V(0.0), sf_min(a, b) / most);
  const auto far = t > V(0.4142135623730950);
  const V u = sf_if(far, (t - V(1.0)) / (t + V(1.0)), t);
  const V c = u * sf_poly(u * u, 1.0, -0.3333333333333312, 0.1999999999994035, -0.14285714279197312, 0.11111110742286896,
      -0.0909089673297879, 0.0769204396500265, -0.06662936116136517, 0.058467627400560856,
      -0.05034575594522044, 0.03795171422296338, -0.017790395523288063);
  V r = sf_if(far, V(0.78539816339744830962) + c, c);
  r = sf_if(b > a, V(1.57079632679489661923) - r, r);
  const auto left = (x < V(0.0)) | ((x == V(0.0)) & (V(1.0) / x < V(0.0)));
  return sf_copysign(sf_if(left, V(3.14159265358979323846) - r, r), y);
}
/// The logarithm of a number other than 0, and of 1 + z.
template <class V> SN_PIECE sf_complex<V> sf_complex_log(sf_complex<V> z) {
  const V a = sf_abs(z.re), b = sf_abs(z.im), most = sf_max(a, b), t = sf_min(a, b) / most;
  return {sf_log(most) + V(0.5) * sf_log1p(t * t), sf_angle(z.re, z.im)};
}
template <class V> SN_PIECE sf_complex<V> sf_complex_log1p(sf_complex<V> z) {
  return {V(0.5) * sf_log1p(sf_fma(z.re, z.re + V(2.0), z.im * z.im)), sf_angle(z.re + V(1.0), z.im)};
}
template <class V> SN_PIECE sf_complex<V> sf_complex_exp(sf_complex<V> z) {
  const V e = sf_exp(z.re);
  const sf_sine_cosine<V> t = sf_sincos(z.im);
  return {e * t.cos, e * t.sin};
}
template <class V, int N> SN_FN sf_complex<V> sf_complex_poly(const double (&c)[N], sf_complex<V> z) {
  sf_complex<V> r = {V(c[N - 1]), V(0.0)};
  for (int k = N - 2; k >= 0; --k) {
    r = sf_multiply(r, z);
    r.re = r.re + V(c[k]);
  }
  return r;
}

/// log gamma(z) for re z > 0.05 and im z >= 0: Taylor's series around 1 and 2, and Stirling's series, below 7 after some steps
/// of the recurrence, which count the turns of their product (D. E. G. Hare, Journal of Algorithms 25, 1997).
template <class V> SN_PIECE sf_complex<V> sf_loggamma_right(sf_complex<V> z) {
  const V one = V(1.0), zero = V(0.0), half = V(0.5);
  sf_complex<V> w = z;
  sf_pair<V> re = {one, zero}, im = {zero, zero};  // the product
  V turns = zero;
  for (int k = 0; k < 7; ++k) {
    const auto more = (w.re <= V(7.0)) & (w.im <= V(7.0));
    if (!sf_any(more)) break;
    const sf_pair<V> x = sf_plus(sf_times(re, w.re), sf_minus(sf_times(im, w.im)));
    const sf_pair<V> y = sf_plus(sf_times(re, w.im), sf_times(im, w.re));
    turns = sf_if(more & (y.hi < zero) & (im.hi >= zero), turns + one, turns);
    re = sf_pair_if(more, x, re);
    im = sf_pair_if(more, y, im);
    w.re = sf_if(more, w.re + one, w.re);
  }
  // Logarithms of moduli as pairs: half those of squares, of w where that does not overflow
  const V least = sf_min(sf_max(w.re, w.im), V(1e150));
  const auto wide = sf_max(w.re, w.im) > V(1e150);
  const sf_complex<V> l = sf_complex_log(w), i = sf_divide<V>({one, zero}, w);
  const sf_pair<V> square = sf_plus(sf_product(sf_min(w.re, least), sf_min(w.re, least)),
      sf_product(sf_min(w.im, least), sf_min(w.im, least)));
  const sf_pair<V> moduli = sf_times(sf_log_pair(square), half), of_w = sf_pair_if(wide, {l.re, zero}, moduli);
  const sf_pair<V> of_product = sf_times(sf_log_pair(sf_plus(sf_times(re, re), sf_times(im, im))), half);
  const double stirling[] = {0.08333333333333333, -0.002777777777777778, 0.0007936507936507937, -0.0005952380952380953,
      0.0008417508417508417, -0.0019175269175269176, 0.00641025641025641, -0.029550653594771242,
      0.17964437236883057};
  const sf_complex<V> rest = sf_multiply(i, sf_complex_poly(stirling, sf_multiply(i, i)));
  // (w - 1/2) log w - w + log(2 pi) / 2 + the rest, less the logarithm of the product
  const sf_pair<V> a = sf_plus(sf_plus(sf_times(of_w, w.re - half), -w.re), V(0.9189385332046728));
  const sf_pair<V> b = sf_plus(sf_plus(a, sf_minus(of_product)), sf_minus(sf_product(w.im, l.im)));
  const sf_pair<V> c = sf_plus(sf_plus(sf_times(of_w, w.im), -w.im), sf_product(w.re - half, l.im));
  const sf_pair<V> turned = sf_plus(c, sf_fma(V(-6.28318530717958647692), turns, -sf_angle(re.hi, im.hi)));
  sf_complex<V> r = {b.hi + (b.lo + rest.re), turned.hi + (turned.lo + rest.im)};
  const V x1 = z.re - one, x2 = z.re - V(2.0), y2 = z.im * z.im;
  const auto at_1 = sf_fma(x1, x1, y2) < V(0.04);
  const auto at_2 = sf_fma(x2, x2, y2) < V(0.04);
  const auto near = at_1 | at_2;
  if (sf_any(near)) {
    // log gamma(1 + t), and for 2 + t log(1 + t) more
    const sf_complex<V> t = {sf_if(at_1, x1, sf_if(at_2, x2, zero)), sf_if(near, z.im, zero)};
    const double taylor[] = {-0.5772156649015329, 0.8224670334241132, -0.40068563438653143, 0.27058080842778454,
        -0.20738555102867398, 0.1695571769974082, -0.1440498967688461, 0.12550966952474304,
        -0.11133426586956469, 0.1000994575127818, -0.09095401714582904, 0.083353840546109,
        -0.0769325164113522, 0.07143294629536133, -0.06666870588242046, 0.06250095514121304,
        -0.058823978658684585, 0.055555767627403614, -0.05263167937961666, 0.05000004769810169,
        -0.047619070330142226, 0.04545455629320467, -0.04347826605304026, 0.04166666915034121,
        -0.04000000119214014};
    const sf_complex<V> small = sf_multiply(t, sf_complex_poly(taylor, t));
    r = sf_complex_if(near, sf_complex_if(at_1, small, sf_add(small, sf_complex_log1p(t))), r);
  }
  return r;
}
/// The principal branch, real for positive numbers; NaN at the poles.
template <class V> SN_SHARED sf_complex<V> sf_complex_loggamma(V x, V y) {
  const V a = sf_abs(y), nan = sf_nan(x);
  const auto finite = (sf_abs(x) < sf_inf(x)) & (a < sf_inf(x));
  const auto left = (x < V(0.1)) & (a <= V(7.0));
  const V z = sf_if(finite, x, V(1.0)), b = sf_if(finite, a, V(0.0));
  sf_complex<V> r = sf_loggamma_right<V>({sf_if(left, V(1.0) - z, z), b});
  if (sf_any(left)) {
    const V least = sf_min(b, V(7.0)), e = sf_expm1(V(3.14159265358979323846) * least), rest = e / (e + V(1.0));
    const V sinh = V(0.5) * (e + rest), cosh = V(0.5) * ((e + V(1.0)) + V(1.0) / (e + V(1.0)));
    const sf_complex<V> l = sf_complex_log<V>({sf_sinpi(z) * cosh, sf_cospi(z) * sinh});
    const V turns = V(6.28318530717958647692) * sf_floor(sf_fma(V(0.5), z, V(0.25)));
    r = sf_complex_if(left, {V(1.1447298858494002) - l.re - r.re, turns - l.im + r.im}, r);
  }
  const auto pole = (x <= V(0.0)) & (y == V(0.0)) & (x == sf_floor(x));
  const auto good = finite & !pole;
  return {sf_if(good, r.re, nan), sf_if(good, sf_copysign(V(1.0), y) * r.im, nan)};
}
template <class V> SN_FN V sf_loggamma_real(V x, V y) { return sf_complex_loggamma(x, y).re; }
template <class V> SN_FN V sf_loggamma_imag(V x, V y) { return sf_complex_loggamma(x, y).im; }

/// The k-th branch of the inverse of w exp(w) (R. M. Corless and others, Advances in Computational Mathematics 5, 1996):
/// Halley's method from the first terms of the expansion at infinity, from Pade's approximant at 0; beside -1 / e the series in
/// p = sqrt(2 (e z + 1)) alone.
template <class V> SN_SHARED sf_complex<V> sf_complex_lambertw(V x, V y, V branch) {
  const V one = V(1.0), zero = V(0.0), inf = sf_inf(x), k = sf_rint(branch);
  const auto null = (x == zero) & (y == zero);
  const auto finite = (sf_abs(x) < inf) & (sf_abs(y) < inf) & (sf_abs(k) < V(1e15));
  const auto inner = finite & !null;
  const sf_complex<V> z = {sf_if(inner, x, one), sf_if(inner, y, zero)};
  // e z + 1, without cancellation
  const sf_pair<V> ez = sf_product(z.re, V(2.718281828459045));
  const sf_pair<V> sum = sf_plus(ez, one);
  const V d = V(2.0) * (sum.hi + sf_fma(z.re, V(1.4456468917292502e-16), sum.lo)), e = V(2.0) * V(2.718281828459045) * z.im;
  const V size = sf_max(sf_abs(d), sf_abs(e)), other = sf_min(sf_abs(d), sf_abs(e)) / sf_if(size == zero, one, size);
  const V modulus = size * sf_sqrt(sf_fma(other, other, one));
  const V root = sf_sqrt(V(0.5) * (sf_abs(d) + modulus)), cross = sf_if(root == zero, zero, V(0.5) * e / root);
  sf_complex<V> p = sf_complex_if(d >= zero, sf_complex<V>{root, cross}, {sf_abs(cross), sf_copysign(root, e)});
  const auto minus = ((k == -one) & (y >= zero)) | ((k == one) & (y < zero));
  const auto near = (modulus < V(0.12)) & ((k == zero) | minus);
  p = sf_complex_if(minus, {-p.re, -p.im}, p);
  const auto small = (k == zero) & (z.re > -one) & (z.re < V(1.5)) & (sf_abs(z.im) < one) &
    (sf_fma(V(-2.5), sf_abs(z.im), V(-0.2)) < z.re);
  const auto real = (k == -one) & (y == zero) & (z.re < zero) & (d >= zero);
  // First guesses
  const sf_complex<V> l = sf_complex_log(z);
  const sf_complex<V> far = {l.re, sf_fma(V(6.28318530717958647692), k, l.im)};
  const auto unit = (sf_abs(far.re) < V(1e-3)) & (sf_abs(far.im) < V(1e-3));
  sf_complex<V> w = sf_subtract(far, sf_complex_log(sf_complex_if(unit, {one, zero}, far)));
  const double above[] = {1.0, 2.331643981597124, 1.812187885639363}, below[] = {1.0, 3.331643981597124,
      3.4858543112968185};
  w = sf_complex_if(small, sf_divide(sf_multiply(z, sf_complex_poly(above, z)), sf_complex_poly(below, z)), w);
  const V from = sf_log(sf_abs(z.re));
  w = sf_complex_if(real, {from - sf_log(-from), zero}, w);
  const double start[] = {-1.0, 1.0, -0.3333333333333333, 0.1527777777777778, -0.07962962962962963};
  const auto bent = (modulus < V(2.5)) & ((k == zero) | minus);
  w = sf_complex_if(bent, sf_complex_poly(start, p), w);
  // Far from 1 Newton's method for w + log w = log z + 2 pi i k, which neither overflows nor underflows
  const auto remote = (sf_abs(l.re) > V(100.0)) & !small;
  const sf_complex<V> target = sf_complex_if(real, {l.re, V(3.14159265358979323846)}, far);
  auto open = inner & !near;
  w = sf_complex_if(open, w, {one, zero});
  SN_ROLLED
  for (int n = 0; n < 60; ++n) {
    if (!sf_any(open)) break;
    // w - z exp(-w), or w exp(w) - z where exp(w) is small
    const auto right = w.re >= zero;
    const sf_complex<V> ew = sf_complex_exp(sf_complex_if(right, {-w.re, -w.im}, w));
    const sf_complex<V> f = sf_complex_if(right, sf_subtract(w, sf_multiply(z, ew)), sf_subtract(sf_multiply(w, ew), z));
    const sf_complex<V> w1 = {w.re + one, w.im}, w2 = {w.re + V(2.0), w.im};
    const sf_complex<V> slope = sf_complex_if(right, w1, sf_multiply(w1, ew));
    const sf_complex<V> turn = sf_divide(sf_multiply(w2, f), {w1.re + w1.re, w1.im + w1.im});
    sf_complex<V> step = sf_divide(f, sf_subtract(slope, turn));
    if (sf_any(remote)) {
      const sf_complex<V> unity = {one, zero}, flat = sf_add(sf_divide(unity, w), unity);
      const sf_complex<V> g = sf_subtract(sf_add(w, sf_complex_log(w)), target);
      step = sf_complex_if(remote, sf_divide(g, flat), step);
    }
    w = sf_complex_if(open, sf_subtract(w, step), w);
    open = open & !(sf_abs(step.re) + sf_abs(step.im) <= V(3e-6) * sf_min(sf_abs(w.re) + sf_abs(w.im), one));
  }
  if (sf_any(near)) {
    const double series[] = {-1.0, 1.0, -0.3333333333333333, 0.1527777777777778, -0.07962962962962963, 0.044502314814814814,
        -0.02598471487360376, 0.01563563253233392, -0.009616892024299432, 0.006014543252956118,
        -0.0038112980348919993, 0.0024408779911439826, -0.0015769303446867841, 0.0010262633205076071,
        -0.0006720616311561362, 0.0004424730618146209, -0.00029267722472962746, 0.00019438727605453933,
        -0.00012957426685274883, 8.665035805208128e-05, -5.811360750441382e-05, 3.907668486743905e-05,
        -2.63380647472311e-05, 1.7790345805079586e-05, -1.2040352739559977e-05, 8.163531982496613e-06,
        -5.544203208567359e-06, 3.7710949611072535e-06, -2.5687050390550955e-06, 1.7520067268263412e-06};
    w = sf_complex_if(near, sf_complex_poly(series, sf_complex_if(near, p, {zero, zero})), w);
  }
  const V circles = V(6.28318530717958647692) * k;
  const sf_complex<V> ends = sf_complex_if(null, sf_complex_if(k == zero, sf_complex<V>{x, y}, {-inf, zero}),
      sf_complex_if(x == inf, {x, y + circles}, sf_complex_if(x == -inf, sf_complex<V>{-x,
      circles + V(3.14159265358979323846) - y}, {sf_nan(x), sf_nan(x)})));
  w = sf_complex_if(inner, w, ends);
  const auto nan = !((x == x) & (y == y) & (branch == branch));
  return {sf_if(nan, sf_nan(x), w.re), sf_if(nan, sf_nan(x), w.im)};
}
template <class V> SN_FN V sf_lambertw_real(V x, V y, V k) { return sf_complex_lambertw(x, y, k).re; }
template <class V> SN_FN V sf_lambertw_imag(V x, V y, V k) {
  // The principal branch is real from -1 / e on.
  const auto real = (y == V(0.0)) & (sf_rint(k) == V(0.0)) & (x >= V(-0.36));
  V r = y;
  if (sf_any(!real)) r = sf_if(real, y, sf_complex_lambertw(sf_if(real, V(1.0), x), y, k).im);
  return r;
}

SN_SPECIAL_CALLED_2(loggamma_real, sf_loggamma_real)
SN_SPECIAL_CALLED_2(loggamma_imag, sf_loggamma_imag)
SN_SPECIAL_CALLED_3(lambertw_real, sf_lambertw_real)
SN_SPECIAL_CALLED_3(lambertw_imag, sf_lambertw_imag)

}  // namespace sn
