// Division and square root of float32 and float64 and logarithm of float32 without a branch: the bits of `a / b`, sqrt and
// logf wherever `slow` is not raised. A group of elements is computed so, and again by the functions at the end, out of line,
// if one of them raised it.
//
// Quotients and roots take the steps of the code that the compiler makes of `a / b` and sqrtf for every architecture: an
// approximation, and corrections of which the last one rounds the exact result. They hold where no step overflows or underflows.
// The compiler tests the operands for that; of division the result says it: an operand that is infinite or NaN, a divisor of 0
// or a subnormal one, and a step that overflows make it NaN, for which no comparison holds, and a divisor above 2^126, whose
// approximation is 0, makes it small.
namespace sn {

__device__ __forceinline__ float rough_reciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
__device__ __forceinline__ float rough_reciprocal_root(float x) {
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

__device__ __forceinline__ float quick_reciprocal(float x, bool& slow) {
  float r = rough_reciprocal(x);
  r = __fmaf_rn(r, __fmaf_rn(-x, r, 1.0f), r);
  slow = slow | !(fabsf(r) >= __int_as_float(0x01000000));  // 2^-125
  return r;
}
// What remains of a beside the quotient is a multiple of 2^-149 if a is at least 2^-101. 0 is common and has its quotient, too,
// where b is no 0, infinity or NaN; of -0 the last step would lose the sign.
__device__ __forceinline__ float quick_divide(float a, float b, bool& slow) {
  float r = rough_reciprocal(b);
  r = __fmaf_rn(r, __fmaf_rn(-b, r, 1.0f), r);
  float q = __fmul_rn(a, r);
  q = __fmaf_rn(r, __fmaf_rn(-b, q, a), q);
  const bool none = (__float_as_int(a) == 0) & (q == 0.0f);
  const bool some = (fabsf(a) >= __int_as_float(0x0d800000)) & (fabsf(q) >= __int_as_float(0x01000000));  // 2^-100
  slow = slow | !(some | none);
  return q;
}
__device__ __forceinline__ float quick_sqrt(float x, bool& slow) {
  const float r = rough_reciprocal_root(x), root = __fmul_rn(x, r);
  slow = slow | !(x >= __int_as_float(0x0d800000)) | !(x < __int_as_float(0x7f800000));  // 2^-100
  return __fmaf_rn(__fmaf_rn(-root, root, x), __fmul_rn(r, 0.5f), root);
}
// The operations of logf for positive normal numbers; the product with ln 2 is exact before it is rounded with the sum.
__device__ __forceinline__ float quick_log(float x, bool& slow) {
  const int bits = __float_as_int(x), exponent = (int)((unsigned)(bits - 0x3f2aaaab) & 0xff800000u);
  const float m = __fadd_rn(__int_as_float(bits - exponent), -1.0f);
  float p = __fmaf_rn(__int_as_float(0xbe055027), m, __int_as_float(0x3e1039f6));
  p = __fmaf_rn(p, m, __int_as_float(0xbdf8cdcc));
  p = __fmaf_rn(p, m, __int_as_float(0x3e0f2955));
  p = __fmaf_rn(p, m, __int_as_float(0xbe2ad8b9));
  p = __fmaf_rn(p, m, __int_as_float(0x3e4ced0b));
  p = __fmaf_rn(p, m, __int_as_float(0xbe7fff22));
  p = __fmaf_rn(p, m, __int_as_float(0x3eaaaa78));
  p = __fmul_rn(m, __fmaf_rn(p, m, -0.5f));
  slow = slow | ((unsigned)(bits - 0x00800000) >= 0x7f000000u);
  return __fmaf_rn((float)exponent, __int_as_float(0x33b17218), __fmaf_rn(p, m, m));  // 2^-23 ln 2
}

__device__ __forceinline__ double rough_double_reciprocal(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}
__device__ __forceinline__ double rough_double_reciprocal_root(double x) {
  double r;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}
// Of float64, whose approximations have the upper half of the bits: one correction more. What is tested are the upper halves,
// which as float32 have exponents of their own; sums with 0 times that of b are NaN from 2^1017 on. What remains of a is a
// multiple of 2^-1074 if a is at least 2^-968. The last bit of the approximation makes it too large where it is exact but for that:
// of a divisor with all bits set, where the steps would else end in the middle of two numbers.
__device__ __forceinline__ float upper_half(double x) { return __int_as_float(__double2hiint(x)); }
__device__ __forceinline__ double quick_double_divide(double a, double b, bool& slow) {
  double r = __longlong_as_double(__double_as_longlong(rough_double_reciprocal(b)) | 1);
  const double error = fma(-b, r, 1.0);
  r = fma(r, fma(error, error, error), r);
  r = fma(r, fma(-b, r, 1.0), r);
  double q = a * r;
  q = fma(r, fma(-b, q, a), q);
  const float size = __fmaf_rn(0.0f, upper_half(b), upper_half(q));
  const bool none = (__double_as_longlong(a) == 0) & (size == 0.0f);
  const bool some = (fabsf(upper_half(a)) >= __int_as_float(0x03700000)) &
                    (fabsf(size) >= __int_as_float(0x00200000));  // 2^-968, 2^-1021
  slow = slow | !(some | none);
  return q;
}
__device__ __forceinline__ double quick_double_reciprocal(double x, bool& slow) {
  return quick_double_divide(1.0, x, slow);
}
__device__ __forceinline__ double quick_double_sqrt(double x, bool& slow) {
  double r = rough_double_reciprocal_root(x);
  const double error = fma(x, -(r * r), 1.0);
  r = fma(fma(error, 0.375, 0.5), r * error, r);
  const double root = x * r;
  slow = slow | ((unsigned)__double2hiint(x) - 0x03700000u >= 0x7c800000u);  // 2^-968 to the largest
  return fma(fma(-root, root, x), r * 0.5, root);
}

// What decides where an operand is 0, infinite or NaN is their signs, and which of the three b is.
__device__ __forceinline__ float exact_quotient_of_specials(float a, float b) {
  const float infinity = __int_as_float(0x7f800000);
  const float reciprocal = b == 0.0f ? infinity : fabsf(b) < infinity ? 1.0f : 0.0f;
  return b == b ? __fmul_rn(a, copysignf(reciprocal, b)) : __fadd_rn(a, b);
}
// By double, where no step overflows and quotients of float32 are so far from the middle of two float32 that rounding twice is
// rounding once, also to subnormal ones (S. Figueroa, "When is double rounding innocuous?", 1995). Tiny numerators and infinite
// divisors are common, as derivatives and sigmoids of what has come to its limit, and the compiler's code takes several
// times as long for them.
__device__ __forceinline__ float exact_quotient(float a, float b) {
  const float infinity = __int_as_float(0x7f800000);
  if (!(fabsf(a) < infinity) | !(fabsf(b) < infinity) | (a == 0.0f) | (b == 0.0f))
    return exact_quotient_of_specials(a, b);
  const double n = a, d = b;
  double r = rough_double_reciprocal(d);
  r = fma(r, fma(-d, r, 1.0), r);
  r = fma(r, fma(-d, r, 1.0), r);
  const double q = n * r;
  return (float)fma(r, fma(-d, q, n), q);
}
static __device__ __noinline__ float any_divide(float a, float b) { return exact_quotient(a, b); }
// The bits of `a / b`. The compiler's code takes a long way for operands of 0 and tiny ones, which are common: sparse and masked
// data, a softmax far below the largest.
__device__ __forceinline__ float quotient_of_float(float a, float b) {
  bool slow = false;
  const float q = quick_divide(a, b, slow);
  return slow ? any_divide(a, b) : q;
}
// The bits of `a / b` and sqrt(x) by the compiler's code, which takes a call for operands of 0. They are common: rectified values, a
// point's distance to itself. A quotient that takes the place of 0 / b is finite, whatever b that is not 0: its product with 0 is
// 0 with the sign of 0 / b, or NaN.
__device__ __forceinline__ double quotient_of_double(double a, double b) {
  double q = (a ? a : 0x1p-51) / b;
  return a ? q : q * a;
}
__device__ __forceinline__ float root_of_float(float x) {
  float r = ::sqrtf(x ? x : 1);
  return x ? r : x;
}
__device__ __forceinline__ double root_of_double(double x) {
  double r = ::sqrt(x ? x : 1);
  return x ? r : x;
}

static __device__ __noinline__ float any_reciprocal(float x) { return exact_quotient(1.0f, x); }
static __device__ __noinline__ float any_sqrt(float x) { return ::sqrtf(x); }
static __device__ __noinline__ double any_double_divide(double a, double b) { return quotient_of_double(a, b); }
static __device__ __noinline__ double any_double_reciprocal(double x) { return 1.0 / x; }
static __device__ __noinline__ double any_double_sqrt(double x) { return root_of_double(x); }
static __device__ __noinline__ float any_log(float x) { return ::logf(x); }

// What fast_math replaces.

// x to the power -n / 2.
template <int n>
__device__ __forceinline__ float inverse_power(float x) {
  const float root = ::rsqrtf(x);
  float power = root;
#pragma unroll
  for (int k = 1; k < n; ++k) power *= root;
  return power;
}

// NaN wins, of two zeros -0 a minimum and +0 a maximum.
template <bool low>
__device__ __forceinline__ float fast_extreme(float a, float b) {
  float r;
#if __CUDA_ARCH__ >= 800
  if (low)
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  else
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
#else
  r = low ? fminf(a, b) : fmaxf(a, b);
  if (a != a || b != b) r = a + b;
#endif
  return r;
}

}  // namespace sn
