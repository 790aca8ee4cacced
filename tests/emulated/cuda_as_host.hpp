// The text before generated CUDA kernels, so that the host compiler takes them: words and functions of CUDA that
// they use, in terms of the emulator's position and exchanges, which connect() passes.
#pragma once
#include <string>

inline constexpr const char* cuda_as_host = R"(
#define __CUDACC__
#if defined(__x86_64__) && !defined(__clang__)
#define __global__ __attribute__((force_align_arg_pointer))  // g++ 12 places arrays on which it uses aligned moves without
#else
#define __global__
#endif
#define __device__
#define __constant__ static const
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static
typedef unsigned long size_type;
struct index3 { unsigned x, y, z; };
struct position { index3 thread, block; };
struct calls {
  const position* here;
  const index3 *block, *grid;
  const void* (*exchange)(unsigned, const void*, size_type, int);
  int (*lane)();
  void (*barrier)();
};
static calls emulator;
extern "C" void connect(const calls* c) { emulator = *c; }
#define threadIdx (emulator.here->thread)
#define blockIdx (emulator.here->block)
#define blockDim (*emulator.block)
#define gridDim (*emulator.grid)
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
#define memcpy __builtin_memcpy
#define sqrtf __builtin_sqrtf
#define sqrt __builtin_sqrt
#define fabsf __builtin_fabsf
#define fabs __builtin_fabs
#define asinf __builtin_asinf
#define asin __builtin_asin
#define fminf __builtin_fminf
#define fmaxf __builtin_fmaxf
#define fmin __builtin_fmin
#define fmax __builtin_fmax
extern "C" {
float fmaf(float, float, float) noexcept;
double fma(double, double, double) noexcept;
float hypotf(float, float) noexcept;
double hypot(double, double) noexcept;
float fmodf(float, float) noexcept;
double fmod(double, double) noexcept;
float floorf(float) noexcept;
double floor(double) noexcept;
float truncf(float) noexcept;
double trunc(double) noexcept;
float powf(float, float) noexcept;
double pow(double, double) noexcept;
float rintf(float) noexcept;
double rint(double) noexcept;
float sinf(float) noexcept;
float cosf(float) noexcept;
double sin(double) noexcept;
double cos(double) noexcept;
float logf(float) noexcept;
double log(double) noexcept;
}
static inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
static inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
static inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
static inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
static inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
static inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
// A GPU's approximations, which take and give 0 for subnormal numbers; here as near as they can be.
static inline float without_subnormals(float x) { return fabsf(x) < 0x1p-126f ? __builtin_copysignf(0.0f, x) : x; }
static inline float approximate_reciprocal(float x) { return without_subnormals(float(1 / double(without_subnormals(x)))); }
static inline int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
// The upper half of the bits.
static inline double upper_bits(double x) { return __longlong_as_double(__double_as_longlong(x) & ~0xffffffffll); }
static inline double without_subnormals(double x) {
  return __builtin_fabs(x) < __DBL_MIN__ ? __builtin_copysign(0, x) : x;
}
static inline double approximate_reciprocal(double x) {
  return without_subnormals(upper_bits(1 / without_subnormals(x)));
}
static inline double approximate_reciprocal_root(double x) {
  return upper_bits(1 / __builtin_sqrt(without_subnormals(x)));
}
static inline float approximate_reciprocal_root(float x) {
  return without_subnormals(float(1 / __builtin_sqrt(double(without_subnormals(x)))));
}
static float rsqrtf(float);
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __fmul_ru(float a, float b) {
  const double exact = double(a) * b;
  const float r = float(exact);
  return r < exact ? __builtin_nextafterf(r, __builtin_inff()) : r;
}
static inline float __fmul_rd(float a, float b) { return -__fmul_ru(-a, b); }
static inline double __dmul_ru(double a, double b) {
  const double r = a * b;
  return __builtin_fma(a, b, -r) > 0 ? __builtin_nextafter(r, __builtin_inf()) : r;
}
static inline double __dmul_rd(double a, double b) { return -__dmul_ru(-a, b); }
#ifndef _GLIBCXX_CMATH  // which declares them
static inline float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
static inline double copysign(double a, double b) { return __builtin_copysign(a, b); }
#endif
static inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(((unsigned long long)a * b) >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  shift &= 31;
  return shift ? high << shift | low >> (32 - shift) : high;
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)b << 32 | a;
  unsigned r = 0;
  for (int k = 0; k < 4; ++k) r |= unsigned(bytes >> 8 * (selector >> 4 * k & 7) & 0xff) << 8 * k;
  return r;
}
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int atomicCAS(int* at, int expected, int wanted) {
  const int old = *at;
  if (old == expected) *at = wanted;
  return old;
}
static inline void __syncthreads() { emulator.barrier(); }
static inline void __syncwarp() {
  const char none = 0;
  emulator.exchange(~0u, &none, 1, emulator.lane());
}
static inline unsigned __shfl_xor_sync(unsigned mask, unsigned x, int distance) {
  unsigned other;
  memcpy(&other, emulator.exchange(mask, &x, sizeof x, emulator.lane() ^ distance), sizeof other);
  return other;
}
static inline unsigned __shfl_sync(unsigned mask, unsigned x, int from) {
  unsigned other;
  memcpy(&other, emulator.exchange(mask, &x, sizeof x, from), sizeof other);
  return other;
}
template <class T> static inline T max(T a, T b) { return a < b ? b : a; }
)";

/// The same before kernels of users' functions, which get the preludes whole: with what these mention. Its atomic
/// operations are for threads that take turns.
inline std::string cuda_as_host_for_users() {
  constexpr const char* rest_of_cuda = R"(
static double rsqrt(double);
template <class T> static inline T atomicAdd(T* at, T x) { const T old = *at; *at = T(old + x); return old; }
template <class T> static inline T atomicMin(T* at, T x) { const T old = *at; *at = x < old ? x : old; return old; }
template <class T> static inline T atomicMax(T* at, T x) { const T old = *at; *at = old < x ? x : old; return old; }
template <class T> static inline T atomicCAS(T* at, T expected, T wanted) {
  const T old = *at;
  if (old == expected) *at = wanted;
  return old;
}
)";
  return std::string(
             "#include <cmath>\nusing std::isnan;\nusing std::isinf;\nusing std::signbit;\nusing std::isfinite;\n") +
         cuda_as_host + rest_of_cuda;
}
