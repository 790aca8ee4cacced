// sinter prelude: complex numbers, their arithmetic, comparisons and casts, as NumPy defines them.
namespace sn {

#ifdef SN_USER_COMPLEX  // user_number.h has defined it
#elif defined(__CUDACC__)
template <class R> struct alignas(2 * sizeof(R)) cx { R re, im; };
#else
template <class R> struct cx { R re, im; };
#endif
typedef cx<float> c64;
typedef cx<double> c128;

template <class R> SN_FN R real(cx<R> a) { return a.re; }
template <class R> SN_FN R imag(cx<R> a) { return a.im; }
SN_FN c64 make_complex(float re, float im) { return {re, im}; }
SN_FN c128 make_complex(double re, double im) { return {re, im}; }
template <class R> SN_FN cx<R> conj(cx<R> a) { return {a.re, -a.im}; }
template <class R> SN_FN cx<R> add(cx<R> a, cx<R> b) { return {a.re + b.re, a.im + b.im}; }
template <class R> SN_FN cx<R> subtract(cx<R> a, cx<R> b) { return {a.re - b.re, a.im - b.im}; }
template <class R> SN_FN cx<R> negative(cx<R> a) { return {-a.re, -a.im}; }
template <class R> SN_FN cx<R> multiply(cx<R> a, cx<R> b) {
  return {SN_ROUNDED(a.re * b.re) - SN_ROUNDED(a.im * b.im), SN_ROUNDED(a.re * b.im) + SN_ROUNDED(a.im * b.re)};
}
template <class R> SN_FN cx<R> square(cx<R> a) { return multiply(a, a); }
// Smith's quotient; by zero, both parts are divided by +0. Without branches where loops over lanes become vector code: a product with
// an infinity is what a division by +0 is.
template <class R> SN_FN cx<R> divide(cx<R> a, cx<R> b) {
#ifndef __CUDACC__
  const R br = absolute(b.re), bi = absolute(b.im);
  const bool real = br >= bi, zero = bool(int(br == 0) & int(bi == 0));
  const R more = (real ? b.re : b.im) + R(0), less = real ? b.im : b.re;  // + 0: a zero is +0
  const R u = real ? a.re : a.im, v = real ? a.im : a.re;
  const R ratio = zero ? R(0) : less / more, scale = R(1) / (more + SN_ROUNDED(less * ratio));
  const R minuend = real ? v : SN_ROUNDED(u * ratio), subtrahend = real ? SN_ROUNDED(u * ratio) : v;
  return {(zero ? a.re : u + SN_ROUNDED(v * ratio)) * scale, (zero ? a.im : minuend - subtrahend) * scale};
#else
  R br = absolute(b.re), bi = absolute(b.im);
  if (br >= bi) {
    if (br == 0 && bi == 0) return {a.re / br, a.im / br};
    R ratio = b.im / b.re, scale = R(1) / (b.re + b.im * ratio);
    return {(a.re + SN_ROUNDED(a.im * ratio)) * scale, (a.im - SN_ROUNDED(a.re * ratio)) * scale};
  }
  R ratio = b.re / b.im, scale = R(1) / (b.im + b.re * ratio);
  return {(SN_ROUNDED(a.re * ratio) + a.im) * scale, (SN_ROUNDED(a.im * ratio) - a.re) * scale};
#endif
}
template <class R> SN_FN cx<R> reciprocal(cx<R> a) {
  if (absolute(a.im) <= absolute(a.re)) {
    R ratio = a.im / a.re, d = a.re + a.im * ratio;
    return {R(1) / d, -ratio / d};
  }
  R ratio = a.re / a.im, d = a.re * ratio + a.im;
  return {ratio / d, R(-1) / d};
}
template <class R> SN_FN R absolute(cx<R> a) { return hypot(a.re, a.im); }
// z / |z|; 0 for 0; the axis direction where one part is infinite.
template <class R> SN_FN cx<R> sign(cx<R> a) {
  R m = absolute(a);
  if (isnan(m)) return {not_a_number(m), not_a_number(m)};
  if (isinf(m)) {
    bool r = isinf(a.re), i = isinf(a.im);
    if (r && i) return {not_a_number(m), not_a_number(m)};
    return r ? cx<R>{a.re > 0 ? R(1) : R(-1), R(0)} : cx<R>{R(0), a.im > 0 ? R(1) : R(-1)};
  }
  if (m == 0) return {R(0), R(0)};
  return {a.re / m, a.im / m};
}
template <class R> SN_FN cx<R> rint(cx<R> a) { return {rint(a.re), rint(a.im)}; }

template <class R> SN_FN bool isnan(cx<R> a) { return isnan(a.re) || isnan(a.im); }
template <class R> SN_FN bool isinf(cx<R> a) { return isinf(a.re) || isinf(a.im); }
template <class R> SN_FN bool isfinite(cx<R> a) { return isfinite(a.re) && isfinite(a.im); }

// Order: by the real part, then by the imaginary part; NaN anywhere compares false.
template <class R> SN_FN bool equal(cx<R> a, cx<R> b) { return a.re == b.re && a.im == b.im; }
template <class R> SN_FN bool not_equal(cx<R> a, cx<R> b) { return a.re != b.re || a.im != b.im; }
template <class R> SN_FN bool less(cx<R> a, cx<R> b) {
  return (a.re < b.re && !isnan(a.im) && !isnan(b.im)) || (a.re == b.re && a.im < b.im);
}
template <class R> SN_FN bool less_equal(cx<R> a, cx<R> b) {
  return (a.re < b.re && !isnan(a.im) && !isnan(b.im)) || (a.re == b.re && a.im <= b.im);
}
template <class R> SN_FN bool greater(cx<R> a, cx<R> b) { return less(b, a); }
template <class R> SN_FN bool greater_equal(cx<R> a, cx<R> b) { return less_equal(b, a); }
template <class R> SN_FN cx<R> maximum(cx<R> a, cx<R> b) { return greater_equal(a, b) || isnan(a) ? a : b; }
template <class R> SN_FN cx<R> minimum(cx<R> a, cx<R> b) { return less_equal(a, b) || isnan(a) ? a : b; }
template <class R> SN_FN cx<R> fmax(cx<R> a, cx<R> b) { return greater_equal(a, b) || isnan(b) ? a : b; }
template <class R> SN_FN cx<R> fmin(cx<R> a, cx<R> b) { return less_equal(a, b) || isnan(b) ? a : b; }

template <class R> SN_FN bool truth(cx<R> a) { return a.re != 0 || a.im != 0; }
template <class R> SN_FN bool logical_not(cx<R> a) { return !truth(a); }
template <class R> SN_FN bool logical_and(cx<R> a, cx<R> b) { return truth(a) && truth(b); }
template <class R> SN_FN bool logical_or(cx<R> a, cx<R> b) { return truth(a) || truth(b); }
template <class R> SN_FN bool logical_xor(cx<R> a, cx<R> b) { return truth(a) != truth(b); }

// To a complex type: the imaginary part is 0; from one: the real part, except that bool asks both.
template <class To, class R> struct caster<To, cx<R>> {
  SN_MEMBER To of(cx<R> x) {
    if constexpr (is_bool<To>::value) return truth(x);
    else return cast<To>(x.re);
  }
};
template <class R, class From> struct caster<cx<R>, From> {
  SN_MEMBER cx<R> of(From x) { return {cast<R>(x), R(0)}; }
};
template <class R, class S> struct caster<cx<R>, cx<S>> {
  SN_MEMBER cx<R> of(cx<S> x) { return {R(x.re), R(x.im)}; }
};
template <class R> struct caster<cx<R>, cx<R>> {
  SN_MEMBER cx<R> of(cx<R> x) { return x; }
};

}  // namespace sn
