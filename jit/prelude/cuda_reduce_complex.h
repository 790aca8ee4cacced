// Accumulators of complex values: NumPy's lexicographic order, and deviations from a complex mean.
namespace sn {

template <>
struct no_sum<c64> {
  static __device__ __forceinline__ c64 value() { return c64{-0.0f, -0.0f}; }
};
template <>
struct no_sum<c128> {
  static __device__ __forceinline__ c128 value() { return c128{-0.0, -0.0}; }
};
template <>
struct one<c64> {
  static __device__ __forceinline__ c64 value() { return cast<c64>(1.0f); }
};
template <>
struct one<c128> {
  static __device__ __forceinline__ c128 value() { return cast<c128>(1.0); }
};
// NaN in either part puts a number into no order: an infinite real part beside it must not win.
__device__ __forceinline__ bool unordered(c64 x) { return isnan(x); }
__device__ __forceinline__ bool unordered(c128 x) { return isnan(x); }
__device__ __forceinline__ bool precedes(c64 a, c64 b) { return less(a, b); }
__device__ __forceinline__ bool precedes(c128 a, c128 b) { return less(a, b); }
__device__ __forceinline__ bool not_below(c64 a, c64 b) { return greater_equal(a, b); }
__device__ __forceinline__ bool not_below(c128 a, c128 b) { return greater_equal(a, b); }

template <>
struct bounds<c64> {
  static __device__ __forceinline__ c64 highest() { return c64{bounds<float>::highest(), bounds<float>::highest()}; }
  static __device__ __forceinline__ c64 lowest() { return c64{bounds<float>::lowest(), bounds<float>::lowest()}; }
};
template <>
struct bounds<c128> {
  static __device__ __forceinline__ c128 highest() {
    return c128{bounds<double>::highest(), bounds<double>::highest()};
  }
  static __device__ __forceinline__ c128 lowest() { return c128{bounds<double>::lowest(), bounds<double>::lowest()}; }
};
template <bool low>
__device__ __forceinline__ c64 better(c64 a, c64 b) {
  return !unordered(a) && (unordered(b) || (low ? precedes(b, a) : precedes(a, b))) ? b : a;
}
template <bool low>
__device__ __forceinline__ c128 better(c128 a, c128 b) {
  return !unordered(a) && (unordered(b) || (low ? precedes(b, a) : precedes(a, b))) ? b : a;
}

template <class C, class R>
struct acc_complex_moment {
  R n, re, im, m2;
  __device__ __forceinline__ void init() { n = re = im = m2 = R(0); }
  __device__ __forceinline__ void join(R on, R ore, R oim, R om2) {
    R total = n + on, dr = ore - re, di = oim - im, w = on * inverse_count(total);
    re = re + dr * w;
    im = im + di * w;
    m2 = m2 + (om2 + (dr * dr + di * di) * (n * w));
    n = total;
  }
  __device__ __forceinline__ void step(C x, i64) { join(R(1), real(x), imag(x), R(0)); }
  __device__ __forceinline__ void step4(const C (&x)[4], i64) {
    R p = ((real(x[0]) + real(x[1])) + (real(x[2]) + real(x[3]))) * R(0.25);
    R q = ((imag(x[0]) + imag(x[1])) + (imag(x[2]) + imag(x[3]))) * R(0.25);
    R s = R(0);
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      R u = real(x[l]) - p, v = imag(x[l]) - q;
      s = s + (u * u + v * v);
    }
    join(R(4), p, q, s);
  }
  __device__ __forceinline__ void merge(const acc_complex_moment& o) {
    acc_complex_moment both = *this;
    both.join(o.n, o.re, o.im, o.m2);
    bool other = o.n != R(0);
    n = other ? both.n : n;
    re = other ? both.re : re;
    im = other ? both.im : im;
    m2 = other ? both.m2 : m2;
  }
  // As acc_moment: an infinite element gives NaN.
  __device__ __forceinline__ R result() const { return m2 + ((re - re) + (im - im)); }
};

}  // namespace sn
