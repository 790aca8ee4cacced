// Element types: the dtype enumeration, its sizes and kinds, and the map from C++ types.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

namespace sinter::inline v0 {

/// Element type of an array. The order is the canonical order of all tables.
enum class dtype : std::uint8_t { b1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128 };
inline constexpr int dtype_count = 15;

inline constexpr dtype bool_ = dtype::b1;
inline constexpr dtype int8 = dtype::i8, int16 = dtype::i16, int32 = dtype::i32, int64 = dtype::i64;
inline constexpr dtype uint8 = dtype::u8, uint16 = dtype::u16, uint32 = dtype::u32, uint64 = dtype::u64;
inline constexpr dtype float16 = dtype::f16, bfloat16 = dtype::bf16, float32 = dtype::f32, float64 = dtype::f64;
inline constexpr dtype complex64 = dtype::c64, complex128 = dtype::c128;

/// Bytes of one element.
constexpr std::size_t itemsize(dtype t) noexcept {
  constexpr std::uint8_t size[dtype_count] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return size[static_cast<int>(t)];
}
constexpr bool is_bool(dtype t) noexcept { return t == dtype::b1; }
constexpr bool is_signed_integer(dtype t) noexcept { return t >= dtype::i8 && t <= dtype::i64; }
constexpr bool is_unsigned_integer(dtype t) noexcept { return t >= dtype::u8 && t <= dtype::u64; }
constexpr bool is_integer(dtype t) noexcept { return t >= dtype::i8 && t <= dtype::u64; }
constexpr bool is_real_floating(dtype t) noexcept { return t >= dtype::f16 && t <= dtype::f64; }
constexpr bool is_complex(dtype t) noexcept { return t >= dtype::c64; }
constexpr bool is_inexact(dtype t) noexcept { return t >= dtype::f16; }

/// NumPy's name of the type ("float32"); bfloat16 as ml_dtypes names it.
constexpr std::string_view name(dtype t) noexcept {
  constexpr std::string_view names[dtype_count] = {"bool",     "int8",    "int16",   "int32",     "int64",
                                                   "uint8",    "uint16",  "uint32",  "uint64",    "float16",
                                                   "bfloat16", "float32", "float64", "complex64", "complex128"};
  return names[static_cast<int>(t)];
}

/// Its name.
std::ostream& operator<<(std::ostream& out, dtype t);

/// IEEE binary16, storage only: construct from and convert to float (round to nearest, ties to even).
struct half {
  std::uint16_t bits = 0;
  half() = default;
  explicit half(float value) noexcept;
  explicit operator float() const noexcept;
  friend bool operator==(half a, half b) noexcept { return float(a) == float(b); }
};
/// The upper half of an IEEE binary32, storage only (round to nearest, ties to even).
struct bfloat {
  std::uint16_t bits = 0;
  bfloat() = default;
  explicit bfloat(float value) noexcept;
  explicit operator float() const noexcept;
  friend bool operator==(bfloat a, bfloat b) noexcept { return float(a) == float(b); }
};

/// The dtype of a C++ element type. Fixed-width integers map by size and sign; `long double` has none.
template <class T>
struct dtype_of_t;
template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
struct dtype_of_t<T> {
  static constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  static constexpr dtype value =
      static_cast<dtype>(static_cast<int>(std::is_signed_v<T> ? dtype::i8 : dtype::u8) + log2);
};
template <>
struct dtype_of_t<bool> {
  static constexpr dtype value = dtype::b1;
};
template <>
struct dtype_of_t<half> {
  static constexpr dtype value = dtype::f16;
};
template <>
struct dtype_of_t<bfloat> {
  static constexpr dtype value = dtype::bf16;
};
template <>
struct dtype_of_t<float> {
  static constexpr dtype value = dtype::f32;
};
template <>
struct dtype_of_t<double> {
  static constexpr dtype value = dtype::f64;
};
template <>
struct dtype_of_t<std::complex<float>> {
  static constexpr dtype value = dtype::c64;
};
template <>
struct dtype_of_t<std::complex<double>> {
  static constexpr dtype value = dtype::c128;
};
template <class T>
inline constexpr dtype dtype_of = dtype_of_t<std::remove_cv_t<T>>::value;

/// A C++ type that arrays can hold.
template <class T>
concept element_type = requires {
  dtype_of_t<std::remove_cv_t<T>>::value;
};

/// The dtype that NumPy 2 promotes two array dtypes to. bfloat16 with float16 gives float32.
dtype promote_types(dtype a, dtype b) noexcept;

/// How far a cast may go, as NumPy's `casting=`.
enum class casting : std::uint8_t { no, equiv, safe, same_kind, unsafe };
bool can_cast(dtype from, dtype to, casting rule = casting::safe) noexcept;

}  // namespace sinter::inline v0
