// Questions about dtypes: limits, kinds, promotion of arrays with numbers, casts.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "sinter/dtype.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// Limits of a floating-point dtype; for a complex one, of its parts.
struct finfo_t {
  int bits;
  double eps, max, min, smallest_normal, smallest_subnormal;
  sinter::dtype dtype;
};
/// Throws dtype_error for bool and integers.
finfo_t finfo(dtype type);

/// Limits of an integer dtype.
struct iinfo_t {
  int bits;
  std::int64_t min;
  std::uint64_t max;
  sinter::dtype dtype;
};
/// Throws dtype_error for what is not an integer.
iinfo_t iinfo(dtype type);

/// What isdtype compares with: a dtype, or a kind of the array API: "bool", "signed integer", "unsigned integer",
/// "integral", "real floating", "complex floating", "numeric".
class dtype_kind {
 public:
  dtype_kind(dtype type) noexcept : type_(type) {}
  template <std::convertible_to<std::string_view> S>
  dtype_kind(const S& kind) noexcept : kind_(kind) {}
  /// Throws value_error for a word that names no kind.
  bool contains(dtype type) const;

 private:
  std::optional<dtype> type_;
  std::string_view kind_;
};
/// Whether the dtype is of the kind.
inline bool isdtype(dtype type, dtype_kind kind) { return kind.contains(type); }
/// Whether it is of one of them: `isdtype(t, {"integral", float32})`. All words are checked.
bool isdtype(dtype type, std::initializer_list<dtype_kind> kinds);

namespace detail {
/// A dtype, an array or a number.
struct typed_operand {
  typed_operand(dtype t) noexcept : type(t) {}
  typed_operand(const ndarray& a) noexcept : array(&a) {}
  template <scalar_like T>
  typed_operand(T v) noexcept : number(v) {}
  typed_operand(const scalar& v) noexcept : number(v) {}

  std::optional<dtype> type{};
  const ndarray* array = nullptr;
  scalar number = false;
};
dtype result_type(std::span<const typed_operand> operands);
dtype common_type(std::span<const ndarray* const> arrays);
}  // namespace detail
/// The dtype of an operation on these dtypes, arrays and numbers, in any order. Dtypes, and those of arrays, promote
/// together as in NumPy 2: floating-point and complex ones among themselves, then each integer with that, so that int16,
/// uint16 and float32 give float32; bfloat16 counts as the other floating-point dtypes do. Numbers are weak (NEP 50).
/// Throws dtype_error if an integer does not fit.
template <std::convertible_to<detail::typed_operand>... A>
  requires(sizeof...(A) > 0)
dtype result_type(const A&... x) {
  const detail::typed_operand operands[] = {detail::typed_operand(x)...};
  return detail::result_type(operands);
}
/// The floating-point dtype that holds the elements of all arrays: integers count as float64. dtype_error: an array of bools.
template <std::convertible_to<const ndarray&>... A>
  requires(sizeof...(A) > 0)
dtype common_type(const A&... x) {
  const ndarray* const arrays[] = {&static_cast<const ndarray&>(x)...};
  return detail::common_type(arrays);
}
/// The dtype of least size that holds a number: unsigned where it is not negative; of floating-point numbers the first one whose
/// range holds it, whatever their digits. Of an array of rank 0 that of its element, of others their own.
dtype min_scalar_type(const operand& x);
/// Whether the dtype is not complex, or is; elements do not matter (see isreal, iscomplex).
inline bool isrealobj(const ndarray& x) { return !is_complex(x.dtype()); }
inline bool iscomplexobj(const ndarray& x) { return is_complex(x.dtype()); }
/// Whether an array's dtype may be cast.
inline bool can_cast(const ndarray& x, dtype to, casting rule = casting::safe) { return can_cast(x.dtype(), to, rule); }

}  // namespace sinter::inline v0
