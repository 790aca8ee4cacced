// Reading at indices. Both record: of a pending expression, only the elements that the indices name are computed.
// Negative indices count from the end. An index out of range throws index_error: at once for a number, at the next
// synchronisation for an array.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "sinter/keywords.hpp"
#include "sinter/ndarray.hpp"

namespace sinter::inline v0 {

/// What happens to indices out of range: "raise" is the index_error said above, "wrap" counts on from the other end,
/// "clip" takes the nearest end (negative ones: the first element). value_error for another word.
struct mode_kw {
  kwonly _kw{};
  std::string_view mode = "raise";
};

/// The elements at `indices` (integers or bools, any shape) along `axis`: x.shape[:axis] + indices.shape +
/// x.shape[axis+1:].
ndarray take(const ndarray& x, const operand& indices, optional_axis axis = std::nullopt, const mode_kw& kw = {});
/// Element (..., k, ...) of the result is x(..., indices(..., k, ...), ...). `indices` has x's rank, and the other axes
/// broadcast. shape_error: they do not; dtype_error: the indices are not integers.
ndarray take_along_axis(const ndarray& x, const ndarray& indices, optional_axis axis = -1);

}  // namespace sinter::inline v0
