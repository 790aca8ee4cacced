// What every generated CUDA kernel rests on: storage formats, vector accesses, division by an extent, fast sine.
namespace sn {

typedef long long i64;
typedef unsigned long long u64;

// Storage of bool; of float16 and bfloat16 see cuda_half.h; all other dtypes are stored as their register type.
struct b8 {
  unsigned char bits;
};

template <class S>
__device__ __forceinline__ S widen(S x) {
  return x;
}
__device__ __forceinline__ bool widen(b8 x) { return x.bits != 0; }
template <class S>
struct narrower {
  static __device__ __forceinline__ S from(S x) { return x; }
};
template <>
struct narrower<b8> {
  static __device__ __forceinline__ b8 from(bool x) { return b8{(unsigned char)(x ? 1 : 0)}; }
};
template <class S, class R>
__device__ __forceinline__ S narrow(R x) {
  return narrower<S>::from(x);
}

// N consecutive elements, moved by the widest accesses that 16 bytes and their total size allow. Bytes stay together in
// words (cuda_bytes.h): as elements of an array each would take a register.
template <class S, int N>
struct pack {
  S v[N];
};
template <int bytes>
struct word {
  typedef uint4 type;
};
template <>
struct word<1> {
  typedef unsigned char type;
};
template <>
struct word<2> {
  typedef unsigned short type;
};
template <>
struct word<4> {
  typedef unsigned int type;
};
template <>
struct word<8> {
  typedef uint2 type;
};
template <int N, class S>
__device__ __forceinline__ pack<S, N> fetch(const S* p) {
  typedef typename word<(N * sizeof(S) < 16 ? N * sizeof(S) : 16)>::type unit;
  enum { count = N * sizeof(S) / sizeof(unit) };
  unit raw[count];
#pragma unroll
  for (int i = 0; i < count; ++i) raw[i] = reinterpret_cast<const unit*>(p)[i];
  pack<S, N> x;
  memcpy(&x, raw, sizeof x);
  return x;
}
template <int N, class S>
__device__ __forceinline__ void put(S* p, const pack<S, N>& x) {
  typedef typename word<(N * sizeof(S) < 16 ? N * sizeof(S) : 16)>::type unit;
  enum { count = N * sizeof(S) / sizeof(unit) };
  unit raw[count];
  memcpy(raw, &x, sizeof x);
#pragma unroll
  for (int i = 0; i < count; ++i) reinterpret_cast<unit*>(p)[i] = raw[i];
}

// Four elements of each lane of a warp, which lie 32 apart, become four neighbours: lane k gets elements 4 k to 4 k + 3 of
// the 128, by the warp's memory in `strip`; and the other way round. All lanes call them.
template <class S>
__device__ __forceinline__ void to_groups(pack<S, 4>& x, S* strip) {
  const int at = (int)(threadIdx.y * blockDim.x + threadIdx.x) % 32;
#pragma unroll
  for (int l = 0; l < 4; ++l) strip[l * 32 + at] = x.v[l];
  __syncwarp();
  x = fetch<4>(strip + at * 4);
  __syncwarp();
}
template <class S>
__device__ __forceinline__ void to_lanes(pack<S, 4>& x, S* strip) {
  const int at = (int)(threadIdx.y * blockDim.x + threadIdx.x) % 32;
  put(strip + at * 4, x);
  __syncwarp();
#pragma unroll
  for (int l = 0; l < 4; ++l) x.v[l] = strip[l * 32 + at];
  __syncwarp();
}

// Extents that indices are divided by. The 32-bit form holds a multiplier and is exact for indices below 2^31.
struct extent32 {
  int n;
  unsigned multiplier, shift, spare;
  __device__ __forceinline__ int quotient(int i) const {
    return (int)((__umulhi((unsigned)i, multiplier) + (unsigned)i) >> shift);
  }
};
struct extent64 {
  i64 n, spare;
  __device__ __forceinline__ i64 quotient(i64 i) const { return i / n; }
};

// A number that integers are divided by, with the constants that jit/cuda/launch.cpp writes. `kind`, by branches that all threads take
// alike: 0 of powers of two, 1 of other positive numbers, 2 of what else there is.
template <class T> struct divisor {
  typedef typename traits<T>::word word;
  T by;
  word multiplier;
  unsigned shift, kind;
  __device__ __forceinline__ T down(T x) const {
    const word below = traits<T>::is_signed && x < 0 ? ~word(0) : word(0), n = word(x) ^ below;
    word high = 0;
    if constexpr (sizeof(word) == 4) high = __umulhi(n, multiplier);
    else high = __umul64hi(n, multiplier);
    return T((traits<T>::is_signed ? high : high + ((n - high) >> 1)) >> shift ^ below);
  }
  __device__ __forceinline__ T rest(T x, T q) const { return T(word(x) - word(q) * word(by)); }
};
template <class T> static __device__ __noinline__ T floor_divide_any(T a, T b) { return floor_divide(a, b); }
template <class T> __device__ __forceinline__ T floor_divide_by(T a, const divisor<T>& d) {
  if (d.kind == 0) return T(a >> d.shift);
  return d.kind == 1 ? d.down(a) : floor_divide_any(a, d.by);
}
template <class T> __device__ __forceinline__ T remainder_by(T a, const divisor<T>& d) {
  if (d.kind == 0) return T(a & T(d.by - 1));
  if (d.kind == 1) return d.rest(a, d.down(a));
  return d.by == 0 ? T(0) : d.rest(a, floor_divide_any(a, d.by));
}
template <class T> __device__ __forceinline__ T fmod_by(T a, const divisor<T>& d) {
  const T r = remainder_by(a, d);
  if constexpr (traits<T>::is_signed) return r != 0 && (a < 0) != (d.by < 0) ? d.rest(r, T(1)) : r;
  else return r;
}

// Of a square grid of tiles, in the order of their blocks: rings around the corner, of which ring k has the tiles (k, j) and
// (j, k) one after the other. Memory that one of them reads is in the cache when the other reads it transposed.
__device__ __forceinline__ void place_beside_mirror(int& x, int& y) {
  const i64 tile = (i64)y * gridDim.x + x;
  int ring = (int)::sqrtf((float)tile);  // or one beside it
  while ((i64)ring * ring > tile) --ring;
  while ((i64)(ring + 1) * (ring + 1) <= tile) ++ring;
  const int rest = (int)(tile - (i64)ring * ring), other = rest >> 1;
  x = rest & 1 ? ring : other;
  y = rest & 1 ? other : ring;
}

// Sine and cosine of float32, the same operations in the same order as sinf and cosf. The fast version holds where
// |x| < 105615; beyond that `slow` is raised and the caller computes again by any_sine. `signless` leaves the sign of
// the result open.
__device__ __forceinline__ bool is_slow(float x) { return fabsf(x) >= 105615.0f; }

__device__ __forceinline__ float reduce_angle(float x, int& quadrant) {
  const float shifted = __fadd_rn(__fmul_rn(x, 0.636619747f), 12582912.0f);  // 1.5 * 2^23: rounds to nearest even
  quadrant = __float_as_int(shifted);
  const float k = __fadd_rn(shifted, -12582912.0f);
  float y = __fmaf_rn(k, __int_as_float(0xbfc90fda), x);
  y = __fmaf_rn(k, __int_as_float(0xb3a22168), y);
  return __fmaf_rn(k, __int_as_float(0xa7c234c5), y);
}
// Constants that the compiler cannot see: as immediates they would cost a move for each use, as only one fits into an
// instruction.
__constant__ unsigned sine_constants[3] = {0x37cbac00u, 0x3d2aaabbu, 0xbeffffffu};
__device__ __forceinline__ float sine_of_quadrant(float y, int quadrant, bool signless) {
  const float z = __fmul_rn(y, y);
  const float even = __fmaf_rn(__uint_as_float(sine_constants[0]), z, __int_as_float(0xbab607ed));
  float p, c, d, factor;  // one predicate for the four choices between sine's (odd: cosine's) coefficients
  asm("{\n\t"
      ".reg .pred odd;\n\t"
      ".reg .b32 bit;\n\t"
      "and.b32 bit, %4, 1;\n\t"
      "setp.ne.b32 odd, bit, 0;\n\t"
      "selp.f32 %0, %5, 0fB94D4153, odd;\n\t"
      "selp.f32 %1, %6, 0f3C0885E4, odd;\n\t"
      "selp.f32 %2, %7, 0fBE2AAAA8, odd;\n\t"
      "selp.f32 %3, 0f3F800000, %8, odd;\n\t"
      "}"
      : "=f"(p), "=f"(c), "=f"(d), "=f"(factor)
      : "r"(quadrant), "f"(even), "f"(__uint_as_float(sine_constants[1])), "f"(__uint_as_float(sine_constants[2])),
        "f"(y));
  p = __fmaf_rn(p, z, c);
  p = __fmaf_rn(p, z, d);
  float r = __fmaf_rn(p, __fmaf_rn(z, factor, 0.0f), factor);
  if (!signless && (quadrant & 2)) r = __fmaf_rn(r, -1.0f, 0.0f);
  return r;
}
__device__ __forceinline__ float quick_sin(float x, bool& slow, bool signless) {
  slow = slow | is_slow(x);
  int q;
  const float y = reduce_angle(x, q);
  return sine_of_quadrant(y, q, signless);
}
__device__ __forceinline__ float quick_cos(float x, bool& slow, bool signless) {
  slow = slow | is_slow(x);
  int q;
  const float y = reduce_angle(x, q);
  return sine_of_quadrant(y, q + 1, signless);
}
__device__ __forceinline__ float even_series(float z) {
  float p = __fmaf_rn(__int_as_float(0x37cbac00), z, __int_as_float(0xbab607ed));
  p = __fmaf_rn(p, z, __int_as_float(0x3d2aaabb));
  p = __fmaf_rn(p, z, __int_as_float(0xbeffffff));
  return __fmaf_rn(p, z, 1.0f);
}
__device__ __forceinline__ float odd_series(float y, float z) {
  float p = __fmaf_rn(__int_as_float(0xb94d4153), z, __int_as_float(0x3c0885e4));
  p = __fmaf_rn(p, z, __int_as_float(0xbe2aaaa8));
  return __fmaf_rn(p, __fmaf_rn(z, y, 0.0f), y);
}
__device__ __forceinline__ void quick_sincos(float x, float& s, float& c, bool& slow, bool signless) {
  slow = slow | is_slow(x);
  int q;
  const float y = reduce_angle(x, q), z = __fmul_rn(y, y), even = even_series(z), odd = odd_series(y, z);
  s = (q & 1) ? even : odd;
  c = (q & 1) ? odd : even;
  if (!signless && (q & 2)) s = __fmaf_rn(s, -1.0f, 0.0f);
  if (!signless && ((q + 1) & 2)) c = __fmaf_rn(c, -1.0f, 0.0f);
}

// 2 / pi from its lowest word that counts for a float; the last one is for what stands above the product.
__constant__ unsigned two_over_pi[7] = {0x3c439041u, 0xdb629599u, 0xf534ddc0u, 0xfc2757d1u,
                                        0x4e441529u, 0xa2f9836eu, 0u};
// Of any float. Out of line and short, as it hardly ever runs and is compiled each time.
static __device__ __noinline__ float any_sine(float x, bool cosine) {
  if (fabsf(x) == __int_as_float(0x7f800000)) return __int_as_float(0x7fffffff);
  int quadrant;
  float y = reduce_angle(x, quadrant);
  if (is_slow(x)) {  // Payne and Hanek: 64 bits of the fraction of x * 2 / pi, from the words around its point
    const unsigned bits = __float_as_uint(x), mantissa = (bits << 8) | 0x80000000u, e = ((bits >> 23) & 255) - 128;
    const unsigned* const words = two_over_pi + (3 - (e >> 5));
    u64 product = (((u64)words[0] * mantissa) >> 32) + (u64)words[1] * mantissa;
    const unsigned low = (unsigned)product;
    product = (product >> 32) + (u64)words[2] * mantissa;
    const unsigned middle = (unsigned)product, top = (unsigned)(product >> 32) + words[3] * mantissa;
    const unsigned high = __funnelshift_l(middle, top, e);
    const u64 fraction = ((u64)high << 32 | __funnelshift_l(low, middle, e)) << 2;
    const u64 above = fraction >> 63;  // the nearest quadrant is the next one
    quadrant = (int)(high >> 30) + (int)above;
    y = (float)((double)(i64)(fraction ^ (0 - above)) * __longlong_as_double(0x3bf921fb54442d19ll));  // pi / 2 * 2^-64
    const bool below = (bits >> 31) != 0;
    quadrant = below ? -quadrant : quadrant;
    y = below != (above != 0) ? -y : y;
  }
  return sine_of_quadrant(y, quadrant + (cosine ? 1 : 0), false);
}

}  // namespace sn
