// sinter prelude: what the text of users' functions sees, the same on every device. One of user_cuda.h and user_cpu.h
// stands in front. It gives in namespace sn: the storage types b8, h16 and w16 of bool, float16 and bfloat16;
// widen(S) -> register and narrow<S>(register) for every storage type; atomic_step<S>, whose static add, min and
// max(S* at, register) return the register that they found.
//
// Users' text stands in namespaces inside sn_user, so that plain names find the functions below, and never both these
// and those of the C library.
#ifndef SN_METHOD
#ifdef __CUDACC__
#define SN_METHOD __device__ __forceinline__
#else
#define SN_METHOD inline __attribute__((always_inline))
#endif
#endif

namespace sn {

// The register that a stored element becomes.
template <class S> struct register_of { typedef decltype(widen(S())) type; };

template <class T> struct holds_bits { static constexpr bool value = false; };
template <> struct holds_bits<b8> { static constexpr bool value = true; };
template <> struct holds_bits<h16> { static constexpr bool value = true; };
template <> struct holds_bits<w16> { static constexpr bool value = true; };

// What a number is stored as. narrow() may take for granted that a value of a half type is rounded; users' are not.
template <class S> struct storing {
  template <class T> static SN_METHOD S of(T x) { return narrow<S>(x); }
};
template <> struct storing<w16> {
  static SN_METHOD w16 of(float x) { return narrow<w16>(round_bf16(x)); }
};

// An element that is not stored as its register: reads and assigns like one.
template <class S> struct element {
  typedef typename register_of<S>::type value;
  S* at;
  SN_METHOD operator value() const { return widen(*at); }
  SN_METHOD const element& operator=(value x) const { *at = storing<S>::of(x); return *this; }
  SN_METHOD const element& operator=(const element& o) const { *at = *o.at; return *this; }
  template <class V> SN_METHOD const element& operator+=(V x) const { return *this = value(widen(*at) + x); }
  template <class V> SN_METHOD const element& operator-=(V x) const { return *this = value(widen(*at) - x); }
  template <class V> SN_METHOD const element& operator*=(V x) const { return *this = value(widen(*at) * x); }
  template <class V> SN_METHOD const element& operator/=(V x) const { return *this = value(widen(*at) / x); }
};
template <class S, bool bits = holds_bits<S>::value> struct reference_to {
  typedef S& type;
  static SN_METHOD S& make(S* p) { return *p; }
};
template <class S> struct reference_to<S, true> {
  typedef element<S> type;
  static SN_METHOD element<S> make(S* p) { return element<S>{p}; }
};

#ifdef SN_CHECK_INDEX
// Checked mode. What is known of an array when it is read out of range, and where that is told; the first one is kept.
struct access_site {
  int* fault;
  unsigned long long function;
  int operand;
};
SN_FN void refuse_access(const access_site& s, long long i, long long n, int axis) {
#ifdef __CUDACC__
  if (atomicCAS(s.fault, 0, (int)fault_user_index) != 0) return;
#else
  if (*s.fault != 0) return;
  *s.fault = fault_user_index;
#endif
  s.fault[1] = s.operand * 256 + axis + 1;
  s.fault[2] = int(i);
  s.fault[3] = int(i >> 32);
  s.fault[4] = int(n);
  s.fault[5] = int(n >> 32);
  s.fault[6] = int(s.function);
  s.fault[7] = int(s.function >> 32);
}
// Stands for elements that are not there: in memory that atomic operations reach, large enough for every dtype.
struct alignas(16) spare_element {
  unsigned long long bits[2];
};
#ifdef __CUDACC__
__device__
#endif
static spare_element no_element;
template <class A> SN_FN A checked(A x, int* fault, unsigned long long function, int operand) {
  x.site = access_site{fault, function, operand};
  return x;
}
#endif

// A whole array of rank R in C order: x[k], x(i, j, ...), x.size(), x.shape(axis), x.ndim.
template <class P, int R> struct whole {
  static constexpr int ndim = R;
  P data;
  long long extents[R > 0 ? R : 1];
#ifdef SN_CHECK_INDEX
  access_site site;
#endif
  SN_METHOD long long size() const {
    long long n = 1;
    for (int k = 0; k < R; ++k) n *= extents[k];
    return n;
  }
  // Whether the element at a position is there; in checked mode one that is not is told, else none is looked for.
  SN_METHOD bool has(long long k) const {
#ifdef SN_CHECK_INDEX
    const long long n = size();
    if (k < 0 || k >= n) {
      refuse_access(site, k, n, -1);
      return false;
    }
#endif
    return true;
  }
  template <class... I> SN_METHOD bool has_at(I... i) const {
    static_assert(sizeof...(I) == R, "as many coordinates as the array has axes");
#ifdef SN_CHECK_INDEX
    const long long at[R > 0 ? R : 1] = {(long long)i...};
    for (int k = 0; k < R; ++k)
      if (at[k] < 0 || at[k] >= extents[k]) {
        refuse_access(site, at[k], extents[k], k);
        return false;
      }
#endif
    return true;
  }
  // The position of element k of the part with this number, of n elements each; -1 where the part has no such element.
  SN_METHOD long long in_part(long long part, long long k, long long n) const {
#ifdef SN_CHECK_INDEX
    if (k < 0 || k >= n) {
      refuse_access(site, k, n, -1);
      return -1;
    }
#endif
    return part * n + k;
  }
  SN_METHOD long long shape(int axis) const { return extents[axis]; }
  template <class... I> SN_METHOD long long position(I... i) const {
    static_assert(sizeof...(I) == R, "as many coordinates as the array has axes");
    const long long at[R > 0 ? R : 1] = {(long long)i...};
    long long p = 0;
    for (int k = 0; k < R; ++k) p = p * extents[k] + at[k];
    return p;
  }
};
template <class S, int R> struct raw : whole<const S*, R> {
  typedef typename register_of<S>::type value;
  SN_METHOD value operator[](long long k) const { return this->has(k) ? widen(this->data[k]) : value(); }
  template <class... I> SN_METHOD value operator()(I... i) const {
    return this->has_at(i...) ? widen(this->data[this->position(i...)]) : value();
  }
};
template <class S, int R> struct raw_out : whole<S*, R> {
  typedef typename register_of<S>::type value;
  typedef typename reference_to<S>::type reference;
  // Where element k lies, or what stands for it.
  SN_METHOD S* at(bool there, long long k) const {
#ifdef SN_CHECK_INDEX
    if (!there) {
      no_element.bits[0] = no_element.bits[1] = 0;
      return reinterpret_cast<S*>(&no_element);
    }
#endif
    return this->data + k;
  }
  SN_METHOD S* address(long long k) const { return at(this->has(k), k); }
  SN_METHOD reference operator[](long long k) const { return reference_to<S>::make(address(k)); }
  template <class... I> SN_METHOD reference operator()(I... i) const {
    return reference_to<S>::make(at(this->has_at(i...), this->position(i...)));
  }
};
template <int R, class S> SN_FN raw<S, R> make_raw(const S* p, const long long (&extents)[R > 0 ? R : 1]) {
  raw<S, R> x;
  x.data = p;
  for (int k = 0; k < R; ++k) x.extents[k] = extents[k];
  return x;
}
template <int R, class S> SN_FN raw_out<S, R> make_raw_out(const S* p, const long long (&extents)[R > 0 ? R : 1]) {
  raw_out<S, R> x;
  x.data = const_cast<S*>(p);
  for (int k = 0; k < R; ++k) x.extents[k] = extents[k];
  return x;
}

// Sub-array `sn_at` of an array whose first axis counts sub-arrays: what the text of generalised kernels sees.
template <class Array, int Rank> struct sub_array {
  Array& sn_all;
  long long sn_at;
  static constexpr int ndim = Rank;
  template <class... I> SN_METHOD decltype(auto) operator()(I... i) const {
    static_assert(sizeof...(I) == Rank, "as many coordinates as the sub-array has axes");
    return sn_all(sn_at, i...);
  }
  SN_METHOD decltype(auto) operator[](long long k) const { return sn_all[sn_all.in_part(sn_at, k, size())]; }
  SN_METHOD long long shape(int axis) const { return sn_all.shape(axis + 1); }
  SN_METHOD long long size() const {
    long long n = 1;
    for (int axis = 1; axis <= Rank; ++axis) n *= sn_all.shape(axis);
    return n;
  }
};

// Element k of a raw output: a step that no other thread comes between. Returns the value before. NaN wins a minimum or
// maximum.
template <class S, int R, class V>
SN_FN typename register_of<S>::type atomic_add(const raw_out<S, R>& x, long long k, V v) {
  return atomic_step<S>::add(x.address(k), typename register_of<S>::type(v));
}
template <class S, int R, class V>
SN_FN typename register_of<S>::type atomic_min(const raw_out<S, R>& x, long long k, V v) {
  return atomic_step<S>::min(x.address(k), typename register_of<S>::type(v));
}
template <class S, int R, class V>
SN_FN typename register_of<S>::type atomic_max(const raw_out<S, R>& x, long long k, V v) {
  return atomic_step<S>::max(x.address(k), typename register_of<S>::type(v));
}

// C++'s rules for mathematical functions: integers count as double, and the wider type wins.
template <class T> struct real_of { typedef void type; };
template <> struct real_of<float> { typedef float type; };
template <> struct real_of<double> { typedef double type; };
#define SN_COUNTS_AS_DOUBLE(T) template <> struct real_of<T> { typedef double type; };
SN_COUNTS_AS_DOUBLE(bool) SN_COUNTS_AS_DOUBLE(char)
SN_COUNTS_AS_DOUBLE(signed char) SN_COUNTS_AS_DOUBLE(short) SN_COUNTS_AS_DOUBLE(int) SN_COUNTS_AS_DOUBLE(long)
SN_COUNTS_AS_DOUBLE(long long) SN_COUNTS_AS_DOUBLE(unsigned char) SN_COUNTS_AS_DOUBLE(unsigned short)
SN_COUNTS_AS_DOUBLE(unsigned) SN_COUNTS_AS_DOUBLE(unsigned long) SN_COUNTS_AS_DOUBLE(unsigned long long)
#undef SN_COUNTS_AS_DOUBLE
template <class A, class B> struct both_real {};
template <> struct both_real<float, float> { typedef float type; };
template <> struct both_real<float, double> { typedef double type; };
template <> struct both_real<double, float> { typedef double type; };
template <> struct both_real<double, double> { typedef double type; };
template <class A, class B> struct wider_real : both_real<typename real_of<A>::type, typename real_of<B>::type> {};
// Only numbers: other types must find their own overloads.
template <class T, class Result, class Real = typename real_of<T>::type> struct for_number { typedef Result type; };
template <class T, class Result> struct for_number<T, Result, void> {};

}  // namespace sn

namespace sn_user {

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef decltype(sizeof(0)) size_t;

#define SN_USER_UNARY(fn) \
  SN_FN float fn##f(float a) { return SN_LIBM(fn##f)(a); } \
  SN_FN float fn(float a) { return SN_LIBM(fn##f)(a); } \
  SN_FN double fn(double a) { return SN_LIBM(fn)(a); } \
  template <class T> SN_FN typename sn::for_number<T, double>::type fn(T a) { return SN_LIBM(fn)(double(a)); }
#define SN_USER_BINARY(fn) \
  SN_FN float fn##f(float a, float b) { return SN_LIBM(fn##f)(a, b); } \
  SN_FN float fn(float a, float b) { return SN_LIBM(fn##f)(a, b); } \
  SN_FN double fn(double a, double b) { return SN_LIBM(fn)(a, b); } \
  template <class A, class B> SN_FN typename sn::wider_real<A, B>::type fn(A a, B b) { \
    typedef typename sn::wider_real<A, B>::type T; \
    return fn(T(a), T(b)); \
  }
SN_USER_UNARY(sqrt) SN_USER_UNARY(cbrt) SN_USER_UNARY(exp) SN_USER_UNARY(exp2) SN_USER_UNARY(expm1)
SN_USER_UNARY(log) SN_USER_UNARY(log2) SN_USER_UNARY(log10) SN_USER_UNARY(log1p)
SN_USER_UNARY(sin) SN_USER_UNARY(cos) SN_USER_UNARY(tan) SN_USER_UNARY(asin) SN_USER_UNARY(acos) SN_USER_UNARY(atan)
SN_USER_UNARY(sinh) SN_USER_UNARY(cosh) SN_USER_UNARY(tanh)
SN_USER_UNARY(asinh) SN_USER_UNARY(acosh) SN_USER_UNARY(atanh)
SN_USER_UNARY(floor) SN_USER_UNARY(ceil) SN_USER_UNARY(trunc) SN_USER_UNARY(rint) SN_USER_UNARY(round)
SN_USER_UNARY(fabs) SN_USER_UNARY(erf) SN_USER_UNARY(erfc) SN_USER_UNARY(tgamma)
SN_USER_BINARY(atan2) SN_USER_BINARY(pow) SN_USER_BINARY(hypot) SN_USER_BINARY(fmod) SN_USER_BINARY(remainder)
SN_USER_BINARY(copysign)
#ifdef __CUDACC__
SN_USER_UNARY(lgamma)
#else
// The C library's lgamma leaves the sign in a variable of the process, which threads would race for.
extern "C" float sn_lgammaf_r(float, int*) __asm__("lgammaf_r");
extern "C" double sn_lgamma_r(double, int*) __asm__("lgamma_r");
SN_FN float lgammaf(float a) { int sign; return sn_lgammaf_r(a, &sign); }
SN_FN float lgamma(float a) { return lgammaf(a); }
SN_FN double lgamma(double a) { int sign; return sn_lgamma_r(a, &sign); }
template <class T> SN_FN typename sn::for_number<T, double>::type lgamma(T a) { return lgamma(double(a)); }
#endif
#undef SN_USER_UNARY
#undef SN_USER_BINARY

#ifdef __CUDACC__
SN_FN float rsqrt(float a) { return ::rsqrtf(a); }
SN_FN double rsqrt(double a) { return ::rsqrt(a); }
SN_FN float fmin(float a, float b) { return ::fminf(a, b); }
SN_FN float fmax(float a, float b) { return ::fmaxf(a, b); }
SN_FN double fmin(double a, double b) { return ::fmin(a, b); }
SN_FN double fmax(double a, double b) { return ::fmax(a, b); }
#else
SN_FN float rsqrt(float a) { return 1.0f / __builtin_sqrtf(a); }
SN_FN double rsqrt(double a) { return 1.0 / __builtin_sqrt(a); }
SN_FN float fmin(float a, float b) { return sn::fmin(a, b); }
SN_FN float fmax(float a, float b) { return sn::fmax(a, b); }
SN_FN double fmin(double a, double b) { return sn::fmin(a, b); }
SN_FN double fmax(double a, double b) { return sn::fmax(a, b); }
#endif
SN_FN float rsqrtf(float a) { return rsqrt(a); }
SN_FN float fminf(float a, float b) { return fmin(a, b); }
SN_FN float fmaxf(float a, float b) { return fmax(a, b); }
template <class A, class B> SN_FN typename sn::wider_real<A, B>::type fmin(A a, B b) {
  typedef typename sn::wider_real<A, B>::type T;
  return fmin(T(a), T(b));
}
template <class A, class B> SN_FN typename sn::wider_real<A, B>::type fmax(A a, B b) {
  typedef typename sn::wider_real<A, B>::type T;
  return fmax(T(a), T(b));
}
SN_FN float fmaf(float a, float b, float c) { return SN_LIBM(fmaf)(a, b, c); }
SN_FN float fma(float a, float b, float c) { return SN_LIBM(fmaf)(a, b, c); }
SN_FN double fma(double a, double b, double c) { return SN_LIBM(fma)(a, b, c); }

// Of two numbers, in the type that their sum has; NaN loses.
#define SN_USER_EXTREME(name, floating, sign) \
  SN_FN float name(float a, float b) { return floating(a, b); } \
  SN_FN double name(double a, double b) { return floating(a, b); } \
  template <class A, class B> \
  SN_FN auto name(A a, B b) -> typename sn::for_number<B, typename sn::for_number<A, decltype(a + b)>::type>::type { \
    typedef decltype(a + b) T; \
    if constexpr (T(1) / T(2) != T(0)) return floating(T(a), T(b)); \
    else return T(a) sign T(b) ? T(a) : T(b); \
  }
SN_USER_EXTREME(min, fmin, <)
SN_USER_EXTREME(max, fmax, >)
#undef SN_USER_EXTREME

SN_FN float abs(float a) { return fabs(a); }
SN_FN double abs(double a) { return fabs(a); }
template <class T> SN_FN auto abs(T a) -> typename sn::for_number<T, decltype(+a)>::type {
  typedef decltype(+a) P;
  if constexpr (P(-1) < P(0)) return a < 0 ? P(-P(a)) : P(a);
  else return a;
}

#define SN_USER_TEST(name) \
  SN_FN bool name(float a) { return sn::name(a); } \
  SN_FN bool name(double a) { return sn::name(a); } \
  template <class T> SN_FN typename sn::for_number<T, bool>::type name(T a) { return sn::name(double(a)); }
SN_USER_TEST(isnan) SN_USER_TEST(isinf) SN_USER_TEST(isfinite) SN_USER_TEST(signbit)
#undef SN_USER_TEST

}  // namespace sn_user

// Constants as C names them, where no header of the user's has given them.
#ifndef INFINITY
#ifdef __CUDACC__
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#else
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#endif
#endif
#ifndef M_PI
#define M_E 2.71828182845904523536
#define M_LN2 0.693147180559945309417
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.785398163397448309616
#define M_SQRT2 1.41421356237309504880
#endif
#ifndef FLT_MAX
#define FLT_MAX 3.40282346638528859812e+38F
#define FLT_MIN 1.17549435082228750797e-38F
#define FLT_EPSILON 1.19209289550781250000e-7F
#define DBL_MAX 1.79769313486231570815e+308
#define DBL_MIN 2.22507385850720138309e-308
#define DBL_EPSILON 2.22044604925031308085e-16
#endif
#ifndef INT_MAX
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX 18446744073709551615ULL
#endif
