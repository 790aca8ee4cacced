// Accumulators of sums, products, truth values, counts and moments.
namespace sn {

// What adds nothing: -0 of floating-point numbers, since +0 changes -0.
template <class T>
struct no_sum {
  static __device__ __forceinline__ T value() { return T(); }
};
template <>
struct no_sum<float> {
  static __device__ __forceinline__ float value() { return -0.0f; }
};
template <>
struct no_sum<double> {
  static __device__ __forceinline__ double value() { return -0.0; }
};
template <class T>
struct acc_sum {
  T v;
  __device__ __forceinline__ void init() { v = no_sum<T>::value(); }
  __device__ __forceinline__ void step(T x, i64) { v = add(v, x); }
  __device__ __forceinline__ void step4(const T (&x)[4], i64) { v = add(v, add(add(x[0], x[1]), add(x[2], x[3]))); }
  template <int N>
  __device__ __forceinline__ void step_group(const T (&x)[N], i64 at) {
    step_fours<N>(*this, x, at);
  }
  __device__ __forceinline__ void merge(const acc_sum& o) { v = add(v, o.v); }
  __device__ __forceinline__ T result() const { return v; }
};
template <class T>
struct one {
  static __device__ __forceinline__ T value() { return T(1); }
};
template <class T>
struct acc_prod {
  T v;
  __device__ __forceinline__ void init() { v = one<T>::value(); }
  __device__ __forceinline__ void step(T x, i64) { v = multiply(v, x); }
  __device__ __forceinline__ void step4(const T (&x)[4], i64) {
    v = multiply(v, multiply(multiply(x[0], x[1]), multiply(x[2], x[3])));
  }
  template <int N>
  __device__ __forceinline__ void step_group(const T (&x)[N], i64 at) {
    step_fours<N>(*this, x, at);
  }
  __device__ __forceinline__ void merge(const acc_prod& o) { v = multiply(v, o.v); }
  __device__ __forceinline__ T result() const { return v; }
};
struct acc_any {
  int v;
  __device__ __forceinline__ void init() { v = 0; }
  __device__ __forceinline__ void step(bool x, i64) { v |= x; }
  __device__ __forceinline__ void step4(const bool (&x)[4], i64) { v |= x[0] | x[1] | x[2] | x[3]; }
  template <int N>
  __device__ __forceinline__ void step_group(const bool (&x)[N], i64 at) {
    step_fours<N>(*this, x, at);
  }
  __device__ __forceinline__ void merge(const acc_any& o) { v |= o.v; }
  __device__ __forceinline__ bool result() const { return v != 0; }
};
struct acc_all {
  int v;
  __device__ __forceinline__ void init() { v = 1; }
  __device__ __forceinline__ void step(bool x, i64) { v &= x; }
  __device__ __forceinline__ void step4(const bool (&x)[4], i64) { v &= x[0] & x[1] & x[2] & x[3]; }
  template <int N>
  __device__ __forceinline__ void step_group(const bool (&x)[N], i64 at) {
    step_fours<N>(*this, x, at);
  }
  __device__ __forceinline__ void merge(const acc_all& o) { v &= o.v; }
  __device__ __forceinline__ bool result() const { return v != 0; }
};
struct acc_count {
  i64 v;
  __device__ __forceinline__ void init() { v = 0; }
  __device__ __forceinline__ void step(bool x, i64) { v += x; }
  __device__ __forceinline__ void step4(const bool (&x)[4], i64) { v += (int)x[0] + (int)x[1] + (int)x[2] + (int)x[3]; }
  template <int N>
  __device__ __forceinline__ void step_group(const bool (&x)[N], i64 at) {
    step_fours<N>(*this, x, at);
  }
  __device__ __forceinline__ void merge(const acc_count& o) { v += o.v; }
  __device__ __forceinline__ i64 result() const { return v; }
};

__device__ __forceinline__ float inverse_count(float n) {  // n is a small integer: no special cases
  float r = __fdividef(1.0f, n);
  return __fmaf_rn(r, __fmaf_rn(-n, r, 1.0f), r);
}
__device__ __forceinline__ double inverse_count(double n) { return 1.0 / n; }

// Mean and sum of squared deviations, combined by Chan, Golub and LeVeque's formula.
template <class R>
struct acc_moment {
  R n, mean, m2;
  __device__ __forceinline__ void init() { n = mean = m2 = R(0); }
  __device__ __forceinline__ void join(R on, R omean, R om2) {
    R total = n + on, delta = omean - mean, w = on * inverse_count(total);
    mean = mean + delta * w;
    m2 = m2 + (om2 + delta * delta * (n * w));
    n = total;
  }
  __device__ __forceinline__ void step(R x, i64) { join(R(1), x, R(0)); }
  __device__ __forceinline__ void step4(const R (&x)[4], i64) {
    R m = ((x[0] + x[1]) + (x[2] + x[3])) * R(0.25);
    R a = x[0] - m, b = x[1] - m, c = x[2] - m, d = x[3] - m;
    join(R(4), m, (a * a + b * b) + (c * c + d * d));
  }
  __device__ __forceinline__ void merge(const acc_moment& o) {
    acc_moment both = *this;
    both.join(o.n, o.mean, o.m2);
    bool other = o.n != R(0);  // joining nothing to nothing divides by zero
    n = other ? both.n : n;
    mean = other ? both.mean : mean;
    m2 = other ? both.m2 : m2;
  }
  // An infinite element makes every deviation from the mean NaN; the combination alone would see it too late.
  __device__ __forceinline__ R result() const { return m2 + (mean - mean); }
};

}  // namespace sn
