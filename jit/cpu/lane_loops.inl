// The mark of loops over lanes that have to become vector code, and how they read and write elements. It may be
// included where an instruction set has been opened: nothing here can be called from elsewhere.
#pragma once

// The iterations are independent: a destination may be a source, lane for lane, and overlaps it in no other way. Clang
// warns where a marked loop stays scalar (-Wpass-failed); a loop that cannot be vector code has no mark.
#ifdef __clang__
#define SINTER_LANES(l, n) _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < (n); ++l)
// Clang makes vectors of what it then takes apart.
#define SINTER_ONE_BY_ONE(l, n) _Pragma("clang loop vectorize(disable)") for (int l = 0; l < (n); ++l)
#else
#define SINTER_ONE_BY_ONE(l, n) for (int l = 0; l < (n); ++l)
#define SINTER_LANES(l, n) _Pragma("GCC ivdep") for (int l = 0; l < (n); ++l)
#endif

namespace sinter::jit {

// Complex elements go by their parts. Passed by value, a complex number of floats is one vector of two in clang's eyes; a
// loop that loads or stores such vectors stays scalar.
template <class T>
concept has_parts = requires(T x) {
  x.re;
  x.im;
};
template <class T>
[[gnu::always_inline]] static inline T get_lane(const T* from, int l) {
  if constexpr (has_parts<T>) return T{from[l].re, from[l].im};
  else return from[l];
}
template <class T>
[[gnu::always_inline]] static inline void put_lane(T* to, int l, T x) {
  if constexpr (has_parts<T>) {
    to[l].re = x.re;
    to[l].im = x.im;
  } else {
    to[l] = x;
  }
}

}  // namespace sinter::jit
