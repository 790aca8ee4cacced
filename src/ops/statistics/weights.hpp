// Weights of elements.
#pragma once
#include "ops/base/axes.hpp"

namespace sinter::ops {

/// Weights of x's shape, or one for each element along the axes, with x's rank: they broadcast to it. value_error where no
/// axis is given for others, shape_error where they do not fit.
ndarray weights_over(const ndarray& x, const ndarray& weights, const axes& axis, const char* function);

}  // namespace sinter::ops
