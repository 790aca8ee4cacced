// The values that scans add up: accumulator types, their operations, and loads and stores of elements.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>
#include <type_traits>

#include "backends/cuda/algorithms/device_common.cuh"

namespace sinter::cuda::device {

template <class R>
struct alignas(2 * sizeof(R)) complex_value {
  R re, im;
};

// Integers of up to 32 bits are scanned in 32 bits, of which the lowest are stored; the flip below handles the sign.
// The operations are associative except for rounding, and not all are commutative: `a` always precedes `b`.

template <class T>
struct sum_of {
  using type = T;
  static constexpr bool flips = false;
  __device__ __forceinline__ static T join(T a, T b) { return a + b; }
};
template <class R>
struct sum_of<complex_value<R>> {
  using type = complex_value<R>;
  static constexpr bool flips = false;
  __device__ __forceinline__ static type join(type a, type b) { return {a.re + b.re, a.im + b.im}; }
};

template <class T>
struct product_of {
  using type = T;
  static constexpr bool flips = false;
  __device__ __forceinline__ static T join(T a, T b) { return a * b; }
};
// A product of finite factors that overflowed is no infinity yet: with a 0 it is 0, as from left to right, while an infinite factor
// makes NaN of it. Until it is stored, a NaN with bits of its own stands for it.
template <class R, class Bits, Bits infinity_bits>
struct product_with_marks {
  using type = R;
  static constexpr bool flips = false;
  __device__ __forceinline__ static R join(R a, R b) {
    const R p = a * b;
    return p - p == 0 ? p : not_finite(a, b, p);
  }
  /// An element of memory is no mark: it is another NaN.
  __device__ __forceinline__ static R entered(R x) { return is_mark(x) ? of_bits(bits_of(x) ^ 1) : x; }
  __device__ __forceinline__ static R left(R x) {
    return is_mark(x) ? with_sign(of_bits(infinity_bits), bits_of(x)) : x;
  }

 private:
  static constexpr Bits mark_bits = infinity_bits | infinity_bits >> 1 | 0x5ca1e, sign_bit = Bits(1)
                                                                                             << (8 * sizeof(Bits) - 1);
  __device__ __forceinline__ static Bits bits_of(R x) {
    Bits b;
    memcpy(&b, &x, sizeof b);
    return b;
  }
  __device__ __forceinline__ static R of_bits(Bits b) {
    R x;
    memcpy(&x, &b, sizeof x);
    return x;
  }
  __device__ __forceinline__ static bool is_mark(R x) { return (bits_of(x) & ~sign_bit) == mark_bits; }
  __device__ __forceinline__ static R with_sign(R x, Bits sign) {
    return of_bits((bits_of(x) & ~sign_bit) | (sign & sign_bit));
  }

  __device__ __noinline__ static R not_finite(R a, R b, R p) {
    const bool a_marked = is_mark(a), b_marked = is_mark(b);
    const Bits sign = bits_of(a) ^ bits_of(b);
    if (!a_marked && !b_marked) return a - a == 0 && b - b == 0 ? with_sign(of_bits(mark_bits), sign) : p;
    const R other = a_marked ? b : a;
    if ((a_marked && b_marked) || (other - other == 0 && other != 0)) return with_sign(of_bits(mark_bits), sign);
    return other != other ? other : with_sign(other, sign);  // or 0, or infinite
  }
};
template <>
struct product_of<float> : product_with_marks<float, u32, 0x7f800000u> {};
template <>
struct product_of<double> : product_with_marks<double, u64, 0x7ff0000000000000u> {};
template <class R>
struct product_of<complex_value<R>> {
  using type = complex_value<R>;
  static constexpr bool flips = false;
  __device__ __forceinline__ static type join(type a, type b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

// Minima are maxima of flipped values: all bits of an integer, the sign of a floating-point number. Signed integers are
// compared likewise, by flipping the sign bit.
template <class T>
struct greatest_of {
  using type = T;
  static constexpr bool flips = true;
  /// NaN wins, as does the first of two equal values.
  __device__ __forceinline__ static T join(T a, T b) { return a >= b || a != a ? a : b; }
};
template <class R>
struct greatest_of<complex_value<R>> {
  using type = complex_value<R>;
  static constexpr bool flips = true;
  __device__ __forceinline__ static type join(type a, type b) {
    const bool nan = a.re != a.re || a.im != a.im, parts = a.im == a.im && b.im == b.im;
    const bool first = (a.re > b.re && parts) || (a.re == b.re && a.im >= b.im);
    return first || nan ? a : b;
  }
};

template <class T>
struct log_sum_of {
  using type = T;
  static constexpr bool flips = false;
  /// Not inlined: it is long, and a scan has many join points.
  __device__ __noinline__ static T join(T a, T b) {
    if (a == b) return a + static_cast<T>(0.69314718055994530942);
    const T d = a - b;
    return d > 0 ? a + log1p(exp(-d)) : d <= 0 ? b + log1p(exp(d)) : d;
  }
};

__device__ __forceinline__ u32 flipped(u32 x, u64 flip) { return x ^ static_cast<u32>(flip); }
__device__ __forceinline__ u64 flipped(u64 x, u64 flip) { return x ^ flip; }
__device__ __forceinline__ float flipped(float x, u64 flip) {
  return __uint_as_float(__float_as_uint(x) ^ static_cast<u32>(flip));
}
__device__ __forceinline__ double flipped(double x, u64 flip) {
  return __longlong_as_double(__double_as_longlong(x) ^ static_cast<long long>(flip));
}
template <class R>
__device__ __forceinline__ complex_value<R> flipped(complex_value<R> x, u64 flip) {
  return {flipped(x.re, flip), flipped(x.im, flip)};
}

template <class Op, class = void>
struct has_marks : std::false_type {};
template <class Op>
struct has_marks<Op, decltype(void(Op::entered(typename Op::type{})))> : std::true_type {};
/// What an operation makes of an element that it reads, and of a result that it stores. `how`: scan_data::flip.
template <class Op, class T = typename Op::type>
__device__ __forceinline__ T entered(T x, u64 how) {
  if constexpr (Op::flips) return flipped(x, how);
  else if constexpr (has_marks<Op>::value) return how ? Op::entered(x) : x;
  else return x;
}
template <class Op, class T = typename Op::type>
__device__ __forceinline__ T left(T x, u64 how) {
  if constexpr (Op::flips) return flipped(x, how);
  else if constexpr (has_marks<Op>::value) return how ? Op::left(x) : x;
  else return x;
}

/// The type of elements in memory if it differs from the accumulator's.
enum class storage : unsigned char { own, bytes1, bytes2, half, bfloat };

struct scan_data {
  const void* from;
  void* to;
  storage stored;
  u64 flip;  // of extremes; products: whether elements and results are those of memory, and have no marks
};

__device__ __forceinline__ u32 widened(u8 x) { return x; }
__device__ __forceinline__ u32 widened(u16 x) { return x; }
__device__ __forceinline__ float widened(__half x) { return __half2float(x); }
__device__ __forceinline__ float widened(__nv_bfloat16 x) { return __bfloat162float(x); }
template <class T>
__device__ __forceinline__ T widened(T x) {
  return x;
}

__device__ __forceinline__ void narrow(u32 x, u8& to) { to = static_cast<u8>(x); }
__device__ __forceinline__ void narrow(u32 x, u16& to) { to = static_cast<u16>(x); }
__device__ __forceinline__ void narrow(float x, __half& to) { to = __float2half_rn(x); }
__device__ __forceinline__ void narrow(float x, __nv_bfloat16& to) { to = __float2bfloat16_rn(x); }
template <class T>
__device__ __forceinline__ void narrow(T x, T& to) {
  to = x;
}

/// Calls f with a value of the type that is stored.
template <class T, class F>
__device__ __forceinline__ void with_stored_type(storage s, F&& f) {
  if constexpr (std::is_same<T, float>::value) {
    if (s == storage::half) f(__half{});
    else if (s == storage::bfloat) f(__nv_bfloat16{});
    else f(T{});
  } else if constexpr (std::is_same<T, u32>::value) {
    if (s == storage::bytes1) f(u8{});
    else if (s == storage::bytes2) f(u16{});
    else f(T{});
  } else {
    f(T{});
  }
}

template <class S, int V>
struct alignas(sizeof(S) * V) element_vector {
  S at[V];
};
template <class S, int V>
__device__ __forceinline__ bool is_aligned(const S* p) {
  return reinterpret_cast<std::uintptr_t>(p) % (sizeof(S) * V) == 0;
}

/// Elements that a thread moves at once.
template <class T>
constexpr int vector_length = static_cast<int>(16 / sizeof(T));

/// x[k][v] = element first + k * step + v of the row of `count` elements that begins at element `row`; zeros after it.
template <class Op, int K, int V, class T = typename Op::type>
__device__ __forceinline__ void load_chunks(T (&x)[K][V], const scan_data& d, i64 row, i64 first, i64 step, i64 count) {
  with_stored_type<T>(d.stored, [&](auto tag) {
    using S = decltype(tag);
    const S* const from = static_cast<const S*>(d.from) + row + first;
    if (first + (K - 1) * step + V <= count && is_aligned<S, V>(from)) {
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const auto part = *reinterpret_cast<const element_vector<S, V>*>(from + k * step);
#pragma unroll
        for (int v = 0; v < V; ++v) x[k][v] = widened(part.at[v]);
      }
    } else {
#pragma unroll
      for (int k = 0; k < K; ++k)
#pragma unroll
        for (int v = 0; v < V; ++v) x[k][v] = first + k * step + v < count ? widened(from[k * step + v]) : T{};
    }
  });
#pragma unroll
  for (int k = 0; k < K; ++k)
#pragma unroll
    for (int v = 0; v < V; ++v) x[k][v] = entered<Op>(x[k][v], d.flip);
}

/// The reverse of load_chunks.
template <class Op, int K, int V, class T = typename Op::type>
__device__ __forceinline__ void store_chunks(const T (&x)[K][V], const scan_data& d, i64 row, i64 first, i64 step,
                                             i64 count) {
  with_stored_type<T>(d.stored, [&](auto tag) {
    using S = decltype(tag);
    S* const to = static_cast<S*>(d.to) + row + first;
    if (first + (K - 1) * step + V <= count && is_aligned<S, V>(to)) {
#pragma unroll
      for (int k = 0; k < K; ++k) {
        element_vector<S, V> part;
#pragma unroll
        for (int v = 0; v < V; ++v) narrow(left<Op>(x[k][v], d.flip), part.at[v]);
        *reinterpret_cast<element_vector<S, V>*>(to + k * step) = part;
      }
    } else {
#pragma unroll
      for (int k = 0; k < K; ++k)
#pragma unroll
        for (int v = 0; v < V; ++v)
          if (first + k * step + v < count) narrow(left<Op>(x[k][v], d.flip), to[k * step + v]);
    }
  });
}

/// A single element.
template <class Op, class T = typename Op::type>
__device__ __forceinline__ T load_one(const scan_data& d, i64 at) {
  T x[1][1];
  load_chunks<Op>(x, d, at, 0, 0, 1);
  return x[0][0];
}
template <class Op, class T = typename Op::type>
__device__ __forceinline__ void store_one(T value, const scan_data& d, i64 at) {
  const T x[1][1] = {{value}};
  store_chunks<Op>(x, d, at, 0, 0, 1);
}

// --- values between lanes

template <class T>
struct value_words {
  static constexpr int count = sizeof(T) / 4;
  u32 at[count];
};
template <class T>
__device__ __forceinline__ value_words<T> words_of(const T& x) {
  value_words<T> w;
  memcpy(w.at, &x, sizeof x);
  return w;
}
template <class T>
__device__ __forceinline__ T value_of(const value_words<T>& w) {
  T x;
  memcpy(&x, w.at, sizeof x);
  return x;
}
/// The value of the lane `distance` below, of the one `distance` above, and of lane `lane`, among groups of `width`
/// lanes.
template <class T>
__device__ __forceinline__ T from_below(const T& x, int distance, int width) {
  value_words<T> w = words_of(x);
#pragma unroll
  for (int k = 0; k < value_words<T>::count; ++k) w.at[k] = __shfl_up_sync(all_lanes, w.at[k], distance, width);
  return value_of<T>(w);
}
template <class T>
__device__ __forceinline__ T from_above(const T& x, int distance) {
  value_words<T> w = words_of(x);
#pragma unroll
  for (int k = 0; k < value_words<T>::count; ++k) w.at[k] = __shfl_down_sync(all_lanes, w.at[k], distance);
  return value_of<T>(w);
}
template <class T>
__device__ __forceinline__ T of_lane(const T& x, int lane, int width) {
  value_words<T> w = words_of(x);
#pragma unroll
  for (int k = 0; k < value_words<T>::count; ++k) w.at[k] = __shfl_sync(all_lanes, w.at[k], lane, width);
  return value_of<T>(w);
}

/// Scans x over `lanes` threads with K chunks of V consecutive elements each: all lanes' chunk k precedes chunk k + 1.
/// `carry`, if given, precedes everything and becomes the total.
template <class Op, int K, int V, class T = typename Op::type>
__device__ __forceinline__ void scan_chunks_of(T (&x)[K][V], int lane, int lanes, bool has_carry, T& carry) {
  T total[K];
#pragma unroll
  for (int k = 0; k < K; ++k) {
#pragma unroll
    for (int v = 1; v < V; ++v) x[k][v] = Op::join(x[k][v - 1], x[k][v]);
    total[k] = x[k][V - 1];
  }
  for (int d = 1; d < lanes; d *= 2) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const T below = from_below(total[k], d, lanes);
      if (lane >= d) total[k] = Op::join(below, total[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    T before = from_below(total[k], 1, lanes);
    const T last = of_lane(total[k], lanes - 1, lanes);
    const bool carried = k > 0 || has_carry;
    if (carried) before = lane > 0 ? Op::join(carry, before) : carry;
    if (carried || lane > 0) {
#pragma unroll
      for (int v = 0; v < V; ++v) x[k][v] = Op::join(before, x[k][v]);
    }
    carry = carried ? Op::join(carry, last) : last;
  }
}

/// Joins lanes 0 to `lane` in a fixed order; the values of higher lanes are ignored.
template <class Op, class T = typename Op::type>
__device__ __forceinline__ T join_lanes(T x, int lane) {
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const T below = from_below(x, d, 32);
    if (lane >= d) x = Op::join(below, x);
  }
  return x;
}

}  // namespace sinter::cuda::device
