// Elementwise functions with a place for the result, as NumPy's `out=`: `power(x, 2, {.out = x})` is `x **= 2`; and with a mask of
// the elements that are wanted, as `where=`: `divide(x, y, {.out = z, .where = y != 0})` leaves the others of z as they are.
//
// `out` has a shape that the result broadcasts to (shape_error otherwise); it keeps its dtype, to which
// casting::same_kind must allow the result's (dtype_error naming both). It may overlap the operands, all of which are
// read first. device_error: it is on another device; value_error: it is read-only, or its elements overlap one another.
// The function returns it. The write records and fuses as that of `out(_) = f(x)` does.
//
// `where` is of bools (dtype_error) and broadcasts with the operands, to the shape of `out` if there is one (shape_error).
// Without `out` elements where it is false are 0 (NumPy leaves them uninitialised). The function is computed there, too, so
// errors in data show even where they are masked out.
#pragma once
#include "sinter/elementwise.hpp"

namespace sinter::inline v0 {

/// The keywords.
struct out_kw {
  kwonly _kw{};
  std::optional<ndarray> out{};
  optional_array where{};
};

namespace detail {
/// The result as the caller wants it: written to kw.out, or as it is.
ndarray into(const ndarray& result, const out_kw& kw, const char* function);
}  // namespace detail

// Those of the lists at the end of elementwise.hpp.
#define SINTER_UNARY_OUT(name, function) \
  inline ndarray name(const ndarray& x, const out_kw& kw) { return detail::into(function(x), kw, #function); }
#define SINTER_BINARY_OUT(name, function)                                     \
  inline ndarray name(const operand& x, const operand& y, const out_kw& kw) { \
    return detail::into(function(x, y), kw, #function);                       \
  }
#define SINTER_UNARY_OUT_ITSELF(name) SINTER_UNARY_OUT(name, name)
#define SINTER_BINARY_OUT_ITSELF(name) SINTER_BINARY_OUT(name, name)
SINTER_UNARY_FUNCTIONS(SINTER_UNARY_OUT_ITSELF)
SINTER_UNARY_SPELLINGS(SINTER_UNARY_OUT)
SINTER_BINARY_FUNCTIONS(SINTER_BINARY_OUT_ITSELF)
SINTER_BINARY_SPELLINGS(SINTER_BINARY_OUT)
#undef SINTER_UNARY_OUT_ITSELF
#undef SINTER_BINARY_OUT_ITSELF
#undef SINTER_UNARY_OUT
#undef SINTER_BINARY_OUT

inline ndarray round(const ndarray& x, std::int64_t decimals, const out_kw& kw) {
  return detail::into(round(x, decimals), kw, "round");
}
inline ndarray around(const ndarray& x, std::int64_t decimals, const out_kw& kw) { return round(x, decimals, kw); }
inline ndarray clip(const ndarray& x, const optional_operand& low, const optional_operand& high, const out_kw& kw) {
  return detail::into(clip(x, low, high), kw, "clip");
}

}  // namespace sinter::inline v0
