// How take, put and choose treat indices out of range.
#pragma once
#include <string_view>

#include "ops/base/elementwise_values.hpp"

namespace sinter::ops {

enum class index_mode : std::uint8_t { raise, wrap, clip };
/// value_error for an unknown mode.
index_mode check_mode(std::string_view mode, const char* function);
/// An array of indices as int64; dtype_error for elements that are not integers.
value integers_of(const ndarray& x, const char* function);
/// int64 indices along an axis of `extent`: wrapped or clipped into it; unchanged for `raise`.
value bring_into_range(const value& index, std::int64_t extent, index_mode mode);

}  // namespace sinter::ops
