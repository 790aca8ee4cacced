// sinter prelude: what every operation means. The one text serves generated CUDA kernels, generated CPU code (both hold it
// as text, in front of the kernel) and the precompiled block operations, so that all agree bit for bit. No file of
// this folder includes anything, and all must stay C++17. Order: base, float, half, convert, complex, complex_math.
//
// Contract. Registers: bool, signed char, short, int, long long, their unsigned kin, float (also for float16 and
// bfloat16, rounded to the type), double, sn::c64, sn::c128. Operation `op` of jit/program/opcodes.def is sn::op(operands),
// overloaded on the register type; all operands have one type. sn::cast<To>(x) converts; sn::to_f16(x), sn::to_bf16(x)
// convert to the two half types. Operations on those are computed in float and wrapped in sn::round_f16, sn::round_bf16;
// nextafter has the forms sn::nextafter_f16 and sn::nextafter_bf16. Storage to register and back: sn::f16_to_float(bits),
// sn::float_to_f16(x), sn::bf16_to_float(bits), sn::float_to_bf16(x). Bad data is reported through `int* fault`.
#ifdef __CUDACC__
#define SN_FN __device__ __forceinline__
#define SN_MEMBER static __device__ __forceinline__
#define SN_LIBM(f) ::f
#else
#define SN_FN static inline __attribute__((always_inline))
#define SN_MEMBER SN_FN
#define SN_LIBM(f) __builtin_##f
#endif
// A product that stays rounded: GCC makes fused multiply-adds of interleaved sums and differences of products in spite of
// -ffp-contract=off, in one loop and not in another one.
#if defined(__CUDACC__) || defined(__clang__)
#define SN_ROUNDED(x) (x)
#else
#define SN_ROUNDED(x) __builtin_assoc_barrier(x)
#endif

namespace sn {

enum { fault_index = 1, fault_negative_power = 2, fault_user_index = 4 };

template <class T> struct traits { static constexpr bool integer = false, is_signed = true; };
// `word` is the unsigned type in which arithmetic wraps without promotion to int getting in the way.
template <class U, class W, bool S> struct integer_traits {
  typedef U bits;
  typedef W word;
  static constexpr bool integer = true, is_signed = S;
  static constexpr int width = 8 * sizeof(U);
};
template <> struct traits<signed char> : integer_traits<unsigned char, unsigned, true> {};
template <> struct traits<short> : integer_traits<unsigned short, unsigned, true> {};
template <> struct traits<int> : integer_traits<unsigned, unsigned, true> {};
template <> struct traits<long long> : integer_traits<unsigned long long, unsigned long long, true> {};
template <> struct traits<unsigned char> : integer_traits<unsigned char, unsigned, false> {};
template <> struct traits<unsigned short> : integer_traits<unsigned short, unsigned, false> {};
template <> struct traits<unsigned> : integer_traits<unsigned, unsigned, false> {};
template <> struct traits<unsigned long long> : integer_traits<unsigned long long, unsigned long long, false> {};
template <class T> struct is_bool { static constexpr bool value = false; };
template <> struct is_bool<bool> { static constexpr bool value = true; };
template <class T> SN_FN constexpr T lowest_integer() {
  return traits<T>::is_signed ? T(typename traits<T>::bits(1) << (traits<T>::width - 1)) : T(0);
}

// Arithmetic. Integers wrap; of bool, + is or, * is and, as in NumPy.
template <class T> SN_FN T add(T a, T b) {
  if constexpr (is_bool<T>::value) return bool(int(a) | int(b));
  else if constexpr (traits<T>::integer) return T(typename traits<T>::word(a) + typename traits<T>::word(b));
  else return a + b;
}
template <class T> SN_FN T subtract(T a, T b) {
  if constexpr (traits<T>::integer) return T(typename traits<T>::word(a) - typename traits<T>::word(b));
  else return a - b;
}
template <class T> SN_FN T multiply(T a, T b) {
  if constexpr (is_bool<T>::value) return bool(int(a) & int(b));
  else if constexpr (traits<T>::integer) return T(typename traits<T>::word(a) * typename traits<T>::word(b));
  else return SN_ROUNDED(a * b);
}
template <class T> SN_FN T divide(T a, T b) { return a / b; }
template <class T> SN_FN T negative(T a) {
  if constexpr (traits<T>::integer) return T(typename traits<T>::word(0) - typename traits<T>::word(a));
  else return -a;
}
template <class T> SN_FN T square(T a) { return multiply(a, a); }
template <class T> SN_FN T absolute(T a) {
  if constexpr (traits<T>::integer && traits<T>::is_signed) return a < 0 ? negative(a) : a;
  else return a;
}
template <class T> SN_FN T sign(T a) {
  if constexpr (traits<T>::is_signed) return T(int(a > 0) - int(a < 0));
  else return T(a > 0);
}

// Integer division: by zero gives 0; the lowest value by -1 wraps.
template <class T> SN_FN T floor_divide(T a, T b) {
  if constexpr (traits<T>::is_signed) {
    if (b == T(-1)) return negative(a);
    T d = b == 0 ? T(1) : b;
    T q = T(a / d), r = T(a % d);
    q = T(q - T(r != 0 && (r < 0) != (d < 0)));
    return b == 0 ? T(0) : q;
  } else {
    return b == 0 ? T(0) : T(a / (b == 0 ? T(1) : b));
  }
}
template <class T> SN_FN T fmod(T a, T b) {
  T d = b == 0 || b == T(-1) ? T(1) : b;
  if constexpr (!traits<T>::is_signed) d = b == 0 ? T(1) : b;
  return T(a % d);
}
template <class T> SN_FN T remainder(T a, T b) {
  T r = fmod(a, b);
  if constexpr (traits<T>::is_signed) {
    if (r != 0 && (r < 0) != (b < 0)) r = T(r + b);
  }
  return r;
}
// By squaring, modulo 2^width.
template <class T> SN_FN T power(T a, T b, int* fault) {
  if constexpr (traits<T>::is_signed) {
    if (b < 0) {
      *fault = fault_negative_power;
      return T(0);
    }
  }
  typename traits<T>::word x = typename traits<T>::word(a), result = 1;
  for (typename traits<T>::bits e = typename traits<T>::bits(b); e != 0; e = typename traits<T>::bits(e >> 1)) {
    if (e & 1) result *= x;
    x *= x;
  }
  return T(result);
}
// Euclid's algorithm, of |a| and |b|; gcd(0, 0) is 0.
template <class T> SN_FN T gcd(T a, T b) {
  typedef typename traits<T>::bits bits;
  bits x = bits(absolute(a)), y = bits(absolute(b));
  while (y != 0) {
    bits r = bits(x % y);
    x = y;
    y = r;
  }
  return T(x);
}
// 1/a truncated; 1/0 is what converting infinity to the type gives (see convert.h).
template <class T> SN_FN T reciprocal(T a) {
  T of_zero = traits<T>::is_signed && traits<T>::width >= 32 ? lowest_integer<T>() : T(0);
  T unit = a == T(1) ? T(1) : T(0);
  if constexpr (traits<T>::is_signed) unit = a == T(-1) ? T(-1) : unit;
  return a == 0 ? of_zero : unit;
}

// Comparisons and extremes.
template <class T> SN_FN bool equal(T a, T b) { return a == b; }
template <class T> SN_FN bool not_equal(T a, T b) { return a != b; }
template <class T> SN_FN bool less(T a, T b) { return a < b; }
template <class T> SN_FN bool less_equal(T a, T b) { return a <= b; }
template <class T> SN_FN bool greater(T a, T b) { return a > b; }
template <class T> SN_FN bool greater_equal(T a, T b) { return a >= b; }
template <class T> SN_FN T maximum(T a, T b) {
  if constexpr (is_bool<T>::value) return bool(int(a) | int(b));
  else return a >= b ? a : b;
}
template <class T> SN_FN T minimum(T a, T b) {
  if constexpr (is_bool<T>::value) return bool(int(a) & int(b));
  else return a <= b ? a : b;
}
template <class T> SN_FN T fmax(T a, T b) { return maximum(a, b); }
template <class T> SN_FN T fmin(T a, T b) { return minimum(a, b); }

// Logic and bits. A shift by the width or more, or by a negative count, gives 0, or the sign to the right.
template <class T> SN_FN bool logical_not(T a) { return !(a != T(0)); }
template <class T> SN_FN bool logical_and(T a, T b) { return bool(int(a != T(0)) & int(b != T(0))); }
template <class T> SN_FN bool logical_or(T a, T b) { return bool(int(a != T(0)) | int(b != T(0))); }
template <class T> SN_FN bool logical_xor(T a, T b) { return (a != T(0)) != (b != T(0)); }
template <class T> SN_FN T bitwise_and(T a, T b) { return T(a & b); }
template <class T> SN_FN T bitwise_or(T a, T b) { return T(a | b); }
template <class T> SN_FN T bitwise_xor(T a, T b) { return T(a ^ b); }
template <class T> SN_FN T bitwise_not(T a) {
  if constexpr (is_bool<T>::value) return !a;
  else return T(~a);
}
template <class T> SN_FN T left_shift(T a, T b) {
  typedef typename traits<T>::bits bits;
  typedef typename traits<T>::word word;
#ifdef __CUDA_ARCH__
  // The instructions shift by 32 at most, which gives what is asked for: widths up to 32 need no comparison.
  if constexpr (sizeof(T) <= 4) {
    unsigned r;
    asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(unsigned(a)), "r"(unsigned(bits(b))));
    return T(r);
  } else {
    return bits(b) < bits(traits<T>::width) ? T(word(a) << word(bits(b))) : T(0);
  }
#else
  // Masks, no branches: at one on a count that all lanes share compilers divide the loop, and leave it without vectors.
  const bits most = bits(traits<T>::width - 1), n = bits(b) < most ? bits(b) : most;
  if constexpr (sizeof(T) == 1) {  // no vectors of bytes are shifted, but sums are: a bit of the count at a time
    bits x = bits(a);
    for (int k = 0; k < 3; ++k) {
      bits y = bits(x + x);
      for (int twice = 1; twice < 1 << k; ++twice) y = bits(y + y);
      const bits moves = bits(0u - (b >> k & 1));
      x = bits((x & bits(~moves)) | (y & moves));
    }
    return T(bits(x & bits(0u - (bits(b) <= most))));
  }
  return T(bits(word(bits(a)) << n) & bits(word(0) - word(bits(b) <= most)));
#endif
}
template <class T> SN_FN T right_shift(T a, T b) {
  typedef typename traits<T>::bits bits;
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) <= 4) {
    unsigned r;
    if constexpr (traits<T>::is_signed) asm("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(int(a)), "r"(unsigned(bits(b))));
    else asm("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(unsigned(a)), "r"(unsigned(bits(b))));
    return T(r);
  } else {
    const bool inside = bits(b) < bits(traits<T>::width);
    const T most = T(traits<T>::width - 1);
    if constexpr (traits<T>::is_signed) return T(a >> (inside ? b : most));
    else return inside ? T(a >> b) : T(0);
  }
#else
  typedef typename traits<T>::word word;
  const bits most = bits(traits<T>::width - 1), n = bits(b) < most ? bits(b) : most;
  if constexpr (sizeof(T) == 1 && !traits<T>::is_signed) {
    const unsigned short times = bits(b) <= most ? (unsigned short)(256u >> n) : (unsigned short)(0);
    return T((unsigned short)(a * times) >> 8);
  }
  if constexpr (traits<T>::is_signed) return T(a >> n);
  else return T(T(a >> n) & T(word(0) - word(bits(b) <= most)));
#endif
}
template <class T> SN_FN T select(bool c, T a, T b) { return c ? a : b; }
#ifdef __CUDACC__
#else
// By bits, for conditions that follow from another selection: compilers make branches of those, and leave the loop without vectors.
template <unsigned long> struct bits_of_size;
template <> struct bits_of_size<1> { typedef unsigned char type; };
template <> struct bits_of_size<2> { typedef unsigned short type; };
template <> struct bits_of_size<4> { typedef unsigned type; };
template <> struct bits_of_size<8> { typedef unsigned long long type; };
template <class T> SN_FN T select_again(bool c, T a, T b) {
  typedef typename bits_of_size<sizeof(T)>::type U;
  const U keep = U(U(0) - U(c));
  return __builtin_bit_cast(T, U((__builtin_bit_cast(U, a) & keep) | (__builtin_bit_cast(U, b) & U(~keep))));
}
// Of three truth values: compilers leave loops with a conditional expression of those without vectors.
SN_FN bool select(bool c, bool a, bool b) { return bool((int(c) & int(a)) | (int(!c) & int(b))); }
#endif

// Integers and bool are whole and finite.
template <class T> SN_FN T floor(T a) { return a; }
template <class T> SN_FN T ceil(T a) { return a; }
template <class T> SN_FN T trunc(T a) { return a; }
template <class T> SN_FN bool isnan(T) { return false; }
template <class T> SN_FN bool isinf(T) { return false; }
template <class T> SN_FN bool isfinite(T) { return true; }
template <class T> SN_FN T conj(T a) { return a; }
template <class T> SN_FN T real(T a) { return a; }
template <class T> SN_FN T imag(T) { return T(0); }

// The first index out of range is kept: its axis, its value and the extent, the lower half of each number first.
SN_FN void refuse_index(long long i, long long n, long long axis, int* fault) {
#ifdef __CUDACC__
  if (atomicCAS(fault, 0, (int)fault_index) != 0) return;
#else
  if (*fault != 0) return;
  *fault = fault_index;
#endif
  fault[1] = int(axis);
  fault[2] = int(i);
  fault[3] = int(i >> 32);
  fault[4] = int(n);
  fault[5] = int(n >> 32);
}
// Index in [-n, n) to [0, n). Out of range: the fault, and 0, which no access may use when n is 0.
SN_FN long long checked_index(long long i, long long n, long long axis, int* fault) {
  long long k = i < 0 ? i + n : i;
  if (k < 0 || k >= n) {
    refuse_index(i, n, axis, fault);
    k = 0;
  }
  return k;
}

}  // namespace sn
