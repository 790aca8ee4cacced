// sinter prelude: functions of complex numbers. Branch cuts and special values are those of C99 annex G, which NumPy
// follows. On the CPU the C library's functions do the work; CUDA has none, so there the published algorithms stand:
// W. Kahan, "Branch cuts for complex elementary functions" (1987), in the form that keeps each product free of
// cancellation, with the special cases spelt out as in C99.
#if defined(__CUDACC__) || defined(SN_GENERIC_COMPLEX)
namespace sn {

template <class R> struct limits;
template <> struct limits<float> {
  // Beyond `huge`, z and sqrt(z*z - 1) agree to the last bit; exp overflows above `exp_max`.
  static constexpr float huge = 1e8f, tiny = 1e-9f, exp_max = 88.0f, saturate = 11.0f;
};
template <> struct limits<double> {
  static constexpr double huge = 1e16, tiny = 1e-17, exp_max = 709.0, saturate = 22.0;
};
#define SN_LN2 0.69314718055994530942
#define SN_PI_2 1.57079632679489661923

template <class R> SN_FN cx<R> sqrt(cx<R> z) {
  R a = z.re, b = z.im;
  if (a == 0 && b == 0) return {R(0), b};
  if (isinf(b)) return {infinity(b), b};
  if (isnan(a)) return {a, not_a_number(a)};
  if (isinf(a)) {
    R other = isnan(b) ? b : R(0);
    if (signbit(a)) return {absolute(other), isnan(b) ? a : copysign(a, b)};
    return {a, copysign(other, b)};
  }
  if (isnan(b)) return {b, b};
  R m = maximum(absolute(a), absolute(b)), scale = R(1);
  if (m > R(1e37)) {
    a *= R(0.25);
    b *= R(0.25);
    scale = R(2);
  } else if (m < R(1e-36)) {
    R up = sizeof(R) == 4 ? R(1.6777216e7) : R(18014398509481984.0);  // 2^24, 2^54
    a *= up;
    b *= up;
    scale = sizeof(R) == 4 ? R(1.0 / 4096) : R(1.0 / 134217728);
  }
  R t = sqrt((absolute(a) + hypot(a, b)) * R(0.5));
  if (a >= 0) return {t * scale, b / (R(2) * t) * scale};
  return {absolute(b) / (R(2) * t) * scale, copysign(t, b) * scale};
}

// exp(x) * (c, s) with the intermediate exponential kept in range.
template <class R> SN_FN cx<R> scaled_exp(R x, R c, R s) {
  R top = limits<R>::exp_max;
  if (x <= top) {
    R e = exp(x);
    return {e * c, e * s};
  }
  R rest = x - top > top ? top : x - top, e = exp(top), f = exp(rest);
  return {e * c * f, e * s * f};
}
template <class R> SN_FN cx<R> exp(cx<R> z) {
  R x = z.re, y = z.im;
  if (y == 0) return {exp(x), y};
  if (!isfinite(y)) {
    if (isinf(x)) return signbit(x) ? cx<R>{R(0), copysign(R(0), y)} : cx<R>{x, not_a_number(x)};
    return {not_a_number(x), not_a_number(x)};
  }
  if (isnan(x)) return {x, x};
  return scaled_exp(x, cos(y), sin(y));
}

// log|z| by hypot loses everything near |z| = 1; there log1p of |z|^2 - 1, formed without rounding of the squares.
SN_FN double log_modulus(double x, double y) {
  double a = absolute(x), b = absolute(y);
  if (a != a || b != b) return a + b;
  if (a < b) {
    double t = a;
    a = b;
    b = t;
  }
  if (a > 1e150) return log(hypot(a * 0.25, b * 0.25)) + 2 * SN_LN2;
  if (a < 1e-150) return a == 0 ? -infinity(a) : log(hypot(a * 0x1p+600, b * 0x1p+600)) - 600 * SN_LN2;
  double m = hypot(a, b);
  if (!(m > 0.5 && m < 2.0)) return log(m);
  double a2 = a * a, b2 = b * b;
  double a2_low = SN_LIBM(fma)(a, a, -a2), b2_low = SN_LIBM(fma)(b, b, -b2);
  double d = a2 - 1.0, d_low = (a2 - (d + 1.0)) + ((d + 1.0 - d) - 1.0);
  double sum = d + b2, back = sum - d;
  double low = (d - (sum - back)) + (b2 - back);
  return 0.5 * log1p(sum + (low + d_low + a2_low + b2_low));
}
SN_FN float log_modulus(float x, float y) { return float(log_modulus(double(x), double(y))); }
template <class R> SN_FN cx<R> log(cx<R> z) {
  R m = isinf(z.re) || isinf(z.im) ? infinity(z.re) : log_modulus(z.re, z.im);
  return {m, arctan2(z.im, z.re)};
}

template <class R> SN_FN cx<R> sinh(cx<R> z) {
  R x = z.re, y = z.im;
  if (isfinite(x) && isfinite(y)) {
    if (y == 0) return {sinh(x), y};
    if (absolute(x) < limits<R>::saturate) return {sinh(x) * cos(y), cosh(x) * sin(y)};
    cx<R> e = scaled_exp(absolute(x), cos(y) * R(0.5), sin(y) * R(0.5));
    return {signbit(x) ? -e.re : e.re, e.im};
  }
  if (x == 0) return {x, not_a_number(x)};
  if (y == 0) return {x, y};
  if (isinf(x)) {
    if (!isfinite(y)) return {x, not_a_number(x)};
    return {x * cos(y), infinity(x) * sin(y)};
  }
  return {not_a_number(x), not_a_number(x)};
}
template <class R> SN_FN cx<R> cosh(cx<R> z) {
  R x = z.re, y = z.im;
  if (isfinite(x) && isfinite(y)) {
    if (y == 0) return {cosh(x), x * y};
    if (absolute(x) < limits<R>::saturate) return {cosh(x) * cos(y), sinh(x) * sin(y)};
    cx<R> e = scaled_exp(absolute(x), cos(y) * R(0.5), sin(y) * R(0.5));
    return {e.re, signbit(x) ? -e.im : e.im};
  }
  if (x == 0) return {not_a_number(x), R(0)};
  if (y == 0) return {x * x, isnan(x) ? y : copysign(R(0), x) * y};
  if (isinf(x)) {
    if (!isfinite(y)) return {infinity(x), not_a_number(x)};
    return {infinity(x) * cos(y), x * sin(y)};
  }
  return {not_a_number(x), not_a_number(x)};
}
template <class R> SN_FN cx<R> tanh(cx<R> z) {
  R x = z.re, y = z.im;
  if (isnan(x)) return {x, y == 0 ? y : x};
  if (isinf(x)) return {copysign(R(1), x), copysign(R(0), isfinite(y) ? sin(y) * cos(y) : y)};
  if (!isfinite(y)) return {x == 0 ? x : not_a_number(x), not_a_number(x)};
  if (absolute(x) >= limits<R>::saturate) {
    R e = exp(-absolute(x));
    return {copysign(R(1), x), R(4) * sin(y) * cos(y) * e * e};
  }
  R t = tan(y), beta = R(1) + t * t, s = sinh(x), rho = sqrt(R(1) + s * s);
  if (isinf(t)) return {rho / s, R(1) / t};
  R d = R(1) + beta * s * s;
  return {beta * rho * s / d, t / d};
}

// log(2|z|) of a huge number.
template <class R> SN_FN R log_twice(R x, R y) {
  return isinf(x) || isinf(y) ? infinity(x) : log_modulus(x, y) + R(SN_LN2);
}
template <class R> SN_FN cx<R> arcsinh(cx<R> z) {
  R x = z.re, y = z.im, ax = absolute(x), ay = absolute(y);
  if (isnan(x) || isnan(y)) {
    if (isinf(x)) return {x, not_a_number(x)};
    if (isinf(y)) return {y, not_a_number(x)};
    if (y == 0) return {not_a_number(x), y};
    return {not_a_number(x), not_a_number(x)};
  }
  if (ax > limits<R>::huge || ay > limits<R>::huge)
    return {copysign(log_twice(ax, ay), x), copysign(arctan2(ay, ax), y)};
  if (x == 0 && y == 0) return z;
  // arcsin of (ay, ax), real and imaginary parts exchanged
  cx<R> p = sqrt(cx<R>{R(1) - ay, -ax}), q = sqrt(cx<R>{R(1) + ay, ax});
  R u = arctan2(ay, SN_ROUNDED(p.re * q.re) - SN_ROUNDED(p.im * q.im));
  R v = arcsinh(SN_ROUNDED(p.re * q.im) - SN_ROUNDED(p.im * q.re));
  return {copysign(v, x), copysign(u, y)};
}
template <class R> SN_FN cx<R> arccos(cx<R> z) {
  R x = z.re, y = z.im, ay = absolute(y);
  if (isnan(x) || isnan(y)) {
    if (isinf(x)) return {not_a_number(x), -infinity(x)};
    if (isinf(y)) return {not_a_number(x), -y};
    if (x == 0) return {R(SN_PI_2), not_a_number(x)};
    return {not_a_number(x), not_a_number(x)};
  }
  if (absolute(x) > limits<R>::huge || ay > limits<R>::huge) {
    R v = log_twice(x, y);
    return {arctan2(ay, x), signbit(y) ? v : -v};
  }
  cx<R> p = sqrt(cx<R>{R(1) - x, -ay}), q = sqrt(cx<R>{R(1) + x, ay});
  R v = arcsinh(SN_ROUNDED(q.re * p.im) - SN_ROUNDED(q.im * p.re));  // not positive
  return {R(2) * arctan2(p.re, q.re), copysign(v, signbit(y) ? R(1) : R(-1))};
}
template <class R> SN_FN cx<R> arccosh(cx<R> z) {
  cx<R> w = arccos(z);
  if (isnan(w.re) && isnan(w.im)) return {w.im, w.re};
  if (isnan(w.re)) return {absolute(w.im), w.re};
  if (isnan(w.im)) return {w.im, absolute(w.re)};
  return {absolute(w.im), copysign(w.re, z.im)};
}
template <class R> SN_FN cx<R> arctanh(cx<R> z) {
  R x = z.re, y = z.im, ax = absolute(x), ay = absolute(y);
  if (isnan(x) || isnan(y)) {
    if (isinf(x)) return {copysign(R(0), x), not_a_number(x)};
    if (isinf(y)) return {copysign(R(0), x), copysign(R(SN_PI_2), y)};
    if (x == 0) return {x, not_a_number(x)};
    return {not_a_number(x), not_a_number(x)};
  }
  if (y == 0 && ax <= 1) return {arctanh(x), y};
  if (x == 0) return {x, arctan(y)};
  if (ax > limits<R>::huge || ay > limits<R>::huge) {
    // the real part of 1/z
    R u = isinf(x) || isinf(y) ? R(0) : ax > ay ? R(1) / (ax + ay / ax * ay) : ax / ay / (ay + ax / ay * ax);
    return {copysign(u, x), copysign(R(SN_PI_2), y)};
  }
  R d = R(1) - ax, dd = d * d + (ay < limits<R>::tiny ? R(0) : ay * ay);
  R u = ax == 1 && ay < limits<R>::tiny ? (R(SN_LN2) - log(ay)) * R(0.5) : R(0.25) * log1p(R(4) * ax / dd);
  R v;
  if (ax == 1) v = arctan2(R(2), -ay) * R(0.5);
  else if (ay < limits<R>::tiny) v = arctan2(R(2) * ay, d * (R(1) + ax)) * R(0.5);
  else v = arctan2(R(2) * ay, d * (R(1) + ax) - ay * ay) * R(0.5);
  return {copysign(u, x), copysign(v, y)};
}

// C99 Annex G's product: where both parts came out NaN although a factor is infinite, the infinity is recovered. The C
// library's cpow multiplies so, and NumPy gives its values; `multiply` itself is the plain formula.
SN_FN double infinite_sign(double x) { return copysign(x == x && x - x != 0 ? 1.0 : 0.0, x); }
SN_FN double no_nan(double x) { return x == x ? x : copysign(0.0, x); }
SN_FN bool infinite(double x) { return x == x && x - x != 0; }
SN_FN c128 product_with_infinities(c128 a, c128 b) {
  c128 w = multiply(a, b);
  if (w.re == w.re || w.im == w.im) return w;
  bool again = false;
  if (infinite(a.re) || infinite(a.im)) {
    a = c128{infinite_sign(a.re), infinite_sign(a.im)};
    b = c128{no_nan(b.re), no_nan(b.im)};
    again = true;
  }
  if (infinite(b.re) || infinite(b.im)) {
    b = c128{infinite_sign(b.re), infinite_sign(b.im)};
    a = c128{no_nan(a.re), no_nan(a.im)};
    again = true;
  }
  if (!again && (infinite(a.re * b.re) || infinite(a.im * b.im) || infinite(a.re * b.im) || infinite(a.im * b.re))) {
    a = c128{no_nan(a.re), no_nan(a.im)};
    b = c128{no_nan(b.re), no_nan(b.im)};
    again = true;
  }
  if (!again) return w;
  double inf = 1.0 / 0.0;
  w = multiply(a, b);
  return {inf * w.re, inf * w.im};
}
SN_FN c128 power_of_log(c128 a, c128 b) { return exp(product_with_infinities(b, log(a))); }
SN_FN c64 power_of_log(c64 a, c64 b) {
  c128 w = power_of_log(c128{a.re, a.im}, c128{b.re, b.im});
  return {float(w.re), float(w.im)};
}
#undef SN_LN2
#undef SN_PI_2

// Multiplication by i turns the hyperbolic functions into the circular ones.
template <class R> SN_FN cx<R> sin(cx<R> z) {
  cx<R> w = sinh(cx<R>{-z.im, z.re});
  return {w.im, -w.re};
}
template <class R> SN_FN cx<R> cos(cx<R> z) { return cosh(cx<R>{-z.im, z.re}); }
template <class R> SN_FN cx<R> tan(cx<R> z) {
  cx<R> w = tanh(cx<R>{-z.im, z.re});
  return {w.im, -w.re};
}
template <class R> SN_FN cx<R> arcsin(cx<R> z) {
  cx<R> w = arcsinh(cx<R>{-z.im, z.re});
  return {w.im, -w.re};
}
template <class R> SN_FN cx<R> arctan(cx<R> z) {
  cx<R> w = arctanh(cx<R>{-z.im, z.re});
  return {w.im, -w.re};
}

}  // namespace sn
#else
namespace sn {

#define SN_COMPLEX(op, fn) \
  SN_FN c64 op(c64 z) { \
    __extension__ _Complex float w; \
    __real__ w = z.re; \
    __imag__ w = z.im; \
    w = __builtin_##fn##f(w); \
    return {__real__ w, __imag__ w}; \
  } \
  SN_FN c128 op(c128 z) { \
    __extension__ _Complex double w; \
    __real__ w = z.re; \
    __imag__ w = z.im; \
    w = __builtin_##fn(w); \
    return {__real__ w, __imag__ w}; \
  }
SN_COMPLEX(sqrt, csqrt)
SN_COMPLEX(exp, cexp)
SN_COMPLEX(log, clog)
SN_COMPLEX(sin, csin)
SN_COMPLEX(cos, ccos)
SN_COMPLEX(tan, ctan)
SN_COMPLEX(arcsin, casin)
SN_COMPLEX(arccos, cacos)
SN_COMPLEX(arctan, catan)
SN_COMPLEX(sinh, csinh)
SN_COMPLEX(cosh, ccosh)
SN_COMPLEX(tanh, ctanh)
SN_COMPLEX(arcsinh, casinh)
SN_COMPLEX(arccosh, cacosh)
SN_COMPLEX(arctanh, catanh)
#undef SN_COMPLEX

SN_FN c64 power_of_log(c64 a, c64 b) {
  __extension__ _Complex float x, y;
  __real__ x = a.re, __imag__ x = a.im, __real__ y = b.re, __imag__ y = b.im;
  x = __builtin_cpowf(x, y);
  return {__real__ x, __imag__ x};
}
SN_FN c128 power_of_log(c128 a, c128 b) {
  __extension__ _Complex double x, y;
  __real__ x = a.re, __imag__ x = a.im, __real__ y = b.re, __imag__ y = b.im;
  x = __builtin_cpow(x, y);
  return {__real__ x, __imag__ x};
}

}  // namespace sn
#endif

namespace sn {

template <class R> SN_FN cx<R> exp2(cx<R> z) {
  return exp(cx<R>{z.re * R(0.69314718055994530942), z.im * R(0.69314718055994530942)});
}
template <class R> SN_FN cx<R> expm1(cx<R> z) {
  R a = sin(z.im * R(0.5));
  return {expm1(z.re) * cos(z.im) - R(2) * a * a, exp(z.re) * sin(z.im)};
}
template <class R> SN_FN cx<R> log2(cx<R> z) {
  cx<R> w = log(z);
  return {w.re * R(1.44269504088896340736), w.im * R(1.44269504088896340736)};
}
template <class R> SN_FN cx<R> log10(cx<R> z) {
  cx<R> w = log(z);
  return {w.re * R(0.43429448190325182765), w.im * R(0.43429448190325182765)};
}
template <class R> SN_FN cx<R> log1p(cx<R> z) {
  R m = hypot(z.re + R(1), z.im);
  return {log(m), arctan2(z.im, z.re + R(1))};
}

// NumPy's npy_cpow: whole exponents below 100 by multiplication, everything else exp(b log a).
template <class R> SN_FN cx<R> power(cx<R> a, cx<R> b) {
  if (b.re == 0 && b.im == 0) return {R(1), R(0)};
  if (a.re == 0 && a.im == 0) {
    if (b.re > 0) return {R(0), R(0)};
    return {not_a_number(a.re), not_a_number(a.re)};
  }
  if (b.im == 0 && b.re > -100 && b.re < 100 && trunc(b.re) == b.re) {
    int n = int(absolute(b.re));
    if (b.re == 1) return a;
    if (b.re == 2) return multiply(a, a);
    if (b.re == 3) return multiply(a, multiply(a, a));
    cx<R> p = a, r = {R(1), R(0)};
    for (int mask = 1;;) {
      if (n & mask) r = multiply(r, p);
      mask <<= 1;
      if (n < mask) break;
      p = multiply(p, p);
    }
    return b.re < 0 ? divide(cx<R>{R(1), R(0)}, r) : r;
  }
  return power_of_log(a, b);
}

}  // namespace sn
