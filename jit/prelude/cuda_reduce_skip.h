// Monotone tails: which inner values cannot change a minimum or maximum, whatever rounding the tail has.
//
// A tail is a chain of square roots, positive factors or divisors and at most one arcsine. All but the arcsine are
// rounded correctly, hence never decrease where the exact value does not; only the arcsine (2 ulp) may step back. As
// asin(k*u)
// >= k*asin(u) for k >= 1, tail(h) >= tail(best) holds for the computed values once sqrt(h)/sqrt(best) exceeds
// (1 + 2 ulp)/(1 - 2 ulp) and the rounding of the roots: in float32 1 + 4*2^-23 + 2*2^-24 = 1 + 6e-7, so 1.2e-6 on h,
// and the margin is 2e-6; in float64 2.2e-15, and the margin is 1e-14. A later equal value loses, so >= suffices.
// Under fast_math float32 roots have errors too, of 2^-23, which count twice for each, four times below one root and eight
// times below two: with an arcsine of 4 ulp below three roots 92 * 2^-23 = 1.1e-5, and the margin is 3e-5.
// NaN, negative and out-of-domain values, of which the tail is NaN, are never skipped.
namespace sn {

template <class T>
struct float_bits;
template <>
struct float_bits<float> {
  typedef unsigned type;
  static __device__ __forceinline__ type of(float x) { return __float_as_uint(x); }
  static __device__ __forceinline__ float smallest() { return 1.17549435e-38f; }
  static __device__ __forceinline__ float above(float x, bool fast) {
    return __fmul_ru(x, fast ? 1.00003003f : 1.00000203f);
  }
  static __device__ __forceinline__ float below(float x, bool fast) {
    return __fmul_rd(x, fast ? 0.99996997f : 0.99999797f);
  }
};
template <>
struct float_bits<double> {
  typedef unsigned long long type;
  static __device__ __forceinline__ type of(double x) { return __double_as_longlong(x); }
  static __device__ __forceinline__ double smallest() { return 2.2250738585072014e-308; }
  static __device__ __forceinline__ double above(double x, bool) { return __dmul_ru(x, 1.00000000000001); }
  static __device__ __forceinline__ double below(double x, bool) { return __dmul_rd(x, 0.99999999999999); }
};

// Minima whose domain ends at infinity: what is not below an edge cannot beat the best element so far, whose inner value
// is offered. `limit`: the tail begins with the minimum of the inner value and this number, at most 1. From there on all
// tails are equal; what lies within the margin below it may have to be compared with a tail of any size above.
template <bool fast, class T>
struct skip_above {
  T edge;
  __device__ __forceinline__ void init() { edge = nothing(); }
  static __device__ __forceinline__ T nothing() { return bounds<T>::highest() - bounds<T>::highest(); }
  __device__ __forceinline__ bool loses(T inner) const { return inner >= edge; }
  template <int N>
  __device__ __forceinline__ bool all_lose(const T (&inner)[N]) const {
    bool all = true;
#pragma unroll
    for (int l = 0; l < N; ++l) all = all & (inner[l] >= edge);
    return all;
  }
  __device__ __forceinline__ void offer(T inner, T limit = bounds<T>::highest()) {
    edge = float_bits<T>::above(inner, fast);
    if (!(edge > float_bits<T>::smallest())) edge = float_bits<T>::smallest();
    if (edge > limit) edge = inner >= limit ? limit : nothing();
  }
};

// The others. `unit`: the tail's domain ends at 1, otherwise at infinity. The bit patterns [first, first + span) cannot
// beat the best element so far.
template <bool low, bool unit, bool fast, class T>
struct skip_range {
  typedef typename float_bits<T>::type bits;
  bits first, span;
  __device__ __forceinline__ void init() { first = span = 0; }
  __device__ __forceinline__ bits distance(T inner) const { return float_bits<T>::of(inner) - first; }
  __device__ __forceinline__ bool loses(T inner) const { return distance(inner) < span; }
  template <int N>
  __device__ __forceinline__ bool all_lose(const T (&inner)[N]) const {
    bits farthest = distance(inner[0]);
#pragma unroll
    for (int l = 1; l < N; ++l) farthest = max(farthest, distance(inner[l]));
    return farthest < span;
  }
  __device__ __forceinline__ void offer(T inner) {
    if (low) {
      const bits end = float_bits<T>::of(unit ? T(1) : bounds<T>::highest());
      T edge = float_bits<T>::above(inner, fast);
      first = float_bits<T>::of(edge > float_bits<T>::smallest() ? edge : float_bits<T>::smallest());
      span = first <= end ? end - first + 1 : 0;
    } else {
      T edge = float_bits<T>::below(inner, fast);
      first = 0;
      span = edge >= float_bits<T>::smallest() ? float_bits<T>::of(edge) + 1 : 0;
    }
  }
};

}  // namespace sn
