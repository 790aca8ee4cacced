// src/ops/fft: transforms. Everything but the vendor's transform is recorded with the functions of the other folders.
//
// Transforms of values: memory in the layout that the libraries need, one call for up to three axes.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/base/algorithm_calls.hpp"
#include "runtime/algorithms/fourier.hpp"

namespace sinter::ops {

/// One transform along an axis; `points` counts the real side of a halved axis.
struct fourier_axis {
  int axis = 0;
  std::int64_t points = 0;
};

/// The real dtype that an array is transformed in.
dtype fourier_real(dtype t) noexcept;
dtype complex_of(dtype real) noexcept;

/// Transforms along distinct axes; for a real kind the last one is the halved one. Truncates or zero-pads the axes,
/// converts the elements, evaluates, and enqueues the library's calls; nothing is scaled. An array without elements
/// gives one as well.
ndarray transformed(const char* function, const value& x, runtime::fourier_kind kind, bool inverse,
                    std::span<const fourier_axis> axes);

/// The axes of a transform: `listed` if they are given, else the last ones, as many as `s` has extents (without s:
/// all). shape_error: s has more extents than there are axes; value_error: s and axes differ in length.
std::vector<int> fourier_axes(bool given, std::vector<int> listed, const std::optional<shape_t>& s, const dims& shape,
                              const char* function);

/// The scale factor of "backward", "ortho" or "forward" for a transform of `points` points; value_error for another
/// word.
double fourier_scale(std::string_view norm, bool inverse, double points, const char* function);

/// The array truncated or zero-padded at the end of an axis.
value resized(const value& x, int axis, std::int64_t length);

}  // namespace sinter::ops
