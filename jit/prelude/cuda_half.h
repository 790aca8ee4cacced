// float16 and bfloat16 in generated CUDA kernels: 16 bits in memory (h16, w16) and in registers (f16, bf16). Sums, differences and
// products are the GPU's own, which the compiler joins for two lanes. They have the bits of the float operation, rounded:
// the 24 digits of a float are at least twice those of the type and two, so rounding twice is rounding once (S. Figueroa, "When is
// double rounding innocuous?", 1995). All other operations convert to float, and from it.
namespace sn {

struct h16 {
  unsigned short bits;
};
struct w16 {
  unsigned short bits;
};
struct f16 {
  unsigned short bits;
  f16() = default;
  __device__ __forceinline__ f16(float x) : bits(float_to_f16(x)) {}
  explicit __device__ __forceinline__ f16(h16 x) : bits(x.bits) {}
  __device__ __forceinline__ operator float() const { return f16_to_float(bits); }
};
struct bf16 {
  unsigned short bits;
  bf16() = default;
  __device__ __forceinline__ bf16(float x) : bits(float_to_bf16(x)) {}
  explicit __device__ __forceinline__ bf16(w16 x) : bits(x.bits) {}
  __device__ __forceinline__ operator float() const { return bf16_to_float(bits); }
};

// Users' functions have floats.
__device__ __forceinline__ float widen(h16 x) { return f16_to_float(x.bits); }
__device__ __forceinline__ float widen(w16 x) { return bf16_to_float(x.bits); }
template <>
struct narrower<h16> {
  static __device__ __forceinline__ h16 from(f16 x) { return h16{x.bits}; }
};
template <>
struct narrower<w16> {
  static __device__ __forceinline__ w16 from(bf16 x) { return w16{x.bits}; }
};

__device__ __forceinline__ f16 add(f16 a, f16 b) {
#if defined(__CUDA_ARCH__)
  f16 r;
  asm("add.rn.f16 %0, %1, %2;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits));
  return r;
#else
  return float(a) + float(b);
#endif
}
__device__ __forceinline__ f16 subtract(f16 a, f16 b) {
#if defined(__CUDA_ARCH__)
  f16 r;
  asm("sub.rn.f16 %0, %1, %2;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits));
  return r;
#else
  return float(a) - float(b);
#endif
}
__device__ __forceinline__ f16 multiply(f16 a, f16 b) {
#if defined(__CUDA_ARCH__)
  f16 r;
  asm("mul.rn.f16 %0, %1, %2;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits));
  return r;
#else
  return float(a) * float(b);
#endif
}
// As of float: NaN wins, and of zeros with different signs the first stays.
__device__ __forceinline__ f16 maximum(f16 a, f16 b) {
#if defined(__CUDA_ARCH__)
  f16 r;
  asm(" {.reg .pred p, q; setp.ge.f16 p, %1, %2; setp.nan.f16 q, %1, %1; or.pred p, p, q; selp.b16 %0, %1, %2, p;}"
      : "=h"(r.bits) : "h"(a.bits), "h"(b.bits));
  return r;
#else
  const float x = a, y = b;
  return bool(int(x >= y) | int(x != x)) ? a : b;
#endif
}
__device__ __forceinline__ f16 minimum(f16 a, f16 b) {
#if defined(__CUDA_ARCH__)
  f16 r;
  asm(" {.reg .pred p, q; setp.le.f16 p, %1, %2; setp.nan.f16 q, %1, %1; or.pred p, p, q; selp.b16 %0, %1, %2, p;}"
      : "=h"(r.bits) : "h"(a.bits), "h"(b.bits));
  return r;
#else
  const float x = a, y = b;
  return bool(int(x <= y) | int(x != x)) ? a : b;
#endif
}
__device__ __forceinline__ bf16 add(bf16 a, bf16 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  bf16 r;
  asm("add.rn.bf16 %0, %1, %2;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits));
  return r;
#else
  return float(a) + float(b);
#endif
}
__device__ __forceinline__ bf16 subtract(bf16 a, bf16 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  bf16 r;
  asm("sub.rn.bf16 %0, %1, %2;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits));
  return r;
#else
  return float(a) - float(b);
#endif
}
__device__ __forceinline__ bf16 multiply(bf16 a, bf16 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  bf16 r;
  asm("mul.rn.bf16 %0, %1, %2;" : "=h"(r.bits) : "h"(a.bits), "h"(b.bits));
  return r;
#else
  return float(a) * float(b);
#endif
}
__device__ __forceinline__ bf16 maximum(bf16 a, bf16 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  bf16 r;
  asm(" {.reg .pred p, q; setp.ge.bf16 p, %1, %2; setp.nan.bf16 q, %1, %1; or.pred p, p, q; selp.b16 %0, %1, %2, p;}"
      : "=h"(r.bits) : "h"(a.bits), "h"(b.bits));
  return r;
#else
  const float x = a, y = b;
  return bool(int(x >= y) | int(x != x)) ? a : b;
#endif
}
__device__ __forceinline__ bf16 minimum(bf16 a, bf16 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  bf16 r;
  asm(" {.reg .pred p, q; setp.le.bf16 p, %1, %2; setp.nan.bf16 q, %1, %1; or.pred p, p, q; selp.b16 %0, %1, %2, p;}"
      : "=h"(r.bits) : "h"(a.bits), "h"(b.bits));
  return r;
#else
  const float x = a, y = b;
  return bool(int(x <= y) | int(x != x)) ? a : b;
#endif
}

template <class T>
__device__ __forceinline__ T with_bits(unsigned bits) {
  T r;
  r.bits = (unsigned short)bits;
  return r;
}
__device__ __forceinline__ f16 negative(f16 a) { return with_bits<f16>(a.bits ^ 0x8000u); }
__device__ __forceinline__ bf16 negative(bf16 a) { return with_bits<bf16>(a.bits ^ 0x8000u); }
__device__ __forceinline__ f16 absolute(f16 a) { return with_bits<f16>(a.bits & 0x7fffu); }
__device__ __forceinline__ bf16 absolute(bf16 a) { return with_bits<bf16>(a.bits & 0x7fffu); }

// A quotient of two float16, to be rounded: where no step overflows or underflows a Newton step leaves an error of 2^-24 (1 + 2^-21),
// and what is no number of the type, nor in the middle of two, is 2^-23 away from these, as |a - m b| is a unit of the last place
// of m b at least. An infinity, NaN or 0 of the first approximation is the quotient; the step makes NaN of it, or loses its sign.
__device__ __forceinline__ float half_quotient(float a, float b) {
  const float r = rough_reciprocal(b), q = __fmul_rn(a, r), rest = __fmaf_rn(-b, q, a);
  return fabsf(rest) > 0.0f ? __fmaf_rn(rest, r, q) : q;
}
// The same of bfloat16, which has the exponents of float: of a divisor whose reciprocal would be subnormal or infinite, that of a
// multiple. A quotient in the middle of two numbers, as a subnormal one may be, comes out exactly.
__device__ __forceinline__ float wide_half_quotient(float a, float b) {
  const float size = fabsf(b), large = __int_as_float(0x4b800000), small = __int_as_float(0x33800000);  // 2^24, 2^-24
  const float scale = size < __int_as_float(0x01000000) ? large : size > __int_as_float(0x7e000000) ? small : 1.0f;
  const float r = rough_reciprocal(__fmul_rn(b, scale)), q = __fmul_rn(__fmul_rn(a, r), scale);
  const float rest = __fmaf_rn(-b, q, a);
  const bool some = (fabsf(rest) > 0.0f) & (fabsf(rest) < __int_as_float(0x7f800000));
  return some ? __fmaf_rn(__fmul_rn(rest, scale), r, q) : q;
}
// The root of a float16, to be rounded, by the same argument: 2^-25 and 2^-37 away.
__device__ __forceinline__ float half_root(float x) {
  const float r = rough_reciprocal_root(x), q = __fmul_rn(x, r), rest = __fmaf_rn(-q, q, x);
  const float root = rest == rest ? __fmaf_rn(rest, __fmul_rn(r, 0.5f), q) : x;
  return x < 0.0f ? __int_as_float(0x7fffffff) : root;
}
// Within 2^-17, which is 0.51 ulp of the types.
__device__ __forceinline__ float half_exp(float x) {
#ifdef __CUDA_ARCH__
  float r;
  asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(x * 1.44269504f));
  return r;
#else
  return exp(x);
#endif
}

}  // namespace sn
