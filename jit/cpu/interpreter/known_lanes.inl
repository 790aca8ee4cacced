// Arguments whose result is known without computing it: beyond overflow and underflow, outside of the domain, infinite,
// NaN. libmvec leaves such lanes to libm one by one, which takes ten to twenty times as long, and they are not rare: masks of
// -infinity, tails of Gaussians, zeros under a logarithm. So it gets another argument in their place.
//
// Written for GCC's and clang's vectors: comparisons give all bits or none in each lane.

namespace sinter::jit::tier0::SINTER_ISA {
namespace {

/// Beyond these exp, exp2, and sinh and cosh round to 0 or to infinity.
template <class T> struct range_ends;
template <> struct range_ends<float> {
  static constexpr float exp_low = -104, exp_high = 89, exp2_low = -151, exp2_high = 129, sinh_high = 90;
};
template <> struct range_ends<double> {
  static constexpr double exp_low = -746, exp_high = 710, exp2_low = -1076, exp2_high = 1025, sinh_high = 711;
};

template <class T, class V> SN_FN V all_lanes(T x) { return x - V{}; }  // a negative zero, too

/// An operation all of whose lanes the library computes; the others derive from it: ordinary(x) are the lanes that the library
/// gets, `known(x)` the results of the others, `stand_in` an ordinary argument.
struct known_none {
  static constexpr bool any = false;
};
struct known_some {
  static constexpr bool any = true;
  static constexpr double stand_in = 0.5;
};

#define SN_KNOWN(name) template <class T> struct known_##name : known_some
#define SN_VECTORS                               \
  static constexpr T inf = T(__builtin_inf());   \
  static constexpr T nan = T(__builtin_nan("")); \
  template <class V> static V all(T x) { return all_lanes<T, V>(x); }

SN_KNOWN(exp) {
  SN_VECTORS
  template <class V> SN_MEMBER auto ordinary(V x) { return (x >= range_ends<T>::exp_low) & (x <= range_ends<T>::exp_high); }
  template <class V> SN_MEMBER V known(V x) { return x > 0 ? all<V>(inf) : x < 0 ? all<V>(0) : x; }
};
SN_KNOWN(exp2) {
  SN_VECTORS
  template <class V> SN_MEMBER auto ordinary(V x) { return (x >= range_ends<T>::exp2_low) & (x <= range_ends<T>::exp2_high); }
  template <class V> SN_MEMBER V known(V x) { return x > 0 ? all<V>(inf) : x < 0 ? all<V>(0) : x; }
};
SN_KNOWN(expm1) {
  SN_VECTORS
  template <class V> SN_MEMBER auto ordinary(V x) { return (x >= range_ends<T>::exp_low) & (x <= range_ends<T>::exp_high); }
  template <class V> SN_MEMBER V known(V x) { return x > 0 ? all<V>(inf) : x < 0 ? all<V>(-1) : x; }
};
SN_KNOWN(log) {
  SN_VECTORS
  template <class V> SN_MEMBER auto ordinary(V x) { return (x > 0) & (x < inf); }
  template <class V> SN_MEMBER V known(V x) { return x == 0 ? all<V>(-inf) : x < 0 ? all<V>(nan) : x; }
};
template <class T> struct known_log2 : known_log<T> {};
template <class T> struct known_log10 : known_log<T> {};
SN_KNOWN(log1p) {
  SN_VECTORS
  template <class V> SN_MEMBER auto ordinary(V x) { return (x > -1) & (x < inf); }
  template <class V> SN_MEMBER V known(V x) { return x == -1 ? all<V>(-inf) : x < 0 ? all<V>(nan) : x; }
};
SN_KNOWN(sin) {  // cos and tan: infinities have no direction
  SN_VECTORS
  template <class V> SN_MEMBER auto ordinary(V x) { return (x > -inf) & (x < inf); }
  template <class V> SN_MEMBER V known(V x) { return x - x; }
};
template <class T> struct known_cos : known_sin<T> {};
template <class T> struct known_tan : known_sin<T> {};
SN_KNOWN(arcsin) {
  SN_VECTORS
  template <class V> SN_MEMBER auto ordinary(V x) { return (x >= -1) & (x <= 1); }
  template <class V> SN_MEMBER V known(V x) { return x * nan; }
};
template <class T> struct known_arccos : known_arcsin<T> {};
SN_KNOWN(sinh) {
  SN_VECTORS
  template <class V> SN_MEMBER auto ordinary(V x) {
    return (x >= -range_ends<T>::sinh_high) & (x <= range_ends<T>::sinh_high);
  }
  template <class V> SN_MEMBER V known(V x) { return x * inf; }
};
SN_KNOWN(cosh) {
  SN_VECTORS
  template <class V> SN_MEMBER auto ordinary(V x) { return known_sinh<T>::ordinary(x); }
  template <class V> SN_MEMBER V known(V x) { return (x < 0 ? -x : x) * inf; }
};
SN_KNOWN(tanh) {
  SN_VECTORS
  template <class V> SN_MEMBER auto ordinary(V x) { return (x > -inf) & (x < inf); }
  template <class V> SN_MEMBER V known(V x) { return x > 0 ? all<V>(1) : x < 0 ? all<V>(-1) : x; }
};
SN_KNOWN(arcsinh) {
  SN_VECTORS
  template <class V> SN_MEMBER auto ordinary(V x) { return (x > -inf) & (x < inf); }
  template <class V> SN_MEMBER V known(V x) { return x; }
};
SN_KNOWN(arccosh) {
  SN_VECTORS
  static constexpr double stand_in = 2;
  template <class V> SN_MEMBER auto ordinary(V x) { return (x > 1) & (x < inf); }
  template <class V> SN_MEMBER V known(V x) { return x == 1 ? all<V>(0) : x < 1 ? all<V>(nan) : x; }
};
SN_KNOWN(arctanh) {
  SN_VECTORS
  template <class V> SN_MEMBER auto ordinary(V x) { return (x > -1) & (x < 1); }
  template <class V> SN_MEMBER V known(V x) { return ((x == 1) | (x == -1)) ? x * inf : x * nan; }
};
/// x to the power of y: the library gets |x|, except where y is not finite, which is left to it.
SN_KNOWN(power) {
  SN_VECTORS
  static constexpr T whole_above = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);  // numbers without a fraction
  template <class V> static V magnitude(V x) { return x < 0 ? -x : x; }
  template <class V> static auto is_whole(V y) { return (y >= whole_above) | ((y + whole_above) - whole_above == y); }

  SN_MEMBER bool is_ordinary(T x, T y) {
    return bool(int(x > 0) & int(x < inf) & int(y > -inf) & int(y < inf));
  }
  template <class V> SN_MEMBER V base(V x, V y) {
    const V size = magnitude(x), size_y = magnitude(y);
    const V within = ((size > 0) & (size < inf)) ? size : all<V>(1);
    return size_y < inf ? within : x;
  }
  template <class V> SN_MEMBER V finish(V x, V y, V found) {
    typedef decltype(x < x) mask;
    const V size = magnitude(x), size_y = magnitude(y);
    const mask zero = size == 0, beyond = size == inf, falls = (y > 0) == zero;
    const V at_ends = y == 0 ? all<V>(1) : falls ? all<V>(0) : all<V>(inf);
    V r = (zero | beyond) ? at_ends : found;
    r = x != x ? (y == 0 ? all<V>(1) : x) : r;
    const mask whole = is_whole(size_y), odd = whole & ~is_whole(size_y / 2), negative = (mask)x < 0;
    r = (negative & odd) ? -r : r;
    r = ((x < 0) & ~beyond & ~whole) ? all<V>(nan) : r;
    return size_y < inf ? r : found;
  }
};
template <class T> struct known_arctan : known_none {};
template <class T> struct known_cbrt : known_none {};
#undef SN_KNOWN
#undef SN_VECTORS

}  // namespace
}  // namespace sinter::jit::tier0::SINTER_ISA
