// Transcendental functions of float and double. On x86-64 with glibc 2.35 or newer they use libmvec, called by its ABI
// names, so that every compiler calls the same routines; elsewhere libm lane by lane.
//
// Measured against long double (glibc 2.36; 51,200 arguments per function, uniform and over all exponents; three
// instruction sets): at most 3.8 ulp (log of float), 3.2 for double (cos), power below 1. Infinities, NaN, signed
// zeros, subnormals and huge arguments agree with libm, and a lane's result does not depend on its neighbours.
#if SINTER_TIER0_X86 && defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 35)
#define SINTER_MVEC 1
#else
#define SINTER_MVEC 0
#endif
#if SINTER_MVEC
#include "jit/cpu/interpreter/known_lanes.inl"
#endif

namespace sinter::jit::tier0::SINTER_ISA {

#if SINTER_MVEC
#if SINTER_ISA_LEVEL == 0
#define SN_VECTOR_BYTES 16
#define SN_MVEC_F(args, fn) _ZGVbN4##args##_##fn##f
#define SN_MVEC_D(args, fn) _ZGVbN2##args##_##fn
#elif SINTER_ISA_LEVEL == 1
#define SN_VECTOR_BYTES 32
#define SN_MVEC_F(args, fn) _ZGVdN8##args##_##fn##f
#define SN_MVEC_D(args, fn) _ZGVdN4##args##_##fn
#else
#define SN_VECTOR_BYTES 64
#define SN_MVEC_F(args, fn) _ZGVeN16##args##_##fn##f
#define SN_MVEC_D(args, fn) _ZGVeN8##args##_##fn
#endif

typedef float float_vector __attribute__((vector_size(SN_VECTOR_BYTES)));
typedef double double_vector __attribute__((vector_size(SN_VECTOR_BYTES)));
extern "C" {
#define DECLARE_1(fn)                          \
  float_vector SN_MVEC_F(v, fn)(float_vector); \
  double_vector SN_MVEC_D(v, fn)(double_vector);
#define DECLARE_2(fn)                                         \
  float_vector SN_MVEC_F(vv, fn)(float_vector, float_vector); \
  double_vector SN_MVEC_D(vv, fn)(double_vector, double_vector);
#define OP(name, operands, weight)
#define LIBM_OP(name, operands, weight, rule, fn) DECLARE_##operands(fn)
#include "jit/program/opcodes.def"
DECLARE_2(pow)
#undef DECLARE_1
#undef DECLARE_2
}
#endif

namespace {

#if SINTER_MVEC
template <class T> struct vector_of { typedef float_vector type; };
template <> struct vector_of<double> { typedef double_vector type; };
#define DEFINE_1(op, fn)                                                        \
  struct vector_##op {                                                          \
    SN_MEMBER float_vector of(float_vector x) { return SN_MVEC_F(v, fn)(x); }   \
    SN_MEMBER double_vector of(double_vector x) { return SN_MVEC_D(v, fn)(x); } \
    template <class T> using known = known_##op<T>;                             \
  };
#define DEFINE_2(op, fn)                                                                              \
  struct vector_##op {                                                                                \
    SN_MEMBER float_vector of(float_vector x, float_vector y) { return SN_MVEC_F(vv, fn)(x, y); }     \
    SN_MEMBER double_vector of(double_vector x, double_vector y) { return SN_MVEC_D(vv, fn)(x, y); }  \
  };
#define OP(name, operands, weight)
#define LIBM_OP(name, operands, weight, rule, fn) DEFINE_##operands(name, fn)
#include "jit/program/opcodes.def"
DEFINE_2(power, pow)
#undef DEFINE_1
#undef DEFINE_2

/// The lanes of a vector from `from` on; of one lane, a vector that has it everywhere.
template <class T, class V>
SN_FN V take_lanes(const T* from, int n) {
  if (n == 1) return all_lanes<T, V>(*from);
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class T, class V>
SN_FN void give_lanes(T* to, V v, int n) {
  if (n == 1) *to = v[0];
  else __builtin_memcpy(to, &v, sizeof v);
}

template <class T, class V>
void math_unary(void* dst, const void* a, const void*, const void*, int n, int*) {
  typedef typename vector_of<T>::type vector;
  auto* r = static_cast<T*>(dst);
  auto* x = static_cast<const T*>(a);
  for (int l = 0; l < n; l += int(sizeof(vector) / sizeof(T))) {
    vector v = take_lanes<T, vector>(x + l, n);
    typedef typename V::template known<T> known;
    if constexpr (known::any) {
      const auto ordinary = known::ordinary(v);
      const vector found = V::of(ordinary ? v : all_lanes<T, vector>(T(known::stand_in)));
      v = ordinary ? found : known::known(v);
    } else {
      v = V::of(v);
    }
    give_lanes(r + l, v, n);
  }
}
template <class T, class V>
void math_binary(void* dst, const void* a, const void* b, const void*, int n, int*) {
  typedef typename vector_of<T>::type vector;
  auto* r = static_cast<T*>(dst);
  auto* x = static_cast<const T*>(a);
  auto* y = static_cast<const T*>(b);
  for (int l = 0; l < n; l += int(sizeof(vector) / sizeof(T))) {
    const vector v = take_lanes<T, vector>(x + l, n), w = take_lanes<T, vector>(y + l, n);
    give_lanes(r + l, V::of(v, w), n);
  }
}
/// Powers of which some lane is not an ordinary one.
template <class T>
void some_powers_known(T* r, const T* x, const T* y, int n) {
  typedef typename vector_of<T>::type vector;
  for (int l = 0; l < n; l += int(sizeof(vector) / sizeof(T))) {
    const vector v = take_lanes<T, vector>(x + l, n), w = take_lanes<T, vector>(y + l, n);
    give_lanes(r + l, known_power<T>::finish(v, w, vector_power::of(known_power<T>::base(v, w), w)), n);
  }
}
template <class T>
void math_power(void* dst, const void* a, const void* b, const void*, int n, int*) {
  auto* x = static_cast<const T*>(a);
  auto* y = static_cast<const T*>(b);
  int others = n == 1 && !known_power<T>::is_ordinary(*x, *y);
  SINTER_LANES(l, n & -lane_multiple) others |= !known_power<T>::is_ordinary(x[l], y[l]);
  if (others) some_powers_known(static_cast<T*>(dst), x, y, n);
  else math_binary<T, vector_power>(dst, a, b, nullptr, n, nullptr);
}
/// One Newton step from y, a cube root of x with an error of an ulp or two. The residual is formed without rounding
/// (Dekker's products, no fused operations needed), so the result is within 0.6 ulp and exact for cubes.
SN_FN double refined_cbrt(double x, double y) {
  double c = 134217729.0 * y, yh = c - (c - y), yl = y - yh;
  double p = y * y, p_low = ((yh * yh - p) + 2.0 * yh * yl) + yl * yl;
  c = 134217729.0 * p;
  double ph = c - (c - p), pl = p - ph;
  double q = p * y, q_low = ((ph * yh - q) + ph * yl + pl * yh) + pl * yl;
  double better = y - ((q - x) + (q_low + p_low * y)) / (3.0 * p);
  double size = sn::absolute(x);
  return bool(int(size > 1e-280) & int(size < 1e300)) ? better : y;  // outside of this range the products are not exact
}
[[maybe_unused]] void double_cbrt(void* dst, const void* a, const void*, const void*, int n, int*) {
  alignas(64) double t[block_lanes];
  auto* r = static_cast<double*>(dst);
  auto* x = static_cast<const double*>(a);
  math_unary<double, vector_cbrt>(t, a, nullptr, nullptr, n, nullptr);
  each_lane(n, [=, from = &t[0]](int l) { r[l] = refined_cbrt(x[l], from[l]); });
}
/// Logarithms within two units in the last place of a whole number other than 0 are that number: the arguments of which they
/// are the logarithms are not apart from the power of ten by more than two units in the last place either.
[[maybe_unused]] void double_log10(void* dst, const void* a, const void*, const void*, int n, int*) {
  auto* r = static_cast<double*>(dst);
  math_unary<double, vector_log10>(r, a, nullptr, nullptr, n, nullptr);
  each_lane(n, [r](int l) {
    constexpr double to_whole = 0x1.8p52;
    const double whole = (r[l] + to_whole) - to_whole, off = sn::absolute(r[l] - whole);
    r[l] = bool(int(off <= 0x1p-52 * sn::absolute(whole)) & int(sn::absolute(whole) > 0)) ? whole : r[l];
  });
}
/// cbrt(27) and log10(1000) are not 3 in libmvec. For float both are computed in double; for double they are corrected.
template <class V> constexpr bool is_wide = __is_same(V, vector_cbrt) || __is_same(V, vector_log10);
template <class T, class V>
void math_wide(void* dst, const void* a, const void*, const void*, int n, int*) {
  if constexpr (sizeof(T) == sizeof(double)) {
    if constexpr (__is_same(V, vector_cbrt)) return double_cbrt(dst, a, nullptr, nullptr, n, nullptr);
    else return double_log10(dst, a, nullptr, nullptr, n, nullptr);
  }
  alignas(64) double t[block_lanes];
  auto* r = static_cast<T*>(dst);
  auto* x = static_cast<const T*>(a);
  double* const wide = t;
  each_lane(n, [=](int l) { wide[l] = double(x[l]); });
  math_unary<double, V>(t, t, nullptr, nullptr, n, nullptr);
  each_lane(n, [=](int l) { r[l] = T(wide[l]); });
}
template <class T, class V>
constexpr block_op math_unary_op() {
  if constexpr (is_wide<V>) return &math_wide<T, V>;
  else return &math_unary<T, V>;
}
#define MATH_1(op) math_unary_op<T, vector_##op>()
#define MATH_2(op) &math_binary<T, vector_##op>
#define MATH_POWER &math_power<T>
#else
#define MATH_1(op) &unary<T, T, do_##op>
#define MATH_2(op) &binary<T, T, do_##op>
#define MATH_POWER MATH_2(power)
#endif

}  // namespace
}  // namespace sinter::jit::tier0::SINTER_ISA
