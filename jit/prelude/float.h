// sinter prelude: operations on float and double (float16 and bfloat16 use those on float).
namespace sn {

#ifdef __CUDACC__
SN_FN unsigned to_bits(float x) { return __float_as_uint(x); }
SN_FN float from_bits(unsigned b) { return __uint_as_float(b); }
SN_FN unsigned long long to_bits(double x) { return (unsigned long long)__double_as_longlong(x); }
SN_FN double from_bits(unsigned long long b) { return __longlong_as_double((long long)b); }
#else
SN_FN unsigned to_bits(float x) { return __builtin_bit_cast(unsigned, x); }
SN_FN float from_bits(unsigned b) { return __builtin_bit_cast(float, b); }
SN_FN unsigned long long to_bits(double x) { return __builtin_bit_cast(unsigned long long, x); }
SN_FN double from_bits(unsigned long long b) { return __builtin_bit_cast(double, b); }
#endif
#ifdef __CUDACC__
SN_FN float infinity(float) { return from_bits(0x7f800000u); }
SN_FN double infinity(double) { return from_bits(0x7ff0000000000000ull); }
SN_FN float not_a_number(float) { return from_bits(0x7fc00000u); }
SN_FN double not_a_number(double) { return from_bits(0x7ff8000000000000ull); }
#else
SN_FN float infinity(float) { return __builtin_inff(); }
SN_FN double infinity(double) { return __builtin_inf(); }
SN_FN float not_a_number(float) { return __builtin_nanf(""); }
SN_FN double not_a_number(double) { return __builtin_nan(""); }
#endif

#define SN_UNARY(op, fn) \
  SN_FN float op(float a) { return SN_LIBM(fn##f)(a); } \
  SN_FN double op(double a) { return SN_LIBM(fn)(a); }
#define SN_BINARY(op, fn) \
  SN_FN float op(float a, float b) { return SN_LIBM(fn##f)(a, b); } \
  SN_FN double op(double a, double b) { return SN_LIBM(fn)(a, b); }
SN_UNARY(absolute, fabs)
SN_UNARY(sqrt, sqrt)
SN_UNARY(cbrt, cbrt)
SN_UNARY(exp, exp)
SN_UNARY(exp2, exp2)
SN_UNARY(expm1, expm1)
SN_UNARY(log, log)
SN_UNARY(log2, log2)
SN_UNARY(log10, log10)
SN_UNARY(log1p, log1p)
SN_UNARY(sin, sin)
SN_UNARY(cos, cos)
SN_UNARY(tan, tan)
SN_UNARY(arcsin, asin)
SN_UNARY(arccos, acos)
SN_UNARY(arctan, atan)
SN_UNARY(sinh, sinh)
SN_UNARY(cosh, cosh)
SN_UNARY(tanh, tanh)
SN_UNARY(arcsinh, asinh)
SN_UNARY(arccosh, acosh)
SN_UNARY(arctanh, atanh)
SN_UNARY(floor, floor)
SN_UNARY(ceil, ceil)
SN_UNARY(trunc, trunc)
SN_UNARY(rint, rint)
SN_BINARY(power, pow)
SN_BINARY(arctan2, atan2)
SN_BINARY(hypot, hypot)
SN_BINARY(copysign, copysign)
SN_BINARY(nextafter, nextafter)
#undef SN_UNARY
#undef SN_BINARY

SN_FN bool signbit(float a) { return (to_bits(a) >> 31) != 0; }
SN_FN bool signbit(double a) { return (to_bits(a) >> 63) != 0; }

// Everything below is written once for both types, as macros rather than templates: the overloads must beat the integer
// templates of base.h. SN_REAL(op) stands for SN_REAL_op(float) and SN_REAL_op(double).
#define SN_REAL(op) SN_REAL_##op(float) SN_REAL_##op(double)

#define SN_REAL_reciprocal(T) \
  SN_FN T reciprocal(T a) { return T(1) / a; }
SN_REAL(reciprocal)
#define SN_REAL_sign(T) \
  SN_FN T sign(T a) { return a > 0 ? T(1) : a < 0 ? T(-1) : a == 0 ? T(0) : a; }
SN_REAL(sign)
#define SN_REAL_isnan(T) \
  SN_FN bool isnan(T a) { return a != a; }
SN_REAL(isnan)
#define SN_REAL_isinf(T) \
  SN_FN bool isinf(T a) { return absolute(a) == infinity(a); }
SN_REAL(isinf)
#define SN_REAL_isfinite(T) \
  SN_FN bool isfinite(T a) { return absolute(a) < infinity(a); }
SN_REAL(isfinite)

// NaN wins; of zeros with different signs the first stays, as NumPy's loops define them. The host's form is two selections, the
// first of which is always made: GCC turns the joined condition of several such operations into branches, as it does nested
// selections where one operation follows another (clip), and does not vectorise them. So the second is one of bits.
#ifdef __CUDACC__
#define SN_FIRST_IF(order, special, a, b) (bool(int(order) | int(special)) ? (a) : (b))
#define SN_EXTREME(a, b, holds, exceeds) SN_FIRST_IF(a holds b, a != a, a, b)
#else
// GCC 13 does so with the first selection of an operation that follows another, too.
template <class T> SN_FN T first_if(bool order, bool special, T a, T b) {
  using U = decltype(to_bits(a));
#if __GNUC__ >= 13
  const U keep = (U(0) - U(order)) | (U(0) - U(special));
  return from_bits(U((to_bits(a) & keep) | (to_bits(b) & ~keep)));
#else
  const T chosen = order ? a : b;
  const U keep = U(0) - U(special);
  return from_bits(U((to_bits(a) & keep) | (to_bits(chosen) & ~keep)));
#endif
}
#define SN_FIRST_IF(order, special, a, b) first_if(order, special, a, b)
// b > a ? b : a is one instruction on x86, and whether b is NaN is known before a loop where b is a number.
#define SN_EXTREME(a, b, holds, exceeds) SN_FIRST_IF(b exceeds a, b != b, b, a)
// NaN wins, and -0 lies below +0: the instruction's results for the operands in either order differ for zeros alone.
#define SN_ORDERED(a, b, exceeds, join)                                                                 \
  const auto first = b exceeds a ? b : a, second = a exceeds b ? a : b;                                 \
  const auto joined = from_bits(decltype(to_bits(a))(to_bits(first) join to_bits(second)));             \
  return __builtin_isunordered(a, b) ? a + b : joined;
SN_FN float ordered_maximum(float a, float b) { SN_ORDERED(a, b, >, &) }
SN_FN double ordered_maximum(double a, double b) { SN_ORDERED(a, b, >, &) }
SN_FN float ordered_minimum(float a, float b) { SN_ORDERED(a, b, <, |) }
SN_FN double ordered_minimum(double a, double b) { SN_ORDERED(a, b, <, |) }
#undef SN_ORDERED
#endif
#define SN_REAL_maximum(T) \
  SN_FN T maximum(T a, T b) { return SN_EXTREME(a, b, >=, >); }
SN_REAL(maximum)
#define SN_REAL_minimum(T) \
  SN_FN T minimum(T a, T b) { return SN_EXTREME(a, b, <=, <); }
SN_REAL(minimum)
// NaN loses.
#define SN_REAL_fmax(T) \
  SN_FN T fmax(T a, T b) { return SN_FIRST_IF(a >= b, b != b, a, b); }
SN_REAL(fmax)
#define SN_REAL_fmin(T) \
  SN_FN T fmin(T a, T b) { return SN_FIRST_IF(a <= b, b != b, a, b); }
SN_REAL(fmin)
#undef SN_FIRST_IF
#undef SN_EXTREME

// C's fmod. On a GPU the library's is a loop over the quotient's bits, and long code where it is inlined. Below 2^23 (2^52) the
// integer part n of the rounded quotient is that of the exact one, or one more where rounding made it an integer; either way
// x - n y is a number, and one operation gives it. Under fast_math the quotient may be too small as well.
#ifdef __CUDACC__
static __device__ __noinline__ float any_fmod(float a, float b) { return ::fmodf(a, b); }
static __device__ __noinline__ double any_fmod(double a, double b) { return ::fmod(a, b); }
SN_FN float less_multiple(float x, float y, float n) { return ::fmaf(-n, y, x); }
SN_FN double less_multiple(double x, double y, double n) { return ::fma(-n, y, x); }
#define SN_REAL_fmod(T) \
  SN_FN T fmod(T a, T b) { \
    const T x = absolute(a), y = absolute(b), n = trunc(x / y); \
    if (x < y) return a; \
    if (!(n < T(sizeof(T) == 4 ? 8388608.0 : 4503599627370496.0))) return any_fmod(a, b); \
    T rest = less_multiple(x, y, n); \
    rest = rest < 0 ? rest + y : rest >= y ? rest - y : rest; \
    return copysign(rest, a); \
  }
SN_REAL(fmod)
#else
SN_FN float fmod(float a, float b) { return SN_LIBM(fmodf)(a, b); }
SN_FN double fmod(double a, double b) { return SN_LIBM(fmod)(a, b); }
#endif
// NumPy's npy_divmod: the quotient is snapped to an integer, the remainder has the divisor's sign.
#define SN_REAL_remainder(T) \
  SN_FN T remainder(T a, T b) { \
    T m = fmod(a, b); \
    if (b == 0) return m; \
    if (m == 0) return copysign(T(0), b); \
    return (b < 0) != (m < 0) ? m + b : m; \
  }
SN_REAL(remainder)
#define SN_REAL_floor_divide(T) \
  SN_FN T floor_divide(T a, T b) { \
    if (b == 0) return a / b; \
    T m = fmod(a, b); \
    T q = (a - m) / b; \
    if (m != 0 && (b < 0) != (m < 0)) q -= T(1); \
    if (q == 0) return copysign(T(0), a / b); \
    T f = floor(q); \
    return q - f > T(0.5) ? f + T(1) : f; \
  }
SN_REAL(floor_divide)
#define SN_REAL_logaddexp(T) \
  SN_FN T logaddexp(T a, T b) { \
    if (a == b) return a + T(0.69314718055994530942); \
    T d = a - b; \
    return d > 0 ? a + log1p(exp(-d)) : d <= 0 ? b + log1p(exp(d)) : d; \
  }
SN_REAL(logaddexp)
#undef SN_REAL

// a * 2^n, rounded once, for whole n: of double up to 2200, of float up to 300. In steps: those before the last are exact, or
// what they round is lost in the end.
SN_FN double power_of_two(int n) { return from_bits((unsigned long long)(1023 + n) << 52); }
SN_FN double ldexp(double a, double n) {
  int e = int(n);
  int first = e > 1023 ? 1023 : e < -1022 ? -969 : 0;
  e -= first;
  int second = e > 1023 ? 1023 : e < -1022 ? -969 : 0;
  e -= second;
  return a * power_of_two(first) * power_of_two(second) * power_of_two(e);
}
SN_FN float ldexp(float a, float n) { return float(double(a) * power_of_two(int(n))); }
// a as m * 2^n with |m| in [0.5, 1): m, and n as a number of a's type. Zeros, infinities and NaN are m, with n = 0.
SN_FN double scaled_up(double a) { return absolute(a) < from_bits(0x0010000000000000ull) ? a * power_of_two(64) : a; }
SN_FN double frexp_mantissa(double a) {
  double m = from_bits((to_bits(scaled_up(a)) & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
  return bool(int(a == 0) | int(!isfinite(a))) ? a : m;
}
SN_FN double frexp_exponent(double a) {
  int e = int(to_bits(scaled_up(a)) >> 52 & 0x7ff) - (absolute(a) < from_bits(0x0010000000000000ull) ? 0x3fe + 64 : 0x3fe);
  return bool(int(a == 0) | int(!isfinite(a))) ? 0 : double(e);
}
SN_FN float frexp_mantissa(float a) { return float(frexp_mantissa(double(a))); }
SN_FN float frexp_exponent(float a) { return float(frexp_exponent(double(a))); }

}  // namespace sn
