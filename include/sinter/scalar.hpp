// Weak scalars and `operand`: C++ numbers take part in array expressions without a dtype of their own (NEP 50).
#pragma once
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sinter/dtype.hpp"

namespace sinter::inline v0 {

class ndarray;

namespace detail {
template <class T>
struct is_complex_number : std::false_type {};
template <std::floating_point T>
struct is_complex_number<std::complex<T>> : std::true_type {};
}  // namespace detail

/// A C++ number: bool, an integer, a floating-point number or std::complex of one.
template <class T>
concept scalar_like = std::is_arithmetic_v<T> || detail::is_complex_number<T>::value;
/// An integer type other than bool.
template <class T>
concept int_like = std::integral<T> && !std::same_as<T, bool>;

enum class scalar_kind : std::uint8_t { boolean, integer, floating, complex };

/// A number with a kind but no width: 2, 2L and 2u are the same scalar, and so are 2.0f and 2.0.
class scalar {
 public:
  template <scalar_like T>
  constexpr scalar(T v) noexcept {
    if constexpr (std::same_as<T, bool>) {
      kind_ = scalar_kind::boolean;
      bits_ = v ? 1u : 0u;
    } else if constexpr (std::integral<T>) {
      kind_ = scalar_kind::integer;
      bits_ = static_cast<std::uint64_t>(v);
      if constexpr (std::is_signed_v<T>) negative_ = v < 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      kind_ = scalar_kind::floating;
      real_ = static_cast<double>(v);
    } else {
      kind_ = scalar_kind::complex;
      real_ = static_cast<double>(v.real());
      imag_ = static_cast<double>(v.imag());
    }
  }

  constexpr scalar_kind kind() const noexcept { return kind_; }
  constexpr bool negative() const noexcept { return negative_; }
  /// Whether an integer (or bool) is at most INT64_MAX.
  constexpr bool fits_int64() const noexcept {
    return negative_ || bits_ <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  }
  /// Value of an integer or bool; meaningful where fits_int64().
  constexpr std::int64_t as_int64() const noexcept { return static_cast<std::int64_t>(bits_); }
  /// Value of a non-negative integer or bool.
  constexpr std::uint64_t as_uint64() const noexcept { return bits_; }
  /// Real part, of any kind.
  constexpr double real() const noexcept {
    if (kind_ == scalar_kind::floating || kind_ == scalar_kind::complex) return real_;
    return negative_ ? static_cast<double>(as_int64()) : static_cast<double>(bits_);
  }
  constexpr double imag() const noexcept { return imag_; }
  /// The dtype it has where nothing else decides: bool, int64 (uint64 if it does not fit), float64, complex128.
  constexpr dtype default_dtype() const noexcept {
    switch (kind_) {
      case scalar_kind::boolean: return dtype::b1;
      case scalar_kind::integer: return fits_int64() ? dtype::i64 : dtype::u64;
      case scalar_kind::floating: return dtype::f64;
      case scalar_kind::complex: break;
    }
    return dtype::c128;
  }

 private:
  scalar_kind kind_{};
  bool negative_ = false;
  std::uint64_t bits_ = 0;
  double real_ = 0, imag_ = 0;
};

/// Parameter-only type: an array or a weak scalar. It refers to the array, so never keep one.
class operand {
 public:
  operand(const ndarray& a) noexcept : array_(&a), scalar_(false) {}
  template <scalar_like T>
  operand(T v) noexcept : scalar_(v) {}
  operand(const sinter::scalar& v) noexcept : scalar_(v) {}

  bool is_array() const noexcept { return array_ != nullptr; }
  /// The array; only where is_array().
  const ndarray& array() const noexcept { return *array_; }
  /// The number; only where not is_array().
  const sinter::scalar& number() const noexcept { return scalar_; }

 private:
  const ndarray* array_ = nullptr;
  sinter::scalar scalar_;
};

}  // namespace sinter::inline v0
