// Questions about dtypes: limits, kinds, promotion of arrays with numbers, casts.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "sinter/dtype.hpp"
#include "sinter/ndarray.hpp"

namespace sinter {
inline namespace v0 {

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

/// Whether the dtype is of a kind of the array API: "bool", "signed integer", "unsigned integer", "integral",
/// "real floating", "complex floating", "numeric". Throws value_error for another word.
bool isdtype(dtype type, std::string_view kind);
inline bool isdtype(dtype type, dtype other) noexcept { return type == other; }

namespace detail {
dtype result_type(std::initializer_list<operand> operands);
}  // namespace detail
/// The dtype of an operation on these arrays and numbers (NEP 50: numbers are weak). Throws dtype_error if an integer
/// does not fit.
template <std::convertible_to<operand>... A>
dtype result_type(const A&... x) { return detail::result_type({operand(x)...}); }
/// The same among dtypes.
template <std::same_as<dtype>... D>
dtype result_type(dtype first, D... rest) {
  ((first = promote_types(first, rest)), ...);
  return first;
}
/// Whether an array's dtype may be cast.
inline bool can_cast(const ndarray& x, dtype to, casting rule = casting::safe) { return can_cast(x.dtype(), to, rule); }

}  // namespace v0
}  // namespace sinter
