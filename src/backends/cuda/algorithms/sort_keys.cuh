// Sort keys: unsigned integers in NumPy's order of the elements. There are two kinds: exact keys, one per bit pattern,
// from which elements can be restored; and tied keys, equal for elements that compare equal (-0 and +0, NaNs).
#pragma once
#include "backends/cuda/algorithms/device_common.cuh"

namespace sinter::cuda::device {

enum class key_class : unsigned char { unsigned_integer, signed_integer, real, complex };

/// How elements (or the parts of complex ones) of `bytes` bytes become keys. Types of up to 4 bytes have keys of the
/// same width in a u32.
struct key_rule {
  key_class kind{};
  bool descending = false;
  int bytes = 1;  // of a part
  u64 sign = 0, mask = 0, infinity = 0;
  u64 negative_nans = 0;  // how many bit patterns: exact keys are rotated by that many to put those at the end
};

inline key_rule rule_of(element t, bool descending) {
  key_rule r;
  r.kind = is_complex(t)  ? key_class::complex
           : is_float(t)  ? key_class::real
           : is_signed(t) ? key_class::signed_integer
                          : key_class::unsigned_integer;
  r.descending = descending;
  r.bytes = is_complex(t) ? bytes_of(t) / 2 : bytes_of(t);
  r.sign = u64{1} << (8 * r.bytes - 1);
  r.mask = r.sign | (r.sign - 1);
  switch (t) {
    case element::f16: r.infinity = 0x7c00u; break;
    case element::bf16: r.infinity = 0x7f80u; break;
    case element::f32:
    case element::c64: r.infinity = 0x7f800000u; break;
    case element::f64:
    case element::c128: r.infinity = u64{0x7ff} << 52; break;
    default: return r;
  }
  r.negative_nans = r.sign - 1 - r.infinity;
  return r;
}

/// The constants of a rule in the width that keys are computed in.
template <class U>
struct narrow_rule {
  U sign, mask, infinity, negative_nans;
  __device__ explicit narrow_rule(const key_rule& r)
      : sign(static_cast<U>(r.sign)),
        mask(static_cast<U>(r.mask)),
        infinity(static_cast<U>(r.infinity)),
        negative_nans(static_cast<U>(r.negative_nans)) {}
};

template <class U>
__device__ __forceinline__ U load_part(const void* base, i64 index, int bytes) {
  if (bytes == 4) return static_cast<const u32*>(base)[index];
  if (bytes == 2) return static_cast<const u16*>(base)[index];
  if (bytes == 1) return static_cast<const u8*>(base)[index];
  if constexpr (sizeof(U) == 8) return static_cast<const u64*>(base)[index];
  return 0;
}
template <class U>
__device__ __forceinline__ void store_part(void* base, i64 index, int bytes, U bits) {
  if (bytes == 4) {
    static_cast<u32*>(base)[index] = static_cast<u32>(bits);
  } else if (bytes == 2) {
    static_cast<u16*>(base)[index] = static_cast<u16>(bits);
  } else if (bytes == 1) {
    static_cast<u8*>(base)[index] = static_cast<u8>(bits);
  } else {
    if constexpr (sizeof(U) == 8) static_cast<u64*>(base)[index] = bits;
  }
}

/// Ascending key of a real part: -infinity is 0, NaNs of either sign come after +infinity.
template <class U>
__device__ __forceinline__ U ascending_real(U bits, const narrow_rule<U>& n) {
  const U ordered = bits & n.sign ? ~bits & n.mask : bits | n.sign;
  return (ordered - n.negative_nans) & n.mask;
}

template <class U>
__device__ __forceinline__ bool is_nan_part(U bits, const narrow_rule<U>& n) {
  return (bits & (n.sign - 1)) > n.infinity;
}
template <class U>
__device__ __forceinline__ bool is_zero_part(U bits, const narrow_rule<U>& n) {
  return (bits & (n.sign - 1)) == 0;
}

template <class U>
__device__ __forceinline__ U exact_key(U bits, const key_rule& r) {
  const narrow_rule<U> n(r);
  U key = bits;
  if (r.kind == key_class::signed_integer) key ^= n.sign;
  if (r.kind == key_class::real) key = ascending_real(bits, n);
  return r.descending ? ~key & n.mask : key;
}
/// The inverse of exact_key.
template <class U>
__device__ __forceinline__ U element_of(U key, const key_rule& r) {
  const narrow_rule<U> n(r);
  if (r.descending) key = ~key & n.mask;
  if (r.kind == key_class::signed_integer) return key ^ n.sign;
  if (r.kind != key_class::real) return key;
  const U ordered = (key + n.negative_nans) & n.mask;
  return ordered & n.sign ? ordered ^ n.sign : ~ordered & n.mask;
}

/// Ascending tied key of a real part: NaN is the greatest, both zeros have the same key.
template <class U>
__device__ __forceinline__ U tied_real(U bits, const narrow_rule<U>& n) {
  if (is_nan_part(bits, n)) return n.mask;
  return ascending_real(is_zero_part(bits, n) ? U{0} : bits, n);
}

template <class U>
__device__ __forceinline__ U tied_key(U bits, const key_rule& r) {
  if (r.kind != key_class::real) return exact_key(bits, r);
  const narrow_rule<U> n(r);
  const U key = tied_real(bits, n);
  return r.descending ? ~key & n.mask : key;
}

template <class U>
struct key_pair {
  U high, low;
};

/// NumPy's order of complex numbers: by real part, then imaginary part; after them those whose imaginary part alone is
/// NaN (by real part), those whose real part alone is (by imaginary part), and those where both are.
template <class U>
__device__ __forceinline__ key_pair<U> tied_complex(U real, U imaginary, const key_rule& r) {
  const narrow_rule<U> n(r);
  const U re = tied_real(real, n), im = tied_real(imaginary, n);
  key_pair<U> k{re, im};
  if (is_nan_part(real, n)) {
    k.high = n.mask - (is_nan_part(imaginary, n) ? 0 : 1);
  } else if (is_nan_part(imaginary, n)) {
    k.high = ascending_real(n.infinity, n) + 1;
    k.low = re;
  }
  if (r.descending) return {static_cast<U>(~k.high & n.mask), static_cast<U>(~k.low & n.mask)};
  return k;
}

}  // namespace sinter::cuda::device
