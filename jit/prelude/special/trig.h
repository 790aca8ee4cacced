// sinter prelude, special functions: sine and cosine of any argument.
namespace sn {

template <class V> struct sf_sine_cosine {
  V sin, cos;
};
/// Of hi + lo with |hi| <= pi / 4, then turned by k quarters: as pairs, to about 2^-56.
template <class V> struct sf_pair_sine_cosine {
  sf_pair<V> sin, cos;
};
template <class V> SN_FN sf_pair_sine_cosine<V> sf_turned(V hi, V lo, V k) {
  const V z = hi * hi;
  const V s_low = sf_fma(hi * z, sf_poly(z, -0.16666666666666666, 0.008333333333333331, -0.0001984126984126504,
      2.755731921932058e-06, -2.50521062259944e-08, 1.6058530596645953e-10, -7.586636882825159e-13), lo * sf_fma(V(-0.5), z,
      V(1.0)));
  const V half = V(0.5) * z, w = V(1.0) - half;
  const V c_low = ((V(1.0) - w) - half) + sf_fma(z * z, sf_poly(z, 0.041666666666666664, -0.0013888888888888887,
      2.4801587301584632e-05, -2.755731922139249e-07, 2.0876755787492604e-09, -1.1470460319209511e-11,
      4.745838412531023e-14), -(hi * lo));
  const V quarter = k - V(4.0) * sf_floor(k * V(0.25));  // 0 to 3
  const auto odd = (quarter == V(1.0)) | (quarter == V(3.0));
  const sf_pair<V> s = sf_sum_ordered(hi, s_low), c = sf_sum_ordered(w, c_low);
  const sf_pair<V> ps = sf_pair_if(odd, c, s), pc = sf_pair_if(odd, s, c);
  return {sf_pair_if(quarter >= V(2.0), sf_minus(ps), ps),
          sf_pair_if((quarter == V(1.0)) | (quarter == V(2.0)), sf_minus(pc), pc)};
}
/// Arguments below 2^20 are reduced by pi / 2 in three parts (W. J. Cody, W. Waite 1980), others by the C library.
template <class V> SN_PIECE sf_pair_sine_cosine<V> sf_sincos_pairs(V x) {
  const V k = sf_rint(x * V(0.63661977236758134308));
  const V a = sf_fma(k, V(-1.5707963267341256), x), b = k * V(-6.077100506303966e-11);
  const sf_pair<V> s = sf_sum(a, b);
  const V lo = sf_fma(k, V(-2.0222662487959506e-21), s.lo);
  const sf_pair<V> r = sf_sum_ordered(s.hi, lo);
  sf_pair_sine_cosine<V> p = sf_turned(r.hi, r.lo, k);
  const auto huge = !(sf_abs(x) < V(1048576.0));
  if (sf_any(huge)) {
    const V y = sf_if(huge, x, V(0.0));
    p.sin = sf_pair_if(huge, {sf_library_sin(y), V(0.0)}, p.sin);
    p.cos = sf_pair_if(huge, {sf_library_cos(y), V(0.0)}, p.cos);
  }
  return p;
}
template <class V> SN_FN sf_sine_cosine<V> sf_sincos(V x) {
  const sf_pair_sine_cosine<V> p = sf_sincos_pairs(x);
  return {p.sin.hi, p.cos.hi};
}
/// Of x - pi / 4 for x >= 1, to an ulp of themselves: (sin(x) - cos(x)) / sqrt(2) and (sin(x) + cos(x)) / sqrt(2), which cancel.
template <class V> SN_FN sf_sine_cosine<V> sf_sincos_turned(V x) {
  const V k = sf_rint(sf_fma(x, V(0.63661977236758134308), V(-0.5)));
  const sf_pair<V> a = sf_sum(sf_fma(k, V(-1.5707963267341256), x), V(-0.78539816339744828));
  const sf_pair<V> s = sf_sum(a.hi, k * V(-6.077100506303966e-11));
  const V lo = a.lo + (sf_fma(k, V(-2.0222662487959506e-21), V(-3.061616997868383e-17)) + s.lo);
  const sf_pair<V> r = sf_sum_ordered(s.hi, lo);
  const sf_pair_sine_cosine<V> p = sf_turned(r.hi, r.lo, k);
  sf_sine_cosine<V> t = {p.sin.hi, p.cos.hi};
  const auto huge = !(x < V(1048576.0));
  if (sf_any(huge)) {
    const V y = sf_if(huge, x, V(0.0)), sine = sf_library_sin(y), cosine = sf_library_cos(y), half = V(0.70710678118654752440);
    t = {sf_if(huge, (sine - cosine) * half, t.sin), sf_if(huge, (sine + cosine) * half, t.cos)};
  }
  return t;
}

}  // namespace sn
