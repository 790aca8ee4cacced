// sinter prelude: what users' text needs of a GPU: atomic operations on stored elements. Behind cuda_loop.h.
namespace sn {

template <int bytes> struct atomic_word;
template <> struct atomic_word<1> { typedef unsigned char type; };
template <> struct atomic_word<2> { typedef unsigned short type; };
template <> struct atomic_word<4> { typedef unsigned int type; };
template <> struct atomic_word<8> { typedef unsigned long long type; };
template <class To, class From> __device__ __forceinline__ To same_bits(From x) {
  To y;
  memcpy(&y, &x, sizeof y);
  return y;
}

template <class S> __device__ __forceinline__ S atomic_load(const S* p) {
  typedef typename atomic_word<sizeof(S)>::type bits;
  return same_bits<S>(bits(*reinterpret_cast<const volatile bits*>(p)));
}
template <class S> __device__ __forceinline__ bool compare_exchange(S* at, S& expected, S wanted) {
  if constexpr (sizeof(S) == 1) {  // inside the aligned word around it: allocations end on such words
    const unsigned long long address = reinterpret_cast<unsigned long long>(at);
    unsigned* const word = reinterpret_cast<unsigned*>(address & ~3ull);
    const unsigned shift = 8u * unsigned(address & 3u), mask = 0xffu << shift;
    const unsigned around = *const_cast<volatile unsigned*>(word) & ~mask;
    const unsigned old = around | unsigned(same_bits<unsigned char>(expected)) << shift;
    const unsigned found = atomicCAS(word, old, around | unsigned(same_bits<unsigned char>(wanted)) << shift);
    expected = same_bits<S>((unsigned char)((found & mask) >> shift));
    return found == old;
  } else {
    typedef typename atomic_word<sizeof(S)>::type bits;
    const bits old = same_bits<bits>(expected);
    const bits found = atomicCAS(reinterpret_cast<bits*>(at), old, same_bits<bits>(wanted));
    expected = same_bits<S>(found);
    return found == old;
  }
}

struct plus_step {
  template <class T> static __device__ __forceinline__ T of(T a, T b) { return add(a, b); }
};
struct min_step {
  template <class T> static __device__ __forceinline__ T of(T a, T b) { return minimum(a, b); }
};
struct max_step {
  template <class T> static __device__ __forceinline__ T of(T a, T b) { return maximum(a, b); }
};
template <class S> struct storing;  // user.h
template <class Step, class S, class T> __device__ __forceinline__ T atomic_by_exchange(S* at, T x) {
  S old = atomic_load(at);
  while (!compare_exchange(at, old, storing<S>::of(Step::of(T(widen(old)), x)))) {
  }
  return widen(old);
}
template <class S> struct atomic_step {
  typedef decltype(widen(S())) T;
  static __device__ __forceinline__ T add(S* at, T x) { return atomic_by_exchange<plus_step>(at, x); }
  static __device__ __forceinline__ T min(S* at, T x) { return atomic_by_exchange<min_step>(at, x); }
  static __device__ __forceinline__ T max(S* at, T x) { return atomic_by_exchange<max_step>(at, x); }
};
// What the hardware does by itself. Sums wrap, so the unsigned instruction serves both kinds.
template <class T, class U> struct atomic_integer {
  static __device__ __forceinline__ T add(T* at, T x) { return T(atomicAdd((U*)at, U(x))); }
  static __device__ __forceinline__ T min(T* at, T x) { return atomicMin(at, x); }
  static __device__ __forceinline__ T max(T* at, T x) { return atomicMax(at, x); }
};
template <> struct atomic_step<int> : atomic_integer<int, unsigned> {};
template <> struct atomic_step<unsigned> : atomic_integer<unsigned, unsigned> {};
template <> struct atomic_step<long long> : atomic_integer<long long, unsigned long long> {};
template <> struct atomic_step<unsigned long long> : atomic_integer<unsigned long long, unsigned long long> {};
template <class T> struct atomic_real {
  static __device__ __forceinline__ T add(T* at, T x) { return atomicAdd(at, x); }
  static __device__ __forceinline__ T min(T* at, T x) { return atomic_by_exchange<min_step>(at, x); }
  static __device__ __forceinline__ T max(T* at, T x) { return atomic_by_exchange<max_step>(at, x); }
};
template <> struct atomic_step<float> : atomic_real<float> {};
template <> struct atomic_step<double> : atomic_real<double> {};
#ifdef SN_USER_COMPLEX
template <class R> struct atomic_step<cx<R>> {  // sums only: each part by itself
  static __device__ __forceinline__ cx<R> add(cx<R>* at, cx<R> x) {
    const R re = atomicAdd(&at->re, x.re), im = atomicAdd(&at->im, x.im);
    return cx<R>(re, im);
  }
};
#endif

}  // namespace sn
