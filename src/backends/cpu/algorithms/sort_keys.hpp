// Sort keys: for each element type a map to unsigned integers whose order is NumPy's ascending order.
//
// The maps are not one to one: -0 and +0 have one key, and so have all NaNs. Sorting moves the elements themselves, so
// that no bits are lost. Descending order is that of the inverted keys.
#pragma once
#include <bit>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "sinter/dtype.hpp"

namespace sinter::cpu {

__extension__ using uint128 = unsigned __int128;

template <int Bytes>
struct uint_of_size;
template <>
struct uint_of_size<1> {
  using type = std::uint8_t;
};
template <>
struct uint_of_size<2> {
  using type = std::uint16_t;
};
template <>
struct uint_of_size<4> {
  using type = std::uint32_t;
};
template <>
struct uint_of_size<8> {
  using type = std::uint64_t;
};
template <>
struct uint_of_size<16> {
  using type = uint128;
};
template <int Bytes>
using uint_of = typename uint_of_size<Bytes>::type;

/// The key of IEEE numbers in their bits, as wide as these. -infinity is not 0 and +infinity is followed by NaN and at
/// least three more keys that no number has.
template <class U, int FractionBits>
constexpr U float_key(U bits) noexcept {
  constexpr int width = 8 * sizeof(U);
  constexpr U sign = U(U(1) << (width - 1));
  constexpr U infinity = U(U(sign - 1) >> FractionBits << FractionBits);
  const U magnitude = U(bits & U(~sign));
  const U number = bits & sign ? U(sign - magnitude) : bits | sign;  // two zeros, one key
  return magnitude > infinity ? U(U(infinity | sign) + 1) : number;
}

template <class T>
struct float_traits;
template <>
struct float_traits<half> {
  using bits = std::uint16_t;
  static constexpr int fraction = 10;
};
template <>
struct float_traits<bfloat> {
  using bits = std::uint16_t;
  static constexpr int fraction = 7;
};
template <>
struct float_traits<float> {
  using bits = std::uint32_t;
  static constexpr int fraction = 23;
};
template <>
struct float_traits<double> {
  using bits = std::uint64_t;
  static constexpr int fraction = 52;
};

template <class T>
inline constexpr bool is_complex_element = false;
template <class T>
inline constexpr bool is_complex_element<std::complex<T>> = true;

/// Parts as keys of numbers. In NumPy's order all that have a NaN come last: those with a NaN in the imaginary part by
/// real part, then those with a NaN in the real part by imaginary part, then those with two.
template <class U, int FractionBits>
constexpr auto complex_key(U real_bits, U imag_bits) noexcept {
  using wide = uint_of<2 * sizeof(U)>;
  constexpr U nan = float_key<U, FractionBits>(U(~U(0)));
  const U re = float_key<U, FractionBits>(real_bits), im = float_key<U, FractionBits>(imag_bits);
  const bool no_re = re == nan, no_im = im == nan;
  const U high = no_re ? U(nan + 1 + no_im) : no_im ? nan : re;
  const U low = no_re ? (no_im ? U(0) : im) : no_im ? re : im;
  return wide(wide(high) << (8 * sizeof(U)) | low);
}

/// The key of an element; integers are unsigned here.
template <class T>
constexpr uint_of<sizeof(T)> sort_key(const T& x) noexcept {
  if constexpr (is_complex_element<T>) {
    using part = typename T::value_type;
    using bits = typename float_traits<part>::bits;
    return complex_key<bits, float_traits<part>::fraction>(std::bit_cast<bits>(x.real()),
                                                           std::bit_cast<bits>(x.imag()));
  } else if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return float_key<typename float_traits<T>::bits, float_traits<T>::fraction>(
        std::bit_cast<typename float_traits<T>::bits>(x));
  }
}

/// The order of a sort: smaller keys come first. Signed integers are sorted as unsigned ones of other keys.
template <class T>
struct ordering {
  using key = uint_of<sizeof(T)>;
  key flipped{};
  ordering(dtype type, bool descending) noexcept {
    if (is_signed_integer(type)) flipped = key(key(1) << (8 * sizeof(T) - 1));
    if (descending) flipped = key(~flipped);
  }
  key operator()(const T& x) const noexcept { return key(sort_key(x) ^ flipped); }
};

/// Calls f with a value-initialised element of the type that represents `type` in sorting.
template <class F>
decltype(auto) with_sorted_type(dtype type, F&& f) {
  switch (type) {
    case dtype::b1:
    case dtype::i8:
    case dtype::u8: return f(std::uint8_t{});
    case dtype::i16:
    case dtype::u16: return f(std::uint16_t{});
    case dtype::i32:
    case dtype::u32: return f(std::uint32_t{});
    case dtype::i64:
    case dtype::u64: return f(std::uint64_t{});
    case dtype::f16: return f(half{});
    case dtype::bf16: return f(bfloat{});
    case dtype::f32: return f(float{});
    case dtype::f64: return f(double{});
    case dtype::c64: return f(std::complex<float>{});
    case dtype::c128: break;
  }
  return f(std::complex<double>{});
}

}  // namespace sinter::cpu
