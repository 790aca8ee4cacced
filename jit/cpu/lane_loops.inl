// Macros for loops over lanes that must be vectorised, and how they read and write elements. May be included where an
// instruction set is enabled: nothing here can be called from elsewhere.
#pragma once

// The iterations are independent: a destination may alias a source, lane for lane, and overlaps it in no other way.
// Clang warns if a marked loop is not vectorised (-Wpass-failed); a loop that cannot be vectorised is not marked.
#ifdef __clang__
#define SINTER_LANES(l, n) _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < (n); ++l)
// Otherwise clang vectorises these and then scalarises the vectors.
#define SINTER_ONE_BY_ONE(l, n) _Pragma("clang loop vectorize(disable)") for (int l = 0; l < (n); ++l)
#else
#define SINTER_ONE_BY_ONE(l, n) for (int l = 0; l < (n); ++l)
#define SINTER_LANES(l, n) _Pragma("GCC ivdep") for (int l = 0; l < (n); ++l)
#endif

namespace sinter::jit {

// Complex elements are moved by their parts. Passed by value, a complex number of floats is a vector of two for clang,
// which does not vectorise a loop that loads or stores such vectors.
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
