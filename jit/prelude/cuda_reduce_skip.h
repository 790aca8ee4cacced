// Monotone tails: which inner values cannot change a minimum or maximum, whatever rounding the tail has.
//
// A tail is a chain of square roots, positive factors or divisors and at most one arcsine. All but the arcsine are
// rounded correctly, hence never decrease where the exact value does not; only the arcsine (2 ulp) may step back. As
// asin(k*u)
// >= k*asin(u) for k >= 1, tail(h) >= tail(best) holds for the computed values once sqrt(h)/sqrt(best) exceeds
// (1 + 2 ulp)/(1 - 2 ulp) and the rounding of the roots: in float32 1 + 4*2^-23 + 2*2^-24 = 1 + 6e-7, so 1.2e-6 on h,
// and the margin is 2e-6; in float64 2.2e-15, and the margin is 1e-14. A later equal value loses, so >= suffices.
// The values that may be skipped are a range of bit patterns: NaN, negative and out-of-domain ones fall outside of it.
namespace sn {

template <class T>
struct float_bits;
template <>
struct float_bits<float> {
  typedef unsigned type;
  static __device__ __forceinline__ type of(float x) { return __float_as_uint(x); }
  static __device__ __forceinline__ float smallest() { return 1.17549435e-38f; }
  static __device__ __forceinline__ float above(float x) { return __fmul_ru(x, 1.00000203f); }
  static __device__ __forceinline__ float below(float x) { return __fmul_rd(x, 0.99999797f); }
};
template <>
struct float_bits<double> {
  typedef unsigned long long type;
  static __device__ __forceinline__ type of(double x) { return __double_as_longlong(x); }
  static __device__ __forceinline__ double smallest() { return 2.2250738585072014e-308; }
  static __device__ __forceinline__ double above(double x) { return __dmul_ru(x, 1.00000000000001); }
  static __device__ __forceinline__ double below(double x) { return __dmul_rd(x, 0.99999999999999); }
};

// `unit`: the tail's domain ends at 1, otherwise at infinity. The bit patterns [first, first + span) cannot beat the
// best element so far, whose inner value is offered.
template <bool low, bool unit, class T>
struct skip_range {
  typedef typename float_bits<T>::type bits;
  bits first, span;
  __device__ __forceinline__ void init() { first = span = 0; }
  __device__ __forceinline__ bits distance(T inner) const { return float_bits<T>::of(inner) - first; }
  __device__ __forceinline__ void offer(T inner) {
    if (low) {
      const bits end = float_bits<T>::of(unit ? T(1) : bounds<T>::highest());
      T edge = float_bits<T>::above(inner);
      first = float_bits<T>::of(edge > float_bits<T>::smallest() ? edge : float_bits<T>::smallest());
      span = first <= end ? end - first + 1 : 0;
    } else {
      T edge = float_bits<T>::below(inner);
      first = 0;
      span = edge >= float_bits<T>::smallest() ? float_bits<T>::of(edge) + 1 : 0;
    }
  }
};

}  // namespace sn
