// Shape arithmetic: checked products, reshape as a view, broadcasting.
#pragma once
#include <optional>
#include <span>

#include "core/dims.hpp"

namespace sinter::core {

/// Number of elements of a shape given by a user. Throws shape_error with the prefix `function` for a negative extent,
/// a rank above max_rank, or a count whose bytes (16 per element) do not fit in int64.
std::int64_t checked_count(const dims& shape, const char* function);

/// Strides (in the units of `strides`) with which a view of `shape`/`strides` has the shape `to` with its elements in C
/// order; null if that needs a copy. Both shapes have the same number of elements.
std::optional<dims> reshape_strides(const dims& shape, const dims& strides, const dims& to);

/// The extents (or strides) of these axes, in this order.
dims at_axes(const dims& all, std::span<const int> axes);
/// The extents (or strides) of matrices' transposes: the last two exchanged.
dims transposed_last(dims all);

/// Broadcasts `shape` into `into` (which grows as needed); false if they do not fit.
bool broadcast_into(dims& into, const dims& shape);
/// Whether `shape` broadcasts to exactly `to`.
bool broadcasts_to(const dims& shape, const dims& to) noexcept;
/// Strides for reading `shape`/`strides` as the larger shape `to`: 0 along broadcast axes.
dims broadcast_strides(const dims& shape, const dims& strides, const dims& to);
/// Whether two coordinates may address the same element. Exact for nested strides, else conservative.
bool may_self_overlap(const dims& shape, const dims& strides);

}  // namespace sinter::core
