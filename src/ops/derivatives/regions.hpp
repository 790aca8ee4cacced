// The adjoint of affine views: from the elements of a view back to those of what it is a view of.
#pragma once
#include <optional>

#include "ops/base/elementwise_values.hpp"

namespace sinter::ops::derivatives {

/// Elements offset + sum strides[j] coordinate[j] in the C order of an array of shape `base`.
struct affine_view {
  dims base, shape, strides;
  std::int64_t offset = 0;
};

/// The cotangent of the base: each element the sum of those elements of `g`, of the view's shape, that are views of it.
/// Where no two elements of the view are the same element but for broadcasting, and its axes are ranges of axes of some
/// reshape of the base, this is a view of g, zeros around it chosen element by element, so that it fuses and no array of
/// the base's shape is stored. Else zeros to which g is added by position, in order.
value spread(const affine_view& v, const value& g);

/// Where an element of the base is an element of the view: bools of the base's shape; nothing where that would take an
/// array.
std::optional<value> covered(const affine_view& v, runtime::device_id device);

}  // namespace sinter::ops::derivatives
