// Arrays as they are at some time, whatever is written to their handles later.
#pragma once
#include "ops/base/access.hpp"

namespace sinter::ops {

/// An array of its own with the elements that a defined one has now; a view of one, where that is a view, which is not
/// read for it.
ndarray as_now(const ndarray& a, const char* function = "ndarray");

}  // namespace sinter::ops
