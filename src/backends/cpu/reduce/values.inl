// Element types of the loops of loops.inl. Nothing of the standard library may be included: its inline functions
// would be compiled for a wider instruction set than the machine may have.

template <class T>
struct complex_value {
  T re, im;
};

template <class T>
inline constexpr bool is_float_v = false;
template <>
inline constexpr bool is_float_v<float> = true;
template <>
inline constexpr bool is_float_v<double> = true;
template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<complex_value<T>> = true;

// Conditions are joined without branches, so that loops over them become vector code.
template <class T>
SINTER_STEP bool is_nan(T x) {
  if constexpr (is_float_v<T>) return x != x;
  else if constexpr (is_complex_v<T>) return bool(int(x.re != x.re) | int(x.im != x.im));
  else return false;
}
template <class T>
SINTER_STEP bool is_less(T a, T b) {
  if constexpr (is_complex_v<T>) return bool(int(a.re < b.re) | (int(a.re == b.re) & int(a.im < b.im)));
  else return a < b;
}
template <class T>
SINTER_STEP bool is_same(T a, T b) {
  if constexpr (is_complex_v<T>) return bool(int(a.re == b.re) & int(a.im == b.im));
  else return a == b;
}
/// Whether x replaces a: NaN wins, and the first NaN stays.
template <bool Min, class T>
SINTER_STEP bool is_better(T x, T a) {
  if constexpr (is_float_v<T>) return Min ? bool(int(!(x >= a)) & int(a == a)) : bool(int(!(x <= a)) & int(a == a));
  else if constexpr (is_complex_v<T>) return bool((int(is_nan(x)) | int(Min ? is_less(x, a) : is_less(a, x))) & int(!is_nan(a)));
  else return Min ? x < a : a < x;
}

template <class T>
SINTER_STEP T chosen(bool first, T a, T b) {
  if constexpr (is_complex_v<T>) return T{first ? a.re : b.re, first ? a.im : b.im};
  else return first ? a : b;
}

template <class T>
SINTER_STEP T lowest() {
  if constexpr (is_complex_v<T>) return T{lowest<decltype(T::re)>(), lowest<decltype(T::re)>()};
  else if constexpr (is_float_v<T>) return T(-__builtin_inf());
  else if constexpr (T(-1) < T(0)) return T(T(1) << (8 * sizeof(T) - 1));
  else return T(0);
}
template <class T>
SINTER_STEP T highest() {
  if constexpr (is_complex_v<T>) return T{highest<decltype(T::re)>(), highest<decltype(T::re)>()};
  else if constexpr (is_float_v<T>) return T(__builtin_inf());
  else return T(~lowest<T>());
}

SINTER_STEP unsigned bits_of(float x) { return __builtin_bit_cast(unsigned, x); }
SINTER_STEP unsigned long long bits_of(double x) { return __builtin_bit_cast(unsigned long long, x); }
SINTER_STEP float from_bits(unsigned b) { return __builtin_bit_cast(float, b); }
SINTER_STEP double from_bits(unsigned long long b) { return __builtin_bit_cast(double, b); }

/// Minimum or maximum; -0 counts as less than +0, so that the order in which values come does not matter.
template <bool Min, class T>
SINTER_STEP T extreme(T a, T x) {
  const T r = chosen(is_better<Min>(x, a), x, a);
  if constexpr (is_float_v<T>) {
    T zero = from_bits(Min ? bits_of(a) | bits_of(x) : bits_of(a) & bits_of(x));
    return x == a ? zero : r;
  } else {
    return r;
  }
}

/// One bit pattern for all results that are no number: which operand's payload survives is up to the compiler.
template <class T>
SINTER_STEP T tidy_nan(T x) {
  if constexpr (is_complex_v<T>) return T{tidy_nan(x.re), tidy_nan(x.im)};
  else if constexpr (is_float_v<T>) return x != x ? T(__builtin_nan("")) : x;
  else return x;
}

/// The unsigned type in which an integer's arithmetic wraps; float and complex types themselves.
template <class T>
SINTER_STEP T plus(T a, T b) {
  return T(a + b);
}
/// A product that is not contracted: see SN_ROUNDED of jit/prelude/base.h.
template <class T>
SINTER_STEP T rounded(T x) {
#ifdef __clang__
  return x;
#else
  return __builtin_assoc_barrier(x);
#endif
}
template <class T>
SINTER_STEP T times(T a, T b) {
  if constexpr (is_complex_v<T>)
    return T{rounded(a.re * b.re) - rounded(a.im * b.im), rounded(a.re * b.im) + rounded(a.im * b.re)};
  else if constexpr (sizeof(T) < 4 && !is_float_v<T>) return T(unsigned(a) * unsigned(b));
  else return T(a * b);
}
template <class T>
SINTER_STEP T sum_identity() {
  if constexpr (is_float_v<T>) return T(-0.0);
  else return T(0);
}
