// sinter prelude: what users' text needs of the CPU: storage formats, atomic operations on stored elements, lanes of
// types of a preamble. In front of user.h.
#ifndef __device__  // as marks of CUDA they say nothing here
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#endif

namespace sn {

// Storage of bool, float16 and bfloat16; all other dtypes are stored as their register type.
struct b8 {
  unsigned char bits;
};
struct h16 {
  unsigned short bits;
};
struct w16 {
  unsigned short bits;
};

template <class S> SN_FN S widen(S x) { return x; }
SN_FN bool widen(b8 x) { return x.bits != 0; }
SN_FN float widen(h16 x) { return f16_to_float(x.bits); }
SN_FN float widen(w16 x) { return bf16_to_float(x.bits); }

template <class S> struct narrower {
  SN_MEMBER S of(S x) { return x; }
};
template <> struct narrower<b8> {
  SN_MEMBER b8 of(bool x) { return {(unsigned char)(x)}; }
};
template <> struct narrower<h16> {
  SN_MEMBER h16 of(float x) { return {float_to_f16(x)}; }
};
template <> struct narrower<w16> {
  SN_MEMBER w16 of(float x) { return {float_to_bf16(x)}; }
};
template <class S, class R> SN_FN S narrow(R x) { return narrower<S>::of(x); }

struct plus_step {
  template <class T> SN_MEMBER T of(T a, T b) { return add(a, b); }
};
struct min_step {
  template <class T> SN_MEMBER T of(T a, T b) { return minimum(a, b); }
};
struct max_step {
  template <class T> SN_MEMBER T of(T a, T b) { return maximum(a, b); }
};
// Bits are compared, so that NaN is found again.
template <class Step, class S, class T> SN_FN T atomic_by_exchange(S* at, T x) {
  S old, wanted;
  __atomic_load(at, &old, __ATOMIC_RELAXED);
  do {
    wanted = narrow<S>(Step::of(T(widen(old)), x));
  } while (!__atomic_compare_exchange(at, &old, &wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return widen(old);
}
template <class S> struct atomic_step {
  typedef decltype(widen(S())) T;
  SN_MEMBER T add(S* at, T x) {
    if constexpr (traits<S>::integer) return __atomic_fetch_add(at, x, __ATOMIC_RELAXED);
    else return atomic_by_exchange<plus_step>(at, x);
  }
  SN_MEMBER T min(S* at, T x) { return atomic_by_exchange<min_step>(at, x); }
  SN_MEMBER T max(S* at, T x) { return atomic_by_exchange<max_step>(at, x); }
};
#ifdef SN_USER_COMPLEX
template <class R> struct atomic_step<cx<R>> {  // sums only: each part by itself
  SN_MEMBER cx<R> add(cx<R>* at, cx<R> x) {
    const R re = atomic_step<R>::add(&at->re, x.re), im = atomic_step<R>::add(&at->im, x.im);
    return cx<R>(re, im);
  }
};
#endif

// A lane of a type of a preamble.
template <class T> struct alignas(32) opaque {
  static_assert(sizeof(T) <= 32, "a value between a mapping and its reduction has at most 32 bytes");
  static_assert(__is_trivially_copyable(T), "a value between a mapping and its reduction is copied byte by byte");
  T value;
};

}  // namespace sn
