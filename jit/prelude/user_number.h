// sinter prelude: complex numbers as users' text sees them: complex.h's type with constructors and operators. Stands in
// front of complex.h, in modules whose user functions name complex types; what it computes is what complex.h says.
#define SN_USER_COMPLEX
#ifdef __CUDACC__
#define SN_METHOD __device__ __forceinline__
#define SN_COMPLEX_ALIGNMENT alignas(2 * sizeof(R))
#else
#define SN_METHOD inline __attribute__((always_inline))
#define SN_COMPLEX_ALIGNMENT
#endif

namespace sn {

template <bool> struct only_if {};
template <> struct only_if<true> { typedef int type; };

template <class R> struct SN_COMPLEX_ALIGNMENT cx {
  R re, im;
  cx() = default;
  SN_METHOD constexpr cx(R r, R i = R(0)) : re(r), im(i) {}
  template <class S, typename only_if<(sizeof(S) < sizeof(R))>::type = 0>
  SN_METHOD constexpr cx(const cx<S>& o) : re(R(o.re)), im(R(o.im)) {}
  template <class S, typename only_if<(sizeof(S) > sizeof(R))>::type = 0>
  SN_METHOD constexpr explicit cx(const cx<S>& o) : re(R(o.re)), im(R(o.im)) {}
  SN_METHOD R real() const { return re; }
  SN_METHOD R imag() const { return im; }
  // Friends, so that numbers convert on either side.
  friend SN_METHOD cx operator+(cx a) { return a; }
  friend SN_METHOD cx operator-(cx a) { return negative(a); }
  friend SN_METHOD cx operator+(cx a, cx b) { return add(a, b); }
  friend SN_METHOD cx operator-(cx a, cx b) { return subtract(a, b); }
  friend SN_METHOD cx operator*(cx a, cx b) { return multiply(a, b); }
  friend SN_METHOD cx operator/(cx a, cx b) { return divide(a, b); }
  friend SN_METHOD bool operator==(cx a, cx b) { return equal(a, b); }
  friend SN_METHOD bool operator!=(cx a, cx b) { return not_equal(a, b); }
  SN_METHOD cx& operator+=(cx o) { return *this = *this + o; }
  SN_METHOD cx& operator-=(cx o) { return *this = *this - o; }
  SN_METHOD cx& operator*=(cx o) { return *this = *this * o; }
  SN_METHOD cx& operator/=(cx o) { return *this = *this / o; }
};
#undef SN_COMPLEX_ALIGNMENT

}  // namespace sn
